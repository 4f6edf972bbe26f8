/* prio-scheduling-state.c: what a running task was posted with
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduling-state.h"

#include "prio-bond-private.h"
#include "prio-error.h"
#include "prio-options-private.h"

#include <glib/gi18n-lib.h>

/**
 * PrioSchedulingState:
 *
 * What a running task was posted with: its signal and its priority.
 *
 * It is the draft's scheduling state (§3.3.2, §4.1.6).  What a task starts inherits
 * it: [method@PrioSched.Scheduler.yield_async], microtasks, the callbacks of
 * the tasks it waits for.  What a task hands to something else, a GIO call say, is called
 * back with no state, unless the state is taken along:
 *
 * - C gives `prio_scheduling_state_ready()` as the callback, and as its data what
 *   `prio_scheduling_state_wrap()` has made of the callback and its data.
 * - Whoever registers callbacks of other kinds, a coroutine of a language say, captures the state
 *   with [func@PrioSched.SchedulingState.get_current] where the callback is registered, and calls
 *   the callback through [method@PrioSched.SchedulingState.run].
 * - Vala does the former in the task, and goes on after the call with
 *   `yield state.resume_async ()`.
 *
 * Since: 1.0
 */
struct _PrioSchedulingState
{
  gint refs; /* atomic */
  PrioLoop *loop;
  PrioState state; /* held */
};

G_DEFINE_BOXED_TYPE (PrioSchedulingState, prio_scheduling_state, prio_scheduling_state_ref, prio_scheduling_state_unref)

static const PrioState *
state_of_thread (void)
{
  const PrioState *state = prio_thread.state;

  return state != NULL && state->depth == g_main_depth () ? state : NULL;
}

const PrioState *
prio_state_current (PrioCore *core)
{
  const PrioState *state = state_of_thread ();

  return state != NULL && state->core == core ? state : NULL;
}

const PrioState *
prio_state_capture (PrioCore *core)
{
  return prio_state_is_current (core->loop) ? prio_thread.state : NULL;
}

gboolean
prio_state_is_current (PrioLoop *loop)
{
  const PrioState *state = state_of_thread ();

  return state != NULL && state->core->loop == loop;
}

void
prio_state_hold (const PrioState *state)
{
  if (state->core == NULL)
    return;

  prio_core_hold (state->core);
  if (state->bond != NULL)
    prio_bond_hold (state->bond);
}

void
prio_state_release (const PrioState *state)
{
  if (state->core == NULL)
    return;

  if (state->bond != NULL)
    prio_bond_release (state->bond);
  prio_core_release (state->core);
}

/**
 * prio_scheduling_state_get_current:
 *
 * Captures the state of what is running on the calling thread: a task, a microtask,
 * a callback of a task, or a function inside
 * [method@PrioSched.SchedulingState.run].
 *
 * Sources that a nested main loop dispatches while a task runs are not part of
 * that task, and have no state.
 *
 * A captured state keeps its scheduler's queues and its signal alive.
 *
 * Returns: (transfer full) (nullable): the state, or %NULL if there is none
 *
 * Since: 1.0
 */
PrioSchedulingState *
prio_scheduling_state_get_current (void)
{
  const PrioState *current = state_of_thread ();
  PrioSchedulingState *state = NULL;

  if (current == NULL || !prio_loop_enter (current->core->loop))
    return NULL;

  state = g_new (PrioSchedulingState, 1);
  state->refs = 1;
  state->loop = prio_loop_ref (current->core->loop);
  state->state = *current;
  prio_state_hold (current);
  prio_loop_leave (state->loop);

  return state;
}

/**
 * prio_scheduling_state_ref: (skip)
 * @state: a state
 *
 * Adds a reference.  Any thread may call it.
 *
 * Returns: (transfer full): @state
 *
 * Since: 1.0
 */
PrioSchedulingState *
prio_scheduling_state_ref (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  g_atomic_int_inc (&state->refs);
  return state;
}

