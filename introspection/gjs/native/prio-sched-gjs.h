/* prio-sched-gjs.h: what the overrides for GJS call by introspection
 *
 * Everything else is native functions, which they call directly.  See engine.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <prio-sched.h>

G_BEGIN_DECLS

#ifndef PRIO_SCHED_GJS_EXPORT
#define PRIO_SCHED_GJS_EXPORT
#endif

/**
 * prio_sched_gjs_open:
 * @name: the name of a property of the caller's global object
 * @version: which native functions the caller knows
 *
 * Defines the native functions in the object that the caller has put into the property @name of its global object, which is
 * also how the caller's context is found.
 *
 * Returns: whether it did: not if this was built for another SpiderMonkey than the one of the process, or for
 *   other overrides
 */
PRIO_SCHED_GJS_EXPORT
gboolean    prio_sched_gjs_open        (const char    *name,
                                        guint          version);

/**
 * prio_sched_gjs_new_runner:
 * @scheduler: a scheduler
 *
 * Makes a runner, whose tasks are in the next table that the caller makes.
 *
 * Returns: (transfer full): a runner
 */
PRIO_SCHED_GJS_EXPORT
PrioRunner *prio_sched_gjs_new_runner  (PrioScheduler *scheduler);

G_END_DECLS
