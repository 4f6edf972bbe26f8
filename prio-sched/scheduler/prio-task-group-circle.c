/* prio-task-group-circle.c: tasks of groups that wait for other groups, and would do so for ever
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-task-group-private.h"

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

/* Whoever waits for the group of @member, which has completed, does not wait for what that waits for. */
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

static void
set_stuck (PrioTaskGroup *group, gboolean stuck)
{
  group->n_stuck = stuck ? group->crossing.length : 0;
  for (GList *link = group->crossing.head; link != NULL; link = link->next)
    ((PrioMember *) link->data)->stuck = stuck;
}

/* Whether there is a task in @group that waits for no group.  Those that are queued count if they can begin. */
static gboolean
has_free (PrioTaskGroup *group)
{
  guint n_held = group->n_waiting + (group->n_begun >= group->limit ? group->queued.length : 0);

  for (GList *link = group->crossing.head; link != NULL; link = link->next)
    n_held += ((PrioMember *) link->data)->n_waits == 0;
  return group->n_open > n_held;
}

/* Whether @wait ends although the tasks that are stuck do not. */
static gboolean
may_end (PrioWait *wait)
{
  PrioTaskGroup *group = wait->group;

  if (prio_wait_is_for_all (wait))
    return group->n_stuck == 0;
  return group->n_stuck < group->crossing.length || has_free (group);
}

/* Finds tasks of @group that are not stuck.  Returns whether there were any. */
static gboolean
free_some (PrioTaskGroup *group)
{
  guint n_before = group->n_stuck;

  for (GList *link = group->crossing.head; link != NULL; link = link->next)
    {
      PrioMember *member = link->data;
      GList *wait = member->crossing.head;

      while (wait != NULL && may_end (wait->data))
        wait = wait->next;
      if (wait == NULL && member->stuck)
        {
          member->stuck = FALSE;
          group->n_stuck--;
        }
    }
  return group->n_stuck < n_before;
}

/* Whether @wait, which its task has begun just now, could end only after that has.  All that wait are taken for stuck, until it is
 * found who is not: who waits for all of a group is if one of its tasks is, and who waits for one of them if all are. */
gboolean
prio_wait_closes_circle (PrioWait *wait)
{
  PrioMember *member = wait->crossing;
  g_autoptr (GPtrArray) groups = NULL;
  gboolean freed, stuck;

  if (!leads_to (wait->group, member->group))
    return FALSE;

  groups = list_awaited (member->group);
  for (guint i = 0; i < groups->len; i++)
    set_stuck (groups->pdata[i], TRUE);
  do
    {
      freed = FALSE;
      for (guint i = groups->len; i > 0; i--)
        freed |= free_some (groups->pdata[i - 1]);
    }
  while (freed && member->stuck);

  stuck = member->stuck;
  for (guint i = 0; i < groups->len; i++)
    set_stuck (groups->pdata[i], FALSE);
  return stuck;
}
