/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feeding-private.h: asks for the tasks of a group when it has a free place
 *
 * Promises: only the loop calls the function of a feed: in a task that observers do not see, or when a task that the
 * function has returned has ended.  A change of the list, of the view or of the places is noted where it happens, in a
 * handler, a destroy notify or an abort, and looked at later.  The feeds of a group take turns.
 *
 * A feed lives until its task has its result: it is fulfilled, aborted with the group, or cancelled.
 */

#pragma once

#include "above/prio-rows-private.h"
#include "prio-feed.h"

typedef struct _PrioFeeds PrioFeeds;

typedef struct
{
  PrioFeeds *feeds;     /* of the group */
  PrioTaskGroup *group; /* held */
  PrioTask *task;       /* held */
  GList link;           /* in a queue of @feeds if its data is not NULL */
  gboolean has_changed; /* whether the list and the view have to be looked at */
  guint n_open;         /* tasks that have been asked for, and have not ended */
  gint is_over;         /* atomic: the function is called no more */
  gboolean is_called;   /* the function is on the stack */
  gboolean is_exhausted;

  PrioFeedFunc func;
  PrioRowFunc row_func; /* used instead of @func with @model */
  gpointer data;
  GDestroyNotify notify;

  GListModel *model; /* held, or NULL */
  gulong items_changed, priority_changed;
  PrioRows rows; /* new outside of the window, unless they are under way */
  gboolean is_lost;    /* the changes of the list have come in a wrong order */
  GPtrArray *gone;     /* PrioAsked, held: their rows have gone, and they are to be aborted */
  guint first, n_rows; /* in view; may be beyond the list */
  double look_ahead;
  gboolean demotes;
  gboolean is_upwards; /* the view has moved up */
} PrioFeeding;

PrioFeeding *prio_feeding_new (PrioTaskGroup *group, PrioScheduler *scheduler, const PrioFeeding *from);
void prio_feeding_unref (PrioFeeding *self);
void prio_feeding_change (PrioFeeding *self);
