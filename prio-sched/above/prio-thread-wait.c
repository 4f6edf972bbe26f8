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

/* The longest single wait for the condition, in µs, because some systems refuse larger times.  If a task signal may end
 * the wait, single waits are short: a dependent signal emits its abort in its main context, which may be blocked. */
#define LONGEST_WAIT (24 * 3600 * (gint64) G_USEC_PER_SEC)
#define LONGEST_WAIT_WITH_SIGNAL (G_USEC_PER_SEC / 100)

PrioLock prio_waits_lock = PRIO_LOCK_INIT;

typedef struct
{
  GList link;     /* in @waits */
  PrioLoop *loop; /* the loop that has to end the wait */
  gsize thread;
} Waiter;

static GQueue waits = G_QUEUE_INIT; /* the waiting threads; guarded by prio_waits_lock */
static PrioCond changed = PRIO_COND_INIT; /* signalled when waiting threads have to check again */

__attribute__ ((constructor)) static void
load (void)
{
  prio_loop_add_leaf_lock (&prio_waits_lock);
}

/* Returns the loop for which @thread waits, or NULL.  The caller holds the lock. */
static PrioLoop *
waits_for (gsize thread)
{
  for (GList *link = waits.head; link != NULL; link = link->next)
    {
      if (((Waiter *) link->data)->thread == thread)
        return ((Waiter *) link->data)->loop;
    }
  return NULL;
}

/* Returns whether this thread may wait for @loop: the owner must be another thread that does not wait for this thread,
 * directly or through others.  The caller holds the lock. */
static gboolean
may_wait (PrioLoop *loop)
{
  gsize owner = 0;

  for (guint n = 0; n <= waits.length && loop != NULL && (owner = prio_observed_owner (loop)) != prio_thread_get_id (); n++)
    loop = waits_for (owner);
  return loop == NULL || owner != prio_thread_get_id ();
}

void
prio_thread_waits_look (gpointer data G_GNUC_UNUSED)
{
  prio_lock_lock (&prio_waits_lock);
  prio_cond_broadcast (&changed);
  prio_lock_unlock (&prio_waits_lock);
}

void
prio_thread_waits_set (gboolean *flag)
{
  prio_lock_lock (&prio_waits_lock);
  *flag = TRUE;
  prio_cond_broadcast (&changed);
  prio_lock_unlock (&prio_waits_lock);
}

/* Ends the waits for a loop whose context is destroyed. */
static void
loop_ends (gpointer loop G_GNUC_UNUSED, gpointer has_ended)
{
  prio_thread_waits_set (has_ended);
}

static const PrioSlotFuncs slot_funcs = { .size = sizeof (gboolean), .ends = loop_ends };

static void
ended (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

/* Calls @notify with @data when @task has completed, or at the end of its context. */
void
prio_task_when_over (PrioTask *task, gpointer data, GDestroyNotify notify)
{
  prio_task_then (task, ended, data, notify);
}

/* Returns whether the task @data has completed, or will not run.  The caller holds the lock. */
static gboolean
is_over (gpointer data)
{
  PrioTask *task = data;

  return prio_task_is_over (task) || (g_cancellable_is_cancelled (prio_task_get_cancellable (task)) &&
                                      (prio_task_get_return_on_abort (task) || prio_task_get_state (task) == PRIO_TASK_STATE_PENDING));
}

/* Sets @error to the reason of an abort of @cancellable, and returns whether @cancellable is aborted. */
static gboolean
set_reason (GCancellable *cancellable, GError **error)
{
  GError *reason = PRIO_IS_TASK_SIGNAL (cancellable) ? prio_task_signal_dup_reason ((PrioTaskSignal *) cancellable) : NULL;

  if (reason == NULL)
    return g_cancellable_set_error_if_cancelled (cancellable, error);
  g_propagate_error (error, reason);
  return TRUE;
}

/* Blocks this thread, which waits for @loop, until @ends returns TRUE, @loop has ended, the time @until, µs, is
 * reached, or @cancellable is cancelled.  @ends is called under the lock, after prio_thread_waits_look () and an abort
 * of @signal.  Sets @error and returns FALSE in the last two cases, and at once if the wait would never end.  If @ends
 * is NULL, the wait ends when the flag @data is set, and waits of the owner of @loop for this thread fail. */
gboolean
prio_thread_wait (PrioLoop *loop, gint64 until, GCancellable *signal, GCancellable *cancellable, gboolean (*ends) (gpointer),
                  gpointer data, GError **error)
{
  GCancellable *const signals[] = { signal, cancellable };
  const gboolean *has_ended = prio_loop_ensure_slot (loop, PRIO_SLOT_WAITS, &slot_funcs);
  /* Checked after the record was allocated, because loop_ends () is called only for loops that end later. */
  gboolean had_ended = prio_loop_has_gone (loop), allowed = TRUE, goes_on, is_aborted = set_reason (cancellable, NULL);
  gulong handlers[2];
  Waiter waiter = { .link.data = &waiter, .loop = loop, .thread = prio_thread_get_id () };

  for (guint i = 0; i < 2; i++)
    handlers[i] = signals[i] != NULL ? g_cancellable_connect (signals[i], G_CALLBACK (prio_thread_waits_look), NULL, NULL) : 0;
  prio_lock_lock (&prio_waits_lock);
  g_queue_push_tail_link (&waits, &waiter.link);
  if (ends == NULL)
    prio_cond_broadcast (&changed);
  while ((goes_on = ends == NULL ? !*(gboolean *) data : !ends (data) && !had_ended && !*has_ended) &&
         (allowed = ends == NULL || may_wait (loop)) && prio_clock_now () < until && !is_aborted &&
         !g_cancellable_is_cancelled (cancellable))
    {
      prio_cond_wait_until (&changed, &prio_waits_lock,
                            MIN (until, prio_clock_now () + (PRIO_IS_TASK_SIGNAL (cancellable) ? LONGEST_WAIT_WITH_SIGNAL : LONGEST_WAIT)));
      prio_lock_unlock (&prio_waits_lock);
      is_aborted = set_reason (cancellable, NULL);
      prio_lock_lock (&prio_waits_lock);
    }
  g_queue_unlink (&waits, &waiter.link);
  prio_lock_unlock (&prio_waits_lock);
  for (guint i = 0; i < 2; i++)
    g_cancellable_disconnect (signals[i], handlers[i]);

  if (goes_on && !allowed)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
                         _("The main loop cannot answer while this thread waits: it runs here, or waits for this thread"));
  else if (goes_on && !set_reason (cancellable, error))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, _("The main loop has not answered in time"));
  return !goes_on;
}

