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

/* Counts of the tasks of one priority. */
typedef struct
{
  guint64 n_ended, n_yielded, n_aborted;
  PrioHistogram waits, runs; /* µs */
} Priority;

/* A task that is waiting or running. */
typedef struct
{
  gboolean is_queued;
  gint64 begun; /* µs of g_get_monotonic_time (), while it runs, or 0 */
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
  Priority priorities[N_PRIORITIES]; /* from background */
  PrioLongest longest[N_LONGEST]; /* in no order */
  PrioLongest held[N_LONGEST];    /* longest runs of other sources, and of unknown code */
  GHashTable *tasks;              /* trace id, gint64 → Task; and */
  GHashTable *running;            /* the running ones of these */
} Process;

/* The traces of all processes, which come through one pipe. */
typedef struct
{
  int fd;      /* descriptor from which it is read */
  char *path;  /* path by which processes open the other end, which the monitor holds as */
  int writes;
  GString *line;        /* the read part of the next line */
  GPtrArray *processes; /* of Process, by age */
  gboolean is_used;     /* whether a process has opened the pipe */
} Traces;

gboolean traces_init (Traces *traces, GError **error);
void traces_clear (Traces *traces);
gboolean traces_read (Traces *traces);

/* The program that is running, whose output may come through pipes. */
typedef struct
{
  pid_t pid;
  int output; /* pipe of its output, if requested; or -1 */
} Program;

/* The options of its watch. */
#define THRESHOLD_UNSET G_MININT /* the environment's value */

typedef struct
{
  const char *trace; /* path of its trace */
  gint threshold;    /* ms; longer runs are reported; 0 for no reports; or THRESHOLD_UNSET */
  gboolean preloads; /* whether it also watches programs that do not use the library */
} Watch;

gboolean program_start (Program *program, char **argv, const Watch *watch, gboolean with_output, int *status, GError **error);

/* Text for people. */
char *view_clean (const char *text, gssize length);
char *view_clean_line (const char *text);
void view_add_processes (GString *text, const Traces *traces, gint64 now, gboolean is_live);
char *view_fit (const char *text, guint rows, guint columns);
