/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-wrap.c: wraps functions, so that they run in the state and at the level in which they were wrapped */

#include "prio-react-private.h"

#include <prio-sched-bindings.h>

typedef struct
{
  PrioSchedulingState *state; /* owned */
  PrioReactLevel level;
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} Wrapped;

typedef struct
{
  const Wrapped *wrapped;
  gboolean result;
} Call;

/**
 * prio_react_wrap_callback: (skip)
 * @scheduler: a scheduler
 * @func: the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Wraps a function, so that whenever it is called, it runs with the current level and as a part of the running task:
 * React's `unstable_wrapCallback()`.
 *
 * Yields of @func, and callbacks that it registers, have the priority, the signal and the timeout of the task that is
 * running now; if none is running, @func has the normal level, and no signal or timeout.  Tasks that @func posts
 * inherit nothing, as on the web.  prio_react_call_wrapped() calls the wrapped function, and prio_react_free_wrapped()
 * frees it.  Both can be passed to GLib's functions:
 *
 * ```c
 * g_timeout_add_full (G_PRIORITY_DEFAULT, 100, prio_react_call_wrapped,
 *                     prio_react_wrap_callback (scheduler, look_again, self, NULL), prio_react_free_wrapped);
 * ```
 *
 * For a [callback@Gio.AsyncReadyCallback] there is prio_scheduling_state_wrap_callback().
 *
 * Call it on the thread that runs the scheduler's main context; on other threads, the function gets the normal level.
 *
 * Returns: (transfer full): the wrapped function, as the argument for those two functions
 *
 * Since: 1.0
 */
gpointer
prio_react_wrap_callback (PrioScheduler *scheduler, GSourceFunc func, gpointer user_data, GDestroyNotify notify)
{
  Wrapped *wrapped;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  wrapped = g_new (Wrapped, 1);
  *wrapped = (Wrapped) { prio_scheduling_state_ref_current (), prio_react_get_current_level (scheduler), func,
                         user_data, notify };
  if (wrapped->state == NULL)
    wrapped->state = prio_scheduling_state_new (NULL, scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE);
  return wrapped;
}

static void
call (gpointer data)
{
  Call *self = data;

  self->result = self->wrapped->func (self->wrapped->data);
}

/**
 * prio_react_call_wrapped: (skip)
 * @wrapped: a result of prio_react_wrap_callback()
 *
 * Calls the wrapped function with the level, signal and timeout that were current when it was wrapped or, on a thread
 * that does not own the scheduler's main context, without these.  This function is a [callback@GLib.SourceFunc].
 *
 * Returns: the function's result
 *
 * Since: 1.0
 */
gboolean
prio_react_call_wrapped (gpointer wrapped)
{
  Call self = { wrapped, FALSE };
  PrioReactFrame frame = { 0 };

  g_return_val_if_fail (wrapped != NULL, FALSE);

  frame.level = self.wrapped->level;
  prio_react_enter (&frame);
  prio_scheduling_state_run (self.wrapped->state, call, &self);
  prio_react_leave (&frame);
  return self.result;
}

/**
 * prio_react_free_wrapped: (skip)
 * @wrapped: (transfer full): a result of prio_react_wrap_callback()
 *
 * Frees a wrapped function.  This function is a [callback@GLib.DestroyNotify].  Any thread may call it; the destroy
 * notify of prio_react_wrap_callback() is called on that thread.
 *
 * Since: 1.0
 */
void
prio_react_free_wrapped (gpointer wrapped)
{
  Wrapped *self = wrapped;

  g_return_if_fail (wrapped != NULL);

  if (self->notify != NULL)
    self->notify (self->data);
  g_clear_pointer (&self->state, prio_scheduling_state_unref);
  g_free (self);
}
