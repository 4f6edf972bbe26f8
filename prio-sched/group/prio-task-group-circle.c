/* prio-task-group-circle.c: tasks of groups that wait for other groups, and would do so for ever
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "group/prio-task-group-private.h"

/* A search along the waits of groups for each other. */
typedef struct
{
  gboolean back;       /* from those that are waited for to those that wait */
  GHashTable *seen;
  GPtrArray *left;     /* those of @seen that are not looked at yet */
  GHashTableIter next; /* through what is next to the last that was, if @has_next */
  gboolean has_next;
} Search;

static void
search_begin (Search *self, PrioTaskGroup *from, gboolean back)
{
  *self = (Search) { .back = back, .seen = g_hash_table_new (NULL, NULL), .left = g_ptr_array_new () };
  g_hash_table_add (self->seen, from);
  g_ptr_array_add (self->left, from);
}

static void
search_end (Search *self)
{
  g_hash_table_unref (self->seen);
  g_ptr_array_unref (self->left);
}

/* Takes one step, whose cost does not depend on anything.  Sets @found to whether it has come to what @other has seen.
 *
 * Returns: FALSE if there is nothing left */
static gboolean
search_step (Search *self, Search *other, gboolean *found)
{
  GHashTable *next_to;
  gpointer group;

  self->has_next = self->has_next && g_hash_table_iter_next (&self->next, &group, NULL);
  if (self->has_next)
    {
      *found = g_hash_table_contains (other->seen, group);
      if (g_hash_table_add (self->seen, group))
        g_ptr_array_add (self->left, group);
      return TRUE;
    }
  if (self->left->len == 0)
    return FALSE;

  group = g_ptr_array_steal_index_fast (self->left, self->left->len - 1);
  next_to = self->back ? ((PrioTaskGroup *) group)->waited_by : ((PrioTaskGroup *) group)->waits_for;
  self->has_next = next_to != NULL;
  if (next_to != NULL)
    g_hash_table_iter_init (&self->next, next_to);
  return TRUE;
}

static gboolean
is_empty (GHashTable *groups)
{
  return groups == NULL || g_hash_table_size (groups) == 0;
}

/* Whether the tasks of @from wait for @to, or for a group whose tasks do.  It is searched from both sides, as there may be much on
 * one of them: a chain may grow at either end. */
static gboolean
leads_to (PrioTaskGroup *from, PrioTaskGroup *to)
{
  Search forth, back;
  gboolean found = FALSE;

  if (is_empty (from->waits_for) || is_empty (to->waited_by))
    return FALSE;

  search_begin (&forth, from, FALSE);
  search_begin (&back, to, TRUE);
  while (!found && search_step (&forth, &back, &found) && !found && search_step (&back, &forth, &found))
    ;
  search_end (&forth);
  search_end (&back);
  return found;
}

/* One wait more, or less, of a task of @group for @other. */
static void
count_crossing (PrioTaskGroup *group, PrioTaskGroup *other, int more)
{
  guint before, n;

  if (group->waits_for == NULL)
    group->waits_for = g_hash_table_new (NULL, NULL);
  if (other->waited_by == NULL)
    other->waited_by = g_hash_table_new (NULL, NULL);

  before = GPOINTER_TO_UINT (g_hash_table_lookup (group->waits_for, other));
  n = before + (guint) more;
  if (n > 0)
    g_hash_table_insert (group->waits_for, other, GUINT_TO_POINTER (n));
  else
    g_hash_table_remove (group->waits_for, other);
  if (before == 0)
    g_hash_table_add (other->waited_by, group);
  else if (n == 0)
    g_hash_table_remove (other->waited_by, group);
}

void
prio_wait_begin_crossing (PrioWait *wait, PrioMember *member)
{
  wait->crossing = member;
  wait->crossing_link.data = wait;
  if (member->crossing.length == 0)
    {
      member->crossing_link.data = member;
      g_queue_push_tail_link (&member->group->crossing, &member->crossing_link);
    }
  g_queue_push_tail_link (&member->crossing, &wait->crossing_link);
  count_crossing (member->group, wait->group, 1);
}

void
prio_wait_end_crossing (PrioWait *wait)
{
  PrioMember *member = g_steal_pointer (&wait->crossing);

  if (member == NULL)
    return;

  g_queue_unlink (&member->crossing, &wait->crossing_link);
  if (member->crossing.length == 0)
    g_queue_unlink (&member->group->crossing, &member->crossing_link);
  count_crossing (member->group, wait->group, -1);
}

/* A wait for the group of @member, which has completed, does not wait for what that waits for. */
void
prio_task_group_leave_crossing (PrioMember *member)
{
  while (member->crossing.length > 0)
    prio_wait_end_crossing (member->crossing.head->data);
}

/* All groups for which those of @from wait, it among them. */
static GPtrArray *
list_awaited (PrioTaskGroup *from)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *all = g_ptr_array_new ();

  g_hash_table_add (seen, from);
  g_ptr_array_add (all, from);
  for (guint i = 0; i < all->len; i++)
    {
      PrioTaskGroup *group = all->pdata[i];
      GHashTableIter iter;
      gpointer next;

      if (group->waits_for == NULL)
        continue;
      g_hash_table_iter_init (&iter, group->waits_for);
      while (g_hash_table_iter_next (&iter, &next, NULL))
        {
          if (g_hash_table_add (seen, next))
            g_ptr_array_add (all, next);
        }
    }
  return all;
}

