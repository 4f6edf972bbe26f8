/* prio-long-task.c: what holds a main loop for long
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-long-task-private.h"

#include "base/prio-debug-private.h"
#include "base/prio-environment-private.h"
#include "scheduler/prio-scheduler-private.h"
#include "watch/prio-holding-private.h"
#include "watch/prio-scheduler-list-private.h"

#define VARIABLE "PRIO_SCHED_LONG_TASKS"

/* What the environment sets, ms, and whether each long task is a message. */
static guint from_environment;

static guint signal_id;

G_DEFINE_BOXED_TYPE (PrioLongTask, prio_long_task, prio_long_task_copy, prio_long_task_free)

/**
 * prio_long_task_copy: (skip)
 * @task: a record
 *
 * Copies a record.  Any thread may call it.
 *
 * ```c
 * g_autoptr (GPtrArray) tasks = prio_scheduler_get_longest_tasks (scheduler);
 *
 * g_clear_pointer (&worst, prio_long_task_free);
 * if (tasks->len > 0)
 *   worst = prio_long_task_copy (tasks->pdata[0]);
 * ```
 *
 * Returns: (transfer full): the copy, for [method@PrioSched.LongTask.free]
 *
 * Since: 1.0
 */
PrioLongTask *
prio_long_task_copy (const PrioLongTask *task)
{
  PrioLongTask *copy;

  g_return_val_if_fail (task != NULL, NULL);

  copy = g_memdup2 (task, sizeof *task);
  copy->name = g_strdup (task->name);
  return copy;
}

/**
 * prio_long_task_free: (skip)
 * @task: (transfer full): a record
 *
 * Frees a record.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_long_task_free (PrioLongTask *task)
{
  g_return_if_fail (task != NULL);

  g_free ((char *) task->name);
  g_free (task);
}

/* What the log says of @held. */
static char *
to_sentence (const PrioHeld *held)
{
  double ms = (double) held->duration / 1000;
  g_autofree char *name = prio_debug_escape (held->name);

  if (held->priority != PRIO_PRIORITY_UNSET && name != NULL)
    return g_strdup_printf ("The task '%s' of priority %s held the main loop for %.1f ms", name,
                            prio_priority_name (held->priority), ms);
  if (held->priority != PRIO_PRIORITY_UNSET)
    return g_strdup_printf ("A task without a name, of priority %s, held the main loop for %.1f ms",
                            prio_priority_name (held->priority), ms);
  if (held->is_source && name != NULL)
    return g_strdup_printf ("The source '%s' held the main loop for %.1f ms", name, ms);
  if (held->is_source)
    return g_strdup_printf ("A source without a name held the main loop for %.1f ms", ms);
  return g_strdup_printf ("Something that is neither a task nor a known source held the main loop for %.1f ms", ms);
}

static gint64
get_threshold (PrioScheduler *self)
{
  return __atomic_load_n (&self->long_task_threshold, __ATOMIC_SEQ_CST);
}

/* Whether @self wants to hear of @held. */
static gboolean
watches (PrioScheduler *self, gconstpointer held)
{
  gint64 threshold = get_threshold (self);

  return self->run_queue->loop == ((const PrioHeld *) held)->loop && threshold != 0 &&
         ((const PrioHeld *) held)->duration >= threshold;
}

/* Outside, in the main context that was held: takes @held. */
void
prio_long_task_held (PrioHeld *held)
{
  g_autoptr (GPtrArray) told = prio_schedulers_find (watches, held);
  g_autofree char *name = held->name != NULL ? g_utf8_make_valid (held->name, -1) : NULL;

  if (told->len > 0 && (from_environment > 0 || prio_is_debugging ()))
    {
      g_autofree char *sentence = to_sentence (held);

      g_log (G_LOG_DOMAIN, from_environment > 0 ? G_LOG_LEVEL_MESSAGE : G_LOG_LEVEL_DEBUG, "%s", sentence);
    }
  for (guint i = 0; i < told->len; i++)
    g_signal_emit (told->pdata[i], signal_id, 0, name, held->priority, held->duration);
  prio_held_free (held);
}

