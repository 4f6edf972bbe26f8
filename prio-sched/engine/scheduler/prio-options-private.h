/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-options-private.h: checks options and other arguments of public functions
 *
 * Promises: each function returns whether an argument is valid.  If the argument is invalid, the function logs one
 * critical that names the public function and the value, and has no other effect. */

#pragma once

#include "base/prio-check-private.h"
#include "open/prio-numbers.h"
#include "prio-options.h"
#include "signal/prio-util-private.h"

#define PRIO_YIELD_FLAGS_ALL (PRIO_YIELD_DROP_SIGNAL | PRIO_YIELD_DROP_PRIORITY | PRIO_YIELD_KEEP_PRIORITY)

/* The defaults, for callers that pass NULL. */
extern const PrioTaskOptions prio_no_task_options G_GNUC_INTERNAL;
extern const PrioYieldOptions prio_no_yield_options G_GNUC_INTERNAL;

gboolean prio_check_no_delay (const char *function, const PrioTaskOptions *options);
gboolean prio_check_limit (const char *function, guint limit);
gboolean prio_check_yield_options (const char *function, const PrioYieldOptions *options, gboolean has_callback);

/* Returns whether @options have the size of this version's structure, or size 0, and their reserved field is 0. */
#define PRIO_IS_OF_THIS_VERSION(options) \
  (((options)->size == 0 || (options)->size == sizeof *(options)) && (options)->reserved == 0)

/* Returns whether @options have a valid signal, a valid cancellable, or neither, but not both. */
#define PRIO_HAS_VALID_SIGNAL(options) \
  ((options)->signal == NULL ? PRIO_IS_SIGNAL_OR_NULL ((options)->cancellable) \
                             : (options)->cancellable == NULL && \
                               prio_signal_node_is_embedded ((GCancellable *) (options)->signal))

/* Returns whether @options, which may be NULL, are valid and the caller has got a function (@has_func).  If not, logs a
 * critical message. */
G_ALWAYS_INLINE static inline gboolean
prio_check_task_options (const char *function, const PrioTaskOptions *options, gboolean has_func)
{
  if (G_LIKELY (has_func && (options == NULL ||
                             (options->source_object == NULL && PRIO_IS_OF_THIS_VERSION (options) &&
                              PRIO_IS_PRIORITY_OR_UNSET (options->priority) && PRIO_HAS_VALID_SIGNAL (options)))))
    return TRUE;
  return prio_check_options (function, options, has_func);
}
