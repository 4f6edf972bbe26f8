/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-deferred.c: results that are returned after the function, from any thread, or never */

#include "helpers.h"
#include "tsan-suppressions.h"

static guint n_destroyed;

static void
destroy (gpointer data)
{
  n_destroyed++;
}

static PrioTask *
post_with (Fixture *f, PrioTaskFunc func, gpointer data, gpointer signal)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .cancellable = signal, .name = "a name" }, func,
                                   data, NULL);
}

typedef struct
{
  Fixture *f;
  PrioTask *held;
  guint n_failed, n_completed;
} Dropped;

static void
failed (GObject *source, GAsyncResult *result, gpointer data)
{
  Dropped *dropped = data;
  g_autoptr (GError) error = NULL;

  g_assert_null (prio_task_propagate_pointer (PRIO_TASK (result), &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_DROPPED);
  dropped->n_failed++;
}

static void
completed (PrioTask *task, GParamSpec *pspec, Dropped *dropped)
{
  g_assert_true (g_main_context_is_owner (dropped->f->context));
  if (prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING)
    return;
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_FAILED);
  dropped->n_completed++;
}

static void
defer_and_forget (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
}

static void
defer_and_hold (PrioTask *task, gpointer data)
{
  Dropped *dropped = data;

  prio_task_defer (task);
  dropped->held = g_object_ref (task);
}

static void
post_to_be_dropped (Dropped *dropped, PrioTaskFunc func)
{
  PrioTask *task = post_with (dropped->f, func, dropped, NULL);

  prio_task_then (task, failed, dropped, NULL);
  g_signal_connect (task, "notify::state", G_CALLBACK (completed), dropped);
  g_object_unref (task);
}

#define expect_dropped() \
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "Task 'a name' has no result yet, and the last reference*")

/* The task is dropped before it has a result. */
static void
test_dropped (Fixture *f, gconstpointer data)
{
  Dropped dropped = { .f = f };

  post_to_be_dropped (&dropped, defer_and_forget);
  expect_dropped ();
  fixture_run (f);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (dropped.n_failed, ==, 1);
  g_assert_cmpuint (dropped.n_completed, ==, 1);

  post_to_be_dropped (&dropped, defer_and_hold);
  fixture_run (f);
  g_assert_cmpuint (dropped.n_failed, ==, 1);
  g_object_unref (dropped.held);
  expect_dropped ();
  fixture_run (f);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (dropped.n_failed, ==, 2);
  g_assert_cmpuint (dropped.n_completed, ==, 2);
}

static void
finalized (gpointer data, GObject *object)
{
  ++*(guint *) data;
}

static void
return_and_drop (GObject *source, GAsyncResult *result, gpointer data)
{
  Dropped *dropped = data;

  prio_task_return_int (dropped->held, 1);
  g_clear_object (&dropped->held);
}

/* A task with a result, with a reference or with an abort causes no warning, and is freed. */
static void
test_not_dropped (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Dropped dropped = { .f = f };
  PrioTask *task = post_with (f, defer_and_hold, &dropped, prio_task_controller_get_signal (controller));
  guint n_finalized = 0;

  g_object_weak_ref (G_OBJECT (task), finalized, &n_finalized);
  g_object_unref (task);
  fixture_run (f);
  prio_task_controller_abort (controller, NULL);
  return_and_drop (NULL, NULL, &dropped);
  fixture_run (f);
  g_assert_cmpuint (n_finalized, ==, 1);

  task = post_with (f, defer_and_forget, &dropped, NULL);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_return_int (task, 1);
  g_object_weak_ref (G_OBJECT (task), finalized, &n_finalized);
  g_object_unref (task);
  fixture_run (f);
  g_assert_cmpuint (n_finalized, ==, 2);
}

static gpointer
drop (gpointer task)
{
  g_object_unref (task);
  return NULL;
}

static gint n_warned; /* atomic */

static void
count_warned (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  g_atomic_int_inc (&n_warned);
}

enum { N_DROPPED = 2000 };

