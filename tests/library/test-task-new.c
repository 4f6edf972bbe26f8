/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-task-new.c: tasks that are in no queue, and get their result from their maker */

#include "helpers.h"
#include <prio-sched-watch.h>
#include "tsan-suppressions.h"

static guint n_destroyed;

static void
destroy (gpointer data)
{
  n_destroyed++;
}

static PrioTask *
new_task (Fixture *f, gpointer signal)
{
  return prio_task_new (f->scheduler, &PRIO_TASK_OPTIONS (.cancellable = signal, .name = "a name"));
}

/* Logs how a task has ended. */
static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Fixture *f = data;

  g_assert_true (g_main_context_is_owner (f->context));
  if (prio_task_wait_finish (PRIO_TASK (result), result, &error))
    g_string_append_printf (f->log, "%d, ", prio_task_get_state (PRIO_TASK (result)));
  else
    g_string_append_printf (f->log, "%d %s, ", prio_task_get_state (PRIO_TASK (result)), error->message);
}

/* An asynchronous function of a program. */

typedef struct
{
  PrioTask *task;
  gssize value;
} Answer;

static gboolean
answer (gpointer data)
{
  Answer *self = data;

  prio_task_return_int (self->task, self->value);
  g_object_unref (self->task);
  g_free (self);
  return G_SOURCE_REMOVE;
}

static void
ask_async (GObject *asked, Fixture *f, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.cancellable = cancellable, .source_object = asked,
                                               .source_tag = ask_async);
  Answer *self = g_new (Answer, 1);

  *self = (Answer) { prio_task_new (f->scheduler, &options), 42 };
  prio_task_wait_async (self->task, NULL, callback, user_data);
  attach_source (f->context, G_PRIORITY_LOW, answer, self);
}

static void
asked (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;
  g_autoptr (GError) error = NULL;
  gssize n = prio_task_propagate_int (PRIO_TASK (result), &error);

  g_assert_true (prio_task_is_valid (result, source, ask_async));
  g_assert_false (prio_task_is_valid (result, result, ask_async));
  g_assert_true (g_async_result_get_user_data (result) == f);
  g_string_append_printf (f->log, "%" G_GSSIZE_FORMAT " %s, ", n, error != NULL ? error->message : "");
}

static void
test_a_function_of_ones_own (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);

  ask_async (object, f, NULL, asked, f);
  assert_ran (f, "42 , ");
  ask_async (object, f, cancellable, asked, f);
  assert_ran (f, "42 , ");

  ask_async (object, f, cancellable, asked, f);
  g_cancellable_cancel (cancellable);
  assert_ran (f, "-1 Operation was cancelled, ");
  ask_async (object, f, cancellable, asked, f);
  assert_ran (f, "-1 Operation was cancelled, ");
  g_assert_cmpuint (object->ref_count, ==, 1);
}

/* The task is running from the start, and is in no queue. */
static void
test_it_has_begun (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) task = new_task (f, cancellable_of (controller));
  g_autoptr (PrioTask) plain = prio_task_new (f->scheduler, NULL);
  g_autofree char *name = prio_task_dup_name (task);
  PrioStatistics statistics = PRIO_STATISTICS_INIT;

  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  g_assert_cmpint (prio_task_get_state (plain), ==, PRIO_TASK_STATE_RUNNING);
  g_assert_cmpstr (name, ==, "a name");
  g_assert_true (prio_task_get_cancellable (task) == cancellable_of (controller));
  g_assert_cmpint (prio_task_get_priority (task), ==, BACKGROUND);
  g_assert_cmpint (prio_task_get_priority (plain), ==, USER_VISIBLE);
  g_assert_true (prio_task_get_return_on_abort (task));
  prio_task_set_progress (task, 0.5);
  g_assert_cmpfloat (prio_task_get_progress (task), ==, 0.5);
  g_assert_false (prio_task_return_error_if_aborted (task));

  prio_scheduler_start_statistics (f->scheduler);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  prio_scheduler_pause (f->scheduler);
  prio_task_wait_async (task, NULL, ended, f);
  prio_task_return_boolean (task, TRUE);
  prio_task_return_boolean (plain, TRUE);
  assert_ran (f, "2, ");
  prio_scheduler_get_statistics (f->scheduler, &statistics);
  g_assert_cmpuint (statistics.background.n_run + statistics.background.n_queued, ==, 0);
  prio_scheduler_stop_statistics (f->scheduler);
}

