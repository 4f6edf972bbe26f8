/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-signal-node-private.h: the library's record of a cancellable
 *
 * Promises: every GCancellable that is used as a signal has one node.  The node is a field of a PrioTaskSignal, and
 * qdata of any other cancellable.  An abort or a change of priority, from any thread, reaches the loops where the
 * signal has tasks, and the signals that depend on it, in the order of the draft (Prioritized Task Scheduling of the
 * WICG).  Sources and dependents refer to each other weakly.
 *
 * Threads: one lock, prio_signal_lock, guards all nodes, the graph between them, and the names of tasks.  It is a leaf
 * lock: while it is held, no user code runs, no object is referenced or unreferenced, and no other lock is taken. */

#pragma once

#include <gio/gio.h>

#include "prio-types.h"
#include "base/prio-lock-private.h"
#include "signal/prio-handle-private.h"

/* How a signal depends on another. */
typedef enum
{
  PRIO_EDGE_ABORT,   /* the abort of the source aborts the dependent */
  PRIO_EDGE_PRIORITY /* the priority of the dependent follows the source's */
} PrioEdgeKind;

/* Why signals were aborted: a GAtomicRcBox that all signals and tasks of one abort share. */
typedef struct
{
  GError *error;
  gboolean is_default; /* the abort had no reason */
} PrioReason;

/* Whether a signal still has to emit `cancelled`. */
typedef enum
{
  PRIO_CANCELLED_NOT_PENDING,
  PRIO_CANCELLED_PENDING,   /* the thread that aborted the signal will make it emit `cancelled` */
  PRIO_CANCELLED_IN_DISPOSE /* dispose () will emit, because the aborting thread has found the signal in dispose () */
} PrioPendingCancelled;

/* A change of a signal's priority that is being announced.  It is on the stack of the announcing thread. */
typedef struct
{
  GThread *changer;      /* the announcing thread; only compared */
  PrioTaskPriority next; /* the new priority, which another thread may replace during the announcement */
} PrioChange;

typedef struct _PrioRegistration PrioRegistration;
typedef struct _PrioEdge PrioEdge;

/* Every signal has a node, so a node is small: most fields that only dependents and timeouts need are in their
 * PrioHandle.  The fields of the fast paths come first. */
struct _PrioSignalNode
{
  GCancellable *signal;           /* the signal that this node describes; not owned */
  /* The signal's registrations at schedulers, oldest first; see prio_signal_node_has_registrations (). */
  PrioRegistration *registrations, *last_registration;
  PrioTaskPriority priority;      /* written atomically under the lock; read with or without it */
  guint8 is_task_signal : 1;      /* never changes */
  guint8 is_timeout : 1;          /* never changes */
  guint8 follows;                 /* whether one of @sources is of PRIO_EDGE_PRIORITY; under the lock */

  /* Guarded by prio_signal_lock: */
  guint8 aborted : 1;
  guint8 is_dependent : 1;
  guint8 may_time_out : 1;        /* whether a timer may still abort the signal */
  guint8 missed_change : 1;       /* whether the followed priority changed while the signal was being disposed */
  guint8 pinned : 1;              /* whether the graph owns a reference to the signal */
  guint8 pending_cancelled : 2;   /* PrioPendingCancelled */
  guint8 notified : 1;            /* whether the notification of `aborted` and `reason` has begun */
  guint8 reached : 1;             /* whether the abort that is walking the graph has reached the node */
  guint8 emitted;                 /* whether a PrioTaskSignal has emitted `cancelled`, so that GIO knows of the abort; atomic */
  PrioReason *reason;             /* the reason of the abort, if @aborted */
  PrioChange *change;             /* the change that is being announced, or NULL */
  GQueue dependents, sources;     /* PrioEdge, oldest first */
  guint64 generation;             /* the generation in which the last edge from this node was added */
  PrioHandle *handle;             /* set when a dependent or a timeout is created; otherwise NULL */
};

/* Returns whether the signal has registrations, of tasks or captured states at any scheduler.  The result may be out of
 * date at once, because it is read without the lock.  Writers of `registrations` hold the lock and write atomically. */
static inline gboolean
prio_signal_node_has_registrations (PrioSignalNode *node)
{
  return __atomic_load_n (&node->registrations, __ATOMIC_RELAXED) != NULL;
}

/* An edge: the abort of @dependent, its priority, or both depend on @source.  The edge is on a list of each node, and
 * is freed when the first of the two signals is finalized. */
struct _PrioEdge
{
  guint64 generation : 62; /* the value of `generation` in prio-edge.c when the edge was added */
  guint64 kinds : 2;       /* one bit for each PrioEdgeKind */
  PrioSignalNode *source, *dependent;
  GList of_source, of_dependent; /* in @dependents of @source, and in @sources of @dependent */
};