/* Another thread drops the last reference, beside the context that runs. */
static void
test_dropped_elsewhere (Fixture *f, gconstpointer data)
{
  Dropped dropped = { .f = f };
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  guint handler = g_log_set_handler ("PrioSched", G_LOG_LEVEL_WARNING, count_warned, NULL);
  gint64 end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC;

  n_warned = 0;
  for (guint i = 1; i <= N_DROPPED && g_get_monotonic_time () < end; i++)
    {
      GThread *thread;

      dropped.held = NULL;
      post_to_be_dropped (&dropped, defer_and_hold);
      while (dropped.held == NULL)
        g_main_context_iteration (f->context, FALSE);
      thread = g_thread_new ("dropper", drop, dropped.held);
      while (dropped.n_completed < i)
        g_main_context_iteration (f->context, FALSE);
      g_thread_join (thread);
      g_assert_cmpuint (dropped.n_failed, ==, i);
      g_assert_cmpint (g_atomic_int_get (&n_warned), ==, (gint) i);
    }
  g_log_remove_handler ("PrioSched", handler);
  g_log_set_always_fatal (fatal);
}

typedef struct
{
  PrioTask *task;
  gint is_over; /* atomic */
} SlowDrop;

/* Drops the last reference, and keeps notifications frozen for a while, as g_object_unref () does while it disposes the
 * task. */
static gpointer
drop_slowly (gpointer data)
{
  SlowDrop *slow = data;

  g_object_freeze_notify (G_OBJECT (slow->task));
  g_object_unref (slow->task);
  g_usleep (20 * 1000);
  g_atomic_int_set (&slow->is_over, TRUE);
  g_object_thaw_notify (G_OBJECT (slow->task));
  return NULL;
}

static void
over_before_failed (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (g_atomic_int_get (&((SlowDrop *) data)->is_over));
}

/* The task fails once the other thread has left g_object_unref (), which uses the task until then. */
static void
test_dropped_slowly_elsewhere (Fixture *f, gconstpointer data)
{
  Dropped dropped = { .f = f };
  SlowDrop slow = { NULL };
  GThread *thread;

  expect_dropped ();
  post_to_be_dropped (&dropped, defer_and_hold);
  while (dropped.held == NULL)
    g_main_context_iteration (f->context, FALSE);
  slow.task = dropped.held;
  prio_task_then (slow.task, over_before_failed, &slow, NULL);
  thread = g_thread_new ("dropper", drop_slowly, &slow);
  while (dropped.n_failed == 0)
    g_main_context_iteration (f->context, FALSE);
  g_thread_join (thread);
  g_main_context_iteration (f->context, FALSE);
  g_test_assert_expected_messages ();
}

/* The context has been freed: no callback is called, and nothing leaks. */
static void
test_dropped_without_a_context (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      GMainContext *context = g_main_context_new ();
      PrioScheduler *scheduler = prio_scheduler_new (context);
      Fixture other = { .context = context, .scheduler = scheduler };
      Dropped dropped = { .f = &other };
      guint n_finalized = 0;

      n_destroyed = 0;
      post_to_be_dropped (&dropped, defer_and_hold);
      fixture_run (&other);
      prio_task_then (dropped.held, failed, &dropped, destroy);
      g_object_weak_ref (G_OBJECT (dropped.held), finalized, &n_finalized);
      g_object_unref (scheduler);
      g_main_context_unref (context);

      expect_dropped ();
      if (i == 0)
        g_object_unref (dropped.held);
      else
        g_thread_join (g_thread_new ("dropper", drop, dropped.held));
      g_test_assert_expected_messages ();
      g_assert_cmpuint (n_finalized, ==, 1);
      g_assert_cmpuint (n_destroyed, ==, 1);
      g_assert_cmpuint (dropped.n_failed, ==, 0);
    }
}

