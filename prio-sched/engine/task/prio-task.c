/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task.c: the object of a task that has a result */

#include "config.h"

#include "task/prio-task-impl-private.h"

#include "base/prio-debug-private.h"

#include "prio-sched-enumtypes.h"
#include "prio-task-signal.h"

/**
 * PrioTask:
 *
 * A task that has a result: the counterpart of the promise that the WICG draft's
 * [`postTask()`](https://wicg.github.io/scheduling-apis/#dom-scheduler-posttask) returns.
 *
 * [method@PrioSched.Scheduler.post_task] makes a task whose function gives it a value or an error, or defers the result
 * and gives it later, from any thread.  [ctor@PrioSched.Task.new] makes a task without a function, for your own
 * asynchronous functions.  To get the result, wait for the task with [method@PrioSched.Task.wait_async], and call one
 * of the `prio_task_propagate_…` functions.  A task is a [iface@Gio.AsyncResult], so functions of the usual
 * `_async`/`_finish` shape can return it.
 *
 * ```c
 * static void
 * count_words (PrioTask *task, gpointer text)
 * {
 *   if (!g_utf8_validate (text, -1, NULL))
 *     prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "No text");
 *   else
 *     prio_task_return_int (task, words_in (text));
 * }
 *
 * static void
 * counted (GObject *source, GAsyncResult *result, gpointer label)
 * {
 *   g_autoptr (GError) error = NULL;
 *   gssize n = prio_task_propagate_int (PRIO_TASK (result), &error);
 *   g_autofree char *text = g_strdup_printf ("%" G_GSSIZE_FORMAT " words", n);
 *
 *   gtk_label_set_text (label, error != NULL ? error->message : text);
 * }
 *
 * prio_task_wait_async (task, NULL, counted, label);
 * ```
 *
 * A result has a type: a pointer, a boolean, an int, a [struct@GObject.Value], or none at all.
 * A propagate function of another type logs a critical message, and the task keeps the result;
 * [method@PrioSched.Task.propagate_value] gets a result of any type.
 *
 * Callbacks run on the thread that runs the scheduler's main context, in a microtask: after the task's function, and
 * before the next task.  Their yields and microtasks inherit the signal and the priority of the task that waits.
 *
 * If the main context is destroyed before the task has run, the task is aborted with
 * %PRIO_ERROR_CLOSED; its callbacks are released, and not called.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE_WITH_CODE (PrioTask, prio_task, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_ASYNC_RESULT, prio_task_async_result_init))

enum
{
  PROP_0,
  PROP_NAME,
  PROP_PRIORITY,
  PROP_STATE,
  PROP_COMPLETED,
  PROP_PROGRESS,
  PROP_RETURN_ON_ABORT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static guint notify_signal;

PrioEntry *
prio_task_get_entry (PrioTask *self)
{
  return &self->entry;
}

void
prio_task_set_program_func (PrioTask *self, gpointer func)
{
  __atomic_store_n (&self->program_func, func, __ATOMIC_RELAXED);
}

static void
op_release_run_queue (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_release (op->target);
}

/* Releases everything that the task owns, so that the task can be reused.  The task has settled, or was never posted.
 * The caller releases the run queue.  Fields that every post sets are left alone. */
void
prio_task_clear (PrioTask *self)
{
  if (self->result.destroy != NULL)
    self->result.destroy (self->result.value.pointer);
  if (self->signal != NULL)
    g_object_unref (self->signal);
  if (self->name != NULL)
    g_free (self->name);
  if (self->source_object != NULL)
    g_object_unref (self->source_object);

  /* Resets these fields, because the post of a continuation does not set them. */
  prio_task_set_func (self, NULL);
  self->entry.run_queue = NULL;
  self->entry.turn = PRIO_ENTRY_IS_NEW;
  self->entry.stored_state = PRIO_ENTRY_NEW;
  self->entry.timed = PRIO_TIMED_NOT;
  self->entry.use = PRIO_ENTRY_OF_PROGRAM;
  self->first_reaction.callback = NULL;
  memset ((gchar *) self + G_STRUCT_OFFSET (PrioTask, reactions), 0,
          sizeof *self - G_STRUCT_OFFSET (PrioTask, reactions));
}

static void
prio_task_dispose (GObject *object)
{
  /* GObject's dispose () would disconnect the handlers, which a task that will fail still needs. */
  if (!prio_task_fail_if_dropped (PRIO_TASK (object)))
    G_OBJECT_CLASS (prio_task_parent_class)->dispose (object);
}

