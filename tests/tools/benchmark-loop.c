/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchmark-loop.c: benchmarks of delays, threads, and the main loop */

#include "benchmark.h"

#include <stdlib.h>

#define N BENCH_N

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

double
bench_delays_iteration (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = NULL;
  double empty = iterate (context);

  scheduler = prio_scheduler_new (context);
  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE, .delay = 1000000 + i },
                              bench_nothing, NULL, NULL);
  return iterate (context) - empty;
}

static GSource **
attach_timeouts (GMainContext *context, guint n)
{
  GSource **sources = g_new (GSource *, n);

  for (guint i = 0; i < n; i++)
    {
      sources[i] = g_timeout_source_new (1000000 + i);
      g_source_set_callback (sources[i], bench_nothing, NULL, NULL);
      g_source_attach (sources[i], context);
    }
  return sources;
}

double
bench_timeouts_iteration (void)
{
  const guint n = 20;
  g_autoptr (GMainContext) context = g_main_context_new ();
  double empty = iterate (context), start, took;
  GSource **sources = attach_timeouts (context, N);

  start = bench_now ();
  for (guint i = 0; i < n; i++)
    g_main_context_iteration (context, FALSE);
  took = (bench_now () - start) / n;

  bench_destroy_sources (sources, N);
  return took - empty;
}

double
bench_add_delay (void)
{
  g_autoptr (PrioTaskController) controller G_GNUC_UNUSED = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE, .delay = 1000000 + i },
                              bench_nothing, NULL, NULL);
  return (bench_now () - start) / N;
}

double
bench_add_timeout (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  double start = bench_now (), took;
  GSource **sources = attach_timeouts (context, N);

  took = (bench_now () - start) / N;
  bench_destroy_sources (sources, N);
  return took;
}

/* Threads */

typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  double took; /* time that the posting thread needed */
} Flood;

static gpointer
flood_posts (gpointer data)
{
  Flood *flood = data;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    prio_scheduler_post (flood->scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, bench_nothing, NULL, NULL);
  flood->took = (bench_now () - start) / N;
  return NULL;
}

static gpointer
flood_invokes (gpointer data)
{
  Flood *flood = data;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    g_main_context_invoke_full (flood->context, G_PRIORITY_DEFAULT, bench_nothing, NULL, NULL);
  flood->took = (bench_now () - start) / N;
  return NULL;
}

static double
run_flood (Flood *flood, GThreadFunc func)
{
  GThread *thread;

  bench_ran = 0;
  g_main_context_acquire (flood->context);
  g_main_context_iteration (flood->context, FALSE);
  thread = g_thread_new ("flood", func, flood);
  bench_run_until (flood->context, N);
  g_main_context_release (flood->context);
  g_thread_join (thread);
  return flood->took;
}

double
bench_post_flood (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  Flood flood = { context, scheduler, 0 };

  return run_flood (&flood, flood_posts);
}

double
bench_invoke_flood (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  Flood flood = { context, NULL, 0 };

  return run_flood (&flood, flood_invokes);
}

/* A task that posts itself again */

static gboolean
repeat (gpointer data)
{
  return ++bench_ran < N ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static double
repeat_with_slice (double slice)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  double start;

  prio_scheduler_set_time_slice (scheduler, slice);
  bench_ran = 0;
  start = bench_now ();
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, repeat, NULL, NULL);
  bench_run_until (context, N);
  return (bench_now () - start) / N;
}

double
bench_repeat_in_batch (void)
{
  return repeat_with_slice (5);
}

double
bench_repeat_per_iteration (void)
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

double
bench_always_ready (void)
{
  static GSourceFuncs funcs = { always_ready_prepare, NULL, always_ready_dispatch, NULL, NULL, NULL };
  g_autoptr (GMainContext) context = g_main_context_new ();
  GSource *source = g_source_new (&funcs, sizeof (GSource));
  double start;

  g_source_attach (source, context);
  g_source_unref (source);
  bench_ran = 0;
  start = bench_now ();
  bench_run_until (context, N);
  return (bench_now () - start) / N;
}

/* The 99th percentile of an urgent task's latency during a flood of others */

#define N_URGENT 100
#define N_FLOOD 10000

typedef struct
{
  gint64 posted[N_URGENT]; /* ns, like all times here */
  double waits[N_URGENT];
  guint n_begun;
  guint n_left; /* tasks of the flood that are left */
  gboolean plain;
} Latency;

static gboolean
urgent (gpointer data)
{
  Latency *latency = data;

  latency->waits[latency->n_begun] = bench_now () - latency->posted[latency->n_begun];
  latency->n_begun++;
  return G_SOURCE_REMOVE;
}

/* Takes 50 µs.  Every hundredth task posts an urgent one, halfway. */
static gboolean
flood (gpointer data)
{
  Latency *latency = data;
  double end = bench_now () + 50000;

  if (latency->n_left-- % (N_FLOOD / N_URGENT) == 0)
    {
      while (bench_now () < end - 25000)
        ;
      latency->posted[N_URGENT - 1 - latency->n_left / (N_FLOOD / N_URGENT)] = (gint64) bench_now ();
      if (latency->plain)
        g_idle_add_full (G_PRIORITY_HIGH, urgent, latency, NULL);
      else
        prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_USER_BLOCKING, urgent, latency, NULL);
    }
  while (bench_now () < end)
    ;
  return G_SOURCE_REMOVE;
}

static int
compare_waits (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
latency_p99 (gboolean plain)
{
  Latency latency = { .n_left = N_FLOOD, .plain = plain };

  for (guint i = 0; i < N_FLOOD; i++)
    {
      if (plain)
        g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, flood, &latency, NULL);
      else
        prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_BACKGROUND, flood, &latency, NULL);
    }
  /* Runs until all tasks have ended, because they refer to this variable. */
  while (latency.n_begun < N_URGENT || latency.n_left > 0)
    g_main_context_iteration (NULL, TRUE);

  qsort (latency.waits, N_URGENT, sizeof *latency.waits, compare_waits);
  return latency.waits[N_URGENT * 99 / 100 - 1] / 1000;
}

double
bench_urgent_task (void)
{
  return latency_p99 (FALSE);
}

double
bench_urgent_idle (void)
{
  return latency_p99 (TRUE);
}

/* should_yield () in an inner loop */

static double per_question;

static gboolean
ask (gpointer data)
{
  const guint n = 100000;
  double start = bench_now ();
  guint told = 0;

  for (guint i = 0; i < n; i++)
    told += prio_scheduler_should_yield (data);
  g_assert (told == 0);
  per_question = (bench_now () - start) / n;
  return G_SOURCE_REMOVE;
}

double
bench_should_yield (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

  prio_scheduler_set_time_slice (scheduler, 60000);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, ask, scheduler, NULL);
  g_main_context_iteration (context, TRUE);
  return per_question;
}

double
bench_context_pending (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  const guint n = 10000;
  double start = bench_now ();

  for (guint i = 0; i < n; i++)
    g_main_context_pending (context);
  return (bench_now () - start) / n;
}
