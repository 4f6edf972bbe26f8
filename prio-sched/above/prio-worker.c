/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-worker.c: a thread with its own main context and scheduler
 *
 * The thread iterates its context until it is stopped, and then closes its loop: tasks that are queued, or posted
 * later, end with PRIO_ERROR_CLOSED. */

#include "config.h"

#include "prio-worker.h"

#include "above/prio-thread-wait-private.h"
#include "base/prio-check-private.h"
#include "prio-engine.h"

/* The part of a worker that its thread also uses.  It is freed when both the worker and the thread have ended. */
typedef struct
{
  gint refs; /* atomic */
  GMainContext *context;
  PrioScheduler *scheduler;
  gint stop;  /* PrioWorkerStop plus one, or 0; atomic */
  gboolean has_begun; /* whether the thread owns the context; guarded by prio_waits_lock */
  gboolean has_ended; /* whether the thread has ended; guarded by prio_waits_lock */
} PrioInner;

/**
 * PrioWorker:
 *
 * A thread that runs tasks, with its own main context and scheduler, like a worker on the web.
 *
 * Tasks of a worker run one after the other, by priority and age.  So a worker is for work that must not run in
 * parallel, such as rendering with a library that is not thread-safe, or a database.  For other work,
 * [method@PrioSched.Scheduler.run_in_thread] uses more processors.
 *
 * [method@PrioSched.Worker.run] runs a function in the thread, and returns the result to the main context of another
 * scheduler.  A task posted to [method@PrioSched.Worker.get_scheduler] runs in the thread entirely: its callbacks,
 * continuations and destroy notifies are called in the thread, too.
 *
 * ```c
 * static void
 * render (PrioTask *task, gpointer page) // in the worker's thread
 * {
 *   prio_task_return_pointer (task, page_render (page), g_object_unref);
 * }
 *
 * static void
 * rendered (GObject *task, GAsyncResult *result, gpointer view) // in the main thread
 * {
 *   g_autoptr (GObject) texture = prio_task_propagate_pointer (PRIO_TASK (result), NULL);
 *
 *   if (texture != NULL)
 *     view_show (view, texture);
 * }
 *
 * renderer = prio_worker_new ("render");
 * task = prio_worker_run (renderer, prio_scheduler_get_default (), &PRIO_TASK_OPTIONS (.signal = shown),
 *                                      render, g_object_ref (page), g_object_unref);
 * prio_task_wait_async (task, NULL, rendered, view);
 * ```
 *
 * When the last reference is dropped, the worker is stopped as [method@PrioSched.Worker.stop] does with
 * %PRIO_WORKER_STOP_ABORT.  Any thread may use a worker.
 *
 * Since: 1.0
 */
struct _PrioWorker
{
  GObject parent_instance;

  char *name;
  PrioInner *inner;
  GThread *thread; /* atomic; NULL after prio_worker_join () */
};

