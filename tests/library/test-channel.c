/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-channel.c: values from any thread, for a function that runs on a main loop */

#include "helpers.h"
#include "frozen-time.h"
#include "tsan-suppressions.h"

#include <prio-sched-threads.h>

#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  Fixture f;
  PrioChannel *channel;
  GThread *main;
  guint last, n_used;  /* in the function */
  gint n_given, n_released, n_released_here; /* atomic */
  gint n_data_freed, is_over, n_waiting;     /* atomic */
  gboolean (*hook) (gpointer world, guint value);
  GCancellable *cancellable; /* atomic: the cancellable of a wait */
  GPtrArray *cancellables;
  guint n_accepted;
  PrioTaskController *controller;
  gint n_asked, n_over; /* atomic: in the crossing */
  guint n_disturbed;
  PrioTask *place;
} World;

/* A value with a pointer to its world. */
typedef struct
{
  World *w;
  guint number;
  gint n_released; /* atomic */
} Number;

static void
set_up (World *w, gconstpointer data)
{
  fixture_set_up (&w->f, data);
  w->main = g_thread_self ();
}

static void
tear_down (World *w, gconstpointer data)
{
  g_clear_object (&w->channel);
  if (w->f.context != NULL)
    while (g_main_context_iteration (w->f.context, FALSE))
      ;
  fixture_tear_down (&w->f, data);
  g_assert_cmpint (w->n_released, ==, w->n_given);
  g_assert_cmpint (w->n_data_freed, ==, 1);
}

static void
use (PrioChannel *channel, gpointer value, gpointer user_data)
{
  World *w = user_data;
  guint number = ((Number *) value)->number;

  g_assert_true (g_thread_self () == w->main);
  g_assert_true (w->channel == NULL || channel == w->channel);
  w->last = number;
  w->n_used++;
  if (w->hook != NULL)
    w->hook (w, number);
}

static void
free_data (gpointer user_data)
{
  g_atomic_int_inc (&((World *) user_data)->n_data_freed);
}

static void
release (gpointer value)
{
  Number *number = value;

  g_assert_cmpint (g_atomic_int_add (&number->n_released, 1), ==, 0);
  g_atomic_int_inc (&number->w->n_released);
  if (g_thread_self () == number->w->main)
    g_atomic_int_inc (&number->w->n_released_here);
  g_free (number);
}

static Number *
number_new (World *w, guint number)
{
  Number *self = g_new0 (Number, 1);

  self->w = w;
  self->number = number;
  g_atomic_int_inc (&w->n_given);
  return self;
}

static void
make (World *w, guint capacity, PrioChannelPace pace, GCancellable *signal)
{
  w->channel = prio_channel_new (w->f.scheduler, &PRIO_TASK_OPTIONS (.cancellable = signal), capacity, pace, use, w, free_data);
}

static gboolean
replace (World *w, guint number)
{
  return prio_channel_replace (w->channel, number_new (w, number), release);
}

static gboolean
offer (World *w, guint number)
{
  return prio_channel_offer (w->channel, number_new (w, number), release);
}

static gboolean
give (World *w, guint number, GCancellable *cancellable, GError **error)
{
  return prio_channel_give (w->channel, number_new (w, number), release, cancellable, error);
}

static void
iterate_all (World *w)
{
  while (g_main_context_iteration (w->f.context, FALSE))
    ;
}

/* Reports that the thread's work is done. */
static gpointer
is_over (World *w)
{
  g_atomic_int_inc (&w->is_over);
  g_main_context_wakeup (w->f.context);
  return NULL;
}

#define MANY 100000

static gpointer
replace_many (gpointer data)
{
  World *w = data;

  for (guint i = 1; i <= times (MANY); i++)
    g_assert_true (replace (w, i));
  return is_over (w);
}

