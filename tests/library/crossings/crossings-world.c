/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-world.c: runs one program, from its start to its end
 *
 * The time stands still while there is work, except in slow operations, and advances when there is none.  In some programs it also
 * advances at each look at the clock.
 */

#include "crossings.h"
#include "counts.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* µs; atomic. 0: the real time */
static gint64 now;
static gboolean ticks; /* whether the clock advances by 1 µs at each look */

void
pass_time (gint64 time)
{
  __atomic_fetch_add (&now, time, __ATOMIC_RELAXED);
}

/* Replaces the C library's function, for GLib and for the library. */
int
clock_gettime (clockid_t clock, struct timespec *time)
{
  gint64 stopped = __atomic_load_n (&now, __ATOMIC_RELAXED);
  gboolean is_coarse = FALSE;

#ifdef CLOCK_MONOTONIC_COARSE
  is_coarse = clock == CLOCK_MONOTONIC_COARSE;
#endif
  if (stopped == 0 || !(clock == CLOCK_MONOTONIC || is_coarse))
    return (int) syscall (SYS_clock_gettime, clock, time);
  if (ticks)
    pass_time (1);
  time->tv_sec = (time_t) (stopped / G_USEC_PER_SEC);
  time->tv_nsec = (long) (stopped % G_USEC_PER_SEC) * 1000;
  return 0;
}

/* Another thread, which does some operations in a world on request, and the threads of the pool, which wait for their turn.
 * Unless the world is free, one thread at a time runs. */
static struct
{
  pthread_mutex_t lock;
  pthread_cond_t changed;
  World *world;
  guint64 seed;
  guint n_acts;
  gboolean is_busy;
  guint n_waiting; /* of the pool */
  gboolean turn_given, turn_taken;
} other = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void make_context (World *world);

static void
act_on_other_thread (World *world)
{
  Mechanism outer;

  this_thread = (Self) { .world = world, .random = other.seed, .place = N_MECHANISMS };
  outer = enter_place (world, OTHER_THREAD);
  if (world->context == NULL)
    make_context (world);
  for (guint n = other.n_acts; n > 0; n--)
    act (world);
  leave_place (world, outer);
}

static gpointer
run_other_thread (gpointer data G_GNUC_UNUSED)
{
  pthread_mutex_lock (&other.lock);
  while (TRUE)
    {
      while (!other.is_busy)
        pthread_cond_wait (&other.changed, &other.lock);
      pthread_mutex_unlock (&other.lock);
      act_on_other_thread (other.world);
      pthread_mutex_lock (&other.lock);
      other.is_busy = FALSE;
      pthread_cond_broadcast (&other.changed);
    }
  return NULL;
}

static void
join_threads (World *world)
{
  while (world->threads != NULL)
    {
      GThread *thread = world->threads->data;

      world->threads = g_slist_delete_link (world->threads, world->threads);
      g_thread_join (thread);
    }
}

static void
wait_for_other_thread (void)
{
  pthread_mutex_lock (&other.lock);
  while (other.is_busy)
    pthread_cond_wait (&other.changed, &other.lock);
  pthread_mutex_unlock (&other.lock);
}

/* Waits for the operations of other threads. */
static void
wait_for_others (World *world)
{
  wait_for_other_thread ();
  join_threads (world);
}

/* Requests operations, on the owner's thread. */
void
ask_other_thread (World *world, guint n_acts, gboolean waits)
{
  static GThread *thread;

  if (thread == NULL)
    thread = g_thread_new ("other", run_other_thread, NULL);
  pthread_mutex_lock (&other.lock);
  other.world = world;
  other.n_acts = n_acts;
  other.seed = world->seed * 31 + dice (1000) + 1;
  other.is_busy = TRUE;
  pthread_cond_broadcast (&other.changed);
  pthread_mutex_unlock (&other.lock);
  if (waits)
    wait_for_other_thread ();
}

typedef struct
{
  World *world;
  guint64 random;
} Start;

static gpointer
act_and_end (gpointer data)
{
  g_autofree Start *start = data;
  World *world = start->world;
  Mechanism outer;

  this_thread = (Self) { .world = world, .random = start->random, .place = N_MECHANISMS };
  begin (world, ENDING_THREAD);
  outer = enter_place (world, OTHER_THREAD);
  act_some (world, 5);
  leave_place (world, outer);
  end (world, ENDING_THREAD);
  return NULL;
}

