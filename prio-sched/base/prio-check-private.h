/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-check-private.h: checks that several public functions share
 *
 * Promises: each function returns whether an argument is valid.  If it is not, the function logs
 * one critical, which names the public function and the value.  It has no other effect.
 */

#pragma once

#include <glib-object.h>

#include "prio-enums.h"

#define PRIO_IS_PRIORITY(priority) \
  ((gint) (priority) >= PRIO_TASK_PRIORITY_BACKGROUND && \
   (gint) (priority) <= PRIO_TASK_PRIORITY_USER_BLOCKING)

#define PRIO_IS_PRIORITY_OR_UNSET(priority) \
  ((priority) == PRIO_TASK_PRIORITY_UNSET || PRIO_IS_PRIORITY (priority))

/* Returns the signal or the cancellable of options of a task or a yield; NULL if they have neither. */
#define PRIO_CANCELLABLE_OF(options) \
  ((options)->signal != NULL ? (GCancellable *) (options)->signal : (options)->cancellable)

#ifdef G_DISABLE_CHECKS
#define prio_return_if_wrong(check) G_STMT_START { } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { } G_STMT_END
#else
#define prio_return_if_wrong(check) G_STMT_START { if (G_UNLIKELY (!(check))) return; } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { if (G_UNLIKELY (!(check))) return (value); } G_STMT_END
#endif

char *prio_describe (gpointer instance);
gboolean prio_complain_of_callable (const char *function, const char *what);
gboolean prio_check_type (const char *function, gpointer instance, GType type);
gboolean prio_check_priority (const char *function, gint priority);
PrioTaskPriority prio_priority_of_value (const GValue *value);

static inline gboolean
prio_check_callable (const char *function, const char *what, gboolean is_given)
{
  return G_LIKELY (is_given) || prio_complain_of_callable (function, what);
}
