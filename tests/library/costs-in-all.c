/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* costs-in-all.c: operations on many objects, whose cost must not grow faster than their number
 *
 * costs-in-all NAME SIZE performs the operation NAME, in measured (); check-costs.py counts its
 * instructions.
 */

#include <prio-sched-bindings.h>
#include <prio-sched-feed.h>

#include <stdlib.h>

static PrioScheduler *scheduler;
static PrioTaskController *controller;
static GListStore *rows;
static PrioFeed *feed;
static guint n_posted;
static GPtrArray *groups, *signals, *tasks, *deferred, *clocks;

static void
run_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
nothing_to_prepare (guint n)
{
}

static void
nothing_more (GObject *source, GAsyncResult *result, gpointer data)
{
}

static gboolean
once (gpointer data)
{
  return G_SOURCE_REMOVE;
}

/* Keeps the task running until another call gives its result. */
static void
defer (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  g_ptr_array_add (deferred, g_object_ref (task));
}

static PrioTaskSignal *
own_signal (void)
{
  return PRIO_TASK_SIGNAL (prio_task_controller_get_signal (controller));
}

static void
make_groups (guint n)
{
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (groups, prio_task_group_new (scheduler, 1, PRIO_TASK_PRIORITY_BACKGROUND));
}

/* Shuffles by the same permutation each time. */
static void
shuffle (GPtrArray *array)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);

  for (guint i = array->len; i > 1; i--)
    {
      guint other = (guint) g_rand_int_range (random, 0, (gint) i);
      gpointer last = array->pdata[i - 1];

      array->pdata[i - 1] = array->pdata[other];
      array->pdata[other] = last;
    }
}

static void
free_groups (guint n)
{
  make_groups (n);
  g_ptr_array_set_size (groups, 0);
}

static void
free_groups_from_the_newest (guint n)
{
  make_groups (n);
  while (groups->len > 0)
    g_ptr_array_remove_index (groups, groups->len - 1);
}

static void
free_groups_in_no_order (guint n)
{
  make_groups (n);
  shuffle (groups);
  g_ptr_array_set_size (groups, 0);
}

/* Makes groups, each with a running task, a queued one, and a wait. */
static void
fill_groups (guint n)
{
  make_groups (n);
  for (guint i = 0; i < n; i++)
    {
      for (guint j = 0; j < 2; j++)
        g_object_unref (prio_task_group_post_task (groups->pdata[i], NULL, defer, NULL, NULL));
      prio_task_group_wait_async (groups->pdata[i], PRIO_TASK_GROUP_WAIT_DRAINED, NULL, nothing_more, NULL);
    }
  run_all ();
  shuffle (groups);
}

static void
abort_groups (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_task_group_abort (groups->pdata[i], NULL);
  run_all ();
  g_ptr_array_set_size (groups, 0);
}

static const PrioTaskGroupWait kinds[] = { PRIO_TASK_GROUP_WAIT_DRAINED, PRIO_TASK_GROUP_WAIT_ALL,
                                           PRIO_TASK_GROUP_WAIT_ANY, PRIO_TASK_GROUP_WAIT_FIRST };

/* Makes a group of @n tasks, of which @limit may run, and @n waits of each kind. */
static void
fill_group_of (guint n, guint limit)
{
  g_ptr_array_add (groups, prio_task_group_new (scheduler, limit, PRIO_TASK_PRIORITY_BACKGROUND));
  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (tasks, prio_task_group_post_task (groups->pdata[0], NULL, defer, NULL, NULL));
      prio_task_group_wait_async (groups->pdata[0], kinds[i % G_N_ELEMENTS (kinds)], NULL, nothing_more, NULL);
    }
  run_all ();
}

static void
fill_group (guint n)
{
  fill_group_of (n, n / 2);
}

static void
run_group (guint n)
{
  fill_group_of (n, n);
}

static void
abort_group (guint n)
{
  prio_task_group_abort (groups->pdata[0], NULL);
  run_all ();
}

static void
fail_tasks (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_task_return_new_error (tasks->pdata[i], G_IO_ERROR, G_IO_ERROR_FAILED, "planned");
  run_all ();
}

static void
post_under_signal (guint n)
{
  PrioTaskOptions options = { .signal = own_signal () };

  for (guint i = 0; i < n; i++)
    {
      options.delay = i % 2 * 1000000;
      g_ptr_array_add (tasks, prio_scheduler_post_task (scheduler, &options, defer, NULL, NULL));
      prio_task_then (tasks->pdata[i], nothing_more, NULL, NULL);
    }
}

static void
abort_signal (guint n)
{
  prio_task_controller_abort (controller, NULL);
  run_all ();
}

static void
end_deferred (GCancellable *signal, gpointer task)
{
  prio_task_return_error_if_aborted (task);
}

/* Makes @n running tasks that listen to their signal. */
static void
defer_under_signal (guint n)
{
  PrioTaskOptions options = { .signal = own_signal () };

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (tasks, prio_scheduler_post_task (scheduler, &options, defer, NULL, NULL));
      g_signal_connect (options.signal, "cancelled", G_CALLBACK (end_deferred), tasks->pdata[i]);
    }
  run_all ();
}

