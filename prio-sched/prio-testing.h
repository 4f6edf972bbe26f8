/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-testing.h: the clock of a test */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-testing.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
void prio_testing_begin (void);
PRIO_AVAILABLE_IN_ALL
void prio_testing_end (void);
PRIO_AVAILABLE_IN_ALL
double prio_testing_get_elapsed (void);
PRIO_AVAILABLE_IN_ALL
gint64 prio_testing_get_time (void);

PRIO_AVAILABLE_IN_ALL
void prio_testing_advance (double milliseconds);
PRIO_AVAILABLE_IN_ALL
void prio_testing_advance_async (double milliseconds, GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_testing_advance_finish (GAsyncResult *result, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_testing_spend (double milliseconds);
PRIO_AVAILABLE_IN_ALL
void prio_testing_run_until_idle (void);
PRIO_AVAILABLE_IN_ALL
gboolean prio_testing_step (void);

PRIO_AVAILABLE_IN_ALL
GStrv prio_testing_list_queued (void);
PRIO_AVAILABLE_IN_ALL
GStrv prio_testing_list_delayed (void);

G_END_DECLS