static void
test_newest_wins (World *w, gconstpointer data)
{
  GThread *thread;

  make (w, 1, PRIO_CHANNEL_PACE_TURN, NULL);
  thread = g_thread_new ("giver", replace_many, w);
  fixture_run_until (&w->f, &w->is_over, 1);
  g_thread_join (thread);
  while (w->last != times (MANY))
    g_main_context_iteration (w->f.context, TRUE);
  g_assert_cmpuint (w->n_used, >=, 1);
  /* The thread has released all other values. */
  while (prio_channel_get_length (w->channel) > 0)
    g_main_context_iteration (w->f.context, FALSE);
  g_assert_cmpuint ((guint) w->n_released_here, ==, w->n_used);
  g_assert_cmpuint ((guint) w->n_released, ==, times (MANY));
}

static gboolean
replace_next (gpointer world, guint number)
{
  if (number < 20)
    replace (world, number + 1);
  return TRUE;
}

static void
test_once_a_turn (World *w, gconstpointer data)
{
  guint n = 0, before;

  w->hook = replace_next;
  make (w, 1, PRIO_CHANNEL_PACE_TURN, NULL);
  replace (w, 1);
  while (w->n_used < 20)
    {
      before = w->n_used;
      g_main_context_iteration (w->f.context, TRUE);
      g_assert_cmpuint (w->n_used - before, <=, 1);
      n++;
    }
  g_assert_cmpuint (n, >=, 20);
}

static void
test_once_a_frame (World *w, gconstpointer data)
{
  frozen_time = G_USEC_PER_SEC;
  make (w, 1, PRIO_CHANNEL_PACE_FRAME, NULL);
  replace (w, 1);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 1);

  replace (w, 2);
  iterate_all (w);
  frozen_time += 16000;
  replace (w, 3);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 1);
  frozen_time += 1000;
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 3);

  /* After a frame without a value, the next is used at once. */
  frozen_time += 20000;
  iterate_all (w);
  replace (w, 4);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 4);
  g_assert_cmpuint (w->n_used, ==, 3);

  /* A frame that is due later counts. */
  prio_scheduler_set_next_frame (w->f.scheduler, frozen_time + 40000);
  frozen_time += 20000;
  iterate_all (w);
  replace (w, 5);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 5);
  replace (w, 6);
  frozen_time += 17000;
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 5);
  frozen_time += 3000;
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 6);
  frozen_time = 0;
}

static void
test_offer_is_refused (World *w, gconstpointer data)
{
  make (w, 3, PRIO_CHANNEL_PACE_EACH, NULL);
  for (guint i = 1; i <= 3; i++)
    g_assert_true (offer (w, i));
  g_assert_cmpuint (prio_channel_get_length (w->channel), ==, 3);
  g_assert_false (offer (w, 4));
  g_assert_cmpint (w->n_released, ==, 1);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 3);
  g_assert_cmpuint (prio_channel_get_length (w->channel), ==, 0);
  g_assert_true (offer (w, 5));
}

/* The oldest of several values is dropped, even where the ring wraps around. */
static void
test_oldest_goes (World *w, gconstpointer data)
{
  make (w, 5, PRIO_CHANNEL_PACE_EACH, NULL);
  for (guint i = 1; i <= 13; i++)
    replace (w, i);
  g_assert_cmpint (w->n_released, ==, 8);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 5);
  g_assert_cmpuint (w->last, ==, 13);
}

static gpointer
give_many (gpointer data)
{
  World *w = data;

  for (guint i = 1; i <= times (2000); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (give (w, i, NULL, &error));
      g_assert_no_error (error);
    }
  return is_over (w);
}

static gboolean
is_within_capacity (gpointer world, guint number)
{
  g_assert_cmpuint (prio_channel_get_length (((World *) world)->channel), <=, 4);
  return TRUE;
}

static void
test_give_waits (World *w, gconstpointer data)
{
  GThread *threads[4];

  w->hook = is_within_capacity;
  make (w, 4, PRIO_CHANNEL_PACE_EACH, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("giver", give_many, w);
  fixture_run_until (&w->f, &w->is_over, 4);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 4 * times (2000));
}

