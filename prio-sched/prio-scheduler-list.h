/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-list.h: the list of all schedulers */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
GPtrArray *prio_scheduler_list_all (void);

G_END_DECLS