/* Each kind of result, returned before and after a wait begins. */
static void
test_results (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
  g_auto (GValue) value = G_VALUE_INIT, got = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_string (&value, "text");
  n_destroyed = 0;
  for (guint i = 0; i < 10; i++)
    {
      PrioTask *task = new_task (f, NULL);

      if (i % 2 == 0)
        prio_task_wait_async (task, NULL, ended, f);
      if (i / 2 == 0)
        prio_task_return_pointer (task, f, destroy);
      else if (i / 2 == 1)
        prio_task_return_int (task, 7);
      else if (i / 2 == 2)
        prio_task_return_value (task, &value);
      else if (i / 2 == 3)
        prio_task_return_error (task, g_error_copy (reason));
      else
        prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_BUSY, "%s", "busy");
      if (i % 2 == 1)
        prio_task_wait_async (task, NULL, ended, f);
      /* The callback is never called within the call. */
      g_assert_cmpstr (f->log->str, ==, "");
      if (i / 2 == 2)
        {
          g_assert_true (prio_task_propagate_value (task, &got, NULL));
          g_assert_cmpstr (g_value_get_string (&got), ==, "text");
          g_value_unset (&got);
        }
      g_object_unref (task);
      assert_ran (f, i / 2 < 3 ? "2, " : "3 busy, ");
    }
  g_assert_cmpuint (n_destroyed, ==, 2);
}

static void
test_second_result (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = new_task (f, NULL);

  n_destroyed = 0;
  prio_task_wait_async (task, NULL, ended, f);
  prio_task_return_int (task, 1);
  assert_told ("*task 'a name' cannot be given a second result*", prio_task_return_pointer (task, f, destroy));
  assert_ran (f, "2, ");
  assert_told ("*task 'a name' cannot be given a second result*", prio_task_return_pointer (task, f, destroy));
  assert_told ("*task 'a name' has completed, and cannot defer*", prio_task_defer (task));
  g_assert_cmpuint (n_destroyed, ==, 2);
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 1);
}

/* Kinds of aborts, in each phase of a task. */

typedef enum { BY_CONTROLLER, BY_HAND, BY_SOURCE, BY_PLAIN, ALONE, N_ENDS } End;
typedef enum { BEFORE, NEW, AWAITED, IN_A_TASK, IN_A_HANDLER, N_PHASES } Phase;

typedef struct
{
  PrioTaskController *controller;
  GCancellable *by; /* the cancellable that aborts the task */
  End end;
  PrioTask *task;
} Aborted;

static void
abort_now (Aborted *self)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CLOSED, "mine");

  if (self->end == BY_CONTROLLER)
    prio_task_controller_abort (self->controller, reason);
  else if (self->end == ALONE && self->task != NULL)
    prio_task_cancel (self->task);
  else
    g_cancellable_cancel (self->by);
}

static gboolean
abort_in_a_task (gpointer data)
{
  abort_now (data);
  return G_SOURCE_REMOVE;
}

static gpointer
abort_in_a_thread (gpointer data)
{
  abort_now (data);
  return NULL;
}

