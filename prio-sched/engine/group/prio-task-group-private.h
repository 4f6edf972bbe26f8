/* prio-task-group-private.h: the fields of PrioTaskGroup, for prio-task-group*.c only
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "post/prio-scheduler-thread-private.h"
#include "task/prio-task-impl-private.h"
#include "prio-task-controller.h"
#include "prio-task-group.h"

/* A task of a group, from its post to its completion. */
typedef struct _PrioMember PrioMember;

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
  guint number;         /* in the states of its function and of all that goes on from there; 0 before and after */
  guint n_waits;        /* for its own group: nobody waits for it, and its place is free */
  gboolean has_place;   /* not while its function runs in a thread: those places are counted, and change hands */
  gboolean in_thread;   /* its function runs in one */
  gboolean completed;   /* the waits have heard of its result */
};

/* A wait is the data of a task that is in no queue: its signal aborts it like any other. */
typedef struct _PrioWait PrioWait;

struct _PrioWait
{
  PrioTaskGroup *group;  /* held */
  PrioTask *task;        /* held */
  PrioTaskGroupWait until;
  PrioMember *member;    /* of the same group, in whose function it was called; held, or NULL */
  GList link;            /* in @waits of the group; its data is the wait, or NULL once it is over */
  guint64 order;         /* the age */
  guint64 n_failed;      /* how many tasks had failed before */
};

struct _PrioTaskGroup
{
  GObject parent_instance;

  PrioRunQueue *places; /* a part of the scheduler's, which has the tasks; held back while no place is free */
  PrioTaskController *controller; /* of the tasks since the last abort */
  GHashTable *shared; /* prio-task-group-signal.c: those that depend on that of @controller, by the tasks' own; or NULL */
  guint shared_limit;
  PrioScheduler *first_scheduler; /* held until the group is constructed; NULL for the default one */
  PrioTaskPriority first_priority;

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

  guint first_in_view, n_in_view; /* of the rows of models that feed it */

  PrioPlaces *threads; /* prio-task-group-thread.c: those that wait for a place in a thread; NULL until needed */

  /* prio-task-group-id.c; both NULL until they are needed. */
  GHashTable *seats; /* what runners run, by their handles */
  GHashTable *ended; /* how waits that are tasks of runners have ended, by their ids */
  guint last_handle;
};

extern PrioLock prio_gone_lock G_GNUC_INTERNAL;

PrioMember *prio_member_ref (PrioMember *member);
void prio_member_unref (PrioMember *member);
void prio_member_complete (PrioMember *member, PrioTask *task);
PrioMember *prio_member_current (PrioLoop *loop);
void prio_member_enqueue (PrioMember *member);
void prio_member_take_out_of_queue (PrioMember *member);
void prio_member_leave (PrioMember *member);
void prio_member_leave_place (PrioMember *member);
void prio_member_take_place (PrioMember *member);
void prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *task);
PrioTaskSignal *prio_task_group_combine (PrioTaskGroup *self, GCancellable *own);
void prio_task_group_forget_combined (PrioTaskGroup *self);
void prio_task_group_pending_changed (PrioTaskGroup *self);
void prio_task_group_update_places (PrioTaskGroup *self);
void prio_task_group_let_threads_in (PrioTaskGroup *self);
PrioMember *prio_task_group_add (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskOptions *own, PrioTaskFunc func,
                                 gpointer user_data, GDestroyNotify notify);
void prio_member_hear_of (PrioMember *member);
GPtrArray *prio_task_group_take (PrioTaskGroup *self, gboolean all);
void prio_task_group_drop (PrioTaskGroup *self, GPtrArray *taken);
gboolean prio_check_task_group (const char *function, PrioTaskGroup *self);

static inline gboolean
prio_wait_is_for_all (const PrioWait *wait)
{
  return wait->until == PRIO_TASK_GROUP_DRAINED || wait->until == PRIO_TASK_GROUP_ALL;
}

static inline PrioLoop *
prio_task_group_get_loop (PrioTaskGroup *self)
{
  return self->places->loop;
}
