/* prio-member-private.h: the tasks of a group: which are queued, which have a place, and how many are pending
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "group/prio-task-group-impl-private.h"

/* A task of a group, from its post to its completion. */
struct _PrioMember
{
  gint refs;            /* atomic: its user data, its reaction, its waits, and who drops it */
  gint left;            /* atomic: it is not pending any more */
  PrioTaskGroup *group; /* held */
  PrioTask *task;       /* not held: the library holds it while it is queued, and while its function runs */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  GList link;           /* in @queued of the group until the function begins; its data is the member, or NULL */
  PrioMember *outer;    /* whose function was on the stack when its own was called, or NULL */
  guint number;         /* in the states of its function and of all that goes on from there, and for who asks; or 0 */
  guint n_waits;        /* for its own group: nobody waits for it, and its place is free */
  gboolean has_place;   /* not while its function runs in a thread: those places are counted, and change hands */
  gboolean in_thread;   /* its function runs in one */
  gboolean completed;   /* the waits have heard of its result */
};

extern GParamSpec *prio_task_group_pending G_GNUC_INTERNAL; /* the property, set with the class */

PrioMember *prio_member_ref (PrioMember *member);
void prio_member_unref (PrioMember *member);
void prio_member_release (gpointer member);
PrioMember *prio_member_current (PrioLoop *loop);
PrioMember *prio_member_find (PrioTaskGroup *self, guint number);
void prio_member_enqueue (PrioMember *member);
void prio_member_take_out_of_queue (gpointer member);
void prio_member_begin (PrioMember *member);
void prio_member_take_place (PrioMember *member);
void prio_member_leave_place (PrioMember *member);
void prio_member_leave (PrioMember *member);
void prio_task_group_pending_changed (PrioTaskGroup *self);
void prio_task_group_update_places (PrioTaskGroup *self);
