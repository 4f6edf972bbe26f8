/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-meetings.c: random work, from several threads, with the same few objects
 *
 * In each round three threads, two of which each run a context, perform random operations on
 * a controller, signals of every kind that depend on it, and tasks of both contexts: from outside,
 * and from tasks, destroy notifies and handlers.  Then all references are dropped, and the round
 * checks that every destroy notify has been called once, that every signal has been emitted as it
 * must be, that no context is left, and that no change of priority was rejected.
 *
 * The environment variable MEETINGS_WITHOUT names operations to leave out: changes, drops,
 * states, defer, contexts, timers, hand, said.
 */

#include "counts.h"
#include "helpers.h"
#include "slots.h"
#include "tsan-suppressions.h"

enum { N_THREADS = 3, N_CONTEXTS = 2, N_SIGNALS = 5, N_TASKS = 4, N_OPERATIONS = 12, MAX_DEPTH = 3 };

/* A time that is longer than the library may wait in a round. */
#define PATIENCE (20 * G_TIME_SPAN_SECOND)

/* A signal with a handler, from its creation to its end. */
typedef struct
{
  gint said, finalized; /* atomic */
} Listener;

/* The objects that the threads share, in slots unless they are atomic. */
static struct
{
  PrioTaskController *controller;
  GCancellable *signals[N_SIGNALS];
  PrioTask *tasks[N_TASKS];
  PrioTask *deferred[N_TASKS];
  PrioSchedulingState *state;
  PrioScheduler *schedulers[N_CONTEXTS];
  GMainContext *contexts[N_CONTEXTS];
  Listener listeners[N_SIGNALS];
  gint n_made, n_freed, n_contexts_freed, aborted, over; /* atomic */
  gboolean drop; /* whether the second context is destroyed with its work */
  guint theme;
  GSList *dropped; /* used with an old GLib */
} shared;

pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static _Thread_local GRand *self_random;
static _Thread_local guint depth, changing;

static void act (void);

static guint
dice (guint sides)
{
  return (guint) g_rand_int_range (self_random, 0, (gint32) sides);
}

static gboolean
without (const char *what)
{
  const char *given = g_getenv ("MEETINGS_WITHOUT");

  return given != NULL && strstr (given, what) != NULL;
}

static void
act_inside (void)
{
  if (depth >= MAX_DEPTH || g_atomic_int_get (&shared.over))
    return;
  depth++;
  act ();
  depth--;
}

/* Makes the data of posted work. */
static gint *
payload_new (void)
{
  g_atomic_int_inc (&shared.n_made);
  return g_new0 (gint, 1);
}

static void
payload_free (gpointer payload)
{
  g_assert_cmpint (g_atomic_int_add ((gint *) payload, 1), ==, 0);
  if (dice (4) == 0)
    act_inside ();
  g_atomic_int_inc (&shared.n_freed);
  g_free (payload);
}

static gboolean
run_closure (gpointer payload)
{
  g_assert_cmpint (g_atomic_int_get ((gint *) payload), ==, 0);
  if (dice (2) == 0)
    act_inside ();
  return dice (4) == 0;
}

static void
return_result (guint i)
{
  g_autoptr (PrioTask) task = TAKE (shared.deferred[i]);

  if (task != NULL)
    prio_task_return_pointer (task, g_strdup ("result"), g_free);
}

static void
return_results (void)
{
  for (guint i = 0; i < N_TASKS; i++)
    return_result (i);
}

static void
run_task (PrioTask *task, gpointer payload)
{
  guint i = dice (N_TASKS);
  g_autoptr (PrioTask) other = NULL;

  run_closure (payload);
  if (dice (2) == 0 || g_atomic_int_get (&shared.over) || without ("defer"))
    return;

  prio_task_defer (task);
  other = PUT (shared.deferred[i], g_object_ref (task));
  if (other != NULL)
    prio_task_return_int (other, 1);
  if (dice (2) == 0)
    act_inside ();
}

static void
completed (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer payload G_GNUC_UNUSED)
{
  act_inside ();
}

static void
post (void)
{
  g_autoptr (PrioScheduler) scheduler = LOOK (shared.schedulers[dice (N_CONTEXTS)]);
  g_autoptr (GCancellable) signal = dice (4) > 0 ? LOOK (shared.signals[dice (N_SIGNALS)]) : NULL;
  PrioTaskPriority priority = dice (4); /* or none */
  PrioTask *task;

  if (scheduler == NULL)
    return;
  if (dice (2) == 0)
    {
      prio_scheduler_post_full (scheduler,
                                &(PrioTaskOptions) { .priority = priority, .cancellable = signal,
                                                     .delay = dice (8) / 7 },
                                run_closure, payload_new (), payload_free);
      return;
    }

  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = priority, .cancellable = signal },
                                   run_task, payload_new (), payload_free);
  if (dice (2) == 0)
    prio_task_then (task, completed, payload_new (), payload_free);
  g_clear_object (&task);
}