static void
test_give_on_the_loop (World *w, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  g_assert_true (give (w, 1, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (give (w, 2, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  g_assert_cmpint (w->n_released, ==, 1);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 1);
}

/* A thread that gives into a full channel.  @is_over counts the ends, and the error is as expected. */
typedef struct
{
  World *w;
  GCancellable *cancellable;
  GQuark domain; /* or 0 for an abort, which may come before the wait */
  gint code;
} Blocked;

static gpointer
give_blocked (gpointer data)
{
  Blocked *blocked = data;
  g_autoptr (GError) error = NULL;

  g_atomic_int_inc (&blocked->w->n_waiting);
  g_assert_false (give (blocked->w, 100, blocked->cancellable, &error));
  if (blocked->domain != 0)
    g_assert_error (error, blocked->domain, blocked->code);
  else if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  return NULL;
}

/* Returns a thread that is about to wait; the end of the wait may come before or after it has begun. */
static GThread *
begin_blocked (Blocked *blocked)
{
  GThread *thread = g_thread_new ("blocked", give_blocked, blocked);

  while (g_atomic_int_get (&blocked->w->n_waiting) == 0)
    g_thread_yield ();
  return thread;
}

static void
test_cancelled_give (World *w, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  GCancellable *cancellable = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  GThread *thread;

  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  offer (w, 1);
  thread = begin_blocked (&(Blocked) { w, cancellable, G_IO_ERROR, G_IO_ERROR_CANCELLED });
  prio_task_controller_abort (controller, NULL);
  g_thread_join (thread);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 1);
}

static gboolean
close_within (gpointer world, guint number)
{
  prio_channel_close (((World *) world)->channel);
  prio_channel_close (((World *) world)->channel);
  return TRUE;
}

static void
test_closed (World *w, gconstpointer data)
{
  GThread *thread;

  make (w, 2, PRIO_CHANNEL_PACE_EACH, NULL);
  w->hook = close_within;
  offer (w, 1);
  offer (w, 2);
  thread = begin_blocked (&(Blocked) { w, NULL, PRIO_ERROR, PRIO_ERROR_CLOSED });
  prio_channel_close (w->channel);
  g_thread_join (thread);
  g_assert_cmpint (w->n_data_freed, ==, 0);
  g_assert_false (replace (w, 3));
  g_assert_false (offer (w, 3));
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 2);
  g_assert_cmpint (w->n_data_freed, ==, 1);
}

static void
test_closed_when_empty (World *w, gconstpointer data)
{
  make (w, 2, PRIO_CHANNEL_PACE_EACH, NULL);
  prio_channel_close (w->channel);
  iterate_all (w);
  g_assert_cmpint (w->n_data_freed, ==, 1);
}

static void
test_aborted (World *w, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  GThread *thread;

  make (w, 2, PRIO_CHANNEL_PACE_EACH, G_CANCELLABLE (prio_task_controller_get_signal (controller)));
  offer (w, 1);
  offer (w, 2);
  thread = begin_blocked (&(Blocked) { w });
  prio_task_controller_abort (controller, NULL);
  g_thread_join (thread);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 0);
  g_assert_cmpint (w->n_released, ==, w->n_given);
  g_assert_cmpint (w->n_data_freed, ==, 1);
  g_assert_false (offer (w, 3));
}

/* An abort ends a channel even if no value waits; and a channel of a signal that is aborted already takes no values. */
static void
test_aborted_when_empty (World *w, gconstpointer data)
{
  g_autoptr (GCancellable) signal = g_cancellable_new ();

  make (w, 2, PRIO_CHANNEL_PACE_EACH, signal);
  g_cancellable_cancel (signal);
  g_assert_false (offer (w, 1));
  iterate_all (w);
  g_assert_cmpint (w->n_data_freed, ==, 1);
}

static GCancellable *abort_within_signal;

static gboolean
abort_within (gpointer world, guint number)
{
  World *w = world;

  g_cancellable_cancel (abort_within_signal);
  /* In a main loop that the function runs, too, the data stay. */
  iterate_all (w);
  g_assert_cmpint (w->n_data_freed, ==, 0);
  return TRUE;
}

static void
test_aborted_within (World *w, gconstpointer data)
{
  g_autoptr (GCancellable) signal = g_cancellable_new ();

  abort_within_signal = signal;
  w->hook = abort_within;
  make (w, 3, PRIO_CHANNEL_PACE_EACH, signal);
  for (guint i = 1; i <= 3; i++)
    offer (w, i);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 1);
  g_assert_cmpint (w->n_released, ==, 3);
  g_assert_cmpint (w->n_data_freed, ==, 1);
}

