/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-lending.c: waiting tasks lend their priority (WICG/scheduling-apis #98)
 *
 * A node has a *level*: its own priority or, if it is higher, the highest level of the nodes that wait for it.  These
 * nodes lend their level.  Waits can form cycles, in which nodes would maintain each other's level for ever.  To detect
 * this without a search, a node with a lent level gets a *rank*, which is greater than the ranks that the nodes lending
 * this level have at that time.  So a waiting node of a lower rank does not have its level from this node.  When a wait
 * for a node ends, the node keeps its level if the first remaining wait at this level is of a node with a lower rank.
 * Otherwise the node and all nodes that depend on it lose the level, and their levels are computed again. */

#include "config.h"

#include "loop/prio-lending-private.h"

#define N_PRIORITIES (PRIO_TASK_PRIORITY_USER_BLOCKING + 1) /* including 0, for no priority */

/* A task, or code that waits without being a task. */
struct _PrioLendNode
{
  gsize users;
  guint kept_as;    /* the number under which a binding keeps the node, or 0 */
  PrioEntry *entry; /* the task's entry, until the task has its result; or NULL */
  PrioGroup *follows, *abort; /* owned, or NULL */
  guint8 priority;  /* the task's own priority, if @follows is NULL; 0 until the entry is posted */
  guint8 level;
  gboolean aborted; /* whether the task was aborted: then its own priority does not count */
  gboolean marked;  /* whether the node is in @marked of PrioLending */
  GQueue waits;     /* PrioLendWait: waits of this node's task */
  GQueue lenders[N_PRIORITIES]; /* PrioLendWait: waits for this node's task, by lent level */
  guint64 above[N_PRIORITIES];  /* for each level: greater than the ranks of all nodes that lend this level */
  guint64 rank;     /* 0 if @level is the node's own priority */
  PrioQueue queue;  /* the queue of the entry while it is boosted */
};

typedef struct
{
  PrioLendNode *waiter, *awaited;
  GList of_waiter, of_awaited; /* links in @waits of @waiter, and in @lenders[@lent] of @awaited */
  guint8 lent;
} PrioLendWait;

struct _PrioLending
{
  GHashTable *by_entry; /* PrioEntry → PrioLendNode */
  GHashTable *by_group; /* PrioGroup → set of PrioLendNode */
  GHashTable *kept;     /* number → PrioLendNode, kept by bindings */
  guint last_kept;
  GPtrArray *marked;    /* PrioLendNode: nodes whose level may change; a node may be in the array several times */
};

/* Sets whether tasks of @run_queue, and of its parts, lend their priority while they wait. */
void
prio_lending_set (PrioRunQueue *run_queue, gboolean lends)
{
  if (lends && run_queue->loop->lending == NULL)
    {
      PrioLending *self = g_new0 (PrioLending, 1);

      self->by_entry = g_hash_table_new (NULL, NULL);
      self->by_group = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
      self->kept = g_hash_table_new (NULL, NULL);
      self->marked = g_ptr_array_new ();
      __atomic_store_n (&run_queue->loop->lending, self, __ATOMIC_RELEASE);
    }
  run_queue->lends = lends;
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    part->lends = lends;
}

/* Frees the PrioLending of @loop, which is being freed.  No task waits any more. */
void
prio_lending_free (PrioLoop *loop)
{
  PrioLending *self = g_steal_pointer (&loop->lending);

  if (self == NULL)
    return;
  g_hash_table_unref (self->by_entry);
  g_hash_table_unref (self->by_group);
  g_hash_table_unref (self->kept);
  g_ptr_array_unref (self->marked);
  g_free (self);
}

/* The functions from here on compute the levels of nodes. */

/* Returns the priority of @node without loans, or 0 if its task is aborted, or its priority is unknown. */
static guint8
own (const PrioLendNode *node)
{
  if (node->aborted || (node->abort != NULL && node->abort->aborted))
    return 0;
  return node->follows != NULL ? (guint8) prio_group_get_priority (node->follows) : node->priority;
}

static guint8
level_of (const PrioLendNode *node)
{
  guint8 least = own (node), level = N_PRIORITIES - 1;

  while (level > least && node->lenders[level].length == 0)
    level--;
  return level;
}

static void
update_level (PrioLendNode *node)
{
  guint8 level = level_of (node);
  gboolean is_lent = own (node) < level;

  if (level == node->level && is_lent == (node->rank > 0) && !node->marked)
    return;
  node->level = level;
  node->rank = is_lent ? node->above[level] : 0;
}

static void
add_lender (PrioLendWait *wait, guint8 level)
{
  PrioLendNode *to = wait->awaited;

  wait->lent = level;
  to->above[level] = MAX (to->lenders[level].length > 0 ? to->above[level] : 0, wait->waiter->rank + 1);
  g_queue_push_tail_link (&to->lenders[level], &wait->of_awaited);
}

static void
lend (PrioLendWait *wait, guint8 level)
{
  if (wait->lent == level)
    return;

  g_queue_unlink (&wait->awaited->lenders[wait->lent], &wait->of_awaited);
  add_lender (wait, level);
}

/* Marks @node if its level has changed or may change. */
static void
check (PrioLending *self, PrioLendNode *node)
{
  const PrioLendWait *first = node->level > own (node) ? g_queue_peek_head (&node->lenders[node->level]) : NULL;

  if (node->marked || (level_of (node) == node->level && (first == NULL || first->waiter->rank < node->rank)))
    return;

  node->marked = TRUE;
  g_ptr_array_add (self->marked, node);
}

/* Makes @node lend only its own priority, and marks the nodes that may depend on @node. */
static void
take_back (PrioLending *self, PrioLendNode *node)
{
  node->rank = 0;
  for (GList *link = node->waits.head; link != NULL; link = link->next)
    {
      PrioLendWait *wait = link->data;

      lend (wait, MIN (wait->lent, own (node)));
      check (self, wait->awaited);
    }
}

/* Lends the level of @node to the nodes that its task waits for.  Marks each node whose level rises, so that settle ()
 * lends that level too. */
static void
lend_level (PrioLending *self, PrioLendNode *node)
{
  for (GList *link = node->waits.head; link != NULL; link = link->next)
    {
      PrioLendWait *wait = link->data;
      PrioLendNode *to = wait->awaited;

      lend (wait, node->level);
      if (to->level < node->level)
        {
          to->level = node->level;
          to->rank = to->above[to->level];
          g_ptr_array_add (self->marked, to);
        }
    }
}

/* Boosts the entry of @node, which is queued or about to be queued, to the node's level. */
static void
boost (PrioLendNode *node)
{
  node->entry->boosted = TRUE;
  node->entry->follows = NULL;
  node->queue.effective = prio_effective ((PrioTaskPriority) node->level, node->entry->turn & PRIO_ENTRY_GOES_ON);
}

/* Moves the entry of @node to the node's level, if it is queued, and is boosted or needs a boost. */
static void
place (PrioLendNode *node)
{
  PrioEntry *entry = node->entry;

  /* An entry whose timeout has passed precedes all levels, so it stays where it is. */
  if (entry == NULL || prio_entry_get_state (entry) != PRIO_ENTRY_QUEUED || entry->timed == PRIO_TIMED_EXPIRED ||
      (!entry->boosted && node->level <= own (node)))
    return;

  if (!entry->boosted)
    {
      prio_run_queue_unlink (entry);
      if (prio_entry_is_of_group (entry))
        entry->abort->n_elsewhere++;
      prio_queue_append_entry (&node->queue, entry);
    }
  else if (prio_ready_contains (&node->queue))
    {
      prio_ready_remove (&entry->run_queue->loop->ready, &entry->run_queue->ready, &node->queue);
    }
  boost (node);
  prio_run_queue_make_ready (entry->run_queue, &node->queue);
}

/* Computes the levels of the marked nodes, and of all nodes to which they lend. */
static void
settle (PrioLending *self)
{
  GPtrArray *marked = self->marked;

  for (guint i = 0; i < marked->len; i++)
    take_back (self, marked->pdata[i]);
  for (guint i = 0; i < marked->len; i++)
    update_level (marked->pdata[i]);
  for (guint i = 0; i < marked->len; i++)
    lend_level (self, marked->pdata[i]);
  for (guint i = 0; i < marked->len; i++)
    {
      PrioLendNode *node = marked->pdata[i];

      node->marked = FALSE;
      place (node);
    }
  g_ptr_array_set_size (marked, 0);
}

/* Settles the levels after a change of @node, or of the waits for it. */
static void
update (PrioLending *self, PrioLendNode *node)
{
  check (self, node);
  settle (self);
}

/* Settles the levels after @group has changed its priority or was aborted.  The group's tasks may wait for each other,
 * so all nodes are settled together.  An aborted task does not lend its own priority. */
void
prio_lending_group_changed (PrioGroup *group)
{
  PrioLending *self = group->run_queue->loop->lending;
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);
  GHashTableIter iter;
  gpointer node;

  if (nodes == NULL)
    return;

  g_hash_table_iter_init (&iter, nodes);
  while (g_hash_table_iter_next (&iter, &node, NULL))
    check (self, node);
  settle (self);
}

