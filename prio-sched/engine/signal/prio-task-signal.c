/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-signal.c: a signal that aborts tasks and sets their priority */

#include "config.h"

#include "prio-task-signal.h"

#include "loop/prio-count-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-pin-private.h"
#include "signal/prio-registration-private.h"
#include "signal/prio-signal-travel-private.h"
#include "prio-sched-enumtypes.h"
#include "signal/prio-timeout-private.h"
#include "signal/prio-util-private.h"

#include <glib/gi18n-lib.h>

/**
 * PrioTaskSignal:
 *
 * Aborts tasks, and determines how urgent they are.
 *
 * It is the WICG draft's `TaskSignal` ([§3.3](https://wicg.github.io/scheduling-apis/#tasksignal)), and a
 * [class@Gio.Cancellable]: an abort also cancels the asynchronous calls of GIO that the signal was passed to.
 * A [class@PrioSched.TaskController] controls it; a signal that was made from others with
 * [ctor@PrioSched.TaskSignal.new_any] is aborted with the first of them.
 *
 * ```c
 * static void
 * stop_spinner (PrioTaskSignal *signal, GParamSpec *pspec, gpointer spinner)
 * {
 *   gtk_spinner_stop (spinner);
 * }
 *
 * g_autoptr (PrioTaskSignal) timeout = prio_task_signal_new_timeout (5000);
 * GCancellable *sources[] = { page_signal, G_CANCELLABLE (timeout) };
 * g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_any (sources, 2, PRIO_TASK_PRIORITY_USER_VISIBLE);
 *
 * g_signal_connect (signal, "notify::reason", G_CALLBACK (stop_spinner), spinner);
 * g_file_load_contents_async (file, G_CANCELLABLE (signal), loaded, NULL);
 * ```
 *
 * A signal and the signals that depend on it hold no references to each other.  But a dependent signal that has
 * handlers or queued tasks lives as long as the signals it depends on, even without other references (§3.3.1 of the
 * WICG draft), and a timeout signal lives until its time is up or the last signal that depends on it is finalized.  A
 * signal that only its handlers kept alive is released some time after the last of them is disconnected: when it next
 * emits a GObject signal, or after some other signals have been made.
 *
 * [method@Gio.Cancellable.cancel] on a signal aborts it too, as it does on any cancellable that tasks were posted with.
 * GLib may emit `cancelled` with a lock held, so the next iteration of the tasks' main context releases their data.
 * Dependent signals then emit `cancelled` from the context that was the thread-default when they were made, or from
 * the global default if that context is destroyed.  A signal does not hold a main context.
 *
 * A signal is aborted once, and stays aborted: [method@Gio.Cancellable.reset] does not undo that, and must not be
 * called.  If it is, the library warns when the signal is next used (in a function of this class, as a source of
 * another signal, or to post a task), and cancels it again, so that it emits `cancelled` once more.
 *
 * A plain cancellable may be reset.  Tasks that were posted with it before stay aborted.  Tasks that are posted after
 * the reset, or continue after a yield, run until the cancellable is cancelled again.  Signals that depend on it stay
 * aborted.
 *
 * Any thread may call the functions of this class.  Apart from the exceptions above, the GObject signals are emitted on
 * the thread that aborts the signal or changes its priority.
 *
 * Since: 1.0
 */
struct _PrioTaskSignal
{
  GCancellable parent_instance;

  PrioSignalNode node;
};

G_DEFINE_FINAL_TYPE (PrioTaskSignal, prio_task_signal, G_TYPE_CANCELLABLE)

enum
{
  PROP_0,
  PROP_PRIORITY,
  PROP_ABORTED,
  PROP_REASON,
  N_PROPS
};

