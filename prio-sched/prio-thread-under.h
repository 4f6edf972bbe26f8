/* prio-thread-under.h: functions in threads, without a structure of options
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-worker.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
PrioTask        *prio_scheduler_run_in_thread_under (PrioScheduler    *self,
                                                     PrioWorker       *worker,
                                                     gint              priority,
                                                     GCancellable     *signal,
                                                     const char       *name,
                                                     PrioTaskFunc      func,
                                                     gpointer          user_data,
                                                     GDestroyNotify    notify);

G_END_DECLS
