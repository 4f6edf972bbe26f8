/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-member.c: the tasks of a group, called its members */

#include "config.h"

#include "group/prio-member-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-first-private.h"
#include "loop/prio-traits-private.h"

/* The largest number of a member.  Numbers are used in order, so the number of an ended task is not used again soon. */
#define MAX_NUMBER (G_MAXUINT - 1)

PrioLoop *
prio_task_group_get_loop (PrioTaskGroup *self)
{
  return self->places->loop;
}

PrioMember *
prio_member_ref (PrioMember *member)
{
  g_atomic_int_inc (&member->refs);
  return member;
}

void
prio_member_unref (PrioMember *member)
{
  if (!g_atomic_int_dec_and_test (&member->refs))
    return;

  g_object_unref (member->group);
  g_free (member);
}

/* Returns whether the next free place goes to a function in a thread. */
static gboolean
thread_is_next (PrioTaskGroup *self)
{
  PrioRunQueue *run_queue = self->places;
  PrioTaskPriority priority;
  guint64 order;
  PrioEffective effective;
  PrioQueue *first;
  gboolean is_next;

  if (!prio_places_peek (self->threads, &priority, &order))
    return FALSE;
  if (self->queued.length == self->n_queued_in_threads)
    return TRUE;
  if (!prio_loop_enter (run_queue->loop))
    return FALSE;

  effective = prio_effective (priority, FALSE);
  first = prio_run_queue_first (run_queue);
  is_next = first == NULL || first->effective < effective || (first->effective == effective && first->head->order > order);
  prio_loop_leave (run_queue->loop);
  return is_next;
}

/* Lets functions in threads begin.  Call this when a place may be free, or when other tasks were queued or removed. */
static void
let_threads_in (PrioTaskGroup *self)
{
  while (self->n_taking == 0 && self->n_begun < self->limit && thread_is_next (self) && prio_places_let_in (self->threads))
    self->n_begun++;
  prio_places_set_passes (self->threads, self->n_taking == 0 && self->n_begun <= self->limit &&
                                             self->queued.length == self->n_queued_in_threads);
}

/* Lets functions in threads begin while places are free, and stops other tasks while none is free.  Other tasks are in a
 * part of the scheduler's run queue, where they keep their order, so the next task is found without a search. */
void
prio_task_group_update_places (PrioTaskGroup *self)
{
  PrioRunQueue *run_queue = self->places;
  gboolean full;

  if (self->threads != NULL)
    let_threads_in (self);
  full = self->n_begun >= self->limit;
  if (full == run_queue->full || !prio_loop_enter (run_queue->loop))
    return;

  prio_run_queue_set_full (run_queue, full);
  prio_loop_leave (run_queue->loop);
}

void
prio_member_enqueue (PrioMember *member)
{
  PrioTaskGroup *self = member->group;

  member->link.data = member;
  g_queue_push_tail_link (&self->queued, &member->link);
  self->n_queued_in_threads += member->in_thread;
  if (self->threads != NULL)
    prio_task_group_update_places (self);
}

/* Removes the member @data from the queue, because its function begins or its task has its result. */
void
prio_member_take_out_of_queue (gpointer data)
{
  PrioMember *member = data;
  PrioTaskGroup *self = member->group;
  PrioLoop *loop = prio_task_group_get_loop (self);

  /* After the end of the context, the group does not use its queue any more. */
  if (!prio_loop_enter (loop))
    return;

  if (member->link.data != NULL)
    {
      g_queue_unlink (&self->queued, &member->link);
      member->link.data = NULL;
      self->n_queued_in_threads -= member->in_thread;
    }
  prio_loop_leave (loop);
  if (self->threads != NULL)
    prio_task_group_update_places (self);
}

/* The members that have a number, of all groups of a loop. */
typedef struct
{
  GHashTable *by_number; /* number → PrioMember, not owned; NULL until needed */
  guint last;            /* the number that was used last */
} Members;

static void
members_clear (gpointer record)
{
  g_clear_pointer (&((Members *) record)->by_number, g_hash_table_unref);
}

static Members *
members_of (PrioLoop *loop)
{
  static const PrioSlotFuncs funcs = { .size = sizeof (Members), .clear = members_clear };

  return prio_loop_ensure_slot (loop, PRIO_SLOT_GROUP, &funcs);
}

/* Returns the number of @member, and gives it one if necessary.  Called only on the owner thread. */
static guint
number (PrioMember *member)
{
  Members *members = members_of (prio_task_group_get_loop (member->group));

  if (member->number != 0)
    return member->number;
  if (members->by_number == NULL)
    members->by_number = g_hash_table_new (NULL, NULL);
  do
    members->last = members->last % MAX_NUMBER + 1;
  while (g_hash_table_contains (members->by_number, GUINT_TO_POINTER (members->last)));
  member->number = members->last;
  g_hash_table_insert (members->by_number, GUINT_TO_POINTER (member->number), member);
  return member->number;
}

