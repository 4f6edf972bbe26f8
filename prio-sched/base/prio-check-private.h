/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-check-private.h: checks that several public functions share
 *
 * Promises: a function prio_check_… () returns whether an argument is valid.  If the argument is invalid, the function
 * logs one critical message, which begins with @function, the name of the public function. */

#pragma once

#include <glib-object.h>

#include "prio-types.h"

#define PRIO_IS_PRIORITY(priority) \
  ((gint) (priority) >= PRIO_TASK_PRIORITY_BACKGROUND && \
   (gint) (priority) <= PRIO_TASK_PRIORITY_USER_BLOCKING)

#define PRIO_IS_PRIORITY_OR_UNSET(priority) \
  ((priority) == PRIO_TASK_PRIORITY_UNSET || PRIO_IS_PRIORITY (priority))

/* Returns the signal of @options or, if that is NULL, the cancellable, which may be NULL. */
#define PRIO_CANCELLABLE_OF(options) \
  ((options)->signal != NULL ? (GCancellable *) (options)->signal : (options)->cancellable)

/* Returns the size that the options structure @type had in version 1.0. */
#define PRIO_SIZE_1_0(type) (G_STRUCT_OFFSET (type, reserved) + sizeof (guint))

/* Copies @options to @copy, which the caller has zeroed: only the fields that both the program's version of the
 * structure and this version have. */
#define PRIO_COPY_OPTIONS(type, copy, options) \
  memcpy (copy, options, MIN (sizeof (type), (options)->size != 0 ? (options)->size : PRIO_SIZE_1_0 (type)))

#ifdef G_DISABLE_CHECKS
#define prio_return_if_wrong(check) G_STMT_START { } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { } G_STMT_END
#else
#define prio_return_if_wrong(check) G_STMT_START { if (G_UNLIKELY (!(check))) return; } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { if (G_UNLIKELY (!(check))) return (value); } G_STMT_END
#endif

char *prio_describe (gpointer instance);
gboolean prio_check_type (const char *function, gpointer instance, GType type);
gboolean prio_check_priority (const char *function, gint priority);
gboolean prio_check_callable (const char *function, const char *what, gboolean is_given);
PrioTaskPriority prio_priority_of_value (const GValue *value);
