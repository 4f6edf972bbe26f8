/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-feed.c: feeds, which ask for a group's tasks when it has a free place
 *
 * A feed is the data of a task that is in no queue, as a wait is, so its signal can abort it.  It asks for tasks while
 * the group has fewer than it may run at a time, and again when a task has ended.
 */

#include "config.h"

#include "above/prio-rows-private.h"
#include "group/prio-task-group-private.h"
#include "loop/prio-yield-private.h"
#include "scheduler/prio-options-private.h"

/* How many tasks beyond its places a group with threads asks for, so that no thread waits for the main loop. */
#define MAX_AHEAD 16

typedef struct
{
  guint refs; /* of the task, and of each task that has been asked for */
  PrioTaskGroup *group;     /* held */
  PrioTask *task;           /* held until it ends with the last task; then NULL */
  guint n_open;             /* tasks that have been asked for, and have not ended */
  gboolean is_asking, is_exhausted, has_ended;
  gulong pending_changed, limit_changed;

  PrioFeedFunc func;
  PrioRowFunc row_func; /* used instead of @func with @model */
  gpointer data;
  GDestroyNotify notify;

  GListModel *model; /* held, or NULL */
  gulong items_changed;
  PrioRows rows;
  GQueue under_way; /* Row: their tasks have not ended */
} Feed;

/* The record that a group keeps: which rows of its models are in view. */
typedef struct
{
  guint first, n;
} View;

static View *
view_of (PrioTaskGroup *group)
{
  static const PrioSlotFuncs funcs = { .size = sizeof (View) };

  return prio_slot_ensure (&group->feed, &funcs);
}

/* The position of a row that has been removed from the list. */
#define GONE G_MAXUINT

/* A task that has been asked for. */
typedef struct
{
  Feed *feed;
  PrioTask *task; /* held; NULL while it is asked for */
  guint position; /* of a row, or GONE */
  gboolean is_row;
  GList link; /* in the feed's @under_way, if it is a row */
} Asked;

static void ask (Feed *self);

static void
feed_unref (Feed *self)
{
  if (--self->refs > 0)
    return;

  prio_rows_clear (&self->rows);
  g_free (self);
}

static void
disconnect (gpointer object, gulong *handler)
{
  if (*handler != 0)
    g_signal_handler_disconnect (object, *handler);
  *handler = 0;
}

/* Destroy notify of the feed's task, which has its result: stops asking for tasks. */
static void
feed_end (gpointer data)
{
  Feed *self = data;

  self->has_ended = TRUE;
  disconnect (self->group, &self->pending_changed);
  disconnect (self->group, &self->limit_changed);
  if (self->model != NULL)
    disconnect (self->model, &self->items_changed);
  g_clear_object (&self->task);
  if (self->notify != NULL)
    self->notify (self->data);
  g_clear_object (&self->model);
  g_clear_object (&self->group);
  feed_unref (self);
}

static void
asked_free (gpointer data)
{
  Asked *asked = data;

  if (asked->is_row)
    g_queue_unlink (&asked->feed->under_way, &asked->link);
  g_clear_object (&asked->task);
  feed_unref (asked->feed);
  g_free (asked);
}

/* Called when a task that was asked for has its result. */
static void
has_ended (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  Feed *self = ((Asked *) data)->feed;

  self->n_open--;
  ask (self);
}

static Asked *
asked_new (Feed *self, const guint *position)
{
  Asked *asked = g_new0 (Asked, 1);

  *asked = (Asked) { .feed = self, .position = position != NULL ? *position : GONE, .is_row = position != NULL };
  self->refs++;
  asked->link.data = asked;
  if (asked->is_row)
    g_queue_push_tail_link (&self->under_way, &asked->link);
  return asked;
}

/* Waits for the end of @task, which may be NULL, and takes over the reference to it. */
static void
follow (Asked *asked, PrioTask *task)
{
  if (task != NULL && task == asked->feed->task)
    {
      g_critical ("The function of a feed has returned the task of the feed, which waits for it: return the task that it has posted");
      g_clear_object (&task);
    }
  if (task == NULL)
    {
      asked_free (asked);
      return;
    }

  asked->task = task;
  asked->feed->n_open++;
  /* @func has removed its row. */
  if (asked->is_row && asked->position == GONE)
    prio_task_cancel (task);
  prio_task_add_reaction (task, has_ended, asked, asked_free);
}

static void
release (gpointer self)
{
  feed_unref (self);
}

static gboolean
ask_again (gpointer data)
{
  ask (data);
  return G_SOURCE_REMOVE;
}

