/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-impl-private.h: the fields of PrioTaskGroup */

#pragma once

#include "group/prio-combined-private.h"
#include "post/prio-scheduler-thread-private.h"
#include "task/prio-task-impl-private.h"
#include "prio-task-controller.h"

typedef struct _PrioMember PrioMember;

struct _PrioTaskGroup
{
  GObject parent_instance;

  PrioRunQueue *places; /* a part of the scheduler's, with the group's tasks; held back while no place is free */
  PrioTaskController *controller; /* of the tasks since the last abort */
  PrioCombined combined; /* signals that depend on the signal of @controller */
  guint number; /* in debug messages */

  /* Only for the thread that runs the context, except @n_pending, which is atomic. */
  guint limit;
  guint n_pending; /* queued or begun */
  guint n_open;    /* pending tasks, tasks whose result is not reported to the waits yet, and one if it is fed */
  guint n_begun;   /* tasks that have a place */
  guint n_queued_in_threads; /* of @queued */
  guint n_taking; /* calls that are ending queued tasks */
  guint n_waiting; /* of @n_open: tasks that wait for the others */
  gboolean will_notify; /* `pending` has changed */
  gboolean return_on_abort; /* of tasks that are posted from now on */

  GQueue queued;       /* members, the oldest first */
  PrioMember *running; /* with its function on the stack, innermost, or NULL */

  GQueue waits[PRIO_TASK_GROUP_WAIT_FIRST + 1][2]; /* by end, and by whether a member of the group waits */
  guint n_waits;          /* in all of @waits */
  guint64 next_wait;
  guint64 n_failed;       /* tasks that were not fulfilled */
  GError *last_error;     /* the error of the last failed task while there are waits for any, or NULL */

  PrioPlaces *threads; /* works that wait for a place in a thread; NULL until needed */
};
