/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-wait.c: threads that wait for a main loop */

#include "config.h"

#include "above/prio-thread-wait-private.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>

#include "base/prio-check-private.h"
#include "base/prio-clock-private.h"
#include "base/prio-thread-private.h"
#include "prio-engine.h"
#include "prio-error.h"
#include "prio-hooks.h"
#include "prio-task-signal.h"
#include "prio-thread-wait.h"

/* How long one wait for the condition lasts at most, µs: some systems do not know later times. */
#define LONGEST_WAIT (24 * 3600 * (gint64) G_USEC_PER_SEC)

PrioLock prio_waits_lock = PRIO_LOCK_INIT;

/* A thread that waits, all of it under the lock. */
typedef struct
{
  guint refs;     /* of the thread, and of the task's callback */
  PrioLoop *loop; /* of the task, which the thread holds */
  GList link;     /* in @waits */
  gsize thread;
  gboolean is_over;
} PrioThreadWait;

static GQueue waits = G_QUEUE_INIT; /* under the lock: the threads that wait now */
static PrioCond changed = PRIO_COND_INIT; /* threads that wait look again */

__attribute__ ((constructor)) static void
load (void)
{
  prio_loop_add_leaf_lock (&prio_waits_lock);
}

/* Returns the loop for which @thread waits, or NULL.  Under the lock. */
static PrioLoop *
waits_for (gsize thread)
{
  for (GList *link = waits.head; link != NULL; link = link->next)
    {
      if (((PrioThreadWait *) link->data)->thread == thread)
        return ((PrioThreadWait *) link->data)->loop;
    }
  return NULL;
}

/* Returns whether this thread may wait for @loop: neither it, nor a thread that waits for it, owns that.  Under the lock. */
static gboolean
may_wait (PrioLoop *loop)
{
  gsize owner = 0;

  while (loop != NULL && (owner = prio_observed_owner (loop)) != prio_thread_get_id ())
    loop = waits_for (owner);
  return loop == NULL;
}

static void
ended (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

/* Calls @notify when @task has completed or, instead, at the end of its context. */
void
prio_task_when_over (PrioTask *task, gpointer data, GDestroyNotify notify)
{
  prio_task_then (task, ended, data, notify);
}

/* Drops a reference.  Under the lock. */
static void
drop (PrioThreadWait *wait)
{
  if (--wait->refs == 0)
    g_free (wait);
}

static void
wake (gpointer data)
{
  PrioThreadWait *wait = data;

  prio_lock_lock (&prio_waits_lock);
  wait->is_over = TRUE;
  prio_cond_broadcast (&changed);
  drop (wait);
  prio_lock_unlock (&prio_waits_lock);
}

static gboolean
is_completed (PrioTask *task)
{
  return prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED;
}

void
prio_thread_waits_look (void)
{
  prio_lock_lock (&prio_waits_lock);
  prio_cond_broadcast (&changed);
  prio_lock_unlock (&prio_waits_lock);
}

static void
cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  prio_thread_waits_look ();
}

/* Returns whether the signal of @task is aborted, and this ends the task. */
static gboolean
is_dropped (PrioTask *task)
{
  gboolean returns = FALSE;

  if (!g_cancellable_is_cancelled (prio_task_get_cancellable (task)))
    return FALSE;
  g_object_get (task, "return-on-abort", &returns, NULL);
  return returns || prio_task_get_state (task) == PRIO_TASK_STATE_PENDING;
}

