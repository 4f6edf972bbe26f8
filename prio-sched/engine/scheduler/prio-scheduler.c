/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler.c: prioritized tasks in a main context */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "base/prio-debug-private.h"
#include "loop/prio-count-private.h"
#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-yield-private.h"

/**
 * PrioScheduler:
 *
 * Runs prioritized tasks in a [struct@GLib.MainContext]: the WICG draft's `Scheduler`
 * ([§2.2](https://wicg.github.io/scheduling-apis/#scheduler)).
 *
 * Work is posted with one of three priorities.  The oldest of the most urgent tasks runs next.  This order holds across
 * all schedulers of a main context.  Tasks run in slices.  Between two slices every other source of the main context has its turn, so input
 * is handled and frames are drawn however many tasks are queued.
 *
 * ```c
 * static gboolean
 * thumbnail_next (gpointer data)
 * {
 *   return make_one_thumbnail (data) ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
 * }
 *
 * prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_BACKGROUND,
 *                      thumbnail_next, g_object_ref (folder), g_object_unref);
 * ```
 *
 * Any thread may use a scheduler; tasks run only on the thread that runs its main context.  Queued tasks run even after
 * the last reference to the scheduler is dropped.  A scheduler has a reference to its main context.  If the main context
 * is destroyed after its schedulers, its queued tasks are released on the thread that destroys it.
 *
 * A destroy notify is called once, after its function if that is called.  This happens on the thread that runs the main
 * context, even if another thread has aborted the task, or on the thread that destroys the context.  But a call of
 * [method@PrioSched.Scheduler.post_full] that returns %FALSE for an aborted signal has called the notify itself.
 *
 * # Order of work
 *
 * | work | runs before sources of | waits at most for |
 * | --- | --- | --- |
 * | `user-blocking` tasks and continuations; `user-visible` continuations | %G_PRIORITY_DEFAULT | the running task, more urgent and older tasks, and one turn of the other sources |
 * | `user-visible` tasks | a lower priority than %G_PRIORITY_DEFAULT, and in turns with %G_PRIORITY_DEFAULT | everything in the row above, and sources of %G_PRIORITY_DEFAULT and above |
 * | `background` tasks and continuations | a lower priority than %G_PRIORITY_LOW | more urgent tasks, without limit; other sources that are always ready, half a second |
 * | idle callbacks | nothing | everything above, but no longer than the callback's timeout |
 *
 * Tasks run in batches.  After each task, the next task is chosen anew, so that a newly posted urgent task waits for
 * one task at most.  After at most a millisecond, or when a frame is due
 * ([method@PrioSched.Scheduler.follow_frame_clock]), the other sources have a turn: input, timers, and everything that
 * GTK needs to draw (priorities up to 125) are dispatched until none of them is ready, however long that takes.  So a
 * window draws as often as it would with a single idle source.  Once in a time slice
 * ([property@PrioSched.Scheduler:time-slice], 5 ms), sources of lower priority have a turn too.
 *
 * A turn also ends if some sources are always ready.  Tasks then get half of the time; if a handler takes longer than a
 * millisecond, they get one or two milliseconds after each handler.  Where drawing takes all the time, tasks get a
 * tenth of the time, between two frames.  A time slice that has been set, or a share that has been set with
 * [method@PrioSched.Scheduler.set_task_share], replaces this tenth.
 *
 * The main context is not woken while no task can run.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (PrioScheduler, prio_scheduler, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_CONTEXT,
  PROP_TIME_SLICE,
  PROP_PAUSED,
  PROP_NEXT_FRAME,
  PROP_LENDS_PRIORITY,
  PROP_TASK_SHARE,
  PROP_STARVATION_LIMIT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

GType prio_scheduler_type;

static const PrioSchedulerWatchFuncs *watch;

/* Sets the functions to call for new and ended schedulers.  Must be called before the class is initialized. */
void
prio_scheduler_set_watch (const PrioSchedulerWatchFuncs *funcs)
{
  watch = funcs;
}

