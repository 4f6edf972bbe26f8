/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unmoved.c: a program that does not use the library, for check-unmoved.py
 *
 *   unmoved [flood | gdk]
 *
 * "flood" adds 2,000 short callbacks at once, and "gdk" adds two through GDK 3's functions.
 */

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

static void
work (gint64 ms)
{
  gint64 end = g_get_monotonic_time () + ms * 1000;

  while (g_get_monotonic_time () < end)
    ;
}

static gboolean
index_all (gpointer data)
{
  work (60);
  g_print ("index_all ends\n");
  return G_SOURCE_REMOVE;
}

static gboolean
sort_all (gpointer data)
{
  work (40);
  g_print ("sort_all ends\n");
  return G_SOURCE_REMOVE;
}

static gboolean
tick (gpointer data)
{
  work (50);
  g_print ("tick ends\n");
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

/* Begins the work once the main loop has been found. */
static gboolean
begin (gpointer loop)
{
  g_idle_add (index_all, NULL);
  g_idle_add (sort_all, NULL);
  g_timeout_add (150, tick, loop);
  return G_SOURCE_REMOVE;
}

static gboolean
load_row (gpointer data)
{
  g_usleep (50);
  return G_SOURCE_REMOVE;
}

static gboolean
begin_flood (gpointer loop)
{
  for (guint i = 0; i < 2000; i++)
    g_idle_add (load_row, NULL);
  g_timeout_add (150, tick, loop);
  return G_SOURCE_REMOVE;
}

static gboolean
begin_gdk (gpointer loop)
{
  guint (*add_idle) (gint, GSourceFunc, gpointer, GDestroyNotify);
  guint (*add_timeout) (gint, guint, GSourceFunc, gpointer, GDestroyNotify);
  void *gdk = dlopen ("libgdk-3.so.0", RTLD_NOW);

  if (gdk == NULL)
    {
      g_print ("no GDK 3\n");
      g_main_loop_quit (loop);
      return G_SOURCE_REMOVE;
    }
  *(void **) &add_idle = dlsym (gdk, "gdk_threads_add_idle_full");
  *(void **) &add_timeout = dlsym (gdk, "gdk_threads_add_timeout_full");
  add_idle (G_PRIORITY_DEFAULT_IDLE, index_all, NULL, NULL);
  add_idle (G_PRIORITY_DEFAULT_IDLE, sort_all, NULL, NULL);
  add_timeout (G_PRIORITY_DEFAULT, 150, tick, loop, NULL);
  return G_SOURCE_REMOVE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  const char *mode = argc > 1 ? argv[1] : "";

  g_timeout_add (20, strcmp (mode, "flood") == 0 ? begin_flood : strcmp (mode, "gdk") == 0 ? begin_gdk : begin, loop);
  g_main_loop_run (loop);
  return 0;
}
