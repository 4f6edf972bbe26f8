/* prio-handle-private.h: a way back to a signal that may be dropped meanwhile
 *
 * Promises: whoever is to tell a dependent or a timeout signal something later, on any
 * thread, holds its handle and not the signal.  prio_handle_get () (prio-pin) gives the signal as
 * long as anybody holds it, the graph of signals included.
 *
 * A handle knows a main context, where the signal says things that cannot be said at once,
 * and where a timeout's time runs.  It does not hold it: tasks hold signals, and a context
 * holds its tasks.
 *
 * Threads: any.  A handle is not dropped under prio_signal_lock, nor on the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
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
  PrioLoop *loop;        /* joined; of the thread-default context where the signal was made */
  PrioSignalNode *node;          /* under prio_signal_lock; NULL once it is cleared */
  PrioEntry *timer;      /* home: of a timeout whose time runs, or NULL */

  /* Under prio_signal_lock, of a signal that is kept. */
  GThread *pinned_by;       /* the thread that gave the graph its reference; compared only */
  GList pin_link;       /* among the handles of those that are kept */
};

PrioHandle *prio_handle_new (PrioSignalNode *node, GCancellable *signal);
PrioHandle *prio_handle_ref (PrioHandle *handle);
void prio_handle_unref (PrioHandle *handle);
