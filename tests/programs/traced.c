/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* traced.c: a program of tasks for check-trace.py, check-monitor.py and check-environment.py
 *
 *   traced MODE
 *
 * It prints its counts, one number a line: how many tasks have ended, how many times one has yielded, how many tasks have been aborted.
 */

#include "prio-sched-watch.h"
#include "prio-sched.h"

#include "print-statistics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_MORE_RIGHTS
/* secure_getenv () as in a program that runs with more rights than its caller. */
char *secure_getenv (const char *name);

char *
secure_getenv (const char *name)
{
  return NULL;
}
#endif

enum { N_THREADS = 4, N_TASKS = 200 };

static gint n_ended, n_yielded, n_aborted; /* atomic */

static gboolean
count_end (gpointer data)
{
  g_atomic_int_inc (&n_ended);
  return G_SOURCE_REMOVE;
}

/* Yields twice. */
static gboolean
yield_twice (gpointer data)
{
  guint *left = data;

  if ((*left)-- == 0)
    return count_end (NULL);
  g_atomic_int_inc (&n_yielded);
  return G_SOURCE_CONTINUE;
}

static void
count_abort (gpointer data)
{
  g_atomic_int_inc (&n_aborted);
}

static void
run_all (GMainContext *context)
{
  while (g_main_context_iteration (context, FALSE))
    ;
}

static void
post_named (PrioScheduler *scheduler, const char *name, PrioTaskPriority priority, guint64 delay)
{
  PrioTaskOptions options = { .priority = priority, .delay = delay, .name = name };

  prio_scheduler_post_full (scheduler, &options, count_end, NULL, NULL);
}

static gboolean prints_statistics;

/* Posts each kind of task, in @context. */
static void
do_each (GMainContext *context)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  g_autoptr (PrioTaskController) doomed = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions follows = { .signal = prio_task_controller_get_signal (controller), .name = "follows" };
  PrioTaskOptions dies = { .signal = prio_task_controller_get_signal (doomed), .name = "dies" };
  gint wanted;
  guint left = 2;

  if (prints_statistics)
    prio_scheduler_start_statistics (scheduler);
  for (guint i = 0; i < N_TASKS; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, count_end, NULL, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, yield_twice, &left, NULL);
  post_named (scheduler, "a \"name\"\\ of \xff größe\n", PRIO_TASK_PRIORITY_USER_BLOCKING, 0);
  prio_scheduler_post_full (scheduler, &follows, count_end, NULL, NULL);
  prio_scheduler_post_full (scheduler, &dies, count_end, NULL, count_abort);
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
  prio_task_controller_abort (doomed, NULL);
  post_named (scheduler, "late", PRIO_TASK_PRIORITY_BACKGROUND, 1);

  wanted = N_TASKS + 4;
  for (gint before = g_atomic_int_get (&n_ended); g_atomic_int_get (&n_ended) - before < wanted;)
    g_main_context_iteration (context, TRUE);
  run_all (context);
  if (prints_statistics)
    print_statistics (scheduler);
}

static gpointer
do_in_thread (gpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  static gint total;

  for (guint i = 0; i < N_TASKS; i++)
    {
      g_atomic_int_inc (&total);
      post_named (scheduler, "of a thread", PRIO_TASK_PRIORITY_BACKGROUND, 0);
    }
  run_all (context);
  return NULL;
}

static void
do_threads (void)
{
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("worker", do_in_thread, NULL);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
}

/* Forks; the child continues with its own tasks. */
static void
do_fork (void)
{
  pid_t pid;

  do_each (NULL);
  fflush (NULL);
  pid = fork ();
  if (pid == 0)
    {
      do_in_thread (NULL);
      exit (0);
    }
  waitpid (pid, NULL, 0);
  do_each (NULL);
}

/* Traces into the descriptor @fd, which is closed meanwhile. */
static void
do_by_descriptor (int fd)
{
  g_autoptr (GError) error = NULL;

  do_each (NULL);
  n_ended = n_yielded = n_aborted = 0;
  if (!prio_trace_start (fd, &error))
    {
      printf ("%s\n", error->message);
      exit (1);
    }
  close (fd);
  do_each (NULL);
  prio_trace_stop ();
  prio_trace_stop ();
}

/* Traces from before the first scheduler; tasks run during the trace, and after it. */
static void
do_own (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_trace_start (STDOUT_FILENO, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
  do_each (NULL);
  prio_trace_stop ();
  do_each (NULL);
}

static gboolean
start_inside (gpointer fd)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (prio_trace_start (GPOINTER_TO_INT (fd), NULL));
  g_assert_false (prio_trace_start (GPOINTER_TO_INT (fd), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
  return G_SOURCE_REMOVE;
}

static gboolean
stop_inside (gpointer data)
{
  prio_trace_stop ();
  return G_SOURCE_REMOVE;
}

/* Starts and stops a trace in tasks. */
static void
do_inside (PrioScheduler *scheduler, int fd)
{
  GSourceFunc funcs[] = { start_inside, count_end, stop_inside };

  for (guint i = 0; i < G_N_ELEMENTS (funcs); i++)
    {
      prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, funcs[i], GINT_TO_POINTER (fd), NULL);
      run_all (NULL);
    }
}

static void
end_with (PrioTask *task, gpointer result)
{
  count_end (NULL);
  if (g_str_equal (result, "failed"))
    prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "planned");
  else if (g_str_equal (result, "aborted"))
    prio_task_cancel (task);
  else if (g_str_equal (result, "deferred"))
    prio_task_defer (task);
}

