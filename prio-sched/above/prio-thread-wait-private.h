/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-wait-private.h: the lock of channels, and of threads that wait
 *
 * Promises: fork () takes it, so that a child can use channels.
 */

#pragma once

#include "base/prio-lock-private.h"
#include "prio-task.h"

/* One for all waits and channels.  A leaf. */
extern PrioLock prio_waits_lock G_GNUC_INTERNAL;

/* Lets threads that wait look at their tasks, before the main loop tells of the end.  Any thread. */
void prio_thread_waits_look (void);

void prio_task_when_over (PrioTask *task, gpointer data, GDestroyNotify notify);
