/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-watch.c: connects statistics, long tasks and traces to the schedulers */

#include "config.h"

#include "prio-observe.h"
#include "watch/prio-long-task-private.h"
#include "watch/prio-scheduler-list-private.h"
#include "watch/prio-statistics-private.h"
#include "watch/prio-sysprof-private.h"
#include "watch/prio-trace-private.h"
#include "watch/prio-unrun-private.h"

static void
made (PrioScheduler *self)
{
  prio_scheduler_enlist (self);
  prio_trace_start_from_environment ();
  prio_sysprof_start ();
  prio_scheduler_watch_from_environment (self);
}

static void
ends (PrioScheduler *self)
{
  prio_scheduler_unlist (self);
  prio_scheduler_end_long_tasks (self);
  prio_scheduler_end_statistics (self);
}

static const PrioSchedulerWatchFuncs funcs = {
  .made = made,
  .ends = ends,
};

/* Runs when the library is loaded, because the engine, which calls @funcs, may not name functions of this folder. */
__attribute__ ((constructor)) static void
load (void)
{
  prio_scheduler_set_watch (&funcs);
  prio_unrun_watch_from_environment ();
}
