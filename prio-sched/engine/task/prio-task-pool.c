/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-pool.c: reuses completed tasks
 *
 * Making and finalizing a GObject costs several times as much as posting and running a task.  So a completed task goes
 * to a pool if, when its callbacks have run, it has no other references, and no weak references, data or handlers.
 */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* How many tasks the pool retains for the next burst.  When the loop is idle, it frees the rest, a few at a time. */
#define POOL_RETAINED 1024
#define POOL_TRIM_STEP 64

/* The pool of a loop, in a slot. */
typedef struct
{
  PrioEntry *first; /* the entries of the tasks, linked */
  guint n;
} Pool;

static gboolean
pool_is_large (gpointer pool)
{
  return ((Pool *) pool)->n > POOL_RETAINED;
}

/* Returns (transfer full) (nullable) a task that looks new. */
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

/* Returns (transfer full) (nullable) a task that looks new.  Owner thread. */
PrioTask *
prio_task_pool_take (PrioLoop *loop)
{
  Pool *pool = prio_loop_get_slot (loop, PRIO_SLOT_TASK);

  return G_LIKELY (pool != NULL) ? take (pool) : NULL;
}

/* Returns whether only the caller holds @task, and nothing is attached to it.  Except for signal handlers,
 * everything that is attached to an object is in its qdata. */
static gboolean
is_reusable (PrioTask *task)
{
  GObject *object = &task->parent_instance;

  return g_atomic_int_get ((gint *) &object->ref_count) == 1 && object->qdata == NULL && !task->is_heard;
}

/* Frees some tasks, in a dispatch of an idle loop. */
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

/* Takes the loop's reference to @data, a task that has settled and whose callbacks have been called, and puts the
 * task into the pool if it is reusable.  Called in a dispatch or, after the end of the context, on any thread. */
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
      prio_before_unref (task);
      g_object_unref (task);
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
