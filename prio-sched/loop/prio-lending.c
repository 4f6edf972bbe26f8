/* prio-lending.c: a task that waits for another lends it its priority (WICG/scheduling-apis #98)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-lending-node-private.h"

#define MAX_NUMBER (G_MAXUINT - 1)

static PrioLending *
lending_new (void)
{
  PrioLending *self = g_new0 (PrioLending, 1);

  self->nodes = g_ptr_array_new ();
  g_ptr_array_add (self->nodes, NULL);
  self->free_numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  self->by_entry = g_hash_table_new (NULL, NULL);
  self->by_group = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
  self->stack = g_ptr_array_new ();
  self->marked = g_ptr_array_new ();
  return self;
}

/* Whether waits of the tasks of @run_queue, and of its parts, lend. */
void
prio_lending_set (PrioRunQueue *run_queue, gboolean lends)
{
  if (lends && run_queue->loop->lending == NULL)
    __atomic_store_n (&run_queue->loop->lending, lending_new (), __ATOMIC_RELEASE);
  run_queue->lends = lends;
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    part->lends = lends;
}

/* @loop is being freed; nothing waits in it any more. */
void
prio_lending_free (PrioLoop *loop)
{
  PrioLending *self = g_steal_pointer (&loop->lending);

  if (self == NULL)
    return;
  g_ptr_array_unref (self->nodes);
  g_array_unref (self->free_numbers);
  g_hash_table_unref (self->by_entry);
  g_hash_table_unref (self->by_group);
  g_ptr_array_unref (self->stack);
  g_ptr_array_unref (self->marked);
  g_free (self);
}

/* Its own priority, or 0. */
static guint8
own (const PrioLendNode *node)
{
  if (node->aborted)
    return 0;
  return node->follows != NULL ? (guint8) prio_group_get_priority (node->follows) : node->priority;
}

/* The highest priority that is lent to it, or 0. */
static guint8
lent_to (const PrioLendNode *node)
{
  guint8 priority = PRIO_LEND_N_PRIORITIES - 1;

  while (priority > 0 && node->lenders[priority] == NULL)
    priority--;
  return priority;
}

static guint8
level_of (const PrioLendNode *node)
{
  return MAX (own (node), lent_to (node));
}

/* Adds @wait to those that lend @priority. */
void
prio_lend_wait_link (PrioLendWait *wait, guint8 priority)
{
  PrioLendWait **first = &wait->awaited->lenders[priority];

  wait->lent = priority;
  wait->of_awaited = (Link) { .next = *first };
  if (*first != NULL)
    (*first)->of_awaited.prev = wait;
  *first = wait;
}

void
prio_lend_wait_unlink (PrioLendWait *wait)
{
  if (wait->of_awaited.prev != NULL)
    wait->of_awaited.prev->of_awaited.next = wait->of_awaited.next;
  else
    wait->awaited->lenders[wait->lent] = wait->of_awaited.next;
  if (wait->of_awaited.next != NULL)
    wait->of_awaited.next->of_awaited.prev = wait->of_awaited.prev;
}

void
prio_lend_wait_set (PrioLendWait *wait, guint8 priority)
{
  if (wait->lent == priority)
    return;

  prio_lend_wait_unlink (wait);
  prio_lend_wait_link (wait, priority);
}

/* How many of those who lend to a node are looked at. */
#define MAX_LOOKED_AT 8

/* Whether @node has its level whatever it lends itself.  If it has so by a lender that is not looked at, the answer is no, which
 * costs time only. */
static gboolean
is_supported (const PrioLendNode *node)
{
  PrioLendWait *wait = node->lenders[node->level];

  if (own (node) >= node->level)
    return TRUE;
  for (guint i = 0; i < MAX_LOOKED_AT && wait != NULL; i++, wait = wait->of_awaited.next)
    {
      if (wait->waiter->rank < node->rank)
        return TRUE;
    }
  return FALSE;
}

