/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feed.c: feeds, which ask a function for a group's next task whenever the group has a free place */

#include "config.h"

#include "prio-feed.h"

#include "above/prio-feeding-private.h"
#include "base/prio-check-private.h"
#include "prio-engine.h"

/**
 * PrioFeed:
 *
 * Asks a function for the next task of a group, whenever the group's limit allows another task.
 *
 * A list of 100,000 rows need not post 100,000 tasks.  A feed of a list, created with
 * [ctor@PrioSched.Feed.new_for_model], calls a function for each row that is in view, and then for the rows around
 * these, whenever the group has fewer tasks than it runs at a time.  The user can drag the scrollbar from end to end,
 * and only the rows where it stops are loaded.
 *
 * ```c
 * #include <prio-sched-feed.h>
 *
 * static PrioTask *
 * load_row (PrioTaskGroup *group, gpointer row, guint position, PrioTaskSignal *signal, gpointer user_data)
 * {
 *   if (row_is_loaded (row))
 *     return NULL;
 *   return prio_task_group_run_in_thread (group, &PRIO_TASK_OPTIONS (.signal = signal), load_thumbnail,
 *                                         g_object_ref (row), g_object_unref);
 * }
 *
 * window->thumbnails = prio_task_group_new (prio_scheduler_get_default (), 4, PRIO_TASK_PRIORITY_USER_VISIBLE);
 * window->feed = prio_feed_new_for_model (window->thumbnails, rows, load_row, window, NULL);
 * prio_feed_set_view (window->feed, 0, 20); // and whenever the user has scrolled
 * ```
 *
 * A feed of a function, created with [ctor@PrioSched.Feed.new], asks for one task after the other until it gets %NULL.
 *
 * The main loop calls the function, never within a change of the list, a destroy notify or an abort.  So the function
 * may change the list, and post and abort tasks.
 *
 * A feed asks until its last reference is dropped, its task is cancelled, or its group is aborted.  Several feeds can
 * share a group: they take turns.  Waits for the group include the tasks that its feeds are going to ask for.
 *
 * Call all methods on the thread that runs the main context of the group's scheduler, to which the list belongs too.
 * Any thread may drop the last reference.
 *
 * Since: 1.0
 */
struct _PrioFeed
{
  GObject parent_instance;
  PrioFeeding *feeding; /* NULL if g_object_new () created the feed, because the feed has no function then */
};

