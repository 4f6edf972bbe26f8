/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-controller.c: the object that may abort a signal and change its priority */

#include "config.h"

#include "prio-task-controller.h"

#include "base/prio-debug-private.h"
#include "signal/prio-signal-travel-private.h"
#include "prio-sched-enumtypes.h"
#include "signal/prio-util-private.h"

/**
 * PrioTaskController:
 *
 * Aborts tasks, and changes how urgent they are, as a group.
 *
 * A controller has a [class@PrioSched.TaskSignal].  Pass the signal to tasks, and to any asynchronous call that takes a
 * [class@Gio.Cancellable].  A controller is the WICG draft's `TaskController`
 * ([§3.2](https://wicg.github.io/scheduling-apis/#taskcontroller)).
 *
 * ```c
 * g_autoptr(PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
 * PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
 *
 * prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = signal), index_folder, folder, NULL);
 * …
 * prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
 * ```
 *
 * A signal is *aborted*, and with it all tasks that were posted with it.  A single task is *cancelled*, with
 * [method@PrioSched.Task.cancel].
 *
 * All methods can be called on any thread.
 *
 * Since: 1.0
 */
struct _PrioTaskController
{
  GObject parent_instance;

  PrioTaskSignal *signal;
};

G_DEFINE_FINAL_TYPE (PrioTaskController, prio_task_controller, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_PRIORITY,
  PROP_SIGNAL,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
prio_task_controller_finalize (GObject *object)
{
  g_clear_object (&PRIO_TASK_CONTROLLER (object)->signal);
  G_OBJECT_CLASS (prio_task_controller_parent_class)->finalize (object);
}

static void
prio_task_controller_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioTaskController *self = PRIO_TASK_CONTROLLER (object);

  switch (id)
    {
    case PROP_SIGNAL:
      g_value_set_object (value, self->signal);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_task_controller_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_PRIORITY:
      PRIO_TASK_CONTROLLER (object)->signal =
          g_object_new (PRIO_TYPE_TASK_SIGNAL, "priority", g_value_get_enum (value), NULL);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_task_controller_class_init (PrioTaskControllerClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = prio_task_controller_finalize;
  object_class->get_property = prio_task_controller_get_property;
  object_class->set_property = prio_task_controller_set_property;

  /**
   * PrioTaskController:priority:
   *
   * The initial priority of the controller's signal.
   *
   * Since: 1.0
   */
  properties[PROP_PRIORITY] =
      g_param_spec_enum ("priority", NULL, NULL, PRIO_TYPE_TASK_PRIORITY,
                         PRIO_TASK_PRIORITY_USER_VISIBLE,
                         G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskController:signal: (getter get_signal)
   *
   * The signal that the controller controls.
   *
   * Since: 1.0
   */
  properties[PROP_SIGNAL] =
      g_param_spec_object ("signal", NULL, NULL, PRIO_TYPE_TASK_SIGNAL,
                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_task_controller_init (PrioTaskController *self G_GNUC_UNUSED)
{
}

/**
 * prio_task_controller_new:
 * @priority: the initial priority of the signal; not %PRIO_TASK_PRIORITY_UNSET
 *
 * Creates a controller and its signal.  Any thread may call this function.
 *
 * Returns: (transfer full): a new controller
 *
 * Since: 1.0
 */
PrioTaskController *
prio_task_controller_new (PrioTaskPriority priority)
{
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), NULL);

  return g_object_new (PRIO_TYPE_TASK_CONTROLLER, "priority", priority, NULL);
}

/**
 * prio_task_controller_get_signal: (get-property signal)
 * @self: a controller
 *
 * Gets the signal to post tasks with.  Any thread may call this function.
 *
 * Returns: (transfer none): the signal
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_controller_get_signal (PrioTaskController *self)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK_CONTROLLER), NULL);

  return self->signal;
}

/**
 * prio_task_controller_set_priority:
 * @self: a controller
 * @priority: the new priority; not %PRIO_TASK_PRIORITY_UNSET
 * @error: return location for a `GError`
 *
 * Changes the priority of the signal: the WICG draft's "signal priority change" (§3.3).
 *
 * Every task that was posted with the signal, and without its own priority, takes its place by age among the tasks of
 * the new priority.  Then [signal@PrioSched.TaskSignal::priority-change] is emitted, on the thread that makes the
 * change.  Then the signals that follow this signal change, in the order in which they were created.  If the signal has
 * @priority already, nothing happens.
 *
 * Any thread may call this function.  If another thread runs the main context of a task, that thread moves the task
 * before it chooses the next task to run.
 *
 * While a change of this signal's priority is being emitted, a call on the emitting thread fails with
 * %PRIO_ERROR_NOT_ALLOWED.  A call on any other thread returns %TRUE at once: the emitting thread makes the new change,
 * and emits it, right after the current one.  If several such calls are made meanwhile, only the last takes effect.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_controller_set_priority (PrioTaskController *self, PrioTaskPriority priority, GError **error)
{
  g_autoptr (GCancellable) signal = NULL;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK_CONTROLLER), FALSE);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  signal = g_object_ref (G_CANCELLABLE (self->signal));
  prio_debug ("The priority of a signal is set to %s", prio_priority_name (priority));
  return prio_signal_node_set_priority (prio_signal_node_find (signal), priority, error);
}

/**
 * prio_task_controller_abort:
 * @self: a controller
 * @reason: (nullable): the reason, which is copied, or %NULL for %G_IO_ERROR_CANCELLED
 *
 * Aborts the signal, and the signals that depend on it.
 *
 * Tasks that are delayed or queued leave their queues at once.  Their data is released, and their result is @reason.  A
 * running task has this result at once too, and its function continues.  A task that has deferred its result, or whose
 * function runs in another thread, ends only with [property@PrioSched.Task:return-on-abort]; if not, it continues, and
 * may call [method@PrioSched.Task.return_error_if_aborted].  Then the calling thread emits `cancelled`.  A second abort
 * changes nothing.  But while another thread is still carrying out the first abort, the second one also takes tasks out
 * of their queues, and does not wait for the first.
 *
 * Any thread may call this function.  If another thread runs the main context of a task, the task is aborted and
 * released on that thread, at the end of the running task at the latest.
 *
 * Since: 1.0
 */
void
prio_task_controller_abort (PrioTaskController *self, const GError *reason)
{
  g_autoptr (GCancellable) signal = NULL;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK_CONTROLLER));

  signal = g_object_ref (G_CANCELLABLE (self->signal));
  prio_signal_node_undo_reset (prio_signal_node_find (signal));
  if (prio_is_debugging ())
    {
      g_autofree char *message = prio_debug_escape (reason != NULL ? reason->message : "no reason is given");

      g_debug ("A signal is aborted, with %u tasks that this thread runs waiting: %s",
               prio_task_signal_count_pending (self->signal), message);
    }
  prio_signal_node_abort (prio_signal_node_find (signal), reason);
}
