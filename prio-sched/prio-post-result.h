/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-post-result.h: the outcome of a post to a runner */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * PrioPostResult:
 * @PRIO_POST_RESULT_REJECTED: the task will not run: its signal is aborted already, the main context was destroyed, the
 *   scheduler was finalized, or an argument is wrong, which logs a critical message
 * @PRIO_POST_RESULT_OUTSIDE: the task was posted from outside any task of the main context
 * @PRIO_POST_RESULT_INSIDE: the task was posted from inside a task of the main context
 *
 * The outcome of a post to a [struct@PrioSched.Runner].
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_POST_RESULT_REJECTED,
  PRIO_POST_RESULT_OUTSIDE,
  PRIO_POST_RESULT_INSIDE
} PrioPostResult;

G_END_DECLS
