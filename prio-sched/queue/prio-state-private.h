/* prio-state-private.h: what a running task was posted with
 *
 * Promises: the draft's "scheduling state", small enough to lie on the stack of
 * the dispatch.  It is current on a thread as long as `prio_thread.state` points
 * to it, and only at the depth of g_main_depth () at which it was set: what a
 * nested main loop runs meanwhile does not inherit it.  It is set by the thread that owns
 * the context, in a dispatch or by prio_scheduling_state_run (), so that who finds one is
 * on the owner thread in its loop.
 *
 * This is the record.  prio-current asks which one is current, and holds what it points to.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

typedef struct _PrioRunQueue PrioRunQueue;
typedef struct _PrioGroup PrioGroup;
typedef struct _PrioLoop PrioLoop;
typedef struct _PrioState PrioState;

struct _PrioState
{
  PrioRunQueue *run_queue;   /* the scheduler it belongs to */
  PrioGroup *group; /* with which it may be aborted: that of its signal, or NULL */
  gint8 priority;   /* fixed, or PRIO_PRIORITY_UNSET: that of @group */
  gint depth;       /* of g_main_depth () */
};
