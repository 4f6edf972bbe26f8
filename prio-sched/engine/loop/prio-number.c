/* prio-number.c: tasks that are only numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-number-private.h"

#include "loop/prio-lending-private.h"

/* As many jobs of each queue are looked at to find one. */
#define MAX_LOOKED_AT 1000

/* What tells a number from other jobs.  It is not called. */
gboolean
prio_number_func (gpointer numbers G_GNUC_UNUSED)
{
  g_return_val_if_reached (G_SOURCE_REMOVE);
}

/* @self has no users any more. */
void
prio_numbers_close (PrioNumbers *self)
{
  PrioRunQueue *run_queue = g_steal_pointer (&self->run_queue);

  g_clear_pointer (&self->waiting, g_hash_table_unref);
  self->funcs->closed (self);
  prio_run_queue_release (run_queue);
}

/* Posts @id, which nothing can abort.  @self must not be closed. */
void
prio_numbers_append (PrioNumbers *self, guint id, PrioEffective effective)
{
  PrioRunQueue *run_queue = self->run_queue;
  PrioJob *job = prio_loop_alloc_job (run_queue->loop);

  prio_numbers_hold (self);
  prio_run_queue_fill_job (run_queue, job, prio_number_func, self, NULL);
  job->id = id;
  prio_run_queue_append_filled (run_queue, effective, job);
}

static void
number_aborted (PrioEntry *entry)
{
  PrioNumbers *self = entry->job.data;

  g_hash_table_remove (self->waiting, GUINT_TO_POINTER (entry->job.id));
  self->funcs->rejected (self, entry->job.id);
  prio_run_queue_release_entry (entry);
}

static void
number_released (PrioEntry *entry)
{
  if (G_UNLIKELY (entry->lends))
    prio_lending_end (entry, FALSE);
  prio_numbers_release (entry->job.data);
  prio_loop_free_entry (entry->run_queue->loop, entry);
}

static const PrioEntryFuncs number_funcs = {
  .aborted = number_aborted,
  .released = number_released,
};

/* An entry for the task @id.  It is a user of @self; the caller sets its priority. */
PrioEntry *
prio_numbers_new_entry (PrioNumbers *self, guint id)
{
  PrioEntry *entry = prio_run_queue_new_entry (self->run_queue, prio_number_func, self, NULL);

  prio_numbers_hold (self);
  entry->funcs = &number_funcs;
  entry->job.id = id;
  if (self->waiting == NULL)
    self->waiting = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (self->waiting, GUINT_TO_POINTER (id), entry);
  return entry;
}

/* Returns: (nullable): the entry of the task @id that is delayed or queued; NULL if there is none, or if it is a job */
PrioEntry *
prio_numbers_find (PrioNumbers *self, guint id)
{
  PrioEntry *entry = self->waiting != NULL ? g_hash_table_lookup (self->waiting, GUINT_TO_POINTER (id)) : NULL;

  /* The abort of its group may have dropped it. */
  return entry != NULL && prio_entry_get_state (entry) != PRIO_ENTRY_DROPPED ? entry : NULL;
}

/* Takes the job that is @id out of @queue, if it is among the oldest there. */
static gboolean
cancel_job (PrioNumbers *self, PrioQueue *queue, guint id)
{
  PrioJob **link = &queue->head, *before = NULL, *job;

  for (guint i = 0; (job = *link) != NULL && !(prio_numbers_of (job) == self && job->id == id); i++)
    {
      if (i == MAX_LOOKED_AT)
        return FALSE;
      before = job;
      link = &job->next;
    }
  if (job == NULL)
    return FALSE;

  *link = job->next;
  if (queue->tail == job)
    queue->tail = before;
  if (before == NULL)
    prio_run_queue_head_gone (self->run_queue, queue);
  prio_loop_free_job (self->run_queue->loop, job);
  self->funcs->rejected (self, id);
  prio_run_queue_release (queue->run_queue);
  prio_numbers_release (self);
  return TRUE;
}

/* The task @id, which waits, will not run: it is rejected.  Returns FALSE if it does not wait, is being aborted already, or is
 * a job behind many others. */
gboolean
prio_numbers_cancel (PrioNumbers *self, guint id)
{
  PrioEntry *entry = prio_numbers_find (self, id);
  gboolean cancelled = entry != NULL;

  if (entry != NULL)
    prio_run_queue_abort_entry (entry);
  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE && !cancelled; i++)
    cancelled = cancel_job (self, &self->run_queue->jobs[i], id);
  return cancelled;
}
