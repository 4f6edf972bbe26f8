/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feed.h: asks for the tasks of a group when it has a free place */

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
 * @group: a group that has a place
 * @user_data: the data given to [ctor@PrioSched.Feed.new]
 *
 * Posts the next task to a group.
 *
 * The main loop calls it on the thread that runs the main context of the group's scheduler, with no scheduling state.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL if there are no more
 *
 * Since: 1.0
 */
typedef PrioTask *(*PrioFeedFunc) (PrioTaskGroup *group,
                                   gpointer       user_data);

/**
 * PrioRowFunc:
 * @group: a group that has a place
 * @item: (type GObject): the item of the row
 * @position: where the row is now
 * @signal: aborts the task when the row leaves the window: post the task with it
 * @user_data: the data given to [ctor@PrioSched.Feed.new_for_model]
 *
 * Posts the task of a row to a group.
 *
 * The main loop calls it on the thread that runs the main context of the group's scheduler, with no scheduling state.
 * It may change the list.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL if the row needs none now
 *
 * Since: 1.0
 */
typedef PrioTask *(*PrioRowFunc) (PrioTaskGroup  *group,
                                  gpointer        item,
                                  guint           position,
                                  PrioTaskSignal *signal,
                                  gpointer        user_data);

PRIO_AVAILABLE_IN_ALL
PrioFeed *prio_feed_new           (PrioTaskGroup  *group,
                                   PrioFeedFunc    func,
                                   gpointer        user_data,
                                   GDestroyNotify  notify);
PRIO_AVAILABLE_IN_ALL
PrioFeed *prio_feed_new_for_model (PrioTaskGroup  *group,
                                   GListModel     *model,
                                   PrioRowFunc     func,
                                   gpointer        user_data,
                                   GDestroyNotify  notify);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_feed_get_task      (PrioFeed       *self);
PRIO_AVAILABLE_IN_ALL
void      prio_feed_set_view      (PrioFeed       *self,
                                   guint           first,
                                   guint           n_rows);

G_END_DECLS
