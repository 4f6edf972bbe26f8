/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-dex.h: tasks of prio-sched as futures of libdex, and fibers that take turns by priority */

#pragma once

#include <libdex.h>
#include <prio-sched.h>

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
DexFuture *prio_dex_post (PrioScheduler *scheduler, const PrioTaskOptions *options, PrioTaskFunc func,
                          gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
DexFuture *prio_dex_future_new (PrioTask *task) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
void prio_dex_task_return (PrioTask *task, DexFuture *future);

PRIO_AVAILABLE_IN_ALL
DexFuture *prio_dex_spawn (PrioScheduler *scheduler, const PrioTaskOptions *options, gsize stack_size,
                           DexFiberFunc func, gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
gboolean prio_dex_yield (GError **error);
PRIO_AVAILABLE_IN_ALL
gboolean prio_dex_await (DexFuture *future, GError **error);

G_END_DECLS