enum
{
  PRIORITY_CHANGE,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signal_ids[N_SIGNALS];
static guint cancelled_signal, notify_signal;

/* Notifies @property.  In dispose (), GObject would drop the notification, so this calls the virtual function. */
static void
notify (PrioSignalNode *node, guint property, PrioNotice when)
{
  GObject *object = G_OBJECT (node->signal);

  if (when == PRIO_NOTICE_IN_DISPOSE)
    {
      G_OBJECT_GET_CLASS (object)->dispatch_properties_changed (object, 1, &properties[property]);
      return;
    }
  prio_signal_node_wait_for_unref (node);
  g_object_notify_by_pspec (object, properties[property]);
}

static void
emit_change (PrioSignalNode *node, PrioTaskPriority previous, PrioNotice when)
{
  g_signal_emit (node->signal, signal_ids[PRIORITY_CHANGE], 0, previous);
  notify (node, PROP_PRIORITY, when);
}

static gboolean
is_notified (GCancellable *signal, guint property)
{
  return g_signal_has_handler_pending (signal, notify_signal, g_param_spec_get_name_quark (properties[property]), TRUE);
}

static gboolean
has_handlers (PrioSignalNode *node, PrioEdgeKind kind)
{
  guint id = kind == PRIO_EDGE_ABORT ? cancelled_signal : signal_ids[PRIORITY_CHANGE];

  if (g_signal_has_handler_pending (node->signal, id, 0, TRUE))
    return TRUE;
  if (kind == PRIO_EDGE_ABORT)
    return is_notified (node->signal, PROP_ABORTED) || is_notified (node->signal, PROP_REASON);
  return is_notified (node->signal, PROP_PRIORITY);
}

static void
notify_abort (PrioSignalNode *node, PrioNotice when)
{
  if (!prio_signal_node_begin_notice (node))
    return;

  notify (node, PROP_ABORTED, when);
  notify (node, PROP_REASON, when);
}

/* Notifies the properties of an abort.  @data is a weak reference, which keeps no signal and no context alive. */
static gboolean
notify_now (gpointer data)
{
  g_autoptr (PrioTaskSignal) signal = g_weak_ref_get (data);

  if (signal != NULL)
    notify_abort (&signal->node, PRIO_NOTICE_NOW);
  g_weak_ref_clear (data);
  g_free (data);
  return G_SOURCE_REMOVE;
}

static void
notify_abort_later (GCancellable *signal)
{
  GWeakRef *later;

  if (!is_notified (signal, PROP_ABORTED) && !is_notified (signal, PROP_REASON))
    return;

  later = g_new (GWeakRef, 1);
  g_weak_ref_init (later, signal);
  prio_call_from_context (g_main_context_get_thread_default (), notify_now, later);
}

static void
notify_abort_when (PrioSignalNode *node, PrioNotice when)
{
  if (when == PRIO_NOTICE_LATER)
    notify_abort_later (node->signal);
  else
    notify_abort (node, when);
}

/* The type is set in class_init. */
static PrioSignalNodeFuncs node_funcs = { G_TYPE_INVALID, G_STRUCT_OFFSET (PrioTaskSignal, node), has_handlers,
                                          emit_change, notify_abort_when };

static void
prio_task_signal_cancelled (GCancellable *cancellable)
{
  prio_signal_node_cancelled (&PRIO_TASK_SIGNAL (cancellable)->node);
}

static void
prio_task_signal_dispose (GObject *object)
{
  PrioTaskSignal *self = PRIO_TASK_SIGNAL (object);

  /* GObject's dispose () would disconnect the handlers, which a pinned signal keeps. */
  if (prio_signal_node_keep (&self->node))
    return;

  G_OBJECT_CLASS (prio_task_signal_parent_class)->dispose (object);
}

static void
prio_task_signal_finalize (GObject *object)
{
  PrioTaskSignal *self = PRIO_TASK_SIGNAL (object);

  if (self->node.is_timeout)
    prio_handle_stop_timer (self->node.handle);
  prio_signal_node_clear (&self->node);

  G_OBJECT_CLASS (prio_task_signal_parent_class)->finalize (object);
}

static void
prio_task_signal_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioTaskSignal *self = PRIO_TASK_SIGNAL (object);

