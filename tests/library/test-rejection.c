/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-rejection.c: a task whose function is running is rejected at the abort: the first of the draft's abort steps of
 * a task handle
 */

#include "helpers.h"

static void
log_outcome (GObject *source, GAsyncResult *result, gpointer data)
{
  static const char letters[] = { 'P', 'R', 'F', 'E', 'A' };

  g_string_append_c (((Fixture *) data)->log, letters[prio_task_get_state (PRIO_TASK (result))]);
}

static void
log_own (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_cmpint (prio_task_get_state (PRIO_TASK (result)), ==, PRIO_TASK_STATE_ABORTED);
  g_string_append_c (((Fixture *) data)->log, 'o');
}

static PrioTask *
post_task (Fixture *f, gpointer signal, PrioTaskFunc func, gpointer func_data)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .cancellable = signal }, func, func_data, NULL);
}

static void
abort_it (Step *step)
{
  prio_task_controller_abort (step->data, NULL);
}

static void
cancel_it (Step *step)
{
  g_cancellable_cancel (cancellable_of (step->data));
}

/* Aborts its own signal as step_abort () does, and queues a microtask. */
static void
abort_then_queue_microtask (PrioTask *task, gpointer data)
{
  Step *step = data;

  step->then (step);
  prio_scheduler_queue_microtask (step->f->scheduler, step_run_once, step_new (step->f, 'm', NULL, NULL), step_free);
  prio_task_return_boolean (task, TRUE);
}

/* Waiting callbacks are called in the order of their tasks, before work that is queued after the abort. */
static void
test_at_the_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  GCancellable *signal = cancellable_of (controller);
  Step step = { .f = f, .then = abort_it, .data = controller };
  g_autoptr (PrioTask) first =
      prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .cancellable = signal },
                                step_run_task, NULL, NULL);
  g_autoptr (PrioTask) own = post_task (f, signal, abort_then_queue_microtask, &step);
  g_autoptr (PrioTask) queued = post_task (f, signal, step_run_task, NULL);

  prio_task_then (queued, log_outcome, f, NULL);
  prio_task_then (own, log_own, f, NULL);
  prio_task_then (first, log_outcome, f, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "AoAm");
}

/* An abort by g_cancellable_cancel () is noticed when no function of GLib is on the stack any more. */
static void
test_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Step step = { .f = f, .then = cancel_it, .data = controller };
  g_autoptr (PrioTask) own = post_task (f, cancellable_of (controller), abort_then_queue_microtask, &step);
  g_autoptr (PrioTask) queued = post_task (f, cancellable_of (controller), step_run_task, NULL);

  prio_task_then (queued, log_outcome, f, NULL);
  prio_task_then (own, log_own, f, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "moA");
}

typedef struct
{
  Fixture *f;
  PrioTaskController *controller; /* NULL to cancel only the task */
  gboolean deferred;
  guint n_freed;
  guint n_notified;
} Rejected;

static void
rejected_freed (gpointer data)
{
  ((Rejected *) data)->n_freed++;
}

static void
count_notified (PrioTask *task, GParamSpec *pspec, Rejected *rejected)
{
  rejected->n_notified += prio_task_get_state (task) != PRIO_TASK_STATE_RUNNING;
}

/* The task is notified while its function runs a nested loop, and continues. */
static void
abort_nest_and_go_on (PrioTask *task, gpointer data)
{
  Rejected *rejected = data;

  if (rejected->controller != NULL)
    prio_task_controller_abort (rejected->controller, NULL);
  else
    prio_task_cancel (task);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);

  while (g_main_context_iteration (rejected->f->context, FALSE))
    ;
  g_assert_cmpstr (rejected->f->log->str, ==, "A");
  g_assert_cmpuint (rejected->n_notified, ==, 1);
  g_assert_cmpuint (rejected->n_freed, ==, 0);

  prio_task_then (task, log_own, rejected->f, NULL);
  if (rejected->deferred)
    prio_task_defer (g_object_ref (task));
  else
    prio_task_return_boolean (task, TRUE);
}

static void
check_goes_on (Fixture *f, gboolean alone, gboolean deferred)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Rejected rejected = { .f = f, .controller = alone ? NULL : controller, .deferred = deferred };
  PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) },
                                             abort_nest_and_go_on, &rejected, rejected_freed);

  g_string_truncate (f->log, 0);
  prio_task_then (task, log_outcome, f, NULL);
  g_signal_connect (task, "notify::state", G_CALLBACK (count_notified), &rejected);
  g_object_add_weak_pointer (G_OBJECT (task), (gpointer *) &task);
  g_object_unref (task);
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "Ao");
  g_assert_cmpuint (rejected.n_notified, ==, 1);
  g_assert_cmpuint (rejected.n_freed, ==, 1);
  g_assert_true ((task != NULL) == deferred);
  if (task != NULL)
    {
      prio_task_return_boolean (task, TRUE);
      g_object_unref (task);
    }
  g_assert_null (task);
}

static void
test_goes_on (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 4; i++)
    check_goes_on (f, i / 2 != 0, i % 2 != 0);
}

static void
count_freed (gpointer data)
{
  ++*(guint *) data;
}

