/* prio-task-pool.c: finished tasks that are used again
 *
 * Making and finalizing a GObject costs several times what posting and running a
 * task does.  A task that nobody holds any more when its callbacks have run, and to
 * which nobody has tied anything (weak references, data, handlers), is as good as
 * new.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* So many stay for the next burst; the rest goes when there is nothing else to do,
 * so many at a time. */
#define KEPT 1024
#define TRIMMED 64

static gboolean
pool_is_large (PrioLoop *loop)
{
  return loop->n_pool > KEPT;
}

/* Owner thread.  Returns: (transfer full) (nullable): a task as if new */
PrioTask *
prio_task_pool_take (PrioLoop *loop)
{
  PrioEntry *entry = loop->pool;

  if (entry == NULL)
    return NULL;

  loop->pool = (PrioEntry *) entry->job.next;
  loop->n_pool--;
  entry->job.next = NULL;
  return prio_task_from_entry (entry);
}

PrioObjectGap prio_object_gap;

static guint notify_signal;

/* Called once, before there is a task. */
void
prio_task_pool_learn (void)
{
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);

  notify_signal = g_signal_lookup ("notify", G_TYPE_OBJECT);
  prio_object_gap.pristine = prio_object_gap_read (object);
  g_signal_connect (object, "notify", G_CALLBACK (g_object_get_type), NULL);
  prio_object_gap.tells = prio_object_gap_read (object) != prio_object_gap.pristine;
}

gboolean
prio_task_is_listened_to_slow (PrioTask *task)
{
  return g_signal_handler_find (task, G_SIGNAL_MATCH_ID, notify_signal, 0, NULL, NULL, NULL) != 0;
}

/* Nobody holds @task but the caller, and nothing is tied to it.  What is tied to an
 * object is in its qdata, but for signal handlers. */
static gboolean
is_as_good_as_new (PrioTask *task)
{
  GObject *object = &task->parent_instance;

  return g_atomic_int_get ((gint *) &object->ref_count) == 1 && object->qdata == NULL &&
         !prio_task_is_listened_to (task);
}

/* Called in a dispatch, when there is nothing else to do. */
static void
pool_trim (PrioLoop *loop)
{
  for (guint i = 0; i < TRIMMED && pool_is_large (loop); i++)
    g_object_unref (prio_task_pool_take (loop));
}

static void
pool_clear (PrioLoop *loop)
{
  PrioTask *task;

  while ((task = prio_task_pool_take (loop)) != NULL)
    g_object_unref (task);
}

static const PrioPoolFuncs pool_funcs = {
  .is_large = pool_is_large,
  .trim = pool_trim,
  .clear = pool_clear,
};

/* Takes the loop's reference to @task, which has settled, and on whose callbacks
 * nobody waits.  Called in a dispatch or, after the context has gone, anywhere. */
void
prio_task_pool_give (gpointer data)
{
  PrioTask *task = data;
  PrioRunQueue *run_queue = task->entry.run_queue;
  PrioLoop *loop = run_queue->loop;

  if (prio_loop_is_dead (loop))
    {
      prio_task_drop (task);
      return;
    }
  if (!is_as_good_as_new (task))
    {
      prio_before_unref (task);
      g_object_unref (task);
      return;
    }

  prio_task_clear (task);
  loop->pool_funcs = &pool_funcs;
  task->entry.job.next = (PrioJob *) loop->pool;
  loop->pool = &task->entry;
  loop->n_pool++;
  prio_run_queue_release (run_queue);
}
