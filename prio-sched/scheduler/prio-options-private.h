/* prio-options-private.h: checks arguments of public functions
 *
 * Promises: each function returns whether an argument is valid.  If it is not, the function logs
 * one critical, which names the public function and the value.  It has no other effect.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-options.h"

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
gboolean prio_check_callable (const char *function, const char *what, gboolean is_given, const char *name);
gboolean prio_check_task_options (const char *function, const PrioTaskOptions *options);
gboolean prio_check_yield_options (const char *function, const PrioYieldOptions *options);
