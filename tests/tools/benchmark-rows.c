/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchmark-rows.c: benchmarks of tasks and signals, and the table of all benchmarks */

#include <prio-sched-watch.h>
#include "benchmark.h"

#include <malloc.h>

#define N BENCH_N
#define MILLION 1000000
#define N_CHANGES 1000
#define N_PAUSES 10
#define N_POSTS 1000

guint bench_ran;

/* Runs the loop until `bench_ran` has reached @n. */
void
bench_run_until (GMainContext *context, guint n)
{
  while (bench_ran < n)
    g_main_context_iteration (context, TRUE);
}

static PrioScheduler *
default_scheduler (void)
{
  return prio_scheduler_get_default ();
}

/* Post and run */

gboolean
bench_nothing (gpointer data)
{
  bench_ran++;
  return G_SOURCE_REMOVE;
}

static double
post_run (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  double start = bench_now ();

  bench_ran = 0;
  for (guint i = 0; i < N; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, bench_nothing, NULL, NULL);
  bench_run_until (NULL, N);
  return (bench_now () - start) / N;
}

/* Does the same with statistics. */
static double
post_run_counted (void)
{
  double took;

  prio_scheduler_start_statistics (default_scheduler ());
  took = post_run ();
  prio_scheduler_stop_statistics (default_scheduler ());
  return took;
}

static double
idle_source (void)
{
  double start = bench_now ();

  bench_ran = 0;
  for (guint i = 0; i < N; i++)
    {
      GSource *source = g_idle_source_new ();

      g_source_set_callback (source, bench_nothing, NULL, NULL);
      g_source_attach (source, NULL);
      g_source_unref (source);
    }
  bench_run_until (NULL, N);
  return (bench_now () - start) / N;
}

static double
idle_add (void)
{
  double start = bench_now ();

  bench_ran = 0;
  for (guint i = 0; i < N; i++)
    g_idle_add_full (G_PRIORITY_DEFAULT, bench_nothing, NULL, NULL);
  bench_run_until (NULL, N);
  return (bench_now () - start) / N;
}

typedef struct _Node Node;

struct _Node
{
  Node *next;
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
};

static GMutex list_mutex;

static double
list (gboolean locked)
{
  Node *head = NULL, **tail = &head;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    {
      Node *node = malloc (sizeof *node);

      *node = (Node) { NULL, bench_nothing, NULL, NULL };
      if (locked)
        g_mutex_lock (&list_mutex);
      *tail = node;
      tail = &node->next;
      if (locked)
        g_mutex_unlock (&list_mutex);
    }
  while (head != NULL)
    {
      Node *node;

      if (locked)
        g_mutex_lock (&list_mutex);
      node = head;
      head = node->next;
      if (locked)
        g_mutex_unlock (&list_mutex);

      node->func (node->data);
      if (node->notify != NULL)
        node->notify (node->data);
      free (node);
    }
  return (bench_now () - start) / N;
}

static double
bare_list (void)
{
  return list (FALSE);
}

static double
locked_list (void)
{
  return list (TRUE);
}

/* With a result */

static void
task_function (PrioTask *task, gpointer data)
{
  prio_task_return_pointer (task, data, NULL);
}

static void
task_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  bench_ran += prio_task_propagate_pointer (PRIO_TASK (result), NULL) == data;
}

static double
post_task (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  double start = bench_now ();

  bench_ran = 0;
  for (guint i = 0; i < N; i++)
    {
      PrioTask *task = prio_scheduler_post_task (scheduler,
                                                 &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE },
                                                 task_function, &bench_ran, NULL);

      prio_task_then (task, task_ready, &bench_ran, NULL);
      g_object_unref (task);
    }
  bench_run_until (NULL, N);
  return (bench_now () - start) / N;
}

static void
gtask_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  bench_ran += g_task_propagate_pointer (G_TASK (result), NULL) == data;
}

static gboolean
gtask_function (gpointer data)
{
  g_task_return_pointer (data, &bench_ran, NULL);
  return G_SOURCE_REMOVE;
}

/* Runs a GTask that does its work in the main loop, as in its documentation. */
static double
gtask (void)
{
  double start = bench_now ();

  bench_ran = 0;
  for (guint i = 0; i < N; i++)
    {
      GTask *task = g_task_new (NULL, NULL, gtask_ready, &bench_ran);
      GSource *source = g_idle_source_new ();

      g_task_attach_source (task, source, gtask_function);
      g_source_unref (source);
      g_object_unref (task);
    }
  bench_run_until (NULL, N);
  return (bench_now () - start) / N;
}

