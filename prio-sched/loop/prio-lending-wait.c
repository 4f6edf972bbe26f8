/* prio-lending-wait.c: waits for tasks, and those who wait without being known to the library
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-lending-node-private.h"

static void
wait_free (PrioLending *self, PrioLendWait *wait)
{
  PrioLendNode *waiter = wait->waiter;

  if (wait->of_waiter.prev != NULL)
    wait->of_waiter.prev->of_waiter.next = wait->of_waiter.next;
  else
    waiter->waits = wait->of_waiter.next;
  if (wait->of_waiter.next != NULL)
    wait->of_waiter.next->of_waiter.prev = wait->of_waiter.prev;

  prio_lend_wait_unlink (wait);
  g_free (wait);
  prio_lend_node_release (self, waiter);
}

static void
add_wait (PrioLending *self, PrioLendNode *waiter, PrioLendNode *awaited)
{
  PrioLendWait *wait = g_new0 (PrioLendWait, 1);

  waiter->users++;
  *wait = (PrioLendWait) { .waiter = waiter, .awaited = awaited, .of_waiter.next = waiter->waits };
  if (waiter->waits != NULL)
    waiter->waits->of_waiter.prev = wait;
  waiter->waits = wait;
  prio_lend_wait_link (wait, waiter->level);
  prio_lend_node_update (self, awaited, FALSE);
}

/* Code that runs in the state @state, of the task with @number unless that is 0, waits for the task of @entry, which has no
 * result yet. */
void
prio_lending_wait (const PrioState *state, guint number, PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *awaited = prio_lend_node_of_entry (self, entry);

  add_wait (self, number != 0 ? self->nodes->pdata[number] : prio_lend_node_of_state (self, state), awaited);
}

/* Nobody waits for the task of @node any more.  If it is aborted, nor does it. */
static void
end_waits (PrioLending *self, PrioLendNode *node, gboolean aborted)
{
  node->aborted |= aborted;
  for (guint priority = 0; priority < PRIO_LEND_N_PRIORITIES; priority++)
    {
      while (node->lenders[priority] != NULL)
        wait_free (self, node->lenders[priority]);
    }
  prio_lend_node_update (self, node, FALSE);
  while (aborted && node->waits != NULL)
    {
      PrioLendNode *awaited = node->waits->awaited;

      wait_free (self, node->waits);
      prio_lend_node_update (self, awaited, TRUE);
    }
}

/* @entry has no node any more. */
static PrioLendNode *
detach (PrioLending *self, PrioEntry *entry)
{
  PrioLendNode *node = prio_lend_node_of_entry (self, entry);

  g_hash_table_remove (self->by_entry, entry);
  entry->lends = FALSE;
  node->entry = NULL;
  return node;
}

/* The task of @entry, which has a node, has its result. */
void
prio_lending_end (PrioEntry *entry, gboolean aborted)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *node = detach (self, entry);

  end_waits (self, node, aborted);
  prio_lend_node_release (self, node);
}

/* Those of bindings. */

/* @entry, which has a node, has run, or was dropped: its task has its result, unless a binding knows of another one. */
void
prio_lending_leave (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *node = detach (self, entry);

  if (!node->is_kept)
    end_waits (self, node, FALSE);
  prio_lend_node_release (self, node);
}

/* The caller is a user of @node, unless that has no number. */
static guint
keep (PrioLending *self, PrioLendNode *node)
{
  guint number = node->number;

  node->users++;
  if (number != 0)
    node->is_kept = TRUE;
  else
    prio_lend_node_release (self, node);
  return number;
}

/* The task of @entry has its result only when the caller says so.
 *
 * Returns: a number for prio_lending_drop (), or 0 if there are too many */
guint
prio_lending_keep (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;

  return keep (self, prio_lend_node_of_entry (self, entry));
}

/* The same for a task that has begun, with @state. */
guint
prio_lending_keep_state (PrioLoop *loop, const PrioState *state)
{
  return keep (loop->lending, prio_lend_node_of_state (loop->lending, state));
}

/* The node that a binding keeps, or NULL if that is none of its numbers. */
static PrioLendNode *
find_kept (PrioLoop *loop, guint number)
{
  PrioLendNode *node = number < loop->lending->nodes->len ? loop->lending->nodes->pdata[number] : NULL;

  return node != NULL && node->is_kept ? node : NULL;
}

/* The task that a binding keeps has its result: it does not wait any more either, as the binding tells where it would. */
void
prio_lending_drop (PrioLoop *loop, guint number)
{
  PrioLendNode *node = find_kept (loop, number);

  if (node == NULL)
    return;
  node->is_kept = FALSE;
  end_waits (loop->lending, node, TRUE);
  prio_lend_node_release (loop->lending, node);
}

/* The context has gone.  Returns whether there was anything to drop. */
gboolean
prio_lending_drop_all (PrioLoop *loop)
{
  gboolean any = FALSE;

  for (guint i = 1; loop->lending != NULL && i < loop->lending->nodes->len; i++)
    {
      any = any || find_kept (loop, i) != NULL;
      prio_lending_drop (loop, i);
    }
  return any;
}

void
prio_lending_begin_wait (PrioLoop *loop, guint waiter, guint awaited)
{
  PrioLendNode *by = find_kept (loop, waiter), *node = find_kept (loop, awaited);

  if (by != NULL && node != NULL)
    add_wait (loop->lending, by, node);
}

/* The task waits for its continuation, whose entry is @entry. */
void
prio_lending_begin_wait_for_entry (PrioLoop *loop, guint waiter, PrioEntry *entry)
{
  PrioLendNode *by = find_kept (loop, waiter);

  if (by != NULL)
    add_wait (loop->lending, by, prio_lend_node_of_entry (loop->lending, entry));
}

/* One of those waits is over before the task has its result. */
void
prio_lending_end_wait (PrioLoop *loop, guint waiter, guint awaited)
{
  PrioLendNode *by = find_kept (loop, waiter), *node = find_kept (loop, awaited);
  PrioLendWait *wait = by != NULL ? by->waits : NULL;

  while (wait != NULL && wait->awaited != node)
    wait = wait->of_waiter.next;
  if (wait == NULL)
    return;

  wait_free (loop->lending, wait);
  prio_lend_node_update (loop->lending, node, TRUE);
}
