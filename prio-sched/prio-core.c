/* prio-core.c: what of a scheduler its tasks need
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-core-private.h"

static void
joined (PrioLoop *loop, const PrioOp *op)
{
  PrioCore *core = op->target;

  core->next = loop->cores;
  if (core->next != NULL)
    core->next->prev = core;
  loop->cores = core;
}

static PrioCore *
core_alloc (PrioLoop *loop)
{
  PrioCore *core = g_new0 (PrioCore, 1);

  core->loop = loop;
  core->slice = PRIO_DEFAULT_SLICE;
  core->users = 1;
  prio_ready_group_init (&core->ready);
  g_weak_ref_init (&core->scheduler, NULL);
  for (guint i = 0; i < PRIO_N_EFFECTIVE; i++)
    {
      prio_queue_init (&core->jobs[i], core, i, PRIO_QUEUE_JOBS);
      prio_queue_init (&core->entries[i], core, i, PRIO_QUEUE_ENTRIES);
    }
  return core;
}

/* Takes the user of @loop that its caller is. */
PrioCore *
prio_core_new (PrioLoop *loop)
{
  PrioCore *core = core_alloc (loop);
  PrioOp op = { .apply = joined, .target = core };

  prio_loop_submit (core->loop, &op);
  return core;
}

/* For tasks of the library's own.  It is of no scheduler, so that nobody can pause it, and
 * goes with @loop, without keeping it. */
PrioCore *
prio_core_own (PrioLoop *loop)
{
  if (loop->own == NULL)
    loop->own = core_alloc (loop);
  return loop->own;
}

static void
core_clear (PrioCore *core)
{
  prio_ready_group_clear (&core->ready);
  g_weak_ref_clear (&core->scheduler);
  g_free (core);
}

/* @loop goes. */
void
prio_core_free_own (PrioLoop *loop)
{
  g_clear_pointer (&loop->own, core_clear);
}

static void
core_free (gpointer data)
{
  PrioCore *core = data;

  prio_loop_part (core->loop);
  core_clear (core);
}

/* It has no users any more. */
void
prio_core_end (PrioCore *core)
{
  PrioLoop *loop = core->loop;

  if (core->prev != NULL)
    core->prev->next = core->next;
  else
    loop->cores = core->next;
  if (core->next != NULL)
    core->next->prev = core->prev;

  prio_ready_drive_out (&loop->ready);
  prio_loop_bury (loop, core_free, core);
}

/* However many of its queues have tasks. */
void
prio_core_set_paused (PrioCore *core, gboolean paused)
{
  prio_ready_set_paused (&core->loop->ready, &core->ready, paused);
}

static void
closure_refused (PrioEntry *entry)
{
  if (entry->job.notify != NULL)
    prio_loop_bury (entry->core->loop, entry->job.notify, entry->job.data);
  prio_core_discharge (entry);
}

static void
closure_released (PrioEntry *entry)
{
  prio_slab_free (&entry->core->loop->entries, entry);
}

/* A GSourceFunc, its record from the slab.  The dispatch calls it without asking how. */
const PrioEntryFuncs prio_closure_funcs = {
  .refused = closure_refused,
  .released = closure_released,
};

/* A record for a closure; its core and priority are set by the caller. */
PrioEntry *
prio_core_new_entry (PrioCore *core, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  PrioEntry *entry = prio_slab_alloc (&core->loop->entries);

  *entry = (PrioEntry) {
    .job = { .func = func, .data = data, .notify = notify },
    .core = core,
    .funcs = &prio_closure_funcs,
  };
  return entry;
}

/* The queue that @entry stands in or belongs in. */
static PrioQueue *
queue_of_entry (PrioEntry *entry)
{
  if (entry->follows != NULL)
    return &entry->follows->queues[entry->continuation];
  return &entry->core->entries[prio_effective (entry->priority, entry->continuation)];
}