static void
check_abort (Fixture *f, End end, Phase phase, gboolean elsewhere)
{
  Aborted self = { .controller = prio_task_controller_new (USER_VISIBLE), .end = end };
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  GCancellable *sources[] = { plain }, *signal;
  g_autoptr (PrioTaskSignal) any = prio_task_signal_new_any (sources, 1, USER_VISIBLE);
  gpointer task;

  signal = end == BY_SOURCE ? G_CANCELLABLE (any) : end == BY_PLAIN ? plain : cancellable_of (self.controller);
  self.by = end == BY_SOURCE ? plain : signal;
  n_destroyed = 0;
  if (phase == BEFORE)
    abort_now (&self);
  self.task = task = new_task (f, signal);
  if (phase != NEW)
    prio_task_wait_async (self.task, NULL, ended, f);
  if (phase == NEW || phase == AWAITED)
    {
      if (elsewhere)
        g_thread_join (g_thread_new ("aborts", abort_in_a_thread, &self));
      else
        abort_now (&self);
    }
  else if (phase == IN_A_TASK)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, abort_in_a_task, &self, NULL);
  else if (phase == IN_A_HANDLER)
    {
      g_signal_connect_swapped (self.task, "notify::progress", G_CALLBACK (abort_now), &self);
      prio_task_set_progress (self.task, 1);
    }
  if (phase == NEW)
    prio_task_wait_async (self.task, NULL, ended, f);
  /* The abort ends the task at once, unless another thread or the main loop is needed first. */
  if (phase <= AWAITED && end != BY_SOURCE && !elsewhere)
    g_assert_cmpint (prio_task_get_state (self.task), ==, PRIO_TASK_STATE_ABORTED);
  assert_ran (f, end == BY_CONTROLLER ? "4 mine, " : "4 Operation was cancelled, ");

  /* The late result is released. */
  prio_task_return_pointer (self.task, f, destroy);
  g_assert_cmpuint (n_destroyed, ==, 1);
  g_object_add_weak_pointer (task, &task);
  g_object_unref (self.task);
  assert_ran (f, "");
  g_assert_null (task);
  g_object_unref (self.controller);
}

static void
test_aborts (Fixture *f, gconstpointer data)
{
  for (End end = 0; end < N_ENDS; end++)
    {
      for (Phase phase = 0; phase < N_PHASES; phase++)
        {
          check_abort (f, end, phase, FALSE);
          check_abort (f, end, phase, TRUE);
        }
    }
}

static void
test_abort_after_the_result (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = new_task (f, cancellable_of (controller));

  prio_task_wait_async (task, NULL, ended, f);
  prio_task_return_int (task, 1);
  prio_task_controller_abort (controller, NULL);
  prio_task_cancel (task);
  assert_ran (f, "2, ");
}

/* Without return-on-abort, a task waits for its operation. */
static void
test_that_outlives_an_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = new_task (f, cancellable_of (controller)), other = new_task (f,
                                                                                           cancellable_of (controller));

  prio_task_set_return_on_abort (task, FALSE);
  prio_task_set_return_on_abort (other, FALSE);
  prio_task_wait_async (task, NULL, ended, f);
  prio_task_wait_async (other, NULL, ended, f);
  prio_task_controller_abort (controller, NULL);
  assert_ran (f, "");
  prio_task_return_int (task, 1);
  assert_ran (f, "2, ");
  g_assert_true (prio_task_return_error_if_aborted (other));
  assert_ran (f, "4 Operation was cancelled, ");
}

/* A cancellable that has been reset aborts later tasks only when it is cancelled again; a task signal stays aborted. */
static void
test_reset (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) first = new_task (f, cancellable), second = NULL, third = NULL;

  g_cancellable_cancel (cancellable);
  g_cancellable_reset (cancellable);
  second = new_task (f, cancellable);
  g_assert_cmpint (prio_task_get_state (first), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (second), ==, PRIO_TASK_STATE_RUNNING);
  g_cancellable_cancel (cancellable);
  g_assert_cmpint (prio_task_get_state (second), ==, PRIO_TASK_STATE_ABORTED);

  prio_task_controller_abort (controller, NULL);
  g_cancellable_reset (cancellable_of (controller));
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "A PrioTaskSignal has been reset*");
  third = new_task (f, cancellable_of (controller));
  g_test_assert_expected_messages ();
  g_assert_cmpint (prio_task_get_state (third), ==, PRIO_TASK_STATE_ABORTED);
}

/* The last reference */

