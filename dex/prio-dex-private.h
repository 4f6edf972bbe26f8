/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-private.h: the interfaces between the parts of the library
 *
 * prio-dex-future.c makes futures of tasks, prio-dex-return.c gives a task the result of a future, prio-dex-gate.c
 * decides which fiber of a scheduler may run, and prio-dex-fiber.c runs fibers.  All use only public functions of
 * prio-sched and libdex.
 */

#pragma once

#include "prio-sched-dex.h"

#include <prio-sched-bindings.h>

/* Returns whether libdex can be used; otherwise logs that @function was called too early.  Any thread may call it. */
gboolean prio_dex_is_ready (const char *function) G_GNUC_INTERNAL;

/* A fiber of prio_dex_spawn ().  It belongs to the thread that runs its scheduler's main context. */
typedef struct
{
  gint refs; /* atomic */

  DexFiberFunc func;
  gpointer data;
  GDestroyNotify notify;
  gsize stack_size;

  /* The scheduling state of the fiber's task.  It has no reference to the scheduler. */
  PrioSchedulingState *state; /* owned, from its first turn on */

  /* Resolves when the fiber may start. */
  DexFuture *entrance; /* owned, until it is awaited */

  /* The bounds of the fiber's stack, from the frame of its first function on */
  gsize low, high;
  /* g_main_depth () when the fiber was last resumed */
  gint depth;
  /* Whether the fiber has ended; atomic.  If it ended on another thread, its first thread still lists it. */
  gint ended;
} PrioDexFiber;

PrioDexFiber *prio_dex_fiber_ref (PrioDexFiber *self) G_GNUC_INTERNAL;
void prio_dex_fiber_unref (gpointer self) G_GNUC_INTERNAL;

/* The gate of a scheduler, which gives its fibers their turns: one fiber at a time is inside, until it is suspended.
 *
 * libdex runs a ready fiber only in a later dispatch.  If the gate let in each fiber whose turn has come, all ready
 * fibers would be inside before the first had run, and would run before a more urgent fiber or a frame. */
typedef struct _PrioDexGate PrioDexGate;

/* Returns (transfer full) (nullable) the gate of the fiber's scheduler; NULL if that was finalized. */
PrioDexGate *prio_dex_gate_of (PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_unref (PrioDexGate *self) G_GNUC_INTERNAL;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioDexGate, prio_dex_gate_unref)

/* Lets @fiber in, or queues it; called in its first turn.  Returns (transfer full) a future that resolves when @fiber is
 * inside.  From then on, the gate notices if other code suspends it.  Call prio_dex_gate_leave () when it ends. */
DexFuture *prio_dex_gate_enter (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_leave (PrioDexGate *self) G_GNUC_INTERNAL;

/* Notes that @fiber has been resumed, or that it suspends itself. */
void prio_dex_gate_began (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;
void prio_dex_gate_release (PrioDexGate *self, PrioDexFiber *fiber) G_GNUC_INTERNAL;

/* Suspends @fiber until the gate lets it in, by priority and age.  Returns FALSE, with @error set, if the fiber was
 * aborted or discarded, or its scheduler was finalized. */
gboolean prio_dex_gate_wait (PrioDexFiber *fiber, GError **error) G_GNUC_INTERNAL;