static void
set_level (PrioLendNode *node, guint8 level)
{
  node->level = level;
  node->rank = own (node) < level ? node->lenders[level]->waiter->rank + 1 : 0;
}

/* The entry of @node, which is queued, is boosted from now on. */
static void
set_boosted (PrioLendNode *node)
{
  PrioEntry *entry = node->entry;

  prio_run_queue_unlink (entry);
  if (prio_entry_is_of_group (entry))
    entry->abort->n_elsewhere++;
  entry->follows = NULL;
  entry->boosted = TRUE;
  prio_queue_append_entry (&node->queue, entry);
}

/* The level of @node has changed: if it is queued, it moves to where it belongs. */
static void
place (PrioLendNode *node)
{
  PrioEntry *entry = node->entry;
  PrioReady *ready;

  /* One whose timeout has passed is above all levels. */
  if (entry == NULL || prio_entry_get_state (entry) != PRIO_ENTRY_QUEUED || entry->timed == PRIO_TIMED_EXPIRED ||
      (!entry->boosted && lent_to (node) <= own (node)))
    return;

  if (entry->boosted)
    {
      ready = &entry->run_queue->loop->ready;
      if (prio_ready_contains (&node->queue))
        prio_ready_remove (ready, &entry->run_queue->ready, &node->queue);
    }
  else
    {
      set_boosted (node);
    }
  node->queue.effective = prio_effective ((PrioTaskPriority) level_of (node), entry->turn & PRIO_ENTRY_GOES_ON);
  prio_run_queue_make_ready (entry->run_queue, &node->queue);
}

/* The level of @node has grown: so does that of those whom it waits for. */
static void
raise_awaited (PrioLending *self, PrioLendNode *node)
{
  g_ptr_array_add (self->stack, node);
  while (self->stack->len > 0)
    {
      PrioLendNode *from = g_ptr_array_steal_index_fast (self->stack, self->stack->len - 1);

      for (PrioLendWait *wait = from->waits; wait != NULL; wait = wait->of_waiter.next)
        {
          PrioLendNode *to = wait->awaited;

          if (wait->lent < from->level)
            prio_lend_wait_set (wait, from->level);
          if (to->level < wait->lent)
            {
              to->level = wait->lent;
              to->rank = from->rank + 1;
              place (to);
              g_ptr_array_add (self->stack, to);
            }
        }
    }
}

static void
mark (PrioLending *self, PrioLendNode *node)
{
  node->marked = TRUE;
  g_ptr_array_add (self->marked, node);
}

/* What the marked ones have been lent may have become less: so may what those are lent whom they wait for, perhaps themselves among
 * them.  All that depends on them alone is taken back first, and then lent anew by who still has it. */
static void
settle (PrioLending *self)
{
  for (guint i = 0; i < self->marked->len; i++)
    {
      PrioLendNode *from = self->marked->pdata[i];

      for (PrioLendWait *wait = from->waits; wait != NULL; wait = wait->of_waiter.next)
        {
          PrioLendNode *to = wait->awaited;

          prio_lend_wait_set (wait, MIN (wait->lent, own (from)));
          if (!to->marked && !is_supported (to))
            mark (self, to);
        }
      /* What it lends from now on is its own. */
      from->rank = 0;
    }
  for (guint i = 0; i < self->marked->len; i++)
    {
      PrioLendNode *from = self->marked->pdata[i];

      set_level (from, level_of (from));
    }
  for (guint i = 0; i < self->marked->len; i++)
    raise_awaited (self, self->marked->pdata[i]);
  for (guint i = 0; i < self->marked->len; i++)
    {
      PrioLendNode *from = self->marked->pdata[i];

      from->marked = FALSE;
      place (from);
    }
  g_ptr_array_set_size (self->marked, 0);
}

