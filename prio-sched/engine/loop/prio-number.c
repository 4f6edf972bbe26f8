/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-number.c: tasks of bindings, which are only numbers */

#include "config.h"

#include "loop/prio-number-private.h"

#include "loop/prio-count-private.h"
#include "loop/prio-lending-private.h"

/* The most jobs that cancel_job () looks at in a queue. */
#define MAX_LOOKED_AT 1000

/* Identifies the jobs that are numbers.  The dispatch never calls this function. */
gboolean
prio_number_func (gpointer numbers G_GNUC_UNUSED)
{
  g_return_val_if_reached (G_SOURCE_REMOVE);
}

static void
op_begin (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunner *self = op->target;

  prio_run_queue_hold (self->run_queue);
  g_queue_push_tail (&self->run_queue->runners, self);
}

static void
op_end_use (PrioLoop *loop, const PrioOp *op)
{
  PrioRunner *self = op->target;

  if (self->run_queue != NULL && g_queue_remove (&self->run_queue->runners, self))
    prio_numbers_release (self);
  prio_loop_defer_release (loop, prio_numbers_unref, self);
}

static void
scheduler_gone (gpointer runner, GObject *scheduler G_GNUC_UNUSED)
{
  prio_loop_submit (((PrioRunner *) runner)->loop, &(PrioOp) { .apply = op_end_use, .target = runner });
}

/* Creates a runner, whose only user is @scheduler.  The runner has three references: the caller's, the scheduler's, and
 * a third, which is dropped when the runner closes.  Any thread may call this function. */
PrioRunner *
prio_numbers_new (PrioRunQueue *run_queue, GObject *scheduler, void (*func) (guint id, gpointer data), gpointer data,
                  GDestroyNotify notify)
{
  PrioRunner *self = g_new (PrioRunner, 1);

  *self = (PrioRunner) { .refs = 3, .loop = prio_loop_ref (run_queue->loop), .run_queue = run_queue, .func = func, .data = data,
                         .notify = notify, .rejected = g_array_new (FALSE, FALSE, sizeof (guint)), .users = 1 };
  prio_loop_submit (self->loop, &(PrioOp) { .apply = op_begin, .target = self });
  g_object_weak_ref (scheduler, scheduler_gone, self);
  return self;
}

void
prio_numbers_unref (gpointer runner)
{
  PrioRunner *self = runner;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;

  prio_loop_unref (self->loop);
  g_array_unref (self->rejected);
  g_free (self);
}

/* Closes @self, which has no users.  No task of @self runs, or can be posted, any more. */
void
prio_numbers_close (PrioRunner *self)
{
  PrioRunQueue *run_queue = g_steal_pointer (&self->run_queue);

  g_clear_pointer (&self->waiting, g_hash_table_unref);
  self->name_func = NULL;
  prio_loop_defer_release (self->loop, self->name_notify, self->name_data);
  prio_loop_defer_release (self->loop, self->notify, self->data);
  prio_loop_defer_release (self->loop, prio_numbers_unref, self);
  prio_run_queue_release (run_queue);
}

/* Adds a user, with a reference to @self.  prio_numbers_drop () removes both. */
void
prio_numbers_use (PrioRunner *self)
{
  g_atomic_int_inc (&self->refs);
  prio_numbers_hold (self);
}

/* Reports rejected tasks to the binding, in a microtask that keeps the runner open. */
static void
tell_rejected (gpointer runner)
{
  PrioRunner *self = runner;

  if (self->rejected->len > 0)
    self->func (0, self->data);
}

/* Rejects the task @id, which will not run.  Unless the loop has ended, a microtask reports this to the binding. */
void
prio_numbers_reject (PrioRunner *self, guint id)
{
  g_array_append_val (self->rejected, id);
  if (self->rejected->len == 1 && !prio_loop_is_dead (self->loop))
    {
      prio_numbers_use (self);
      prio_loop_queue_microtask (self->loop, &(PrioMicrotask) { .func = tell_rejected, .data = self, .notify = prio_numbers_drop });
    }
}

