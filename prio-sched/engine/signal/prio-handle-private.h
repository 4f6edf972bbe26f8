/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-handle-private.h: a weak reference to a dependent or timeout signal
 *
 * Promises: code that will notify a dependent or a timeout signal later, on any thread, holds its handle and not the
 * signal.  While the signal has references, prio_handle_get () returns it (prio-pin-private.h).
 *
 * A handle refers to the loop of a main context, in which the signal emits `cancelled` if it cannot do so at once, and
 * in which the timer of a timeout runs.  The handle does not keep the context alive, because that would be a cycle:
 * tasks hold signals, and a context holds its tasks.
 *
 * Any thread may use a handle.  A thread that holds prio_signal_lock, or has entered a loop, must release no handle. */

#pragma once

#include "base/prio-lock-private.h"
#include "queue/prio-queue-private.h"

#include <gio/gio.h>

typedef struct _PrioHandle PrioHandle;
typedef struct _PrioSignalNode PrioSignalNode;

struct _PrioHandle
{
  gint refs; /* atomic */
  GWeakRef signal;
  PrioLoop *loop;       /* the acquired loop of the context that was the thread's default when the signal was created */
  PrioSignalNode *node; /* under prio_signal_lock; NULL once the node is cleared */
  PrioEntry *timer;     /* the running timer of a timeout signal, or NULL; owner thread */

  GThread *pinned_by; /* the last thread that pinned the signal; set before `pinned`; atomic; only compared */
  GList pin_link;     /* link in the queue of handles of pinned signals; under prio_signal_lock */
};

PrioHandle *prio_handle_new (PrioSignalNode *node, GCancellable *signal);
PrioHandle *prio_handle_ref (PrioHandle *handle);
void prio_handle_unref (PrioHandle *handle);
