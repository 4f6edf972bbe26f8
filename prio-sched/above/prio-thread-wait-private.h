/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-wait-private.h: threads that wait for a main loop, and their lock
 *
 * Promises: fork () takes the lock, so that a child can use channels. */

#pragma once

#include "base/prio-lock-private.h"
#include "prio-engine.h"

/* Guards the waits of threads, channels, and flags of workers.  No other lock is taken while this lock is held. */
extern PrioLock prio_waits_lock G_GNUC_INTERNAL;

gboolean prio_thread_wait (PrioLoop *loop, gint64 until, GCancellable *signal, GCancellable *cancellable,
                           gboolean (*ends) (gpointer), gpointer data, GError **error);

/* Makes waiting threads check again whether their waits are over.  Ignores @data, so that it can be a destroy notify.
 * Any thread may call this function. */
void prio_thread_waits_look (gpointer data);

void prio_thread_waits_set (gboolean *flag);

void prio_task_when_over (PrioTask *task, gpointer data, GDestroyNotify notify);
