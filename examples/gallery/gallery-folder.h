/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-folder.h: finds the pictures of folders */

#pragma once

#include <gio/gio.h>

/* The folders to be looked through where none is given. */
GPtrArray *gallery_folder_list_default (void);

/* Looks for pictures in @folders, GFile, and in the folders in them; in any thread. */
GPtrArray *gallery_folder_find (GPtrArray *folders, GCancellable *cancellable, GError **error);
