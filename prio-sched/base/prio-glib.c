/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-glib.c: the two places where the library relies on GLib's internals */

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
#define N_WAITS (G_USEC_PER_SEC / WAIT_STEP)
#define N_BRIEF_WAITS 10

/* Yields first, and then sleeps up to @n_waits times.  Returns FALSE if @disposer is still in g_object_unref (). */
static gboolean
wait_for_unref (GObject *object, GThread *disposer, guint n_waits)
{
  for (guint i = 0; i < N_YIELDS + n_waits && prio_is_within_unref (object, disposer); i++)
    {
      if (i < N_YIELDS)
        g_thread_yield ();
      else
        g_usleep (WAIT_STEP);
    }
  return !prio_is_within_unref (object, disposer);
}

void
prio_wait_for_unref (GObject *object, GThread *disposer)
{
  wait_for_unref (object, disposer, N_WAITS);
}

gboolean
prio_wait_briefly_for_unref (GObject *object, GThread *disposer)
{
  return wait_for_unref (object, disposer, N_BRIEF_WAITS);
}
