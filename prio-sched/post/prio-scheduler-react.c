/* prio-scheduler-react.c: what React's Scheduler has beside levels and timeouts
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-first-private.h"
#include "loop/prio-yield-private.h"
#include "scheduler/prio-options-private.h"
#include "scheduler/prio-scheduling-state-private.h"
#include "task/prio-task-impl-private.h"

/**
 * prio_scheduler_force_frame_rate:
 * @self: a scheduler
 * @fps: frames per second, 1 to 125; 0 resets it
 *
 * Lets tasks run as long as such a frame at a time: React's `forceFrameRate()`.
 *
 * It sets [property@PrioSched.Scheduler:time-slice] to the whole milliseconds of a frame, 33 ms for 30, or
 * back to 5 ms.  Frames whose time is known, by
 * [method@PrioSched.Scheduler.follow_frame_clock], end the slice in any case.
 *
 * Another rate is refused with a critical message.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_force_frame_rate (PrioScheduler *self, gint fps)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_frame_rate (G_STRFUNC, fps));

  prio_scheduler_set_time_slice (self, fps == 0 ? PRIO_DEFAULT_SLICE : 1000 / (guint) fps * 1000);
}

/**
 * prio_scheduler_request_paint:
 * @self: a scheduler
 *
 * Asks what is running to let the main loop have its turn, so that what has changed is drawn: React's
 * `unstable_requestPaint()`.
 *
 * [method@PrioSched.Scheduler.should_yield] returns %TRUE from now on, until every other source of the main
 * context has had its turn; the same goes for the other schedulers of the context.
 *
 * ```c
 * gtk_label_set_text (label, "Almost done");
 * prio_scheduler_request_paint (scheduler);
 * return G_SOURCE_CONTINUE;
 * ```
 *
 * Call it on the thread that runs the scheduler's main context; on others, and where no main loop runs, it does
 * nothing.
 *
 * Since: 1.0
 */
void
prio_scheduler_request_paint (PrioScheduler *self)
{
  PrioLoop *loop;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));

  loop = self->run_queue->loop;
  if (g_main_depth () == 0 || !prio_loop_is_owner (loop) || !prio_loop_enter (loop))
    return;
  prio_loop_request_paint (loop);
  prio_loop_leave (loop);
}

/**
 * prio_scheduler_get_first_task:
 * @self: a scheduler
 *
 * Gets the task that comes next: the oldest of the highest priority, of this scheduler and of its groups
 * that have a place, or the first of those whose timeout has passed.  React's
 * `unstable_getFirstCallbackNode()`.
 *
 * It stays where it is, and runs when its turn comes; [method@PrioSched.Task.cancel] takes it out.  A delayed task is one of them
 * when its delay is over.  It does not matter whether the scheduler is paused.
 *
 * Only what [method@PrioSched.Scheduler.post_task] has posted is a task that can be told.  If the first is a
 * closure, a continuation or a task of a language binding, the result is %NULL, as it is if there is none:
 * [method@PrioSched.Scheduler.get_pending] tells that apart.
 *
 * The time it takes grows with the number of the scheduler's groups, those without tasks included, and not with
 * that of tasks.
 *
 * Call it on the thread that runs the scheduler's main context.  On another one it logs a critical
 * message, and returns %NULL.
 *
 * Returns: (transfer full) (nullable): the first task, or %NULL
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_get_first_task (PrioScheduler *self)
{
  PrioTask *task = NULL;
  PrioQueue *queue;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the first task is"))
    return NULL;

  queue = prio_run_queue_first (self->run_queue);
  if (queue != NULL && queue->kind == PRIO_QUEUE_ENTRIES)
    {
      PrioEntry *entry = (PrioEntry *) queue->head;

      /* The loop holds what is queued, so this reference is not the second, of which a binding would hear. */
      if (entry->use == PRIO_ENTRY_OF_PROGRAM && entry->funcs->run == prio_task_entry_funcs.run &&
          prio_task_get_func (prio_task_from_entry (entry)) != NULL)
        task = g_object_ref (prio_task_from_entry (entry));
    }
  prio_loop_leave (self->run_queue->loop);
  return task;
}

typedef struct
{
  PrioSchedulingState *state; /* owned; NULL for none */
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} PrioWrapped;

typedef struct
{
  PrioWrapped *wrapped;
  gboolean result;
} Call;

/**
 * prio_scheduler_wrap_callback: (skip)
 * @self: a scheduler
 * @func: what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Wraps a function, which then runs under the state of now, wherever and as often as it is called: React's
 * `unstable_wrapCallback()`.
 *
 * Where it yields, and in the callbacks that it registers, it has the priority, the signal and the timeout of the running
 * task; outside any task, it is `user-visible`, and has neither.  What it posts inherits nothing, as on the web.  It is called by prio_scheduler_call_wrapped(), and freed by
 * prio_scheduler_free_wrapped(), which fit GLib's functions:
 *
 * ```c
 * g_timeout_add_full (G_PRIORITY_DEFAULT, 100, prio_scheduler_call_wrapped,
 *                     prio_scheduler_wrap_callback (scheduler, look_again, self, NULL), prio_scheduler_free_wrapped);
 * ```
 *
 * For a [callback@Gio.AsyncReadyCallback] there is prio_scheduling_state_wrap().
 *
 * Call it on the thread that runs the scheduler's main context; what is wrapped on others has no state.
 *
 * Returns: (transfer full): what to give the two functions
 *
 * Since: 1.0
 */
gpointer
prio_scheduler_wrap_callback (PrioScheduler *self, GSourceFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioState outside = { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE };
  PrioWrapped *wrapped;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL), NULL);

  outside.run_queue = self->run_queue;
  wrapped = g_new (PrioWrapped, 1);
  *wrapped = (PrioWrapped) { prio_scheduling_state_get_current (), func, user_data, notify };
  if (wrapped->state == NULL)
    wrapped->state = prio_scheduling_state_new (&outside);
  return wrapped;
}

static void
call (gpointer data)
{
  Call *self = data;

  self->result = self->wrapped->func (self->wrapped->data);
}

/**
 * prio_scheduler_call_wrapped: (skip)
 * @wrapped: what prio_scheduler_wrap_callback() has returned
 *
 * Calls the wrapped function under the state in which it was wrapped: a [callback@GLib.SourceFunc].
 *
 * On a thread that does not own the main context of that state, it runs without a state.
 *
 * Returns: what the function returns
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_call_wrapped (gpointer wrapped)
{
  Call self = { wrapped, FALSE };

  g_return_val_if_fail (wrapped != NULL, FALSE);

  prio_scheduling_state_call (self.wrapped->state, call, &self);
  return self.result;
}

/**
 * prio_scheduler_free_wrapped: (skip)
 * @wrapped: (transfer full): what prio_scheduler_wrap_callback() has returned
 *
 * Frees a wrapped function: a [callback@GLib.DestroyNotify].  Any thread may call it; its own destroy notify is
 * called there.
 *
 * Since: 1.0
 */
void
prio_scheduler_free_wrapped (gpointer wrapped)
{
  PrioWrapped *self = wrapped;

  g_return_if_fail (wrapped != NULL);

  if (self->notify != NULL)
    self->notify (self->data);
  g_clear_pointer (&self->state, prio_scheduling_state_unref);
  g_free (self);
}
