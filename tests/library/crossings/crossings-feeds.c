/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-feeds.c: feeds of lists, which others follow */

#include "crossings.h"
#include "mirror.h"

#include <math.h>

#ifdef PRIO_WITH_GTK
#include <gtk/gtk.h>
#endif

enum { MAX_LISTS = 6, MAX_ROWS = 200, MAX_CHANGES = 60, MAX_FEEDS = 10 };

/* A list, and a copy of it that a handler of items-changed keeps. */
typedef struct
{
  GListModel *list;
  GPtrArray *mirror;
} Followed;

struct _Lists
{
  GListStore *stores[2];
  Followed followed[MAX_LISTS];
  guint n;
  guint n_rows, n_changes, n_posts; /* in all */
};

/* The data of a feed. */
typedef struct
{
  World *world;
  guint place; /* in the world */
  Group *group;
  PrioScheduler *scheduler; /* of @group, in a slot: a feed does not keep its scheduler */
  GListModel *list;         /* or NULL */
  GHashTable *asked;        /* from the number of a row to its last PrioTask, owned, or NULL if it needed none */
  Origin origin;            /* of the signals that the feed gives */
  gboolean has_ended;
} Feed;

static guint
number_of (gpointer row)
{
  return GPOINTER_TO_UINT (g_object_get_data (row, "number"));
}

/* Follows a change, and does other operations meanwhile. */
static void
list_changed (GListModel *list, guint position, guint n_removed, guint n_added, World *world)
{
  Lists *lists = world->lists;
  GPtrArray *mirror = NULL;
  Mechanism outer;

  for (guint i = 0; i < lists->n; i++)
    if (lists->followed[i].list == list)
      mirror = lists->followed[i].mirror;
  mirror_change (list, position, n_removed, n_added, mirror);
  outer = enter_place (world, HANDLER);
  act_some (world, 2);
  leave_place (world, outer);
}

static void
follow (World *world, gpointer list)
{
  Lists *lists = world->lists;

  lists->followed[lists->n++] = (Followed) { list, g_ptr_array_new_with_free_func (g_object_unref) };
  g_signal_connect (list, "items-changed", G_CALLBACK (list_changed), world);
}

#ifdef PRIO_WITH_GTK
static gint
compare (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  guint one = number_of ((gpointer) a) % 7, other = number_of ((gpointer) b) % 7;

  return one < other ? -1 : one > other;
}

static gboolean
is_wanted (gpointer row, gpointer data G_GNUC_UNUSED)
{
  return number_of (row) % 3 != 0;
}
#endif

void
make_lists (World *world)
{
  Lists *lists = world->lists = g_new0 (Lists, 1);

  for (guint i = 0; i < G_N_ELEMENTS (lists->stores); i++)
    {
      lists->stores[i] = g_list_store_new (G_TYPE_OBJECT);
      follow (world, g_object_ref (lists->stores[i]));
    }
#ifdef PRIO_WITH_GTK
  {
    GListModel *first = G_LIST_MODEL (lists->stores[0]);
    GListStore *both = g_list_store_new (G_TYPE_LIST_MODEL);

    for (guint i = 0; i < G_N_ELEMENTS (lists->stores); i++)
      g_list_store_append (both, lists->stores[i]);
    follow (world, gtk_sort_list_model_new (g_object_ref (first), GTK_SORTER (gtk_custom_sorter_new (compare, NULL, NULL))));
    follow (world, gtk_filter_list_model_new (g_object_ref (first), GTK_FILTER (gtk_custom_filter_new (is_wanted, NULL, NULL))));
    follow (world, gtk_flatten_list_model_new (G_LIST_MODEL (both)));
    follow (world, gtk_no_selection_new (NULL));
  }
#endif
}

void
free_lists (World *world)
{
  Lists *lists = g_steal_pointer (&world->lists);

  if (lists == NULL)
    return;
  /* The last lists are made of the first. */
  while (lists->n-- > 0)
    {
      g_signal_handlers_disconnect_by_data (lists->followed[lists->n].list, world);
      g_ptr_array_unref (lists->followed[lists->n].mirror);
      g_object_unref (lists->followed[lists->n].list);
    }
  for (guint i = 0; i < G_N_ELEMENTS (lists->stores); i++)
    g_object_unref (lists->stores[i]);
  g_free (lists);
}