/* Blocks this thread until @task has completed, for up to @timeout ms if that is not 0. */
static gboolean
wait_for (PrioTask *task, guint timeout, GError **error)
{
  gint64 until = timeout != 0 ? prio_clock_now () + timeout * (gint64) 1000 : G_MAXINT64;
  GCancellable *signal = prio_task_get_cancellable (task);
  gulong handler = signal != NULL ? g_cancellable_connect (signal, G_CALLBACK (cancelled), NULL, NULL) : 0;
  PrioThreadWait *wait = g_new0 (PrioThreadWait, 1);
  gboolean allowed, goes_on;

  *wait = (PrioThreadWait) { .refs = 2, .loop = prio_task_get_loop (task), .link.data = wait, .thread = prio_thread_get_id () };
  prio_task_when_over (task, wait, wake);
  prio_lock_lock (&prio_waits_lock);
  allowed = may_wait (wait->loop);
  g_queue_push_tail_link (&waits, &wait->link);
  while ((goes_on = !wait->is_over && !is_completed (task) && !is_dropped (task)) && allowed && prio_clock_now () < until)
    prio_cond_wait_until (&changed, &prio_waits_lock, MIN (until, prio_clock_now () + LONGEST_WAIT));
  g_queue_unlink (&waits, &wait->link);
  drop (wait);
  prio_lock_unlock (&prio_waits_lock);
  g_cancellable_disconnect (signal, handler);

  if (goes_on && !allowed)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
                         _("The main loop cannot answer while this thread waits: it runs here, or waits for this thread"));
  else if (goes_on)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, _("The main loop has not answered in time"));
  return !goes_on;
}

/**
 * prio_task_wait: (skip)
 * @self: a task
 * @timeout: how long to wait at most, in milliseconds; 0 for no limit
 * @error: return location for a `GError`
 *
 * Blocks the calling thread until the task has completed, and returns whether it was fulfilled.
 *
 * A thread asks the main loop this way, and uses the answer, like `Future.result()` of Python or
 * `Dispatcher.Invoke()` of .NET.  The task has a priority and a signal, as any other.  In C, include
 * `<prio-sched-threads.h>`.
 *
 * ```c
 * static void
 * ask (PrioTask *task, gpointer question) // in the main loop
 * {
 *   prio_task_defer (task);
 *   dialog_ask (question, answered, g_object_ref (task)); // answered () gives the task its result
 * }
 *
 * static gboolean
 * may_overwrite (const char *path) // in a thread
 * {
 *   g_autoptr (PrioTask) task = prio_scheduler_post_task (prio_scheduler_get_default (), &PRIO_TASK_OPTIONS (.signal = signal),
 *                                                         ask, g_strdup (path), g_free);
 *   g_autoptr (GError) error = NULL;
 *
 *   return prio_task_wait (task, 0, &error) && prio_task_propagate_boolean (task, &error);
 * }
 * ```
 *
 * It fails with the task's error or, if the task was aborted, with the reason: its signal's, or %PRIO_ERROR_CLOSED if
 * the main context was destroyed.  When the timeout has passed it fails with %G_IO_ERROR_TIMED_OUT.  The task then
 * continues; [method@PrioSched.Task.cancel] ends it.
 *
 * On the thread that runs the main context the wait would never end, so it fails at once with
 * %G_IO_ERROR_WOULD_BLOCK, unless the task has completed.  It fails in the same way if the main loop waits for the
 * calling thread, directly or for another thread that does.  The thread that has made a scheduler counts as the owner of
 * its main context until another has run it.
 *
 * It leaves the result with the task: the `prio_task_propagate_…` functions get it.  If a task was made by
 * [ctor@PrioSched.Task.new], or is deferred, it completes when it is given its result.  Any thread may call it.
 *
 * Returns: %TRUE if the task was fulfilled, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_wait (PrioTask *self, guint timeout, GError **error)
{
  GCancellable *signal;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  signal = prio_task_get_cancellable (self);
  if (!is_completed (self) && !wait_for (self, timeout, error))
    return FALSE;
  if (!is_completed (self))
    {
      GError *reason = PRIO_IS_TASK_SIGNAL (signal) ? prio_task_signal_dup_reason ((PrioTaskSignal *) signal) : NULL;

      if (reason == NULL && !g_cancellable_set_error_if_cancelled (signal, &reason))
        reason = g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The main context of the task has ended"));
      g_propagate_error (error, reason);
      return FALSE;
    }
  return prio_task_wait_finish (self, G_ASYNC_RESULT (self), error);
}
