/* prio-handle.c: a way back to a signal that may be dropped meanwhile
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-handle-private.h"

#include "prio-hub-private.h"

PrioHandle *
prio_handle_ref (PrioHandle *handle)
{
  g_atomic_int_inc (&handle->refs);
  return handle;
}

void
prio_handle_unref (PrioHandle *handle)
{
  if (g_atomic_int_dec_and_test (&handle->refs))
    {
      g_weak_ref_clear (&handle->signal);
      g_main_context_unref (handle->context);
      g_free (handle);
    }
}

/* The handle of @hub, whose caller holds its signal. */
PrioHandle *
prio_handle_new (PrioHub *hub)
{
  PrioHandle *handle = g_new0 (PrioHandle, 1);

  handle->refs = 1;
  handle->hub = hub;
  handle->context = g_main_context_ref_thread_default ();
  g_weak_ref_init (&handle->signal, hub->signal);
  return handle;
}

/* The weak reference of @handle is cleared.  If the graph has a reference nevertheless, the
 * caller gets that.  Otherwise the signal is between the end of its weak references and
 * its finalization, or finalized; if @leave, its dispose () is to say `cancelled`. */
static GCancellable *
take_from_graph (PrioHandle *handle, gboolean leave)
{
  GCancellable *signal = NULL;

  prio_lock_lock (&prio_hub_lock);
  if (handle->hub != NULL)
    {
      signal = prio_hub_release_locked (handle->hub);
      if (signal == NULL && leave && handle->hub->owes == PRIO_OWES_SOON)
        handle->hub->owes = PRIO_OWES_NOW;
    }
  prio_lock_unlock (&prio_hub_lock);

  return signal;
}

/* Returns: (transfer full) (nullable): the signal, or NULL if nobody holds it */
GCancellable *
prio_handle_get (PrioHandle *handle)
{
  GCancellable *signal = g_weak_ref_get (&handle->signal);

  return signal != NULL ? signal : take_from_graph (handle, FALSE);
}

/* The same for who comes to have the signal say `cancelled`, which it owes. */
GCancellable *
prio_handle_get_or_leave (PrioHandle *handle)
{
  GCancellable *signal = g_weak_ref_get (&handle->signal);

  return signal != NULL ? signal : take_from_graph (handle, TRUE);
}

/* A reason to keep the signal has gone.  It is asked again in its dispose () if it is
 * there now, and its weak reference is cleared. */
void
prio_handle_reconsider (PrioHandle *handle)
{
  GCancellable *signal = prio_handle_get (handle);

  if (signal == NULL)
    return;

  prio_hub_reconsider (prio_hub_for (signal));
  g_object_unref (signal);
}

static gboolean
say_now (gpointer data)
{
  prio_hub_say (data);
  return G_SOURCE_REMOVE;
}

/* Has the signal say `cancelled` from its main context. */
void
prio_handle_say_later (PrioHandle *handle)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, say_now, prio_handle_ref (handle), (GDestroyNotify) prio_handle_unref);
  g_source_set_static_name (source, "prio-sched dependent signal");
  g_source_attach (source, handle->context);
  g_source_unref (source);
}
