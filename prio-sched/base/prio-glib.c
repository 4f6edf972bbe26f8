/* prio-unref.c: an object that its dispose () has revived on another thread
 *
 * prio-unref-private.h explains it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-unref-private.h"

/* Whether @disposer, another thread than this one, is still in the g_object_unref () whose dispose () has revived @object.
 * While the notifications of an object are frozen, it has qdata of this name. */
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

/* Yields first, and then sleeps @n_waits times.  Returns FALSE if the wait has been in vain. */
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

/* Waits until the g_object_unref () of @disposer has returned, or is about to.  That takes a few instructions only; the
 * wait is bounded, because user code may have frozen the notifications for good. */
void
prio_wait_for_unref (GObject *object, GThread *disposer)
{
  wait_for_unref (object, disposer, N_WAITS);
}

/* The same, for a millisecond: for who has another way.  Returns FALSE if the wait has been in vain: then a handler may
 * be running in dispose (), for as long as it likes. */
gboolean
prio_wait_briefly_for_unref (GObject *object, GThread *disposer)
{
  return wait_for_unref (object, disposer, N_BRIEF_WAITS);
}
