/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feed.h: asks a function for the next task of a group whenever the group has a free place */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-feed.h> can be included directly."
#endif

#include "prio-task-group.h"

G_BEGIN_DECLS

#define PRIO_TYPE_FEED (prio_feed_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioFeed, prio_feed, PRIO, FEED, GObject)

/**
 * PrioFeedFunc:
 * @group: the group, whose limit allows another task
 * @user_data: the data given to [ctor@PrioSched.Feed.new]
 *
 * Posts the next task to a group.
 *
 * The function is called by the main loop, on the thread that runs the main context of the group's scheduler, outside
 * of any task.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL if there are no more tasks
 *
 * Since: 1.0
 */
typedef PrioTask *(*PrioFeedFunc) (PrioTaskGroup *group, gpointer user_data);

/**
 * PrioFeedRowFunc:
 * @group: the group, whose limit allows another task
 * @item: (type GObject): the item of the row
 * @position: the current position of the row
 * @signal: the signal to post the task with; it aborts or demotes the task when the row's task is no longer needed
 * @user_data: the data given to [ctor@PrioSched.Feed.new_for_model]
 *
 * Posts the task of a row to a group.
 *
 * The function is called by the main loop, on the thread that runs the main context of the group's scheduler, outside
 * of any task.  The function may change the list.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL if the row needs no task now
 *
 * Since: 1.0
 */
typedef PrioTask *(*PrioFeedRowFunc) (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal,
                                      gpointer user_data);

PRIO_AVAILABLE_IN_ALL
PrioFeed *prio_feed_new (PrioTaskGroup *group, PrioFeedFunc func, gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
PrioFeed *prio_feed_new_for_model (PrioTaskGroup *group, GListModel *model, PrioFeedRowFunc func, gpointer user_data,
                                   GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_feed_get_task (PrioFeed *self);
PRIO_AVAILABLE_IN_ALL
void prio_feed_set_view (PrioFeed *self, guint first, guint n_rows);

G_END_DECLS