/* The functions from here on create, find and release nodes. */

static void
join (PrioLending *self, PrioLendNode *node, PrioGroup *group)
{
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);

  if (group == NULL)
    return;
  if (nodes == NULL)
    {
      nodes = g_hash_table_new (NULL, NULL);
      g_hash_table_insert (self->by_group, group, nodes);
    }
  g_hash_table_add (nodes, node);
  prio_group_hold (group);
}

static void
part (PrioLending *self, PrioLendNode *node, PrioGroup *group)
{
  GHashTable *nodes = g_hash_table_lookup (self->by_group, group);

  if (group == NULL)
    return;
  g_hash_table_remove (nodes, node);
  if (g_hash_table_size (nodes) == 0)
    g_hash_table_remove (self->by_group, group);
  prio_group_release (group);
}

static void
set_groups (PrioLending *self, PrioLendNode *node, PrioGroup *abort, PrioGroup *follows, guint8 priority)
{
  node->abort = abort;
  node->follows = follows;
  node->priority = priority;
  join (self, node, abort);
  join (self, node, follows != abort ? follows : NULL);
}

/* Reads the groups and the priority of the node's entry, which has been posted. */
static void
learn (PrioLending *self, PrioLendNode *node)
{
  PrioEntry *entry = node->entry;

  if (node->follows == NULL && node->priority == 0)
    set_groups (self, node, entry->abort, entry->follows, entry->priority);
  update_level (node);
}