/* Starts a thread that does an operation, and ends.  Unless the world is free, this thread waits for it. */
void
start_thread (World *world)
{
  Start *start;

  if (!is_owner (world) || (this_thread.n_held > 0 && !world->is_free))
    return;
  start = g_new (Start, 1);
  *start = (Start) { .world = world, .random = world->seed * 37 + dice (1000) + 1 };
  world->threads = g_slist_prepend (world->threads, g_thread_new ("ending", act_and_end, start));
  if (!world->is_free)
    join_threads (world);
}

/* Makes a thread of the pool wait until the owner waits for it. */
void
take_turn (World *world)
{
  if (this_thread.world != world || this_thread.random == 0)
    this_thread = (Self) { .world = world, .random = world->seed * 17 + 3, .place = N_MECHANISMS };
  if (world->is_free)
    return;
  pthread_mutex_lock (&other.lock);
  other.n_waiting++;
  while (!other.turn_given)
    pthread_cond_wait (&other.changed, &other.lock);
  other.n_waiting--;
  other.turn_given = FALSE;
  pthread_mutex_unlock (&other.lock);
}

void
end_turn (World *world)
{
  if (world->is_free)
    return;
  pthread_mutex_lock (&other.lock);
  other.turn_taken = TRUE;
  pthread_cond_broadcast (&other.changed);
  pthread_mutex_unlock (&other.lock);
}

/* Lets a thread of the pool run.
 *
 * Returns: whether there was one */
gboolean
give_turn (void)
{
  gboolean given;

  pthread_mutex_lock (&other.lock);
  given = other.n_waiting > 0;
  other.turn_given = given;
  other.turn_taken = FALSE;
  pthread_cond_broadcast (&other.changed);
  while (given && !other.turn_taken)
    pthread_cond_wait (&other.changed, &other.lock);
  pthread_mutex_unlock (&other.lock);
  return given;
}

/* Makes a scheduler, with its expected counts. */
Book *
book_new (World *world)
{
  Book *book = g_new0 (Book, 1);

  book->scheduler = track (world, prio_scheduler_new (world->context));
  book->runner = prio_runner_new (book->scheduler, run_ids, book, NULL);
  prio_scheduler_set_time_slice (book->scheduler, dice (3) * 0.003);
  /* The books keep the draft's order: the limit is not reached. */
  prio_scheduler_set_starvation_limit (book->scheduler, G_MAXUINT);
  if ((world->uses & BIT (STATISTICS)) != 0 && dice (2) == 0)
    {
      set_switch (world, book, STATISTICS, TRUE);
      book->steady = TRUE;
    }
  pthread_mutex_lock (&slots_lock);
  g_ptr_array_add (world->all_books, book);
  pthread_mutex_unlock (&slots_lock);
  return book;
}

static gint
poll_without_sleeping (GPollFD *fds, guint n_fds, gint timeout G_GNUC_UNUSED)
{
  return g_poll (fds, n_fds, 0);
}

/* Draws the mechanisms and sizes of the program of @seed. */
static void
draw (World *world, guint64 seed, guint64 without)
{
  *world = (World) { .seed = seed, .owner = g_thread_self (), .budget = 150, .n_iterations = 1 };
  this_thread = (Self) { .world = world, .random = seed * 2654435761u + 1, .place = N_MECHANISMS };
  for (guint i = 0; i < 4; i++)
    dice (2);
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    world->uses |= dice (4) > 0 ? BIT (i) : 0;
  if (dice (4) == 0)
    world->uses = BIT (N_MECHANISMS) - 1;
  world->uses &= ~without;
  world->is_free = dice (3) == 0 && (world->uses & BIT (OTHER_THREAD)) != 0;
  world->drops = dice (4) == 0;
  world->ticks = seed % 4 == 0;
  world->is_made_elsewhere = dice (4) == 0 && !world->is_free && (world->uses & BIT (OTHER_THREAD)) != 0;
}

/* Returns whether the program's other thread runs freely, so that its order differs each time. */
gboolean
is_free_program (guint64 seed, guint64 without)
{
  World world;

  draw (&world, seed, without);
  return world.is_free;
}

