/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-handle.c: a weak reference to a dependent or timeout signal */

#include "config.h"

#include "signal/prio-handle-private.h"

#include "open/prio-numbers.h"

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
      prio_loop_release (handle->loop);
      g_free (handle);
    }
}

PrioHandle *
prio_handle_new (PrioSignalNode *node, GCancellable *signal)
{
  PrioHandle *handle = g_new0 (PrioHandle, 1);
  GMainContext *context = g_main_context_get_thread_default ();

  handle->refs = 1;
  handle->node = node;
  handle->loop = prio_loop_for_context (context != NULL ? context : g_main_context_default ());
  g_weak_ref_init (&handle->signal, signal);
  return handle;
}