static void
test_context_ends (World *w, gconstpointer data)
{
  GThread *thread;

  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  offer (w, 1);
  thread = begin_blocked (&(Blocked) { w, NULL, PRIO_ERROR, PRIO_ERROR_CLOSED });
  /* The thread that has created the context counts as the owner, so this thread must be the one. */
  fixture_drop_context (&w->f);
  g_thread_join (thread);
  g_assert_cmpint (w->n_released, ==, w->n_given);
  replace (w, 2);
  g_assert_false (offer (w, 3));
  g_assert_cmpint (w->n_released, ==, w->n_given);
}

static void
use_elsewhere (PrioChannel *channel, gpointer value, gpointer user_data)
{
  g_assert_true (g_thread_self () != ((World *) user_data)->main);
}

static void
given (GObject *task, GAsyncResult *result, gpointer data)
{
  World *w = data;
  g_autoptr (GError) error = NULL;

  if (prio_task_wait_finish (PRIO_TASK (task), result, &error))
    g_string_append_c (w->f.log, 'y');
  else
    g_string_append_c (w->f.log, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? 'c' : 'n');
}

static gpointer
give_to_the_end (gpointer data)
{
  World *w = data;
  g_autoptr (GError) error = NULL;

  while (give (w, 1, NULL, &error))
    ;
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  g_assert_false (offer (w, 2));
  g_assert_false (replace (w, 3));
  return NULL;
}

/* A thread gives to the loop of a worker, which is stopped, and whose scheduler is still there. */
static void
test_stopped_worker (World *w, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("stopped");
  g_autoptr (PrioScheduler) scheduler = g_object_ref (prio_worker_get_scheduler (worker));
  g_autoptr (PrioTask) task = NULL;
  GThread *thread;

  w->channel = prio_channel_new (scheduler, NULL, 2, PRIO_CHANNEL_PACE_FRAME, use_elsewhere, w, free_data);
  thread = g_thread_new ("giver", give_to_the_end, w);
  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
  g_thread_join (thread);
  give_to_the_end (w);
  task = prio_channel_post_value (w->channel, w->f.scheduler, NULL, number_new (w, 4), release);
  prio_task_wait_async (task, NULL, given, w);
  iterate_all (w);
  g_assert_cmpstr (w->f.log->str, ==, "n");
}

static void
release_and_give (gpointer value)
{
  World *w = ((Number *) value)->w;

  release (value);
  offer (w, 50);
}

static void
test_destroy_notify_gives (World *w, gconstpointer data)
{
  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  prio_channel_replace (w->channel, number_new (w, 1), release_and_give);
  prio_channel_replace (w->channel, number_new (w, 2), release_and_give);
  g_assert_cmpint (w->n_released, ==, 2);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 2);
  g_assert_cmpuint (w->n_used, ==, 1);
  prio_channel_replace (w->channel, number_new (w, 3), release_and_give);
  prio_channel_close (w->channel);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 3);
}

static void
test_wrong_arguments (World *w, gconstpointer data)
{
  if (HAS_CHECKS)
    {
      assert_told ("*capacity > 0*",
                   g_assert_null (prio_channel_new (w->f.scheduler, NULL, 0, PRIO_CHANNEL_PACE_EACH, use, NULL, NULL)));
      assert_told ("*pace*", g_assert_null (prio_channel_new (w->f.scheduler, NULL, 1, (PrioChannelPace) 3, use, NULL, NULL)));
    }
  make (w, G_MAXUINT, PRIO_CHANNEL_PACE_EACH, NULL);
  for (guint i = 1; i <= 1000; i++)
    g_assert_true (offer (w, i));
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 1000);
}

static void
post_value (World *w, guint number, GCancellable *signal)
{
  g_autoptr (PrioTask) task = prio_channel_post_value (w->channel, w->f.scheduler, &PRIO_TASK_OPTIONS (.cancellable = signal),
                                                       number_new (w, number), release);

  prio_task_wait_async (task, NULL, given, w);
}