/* Changes a list, or replaces the model of a selection.  A list does not change while its handlers are called. */
void
change_list (World *world)
{
  Lists *lists = world->lists;
  GListStore *store;
  gpointer rows[MAX_ROWS];
  guint n, n_added, n_removed, position;

  if (lists == NULL || world->is_list_changing || lists->n_changes++ >= MAX_CHANGES)
    return;
  store = lists->stores[dice (2)];
  n = g_list_model_get_n_items (G_LIST_MODEL (store));
  position = dice (n + 1);
  n_removed = dice (4) == 0 ? MAX_ROWS : dice (4);
  n_removed = MIN (n_removed, n - position);
  n_added = dice (8) == 0 ? dice (MAX_ROWS) : dice (4);
  for (guint i = 0; i < n_added; i++)
    {
      rows[i] = track (world, g_object_new (G_TYPE_OBJECT, NULL));
      g_object_set_data (rows[i], "number", GUINT_TO_POINTER (++lists->n_rows));
    }
  begin (world, LIST);
  world->is_list_changing = TRUE;
#ifdef PRIO_WITH_GTK
  if (dice (6) == 0)
    gtk_no_selection_set_model (GTK_NO_SELECTION (lists->followed[5].list), dice (4) == 0 ? NULL : lists->followed[dice (5)].list);
#endif
  g_list_store_splice (store, position, n_removed, rows, n_added);
  world->is_list_changing = FALSE;
  end (world, LIST);
  for (guint i = 0; i < n_added; i++)
    g_object_unref (rows[i]);
}

void
check_lists (World *world)
{
  for (guint i = 0; world->lists != NULL && !world->is_list_changing && i < world->lists->n; i++)
    {
      const Followed *followed = &world->lists->followed[i];

      g_assert_cmpuint (followed->mirror->len, ==, g_list_model_get_n_items (followed->list));
      for (guint j = 0; j < followed->mirror->len; j++)
        {
          g_autoptr (GObject) row = g_list_model_get_item (followed->list, j);

          g_assert_true (row == followed->mirror->pdata[j]);
        }
    }
}

/* Feeds */

/* Returns the data of the feed at a place of the world, or NULL; the feed is in @feed. */
static Feed *
look_at (World *world, guint i, PrioFeed **feed)
{
  *feed = LOOK (world->feeds[i]);
  return *feed != NULL ? g_object_get_data (G_OBJECT (*feed), "feed") : NULL;
}

static guint
draw_position (void)
{
  return dice (8) == 0 ? G_MAXUINT - dice (3) : dice (60);
}

void
move_view (World *world)
{
  g_autoptr (PrioFeed) feed = NULL;

  if (look_at (world, dice (N_FEEDS), &feed) == NULL)
    return;
  begin (world, VIEW);
  prio_feed_set_view (feed, draw_position (), dice (8) == 0 ? draw_position () : dice (8));
  if (dice (4) == 0)
    g_object_set (feed, "look-ahead", dice (8) == 0 ? G_MAXDOUBLE : 0.5 * dice (4), "demotes", dice (2) == 0, NULL);
  end (world, VIEW);
}

/* Returns the end of the rows in view, the first of them, and how many rows around them are in the window. */
static guint
view_of (PrioFeed *feed, GListModel *list, guint *first, guint *ahead)
{
  guint n = g_list_model_get_n_items (list), n_rows;
  double look_ahead;

  g_object_get (feed, "first", first, "n-rows", &n_rows, "look-ahead", &look_ahead, NULL);
  *ahead = (guint) MIN (ceil (MIN (look_ahead, n) * n_rows), n);
  if (*first >= n)
    *first = n - MIN (n_rows, n);
  return *first + MIN (n_rows, n - *first);
}

/* Posts a task perhaps, after other operations. */
static PrioTask *
ask (Feed *feed, PrioTaskGroup *group, PrioTaskSignal *signal)
{
  World *world = feed->world;
  PrioTask *task = NULL;
  Mechanism outer;

  /* Only the loop calls this. */
  g_assert_true (is_owner (world));
  g_assert_cmpint (this_thread.place, ==, N_MECHANISMS);
  g_assert_false (feed->has_ended);
  outer = enter_place (world, HANDLER);
  act_some (world, 2);
  if (dice (4) > 0 && world->lists->n_posts++ < MAX_CHANGES)
    task = post_row (world, feed->group, group, &feed->origin, signal);
  act_some (world, 2);
  leave_place (world, outer);
  return task;
}

static PrioTask *
ask_for_next (PrioTaskGroup *group, gpointer data)
{
  return ask (data, group, NULL);
}

