/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-defer.c: defers the result of a task until after its function has returned */

#include "config.h"

#include "task/prio-task-impl-private.h"

#include "base/prio-glib-private.h"
#include "prio-error.h"

#include <glib/gi18n-lib.h>

/**
 * prio_task_defer:
 * @self: a task, in its function
 *
 * Defers the result of the task until after its function has returned.  In the WICG draft, the callback returns a
 * promise for this purpose.
 *
 * The task stays in %PRIO_TASK_STATE_RUNNING until one of the `prio_task_return_…` functions is called, once, on any
 * thread.  The code that will call that function holds a reference to the task until then, as with [class@Gio.Task]; a
 * closure of Vala does so automatically:
 *
 * ```c
 * static void
 * loaded (GObject *file, GAsyncResult *result, gpointer user_data)
 * {
 *   g_autoptr (PrioTask) task = user_data;
 *   GError *error = NULL;
 *   char *text = NULL;
 *
 *   if (g_file_load_contents_finish (G_FILE (file), result, &text, NULL, NULL, &error))
 *     prio_task_return_pointer (task, text, g_free);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * static void
 * load (PrioTask *task, gpointer file)
 * {
 *   prio_task_defer (task);
 *   g_file_load_contents_async (file, prio_task_get_cancellable (task), loaded, g_object_ref (task));
 * }
 * ```
 *
 * The function's destroy notify is called when the task has its result, or when a function in a thread has returned.
 *
 * The library holds a reference until the function has returned.  If the last reference is dropped before there is a
 * result, on any thread, the library logs a warning that names the task, and the task fails with %PRIO_ERROR_DROPPED.
 *
 * Once the function has returned or, in a thread, has begun, an abort of the signal no longer ends the task, unless
 * [property@PrioSched.Task:return-on-abort] is %TRUE.  If the task is aborted before that, its result is the abort, and
 * a result that is returned later is released.  Call this function in the task's function, on the thread that runs it.
 *
 * Since: 1.0
 */
void
prio_task_defer (PrioTask *self)
{
  PrioTaskState state;
  guint claim;

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  state = prio_task_get_state (self);
  if (state != PRIO_TASK_STATE_RUNNING && state != PRIO_TASK_STATE_ABORTED)
    {
      prio_task_complain (self, G_STRFUNC, state == PRIO_TASK_STATE_PENDING
                                               ? "is not running yet, and cannot defer its result"
                                               : "has completed, and cannot defer its result any more");
      return;
    }

  claim = __atomic_load_n (&self->claim, __ATOMIC_ACQUIRE);
  if (G_UNLIKELY ((claim & (PRIO_TASK_CONTINUING | PRIO_TASK_RETURNED)) == PRIO_TASK_CONTINUING))
    {
      __atomic_fetch_and (&self->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
      return;
    }
  claim = __atomic_fetch_or (&self->claim, PRIO_TASK_DEFERRED, __ATOMIC_ACQ_REL);
  if ((claim & PRIO_TASK_RETURNED) != 0)
    prio_task_complain (self, G_STRFUNC, "has been given its result, and cannot defer it any more");
  else if (claim != 0)
    prio_task_complain (self, G_STRFUNC, "has deferred its result already");
}

/* A task whose last reference was dropped before it had a result.  @task is a new reference, until it has failed. */
typedef struct
{
  PrioTask *task;
  GThread *dropper; /* compared only */
} PrioDropped;

/* Fails the task with PRIO_ERROR_DROPPED.  Called on the thread that runs the context or, once the context is
 * destroyed, on any thread. */
static void
fail_dropped (gpointer data)
{
  PrioDropped *dropped = data;
  GError *error = g_error_new_literal (PRIO_ERROR, PRIO_ERROR_DROPPED, _("The task was dropped before it was given its result"));

  prio_wait_for_unref (G_OBJECT (dropped->task), dropped->dropper, G_TIME_SPAN_SECOND);
  prio_task_warn (dropped->task, "has no result yet, and the last reference to it has been dropped: it fails. "
                                 "Hold a reference until you give the result");
  prio_task_return (dropped->task, &PRIO_RESULT_OF_ERROR (error));

  prio_object_unref (dropped->task);
  g_free (dropped);
}

/* Fails @self, which is being disposed, if it has deferred its result: without references, no code can give the result
 * any more.  A new reference keeps @self alive until it has failed.  Returns whether @self will fail. */
gboolean
prio_task_fail_if_dropped (PrioTask *self)
{
  PrioDropped *dropped;

  if (__atomic_load_n (&self->claim, __ATOMIC_ACQUIRE) != PRIO_TASK_DEFERRED || prio_task_is_completed (self) ||
      __atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) != PRIO_TASK_DEFERRED)
    return FALSE;

  dropped = g_new (PrioDropped, 1);
  *dropped = (PrioDropped) { .task = g_object_ref (self), .dropper = g_thread_self () };
  prio_loop_call (self->entry.run_queue->loop, fail_dropped, dropped, FALSE);
  return TRUE;
}