static void
test_post_value (World *w, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  make (w, 2, PRIO_CHANNEL_PACE_TURN, NULL);
  for (guint i = 1; i <= 5; i++)
    post_value (w, i, i == 4 ? cancellable : NULL);
  g_assert_cmpstr (w->f.log->str, ==, "");
  g_cancellable_cancel (cancellable);
  while (w->n_used < 4)
    g_main_context_iteration (w->f.context, TRUE);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 5);
  g_assert_cmpuint (w->f.log->len, ==, 5);
  g_assert_nonnull (strchr (w->f.log->str, 'c'));

  prio_channel_close (w->channel);
  post_value (w, 6, NULL);
  iterate_all (w);
  g_assert_true (g_str_has_suffix (w->f.log->str, "n"));
}

static PrioTaskGroup *group;
static GQueue held = G_QUEUE_INIT;

static void
defer (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  g_queue_push_tail (&held, g_object_ref (task));
}

static gboolean
post_to_group (gpointer world, guint number)
{
  g_autoptr (PrioTask) task = prio_task_group_post_task (group, NULL, defer, NULL, NULL);

  prio_channel_hold_place (((World *) world)->channel, task);
  return TRUE;
}

static void
test_group_holds_places (World *w, gconstpointer data)
{
  group = prio_task_group_new (w->f.scheduler, 2, USER_VISIBLE);
  w->hook = post_to_group;
  make (w, 4, PRIO_CHANNEL_PACE_EACH, NULL);
  for (guint i = 1; i <= 10; i++)
    post_value (w, i, NULL);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 4);
  g_assert_cmpuint (held.length, ==, 2);
  g_assert_cmpuint (prio_channel_get_length (w->channel), ==, 4);

  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (PrioTask) task = g_queue_pop_head (&held);

      prio_task_return_boolean (task, TRUE);
      iterate_all (w);
      g_assert_cmpuint (w->n_used, ==, MIN (5 + i, 10));
    }
  g_assert_cmpuint (prio_channel_get_length (w->channel), ==, 0);
  g_clear_object (&group);
}

/* A task keeps the group's only place, so no value of the channel is posted.  An abort of the channel's signal still
 * ends a wait. */
static void
test_aborted_while_held (World *w, gconstpointer data)
{
  g_autoptr (GCancellable) signal = g_cancellable_new (), other = g_cancellable_new ();
  g_autoptr (PrioTask) task = NULL;
  GThread *thread;

  group = prio_task_group_new (w->f.scheduler, 1, USER_VISIBLE);
  w->hook = post_to_group;
  make (w, 1, PRIO_CHANNEL_PACE_EACH, signal);
  offer (w, 1);
  iterate_all (w);
  g_assert_cmpuint (prio_channel_get_length (w->channel), ==, 1);
  thread = begin_blocked (&(Blocked) { w, other });
  g_cancellable_cancel (signal);
  g_thread_join (thread);
  task = g_queue_pop_head (&held);
  prio_task_return_boolean (task, TRUE);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, 1);
  g_clear_object (&group);
}

/* Gives values, and cancels the waits.  If a give has failed, the value was not given. */
static gpointer
give_cancelled (gpointer data)
{
  World *w = data;

  for (guint i = 0; i < times (500); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;

      g_ptr_array_add (w->cancellables, g_object_ref (cancellable));
      g_atomic_pointer_set (&w->cancellable, cancellable);
      w->n_accepted += give (w, i, cancellable, &error) ? 1 : 0;
      g_atomic_pointer_set (&w->cancellable, NULL);
    }
  return is_over (w);
}

static gboolean
cancel_some (gpointer world, guint number)
{
  World *w = world;
  GCancellable *cancellable = g_atomic_pointer_get (&w->cancellable);

  if (number % 2 == 0 && cancellable != NULL)
    g_cancellable_cancel (cancellable);
  return TRUE;
}

