/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mirror.h: a copy of a list, which follows its changes */

#pragma once

#include <gio/gio.h>

/* Follows a change of a list in a copy, as GtkSortListModel and GtkListView do. */
static inline void
mirror_change (GListModel *rows, guint position, guint n_removed, guint n_added, GPtrArray *mirror)
{
  g_assert_cmpuint (position + n_removed, <=, mirror->len);
  if (n_removed > 0)
    g_ptr_array_remove_range (mirror, position, n_removed);
  for (guint i = 0; i < n_added; i++)
    {
      gpointer item = g_list_model_get_item (rows, position + i);

      g_assert_nonnull (item);
      g_ptr_array_insert (mirror, (gint) (position + i), item);
    }
}
