/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group.c: a group of tasks, of which a limited number runs at a time */

#include "config.h"

#include "group/prio-member-private.h"
#include "group/prio-task-group-private.h"

#include "loop/prio-dispatch-private.h"
#include "scheduler/prio-options-private.h"
#include "prio-sched-enumtypes.h"

/**
 * PrioTaskGroup:
 *
 * Tasks that belong together, with a limit of how many run at a time.
 *
 * A task counts toward the limit from the beginning of its function until it has its result, even if the result is
 * deferred, such as during an operation of GIO.  When the limit allows another task, the next task is chosen by
 * priority and age.
 *
 * ```c
 * static void
 * loaded (GObject *file, GAsyncResult *result, gpointer user_data)
 * {
 *   g_autoptr (PrioTask) task = user_data;
 *   GError *error = NULL;
 *   GBytes *bytes = g_file_load_bytes_finish (G_FILE (file), result, NULL, &error);
 *
 *   if (bytes != NULL)
 *     prio_task_return_pointer (task, bytes, (GDestroyNotify) g_bytes_unref);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * static void
 * load (PrioTask *task, gpointer file)
 * {
 *   prio_task_defer (task);
 *   g_file_load_bytes_async (file, prio_task_get_cancellable (task), loaded, g_object_ref (task));
 * }
 *
 * group = prio_task_group_new (prio_scheduler_get_default (), 8, PRIO_TASK_PRIORITY_BACKGROUND);
 * for (guint i = 0; i < n_files; i++)
 *   g_object_unref (prio_task_group_post_task (group, NULL, load, g_object_ref (files[i]), g_object_unref));
 * ```
 *
 * The whole group has a priority, which can be changed.  It can be aborted, and used again after that.
 * [property@PrioSched.TaskGroup:n-tasks] is the number of tasks that are left, such as for a spinner or a Stop button,
 * and [method@PrioSched.TaskGroup.wait_async] waits for their end.
 *
 * The tasks keep the group alive until they have completed.  Tasks and groups do not keep the scheduler or its main
 * context alive.  While the scheduler is paused, no task of the group begins, except a function in a thread that is the
 * next task of the group by priority and age.
 *
 * Call all methods on the thread that runs the scheduler's main context, unless they say otherwise.  When the main
 * context is destroyed, queued tasks end with %PRIO_ERROR_CLOSED; later, all methods but getters only log a critical.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (PrioTaskGroup, prio_task_group, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_SCHEDULER,
  PROP_LIMIT,
  PROP_N_TASKS,
  PROP_PRIORITY,
  PROP_SIGNAL,
  PROP_RETURN_ON_ABORT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

/* Returns whether this thread may use @self and the context of @self exists.  If not, logs a critical message. */
gboolean
prio_check_task_group (const char *function, PrioTaskGroup *self)
{
  PrioLoop *loop;

  if (!prio_check_type (function, self, PRIO_TYPE_TASK_GROUP))
    return FALSE;

  loop = prio_task_group_get_loop (self);
  if (prio_loop_is_owner_thread (loop) || prio_loop_is_owner (loop))
    return TRUE;
  g_critical ("%s(): %s", function,
              prio_loop_has_gone (loop) ? "the main context of the group's scheduler has gone"
                                        : "a group belongs to the thread that runs its scheduler's main context, and this is another one: post a task there");
  return FALSE;
}

static void
prio_task_group_init (PrioTaskGroup *self)
{
  static gint n_groups;

  self->number = (guint) g_atomic_int_add (&n_groups, 1) + 1;
}

static void
prio_task_group_finalize (GObject *object)
{
  PrioTaskGroup *self = PRIO_TASK_GROUP (object);

  g_clear_error (&self->last_error);
  g_clear_pointer (&self->threads, prio_places_unref);
  g_clear_pointer (&self->places, prio_run_queue_drop_part);
  g_clear_object (&self->controller);
  prio_combined_clear (&self->combined);

  G_OBJECT_CLASS (prio_task_group_parent_class)->finalize (object);
}