/* Something about @node has changed.  @lost says that it may be lent less than before.  If it lends less, it is marked. */
static void
change (PrioLending *self, PrioLendNode *node, gboolean lost)
{
  guint8 level = level_of (node);

  if (level > node->level)
    {
      set_level (node, level);
      place (node);
      raise_awaited (self, node);
    }
  else if (level < node->level || (lost && !is_supported (node)))
    {
      mark (self, node);
    }
}

void
prio_lend_node_update (PrioLending *self, PrioLendNode *node, gboolean lost)
{
  change (self, node, lost);
  settle (self);
}

/* Its nodes by group. */

static void
join (PrioLending *self, PrioLendNode *node, PrioGroup *group)
{
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);

  if (nodes == NULL)
    {
      nodes = g_hash_table_new (NULL, NULL);
      g_hash_table_insert (self->by_group, group, nodes);
    }
  g_hash_table_add (nodes, node);
}

static void
part (PrioLending *self, PrioLendNode *node, PrioGroup *group)
{
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);

  g_hash_table_remove (nodes, node);
  if (g_hash_table_size (nodes) == 0)
    g_hash_table_remove (self->by_group, group);
}

static void
set_groups (PrioLending *self, PrioLendNode *node, PrioGroup *abort, PrioGroup *follows, guint8 priority)
{
  node->abort = abort;
  node->follows = follows;
  node->priority = priority;
  node->aborted = abort != NULL && abort->aborted;
  if (abort != NULL)
    {
      prio_group_hold (abort);
      join (self, node, abort);
    }
  if (follows != NULL)
    {
      prio_group_hold (follows);
      if (follows != abort)
        join (self, node, follows);
    }
}

/* Nodes */

static PrioLendNode *
node_new (PrioLending *self)
{
  PrioLendNode *node = g_new0 (PrioLendNode, 1);

  if (self->free_numbers->len > 0)
    {
      node->number = g_array_index (self->free_numbers, guint, self->free_numbers->len - 1);
      g_array_set_size (self->free_numbers, self->free_numbers->len - 1);
      self->nodes->pdata[node->number] = node;
    }
  /* A waiter without one lends the priority of its state. */
  else if (self->nodes->len <= MAX_NUMBER)
    {
      node->number = self->nodes->len;
      g_ptr_array_add (self->nodes, node);
    }
  return node;
}

void
prio_lend_node_release (PrioLending *self, PrioLendNode *node)
{
  if (--node->users > 0)
    return;

  g_assert (node->waits == NULL);
  for (guint priority = 0; priority < PRIO_LEND_N_PRIORITIES; priority++)
    g_assert (node->lenders[priority] == NULL);
  if (node->number != 0)
    {
      self->nodes->pdata[node->number] = NULL;
      g_array_append_val (self->free_numbers, node->number);
    }
  if (node->abort != NULL)
    {
      part (self, node, node->abort);
      prio_group_release (node->abort);
    }
  if (node->follows != NULL)
    {
      if (node->follows != node->abort)
        part (self, node, node->follows);
      prio_group_release (node->follows);
    }
  g_free (node);
}

/* The entry of @node is as it was posted, and not before that. */
static void
learn (PrioLending *self, PrioLendNode *node)
{
  PrioEntry *entry = node->entry;

  if (node->follows == NULL && node->priority == 0)
    set_groups (self, node, entry->abort, entry->follows, entry->priority);
  if (level_of (node) != node->level)
    set_level (node, level_of (node));
}

PrioLendNode *
prio_lend_node_of_entry (PrioLending *self, PrioEntry *entry)
{
  PrioLendNode *node;

  if (entry->lends)
    return g_hash_table_lookup (self->by_entry, entry);

  node = node_new (self);
  node->users = 1;
  node->entry = entry;
  prio_queue_init (&node->queue, entry->run_queue, 0, PRIO_QUEUE_ENTRIES);
  g_hash_table_insert (self->by_entry, entry, node);
  entry->lends = TRUE;
  if (prio_entry_get_state (entry) != PRIO_ENTRY_NEW && prio_entry_get_state (entry) != PRIO_ENTRY_DONE)
    learn (self, node);
  return node;
}

