/* prio-monitor-page-private.h: what a process tells prio-sched-monitor
 *
 * Promises: a file of this form for each process, which the process has mapped and the monitor reads whenever it likes: neither
 * waits for the other, and what a process has told remains if it crashes.
 *
 * The process writes each number atomically.  What has several fields has a count, `seq`, which is odd while they change.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-histogram-private.h"
#include "base/prio-longest-private.h"

#define PRIO_MONITOR_MAGIC "prio-sched 1.0b" /* 16 bytes with its zero; the last letter changes with the form */
#define PRIO_MONITOR_VARIABLE "PRIO_SCHED_MONITOR"

enum
{
  PRIO_MONITOR_N_PRIORITIES = 3,
  PRIO_MONITOR_N_RUNNING = 16,  /* threads that run tasks at the same time */
  PRIO_MONITOR_N_LONGEST = 10,
  PRIO_MONITOR_NAME = PRIO_LONGEST_NAME
};

typedef struct
{
  guint64 n_ended, n_yielded, n_aborted;
  PrioHistogram waits, runs; /* µs */
} PrioMonitorPriority;

/* A task that runs now, if `begun` is not 0. */
typedef struct
{
  guint32 seq;
  gint32 priority;
  gint64 begun;   /* µs of g_get_monotonic_time () */
  char name[PRIO_MONITOR_NAME];
} PrioMonitorTask;

typedef struct
{
  char magic[16];
  gint64 size; /* of all this */
  gint64 pid;
  gint64 started; /* µs of g_get_monotonic_time () */
  char program[PRIO_MONITOR_NAME];
  gint64 n_queued; /* tasks that wait now, of whatever priority: that may change meanwhile */
  PrioMonitorPriority priorities[PRIO_MONITOR_N_PRIORITIES]; /* from background */
  gint32 slots[PRIO_MONITOR_N_RUNNING];                      /* whether a thread has the place in `running` */
  PrioMonitorTask running[PRIO_MONITOR_N_RUNNING];
  PrioLongest longest[PRIO_MONITOR_N_LONGEST];               /* in no order; of the runs that were among the longest */
} PrioMonitorPage;
