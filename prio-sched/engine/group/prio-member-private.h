/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-member-private.h: members: the tasks of a group */

#pragma once

#include "group/prio-task-group-impl-private.h"

/* A task of a group, from its post to its completion. */
struct _PrioMember
{
  gint refs;            /* atomic: held by its user data, its reaction, its waits, and by code that drops it */
  gint left;            /* atomic: it is no longer pending */
  PrioTaskGroup *group; /* held */
  PrioTask *task;       /* not held: the library holds it while it is queued, and while its function runs */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  GList link;           /* in the group's @queued until the function begins; its data is the member, or NULL */
  PrioMember *outer;    /* the member whose function called this one's, or NULL */
  guint number;         /* in states of its function and continuations, and for prio_task_group_number (); or 0 */
  guint n_waits;        /* for its own group: then it is not waited for, and its place is free */
  gboolean has_place;   /* FALSE while its function runs in a thread: those places are counted, and passed on */
  gboolean in_thread;   /* its function runs in a thread */
  gboolean completed;   /* its result has been reported to the waits */
};

extern GParamSpec *prio_task_group_pending G_GNUC_INTERNAL; /* the property; set with the class */

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
