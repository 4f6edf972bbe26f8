/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-thumbnail.c: a picture, decoded and made small
 *
 * These functions use no widgets, because threads call them.
 */

#include "config.h"

#include "gallery-thumbnail.h"

#include <glib/gi18n.h>
#include <string.h>

#define SIZE 96 /* largest width and height of a thumbnail, pixels */

/* Larger pictures are not decoded, because a decoder cannot be stopped. */
#define MAX_BYTES (100 * 1000 * 1000)
#define MAX_PIXELS (64 * 1000 * 1000)
#define MAX_HEAD (256 * 1024) /* bytes to read for the size of a picture */
#define MAX_PIECE 4096

/* Pixels as gdk_texture_download () gives them: four bytes each, multiplied by their opacity, so that they can be averaged. */
typedef struct
{
  guint8 *data;
  guint width, height;
} Pixels;

/* Returns the mean of the pixels of @all from @x0, @y0 up to, but not including, @x1, @y1. */
static void
average (Pixels all, guint x0, guint y0, guint x1, guint y1, guint8 *mean)
{
  guint64 sums[4] = { 0 }, n = (guint64) (x1 - x0) * (y1 - y0);

  for (guint y = y0; y < y1; y++)
    {
      const guint8 *pixel = all.data + ((gsize) y * all.width + x0) * 4;

      for (guint x = x0; x < x1; x++, pixel += 4)
        {
          for (guint i = 0; i < 4; i++)
            sums[i] += pixel[i];
        }
    }
  for (guint i = 0; i < 4; i++)
    mean[i] = (guint8) (sums[i] / n);
}

/* Makes each pixel of @small the mean of the corresponding pixels of @all. */
static void
scale (Pixels all, Pixels small)
{
  for (guint y = 0; y < small.height; y++)
    {
      guint y0 = (guint) ((guint64) y * all.height / small.height);
      guint y1 = (guint) ((guint64) (y + 1) * all.height / small.height);

      for (guint x = 0; x < small.width; x++)
        {
          guint x0 = (guint) ((guint64) x * all.width / small.width);
          guint x1 = (guint) ((guint64) (x + 1) * all.width / small.width);

          average (all, x0, y0, MAX (x1, x0 + 1), MAX (y1, y0 + 1), small.data + ((gsize) y * small.width + x) * 4);
        }
    }
}

/* Returns a texture of @pixels, whose data it takes. */
static GdkTexture *
make_texture (Pixels pixels)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (pixels.data, (gsize) pixels.width * pixels.height * 4);

  return gdk_memory_texture_new ((int) pixels.width, (int) pixels.height, GDK_MEMORY_DEFAULT, bytes,
                                 (gsize) pixels.width * 4);
}

static void
size_prepared (GdkPixbufLoader *loader, int width, int height, gpointer n_pixels)
{
  *(guint64 *) n_pixels = (guint64) width * (guint64) height;
  /* Decoders of vector formats draw when the loader is closed: a single pixel is fast. */
  gdk_pixbuf_loader_set_size (loader, 1, 1);
}

static guint32
read_uint32 (const guint8 *data)
{
  guint32 value;

  memcpy (&value, data, sizeof value);
  return GUINT32_FROM_BE (value);
}

/* Returns how many pixels the picture has according to its header, or 0 if that is not known.  For PNG the header is
 * parsed here, because some loaders read the whole file first. */
static guint64
count_pixels (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autoptr (GdkPixbufLoader) loader = NULL;
  guint64 n_pixels = 0;

  if (size >= 24 && memcmp (data, "\211PNG\r\n\032\n", 8) == 0)
    return (guint64) read_uint32 (data + 16) * read_uint32 (data + 20);

  size = MIN (size, MAX_HEAD);
  loader = gdk_pixbuf_loader_new ();
  g_signal_connect (loader, "size-prepared", G_CALLBACK (size_prepared), &n_pixels);
  for (gsize i = 0; i < size && n_pixels == 0; i += MAX_PIECE)
    {
      if (!gdk_pixbuf_loader_write (loader, data + i, MIN (MAX_PIECE, size - i), NULL))
        break;
    }
  gdk_pixbuf_loader_close (loader, NULL);
  return n_pixels;
}

/* Returns: (transfer full) (nullable): the contents of @file, or %NULL with @error set, which also happens if they are
 * too large */
static GBytes *
read_picture (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileInfo) info
      = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE, G_FILE_QUERY_INFO_NONE, cancellable, error);
  g_autoptr (GBytes) bytes = NULL;

  if (info == NULL)
    return NULL;
  /* Some backends do not set the size. */
  if (g_file_info_get_attribute_uint64 (info, G_FILE_ATTRIBUTE_STANDARD_SIZE) > MAX_BYTES)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, _("The file is too large"));
      return NULL;
    }
  bytes = g_file_load_bytes (file, cancellable, NULL, error);
  if (bytes == NULL || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (count_pixels (bytes) > MAX_PIXELS)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, _("The picture has too many pixels"));
      return NULL;
    }
  return g_steal_pointer (&bytes);
}

/* Returns: (transfer full) (nullable): the thumbnail, or %NULL with @error set if @file has no picture, or if the call
 * was cancelled */
GalleryThumbnail *
gallery_thumbnail_new (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = read_picture (file, cancellable, error);
  g_autoptr (GdkTexture) whole = bytes != NULL ? gdk_texture_new_from_bytes (bytes, error) : NULL;
  GalleryThumbnail *thumbnail;
  Pixels all, small, one = { .width = 1, .height = 1 };
  double factor;

  if (whole == NULL || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  all = (Pixels) { .width = (guint) gdk_texture_get_width (whole), .height = (guint) gdk_texture_get_height (whole) };
  factor = MIN (1, (double) SIZE / MAX (all.width, all.height));
  small.width = MAX (1, (guint) (all.width * factor));
  small.height = MAX (1, (guint) (all.height * factor));
  all.data = g_malloc_n ((gsize) all.width * all.height, 4);
  small.data = g_malloc_n ((gsize) small.width * small.height, 4);
  one.data = g_malloc (4);

  gdk_texture_download (whole, all.data, (gsize) all.width * 4);
  scale (all, small);
  scale (small, one);
  g_free (all.data);

  thumbnail = g_new (GalleryThumbnail, 1);
  *thumbnail = (GalleryThumbnail) { make_texture (small), make_texture (one), (int) all.width, (int) all.height };
  return thumbnail;
}

void
gallery_thumbnail_free (gpointer data)
{
  GalleryThumbnail *thumbnail = data;

  g_object_unref (thumbnail->texture);
  g_object_unref (thumbnail->colour);
  g_free (thumbnail);
}