static inline gboolean
prio_edge_is (PrioEdge *edge, PrioEdgeKind kind)
{
  return edge->kinds >> kind & 1;
}

/* Returns whether a source can abort @node or change its priority, as @kind says.  At most one edge is only for the
 * priority, so if there are two edges, at least one is for aborts.  The caller holds the lock. */
static inline gboolean
prio_signal_node_has_sources (PrioSignalNode *node, PrioEdgeKind kind)
{
  if (kind == PRIO_EDGE_PRIORITY)
    return node->follows;
  return node->sources.length > 1 || (node->sources.length == 1 && prio_edge_is (node->sources.head->data, kind));
}

/* When a property is notified. */
typedef enum
{
  PRIO_NOTICE_NOW,        /* at once, because GLib holds no lock, and the caller holds a reference to the signal */
  PRIO_NOTICE_IN_DISPOSE, /* in dispose (), where GObject would drop a notification */
  PRIO_NOTICE_LATER       /* later, because GLib may hold the lock of the cancellable */
} PrioNotice;

/* The functions of the class that embeds a node. */
typedef struct
{
  GType type;   /* the class */
  gsize offset; /* the offset of the node in an instance */
  gboolean (*has_handlers) (PrioSignalNode *node, PrioEdgeKind kind); /* whether handlers are connected for @kind */
  void (*emit_change) (PrioSignalNode *node, PrioTaskPriority previous, PrioNotice when);
  void (*notify_abort) (PrioSignalNode *node, PrioNotice when); /* called once per abort */
} PrioSignalNodeFuncs;

extern PrioLock prio_signal_lock G_GNUC_INTERNAL;
extern const PrioSignalNodeFuncs *prio_signal_node_funcs G_GNUC_INTERNAL; /* atomic */

/* Returns the functions of PrioTaskSignal, or NULL if no such signal exists yet. */
static inline const PrioSignalNodeFuncs *
prio_signal_node_get_funcs (void)
{
  return __atomic_load_n (&prio_signal_node_funcs, __ATOMIC_ACQUIRE);
}

static inline gboolean
prio_signal_node_is_embedded (GCancellable *signal)
{
  const PrioSignalNodeFuncs *funcs = prio_signal_node_get_funcs ();

  return G_LIKELY (funcs != NULL) && G_TYPE_CHECK_INSTANCE_TYPE (signal, funcs->type);
}

/* Returns whether @node is aborted.  A plain cancellable may be used again after g_cancellable_reset (), so this asks
 * GIO, and removes the mark of an abort that was reset.  The caller holds the lock. */
static inline gboolean
prio_signal_node_is_aborted_locked (PrioSignalNode *node)
{
  if (!node->is_task_signal)
    {
      gboolean cancelled = g_cancellable_is_cancelled (node->signal);

      node->aborted = node->aborted && cancelled;
      return cancelled;
    }

  /* In a direct g_cancellable_cancel (), handlers may run before the signal's own class handler, which marks the
   * node. */
  return node->aborted || g_cancellable_is_cancelled (node->signal);
}

void prio_signal_node_undo_reset_slow (PrioSignalNode *node);

/* Cancels an aborted PrioTaskSignal again if it has been reset with g_cancellable_reset ().  Called wherever a signal
 * is used.  The caller holds a reference to the signal, and has entered no loop. */
static inline void
prio_signal_node_undo_reset (PrioSignalNode *node)
{
  if (G_UNLIKELY (__atomic_load_n (&node->emitted, __ATOMIC_RELAXED)))
    prio_signal_node_undo_reset_slow (node);
}

PrioReason *prio_reason_new (GError *error);
void prio_reason_unref (gpointer reason);

GQuark prio_signal_node_quark (void);

/* Returns the node of @signal, or NULL if @signal is a plain cancellable that has no node yet. */
static inline PrioSignalNode *
prio_signal_node_find (GCancellable *signal)
{
  if (G_LIKELY (prio_signal_node_is_embedded (signal)))
    return G_STRUCT_MEMBER_P (signal, prio_signal_node_get_funcs ()->offset);
  return g_object_get_qdata (G_OBJECT (signal), prio_signal_node_quark ());
}

void prio_signal_node_init (PrioSignalNode *node, GCancellable *signal, gboolean is_task_signal);

gboolean prio_signal_node_is_aborted (PrioSignalNode *node);
PrioReason *prio_signal_node_ref_reason (PrioSignalNode *node);
PrioTaskPriority prio_signal_node_get_priority (PrioSignalNode *node);

gboolean prio_signal_node_has_fixed_priority (PrioSignalNode *node);
gboolean prio_signal_node_begin_notice (PrioSignalNode *node);
