/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-error.h: the errors of the library */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

/**
 * PRIO_ERROR:
 *
 * The domain of the errors in [error@PrioSched.Error].
 *
 * Since: 1.0
 */
#define PRIO_ERROR (prio_error_quark ())

/**
 * PrioError:
 * @PRIO_ERROR_NOT_ALLOWED: the priority of a signal cannot be changed while handlers of an earlier change run (the
 *   `NotAllowedError` of the WICG draft)
 * @PRIO_ERROR_CLOSED: the task will not run, because its main context was destroyed, its worker was stopped or, for a
 *   continuation, its scheduler was finalized; or the channel is closed
 * @PRIO_ERROR_DROPPED: the result of the task was deferred, and the last reference to the task was dropped before the
 *   task was given a result
 *
 * Errors of the library.  The error of an aborted task is the reason of the abort, by default %G_IO_ERROR_CANCELLED.
 *
 * ```c
 * if (!prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_BACKGROUND, &error) &&
 *     g_error_matches (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED))
 *   g_idle_add (lower_later, controller); // a handler of priority-change runs
 * ```
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_ERROR_NOT_ALLOWED,
  PRIO_ERROR_CLOSED,
  PRIO_ERROR_DROPPED
} PrioError;

PRIO_AVAILABLE_IN_ALL
GQuark prio_error_quark (void);

G_END_DECLS
