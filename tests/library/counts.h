/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counts.h: counts remaining contexts, sources and descriptors */

#pragma once

#include <gio/gio.h>

/* A source that counts its end. */
typedef struct
{
  GSource parent;
  gint *n_freed; /* atomic */
} Sentinel;

static inline gboolean
sentinel_prepare (GSource *source G_GNUC_UNUSED, gint *timeout)
{
  *timeout = -1;
  return FALSE;
}

static inline void
sentinel_finalize (GSource *source)
{
  g_atomic_int_inc (((Sentinel *) source)->n_freed);
}

/* Counts the end of @context, by a source in it that is never ready. */
static inline void
watch_context (GMainContext *context, gint *n_freed)
{
  static GSourceFuncs funcs = { sentinel_prepare, NULL, NULL, sentinel_finalize, NULL, NULL };
  GSource *source = g_source_new (&funcs, sizeof (Sentinel));

  ((Sentinel *) source)->n_freed = n_freed;
  g_source_attach (source, context);
  g_source_unref (source);
}

/* Returns how many sources of that name are in @context, among the first few thousand. */
static inline guint
count_sources (GMainContext *context, const char *name)
{
  guint n = 0;

  for (guint id = 1; id < 5000; id++)
    {
      GSource *source = g_main_context_find_source_by_id (context, id);

      n += source != NULL && g_strcmp0 (g_source_get_name (source), name) == 0;
    }
  return n;
}

static inline guint
count_entries (const char *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  if (dir == NULL)
    return 0;
  while (g_dir_read_name (dir) != NULL)
    n++;
  g_dir_close (dir);
  return n;
}

#define count_descriptors() count_entries ("/proc/self/fd")
