/* conformance.h: a program of conformance-vectors.md, and how it is run
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <prio-sched.h>

#include <json-glib/json-glib.h>

enum { MAX_PLACES = 2, MAX_SCHEDULERS = 3, MAX_NESTING = 3 };

/* A context, and what is on it. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *schedulers[MAX_SCHEDULERS];
  guint n_ran; /* tasks, continuations and idle callbacks */
  guint nesting;
} Place;

/* Where this thread is. */
extern _Thread_local Place *here;

/* A program that runs. */
typedef struct
{
  Place places[MAX_PLACES];
  guint n_places, n_schedulers;
  gint64 slice; /* or -1 */
  JsonObject *handlers;
  GHashTable *signals;     /* name → GCancellable */
  GHashTable *controllers; /* name → PrioTaskController */
  GHashTable *announced;   /* names of signals that have emitted */
  GPtrArray *log;
  GPtrArray *rejected;
  GHashTable *outcomes; /* id → what became of it */
  GHashTable *tasks;    /* id → PrioTask */
  guint n_open;         /* bodies and tasks that are not through */
} Program;

/* conformance-operations.c */
PrioScheduler *make_scheduler (Program *program, GMainContext *context);
void make_signal (Program *program, const char *name, JsonObject *description);
gboolean place_run (Place *place);
void program_perform (Program *program, JsonArray *operations);
