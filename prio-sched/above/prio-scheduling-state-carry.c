/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduling-state-carry.c: carries a scheduling state across an asynchronous call of GIO */

#include "config.h"

#include "prio-scheduling-state.h"

#include "base/prio-check-private.h"
#include "prio-engine.h"
#include "prio-error.h"
#include "prio-hooks.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  PrioSchedulingState *state; /* owned, or NULL */
  GAsyncReadyCallback callback;
  gpointer data;

  GObject *source_object;
  GAsyncResult *result;
} Wrapped;

/**
 * prio_scheduling_state_wrap_callback: (skip)
 * @callback: (nullable): the function to call
 * @user_data: data for @callback
 *
 * Captures the current state, so that `prio_scheduling_state_call_wrapped()` can call @callback in that state.  A
 * task thus continues as the same task after an asynchronous call of GIO: its later yields, and the callbacks that it
 * registers, have its signal and its priority.
 *
 * ```c
 * g_file_query_info_async (file, "*", 0, G_PRIORITY_DEFAULT, cancellable,
 *                          prio_scheduling_state_call_wrapped, prio_scheduling_state_wrap_callback (on_info, self));
 * ```
 *
 * If there is no current state, @callback is called without one.
 *
 * Call this in the arguments of the asynchronous function, as the last argument, because only
 * `prio_scheduling_state_call_wrapped()` frees the returned data.  g_async_result_get_user_data() also returns this
 * data, and not @user_data.  Any thread may call this function.
 *
 * Returns: (transfer full): the data for `prio_scheduling_state_call_wrapped()`, which frees the data; use the data
 *   exactly once
 *
 * Since: 1.0
 */
gpointer
prio_scheduling_state_wrap_callback (GAsyncReadyCallback callback, gpointer user_data)
{
  Wrapped *wrapped = g_new0 (Wrapped, 1);

  wrapped->state = prio_scheduling_state_ref_current ();
  wrapped->callback = callback;
  wrapped->data = user_data;
  return wrapped;
}

static void
call_wrapped (gpointer data)
{
  Wrapped *wrapped = data;

  wrapped->callback (wrapped->source_object, wrapped->result, wrapped->data);
}

/**
 * prio_scheduling_state_call_wrapped: (skip)
 * @source_object: (nullable): the object of the asynchronous function
 * @result: the result of the asynchronous function
 * @wrapped: (transfer full): the data that `prio_scheduling_state_wrap_callback()` has returned
 *
 * Calls the callback of `prio_scheduling_state_wrap_callback()` in the state that was current at that call.  Pass this
 * function as the [callback@Gio.AsyncReadyCallback].
 *
 * On a thread that does not own the main context of that state, the callback runs without a state.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_call_wrapped (GObject *source_object, GAsyncResult *result, gpointer wrapped)
{
  g_autofree Wrapped *self = wrapped;
  g_autoptr (PrioSchedulingState) state = NULL;

  g_return_if_fail (wrapped != NULL);

  state = self->state;
  self->source_object = source_object;
  self->result = result;
  if (self->callback == NULL)
    return;

  if (state != NULL)
    prio_scheduling_state_run (state, call_wrapped, self);
  else
    call_wrapped (self);
}

/* Calls @callback with an error, in a later task.  A GTask owns its context, and so would keep alive for ever a
 * context that is no longer iterated. */
static void
fail_to_resume (GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_ref_thread_default ();

  prio_scheduler_fail_to_yield (scheduler, g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The scheduler of the scheduling state has gone")),
                                   callback, user_data);
}

/**
 * prio_scheduling_state_resume_async:
 * @state: a state
 * @callback: (not nullable) (scope async) (closure user_data): the continuation
 * @user_data: data for @callback
 *
 * Yields as the task from which @state was captured, even outside of that task.  The continuation, which is @callback,
 * is queued in the state's scheduler with the state's signal and priority, and runs in the state.  A coroutine in Vala
 * can thus continue as the same task after it has waited for something else:
 *
 * ```vala
 * var state = PrioSched.SchedulingState.get_current ();
 * var info = yield file.query_info_async ("*", 0);
 * yield state.resume_async ();   // throws the reason, if the task has been aborted meanwhile
 * ```
 *
 * Any thread may call this function; @callback is called on the thread that runs the scheduler's main context.  If the
 * scheduler has been finalized, @callback is called in the thread-default main context of the caller, or not at all if
 * that context is destroyed first.
 *
 * In C, pass the state as the data of a callback that another library calls:
 *
 * ```c
 * static void
 * go_on (GObject *source, GAsyncResult *result, gpointer data)
 * {
 *   g_autoptr (PrioSchedulingState) state = data;
 *   g_autoptr (GError) error = NULL;
 *
 *   if (prio_scheduling_state_resume_finish (state, result, &error))
 *     g_print ("The task goes on.\n");
 *   else
 *     g_print ("It has been aborted meanwhile: %s\n", error->message);
 * }
 *
 * static void
 * replied (MyConnection *connection, gpointer state) // called by a library that knows no states
 * {
 *   prio_scheduling_state_resume_async (state, go_on, state);
 * }
 *
 * static gboolean
 * ask (gpointer connection) // a task
 * {
 *   my_connection_ask (connection, replied, prio_scheduling_state_ref_current ());
 *   return G_SOURCE_REMOVE;
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_scheduling_state_resume_async (PrioSchedulingState *state, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (PrioScheduler) scheduler = NULL;

  g_return_if_fail (state != NULL);
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "callback", callback != NULL));

  scheduler = prio_scheduling_state_dup_scheduler (state);
  if (scheduler != NULL)
    prio_scheduler_yield_async (scheduler, &PRIO_YIELD_OPTIONS (.state = state), callback, user_data);
  else
    fail_to_resume (callback, user_data);
}

/**
 * prio_scheduling_state_resume_finish:
 * @state: (nullable): the state
 * @result: the result that the callback was called with
 * @error: return location for a `GError`
 *
 * Finishes [method@PrioSched.SchedulingState.resume_async].
 *
 * The call fails with the reason of the abort if the state's signal is aborted, and with %PRIO_ERROR_CLOSED if the
 * state's scheduler has been finalized.  Call this function once, in the callback, on its thread.
 *
 * Returns: %TRUE if the task may continue, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduling_state_resume_finish (PrioSchedulingState *state G_GNUC_UNUSED, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return prio_scheduler_yield_finish (NULL, result, error);
}
