/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sysprof.c: adds marks to Sysprof's recordings: for each run of a task, and each turn of the loop's other sources
 *
 * Sysprof gives each thread a ring buffer, and drops marks that do not fit.  A thread asks for its buffer once, through
 * a socket, and waits for the answer.  So marks are added only when no loop is entered (prio-loop-private.h). */

#include "config.h"

#include "watch/prio-sysprof-private.h"

#include "base/prio-debug-private.h"
#include "watch/prio-environment-private.h"
#include "prio-observe.h"
#include "watch/prio-trace-private.h"

#include <sysprof-capture.h>

static const char group[] = "PrioSched";

/* Adds a mark.  Sysprof uses GLib's monotonic clock, but in nanoseconds. */
static void
mark (gint64 begun, gint64 now, const char *name, const char *message)
{
  sysprof_collector_mark (begun * 1000, (now - begun) * 1000, group, name, message);
}

static void
mark_run (const PrioObserved *task, const char *end, gint64 now)
{
  char message[128];

  if (task->queued != 0)
    g_snprintf (message, sizeof message, "%s, %s after a wait of %" G_GINT64_FORMAT " µs",
                prio_priority_name (task->priority), end, task->begun - prio_observed_waits_since (task));
  else
    g_snprintf (message, sizeof message, "%s, %s", prio_priority_name (task->priority), end);
  mark (task->begun, now, prio_trace_task_name (task), message);
}

static void
yielded (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  mark_run (task, "yielded", now);
}

static void
ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  mark_run (task, prio_trace_end_name (task), now);
}

static void
turn_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, gint64 began, gboolean whole, gint64 now)
{
  mark (began, now, "others' turn", whole ? "whole" : "not whole");
}

static PrioObserver observer = {
  .yielded = yielded,
  .ended = ended,
  .turn_ended = turn_ended,
};

static gpointer
start (gpointer data G_GNUC_UNUSED)
{
  /* Calls Sysprof's library only if one of its variables may be used: the library reads both in setuid programs, too. */
  if (prio_environment_get ("SYSPROF_CONTROL_FD") == NULL && prio_environment_get ("SYSPROF_TRACE_FD") == NULL)
    return NULL;
  if (sysprof_collector_is_active ())
    prio_observer_add (&observer);
  return NULL;
}

/* Starts to add marks if Sysprof is recording.  Later calls do nothing.  The caller has entered no loop. */
void
prio_sysprof_start (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, start, NULL);
}