/**
 * prio_task_wait: (skip)
 * @self: a task
 * @timeout_msec: how long to wait at most, in milliseconds; 0 to return at once, and -1 for no limit
 * @cancellable: (nullable): ends the wait, and leaves the task alone
 * @error: return location for a `GError`
 *
 * Blocks the calling thread until the task has completed, and returns whether it was fulfilled.
 *
 * This way a thread can ask the main loop and use the answer, like `Future.result()` of Python or `Dispatcher.Invoke()`
 * of .NET.  The task has a priority and a signal, as any other task.  In C, include `<prio-sched-threads.h>`.
 *
 * ```c
 * static void
 * ask (PrioTask *task, gpointer question) // in the main loop
 * {
 *   prio_task_set_return_on_abort (task, TRUE); // an abort ends the wait while the dialog is open
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
 *   return prio_task_wait (task, -1, NULL, &error) && prio_task_propagate_boolean (task, &error);
 * }
 * ```
 *
 * The call fails with the task's error, or the reason of its abort, such as %PRIO_ERROR_CLOSED if the main context was
 * destroyed.  After @timeout_msec, it fails with %G_IO_ERROR_TIMED_OUT, and when @cancellable is cancelled, with its
 * reason or %G_IO_ERROR_CANCELLED.  The task then continues; [method@PrioSched.Task.cancel] ends it.
 *
 * On the thread that runs the main context the wait would never end.  So the call fails at once with
 * %G_IO_ERROR_WOULD_BLOCK, unless the task has completed.  It fails in the same way if the main loop waits for the
 * calling thread, directly or through other threads.  A thread that has created a scheduler counts as the thread that
 * runs the main context until another thread runs it.
 *
 * The task keeps its result, which the `prio_task_propagate_…` functions get.  A task from [ctor@PrioSched.Task.new],
 * or whose result is deferred, completes when it is given its result.  Any thread may call this function.
 *
 * Returns: %TRUE if the task was fulfilled, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_wait (PrioTask *self, gint64 timeout_msec, GCancellable *cancellable, GError **error)
{
  gint64 until =
    timeout_msec < 0 ? G_MAXINT64 : prio_time_after (prio_clock_now (), MIN (timeout_msec, G_MAXINT64 / 1000) * 1000);

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!prio_task_is_over (self))
    {
      GCancellable *signal = prio_task_get_cancellable (self);

      prio_task_when_over (self, NULL, prio_thread_waits_look);
      if (!prio_thread_wait (prio_task_get_loop (self), until, signal, cancellable, is_over, self, error))
        return FALSE;
      if (!prio_task_is_over (self))
        {
          if (!set_reason (signal, error))
            g_set_error_literal (error, PRIO_ERROR, PRIO_ERROR_CLOSED, _("The main context of the task has ended"));
          return FALSE;
        }
    }
  return prio_task_wait_finish (self, G_ASYNC_RESULT (self), error);
}