static void
test_cancelled_gives_nothing (World *w, gconstpointer data)
{
  GThread *thread;

  w->cancellables = g_ptr_array_new_with_free_func (g_object_unref);
  w->hook = cancel_some;
  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  thread = g_thread_new ("giver", give_cancelled, w);
  fixture_run_until (&w->f, &w->is_over, 1);
  g_thread_join (thread);
  iterate_all (w);
  g_assert_cmpuint (w->n_used, ==, w->n_accepted);
  g_ptr_array_unref (w->cancellables);
}

static void
release_and_wait (gpointer value)
{
  World *w = ((Number *) value)->w;
  g_autoptr (GError) error = NULL;

  release (value);
  g_assert_true (offer (w, 60));
  g_assert_false (give (w, 61, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
}

static void
test_destroy_notify_waits (World *w, gconstpointer data)
{
  make (w, 2, PRIO_CHANNEL_PACE_EACH, NULL);
  prio_channel_offer (w->channel, number_new (w, 1), release_and_wait);
  iterate_all (w);
  g_assert_cmpuint (w->last, ==, 60);
}

/* A child process gives values, while other threads of the parent may have held the lock. */
static void
test_fork (World *w, gconstpointer data)
{
  GThread *thread;

  make (w, 1, PRIO_CHANNEL_PACE_EACH, NULL);
  thread = g_thread_new ("giver", replace_many, w);
  for (guint i = 0; i < 10; i++)
    {
      int status;
      pid_t child = fork ();

      if (child == 0)
        {
          gboolean works = prio_channel_replace (w->channel, NULL, NULL) && prio_channel_get_length (w->channel) > 0;

          execlp (works ? "true" : "false", "child", NULL);
          _exit (1);
        }
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_cmpint (status, ==, 0);
    }
  fixture_run_until (&w->f, &w->is_over, 1);
  g_thread_join (thread);
}

/* Counts the tasks of the crossing that are released. */
static void
count (gpointer data)
{
  g_atomic_int_inc (&((World *) data)->n_over);
}

static void
answer (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

/* Gives in all ways, asks the main loop, closes and aborts, at random. */
static gpointer
cross (gpointer data)
{
  World *w = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) g_atomic_int_add (&w->n_waiting, 1));
  GPtrArray *tasks = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < 100; i++)
    {
      gint way = g_rand_int_range (rand, 0, 400);

      if (way < 140)
        replace (w, i);
      else if (way < 200)
        offer (w, i);
      else if (way < 320)
        give (w, i, NULL, NULL);
      else if (way < 360)
        g_ptr_array_add (tasks, prio_channel_post_value (w->channel, w->f.scheduler, NULL, number_new (w, i), release));
      else if (way < 395)
        {
          PrioTask *task = prio_scheduler_post_task (w->f.scheduler, NULL, answer, w, count);

          g_ptr_array_add (tasks, task);
          g_atomic_int_inc (&w->n_asked);
          g_assert_true (prio_task_wait (task, -1, NULL, NULL));
        }
      else if (way < 398)
        prio_channel_close (w->channel);
      else
        prio_task_controller_abort (w->controller, NULL);
    }
  is_over (w);
  return tasks;
}

static void
has_place (GObject *place, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioTask) task = data;

  prio_task_return_boolean (task, TRUE);
}

/* A task of the crossing that lends its priority to the task of a give. */
static void
wait_for_place (PrioTask *task, gpointer data)
{
  World *w = data;
  g_autoptr (PrioTask) place = prio_channel_post_value (w->channel, w->f.scheduler,
                                                        &PRIO_TASK_OPTIONS (.priority = BACKGROUND), number_new (w, 0), release);

  prio_task_wait_async (place, NULL, has_place, g_object_ref (task));
  prio_task_defer (task);
}

/* Pauses and resumes the scheduler in turn, and changes its share of the frames. */
static gboolean
disturb (gpointer data)
{
  World *w = data;
  guint n = w->n_disturbed++;

  if (n % 2 == 0)
    prio_scheduler_pause (w->f.scheduler);
  else
    prio_scheduler_resume (w->f.scheduler);
  prio_scheduler_set_task_share (w->f.scheduler, n % 3 == 0 ? 0.25 : 0);
  /* One at a time: otherwise this thread gives more than it takes. */
  if (w->place == NULL || prio_task_get_state (w->place) >= PRIO_TASK_STATE_FULFILLED)
    {
      g_clear_object (&w->place);
      w->place = prio_scheduler_post_task (w->f.scheduler, &PRIO_TASK_OPTIONS (.priority = USER_BLOCKING), wait_for_place, w, NULL);
    }
  return G_SOURCE_CONTINUE;
}