static void
prio_task_finalize (GObject *object)
{
  PrioTask *self = PRIO_TASK (object);
  PrioRunQueue *run_queue = self->entry.run_queue;

  prio_in_finalize (object);
  prio_task_clear (self);
  if (run_queue != NULL)
    prio_loop_submit (run_queue->loop, &(PrioOp) { .apply = op_release_run_queue, .target = run_queue });

  G_OBJECT_CLASS (prio_task_parent_class)->finalize (object);
}

static char *
describe (PrioTask *self)
{
  g_autofree char *name = prio_task_dup_name (self);
  g_autofree char *escaped = prio_debug_escape (name);

  if (escaped != NULL)
    return g_strdup_printf ("task '%s'", escaped);
  if (prio_entry_is_continuation (&self->entry))
    return g_strdup ("the result of a yield");
  if (prio_task_get_program_func (self) == NULL)
    return g_strdup ("an unnamed task");
  return g_strdup_printf ("an unnamed task (of function %p)", prio_task_get_program_func (self));
}

void
prio_task_complain (PrioTask *self, const char *function, const char *format, ...)
{
  g_autofree char *task = describe (self);
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_critical ("%s: %s %s", function, task, what);
}

/* Logs a critical message for @function, because @task is not a valid task.  Returns FALSE. */
gboolean
prio_complain_of_task (const char *function, PrioTask *task)
{
  if (prio_check_type (function, task, PRIO_TYPE_TASK))
    g_critical ("%s(): this PrioTask was made by no scheduler", function);
  return FALSE;
}

void
prio_task_warn (PrioTask *self, const char *what)
{
  g_autofree char *task = describe (self);

  g_warning ("%c%s %s", g_ascii_toupper (task[0]), task + 1, what);
}

/* Logs, in debug messages, that a result comes too late, because the task was aborted. */
void
prio_task_tell_late_result (PrioTask *self)
{
  g_autofree char *task = prio_is_debugging () ? describe (self) : NULL;

  if (task != NULL)
    prio_debug ("The result of %s comes after its abort, and is dropped", task);
}

