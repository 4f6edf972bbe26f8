/* prio-state-private.h: the scheduling state: what a running task was posted with
 *
 * Promises: the draft's "scheduling state", small enough for the stack of
 * the dispatch.  It is current on a thread while `prio_thread.state` points
 * to it, and only at the g_main_depth () at which it was set: what a
 * nested main loop runs meanwhile does not inherit it.  Only the thread that owns the context
 * sets it, in a dispatch or in prio_scheduling_state_run (): a thread on which a state is
 * current is the owner thread of the state's loop.  Code on a stack of its own, a fiber,
 * has the state that a finder knows (prio-current).
 *
 * This is only the record.  prio-current finds the current one, and holds what it points to.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

typedef struct _PrioRunQueue PrioRunQueue;
typedef struct _PrioGroup PrioGroup;
typedef struct _PrioLoop PrioLoop;
typedef struct _PrioState PrioState;
typedef struct _PrioTraits PrioTraits;

struct _PrioState
{
  PrioRunQueue *run_queue; /* of the scheduler it belongs to */
  PrioGroup *group;        /* the group of its signal, with which it may be aborted, or NULL */
  gint priority : 8;       /* fixed, or PRIO_PRIORITY_UNSET: that of @group */
  guint timed : 2;         /* PrioTimed: whether the task has a timeout, and whether it had passed when its turn came */
  guint takes_turns : 1;   /* whether what follows its yields waits behind its equals */
  gint depth;              /* g_main_depth () when it was set */
  PrioTraits *traits;      /* what else it has, or NULL: prio-traits */
};
