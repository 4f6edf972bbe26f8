/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-lending-private.h: waiting tasks lend their priority (WICG/scheduling-apis #98)
 *
 * Promises: tasks are the nodes of a graph of waits.  An awaited task runs at its own priority or, if it is higher, at
 * the highest priority of the tasks that wait for it, directly or through others, until it has its result or they are
 * aborted.  A queued task to which a higher priority is lent is *boosted*: it is alone in a queue, which the ready set
 * sorts by the age of the task.  The task's age, its own priority, and the state that it runs in do not change.
 *
 * A cycle of waits cannot keep up a lent priority by itself.  No function here recurses.  The cost of a change grows
 * with the number of nodes that the change reaches.
 *
 * The users of a node are the states that point to the node, the waits of its task, the task until it has a result, and
 * a binding that keeps the node.
 *
 * A language binding may implement a task of which the library knows only an entry.  The binding then keeps the node
 * under a number, because the task continues after the entry has run.
 *
 * Until a scheduler of the context lends, there are no nodes, and the field `lending` of PrioLoop is NULL.  Only the
 * loop's owner thread uses these functions and records, unless a comment says otherwise. */

#pragma once

#include "loop/prio-run-queue-private.h"

void prio_lending_set (PrioRunQueue *run_queue, gboolean lends);
void prio_lending_free (PrioLoop *loop);

PrioLendNode *prio_lending_begin (PrioEntry *entry);
guint8 prio_lending_get_level (const PrioLendNode *node);
PrioLendNode *prio_lending_hold (PrioLendNode *node);
void prio_lending_release (PrioLoop *loop, PrioLendNode *node);

void prio_lending_wait (const PrioState *state, PrioLendNode *waiter, PrioEntry *entry);
void prio_lending_end (PrioEntry *entry, gboolean aborted);
void prio_lending_prepare (PrioEntry *entry);
void prio_lending_rejoin (PrioEntry *entry);
PrioQueue *prio_lending_get_queue (PrioEntry *entry);
PrioTaskPriority prio_lending_get_base_priority (PrioEntry *entry);
void prio_lending_group_changed (PrioGroup *group);

guint prio_lending_keep (PrioEntry *entry);
guint prio_lending_keep_state (PrioLoop *loop, const PrioState *state);
gboolean prio_lending_drop_all (PrioLoop *loop);
void prio_lending_begin_wait_for_entry (PrioLoop *loop, guint waiter, PrioEntry *entry);

/* Returns the priority of @entry.  A lent priority does not count, nor does a timeout that has passed. */
static inline PrioTaskPriority
prio_lending_get_own (PrioEntry *entry)
{
  return G_UNLIKELY (entry->boosted) ? prio_lending_get_base_priority (entry) : prio_entry_get_priority (entry);
}

/* Returns whether any scheduler of the context has ever lent priorities.  Any thread may call this function. */
static inline gboolean
prio_lending_is_used (PrioLoop *loop)
{
  return __atomic_load_n (&loop->lending, __ATOMIC_RELAXED) != NULL;
}
