/* prio-idle-private.h: what is done when there is nothing else to do
 *
 * Promises: the idle period algorithm (seed 001): when no task is runnable, and no
 * source of the context is ready, a period begins, which lasts until the next timer of
 * the context, the next delay, the next frame, or 50 ms at the most; what
 * is pending then runs in it, a callback at a time, while it lasts.  What is requested
 * during a period waits for the next, which begins after its deadline.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-id-queue-private.h"

typedef struct _PrioIdleDeadline PrioIdleDeadline;

struct _PrioIdleDeadline
{
  gint64 time; /* µs of g_get_monotonic_time () */
  gboolean did_timeout;
};

/* A callback that is requested. */
typedef struct
{
  guint id;
  PrioRunQueue *run_queue; /* held */
  void (*func) (PrioIdleDeadline *deadline, gpointer data); /* or NULL: */
  gpointer data; /* is a PrioIdQueue, of which it is a user, and which runs it */
  GDestroyNotify notify;
  GQueue *list;       /* where it is */
  GList link;
  PrioEntry *timeout; /* a delayed task that calls it after all, or NULL */
} PrioIdle;

void prio_idle_request (PrioLoop *loop, PrioIdle *idle, gint64 due);
void prio_idle_cancel (PrioLoop *loop, guint id);
gboolean prio_idle_prepare (PrioLoop *loop, gint timer, gint *timeout);
void prio_idle_run (PrioLoop *loop, gint64 now);
gboolean prio_idle_release_one (PrioLoop *loop);

static inline gboolean
prio_idles_wait (PrioIdles *idles)
{
  return idles->pending.length + idles->running.length > 0;
}
