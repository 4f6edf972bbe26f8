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

  PrioRunQueue *places; /* the group's part of the scheduler's run queue; its tasks do not run while no place is free */
  PrioTaskController *controller; /* controls the tasks that were posted since the last abort */
  PrioCombined combined; /* signals that combine the signal of @controller with the signal of a task */
  guint number; /* the group's number in debug messages */

  /* Only the thread that runs the context uses these fields, except @n_tasks, which is atomic. */
  guint limit;
  guint n_tasks; /* tasks that are queued, or have begun and have no result */
  guint n_open;    /* tasks whose result the waits have not got, plus one while feeds will post more */
  guint n_begun;   /* tasks that have a place */
  guint n_queued_in_threads; /* members of @queued whose function runs in a thread */
  guint n_taking; /* calls on the stack that cancel or abort queued tasks; meanwhile, no function begins in a thread */
  guint n_waiting; /* tasks in @n_open that wait for this group; waits of members do not wait for them */
  gboolean will_notify; /* whether a microtask will notify `n-tasks` */
  gboolean return_on_abort; /* the `return-on-abort` of tasks that are posted from now on */

  GQueue queued;       /* members, the oldest first */
  PrioMember *running; /* the innermost member whose function is on the stack, or NULL */

  GQueue waits[PRIO_TASK_GROUP_WAIT_FIRST + 1][2]; /* PrioWait, by condition, and by whether a member is waiting */
  guint n_waits;          /* the length of all @waits */
  guint64 next_wait;      /* the age of the next PrioWait */
  guint64 n_failed;       /* tasks that were not fulfilled */
  GError *last_error;     /* the error of the task that failed last, while there are waits for any task; or NULL */

  PrioPlaces *threads; /* limits the functions in threads; NULL until needed */
};
