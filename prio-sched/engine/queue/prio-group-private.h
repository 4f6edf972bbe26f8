/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-group-private.h: entries that change their priority, and are aborted, together
 *
 * Promises: the queued entries that follow the priority of a group are in its two queues (tasks, continuations), which
 * move as a whole.  Exceptions are entries whose timeout has passed, and entries that prio-lending boosts.  The entries
 * that are aborted with the group are on one list.  The group's users are entries and captured states.  After the last
 * user, the group ends, and calls `ended`.
 *
 * A group is a field of a PrioRegistration, the record of a signal at a scheduler.  The functions for the state of an
 * entry are here, because the state depends on the entry's group.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "queue/prio-queue-private.h"

struct _PrioGroup
{
  PrioQueue queues[2]; /* tasks, continuations */
  PrioEntry *entries;  /* entries that are aborted with the group, in the order in which they were added */
  PrioEntry *last_entry;
  gsize n_elsewhere; /* number of @entries that are not in @queues, or are in a heap too */
  gsize users;
  PrioRunQueue *run_queue;          /* valid while the group has users */
  void (*ended) (PrioGroup *group); /* called after the last user is gone; may free the group */
  guint64 n_foreign : 62;           /* entries that follow the group's priority, but are not aborted with the group */
  guint64 aborted : 1;
  guint64 dropped : 1;     /* whether an abort has emptied the queues without visiting the entries */
  PrioGroup *next, *prev;  /* links in the run queue's list of groups */
  PrioGroup *next_aborted; /* link in the loop's list of aborted groups that still have entries */
};

static inline void
prio_group_hold (PrioGroup *group)
{
  group->users++;
}

/* Removes a user, and ends the group after the last user. */
static inline void
prio_group_release (PrioGroup *group)
{
  if (G_UNLIKELY (--group->users == 0))
    group->ended (group);
}

static inline PrioTaskPriority
prio_group_get_priority (const PrioGroup *group)
{
  return prio_effective_priority (group->queues[0].effective);
}

/* Returns the priority of @entry, which is not boosted.  A timeout that has passed does not change the priority. */
static inline PrioTaskPriority
prio_entry_get_priority (const PrioEntry *entry)
{
  return entry->follows != NULL ? prio_group_get_priority (entry->follows) : (PrioTaskPriority) entry->priority;
}

/* Returns whether @entry, while it is queued, is only in a queue of the group that aborts it, so that an abort may drop
 * the whole queue.  An entry with a timeout is in a heap too. */
static inline gboolean
prio_entry_is_of_group (const PrioEntry *entry)
{
  if (entry->abort != entry->follows || entry->abort == NULL)
    return FALSE;
  return G_LIKELY (entry->timed == PRIO_TIMED_NOT);
}

static inline PrioEntryState
prio_entry_get_state (const PrioEntry *entry)
{
  PrioEntryState state = (PrioEntryState) entry->stored_state;

  if (state == PRIO_ENTRY_QUEUED && prio_entry_is_of_group (entry) && entry->abort->dropped)
    return PRIO_ENTRY_DROPPED;
  return state;
}

/* Moves @entry to its next state.  Once it is posted, only this function and prio_entry_begin () change the state. */
static inline void
prio_entry_move (PrioEntry *entry, PrioEntryState state)
{
  static const guint8 next[PRIO_N_ENTRY_STATES] G_GNUC_UNUSED = {
    [PRIO_ENTRY_NEW] = 1 << PRIO_ENTRY_DELAYED | 1 << PRIO_ENTRY_QUEUED,
    [PRIO_ENTRY_DELAYED] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_QUEUED] = 1 << PRIO_ENTRY_RUNNING | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_DROPPED] = 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_RUNNING] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_ABORTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_ABORTED] = 1 << PRIO_ENTRY_REJECTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_REJECTED] = 1 << PRIO_ENTRY_DONE,
  };

  g_assert (next[prio_entry_get_state (entry)] >> state & 1);
  if (prio_entry_is_of_group (entry))
    {
      entry->abort->n_elsewhere += entry->stored_state == PRIO_ENTRY_QUEUED;
      entry->abort->n_elsewhere -= state == PRIO_ENTRY_QUEUED;
    }
  entry->stored_state = (guint8) state;
}

/* Moves @entry from QUEUED to RUNNING.  The entry must not be DROPPED. */
static inline void
prio_entry_begin (PrioEntry *entry)
{
  g_assert (entry->stored_state == PRIO_ENTRY_QUEUED);
  if (prio_entry_is_of_group (entry))
    entry->abort->n_elsewhere++;
  entry->stored_state = PRIO_ENTRY_RUNNING;
}

/* Returns whether the function or the checkpoint of @entry is running. */
static inline gboolean
prio_entry_is_running (const PrioEntry *entry)
{
  return entry->stored_state >= PRIO_ENTRY_RUNNING && entry->stored_state <= PRIO_ENTRY_REJECTED;
}

/* Returns whether @entry was aborted after its function had begun. */
static inline gboolean
prio_entry_is_aborted (const PrioEntry *entry)
{
  return entry->stored_state == PRIO_ENTRY_ABORTED || entry->stored_state == PRIO_ENTRY_REJECTED;
}

/* Adds @entry, which is not queued yet, to the entries that are aborted with @group. */
static inline void
prio_group_add (PrioGroup *group, PrioEntry *entry)
{
  entry->abort_next = NULL;
  entry->abort_prev = group->last_entry;
  if (group->last_entry != NULL)
    group->last_entry->abort_next = entry;
  else
    group->entries = entry;
  group->last_entry = entry;
  group->n_elsewhere++;
}

/* Removes @entry, which is no longer queued, from the entries that are aborted with @group. */
static inline void
prio_group_remove (PrioGroup *group, PrioEntry *entry)
{
  if (entry->abort_prev != NULL)
    entry->abort_prev->abort_next = entry->abort_next;
  else
    group->entries = entry->abort_next;

  if (entry->abort_next != NULL)
    entry->abort_next->abort_prev = entry->abort_prev;
  else
    group->last_entry = entry->abort_prev;
  group->n_elsewhere--;
}