/* prio_task_return_error_if_aborted () ends a deferred task, which the abort itself does not end. */
static void
test_return_error_if_aborted_later (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = post_with (f, defer_and_forget, NULL, prio_task_controller_get_signal (controller));
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "a reason");

  fixture_run (f);
  g_assert_false (prio_task_return_error_if_aborted (task));
  prio_task_controller_abort (controller, reason);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  g_assert_true (prio_task_return_error_if_aborted (task));
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_BUSY);
}

/* A deferred task whose own cancellable is cancelled notices it in the same way. */
static void
test_cancelled_after_it_was_deferred (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post_with (f, defer_and_forget, NULL, NULL);

  fixture_run (f);
  g_assert_false (prio_task_return_error_if_aborted (task));
  prio_task_cancel (task);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  g_assert_true (prio_task_return_error_if_aborted (task));
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gpointer
return_on_thread (gpointer task)
{
  prio_task_return_int (task, 42);
  g_object_unref (task);
  return NULL;
}

static void
defer_and_cancel (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  prio_task_cancel (task);
}

/* A result is on its way when the last reference to its task is dropped. */
static void
test_result_of_an_aborted_task (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 10; i++)
    {
      PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                 defer_and_cancel, NULL, NULL);
      GThread *thread;

      fixture_run (f);
      thread = g_thread_new ("result", return_on_thread, task);
      g_thread_join (thread);
      g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                step_run_task, step_new (f, 'a', NULL, NULL), step_free));
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "aaaaaaaaaa");
}

/* Code that returns a deferred result holds the task, perhaps alone.  Of several results, one is taken; each is
 * returned in a separate thread, and all start at the same time. */
enum { N_RETURNERS = 2, N_ROUNDS = 5000, NO_MORE_ROUNDS = G_MAXINT };

typedef struct
{
  PrioTaskController *controller;
  PrioTask *task;
  gint64 end;
  gint round; /* atomic: the round in which they may return, or NO_MORE_ROUNDS */
  gint ready; /* atomic: how many threads have returned */
} Returning;

static void
wait_for (gint *counter, gint value)
{
  for (guint i = 1; g_atomic_int_get (counter) < value; i++)
    {
      if (i % 10000 == 0)
        g_thread_yield ();
    }
}

static void
spin (guint n)
{
  for (volatile guint i = 0; i < n; i++)
    ;
}

static gpointer
return_each (gpointer data)
{
  Returning *returning = data;

  for (guint i = 1;; i++)
    {
      wait_for (&returning->round, (gint) i);
      if (g_atomic_int_get (&returning->round) == NO_MORE_ROUNDS)
        return NULL;
      spin (i * 13 % 300);
      prio_task_return_int (returning->task, (gssize) i);
      if (returning->controller != NULL)
        g_object_unref (returning->task);
      g_atomic_int_inc (&returning->ready);
    }
}

static void
defer_and_abort (PrioTask *task, gpointer data)
{
  Returning *returning = data;

  prio_task_defer (task);
  returning->task = g_object_ref (task);
  prio_task_controller_abort (returning->controller, NULL);
  g_atomic_int_inc (&returning->round);
  spin ((guint) returning->round * 7 % 300);
}

/* The task is aborted in its function; afterwards only the returning thread knows the task.  In an earlier version, one
 * run in three used a task that had been freed, within some hundred rounds. */
static void
test_result_while_it_is_aborted (Fixture *f, gconstpointer data)
{
  Returning returning = { .end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC };
  GThread *thread = g_thread_new ("returner", return_each, &returning);

  for (guint i = 1; i <= N_ROUNDS && g_get_monotonic_time () < returning.end; i++)
    {
      returning.controller = prio_task_controller_new (USER_VISIBLE);
      g_object_unref (prio_scheduler_post_task (f->scheduler,
                                                &(PrioTaskOptions) {
                                                  .priority = USER_VISIBLE,
                                                  .signal = signal_of (returning.controller),
                                                },
                                                defer_and_abort, &returning, NULL));
      while (g_atomic_int_get (&returning.ready) < (gint) i)
        g_main_context_iteration (f->context, FALSE);
      while (g_main_context_iteration (f->context, FALSE))
        ;
      g_object_unref (returning.controller);
    }
  g_atomic_int_set (&returning.round, NO_MORE_ROUNDS);
  g_thread_join (thread);
}