static void
make_context (World *world)
{
  world->context = g_main_context_new ();
  g_main_context_set_poll_func (world->context, poll_without_sleeping);
  watch_context (world->context, &world->n_contexts_freed);
  attach_keys (world);
  for (guint i = 0; i < N_SCHEDULERS; i++)
    world->books[i] = book_new (world);
}

static void
set_up (World *world, guint64 seed, guint64 without)
{
  draw (world, seed, without);
  world->all_books = g_ptr_array_new_with_free_func (g_free);
  world->all_origins = g_ptr_array_new_with_free_func (g_free);
  world->all_groups = g_ptr_array_new_with_free_func (g_free);
  world->all_feeds = g_ptr_array_new_with_free_func (g_free);
  __atomic_store_n (&now, 1000 * G_USEC_PER_SEC, __ATOMIC_RELAXED);
  ticks = world->ticks;
  if (world->is_made_elsewhere)
    ask_other_thread (world, 0, TRUE);
  else
    make_context (world);
  g_main_context_push_thread_default (world->context);
  for (guint i = 0; i < N_SIGNALS; i++)
    make_signal (world, i);
  if (world->is_made_elsewhere)
    ask_other_thread (world, 1 + dice (8), TRUE);
  g_main_context_acquire (world->context);
  for (guint i = 0; i < N_GROUPS; i++)
    make_group (world, i);
  make_lists (world);
  g_main_context_release (world->context);
}

/* Runs the ready sources once; if none is ready, advances the time. */
static void
iterate (World *world)
{
  begin_iteration (world);
  if (!g_main_context_iteration (world->context, FALSE))
    {
      pass_time (500);
      if (!give_turn () && g_atomic_int_get (&world->live[THREAD]) > 0)
        g_usleep (10);
    }
  end_runs (world);
  check_answers (world);
  check_lists (world);
}

static void
all_off (World *world, Mechanism first, Mechanism last)
{
  for (guint i = 0; i < N_SCHEDULERS; i++)
    switch_off (world, world->books[i], first, last);
}

static G_NORETURN void
tell_left (World *world)
{
  for (gint i = 1; i <= world->n_payloads; i++)
    {
      const Payload *payload = world->payloads[i];

      if (payload->ended != 1 || (payload->has_result && payload->completed != 1))
        g_printerr ("number %d, 0x%" G_GINT64_MODIFIER "x, group %p, until %d, waiter %u: %d runs, %d ends, %d results\n", i,
                    payload->kinds, (void *) payload->group, payload->until,
                    payload->waiter != NULL ? ((Payload *) g_object_get_data (G_OBJECT (payload->waiter), "payload"))->number : 0,
                    payload->n_runs, payload->ended, payload->completed);
    }
  g_error ("%d are open, %d objects and %d contexts are left; %s%s", world->n_open, world->n_objects, 1 - world->n_contexts_freed,
           world->drops ? "dropped " : "", world->is_free ? "free" : "");
}

/* Ends all work, while operations continue. */
static void
finish (World *world)
{
  guint64 n = 0;

  wait_for_others (world);
  do
    {
      all_off (world, PAUSE, PAUSE);
      return_results (world);
      iterate (world);
      if (g_atomic_int_get (&world->n_open) == g_atomic_int_get (&world->n_feeds) && have_loaded (world))
        drop_feeds (world);
      join_threads (world);
      /* No work has ended for a minute. */
      if (n++ == 120000)
        tell_left (world);
    }
  while (g_atomic_int_get (&world->n_open) > 0);
}

static void
check_tasks (World *world)
{
  for (gint i = 1; i <= world->n_payloads; i++)
    {
      Payload *payload = world->payloads[i];

      g_assert_cmpint (payload->ended, ==, 1);
      if (payload->has_result && !world->drops)
        g_assert_cmpint (payload->completed, ==, 1);
    }
}

