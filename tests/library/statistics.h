/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* statistics.h: reads a scheduler's counts for one priority */

#pragma once

#include <prio-sched-watch.h>

static inline PrioTaskStatistics
statistics_of (PrioScheduler *scheduler, PrioTaskPriority priority)
{
  PrioStatistics all = PRIO_STATISTICS_INIT;
  const PrioTaskStatistics *const of[] = { &all.background, &all.user_visible, &all.user_blocking };

  prio_scheduler_get_statistics (scheduler, &all);
  return *of[priority - PRIO_TASK_PRIORITY_BACKGROUND];
}

static inline gboolean
is_collecting (PrioScheduler *scheduler)
{
  PrioStatistics all = PRIO_STATISTICS_INIT;

  prio_scheduler_get_statistics (scheduler, &all);
  return all.collecting;
}