static void
post_and_keep (void)
{
  g_autoptr (PrioScheduler) scheduler = LOOK (shared.schedulers[dice (N_CONTEXTS)]);
  g_autoptr (GCancellable) signal = LOOK (shared.signals[dice (N_SIGNALS)]);
  g_autoptr (PrioTask) old G_GNUC_UNUSED = NULL;

  if (scheduler != NULL)
    old = PUT (shared.tasks[dice (N_TASKS)],
               prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .cancellable = signal }, run_task,
                                         payload_new (), payload_free));
}

static void
cancel (void)
{
  g_autoptr (PrioTask) task = dice (2) == 0 ? LOOK (shared.tasks[dice (N_TASKS)]) : TAKE (shared.tasks[dice (N_TASKS)]);

  if (task != NULL)
    prio_task_cancel (task);
}

static void
abort_all (gboolean by_hand)
{
  g_autoptr (PrioTaskController) controller = LOOK (shared.controller);

  if (controller == NULL)
    return;
  g_atomic_int_set (&shared.aborted, TRUE);
  if (by_hand && !without ("hand"))
    g_cancellable_cancel (cancellable_of (controller));
  else
    prio_task_controller_abort (controller, NULL);
}

/* Changes a priority on any thread; only a change within another change on the same thread is rejected. */
static void
change_priority (void)
{
  g_autoptr (PrioTaskController) controller = LOOK (shared.controller);
  gboolean changed;

  if (controller == NULL || without ("changes"))
    return;
  changing++;
  changed = prio_task_controller_set_priority (controller, BACKGROUND + dice (3), NULL);
  changing--;
  g_assert_true (changed || changing > 0);
}

/* Drops a reference.  Up to 2.78, g_object_unref () of the last reference is not safe from g_weak_ref_get () in another
 * thread if dispose () keeps the object: then it is dropped after the threads have ended. */
static void
let_go_of (gpointer object)
{
  pthread_mutex_lock (&slots_lock);
  if (object != NULL && glib_check_version (2, 79, 0) != NULL)
    shared.dropped = g_slist_prepend (shared.dropped, g_steal_pointer (&object));
  pthread_mutex_unlock (&slots_lock);
  g_clear_object (&object);
}

static void
drop (void)
{
  if (without ("drops"))
    return;
  if (dice (4) > 0)
    let_go_of (TAKE (shared.signals[dice (N_SIGNALS)]));
  else
    let_go_of (TAKE (shared.controller));
}

static void
pause_or_resume (void)
{
  g_autoptr (PrioScheduler) scheduler = LOOK (shared.schedulers[dice (N_CONTEXTS)]);

  if (scheduler != NULL && dice (2) == 0)
    prio_scheduler_pause (scheduler);
  else if (scheduler != NULL)
    prio_scheduler_resume (scheduler);
}

/* Enters a state, which is current only where its context runs. */
static void
in_state (gpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  g_autoptr (PrioScheduler) scheduler = state != NULL ? prio_scheduling_state_dup_scheduler (state) : NULL;

  if (scheduler != NULL)
    g_assert_true (g_main_context_is_owner (prio_scheduler_get_context (scheduler)));
  act_inside ();
}

static void
use_state (void)
{
  PrioSchedulingState *state = TAKE (shared.state);

  if (without ("states"))
    return;
  if (state == NULL)
    {
      state = prio_scheduling_state_ref_current ();
      state = PUT (shared.state, state);
    }
  else
    {
      prio_scheduling_state_run (state, in_state, NULL);
    }
  if (state != NULL)
    prio_scheduling_state_unref (state);
}

static void
abort_by_controller (void)
{
  abort_all (FALSE);
}

static void
abort_by_hand (void)
{
  abort_all (TRUE);
}

static void
return_one (void)
{
  return_result (dice (N_TASKS));
}

/* Pairs of operations; half of the operations of a round are one pair. */
static void (*const themes[][2]) (void) = {
  { change_priority, change_priority }, { abort_by_controller, drop }, { abort_by_controller, return_one },
  { abort_by_hand, cancel }, { drop, drop }, { post, pause_or_resume }, { use_state, post },
};