static void
test_crossing (World *w, gconstpointer data)
{
  prio_scheduler_set_lends_priority (w->f.scheduler, TRUE);
  for (guint round = 0; round < times (g_test_slow () ? 5000 : 100); round++)
    {
      g_autoptr (GSource) source = g_idle_source_new ();
      GThread *threads[4];

      w->controller = prio_task_controller_new (USER_VISIBLE);
      w->is_over = 0;
      w->n_data_freed = 0;
      make (w, 1 + round % 5, (PrioChannelPace) (round % 2), G_CANCELLABLE (prio_task_controller_get_signal (w->controller)));
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new ("giver", cross, w);
      g_source_set_callback (source, disturb, w, NULL);
      g_source_attach (source, w->f.context);
      fixture_run_until (&w->f, &w->is_over, G_N_ELEMENTS (threads));
      g_source_destroy (source);
      prio_scheduler_resume (w->f.scheduler);
      prio_channel_close (w->channel);
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        {
          g_autoptr (GPtrArray) tasks = g_thread_join (threads[i]);

          for (guint k = 0; k < tasks->len; k++)
            while (prio_task_get_state (tasks->pdata[k]) < PRIO_TASK_STATE_FULFILLED)
              g_main_context_iteration (w->f.context, TRUE);
        }
      while (g_atomic_int_get (&w->n_data_freed) == 0)
        g_main_context_iteration (w->f.context, TRUE);
      iterate_all (w);
      g_assert_cmpint (w->n_released, ==, w->n_given);
      g_assert_cmpint (w->n_over, ==, w->n_asked);
      g_clear_object (&w->channel);
      g_clear_object (&w->controller);
      g_clear_object (&w->place);
    }
}

/* Channels that are dropped while their values, or nothing, wait. */
static void
test_dropped (World *w, gconstpointer data)
{
  PrioChannel *channel;

  make (w, 3, PRIO_CHANNEL_PACE_EACH, NULL);
  channel = w->channel;
  offer (w, 1);
  offer (w, 2);
  g_object_unref (channel);
  iterate_all (w);
  w->channel = NULL;
  g_assert_cmpuint (w->n_used, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define TEST(name, func) g_test_add ("/channel/" name, World, NULL, set_up, func, tear_down)
  TEST ("newest-wins", test_newest_wins);
  TEST ("once-a-turn", test_once_a_turn);
  TEST ("once-a-frame", test_once_a_frame);
  TEST ("offer-is-refused", test_offer_is_refused);
  TEST ("oldest-goes", test_oldest_goes);
  TEST ("give-waits", test_give_waits);
  TEST ("give-on-the-loop", test_give_on_the_loop);
  TEST ("cancelled-give", test_cancelled_give);
  TEST ("closed", test_closed);
  TEST ("closed-when-empty", test_closed_when_empty);
  TEST ("aborted", test_aborted);
  TEST ("aborted-when-empty", test_aborted_when_empty);
  TEST ("aborted-within", test_aborted_within);
  TEST ("context-ends", test_context_ends);
  TEST ("stopped-worker", test_stopped_worker);
  TEST ("destroy-notify-gives", test_destroy_notify_gives);
  TEST ("wrong-arguments", test_wrong_arguments);
  TEST ("post-value", test_post_value);
  TEST ("group-holds-places", test_group_holds_places);
  TEST ("aborted-while-held", test_aborted_while_held);
  TEST ("cancelled-gives-nothing", test_cancelled_gives_nothing);
  TEST ("destroy-notify-waits", test_destroy_notify_waits);
  TEST ("fork", test_fork);
  TEST ("crossing", test_crossing);
  TEST ("dropped", test_dropped);

  return g_test_run ();
}
