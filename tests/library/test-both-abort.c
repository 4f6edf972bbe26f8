/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-both-abort.c: two threads that abort the same tasks at the same time
 *
 * Links the library's own objects, to stop one thread in the middle of its abort, after it has marked the signals and
 * notified only its own loop.
 */

#include "config.h"

#include "helpers.h"
#include "scheduler/prio-scheduler-private.h"

/* The other thread, which is held, and the signals that it aborts. */
typedef struct
{
  Fixture *f;
  Worker worker;
  PrioTaskController *root, *other_root;
  PrioTaskSignal *first, *second, *third; /* each depends on the one before, and the third also on the other root */
  gint is_held, let_go, is_done;          /* atomic */
} Meeting;

/* Waits for @event without GLib's locks, which ThreadSanitizer does not see. */
static void
wait_for (gint *event)
{
  while (!g_atomic_int_get (event))
    g_thread_yield ();
}

/* Stops the other thread inside its loop. */
static void
hold (PrioLoop *loop, const PrioOp *op)
{
  Meeting *self = op->target;

  g_atomic_int_set (&self->is_held, TRUE);
  wait_for (&self->let_go);
}

static gpointer
send_hold (gpointer data)
{
  Meeting *self = data;

  prio_loop_submit (self->worker.scheduler->run_queue->loop, &(PrioOp) { .apply = hold, .target = self });
  return NULL;
}

/* Starts an abort.  Another thread has left work to do in this thread's loop, so hold () is called. */
static gboolean
abort_and_be_held (gpointer data)
{
  Meeting *self = data;

  g_thread_join (g_thread_new ("sender", send_hold, self));
  prio_task_controller_abort (self->root, NULL);
  g_atomic_int_set (&self->is_done, TRUE);
  return G_SOURCE_REMOVE;
}

static gboolean
not_run (gpointer data)
{
  g_assert_not_reached ();
}

static PrioTaskSignal *
depend (gpointer source, gpointer other)
{
  GCancellable *sources[] = { source, other };

  return prio_task_signal_new_any (sources, other != NULL ? 2 : 1, USER_VISIBLE);
}

static void
set_up (Meeting *self, Fixture *f)
{
  *self = (Meeting) { .f = f };
  self->root = prio_task_controller_new (USER_VISIBLE);
  self->other_root = prio_task_controller_new (USER_VISIBLE);
  self->first = depend (cancellable_of (self->root), NULL);
  self->second = depend (self->first, NULL);
  self->third = depend (self->second, cancellable_of (self->other_root));
  worker_start (&self->worker);
}

/* Returns when the other thread has been stopped. */
static void
meet (Meeting *self)
{
  prio_scheduler_post_full (self->worker.scheduler, &(PrioTaskOptions) { .signal = signal_of (self->root), .delay = G_MAXUINT64 },
                            not_run, NULL, NULL);
  prio_scheduler_post (self->worker.scheduler, USER_VISIBLE, abort_and_be_held, self, NULL);
  wait_for (&self->is_held);
  g_assert_true (prio_task_signal_is_aborted (self->third));
}

static void
part (Meeting *self)
{
  g_atomic_int_set (&self->let_go, TRUE);
  wait_for (&self->is_done);
  g_assert_true (g_cancellable_is_cancelled (G_CANCELLABLE (self->third)));
  worker_stop (&self->worker);
  fixture_run (self->f);

  g_object_unref (self->third);
  g_object_unref (self->second);
  g_object_unref (self->first);
  g_object_unref (self->other_root);
  g_object_unref (self->root);
}

static void
abort_root (Meeting *self)
{
  prio_task_controller_abort (self->root, NULL);
}

static void
abort_other_root (Meeting *self)
{
  prio_task_controller_abort (self->other_root, NULL);
}

static void
cancel_first (Meeting *self)
{
  g_cancellable_cancel (G_CANCELLABLE (self->first));
}

static gpointer
abort_in_thread (gpointer data)
{
  abort_root (data);
  return NULL;
}

static void
abort_by_a_third_thread (Meeting *self)
{
  g_thread_join (g_thread_new ("third", abort_in_thread, self));
}

/* No task starts after any abort of the task has returned, whichever thread finishes the abort. */
static void
test_queued (Fixture *f, gconstpointer data)
{
  void (*const *abort) (Meeting *self) = data;
  Meeting self;
  guint freed = step_n_freed;

  set_up (&self, f);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, self.third, 'a', NULL, NULL);
  post_with_signal (f, BACKGROUND, self.third, 'b', NULL, NULL);
  meet (&self);

  (*abort) (&self);
  g_assert_cmpuint (prio_task_signal_count_pending (self.third), ==, 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (step_n_freed - freed, ==, 2);
  part (&self);
}

static void
meet_and_abort (PrioTask *task, gpointer data)
{
  meet (data);
  abort_root (data);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  prio_task_return_boolean (task, TRUE);
}

static void
test_while_running (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = NULL;
  g_autoptr (GError) error = NULL;
  Meeting self;

  set_up (&self, f);
  task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = self.third }, meet_and_abort,
                                   &self, NULL);
  fixture_run (f);
  g_assert_false (prio_task_propagate_boolean (task, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  part (&self);
}

static void
abort_again (GCancellable *signal, gpointer data)
{
  abort_root (data);
}

/* A handler may abort again while the other thread waits to continue: the abort does not wait for it. */
static void
test_in_a_handler (Fixture *f, gconstpointer data)
{
  Meeting self;

  set_up (&self, f);
  g_signal_connect (prio_task_controller_get_signal (self.other_root), "cancelled", G_CALLBACK (abort_again), &self);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, self.first, 'a', NULL, NULL);
  meet (&self);

  abort_other_root (&self);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  part (&self);
}

int
main (int argc, char **argv)
{
  static void (*const aborts[]) (Meeting *self) = { abort_root, abort_other_root, cancel_first, abort_by_a_third_thread };
  static const char *const names[] = { "its-owner", "by-another-source", "by-hand", "a-third-thread" };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (aborts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/both-abort/queued/%s", names[i]);

      g_test_add (path, Fixture, &aborts[i], fixture_set_up, test_queued, fixture_tear_down);
    }
  add_test ("/both-abort/while-running", test_while_running);
  add_test ("/both-abort/in-a-handler", test_in_a_handler);

  return g_test_run ();
}