static gint n_criticals; /* atomic */

static void
count_criticals (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  g_atomic_int_inc (&n_criticals);
}

static void
defer_and_tell (PrioTask *task, gpointer data)
{
  Returning *returning = data;

  prio_task_defer (task);
  returning->task = task;
  g_atomic_int_inc (&returning->round);
}

/* Two threads return a result: one result is taken, the other call returns FALSE, and the task is not freed while a
 * thread holds it. */
static void
test_two_results_at_once (Fixture *f, gconstpointer data)
{
  Returning returning = { .end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC };
  GThread *threads[N_RETURNERS];
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  guint handler = g_log_set_handler ("PrioSched", G_LOG_LEVEL_CRITICAL, count_criticals, NULL);

  for (guint i = 0; i < N_RETURNERS; i++)
    threads[i] = g_thread_new ("returner", return_each, &returning);

  for (guint i = 1; i <= N_ROUNDS && g_get_monotonic_time () < returning.end; i++)
    {
      PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE },
                                                 defer_and_tell, &returning, NULL);

      while (g_atomic_int_get (&returning.ready) < (gint) i * N_RETURNERS || prio_task_get_state (task) < PRIO_TASK_STATE_FULFILLED)
        g_main_context_iteration (f->context, FALSE);
      g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, i);
      g_assert_cmpint (g_atomic_int_get (&n_criticals), ==, i * (N_RETURNERS - 1));
      fixture_run (f);
      g_assert_cmpuint (G_OBJECT (task)->ref_count, ==, 1);
      g_object_unref (task);
    }

  g_atomic_int_set (&returning.round, NO_MORE_ROUNDS);
  for (guint i = 0; i < N_RETURNERS; i++)
    g_thread_join (threads[i]);
  g_log_remove_handler ("PrioSched", handler);
  g_log_set_always_fatal (fatal);
}

/* Tasks whose operation does not return before the abort. */
typedef enum { DEFERRED, LAST_STEP, IN_THREAD, N_KINDS } Kind;

typedef struct
{
  Kind kind;
  gint stage; /* atomic: 1: it has started, 2: it may return */
  PrioTask *held;
} Silent;

/* Waits in the task's function, which returns no result. */
static void
wait_for_nobody (PrioTask *task, gpointer data)
{
  Silent *self = data;

  prio_task_defer (task);
  self->held = g_object_ref (task);
  g_atomic_int_set (&self->stage, 1);
}

static gboolean
wait_in_a_step (PrioTask *task, gpointer data)
{
  Silent *self = data;

  if (self->stage++ == 0)
    {
      prio_scheduler_end_slice (prio_scheduler_get_default ());
      prio_task_delay_step (task, 1);
      return G_SOURCE_CONTINUE;
    }
  wait_for_nobody (task, data);
  return G_SOURCE_REMOVE;
}

static void
wait_in_a_thread (PrioTask *task, gpointer data)
{
  Silent *self = data;

  g_atomic_int_set (&self->stage, 1);
  while (g_atomic_int_get (&self->stage) != 2)
    g_usleep (100);
  prio_task_return_pointer (task, data, destroy);
  g_atomic_int_set (&self->stage, 3);
}

static PrioTask *
post_silent (Fixture *f, PrioTaskGroup *group, GCancellable *signal, Silent *self)
{
  PrioTaskOptions options = { .cancellable = signal, .name = "a name" };

  switch (self->kind)
    {
    case DEFERRED:
      return group != NULL ? prio_task_group_post_task (group, &options, wait_for_nobody, self, NULL)
                           : prio_scheduler_post_task (f->scheduler, &options, wait_for_nobody, self, NULL);
    case LAST_STEP:
      return group != NULL ? prio_task_group_post_steps (group, &options, wait_in_a_step, self, NULL)
                           : prio_scheduler_post_steps (f->scheduler, &options, wait_in_a_step, self, NULL);
    default:
      return group != NULL ? prio_task_group_run_in_thread (group, &options, wait_in_a_thread, self, NULL)
                           : prio_scheduler_run_in_thread (f->scheduler, &options, wait_in_a_thread, self, NULL);
    }
}