G_DEFINE_FINAL_TYPE (PrioWorker, prio_worker, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_NAME,
  PROP_SCHEDULER,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
inner_unref (PrioInner *inner)
{
  if (!g_atomic_int_dec_and_test (&inner->refs))
    return;

  g_object_unref (inner->scheduler);
  g_main_context_unref (inner->context);
  g_free (inner);
}

static gboolean
goes_on (PrioInner *inner)
{
  switch (g_atomic_int_get (&inner->stop))
    {
    case 0: return TRUE;
    case 1 + PRIO_WORKER_STOP_FINISH: return prio_loop_is_busy (prio_scheduler_get_loop (inner->scheduler));
    default: return FALSE;
    }
}

static gpointer
run (gpointer data)
{
  PrioInner *inner = data;

  g_main_context_push_thread_default (inner->context);
  /* The first iteration makes this thread the owner of the loop. */
  g_main_context_iteration (inner->context, FALSE);
  prio_thread_waits_set (&inner->has_begun);
  while (goes_on (inner))
    g_main_context_iteration (inner->context, TRUE);
  prio_loop_close (prio_scheduler_get_loop (inner->scheduler));
  g_main_context_pop_thread_default (inner->context);

  prio_thread_waits_set (&inner->has_ended);
  inner_unref (inner);
  return NULL;
}

static void
wait_for (PrioInner *inner, gboolean *flag)
{
  prio_thread_wait (prio_scheduler_get_loop (inner->scheduler), G_MAXINT64, NULL, NULL, NULL, flag, NULL);
}

static void
prio_worker_constructed (GObject *object)
{
  PrioWorker *self = PRIO_WORKER (object);
  PrioInner *inner = g_new0 (PrioInner, 1);

  G_OBJECT_CLASS (prio_worker_parent_class)->constructed (object);

  inner->refs = 2; /* one for the worker, and one for its thread */
  inner->context = g_main_context_new ();
  g_main_context_push_thread_default (inner->context);
  inner->scheduler = prio_scheduler_ref_thread_default ();
  g_main_context_pop_thread_default (inner->context);
  self->inner = inner;

  self->thread = g_thread_new (self->name != NULL ? self->name : "prio-worker", run, inner);
  /* Waits until the worker's thread owns the context, so that no other thread can acquire the context. */
  wait_for (inner, &inner->has_begun);
}

static void
prio_worker_finalize (GObject *object)
{
  PrioWorker *self = PRIO_WORKER (object);

  prio_worker_stop (self, PRIO_WORKER_STOP_ABORT);
  g_clear_pointer (&self->thread, g_thread_unref);
  g_clear_pointer (&self->inner, inner_unref);
  g_free (self->name);
  G_OBJECT_CLASS (prio_worker_parent_class)->finalize (object);
}

static void
prio_worker_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  PrioWorker *self = PRIO_WORKER (object);

  switch (id)
    {
    case PROP_NAME:
      g_value_set_string (value, self->name);
      break;

    case PROP_SCHEDULER:
      g_value_set_object (value, self->inner->scheduler);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_worker_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_NAME:
      PRIO_WORKER (object)->name = g_value_dup_string (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_worker_class_init (PrioWorkerClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->constructed = prio_worker_constructed;
  object_class->finalize = prio_worker_finalize;
  object_class->get_property = prio_worker_get_property;
  object_class->set_property = prio_worker_set_property;

  /**
   * PrioWorker:name:
   *
   * The name of the thread, which debuggers and the operating system show, or %NULL.
   *
   * Since: 1.0
   */
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL,
                                               G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * PrioWorker:scheduler: (getter get_scheduler)
   *
   * The scheduler whose tasks run in the worker's thread.
   *
   * Since: 1.0
   */
  properties[PROP_SCHEDULER] = g_param_spec_object ("scheduler", NULL, NULL, PRIO_TYPE_SCHEDULER,
                                                    G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_worker_init (PrioWorker *self G_GNUC_UNUSED)
{
}

/**
 * prio_worker_new:
 * @name: (nullable): the name of the thread, which debuggers and the operating system show
 *
 * Starts a thread with its own main context and scheduler.
 *
 * Returns: (transfer full): the worker
 *
 * Since: 1.0
 */
PrioWorker *
prio_worker_new (const char *name)
{
  return g_object_new (PRIO_TYPE_WORKER, "name", name, NULL);
}

/**
 * prio_worker_get_scheduler: (get-property scheduler)
 * @self: a worker
 *
 * Gets the scheduler whose tasks run in the worker's thread.  In that thread,
 * [func@PrioSched.Scheduler.ref_thread_default] returns it, too.
 *
 * ```c
 * // A cache that only the worker's thread touches.
 * prio_scheduler_post (prio_worker_get_scheduler (renderer), PRIO_TASK_PRIORITY_BACKGROUND, trim_cache, NULL, NULL);
 * ```
 *
 * Once the worker has stopped, posted tasks end with %PRIO_ERROR_CLOSED.  Any thread may call this function.
 *
 * Returns: (transfer none): the scheduler
 *
 * Since: 1.0
 */
PrioScheduler *
prio_worker_get_scheduler (PrioWorker *self)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_WORKER), NULL);

  return self->inner->scheduler;
}

/**
 * prio_worker_stop:
 * @self: a worker
 * @how: whether to abort or finish queued and delayed tasks
 *
 * Makes the worker's thread end soon.  [method@PrioSched.Worker.join] waits for its end.
 *
 * A running function is not interrupted.  With %PRIO_WORKER_STOP_ABORT, queued and delayed tasks are aborted with
 * %PRIO_ERROR_CLOSED.  With %PRIO_WORKER_STOP_FINISH the thread ends when no task is queued or delayed any more,
 * including tasks that the last tasks post.  It does not wait for idle callbacks, or for tasks of a paused scheduler.
 *
 * ```c
 * static void
 * app_shutdown (GApplication *app)
 * {
 *   prio_worker_stop (saver, PRIO_WORKER_STOP_FINISH);
 *   prio_worker_join (saver); // all documents are on the disk
 * }
 * ```
 *
 * A second call does nothing, unless it passes %PRIO_WORKER_STOP_ABORT after %PRIO_WORKER_STOP_FINISH.  Any thread may
 * call this function, including the worker's thread.
 *
 * Since: 1.0
 */
void
prio_worker_stop (PrioWorker *self, PrioWorkerStop how)
{
  PrioInner *inner;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_WORKER));
  g_return_if_fail (how == PRIO_WORKER_STOP_ABORT || how == PRIO_WORKER_STOP_FINISH);

  inner = self->inner;
  if (how == PRIO_WORKER_STOP_FINISH)
    {
      g_atomic_int_compare_and_exchange (&inner->stop, 0, 1 + PRIO_WORKER_STOP_FINISH);
    }
  else
    {
      g_atomic_int_set (&inner->stop, 1 + PRIO_WORKER_STOP_ABORT);
      /* A pause ends the batch that the thread is running. */
      prio_scheduler_pause (inner->scheduler);
    }
  g_main_context_wakeup (inner->context);
}

