/* prio-handle-private.h: a way back to a signal that may be dropped meanwhile
 *
 * Promises: whoever is to tell a dependent or a timeout signal something later, on any
 * thread, holds its handle and not the signal.  prio_handle_get () gives the signal as
 * long as anybody holds it, the graph of signals included.
 *
 * Threads: any.  A handle is not dropped under prio_hub_lock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

typedef struct _PrioHandle PrioHandle;
typedef struct _PrioHub PrioHub;

struct _PrioHandle
{
  gint refs; /* atomic */
  GWeakRef signal;
  GMainContext *context; /* where it says `cancelled` if a source was cancelled by hand */
  PrioHub *hub;          /* under prio_hub_lock; NULL once it is cleared */
};

PrioHandle *prio_handle_new (PrioHub *hub);
PrioHandle *prio_handle_ref (PrioHandle *handle);
void prio_handle_unref (PrioHandle *handle);
GCancellable *prio_handle_get (PrioHandle *handle);
GCancellable *prio_handle_get_or_leave (PrioHandle *handle);
void prio_handle_reconsider (PrioHandle *handle);
void prio_handle_say_later (PrioHandle *handle);
