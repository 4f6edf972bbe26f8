/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-level.c: the five levels, and the level of the running code */

#include "prio-react-private.h"

#include <prio-sched-bindings.h>

static const struct
{
  PrioTaskPriority priority;
  gint timeout; /* ms */
} levels[] = {
  [PRIO_REACT_LEVEL_IMMEDIATE] = { PRIO_TASK_PRIORITY_USER_BLOCKING, PRIO_REACT_TIMEOUT_IMMEDIATE },
  [PRIO_REACT_LEVEL_USER_BLOCKING] = { PRIO_TASK_PRIORITY_USER_BLOCKING, PRIO_REACT_TIMEOUT_USER_BLOCKING },
  [PRIO_REACT_LEVEL_NORMAL] = { PRIO_TASK_PRIORITY_USER_VISIBLE, PRIO_REACT_TIMEOUT_NORMAL },
  [PRIO_REACT_LEVEL_LOW] = { PRIO_TASK_PRIORITY_BACKGROUND, PRIO_REACT_TIMEOUT_LOW },
  [PRIO_REACT_LEVEL_IDLE] = { PRIO_TASK_PRIORITY_BACKGROUND, PRIO_REACT_TIMEOUT_IDLE },
};

static __thread PrioReactFrame *running;

/* Makes @frame current until prio_react_leave ().  @frame is on the stack of the caller, which has set the level. */
void
prio_react_enter (PrioReactFrame *frame)
{
  frame->outer = running;
  frame->depth = g_main_depth ();
  running = frame;
}

void
prio_react_leave (PrioReactFrame *frame)
{
  running = frame->outer;
}

/* Returns the innermost PrioReactFrame, or NULL if there is none, or if its function runs a nested main loop. */
PrioReactFrame *
prio_react_top (void)
{
  return running != NULL && running->depth == g_main_depth () ? running : NULL;
}

/* Returns the PrioReactFrame of the function of @task, or NULL if the running code is not called by that function. */
PrioReactFrame *
prio_react_find (PrioTask *task)
{
  for (PrioReactFrame *frame = prio_react_top (); frame != NULL && frame->depth == g_main_depth (); frame = frame->outer)
    if (frame->task == task)
      return frame;
  return NULL;
}

/* Returns whether @level is valid.  If not, logs a critical message for @function. */
gboolean
prio_react_check_level (const char *function, PrioReactLevel level)
{
  if (level >= PRIO_REACT_LEVEL_IMMEDIATE && level <= PRIO_REACT_LEVEL_IDLE)
    return TRUE;
  g_critical ("%s(): %d is not a PrioReactLevel (%d–%d)", function, (gint) level, PRIO_REACT_LEVEL_IMMEDIATE, PRIO_REACT_LEVEL_IDLE);
  return FALSE;
}

/**
 * prio_react_level_get_priority:
 * @level: a level
 *
 * Gets the priority of the tasks of a level.  Any thread may call it.
 *
 * ```c
 * PrioReactLevel level = PRIO_REACT_LEVEL_LOW;
 * PrioTaskOptions options = { .priority = prio_react_level_get_priority (level),
 *                             .timeout = prio_react_level_get_timeout (level) };
 * ```
 *
 * Returns: the priority
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_react_level_get_priority (PrioReactLevel level)
{
  return prio_react_check_level (G_STRFUNC, level) ? levels[level].priority : PRIO_TASK_PRIORITY_USER_VISIBLE;
}

/**
 * prio_react_level_get_timeout:
 * @level: a level
 *
 * Gets the timeout of the tasks of a level: React's `timeoutForPriorityLevel()`.  Any thread may call it.
 *
 * Returns: milliseconds, as for the options of a task; 0 for none, -1 for a timeout that has passed at once
 *
 * Since: 1.0
 */
gint
prio_react_level_get_timeout (PrioReactLevel level)
{
  return prio_react_check_level (G_STRFUNC, level) ? levels[level].timeout : 0;
}

/* Returns the scheduling state of the running code, or NULL if that does not run in the main context of @scheduler. */
static PrioSchedulingState *
get_state (PrioScheduler *scheduler)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  g_autoptr (PrioScheduler) own = state != NULL ? prio_scheduling_state_dup_scheduler (state) : NULL;

  if (own != NULL && prio_scheduler_get_context (own) != prio_scheduler_get_context (scheduler))
    return NULL;
  return g_steal_pointer (&state);
}

