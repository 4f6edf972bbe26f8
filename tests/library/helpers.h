/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* helpers.h: helpers of several test programs */

#pragma once

#include <prio-sched-bindings.h>

#define BACKGROUND PRIO_TASK_PRIORITY_BACKGROUND
#define USER_VISIBLE PRIO_TASK_PRIORITY_USER_VISIBLE
#define USER_BLOCKING PRIO_TASK_PRIORITY_USER_BLOCKING

/* Whether the library logs criticals for bad input: it may be built without checks. */
#ifdef PRIO_UNCHECKED
#define HAS_CHECKS FALSE
#else
#define HAS_CHECKS TRUE
#endif

/* Returns how often a test repeats: a tenth of @n under slow tools, which look for other defects. */
static inline guint
times (guint n)
{
#ifdef __SANITIZE_THREAD__
  return n / 10;
#else
  return g_getenv ("UNDER_VALGRIND") != NULL ? n / 10 : n;
#endif
}

/* A main context with a scheduler, and a log of runs: a letter for each. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  GString *log;
} Fixture;

static inline void
fixture_set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  f->context = g_main_context_new ();
  g_main_context_push_thread_default (f->context);
  f->scheduler = prio_scheduler_new (f->context);
  f->log = g_string_new (NULL);
}

/* Drops the context, which is then freed unless it has other references. */
static inline void
fixture_drop_context (Fixture *f)
{
  g_clear_object (&f->scheduler);
  g_main_context_pop_thread_default (f->context);
  g_clear_pointer (&f->context, g_main_context_unref);
}

static inline void
fixture_tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  if (f->context != NULL)
    fixture_drop_context (f);
  g_string_free (f->log, TRUE);
}

/* Runs until nothing is ready.  Tasks are ready at once, so this waits only for their turns. */
static inline void
fixture_run (Fixture *f)
{
  for (guint idle = 0; idle < 3;)
    idle = g_main_context_iteration (f->context, FALSE) ? 0 : idle + 1;
}

/* Runs until @n, which other threads count up, has reached @wanted.  They wake the context. */
static inline void
fixture_run_until (Fixture *f, gint *n, gint wanted)
{
  while (g_atomic_int_get (n) < wanted)
    g_main_context_iteration (f->context, TRUE);
}

/* Runs all that is ready, and expects exactly this log. */
#define assert_ran(f, expected)                         \
  G_STMT_START                                          \
  {                                                     \
    fixture_run (f);                                    \
    g_assert_cmpstr ((f)->log->str, ==, expected);      \
    g_string_truncate ((f)->log, 0);                    \
  }                                                     \
  G_STMT_END

/* Attaches a source that calls @func whenever the main loop gets to @priority. */
static inline void
attach_source (GMainContext *context, gint priority, GSourceFunc func, gpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, priority);
  g_source_set_callback (source, func, data, NULL);
  g_source_attach (source, context);
}

/* Expects that @expression logs one critical, and nothing else. */
#define assert_told(message, expression)                                \
  G_STMT_START                                                          \
  {                                                                     \
    g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, message); \
    expression;                                                         \
    g_test_assert_expected_messages ();                                 \
  }                                                                     \
  G_STMT_END

/* A step of a test: a letter for the log, and further actions. */
typedef struct _Step Step;

struct _Step
{
  Fixture *f;
  char letter;
  void (*then) (Step *step);
  gpointer data;
};

static guint step_n_freed;

static inline Step *
step_new (Fixture *f, char letter, void (*then) (Step *step), gpointer data)
{
  Step *step = g_new (Step, 1);

  *step = (Step) { f, letter, then, data };
  return step;
}

static inline void
step_free (gpointer data)
{
  step_n_freed++;
  g_free (data);
}

static inline gboolean
step_run (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  if (step->then != NULL)
    step->then (step);
  return G_SOURCE_REMOVE;
}

static inline void
step_run_once (gpointer data)
{
  step_run (data);
}

static inline void
step_run_task (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  step_run (data);
}

/* Posts a task of @priority that logs @letter. */
static inline void
post_letter (Fixture *f, PrioTaskPriority priority, char letter)
{
  prio_scheduler_post (f->scheduler, priority, step_run, step_new (f, letter, NULL, NULL), step_free);
}

static inline void
post_step (Fixture *f, PrioTaskPriority priority, char letter, void (*then) (Step *step), gpointer data)
{
  prio_scheduler_post (f->scheduler, priority, step_run, step_new (f, letter, then, data), step_free);
}

static inline gboolean
post_with_signal (Fixture *f, gint priority, gpointer signal, char letter, void (*then) (Step *step),
                  gpointer data)
{
  return prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = priority, .cancellable = signal },
                                   step_run, step_new (f, letter, then, data), step_free);
}

/* A context that a separate thread runs. */
typedef struct
{
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  PrioScheduler *scheduler;
} Worker;

static inline gpointer
run_worker (gpointer data)
{
  Worker *worker = data;

  g_main_context_push_thread_default (worker->context);
  g_main_loop_run (worker->loop);
  g_main_context_pop_thread_default (worker->context);
  return NULL;
}

static inline void
worker_start (Worker *worker)
{
  worker->context = g_main_context_new ();
  worker->loop = g_main_loop_new (worker->context, FALSE);
  worker->scheduler = prio_scheduler_new (worker->context);
  worker->thread = g_thread_new ("worker", run_worker, worker);
}

static inline gboolean
end_loop (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

/* Stops the worker after all earlier posts with at least the lowest priority. */
static inline void
worker_stop (Worker *worker)
{
  prio_scheduler_post (worker->scheduler, BACKGROUND, end_loop, worker->loop, NULL);
  g_thread_join (worker->thread);
  g_object_unref (worker->scheduler);
  g_main_loop_unref (worker->loop);
  g_main_context_unref (worker->context);
}

static inline void
end_awaiting (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer task)
{
  prio_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

/* Defers the result of @task until the task @awaited has one. */
static inline void
await_task (PrioTask *task, gpointer awaited)
{
  prio_task_defer (task);
  prio_task_then (awaited, end_awaiting, g_object_ref (task), NULL);
}

#define signal_of(controller) prio_task_controller_get_signal (controller)
#define cancellable_of(controller) G_CANCELLABLE (signal_of (controller))

#define add_test(path, func) \
  g_test_add (path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)
