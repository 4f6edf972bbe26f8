/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance.h: a program of conformance-vectors.md, and its interpreter */

#pragma once

#include <prio-sched-bindings.h>

#include <json-glib/json-glib.h>

enum { MAX_PLACES = 2, MAX_SCHEDULERS = 3, MAX_NESTING = 3 };

/* A context, and its objects. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *schedulers[MAX_SCHEDULERS];
  guint n_ran; /* tasks, continuations and idle callbacks */
  guint nesting;
} Place;

/* The context of this thread. */
extern _Thread_local Place *here;

/* A program that is running. */
typedef struct
{
  Place places[MAX_PLACES];
  guint n_places, n_schedulers;
  gint64 slice; /* or -1 */
  JsonArray *lends;  /* numbers of schedulers that lend, or NULL */
  gboolean traced;   /* whether operations and destroy notifies are logged */
  guint n_cancelling; /* signals that are emitting `cancelled` */
  JsonObject *handlers;
  JsonObject *notify_handlers;    /* or NULL */
  JsonObject *cancelled_handlers; /* or NULL */
  GHashTable *signals;     /* name → GCancellable */
  GHashTable *controllers; /* name → PrioTaskController */
  GHashTable *announced;   /* names of signals that have emitted priority-change */
  GHashTable *notified, *said; /* names of signals that have emitted notify, and cancelled */
  GPtrArray *log;
  GPtrArray *rejected;
  GHashTable *outcomes; /* id → its outcome */
  GHashTable *tasks;    /* id → PrioTask */
  GHashTable *groups;   /* name → PrioTaskGroup */
  guint n_open;         /* bodies and tasks that have not ended */
} Program;

/* A list of operations that is being performed, and may be waiting in a yield. */
typedef struct
{
  guint refs; /* references of the task's closure, the microtask, or a yield */
  Program *program;
  JsonArray *operations;
  JsonArray *gone; /* the operations of the destroy notify, or NULL */
  guint next;
  char *label; /* "3" of task 3, "f3" of closure 3, "m3" of microtask 3, "i3" of idle callback 3 */
  guint n_yields;
  PrioTask *task; /* the task whose function the body is, or NULL */
  gboolean deferred;
} Body;

/* conformance.c */
void pass_time (gint64 ms);

/* Whether schedulers have a starvation limit that no program reaches: the model, with which the log is compared, does not know it. */
extern gboolean without_limit;

/* conformance-operations.c */
Body *body_new (Program *program, JsonObject *operation, const char *prefix);
void body_unref (gpointer data);
void body_perform (Body *body);
void program_log_when (Program *program, const char *format, ...) G_GNUC_PRINTF (2, 3);
void program_log (Program *program, const char *format, ...) G_GNUC_PRINTF (2, 3);
PrioTaskPriority priority_from_nick (const char *nick);
const char *priority_to_nick (PrioTaskPriority priority);
PrioScheduler *scheduler_in (Place *place, JsonObject *operation);
Place *place_of (Program *program, JsonObject *operation);
GCancellable *signal_in (Program *program, JsonObject *operation);
PrioTaskPriority priority_in (JsonObject *operation);
gint timeout_in (JsonObject *operation);
gboolean takes_turns_in (JsonObject *operation);
PrioScheduler *make_scheduler (Program *program, GMainContext *context, guint number);
void make_signal (Program *program, const char *name, JsonObject *description);
gboolean place_run (Place *place);
void program_perform (Program *program, JsonArray *operations);

gboolean is_thrown (const GError *error);

const char *outcome_of (PrioTask *task);
void task_completed (GObject *source, GAsyncResult *result, gpointer data);

/* conformance-lending.c */
gboolean lends (Program *program, guint number);
void hear_of (Program *program, PrioTask *task, JsonObject *operation);
PrioTask *task_here (Program *program, JsonObject *operation);
void body_await (Body *body, PrioTask *task);
gboolean perform_with_lending (Program *program, const char *op, JsonObject *operation);

/* conformance-watch.c */
void program_log_counts (Program *program);
void set_traced (gboolean traced);
void set_counted (PrioScheduler *scheduler, gboolean counted);

/* conformance-groups.c */
void make_group (Program *program, const char *name, JsonObject *description);
PrioTaskGroup *group_in (Program *program, JsonObject *operation);
void body_wait (Body *body, JsonObject *operation, PrioTaskGroup *group);
gboolean perform_with_group (Program *program, const char *op, JsonObject *operation);

/* conformance-callbacks.c */
void listen_to_signal (Program *program, const char *name, GCancellable *signal);
void body_gone (gpointer data);
void post_closure (Program *program, JsonObject *operation);
void post_many (Program *program, JsonObject *operation);
void cancel (Program *program, JsonObject *operation);
void unref (Program *program, JsonObject *operation);
void abort_signal (Program *program, JsonObject *operation);
void reset (Program *program, JsonObject *operation);
