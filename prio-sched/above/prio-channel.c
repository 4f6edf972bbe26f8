/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-channel.c: brings values from any thread to a function that runs on a main loop
 *
 * A task calls the function with each value, until no value is left.  A thread that gives a value while no task is
 * posted posts one.  If the task is aborted by its signal or its context is destroyed, the channel ends. */

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

/* With PRIO_CHANNEL_PACE_TURN, how often the task checks whether an iteration of the main loop has begun, in µs. */
#define TURN 1000

typedef struct _Giver Giver;

/* A value in a queue of the channel, or passed to the function. */
typedef struct
{
  GList link; /* must be the first field, so that a link can be cast to its value; @link.data is not used */
  gpointer data;
  GDestroyNotify destroy;
  /* Set only for a value that may wait until the channel is not full: */
  PrioTask *task; /* the task of prio_channel_post_value (), owned, or NULL */
  Giver *giver;   /* the thread in prio_channel_give (), or NULL */
} Value;

/* A thread that waits until the channel is not full; guarded by prio_waits_lock. */
struct _Giver
{
  PrioChannel *channel; /* owned by the caller */
  Value *value;         /* NULL after the value was added to the channel, or refused */
  gboolean is_accepted;
};

/**
 * PrioChannel:
 *
 * Brings values from any thread to a function that runs on a main loop, without a queue that grows.
 *
 * If threads post a task for each value, a slower main loop falls behind.  A channel has a capacity, and the thread
 * chooses for each value how the value gets into a full channel:
 *
 * - [method@PrioSched.Channel.replace]: the value replaces the oldest one.  With a capacity of 1 the newest value wins,
 *   as in a progress bar, a meter or a preview.
 * - [method@PrioSched.Channel.offer]: the value is refused.
 * - [method@PrioSched.Channel.give]: the thread waits until the channel is not full.
 *   [method@PrioSched.Channel.post_value] lets a main loop wait without blocking.
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
 * Each value is released once: by the channel after the function has returned, or by the call that replaces or refuses
 * the value.  An abort of the channel's signal, or the end of the main context, releases the waiting values, and ends
 * the channel.  If no value is waiting, the channel ends when the next value comes.
 *
 * A channel keeps neither its scheduler nor its main context alive.  If the scheduler was finalized when a value comes,
 * the channel ends.  In C, include `<prio-sched-threads.h>`.  Languages other than C, Vala and Rust have a channel with
 * the same name and methods, for their own values.  Any thread may use a channel.
 *
 * Since: 1.0
 */
struct _PrioChannel
{
  GObject parent_instance;

  GWeakRef scheduler;
  PrioLoop *loop;           /* owned */
  PrioTaskOptions *options; /* or NULL */
  GCancellable *signal;     /* the signal in @options, or NULL */
  guint capacity;
  PrioChannelPace pace;
  PrioChannelFunc func;
  guint64 turn; /* the last iteration of the main loop in which @func was called; used only by the task */

  Value *newest; /* the value that waits for the function, if @capacity is 1; see replace_newest () */

  /* Guarded by prio_waits_lock: */
  gpointer user_data;
  GDestroyNotify notify;  /* NULL once it has been called */
  GQueue values;          /* values that wait for the function, if @capacity is more than 1 */
  GQueue outside;         /* values that wait until the channel is not full */
  guint n_held;           /* values in use, and values whose tasks have not completed (prio_channel_hold_place ()) */
  gboolean is_posted;     /* whether a task for the values was posted, and has not ended */
  gboolean is_unfinished; /* whether this task still has to check that no value is left */
  gint is_closed;         /* atomic; set under the lock */
};

G_DEFINE_FINAL_TYPE (PrioChannel, prio_channel, G_TYPE_OBJECT)

static void post (gpointer data);

static void
value_free (Value *self)
{
  if (self->destroy != NULL)
    self->destroy (self->data);
  g_clear_pointer (&self->task, prio_object_unref);
  g_free (self);
}

static Value *
value_new (Value value)
{
  return g_memdup2 (&value, sizeof value);
}

static GError *
closed_error (void)
{
  return g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The channel is closed"));
}