static PrioLendNode *
node_of_entry (PrioLending *self, PrioEntry *entry)
{
  PrioLendNode *node;

  if (entry->lends)
    return g_hash_table_lookup (self->by_entry, entry);

  node = g_new0 (PrioLendNode, 1);
  node->users = 1;
  node->entry = entry;
  prio_queue_init (&node->queue, entry->run_queue, 0, PRIO_QUEUE_ENTRIES);
  g_hash_table_insert (self->by_entry, entry, node);
  entry->lends = TRUE;
  if (prio_entry_get_state (entry) != PRIO_ENTRY_NEW && prio_entry_get_state (entry) != PRIO_ENTRY_DONE)
    learn (self, node);
  return node;
}

/* Returns a node for code that is not known to be a task.  The node waits with the priority of @state. */
static PrioLendNode *
node_of_state (PrioLending *self, const PrioState *state)
{
  PrioGroup *follows = state->priority == PRIO_TASK_PRIORITY_UNSET ? state->group : NULL;
  PrioLendNode *node = g_new0 (PrioLendNode, 1);

  set_groups (self, node, state->group, follows, (guint8) state->priority);
  update_level (node);
  return node;
}

/* Returns the node of @entry, which begins to run, in a scheduler that lends.  The caller releases the node. */
PrioLendNode *
prio_lending_begin (PrioEntry *entry)
{
  return prio_lending_hold (node_of_entry (entry->run_queue->loop->lending, entry));
}

