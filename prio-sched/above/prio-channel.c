/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-channel.c: values from any thread, for a function that runs on a main loop
 *
 * While there are values, a task takes them: its function is take (), and the task continues until none is left.  The
 * task is posted by the thread that gives the first value.  If it is dropped instead, because its signal is aborted or
 * its context ends, the channel ends.
 */

#include "config.h"

#include "prio-channel.h"

#include <glib/gi18n-lib.h>

#include "above/prio-thread-wait-private.h"
#include "base/prio-check-private.h"
#include "base/prio-clock-private.h"
#include "prio-engine.h"
#include "prio-error.h"
#include "prio-frame.h"
#include "prio-hooks.h"
#include "prio-thread-wait.h"

/* How long to wait for the next turn, µs. */
#define TURN 1000

/* A value: in a list of the channel, or with the function. */
typedef struct
{
  GList link;
  gpointer data;
  GDestroyNotify destroy;
  PrioTask *task; /* of prio_channel_give_task (), held while the value waits for a place; or NULL */
} Value;

/**
 * PrioChannel:
 *
 * Brings values from any thread to a function that runs on a main loop, without a queue that grows.
 *
 * A task for each value falls behind when threads are faster than the loop.  A channel has a capacity, and the thread
 * chooses for each value how it gets into a full channel:
 *
 * - [method@PrioSched.Channel.replace]: the oldest value goes.  With a capacity of 1 the newest value wins, as in a
 *   progress bar, a meter or a preview.
 * - [method@PrioSched.Channel.offer]: the value is refused.
 * - [method@PrioSched.Channel.give]: the thread waits for a place.  [method@PrioSched.Channel.give_task] lets a main
 *   loop wait.
 *
 * ```c
 * static void
 * show_progress (PrioChannel *channel, gpointer done, gpointer bar) // in the main loop, at most once a frame
 * {
 *   gtk_progress_bar_set_fraction (bar, *(double *) done);
 * }
 *
 * static gpointer
 * scan (gpointer channel) // in a thread
 * {
 *   for (guint i = 0; i < n_files; i++)
 *     {
 *       double done = (double) i / n_files;
 *
 *       scan_file (files[i]);
 *       prio_channel_replace (channel, g_memdup2 (&done, sizeof done), g_free);
 *     }
 *   prio_channel_close (channel);
 *   return NULL;
 * }
 *
 * channel = prio_channel_new (prio_scheduler_get_default (), NULL, 1, PRIO_CHANNEL_PACE_FRAME, show_progress,
 *                             g_object_ref (bar), g_object_unref);
 * ```
 *
 * Each value is released once: by the channel after the function has returned, or on the thread that replaces it, or
 * where it was refused.  An abort of the channel's signal, or the end of the main context, releases the values that
 * wait, and ends the channel.
 *
 * A channel keeps neither its scheduler nor its main context alive: if the scheduler is gone when a value comes, the
 * channel ends.  In C, include `<prio-sched-threads.h>`.  Languages other than C, Vala and Rust have a channel of the
 * same name and methods that takes their own values.  Any thread may use a channel.
 *
 * Since: 1.0
 */
struct _PrioChannel
{
  GObject parent_instance;

  GWeakRef scheduler;
  PrioLoop *loop;           /* held */
  PrioTaskOptions *options; /* or NULL */
  guint capacity;
  PrioChannelPace pace;
  PrioChannelFunc func;
  guint64 turn; /* the iteration that has called @func last; on the owner thread */

  /* Under prio_waits_lock: */
  gpointer user_data;
  GDestroyNotify notify; /* NULL once it has been called */
  GQueue values;      /* that wait for the function */
  GQueue outside;     /* values that wait for a place */
  guint n_held;       /* places of the value that the function has, and of tasks */
  gboolean is_posted; /* a task takes the values, or will */
  gboolean is_closed;
};

