/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-carrying.c: carrying a state into callbacks that do not inherit it */

#include "helpers.h"

static void
capture (Step *step)
{
  *(PrioSchedulingState **) step->data = prio_scheduling_state_ref_current ();
}

/* Returns the state of a task of @scheduler under @signal. */
static PrioSchedulingState *
state_under (Fixture *f, PrioScheduler *scheduler, gpointer signal)
{
  PrioSchedulingState *state = NULL;

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal }, step_run,
                            step_new (f, 'c', capture, &state), step_free);
  fixture_run (f);
  g_assert_nonnull (state);
  g_string_truncate (f->log, 0);
  return state;
}

/* Logs the signal of the current state: 's' if it is @signal, '?' if another or none, '-' if there is no state. */
static void
log_state (Fixture *f, gpointer signal)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  if (state == NULL)
    g_string_append_c (f->log, '-');
  else
    g_string_append_c (f->log, prio_scheduling_state_get_cancellable (state) == signal ? 's' : '?');
}

typedef struct
{
  Fixture *f;
  gpointer signal;
  guint n_called;
} Carried;

static void
surround (Fixture *f)
{
  post_letter (f, BACKGROUND, '0');
  post_letter (f, USER_VISIBLE, '1');
  post_letter (f, USER_BLOCKING, '2');
}

/* Logs 'Y' and the state, or '!' if the yield has failed. */
static void
went_on (GObject *source, GAsyncResult *result, gpointer data)
{
  Carried *carried = data;
  g_autoptr (GError) error = NULL;

  carried->n_called++;
  if (!prio_scheduler_yield_finish (NULL, result, &error))
    {
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
      g_string_append_c (carried->f->log, '!');
      return;
    }
  g_string_append_c (carried->f->log, 'Y');
  log_state (carried->f, carried->signal);
}

static void
abort_it (PrioTaskController *controller)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "too late");

  prio_task_controller_abort (controller, reason);
}

static void
have_read (GObject *source, GAsyncResult *result, gpointer data)
{
  Carried *carried = data;

  g_assert_cmpint (g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL), ==, 1);
  carried->n_called++;
  log_state (carried->f, carried->signal);
  prio_scheduler_yield_async (carried->f->scheduler, NULL, went_on, carried);
  surround (carried->f);
}

/* Calls a function of GIO that needs no thread: ThreadSanitizer does not see how GIO returns from one. */
static void
query (Step *step)
{
  static gchar byte;
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("x", 1, NULL);

  g_input_stream_read_async (stream, &byte, 1, G_PRIORITY_DEFAULT, NULL, prio_scheduling_state_call_wrapped,
                             prio_scheduling_state_wrap_callback (have_read, step->data));
}

/* A background task keeps its state, and so its priority, across a call of GIO. */
static void
test_gio_call (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Carried carried = { f, cancellable_of (controller) };

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, carried.signal, 'a', query, &carried);
  while (carried.n_called < 2)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "as21Ys0");
}

/* The task notices an abort during the call at its next yield. */
static void
test_abort_during_gio_call (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Carried carried = { f, cancellable_of (controller) };

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, carried.signal, 'a', query, &carried);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, TRUE);
  abort_it (controller);
  while (carried.n_called < 2)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "as!210");
}

static void
log_call (GObject *source, GAsyncResult *result, gpointer data)
{
  Carried *carried = data;

  carried->n_called++;
  log_state (carried->f, carried->signal);
}

static void
call_wrapped_by_none (Step *step)
{
  Carried *carried = step->data;

  /* Without a captured state nothing changes: the calling code's state stays. */
  prio_scheduling_state_call_wrapped (NULL, NULL, *(gpointer *) carried->signal);
}