static void
op_watch (PrioLoop *loop, const PrioOp *op G_GNUC_UNUSED)
{
  prio_holding_set (loop, prio_schedulers_get_threshold (loop));
}

/* Returns whether that is a change. */
static gboolean
set_threshold (PrioScheduler *self, gint64 threshold)
{
  gint64 before = __atomic_exchange_n (&self->long_task_threshold, threshold, __ATOMIC_SEQ_CST);

  if (before == threshold)
    return FALSE;
  if (before == 0)
    prio_holding_observe (TRUE);
  prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = op_watch });
  if (threshold == 0)
    prio_holding_observe (FALSE);
  return TRUE;
}

/* @self ends. */
void
prio_scheduler_end_long_tasks (PrioScheduler *self)
{
  set_threshold (self, 0);
}

/**
 * prio_scheduler_set_long_task_threshold: (set-property long-task-threshold)
 * @self: a scheduler
 * @threshold: milliseconds, such as %PRIO_LONG_TASK_THRESHOLD; 0 to watch no longer
 *
 * Sets how long something has to hold the scheduler's main context to be reported.
 *
 * See [signal@PrioSched.Scheduler::long-task].  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_long_task_threshold (PrioScheduler *self, guint threshold)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));

  if (!set_threshold (self, (gint64) threshold * 1000))
    return;
  if (threshold > 0)
    prio_debug ("A scheduler watches for what holds its main loop for %u ms", threshold);
  else
    prio_debug ("A scheduler watches no longer for what holds its main loop");
  g_object_notify (G_OBJECT (self), "long-task-threshold");
}

/**
 * prio_scheduler_get_long_task_threshold: (get-property long-task-threshold)
 * @self: a scheduler
 *
 * Gets how long something has to hold the scheduler's main context to be reported.  Any thread may call it.
 *
 * ```c
 * // Unless the user has set another one by PRIO_SCHED_LONG_TASKS.
 * if (prio_scheduler_get_long_task_threshold (scheduler) == 0)
 *   prio_scheduler_set_long_task_threshold (scheduler, PRIO_LONG_TASK_THRESHOLD);
 * ```
 *
 * Returns: milliseconds, or 0 if the scheduler does not watch
 *
 * Since: 1.0
 */
guint
prio_scheduler_get_long_task_threshold (PrioScheduler *self)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);

  return (guint) (get_threshold (self) / 1000);
}

static PrioLongTask *
task_of (const PrioLongest *longest)
{
  PrioLongTask *task = g_new (PrioLongTask, 1);

  *task = (PrioLongTask) {
    .name = *longest->name != '\0' ? g_utf8_make_valid (longest->name, -1) : NULL,
    .priority = longest->priority,
    .longest = longest->longest,
    .ended = longest->ended,
    .total = longest->total,
    .n_runs = longest->n_runs,
  };
  return task;
}

/**
 * prio_scheduler_get_longest_tasks:
 * @self: a scheduler
 *
 * Gets what has held the scheduler's main context for the longest, by name: tasks of all its schedulers, and its other sources.
 *
 * Each run counts, however short, while a scheduler of the main context watches: its
 * [property@PrioSched.Scheduler:long-task-threshold] is not 0.  What has run before is not known.  The 32 names with the longest
 * runs are kept, and one that was left out counts anew.
 *
 * ```c
 * g_autoptr (GPtrArray) tasks = prio_scheduler_get_longest_tasks (scheduler);
 *
 * for (guint i = 0; i < tasks->len; i++)
 *   {
 *     const PrioLongTask *task = tasks->pdata[i];
 *
 *     g_print ("%s: %.1f ms\n", task->name, task->longest / 1000.0);
 *   }
 * ```
 *
 * Any thread may call it.
 *
 * Returns: (transfer container) (element-type PrioLongTask): the records, the longest first; in C they are freed with the array
 *
 * Since: 1.0
 */