PrioLendNode *
prio_lending_hold (PrioLendNode *node)
{
  node->users++;
  return node;
}

void
prio_lending_release (PrioLoop *loop, PrioLendNode *node)
{
  if (--node->users > 0)
    return;

  g_assert (node->waits.length == 0);
  for (guint priority = 0; priority < N_PRIORITIES; priority++)
    g_assert (node->lenders[priority].length == 0);
  part (loop->lending, node, node->follows != node->abort ? node->follows : NULL);
  part (loop->lending, node, node->abort);
  g_free (node);
}

/* Returns the priority at which the task of @node runs: its own, or the lent one. */
guint8
prio_lending_get_level (const PrioLendNode *node)
{
  return node->level;
}

/* Boosts @entry, which is about to be queued, if a higher priority is lent to it and its timeout has not passed. */
void
prio_lending_prepare (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *node = node_of_entry (self, entry);

  learn (self, node);
  if (node->level > own (node) && entry->timed != PRIO_TIMED_EXPIRED)
    boost (node);
}

/* Ends the boost of @entry, which runs next, has passed its timeout or is DROPPED.  @entry follows its group again. */
void
prio_lending_rejoin (PrioEntry *entry)
{
  entry->boosted = FALSE;
  entry->follows = node_of_entry (entry->run_queue->loop->lending, entry)->follows;
  if (entry->stored_state == PRIO_ENTRY_QUEUED && prio_entry_is_of_group (entry))
    entry->abort->n_elsewhere--;
}

PrioQueue *
prio_lending_get_queue (PrioEntry *entry)
{
  return &node_of_entry (entry->run_queue->loop->lending, entry)->queue;
}

/* Returns the priority of @entry, which is boosted, without the boost. */
PrioTaskPriority
prio_lending_get_base_priority (PrioEntry *entry)
{
  const PrioLendNode *node = node_of_entry (entry->run_queue->loop->lending, entry);

  return node->follows != NULL ? prio_group_get_priority (node->follows) : (PrioTaskPriority) entry->priority;
}

/* The functions from here on begin and end waits. */

/* Begins a wait.  Does nothing if either node is NULL, which stands for an unknown task. */
static void
begin_wait (PrioLending *self, PrioLendNode *waiter, PrioLendNode *awaited)
{
  PrioLendWait *wait;

  if (waiter == NULL || awaited == NULL)
    return;

  wait = g_new (PrioLendWait, 1);
  *wait = (PrioLendWait) { .waiter = prio_lending_hold (waiter), .awaited = awaited, .of_waiter.data = wait, .of_awaited.data = wait };
  g_queue_push_tail_link (&waiter->waits, &wait->of_waiter);
  add_lender (wait, waiter->level);
  update (self, awaited);
}

/* Ends @wait, but does not update the awaited node. */
static void
end_wait (PrioLoop *loop, PrioLendWait *wait)
{
  g_queue_unlink (&wait->waiter->waits, &wait->of_waiter);
  g_queue_unlink (&wait->awaited->lenders[wait->lent], &wait->of_awaited);
  prio_lending_release (loop, wait->waiter);
  g_free (wait);
}

/* Ends all waits for the task of @node.  If @aborted, ends the waits of that task too. */
static void
end_waits (PrioLoop *loop, PrioLendNode *node, gboolean aborted)
{
  node->aborted |= aborted;
  for (guint priority = 0; priority < N_PRIORITIES; priority++)
    {
      while (node->lenders[priority].length > 0)
        end_wait (loop, node->lenders[priority].head->data);
    }
  update (loop->lending, node);
  while (aborted && node->waits.length > 0)
    {
      PrioLendWait *wait = node->waits.head->data;
      PrioLendNode *awaited = wait->awaited;

      end_wait (loop, wait);
      update (loop->lending, awaited);
    }
}

/* Begins a wait for the task of @entry, which has no result yet.  @waiter is the node of the waiting task, or NULL if
 * the waiting code only has @state. */
void
prio_lending_wait (const PrioState *state, PrioLendNode *waiter, PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;
  PrioLendNode *awaited = node_of_entry (self, entry);

  begin_wait (self, waiter != NULL ? waiter : node_of_state (self, state), awaited);
}

