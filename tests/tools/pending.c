/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pending.c: measures the cost of a task beside GLib's own ways, by the number of tasks that are pending
 *
 *   pending ROUNDS NUMBER…
 *
 * Each row posts NUMBER tasks and runs the main loop until all have run, and does the same in GLib's way.  Both run alternately in
 * one process.  Prints a line for each row: the name, the peer, and the lowest times of both in ns a task, separated by tabs:
 * other load of the machine makes times longer, and never shorter.
 */

#include <prio-sched.h>
#include <stdlib.h>

#define MEASURED 20000 /* tasks a round, at least */
#define N_STEPS 10

typedef struct
{
  const char *name, *peer;
  void (*ours) (guint n); /* posts n tasks, each of which calls done () once */
  void (*theirs) (guint n);
} Row;

static PrioScheduler *scheduler;
static PrioTaskController *controller;
static GCancellable *cancellable;
static guint n_left;

static gboolean
done (gpointer data G_GNUC_UNUSED)
{
  n_left--;
  return G_SOURCE_REMOVE;
}

static void
post (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, done, NULL, NULL);
}

static void
add_idle (guint n)
{
  for (guint i = 0; i < n; i++)
    g_idle_add_full (G_PRIORITY_DEFAULT, done, NULL, NULL);
}

static void
post_under_signal (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = prio_task_controller_get_signal (controller)), done, NULL, NULL);
}

static gboolean
done_unless_cancelled (gpointer data)
{
  return g_cancellable_is_cancelled (cancellable) ? G_SOURCE_REMOVE : done (data);
}

static void
add_idle_with_cancellable (guint n)
{
  for (guint i = 0; i < n; i++)
    g_idle_add_full (G_PRIORITY_DEFAULT, done_unless_cancelled, g_object_ref (cancellable), g_object_unref);
}

static void
return_number (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_task_return_int (task, 1);
}

static void
got_number (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data G_GNUC_UNUSED)
{
  n_left -= (guint) prio_task_propagate_int (PRIO_TASK (result), NULL);
}

static void
post_and_wait (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      PrioTask *task = prio_scheduler_post_task (scheduler, NULL, return_number, NULL, NULL);

      prio_task_wait_async (task, NULL, got_number, NULL);
      g_object_unref (task);
    }
}

static void
got_number_of_gtask (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data G_GNUC_UNUSED)
{
  n_left -= (guint) g_task_propagate_int (G_TASK (result), NULL);
}

/* GTask calls back in another source, since the function returns in the iteration in which the task was created. */
static void
return_gtask (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      GTask *task = g_task_new (NULL, NULL, got_number_of_gtask, NULL);

      g_task_return_int (task, 1);
      g_object_unref (task);
    }
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL);
  done (data);
}

static void
yield_once (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_scheduler_yield_async (scheduler, NULL, yielded, NULL);
}

static gboolean
step (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  if (++*(guint *) data < N_STEPS)
    return G_SOURCE_CONTINUE;
  return done (NULL);
}

static void
post_steps (guint n)
{
  for (guint i = 0; i < n; i++)
    g_object_unref (prio_scheduler_post_steps (scheduler, NULL, step, g_new0 (guint, 1), g_free));
}

static gboolean
step_of_idle (gpointer data)
{
  return step (NULL, data);
}

static void
add_idle_steps (guint n)
{
  for (guint i = 0; i < n; i++)
    g_idle_add_full (G_PRIORITY_DEFAULT, step_of_idle, g_new0 (guint, 1), g_free);
}

static const Row rows[] = {
  { "post", "an idle source", post, add_idle },
  { "post with a task signal", "an idle source with a GCancellable", post_under_signal, add_idle_with_cancellable },
  { "post, wait for the result", "GTask", post_and_wait, return_gtask },
  { "yield", "an idle source", yield_once, add_idle },
  { "ten steps", "ten calls of an idle source", post_steps, add_idle_steps },
};

/* Returns the time of a task in ns. */
static double
measure (void (*begin) (guint n), guint n)
{
  guint n_times = MAX (1, MEASURED / n);
  gint64 start = g_get_monotonic_time ();

  for (guint i = 0; i < n_times; i++)
    {
      n_left = n;
      begin (n);
      while (n_left > 0)
        g_main_context_iteration (NULL, TRUE);
    }
  return (g_get_monotonic_time () - start) * 1000.0 / ((double) n * n_times);
}

static void
run_row (const Row *row, guint n_rounds, char **numbers)
{
  g_print ("%s\t%s", row->name, row->peer);
  for (; *numbers != NULL; numbers++)
    {
      guint n = (guint) atoi (*numbers);
      double ours = G_MAXDOUBLE, theirs = G_MAXDOUBLE;

      for (guint i = 0; i < n_rounds; i++)
        {
          ours = MIN (ours, measure (row->ours, n));
          theirs = MIN (theirs, measure (row->theirs, n));
        }
      g_print ("\t%.1f\t%.1f", ours, theirs);
    }
  g_print ("\n");
}

int
main (int argc, char **argv)
{
  if (argc < 3 || atoi (argv[1]) < 1)
    {
      g_printerr ("pending ROUNDS NUMBER…\n");
      return 2;
    }

  scheduler = prio_scheduler_get_default ();
  controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  cancellable = g_cancellable_new ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    run_row (&rows[i], (guint) atoi (argv[1]), argv + 2);
  g_object_unref (cancellable);
  g_object_unref (controller);
  return 0;
}