G_DEFINE_FINAL_TYPE (PrioFeed, prio_feed, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_FIRST,
  PROP_N_ROWS,
  PROP_LOOK_AHEAD,
  PROP_DEMOTES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
prio_feed_dispose (GObject *object)
{
  PrioFeeding *feeding = g_steal_pointer (&PRIO_FEED (object)->feeding);

  if (feeding != NULL)
    {
      g_atomic_int_set (&feeding->is_over, TRUE);
      prio_task_cancel (feeding->task);
      prio_feeding_unref (feeding);
    }
  G_OBJECT_CLASS (prio_feed_parent_class)->dispose (object);
}

static void
prio_feed_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const PrioFeeding *feeding = PRIO_FEED (object)->feeding;

  if (feeding == NULL)
    return;

  switch (id)
    {
    case PROP_FIRST:
      g_value_set_uint (value, feeding->first);
      break;

    case PROP_N_ROWS:
      g_value_set_uint (value, feeding->n_rows);
      break;

    case PROP_LOOK_AHEAD:
      g_value_set_double (value, feeding->look_ahead);
      break;

    case PROP_DEMOTES:
      g_value_set_boolean (value, feeding->demotes);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
prio_feed_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  PrioFeeding *feeding = PRIO_FEED (object)->feeding;

  if (feeding == NULL)
    return;

  switch (id)
    {
    case PROP_LOOK_AHEAD:
      feeding->look_ahead = g_value_get_double (value);
      break;

    case PROP_DEMOTES:
      feeding->demotes = g_value_get_boolean (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  prio_feeding_change (feeding);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags writable = readable | G_PARAM_WRITABLE;

  /**
   * PrioFeed:first:
   *
   * The position of the first row in view: see [method@PrioSched.Feed.set_view].
   *
   * Since: 1.0
   */
  properties[PROP_FIRST] = g_param_spec_uint ("first", NULL, NULL, 0, G_MAXUINT, 0, readable);

  /**
   * PrioFeed:n-rows:
   *
   * How many rows are in view: see [method@PrioSched.Feed.set_view].
   *
   * Since: 1.0
   */
  properties[PROP_N_ROWS] = g_param_spec_uint ("n-rows", NULL, NULL, 0, G_MAXUINT, 0, readable);

  /**
   * PrioFeed:look-ahead:
   *
   * How many rows before and after the rows in view are loaded as well, as a multiple of the number of rows in view: 1
   * for as many rows on each side, 0 for none, a large number for all rows.
   *
   * ```c
   * g_object_set (feed, "look-ahead", 0.5, NULL); // the pictures are large
   * ```
   *
   * Since: 1.0
   */
  properties[PROP_LOOK_AHEAD] = g_param_spec_double ("look-ahead", NULL, NULL, 0, G_MAXDOUBLE, 1, writable);

  /**
   * PrioFeed:demotes:
   *
   * Whether a task that has begun continues as `background` when its row leaves [property@PrioSched.Feed:look-ahead].
   * Otherwise, and if more than 1,000 rows are in view or within the look-ahead, the task is aborted.
   *
   * Since: 1.0
   */
  properties[PROP_DEMOTES] = g_param_spec_boolean ("demotes", NULL, NULL, FALSE, writable);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
prio_feed_class_init (PrioFeedClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->dispose = prio_feed_dispose;
  object_class->get_property = prio_feed_get_property;
  object_class->set_property = prio_feed_set_property;

  install_properties (object_class);
}

static void
prio_feed_init (PrioFeed *self G_GNUC_UNUSED)
{
}

static PrioFeed *
feed_new (PrioTaskGroup *group, const char *function, const PrioFeeding *from)
{
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (group);
  PrioFeed *self;

  if (scheduler == NULL)
    {
      g_critical ("%s(): the scheduler of the group has gone: hold it as long as you use the group", function);
      return NULL;
    }

  self = g_object_new (PRIO_TYPE_FEED, NULL);
  self->feeding = prio_feeding_new (group, scheduler, from);
  return self;
}

/**
 * prio_feed_new:
 * @group: a group
 * @func: (scope notified) (closure user_data) (destroy notify): posts the next task
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Creates a feed that asks for tasks one after the other, so that a million tasks need not be posted at once.
 *
 * @func posts one task to the group, with any of the group's functions, and returns it; %NULL ends the feed.  @func is
 * called when the group's limit allows another task.  If functions of the group run in threads, the feed asks for up to
 * 16 tasks more, so that no thread waits for the main loop.
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
 * book->feed = prio_feed_new (group, next_page, book, NULL);
 * prio_task_wait_async (prio_feed_get_task (book->feed), NULL, all_rendered, book);
 * ```
 *
 * The task of the feed, [method@PrioSched.Feed.get_task], is fulfilled when the last task has ended, whatever its
 * result.  If the feed ends earlier, tasks that have been posted are not aborted.
 *
 * @notify is called at the end of the feed, after @func has returned.  With a wrong argument, or if the scheduler of
 * @group was finalized, the call logs a critical message, returns %NULL, and does not call @notify.  Call this function
 * on the thread that runs the main context of the group's scheduler.
 *
 * Returns: (transfer full): a feed, which ends when its last reference is dropped
 *
 * Since: 1.0
 */
PrioFeed *
prio_feed_new (PrioTaskGroup *group, PrioFeedFunc func, gpointer user_data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, group), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL), NULL);

  return feed_new (group, G_STRFUNC, &(PrioFeeding) { .func = func, .data = user_data, .notify = notify });
}

/**
 * prio_feed_new_for_model:
 * @group: a group
 * @model: a list
 * @func: (scope notified) (closure user_data) (destroy notify): posts the task of a row
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Creates a feed that asks for the tasks of the rows of a list that are in view, and then of the nearest other rows.
 *
 * No row is in view before [method@PrioSched.Feed.set_view].  The *window* consists of the rows in view and the rows
 * before and after them that [property@PrioSched.Feed:look-ahead] includes.  @func is not called for other rows.
 *
 * @func posts one task to the group with the signal that it is given, and returns it, or %NULL if the row needs no
 * task.  @func is called once for a row that stays in the window, and again for a row that has left the window and
 * comes back.  So @func should return %NULL for a row that is loaded already.
 *
 * If a row leaves the window or is removed from the list, its task is aborted.  A row that moves, because the list is
 * sorted again for example, keeps its task.  With [property@PrioSched.Feed:demotes] the task of a row that has left the
 * window, and has begun, continues with the priority `background`, even if the row is removed from the list then; the
 * task gets its former priority back if the row returns.
 *
 * The feed of a list does not end by itself.  When its last reference is dropped, all rows leave the window.  When the
 * group is aborted, the feed ends: create a new one if you continue to use the group.
 *
 * @notify is called at the end of the feed, after @func has returned.  With a wrong argument, or if the scheduler of
 * @group was finalized, the call logs a critical message, returns %NULL, and does not call @notify.  Call this function
 * on the thread that runs the main context of the group's scheduler.
 *
 * Returns: (transfer full): a feed, which ends when its last reference is dropped
 *
 * Since: 1.0
 */
PrioFeed *
prio_feed_new_for_model (PrioTaskGroup *group, GListModel *model, PrioFeedRowFunc func, gpointer user_data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, group), NULL);
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, model, G_TYPE_LIST_MODEL), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL), NULL);

  return feed_new (group, G_STRFUNC,
                   &(PrioFeeding) { .model = model, .row_func = func, .data = user_data, .notify = notify });
}