static void
prio_task_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioTask *self = PRIO_TASK (object);

  switch (id)
    {
    case PROP_NAME:
      g_value_take_string (value, prio_task_dup_name (self));
      break;

    case PROP_PRIORITY:
      g_value_set_enum (value, prio_task_get_priority (self));
      break;

    case PROP_STATE:
      g_value_set_enum (value, prio_task_get_state (self));
      break;

    case PROP_COMPLETED:
      g_value_set_boolean (value, prio_task_get_state (self) >= PRIO_TASK_STATE_FULFILLED);
      break;

    case PROP_PROGRESS:
      g_value_set_double (value, prio_task_get_progress (self));
      break;

    case PROP_RETURN_ON_ABORT:
      g_value_set_boolean (value, prio_task_get_return_on_abort (self));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_task_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_NAME:
      prio_task_set_name (PRIO_TASK (object), g_value_get_string (value));
      break;

    case PROP_PROGRESS:
      prio_task_set_progress (PRIO_TASK (object), g_value_get_double (value));
      break;

    case PROP_RETURN_ON_ABORT:
      prio_return_if_wrong (prio_check_task (G_STRFUNC, PRIO_TASK (object)));
      prio_task_apply_return_on_abort (PRIO_TASK (object), g_value_get_boolean (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
make_properties_of_function (void)
{
  /**
   * PrioTask:progress: (getter get_progress) (setter set_progress)
   *
   * The progress of the task, from 0 to 1, as its function reports it.
   *
   * It is notified on the thread that runs the scheduler's main context, once for several changes in quick succession.
   *
   * Since: 1.0
   */
  properties[PROP_PROGRESS] =
      g_param_spec_double ("progress", NULL, NULL, 0, 1, 0,
                           G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTask:return-on-abort: (getter get_return_on_abort) (setter set_return_on_abort)
   *
   * Whether an abort ends the task at once: the counterpart of [method@Gio.Task.set_return_on_cancel].
   *
   * By default, an abort of the signal, or [method@PrioSched.Task.cancel], does not end a task whose function runs in a
   * thread, nor, as in the WICG draft, a task whose function has returned and deferred its result.  This is right where
   * an operation is cancelled with the task, and ends soon.  Set this to %TRUE where the answer may never come: when a
   * server hangs, or a volume is gone.  The task then ends in the state %PRIO_TASK_STATE_ABORTED with the reason, and a
   * result that is returned later is released.  Data that the function or the operation uses must stay valid until the
   * function or the operation ends.  A task of [ctor@PrioSched.Task.new] begins with %TRUE.
   *
   * ```c
   * static void
   * ask (PrioTask *task, gpointer server)
   * {
   *   prio_task_set_return_on_abort (task, TRUE);
   *   prio_task_defer (task);
   *   server_ask_async (server, answered, g_object_ref (task));
   * }
   * ```
   *
   * Set it before the task begins, or in its function.  [property@PrioSched.TaskGroup:return-on-abort] sets it for the
   * tasks of a group.  Any thread may set it, but then GObject may emit other notifications, such as `notify::state`,
   * on that thread.
   *
   * Since: 1.0
   */
  properties[PROP_RETURN_ON_ABORT] =
      g_param_spec_boolean ("return-on-abort", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * PrioTask:name: (getter dup_name) (setter set_name)
   *
   * The name of the task, for human readers.
   *
   * Changes are notified on the thread that makes them.
   *
   * Since: 1.0
   */
  properties[PROP_NAME] =
      g_param_spec_string ("name", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTask:priority: (getter get_priority)
   *
   * How urgent the task is: its own priority or, if it has none, the current priority of its signal.
   *
   * A change is not notified, because one change of a signal's priority may affect any number of tasks.  Connect to
   * [signal@PrioSched.TaskSignal::priority-change] of [method@PrioSched.Task.get_cancellable] instead, if that is a
   * [class@PrioSched.TaskSignal].  A task with its own priority keeps it.
   *
   * Since: 1.0
   */
  properties[PROP_PRIORITY] =
      g_param_spec_enum ("priority", NULL, NULL, PRIO_TYPE_TASK_PRIORITY,
                         PRIO_TASK_PRIORITY_USER_VISIBLE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTask:state: (getter get_state)
   *
   * The state of the task.
   *
   * It is notified on the thread that runs the scheduler's main context: right before the task's function is called,
   * and when the task has completed, after the callbacks that wait for it.  For a function in another thread, the first
   * notification comes after the function has begun, or not at all if the function returns very soon.
   *
   * Since: 1.0
   */
  properties[PROP_STATE] =
      g_param_spec_enum ("state", NULL, NULL, PRIO_TYPE_TASK_STATE, PRIO_TASK_STATE_PENDING,
                         G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTask:completed:
   *
   * Whether the task has completed, with a result or by an abort: like [property@Gio.Task:completed].
   *
   * It is notified after [property@PrioSched.Task:state], when the task has completed.
   *
   * ```c
   * g_object_bind_property (task, "completed", spinner, "visible", G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
   * ```
   *
   * Since: 1.0
   */
  properties[PROP_COMPLETED] = g_param_spec_boolean ("completed", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  make_properties_of_function ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_task_class_init (PrioTaskClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->dispose = prio_task_dispose;
  object_class->finalize = prio_task_finalize;
  object_class->get_property = prio_task_get_property;
  object_class->set_property = prio_task_set_property;

  install_properties (object_class);
  notify_signal = g_signal_lookup ("notify", G_TYPE_OBJECT);
}

static void
prio_task_init (PrioTask *self)
{
  self->entry.funcs = &prio_task_entry_funcs;
}

static void
op_add_user (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_hold (op->target);
}

/* Creates a task of @run_queue, which is not posted yet.  @turn is a PrioEntryTurn.  A continuation is the result of a
 * yield, and has no function.  The task becomes a user of the run queue.  If this is not the owner thread, that happens
 * later, and the caller's reference to the scheduler keeps the run queue alive until then. */
PrioTask *
prio_task_make (PrioRunQueue *run_queue, guint8 turn, GCancellable *signal, PrioTaskPriority priority)
{
  PrioTask *self = NULL;

  if (prio_loop_enter (run_queue->loop))
    {
      self = prio_task_pool_take (run_queue->loop);
      prio_run_queue_hold (run_queue);
      prio_loop_leave (run_queue->loop);
    }
  else
    {
      prio_loop_submit (run_queue->loop, &(PrioOp) { .apply = op_add_user, .target = run_queue });
    }
  if (self == NULL)
    self = g_object_new (PRIO_TYPE_TASK, NULL);

  self->entry.run_queue = run_queue;
  self->entry.turn = turn;
  self->signal = signal != NULL ? g_object_ref (signal) : NULL;
  self->priority = (gint8) priority;

  return self;
}

void
prio_task_set_work (PrioTask *self, PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  prio_task_set_func (self, func);
  self->entry.job.data = data;
  self->entry.job.notify = notify;
}

/* Returns whether any handler of `notify` is connected.  Blocked handlers and handlers of one property count, too. */
gboolean
prio_task_is_listened_to (PrioTask *self)
{
  return g_signal_handler_find (self, G_SIGNAL_MATCH_ID, notify_signal, 0, NULL, NULL, NULL) != 0;
}

void
prio_task_notify_state (PrioTask *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

/* Notifies `state` and `completed` once, after the callbacks have been called. */
void
prio_task_notify (PrioTask *self)
{
  gboolean notified = self->notified;

  /* A handler may run a nested main loop, which then calls this function again. */
  self->notified = TRUE;
  self->is_heard = prio_task_is_listened_to (self);
  if (notified || !self->is_heard)
    return;
  prio_task_notify_state (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_COMPLETED]);
}

/**
 * prio_task_get_state: (get-property state)
 * @self: a task
 *
 * Gets the state of the task.  Any thread may call this function.
 *
 * Returns: the state
 *
 * Since: 1.0
 */
PrioTaskState
prio_task_get_state (PrioTask *self)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), PRIO_TASK_STATE_ABORTED);

  return (PrioTaskState) __atomic_load_n (&self->state, __ATOMIC_ACQUIRE);
}

/**
 * prio_task_get_priority: (get-property priority)
 * @self: a task
 *
 * Gets how urgent the task is: its own priority or, if it has none, the current priority of its signal.  Any thread may
 * call this function.
 *
 * Returns: the priority, or %PRIO_TASK_PRIORITY_USER_VISIBLE if neither the task nor its signal has one
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_task_get_priority (PrioTask *self)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), PRIO_TASK_PRIORITY_USER_VISIBLE);

  if (self->priority != PRIO_TASK_PRIORITY_UNSET)
    return (PrioTaskPriority) self->priority;
  if (PRIO_IS_TASK_SIGNAL (self->signal))
    return prio_task_signal_get_priority (PRIO_TASK_SIGNAL (self->signal));
  return PRIO_TASK_PRIORITY_USER_VISIBLE;
}

/**
 * prio_task_dup_name: (get-property name)
 * @self: a task
 *
 * Gets the name of the task.  Any thread may call this function.
 *
 * ```c
 * g_autofree char *name = prio_task_dup_name (task);
 *
 * g_message ("%s is at %.0f %%", name, 100 * prio_task_get_progress (task));
 * ```
 *
 * Returns: (transfer full) (nullable): a copy of the name, or %NULL if the task has none
 *
 * Since: 1.0
 */
char *
prio_task_dup_name (PrioTask *self)
{
  char *name;

  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), NULL);

  prio_lock_lock (&prio_signal_lock);
  name = g_strdup (self->name);
  prio_lock_unlock (&prio_signal_lock);
  return name;
}

/**
 * prio_task_set_name: (set-property name)
 * @self: a task
 * @name: (nullable): the name, or %NULL for none
 *
 * Changes the name of the task, which debuggers and this library's messages show.
 * The task's function may change the name too, to show its progress.
 *
 * ```c
 * static void
 * open_book (PrioTask *task, gpointer file)
 * {
 *   g_autofree char *name = g_strdup_printf ("open %s", g_file_peek_path (file));
 *
 *   prio_task_set_name (task, name);
 *   …
 * }
 * ```
 *
 * Any thread may call this function; [property@PrioSched.Task:name] is notified on that thread.
 *
 * Since: 1.0
 */
void
prio_task_set_name (PrioTask *self, const char *name)
{
  char *old;

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  if (name == NULL && __atomic_load_n (&self->name, __ATOMIC_RELAXED) == NULL)
    return;

  prio_lock_lock (&prio_signal_lock);
  old = __atomic_exchange_n (&self->name, g_strdup (name), __ATOMIC_RELAXED);
  prio_lock_unlock (&prio_signal_lock);

  if (prio_task_is_listened_to (self) && g_strcmp0 (old, name) != 0)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_NAME]);
  g_free (old);
}

/**
 * prio_task_get_cancellable:
 * @self: a task
 *
 * Gets the signal that may abort the task: given in its options or, if the task is the result of a yield, inherited.
 * Any thread may call this function.
 *
 * Returns: (transfer none) (nullable): the signal, or %NULL if there is none
 *
 * Since: 1.0
 */
GCancellable *
prio_task_get_cancellable (PrioTask *self)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), NULL);

  return self->signal;
}
