/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-private.h: what the parts of the library know of each other
 *
 * Promises: prio-dex-future makes futures of tasks, prio-dex-return gives a task the result of a future,
 * prio-dex-gate decides which fiber of a scheduler may run, and prio-dex-fiber runs them.  They use what the two libraries
 * make public, and nothing else.
 */

#pragma once

#include "prio-sched-dex.h"

#include <prio-sched-bindings.h>

/* Any thread: whether libdex can be used; otherwise tells that @function was called too early. */
gboolean prio_dex_is_ready (const char *function) G_GNUC_INTERNAL;

/* A fiber of prio_dex_spawn ().  It belongs to the thread that runs its scheduler's main context. */
typedef struct
{
  gint refs; /* atomic */

  DexFiberFunc func;
  gpointer data;
  GDestroyNotify notify;
  gsize stack_size;

  /* Of the task that the fiber is: it does not hold the scheduler, which holds the main context. */
  PrioSchedulingState *state; /* owned, from its first turn on */

  /* Resolves when it may begin. */
  DexFuture *entrance; /* owned, until it is awaited */

  /* Addresses that are on its stack, as far as it is used from its first function on. */
  gsize low, high;
  /* g_main_depth () where it was last resumed. */
  gint depth;
  /* Whether it may be forgotten by the list that it is in; atomic. */
  gint ended;
} PrioDexFiber;

PrioDexFiber *prio_dex_fiber_ref (PrioDexFiber *self) G_GNUC_INTERNAL;
void prio_dex_fiber_unref (gpointer self) G_GNUC_INTERNAL;

/* The gate of a scheduler: one of its fibers has the turn at a time, from when it is let in until it is suspended.
 *
 * libdex runs a fiber in a later dispatch than that in which it became ready.  If each turn that comes let a fiber in, all of
 * them would be in before the first had run, and a more urgent one, or a frame, would come after them.  */
typedef struct _PrioDexGate PrioDexGate;

/* Returns: (transfer full) (nullable): the gate of the fiber's scheduler, or NULL if that has gone */
PrioDexGate *prio_dex_gate_of (PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_unref (PrioDexGate *self) G_GNUC_INTERNAL;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioDexGate, prio_dex_gate_unref)

/* A fiber comes, in its first turn, and goes.  Between these calls the gate watches whether the one inside has been suspended by
 * others.
 *
 * Returns: (transfer full): resolves when the fiber is inside */
DexFuture *prio_dex_gate_enter (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_leave (PrioDexGate *self) G_GNUC_INTERNAL;

/* The fiber, if it is inside, has been resumed, or suspends itself. */
void prio_dex_gate_began (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_release (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;

/* In a fiber that is not inside: suspends it until it is let in, by priority and age.
 *
 * Returns: whether it is inside, or FALSE with @error set if it has been aborted or discarded */
gboolean prio_dex_gate_wait (PrioDexFiber *fiber, GError **error) G_GNUC_INTERNAL;
