/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* costs.c: operations whose cost must not depend on the number of objects
 *
 * costs NAME SIZE performs the operation NAME, in measured (); check-costs.py counts its
 * instructions.
 */

#include <prio-sched-bindings.h>

#include <stdlib.h>

#define TIMES 100

static PrioScheduler *scheduler;
static PrioTaskController *controller;
static GQueue groups = G_QUEUE_INIT, between = G_QUEUE_INIT;
static PrioTask *urgent;

static gboolean
never_called (gpointer data)
{
  g_assert_not_reached ();
}

static void
post_under (PrioTaskController *by)
{
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (by));

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal }, never_called, NULL, NULL);
}

/* Makes @n signals that have queued tasks. */
static void
queue_under_signals (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (PrioTaskController) other = prio_task_controller_new ((PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + i % 3));

      post_under (other);
    }
}

/* Queues @n tasks of a signal. */
static void
queue_tasks (guint n)
{
  for (guint i = 0; i < n; i++)
    post_under (controller);
}

/* Makes a signal that has tasks in @n schedulers. */
static void
use_at_schedulers (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      scheduler = prio_scheduler_new (NULL);
      post_under (controller);
    }
}

static void
pause_and_resume (void)
{
  prio_scheduler_pause (scheduler);
  prio_scheduler_resume (scheduler);
}

static void
change_priority (void)
{
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_BACKGROUND, NULL);
}

static void
post_one (void)
{
  post_under (controller);
}

static void
make_groups (guint n)
{
  for (guint i = 0; i < n; i++)
    g_queue_push_tail (&groups, prio_task_group_new (scheduler, 1, PRIO_TASK_PRIORITY_BACKGROUND));
}

static void
free_oldest_group (void)
{
  g_object_unref (g_queue_pop_head (&groups));
}

static void
nothing_more (GObject *source, GAsyncResult *result, gpointer data)
{
}

/* Waits for the tasks in @data. */
static void
wait_for_others (PrioTask *task, gpointer data)
{
  GPtrArray *others = data;

  prio_task_defer (task);
  for (guint i = 0; i < others->len; i++)
    prio_task_then (others->pdata[i], nothing_more, NULL, NULL);
}

/* Posts a task of @priority that waits for @others. */
static PrioTask *
post_waiting (PrioTaskPriority priority, GPtrArray *others)
{
  return prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = priority }, wait_for_others, others,
                                   (GDestroyNotify) g_ptr_array_unref);
}

/* Makes a group with @n queued tasks of a signal. */
static void
queue_in_a_group (guint n)
{
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

  make_groups (1);
  for (guint i = 0; i < n; i++)
    g_object_unref (prio_task_group_post_task (g_queue_peek_tail (&groups), &options, wait_for_others, NULL, NULL));
}

static void
run_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

/* Makes a chain of @n tasks that wait for each other, @n tasks that wait for its head, and an urgent task that waits
 * for all of these. */
static void
wait_for_a_chain (guint n)
{
  GPtrArray *all = g_ptr_array_new ();
  PrioTask *head = NULL;

  prio_scheduler_set_lends_priority (scheduler, TRUE);
  for (guint i = 0; i < n; i++)
    {
      GPtrArray *next = g_ptr_array_new ();

      if (head != NULL)
        g_ptr_array_add (next, head);
      head = post_waiting (PRIO_TASK_PRIORITY_BACKGROUND, next);
    }
  for (guint i = 0; i < n; i++)
    {
      GPtrArray *next = g_ptr_array_new ();

      g_ptr_array_add (next, head);
      g_queue_push_tail (&between, post_waiting (PRIO_TASK_PRIORITY_BACKGROUND, next));
      g_ptr_array_add (all, g_queue_peek_tail (&between));
    }
  run_all ();
  urgent = post_waiting (PRIO_TASK_PRIORITY_USER_BLOCKING, all);
  run_all ();
}

static void
end_one_between (void)
{
  prio_task_return_boolean (g_queue_pop_head (&between), TRUE);
  run_all ();
}

static void
wait_for_group (PrioTask *task, gpointer group)
{
  prio_task_defer (task);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, nothing_more, NULL);
}

/* Lets a task of a new group wait for the last task. */
static void
wait_for_newest_group (void)
{
  PrioTaskGroup *last = g_queue_peek_tail (&groups);

  make_groups (1);
  g_queue_push_tail (&between, prio_task_group_post_task (g_queue_peek_tail (&groups), NULL, wait_for_group, last, NULL));
  run_all ();
}

static void
wait_in_a_chain (guint n)
{
  make_groups (1);
  g_queue_push_tail (&between, prio_task_group_post_task (g_queue_peek_tail (&groups), NULL, wait_for_others,
                                                          g_ptr_array_new (), NULL));
  for (guint i = 0; i < n; i++)
    wait_for_newest_group ();
}

static const struct
{
  const char *name;
  void (*prepare) (guint n);
  void (*act) (void);
} costs[] = {
  { "pause and resume, signals that have queued tasks", queue_under_signals, pause_and_resume },
  { "pause and resume, queued tasks of a signal", queue_tasks, pause_and_resume },
  { "change of priority, queued tasks of the signal", queue_tasks, change_priority },
  { "change of priority, queued tasks of the signal in a group", queue_in_a_group, change_priority },
  { "change of priority, signals that have queued tasks", queue_under_signals, change_priority },
  { "post, schedulers at which the signal has tasks", use_at_schedulers, post_one },
  { "post, signals that have tasks at the scheduler", queue_under_signals, post_one },
  { "end of a group, groups of the scheduler", make_groups, free_oldest_group },
  { "end of a task that lends, tasks in the chain that it waits for", wait_for_a_chain, end_one_between },
  { "wait for a group, groups in the chain that it waits for", wait_in_a_chain, wait_for_newest_group },
};

G_GNUC_NO_INLINE void measured (void (*act) (void));

/* check-costs.py finds the code to count by this name. */
void
measured (void (*act) (void))
{
  for (guint i = 0; i < TIMES; i++)
    act ();
}

int
main (int argc, char **argv)
{
  if (argc < 3)
    {
      for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
        g_print ("%s\n", costs[i].name);
      return 0;
    }

  scheduler = prio_scheduler_new (NULL);
  controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      if (g_str_equal (costs[i].name, argv[1]))
        {
          costs[i].prepare ((guint) atoi (argv[2]));
          costs[i].act ();
          measured (costs[i].act);
          /* Queued tasks are not freed. */
          return 0;
        }
    }
  return 2;
}