#define expect_dropped() \
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "Task 'a name' has no result yet, and the last reference*")

/* A task that a callback drops. */
typedef struct
{
  Fixture *f;
  PrioTask *task;
} Held;

static void
drop (gpointer data)
{
  Held *held = data;

  g_clear_object (&held->task);
  expect_dropped (); /* the loop warns, and not this callback, which may be part of a garbage collection */
}

static gboolean
drop_in_a_source (gpointer data)
{
  drop (data);
  return G_SOURCE_REMOVE;
}

static gpointer
drop_in_a_thread (gpointer data)
{
  drop (data);
  return NULL;
}

static void
drop_in_a_function (PrioTask *task, gpointer data)
{
  drop (data);
}

static void
drop_when_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  drop (data);
}

static void
drop_in_an_idle_callback (PrioIdleDeadline *deadline, gpointer data)
{
  drop (data);
}

typedef enum { IN_NO_CALLBACK, IN_A_SOURCE, IN_A_POST, IN_A_FUNCTION, IN_A_NOTIFY, IN_A_MICROTASK, IN_A_REACTION, IN_A_YIELD,
               IN_CANCELLED, IN_PROGRESS, IN_AN_IDLE_CALLBACK, IN_A_THREAD, N_PLACES } Place;

static void
do_nothing (PrioTask *task, gpointer data)
{
}

/* Calls drop () in a callback of that kind. */
static void
drop_there (Held *held, Place place)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) other = prio_task_new (held->f->scheduler, NULL);

  switch (place)
    {
    case IN_A_SOURCE:
      attach_source (held->f->context, G_PRIORITY_DEFAULT, drop_in_a_source, held);
      break;
    case IN_A_POST:
      prio_scheduler_post (held->f->scheduler, USER_VISIBLE, drop_in_a_source, held, NULL);
      break;
    case IN_A_FUNCTION:
      g_object_unref (prio_scheduler_post_task (held->f->scheduler, NULL, drop_in_a_function, held, NULL));
      break;
    case IN_A_NOTIFY:
      g_object_unref (prio_scheduler_post_task (held->f->scheduler, NULL, do_nothing, held, drop));
      break;
    case IN_A_MICROTASK:
      prio_scheduler_queue_microtask (held->f->scheduler, drop, held, NULL);
      break;
    case IN_A_REACTION:
      prio_task_wait_async (other, NULL, drop_when_ended, held);
      break;
    case IN_A_YIELD:
      prio_scheduler_yield_async (held->f->scheduler, NULL, drop_when_ended, held);
      break;
    case IN_CANCELLED:
      g_signal_connect_swapped (cancellable_of (controller), "cancelled", G_CALLBACK (drop), held);
      break;
    case IN_PROGRESS:
      g_signal_connect_swapped (other, "notify::progress", G_CALLBACK (drop), held);
      break;
    case IN_AN_IDLE_CALLBACK:
      prio_scheduler_request_idle_callback (held->f->scheduler, 0, drop_in_an_idle_callback, held, NULL);
      break;
    case IN_A_THREAD:
      g_thread_join (g_thread_new ("drops", drop_in_a_thread, held));
      break;
    default:
      drop (held);
    }
  prio_task_set_progress (other, 1);
  prio_task_controller_abort (controller, NULL);
  while (held->task != NULL)
    {
      if (place == IN_A_REACTION && prio_task_get_state (other) == PRIO_TASK_STATE_RUNNING)
        prio_task_return_int (other, 1);
      g_main_context_iteration (held->f->context, TRUE);
    }
  fixture_run (held->f);
  if (place != IN_A_REACTION)
    prio_task_return_int (other, 1);
}

/* If the last reference is dropped, the task fails and its waiting callback is called, wherever the last reference is
 * dropped, with a signal and without one. */