static void
act (void)
{
  static void (*const all[]) (void) = {
    abort_by_controller, abort_by_hand, change_priority, change_priority, drop, drop, cancel, return_one, use_state,
    pause_or_resume, post_and_keep, post_and_keep, post, post, post, post,
  };

  if (dice (2) == 0)
    themes[shared.theme][dice (2)] ();
  else
    all[dice (G_N_ELEMENTS (all))] ();
}

static void
said_cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer listener)
{
  g_atomic_int_inc (&((Listener *) listener)->said);
  act_inside ();
}

static void
priority_changed (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  changing++;
  act_inside ();
  changing--;
}

static void
signal_finalized (gpointer listener, GObject *signal G_GNUC_UNUSED)
{
  g_atomic_int_inc (&((Listener *) listener)->finalized);
}

static void
share_signal (guint i, gpointer signal)
{
  g_object_weak_ref (signal, signal_finalized, &shared.listeners[i]);
  g_signal_connect (signal, "cancelled", G_CALLBACK (said_cancelled), &shared.listeners[i]);
  if (PRIO_IS_TASK_SIGNAL (signal) && dice (2) == 0)
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), NULL);
  shared.signals[i] = signal;
}

/* Makes the signals, all but one in the first context, one in the second. */
static void
set_up_thread (guint number)
{
  GCancellable *source = cancellable_of (shared.controller), *plain;

  if (number >= N_CONTEXTS)
    return;

  shared.contexts[number] = g_main_context_new ();
  watch_context (shared.contexts[number], &shared.n_contexts_freed);
  shared.schedulers[number] = prio_scheduler_new (shared.contexts[number]);
  if (number == 0 || !without ("contexts"))
    g_main_context_push_thread_default (shared.contexts[number]);
  if (number == 0)
    {
      /* The library now has data for the signal: ThreadSanitizer does not see GLib pass it on. */
      plain = g_cancellable_new ();
      g_object_unref (prio_task_signal_new_any (&plain, 1, BACKGROUND));
      share_signal (0, prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source)));
      share_signal (1, prio_task_signal_new_any (&source, 1, USER_BLOCKING));
      share_signal (3, plain);
      if (!without ("timers"))
        share_signal (4, prio_task_signal_new_timeout (dice (2)));
    }
  else
    {
      share_signal (2, prio_task_signal_new_any (&source, 1, BACKGROUND + dice (3)));
    }
}

/* Drops the thread's references to its context. */
static void
leave_context (guint number)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = TAKE (shared.schedulers[number]);

  if (number == 0 || !without ("contexts"))
    g_main_context_pop_thread_default (shared.contexts[number]);
  g_main_context_unref (shared.contexts[number]);
}

static void
meet (guint number)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  for (guint n = 0; n < N_OPERATIONS; n++)
    {
      for (guint spins = dice (300); spins > 0; spins--)
        __atomic_signal_fence (__ATOMIC_SEQ_CST);
      act ();
      if (number < N_CONTEXTS && dice (2) == 0)
        g_main_context_iteration (shared.contexts[number], FALSE);
      g_assert_cmpint (g_get_monotonic_time (), <, end);
    }
  if (number == 1 && shared.drop)
    leave_context (number);
}

/* Returns whether the signal has to emit `cancelled` in this round if it is aborted: whether its own context still
 * exists. */
static gboolean
has_to_say (guint i)
{
  return !without ("said") && (i < 2 || (i == 2 && !shared.drop && !without ("contexts")));
}

/* Returns whether the context has done all its work. */
static gboolean
is_through (guint number)
{
  gboolean said = TRUE;

  if (number == 0 && shared.listeners[4].finalized == 0 && !without ("timers"))
    said = g_atomic_int_get (&shared.listeners[4].said) > 0;
  for (guint i = 0; i < 3 && g_atomic_int_get (&shared.aborted); i++)
    said &= !has_to_say (i) || g_atomic_int_get (&shared.listeners[i].said) > 0;
  return said && (shared.drop || g_atomic_int_get (&shared.n_freed) == g_atomic_int_get (&shared.n_made));
}

/* Runs the context until its work is done; if a defect leaves work undone, check_round () fails. */
static void
finish_context (guint number)
{
  gint64 end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;

  if (number >= N_CONTEXTS || (number == 1 && shared.drop))
    return;
  while (!is_through (number) && g_get_monotonic_time () < end)
    {
      g_main_context_iteration (shared.contexts[number], FALSE);
      return_results ();
    }
}