/* Many tasks of a signal */

static double
abort_million (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  double start;

  for (guint i = 0; i < MILLION; i++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal }, bench_nothing, NULL, NULL);

  start = bench_now ();
  prio_task_controller_abort (controller, NULL);
  return (bench_now () - start) / MILLION;
}

static GSource **
attach_idles (guint n)
{
  GSource **sources = g_new (GSource *, n);

  for (guint i = 0; i < n; i++)
    {
      sources[i] = g_idle_source_new ();
      g_source_set_callback (sources[i], bench_nothing, NULL, NULL);
      g_source_attach (sources[i], NULL);
    }
  return sources;
}

double
bench_destroy_sources (GSource **sources, guint n)
{
  double start = bench_now ();

  for (guint i = 0; i < n; i++)
    {
      g_source_destroy (sources[i]);
      g_source_unref (sources[i]);
    }
  g_free (sources);
  return bench_now () - start;
}

static double
destroy_million (void)
{
  return bench_destroy_sources (attach_idles (MILLION), MILLION) / MILLION;
}

static double
reprioritize_million (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  double start, took;

  for (guint i = 0; i < MILLION; i++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal }, bench_nothing, NULL, NULL);

  start = bench_now ();
  for (guint i = 0; i < N_CHANGES; i++)
    prio_task_controller_set_priority (controller, i % 2 == 0 ? PRIO_TASK_PRIORITY_USER_BLOCKING
                                                              : PRIO_TASK_PRIORITY_BACKGROUND, NULL);
  took = (bench_now () - start) / N_CHANGES;
  prio_task_controller_abort (controller, NULL);
  return took;
}

static double
set_priority_million (void)
{
  GSource **sources = attach_idles (MILLION);
  double start = bench_now (), took;

  for (guint i = 0; i < MILLION; i++)
    g_source_set_priority (sources[i], G_PRIORITY_HIGH);
  took = bench_now () - start;
  bench_destroy_sources (sources, MILLION);
  return took;
}

static double
many_signals (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  PrioTaskController **controllers = g_new (PrioTaskController *, N);
  double start, took;

  for (guint i = 0; i < N; i++)
    controllers[i] = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);

  bench_ran = 0;
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) {
                                .signal = prio_task_controller_get_signal (controllers[i]),
                              },
                              bench_nothing, NULL, NULL);
  bench_run_until (NULL, N);
  took = (bench_now () - start) / N;

  for (guint i = 0; i < N; i++)
    g_object_unref (controllers[i]);
  g_free (controllers);
  return took;
}

static void
destroy_source (GCancellable *cancellable, gpointer source)
{
  g_source_destroy (source);
}

/* Makes idle sources that end with a cancellable. */
static double
many_cancellables (void)
{
  GCancellable **cancellables = g_new (GCancellable *, N);
  g_autofree gulong *ids = g_new (gulong, N);
  double start, took;

  for (guint i = 0; i < N; i++)
    cancellables[i] = g_cancellable_new ();

  bench_ran = 0;
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    {
      GSource *source = g_idle_source_new ();

      g_source_set_callback (source, bench_nothing, NULL, NULL);
      ids[i] = g_cancellable_connect (cancellables[i], G_CALLBACK (destroy_source), source,
                                      (GDestroyNotify) g_source_unref);
      g_source_attach (source, NULL);
    }
  bench_run_until (NULL, N);
  for (guint i = 0; i < N; i++)
    g_cancellable_disconnect (cancellables[i], ids[i]);
  took = (bench_now () - start) / N;

  for (guint i = 0; i < N; i++)
    g_object_unref (cancellables[i]);
  g_free (cancellables);
  return took;
}

/* Operations that many signals, or many schedulers, must not make slower */

static double
pause_with_signals (guint n)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (GPtrArray) controllers = g_ptr_array_new_with_free_func (g_object_unref);
  double start, took;

  for (guint i = 0; i < n; i++)
    {
      PrioTaskController *controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);

      g_ptr_array_add (controllers, controller);
      prio_scheduler_post_full (scheduler,
                                &(PrioTaskOptions) {
                                  .signal = prio_task_controller_get_signal (controller),
                                },
                                bench_nothing, NULL, NULL);
    }

  start = bench_now ();
  for (guint i = 0; i < N_PAUSES; i++)
    {
      prio_scheduler_pause (scheduler);
      prio_scheduler_resume (scheduler);
    }
  took = (bench_now () - start) / N_PAUSES;

  bench_ran = 0;
  bench_run_until (context, n);
  return took;
}

