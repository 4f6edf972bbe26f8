/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* feed-world.h: a group with three places, and a feed of it */

#pragma once

#include <prio-sched-feed.h>
#include "helpers.h"
#include "mirror.h"

/* A source of tasks, which are letters.  Each task runs until the test ends it. */
typedef struct
{
  Fixture f;
  PrioTaskGroup *group;
  PrioFeed *feed;
  PrioTask *all; /* the task of the feed */
  guint n_left, n_asked, n_released;
  GPtrArray *open;  /* PrioTask, deferred */
  GListStore *rows; /* objects with a number */
  gboolean in_order;
} World;

static inline void
set_up (World *w, gconstpointer data)
{
  fixture_set_up (&w->f, data);
  w->group = prio_task_group_new (w->f.scheduler, 3, USER_VISIBLE);
  w->open = g_ptr_array_new_with_free_func (g_object_unref);
  w->rows = g_list_store_new (G_TYPE_OBJECT);
}

static inline void
tear_down (World *w, gconstpointer data)
{
  g_clear_object (&w->feed);
  g_clear_object (&w->all);
  for (guint i = 0; i < w->open->len; i++)
    prio_task_return_boolean (w->open->pdata[i], TRUE);
  g_ptr_array_unref (w->open);
  g_clear_object (&w->rows);
  g_clear_object (&w->group);
  fixture_tear_down (&w->f, data);
}

static inline void
released (gpointer data)
{
  ((World *) data)->n_released++;
}

static inline void
stay_open (PrioTask *task, gpointer data)
{
  World *w = data;

  prio_task_defer (task);
  g_ptr_array_add (w->open, g_object_ref (task));
}

static inline PrioTask *
next (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  w->n_asked++;
  return w->n_left-- > 0 ? prio_task_group_post_task (group, NULL, stay_open, w, NULL) : NULL;
}

/* Begins to use @feed. */
static inline void
use (World *w, PrioFeed *feed)
{
  g_clear_object (&w->all);
  g_clear_object (&w->feed);
  w->feed = feed;
  w->all = g_object_ref (prio_feed_get_task (feed));
}

static inline void
run (World *w)
{
  fixture_run (&w->f);
}

/* Ends the oldest running task. */
static inline void
end_one (World *w)
{
  g_autoptr (PrioTask) task = g_ptr_array_steal_index (w->open, 0);

  prio_task_return_boolean (task, TRUE);
  run (w);
}

static inline void
feed (World *w, guint n)
{
  w->n_left = n;
  use (w, prio_feed_new (w->group, next, w, released));
  g_assert_cmpuint (w->n_asked, ==, 0);
  run (w);
}

/* Rows */

static inline void
add_rows (World *w, guint position, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_insert (w->rows, position + i, row);
    }
}

static inline guint
n_rows (World *w)
{
  return g_list_model_get_n_items (G_LIST_MODEL (w->rows));
}

/* Begins a feed of the rows, none of which is in view. */
static inline void
use_rows (World *w, PrioFeedRowFunc func)
{
  use (w, prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), func, w, released));
}

/* Posts the task of a row, which runs until the test ends it. */
static inline PrioTask *
load_row (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;

  g_assert_true (G_IS_OBJECT (item));
  w->n_asked++;
  g_string_append_printf (w->f.log, "%u ", position);
  return w->in_order ? NULL
                     : prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), stay_open, w, NULL);
}

static inline void
feed_rows (World *w, guint n, guint first, guint n_in_view)
{
  add_rows (w, 0, n);
  use_rows (w, load_row);
  prio_feed_set_view (w->feed, first, n_in_view);
  g_assert_cmpuint (w->n_asked, ==, 0);
  run (w);
}

#define ALL G_MAXUINT

/* Which rows have been asked for since the last time. */
#define assert_asked(w, expected)                    \
  G_STMT_START                                       \
  {                                                  \
    g_assert_cmpstr ((w)->f.log->str, ==, expected); \
    g_string_truncate ((w)->f.log, 0);               \
  }                                                  \
  G_STMT_END

#define assert_state(task, expected) g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_##expected)