static gboolean
has_begun (Silent *self)
{
  return self->held != NULL || (self->kind == IN_THREAD && g_atomic_int_get (&self->stage) == 1);
}

static void
run_until_begun (Fixture *f, Silent *self)
{
  while (!has_begun (self))
    g_main_context_iteration (f->context, FALSE);
  fixture_run (f);
}

/* Returns the result after the abort; the result is dropped. */
static void
answer_late (Fixture *f, Silent *self)
{
  if (self->held != NULL)
    {
      prio_task_return_pointer (self->held, self, destroy);
      g_clear_object (&self->held);
    }
  if (self->kind == IN_THREAD)
    g_atomic_int_set (&self->stage, 2);
  while (self->kind == IN_THREAD && g_atomic_int_get (&self->stage) != 3)
    g_usleep (100);
  fixture_run (f);
}

static void
log_end (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (prio_task_propagate_pointer (PRIO_TASK (result), &error));
  g_string_append_printf (((Fixture *) data)->log, "%d %s, ", prio_task_get_state (PRIO_TASK (result)), error->message);
}

typedef enum { BY_CONTROLLER, BY_HAND, ALONE, N_ENDS } End;

static void
check_ends_at_the_abort (Fixture *f, Kind kind, End end, gboolean set_late)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Silent silent = { .kind = kind };
  g_autoptr (PrioTask) task = post_silent (f, NULL, cancellable_of (controller), &silent);
  guint before = n_destroyed;

  prio_task_then (task, log_end, f, NULL);
  if (!set_late)
    prio_task_set_return_on_abort (task, TRUE);
  run_until_begun (f, &silent);
  if (end == BY_CONTROLLER)
    prio_task_controller_abort (controller, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CLOSED, "mine"));
  else if (end == BY_HAND)
    g_cancellable_cancel (cancellable_of (controller));
  else
    prio_task_cancel (task);
  if (set_late)
    prio_task_set_return_on_abort (task, TRUE);
  fixture_run (f);

  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_str_has_prefix (f->log->str, end == BY_CONTROLLER ? "4 mine, " : "4 "));
  g_string_truncate (f->log, 0);
  answer_late (f, &silent);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (n_destroyed - before, ==, 1);
}

static void
test_ends_at_the_abort (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < N_KINDS * N_ENDS * 2; i++)
    check_ends_at_the_abort (f, (Kind) (i % N_KINDS), (End) (i / N_KINDS % N_ENDS), i >= N_KINDS * N_ENDS);
}

/* The abort of a group ends its tasks and waits, and frees their places; the group can be used further. */
static void
test_ends_with_its_group (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < N_KINDS; i++)
    {
      g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
      Silent silent[] = { { .kind = (Kind) i }, { .kind = DEFERRED } };
      g_autoptr (PrioTask) first = NULL, second = NULL, next = NULL;
      gboolean on;

      g_object_set (group, "return-on-abort", TRUE, NULL);
      g_object_get (group, "return-on-abort", &on, NULL);
      g_assert_true (on);
      first = post_silent (f, group, NULL, &silent[0]);
      second = post_silent (f, group, NULL, &silent[1]);
      g_object_get (first, "return-on-abort", &on, NULL);
      g_assert_true (on);
      run_until_begun (f, &silent[0]);
      run_until_begun (f, &silent[1]);
      prio_task_group_abort (group, NULL);
      fixture_run (f);
      g_assert_cmpint (prio_task_get_state (first), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_cmpint (prio_task_get_state (second), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);

      next = prio_task_group_post_task (group, NULL, step_run_task, step_new (f, 'n', NULL, NULL), step_free);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "n");
      g_string_truncate (f->log, 0);
      answer_late (f, &silent[0]);
      answer_late (f, &silent[1]);
    }
}

static gboolean
step_and_forget (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  return G_SOURCE_REMOVE;
}

