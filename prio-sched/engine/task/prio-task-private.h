/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-private.h: creates, posts and settles a PrioTask
 *
 * Promises: a task settles once, on the owner thread.  Its callbacks then run in a microtask, each with the scheduling
 * state that was current when it was registered.  The loop holds a reference from the posting until the function has
 * returned and the callbacks have run.  If the result is deferred, the loop drops that reference when the function has
 * returned, and takes a new reference when the result comes. */

#pragma once

#include "loop/prio-run-queue-private.h"
#include "prio-task.h"

PrioTask *prio_task_make (PrioRunQueue *run_queue, guint8 turn, GCancellable *signal, PrioTaskPriority priority);
void prio_task_set_work (PrioTask *task, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
void prio_task_set_source (PrioTask *task, GObject *source_object, gpointer source_tag);

/* prio-task-settle.c */
extern const PrioEntryFuncs prio_task_entry_funcs G_GNUC_INTERNAL;
gboolean prio_task_propagate_value_for (PrioTask *task, GValue *value, GError **error, const char *function);
void prio_task_abort (PrioTask *task);
void prio_task_refuse (PrioTask *task);

/* prio-task-cancel.c */
extern gboolean (*prio_task_take_back) (PrioTask *task) G_GNUC_INTERNAL;
void prio_task_cancel_quietly (PrioTask *task);
void prio_task_apply_return_on_abort (PrioTask *task, gboolean return_on_abort);
void prio_task_process_abort (PrioTask *task);

/* prio-task-pool.c */
PrioTask *prio_task_pool_take (PrioLoop *loop);
void prio_task_pool_give (gpointer task);
