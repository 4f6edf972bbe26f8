/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-testing.c: a clock that a test sets, for tests of programs that use the library
 *
 * The whole process has one such clock.  The *driver* is a source of the lowest priority.  When GLib has dispatched the
 * driver three times, and no task has begun in between, the main context is idle.  The driver then advances the time to
 * the end of the next delay.  So any main loop can advance the time, not only prio_testing_advance ().
 *
 * An observer keeps the names of the tasks that wait. */

#include "config.h"

#include "prio-testing.h"

#include "above/prio-thread-wait-private.h"
#include "base/prio-clock-private.h"
#include "prio-engine.h"
#include "prio-observe.h"

/* The latest time that a test can reach, in µs, so that tasks that are delayed for ever stay delayed. */
#define LAST_TIME (G_MAXINT64 / 2)

/* A task that is queued or delayed. */
typedef struct
{
  guint64 id;
  gboolean is_delayed;
  char name[];
} Waiting;

static GThread *tester; /* the thread of the test, or NULL if no test has begun; atomic */
/* Only the thread of the test changes the variables that follow; any thread may read @began during the test. */
static PrioScheduler *scheduler; /* the scheduler of the test's main context; owned */
static PrioLoop *loop_of_test;
static gint64 began;
static guint64 n_begun; /* tasks that have begun on the test's thread */
static gboolean steps;  /* whether the time slice ends after each task */
static guint depth;     /* the number of nested run () calls */

static PrioLock lock = PRIO_LOCK_INIT;
static GTree *waiting; /* Waiting by id, which is the order of the posts; guarded by @lock */

static gint
compare (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  guint64 one = *(const guint64 *) a, other = *(const guint64 *) b;

  return one < other ? -1 : one > other;
}

static void
waits (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  const char *name = task->name != NULL ? task->name : "unnamed";
  Waiting *noted = g_malloc (sizeof (Waiting) + strlen (name) + 1);

  noted->id = task->id;
  noted->is_delayed = task->due > now;
  strcpy (noted->name, name);
  prio_lock_lock (&lock);
  g_tree_replace (waiting, &noted->id, noted);
  prio_lock_unlock (&lock);
}

static void
forget (const PrioObserved *task)
{
  prio_lock_lock (&lock);
  g_tree_remove (waiting, &task->id);
  prio_lock_unlock (&lock);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  forget (task);
  if (__atomic_load_n (&tester, __ATOMIC_ACQUIRE) != g_thread_self ())
    return;
  n_begun++;
  if (steps)
    prio_loop_end_slice (loop);
}

static void
aborted (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gboolean runs G_GNUC_UNUSED,
         gint64 now G_GNUC_UNUSED)
{
  forget (task);
}

static PrioObserver observer = { .delayed = waits, .queued = waits, .begins = begins, .aborted = aborted };

/* Returns whether a test has begun, and @milliseconds is not negative.  Unless @is_anywhere, this must also be the
 * thread of the test.  If a check fails, logs a critical message for @function. */
static gboolean
check (const char *function, gboolean is_anywhere, double milliseconds)
{
  GThread *thread = __atomic_load_n (&tester, __ATOMIC_ACQUIRE);

  if (thread == NULL)
    g_critical ("%s(): the time is the system's: call prio_testing_begin() first", function);
  else if (!is_anywhere && thread != g_thread_self ())
    g_critical ("%s(): only the thread that has called prio_testing_begin() may call this", function);
  else if (!(milliseconds >= 0))
    g_critical ("%s(): %g milliseconds: the time does not go back", function, milliseconds);
  else
    return TRUE;
  return FALSE;
}

static gint64
time_after (double milliseconds)
{
  gint64 now = prio_clock_now ();
  double left = (double) (LAST_TIME - now);

  return milliseconds * 1000 >= left ? MAX (LAST_TIME, now) : now + (gint64) (milliseconds * 1000 + 0.5);
}

static void
set_time (gint64 time)
{
  prio_time_set (time);
  prio_thread_waits_look (NULL);
}

/* How often GLib dispatches the driver, without a task in between, before the main context counts as idle: more than
 * once, because the source of idle callbacks has the same priority, and may be dispatched after the driver. */
