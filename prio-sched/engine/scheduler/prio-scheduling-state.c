/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduling-state.c: the state that a task runs in */

#include "config.h"

#include "prio-scheduling-state.h"

#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "scheduler/prio-scheduling-state-private.h"
#include "signal/prio-registration-private.h"

/**
 * PrioSchedulingState:
 *
 * The state that a task runs in: its signal, its priority, its timeout, and whether it takes turns.
 *
 * It is the WICG draft's scheduling state (§2.3, §4.1.4 to §4.1.6).  A task's continuations
 * ([method@PrioSched.Scheduler.yield_async]) and microtasks inherit the task's state, and so do the callbacks of its
 * waits for other tasks.  Other callbacks, such as GIO's, have no state unless the program passes it on:
 *
 * - In C, pass `prio_scheduling_state_call_wrapped()` as the callback, and the result of
 *   `prio_scheduling_state_wrap_callback()` as its data.
 * - For callbacks of other kinds, such as coroutines of a language binding, capture the state with
 *   [func@PrioSched.SchedulingState.ref_current] where the callback is registered, and call the callback through
 *   prio_scheduling_state_run(), of `<prio-sched-bindings.h>`.
 * - In Vala, capture the state in the task, and continue after the call with `yield state.resume_async ()`.
 *
 * ```c
 * static gboolean
 * load (gpointer file)
 * {
 *   g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
 *
 *   g_file_load_contents_async (file, prio_scheduling_state_get_cancellable (state),
 *                               prio_scheduling_state_call_wrapped, prio_scheduling_state_wrap_callback (loaded, NULL));
 *   return G_SOURCE_REMOVE;
 * }
 *
 * static void
 * loaded (GObject *file, GAsyncResult *result, gpointer data)
 * {
 *   g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
 *   … // tasks posted here with the state's signal are part of the task, as load () was
 * }
 * ```
 *
 * Since: 1.0
 */
struct _PrioSchedulingState
{
  gint refs; /* atomic */
  PrioLoop *loop;
  PrioState state; /* owned */
};

G_DEFINE_BOXED_TYPE (PrioSchedulingState, prio_scheduling_state, prio_scheduling_state_ref, prio_scheduling_state_unref)

static void
op_hold_state (PrioLoop *loop, const PrioOp *op)
{
  PrioSchedulingState *state = op->target;

  prio_state_hold (&state->state);
  prio_loop_defer_release (loop, (GDestroyNotify) prio_scheduling_state_unref, state);
}

PrioSchedulingState *
prio_scheduling_state_make (const PrioState *current)
{
  PrioSchedulingState *state = g_new (PrioSchedulingState, 1);

  state->refs = 1;
  state->loop = prio_loop_ref (current->run_queue->loop);
  state->state = *current;
  if (prio_loop_enter (state->loop))
    {
      prio_state_hold (current);
      prio_loop_leave (state->loop);
    }
  else
    {
      prio_loop_submit (state->loop, &(PrioOp) { .apply = op_hold_state, .target = prio_scheduling_state_ref (state) });
    }

  return state;
}

/**
 * prio_scheduling_state_ref_current:
 *
 * Captures the state of the running code on the calling thread: a task, a microtask, a callback of a task, an idle
 * callback, or a function inside prio_scheduling_state_run().
 *
 * Sources that a nested main loop dispatches while a task runs are not part of that task, and have no state.
 *
 * A captured state keeps its scheduler's queues and its signal alive, but not the scheduler.
 *
 * Returns: (transfer full) (nullable): the state, or %NULL if there is none
 *
 * Since: 1.0
 */
PrioSchedulingState *
prio_scheduling_state_ref_current (void)
{
  const PrioState *current = prio_state_of_thread ();

  return current != NULL ? prio_scheduling_state_make (current) : NULL;
}

/**
 * prio_scheduling_state_ref: (skip)
 * @state: a state
 *
 * Adds a reference.  Any thread may call this function.
 *
 * ```c
 * first->state = prio_scheduling_state_ref_current ();
 * second->state = prio_scheduling_state_ref (first->state);
 * ```
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
 * Gets the scheduler of the task from which the state was captured.  Any thread may call this function.
 *
 * ```c
 * // Posts a part of the running task: with its signal and its priority.
 * static void
 * post_part (GSourceFunc func, gpointer data)
 * {
 *   g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
 *   g_autoptr (PrioScheduler) scheduler = prio_scheduling_state_dup_scheduler (state);
 *
 *   prio_scheduler_post_full (scheduler,
 *                             &PRIO_TASK_OPTIONS (.priority = prio_scheduling_state_get_priority (state),
 *                                                 .cancellable = prio_scheduling_state_get_cancellable (state)),
 *                             func, data, NULL);
 * }
 * ```
 *
 * Returns: (transfer full) (nullable): the scheduler, or %NULL if it has been finalized
 *
 * Since: 1.0
 */
PrioScheduler *
prio_scheduling_state_dup_scheduler (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  return g_weak_ref_get (state->state.run_queue->scheduler);
}

/**
 * prio_scheduling_state_get_cancellable:
 * @state: a state
 *
 * Gets the signal that may abort tasks that inherit the state.  Any thread may call this function.
 *
 * Returns: (transfer none) (nullable): the signal, which @state keeps alive, or %NULL if there is none
 *
 * Since: 1.0
 */
GCancellable *
prio_scheduling_state_get_cancellable (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  return state->state.group != NULL ? prio_registration_of (state->state.group)->signal : NULL;
}

/**
 * prio_scheduling_state_get_priority:
 * @state: a state
 *
 * Gets the priority of tasks that inherit the state.  Any thread may call this function.
 *
 * Returns: the priority, or %PRIO_TASK_PRIORITY_UNSET if tasks have their signal's priority
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_scheduling_state_get_priority (PrioSchedulingState *state)
{
  g_return_val_if_fail (state != NULL, PRIO_TASK_PRIORITY_UNSET);

  return (PrioTaskPriority) state->state.priority;
}

static void
op_release_state (PrioLoop *loop, const PrioOp *op)
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
 * Drops a reference.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_unref (PrioSchedulingState *state)
{
  g_return_if_fail (state != NULL);

  if (g_atomic_int_dec_and_test (&state->refs))
    prio_loop_submit (state->loop, &(PrioOp) { .apply = op_release_state, .target = state });
}

const PrioState *
prio_scheduling_state_peek_here (PrioSchedulingState *state)
{
  return prio_loop_is_owner (state->loop) ? &state->state : NULL;
}

const PrioState *
prio_scheduling_state_peek (PrioSchedulingState *state)
{
  return &state->state;
}

/* Adds the references for @held in an operation, which is applied before later operations of this thread. */
void
prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held)
{
  if (state->loop != loop)
    {
      held->run_queue = NULL;
      return;
    }

  *held = state->state;
  prio_loop_submit (loop, &(PrioOp) { .apply = op_hold_state, .target = prio_scheduling_state_ref (state) });
}
