/* benchmark-rows.c: what is measured
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "benchmark.h"

#include <malloc.h>

#define N 100000
#define MILLION 1000000
#define N_CHANGES 1000

static guint ran;

/* What runs in the loop until `ran` has reached @n. */
static void
run_until (GMainContext *context, guint n)
{
  while (ran < n)
    g_main_context_iteration (context, TRUE);
}

static PrioScheduler *
default_scheduler (void)
{
  return prio_scheduler_get_default ();
}

/* Post and run */

static gboolean
nothing (gpointer data)
{
  ran++;
  return G_SOURCE_REMOVE;
}

static double
post_run (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  double start = bench_now ();

  ran = 0;
  for (guint i = 0; i < N; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, nothing, NULL, NULL);
  run_until (NULL, N);
  return (bench_now () - start) / N;
}

static double
idle_source (void)
{
  double start = bench_now ();

  ran = 0;
  for (guint i = 0; i < N; i++)
    {
      GSource *source = g_idle_source_new ();

      g_source_set_callback (source, nothing, NULL, NULL);
      g_source_attach (source, NULL);
      g_source_unref (source);
    }
  run_until (NULL, N);
  return (bench_now () - start) / N;
}

static double
idle_add (void)
{
  double start = bench_now ();

  ran = 0;
  for (guint i = 0; i < N; i++)
    g_idle_add_full (G_PRIORITY_DEFAULT, nothing, NULL, NULL);
  run_until (NULL, N);
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

      *node = (Node) { NULL, nothing, NULL, NULL };
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
  ran += prio_task_propagate_pointer (PRIO_TASK (result), NULL) == data;
}

static double
post_task (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  double start = bench_now ();

  ran = 0;
  for (guint i = 0; i < N; i++)
    {
      PrioTask *task = prio_scheduler_post_task (scheduler, task_function, &ran, NULL,
                                                 PRIO_TASK_PRIORITY_USER_VISIBLE, NULL, 0, NULL);

      prio_task_then (task, task_ready, &ran, NULL);
      g_object_unref (task);
    }
  run_until (NULL, N);
  return (bench_now () - start) / N;
}

static void
gtask_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  ran += g_task_propagate_pointer (G_TASK (result), NULL) == data;
}

static gboolean
gtask_function (gpointer data)
{
  g_task_return_pointer (data, &ran, NULL);
  return G_SOURCE_REMOVE;
}

/* A GTask that does its work in the main loop, as its documentation shows. */
static double
gtask (void)
{
  double start = bench_now ();

  ran = 0;
  for (guint i = 0; i < N; i++)
    {
      GTask *task = g_task_new (NULL, NULL, gtask_ready, &ran);
      GSource *source = g_idle_source_new ();

      g_task_attach_source (task, source, gtask_function);
      g_source_unref (source);
      g_object_unref (task);
    }
  run_until (NULL, N);
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
    prio_scheduler_post_full (scheduler, PRIO_PRIORITY_UNSET, signal, 0, nothing, NULL, NULL);

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
      g_source_set_callback (sources[i], nothing, NULL, NULL);
      g_source_attach (sources[i], NULL);
    }
  return sources;
}

static double
destroy_sources (GSource **sources, guint n)
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
  return destroy_sources (attach_idles (MILLION), MILLION) / MILLION;
}

static double
reprioritize_million (void)
{
  PrioScheduler *scheduler = default_scheduler ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  double start, took;

  for (guint i = 0; i < MILLION; i++)
    prio_scheduler_post_full (scheduler, PRIO_PRIORITY_UNSET, signal, 0, nothing, NULL, NULL);

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
  destroy_sources (sources, MILLION);
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

  ran = 0;
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler, PRIO_PRIORITY_UNSET,
                              G_CANCELLABLE (prio_task_controller_get_signal (controllers[i])), 0, nothing,
                              NULL, NULL);
  run_until (NULL, N);
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

/* What it takes to have an idle source go with a cancellable. */
static double
many_cancellables (void)
{
  GCancellable **cancellables = g_new (GCancellable *, N);
  g_autofree gulong *ids = g_new (gulong, N);
  double start, took;

  for (guint i = 0; i < N; i++)
    cancellables[i] = g_cancellable_new ();

  ran = 0;
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    {
      GSource *source = g_idle_source_new ();

      g_source_set_callback (source, nothing, NULL, NULL);
      ids[i] = g_cancellable_connect (cancellables[i], G_CALLBACK (destroy_source), source,
                                      (GDestroyNotify) g_source_unref);
      g_source_attach (source, NULL);
    }
  run_until (NULL, N);
  for (guint i = 0; i < N; i++)
    g_cancellable_disconnect (cancellables[i], ids[i]);
  took = (bench_now () - start) / N;

  for (guint i = 0; i < N; i++)
    g_object_unref (cancellables[i]);
  g_free (cancellables);
  return took;
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
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, nothing, NULL, NULL);
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
  destroy_sources (sources, N);
  return (after - before) / N;
}

/* Delays */

static double
iterate (GMainContext *context)
{
  const guint n = 20000;
  double start = bench_now ();

  for (guint i = 0; i < n; i++)
    g_main_context_iteration (context, FALSE);
  return (bench_now () - start) / n;
}

static double
delays_iteration (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = NULL;
  double empty = iterate (context);

  scheduler = prio_scheduler_new (context);
  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL, 1000000 + i, nothing, NULL, NULL);
  return iterate (context) - empty;
}