#define ROUNDS 3

typedef struct
{
  GSource parent;
  gint64 until;   /* the time to reach, µs */
  guint64 seen;   /* @n_begun at the last dispatch of the driver */
  guint quiet;    /* the number of dispatches in a row without a new task */
  guint depth;    /* the global depth at the creation; in a deeper main loop, the driver of that loop sets the time */
  gboolean waits; /* whether functions run in threads, so the iteration has to block */
} Driver;

/* Wakes the main context, so that the iteration blocks only to wait for functions in threads.  Returns FALSE, because a
 * source that is ready here would leave no time for idle callbacks; driver_check () makes the driver ready. */
static gboolean
driver_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  if (!((Driver *) source)->waits)
    g_main_context_wakeup (g_source_get_context (source));
  return FALSE;
}

static gboolean
driver_check (GSource *source)
{
  ((Driver *) source)->waits = FALSE;
  return TRUE;
}

/* Advances the time if the main context is idle.  Calls @over when @until is reached, or when the test has ended. */
static gboolean
driver_dispatch (GSource *source, GSourceFunc over, gpointer data)
{
  Driver *self = (Driver *) source;
  gint64 next, now = prio_clock_now ();

  if (loop_of_test == NULL)
    return over (data);

  next = prio_loop_next_time (loop_of_test);
  self->quiet = self->seen == n_begun && next > now && self->depth >= depth ? self->quiet + 1 : 0;
  self->seen = n_begun;
  if (self->quiet < ROUNDS)
    return G_SOURCE_CONTINUE;
  self->waits = prio_threads_count () > 0;
  if (self->waits)
    return G_SOURCE_CONTINUE;
  if (now >= self->until)
    return over (data);

  set_time (MIN (next, self->until));
  self->quiet = 0;
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs driver_funcs = { driver_prepare, driver_check, driver_dispatch, NULL, NULL, NULL };

static GSource *
driver_new (gint64 until, GSourceFunc over, gpointer data, GDestroyNotify notify)
{
  GSource *source = g_source_new (&driver_funcs, sizeof (Driver));

  ((Driver *) source)->until = until;
  ((Driver *) source)->depth = depth;
  g_source_set_callback (source, over, data, notify);
  g_source_set_static_name (source, "prio-sched test");
  g_source_set_priority (source, G_MAXINT);
  g_source_set_can_recurse (source, TRUE);
  g_source_attach (source, prio_observed_context (loop_of_test));
  return source;
}

static gboolean
set_over (gpointer is_over)
{
  *(gboolean *) is_over = TRUE;
  return G_SOURCE_REMOVE;
}

/* Runs the main context until it is idle at the time @until or, if @once, until a task has begun.  Returns whether a
 * task has begun. */
static gboolean
run (gint64 until, gboolean once)
{
  gboolean is_over = FALSE, outer = steps;
  guint64 before = n_begun;
  g_autoptr (GSource) driver = NULL;

  depth++;
  driver = driver_new (until, set_over, &is_over, NULL);
  steps = once;
  while (!is_over && !(once && n_begun != before))
    g_main_context_iteration (prio_observed_context (loop_of_test), TRUE);
  steps = outer;
  depth--;
  g_source_destroy (driver);
  return n_begun != before;
}

/**
 * prio_testing_begin:
 *
 * Stops the time of all schedulers of the process, for a test of a program that uses them.
 *
 * From now on delays, timeouts, slices and frames follow the time that the test sets with
 * [func@PrioSched.testing_advance] and [func@PrioSched.testing_spend].  A test does not sleep, and gives the same
 * result on every machine.
 *
 * The time begins at g_get_monotonic_time().  Timers of GLib, such as g_timeout_add(), still use the system's time.
 *
 * The calling thread is the thread of the test, and runs its thread-default main context.  In C, include
 * `<prio-sched-testing.h>`.  If a test has begun already, the function logs a critical message.
 *
 * ```c
 * static void
 * test_search_waits_for_the_last_letter (void)
 * {
 *   g_autoptr (Search) search = search_new ();
 *
 *   prio_testing_begin ();
 *   search_type (search, "a");
 *   prio_testing_advance (50);
 *   search_type (search, "ab");
 *   prio_testing_advance (149);
 *   g_assert_cmpuint (search->n_searches, ==, 0);
 *   prio_testing_advance (1);
 *   g_assert_cmpuint (search->n_searches, ==, 1);
 *   prio_testing_end ();
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_testing_begin (void)
{
  GThread *none = NULL;

  if (!__atomic_compare_exchange_n (&tester, &none, g_thread_self (), FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    {
      g_critical ("%s(): a test has begun already: end it with prio_testing_end()", G_STRFUNC);
      return;
    }

  scheduler = prio_scheduler_ref_thread_default ();
  loop_of_test = prio_scheduler_get_loop (scheduler);
  if (waiting == NULL)
    {
      prio_loop_add_leaf_lock (&lock);
      waiting = g_tree_new_full (compare, NULL, NULL, g_free);
    }
  began = prio_clock_now ();
  set_time (began);
  prio_observer_add (&observer);
}

/**
 * prio_testing_end:
 *
 * Ends the test: schedulers use the system's time again.
 *
 * Waiting tasks remain.  A delayed task waits for the rest of its delay.  If no test has begun, the function logs a
 * critical message.  Call this function on the thread of the test.
 *
 * Since: 1.0
 */
void
prio_testing_end (void)
{
  if (!check (G_STRFUNC, FALSE, 0))
    return;

  prio_observer_remove (&observer);
  set_time (0);
  prio_lock_lock (&lock);
  g_tree_remove_all (waiting);
  prio_lock_unlock (&lock);
  loop_of_test = NULL;
  g_clear_object (&scheduler);
  __atomic_store_n (&tester, NULL, __ATOMIC_RELEASE);
}

/**
 * prio_testing_get_elapsed:
 *
 * Gets how much time of the test has passed since [func@PrioSched.testing_begin].
 *
 * Any thread may call this function, while there is a test.
 *
 * Returns: the time in milliseconds
 *
 * Since: 1.0
 */
double
prio_testing_get_elapsed (void)
{
  if (!check (G_STRFUNC, TRUE, 0))
    return 0;

  return (double) (prio_clock_now () - began) / 1000;
}

/**
 * prio_testing_get_time:
 *
 * Gets the time that schedulers read: the test's, or g_get_monotonic_time() if no test has begun.
 *
 * A test can use this time to announce frames:
 * `prio_scheduler_set_next_frame (scheduler, prio_testing_get_time () + 16667)`.  Any thread may call this function.
 *
 * Returns: the time in microseconds
 *
 * Since: 1.0
 */
gint64
prio_testing_get_time (void)
{
  return prio_clock_now ();
}

/**
 * prio_testing_advance:
 * @milliseconds: the span, which is not negative
 *
 * Advances the time of the test, and runs each task that becomes due, at the time when it is due.
 *
 * The function first runs all tasks, idle callbacks and other sources of the main context that are ready, and functions
 * in threads.  Then the time moves to the end of the next delay, and so on.  When the function returns, nothing is
 * ready.  A task that runs for ever blocks the test.
 *
 * The function does not wait for operations of GIO.  A test that needs such an operation runs the main context itself:
 * `while (!done) g_main_context_iteration (NULL, TRUE);`.
 *
 * In a callback of the main loop, the function runs a nested main loop; [func@PrioSched.testing_advance_async] does
 * not.  If @milliseconds is negative, the function logs a critical message: the time does not go back.  Call this
 * function on the thread of the test.
 *
 * Since: 1.0
 */
void
prio_testing_advance (double milliseconds)
{
  if (!check (G_STRFUNC, FALSE, milliseconds))
    return;

  run (time_after (milliseconds), FALSE);
}

static gboolean
return_task (gpointer task)
{
  g_task_return_boolean (task, TRUE);
  return G_SOURCE_REMOVE;
}

/**
 * prio_testing_advance_async:
 * @milliseconds: the span, which is not negative
 * @callback: (scope async) (closure user_data): called when the time has advanced, and nothing is ready
 * @user_data: data for @callback
 *
 * Does the same as [func@PrioSched.testing_advance], in a main loop that the program runs.  Call this function on the
 * thread of the test.
 *
 * Since: 1.0
 */
void
prio_testing_advance_async (double milliseconds, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task;

  if (!check (G_STRFUNC, FALSE, milliseconds))
    return;

  task = g_task_new (NULL, NULL, callback, user_data);
  g_task_set_source_tag (task, (gpointer) prio_testing_advance_async);
  g_source_unref (driver_new (time_after (milliseconds), return_task, task, g_object_unref));
}

/**
 * prio_testing_advance_finish:
 * @result: the result
 * @error: return location for a `GError`
 *
 * Finishes [func@PrioSched.testing_advance_async].  Any thread may call this function.
 *
 * Returns: %TRUE
 *
 * Since: 1.0
 */
gboolean
prio_testing_advance_finish (GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_async_result_is_tagged (result, (gpointer) prio_testing_advance_async), FALSE);
  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * prio_testing_spend:
 * @milliseconds: the span, which is not negative
 *
 * Advances the time of the test, and runs nothing, as if the calling code took that long.
 *
 * A task of a test calls this instead of working.  Afterwards, [method@PrioSched.Scheduler.should_yield] returns the
 * same as after such work, and slices end.
 *
 * If there is no test, or @milliseconds is negative, the function logs a critical message.  Any thread may call this.
 *
 * Since: 1.0
 */
void
prio_testing_spend (double milliseconds)
{
  if (!check (G_STRFUNC, TRUE, milliseconds))
    return;

  set_time (time_after (milliseconds));
}

/**
 * prio_testing_run_until_idle:
 *
 * Runs all tasks and other sources that are ready, as [func@PrioSched.testing_advance] by 0 milliseconds does.
 *
 * Call this function on the thread of the test.
 *
 * Since: 1.0
 */
void
prio_testing_run_until_idle (void)
{
  if (!check (G_STRFUNC, FALSE, 0))
    return;

  run (prio_clock_now (), FALSE);
}

/**
 * prio_testing_step:
 *
 * Runs one ready task, with its microtasks, or one idle callback.
 *
 * The function first dispatches other sources of the main context that are ready.  The time does not change.  Call this
 * function on the thread of the test.
 *
 * Returns: whether there was a task or an idle callback
 *
 * Since: 1.0
 */
gboolean
prio_testing_step (void)
{
  if (!check (G_STRFUNC, FALSE, 0))
    return FALSE;

  return run (prio_clock_now (), TRUE);
}

static void
finish_aborted (PrioLoop *loop, gpointer data G_GNUC_UNUSED)
{
  prio_groups_finish_aborted (loop);
}

/* Returns the names of the waiting tasks.  If check () fails, for the public function @function, returns no names. */
static GStrv
list (const char *function, gboolean are_delayed)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  if (check (function, FALSE, 0))
    {
      /* Makes aborts report their tasks now and not later, so that aborted tasks are not listed. */
      prio_observed_call (loop_of_test, finish_aborted, NULL);
      prio_lock_lock (&lock);
      for (GTreeNode *node = g_tree_node_first (waiting); node != NULL; node = g_tree_node_next (node))
        {
          Waiting *task = g_tree_node_value (node);

          if (task->is_delayed == are_delayed)
            g_strv_builder_add (names, task->name);
        }
      prio_lock_unlock (&lock);
    }
  return g_strv_builder_end (names);
}

/**
 * prio_testing_list_queued:
 *
 * Lists the queued tasks of all schedulers, with continuations and idle callbacks, in the order of their posts.
 *
 * A task without a name is listed as `unnamed`.  Tasks that wait for a thread are not listed.  Call this function on
 * the thread of the test.
 *
 * Returns: (transfer full): their names
 *
 * Since: 1.0
 */
GStrv
prio_testing_list_queued (void)
{
  return list (G_STRFUNC, FALSE);
}

/**
 * prio_testing_list_delayed:
 *
 * Lists the tasks that wait for the end of their delay, like [func@PrioSched.testing_list_queued] for queued tasks.
 *
 * Call this function on the thread of the test.
 *
 * Returns: (transfer full): their names
 *
 * Since: 1.0
 */
GStrv
prio_testing_list_delayed (void)
{
  return list (G_STRFUNC, TRUE);
}
