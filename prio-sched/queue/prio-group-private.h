/* prio-group-private.h: entries that change their priority, and are aborted, together
 *
 * Promises: all entries of a group at a scheduler that follow its priority stand in two
 * queues (tasks, continuations), which move as a whole; all that are aborted with it are
 * on one list.  Its users are the entries and the captured states; with the last of them
 * it ends, and whoever has made it hears of that.
 *
 * What the group stands for, a signal at a scheduler, is for the layers above: they embed
 * it.  The state of an entry is here, since it depends on that of its group.
 *
 * Everything here belongs to the owner thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "queue/prio-queue-private.h"

struct _PrioGroup
{
  PrioQueue queues[2]; /* tasks, continuations */
  PrioEntry *entries;  /* those that are aborted with it, in the order of their coming */
  PrioEntry *last_entry;
  gsize n_elsewhere;   /* of @entries: those that do not stand in @queues */
  gsize users;
  PrioRunQueue *run_queue;      /* valid while it has users */
  void (*ended) (PrioGroup *group); /* it has no users any more; it may go */
  guint64 n_foreign : 62; /* entries that follow its priority, but not its abort */
  guint64 aborted : 1;
  guint64 dropped : 1;   /* with the abort, what stood in its queues has been, whole */
  PrioGroup *next, *prev;    /* among those of the run queue */
  PrioGroup *next_aborted; /* among those of the loop that are aborted, and still have entries */
};

static inline void
prio_group_hold (PrioGroup *group)
{
  group->users++;
}

/* A user less; with the last it ends. */
static inline void
prio_group_release (PrioGroup *group)
{
  if (G_UNLIKELY (--group->users == 0))
    group->ended (group);
}

/* The priority of the entries that follow it. */
static inline PrioTaskPriority
prio_group_get_priority (const PrioGroup *group)
{
  return prio_effective_priority (group->queues[0].effective);
}

/* Whether @entry is to be aborted with the group whose priority it follows, so that it stands
 * in the queues of that when it is queued. */
static inline gboolean
prio_entry_is_of_group (const PrioEntry *entry)
{
  return entry->abort != NULL && entry->abort == entry->follows;
}

/* Where @entry is in its life. */
static inline PrioEntryState
prio_entry_get_state (const PrioEntry *entry)
{
  PrioEntryState state = (PrioEntryState) entry->stored_state;

  if (state == PRIO_ENTRY_QUEUED && prio_entry_is_of_group (entry) && entry->abort->dropped)
    return PRIO_ENTRY_DROPPED;
  return state;
}

/* Takes @entry to its next state.  Nothing else sets one. */
static inline void
prio_entry_move (PrioEntry *entry, PrioEntryState state)
{
  static const guint8 ways[PRIO_N_ENTRY_STATES] G_GNUC_UNUSED = {
    [PRIO_ENTRY_NEW] = 1 << PRIO_ENTRY_DELAYED | 1 << PRIO_ENTRY_QUEUED,
    [PRIO_ENTRY_DELAYED] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_QUEUED] = 1 << PRIO_ENTRY_RUNNING | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_DROPPED] = 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_RUNNING] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_ABORTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_ABORTED] = 1 << PRIO_ENTRY_REJECTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_REJECTED] = 1 << PRIO_ENTRY_DONE,
  };

  g_assert (ways[prio_entry_get_state (entry)] >> state & 1);
  if (prio_entry_is_of_group (entry))
    {
      entry->abort->n_elsewhere += entry->stored_state == PRIO_ENTRY_QUEUED;
      entry->abort->n_elsewhere -= state == PRIO_ENTRY_QUEUED;
    }
  entry->stored_state = (guint8) state;
}

/* Whether its function is on the stack, or its checkpoint. */
static inline gboolean
prio_entry_is_running (const PrioEntry *entry)
{
  return entry->stored_state >= PRIO_ENTRY_RUNNING && entry->stored_state <= PRIO_ENTRY_REJECTED;
}

/* Whether @entry, which is running, or has run, has been aborted meanwhile. */
static inline gboolean
prio_entry_is_aborted (const PrioEntry *entry)
{
  return entry->stored_state == PRIO_ENTRY_ABORTED || entry->stored_state == PRIO_ENTRY_REJECTED;
}

/* From now on @entry, which is not queued yet, is aborted with @group. */
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

/* @entry is not queued any more. */
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
