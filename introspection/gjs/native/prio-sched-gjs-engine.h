/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-gjs-engine.h: functions that the overrides for GJS call by introspection
 *
 * The overrides call all other functions natively.  See engine.h.
 */

#pragma once

#include <prio-sched-bindings.h>

G_BEGIN_DECLS

#ifndef PRIO_SCHED_GJS_ENGINE_EXPORT
#define PRIO_SCHED_GJS_ENGINE_EXPORT
#endif

/**
 * PrioSchedGjsEngineGain:
 * @PRIO_SCHED_GJS_ENGINE_GAIN_NONE: the native part cannot be used here
 * @PRIO_SCHED_GJS_ENGINE_GAIN_SPEED: tasks are fast
 * @PRIO_SCHED_GJS_ENGINE_GAIN_STATE: tasks are fast, and code keeps its task's state after every await
 *
 * The abilities that the native part adds to the overrides.
 *
 * The overrides look up this type to find out whether the library can be loaded: GJS 1.90 ends the program if a missing function
 * is called.
 */
typedef enum
{
  PRIO_SCHED_GJS_ENGINE_GAIN_NONE,
  PRIO_SCHED_GJS_ENGINE_GAIN_SPEED,
  PRIO_SCHED_GJS_ENGINE_GAIN_STATE,
} PrioSchedGjsEngineGain;

PRIO_SCHED_GJS_ENGINE_EXPORT
GType                  prio_sched_gjs_engine_gain_get_type (void) G_GNUC_CONST;

/**
 * prio_sched_gjs_engine_open:
 * @name: the name of a property of the caller's global object
 * @version: the version of the native functions that the caller knows
 *
 * Defines the native functions in the property @name of the caller's global object, an object that the caller has put
 * there; the property also identifies the caller's context.
 *
 * Returns: the abilities: none if the library was built for another SpiderMonkey, or for other overrides, or does not find the
 * caller's context
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioSchedGjsEngineGain prio_sched_gjs_engine_open          (const char    *name,
                                                            guint          version);

/**
 * prio_sched_gjs_engine_new_runner:
 * @scheduler: a scheduler
 *
 * Makes a runner, and the table of its tasks: the next call of newTable () in JavaScript returns an object for it.
 *
 * Returns: (transfer full): a runner
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioRunner            *prio_sched_gjs_engine_new_runner    (PrioScheduler *scheduler);

/**
 * prio_sched_gjs_engine_offer_signal:
 * @signal: a signal
 *
 * Passes the signal for the next handle, which the caller makes right after this.
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
void                   prio_sched_gjs_engine_offer_signal  (GCancellable  *signal);

/**
 * prio_sched_gjs_engine_take_controller:
 *
 * Takes the controller that the caller has just offered.
 *
 * Returns: (transfer none) (nullable): a controller
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioTaskController    *prio_sched_gjs_engine_take_controller (void);

G_END_DECLS