static PrioTask *
ask_for_row (PrioTaskGroup *group, gpointer row, guint position, PrioTaskSignal *signal, gpointer data)
{
  Feed *feed = data;
  gpointer number = GUINT_TO_POINTER (number_of (row));
  PrioTask *task, *former = g_hash_table_lookup (feed->asked, number);
  g_autoptr (GObject) item = g_list_model_get_item (feed->list, position);
  g_autoptr (PrioFeed) itself = NULL;
  guint first, ahead, end;

  g_assert_true (item == row);
  if (look_at (feed->world, feed->place, &itself) == feed)
    {
      end = view_of (itself, feed->list, &first, &ahead);
      g_assert_cmpuint (position + ahead, >=, first);
      g_assert_cmpuint (position, <, end + ahead);
    }
  g_assert_true (former == NULL || prio_task_get_state (former) >= PRIO_TASK_STATE_FULFILLED ||
                 g_cancellable_is_cancelled (prio_task_get_cancellable (former)));
  g_assert_false (prio_task_signal_is_aborted (signal));
  task = ask (feed, group, signal);
  g_hash_table_insert (feed->asked, number, task != NULL ? g_object_ref (task) : NULL);
  if (former != NULL)
    let_go_of (feed->world, former);
  return task;
}

static void
feed_ended (gpointer data)
{
  Feed *feed = data;
  World *world = feed->world;
  GHashTableIter iter;
  gpointer task;
  Mechanism outer;

  g_assert_false (feed->has_ended);
  g_assert_true (is_owner (world) || g_atomic_int_get (&world->over));
  feed->has_ended = TRUE;
  g_hash_table_iter_init (&iter, feed->asked);
  while (g_hash_table_iter_next (&iter, NULL, &task))
    let_go_of (world, task);
  g_hash_table_unref (feed->asked);
  let_go_of (world, TAKE (feed->scheduler));
  end (world, FEED);
  outer = enter_place (world, NOTIFY);
  act_some (world, 2);
  leave_place (world, outer);
  g_atomic_int_add (&world->n_feeds, -1);
  g_atomic_int_add (&world->n_open, -1);
}

static void
view_moved (PrioFeed *feed G_GNUC_UNUSED, GParamSpec *property G_GNUC_UNUSED, World *world)
{
  Mechanism outer = enter_place (world, HANDLER);

  act_some (world, 2);
  leave_place (world, outer);
}

void
make_feed (World *world)
{
  guint i = dice (N_FEEDS);
  Group *group = world->groups[dice (N_GROUPS)];
  g_autoptr (PrioScheduler) scheduler = LOOK (group->book->scheduler);
  PrioFeed *made, *former;
  Feed *feed;

  if (scheduler == NULL || world->lists == NULL || world->all_feeds->len >= MAX_FEEDS)
    return;
  feed = g_new0 (Feed, 1);
  *feed = (Feed) { .world = world, .place = i, .group = group, .scheduler = g_steal_pointer (&scheduler), .asked = g_hash_table_new (NULL, NULL), .origin = { .kind = TASK_SIGNAL, .may = TRUE } };
  g_ptr_array_add (world->all_feeds, feed);
  if (dice (4) > 0)
    feed->list = world->lists->followed[dice (world->lists->n)].list;
  begin (world, FEED);
  g_atomic_int_inc (&world->n_open);
  g_atomic_int_inc (&world->n_feeds);
  made = feed->list != NULL ? prio_feed_new_for_model (group->group, feed->list, ask_for_row, feed, feed_ended)
                            : prio_feed_new (group->group, ask_for_next, feed, feed_ended);
  g_object_set_data (G_OBJECT (made), "feed", feed);
  g_signal_connect (made, "notify::n-rows", G_CALLBACK (view_moved), world);
  former = PUT (world->feeds[i], track (world, made));
  g_clear_object (&former);
}

/* Drops a feed, on any thread unless threads run freely. */
void
drop_feed (World *world)
{
  g_autoptr (PrioFeed) feed G_GNUC_UNUSED = is_owner (world) || !world->is_free ? TAKE (world->feeds[dice (N_FEEDS)]) : NULL;
}

void
drop_feeds (World *world)
{
  for (guint i = 0; i < N_FEEDS; i++)
    {
      g_autoptr (PrioFeed) feed G_GNUC_UNUSED = TAKE (world->feeds[i]);
    }
}

/* Lets go of all schedulers, before their context ends. */
void
drop_schedulers (World *world)
{
  for (guint i = 0; i < world->all_feeds->len; i++)
    let_go_of (world, TAKE (((Feed *) world->all_feeds->pdata[i])->scheduler));
}

/* Returns whether each row in view has been asked for, and each feed without a list has ended. */
gboolean
have_loaded (World *world)
{
  for (guint i = 0; i < N_FEEDS; i++)
    {
      g_autoptr (PrioFeed) feed = NULL;
      const Feed *data = look_at (world, i, &feed);
      guint first = 0, ahead, end;

      if (data == NULL || data->has_ended)
        continue;
      if (data->list == NULL)
        return FALSE;
      for (end = view_of (feed, data->list, &first, &ahead); first < end; first++)
        {
          g_autoptr (GObject) row = g_list_model_get_item (data->list, first);

          if (!g_hash_table_contains (data->asked, GUINT_TO_POINTER (number_of (row))))
            return FALSE;
        }
    }
  return TRUE;
}
