/* print-statistics.h: what a scheduler has counted, a line for each priority, in numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <prio-sched-watch.h>
#include <prio-sched.h>

static inline void
print_times (PrioTimes *times)
{
  g_print (" %" G_GUINT64_FORMAT " %.3f %.3f %.3f %.3f", prio_times_get_count (times), prio_times_get_total (times),
           prio_times_get_longest (times), prio_times_get_percentile (times, 50), prio_times_get_percentile (times, 99));
  prio_times_unref (times);
}

/* check-trace.py reads them. */
static inline void
print_statistics (PrioScheduler *scheduler)
{
  static const char *const names[] = { "background", "user-visible", "user-blocking" };
  g_autoptr (PrioStatistics) statistics = prio_scheduler_get_statistics (scheduler);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      PrioTaskPriority priority = (PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + i);

      g_print ("statistics %s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, names[i],
               prio_statistics_get_n_run (statistics, priority), prio_statistics_get_n_continued (statistics, priority),
               prio_statistics_get_n_aborted (statistics, priority));
      print_times (prio_statistics_get_waiting_times (statistics, priority));
      print_times (prio_statistics_get_running_times (statistics, priority));
      g_print ("\n");
    }
}