/* Releases the user data of a member, and its number, when the task no longer needs them. */
void
prio_member_release (gpointer data)
{
  PrioMember *member = data;
  PrioLoop *loop = prio_task_group_get_loop (member->group);

  prio_member_take_out_of_queue (member);
  if (member->number != 0 && prio_loop_enter (loop))
    {
      g_hash_table_remove (members_of (loop)->by_number, GUINT_TO_POINTER (member->number));
      prio_loop_leave (loop);
    }
  if (member->notify != NULL)
    member->notify (member->data);
  prio_member_unref (member);
}

static PrioMember *
find (PrioLoop *loop, guint number)
{
  GHashTable *by_number = members_of (loop)->by_number;

  return number != 0 && by_number != NULL ? g_hash_table_lookup (by_number, GUINT_TO_POINTER (number)) : NULL;
}

/* Returns the member whose function or continuation calls this, unless its task has left the group; otherwise NULL. */
PrioMember *
prio_member_current (PrioLoop *loop)
{
  const PrioState *state = prio_state_of_thread ();
  PrioMember *member;

  if (state == NULL || state->traits == NULL || state->run_queue->loop != loop)
    return NULL;

  member = find (loop, prio_traits_of (state).member);
  return member != NULL && !member->left && member->group->places == state->run_queue ? member : NULL;
}

/* Returns the member @number of @self, or NULL if there is none or its task has its result. */
PrioMember *
prio_member_find (PrioTaskGroup *self, guint number)
{
  PrioMember *member = find (prio_task_group_get_loop (self), number);

  return member != NULL && member->group == self ? member : NULL;
}

PrioTask *
prio_task_group_find (PrioTaskGroup *self, guint number)
{
  PrioMember *member = prio_member_find (self, number);

  return member != NULL ? member->task : NULL;
}

static PrioMember *
member_of (PrioTask *task)
{
  return prio_task_get_entry (task)->job.data;
}

gpointer
prio_task_group_get_data (PrioTask *task)
{
  return member_of (task)->data;
}

guint
prio_task_group_number (PrioTask *task)
{
  return number (member_of (task));
}

/* Gives @member a place, which counts toward the limit.  Calls no destroy notify, so that no user code runs while places
 * are counted. */
void
prio_member_take_place (PrioMember *member)
{
  PrioTaskGroup *self = member->group;

  member->has_place = TRUE;
  self->n_begun++;
  prio_task_group_update_places (self);
}

void
prio_member_leave_place (PrioMember *member)
{
  PrioTaskGroup *self = member->group;

  prio_task_group_n_tasks_changed (self);
  if (!member->has_place)
    return;

  member->has_place = FALSE;
  self->n_begun--;
  prio_task_group_update_places (self);
}

void
prio_member_begin (PrioMember *member)
{
  /* Takes no place if an abort has come after the scheduler's queue gave out the task. */
  if (!member->left)
    {
      number (member);
      prio_member_take_place (member);
    }
  /* The member leaves the group's queue only when it has a place, so that no other task gets the place. */
  prio_member_take_out_of_queue (member);
}

GParamSpec *prio_task_group_n_tasks;

static void
notify_n_tasks (gpointer group)
{
  PrioTaskGroup *self = group;

  self->will_notify = FALSE;
  g_object_notify_by_pspec (G_OBJECT (self), prio_task_group_n_tasks);
}

/* Notifies `n-tasks`, in a microtask.  Several changes before the microtask are notified once. */
void
prio_task_group_n_tasks_changed (PrioTaskGroup *self)
{
  PrioMicrotask microtask = { .func = notify_n_tasks, .data = self, .notify = g_object_unref };
  PrioLoop *loop = prio_task_group_get_loop (self);

  if (self->will_notify || !prio_loop_enter (loop))
    return;

  self->will_notify = TRUE;
  prio_loop_queue_microtask (loop, &microtask);
  prio_loop_leave (loop);
  g_object_ref (self);
}

/* Removes the task from the group, if it has not left.  Any thread may call this function after the context's end. */
void
prio_member_leave (PrioMember *member)
{
  PrioTaskGroup *self = member->group;
  PrioLoop *loop = prio_task_group_get_loop (self);

  if (__atomic_exchange_n (&member->left, TRUE, __ATOMIC_ACQ_REL))
    return;

  prio_member_take_out_of_queue (member);
  __atomic_sub_fetch (&self->n_tasks, 1, __ATOMIC_RELEASE);
  if (!prio_loop_is_owner_thread (loop))
    return;

  prio_member_leave_place (member);
}