/* Puts @entry at the end of the queue where it belongs now (§2.4.1). */
void
prio_core_enqueue (PrioEntry *entry)
{
  PrioCore *core = entry->core;
  PrioQueue *queue = queue_of_entry (entry);

  prio_entry_move (entry, PRIO_ENTRY_QUEUED);
  entry->job.order = core->loop->next_order++;
  if (prio_queue_append_entry (queue, entry))
    prio_core_make_ready (core, queue);
}

/* Takes @entry, whose core and groups are set and held, in: it is queued, or
 * waits until @due if that is not 0. */
void
prio_core_admit (PrioEntry *entry, gint64 due)
{
  PrioLoop *loop = entry->core->loop;

  prio_core_hold (entry->core);
  if (entry->abort != NULL)
    {
      g_assert (!entry->abort->aborted);
      prio_group_add (entry->abort, entry);
    }
  if (entry->follows != NULL && entry->follows != entry->abort)
    entry->follows->n_guests++;

  if (due == 0)
    {
      prio_core_enqueue (entry);
    }
  else
    {
      prio_entry_move (entry, PRIO_ENTRY_DELAYED);
      prio_heap_insert (&loop->delays, &entry->delay, due, loop->next_delay++);
    }
}

static void
unlink_from_queue (PrioEntry *entry)
{
  PrioQueue *queue = queue_of_entry (entry);
  gboolean was_head = queue->head == &entry->job;

  prio_queue_unlink (queue, entry);
  if (was_head && prio_ready_contains (queue))
    prio_core_head_gone (entry->core, queue);
}

/* Takes @entry out of its queue, or from among the delayed ones: it is dropped, if it
 * has not been. */
void
prio_core_withdraw (PrioEntry *entry)
{
  switch (prio_entry_get_state (entry))
    {
    case PRIO_ENTRY_DROPPED:
      return;

    case PRIO_ENTRY_DELAYED:
      prio_heap_remove (&entry->core->loop->delays, &entry->delay);
      break;

    case PRIO_ENTRY_QUEUED:
      unlink_from_queue (entry);
      break;

    default:
      g_assert_not_reached ();
    }
  prio_entry_move (entry, PRIO_ENTRY_DROPPED);
}

/* What comes of @entry, which is running, will be an abort: when it is rejected, or at its
 * end if that comes first. */
void
prio_core_abort_running (PrioEntry *entry)
{
  prio_entry_move (entry, PRIO_ENTRY_ABORTED);
}

/* What comes of @entry, which is running and aborted, is known from now on.  Its function
 * goes on, with what it was posted with. */
static void
reject_running (PrioEntry *entry)
{
  prio_entry_move (entry, PRIO_ENTRY_REJECTED);
  if (entry->abort != NULL)
    prio_group_remove (entry->abort, entry);

  if (entry->funcs->rejected != NULL)
    entry->funcs->rejected (entry);
}

/* @entry, which has run or been dropped, is through: it lets go of its groups and
 * its core, and the record may go. */
void
prio_core_discharge (PrioEntry *entry)
{
  gboolean is_listed = prio_entry_get_state (entry) != PRIO_ENTRY_REJECTED;
  PrioCore *core = entry->core;
  PrioGroup *abort, *follows;

  prio_entry_move (entry, PRIO_ENTRY_DONE);
  abort = g_steal_pointer (&entry->abort);
  follows = g_steal_pointer (&entry->follows);

  if (abort != NULL)
    {
      if (is_listed)
        prio_group_remove (abort, entry);
      prio_group_release (abort);
    }
  if (follows != NULL)
    {
      if (follows != abort)
        follows->n_guests--;
      prio_group_release (follows);
    }

  if (entry->funcs->released != NULL)
    entry->funcs->released (entry);
  prio_core_release (core);
}

/* @entry will not run: its group has been aborted, it has been cancelled, or the context
 * has gone.  If it is running, and ABORTED, it is rejected meanwhile. */
void
prio_core_refuse (PrioEntry *entry)
{
  if (prio_entry_is_running (entry))
    {
      reject_running (entry);
      return;
    }

  if (prio_entry_get_state (entry) != PRIO_ENTRY_DROPPED)
    prio_core_withdraw (entry);

  entry->funcs->refused (entry);
}
