/* prio-handle-private.h: a way back to a signal that may be dropped meanwhile
 *
 * Promises: whoever is to tell a dependent or a timeout signal something later, on any
 * thread, holds its handle and not the signal.  prio_handle_get () gives the signal as
 * long as anybody holds it, the graph of signals included.
 *
 * A handle knows a main context, where the signal says things that cannot be said at once,
 * and where a timeout's time runs.  It does not hold it: tasks hold signals, and a context
 * holds its tasks.
 *
 * Threads: any.  A handle is not dropped under prio_hub_lock, nor at home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-inbox-private.h"

typedef struct _PrioHandle PrioHandle;
typedef struct _PrioHub PrioHub;

/* What somebody comes for.  If the signal is just being disposed, and may be kept yet, it is
 * left to that. */
typedef enum
{
  PRIO_VISIT_LOOK,  /* nothing that cannot be left out */
  PRIO_VISIT_SAY,   /* to have it say `cancelled` */
  PRIO_VISIT_CHANGE /* to change its priority */
} PrioVisit;

struct _PrioHandle
{
  gint refs; /* atomic */
  GWeakRef signal;
  PrioLoop *loop;        /* joined; of the thread-default context where the signal was made */
  PrioHub *hub;          /* under prio_hub_lock; NULL once it is cleared */
  PrioEntry *timer;      /* home: of a timeout whose time runs, or NULL */

  /* Under prio_hub_lock, of a signal that is kept. */
  GThread *keeper;       /* the thread that gave the graph its reference; compared only */
  GList kept_link;       /* among the handles of those that are kept */
};

PrioHandle *prio_handle_new (PrioHub *hub);
PrioHandle *prio_handle_ref (PrioHandle *handle);
void prio_handle_unref (PrioHandle *handle);
GCancellable *prio_handle_get (PrioHandle *handle, PrioVisit visit);
void prio_handle_reconsider (PrioHandle *handle);
void prio_handle_drop (PrioHandle *handle, GCancellable *signal);
void prio_handle_say_later (PrioHandle *handle);
void prio_handle_start_timer (PrioHandle *handle, guint64 delay);
void prio_handle_stop_timer (PrioHandle *handle);