/* The callers of the functions from here to append () hold prio_waits_lock. */

static gboolean
is_closed (PrioChannel *self)
{
  if (g_cancellable_is_cancelled (self->signal))
    g_atomic_int_set (&self->is_closed, TRUE);
  return self->is_closed;
}

static guint64
count (PrioChannel *self)
{
  return self->values.length + (__atomic_load_n (&self->newest, __ATOMIC_RELAXED) != NULL) + (guint64) self->n_held;
}

static gboolean
has_place (PrioChannel *self)
{
  return count (self) < self->capacity;
}

static Value *
remove_oldest (PrioChannel *self)
{
  if (self->capacity == 1)
    return __atomic_exchange_n (&self->newest, NULL, __ATOMIC_ACQUIRE);
  return (Value *) g_queue_pop_head_link (&self->values);
}

/* Appends @value.  Returns whether the caller has to post the task. */
static gboolean
append (PrioChannel *self, Value *value)
{
  gboolean posts = !self->is_posted;

  if (self->capacity == 1)
    __atomic_store_n (&self->newest, value, __ATOMIC_RELEASE);
  else
    g_queue_push_tail_link (&self->values, &value->link);
  self->is_posted = TRUE;
  return posts;
}

/* Moves values from @outside into the channel after @n_places have become free, or refuses these values if the channel
 * is closed.  After the last value of a closed channel, makes the loop release the user data. */
static void
update (PrioChannel *self, guint n_places)
{
  Value *value;

  do
    {
      GDestroyNotify notify = NULL;
      gboolean refuses, posts = FALSE;
      PrioTask *task = NULL;

      prio_lock_lock (&prio_waits_lock);
      self->n_held -= n_places;
      n_places = 0;
      refuses = is_closed (self);
      value = refuses || has_place (self) ? (Value *) g_queue_pop_head_link (&self->outside) : NULL;
      if (value != NULL)
        {
          Giver *giver = g_steal_pointer (&value->giver);

          task = g_steal_pointer (&value->task);
          refuses |= task != NULL && prio_task_is_over (task);
          posts = !refuses && append (self, value);
          if (giver != NULL)
            *giver = (Giver) { .channel = self, .is_accepted = !refuses };
        }
      else if (refuses && !self->is_posted && count (self) == 0)
        {
          notify = g_steal_pointer (&self->notify);
        }
      prio_lock_unlock (&prio_waits_lock);

      if (posts)
        post (g_object_ref (self));
      if (value != NULL && refuses)
        value_free (value);
      if (value != NULL)
        prio_thread_waits_look (NULL);
      if (task != NULL && refuses)
        prio_task_return_error (task, closed_error ());
      else if (task != NULL)
        prio_task_return_boolean (task, TRUE);
      g_clear_pointer (&task, prio_object_unref);
      if (notify != NULL)
        prio_loop_call (self->loop, notify, self->user_data, FALSE);
    }
  while (value != NULL);
}

/* Adds a value.  If the channel is full, replaces the oldest value if @replaces, moves a value that may wait to
 * @outside, or releases @value.  Returns whether the value was added.  Takes ownership of @value. */
static gboolean
add (PrioChannel *self, Value *value, gboolean replaces)
{
  gboolean accepted, is_full, posts = FALSE;
  Value *old = NULL;

  prio_lock_lock (&prio_waits_lock);
  is_full = !has_place (self);
  accepted = !is_closed (self) && (replaces || !(is_full || self->outside.length > 0 || value->task != NULL));
  if (accepted)
    {
      old = is_full ? remove_oldest (self) : NULL;
      value->giver = NULL;
      posts = append (self, value);
    }
  else if (value->task != NULL || value->giver != NULL)
    {
      g_queue_push_tail_link (&self->outside, &value->link);
      if (value->giver != NULL)
        value->giver->value = value;
    }
  else
    {
      old = value;
    }
  prio_lock_unlock (&prio_waits_lock);

  if (posts)
    post (g_object_ref (self));
  else if (!accepted)
    update (self, 0);
  g_clear_pointer (&old, value_free);
  return accepted;
}