static void
prio_scheduler_constructed (GObject *object)
{
  PrioScheduler *self = PRIO_SCHEDULER (object);

  G_OBJECT_CLASS (prio_scheduler_parent_class)->constructed (object);

  if (self->context == NULL)
    self->context = g_main_context_ref (g_main_context_default ());
  self->run_queue = prio_run_queue_new (prio_loop_for_context (self->context));
  g_weak_ref_set (self->run_queue->scheduler, self);
  prio_debug_look_up ();
  prio_debug ("A scheduler has been made for a main context%s",
              self->context == g_main_context_default () ? ", the default one" : "");
  if (watch != NULL)
    watch->made (self);
  if (prio_frames_look != NULL)
    prio_frames_look (prio_clock_now ());
}

static void
op_drop_scheduler (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;

  prio_frames_remove (run_queue->loop, &run_queue->next_frame);
  /* Resumes the queue, because without a scheduler no later call can. */
  prio_run_queue_set_paused (run_queue, FALSE);
  prio_run_queue_release (run_queue);
}

/* Ends a pause, and notifies `paused` at once: in dispose (), GObject freezes notifications and then drops them. */
static void
prio_scheduler_dispose (GObject *object)
{
  if (__atomic_exchange_n (&PRIO_SCHEDULER (object)->run_queue->wants_pause, FALSE, __ATOMIC_SEQ_CST))
    G_OBJECT_GET_CLASS (object)->dispatch_properties_changed (object, 1, &properties[PROP_PAUSED]);
  G_OBJECT_CLASS (prio_scheduler_parent_class)->dispose (object);
}

static void
prio_scheduler_finalize (GObject *object)
{
  PrioScheduler *self = PRIO_SCHEDULER (object);

  prio_in_finalize (self);
  prio_debug ("A scheduler is finalized; its queued tasks still run");
  if (watch != NULL)
    watch->ends (self);
  prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = op_drop_scheduler, .target = self->run_queue });
  g_clear_pointer (&self->context, g_main_context_unref);

  G_OBJECT_CLASS (prio_scheduler_parent_class)->finalize (object);
}