G_DEFINE_FINAL_TYPE (PrioChannel, prio_channel, G_TYPE_OBJECT)

static void
drop (gpointer object)
{
  prio_before_unref (object);
  g_object_unref (object);
}

static Value *
value_new (gpointer data, GDestroyNotify destroy)
{
  Value *self = g_new0 (Value, 1);

  *self = (Value) { .link.data = self, .data = data, .destroy = destroy };
  return self;
}

static void
value_free (Value *self)
{
  if (self->destroy != NULL)
    self->destroy (self->data);
  g_clear_pointer (&self->task, drop);
  g_free (self);
}

/* Moves all values into @to, which is empty. */
static void
move (GQueue *to, GQueue *from)
{
  *to = *from;
  g_queue_init (from);
}

static void
free_all (GQueue *values)
{
  while (values->length > 0)
    value_free (g_queue_pop_head_link (values)->data);
}

/* Makes the loop release the user data, once, if the channel is over. */
static void
finish (PrioChannel *self)
{
  GDestroyNotify notify = NULL;

  prio_lock_lock (&prio_waits_lock);
  if (self->is_closed && !self->is_posted)
    notify = g_steal_pointer (&self->notify);
  prio_lock_unlock (&prio_waits_lock);
  if (notify != NULL)
    prio_loop_call (self->loop, notify, self->user_data, FALSE);
}

static void
prio_channel_finalize (GObject *object)
{
  PrioChannel *self = PRIO_CHANNEL (object);

  prio_in_finalize (self);
  self->is_closed = TRUE;
  finish (self);
  g_clear_pointer (&self->loop, prio_loop_unref);
  g_weak_ref_clear (&self->scheduler);
  if (self->options != NULL)
    g_boxed_free (PRIO_TYPE_TASK_OPTIONS, self->options);
  G_OBJECT_CLASS (prio_channel_parent_class)->finalize (object);
}

static void
prio_channel_class_init (PrioChannelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = prio_channel_finalize;
}

static void
prio_channel_init (PrioChannel *self)
{
  g_weak_ref_init (&self->scheduler, NULL);
  self->is_closed = TRUE;
}

/* Returns the cancellable that ends the channel, or NULL. */
static GCancellable *
get_cancellable (PrioChannel *self)
{
  return self->options != NULL ? PRIO_CANCELLABLE_OF (self->options) : NULL;
}

/* Under the lock, as the functions from here to put (). */

static gboolean
is_closed (PrioChannel *self)
{
  self->is_closed |= g_cancellable_is_cancelled (get_cancellable (self));
  return self->is_closed;
}

static gboolean
has_place (PrioChannel *self)
{
  return self->values.length + (guint64) self->n_held < self->capacity;
}

static void post (PrioChannel *self);

static void
append (PrioChannel *self, Value *value, gboolean *posts)
{
  g_queue_push_tail_link (&self->values, &value->link);
  *posts |= !self->is_posted;
  self->is_posted = TRUE;
}

/* Adds @value, unless the channel is full or closed.  Returns whether it did. */
static gboolean
put (PrioChannel *self, Value *value)
{
  gboolean accepted, posts = FALSE;

  prio_lock_lock (&prio_waits_lock);
  accepted = !is_closed (self) && has_place (self) && self->outside.length == 0;
  if (accepted)
    append (self, value, &posts);
  prio_lock_unlock (&prio_waits_lock);
  if (posts)
    post (self);
  if (!accepted)
    finish (self);
  return accepted;
}

static GError *
closed_error (void)
{
  return g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The channel is closed"));
}