/* Replaces the newest value without the lock, and takes ownership of @value.  Returns FALSE, and takes nothing, if
 * @newest is NULL, or the channel is closed: then the caller calls add ().  If another thread replaces the value first,
 * waits for a moment, because threads that write the same memory slow each other down. */
static gboolean
replace_newest (PrioChannel *self, Value *value)
{
  Value *old = __atomic_load_n (&self->newest, __ATOMIC_RELAXED);

  if (g_atomic_int_get (&self->is_closed) || g_cancellable_is_cancelled (self->signal))
    return FALSE;

  while (old != NULL
         && !__atomic_compare_exchange_n (&self->newest, &old, value, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    for (guint i = 0; i < 100; i++)
      prio_lock_relax ();
  if (old == NULL)
    return FALSE;
  value_free (old);
  return TRUE;
}

/* Calls the function with the oldest value, which still counts toward the capacity.  Returns FALSE if there is none. */
static gboolean
take_one (PrioChannel *self)
{
  Value *value;

  prio_lock_lock (&prio_waits_lock);
  value = remove_oldest (self);
  if (value != NULL)
    self->n_held++;
  self->is_unfinished = value != NULL;
  prio_lock_unlock (&prio_waits_lock);
  if (value == NULL)
    return FALSE;

  self->func (self, value->data, self->user_data);
  value_free (value);
  update (self, 1);
  return TRUE;
}

/* Handles values.  After the last value, the task checks once more, at the channel's pace, before it ends.  So a value
 * that comes before that check is not handled too early. */
static void
take (PrioTask *task, gpointer data)
{
  PrioChannel *self = data;
  guint64 turn = prio_observed_iteration (self->loop);
  gboolean is_paced = self->pace != PRIO_CHANNEL_PACE_EACH, goes_on, yields, more = TRUE;
  gint64 due = 0;

  do
    {
      if (!is_paced || turn != self->turn)
        more = take_one (self);
      goes_on = prio_task_may_go_on (task, &yields);
    }
  while (more && goes_on && !yields && !is_paced);
  self->turn = turn;
  if (!more || !goes_on)
    return;

  if (self->pace == PRIO_CHANNEL_PACE_TURN)
    due = prio_clock_now () + TURN;
  if (self->pace == PRIO_CHANNEL_PACE_FRAME)
    due = prio_frame_after (self->loop, prio_clock_now ());
  prio_task_go_on (task, due, take, g_object_ref (self), prio_object_unref);
}

/* Posts a task if values wait.  Called for the first value, and when a task has ended.  If the task was aborted, or
 * there is no scheduler, closes the channel, and moves the values to @outside, where update () refuses them.  Takes
 * ownership of the reference to the channel @data. */
static void
post (gpointer data)
{
  PrioChannel *self = data;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);
  Value *value;
  gboolean posts;

  prio_lock_lock (&prio_waits_lock);
  if (scheduler == NULL || self->is_unfinished)
    {
      g_atomic_int_set (&self->is_closed, TRUE);
      while ((value = remove_oldest (self)) != NULL)
        g_queue_push_tail_link (&self->outside, &value->link);
    }
  posts = count (self) > self->n_held;
  self->is_posted = self->is_unfinished = posts;
  prio_lock_unlock (&prio_waits_lock);

  if (posts)
    {
      PrioTask *task = prio_scheduler_post_task (scheduler, self->options, take, self, post);

      prio_task_set_program_func (task, (gpointer) self->func);
      prio_object_unref (task);
      return;
    }
  update (self, 0);
  prio_object_unref (self);
}

static void
prio_channel_finalize (GObject *object)
{
  PrioChannel *self = PRIO_CHANNEL (object);

  prio_in_finalize (self);
  g_atomic_int_set (&self->is_closed, TRUE);
  update (self, 0);
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

/**
 * prio_channel_new: (skip)
 * @scheduler: the scheduler whose task calls @func
 * @options: (nullable): the options of the task, or %NULL for the defaults
 * @capacity: the largest number of values that wait or are in use; at least 1
 * @pace: how often @func is called
 * @func: (scope notified) (closure user_data) (destroy notify): called with each value
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Creates a channel.
 *
 * The task that calls @func has the priority in @options.  An abort of the signal in @options ends the channel.  If
 * @options has a delay, a value that comes when none waits is handled after the delay.  So several calls of
 * [method@PrioSched.Channel.replace] during the delay result in one call of @func, if @capacity is 1.
 *
 * When the channel has ended, or is closed and has no values left, or when its last reference is dropped, @notify is
 * called on the thread that runs the scheduler's main context.  With a wrong argument, the call logs a critical
 * message, returns %NULL, and does not call @notify.  Any thread may call this function.
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
  self->signal = options != NULL ? PRIO_CANCELLABLE_OF (options) : NULL;
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
 * Gives a value.  If the channel is full, @value replaces the oldest waiting value, if there is one.
 *
 * With a capacity of 1 the newest value wins.  The replaced value is released on the calling thread, before the call
 * returns.  A value in use is not replaced: @value waits.  The call never blocks.  Any thread may call this function.
 *
 * Returns: %FALSE if the channel is closed; then @value has been released
 *
 * Since: 1.0
 */
gboolean
prio_channel_replace (PrioChannel *self, gpointer value, GDestroyNotify destroy)
{
  Value *given;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);

  given = value_new ((Value) { .data = value, .destroy = destroy });
  return replace_newest (self, given) || add (self, given, TRUE);
}

/**
 * prio_channel_offer: (skip)
 * @self: a channel
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 *
 * Gives a value if the channel is not full.
 *
 * ```c
 * if (!prio_channel_offer (preview, g_object_ref (picture), g_object_unref))
 *   n_skipped++;
 * ```
 *
 * If the channel is full or closed, the value is released on the calling thread, before the call returns.  The call
 * never blocks.  Any thread may call this function.
 *
 * Returns: %FALSE if the channel is full or closed; then @value has been released
 *
 * Since: 1.0
 */
gboolean
prio_channel_offer (PrioChannel *self, gpointer value, GDestroyNotify destroy)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);

  return add (self, value_new ((Value) { .data = value, .destroy = destroy }), FALSE);
}