static void
prio_scheduler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioScheduler *self = PRIO_SCHEDULER (object);

  switch (id)
    {
    case PROP_CONTEXT:
      g_value_set_boxed (value, self->context);
      break;

    case PROP_TIME_SLICE:
      g_value_set_double (value, prio_scheduler_get_time_slice (self));
      break;

    case PROP_PAUSED:
      g_value_set_boolean (value, prio_scheduler_get_paused (self));
      break;

    case PROP_NEXT_FRAME:
      g_value_set_int64 (value, prio_scheduler_get_next_frame (self));
      break;

    case PROP_LENDS_PRIORITY:
      g_value_set_boolean (value, prio_scheduler_get_lends_priority (self));
      break;

    case PROP_TASK_SHARE:
      g_value_set_double (value, prio_scheduler_get_task_share (self));
      break;

    case PROP_STARVATION_LIMIT:
      g_value_set_uint (value, prio_scheduler_get_starvation_limit (self));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_scheduler_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  PrioScheduler *self = PRIO_SCHEDULER (object);

  switch (id)
    {
    case PROP_CONTEXT:
      self->context = g_value_dup_boxed (value);
      break;

    case PROP_TIME_SLICE:
      prio_scheduler_set_time_slice (self, g_value_get_double (value));
      break;

    case PROP_NEXT_FRAME:
      prio_scheduler_set_next_frame (self, g_value_get_int64 (value));
      break;

    case PROP_LENDS_PRIORITY:
      prio_scheduler_set_lends_priority (self, g_value_get_boolean (value));
      break;

    case PROP_TASK_SHARE:
      prio_scheduler_set_task_share (self, g_value_get_double (value));
      break;

    case PROP_STARVATION_LIMIT:
      prio_scheduler_set_starvation_limit (self, g_value_get_uint (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static GParamSpec *
make_starvation_limit (void)
{
  /**
   * PrioScheduler:starvation-limit: (getter get_starvation_limit) (setter set_starvation_limit)
   *
   * How long a new task waits behind continuations of its priority until it has a turn, in ms; 0 means for ever.
   *
   * Continuations run before new tasks, so without a limit, code that yields until a new task has run would yield for
   * ever.  At most one task has such a turn in each period of this length.  The first time, a warning names the waiting
   * task and the yielding task.  To let tasks alternate, post them with the option `takes_turns`.
   *
   * The limit of the waiting task's scheduler applies.  Waits begin anew when a scheduler of the main context is paused
   * or resumed.
   *
   * Since: 1.0
   */
  return g_param_spec_uint ("starvation-limit", NULL, NULL, 0, G_MAXUINT, PRIO_DEFAULT_STARVATION_LIMIT,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * PrioScheduler:context: (getter get_context)
   *
   * The main context that the tasks run in; %NULL selects the global default.
   *
   * Since: 1.0
   */
  properties[PROP_CONTEXT] =
      g_param_spec_boxed ("context", NULL, NULL, G_TYPE_MAIN_CONTEXT,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioScheduler:time-slice: (getter get_time_slice) (setter set_time_slice)
   *
   * How long tasks run before every other source of the main context has its turn, in milliseconds, and how long a task
   * may run until [method@PrioSched.Scheduler.should_yield] returns %TRUE.
   *
   * Drawing, and sources that go before it, have a turn more often.  By default, the slice is -1,
   * which means that it adapts: it is 5 ms, shortened to half a frame if a frame clock is followed, and further where
   * drawing takes all the time.  A slice that is set is never shortened.
   *
   * 0 means that one task runs per iteration of the main context.  If several schedulers share a main context, the
   * shortest slice of the schedulers whose tasks run counts.
   *
   * Since: 1.0
   */
  properties[PROP_TIME_SLICE] =
      g_param_spec_double ("time-slice", NULL, NULL, -1, G_MAXUINT, -1,
                         G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioScheduler:paused: (getter get_paused)
   *
   * Whether the scheduler's tasks are held back.
   *
   * Since: 1.0
   */
  properties[PROP_PAUSED] =
      g_param_spec_boolean ("paused", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * PrioScheduler:next-frame: (getter get_next_frame) (setter set_next_frame)
   *
   * When the next frame is due, in microseconds of [func@GLib.get_monotonic_time], or 0 if that is not known.
   *
   * Since: 1.0
   */
  properties[PROP_NEXT_FRAME] =
      g_param_spec_int64 ("next-frame", NULL, NULL, 0, G_MAXINT64, 0,
                          G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  properties[PROP_LENDS_PRIORITY] = prio_scheduler_make_lends_priority ();
  properties[PROP_TASK_SHARE] = prio_scheduler_make_task_share ();
  properties[PROP_STARVATION_LIMIT] = make_starvation_limit ();

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_scheduler_class_init (PrioSchedulerClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  prio_scheduler_type = G_TYPE_FROM_CLASS (class);

  object_class->constructed = prio_scheduler_constructed;
  object_class->dispose = prio_scheduler_dispose;
  object_class->finalize = prio_scheduler_finalize;
  object_class->get_property = prio_scheduler_get_property;
  object_class->set_property = prio_scheduler_set_property;

  install_properties (object_class);
}

/* Submits @apply with the run queue as its target, and notifies @property. */
void
prio_scheduler_submit_change (PrioScheduler *self, PrioOpFunc apply, const char *property)
{
  /* Submitting may call deferred destroy notifies, which may drop all other references. */
  g_object_ref (self);
  prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = apply, .target = self->run_queue });
  g_object_notify (G_OBJECT (self), property);
  g_object_unref (self);
}

static void
prio_scheduler_init (PrioScheduler *self G_GNUC_UNUSED)
{
}

/**
 * prio_scheduler_get_default:
 *
 * Gets the scheduler of the default main context, which a program's main thread runs.  The first call creates the
 * scheduler, which is never freed.  Any thread may call this function.
 *
 * Returns: (transfer none): the scheduler
 *
 * Since: 1.0
 */
PrioScheduler *
prio_scheduler_get_default (void)
{
  static PrioScheduler *scheduler = NULL;

  if (g_once_init_enter (&scheduler))
    g_once_init_leave (&scheduler, prio_scheduler_new (NULL));

  return scheduler;
}

static void
clear_thread_default (gpointer record)
{
  g_weak_ref_clear (record);
}

static const PrioSlotFuncs slot_funcs = { .size = sizeof (GWeakRef), .clear = clear_thread_default };

/**
 * prio_scheduler_ref_thread_default:
 *
 * Gets the scheduler of the calling thread's thread-default main context
 * ([method@GLib.MainContext.push_thread_default]) or, without such a context, the default scheduler.  While the scheduler
 * has references, every call returns the same object.  Any thread may call this function.
 *
 * ```c
 * void
 * thing_refresh (Thing *self) // in any thread, with or without its own main context
 * {
 *   g_autoptr (PrioScheduler) scheduler = prio_scheduler_ref_thread_default ();
 *
 *   prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, refresh, g_object_ref (self), g_object_unref);
 * }
 * ```
 *
 * Returns: (transfer full): the scheduler
 *
 * Since: 1.0
 */
PrioScheduler *
prio_scheduler_ref_thread_default (void)
{
  GMainContext *context = g_main_context_get_thread_default ();
  PrioScheduler *scheduler;
  GWeakRef *shared;
  PrioLoop *loop;

  if (context == NULL || context == g_main_context_default ())
    return g_object_ref (prio_scheduler_get_default ());

  loop = prio_loop_for_context (context);
  shared = prio_loop_ensure_slot (loop, PRIO_SLOT_SCHEDULER, &slot_funcs);
  scheduler = g_weak_ref_get (shared);
  if (scheduler == NULL)
    {
      scheduler = prio_scheduler_new (context);
      g_weak_ref_set (shared, scheduler);
    }
  prio_loop_release (loop);

  return scheduler;
}

/**
 * prio_scheduler_new:
 * @context: (nullable): a main context, or %NULL for the global default
 *
 * Creates a scheduler.
 *
 * A main context may have several schedulers, so that a program can pause a part of its tasks or give them another time
 * slice.  Order and priorities hold across all of them, but a continuation inherits a signal and a priority only from a
 * task of the same scheduler.  Any thread may call this function.
 *
 * Returns: (transfer full): a new scheduler
 *
 * Since: 1.0
 */
PrioScheduler *
prio_scheduler_new (GMainContext *context)
{
  return g_object_new (PRIO_TYPE_SCHEDULER, "context", context, NULL);
}

/**
 * prio_scheduler_get_context: (get-property context)
 * @self: a scheduler
 *
 * Gets the main context that the tasks run in.  Any thread may call this function.
 *
 * Returns: (transfer none): the main context
 *
 * Since: 1.0
 */
GMainContext *
prio_scheduler_get_context (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), NULL);

  return self->context;
}

/* Returns whether this thread, which is not in a dispatch, was the last to iterate the context.  The thread may have
 * released the context since, so its code has no scheduling state. */
static gboolean
is_between_iterations (PrioLoop *loop)
{
  gboolean result;

  if (!prio_loop_enter (loop))
    return FALSE;
  result = prio_loop_get_iteration (loop) != 0;
  prio_loop_leave (loop);
  return result;
}

/**
 * prio_scheduler_should_yield:
 * @self: a scheduler
 *
 * Returns whether long work should let other work run: because the time slice is over, a frame is due, there is input,
 * or more urgent work waits.
 *
 * In a task, the slice begins with the batch of tasks.  If a window draws frames, the slice ends after a millisecond at
 * most, as the batch does, unless [property@PrioSched.Scheduler:time-slice] is set.  For other code, such as a signal
 * handler, a callback of GIO or a microtask, or between two iterations of a program that calls
 * [method@GLib.MainContext.iteration] itself, the slice begins when the main loop last checked its sources, and only
 * `user-blocking` tasks, and tasks whose timeout has passed, are more urgent.  In an idle callback the deadline counts
 * instead of the slice: see [method@PrioSched.IdleDeadline.get_time_remaining].
 *
 * The call is cheap enough for an inner loop.  There is input if any file descriptor at %G_PRIORITY_DEFAULT or above is
 * ready; they are polled every millisecond.  On other threads, and before a main loop has run, the result is %FALSE.
 *
 * Returns: whether to yield, or to return %G_SOURCE_CONTINUE
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_should_yield (PrioScheduler *self)
{
  PrioLoop *loop;
  const PrioState *state = prio_thread.state;

  g_return_val_if_fail (prio_scheduler_check (self) || PRIO_IS_SCHEDULER (self), FALSE);

  loop = self->run_queue->loop;
  if (state == NULL || state->run_queue != self->run_queue)
    {
      if (g_main_depth () == 0 ? state != NULL || !is_between_iterations (loop) : !prio_loop_is_owner (loop))
        return FALSE;
      state = state != NULL && state != &prio_state_none ? state : prio_state_of_thread ();
      if (state != NULL && state->run_queue->loop != loop)
        state = NULL;
    }

  return prio_loop_should_yield (loop, self->run_queue, state);
}

/**
 * prio_scheduler_did_timeout:
 * @self: a scheduler
 *
 * Returns whether the timeout of the running task had passed when the task began, like `didTimeout` in React's
 * Scheduler.  The task can then do the rest of its work at once.
 *
 * The answer is decided when the main loop begins the task, and again for each continuation, and never changes in
 * between: callbacks that the task awaits, and all other code in its scheduling state, get the same answer.  Sources
 * that a nested main loop dispatches are not part of the task.  The task may be of any scheduler of the main context.
 *
 * ```c
 * static gboolean
 * render (gpointer view)
 * {
 *   do
 *     render_row (view);
 *   while (has_rows (view) && (prio_scheduler_did_timeout (scheduler) || !prio_scheduler_should_yield (scheduler)));
 *   return has_rows (view);
 * }
 *
 * prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.timeout = 5000), render, view, NULL);
 * ```
 *
 * Call this function on the thread that runs the scheduler's main context; on others it returns %FALSE.
 *
 * Returns: whether the timeout had passed; %FALSE outside any task, and for a task without a timeout
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_did_timeout (PrioScheduler *self)
{
  const PrioState *state;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);

  state = prio_state_capture (self->run_queue->loop);
  return state != NULL && state->timed == PRIO_TIMED_EXPIRED;
}

/* Enters the loop for the public function @function, on the thread that runs the context or, if there is none, on the
 * thread that ran it last.  On other threads, logs a critical message, whose subject and verb are @what, and returns
 * FALSE.  If this thread owns the context, it becomes the owner thread. */
gboolean
prio_scheduler_enter (PrioScheduler *self, const char *function, const char *what)
{
  PrioLoop *loop = self->run_queue->loop;

  if (prio_loop_enter (loop) || (prio_loop_is_owner (loop) && prio_loop_enter (loop)))
    return TRUE;
  g_critical ("%s(): %s available on the thread that runs the scheduler's main context, and this is another one", function, what);
  return FALSE;
}

/**
 * prio_scheduler_get_time_slice: (get-property time-slice)
 * @self: a scheduler
 *
 * Gets how long tasks run before every other source has its turn.  Any thread may call this function.
 *
 * ```c
 * double time_slice = prio_scheduler_get_time_slice (scheduler);
 *
 * prio_scheduler_set_time_slice (scheduler, 20); // while a dialog shows the progress of an import
 * import_everything (importer);
 * prio_scheduler_set_time_slice (scheduler, time_slice);
 * ```
 *
 * Returns: milliseconds, or -1 if the slice adapts
 *
 * Since: 1.0
 */
double
prio_scheduler_get_time_slice (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), -1);

  return (double) prio_run_queue_get_slice (self->run_queue) / 1000;
}

static void
op_share_slice (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;

  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    __atomic_store_n (&part->slice, prio_run_queue_get_slice (run_queue), __ATOMIC_RELAXED);
}

/**
 * prio_scheduler_set_time_slice: (set-property time-slice)
 * @self: a scheduler
 * @time_slice: milliseconds, to the microsecond; -1, the default, adapts to frames; 0 is one task per iteration
 *
 * Sets how long tasks run before every other source has its turn.  The change takes effect at once, for the running
 * task too.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_time_slice (PrioScheduler *self, double time_slice)
{
  gint64 slice;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (time_slice == -1 || (time_slice >= 0 && time_slice <= G_MAXUINT));

  slice = time_slice == -1 ? PRIO_ADAPTIVE_SLICE : (gint64) (time_slice * 1000 + 0.5);
  if (__atomic_exchange_n (&self->run_queue->slice, slice, __ATOMIC_RELAXED) != slice)
    prio_scheduler_submit_change (self, op_share_slice, "time-slice");
}

/**
 * prio_scheduler_get_starvation_limit: (get-property starvation-limit)
 * @self: a scheduler
 *
 * Gets how long a new task waits behind continuations of its priority until it has a turn.  Any thread may call this.
 *
 * Returns: milliseconds; 0 means for ever
 *
 * Since: 1.0
 */
guint
prio_scheduler_get_starvation_limit (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), 0);

  return __atomic_load_n (&self->run_queue->starvation_limit, __ATOMIC_RELAXED);
}

/**
 * prio_scheduler_set_starvation_limit: (set-property starvation-limit)
 * @self: a scheduler
 * @starvation_limit: milliseconds; 0 means for ever
 *
 * Sets how long a new task waits behind continuations of its priority until it has a turn.  Any thread may call this.
 *
 * ```c
 * guint limit = prio_scheduler_get_starvation_limit (scheduler);
 *
 * prio_scheduler_set_starvation_limit (scheduler, 0); // while a test expects the WICG draft's order
 * run_the_test (scheduler);
 * prio_scheduler_set_starvation_limit (scheduler, limit);
 * ```
 *
 * Since: 1.0
 */
void
prio_scheduler_set_starvation_limit (PrioScheduler *self, guint starvation_limit)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  if (__atomic_exchange_n (&self->run_queue->starvation_limit, starvation_limit, __ATOMIC_RELAXED) != starvation_limit)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STARVATION_LIMIT]);
}

/**
 * prio_scheduler_count_pending:
 * @self: a scheduler
 *
 * Counts the tasks, of any kind, that are queued or delayed, including tasks of the scheduler's groups.  It counts
 * neither the running task, nor tasks that have deferred their result or wait for a thread of the pool; for a group,
 * [property@PrioSched.TaskGroup:n-tasks] counts these tasks too.
 *
 * ```c
 * gtk_widget_set_visible (spinner, prio_scheduler_count_pending (scheduler) > 0);
 * ```
 *
 * The time that the call takes grows with the number of the scheduler's tasks and groups, and of all delayed tasks of
 * the main context.  So this is not a property, and is not notified.
 *
 * Call this function on the thread that runs the scheduler's main context.  On another thread, the call logs a critical
 * message, and returns 0.
 *
 * Returns: the number of tasks
 *
 * Since: 1.0
 */
guint
prio_scheduler_count_pending (PrioScheduler *self)
{
  guint n;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the number of waiting tasks is"))
    return 0;
  n = prio_run_queue_count (self->run_queue);
  prio_loop_leave (self->run_queue->loop);
  return n;
}
