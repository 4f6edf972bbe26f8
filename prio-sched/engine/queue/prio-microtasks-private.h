/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-microtasks-private.h: microtasks, which run before the next task
 *
 * Promises: microtasks run in the order in which they were queued, each with the state that was current then (§4.1.4 of
 * the WICG draft).  A running microtask may queue others.  A nested main loop runs the remaining microtasks of the
 * outer main loop.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "queue/prio-state-private.h"

typedef struct
{
  GSourceOnceFunc func; /* or NULL */
  gpointer data;
  GDestroyNotify notify;
  PrioState state; /* owned; its run queue is NULL if no state was current */
} PrioMicrotask;

typedef struct
{
  PrioMicrotask *ring; /* @allocated elements, a power of two */
  gsize head, length, allocated;
} PrioMicrotasks;

void prio_microtasks_clear (PrioMicrotasks *microtasks);
void prio_microtasks_push (PrioMicrotasks *microtasks, const PrioMicrotask *microtask);
gboolean prio_microtasks_pop (PrioMicrotasks *microtasks, PrioMicrotask *microtask);
