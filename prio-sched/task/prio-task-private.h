/* prio-task-private.h: what posts a PrioTask, and what becomes of it
 *
 * Promises: a task settles once, on the owner thread; its callbacks then run in a microtask,
 * each with the state in which it was registered.  The loop holds a reference from
 * the posting until the callbacks have run, and the function has returned.  If the result is
 * deferred, the loop drops that reference when the function has returned, and takes another
 * when the result comes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"
#include "prio-task.h"

typedef enum
{
  PRIO_ENTRY_TASK,        /* its function is to run */
  PRIO_ENTRY_CONTINUATION /* it completes, that is all */
} PrioEntryKind;

/* Of whose _async function a task is the result: what few of them have. */
typedef struct
{
  GObject *source_object; /* owned, or NULL: the scheduler */
  gpointer tag;
  gboolean is_constant;   /* it belongs to no task */
} PrioTaskOrigin;

PrioTask *prio_task_new (PrioRunQueue *run_queue, PrioEntryKind kind, GCancellable *signal, PrioTaskPriority priority);
void prio_task_set_work (PrioTask *task, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
void prio_task_set_source (PrioTask *task, GObject *source_object, gpointer source_tag);
void prio_task_set_origin (PrioTask *task, const PrioTaskOrigin *origin);
void prio_task_then_under (PrioTask *task, const PrioState *held, PrioTaskReadyCallback callback, gpointer data);
PrioEntry *prio_task_get_entry (PrioTask *task);

/* prio-task-settle.c */
extern const PrioEntryFuncs prio_task_entry_funcs G_GNUC_INTERNAL;
void prio_task_abort (PrioTask *task);

/* prio-task-pool.c */
PrioTask *prio_task_pool_take (PrioLoop *loop);
void prio_task_pool_give (gpointer task);