/* Whether there is a task in @group that waits for no group.  Those that are queued count if they can begin. */
static gboolean
has_free (PrioTaskGroup *group)
{
  guint n_held = group->n_waiting + prio_task_group_n_held_back (group);

  for (GList *link = group->crossing.head; link != NULL; link = link->next)
    n_held += ((PrioMember *) link->data)->n_waits == 0;
  return group->n_open > n_held;
}

/* The waits that are blocked for one of two reasons may end now.  Adds tasks that have no other to @free. */
static void
unblock (PrioWait **blocked, GPtrArray *free)
{
  for (PrioWait *wait = g_steal_pointer (blocked); wait != NULL; wait = wait->next_blocked)
    {
      if (!wait->fails && --wait->crossing->n_blocked == 0)
        g_ptr_array_add (free, wait->crossing);
    }
}

/* The tasks in @free are not stuck, and so others are not. */
static void
propagate (GPtrArray *free)
{
  while (free->len > 0)
    {
      PrioTaskGroup *group = ((PrioMember *) g_ptr_array_steal_index_fast (free, free->len - 1))->group;

      unblock (&group->blocked_for_one, free);
      if (--group->n_stuck == 0)
        unblock (&group->blocked_for_all, free);
    }
}

static void
block (PrioTaskGroup *group)
{
  for (GList *link = group->crossing.head; link != NULL; link = link->next)
    {
      PrioMember *member = link->data;

      member->n_blocked = member->crossing.length;
      for (GList *crossing = member->crossing.head; crossing != NULL; crossing = crossing->next)
        {
          PrioWait *wait = crossing->data;
          PrioWait **blocked = prio_wait_is_for_all (wait) ? &wait->group->blocked_for_all : &wait->group->blocked_for_one;

          wait->fails = FALSE;
          wait->next_blocked = *blocked;
          *blocked = wait;
        }
    }
}

/* Finds the tasks that are stuck among those of @from, and of all groups for which these wait.  All that wait are taken for stuck, until
 * it is found which are not: one that waits for all of a group is if one of its tasks is, and one that waits for one of them if all are.
 * Each wait is visited once when it is blocked, and once when it is not any more. */
static void
find_stuck (PrioTaskGroup *from)
{
  g_autoptr (GPtrArray) groups = list_awaited (from);
  g_autoptr (GPtrArray) free = g_ptr_array_new ();

  for (guint i = 0; i < groups->len; i++)
    {
      PrioTaskGroup *group = groups->pdata[i];

      group->blocked_for_one = group->blocked_for_all = NULL;
      group->n_stuck = group->crossing.length;
    }
  for (guint i = 0; i < groups->len; i++)
    block (groups->pdata[i]);
  for (guint i = 0; i < groups->len; i++)
    {
      PrioTaskGroup *group = groups->pdata[i];

      if (group->n_stuck == 0)
        unblock (&group->blocked_for_all, free);
      if (has_free (group))
        unblock (&group->blocked_for_one, free);
    }
  propagate (free);
}

/* Whether @wait, which its task has begun just now, could end only after that has. */
gboolean
prio_wait_closes_circle (PrioWait *wait)
{
  PrioMember *member = wait->crossing;

  if (!leads_to (wait->group, member->group))
    return FALSE;
  find_stuck (member->group);
  return member->n_blocked > 0;
}

/* Whether waits of other groups for one task of @self, which has one task less that waits for nothing, may have lost the last that
 * could end them. */
static gboolean
may_be_stuck (PrioTaskGroup *self)
{
  guint n_held = self->n_waiting + self->crossing.length + prio_task_group_n_held_back (self);

  return self->waits[PRIO_TASK_GROUP_ANY][0].length + self->waits[PRIO_TASK_GROUP_FIRST][0].length > 0 && self->n_open <= n_held &&
         leads_to (self, self);
}

/* Whether such a wait is stuck: a task of @self has begun to wait for it. */
gboolean
prio_task_group_is_stuck (PrioTaskGroup *self)
{
  if (!may_be_stuck (self))
    return FALSE;
  find_stuck (self);
  return self->blocked_for_one != NULL;
}

static gint
compare_age (gconstpointer a, gconstpointer b)
{
  const PrioWait *one = *(PrioWait *const *) a, *other = *(PrioWait *const *) b;

  return one->order < other->order ? 1 : -(one->order > other->order);
}

/* A task of @self has ended without success.  Lists those waits that are stuck for that, and have to fail: the youngest, and the next if
 * that is not enough.
 *
 * Returns: (transfer full) (nullable) */
GPtrArray *
prio_task_group_list_stuck (PrioTaskGroup *self)
{
  g_autoptr (GPtrArray) free = NULL;
  GPtrArray *waits;
  guint n = 0;

  if (!prio_task_group_is_stuck (self))
    return NULL;

  free = g_ptr_array_new ();
  waits = g_ptr_array_new ();
  for (PrioWait *wait = self->blocked_for_one; wait != NULL; wait = wait->next_blocked)
    g_ptr_array_add (waits, wait);
  g_ptr_array_sort (waits, compare_age);
  while (n < waits->len && self->blocked_for_one != NULL)
    {
      PrioWait *wait = waits->pdata[n++];

      wait->fails = TRUE;
      if (--wait->crossing->n_blocked == 0)
        g_ptr_array_add (free, wait->crossing);
      propagate (free);
    }
  g_ptr_array_set_size (waits, (gint) n);
  return waits;
}