/**
 * prio_worker_join:
 * @self: a worker
 *
 * Waits until the thread of a stopped worker has ended.
 *
 * The call blocks the calling thread, so a program with a window should call this only when it exits.  Stop the worker
 * first: otherwise, or in the worker's thread, the call logs a critical message and returns.  If the worker's thread
 * waits for the calling thread, its wait fails: see [method@PrioSched.Task.wait].  Any number of threads may call this.
 *
 * Since: 1.0
 */
void
prio_worker_join (PrioWorker *self)
{
  GThread *thread;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_WORKER));
  if (__atomic_load_n (&self->thread, __ATOMIC_ACQUIRE) == g_thread_self ())
    {
      g_critical ("%s(): the thread of a worker cannot wait for its own end", G_STRFUNC);
      return;
    }
  if (g_atomic_int_get (&self->inner->stop) == 0)
    {
      g_critical ("%s(): the worker is not stopped, so its thread would never end", G_STRFUNC);
      return;
    }
  wait_for (self->inner, &self->inner->has_ended);
  thread = __atomic_exchange_n (&self->thread, NULL, __ATOMIC_ACQ_REL);
  if (thread != NULL)
    g_thread_join (thread);
}

/**
 * prio_worker_run:
 * @self: the worker whose thread runs @func
 * @scheduler: the scheduler whose main context gets the result
 * @options: (nullable): options, or %NULL for the defaults; a delay or a timeout is refused
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in the thread of a worker: like [method@PrioSched.Scheduler.run_in_thread], but one function at a
 * time.
 *
 * The task is queued with the tasks of the worker's scheduler by priority and age, and follows a change of priority
 * until it begins.  An abort before the task begins ends the task at once, and so does a later one if
 * [property@PrioSched.Task:return-on-abort] is set; otherwise @func decides, and may call
 * [method@PrioSched.Task.return_error_if_aborted].  If the worker stops before that, the task ends with
 * %PRIO_ERROR_CLOSED.
 *
 * See [class@PrioSched.Worker] for an example.
 *
 * @func runs as a task of the worker's scheduler: its yields continue in the worker's thread.  If @func returns without
 * a result, the task is fulfilled with none, unless @func has called [method@PrioSched.Task.defer].
 *
 * With a wrong argument, the call logs a critical message, runs nothing, and does not call @notify.
 *
 * Any thread may call this function; @notify and the callbacks of waits for the task are called on the thread that runs
 * the main context of @scheduler.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_worker_run (PrioWorker *self, PrioScheduler *scheduler, const PrioTaskOptions *options, PrioTaskFunc func,
                 gpointer user_data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_WORKER), NULL);

  return prio_scheduler_run_in (scheduler, G_STRFUNC, options, self->inner->scheduler, func, user_data, notify);
}