static GSource **
attach_timeouts (GMainContext *context, guint n)
{
  GSource **sources = g_new (GSource *, n);

  for (guint i = 0; i < n; i++)
    {
      sources[i] = g_timeout_source_new (1000000 + i);
      g_source_set_callback (sources[i], nothing, NULL, NULL);
      g_source_attach (sources[i], context);
    }
  return sources;
}

static double
timeouts_iteration (void)
{
  const guint n = 20;
  g_autoptr (GMainContext) context = g_main_context_new ();
  double empty = iterate (context), start, took;
  GSource **sources = attach_timeouts (context, N);

  start = bench_now ();
  for (guint i = 0; i < n; i++)
    g_main_context_iteration (context, FALSE);
  took = (bench_now () - start) / n;

  destroy_sources (sources, N);
  return took - empty;
}

static double
add_delay (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL, 1000000 + i, nothing, NULL, NULL);
  return (bench_now () - start) / N;
}

static double
add_timeout (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  double start = bench_now (), took;
  GSource **sources = attach_timeouts (context, N);

  took = (bench_now () - start) / N;
  destroy_sources (sources, N);
  return took;
}

/* Threads */

typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  double took; /* what the posting thread needed */
} Flood;

static gpointer
flood_posts (gpointer data)
{
  Flood *flood = data;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    prio_scheduler_post (flood->scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, nothing, NULL, NULL);
  flood->took = (bench_now () - start) / N;
  return NULL;
}

static gpointer
flood_invokes (gpointer data)
{
  Flood *flood = data;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    g_main_context_invoke_full (flood->context, G_PRIORITY_DEFAULT, nothing, NULL, NULL);
  flood->took = (bench_now () - start) / N;
  return NULL;
}

static double
run_flood (Flood *flood, GThreadFunc func)
{
  GThread *thread;

  ran = 0;
  g_main_context_acquire (flood->context);
  g_main_context_iteration (flood->context, FALSE);
  thread = g_thread_new ("flood", func, flood);
  run_until (flood->context, N);
  g_main_context_release (flood->context);
  g_thread_join (thread);
  return flood->took;
}

static double
post_flood (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  Flood flood = { context, scheduler, 0 };

  return run_flood (&flood, flood_posts);
}

static double
invoke_flood (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  Flood flood = { context, NULL, 0 };

  return run_flood (&flood, flood_invokes);
}

/* A task that posts itself again */

static gboolean
repeat (gpointer data)
{
  return ++ran < N ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static double
repeat_with_slice (guint slice)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  double start;

  prio_scheduler_set_time_slice (scheduler, slice);
  ran = 0;
  start = bench_now ();
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, repeat, NULL, NULL);
  run_until (context, N);
  return (bench_now () - start) / N;
}

static double
repeat_in_batch (void)
{
  return repeat_with_slice (5000);
}

static double
repeat_per_iteration (void)
{
  return repeat_with_slice (0);
}

static gboolean
always_ready_prepare (GSource *source, gint *timeout)
{
  *timeout = 0;
  return TRUE;
}

static gboolean
always_ready_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  return repeat (NULL);
}

static double
always_ready (void)
{
  static GSourceFuncs funcs = { always_ready_prepare, NULL, always_ready_dispatch, NULL, NULL, NULL };
  g_autoptr (GMainContext) context = g_main_context_new ();
  GSource *source = g_source_new (&funcs, sizeof (GSource));
  double start;

  g_source_attach (source, context);
  g_source_unref (source);
  ran = 0;
  start = bench_now ();
  run_until (context, N);
  return (bench_now () - start) / N;
}

const BenchRow bench_rows[] = {
  { "post and run / g_idle_source", post_run, idle_source, "ns", "≥ 24 ×" },
  { "post and run / g_idle_add_full", post_run, idle_add, "ns", "" },
  { "post and run / bare malloc'd list", post_run, bare_list, "ns", "≥ 0.67 ×" },
  { "post and run / malloc'd list with a mutex", post_run, locked_list, "ns", "" },
  { "PrioTask with a result / GTask", post_task, gtask, "ns", "≥ 8 ×" },
  { "abort 1,000,000 tasks, each / g_source_destroy", abort_million, destroy_million, "ns", "≤ 30 ns" },
  { "reprioritize 1,000,000 tasks, all / g_source_set_priority", reprioritize_million, set_priority_million,
    "ns", "≤ 1000 ns" },
  { "100,000 signals, post and run / g_cancellable_connect", many_signals, many_cancellables, "ns", "≤ 250 ns" },
  { "memory per pending task / g_idle_source", post_memory, idle_memory, "bytes", "≤ 48 bytes" },
  { "iteration with 100,000 delays, over empty / g_timeout_add", delays_iteration, timeouts_iteration, "ns",
    "≤ 100 ns" },
  { "add a delayed task / g_timeout_add", add_delay, add_timeout, "ns", "≤ 80 ns" },
  { "post from another thread / g_main_context_invoke", post_flood, invoke_flood, "ns", "≤ 60 ns" },
  { "re-posting itself, in a batch / always-ready source", repeat_in_batch, always_ready, "ns", "≤ 15 ns" },
  { "re-posting itself, slice 0 / always-ready source", repeat_per_iteration, always_ready, "ns", "≥ 0.83 ×" },
};

const guint bench_n_rows = G_N_ELEMENTS (bench_rows);
