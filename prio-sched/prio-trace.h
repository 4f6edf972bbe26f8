/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace.h: a trace of the schedulers of this process */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
gboolean prio_trace_start (int fd, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_trace_stop (void);

G_END_DECLS