GPtrArray *
prio_scheduler_get_longest_tasks (PrioScheduler *self)
{
  PrioLongest longest[PRIO_N_HOLDERS];
  GPtrArray *tasks;
  guint n;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  n = prio_holding_get (self->run_queue->loop, longest);
  tasks = g_ptr_array_new_full (n, (GDestroyNotify) prio_long_task_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (tasks, task_of (&longest[i]));
  return tasks;
}

static gpointer
read_environment (gpointer data G_GNUC_UNUSED)
{
  const char *text = prio_environment_get (VARIABLE);
  guint64 threshold = 0;

  if (text == NULL || *text == '\0')
    return NULL;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &threshold, NULL))
    from_environment = (guint) threshold;
  else
    g_warning (VARIABLE ": '%s' is not a number of milliseconds", text);
  return NULL;
}

/* Called with each new scheduler, outside. */
void
prio_scheduler_watch_from_environment (PrioScheduler *self)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, read_environment, NULL);
  if (from_environment > 0)
    set_threshold (self, (gint64) from_environment * 1000);
}

/* Adds the signal to the class.  Returns: (transfer full): its property */
GParamSpec *
prio_scheduler_make_long_task (GType type)
{
  /**
   * PrioScheduler::long-task:
   * @self: the scheduler
   * @name: (nullable): the task's name; the name of another source ([method@GLib.Source.set_name]) or, if it has none of its own, of
   *   its callback's function, which may be `FILE+0xADDRESS`, as `addr2line -f` takes it; %NULL if nothing of that is known
   * @priority: the task's own [enum@PrioSched.TaskPriority]; %PRIO_PRIORITY_UNSET for anything that is not a task
   * @duration: how long it took, in microseconds
   *
   * Something has held the scheduler's main context for as long as [property@PrioSched.Scheduler:long-task-threshold], or
   * longer: no input was handled meanwhile, and no frame drawn.  It is emitted as soon as that is over, on the thread that runs the
   * main context, in the order of time.
   *
   * Each scheduler of the main context that watches reports it: a task of any of them, with its microtasks and
   * callbacks; another source; or nobody knows who, which may be a destroy notify, or code between two iterations of a
   * program that iterates its main context itself.  What runs a main loop does not hold its main context meanwhile.
   *
   * ```c
   * static void
   * long_task (PrioScheduler *scheduler, const char *name, gint priority, gint64 duration, gpointer user_data)
   * {
   *   g_printerr ("%s took %.0f ms\n", name != NULL ? name : "Something", duration / 1000.0);
   * }
   *
   * prio_scheduler_set_long_task_threshold (scheduler, PRIO_LONG_TASK_THRESHOLD);
   * g_signal_connect (scheduler, "long-task", G_CALLBACK (long_task), NULL);
   * ```
   *
   * Since: 1.0
   */
  signal_id = g_signal_new ("long-task", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3, G_TYPE_STRING,
                            G_TYPE_INT, G_TYPE_INT64);

  /**
   * PrioScheduler:long-task-threshold: (getter get_long_task_threshold) (setter set_long_task_threshold)
   *
   * How long something has to hold the main context to be reported by [signal@PrioSched.Scheduler::long-task], and by a
   * debug message in the domain `PrioSched`, in milliseconds; 0, which is the default, if nothing is watched.
   *
   * The environment variable `PRIO_SCHED_LONG_TASKS` sets it for all schedulers of a program, and has the messages
   * printed: `PRIO_SCHED_LONG_TASKS=50`.
   *
   * While a scheduler watches, the library looks at the clock when each task begins and ends.  Otherwise this costs
   * nothing.
   *
   * Since: 1.0
   */
  return g_param_spec_uint ("long-task-threshold", NULL, NULL, 0, G_MAXUINT, 0,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}
