/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unmoved.c: a program that does not use the library, for check-unmoved.py */

#include <glib.h>

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

/* Starts once the main loop has been found. */
static gboolean
begin (gpointer loop)
{
  g_idle_add (index_all, NULL);
  g_idle_add (sort_all, NULL);
  g_timeout_add (150, tick, loop);
  return G_SOURCE_REMOVE;
}

int
main (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  g_timeout_add (20, begin, loop);
  g_main_loop_run (loop);
  return 0;
}