/**
 * prio_feed_get_task:
 * @self: a feed
 *
 * Gets the task that ends with the feed, to wait for the end, or to end the feed with [method@PrioSched.Task.cancel].
 *
 * The task has no value.  It is fulfilled when the function of [ctor@PrioSched.Feed.new] has returned %NULL and the
 * last task has ended.  It is aborted if the group is aborted, or if the feed ends earlier.  Any thread may call this.
 *
 * Returns: (transfer none): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_feed_get_task (PrioFeed *self)
{
  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_FEED), NULL);

  return self->feeding != NULL ? self->feeding->task : NULL;
}

/**
 * prio_feed_set_view:
 * @self: a feed of a list
 * @first: the position of the first row in view
 * @n_rows: how many rows are in view
 *
 * Sets the rows in view.
 *
 * Call this function whenever the view has moved: the call is cheap, and the main loop uses only the latest view.  A
 * view beyond the end of the list shows its last rows.
 *
 * ```c
 * static void
 * scrolled (GtkAdjustment *adjustment, Window *window)
 * {
 *   prio_feed_set_view (window->feed, (guint) (gtk_adjustment_get_value (adjustment) / ROW_HEIGHT),
 *                       1 + (guint) (gtk_adjustment_get_page_size (adjustment) / ROW_HEIGHT));
 * }
 * ```
 *
 * Call this function on the thread that runs the main context of the group's scheduler.
 *
 * Since: 1.0
 */
void
prio_feed_set_view (PrioFeed *self, guint first, guint n_rows)
{
  PrioFeeding *feeding;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_FEED));
  g_return_if_fail (self->feeding != NULL);
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self->feeding->group));

  feeding = self->feeding;
  if (first == feeding->first && n_rows == feeding->n_rows)
    return;

  feeding->first = first;
  feeding->n_rows = n_rows;
  prio_feeding_change (feeding);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FIRST]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_ROWS]);
}
