/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-feed-models.c: feeds of lists that GTK makes from a list that a feed changes: sorted, filtered, selected, flattened */

#include "feed-world.h"

#include <gtk/gtk.h>

enum { N_FEEDS = 6, N_STEPS = 5000, N_CHANGES = 5000 };

typedef struct
{
  World w;
  GListStore *names; /* GtkStringObject */
  GListModel *lists[N_FEEDS];
  PrioFeed *feeds[N_FEEDS];
  GPtrArray *mirrors[N_FEEDS];
  guint n_changes;
} Models;

static void
append (Models *models)
{
  g_autofree char *name = g_strdup_printf ("%05d", g_test_rand_int_range (0, 100000));
  g_autoptr (GtkStringObject) object = gtk_string_object_new (name);

  g_list_store_insert (models->names, (guint) g_test_rand_int_range (0, (gint) g_list_model_get_n_items (G_LIST_MODEL (models->names)) + 1),
                       object);
}

static void
load (PrioTask *task, gpointer data)
{
  if (g_test_rand_bit ())
    stay_open (task, data);
}

/* Changes the list, loads the row, or finds that there is nothing to do. */
static PrioTask *
change_or_load (PrioTaskGroup *group, gpointer item, guint position G_GNUC_UNUSED, PrioTaskSignal *signal, gpointer data)
{
  Models *models = data;
  guint found;

  g_assert_true (GTK_IS_STRING_OBJECT (item));
  if (models->n_changes > 0 && g_test_rand_int_range (0, 4) == 0)
    {
      models->n_changes--;
      if (g_test_rand_bit ())
        append (models);
      else if (g_list_store_find (models->names, item, &found))
        g_list_store_remove (models->names, found);
    }
  return g_test_rand_bit () ? NULL : prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), load, &models->w, NULL);
}

static gboolean
is_wanted (gpointer item, gpointer data G_GNUC_UNUSED)
{
  return gtk_string_object_get_string (item)[4] % 3 != 0;
}

static void
set_up_models (Models *models, gconstpointer data)
{
  GtkSorter *sorter = GTK_SORTER (gtk_string_sorter_new (gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string")));
  GListStore *both = g_list_store_new (G_TYPE_LIST_MODEL);
  GListModel *names;

  set_up (&models->w, data);
  models->names = g_list_store_new (GTK_TYPE_STRING_OBJECT);
  names = G_LIST_MODEL (models->names);
  g_list_store_append (both, names);
  g_list_store_append (both, names);
  models->lists[0] = g_object_ref (names);
  models->lists[1] = g_object_ref (names);
  models->lists[2] = G_LIST_MODEL (gtk_sort_list_model_new (g_object_ref (names), sorter));
  models->lists[3] = G_LIST_MODEL (gtk_filter_list_model_new (g_object_ref (names), GTK_FILTER (gtk_custom_filter_new (is_wanted, NULL, NULL))));
  models->lists[4] = G_LIST_MODEL (gtk_single_selection_new (g_object_ref (models->lists[2])));
  models->lists[5] = G_LIST_MODEL (gtk_flatten_list_model_new (G_LIST_MODEL (both)));
  for (guint i = 0; i < N_FEEDS; i++)
    {
      models->feeds[i] = prio_feed_new_for_model (models->w.group, models->lists[i], change_or_load, models, NULL);
      models->mirrors[i] = g_ptr_array_new_with_free_func (g_object_unref);
      g_signal_connect (models->lists[i], "items-changed", G_CALLBACK (mirror_change), models->mirrors[i]);
    }
}

static void
tear_down_models (Models *models, gconstpointer data)
{
  for (guint i = 0; i < N_FEEDS; i++)
    {
      g_clear_object (&models->feeds[i]);
      g_signal_handlers_disconnect_by_data (models->lists[i], models->mirrors[i]);
      g_ptr_array_unref (models->mirrors[i]);
    }
  run (&models->w);
  for (guint i = 0; i < N_FEEDS; i++)
    g_object_unref (models->lists[i]);
  g_object_unref (models->names);
  tear_down (&models->w, data);
}

static void
test_lists_of_gtk (Models *models, gconstpointer data G_GNUC_UNUSED)
{
  models->n_changes = N_CHANGES;
  for (guint step = 0; step < N_STEPS; step++)
    {
      guint which = (guint) g_test_rand_int_range (0, N_FEEDS);

      append (models);
      prio_feed_set_view (models->feeds[which], (guint) g_test_rand_int_range (0, 60), (guint) g_test_rand_int_range (0, 20));
      if (step % 50 == 49)
        g_list_store_splice (models->names, 0, g_list_model_get_n_items (G_LIST_MODEL (models->names)) / 2, NULL, 0);
      run (&models->w);
      if (models->w.open->len > 0 && g_test_rand_bit ())
        end_one (&models->w);
    }
  /* Loaders have made changes too. */
  g_assert_cmpuint (models->n_changes, <, N_CHANGES / 2);
  for (guint i = 0; i < N_FEEDS; i++)
    {
      g_assert_cmpuint (models->mirrors[i]->len, ==, g_list_model_get_n_items (models->lists[i]));
      for (guint j = 0; j < models->mirrors[i]->len; j++)
        {
          g_autoptr (GObject) item = g_list_model_get_item (models->lists[i], j);

          g_assert_true (item == models->mirrors[i]->pdata[j]);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/feed-models/lists-of-gtk", Models, NULL, set_up_models, test_lists_of_gtk, tear_down_models);
  return g_test_run ();
}