  switch (id)
    {
    case PROP_PRIORITY:
      g_value_set_enum (value, prio_task_signal_get_priority (self));
      break;

    case PROP_ABORTED:
      g_value_set_boolean (value, prio_task_signal_is_aborted (self));
      break;

    case PROP_REASON:
      g_value_take_boxed (value, prio_task_signal_dup_reason (self));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_task_signal_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_PRIORITY:
      PRIO_TASK_SIGNAL (object)->node.priority = prio_priority_of_value (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * PrioTaskSignal:priority: (getter get_priority)
   *
   * The priority of tasks that are posted with the signal and without their own priority.
   *
   * It is notified on the thread that changes it, after [signal@PrioSched.TaskSignal::priority-change].
   *
   * Since: 1.0
   */
  properties[PROP_PRIORITY] =
      g_param_spec_enum ("priority", NULL, NULL, PRIO_TYPE_TASK_PRIORITY,
                         PRIO_TASK_PRIORITY_USER_VISIBLE,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY |
                         G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskSignal:aborted: (getter is_aborted)
   *
   * Whether the signal has been aborted: the WICG draft's `aborted`.
   *
   * It is notified once, right before [property@PrioSched.TaskSignal:reason], on the same thread.
   *
   * Since: 1.0
   */
  properties[PROP_ABORTED] =
      g_param_spec_boolean ("aborted", NULL, NULL, FALSE,
                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * PrioTaskSignal:reason: (getter dup_reason)
   *
   * The reason of the abort, or %NULL if the signal was not aborted.
   *
   * It is notified once, right after `cancelled`, on the thread that aborts.  After a direct
   * [method@Gio.Cancellable.cancel], in which GLib may hold a lock, it is notified a little
   * later, by the thread-default main context of the thread that cancelled.  Signals that depend on this signal notify
   * their reason where they emit `cancelled`.
   *
   * Since: 1.0
   */
  properties[PROP_REASON] =
      g_param_spec_boxed ("reason", NULL, NULL, G_TYPE_ERROR,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_task_signal_class_init (PrioTaskSignalClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->dispose = prio_task_signal_dispose;
  object_class->finalize = prio_task_signal_finalize;
  object_class->get_property = prio_task_signal_get_property;
  object_class->set_property = prio_task_signal_set_property;
  G_CANCELLABLE_CLASS (class)->cancelled = prio_task_signal_cancelled;

  install_properties (object_class);

  /**
   * PrioTaskSignal::priority-change:
   * @self: the signal
   * @previous: the priority before
   *
   * Emitted when the priority has changed and the tasks have moved: the WICG draft's `prioritychange` event.
   *
   * It is emitted on the thread that changed the priority.
   *
   * Since: 1.0
   */
  signal_ids[PRIORITY_CHANGE] =
      g_signal_new ("priority-change", PRIO_TYPE_TASK_SIGNAL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    g_cclosure_marshal_VOID__ENUM, G_TYPE_NONE, 1, PRIO_TYPE_TASK_PRIORITY);
  g_signal_set_va_marshaller (signal_ids[PRIORITY_CHANGE], PRIO_TYPE_TASK_SIGNAL,
                              g_cclosure_marshal_VOID__ENUMv);

  cancelled_signal = g_signal_lookup ("cancelled", G_TYPE_CANCELLABLE);
  notify_signal = g_signal_lookup ("notify", G_TYPE_OBJECT);
  node_funcs.type = G_TYPE_FROM_CLASS (class);
  __atomic_store_n (&prio_signal_node_funcs, &node_funcs, __ATOMIC_RELEASE);
}

static void
prio_task_signal_init (PrioTaskSignal *self)
{
  prio_signal_node_init (&self->node, G_CANCELLABLE (self), TRUE);
}

static PrioTaskSignal *
task_signal_new (PrioTaskPriority priority)
{
  return g_object_new (PRIO_TYPE_TASK_SIGNAL, "priority", priority, NULL);
}

/**
 * prio_task_signal_new_aborted: (constructor)
 * @reason: (nullable): the reason, or %NULL for %G_IO_ERROR_CANCELLED
 *
 * Makes a signal that is aborted already: `AbortSignal.abort()`.  Any thread may call this function.
 *
 * Returns: (transfer full): a new signal
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_signal_new_aborted (const GError *reason)
{
  PrioTaskSignal *self = task_signal_new (PRIO_TASK_PRIORITY_USER_VISIBLE);

  prio_signal_node_abort (&self->node, reason);
  return self;
}

/**
 * prio_task_signal_new_timeout: (constructor)
 * @timeout: milliseconds
 *
 * Makes a signal that is aborted after @timeout, with %G_IO_ERROR_TIMED_OUT as the reason: `AbortSignal.timeout()`.
 *
 * The timer runs in the thread-default main context of the calling thread, even if its schedulers are paused.  It stops
 * when the signal has no references, no handlers and no dependent signals.  It also stops when the main context is
 * destroyed: the signal does not keep the context alive.
 *
 * Returns: (transfer full): a new signal
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_signal_new_timeout (guint64 timeout)
{
  PrioTaskSignal *self = task_signal_new (PRIO_TASK_PRIORITY_USER_VISIBLE);

  prio_signal_node_reevaluate_some ();

  self->node.is_timeout = TRUE;
  self->node.handle = prio_handle_new (&self->node, G_CANCELLABLE (self));
  self->node.may_time_out = TRUE;
  prio_handle_start_timer (self->node.handle, timeout);
  return self;
}

static G_GNUC_UNUSED gboolean
are_cancellables (GCancellable **sources, gsize n_sources)
{
  for (gsize i = 0; i < n_sources; i++)
    {
      if (!G_IS_CANCELLABLE (sources[i]))
        return FALSE;
    }
  return TRUE;
}

/**
 * prio_task_signal_new_any: (constructor)
 * @signals: (array length=n_signals) (nullable): signals and other cancellables
 * @n_signals: the number of signals
 * @priority: the priority of the new signal, which never changes; not %PRIO_TASK_PRIORITY_UNSET
 *
 * Creates a signal that is aborted as soon as one of @signals is: `TaskSignal.any()` with a fixed priority.
 *
 * If any is aborted already, the new signal is aborted from the start, for the same reason.  The new signal does not
 * hold @signals, but a timeout signal among them lives until its time is up or the new signal is finalized.  If any was
 * itself made from others, the new signal depends on these too.  Any thread may call this function.
 *
 * Returns: (transfer full): a new signal
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_signal_new_any (GCancellable **signals, gsize n_signals, PrioTaskPriority priority)
{
  PrioTaskSignal *self;

  g_return_val_if_fail (signals != NULL || n_signals == 0, NULL);
  g_return_val_if_fail (are_cancellables (signals, n_signals), NULL);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), NULL);

  self = task_signal_new (priority);
  prio_signal_node_depend (&self->node, signals, n_signals, NULL);
  return self;
}

/**
 * prio_task_signal_new_any_following: (constructor)
 * @signals: (array length=n_signals) (nullable): signals and other cancellables
 * @n_signals: the number of signals
 * @priority_source: the signal whose priority the new signal follows
 *
 * Creates a signal that is aborted as soon as one of @signals is, and follows the priority of @priority_source:
 * `TaskSignal.any()` with a signal as the priority.
 *
 * If @priority_source itself follows another signal, the new signal follows that one.  If the priority of
 * @priority_source is fixed, the priority of the new signal is fixed too.  Any thread may call this function.
 *
 * Returns: (transfer full): a new signal
 *
 * Since: 1.0
 */
PrioTaskSignal *
prio_task_signal_new_any_following (GCancellable **signals, gsize n_signals, PrioTaskSignal *priority_source)
{
  PrioTaskSignal *self;

  g_return_val_if_fail (signals != NULL || n_signals == 0, NULL);
  g_return_val_if_fail (are_cancellables (signals, n_signals), NULL);
  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (priority_source), NULL);

  self = task_signal_new (prio_task_signal_get_priority (priority_source));
  prio_signal_node_depend (&self->node, signals, n_signals, &priority_source->node);
  return self;
}

/**
 * prio_task_signal_get_priority: (get-property priority)
 * @self: a signal
 *
 * Gets the priority of tasks posted with the signal and without their own priority.  Any thread may call this function.
 *
 * Returns: the priority
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_task_signal_get_priority (PrioTaskSignal *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), PRIO_TASK_PRIORITY_USER_VISIBLE);

  return prio_signal_node_get_priority (&self->node);
}

/**
 * prio_task_signal_is_aborted: (get-property aborted)
 * @self: a signal
 *
 * Returns whether the signal has been aborted.
 *
 * The result is %TRUE from the moment of the abort.  For a signal that depends on others,
 * [method@Gio.Cancellable.is_cancelled] returns %TRUE a little later.  Any thread may call this function.
 *
 * Returns: whether the signal has been aborted
 *
 * Since: 1.0
 */
gboolean
prio_task_signal_is_aborted (PrioTaskSignal *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), TRUE);

  prio_signal_node_undo_reset (&self->node);
  return prio_signal_node_is_aborted (&self->node);
}

/**
 * prio_task_signal_dup_reason: (get-property reason)
 * @self: a signal
 *
 * Gets the reason of the abort.  Any thread may call this function.
 *
 * Returns: (transfer full) (nullable): the reason, or %NULL if the signal is not aborted
 *
 * Since: 1.0
 */
GError *
prio_task_signal_dup_reason (PrioTaskSignal *self)
{
  PrioReason *reason;
  GError *error;

  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), NULL);

  prio_signal_node_undo_reset (&self->node);
  reason = prio_signal_node_ref_reason (&self->node);
  if (reason == NULL)
    return NULL;

  error = g_error_copy (reason->error);
  prio_reason_unref (reason);
  return error;
}

/**
 * prio_task_signal_count_pending:
 * @self: a signal
 *
 * Counts the tasks that have been posted with the signal, at any scheduler whose main context the calling thread runs,
 * and are queued or delayed.  It counts neither the running task, nor tasks that have deferred their result or wait for
 * a thread of the pool, nor tasks of dependent signals, nor waits.
 *
 * ```c
 * gtk_widget_set_sensitive (stop_button, prio_task_signal_count_pending (signal) > 0);
 * ```
 *
 * After an abort there are none.  The call takes time in proportion to the number of tasks.  So this is not a property,
 * and is not notified.  Any thread may call this function; it counts the tasks in the main contexts of that thread.
 *
 * Returns: the number of tasks
 *
 * Since: 1.0
 */
guint
prio_task_signal_count_pending (PrioTaskSignal *self)
{
  g_autoptr (GPtrArray) registrations = NULL;
  guint n = 0;

  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), 0);

  prio_lock_lock (&prio_signal_lock);
  registrations = prio_registrations_list (&self->node);
  prio_lock_unlock (&prio_signal_lock);

  for (guint i = 0; registrations != NULL && i < registrations->len; i++)
    {
      PrioRegistration *registration = registrations->pdata[i];

      if (!prio_loop_enter (registration->loop))
        continue;
      n += prio_group_count (&registration->group);
      prio_loop_leave (registration->loop);
    }
  return n;
}