/* Asks later, when other tasks have had their turn.  Returns FALSE if the scheduler, which is not held, is gone. */
static gboolean
ask_soon (Feed *self)
{
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (self->group);

  if (scheduler == NULL)
    return FALSE;
  self->refs++;
  prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.cancellable = self->task->signal), ask_again, self,
                            release);
  return TRUE;
}

/* Asks for the next task.  Returns whether there may be another after it. */
static gboolean
ask_once (Feed *self)
{
  PrioTaskGroup *group = self->group;
  g_autoptr (GObject) item = NULL;
  Asked *asked;
  PrioTask *task;
  guint row;

  if (self->model == NULL)
    {
      task = self->func (group, self->data);
      if (task != NULL)
        follow (asked_new (self, NULL), task);
      return task != NULL && task != self->task;
    }

  if (!prio_rows_take_nearest (&self->rows, view_of (group)->first, view_of (group)->n, &row))
    return FALSE;
  asked = asked_new (self, &row);
  item = g_list_model_get_item (self->model, row);
  follow (asked, item != NULL ? self->row_func (group, item, row, self->data) : NULL);
  return TRUE;
}

static void
tell_progress (Feed *self)
{
  /* Some of the open tasks may belong to rows that have been removed. */
  if (self->model != NULL && self->rows.n_rows > 0)
    prio_task_set_progress (self->task, MAX (0, 1 - (double) (self->rows.n_left + self->n_open) / self->rows.n_rows));
}

/* Returns whether another task would have a place soon. */
static gboolean
has_room (Feed *self)
{
  PrioTaskGroup *group = self->group;
  guint ahead = group->threads != NULL ? MIN (group->limit, MAX_AHEAD) : 0;
  guint room = group->limit < G_MAXUINT - ahead ? group->limit + ahead : G_MAXUINT;

  return MAX (prio_task_group_get_n_pending (group), self->n_open) < room;
}

/* Asks for tasks while there are places, for one slice at most.  Functions are called without a state, because they
 * belong to none of the tasks whose end made room. */
static void
ask (Feed *self)
{
  const PrioState *outer = prio_thread.state;

  if (self->is_asking || self->has_ended)
    return;

  self->refs++;
  self->is_asking = TRUE;
  prio_thread.state = &prio_state_none;
  while (!self->has_ended && !self->is_exhausted && has_room (self))
    {
      if (!ask_once (self))
        {
          self->is_exhausted = TRUE;
        }
      else if (!self->has_ended && prio_loop_should_yield (self->group->places->loop, self->group->places, NULL) && ask_soon (self))
        {
          break;
        }
    }
  prio_thread.state = outer;
  self->is_asking = FALSE;
  if (!self->has_ended)
    tell_progress (self);
  if (!self->has_ended && self->is_exhausted && self->n_open == 0)
    prio_task_return (self->task, &(PrioResult) { .kind = PRIO_RESULT_NONE });
  feed_unref (self);
}

/* Cancels the tasks of removed rows, and does not ask for them any more.  New rows are left to be asked for. */
static void
items_changed (GListModel *model, guint position, guint n_removed, guint n_added, Feed *self)
{
  g_autoptr (GPtrArray) gone = g_ptr_array_new_with_free_func (g_object_unref);

  /* Another handler changed the list before this one saw the first change, so all rows count as new. */
  if (position > self->rows.n_rows || n_removed > self->rows.n_rows - position)
    {
      position = 0;
      n_removed = self->rows.n_rows;
      n_added = g_list_model_get_n_items (model);
    }
  prio_rows_splice (&self->rows, position, n_removed, n_added);
  self->is_exhausted = FALSE;
  for (GList *link = self->under_way.head; link != NULL; link = link->next)
    {
      Asked *asked = link->data;

      if (asked->position != GONE && asked->position >= position + n_removed)
        asked->position += n_added - n_removed;
      else if (asked->position != GONE && asked->position >= position)
        {
          if (asked->task != NULL)
            g_ptr_array_add (gone, g_object_ref (asked->task));
          asked->position = GONE;
        }
    }
  self->refs++;
  for (guint i = 0; i < gone->len; i++)
    prio_task_cancel (gone->pdata[i]);
  ask (self);
  feed_unref (self);
}

