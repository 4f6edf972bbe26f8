/* prio-task-group-impl-private.h: the fields of PrioTaskGroup
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "group/prio-combined-private.h"
#include "post/prio-scheduler-thread-private.h"
#include "task/prio-task-impl-private.h"
#include "prio-task-controller.h"

typedef struct _PrioMember PrioMember;

struct _PrioTaskGroup
{
  GObject parent_instance;

  PrioRunQueue *places; /* a part of the scheduler's, which has the tasks; held back while no place is free */
  PrioTaskController *controller; /* of the tasks since the last abort */
  PrioCombined combined; /* signals that depend on that of @controller */
  guint number; /* in debug messages */

  /* The thread that runs the context, but for @n_pending, which is atomic. */
  guint limit;
  guint n_pending; /* queued or begun */
  guint n_open;    /* those, and those whose result the waits have not heard of yet */
  guint n_begun;   /* those that have a place */
  guint n_queued_in_threads; /* of @queued */
  guint n_taking; /* calls that are ending what is queued */
  guint n_waiting; /* those of @n_open that wait for the others */
  gboolean will_notify; /* `pending` has changed */
  gboolean return_on_abort; /* of the tasks that are posted from now on */

  GQueue queued;       /* members, the oldest first */
  PrioMember *running; /* whose function is on the stack, innermost, or NULL */

  GQueue waits[PRIO_TASK_GROUP_FIRST + 1][2]; /* by what they wait for, and whether a member of the group does */
  guint64 next_wait;
  guint64 n_failed;       /* tasks that were not fulfilled */
  GError *last_error;     /* of the last of them while there were waits for any, or NULL */

  PrioPlaces *threads; /* those that wait for a place in a thread; NULL until needed */

  PrioSlot feed; /* what the feed keeps; freed with the group */
};
