/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance-watch.c: statistics and traces of a program; without them in the library, there are no counts and no traces */

#include "conformance.h"

#ifndef WITHOUT_WATCH

#include <prio-sched-watch.h>

#include <fcntl.h>

/* Logs the counts of the first context's schedulers: how often tasks of each priority have run and continued, and how many were
 * aborted. */
void
program_log_counts (Program *program)
{
  PrioStatistics statistics = PRIO_STATISTICS_INIT;
  const PrioTaskStatistics *const of[] = { &statistics.background, &statistics.user_visible, &statistics.user_blocking };

  for (guint i = 0; i < program->n_schedulers; i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      guint64 sum = 0;

      prio_scheduler_get_statistics (program->places[0].schedulers[i], &statistics);
      for (guint j = 0; j < G_N_ELEMENTS (of); j++)
        {
          sum += of[j]->n_run + of[j]->n_aborted;
          g_string_append_printf (line, "%s%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, j > 0 ? ", " : "",
                                  of[j]->n_run, of[j]->n_continued, of[j]->n_aborted);
        }
      if (sum > 0)
        program_log (program, "counts %u: %s", i, line->str);
    }
}

/* Starts or stops a trace, whose output is not read. */
void
set_traced (gboolean traced)
{
  static int fd = -1;

  if (fd < 0)
    fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  if (traced)
    prio_trace_start (fd, NULL);
  else
    prio_trace_stop ();
}

/* Starts or stops the statistics of @scheduler, if they are not in that state already. */
void
set_counted (PrioScheduler *scheduler, gboolean counted)
{
  if (GPOINTER_TO_INT (g_object_get_data (G_OBJECT (scheduler), "counted")) == counted)
    return;
  g_object_set_data (G_OBJECT (scheduler), "counted", GINT_TO_POINTER (counted));
  (counted ? prio_scheduler_start_statistics : prio_scheduler_stop_statistics) (scheduler);
}

#else

void
program_log_counts (Program *program)
{
}

void
set_traced (gboolean traced)
{
}

void
set_counted (PrioScheduler *scheduler, gboolean counted)
{
}

#endif
