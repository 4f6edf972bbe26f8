/* prio-microtasks-private.h: what runs before the next task
 *
 * Promises: microtasks in the order in which they were queued, each with the
 * state that was current then (§4.1.4 of the draft).  They may be queued while
 * one runs, and a nested main loop goes on where the outer one is.
 *
 * Everything here belongs to the owner thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "queue/prio-state-private.h"

typedef struct
{
  GSourceOnceFunc func;
  gpointer data;
  GDestroyNotify notify;
  PrioState state; /* held; its run queue is NULL if there is none */
} PrioMicrotask;

typedef struct
{
  PrioMicrotask *ring; /* @allocated of them, a power of two */
  gsize head, length, allocated;
} PrioMicrotasks;

void prio_microtasks_clear (PrioMicrotasks *microtasks);
void prio_microtasks_push (PrioMicrotasks *microtasks, const PrioMicrotask *microtask);
gboolean prio_microtasks_pop (PrioMicrotasks *microtasks, PrioMicrotask *microtask);