/**
 * prio_channel_post_value: (skip)
 * @self: a channel
 * @scheduler: the scheduler whose main context waits
 * @options: (nullable): the task's options, or %NULL; a delay or a timeout is refused
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 *
 * Gives a value without blocking, and returns a task that is fulfilled when the channel has accepted the value.
 *
 * While the channel is full, the value waits outside of it.  Such values are accepted in the order of the calls.  Any
 * main loop, even the channel's, can wait for the task with [method@PrioSched.Task.wait_async].
 *
 * ```c
 * static void
 * read_next (GObject *source, GAsyncResult *result, gpointer user_data) // no faster than the channel
 * {
 *   Reader *reader = user_data;
 *   g_autoptr (PrioTask) task = NULL;
 *
 *   if (result != NULL && !prio_task_wait_finish (PRIO_TASK (result), result, NULL))
 *     return;
 *   task = prio_channel_post_value (reader->channel, reader->scheduler, NULL, read_line (reader), g_free);
 *   prio_task_wait_async (task, NULL, read_next, reader);
 * }
 * ```
 *
 * The task fails with %PRIO_ERROR_CLOSED if the channel is closed before it accepts the value.  If the task is aborted
 * while the value waits, the channel releases the value instead of accepting it.  Any thread may call this function.
 *
 * Returns: (transfer full): the task; %NULL, with a critical message, for a wrong argument: @value is not released then
 *
 * Since: 1.0
 */
PrioTask *
prio_channel_post_value (PrioChannel *self, PrioScheduler *scheduler, const PrioTaskOptions *options, gpointer value,
                         GDestroyNotify destroy)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), NULL);

  task = prio_task_new (scheduler, options);
  if (task != NULL)
    add (self, value_new ((Value) { .data = value, .destroy = destroy, .task = g_object_ref (task) }), FALSE);
  return task;
}

static gboolean
is_answered (gpointer data)
{
  Giver *giver = data;

  return giver->value == NULL || is_closed (giver->channel);
}

