/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-state-private.h: the scheduling state that a task runs in
 *
 * Promises: a PrioState is the "scheduling state" of the WICG draft, and small enough for the stack of the dispatch.  A
 * state is current on a thread while `prio_thread.state` points to it, and only at the g_main_depth () at which it was
 * set: functions that a nested main loop runs do not inherit the state.  Only the thread that owns the context sets the
 * state, in a dispatch or in prio_scheduling_state_run (): a thread on which a state is current is the owner thread of
 * the state's loop.  A fiber, which has its own stack, has the state that a finder returns (PrioStateFinder).
 *
 * prio-current finds the current state, and keeps the objects that a state points to alive. */

#pragma once

#include <glib.h>

typedef struct _PrioRunQueue PrioRunQueue;
typedef struct _PrioGroup PrioGroup;
typedef struct _PrioLoop PrioLoop;
typedef struct _PrioState PrioState;
typedef struct _PrioTraits PrioTraits;

struct _PrioState
{
  PrioRunQueue *run_queue; /* the run queue of the state's scheduler */
  PrioGroup *group;        /* the group of the signal that may abort the task, or NULL */
  gint priority : 8;       /* the priority, or PRIO_TASK_PRIORITY_UNSET if the group determines it */
  guint timed : 2;         /* PrioTimed: the state of the task's timeout when the task began */
  guint takes_turns : 1;   /* whether continuations wait behind queued tasks of the same priority */
  gint depth;              /* g_main_depth () when the state was set */
  PrioTraits *traits;      /* rarely used fields, or NULL: prio-traits */
};
