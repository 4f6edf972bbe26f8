/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-folder.h: finds the pictures of folders */

#pragma once

#include <gio/gio.h>

/* Returns the folders to look through if the user gives none. */
GPtrArray *gallery_folder_list_default (void);

/* Looks for pictures in @folders, GFile, and in their subfolders.  Any thread may call it. */
GPtrArray *gallery_folder_find (GPtrArray *folders, GCancellable *cancellable, GError **error);
