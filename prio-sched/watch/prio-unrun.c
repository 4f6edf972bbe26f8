/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-unrun.c: warns about tasks that never ran in a program without a main loop */

#include "config.h"

#include "watch/prio-unrun-private.h"

#include "prio-observe.h"

#include <stdlib.h>

/* Atomic. */
static gint n_waiting;
static gboolean has_run;

static void
waits (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task G_GNUC_UNUSED, gint64 now G_GNUC_UNUSED)
{
  g_atomic_int_inc (&n_waiting);
}

/* Counts a task without a delay.  A delayed task was counted at its post. */
static void
queued (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  if (task->due == 0)
    waits (self, loop, task, now);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task G_GNUC_UNUSED, gint64 now G_GNUC_UNUSED)
{
  g_atomic_int_set (&has_run, TRUE);
}

static void
aborted (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task G_GNUC_UNUSED, gboolean runs G_GNUC_UNUSED,
         gint64 now G_GNUC_UNUSED)
{
  g_atomic_int_add (&n_waiting, -1);
}

static PrioObserver observer = { .delayed = waits, .queued = queued, .begins = begins, .aborted = aborted };

static void
report (void)
{
  gint n = g_atomic_int_get (&n_waiting);

  if (!g_atomic_int_get (&has_run) && n > 0)
    g_warning ("%d task%s never ran: a main loop runs tasks, as g_main_loop_run() does", n, n == 1 ? "" : "s");
}

void
prio_unrun_watch_from_environment (void)
{
  const char *debug = g_getenv ("PRIO_SCHED_DEBUG");

  if (debug == NULL || g_str_equal (debug, "0"))
    return;
  prio_observer_add (&observer);
  atexit (report);
}