static double
pause_many (void)
{
  return pause_with_signals (200000);
}

static double
pause_one (void)
{
  return pause_with_signals (1);
}

static double
post_at_schedulers (guint n)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GPtrArray) schedulers = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  double start, took;

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (schedulers, prio_scheduler_new (context));
      prio_scheduler_post_full (schedulers->pdata[i], &(PrioTaskOptions) { .cancellable = signal }, bench_nothing, NULL,
                                NULL);
    }

  start = bench_now ();
  for (guint i = 0; i < N_POSTS; i++)
    prio_scheduler_post_full (schedulers->pdata[n - 1], &(PrioTaskOptions) { .cancellable = signal }, bench_nothing,
                              NULL, NULL);
  took = (bench_now () - start) / N_POSTS;

  bench_ran = 0;
  bench_run_until (context, n + N_POSTS);
  return took;
}

static double
post_at_many (void)
{
  return post_at_schedulers (20000);
}

static double
post_at_one (void)
{
  return post_at_schedulers (1);
}

/* Memory */

static double
memory_in_use (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return (double) info.uordblks + (double) info.hblkhd;
}

static double
post_memory (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  double before = memory_in_use ();

  for (guint i = 0; i < N; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, bench_nothing, NULL, NULL);
  return (memory_in_use () - before) / N;
}

static double
idle_memory (void)
{
  double before = memory_in_use (), after;
  GSource **sources = g_new (GSource *, N);

  g_free (sources);
  sources = attach_idles (N);
  after = memory_in_use () - N * sizeof *sources;
  bench_destroy_sources (sources, N);
  return (after - before) / N;
}

const BenchRow bench_rows[] = {
  { "post and run / g_idle_source", post_run, idle_source, "ns", "≥ 9 ×" },
  { "post and run / g_idle_add_full", post_run, idle_add, "ns", "" },
  { "post and run / bare malloc'd list", post_run, bare_list, "ns", "" },
  { "post and run / malloc'd list with a mutex", post_run, locked_list, "ns", "≥ 1 ×" },
  { "post and run, statistics on / off", post_run_counted, post_run, "ns", "≤ 150 ns more" },
  { "PrioTask with a result / GTask", post_task, gtask, "ns", "≥ 6 ×" },
  { "abort 1,000,000 tasks, each / g_source_destroy", abort_million, destroy_million, "ns", "≤ 30 ns" },
  { "reprioritize 1,000,000 tasks, all / g_source_set_priority", reprioritize_million, set_priority_million,
    "ns", "≤ 1000 ns" },
  { "100,000 signals, post and run / g_cancellable_connect", many_signals, many_cancellables, "ns", "≤ 250 ns" },
  { "pause and resume, 200,000 signals queued / one", pause_many, pause_one, "ns", "≤ 1000 ns" },
  { "a post, its signal at 20,000 schedulers / at one", post_at_many, post_at_one, "ns", "≤ 1000 ns" },
  { "memory per pending task / g_idle_source", post_memory, idle_memory, "bytes", "≤ 48 bytes" },
  { "iteration with 100,000 delays, over empty / g_timeout_add", bench_delays_iteration, bench_timeouts_iteration, "ns",
    "≤ 100 ns" },
  { "add a delayed task / g_timeout_add", bench_add_delay, bench_add_timeout, "ns", "≤ 80 ns" },
  { "post from another thread / g_main_context_invoke", bench_post_flood, bench_invoke_flood, "ns", "≤ 60 ns" },
  { "start of an urgent task in a flood, p99 / g_idle_add_full", bench_urgent_task, bench_urgent_idle, "µs", "≤ 60 µs" },
  { "whether to yield: no / g_main_context_pending", bench_should_yield, bench_context_pending, "ns", "≤ 25 ns" },
  { "re-posting itself, in a batch / always-ready source", bench_repeat_in_batch, bench_always_ready, "ns", "≤ 15 ns" },
  { "re-posting itself, slice 0 / always-ready source", bench_repeat_per_iteration, bench_always_ready, "ns", "≥ 0.83 ×" },
};

const guint bench_n_rows = G_N_ELEMENTS (bench_rows);
