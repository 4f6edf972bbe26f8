/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-glib.c: the two places where the engine relies on GLib's internals */

#include "config.h"

#include "base/prio-glib-private.h"

gboolean
prio_source_context_ends (GSource *source)
{
  return source->context == NULL;
}

gboolean
prio_is_within_unref (GObject *object, GThread *disposer)
{
  return disposer != NULL && disposer != g_thread_self () &&
         g_object_get_qdata (object, g_quark_from_static_string ("GObject-notify-queue")) != NULL;
}

#define N_YIELDS 100
#define WAIT_STEP 100 /* µs */

gboolean
prio_wait_for_unref (GObject *object, GThread *disposer, gint64 longest)
{
  for (gint64 i = 0; i < N_YIELDS + longest / WAIT_STEP && prio_is_within_unref (object, disposer); i++)
    {
      if (i < N_YIELDS)
        g_thread_yield ();
      else
        g_usleep (WAIT_STEP);
    }
  return !prio_is_within_unref (object, disposer);
}