static gboolean
return_later (gpointer task)
{
  prio_task_return_boolean (task, TRUE);
  return count_end (NULL);
}

/* Posts a task of each result, named after it; then a task that waits while its scheduler is paused. */
static void
do_results (PrioScheduler *scheduler)
{
  static const char *const results[] = { "done", "failed", "aborted", "deferred" };
  g_autoptr (PrioTask) task = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_clear_object (&task);
      task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .name = results[i] }, end_with, (gpointer) results[i], NULL);
    }
  run_all (NULL);
  prio_scheduler_pause (scheduler);
  prio_scheduler_pause (scheduler);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, return_later, task, NULL);
  run_all (NULL);
  prio_scheduler_resume (scheduler);
  run_all (NULL);
}

/* Replaces this program by the one at @path. */
static G_NORETURN void
do_exec (const char *path)
{
  do_each (NULL);
  execl (path, path, "each", NULL);
  exit (1);
}

/* Runs so many tasks that the trace is written in several blocks. */
static void
do_many (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 20; i++)
    {
      for (guint j = 0; j < 500; j++)
        post_named (scheduler, "one of many", PRIO_TASK_PRIORITY_USER_VISIBLE, 0);
      run_all (NULL);
    }
}

/* Waits until the file of the trace has @n runs. */
static void
await_runs (gint n)
{
  gint found = 0;

  while (found < n)
    {
      g_autofree char *text = NULL;

      g_usleep (1000);
      g_assert_true (g_file_get_contents (g_getenv ("PRIO_SCHED_TRACE"), &text, NULL, NULL));
      found = 0;
      for (const char *run = text; (run = strstr (run, "\"cat\":\"run\"")) != NULL; run++)
        found++;
    }
}

/* Closes all descriptors, as a daemon does.  The file at @path gets the numbers of previously open ones. */
static void
do_after_closing (const char *path)
{
  do_in_thread (NULL);
  await_runs (g_atomic_int_get (&n_ended));
  /* The thread that writes the trace may be about to write events after the last run. */
  g_usleep (G_USEC_PER_SEC / 2);
  for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
    close (fd);
  for (guint i = 0; i < 20; i++)
    g_assert_cmpint (open (path, O_RDWR | O_CREAT, 0600), >=, 0);
  do_in_thread (NULL);
}

static gboolean
print_garbage (gpointer data)
{
  const char *trace = g_getenv ("PRIO_SCHED_TRACE");
  FILE *file = trace != NULL ? fopen (trace, "w") : NULL;

  if (file != NULL)
    {
      fputs ("\x1b[2Jgarbage\n{\"ph\":\"X\"\n", file);
      fclose (file);
    }
  printf ("\x1b[2J\xff\x01garbage, and no end of the line");
  fprintf (stderr, "\x1b]0;title\x07\n");
  return count_end (NULL);
}

static gboolean
sleep_long (gpointer data)
{
  const char *path = data;

  /* The reader of the file creates it when it has read enough. */
  while (access (path, F_OK) != 0)
    g_usleep (1000);
  return count_end (NULL);
}

static void
do_mode (const char *mode, const char *argument)
{
  g_autoptr (PrioScheduler) scheduler = NULL;

  if (g_str_equal (mode, "nothing"))
    return;
  if (g_str_equal (mode, "own"))
    {
      do_own ();
      return;
    }
  scheduler = prio_scheduler_new (NULL);
  if (g_str_equal (mode, "each"))
    do_each (NULL);
  else if (g_str_equal (mode, "statistics"))
    {
      prints_statistics = TRUE;
      do_each (NULL);
    }
  else if (g_str_equal (mode, "threads"))
    do_threads ();
  else if (g_str_equal (mode, "fork"))
    do_fork ();
  else if (g_str_equal (mode, "many"))
    do_many ();
  else if (g_str_equal (mode, "exec"))
    do_exec (argument);
  else if (g_str_equal (mode, "closes"))
    do_after_closing (argument);
  else if (g_str_equal (mode, "descriptor"))
    do_by_descriptor (atoi (argument));
  else if (g_str_equal (mode, "inside"))
    do_inside (scheduler, atoi (argument));
  else if (g_str_equal (mode, "results"))
    do_results (scheduler);
  else if (g_str_equal (mode, "garbage"))
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, print_garbage, NULL, NULL);
  else if (g_str_equal (mode, "wait"))
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "long one" }, sleep_long, (gpointer) argument, NULL);
  else if (g_str_equal (mode, "crash"))
    {
      do_many ();
      /* Waits to be killed. */
      while (TRUE)
        pause ();
    }
  run_all (NULL);
}

int
main (int argc, char **argv)
{
  do_mode (argv[1], argc > 2 ? argv[2] : NULL);
  printf ("%d\n%d\n%d\n", n_ended, n_yielded, n_aborted);
  return argc > 3 ? atoi (argv[3]) : 0;
}
