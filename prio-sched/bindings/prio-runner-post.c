/* prio-runner-post.c: how tasks of a runner, their continuations and its idle callbacks are queued, and taken back
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-traits-private.h"
#include "post/prio-scheduler-post-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-registration-private.h"
#include "signal/prio-util-private.h"

/* Outside. */
static PrioPosted
posted_here (PrioRunner *self, gboolean accepted)
{
  if (!accepted)
    return PRIO_POSTED_REJECTED;
  return prio_state_capture (self->loop) != NULL ? PRIO_POSTED_INSIDE : PRIO_POSTED_OUTSIDE;
}

/* Any thread: posts @id with no more than a priority and, if @goes_on, as a continuation. */
static PrioPosted
post_plain (PrioRunner *self, guint id, gint priority, gboolean goes_on, const char *name)
{
  gboolean accepted;

  if (G_LIKELY (name == NULL && prio_loop_enter (self->loop)))
    {
      accepted = self->numbers.run_queue != NULL;
      if (accepted)
        prio_numbers_append (&self->numbers, id, prio_effective ((PrioTaskPriority) priority, goes_on));
      prio_loop_leave (self->loop);
    }
  else
    {
      PrioPost post = { .job = { .func = prio_number_func, .data = &self->numbers, .id = id }, .name = name,
                        .priority = (gint8) priority, .turn = goes_on ? PRIO_ENTRY_GOES_ON : PRIO_ENTRY_IS_NEW };

      accepted = prio_post_submit (&post, self->loop);
    }
  return posted_here (self, accepted);
}

/**
 * prio_runner_post:
 * @self: a runner
 * @id: the number that identifies the task; not 0
 * @priority: a [enum@PrioSched.TaskPriority]
 *
 * Posts a task without a signal: nothing can abort it (§2.2, §2.4.2 of the draft).
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted]: whether the task will run, and
 *   whether it was posted from a task
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_post (PrioRunner *self, guint id, gint priority)
{
  g_autofree char *name = NULL;

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, priority), PRIO_POSTED_REJECTED);

  name = prio_runner_name_of_post (self, id, FALSE);
  return post_plain (self, id, priority, FALSE, name);
}

/* Any thread: posts what @post describes. */
static PrioPosted
post_with (PrioRunner *self, PrioPost *post, GCancellable *signal)
{
  if (signal != NULL)
    post->node = prio_signal_node_for (signal);
  else if (post->priority == PRIO_PRIORITY_UNSET)
    post->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  return posted_here (self, prio_post_submit (post, self->loop));
}

/**
 * prio_runner_post_full:
 * @self: a runner
 * @id: the number that identifies the task; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of
 *   @signal or, if it has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): what may abort the task: a [class@PrioSched.TaskSignal], or
 *   any other cancellable
 * @delay: milliseconds to wait before the task is queued
 * @timeout: milliseconds from now, or from the end of the delay, after which it goes before every
 *   task whose timeout has not passed; 0 for none
 * @takes_turns: whether its continuations wait behind tasks of the same priority that are queued already
 *
 * Posts a task, with all options of `postTask()` (§2.2, §2.4.2 of the draft), and with a timeout: see
 * [struct@PrioSched.TaskOptions].
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted]: whether the task will run, and
 *   whether it was posted from a task; a task that is rejected here is not reported by
 *   [method@PrioSched.Runner.take_rejected]
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_post_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint timeout,
                       gboolean takes_turns)
{
  PrioPost post = { .priority = (gint8) priority, .turn = takes_turns ? PRIO_ENTRY_TAKES_TURNS : PRIO_ENTRY_IS_NEW };
  g_autofree char *name = NULL;

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal), PRIO_POSTED_REJECTED);

  post.job = (PrioJob) { .func = prio_number_func, .data = &self->numbers, .id = id };
  post.name = name = prio_runner_name_of_post (self, id, FALSE);
  post.due = prio_due_after (delay);
  post.expiry = prio_expiry_after (post.due, timeout);
  return post_with (self, &post, signal);
}

/* A continuation has the priority, the turns and the timeout of what runs in @state. */
static void
inherit (PrioPost *post, const PrioState *state)
{
  post->priority = state->priority;
  post->turn = prio_turn_of_continuation (state->takes_turns);
  post->expiry = state->timed == PRIO_TIMED_NOT ? PRIO_NO_EXPIRY : prio_traits_of (state).expiry;
}

/* Owner thread: adds a continuation of the task that runs in @state, whose signal, if it has one, cannot be reset; or one of none.
 * Returns FALSE if the runner is closed or the signal aborted. */
static gboolean
append_inherited (PrioRunner *self, PrioPost *post, const PrioState *state)
{
  PrioRegistration *registration = state != NULL ? prio_registration_of (state->group) : NULL;

  if (self->numbers.run_queue == NULL || (registration != NULL && prio_signal_node_is_aborted (registration->node)))
    return FALSE;

  if (registration != NULL)
    prio_registration_hold (registration);
  if (state != NULL)
    inherit (post, state);
  prio_post_add (post, self->numbers.run_queue, registration);
  return TRUE;
}