static void
test_dropped (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  for (Place place = 0; place < N_PLACES * 2; place++)
    {
      Held held = { f, new_task (f, place < N_PLACES ? NULL : cancellable_of (controller)) };
      gpointer task = held.task;

      g_object_add_weak_pointer (task, &task);
      prio_task_wait_async (held.task, NULL, ended, f);
      drop_there (&held, place % N_PLACES);
      g_test_assert_expected_messages ();
      g_assert_true (g_str_has_prefix (f->log->str, "3 The task was dropped"));
      g_string_truncate (f->log, 0);
      fixture_run (f);
      g_assert_null (task);
    }
}

/* A task that has ended is dropped silently, in its own callback, too. */
static void
drop_own (GObject *source, GAsyncResult *result, gpointer data)
{
  Held *held = data;

  g_clear_object (&held->task);
}

static void
test_dropped_when_it_has_ended (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  for (guint i = 0; i < 4; i++)
    {
      Held held = { f, new_task (f, i % 2 == 0 ? cancellable : NULL) };
      gpointer task = held.task;

      g_object_add_weak_pointer (task, &task);
      prio_task_wait_async (held.task, NULL, drop_own, &held);
      if (i / 2 == 0)
        prio_task_return_int (held.task, 1);
      else
        prio_task_cancel (held.task);
      fixture_run (f);
      g_assert_null (held.task);
      g_assert_null (task);
    }
}

/* Threads */

typedef struct
{
  PrioTaskController *controller;
  PrioTask *task;
  gint n_there; /* atomic */
} Meeting;

static void
meet (Meeting *self)
{
  g_atomic_int_inc (&self->n_there);
  while (g_atomic_int_get (&self->n_there) < 2)
    g_thread_yield ();
}

static gpointer
return_elsewhere (gpointer data)
{
  Meeting *self = data;

  meet (self);
  prio_task_return_pointer (self->task, self, destroy);
  g_object_unref (self->task);
  return NULL;
}

static void
count_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  ++*(guint *) data;
}

/* The result and the abort come at the same time: one of them counts, and the callback is called once. */
static void
test_result_beside_an_abort (Fixture *f, gconstpointer data)
{
  gint64 end = g_get_monotonic_time () + G_USEC_PER_SEC;

  for (guint i = 0; i < times (2000) && g_get_monotonic_time () < end; i++)
    {
      Meeting meeting = { .controller = prio_task_controller_new (USER_VISIBLE) };
      g_autoptr (PrioTask) task = meeting.task = new_task (f, cancellable_of (meeting.controller));
      guint n_ended = 0;
      GThread *thread;

      g_object_ref (task);
      n_destroyed = 0;
      prio_task_wait_async (task, NULL, count_ended, &n_ended);
      thread = g_thread_new ("returns", return_elsewhere, &meeting);
      meet (&meeting);
      if (i % 3 == 0)
        prio_task_cancel (task);
      else if (i % 3 == 1)
        prio_task_controller_abort (meeting.controller, NULL);
      else
        g_cancellable_cancel (cancellable_of (meeting.controller));
      g_thread_join (thread);
      fixture_run (f);
      g_assert_cmpuint (n_ended, ==, 1);
      g_assert_cmpuint (n_destroyed, ==, prio_task_get_state (task) == PRIO_TASK_STATE_ABORTED);
      g_object_unref (meeting.controller);
    }
}

static gpointer
abort_elsewhere (gpointer data)
{
  Meeting *self = data;

  meet (self);
  prio_task_controller_abort (self->controller, NULL);
  return NULL;
}

static void
ignore (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
}

/* The last reference is dropped while another thread aborts the task. */
static void
test_dropped_beside_an_abort (Fixture *f, gconstpointer data)
{
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  guint handler = g_log_set_handler ("PrioSched", G_LOG_LEVEL_WARNING, ignore, NULL);
  gint64 end = g_get_monotonic_time () + G_USEC_PER_SEC;

  for (guint i = 0; i < times (2000) && g_get_monotonic_time () < end; i++)
    {
      Meeting meeting = { .controller = prio_task_controller_new (USER_VISIBLE) };
      gpointer task = new_task (f, cancellable_of (meeting.controller));
      guint n_ended = 0;
      GThread *thread;

      prio_task_wait_async (task, NULL, count_ended, &n_ended);
      thread = g_thread_new ("aborts", abort_elsewhere, &meeting);
      meet (&meeting);
      g_object_unref (task);
      g_thread_join (thread);
      while (n_ended == 0)
        g_main_context_iteration (f->context, TRUE);
      fixture_run (f);
      g_assert_cmpuint (n_ended, ==, 1);
      g_object_unref (meeting.controller);
    }
  g_log_remove_handler ("PrioSched", handler);
  g_log_set_always_fatal (fatal);
}

