/* prio-statistics.h: what the tasks of a scheduler have done, and how long it took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-enums.h"
#include "prio-scheduler.h"
#include "prio-version-macros.h"

G_BEGIN_DECLS

#define PRIO_TYPE_STATISTICS (prio_statistics_get_type ())
#define PRIO_TYPE_TIMES (prio_times_get_type ())

typedef struct _PrioStatistics PrioStatistics;
typedef struct _PrioTimes PrioTimes;

PRIO_AVAILABLE_IN_ALL
GType           prio_statistics_get_type          (void);
PRIO_AVAILABLE_IN_ALL
PrioStatistics *prio_statistics_ref               (PrioStatistics       *self);
PRIO_AVAILABLE_IN_ALL
void            prio_statistics_unref             (PrioStatistics       *self);
PRIO_AVAILABLE_IN_ALL
guint64         prio_statistics_get_n_queued      (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
guint64         prio_statistics_get_n_delayed     (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
guint64         prio_statistics_get_n_run         (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
guint64         prio_statistics_get_n_continued   (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
guint64         prio_statistics_get_n_aborted     (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
PrioTimes      *prio_statistics_get_waiting_times (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);
PRIO_AVAILABLE_IN_ALL
PrioTimes      *prio_statistics_get_running_times (const PrioStatistics *self,
                                                   PrioTaskPriority      priority);

PRIO_AVAILABLE_IN_ALL
GType           prio_times_get_type               (void);
PRIO_AVAILABLE_IN_ALL
PrioTimes      *prio_times_ref                    (PrioTimes            *self);
PRIO_AVAILABLE_IN_ALL
void            prio_times_unref                  (PrioTimes            *self);
PRIO_AVAILABLE_IN_ALL
guint64         prio_times_get_count              (const PrioTimes      *self);
PRIO_AVAILABLE_IN_ALL
double          prio_times_get_total              (const PrioTimes      *self);
PRIO_AVAILABLE_IN_ALL
double          prio_times_get_longest            (const PrioTimes      *self);
PRIO_AVAILABLE_IN_ALL
double          prio_times_get_percentile         (const PrioTimes      *self,
                                                   double                percent);

PRIO_AVAILABLE_IN_ALL
gboolean       prio_scheduler_get_collects_statistics (PrioScheduler  *self);
PRIO_AVAILABLE_IN_ALL
void           prio_scheduler_set_collects_statistics (PrioScheduler  *self,
                                                  gboolean             collects_statistics);
PRIO_AVAILABLE_IN_ALL
PrioStatistics *prio_scheduler_get_statistics    (PrioScheduler       *self);
PRIO_AVAILABLE_IN_ALL
void           prio_scheduler_reset_statistics   (PrioScheduler       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioStatistics, prio_statistics_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioTimes, prio_times_unref)

G_END_DECLS