static PrioTaskPriority
priority_of (PrioSchedulingState *state)
{
  gint priority = prio_scheduling_state_get_priority (state);
  GCancellable *signal = prio_scheduling_state_get_cancellable (state);

  if (priority != PRIO_TASK_PRIORITY_UNSET)
    return (PrioTaskPriority) priority;
  return PRIO_IS_TASK_SIGNAL (signal) ? prio_task_signal_get_priority (PRIO_TASK_SIGNAL (signal)) : PRIO_TASK_PRIORITY_USER_VISIBLE;
}

/* Returns the level of code that has @priority but no explicit level. */
static PrioReactLevel
level_of (PrioTaskPriority priority)
{
  switch (priority)
    {
    case PRIO_TASK_PRIORITY_BACKGROUND:
      return PRIO_REACT_LEVEL_LOW;
    case PRIO_TASK_PRIORITY_USER_BLOCKING:
      return PRIO_REACT_LEVEL_USER_BLOCKING;
    default:
      return PRIO_REACT_LEVEL_NORMAL;
    }
}

/**
 * prio_react_get_current_level:
 * @scheduler: a scheduler
 *
 * Gets the level of the running code: React's `unstable_getCurrentPriorityLevel()`.
 *
 * It is the level that was given to prio_react_schedule_callback() or prio_react_run_with_level(), or that
 * prio_react_wrap_callback() has recorded.  Other code has the level that is closest to its priority (user-blocking,
 * normal or low): the task after a yield or in a microtask, and tasks that other functions have posted.  A timeout that
 * has passed does not change the level.
 *
 * ```c
 * if (prio_react_get_current_level (scheduler) == PRIO_REACT_LEVEL_IDLE)
 *   return G_SOURCE_CONTINUE;
 * ```
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Returns: the level; %PRIO_REACT_LEVEL_NORMAL if no task is running, and on other threads
 *
 * Since: 1.0
 */
PrioReactLevel
prio_react_get_current_level (PrioScheduler *scheduler)
{
  g_autoptr (PrioSchedulingState) state = NULL;
  PrioReactFrame *frame = prio_react_top ();
  PrioTaskPriority priority;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), PRIO_REACT_LEVEL_NORMAL);

  state = get_state (scheduler);
  if (state == NULL)
    return PRIO_REACT_LEVEL_NORMAL;
  priority = priority_of (state);
  return frame != NULL && levels[frame->level].priority == priority ? frame->level : level_of (priority);
}

/**
 * prio_react_run_with_level:
 * @scheduler: a scheduler
 * @level: a level
 * @func: (scope call) (closure user_data): the function to run
 * @user_data: data for @func
 *
 * Calls @func now, as part of the running task but with another level: React's `unstable_runWithPriority()`.
 *
 * Yields of @func, and callbacks that it registers, have the priority of the level, and the signal and the timeout of
 * the running task.  If no task is running, @func runs like a task of @scheduler without a signal or a timeout.  Tasks
 * that @func posts inherit nothing, as on the web.
 *
 * ```c
 * static void
 * save (gpointer document)
 * {
 *   prio_scheduler_yield_async (scheduler, NULL, saved, document);   // goes on as background
 * }
 *
 * prio_react_run_with_level (scheduler, PRIO_REACT_LEVEL_LOW, save, document);
 * ```
 *
 * To call a function later with the current level, signal and timeout, use prio_react_wrap_callback().
 *
 * Call it on the thread that runs the scheduler's main context, or has acquired that context; on other threads @func
 * runs as if in no task, with the normal level.
 *
 * Since: 1.0
 */
void
prio_react_run_with_level (PrioScheduler *scheduler, PrioReactLevel level, GSourceOnceFunc func, gpointer user_data)
{
  g_autoptr (PrioSchedulingState) outer = NULL, state = NULL;
  PrioReactFrame frame = { .level = level };

  g_return_if_fail (PRIO_IS_SCHEDULER (scheduler));
  g_return_if_fail (func != NULL);
  if (!prio_react_check_level (G_STRFUNC, level))
    return;

  outer = prio_scheduling_state_ref_current ();
  state = prio_scheduling_state_new (outer, scheduler, levels[level].priority);
  prio_react_enter (&frame);
  prio_scheduling_state_run (state, func, user_data);
  prio_react_leave (&frame);
}