typedef enum { WAY_TASK, WAY_STEPS, WAY_GROUP, WAY_GROUP_STEPS, WAY_THREAD, WAY_GROUP_THREAD, N_WAYS } Way;

static PrioTask *
post_forgetful (Fixture *f, PrioTaskGroup *group, Way way)
{
  switch (way)
    {
    case WAY_TASK: return prio_scheduler_post_task (f->scheduler, NULL, defer_and_forget, NULL, NULL);
    case WAY_STEPS: return prio_scheduler_post_steps (f->scheduler, NULL, step_and_forget, NULL, NULL);
    case WAY_GROUP: return prio_task_group_post_task (group, NULL, defer_and_forget, NULL, NULL);
    case WAY_GROUP_STEPS: return prio_task_group_post_steps (group, NULL, step_and_forget, NULL, NULL);
    case WAY_THREAD: return prio_scheduler_run_in_thread (f->scheduler, NULL, defer_and_forget, NULL, NULL);
    default: return prio_task_group_run_in_thread (group, NULL, defer_and_forget, NULL, NULL);
    }
}

static void
note_end (GObject *source, GAsyncResult *result, gpointer ended)
{
  *(gboolean *) ended = TRUE;
}

/* A message about a task without a name contains the program's function, and not a function of the library. */
static void
test_message_has_the_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);

  for (Way way = 0; way < N_WAYS; way++)
    {
      gpointer func = way == WAY_STEPS || way == WAY_GROUP_STEPS ? (gpointer) step_and_forget : (gpointer) defer_and_forget;
      g_autofree char *pattern = g_strdup_printf ("An unnamed task (of function %p) has no result yet*", func);
      gboolean ended = FALSE;
      PrioTask *task;

      g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, pattern);
      task = post_forgetful (f, group, way);
      prio_task_then (task, note_end, &ended, NULL);
      g_object_unref (task);
      while (!ended)
        g_main_context_iteration (f->context, TRUE);
      g_test_assert_expected_messages ();
    }
}

G_GNUC_NORETURN static void
never_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

/* After the context has gone no callback is called, whether the task has its result or not. */
static void
test_then_without_a_context (Fixture *f, gconstpointer data)
{
  Dropped dropped = { f, NULL };
  g_autoptr (PrioTask) task = post_with (f, defer_and_hold, &dropped, NULL);

  n_destroyed = 0;
  fixture_run (f);
  prio_task_then (task, never_called, NULL, destroy);
  fixture_drop_context (f);
  prio_task_then (task, never_called, NULL, destroy);
  g_assert_cmpuint (n_destroyed, ==, 2);
  prio_task_return_int (task, 1);
  prio_task_then (task, never_called, NULL, destroy);
  g_assert_cmpuint (n_destroyed, ==, 3);
  g_object_unref (dropped.held);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/deferred/dropped", test_dropped);
  add_test ("/deferred/not-dropped", test_not_dropped);
  add_test ("/deferred/dropped-elsewhere", test_dropped_elsewhere);
  add_test ("/deferred/dropped-slowly-elsewhere", test_dropped_slowly_elsewhere);
  add_test ("/deferred/dropped-without-a-context", test_dropped_without_a_context);
  add_test ("/deferred/then-without-a-context", test_then_without_a_context);
  add_test ("/deferred/return-error-if-aborted-later", test_return_error_if_aborted_later);
  add_test ("/deferred/cancelled-after-it-was-deferred", test_cancelled_after_it_was_deferred);
  add_test ("/deferred/result-of-an-aborted-task", test_result_of_an_aborted_task);
  add_test ("/deferred/result-while-it-is-aborted", test_result_while_it_is_aborted);
  add_test ("/deferred/two-results-at-once", test_two_results_at_once);
  add_test ("/deferred/message-has-the-function", test_message_has_the_function);
  add_test ("/deferred/return-on-abort/task", test_ends_at_the_abort);
  add_test ("/deferred/return-on-abort/group", test_ends_with_its_group);

  return g_test_run ();
}