static void
drop_slots (World *world)
{
  GSList *dropped;

  for (guint i = 0; i < N_TASKS; i++)
    {
      PrioTask *deferred = TAKE (world->deferred[i]);

      if (deferred != NULL)
        end (world, DEFERRED);
      let_go_of (world, deferred);
      let_go_of (world, TAKE (world->tasks[i]));
    }
  for (guint i = 0; i < N_SIGNALS; i++)
    let_go_of (world, TAKE (world->signals[i]));
  for (guint i = 0; i < N_CONTROLLERS; i++)
    let_go_of (world, TAKE (world->controllers[i]));
  drop_feeds (world);
  free_lists (world);
  for (guint i = 0; i < world->all_groups->len; i++)
    g_clear_object (&((Group *) world->all_groups->pdata[i])->group);
  g_clear_pointer (&world->state, prio_scheduling_state_unref);
  pthread_mutex_lock (&slots_lock);
  dropped = g_steal_pointer (&world->dropped);
  pthread_mutex_unlock (&slots_lock);
  g_slist_free_full (dropped, g_object_unref);
}

/* Drops the schedulers, and with the last reference the context and its sources. */
static void
drop_context (World *world)
{
  return_results (world);
  for (guint i = 0; i < N_SCHEDULERS; i++)
    let_go_of (world, TAKE (world->books[i]->scheduler));
  drop_schedulers (world);
  g_slist_free_full (g_steal_pointer (&world->dropped), g_object_unref);
  g_main_context_pop_thread_default (world->context);
  g_main_context_unref (world->context);
}

/* Ends the data of yields and waits of a destroyed context, whose callbacks are not called. */
static void
end_unheard (World *world)
{
  for (guint i = 0; i < world->all_books->len; i++)
    {
      Book *book = world->all_books->pdata[i];

      if (book->runner != NULL)
        take_rejected (world, book);
      g_clear_pointer (&book->runner, prio_runner_unref);
    }
  for (gint i = 1; world->drops && i <= world->n_payloads; i++)
    {
      Payload *payload = world->payloads[i];

      if ((payload->kinds & (BIT (YIELD) | BIT (SLEEP) | BIT (WAIT))) != 0 && payload->ended == 0)
        {
          give_to_waiter (payload);
          end_payload (payload);
        }
    }
}

static void
tear_down (World *world)
{
  guint n = 0;

  drop_slots (world);
  /* Work in threads may be about to end, and to fill the slots. */
  while (g_atomic_int_get (&world->n_open) + g_atomic_int_get (&world->n_objects) > 0 || g_atomic_int_get (&world->n_contexts_freed) == 0)
    {
      give_turn ();
      drop_slots (world);
      if (g_atomic_int_get (&world->n_contexts_freed) > 0 || !world->drops)
        end_unheard (world);
      g_main_context_iteration (NULL, FALSE);
      g_usleep (10);
      if (n++ == 100000)
        tell_left (world);
    }
  end_unheard (world);
  check_tasks (world);
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      if (world->live[i] != 0)
        g_error ("%d of mechanism %d are left", world->live[i], i);
    }
  for (gint i = 1; i <= world->n_payloads; i++)
    g_free (world->payloads[i]);
  g_ptr_array_unref (world->all_books);
  g_ptr_array_unref (world->all_origins);
  g_ptr_array_unref (world->all_groups);
  g_ptr_array_unref (world->all_feeds);
  __atomic_store_n (&now, 0, __ATOMIC_RELAXED);
}

void
run_world (guint64 seed, guint64 without, guint n_acts)
{
  static World world;

  set_up (&world, seed, without);
  if (world.is_free)
    ask_other_thread (&world, n_acts, FALSE);
  for (guint i = 0; i < n_acts; i++)
    {
      act (&world);
      if (dice (2) == 0)
        iterate (&world);
      if (!world.is_free && dice (8) == 0 && (world.uses & BIT (OTHER_THREAD)) != 0)
        ask_other_thread (&world, 1 + dice (4), TRUE);
    }
  if (!world.drops)
    finish (&world);
  wait_for_others (&world);
  for (guint i = 0; i < N_SCHEDULERS; i++)
    check_statistics (&world, world.books[i], !world.drops);
  g_atomic_int_set (&world.over, TRUE);
  all_off (&world, STATISTICS, LONG_TASKS);
  set_watching (&world, TRACE, FALSE);
  set_watching (&world, OBSERVER, FALSE);
  drop_context (&world);
  tear_down (&world);
}
