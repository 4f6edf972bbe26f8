/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-loader.h: loads a file for each of very many rows, rows in view first */

#pragma once

#include <prio-sched.h>

typedef struct _RowLoader RowLoader;

/* Returns the file of @row; the caller unrefs it. */
typedef GFile *(*RowFile) (guint row, gpointer user_data);

/* Called when the file of @row has been loaded.  If that has failed, @contents is NULL, and @error is set. */
typedef void (*RowLoaded) (guint row, GBytes *contents, const GError *error, gpointer user_data);

RowLoader *row_loader_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFile file, RowLoaded loaded,
                           gpointer user_data);
void row_loader_free (RowLoader *self);
void row_loader_set_view (RowLoader *self, guint first, guint n_rows);
double row_loader_get_progress (RowLoader *self);
