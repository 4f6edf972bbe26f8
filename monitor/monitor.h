/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor.h: the parts of prio-sched-monitor */

#pragma once

#include <glib.h>
#include <sys/types.h>

#include "watch/prio-histogram-private.h"
#include "monitor-longest.h"

enum
{
  N_PRIORITIES = 3,
  N_LONGEST = 10
};

/* What the tasks of one priority have done. */
typedef struct
{
  guint64 n_ended, n_yielded, n_aborted;
  PrioHistogram waits, runs; /* µs */
} Priority;

/* A task that waits or runs. */
typedef struct
{
  gboolean is_queued;
  gint64 begun; /* µs of g_get_monotonic_time (), while it runs, or 0 */
  gint priority;
  char *name;
} Task;

/* A process, as its trace tells. */
typedef struct
{
  gint64 pid;
  gint64 started; /* when the monitor has heard of it, µs of g_get_monotonic_time () */
  char *program;
  guint64 n_queued;               /* tasks that wait now, of whatever priority */
  Priority priorities[N_PRIORITIES]; /* from background */
  PrioLongest longest[N_LONGEST]; /* in no order */
  PrioLongest held[N_LONGEST];    /* of other sources, and of what nobody knows */
  GHashTable *tasks;              /* by the trace's id, gint64 → Task; and */
  GHashTable *running;            /* those of them that run */
} Process;

/* The traces of all processes, which come through one pipe. */
typedef struct
{
  int fd;      /* that it is read from */
  char *path;  /* by which processes find its other end, which the monitor holds, as */
  int writes;
  GString *line;        /* what has come of the next line */
  GPtrArray *processes; /* of Process, by age */
  gboolean is_used;     /* a process has opened the pipe */
} Traces;

gboolean traces_init (Traces *traces, GError **error);
void traces_clear (Traces *traces);
gboolean traces_read (Traces *traces);

/* The program that runs, whose output may come through pipes. */
typedef struct
{
  pid_t pid;
  int output; /* what it prints, if asked for; or -1 */
} Program;

/* How it is watched. */
#define THRESHOLD_UNSET G_MININT /* what the environment says */

typedef struct
{
  const char *trace; /* where its trace goes */
  gint threshold;    /* ms, from which on it reports what holds its main loop; 0 for nothing; or THRESHOLD_UNSET */
  gboolean preloads; /* in a program that does not use the library, too */
} Watch;

gboolean program_start (Program *program, char **argv, const Watch *watch, gboolean with_output, int *status, GError **error);

/* Text for people. */
char *view_clean (const char *text, gssize length);
char *view_clean_line (const char *text);
void view_add_processes (GString *text, const Traces *traces, gint64 now, gboolean is_live);
char *view_fit (const char *text, guint rows, guint columns);
