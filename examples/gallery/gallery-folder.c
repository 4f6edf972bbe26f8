/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-folder.c: finds the pictures of folders */

#include "gallery-folder.h"

#include <string.h>

#define MAX_PICTURES 20000
#define ATTRIBUTES                                                                                                     \
  G_FILE_ATTRIBUTE_STANDARD_NAME "," G_FILE_ATTRIBUTE_STANDARD_TYPE "," G_FILE_ATTRIBUTE_STANDARD_FAST_CONTENT_TYPE

/* Returns: (transfer full) (element-type GFile): the user's pictures, and the icons and pictures of the system */
GPtrArray *
gallery_folder_list_default (void)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_object_unref);
  const char *pictures = g_get_user_special_dir (G_USER_DIRECTORY_PICTURES);
  static const char *const names[] = { "backgrounds", "pixmaps", "icons" };

  if (pictures != NULL)
    g_ptr_array_add (folders, g_file_new_for_path (pictures));
  for (const char *const *data = g_get_system_data_dirs (); *data != NULL; data++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (names); i++)
        g_ptr_array_add (folders, g_file_new_build_filename (*data, names[i], NULL));
    }
  return folders;
}

/* Returns whether the file is a picture to show.  Symbolic icons are not: there are very many, and they have no
 * colours. */
static gboolean
is_picture (GFileInfo *info)
{
  const char *type = g_file_info_get_attribute_string (info, G_FILE_ATTRIBUTE_STANDARD_FAST_CONTENT_TYPE);

  return type != NULL && g_content_type_is_a (type, "image/*") && strstr (g_file_info_get_name (info), "-symbolic") == NULL;
}

/* Adds the pictures of @folder, and queues its subfolders in @folders. */
static gboolean
look_into (GFile *folder, GQueue *folders, GPtrArray *pictures, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileEnumerator) all
      = g_file_enumerate_children (folder, ATTRIBUTES, G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, cancellable, error);
  GFileInfo *info;
  GFile *file;

  while (all != NULL && g_file_enumerator_iterate (all, &info, &file, cancellable, error))
    {
      if (info == NULL || pictures->len >= MAX_PICTURES)
        return TRUE;
      if (g_file_info_get_file_type (info) == G_FILE_TYPE_DIRECTORY)
        g_queue_push_tail (folders, g_object_ref (file));
      else if (g_file_info_get_file_type (info) == G_FILE_TYPE_REGULAR && is_picture (info))
        g_ptr_array_add (pictures, g_object_ref (file));
    }
  return FALSE;
}

/* Returns the path of a file or, if it has none, as a file in a resource, its URI. */
static char *
name_of (GFile *file)
{
  char *path = g_file_get_path (file);

  return path != NULL ? path : g_file_get_uri (file);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  g_autofree char *name_a = name_of (*(GFile *const *) a), *name_b = name_of (*(GFile *const *) b);

  return strcmp (name_a, name_b);
}

/* Finds the pictures in @folders and their subfolders.  Skips folders that cannot be read, which is an error only if
 * @folders has just one folder and no picture was found.
 * Returns: (transfer full) (nullable) (element-type GFile): the pictures, sorted by name, or %NULL with @error set */
GPtrArray *
gallery_folder_find (GPtrArray *folders, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) pictures = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GError) first = NULL;
  GQueue left = G_QUEUE_INIT;
  GFile *folder;

  for (guint i = 0; i < folders->len; i++)
    g_queue_push_tail (&left, g_object_ref (folders->pdata[i]));
  while ((folder = g_queue_pop_head (&left)) != NULL)
    {
      if (pictures->len < MAX_PICTURES)
        look_into (folder, &left, pictures, cancellable, first == NULL ? &first : NULL);
      g_object_unref (folder);
    }

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (pictures->len == 0 && folders->len == 1 && first != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&first));
      return NULL;
    }
  g_ptr_array_sort (pictures, compare);
  return g_steal_pointer (&pictures);
}