static void
test_wrapped_outside_any_task (Fixture *f, gconstpointer data)
{
  Carried plain = { f };
  gpointer wrapped = prio_scheduling_state_wrap_callback (log_call, &plain);
  Carried caller = { f, &wrapped };

  prio_scheduling_state_call_wrapped (NULL, NULL, prio_scheduling_state_wrap_callback (log_call, &plain));
  g_assert_cmpstr (f->log->str, ==, "-");
  post_step (f, BACKGROUND, 'a', call_wrapped_by_none, &caller);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "-as");
  g_assert_cmpuint (plain.n_called, ==, 2);

  /* The callback may be NULL, as in any function of GIO. */
  prio_scheduling_state_call_wrapped (NULL, NULL, prio_scheduling_state_wrap_callback (NULL, NULL));
}

static void
wrap (Step *step)
{
  Carried *carried = step->data;

  carried->signal = prio_scheduling_state_wrap_callback (log_call, carried);
}

static gpointer
call_in_thread (gpointer wrapped)
{
  prio_scheduling_state_call_wrapped (NULL, NULL, wrapped);
  return NULL;
}

static void
test_wrapped_on_another_thread (Fixture *f, gconstpointer data)
{
  Carried carried = { f };

  post_step (f, BACKGROUND, 'a', wrap, &carried);
  fixture_run (f);
  g_thread_join (g_thread_new ("other", call_in_thread, carried.signal));
  g_assert_cmpstr (f->log->str, ==, "a-");
  g_assert_cmpuint (carried.n_called, ==, 1);
}

/* Yields on the scheduler of the state, and on another one of the same context, which has to look up the signal
 * anew. */
static void
test_yield_under_a_state (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  PrioScheduler *schedulers[] = { f->scheduler, other };

  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      Carried carried = { f, cancellable_of (controller) };
      g_autoptr (PrioSchedulingState) state = state_under (f, f->scheduler, carried.signal);
      PrioYieldOptions options = { .state = state };

      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      surround (f);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "21Ys0");

      /* The continuation follows the signal, and ends with it. */
      g_string_truncate (f->log, 0);
      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
      surround (f);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "Ys210");

      g_string_truncate (f->log, 0);
      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      abort_it (controller);
      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "!!");
      g_assert_cmpuint (carried.n_called, ==, 4);
    }
}

/* The priority of the state's signal can be followed without its abort. */
static void
test_yield_that_only_follows (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  PrioScheduler *schedulers[] = { f->scheduler, other };

  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      Carried carried = { f, cancellable_of (controller) };
      g_autoptr (PrioSchedulingState) state = state_under (f, f->scheduler, carried.signal);
      PrioYieldOptions options = { .state = state, .flags = PRIO_YIELD_DROP_SIGNAL };

      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      prio_task_controller_set_priority (controller, BACKGROUND, NULL);
      surround (f);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "21Ys0");

      g_string_truncate (f->log, 0);
      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      abort_it (controller);
      prio_scheduler_yield_async (schedulers[i], &options, went_on, &carried);
      surround (f);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "21YsYs0");
    }
}

typedef struct
{
  Worker worker;
  gpointer signal;
  PrioSchedulingState *state;
  gint n_same, n_failed, n_calls; /* atomic */
} Far;

static gboolean
capture_far (gpointer data)
{
  Far *far = data;

  g_atomic_pointer_set (&far->state, prio_scheduling_state_ref_current ());
  return G_SOURCE_REMOVE;
}

static void
went_on_far (GObject *source, GAsyncResult *result, gpointer data)
{
  Far *far = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  g_assert_true (g_thread_self () == far->worker.thread);
  if (!prio_scheduling_state_resume_finish (far->state, result, NULL))
    g_atomic_int_inc (&far->n_failed);
  else if (state != NULL && prio_scheduling_state_get_cancellable (state) == far->signal)
    g_atomic_int_inc (&far->n_same);
  g_atomic_int_inc (&far->n_calls);
}

static void
wait_for_calls (Far *far, gint n)
{
  while (g_atomic_int_get (&far->n_calls) < n)
    g_usleep (100);
}

