/* prio-task-private.h: what the queues and the dispatch ask of a PrioTask
 *
 * Promises: a task settles once, at home; its callbacks then run in a microtask,
 * each with the state in which it was registered.  The loop holds a reference from
 * the posting until the callbacks have run, and the function has returned.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"
#include "prio-task.h"

PrioTask *prio_task_new (PrioCore *core, PrioEntryKind kind, GCancellable *signal,
                         PrioTaskPriority priority);
void prio_task_set_work (PrioTask *task, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
void prio_task_set_name (PrioTask *task, const char *name);
void prio_task_set_origin (PrioTask *task, GObject *source_object, gpointer source_tag);
void prio_task_be_yield (PrioTask *task);
void prio_task_then_under (PrioTask *task, PrioSchedulingState *state, PrioTaskReadyCallback callback, gpointer data);
PrioEntry *prio_task_get_entry (PrioTask *task);
PrioTask *prio_task_from_entry (PrioEntry *entry);

/* prio-dispatch.c: the function runs; it has returned, and its checkpoint ended */
void prio_task_run (PrioTask *task);
void prio_task_ran (PrioTask *task);

/* Its entry, which is in no queue, will not run; its entry is running, and is aborted. */
void prio_task_abort (PrioTask *task);
void prio_task_reject (PrioTask *task);

/* prio-task-pool.c */
PrioTask *prio_task_pool_take (PrioLoop *loop);
void prio_task_pool_give (gpointer task);
gboolean prio_task_pool_is_large (PrioLoop *loop);
void prio_task_pool_trim (PrioLoop *loop);
void prio_task_pool_clear (PrioLoop *loop);
