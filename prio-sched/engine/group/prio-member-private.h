/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-member-private.h: the tasks of a group, called its members, and their places in the limit */

#pragma once

#include "group/prio-task-group-impl-private.h"

/* A task of a group, from its post to its completion. */
struct _PrioMember
{
  gint refs;            /* held by the user data, the callback, each wait, and the running function; atomic */
  gint left;            /* whether the task has left the group; atomic */
  PrioTaskGroup *group; /* owned */
  PrioTask *task;       /* not owned: the library owns the task while it is queued, and while its function runs */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  GList link;           /* in the group's @queued until the function begins; @link.data is NULL afterwards */
  PrioMember *outer;    /* the member whose function is on the stack below this member's function, or NULL */
  guint number;         /* identifies the member in scheduling states, and for prio_task_group_number (); or 0 */
  guint n_waits;        /* the number of the task's waits for its own group; unless it is 0, the task has no place, and
                         * waits of members do not wait for the task */
  gboolean has_place;   /* whether the task has a place that the group counts; FALSE while its function runs in a
                         * thread, because threads pass places to each other */
  gboolean in_thread;   /* whether the function runs in a thread */
  gboolean completed;   /* whether the result has been reported to the waits */
};

extern GParamSpec *prio_task_group_n_tasks G_GNUC_INTERNAL; /* the property; set when the class is initialized */

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
void prio_task_group_n_tasks_changed (PrioTaskGroup *self);
void prio_task_group_update_places (PrioTaskGroup *self);