/* A state that is resumed in another thread continues in its own context. */
static void
test_from_another_thread (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Far far = { .signal = signal_of (controller) };

  worker_start (&far.worker);
  prio_scheduler_post_full (far.worker.scheduler, &(PrioTaskOptions) { .cancellable = far.signal }, capture_far, &far,
                            NULL);
  while (g_atomic_pointer_get (&far.state) == NULL)
    g_usleep (100);

  for (guint i = 0; i < 100; i++)
    {
      prio_scheduling_state_resume_async (far.state, went_on_far, &far);
      prio_scheduler_yield_async (far.worker.scheduler,
                                  &(PrioYieldOptions) { .state = far.state, .flags = PRIO_YIELD_DROP_SIGNAL },
                                  went_on_far, &far);
    }
  wait_for_calls (&far, 200);
  g_assert_cmpint (far.n_same, ==, 200);

  prio_task_controller_abort (controller, NULL);
  prio_scheduling_state_resume_async (far.state, went_on_far, &far);
  wait_for_calls (&far, 201);
  g_assert_cmpint (far.n_failed, ==, 1);
  prio_scheduling_state_unref (far.state);
  worker_stop (&far.worker);
}

static void
resumed (GObject *source, GAsyncResult *result, gpointer data)
{
  GError **error = data;

  g_assert_false (prio_scheduling_state_resume_finish (NULL, result, error));
  g_assert_nonnull (*error);
}

static void
test_resume (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Carried carried = { f, cancellable_of (controller) };
  g_autoptr (PrioSchedulingState) state = state_under (f, f->scheduler, carried.signal);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GError) closed = NULL;

  prio_scheduling_state_resume_async (state, went_on, &carried);
  surround (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "21Ys0");

  abort_it (controller);
  prio_scheduling_state_resume_async (state, resumed, &reason);
  fixture_run (f);
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);

  g_clear_object (&f->scheduler);
  prio_scheduling_state_resume_async (state, resumed, &closed);
  fixture_run (f);
  g_assert_error (closed, PRIO_ERROR, PRIO_ERROR_CLOSED);
}

static gboolean
never (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

static void
set_true (gpointer flag)
{
  *(gboolean *) flag = TRUE;
}

/* A pending notice that the scheduler was freed keeps no context alive: the context may be destroyed before its next
 * iteration. */
static void
test_context_goes_after_the_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (GSource) source = g_timeout_source_new_seconds (1000);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioSchedulingState) state = state_under (f, f->scheduler, cancellable_of (controller));
  g_autoptr (GError) closed = NULL;
  gboolean gone = FALSE;

  g_source_set_callback (source, never, &gone, set_true);
  g_source_attach (source, f->context);
  g_clear_object (&f->scheduler);
  prio_scheduling_state_resume_async (state, resumed, &closed);
  fixture_drop_context (f);
  g_assert_true (gone);
  g_assert_no_error (closed);
}

/* A state whose context was freed may be resumed. */
static void
test_resume_without_a_context (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioSchedulingState) state = state_under (f, f->scheduler, cancellable_of (controller));
  g_autoptr (GMainContext) own = g_main_context_new ();
  g_autoptr (GError) closed = NULL;

  fixture_drop_context (f);

  g_main_context_push_thread_default (own);
  prio_scheduling_state_resume_async (state, resumed, &closed);
  while (closed == NULL)
    g_main_context_iteration (own, TRUE);
  g_main_context_pop_thread_default (own);
  g_assert_error (closed, PRIO_ERROR, PRIO_ERROR_CLOSED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/state/carried/gio-call", test_gio_call);
  add_test ("/state/carried/abort-during-gio-call", test_abort_during_gio_call);
  add_test ("/state/carried/wrapped-outside-any-task", test_wrapped_outside_any_task);
  add_test ("/state/carried/wrapped-on-another-thread", test_wrapped_on_another_thread);
  add_test ("/state/carried/yield", test_yield_under_a_state);
  add_test ("/state/carried/yield-that-only-follows", test_yield_that_only_follows);
  g_test_add_func ("/state/carried/from-another-thread", test_from_another_thread);
  add_test ("/state/carried/resume", test_resume);
  add_test ("/state/carried/context-goes-after-the-scheduler", test_context_goes_after_the_scheduler);
  add_test ("/state/carried/resume-without-a-context", test_resume_without_a_context);

  return g_test_run ();
}