static PrioTask *
feed (PrioTaskGroup *group, const char *function, const Feed *template)
{
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (group);
  PrioTaskOptions options = { .signal = prio_task_group_get_signal (group), .name = "feed" };
  PrioTask *task;
  Feed *self;

  if (scheduler == NULL)
    {
      g_critical ("%s(): the scheduler of the group has gone: hold it as long as you use the group", function);
      return NULL;
    }

  self = g_memdup2 (template, sizeof *template);
  self->refs = 1;
  self->group = g_object_ref (group);
  self->pending_changed = g_signal_connect_swapped (group, "notify::n-pending", G_CALLBACK (ask), self);
  self->limit_changed = g_signal_connect_swapped (group, "notify::limit", G_CALLBACK (ask), self);
  if (self->model != NULL)
    {
      prio_rows_init (&self->rows, g_list_model_get_n_items (self->model));
      self->items_changed = g_signal_connect (self->model, "items-changed", G_CALLBACK (items_changed), self);
    }

  task = prio_run_queue_make_task (group->places, &options);
  self->task = g_object_ref (task);
  ask_soon (self);
  prio_task_hold (task, self, feed_end);
  return task;
}

/**
 * prio_task_group_feed: (skip)
 * @self: a group
 * @func: (scope notified) (closure user_data) (destroy notify): posts the next task
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Asks for tasks when the group has a place for them, so that a million of them need not be posted at once.
 *
 * @func posts one task to the group, in any of the ways that this has, and returns it; %NULL ends the feed.  It is
 * called with no scheduling state, and for at most a time slice without a pause.  If functions run in threads, some
 * tasks are asked for ahead, so that no thread waits for the main loop.
 *
 * ```c
 * static PrioTask *
 * next_page (PrioTaskGroup *group, gpointer user_data)
 * {
 *   Book *book = user_data;
 *
 *   if (book->n_begun == book->n_pages)
 *     return NULL;
 *   return prio_task_group_run_in_thread (group, NULL, render, book_get_page (book, book->n_begun++), g_object_unref);
 * }
 *
 * all = prio_task_group_feed (group, next_page, book, NULL);
 * prio_task_wait_async (all, all_rendered, book); // prio_task_wait_finish () tells whether all were asked for
 * ```
 *
 * The task that is returned has no value, and ends with the last one.  It is aborted with the group.  If it is aborted
 * or cancelled, @func is called no more, and the tasks that it has posted continue.  Their results do not change its own.
 *
 * With a wrong argument it logs a critical message, and does not call @notify.  Call it on the thread that runs the
 * scheduler's main context.
 *
 * Returns: (transfer full): a task that ends with the last one
 *
 * Since: 1.0
 */
PrioTask *
prio_task_group_feed (PrioTaskGroup *self, PrioFeedFunc func, gpointer user_data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL), NULL);

  return feed (self, G_STRFUNC, &(Feed) { .func = func, .data = user_data, .notify = notify });
}

/**
 * prio_task_group_feed_model: (skip)
 * @self: a group
 * @model: a list
 * @func: (scope notified) (closure user_data) (destroy notify): posts the task of a row
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Asks for the task of each row of a list when the group has a place for it: first for the rows in view, set with
 * [method@PrioSched.TaskGroup.set_view], and then for the rows nearest to them.
 *
 * @func posts one task to the group and returns it, or %NULL if the row needs none.
 *
 * ```c
 * static PrioTask *
 * load_row (PrioTaskGroup *group, gpointer row, guint position, gpointer user_data)
 * {
 *   return prio_task_group_run_in_thread (group, NULL, load_thumbnail, g_object_ref (row), g_object_unref);
 * }
 *
 * all = prio_task_group_feed_model (group, rows, load_row, NULL, NULL);
 * ```
 *
 * A removed row is not asked for any more, and its task is cancelled if it has not ended.  Rows that are added before
 * the returned task has ended are asked for as well.  Its progress is the share of the rows that are done.
 *
 * The rest is as for [method@PrioSched.TaskGroup.feed].  Call it on the thread that runs the scheduler's main context,
 * to which @model belongs too.
 *
 * Returns: (transfer full): a task that ends with the last one
 *
 * Since: 1.0
 */
PrioTask *
prio_task_group_feed_model (PrioTaskGroup *self, GListModel *model, PrioRowFunc func, gpointer user_data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, model, G_TYPE_LIST_MODEL), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL), NULL);

  return feed (self, G_STRFUNC,
               &(Feed) { .model = g_object_ref (model), .row_func = func, .data = user_data, .notify = notify });
}

/**
 * prio_task_group_set_view: (skip)
 * @self: a group
 * @first: the position of the first row in view
 * @n_rows: how many rows are in view
 *
 * Sets the rows in view: [method@PrioSched.TaskGroup.feed_model] asks for their tasks first.
 *
 * It is cheap, so call it whenever the view has moved.  Tasks that have been asked for already continue.
 * Call it on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_set_view (PrioTaskGroup *self, guint first, guint n_rows)
{
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  *view_of (self) = (View) { first, n_rows };
}