/* Lets values in to free places, after @n_places more have become free; or refuses them if the channel is closed. */
static void
let_in (PrioChannel *self, guint n_places)
{
  GQueue tasks = G_QUEUE_INIT, refused = G_QUEUE_INIT;
  gboolean posts = FALSE;
  PrioTask *task;

  prio_lock_lock (&prio_waits_lock);
  self->n_held -= n_places;
  if (is_closed (self))
    move (&refused, &self->outside);
  while (self->outside.length > 0 && has_place (self))
    {
      Value *value = g_queue_pop_head_link (&self->outside)->data;

      g_queue_push_tail (&tasks, g_steal_pointer (&value->task));
      append (self, value, &posts);
    }
  prio_lock_unlock (&prio_waits_lock);

  if (posts)
    post (self);
  for (; (task = g_queue_pop_head (&tasks)) != NULL; drop (task))
    prio_task_return_boolean (task, TRUE);
  for (GList *link = refused.head; link != NULL; link = link->next)
    prio_task_return_error (((Value *) link->data)->task, closed_error ());
  if (refused.length > 0)
    prio_thread_waits_look ();
  free_all (&refused);
}

/* Ends the channel, whose task has been dropped: releases the values that wait. */
static void
end (PrioChannel *self)
{
  GQueue values;

  prio_lock_lock (&prio_waits_lock);
  move (&values, &self->values);
  self->is_closed = TRUE;
  self->is_posted = FALSE;
  prio_lock_unlock (&prio_waits_lock);

  let_in (self, 0);
  free_all (&values);
  finish (self);
}

/* A call of take () that is queued. */
typedef struct
{
  PrioChannel *channel; /* held */
  gboolean has_come;
} Visit;

static void
visit_gone (gpointer data)
{
  Visit *visit = data;

  if (!visit->has_come)
    end (visit->channel);
  drop (visit->channel);
  g_free (visit);
}

static Visit *
visit_new (PrioChannel *channel)
{
  Visit *visit = g_new0 (Visit, 1);

  visit->channel = g_object_ref (channel);
  return visit;
}

/* Calls the function with the oldest value, which keeps its place meanwhile.  If there is none, the task is over. */
static gboolean
take_one (PrioChannel *self)
{
  Value *value = NULL;

  prio_lock_lock (&prio_waits_lock);
  self->is_posted = self->values.length > 0;
  if (self->is_posted)
    {
      value = g_queue_pop_head_link (&self->values)->data;
      self->n_held++;
    }
  prio_lock_unlock (&prio_waits_lock);
  if (value == NULL)
    return FALSE;

  self->func (self, value->data, self->user_data);
  value_free (value);
  let_in (self, 1);
  return TRUE;
}

/* Returns when to look for the next value, µs, or 0 for as soon as it is this task's turn. */
static gint64
next_visit (PrioChannel *self)
{
  gint64 now;

  if (self->pace == PRIO_CHANNEL_PACE_EACH)
    return 0;
  now = prio_clock_now ();
  return self->pace == PRIO_CHANNEL_PACE_FRAME ? prio_frame_after (self->loop, now) : now + TURN;
}

/* Runs the task.  After the last value it looks once more at the channel's pace, before the task ends: so a
 * value that comes meanwhile waits for its time. */
static void
take (PrioTask *task, gpointer data)
{
  Visit *visit = data;
  PrioChannel *self = visit->channel;
  guint64 turn = prio_observed_iteration (self->loop);
  gboolean is_paced = self->pace != PRIO_CHANNEL_PACE_EACH, goes_on, yields, more = TRUE;

  visit->has_come = TRUE;
  do
    {
      if (!is_paced || turn != self->turn)
        more = take_one (self);
      goes_on = prio_task_may_go_on (task, &yields);
    }
  while (more && goes_on && !yields && !is_paced);
  self->turn = turn;

  if (more && goes_on)
    prio_task_go_on (task, next_visit (self), take, visit_new (self), visit_gone);
  else if (more)
    end (self);
  else
    finish (self);
}

static void
post (PrioChannel *self)
{
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);
  PrioTask *task;

  if (scheduler == NULL)
    {
      end (self);
      return;
    }
  task = prio_scheduler_post_task (scheduler, self->options, take, visit_new (self), visit_gone);
  prio_task_set_program_func (task, (gpointer) self->func);
  drop (task);
}