static gpointer
make_and_return (gpointer data)
{
  Fixture *f = data;
  PrioTask *task = new_task (f, NULL);

  prio_task_wait_async (task, NULL, ended, f);
  prio_task_return_int (task, 1);
  g_object_unref (task);
  return NULL;
}

static gpointer
make_aborted (gpointer data)
{
  Fixture *f = data;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  PrioTask *task;

  g_cancellable_cancel (cancellable);
  task = new_task (f, cancellable);
  prio_task_wait_async (task, NULL, ended, f);
  g_object_unref (task);
  return NULL;
}

/* A thread that does not run the context creates the task; the thread that runs the context calls the waiting
 * callback. */
static void
test_of_another_thread (Fixture *f, gconstpointer data)
{
  fixture_run (f);
  g_thread_join (g_thread_new ("makes", make_and_return, f));
  assert_ran (f, "2, ");
  g_thread_join (g_thread_new ("makes", make_aborted, f));
  assert_ran (f, "4 Operation was cancelled, ");
}

/* The end of the context */

G_GNUC_NORETURN static void
not_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

typedef enum { LATE_RESULT, LATE_ABORT, LATE_CANCEL, LATE_HAND, LATE_DROP, N_LATE } Late;

/* If the context is destroyed, any later event ends the task, and no callback is called. */
static void
test_the_context_goes (Fixture *f, gconstpointer data)
{
  for (Late late = 0; late < N_LATE; late++)
    {
      Fixture other = { .context = g_main_context_new () };
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      gpointer task;
      PrioTask *held;

      other.scheduler = prio_scheduler_new (other.context);
      held = task = new_task (&other, cancellable_of (controller));
      n_destroyed = 0;
      prio_task_then (held, not_called, NULL, destroy);
      fixture_run (&other);
      g_object_unref (other.scheduler);
      g_main_context_unref (other.context);
      g_assert_cmpint (prio_task_get_state (held), ==, PRIO_TASK_STATE_RUNNING);

      g_object_add_weak_pointer (task, &task);
      if (late == LATE_RESULT)
        prio_task_return_pointer (held, f, destroy);
      else if (late == LATE_ABORT)
        prio_task_controller_abort (controller, NULL);
      else if (late == LATE_CANCEL)
        prio_task_cancel (held);
      else if (late == LATE_HAND)
        g_cancellable_cancel (cancellable_of (controller));
      else
        expect_dropped ();
      g_assert_cmpint (prio_task_get_state (held), ==, late == LATE_RESULT ? PRIO_TASK_STATE_FULFILLED
                                                       : late == LATE_DROP ? PRIO_TASK_STATE_RUNNING : PRIO_TASK_STATE_ABORTED);
      g_object_unref (held);
      g_test_assert_expected_messages ();
      g_assert_null (task);
      g_assert_cmpuint (n_destroyed, ==, late == LATE_RESULT ? 2 : 1);
    }
}

static void
test_of_a_worker_that_has_stopped (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new (NULL);
  g_autoptr (PrioScheduler) scheduler = g_object_ref (prio_worker_get_scheduler (worker));
  g_autoptr (PrioTask) before = prio_task_new (scheduler, NULL), after = NULL;
  gpointer task;

  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
  after = prio_task_new (scheduler, NULL);
  g_assert_cmpint (prio_task_get_state (after), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (after), PRIO_ERROR, PRIO_ERROR_CLOSED);
  prio_task_return_int (before, 1);
  g_assert_cmpint (prio_task_get_state (before), ==, PRIO_TASK_STATE_FULFILLED);
  task = after;
  g_object_add_weak_pointer (task, &task);
  g_clear_object (&after);
  g_assert_null (task);
}

