/* prio-options-private.h: checks arguments of public functions
 *
 * Promises: each function returns whether an argument is valid.  If it is not, the function logs
 * one critical, which names the public function and the value.  It has no other effect.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-options.h"
#include "signal/prio-util-private.h"

/* Like g_return_if_fail (), for the functions below. */
#ifdef G_DISABLE_CHECKS
#define prio_return_if_wrong(check) G_STMT_START { } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { } G_STMT_END
#else
#define prio_return_if_wrong(check) G_STMT_START { if (G_UNLIKELY (!(check))) return; } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { if (G_UNLIKELY (!(check))) return (value); } G_STMT_END
#endif

#define PRIO_YIELD_FLAGS_ALL (PRIO_YIELD_DROP_SIGNAL | PRIO_YIELD_DROP_PRIORITY | PRIO_YIELD_KEEP_PRIORITY)

/* What NULL stands for. */
extern const PrioTaskOptions prio_no_task_options G_GNUC_INTERNAL;
extern const PrioYieldOptions prio_no_yield_options G_GNUC_INTERNAL;

gboolean prio_check_type (const char *function, gpointer instance, GType type);
gboolean prio_check_priority (const char *function, gint priority);
gboolean prio_check_yield_options (const char *function, const PrioYieldOptions *options);

/* They say what is wrong. */
gboolean prio_complain_of_task_options (const char *function, const PrioTaskOptions *options);
gboolean prio_complain_of_callable (const char *function, const char *what, const char *name);

/* @what is a function that there has to be; the task has the name @name, or none. */
static inline gboolean
prio_check_callable (const char *function, const char *what, gboolean is_given, const char *name)
{
  return G_LIKELY (is_given) || prio_complain_of_callable (function, what, name);
}

/* Whether nothing is set that only later versions of the library know. */
static inline gboolean
prio_options_are_known (guint size, gsize known_size, const gpointer reserved[4])
{
  gsize used = 0;

  for (guint i = 0; i < 4; i++)
    used |= (gsize) reserved[i];
  return used == 0 && (size == 0 || size == known_size);
}

G_ALWAYS_INLINE static inline gboolean
prio_check_task_options (const char *function, const PrioTaskOptions *options)
{
  if (G_LIKELY (options == NULL ||
                (prio_options_are_known (options->size, sizeof *options, options->reserved) &&
                 PRIO_IS_PRIORITY_OR_UNSET (options->priority) && PRIO_IS_SIGNAL_OR_NULL (options->signal) &&
                 (options->source_object == NULL || G_IS_OBJECT (options->source_object)))))
    return TRUE;
  return prio_complain_of_task_options (function, options);
}