/**
 * prio_scheduling_state_dup_scheduler:
 * @state: a state
 *
 * Gets the scheduler of the task it was captured from.
 *
 * Returns: (transfer full) (nullable): the scheduler, or %NULL if it has gone
 *
 * Since: 1.0
 */
PrioScheduler *
prio_scheduling_state_dup_scheduler (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  return g_weak_ref_get (&state->state.core->scheduler);
}

/**
 * prio_scheduling_state_get_signal:
 * @state: a state
 *
 * Gets the signal that may abort what inherits the state.
 *
 * Returns: (transfer none) (nullable): the signal
 *
 * Since: 1.0
 */
GCancellable *
prio_scheduling_state_get_signal (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  return state->state.bond != NULL ? state->state.bond->signal : NULL;
}

/**
 * prio_scheduling_state_get_priority:
 * @state: a state
 *
 * Gets the priority of what inherits the state.
 *
 * Returns: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of the
 *   signal
 *
 * Since: 1.0
 */
gint
prio_scheduling_state_get_priority (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, PRIO_PRIORITY_UNSET);

  return state->state.priority;
}

static void
released (PrioLoop *loop, const PrioOp *op)
{
  PrioSchedulingState *state = op->target;

  prio_state_release (&state->state);
  prio_loop_unref (loop);
  g_free (state);
}

/**
 * prio_scheduling_state_unref: (skip)
 * @state: (transfer full): a state
 *
 * Drops a reference.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_unref (PrioSchedulingState *state)
{
  PrioOp op = { .apply = released, .target = state };

  g_return_if_fail (state != NULL);

  if (g_atomic_int_dec_and_test (&state->refs))
    prio_loop_submit (state->loop, &op);
}

/**
 * prio_scheduling_state_run:
 * @state: (nullable): a state, or %NULL for none
 * @func: (scope call) (closure user_data): what to run
 * @user_data: data for @func
 *
 * Calls @func with @state as the current one, and puts the former one back.
 *
 * On a thread that does not own the context from which @state was captured (see
 * [method@GLib.MainContext.is_owner]: it runs it, or has acquired it), @func runs with
 * no state.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_run (PrioSchedulingState *state, GSourceOnceFunc func, gpointer user_data)
{
  const PrioState *outer = prio_thread.state;
  PrioState inner;

  g_return_if_fail (func != NULL);

  if (state != NULL && prio_loop_is_owner (state->loop))
    {
      prio_scheduling_state_ref (state);
      inner = state->state;
      inner.depth = g_main_depth ();
      prio_thread.state = &inner;
      func (user_data);
      prio_thread.state = outer;
      prio_scheduling_state_unref (state);
    }
  else
    {
      prio_thread.state = NULL;
      func (user_data);
      prio_thread.state = outer;
    }
}

const PrioState *
prio_scheduling_state_peek (PrioSchedulingState *state)
{
  return &state->state;
}

/* Uses up the reference in @op. */
static void
held_again (PrioLoop *loop, const PrioOp *op)
{
  PrioSchedulingState *state = op->target;

  prio_state_hold (&state->state);
  prio_loop_bury (loop, (GDestroyNotify) prio_scheduling_state_unref, state);
}

/* An operation of this thread that comes later finds it held. */
void
prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held)
{
  PrioOp op = { .apply = held_again };

  if (state->loop != loop)
    {
      held->core = NULL;
      return;
    }

  *held = state->state;
  op.target = prio_scheduling_state_ref (state);
  prio_loop_submit (loop, &op);
}

/* A callback that goes on under a state. */
typedef struct
{
  PrioSchedulingState *state; /* owned, or NULL */
  GAsyncReadyCallback callback;
  gpointer data;

  /* What it is called with. */
  GObject *source_object;
  GAsyncResult *result;
} Wrapped;