/* For code that is not a task, or is not known to be one: it waits with the priority of @state. */
PrioLendNode *
prio_lend_node_of_state (PrioLending *self, const PrioState *state)
{
  PrioGroup *follows = state->priority == PRIO_PRIORITY_UNSET ? state->group : NULL;
  PrioLendNode *node = node_new (self);

  set_groups (self, node, state->group, follows, (guint8) state->priority);
  node->level = level_of (node);
  return node;
}

/* The task of @entry, of a scheduler that lends, begins to run.
 *
 * Returns: its number, to be released, or 0 */
guint
prio_lending_begin (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *node = prio_lend_node_of_entry (self, entry);

  if (node->number != 0)
    node->users++;
  return node->number;
}

void
prio_lending_hold (PrioLoop *loop, guint number)
{
  ((PrioLendNode *) loop->lending->nodes->pdata[number])->users++;
}

void
prio_lending_release (PrioLoop *loop, guint number)
{
  prio_lend_node_release (loop->lending, loop->lending->nodes->pdata[number]);
}

/* The priority at which the task with @number runs: its own, or what it is lent. */
guint8
prio_lending_get_level (PrioLoop *loop, guint number)
{
  const PrioLendNode *node = loop->lending->nodes->pdata[number];

  return node->level;
}

/* @entry, which has a node, is to be queued: where, prio_lending_get_queue () tells if it is boosted. */
void
prio_lending_prepare (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *node = prio_lend_node_of_entry (self, entry);

  learn (self, node);
  if (lent_to (node) <= own (node) || entry->timed == PRIO_TIMED_EXPIRED)
    return;

  entry->boosted = TRUE;
  entry->follows = NULL;
  node->queue.effective = prio_effective ((PrioTaskPriority) node->level, entry->turn & PRIO_ENTRY_GOES_ON);
}

/* @entry, which is boosted, is to run, or is DROPPED: it belongs to its group again. */
void
prio_lending_rejoin (PrioEntry *entry)
{
  PrioLendNode *node = prio_lend_node_of_entry (entry->run_queue->loop->lending, entry);

  entry->boosted = FALSE;
  entry->follows = node->follows;
  if (entry->stored_state == PRIO_ENTRY_QUEUED && prio_entry_is_of_group (entry))
    entry->abort->n_elsewhere--;
}

PrioQueue *
prio_lending_get_queue (PrioEntry *entry)
{
  return &prio_lend_node_of_entry (entry->run_queue->loop->lending, entry)->queue;
}

/* The priority of @entry, which is boosted, by itself. */
PrioTaskPriority
prio_lending_get_base_priority (PrioEntry *entry)
{
  const PrioLendNode *node = prio_lend_node_of_entry (entry->run_queue->loop->lending, entry);

  return node->follows != NULL ? prio_group_get_priority (node->follows) : (PrioTaskPriority) entry->priority;
}

/* Something about @group has changed.  All of its nodes are settled together, as they may wait for each other. */
static void
update_group (PrioGroup *group, gboolean aborted, gboolean lost)
{
  PrioLending *self = group->run_queue->loop->lending;
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);
  GHashTableIter iter;
  gpointer key;

  if (nodes == NULL)
    return;

  g_hash_table_iter_init (&iter, nodes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      PrioLendNode *node = key;

      if (aborted && node->abort == group)
        node->aborted = TRUE;
      change (self, node, lost);
    }
  settle (self);
}

/* Another priority is that of the tasks which follow @group; @lowered says that it is a lower one. */
void
prio_lending_group_changed (PrioGroup *group, gboolean lowered)
{
  update_group (group, FALSE, lowered);
}

/* Tasks of @group do not lend any more. */
void
prio_lending_group_aborted (PrioGroup *group)
{
  update_group (group, TRUE, TRUE);
}
