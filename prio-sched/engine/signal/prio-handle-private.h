/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-handle-private.h: a weak reference to a dependent or timeout signal
 *
 * Promises: code that will notify a dependent or a timeout signal later, on any thread, holds its handle and not the
 * signal. prio_handle_get () (prio-pin) returns the signal while anything holds it, the graph included.
 *
 * A handle refers to the loop of a main context, in which the signal emits `cancelled` if it cannot at once, and in
 * which the timer of a timeout runs.  It does not keep the context alive, which would make a cycle: tasks hold signals,
 * and a context holds its tasks.
 *
 * Threads: any.  A handle is not released under prio_signal_lock, nor inside a loop.
 */

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
  PrioLoop *loop;       /* acquired, of the thread-default context where the signal was made */
  PrioSignalNode *node; /* under prio_signal_lock; NULL once the node is cleared */
  PrioEntry *timer;     /* owner thread: the timer of a timeout that is running, or NULL */

  GThread *pinned_by; /* atomic: the thread that last gave the graph a reference, or is about to; compared only */
  GList pin_link;     /* in the queue of pinned signals' handles; under prio_signal_lock */
};

PrioHandle *prio_handle_new (PrioSignalNode *node, GCancellable *signal);
PrioHandle *prio_handle_ref (PrioHandle *handle);
void prio_handle_unref (PrioHandle *handle);