/**
 * prio_channel_new: (skip)
 * @scheduler: the scheduler whose task calls @func
 * @options: (nullable): the options of this task, or %NULL for the defaults
 * @capacity: how many values wait or are in use at most; at least 1
 * @pace: how often @func is called
 * @func: (scope notified) (closure user_data) (destroy notify): called with each value
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Makes a channel.
 *
 * Its task has the priority of @options.  Their signal ends the channel, and a delay passes before the first value after
 * a pause is used: with [method@PrioSched.Channel.replace] several changes in this time become one.
 *
 * When the channel has ended, or is closed and has no values left, or when its last reference is dropped, @notify is
 * called on the thread that runs the scheduler's main context.  With a wrong argument it logs a critical message,
 * returns %NULL, and does not call @notify.  Any thread may call it.
 *
 * Returns: (transfer full): the channel
 *
 * Since: 1.0
 */
PrioChannel *
prio_channel_new (PrioScheduler *scheduler, const PrioTaskOptions *options, guint capacity, PrioChannelPace pace,
                  PrioChannelFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioChannel *self;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, scheduler, PRIO_TYPE_SCHEDULER), NULL);
  prio_return_val_if_wrong (prio_check_options (G_STRFUNC, options, func != NULL), NULL);
  g_return_val_if_fail (capacity > 0, NULL);
  g_return_val_if_fail (pace <= PRIO_CHANNEL_PACE_FRAME, NULL);

  self = g_object_new (PRIO_TYPE_CHANNEL, NULL);
  g_weak_ref_set (&self->scheduler, scheduler);
  self->loop = prio_loop_ref (prio_scheduler_get_loop (scheduler));
  self->options = options != NULL ? g_boxed_copy (PRIO_TYPE_TASK_OPTIONS, options) : NULL;
  self->capacity = capacity;
  self->pace = pace;
  self->func = func;
  self->user_data = user_data;
  self->notify = notify;
  self->is_closed = FALSE;
  return self;
}

/**
 * prio_channel_replace: (skip)
 * @self: a channel
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 *
 * Gives a value, in the place of the oldest waiting value if the channel is full.
 *
 * With a capacity of 1 the newest value wins.  The value that goes is released on the calling thread, before the call
 * returns.  A value that is in use stays.  It never blocks.  Any thread may call it.
 *
 * Returns: %FALSE if the channel is closed; then @value has been released
 *
 * Since: 1.0
 */
gboolean
prio_channel_replace (PrioChannel *self, gpointer value, GDestroyNotify destroy)
{
  Value *given, *old = NULL;
  gboolean accepted, posts = FALSE;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);

  given = value_new (value, destroy);
  prio_lock_lock (&prio_waits_lock);
  accepted = !is_closed (self);
  if (accepted)
    {
      if (self->values.length > 0 && !has_place (self))
        old = g_queue_pop_head_link (&self->values)->data;
      append (self, given, &posts);
    }
  prio_lock_unlock (&prio_waits_lock);

  if (posts)
    post (self);
  if (old != NULL || !accepted)
    value_free (accepted ? old : given);
  return accepted;
}

/**
 * prio_channel_offer: (skip)
 * @self: a channel
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 *
 * Gives a value if the channel has a place for it.
 *
 * ```c
 * if (!prio_channel_offer (preview, g_object_ref (picture), g_object_unref))
 *   n_skipped++;
 * ```
 *
 * Otherwise the value is released on the calling thread, before the call returns.  It never blocks.  Any thread may
 * call it.
 *
 * Returns: %FALSE if the channel is full or closed; then @value has been released
 *
 * Since: 1.0
 */
gboolean
prio_channel_offer (PrioChannel *self, gpointer value, GDestroyNotify destroy)
{
  Value *given;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);

  given = value_new (value, destroy);
  if (put (self, given))
    return TRUE;
  value_free (given);
  return FALSE;
}

