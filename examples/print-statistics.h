/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* print-statistics.h: prints the statistics of a scheduler: a line for each priority */

#pragma once

#include <prio-sched-watch.h>
#include <prio-sched.h>

static inline void
print_times (guint64 count, const PrioTaskTimes *times)
{
  g_print (" %" G_GUINT64_FORMAT " %.3f %.3f %.3f %.3f", count, times->total, times->longest, times->median, times->percentile_99);
}

/* Prints the statistics in the format that tests/programs/check-trace.py reads. */
static inline void
print_statistics (PrioScheduler *scheduler)
{
  static const char *const names[] = { "background", "user-visible", "user-blocking" };
  PrioStatistics statistics = PRIO_STATISTICS_INIT;
  const PrioTaskStatistics *const of[] = { &statistics.background, &statistics.user_visible, &statistics.user_blocking };

  prio_scheduler_get_statistics (scheduler, &statistics);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_print ("statistics %s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, names[i], of[i]->n_run,
               of[i]->n_continued, of[i]->n_aborted);
      print_times (of[i]->n_run, &of[i]->waiting);
      print_times (of[i]->n_run, &of[i]->running);
      g_print ("\n");
    }
}
