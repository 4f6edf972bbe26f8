/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feeding-private.h: asks a function for the next task of a group whenever the group has a free place
 *
 * Promises: only the loop calls the function of a feed, in a task that observers do not see, or after the end of a task
 * that the function has returned.  A change of the list, of the view or of the free places is only recorded, because it
 * may happen in a handler, a destroy notify or an abort.  The feeds of a group take turns.
 *
 * A feed is alive until its task is fulfilled, aborted with the group, or cancelled. */

#pragma once

#include "prio-feed.h"

typedef struct _PrioFeeds PrioFeeds;

typedef struct
{
  PrioFeeds *feeds;     /* of the group */
  PrioTaskGroup *group; /* owned */
  PrioTask *task;       /* owned */
  GList link;           /* in the queue of @feeds; not in it if @link.data is NULL */
  gboolean has_changed; /* whether look () has to read the list and the view */
  guint n_open;         /* tasks that the function has returned, and that have not ended */
  gint is_over;         /* whether the function must not be called any more; atomic */
  gboolean is_called;   /* whether the function is on the stack */
  gboolean is_exhausted;

  PrioFeedFunc func;
  PrioFeedRowFunc row_func; /* called instead of @func if @model is not NULL */
  gpointer data;
  GDestroyNotify notify;

  GListModel *model; /* owned, or NULL */
  gulong items_changed, priority_changed;
  /* @rows are consecutive rows of the list, from the position @begin.  Other rows of the list count as new. */
  GSequence *rows;     /* PrioAsked of a row that is new or has a task, or NULL for a row that is done */
  GSequence *new_rows; /* PrioAsked, owned: the rows in @rows for which the function was not called */
  GPtrArray *left;     /* PrioAsked: rows that have a task, and are not in @rows any more */
  guint begin;
  guint n;             /* length of the list after the last `items-changed` */
  gboolean has_moved;  /* whether rows may have been removed and added again */
  guint first, n_rows; /* the rows in view, which may be beyond the end of the list */
  double look_ahead;
  gboolean demotes;
} PrioFeeding;

PrioFeeding *prio_feeding_new (PrioTaskGroup *group, PrioScheduler *scheduler, const PrioFeeding *from);
void prio_feeding_unref (PrioFeeding *self);
void prio_feeding_change (PrioFeeding *self);