/**
 * prio_scheduling_state_wrap: (skip)
 * @callback: (nullable): what is to be called
 * @user_data: data for @callback
 *
 * Captures the state of what is running for @callback, which is called under it by
 * `prio_scheduling_state_ready()`.
 *
 * So a task goes on as itself after a call of GIO's, or any other function of that shape:
 * with its priority for what it posts and for how it yields, and able to hear of an abort.
 *
 * ```c
 * g_file_query_info_async (file, "*", 0, G_PRIORITY_DEFAULT, cancellable,
 *                          prio_scheduling_state_ready, prio_scheduling_state_wrap (on_info, self));
 * ```
 *
 * If nothing is running that has a state, @callback is called as it would be without this.
 *
 * Any thread may call it.
 *
 * Returns: (transfer full): the data for `prio_scheduling_state_ready()`, which frees it:
 *   use it once
 *
 * Since: 1.0
 */
gpointer
prio_scheduling_state_wrap (GAsyncReadyCallback callback, gpointer user_data)
{
  Wrapped *wrapped = g_new0 (Wrapped, 1);

  wrapped->state = prio_scheduling_state_get_current ();
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
 * prio_scheduling_state_ready: (skip)
 * @source_object: (nullable): what the asynchronous function was called for
 * @result: its result
 * @wrapped: (transfer full): what `prio_scheduling_state_wrap()` has returned
 *
 * Calls the wrapped callback under the state in which it was wrapped: a
 * [callback@Gio.AsyncReadyCallback].
 *
 * On a thread that does not own the context of that state, the callback runs with none.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_ready (GObject *source_object, GAsyncResult *result, gpointer wrapped)
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

static void
fail_to_resume (GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user_data);

  g_task_set_name (task, "prio_scheduling_state_resume_async");
  g_task_set_source_tag (task, prio_scheduling_state_resume_async);
  g_task_return_new_error (task, PRIO_ERROR, PRIO_ERROR_CLOSED, "%s",
                           _("The scheduler of the scheduling state has gone"));
}

/**
 * prio_scheduling_state_resume_async:
 * @state: a state
 * @callback: (scope async) (closure user_data): called when it is the turn of what goes on
 * @user_data: data for @callback
 *
 * Goes on under @state: a yield of the task from which it was captured, from wherever this is
 * called.
 *
 * What follows, in @callback, is a continuation of the state's scheduler, with the state's signal
 * and priority, and under the state.  So a coroutine in Vala goes on as the task that it was before
 * it waited for something else:
 *
 * ```vala
 * var state = PrioSched.SchedulingState.get_current ();
 * var info = yield file.query_info_async ("*", 0);
 * yield state.resume_async ();   // throws the reason, if the task has been aborted meanwhile
 * ```
 *
 * Any thread may call it; @callback is called on the thread that runs the scheduler's main
 * context.  If the scheduler has gone, it is called in the thread-default main context of the
 * caller.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_resume_async (PrioSchedulingState *state, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (PrioScheduler) scheduler = NULL;

  g_return_if_fail (state != NULL);
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "callback", callback != NULL, NULL));

  scheduler = prio_scheduling_state_dup_scheduler (state);
  if (scheduler != NULL)
    prio_scheduler_yield_full_async (scheduler, &(PrioYieldOptions) { .state = state }, callback, user_data);
  else
    fail_to_resume (callback, user_data);
}

/**
 * prio_scheduling_state_resume_finish:
 * @state: (nullable): the state
 * @result: what the callback was given
 * @error: return location for a `GError`
 *
 * Ends [method@PrioSched.SchedulingState.resume_async].
 *
 * Fails with the reason of the abort if the state's signal is aborted, and with
 * %PRIO_ERROR_CLOSED if its scheduler has gone.
 *
 * Called once, in the callback.
 *
 * Returns: %TRUE if the task may go on, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduling_state_resume_finish (PrioSchedulingState *state G_GNUC_UNUSED, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (g_async_result_is_tagged (result, prio_scheduling_state_resume_async))
    return g_task_propagate_boolean (G_TASK (result), error);
  return prio_scheduler_yield_finish (NULL, result, error);
}
