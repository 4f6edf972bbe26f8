/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-idle-private.h: idle callbacks
 *
 * Promises: the idle period algorithm of the web's requestIdleCallback().  When no task is runnable, and no source of
 * the context is ready, an idle period begins.  The period lasts until the next timer of the context, the next delay or
 * the next frame, but at most 50 ms.  The callbacks that are pending then run in the period, one per iteration.
 * Callbacks that are requested during a period wait for the next period, which begins after the deadline of the current
 * period.
 *
 * Only the loop's owner thread uses these functions and records, unless a comment says otherwise. */

#pragma once

#include "loop/prio-run-queue-private.h"

typedef struct _PrioIdleDeadline PrioIdleDeadline;

struct _PrioIdleDeadline
{
  gint64 time; /* the deadline, µs of g_get_monotonic_time () */
  gboolean did_timeout;
  guint id;       /* the id of the callback */
  PrioLoop *loop; /* no reference; valid while the callback runs */
};

/* A requested callback. */
typedef struct
{
  guint id;
  PrioRunQueue *run_queue; /* owned */
  void (*func) (PrioIdleDeadline *deadline, gpointer data);
  gconstpointer told; /* the program's function, which is reported to observers, or NULL */
  gpointer data;
  GDestroyNotify notify;
  gint64 due;         /* when the callback is called at the latest, µs, or 0 */
  GQueue *list;       /* the list that the callback is in */
  GList link;
  PrioEntry *timeout; /* a delayed task that calls the callback when its timeout expires, or NULL */
  struct _PrioObservedTask *observed; /* or NULL */
} PrioIdle;

void prio_idle_op_request (PrioLoop *loop, const PrioOp *op);
void prio_idle_cancel (PrioLoop *loop, guint id);
gboolean prio_idle_prepare (PrioLoop *loop, gint timer, gint *timeout);
guint prio_idle_submit (PrioLoop *loop, void (*op_request) (PrioLoop *loop, const PrioOp *op), const PrioIdle *template,
                        guint timeout);
void prio_idle_run (PrioLoop *loop, gint64 now);
gboolean prio_idle_release_one (PrioLoop *loop);

static inline gboolean
prio_idles_wait (PrioIdles *idles)
{
  return idles->pending.length + idles->running.length > 0;
}