static void
let_go (void)
{
  return_results ();
  g_slist_free_full (g_steal_pointer (&shared.dropped), g_object_unref);
  for (guint i = 0; i < N_SIGNALS; i++)
    g_clear_object (&shared.signals[i]);
  for (guint i = 0; i < N_TASKS; i++)
    g_clear_object (&shared.tasks[i]);
  g_clear_object (&shared.controller);
  g_clear_pointer (&shared.state, prio_scheduling_state_unref);
}

static void
run_round (guint number)
{
  set_up_thread (number);
  pthread_barrier_wait (&barrier);
  meet (number);
  pthread_barrier_wait (&barrier);
  if (number == 0)
    {
      g_atomic_int_set (&shared.over, TRUE);
      for (guint i = 0; i < (shared.drop ? 1 : N_CONTEXTS); i++)
        prio_scheduler_resume (shared.schedulers[i]);
    }
  pthread_barrier_wait (&barrier);
  finish_context (number);
  pthread_barrier_wait (&barrier);
  if (number == 0)
    let_go ();
  pthread_barrier_wait (&barrier);
  if (number < N_CONTEXTS && !(number == 1 && shared.drop))
    {
      while (g_main_context_iteration (shared.contexts[number], FALSE))
        ;
      leave_context (number);
    }
  pthread_barrier_wait (&barrier);
}

static void
check_round (void)
{
  /* Emissions of a destroyed context come in the default one. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpint (shared.n_freed, ==, shared.n_made);
  g_assert_cmpint (shared.n_contexts_freed, ==, N_CONTEXTS);
  for (guint i = 0; i < N_SIGNALS; i++)
    {
      if (i == 4 && without ("timers"))
        continue;
      g_assert_cmpint (shared.listeners[i].finalized, ==, 1);
      if (has_to_say (i))
        g_assert_cmpint (shared.listeners[i].said, ==, shared.aborted);
      else if (i == 4)
        g_assert_cmpint (shared.listeners[i].said, ==, 1);
    }
}

static gpointer
run_thread (gpointer data)
{
  guint number = GPOINTER_TO_UINT (data) & 0xff;

  self_random = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  pthread_barrier_wait (&barrier);
  while (shared.controller != NULL)
    {
      run_round (number);
      pthread_barrier_wait (&barrier);
    }
  g_rand_free (self_random);
  return NULL;
}

static void
begin_round (gboolean last)
{
  memset (shared.listeners, 0, sizeof shared.listeners);
  shared.n_made = shared.n_freed = shared.n_contexts_freed = shared.aborted = shared.over = 0;
  shared.drop = !without ("contexts") && dice (3) == 0;
  shared.theme = dice (G_N_ELEMENTS (themes));
  shared.controller = last ? NULL : prio_task_controller_new (BACKGROUND + dice (3));
}

/* Makes objects that GLib makes on demand: before there are threads, so that ThreadSanitizer does not complain. */
static void
prepare_glib (void)
{
  g_autoptr (GObject) object = G_OBJECT (g_cancellable_new ());
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "");
  g_autoptr (GError) copy G_GNUC_UNUSED = g_error_copy (error);
  GWeakRef weak;

  g_weak_ref_init (&weak, object);
  g_object_unref (g_weak_ref_get (&weak));
  g_weak_ref_clear (&weak);
  g_main_context_default ();
}

static void
test_meetings (void)
{
  GThread *threads[N_THREADS];
  guint n_descriptors, n_rounds = 0;
  gint64 end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;
  const guint max_rounds = g_test_slow () ? 20000 : 1000;

  prepare_glib ();
  n_descriptors = count_descriptors ();
  pthread_barrier_init (&barrier, NULL, N_THREADS);
  self_random = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  for (guint i = 1; i < N_THREADS; i++)
    threads[i] = g_thread_new ("meeting", run_thread, GUINT_TO_POINTER ((((guint) g_test_rand_int () & 0x7fffff) << 8) | i));

  begin_round (FALSE);
  pthread_barrier_wait (&barrier);
  for (guint round = 1; round <= max_rounds; round++)
    {
      run_round (0);
      check_round ();
      if (!g_test_slow () && g_get_monotonic_time () > end)
        round = max_rounds;
      n_rounds++;
      begin_round (round >= max_rounds);
      pthread_barrier_wait (&barrier);
    }

  for (guint i = 1; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_test_message ("%u rounds", n_rounds);
  g_rand_free (self_random);
  pthread_barrier_destroy (&barrier);
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/meetings/leave-nothing", test_meetings);

  return g_test_run ();
}