static void
prio_task_group_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioTaskGroup *self = PRIO_TASK_GROUP (object);

  switch (id)
    {
    case PROP_SCHEDULER:
      g_value_take_object (value, prio_task_group_dup_scheduler (self));
      break;

    case PROP_LIMIT:
      g_value_set_uint (value, self->limit);
      break;

    case PROP_N_TASKS:
      g_value_set_uint (value, prio_task_group_get_n_tasks (self));
      break;

    case PROP_PRIORITY:
      g_value_set_enum (value, (gint) prio_task_group_get_priority (self));
      break;

    case PROP_SIGNAL:
      g_value_set_object (value, prio_task_group_get_signal (self));
      break;

    case PROP_RETURN_ON_ABORT:
      g_value_set_boolean (value, self->return_on_abort);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_task_group_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  PrioTaskGroup *self = PRIO_TASK_GROUP (object);
  PrioScheduler *scheduler;

  switch (id)
    {
    case PROP_SCHEDULER:
      scheduler = g_value_get_object (value);
      self->places = prio_run_queue_new_part ((scheduler != NULL ? scheduler : prio_scheduler_get_default ())->run_queue);
      break;

    case PROP_LIMIT:
      /* Without a controller, the group is being constructed: GObject sets the limit before the priority. */
      if (self->controller != NULL)
        prio_task_group_set_limit (self, g_value_get_uint (value));
      else
        self->limit = g_value_get_uint (value);
      break;

    case PROP_PRIORITY:
      self->controller = prio_task_controller_new (prio_priority_of_value (value));
      break;

    case PROP_RETURN_ON_ABORT:
      self->return_on_abort = g_value_get_boolean (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static GParamSpec *
make_return_on_abort (void)
{
  /**
   * PrioTaskGroup:return-on-abort:
   *
   * Whether an abort ends a task of the group at once: the [property@PrioSched.Task:return-on-abort] of tasks that are
   * posted from now on.
   *
   * After the abort, the task no longer counts toward the limit, and waits for the group take the abort as the end of
   * the task.  A function in a thread counts toward the limit until it returns.
   *
   * Since: 1.0
   */
  return g_param_spec_boolean ("return-on-abort", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * PrioTaskGroup:scheduler: (getter dup_scheduler)
   *
   * The scheduler whose main context the tasks run in; %NULL selects the default scheduler.
   *
   * Since: 1.0
   */
  properties[PROP_SCHEDULER] =
      g_param_spec_object ("scheduler", NULL, NULL, PRIO_TYPE_SCHEDULER,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskGroup:limit: (getter get_limit) (setter set_limit)
   *
   * How many tasks may run at a time.
   *
   * Since: 1.0
   */
  properties[PROP_LIMIT] =
      g_param_spec_uint ("limit", NULL, NULL, 1, G_MAXUINT, G_MAXUINT,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskGroup:n-tasks: (getter get_n_tasks)
   *
   * The number of tasks that have no result yet: delayed, queued, running or deferred.  Several changes while a task
   * runs are notified once, after that task's function.
   *
   * Since: 1.0
   */
  properties[PROP_N_TASKS] = prio_task_group_n_tasks =
      g_param_spec_uint ("n-tasks", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskGroup:priority: (getter get_priority)
   *
   * The priority of tasks whose options set none.  [method@PrioSched.TaskGroup.set_priority] changes it.
   *
   * Since: 1.0
   */
  properties[PROP_PRIORITY] =
      g_param_spec_enum ("priority", NULL, NULL, PRIO_TYPE_TASK_PRIORITY, PRIO_TASK_PRIORITY_USER_VISIBLE,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskGroup:signal: (getter get_signal)
   *
   * The signal that aborts the tasks.  [method@PrioSched.TaskGroup.abort] replaces the signal.
   *
   * After [method@Gio.Cancellable.cancel] on the signal, tasks that are posted later are aborted too, until
   * [method@PrioSched.TaskGroup.abort] is called.
   *
   * Since: 1.0
   */
  properties[PROP_SIGNAL] =
      g_param_spec_object ("signal", NULL, NULL, PRIO_TYPE_TASK_SIGNAL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  properties[PROP_RETURN_ON_ABORT] = make_return_on_abort ();

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_task_group_class_init (PrioTaskGroupClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = prio_task_group_finalize;
  object_class->get_property = prio_task_group_get_property;
  object_class->set_property = prio_task_group_set_property;

  install_properties (object_class);
}

/**
 * prio_task_group_new:
 * @scheduler: the scheduler whose main context the tasks run in
 * @limit: how many tasks may run at a time, at least 1
 * @priority: the priority of tasks without their own priority; not %PRIO_TASK_PRIORITY_UNSET
 *
 * Creates a group.  Any thread may call this function, and pass the group to the thread that runs the scheduler's main
 * context.  With a wrong argument, the call logs a critical message, and returns %NULL.
 *
 * Returns: (transfer full): a new group
 *
 * Since: 1.0
 */
PrioTaskGroup *
prio_task_group_new (PrioScheduler *scheduler, guint limit, PrioTaskPriority priority)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, scheduler, PRIO_TYPE_SCHEDULER), NULL);
  prio_return_val_if_wrong (prio_check_limit (G_STRFUNC, limit), NULL);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), NULL);

  return g_object_new (PRIO_TYPE_TASK_GROUP, "scheduler", scheduler, "limit", limit, "priority", priority, NULL);
}

/**
 * prio_task_group_dup_scheduler: (get-property scheduler)
 * @self: a group
 *
 * Gets the group's scheduler, which the group does not keep alive.  Any thread may call this function.
 *
 * ```c
 * g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (group);
 *
 * if (scheduler != NULL)
 *   prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, show_rows, g_object_ref (list), g_object_unref);
 * ```
 *
 * Returns: (transfer full) (nullable): the scheduler, or %NULL if it has been finalized
 *
 * Since: 1.0
 */
PrioScheduler *
prio_task_group_dup_scheduler (PrioTaskGroup *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_GROUP (self), NULL);

  return g_weak_ref_get (self->places->scheduler);
}

/**
 * prio_task_group_get_limit: (get-property limit)
 * @self: a group
 *
 * Gets how many tasks may run at a time.  Call this function on the thread that runs the scheduler's main context.
 *
 * Returns: the limit
 *
 * Since: 1.0
 */
guint
prio_task_group_get_limit (PrioTaskGroup *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_GROUP (self), 0);

  return self->limit;
}

/**
 * prio_task_group_set_limit: (set-property limit)
 * @self: a group
 * @limit: how many tasks may run at a time, at least 1
 *
 * Sets how many tasks may run at a time.  Running tasks continue, and the next task begins when fewer than @limit run.
 *
 * ```c
 * static void
 * network_changed (GNetworkMonitor *monitor, gboolean available, PrioTaskGroup *downloads)
 * {
 *   prio_task_group_set_limit (downloads, g_network_monitor_get_network_metered (monitor) ? 1 : 8);
 * }
 *
 * g_signal_connect (g_network_monitor_get_default (), "network-changed", G_CALLBACK (network_changed), downloads);
 * ```
 *
 * Call this function on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_set_limit (PrioTaskGroup *self, guint limit)
{
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_limit (G_STRFUNC, limit));

  if (limit == self->limit)
    return;

  self->limit = limit;
  prio_task_group_update_places (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_LIMIT]);
}

/**
 * prio_task_group_get_n_tasks: (get-property n-tasks)
 * @self: a group
 *
 * Gets how many tasks have no result yet: delayed, queued, running or deferred.
 *
 * Any thread may call this function.  On a thread that does not run the main context, the number may be outdated when
 * the call returns.
 *
 * ```c
 * // A worker that posts tasks waits while there are enough of them.
 * if (prio_task_group_get_n_tasks (group) > 64)
 *   g_usleep (1000);
 * ```
 *
 * Returns: the number of tasks
 *
 * Since: 1.0
 */
guint
prio_task_group_get_n_tasks (PrioTaskGroup *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_GROUP (self), 0);

  return __atomic_load_n (&self->n_tasks, __ATOMIC_ACQUIRE);
}

/**
 * prio_task_group_get_signal: (get-property signal)
 * @self: a group
 *
 * Gets the signal of the group's tasks, for operations that belong to the group.  [method@PrioSched.TaskGroup.abort]
 * gives the group a new signal.  If you cancel the signal yourself, the group keeps it, and later tasks are aborted.
 *
 * ```c
 * g_file_enumerate_children_async (folder, "standard::name", G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT,
 *                                  G_CANCELLABLE (prio_task_group_get_signal (group)), enumerated, list);
 * ```
 *
 * Call this function on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer none): the signal; the group keeps it until its next abort, which only this thread can make
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_group_get_signal (PrioTaskGroup *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_GROUP (self), NULL);

  return prio_task_controller_get_signal (self->controller);
}

/**
 * prio_task_group_get_priority: (get-property priority)
 * @self: a group
 *
 * Gets the priority of tasks without their own priority.  Call this function on the thread that runs the scheduler's
 * main context.
 *
 * Returns: the priority
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_task_group_get_priority (PrioTaskGroup *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_GROUP (self), PRIO_TASK_PRIORITY_UNSET);

  return prio_task_signal_get_priority (prio_task_group_get_signal (self));
}

/**
 * prio_task_group_set_priority:
 * @self: a group
 * @priority: the new priority; not %PRIO_TASK_PRIORITY_UNSET
 * @error: return location for a `GError`
 *
 * Changes the priority of all tasks, queued or running, whose options set neither a priority nor a signal with one.
 *
 * ```c
 * static void
 * mapped (GtkWidget *page, PrioTaskGroup *previews)
 * {
 *   if (prio_task_group_get_priority (previews) == PRIO_TASK_PRIORITY_BACKGROUND)
 *     prio_task_group_set_priority (previews, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL);
 * }
 *
 * g_signal_connect (page, "map", G_CALLBACK (mapped), previews);
 * ```
 *
 * The call fails with %PRIO_ERROR_NOT_ALLOWED while handlers of an earlier change run, as
 * [method@PrioSched.TaskController.set_priority] does.  Call this function on the thread that runs the scheduler's main
 * context.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_group_set_priority (PrioTaskGroup *self, PrioTaskPriority priority, GError **error)
{
  g_autoptr (PrioTaskController) controller = NULL;
  gboolean changes, is_set;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), FALSE);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  changes = priority != prio_task_group_get_priority (self);
  controller = g_object_ref (self->controller);
  g_object_ref (self);
  is_set = prio_task_controller_set_priority (controller, priority, error);
  if (is_set && changes)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PRIORITY]);
  g_object_unref (self);
  return is_set;
}
