/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-long-task.c: calls functions when a main loop was blocked for long */

#include "config.h"

#include "watch/prio-long-task-private.h"

#include "base/prio-check-private.h"
#include "base/prio-debug-private.h"
#include "watch/prio-environment-private.h"
#include "watch/prio-holding-private.h"

#define VARIABLE "PRIO_SCHED_LONG_TASKS"

/* The value of the environment variable, in ms: reports of at least this duration are logged.  0 if it is not set. */
static guint from_environment;

/* A function that the program has added. */
typedef struct
{
  guint id;
  PrioScheduler *scheduler; /* not owned; valid while this record is in the list */
  gint64 threshold;         /* µs */
  PrioLongTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  gboolean removed; /* atomic */
  gboolean is_observed; /* whether freeing this record removes the observer, because another thread removed @func */
} Watch;

/* Guards the list, which begins with the oldest function.  No other lock is taken while this lock is held. */
static PrioLock lock = PRIO_LOCK_INIT;
static GQueue watches = G_QUEUE_INIT;
static guint last_id;

static char *
to_sentence (const PrioHeld *held)
{
  gboolean is_task = held->priority != PRIO_TASK_PRIORITY_UNSET;
  g_autofree char *name = prio_debug_escape (held->name), *what = NULL;

  if (is_task && name != NULL)
    what = g_strdup_printf ("The task '%s' of priority %s", name, prio_priority_name (held->priority));
  else if (is_task)
    what = g_strdup_printf ("A task without a name, of priority %s,", prio_priority_name (held->priority));
  else if (name != NULL)
    what = g_strdup_printf (held->is_flood ? "In one iteration, %s" : "The source '%s'", name);
  else
    what = g_strdup (held->is_source ? "A source without a name" : "Something that is neither a task nor a known source");
  return g_strdup_printf ("%s held the main loop for %.1f ms", what, (double) held->duration / 1000);
}

static void
watch_clear (gpointer data)
{
  Watch *watch = data;

  if (watch->is_observed)
    prio_holding_observe (FALSE);
  if (watch->notify != NULL)
    watch->notify (watch->data);
}

static void
watch_unref (gpointer watch)
{
  g_atomic_rc_box_release_full (watch, watch_clear);
}

/* Returns the functions to call for @held, which has blocked @loop, the oldest first. */
static GPtrArray *
find_watches (PrioLoop *loop, const PrioHeld *held)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (watch_unref);

  prio_lock_lock (&lock);
  for (GList *link = watches.head; link != NULL; link = link->next)
    {
      Watch *watch = link->data;

      if (prio_scheduler_get_loop (watch->scheduler) == loop && held->duration >= watch->threshold)
        g_ptr_array_add (found, g_atomic_rc_box_acquire (watch));
    }
  prio_lock_unlock (&lock);
  return found;
}

static void
report (PrioLoop *loop, PrioHeld *held)
{
  g_autoptr (GPtrArray) found = find_watches (loop, held);
  g_autofree char *name = held->name != NULL ? g_utf8_make_valid (held->name, -1) : NULL;
  gboolean is_message = from_environment > 0 && held->duration >= (gint64) from_environment * 1000;

  if (is_message || (found->len > 0 && prio_is_debugging ()))
    {
      g_autofree char *sentence = to_sentence (held);

      g_log (G_LOG_DOMAIN, is_message ? G_LOG_LEVEL_MESSAGE : G_LOG_LEVEL_DEBUG, "%s", sentence);
    }
  for (guint i = 0; i < found->len; i++)
    {
      Watch *watch = found->pdata[i];

      if (!__atomic_load_n (&watch->removed, __ATOMIC_SEQ_CST))
        watch->func (name, held->priority, (double) held->duration / 1000, watch->data);
    }
  prio_held_free (held);
}

/* Sets the threshold of @loop to the smallest threshold of its functions and of the environment variable. */
static void
begin_to_watch (PrioLoop *loop, gpointer data G_GNUC_UNUSED)
{
  gint64 least = (gint64) from_environment * 1000;

  prio_lock_lock (&lock);
  for (GList *link = watches.head; link != NULL; link = link->next)
    {
      Watch *watch = link->data;

      if (prio_scheduler_get_loop (watch->scheduler) == loop && (least == 0 || watch->threshold < least))
        least = watch->threshold;
    }
  prio_lock_unlock (&lock);
  prio_holding_set (loop, least, report);
}

/* Updates the threshold of @loop after @watch was removed from the list, and frees @watch once no loop is entered. */
static void
forget (PrioLoop *loop, gpointer watch)
{
  begin_to_watch (loop, NULL);
  prio_loop_defer_release (loop, watch_unref, watch);
}

/* Removes the function @id of @self or, if @id is 0, any function of @self.  Returns FALSE if there is none. */
static gboolean
remove_watch (PrioScheduler *self, guint id)
{
  Watch *watch = NULL;
  gboolean is_here;

  prio_lock_lock (&lock);
  for (GList *link = watches.head; link != NULL && watch == NULL; link = link->next)
    {
      Watch *candidate = link->data;

      if (candidate->scheduler == self && (id == 0 || candidate->id == id))
        watch = candidate;
    }
  g_queue_remove (&watches, watch);
  prio_lock_unlock (&lock);
  if (watch == NULL)
    return FALSE;

  __atomic_store_n (&watch->removed, TRUE, __ATOMIC_SEQ_CST);
  /* The observer is removed after the loop has processed the removal: until then, the loop's PrioHolder may point to a
   * task, and only the observer notices the end of that task. */
  is_here = prio_observed_is_here (prio_scheduler_get_loop (self));
  watch->is_observed = !is_here;
  prio_observed_call (prio_scheduler_get_loop (self), forget, watch);
  if (is_here)
    prio_holding_observe (FALSE);
  return TRUE;
}