/* Ends the waits for @entry, which has run or was dropped.  If a binding keeps the node of a number (prio-number), the
 * waits continue, because the binding's task has no result yet. */
void
prio_lending_end (PrioEntry *entry, gboolean aborted)
{
  PrioLoop *loop = entry->run_queue->loop;
  PrioLendNode *node = node_of_entry (loop->lending, entry);

  g_hash_table_remove (loop->lending->by_entry, entry);
  entry->lends = FALSE;
  node->entry = NULL;

  if (node->kept_as == 0 || entry->funcs->run != NULL)
    end_waits (loop, node, aborted);
  prio_lending_release (loop, node);
}

/* The functions below are for language bindings. */

static guint
keep (PrioLending *self, PrioLendNode *node)
{
  if (node->kept_as != 0)
    return node->kept_as;

  do
    node->kept_as = ++self->last_kept;
  while (node->kept_as == 0 || g_hash_table_contains (self->kept, GUINT_TO_POINTER (node->kept_as)));
  g_hash_table_insert (self->kept, GUINT_TO_POINTER (node->kept_as), prio_lending_hold (node));
  return node->kept_as;
}

/* Keeps the node of @entry for a binding, until the binding calls prio_lending_drop ().  Returns the node's number. */
guint
prio_lending_keep (PrioEntry *entry)
{
  PrioLending *self = entry->run_queue->loop->lending;

  return keep (self, node_of_entry (self, entry));
}

/* Keeps a node for a binding's task that has begun with @state.  Returns the node's number. */
guint
prio_lending_keep_state (PrioLoop *loop, const PrioState *state)
{
  return keep (loop->lending, node_of_state (loop->lending, state));
}

static PrioLendNode *
find_kept (PrioLoop *loop, guint number)
{
  return loop->lending != NULL ? g_hash_table_lookup (loop->lending->kept, GUINT_TO_POINTER (number)) : NULL;
}

/* Drops the node that a binding has kept for a task.  The binding calls this when the task has a result.  The waits of
 * the task end too, so the binding does not report their ends. */
void
prio_lending_drop (PrioLoop *loop, guint number)
{
  PrioLendNode *node = find_kept (loop, number);

  if (node == NULL)
    return;
  g_hash_table_remove (loop->lending->kept, GUINT_TO_POINTER (number));
  node->kept_as = 0;
  end_waits (loop, node, TRUE);
  prio_lending_release (loop, node);
}

/* Drops all kept nodes after the end of the context.  Returns whether there were any. */
gboolean
prio_lending_drop_all (PrioLoop *loop)
{
  g_autofree gpointer *numbers = NULL;
  guint n = 0;

  if (loop->lending != NULL)
    numbers = g_hash_table_get_keys_as_array (loop->lending->kept, &n);
  for (guint i = 0; i < n; i++)
    prio_lending_drop (loop, GPOINTER_TO_UINT (numbers[i]));
  return n > 0;
}

void
prio_lending_begin_wait (PrioLoop *loop, guint waiter, guint awaited)
{
  begin_wait (loop->lending, find_kept (loop, waiter), find_kept (loop, awaited));
}

/* Begins a wait of the task @waiter for its own continuation, whose entry is @entry. */
void
prio_lending_begin_wait_for_entry (PrioLoop *loop, guint waiter, PrioEntry *entry)
{
  begin_wait (loop->lending, find_kept (loop, waiter), node_of_entry (loop->lending, entry));
}

/* Ends the wait of @waiter for @awaited, which has no result yet. */
void
prio_lending_end_wait (PrioLoop *loop, guint waiter, guint awaited)
{
  PrioLendNode *by = find_kept (loop, waiter), *node = find_kept (loop, awaited);
  GList *link = by != NULL ? by->waits.head : NULL;

  while (link != NULL && ((PrioLendWait *) link->data)->awaited != node)
    link = link->next;
  if (link == NULL)
    return;

  end_wait (loop, link->data);
  update (loop->lending, node);
}