/* In tasks */

static void
continued (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  Held *held = data;

  g_string_append_printf (held->f->log, "%d, ", prio_scheduling_state_get_priority (state));
}

static void
wait_in_a_task (PrioTask *task, gpointer data)
{
  Held *held = data;

  prio_task_wait_async (held->task, NULL, continued, held);
}

/* A callback continues in the state of the waiting code. */
static void
test_state_of_who_waits (Fixture *f, gconstpointer data)
{
  Held held = { f, new_task (f, NULL) };

  g_object_unref (prio_scheduler_post_task (f->scheduler, &PRIO_TASK_OPTIONS (.priority = BACKGROUND), wait_in_a_task, &held, NULL));
  fixture_run (f);
  prio_task_return_int (held.task, 1);
  g_object_unref (held.task);
  assert_ran (f, "1, ");
}

static void
test_many (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func (g_object_unref);
  guint n_ended = 0;

  for (guint i = 0; i < 10000; i++)
    {
      g_ptr_array_add (tasks, new_task (f, cancellable_of (controller)));
      prio_task_wait_async (tasks->pdata[i], NULL, count_ended, &n_ended);
    }
  for (guint i = 0; i < tasks->len; i += 2)
    prio_task_return_int (tasks->pdata[i], i);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpuint (n_ended, ==, tasks->len);
  for (guint i = 0; i < tasks->len; i++)
    g_assert_cmpint (prio_task_get_state (tasks->pdata[i]), ==, i % 2 == 0 ? PRIO_TASK_STATE_FULFILLED : PRIO_TASK_STATE_ABORTED);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  if (!HAS_CHECKS)
    return;
  assert_told ("*NULL is not a PrioScheduler*", g_assert_null (prio_task_new (NULL, NULL)));
  assert_told ("*a delay of 5 ms, which only tasks that are posted have (task \"slow\")*",
               g_assert_null (prio_task_new (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 5, .name = "slow"))));
  assert_told ("*a timeout of -1 ms, which only tasks that are posted have*",
               g_assert_null (prio_task_new (f->scheduler, &PRIO_TASK_OPTIONS (.timeout = -1))));
  assert_told ("*", g_assert_null (prio_task_new (f->scheduler, &(PrioTaskOptions) { .priority = 7 })));
  assert_told ("*",
               g_assert_null (prio_task_new (f->scheduler,
                                             &(PrioTaskOptions) { .cancellable = (gpointer) f->scheduler })));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/task-new/a-function-of-ones-own", test_a_function_of_ones_own);
  add_test ("/task-new/it-has-begun", test_it_has_begun);
  add_test ("/task-new/results", test_results);
  add_test ("/task-new/second-result", test_second_result);
  add_test ("/task-new/aborts", test_aborts);
  add_test ("/task-new/abort-after-the-result", test_abort_after_the_result);
  add_test ("/task-new/that-outlives-an-abort", test_that_outlives_an_abort);
  add_test ("/task-new/reset", test_reset);
  add_test ("/task-new/dropped", test_dropped);
  add_test ("/task-new/dropped-when-it-has-ended", test_dropped_when_it_has_ended);
  add_test ("/task-new/result-beside-an-abort", test_result_beside_an_abort);
  add_test ("/task-new/dropped-beside-an-abort", test_dropped_beside_an_abort);
  add_test ("/task-new/of-another-thread", test_of_another_thread);
  add_test ("/task-new/the-context-goes", test_the_context_goes);
  add_test ("/task-new/of-a-worker-that-has-stopped", test_of_a_worker_that_has_stopped);
  add_test ("/task-new/state-of-who-waits", test_state_of_who_waits);
  add_test ("/task-new/many", test_many);
  add_test ("/task-new/bad-input", test_bad_input);

  return g_test_run ();
}
