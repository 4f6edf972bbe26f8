/* prio-task-group-private.h: the fields of PrioTaskGroup, for prio-task-group*.c only
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "prio-task-controller.h"
#include "prio-task-group.h"

/* A task of a group, from its post to its completion. */
typedef struct
{
  gint refs;            /* its user data, its reaction, and its waits */
  PrioTaskGroup *group; /* held */
  PrioTask *task;       /* not held: the library holds it while it is queued, and while its function runs */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  GList link;      /* in @queued of the group until the function begins; its data is the member */
  gboolean begun;  /* it has a place: it counts until its result is there */
  gboolean completed;
  guint n_waits;   /* it has called wait_async () in its function, so that nobody waits for it, and its place is free */
} PrioMember;

struct _PrioTaskGroup
{
  GObject parent_instance;

  GWeakRef scheduler;
  PrioScheduler *places; /* an inner one, which has the tasks; paused while no place is free */
  PrioTaskController *controller; /* of the tasks since the last abort */
  PrioTaskPriority first_priority;

  guint limit;
  guint n_pending; /* queued or begun */
  guint n_begun;   /* those of them that have a place */
  guint n_waiting; /* those of them that wait for the others */
  gboolean will_notify; /* `pending` has changed */

  GQueue queued;       /* members, the oldest first */
  PrioMember *running; /* whose function is on the stack, innermost, or NULL */
  GQueue waits;        /* GTask, held */
};

void prio_member_unref (PrioMember *member);
void prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *task);
void prio_task_group_pending_changed (PrioTaskGroup *self);
void prio_task_group_update_places (PrioTaskGroup *self);
gboolean prio_check_task_group (const char *function, PrioTaskGroup *self);
