/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* worker.c: runs one job after the other beside a busy main loop: by a worker, by a group of one, and by a thread
 * written by hand
 *
 *   worker [--jobs N] [--job US] [--step US] [--rounds N]
 *
 * Each result returns to the main thread, as a rendered page does.  The ways take turns.  It prints the median time for
 * a job, and the share of time without a running job.
 */

#include <locale.h>
#include <prio-sched.h>
#include <time.h>

#define MAX_ROUNDS 101

static gint n_jobs = 200, job_time = 2000, step_time = 30000, n_rounds = 5; /* times in µs */

typedef enum { WORKER, GROUP, BY_HAND, N_WAYS } Way;
static const char *const names[N_WAYS] = { "PrioWorker", "a group of 1, run_in_thread", "a thread and a queue by hand" };

typedef struct
{
  GMainLoop *loop;
  gint n_home;
  gint64 busy; /* µs, written by the thread that does the jobs */
} Run;

static gint64
processor_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * G_USEC_PER_SEC + time.tv_nsec / 1000;
}

static void
spin (gint64 duration)
{
  gint64 end = processor_time () + duration;

  while (processor_time () < end)
    ;
}

static void
do_job (Run *run)
{
  gint64 begin = g_get_monotonic_time ();

  spin (job_time);
  run->busy += g_get_monotonic_time () - begin;
}

static void
come_home (Run *run)
{
  if (++run->n_home == n_jobs)
    g_main_loop_quit (run->loop);
}

static void
do_task (PrioTask *task, gpointer run)
{
  do_job (run);
  prio_task_return_boolean (task, TRUE);
}

static void
task_home (GObject *source, GAsyncResult *result, gpointer run)
{
  g_assert_true (prio_task_propagate_boolean (PRIO_TASK (result), NULL));
  come_home (run);
}

static gboolean
job_home (gpointer run)
{
  come_home (run);
  return G_SOURCE_REMOVE;
}

static gpointer
thread (gpointer queue)
{
  for (gint i = 0; i < n_jobs; i++)
    {
      Run *run = g_async_queue_pop (queue);

      do_job (run);
      g_idle_add_full (G_PRIORITY_DEFAULT, job_home, run, NULL);
    }
  return NULL;
}

static gboolean
step (gpointer data)
{
  spin (step_time);
  return G_SOURCE_CONTINUE;
}

static void
wait_for (PrioTask *task, Run *run)
{
  prio_task_wait_async (task, NULL, task_home, run);
  g_object_unref (task);
}

/* Returns the time from the first post until all results have returned, µs. */
static gint64
run_way (Way way, double *idle)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (scheduler, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  g_autoptr (PrioWorker) worker = prio_worker_new ("jobs");
  g_autoptr (GAsyncQueue) queue = g_async_queue_new ();
  GThread *by_hand = way == BY_HAND ? g_thread_new ("jobs", thread, queue) : NULL;
  Run run = { .loop = loop };
  guint source = g_idle_add (step, NULL);
  gint64 begin = g_get_monotonic_time (), time;

  for (gint i = 0; i < n_jobs; i++)
    {
      if (way == BY_HAND)
        g_async_queue_push (queue, &run);
      else if (way == WORKER)
        wait_for (prio_worker_run (worker, scheduler, NULL, do_task, &run, NULL), &run);
      else
        wait_for (prio_task_group_run_in_thread (group, NULL, do_task, &run, NULL), &run);
    }
  g_main_loop_run (loop);
  time = g_get_monotonic_time () - begin;
  g_source_remove (source);
  if (by_hand != NULL)
    g_thread_join (by_hand);
  prio_worker_stop (worker, PRIO_WORKER_STOP_FINISH);
  prio_worker_join (worker);
  *idle = 1 - (double) run.busy / time;
  return time;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *values)
{
  qsort (values, (gsize) n_rounds, sizeof *values, compare);
  return values[n_rounds / 2];
}

int
main (int argc, char **argv)
{
  static double times[N_WAYS][MAX_ROUNDS], idles[N_WAYS][MAX_ROUNDS];
  const GOptionEntry entries[] = {
    { "jobs", 0, 0, G_OPTION_ARG_INT, &n_jobs, "How many", "N" },
    { "job", 0, 0, G_OPTION_ARG_INT, &job_time, "The time of each", "US" },
    { "step", 0, 0, G_OPTION_ARG_INT, &step_time, "The time of each step of the main loop's", "US" },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &n_rounds, "How often each way", "N" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  double by_hand;

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || n_jobs < 1 || n_rounds < 1 || n_rounds > MAX_ROUNDS)
    {
      g_printerr ("%s\n", error != NULL ? error->message : "A number is out of range");
      return 2;
    }

  for (gint round = 0; round < n_rounds; round++)
    {
      for (Way way = 0; way < N_WAYS; way++)
        times[way][round] = (double) run_way (way, &idles[way][round]) / n_jobs;
    }
  by_hand = median (times[BY_HAND]);
  for (Way way = 0; way < N_WAYS; way++)
    g_print ("%-30s %8.0f µs each, %5.2f × by hand, idle %3.0f %%\n", names[way], median (times[way]), median (times[way]) / by_hand,
             100 * median (idles[way]));
  return 0;
}