/* Releases the value of @task, if it waits for a place. */
static void
take_back (PrioChannel *self, PrioTask *task)
{
  GList *link;

  prio_lock_lock (&prio_waits_lock);
  for (link = self->outside.head; link != NULL && ((Value *) link->data)->task != task; link = link->next)
    ;
  if (link != NULL)
    g_queue_unlink (&self->outside, link);
  prio_lock_unlock (&prio_waits_lock);
  if (link != NULL)
    value_free (link->data);
}

/* A task of prio_channel_give_task (), which may be aborted. */
typedef struct
{
  PrioChannel *channel; /* held */
  PrioTask *task;       /* held */
} Waiting;

/* Called when the task has completed, or at the end of the context. */
static void
waiting_gone (gpointer data)
{
  Waiting *waiting = data;

  take_back (waiting->channel, waiting->task);
  drop (waiting->channel);
  drop (waiting->task);
  g_free (waiting);
}

/* Makes @value wait for a place, and @task for that.  Releases the value, and returns FALSE, if the channel is closed. */
static gboolean
wait_outside (PrioChannel *self, PrioTask *task, Value *value)
{
  gboolean closed;
  Waiting *waiting;

  value->task = g_object_ref (task);
  prio_lock_lock (&prio_waits_lock);
  closed = is_closed (self);
  if (!closed)
    g_queue_push_tail_link (&self->outside, &value->link);
  prio_lock_unlock (&prio_waits_lock);
  if (closed)
    {
      prio_task_return_error (task, closed_error ());
      value_free (value);
      return FALSE;
    }

  waiting = g_new (Waiting, 1);
  *waiting = (Waiting) { g_object_ref (self), g_object_ref (task) };
  prio_task_when_over (task, waiting, waiting_gone);
  let_in (self, 0);
  return TRUE;
}

/**
 * prio_channel_give_task: (skip)
 * @self: a channel
 * @scheduler: the scheduler whose main context waits
 * @options: (nullable): the options of the task, or %NULL for the defaults
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 *
 * Gives a value, and returns a task that is fulfilled when the channel has a place for it.
 *
 * So a main loop can wait, the channel's or another: [method@PrioSched.Task.wait_async].  Values that wait get
 * places in the order of the calls.
 *
 * ```c
 * static void
 * read_next (GObject *source, GAsyncResult *result, gpointer user_data) // no faster than the channel
 * {
 *   Reader *reader = user_data;
 *   g_autoptr (PrioTask) task = NULL;
 *
 *   if (result != NULL && !prio_task_wait_finish (PRIO_TASK (source), result, NULL))
 *     return;
 *   task = prio_channel_give_task (reader->channel, reader->scheduler, NULL, read_line (reader), g_free);
 *   prio_task_wait_async (task, read_next, reader);
 * }
 * ```
 *
 * The task fails with %PRIO_ERROR_CLOSED if the channel is or gets closed.  If it is aborted while the value waits, the
 * value is released.  Any thread may call it.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_channel_give_task (PrioChannel *self, PrioScheduler *scheduler, const PrioTaskOptions *options, gpointer value,
                        GDestroyNotify destroy)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), NULL);

  task = prio_task_new (scheduler, options);
  if (task != NULL)
    wait_outside (self, task, value_new (value, destroy));
  return task;
}

/**
 * prio_channel_give: (skip)
 * @self: a channel
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 * @cancellable: (nullable): ends the wait
 * @error: return location for a `GError`
 *
 * Gives a value, and blocks the calling thread until the channel has a place for it.
 *
 * So a thread keeps the pace of the main loop.  Threads that wait get places in the order of their calls.
 *
 * ```c
 * while ((line = read_line (file)) != NULL && prio_channel_give (channel, line, g_free, NULL, &error))
 *   ;
 * ```
 *
 * It fails if the channel is or gets closed (%PRIO_ERROR_CLOSED), if @cancellable is cancelled, and if the wait would never
 * end (%G_IO_ERROR_WOULD_BLOCK): on the thread that runs the main context, or if that waits for the calling thread, as
 * in [method@PrioSched.Task.wait].  The value is released then.  Any thread may call it.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_channel_give (PrioChannel *self, gpointer value, GDestroyNotify destroy, GCancellable *cancellable, GError **error)
{
  g_autoptr (PrioScheduler) scheduler = NULL;
  PrioTask *task = NULL;
  gboolean accepted;
  Value *given;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  given = value_new (value, destroy);
  if (put (self, given))
    return TRUE;
  scheduler = g_weak_ref_get (&self->scheduler);
  if (scheduler == NULL)
    {
      value_free (given);
      g_propagate_error (error, closed_error ());
      return FALSE;
    }

  if (cancellable == NULL)
    cancellable = get_cancellable (self);
  task = prio_task_new (scheduler, &PRIO_TASK_OPTIONS (.cancellable = cancellable));
  /* It would keep the context alive meanwhile. */
  g_clear_object (&scheduler);
  accepted = wait_outside (self, task, given) && prio_task_wait (task, 0, error);
  if (!accepted)
    {
      if (error != NULL && *error == NULL)
        *error = closed_error ();
      take_back (self, task);
      prio_task_cancel (task);
    }
  drop (task);
  return accepted;
}