static PrioTaskSignal *
any_of_two (PrioTaskSignal *one, PrioTaskSignal *other)
{
  GCancellable *sources[] = { G_CANCELLABLE (one), G_CANCELLABLE (other) };

  return prio_task_signal_new_any_following (sources, G_N_ELEMENTS (sources), other);
}

/* Creates signals that each depend on the previous two, so that the number of paths to the last signal grows like
 * Fibonacci's numbers.  Each signal has a task. */
static void
make_lattice (guint n)
{
  g_ptr_array_add (signals, g_object_ref (own_signal ()));
  g_ptr_array_add (signals, g_object_ref (own_signal ()));
  for (guint i = 0; i < n; i++)
    {
      PrioTaskSignal *signal = any_of_two (signals->pdata[i], signals->pdata[i + 1]);

      g_ptr_array_add (signals, signal);
      prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = signal }, once, NULL, NULL);
    }
}

static void
free_signals (guint n)
{
  shuffle (signals);
  g_ptr_array_set_size (signals, 0);
  run_all ();
}

/* Creates a signal that depends on @n others, which all depend on one signal. */
static void
make_fan (guint n)
{
  g_autoptr (GPtrArray) middle = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (signals, any_of_two (own_signal (), own_signal ()));
      g_ptr_array_add (middle, signals->pdata[i]);
    }
  g_ptr_array_add (signals, prio_task_signal_new_any_following ((GCancellable **) middle->pdata, n, middle->pdata[n / 2]));
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signals->pdata[n] }, once, NULL, NULL);
}

static void
change_priority (guint n)
{
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
}

static void
cancel_outer (GObject *source, GAsyncResult *result, gpointer outer)
{
  g_autoptr (GError) error = NULL;

  prio_task_propagate_boolean (PRIO_TASK (result), &error);
  prio_task_return_error (outer, g_steal_pointer (&error));
}

static void
await_inner (PrioTask *task, gpointer inner)
{
  defer (task, NULL);
  if (inner != NULL)
    prio_task_then (inner, cancel_outer, g_object_ref (task), g_object_unref);
}

/* Creates a chain of tasks, each of which waits for the previous one. */
static void
defer_in_a_chain (guint n)
{
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (tasks, prio_scheduler_post_task (scheduler, NULL, await_inner, i > 0 ? tasks->pdata[i - 1] : NULL, NULL));
  run_all ();
}

static void
cancel_chain (guint n)
{
  for (guint i = 0; i < n; i++)
    prio_task_cancel (tasks->pdata[i]);
  prio_task_return_error_if_aborted (tasks->pdata[0]);
  run_all ();
}

/* Creates a chain of tasks as defer_in_a_chain () does, with lent priorities. */
static void
lend_in_a_chain (guint n)
{
  PrioTaskOptions urgent = { .priority = PRIO_TASK_PRIORITY_USER_BLOCKING };

  prio_scheduler_set_lends_priority (scheduler, TRUE);
  defer_in_a_chain (n);
  for (guint i = 0; i < n; i++)
    g_object_unref (prio_scheduler_post_task (scheduler, &urgent, await_inner, tasks->pdata[i], NULL));
  run_all ();
}

static void
cancel_queued (guint n)
{
  shuffle (tasks);
  for (guint i = 0; i < n; i++)
    prio_task_cancel (tasks->pdata[i]);
  run_all ();
}

static GType
clock_type (void)
{
  static GType type;

  if (type == 0)
    {
      type = g_type_register_static_simple (G_TYPE_OBJECT, "CostsClock", sizeof (GObjectClass), NULL, sizeof (GObject), NULL, 0);
      g_signal_new ("before-paint", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
    }
  return type;
}

/* Follows frame clocks, and draws a frame of each. */
static void
follow_clocks (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (clocks, g_object_new (clock_type (), NULL));
      prio_scheduler_follow_frame_clock (scheduler, clocks->pdata[i]);
    }
  for (guint i = 0; i < n; i++)
    g_signal_emit_by_name (clocks->pdata[i], "before-paint");
}

/* Unfollows half of the clocks by a call, and half by freeing them. */
static void
unfollow_clocks (guint n)
{
  shuffle (clocks);
  for (guint i = 0; i < n / 2; i++)
    prio_scheduler_unfollow_frame_clock (scheduler, clocks->pdata[i]);
  g_ptr_array_set_size (clocks, 0);
}

static void
add_rows (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_insert (rows, (guint) g_random_int_range (0, (gint) g_list_model_get_n_items (G_LIST_MODEL (rows)) + 1), row);
    }
}

static PrioTask *
load_row (PrioTaskGroup *group, gpointer row, guint position, PrioTaskSignal *signal, gpointer data)
{
  return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), defer, NULL, NULL);
}