static void
return_then_abort (PrioTask *task, gpointer data)
{
  Rejected *rejected = data;

  prio_task_return_pointer (task, &rejected->n_freed, count_freed);
  prio_task_controller_abort (rejected->controller, NULL);
}

/* A result that was returned before the abort is dropped. */
static void
test_after_its_result (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Rejected rejected = { .f = f, .controller = controller };
  g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), return_then_abort, &rejected);
  g_autoptr (GError) error = NULL;

  fixture_run (f);
  g_assert_cmpuint (rejected.n_freed, ==, 1);
  g_assert_null (prio_task_propagate_pointer (task, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_string_append_c (((Fixture *) data)->log, 'y');
}

static void
abort_then_yield (PrioTask *task, gpointer data)
{
  Step *step = data;

  prio_task_defer (task);
  step->then (step);
  prio_scheduler_yield_async (step->f->scheduler, NULL, yielded, step->f);
}

/* After the task has been rejected, its next yield is rejected too; then its return value is ignored. */
static void
test_yield (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Step step = { .f = f, .then = abort_it, .data = controller };
  g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), abort_then_yield, &step);

  prio_task_then (task, log_own, f, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "oy");
  prio_task_return_boolean (task, TRUE);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
}

static gpointer
abort_controller (gpointer data)
{
  prio_task_controller_abort (data, NULL);
  return NULL;
}

static void
abort_elsewhere (Step *step)
{
  g_thread_join (g_thread_new ("abort", abort_controller, step->data));
}

/* An abort from another thread is noticed when this thread next enters the loop; then it takes effect in the
 * checkpoint, or at the end of the function. */
static void
test_from_another_thread (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Step step = { .f = f, .then = abort_elsewhere, .data = controller };
  g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), abort_then_queue_microtask, &step);

  prio_task_then (task, log_own, f, NULL);
  fixture_run (f);
  g_assert_cmpuint (f->log->len, ==, 2);
  g_assert_nonnull (strchr (f->log->str, 'o'));
}

/* The abort takes effect before a later result, and before an end without a result. */
static gpointer
abort_in_thread (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static void
abort_elsewhere_then_return (PrioTask *task, gpointer data)
{
  g_thread_join (g_thread_new ("other", abort_in_thread, data));
  prio_task_return_int (task, 5);
}

static void
abort_elsewhere_then_end (PrioTask *task, gpointer data)
{
  g_thread_join (g_thread_new ("other", abort_in_thread, data));
}

static void
test_before_a_later_result (Fixture *f, gconstpointer data)
{
  static const PrioTaskFunc funcs[] = { abort_elsewhere_then_return, abort_elsewhere_then_end };

  for (guint i = 0; i < G_N_ELEMENTS (funcs); i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), funcs[i], controller);

      fixture_run (f);
      g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
    }
}

/* The ways in which a `notify::state` handler ends the task that is about to start. */
typedef enum { BY_CONTROLLER, BY_HAND, ALONE, N_WAYS } Way;

typedef struct
{
  PrioTaskController *controller;
  Way way;
} Ending;

static void
end_at_the_beginning (PrioTask *task, GParamSpec *pspec, Ending *ending)
{
  if (prio_task_get_state (task) != PRIO_TASK_STATE_RUNNING)
    return;

  if (ending->way == BY_CONTROLLER)
    prio_task_controller_abort (ending->controller, NULL);
  else if (ending->way == BY_HAND)
    g_cancellable_cancel (cancellable_of (ending->controller));
  else
    prio_task_cancel (task);
}

static gboolean
step_run_once_more (PrioTask *task, gpointer data)
{
  step_run (data);
  return G_SOURCE_REMOVE;
}

static PrioTask *
post_any (Fixture *f, gboolean steps, const PrioTaskOptions *options)
{
  if (steps)
    return prio_scheduler_post_steps (f->scheduler, options, step_run_once_more, step_new (f, 's', NULL, NULL), step_free);
  return prio_scheduler_post_task (f->scheduler, options, step_run_task, step_new (f, 't', NULL, NULL), step_free);
}

/* A task that is ended in its own `notify::state` handler does not start. */
static void
test_in_its_own_notify (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2 * N_WAYS; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      Ending ending = { controller, (Way) (i % N_WAYS) };
      g_autoptr (PrioTask) task = post_any (f, i / N_WAYS != 0, &(PrioTaskOptions) { .signal = signal_of (controller) });
      guint freed = step_n_freed;

      g_signal_connect (task, "notify::state", G_CALLBACK (end_at_the_beginning), &ending);
      fixture_run (f);
      g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_cmpstr (f->log->str, ==, "");
      g_assert_cmpuint (step_n_freed - freed, ==, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/rejection/at-the-abort", test_at_the_abort);
  add_test ("/rejection/by-hand", test_by_hand);
  add_test ("/rejection/goes-on", test_goes_on);
  add_test ("/rejection/after-its-result", test_after_its_result);
  add_test ("/rejection/yield", test_yield);
  add_test ("/rejection/from-another-thread", test_from_another_thread);
  add_test ("/rejection/before-a-later-result", test_before_a_later_result);
  add_test ("/rejection/in-its-own-notify", test_in_its_own_notify);

  return g_test_run ();
}
