/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-pool.c: reuses completed tasks
 *
 * Creating and finalizing a GObject costs several times as much as posting and running a task.  So a completed task
 * goes into a pool after its callbacks have run, unless it has other references, weak references, data or handlers. */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* POOL_RETAINED tasks are kept for the next burst.  An idle loop frees the others, POOL_TRIM_STEP at a time. */
#define POOL_RETAINED 1024
#define POOL_TRIM_STEP 64

typedef struct
{
  PrioEntry *first; /* the list of the tasks' entries */
  guint n;
} Pool;

static gboolean
pool_is_large (gpointer pool)
{
  return ((Pool *) pool)->n > POOL_RETAINED;
}

static inline PrioTask *
take (Pool *pool)
{
  PrioEntry *entry = pool->first;

  if (entry == NULL)
    return NULL;

  pool->first = (PrioEntry *) entry->job.next;
  pool->n--;
  entry->job.next = NULL;
  return prio_task_from_entry (entry);
}

/* Returns (transfer full) (nullable) a task from the pool, whose fields are as in a new task.  Called only on the owner
 * thread. */
PrioTask *
prio_task_pool_take (PrioLoop *loop)
{
  Pool *pool = prio_loop_get_slot (loop, PRIO_SLOT_TASK);

  return G_LIKELY (pool != NULL) ? take (pool) : NULL;
}

/* Returns whether the caller has the only reference to @task, and nothing is attached to @task.  GObject keeps attached
 * data and weak references in qdata, but not signal handlers, which @is_heard reports. */
static gboolean
is_reusable (PrioTask *task)
{
  GObject *object = &task->parent_instance;

  return g_atomic_int_get ((gint *) &object->ref_count) == 1 && object->qdata == NULL && !task->is_heard;
}

static void
pool_trim (gpointer pool)
{
  for (guint i = 0; i < POOL_TRIM_STEP && pool_is_large (pool); i++)
    g_object_unref (take (pool));
}

static void
pool_ends (gpointer loop G_GNUC_UNUSED, gpointer pool)
{
  PrioTask *task;

  while ((task = take (pool)) != NULL)
    g_object_unref (task);
}

static const PrioSlotFuncs pool_funcs = {
  .size = sizeof (Pool),
  .ends = pool_ends,
  .is_large = pool_is_large,
  .trim = pool_trim,
};

/* Takes the loop's reference to @data, a settled task.  Puts the task into the pool if it is reusable.  Called after the
 * callbacks, in a dispatch or, after the end of the context, on any thread: then also releases uncalled callbacks. */
void
prio_task_pool_give (gpointer data)
{
  PrioTask *task = data;
  PrioRunQueue *run_queue = task->entry.run_queue;
  PrioLoop *loop = run_queue->loop;
  Pool *pool;

  if (prio_loop_is_dead (loop))
    {
      prio_task_drop (task);
      return;
    }
  if (!is_reusable (task))
    {
      prio_object_unref (task);
      return;
    }

  prio_in_finalize (task);
  prio_task_clear (task);
  pool = prio_loop_ensure_slot (loop, PRIO_SLOT_TASK, &pool_funcs);
  task->entry.job.next = (PrioJob *) pool->first;
  pool->first = &task->entry;
  pool->n++;
  prio_run_queue_release (run_queue);
}
