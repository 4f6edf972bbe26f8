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

/* Counts of the tasks of one priority, and how long they waited and ran. */
typedef struct
{
  guint64 n_ended, n_yielded, n_aborted;
  PrioHistogram waits, runs; /* µs */
} Priority;

/* A task that is waiting or running. */
typedef struct
{
  gboolean is_queued;
  gint64 begun; /* when the run began, µs of g_get_monotonic_time (); 0 while the task waits */
  gint priority;
  char *name;
} Task;

/* A process, with the data of its trace. */
typedef struct
{
  gint64 pid;
  gint64 started; /* when the monitor first read its trace, µs of g_get_monotonic_time () */
  char *program;
  guint64 n_queued;               /* waiting tasks of all priorities */
  Priority priorities[N_PRIORITIES]; /* from background to user-blocking */
  PrioLongest longest[N_LONGEST]; /* unsorted */
  PrioLongest held[N_LONGEST];    /* the longest runs of other sources, and of unknown code; unsorted */
  GHashTable *tasks;              /* trace id (gint64) → Task */
  GHashTable *running;            /* the tasks in @tasks that are running */
} Process;

/* The traces of all processes, which come through one pipe. */
typedef struct
{
  int fd;      /* the end from which the monitor reads */
  char *path;  /* the path by which processes open the other end */
  int writes;  /* the other end, which the monitor holds open */
  GString *line;        /* the beginning of the next line, if it has been read */
  GPtrArray *processes; /* of Process, by age */
  gboolean is_used;     /* whether a process has begun a trace */
} Traces;

gboolean traces_init (Traces *traces, GError **error);
void traces_clear (Traces *traces);
gboolean traces_read (Traces *traces);

/* The program that the monitor has started. */
typedef struct
{
  pid_t pid;
  int output; /* the pipe with its output, or -1 */
} Program;

/* The threshold if the option --threshold was not given. */
#define THRESHOLD_UNSET G_MININT /* use the environment's value */

typedef struct
{
  const char *trace; /* the path of the trace */
  gint threshold;    /* ms; longer runs are reported; 0 for no reports; or THRESHOLD_UNSET */
  gboolean preloads; /* whether to watch programs that do not use the library, too */
} Watch;

gboolean program_start (Program *program, char **argv, const Watch *watch, gboolean with_output, int *status, GError **error);

/* Functions that prepare text for the terminal. */
char *view_clean (const char *text, gssize length);
char *view_clean_line (const char *text);
void view_add_processes (GString *text, const Traces *traces, gint64 now, gboolean is_live);
char *view_fit (const char *text, guint rows, guint columns);