static void
op_drop (PrioLoop *loop, const PrioOp *op)
{
  if (op->data != NULL)
    prio_numbers_reject (op->target, GPOINTER_TO_UINT (op->data));
  prio_numbers_release (op->target);
  prio_loop_defer_release (loop, prio_numbers_unref, op->target);
}

void
prio_numbers_drop_rejected (PrioRunner *self, guint rejected)
{
  prio_loop_submit (self->loop, &(PrioOp) { .apply = op_drop, .target = self, .data = GUINT_TO_POINTER (rejected) });
}

void
prio_numbers_drop (gpointer runner)
{
  prio_numbers_drop_rejected (runner, 0);
}

gboolean
prio_numbers_enter (PrioLoop *loop)
{
  return prio_loop_enter (loop);
}

void
prio_numbers_leave (PrioLoop *loop)
{
  prio_loop_leave (loop);
}

/* Posts the task @id, which has only a priority, as a job.  @self must not be closed. */
void
prio_numbers_append (PrioRunner *self, guint id, PrioEffective effective)
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
  prio_numbers_forget (entry->job.data, entry->job.id);
  prio_numbers_reject (entry->job.data, entry->job.id);
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

/* Returns an entry for the task @id.  The entry is a user of @self; the caller sets the entry's priority and groups. */
PrioEntry *
prio_numbers_new_entry (PrioRunner *self, guint id)
{
  PrioEntry *entry = prio_run_queue_new_entry (self->run_queue, prio_number_func, self, NULL);

  prio_numbers_hold (self);
  entry->funcs = &number_funcs;
  entry->job.id = id;
  if (G_UNLIKELY (self->waiting != NULL))
    g_hash_table_insert (self->waiting, GUINT_TO_POINTER (id), entry);
  return entry;
}

static void
note (PrioJob *job, const PrioQueue *queue, gpointer data)
{
  PrioRunner *self = data;

  if (prio_numbers_of (job) == self && (queue == NULL || queue->kind == PRIO_QUEUE_ENTRIES))
    g_hash_table_insert (self->waiting, GUINT_TO_POINTER (job->id), job);
}

/* Returns the entry of the task @id if the task is delayed or queued as an entry; otherwise NULL. */
PrioEntry *
prio_numbers_find (PrioRunner *self, guint id)
{
  PrioEntry *entry;

  if (self->run_queue == NULL)
    return NULL;
  /* Most programs never search, so the first search creates the table. */
  if (self->waiting == NULL)
    {
      self->waiting = g_hash_table_new (NULL, NULL);
      prio_run_queue_foreach_waiting (self->run_queue, note, self);
    }
  entry = g_hash_table_lookup (self->waiting, GUINT_TO_POINTER (id));
  /* The abort of a group drops its entries, but leaves them in the table, so this function skips dropped entries. */
  return entry != NULL && prio_entry_get_state (entry) != PRIO_ENTRY_DROPPED ? entry : NULL;
}

/* Removes and rejects the job @id if it is among the first MAX_LOOKED_AT of @queue.  Otherwise returns FALSE. */
static gboolean
cancel_job (PrioRunner *self, PrioQueue *queue, guint id)
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
  prio_numbers_reject (self, id);
  prio_run_queue_release (queue->run_queue);
  prio_numbers_release (self);
  return TRUE;
}

/* Rejects the task @id.  Returns FALSE if it does not wait, is being aborted, or is too far back (MAX_LOOKED_AT). */
gboolean
prio_numbers_cancel (PrioRunner *self, guint id)
{
  PrioEntry *entry = prio_numbers_find (self, id);
  gboolean cancelled = entry != NULL;

  if (entry != NULL)
    prio_run_queue_abort_entry (entry);
  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE && !cancelled && self->run_queue != NULL; i++)
    cancelled = cancel_job (self, &self->run_queue->jobs[i], id);
  return cancelled;
}
