/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-options-private.h: checks arguments of public functions
 *
 * Promises: each function returns whether an argument is valid.  If it is not, the function logs
 * one critical, which names the public function and the value.  It has no other effect.
 */

#pragma once

#include "base/prio-check-private.h"
#include "prio-options.h"
#include "signal/prio-util-private.h"

#define PRIO_YIELD_FLAGS_ALL (PRIO_YIELD_DROP_SIGNAL | PRIO_YIELD_DROP_PRIORITY | PRIO_YIELD_KEEP_PRIORITY)

/* The defaults, which NULL selects. */
extern const PrioTaskOptions prio_no_task_options G_GNUC_INTERNAL;
extern const PrioYieldOptions prio_no_yield_options G_GNUC_INTERNAL;

gboolean prio_check_no_delay (const char *function, const PrioTaskOptions *options);
gboolean prio_check_limit (const char *function, guint limit);
gboolean prio_check_yield_options (const char *function, const PrioYieldOptions *options);
gboolean prio_complain_of_callback (const char *function, const PrioYieldOptions *options);

/* The slow path of prio_check_task_options (). */
gboolean prio_check_each_task_option (const char *function, const PrioTaskOptions *options, gboolean has_func);

/* Returns whether @options have another size than this version's, and need a closer look. */
#define PRIO_HAS_OTHER_SIZE(options) ((options)->size != 0 && (options)->size != sizeof *(options))

/* Returns whether @options have one signal or cancellable at most, of the right type. */
#define PRIO_HAS_VALID_SIGNAL(options) \
  ((options)->signal == NULL ? PRIO_IS_SIGNAL_OR_NULL ((options)->cancellable) \
                             : (options)->cancellable == NULL && \
                               prio_signal_node_is_embedded ((GCancellable *) (options)->signal))

/* Checks @options, which may be NULL; @has_func says whether the required function is given. */
G_ALWAYS_INLINE static inline gboolean
prio_check_task_options (const char *function, const PrioTaskOptions *options, gboolean has_func)
{
  if (G_LIKELY (has_func && (options == NULL ||
                             (options->source_object == NULL && !PRIO_HAS_OTHER_SIZE (options) &&
                              PRIO_IS_PRIORITY_OR_UNSET (options->priority) && PRIO_HAS_VALID_SIGNAL (options)))))
    return TRUE;
  return prio_check_each_task_option (function, options, has_func);
}
