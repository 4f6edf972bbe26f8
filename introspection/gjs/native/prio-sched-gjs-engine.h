/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-gjs-engine.h: what the overrides for GJS call by introspection
 *
 * Everything else is native functions, which they call directly.  See engine.h.
 */

#pragma once

#include <prio-sched-bindings.h>

G_BEGIN_DECLS

#ifndef PRIO_SCHED_GJS_ENGINE_EXPORT
#define PRIO_SCHED_GJS_ENGINE_EXPORT
#endif

/**
 * PrioSchedGjsEngineGain:
 * @PRIO_SCHED_GJS_ENGINE_GAIN_NONE: nothing: it cannot be used here
 * @PRIO_SCHED_GJS_ENGINE_GAIN_SPEED: tasks are fast
 * @PRIO_SCHED_GJS_ENGINE_GAIN_STATE: and state crosses every promise
 *
 * What the overrides gain.
 *
 * Looking up its type tells them whether the library is there at all: GJS 1.90 ends the program if a function is called that is not.
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
 * @version: which native functions the caller knows
 *
 * Defines the native functions in the object that the caller has put into the property @name of its global object, which is
 * also how the caller's context is found.
 *
 * Returns: what is gained: nothing if this was built for another SpiderMonkey than the one of the process, or for
 *   other overrides
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioSchedGjsEngineGain prio_sched_gjs_engine_open          (const char    *name,
                                                            guint          version);

/**
 * prio_sched_gjs_engine_new_runner:
 * @scheduler: a scheduler
 *
 * Makes a runner, whose tasks are in the next table that the caller makes.
 *
 * Returns: (transfer full): a runner
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioRunner            *prio_sched_gjs_engine_new_runner    (PrioScheduler *scheduler);

/**
 * prio_sched_gjs_engine_offer_signal:
 * @signal: a signal
 *
 * Gives the signal for the next handle that the caller makes, at once.
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
void                   prio_sched_gjs_engine_offer_signal  (GCancellable  *signal);

/**
 * prio_sched_gjs_engine_take_controller:
 *
 * Takes the controller that the caller has offered, just now.
 *
 * Returns: (transfer none) (nullable): a controller
 */
PRIO_SCHED_GJS_ENGINE_EXPORT
PrioTaskController    *prio_sched_gjs_engine_take_controller (void);

G_END_DECLS
