/* prio-task-private.h: what posts a PrioTask, and what becomes of it
 *
 * Promises: a task settles once, at home; its callbacks then run in a microtask,
 * each with the state in which it was registered.  The loop holds a reference from
 * the posting until the callbacks have run, and the function has returned.  If the result is
 * deferred, the loop drops that reference when the function has returned, and takes another
 * when the result comes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"
#include "prio-task.h"

typedef enum
{
  PRIO_ENTRY_TASK,        /* its function is to run */
  PRIO_ENTRY_CONTINUATION /* it completes, that is all */
} PrioEntryKind;

PrioTask *prio_task_new (PrioCore *core, PrioEntryKind kind, GCancellable *signal, gint priority);
void prio_task_set_work (PrioTask *task, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
PrioEntry *prio_task_get_entry (PrioTask *task);

/* prio-task-settle.c */
extern const PrioEntryFuncs prio_task_entry_funcs G_GNUC_INTERNAL;
void prio_task_abort (PrioTask *task);

/* prio-task-pool.c */
PrioTask *prio_task_pool_take (PrioLoop *loop);
void prio_task_pool_give (gpointer task);
