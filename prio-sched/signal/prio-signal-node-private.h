/* prio-signal-node-private.h: what the library knows of a cancellable
 *
 * Promises: a node per GCancellable that is used as a signal, embedded in a
 * PrioTaskSignal, attached to any other.  It tells the loops where the signal has
 * tasks, and the signals that depend on it, of an abort or a change of priority,
 * in the draft's order, from whichever thread it comes.  Sources and dependents
 * know each other weakly.
 *
 * Threads: every node, and the graph between them, is under one lock.  It is a
 * leaf: nothing of the user's, no reference of an object and no other lock is
 * taken or dropped under it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "prio-enums.h"
#include "signal/prio-handle-private.h"
#include "base/prio-lock-private.h"

/* How a signal depends on another. */
typedef enum
{
  PRIO_EDGE_ABORT,   /* it is aborted with it */
  PRIO_EDGE_PRIORITY /* its priority follows it */
} PrioEdgeKind;

/* Why signals were aborted: one for all of them, counted by GLib (GAtomicRcBox). */
typedef struct
{
  GError *error;
} PrioReason;

/* Whether a signal has still to say `cancelled`. */
typedef enum
{
  PRIO_CANCELLED_NOT_PENDING,
  PRIO_CANCELLED_PENDING, /* who aborted it comes and has it say so */
  PRIO_CANCELLED_IN_DISPOSE   /* he came while it was being disposed: its dispose () says it */
} PrioPendingCancelled;

/* A change of a signal's priority that is being announced; on the stack of who announces it. */
typedef struct
{
  GThread *changer;      /* compared only */
  PrioTaskPriority next; /* what another thread wants then, if @has_next */
  gboolean has_next;
} PrioChange;

typedef struct _PrioRegistration PrioRegistration;
typedef struct _PrioEdge PrioEdge;

/* There is one in each signal: what is needed first is at the beginning, and what only those
 * need that depend on others is in their PrioHandle. */
struct _PrioSignalNode
{
  GCancellable *signal;           /* whose node it is; not owned */
  /* Where it has tasks, oldest first; see prio_signal_node_has_registrations (). */
  PrioRegistration *registrations, *last_registration;
  PrioTaskPriority priority;      /* read without the lock too; written atomically */
  guint8 is_task_signal;          /* for good, as the next */
  guint8 is_timeout;

  /* Under the lock. */
  guint8 aborted : 1;
  guint8 is_dependent : 1;
  guint8 may_time_out : 1;        /* a timer may still abort it */
  guint8 missed_change : 1;       /* a follower that could not be told while it was disposed */
  guint8 pinned : 1;                /* a reference of the signal belongs to the graph */
  guint8 pending_cancelled : 2;                /* PrioPendingCancelled */
  guint8 notified : 1;            /* its reason has been, or is being */
  guint8 emitted;                    /* a PrioTaskSignal has said `cancelled`: GIO knows of the abort; atomic */
  PrioReason *reason;             /* of @aborted */
  PrioChange *change;             /* that is being announced, or NULL */
  PrioEdge *dependents, *last_dependent; /* oldest first */
  PrioEdge *sources, *last_source;
  guint n_sources[2];             /* by PrioEdgeKind */
  guint64 generation;              /* the last making of a dependent that came by */
  PrioHandle *handle;             /* of a dependent or a timeout, set at its making */
};

/* Whether the signal has tasks anywhere, which may change at any moment: a hint, without
 * the lock.  Who writes `registrations` holds it, and writes atomically. */
static inline gboolean
prio_signal_node_has_registrations (PrioSignalNode *node)
{
  return __atomic_load_n (&node->registrations, __ATOMIC_RELAXED) != NULL;
}

/* That @dependent depends on @source, in one way or both.  Both know it, and either may go
 * first. */
struct _PrioEdge
{
  guint64 generation : 62; /* the making of @dependent that it comes from */
  guint64 kinds : 2;      /* bit K: of PrioEdgeKind K */
  PrioSignalNode *source, *dependent;
  PrioEdge *next_dependent, *prev_dependent; /* among those of @source */
  PrioEdge *next_source, *prev_source;       /* among those of @dependent */
};

static inline gboolean
prio_edge_is (PrioEdge *edge, PrioEdgeKind kind)
{
  return edge->kinds >> kind & 1;
}

/* How the reason of an abort is notified. */
typedef enum
{
  PRIO_NOTICE_NOW,        /* nothing of GLib's is locked, and the caller holds the signal */
  PRIO_NOTICE_IN_DISPOSE, /* GObject would keep a notification back, and forget it */
  PRIO_NOTICE_LATER       /* GLib may hold a lock of the cancellable's */
} PrioNotice;

/* What is done for a node by the class in which it is embedded. */
typedef struct
{
  PrioSignalNode *(*get_node) (GCancellable *signal);                 /* NULL if it is none of the class */
  gboolean (*has_handlers) (PrioSignalNode *node, PrioEdgeKind kind); /* for what a source of @kind makes it say */
  void (*emit_change) (PrioSignalNode *node, PrioTaskPriority previous);
  void (*notify_reason) (PrioSignalNode *node, PrioNotice when);
} PrioSignalNodeFuncs;

extern PrioLock prio_signal_lock G_GNUC_INTERNAL;

void prio_signal_node_undo_reset_slow (PrioSignalNode *node);

/* The signal of @node is used by somebody outside, who holds it. */
static inline void
prio_signal_node_undo_reset (PrioSignalNode *node)
{
  if (G_UNLIKELY (__atomic_load_n (&node->emitted, __ATOMIC_RELAXED)))
    prio_signal_node_undo_reset_slow (node);
}

GError *prio_reason_default (void);
PrioReason *prio_reason_new (const GError *error);
void prio_reason_unref (PrioReason *reason);

GQuark prio_signal_node_quark (void);
void prio_signal_node_set_funcs (const PrioSignalNodeFuncs *funcs);
const PrioSignalNodeFuncs *prio_signal_node_get_funcs (void);
PrioSignalNode *prio_signal_node_find (GCancellable *signal);
void prio_signal_node_init (PrioSignalNode *node, GCancellable *signal, gboolean is_task_signal,
                            PrioTaskPriority priority);

gboolean prio_signal_node_is_aborted (PrioSignalNode *node);
gboolean prio_signal_node_is_aborted_locked (PrioSignalNode *node);
GError *prio_signal_node_dup_reason (PrioSignalNode *node);
PrioTaskPriority prio_signal_node_get_priority (PrioSignalNode *node);

gboolean prio_signal_node_has_fixed_priority (PrioSignalNode *node);
gboolean prio_signal_node_begin_notice (PrioSignalNode *node);
