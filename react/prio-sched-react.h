/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-react.h: React's Scheduler on the main loop, under React's names */

#pragma once

#include <prio-sched.h>

G_BEGIN_DECLS

/**
 * PRIO_REACT_TIMEOUT_IMMEDIATE:
 *
 * The timeout of React's immediate level, in milliseconds: it has passed from the start, so the task runs before all
 * tasks whose timeout has not passed.
 *
 * Since: 1.0
 */
#define PRIO_REACT_TIMEOUT_IMMEDIATE (-1)

/**
 * PRIO_REACT_TIMEOUT_USER_BLOCKING:
 *
 * The timeout of React's user-blocking level, in milliseconds.
 *
 * Since: 1.0
 */
#define PRIO_REACT_TIMEOUT_USER_BLOCKING 250

/**
 * PRIO_REACT_TIMEOUT_NORMAL:
 *
 * The timeout of React's normal level, in milliseconds.
 *
 * Since: 1.0
 */
#define PRIO_REACT_TIMEOUT_NORMAL 5000

/**
 * PRIO_REACT_TIMEOUT_LOW:
 *
 * The timeout of React's low level, in milliseconds.
 *
 * Since: 1.0
 */
#define PRIO_REACT_TIMEOUT_LOW 10000

/**
 * PRIO_REACT_TIMEOUT_IDLE:
 *
 * The timeout of React's idle level: none, so an idle task never runs before a more urgent task.
 *
 * Since: 1.0
 */
#define PRIO_REACT_TIMEOUT_IDLE 0

/**
 * PrioReactLevel:
 * @PRIO_REACT_LEVEL_IMMEDIATE: React's `ImmediatePriority`: `user-blocking`, with %PRIO_REACT_TIMEOUT_IMMEDIATE
 * @PRIO_REACT_LEVEL_USER_BLOCKING: React's `UserBlockingPriority`: `user-blocking`, with %PRIO_REACT_TIMEOUT_USER_BLOCKING
 * @PRIO_REACT_LEVEL_NORMAL: React's `NormalPriority`: `user-visible`, with %PRIO_REACT_TIMEOUT_NORMAL
 * @PRIO_REACT_LEVEL_LOW: React's `LowPriority`: `background`, with %PRIO_REACT_TIMEOUT_LOW
 * @PRIO_REACT_LEVEL_IDLE: React's `IdlePriority`: `background`, with %PRIO_REACT_TIMEOUT_IDLE
 *
 * The priority levels of React's Scheduler, with React's numbers.  Each level stands for a priority and a timeout.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_REACT_LEVEL_IMMEDIATE = 1,
  PRIO_REACT_LEVEL_USER_BLOCKING,
  PRIO_REACT_LEVEL_NORMAL,
  PRIO_REACT_LEVEL_LOW,
  PRIO_REACT_LEVEL_IDLE
} PrioReactLevel;

PRIO_AVAILABLE_IN_ALL
PrioTask *prio_react_schedule_callback (PrioScheduler *scheduler, PrioReactLevel level, guint64 delay,
                                        PrioTaskFunc func, gpointer user_data,
                                        GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
void prio_react_continue_with (PrioTask *task, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_react_dup_first_task (PrioScheduler *scheduler) G_GNUC_WARN_UNUSED_RESULT;

PRIO_AVAILABLE_IN_ALL
PrioTaskPriority prio_react_level_get_priority (PrioReactLevel level);
PRIO_AVAILABLE_IN_ALL
gint prio_react_level_get_timeout (PrioReactLevel level);
PRIO_AVAILABLE_IN_ALL
PrioReactLevel prio_react_get_current_level (PrioScheduler *scheduler);
PRIO_AVAILABLE_IN_ALL
void prio_react_run_with_level (PrioScheduler *scheduler, PrioReactLevel level, GSourceOnceFunc func,
                                gpointer user_data);

PRIO_AVAILABLE_IN_ALL
gpointer prio_react_wrap_callback (PrioScheduler *scheduler, GSourceFunc func, gpointer user_data,
                                   GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
gboolean prio_react_call_wrapped (gpointer wrapped);
PRIO_AVAILABLE_IN_ALL
void prio_react_free_wrapped (gpointer wrapped);

PRIO_AVAILABLE_IN_ALL
void prio_react_force_frame_rate (PrioScheduler *scheduler, gint fps);
PRIO_AVAILABLE_IN_ALL
void prio_react_request_paint (PrioScheduler *scheduler);

G_END_DECLS