static PrioTask *
find_nothing (PrioTaskGroup *group, gpointer row, guint position, PrioTaskSignal *signal, gpointer data)
{
  return NULL;
}

static void
feed_rows (guint n, PrioFeedRowFunc func)
{
  make_groups (1);
  prio_task_group_set_limit (groups->pdata[0], G_MAXUINT);
  g_object_set (groups->pdata[0], "return-on-abort", TRUE, NULL);
  rows = g_list_store_new (G_TYPE_OBJECT);
  add_rows (n);
  feed = prio_feed_new_for_model (groups->pdata[0], G_LIST_MODEL (rows), func, NULL, NULL);
}

/* Makes a list whose rows have all begun. */
static void
open_rows (guint n)
{
  feed_rows (n, load_row);
  prio_feed_set_view (feed, 0, n);
  run_all ();
}

static void
change_rows (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      add_rows (1);
      g_list_store_remove (rows, (guint) g_random_int_range (0, (gint) n));
      run_all ();
    }
}

static void
fill_rows (guint n)
{
  feed_rows (n, find_nothing);
}

static void
move_view (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      prio_feed_set_view (feed, (guint) g_random_int_range (0, (gint) n), 5);
      run_all ();
    }
}

static PrioTask *
post_one (PrioTaskGroup *group, gpointer n)
{
  return n_posted++ < 2 * GPOINTER_TO_UINT (n) ? prio_task_group_post_task (group, NULL, defer, NULL, NULL) : NULL;
}

/* The feeds of a group take turns while its tasks end one by one. */
static void
share_group (guint n)
{
  make_groups (1);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (signals, prio_feed_new (groups->pdata[0], post_one, GUINT_TO_POINTER (n), NULL));
  run_all ();
  for (guint i = 0; i < deferred->len; i++)
    {
      prio_task_return_boolean (deferred->pdata[i], TRUE);
      run_all ();
    }
}

static const struct
{
  const char *name;
  void (*prepare) (guint n);
  void (*act) (guint n);
} costs[] = {
  { "groups are made, and freed", nothing_to_prepare, free_groups },
  { "groups are made, and freed from the newest", nothing_to_prepare, free_groups_from_the_newest },
  { "groups are made, and freed in no order", nothing_to_prepare, free_groups_in_no_order },
  { "groups that have tasks and waits are made", nothing_to_prepare, fill_groups },
  { "groups that have tasks and waits are aborted, and freed", fill_groups, abort_groups },
  { "tasks of a group are posted, and waits begin", nothing_to_prepare, fill_group },
  { "a group is aborted that has tasks and waits", fill_group, abort_group },
  { "tasks of a group that has waits fail", run_group, fail_tasks },
  { "tasks under a signal are posted", nothing_to_prepare, post_under_signal },
  { "tasks under a signal are aborted", post_under_signal, abort_signal },
  { "tasks under a signal are cancelled", post_under_signal, cancel_queued },
  { "tasks that are deferred under a signal are aborted", defer_under_signal, abort_signal },
  { "signals that depend on the two before are made", nothing_to_prepare, make_lattice },
  { "signals that depend on the two before are aborted", make_lattice, abort_signal },
  { "signals that depend on the two before change their priority", make_lattice, change_priority },
  { "signals that depend on the two before are freed", make_lattice, free_signals },
  { "a signal that depends on many is made", nothing_to_prepare, make_fan },
  { "a signal that depends on many is aborted", make_fan, abort_signal },
  { "a signal that depends on many is freed", make_fan, free_signals },
  { "tasks that wait for each other are cancelled", defer_in_a_chain, cancel_chain },
  { "tasks in a chain are lent priorities", nothing_to_prepare, lend_in_a_chain },
  { "tasks that are lent priorities are cancelled", lend_in_a_chain, cancel_chain },
  { "frame clocks are followed, and tick", nothing_to_prepare, follow_clocks },
  { "frame clocks are followed no more", follow_clocks, unfollow_clocks },
  { "rows come and go in a list whose rows load", open_rows, change_rows },
  { "a view moves in a list of many rows", fill_rows, move_view },
  { "feeds share a group", nothing_to_prepare, share_group },
};

G_GNUC_NO_INLINE void measured (void (*act) (guint n), guint n);

/* check-costs.py finds the code to count by this name. */
void
measured (void (*act) (guint n), guint n)
{
  act (n);
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

  g_random_set_seed (1);
  scheduler = prio_scheduler_new (NULL);
  controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  groups = g_ptr_array_new_with_free_func (g_object_unref);
  signals = g_ptr_array_new_with_free_func (g_object_unref);
  tasks = g_ptr_array_new_with_free_func (g_object_unref);
  deferred = g_ptr_array_new_with_free_func (g_object_unref);
  clocks = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      if (g_str_equal (costs[i].name, argv[1]))
        {
          costs[i].prepare ((guint) atoi (argv[2]));
          measured (costs[i].act, (guint) atoi (argv[2]));
          /* Objects that remain are not freed. */
          return 0;
        }
    }
  return 2;
}
