/* prio-idle-private.h: what is done when there is nothing else to do
 *
 * Promises: the idle period algorithm (seed 001): when no task is runnable, and no
 * source of the context is ready, a period begins, which lasts until the next timer of
 * the context, the next delay, the next frame, or 50 ms at the most; what
 * is pending then runs in it, a callback at a time, while it lasts.  What is requested
 * during a period waits for the next, which begins after its deadline.
 *
 * Everything here is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-idle-deadline.h"
#include "prio-queue-private.h"

typedef struct _PrioLoop PrioLoop;

struct _PrioIdleDeadline
{
  gint64 time; /* µs of g_get_monotonic_time () */
  gboolean did_timeout;
};

typedef struct
{
  GQueue pending;   /* of PrioIdle: for the next period */
  GQueue running;   /* of PrioIdle: for the one that has begun */
  GHashTable *by_id; /* guint → PrioIdle, both owned by nobody; NULL until needed */
  gint64 deadline;  /* of the last period, µs */
  guint64 asked;    /* in which iteration of the loop, */
  gint64 next;      /* and when something else is due by that */
} PrioIdles;

/* A callback that is requested. */
typedef struct
{
  guint id;
  PrioCore *core; /* held */
  PrioIdleFunc func; /* or NULL: */
  gpointer data;     /* is a runner, of which it is a user, and whose function is called */
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
void prio_idles_clear (PrioIdles *idles);

static inline gboolean
prio_idles_wait (PrioIdles *idles)
{
  return idles->pending.length + idles->running.length > 0;
}