void
prio_scheduler_end_long_tasks (PrioScheduler *self)
{
  while (remove_watch (self, 0))
    ;
}

/**
 * prio_scheduler_add_long_task_func:
 * @self: a scheduler
 * @threshold: the shortest time to report, in milliseconds, at least 1; such as %PRIO_LONG_TASK_THRESHOLD
 * @func: (scope notified) (closure user_data) (destroy notify): the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Adds a function that is called after anything has blocked the scheduler's main context for @threshold milliseconds or
 * longer, so that no input was handled, and no frame drawn.
 *
 * ```c
 * static void
 * long_task (const char *name, PrioTaskPriority priority, double duration, gpointer user_data)
 * {
 *   g_printerr ("%s took %.0f ms\n", name != NULL ? name : "Something", duration);
 * }
 *
 * prio_scheduler_add_long_task_func (scheduler, PRIO_LONG_TASK_THRESHOLD, long_task, NULL, NULL);
 * ```
 *
 * A report may be about a task of any scheduler of the main context, with its microtasks and callbacks; another source;
 * all shorter sources of one iteration together; or unknown code, such as a destroy notify, or code between two
 * iterations of a program that iterates its main context itself.  A function does not block the main context while it
 * runs a nested main loop.
 *
 * @func is called soon afterwards, in the order of time, and is removed with
 * [method@PrioSched.Scheduler.remove_long_task_func], or when the scheduler is finalized.  @func and @notify are called
 * on the thread that runs the main context.
 *
 * As long as a scheduler has such a function, the library reads the clock when each task begins and ends.
 *
 * The environment variable `PRIO_SCHED_LONG_TASKS=50` logs every report of 50 milliseconds or longer, without a change
 * of the program.  Any thread may call this function.  On a thread that does not run the main context, the call takes
 * effect a little later.
 *
 * Returns: an id, for [method@PrioSched.Scheduler.remove_long_task_func]
 *
 * Since: 1.0
 */
guint
prio_scheduler_add_long_task_func (PrioScheduler *self, guint threshold, PrioLongTaskFunc func, gpointer user_data,
                                   GDestroyNotify notify)
{
  Watch *watch;
  guint id;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER), 0);
  g_return_val_if_fail (threshold > 0, 0);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL), 0);

  watch = g_atomic_rc_box_new0 (Watch);
  *watch = (Watch) {
    .scheduler = self,
    .threshold = (gint64) threshold * 1000,
    .func = func,
    .data = user_data,
    .notify = notify,
  };
  prio_lock_lock (&lock);
  id = watch->id = ++last_id;
  g_queue_push_tail (&watches, watch);
  prio_lock_unlock (&lock);

  prio_debug ("A scheduler reports everything that holds its main loop for %u ms", threshold);
  prio_holding_observe (TRUE);
  prio_observed_call (prio_scheduler_get_loop (self), begin_to_watch, NULL);
  return id;
}

/**
 * prio_scheduler_remove_long_task_func:
 * @self: a scheduler
 * @id: an id that [method@PrioSched.Scheduler.add_long_task_func] has returned
 *
 * Removes a function that was added for long tasks.
 *
 * After a call on the thread that runs the main context, the function is not called any more.  After a call on another
 * thread, the function may still be running.
 *
 * ```c
 * guint id = prio_scheduler_add_long_task_func (scheduler, PRIO_LONG_TASK_THRESHOLD, long_task, NULL, NULL);
 *
 * import_everything (importer);
 * prio_scheduler_remove_long_task_func (scheduler, id);
 * ```
 *
 * If the scheduler has no function with @id, a critical message is logged.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduler_remove_long_task_func (PrioScheduler *self, guint id)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER));

  if (id == 0 || !remove_watch (self, id))
    g_critical ("%s(): the scheduler has no function for long tasks with the id %u", G_STRFUNC, id);
}

static gpointer
read_environment (gpointer data G_GNUC_UNUSED)
{
  const char *text = prio_environment_get (VARIABLE);
  guint64 threshold = 0;

  prio_loop_add_leaf_lock (&lock);
  if (text == NULL || *text == '\0')
    return NULL;
  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &threshold, NULL))
    g_warning (VARIABLE ": '%s' is not a number of milliseconds", text);
  from_environment = (guint) threshold;
  if (from_environment > 0)
    prio_holding_observe (TRUE);
  return NULL;
}

/* Watches a new scheduler's loop if the environment variable is set.  The caller has entered no loop. */
void
prio_scheduler_watch_from_environment (PrioScheduler *self)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, read_environment, NULL);
  if (from_environment > 0)
    prio_observed_call (prio_scheduler_get_loop (self), begin_to_watch, NULL);
}