/**
 * prio_channel_give: (skip)
 * @self: a channel
 * @value: (nullable): the value
 * @destroy: (nullable): releases @value
 * @cancellable: (nullable): ends the wait
 * @error: return location for a `GError`
 *
 * Gives a value, and blocks the calling thread while the channel is full.
 *
 * So a thread does not get ahead of the main loop.  Values of waiting threads are added in the order of the calls.
 *
 * ```c
 * while ((line = read_line (file)) != NULL && prio_channel_give (channel, line, g_free, NULL, &error))
 *   ;
 * ```
 *
 * The call fails with %PRIO_ERROR_CLOSED if the channel is closed, even during the wait; with the reason of the
 * abort if @cancellable is cancelled during the wait; and with %G_IO_ERROR_WOULD_BLOCK if the wait would never end: see
 * [method@PrioSched.Task.wait].  On failure the value is released.  Any thread may call this function.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_channel_give (PrioChannel *self, gpointer value, GDestroyNotify destroy, GCancellable *cancellable, GError **error)
{
  Giver giver = { .channel = self };
  g_autoptr (GError) wrong = NULL;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (add (self, value_new ((Value) { .data = value, .destroy = destroy, .giver = &giver }), FALSE))
    return TRUE;
  prio_thread_wait (self->loop, G_MAXINT64, self->signal, cancellable, is_answered, &giver, &wrong);
  prio_lock_lock (&prio_waits_lock);
  if (giver.value != NULL)
    g_queue_unlink (&self->outside, &giver.value->link);
  /* Closes the channel if there is neither an answer nor an error, because the main loop has ended then. */
  if (giver.value != NULL && wrong == NULL)
    g_atomic_int_set (&self->is_closed, TRUE);
  prio_lock_unlock (&prio_waits_lock);
  g_clear_pointer (&giver.value, value_free);
  if (!giver.is_accepted)
    g_propagate_error (error, wrong != NULL ? g_steal_pointer (&wrong) : closed_error ());
  return giver.is_accepted;
}

/* Frees a place in the channel.  Called when the task has completed, or at the end of the context. */
static void
leave_held_place (gpointer channel)
{
  update (channel, 1);
  prio_object_unref (channel);
}

/**
 * prio_channel_hold_place: (skip)
 * @self: a channel
 * @task: a task, such as one of a group
 *
 * Makes the value in use count toward the capacity until @task has completed.  Call this function in the channel's
 * function.
 *
 * ```c
 * static void
 * found (PrioChannel *channel, gpointer path, gpointer group)
 * {
 *   g_autoptr (PrioTask) task = prio_task_group_run_in_thread (group, NULL, make_thumbnail, g_strdup (path), g_free);
 *
 *   prio_channel_hold_place (channel, task);
 * }
 * ```
 *
 * So threads that give values also wait for such tasks.  Call this function on the thread that runs the scheduler's
 * main context.
 *
 * Since: 1.0
 */
void
prio_channel_hold_place (PrioChannel *self, PrioTask *task)
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
 * Gets how many values the channel has: the waiting values, the value in use, and one for each call of
 * [method@PrioSched.Channel.hold_place] whose task has not completed.  Any thread may call this function.
 *
 * ```c
 * if (prio_channel_get_length (channel) == 0)
 *   raise_quality (camera); // the preview keeps up
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
  length = count (self);
  prio_lock_unlock (&prio_waits_lock);
  return length;
}

/**
 * prio_channel_close: (skip)
 * @self: a channel
 *
 * Closes the channel to further values.  The function is still called with the values that the channel has accepted.
 *
 * Waiting calls of [method@PrioSched.Channel.give], and tasks of [method@PrioSched.Channel.post_value], fail with
 * %PRIO_ERROR_CLOSED.  A second call does nothing.  Any thread may call this function, even in the channel's function.
 *
 * Since: 1.0
 */
void
prio_channel_close (PrioChannel *self)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_CHANNEL));

  prio_lock_lock (&prio_waits_lock);
  g_atomic_int_set (&self->is_closed, TRUE);
  prio_lock_unlock (&prio_waits_lock);
  update (self, 0);
}