/* Called when the task has completed, or at the end of the context. */
static void
leave_held_place (gpointer channel)
{
  let_in (channel, 1);
  drop (channel);
}

/**
 * prio_channel_hold: (skip)
 * @self: a channel
 * @task: a task, such as one of a group
 *
 * Makes a value keep its place until a task has completed.  Call it in the channel's function.
 *
 * ```c
 * static void
 * found (PrioChannel *channel, gpointer path, gpointer group)
 * {
 *   g_autoptr (PrioTask) task = prio_task_group_run_in_thread (group, NULL, make_thumbnail, g_strdup (path), g_free);
 *
 *   prio_channel_hold (channel, task);
 * }
 * ```
 *
 * So the threads that give wait for the group, too: at most as many values as the capacity are on their way.  Call it
 * on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_channel_hold (PrioChannel *self, PrioTask *task)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL));
  prio_return_if_wrong (prio_check_type (G_STRFUNC, task, PRIO_TYPE_TASK));

  prio_lock_lock (&prio_waits_lock);
  self->n_held++;
  prio_lock_unlock (&prio_waits_lock);
  prio_task_when_over (task, g_object_ref (self), leave_held_place);
}

/**
 * prio_channel_get_length: (skip)
 * @self: a channel
 *
 * Gets how many values the channel has: the waiting values, the value in use, and values whose tasks keep a
 * place.  Any thread may call it.
 *
 * ```c
 * if (prio_channel_get_length (channel) == 0)
 *   lower_quality (camera); // the preview keeps up
 * ```
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
prio_channel_get_length (PrioChannel *self)
{
  guint length;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), 0);

  prio_lock_lock (&prio_waits_lock);
  length = self->values.length + self->n_held;
  prio_lock_unlock (&prio_waits_lock);
  return length;
}

/**
 * prio_channel_close: (skip)
 * @self: a channel
 *
 * Lets no more values in.  The function is called with the values that wait already.
 *
 * The waits of [method@PrioSched.Channel.give] fail with %PRIO_ERROR_CLOSED.  A second call does nothing.  Any
 * thread may call it, including the channel's function.
 *
 * Since: 1.0
 */
void
prio_channel_close (PrioChannel *self)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL));

  prio_lock_lock (&prio_waits_lock);
  self->is_closed = TRUE;
  prio_lock_unlock (&prio_waits_lock);
  let_in (self, 0);
  finish (self);
}
