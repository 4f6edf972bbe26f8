/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-run-queue-group.c: adds, removes, moves and aborts groups of a run queue */

#include "config.h"

#include "loop/prio-run-queue-group-private.h"

#include "base/prio-list-private.h"
#include "loop/prio-lending-private.h"

/* Adds @group to @run_queue, and keeps the run queue alive.  The caller has set only `users` and `ended` of the group.
 * @effective is the effective priority of the group's new tasks. */
void
prio_group_attach (PrioGroup *group, PrioRunQueue *run_queue, PrioEffective effective)
{
  group->run_queue = run_queue;
  for (guint i = 0; i < 2; i++)
    prio_queue_init (&group->queues[i], run_queue, effective + i, PRIO_QUEUE_ENTRIES);

  PRIO_LIST_PREPEND (run_queue->groups, group, next, prev);
  prio_run_queue_hold (run_queue);
}

void
prio_group_leave (PrioGroup *group)
{
  PrioRunQueue *run_queue = g_steal_pointer (&group->run_queue);

  g_assert (group->entries == NULL && group->n_elsewhere == 0);

  PRIO_LIST_REMOVE (run_queue->groups, group, next, prev);
  prio_run_queue_release (run_queue);
}

static void
unready_queues (PrioGroup *group)
{
  PrioRunQueue *run_queue = group->run_queue;

  for (guint i = 0; i < 2; i++)
    {
      if (prio_ready_contains (&group->queues[i]))
        prio_ready_remove (&run_queue->loop->ready, &run_queue->ready, &group->queues[i]);
    }
}

/* Empties both queues of @group without visiting entries, unless they contain entries that @group does not abort. */
static void
drop_queues (PrioGroup *group)
{
  if (group->n_foreign > 0)
    return;

  unready_queues (group);
  for (guint i = 0; i < 2; i++)
    group->queues[i].head = group->queues[i].tail = NULL;
  group->dropped = TRUE;
}

/* Dequeues the group's entries that drop_queues () has not dropped.  Makes a running entry ABORTED; its function
 * continues.  Stops after the last such entry, because the list may contain a million dropped entries. */
static void
drop_elsewhere (PrioGroup *group)
{
  gsize left = group->dropped ? group->n_elsewhere : G_MAXSIZE;

  for (PrioEntry *entry = group->entries, *next; entry != NULL && left > 0; entry = next)
    {
      next = entry->abort_next;

      switch (prio_entry_get_state (entry))
        {
        case PRIO_ENTRY_RUNNING:
          /* The abort becomes the result when the entry is rejected or when its function ends, whichever is first. */
          prio_entry_move (entry, PRIO_ENTRY_ABORTED);
          left--;
          break;

        case PRIO_ENTRY_DELAYED:
        case PRIO_ENTRY_QUEUED:
          prio_run_queue_dequeue (entry);
          left--;
          break;

        default:
          g_assert (prio_entry_get_state (entry) == PRIO_ENTRY_DROPPED);
        }
    }
}

/* Aborts @group.  The entries leave their queues at once, and stay on the group's list until
 * prio_groups_process_aborted () processes them.  A running entry becomes ABORTED, and its function continues. */
void
prio_group_abort (PrioGroup *group)
{
  PrioLoop *loop = group->run_queue->loop;

  if (group->aborted)
    return;

  group->aborted = TRUE;
  drop_queues (group);
  drop_elsewhere (group);
  if (G_UNLIKELY (loop->lending != NULL))
    prio_lending_group_changed (group);

  if (group->entries != NULL)
    {
      prio_group_hold (group);
      prio_loop_look_between_tasks (loop);
      if (loop->aborted.first == NULL)
        loop->aborted.first = group;
      else
        loop->aborted.last->next_aborted = group;
      loop->aborted.last = group;
    }
}

/* Processes up to @max entries of the first aborted group, which must exist. */
void
prio_groups_process_aborted (PrioLoop *loop, guint max)
{
  PrioGroup *group = loop->aborted.first;
  PrioEntry *entry;

  while (max-- > 0 && (entry = group->entries) != NULL)
    prio_run_queue_abort_entry (entry);

  if (group->entries == NULL)
    {
      loop->aborted.first = group->next_aborted;
      prio_group_release (group);
    }
}

/* Processes the entries of all aborted groups, to report them before later events.  The caller has entered the loop. */
void
prio_groups_finish_aborted (PrioLoop *loop)
{
  while (loop->aborted.first != NULL)
    prio_groups_process_aborted (loop, G_MAXUINT);
}

/* Moves the queues of @group to @priority, without visiting the entries. */
void
prio_group_set_priority (PrioGroup *group, PrioTaskPriority priority)
{
  if (priority == prio_group_get_priority (group))
    return;

  /* Keeps the group alive, because its last users may be entries that are processed here. */
  prio_group_hold (group);
  if (G_UNLIKELY (prio_loop_is_observed (group->run_queue->loop)))
    {
      prio_groups_finish_aborted (group->run_queue->loop);
      prio_loop_observing (group->run_queue->loop)->priority_changes (group, priority);
    }
  unready_queues (group);
  for (guint i = 0; i < 2; i++)
    {
      group->queues[i].effective = prio_effective (priority, i == 1);
      if (group->queues[i].head != NULL)
        prio_run_queue_make_ready (group->run_queue, &group->queues[i]);
    }
  if (G_UNLIKELY (group->run_queue->loop->lending != NULL))
    prio_lending_group_changed (group);
  prio_group_release (group);
}