/**
 * prio_runner_yield:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 *
 * Posts the continuation of the running task after a yield.  It inherits that task's
 * signal and priority (§2.2, §2.4.2 of the draft).
 *
 * Outside any task of the scheduler its priority is
 * %PRIO_TASK_PRIORITY_USER_VISIBLE.
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted]: whether the task will run, and
 *   whether it was posted from a task; a task that is rejected here is not reported by
 *   [method@PrioSched.Runner.take_rejected]
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_yield (PrioRunner *self, guint id)
{
  const PrioState *current, *state = NULL;
  PrioRegistration *registration = NULL;
  PrioPost post = { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE,
                    .turn = PRIO_ENTRY_GOES_ON };
  g_autofree char *name = NULL;
  gboolean accepted;

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);

  post.job = (PrioJob) { .func = prio_number_func, .data = &self->numbers, .id = id };
  post.name = name = prio_runner_name_of_post (self, id, TRUE);
  current = prio_state_of_thread ();
  if (!prio_loop_enter (self->loop))
    return post_plain (self, id, PRIO_TASK_PRIORITY_USER_VISIBLE, TRUE, name);

  if (self->numbers.run_queue != NULL && prio_state_is_of (current, self->numbers.run_queue))
    state = current;
  if (state != NULL)
    registration = prio_registration_of (state->group);
  if (registration != NULL && (state->run_queue != self->numbers.run_queue || !prio_registration_is_for_life (registration)))
    {
      inherit (&post, state);
      prio_loop_leave (self->loop);
      return post_with (self, &post, registration->signal);
    }
  accepted = append_inherited (self, &post, state);
  prio_loop_leave (self->loop);
  return posted_here (self, accepted);
}

/**
 * prio_runner_yield_full:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of
 *   @signal or, if it has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): what may abort the continuation: a [class@PrioSched.TaskSignal], or
 *   any other cancellable
 * @delay: milliseconds to wait before the continuation is queued
 * @expiry: when the timeout of the task passes, in microseconds of g_get_monotonic_time(); -1 if it has none
 * @takes_turns: whether it waits behind tasks of the same priority that are queued already
 *
 * Posts the continuation of a task, which runs before the tasks of its priority unless it takes turns.  It inherits nothing, and is for a binding that
 * knows the task where the library does not: after an `await` of something else.  Elsewhere [method@PrioSched.Runner.yield]
 * inherits all of this.
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted], as [method@PrioSched.Runner.post_full] does
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_yield_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint64 expiry,
                        gboolean takes_turns)
{
  PrioPost post = { .priority = (gint8) priority,
                    .turn = prio_turn_of_continuation (takes_turns) };
  g_autofree char *name = NULL;

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal), PRIO_POSTED_REJECTED);

  post.job = (PrioJob) { .func = prio_number_func, .data = &self->numbers, .id = id };
  post.name = name = prio_runner_name_of_post (self, id, TRUE);
  post.due = prio_due_after (delay);
  post.expiry = MAX (expiry, PRIO_NO_EXPIRY);
  return post_with (self, &post, signal);
}

/**
 * prio_runner_cancel:
 * @self: a runner
 * @id: the number of a task
 *
 * Aborts a task alone that is delayed or queued, as [method@PrioSched.Task.cancel] does with others: it leaves its queue at once,
 * and [method@PrioSched.Runner.take_rejected] reports it.
 *
 * ```c
 * prio_runner_post_full (runner, id, PRIO_TASK_PRIORITY_BACKGROUND, NULL, 10000, 0, FALSE);
 * …
 * if (!prio_runner_cancel (runner, id))
 *   forget_when_it_runs (id);
 * ```
 *
 * A task without a signal, a delay and a timeout is found only if there are no more than a thousand older ones of its priority.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
 *
 * Returns: whether it has been taken out; %FALSE if it runs, if its signal has been aborted, or if it is not found
 *
 * Since: 1.0
 */
gboolean
prio_runner_cancel (PrioRunner *self, guint id)
{
  gboolean cancelled;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (id != 0, FALSE);

  if (!prio_loop_enter (self->loop))
    return FALSE;
  cancelled = self->numbers.run_queue != NULL && prio_numbers_cancel (&self->numbers, id);
  prio_loop_leave (self->loop);
  if (cancelled)
    prio_loop_flush_releases (self->loop);
  return cancelled;
}

static void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  PrioRunner *runner = data;

  runner->func (deadline->id, runner->data);
}

/* The idle callback is a user of the numbers, and takes over the reference to the runner. */
static void
op_request (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;
  PrioRunner *runner = idle->data;

  if (runner->numbers.run_queue == NULL)
    {
      g_free (idle);
      prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
      return;
    }

  prio_numbers_hold (&runner->numbers);
  idle->run_queue = runner->numbers.run_queue;
  prio_idle_op_request (loop, op);
}

/**
 * prio_runner_request_idle_callback:
 * @self: a runner
 * @timeout: milliseconds after which the function is called in any case, or 0 for never
 *
 * Calls the runner's function once, with the returned number, when the main context has
 * nothing else to do.  The call is not for a task, so the function must not call
 * [func@PrioSched.Runner.next].
 *
 * It is otherwise like [method@PrioSched.Scheduler.request_idle_callback];
 * [func@PrioSched.IdleDeadline.get_current] returns the deadline.  The numbers may equal
 * those of the runner's tasks, so a binding uses a separate runner for idle callbacks.
 *
 * Any thread may call it.  If the scheduler and its tasks have gone, nothing is called.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_runner_request_idle_callback (PrioRunner *self, guint timeout)
{
  g_return_val_if_fail (self != NULL, 0);

  return prio_idle_submit (self->loop, op_request,
                           &(PrioIdle) { .func = run_idle, .data = prio_runner_ref (self), .notify = prio_runner_release }, timeout);
}
