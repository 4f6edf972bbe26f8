/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-signal-node-private.h: the library's record of a cancellable
 *
 * Promises: every GCancellable that is used as a signal has one node.  It is embedded in a PrioTaskSignal, and attached
 * to any other cancellable.  An abort or a change of priority, from any thread, reaches the loops where the signal has
 * tasks, and the signals that depend on it, in the draft's order.  Sources and dependents refer to each other weakly.
 *
 * Threads: one lock, prio_signal_lock, guards all nodes and the graph between them.  It is a leaf lock: while it is
 * held, no user code runs, no object is referenced or unreferenced, and no other lock is taken or dropped.
 */

#pragma once

#include <gio/gio.h>

#include "prio-enums.h"
#include "base/prio-lock-private.h"
#include "signal/prio-handle-private.h"

/* How a signal depends on another. */
typedef enum
{
  PRIO_EDGE_ABORT,   /* the abort of the source aborts the dependent */
  PRIO_EDGE_PRIORITY /* the priority of the dependent follows the source's */
} PrioEdgeKind;

/* Why signals were aborted: shared by all signals and tasks of one abort, reference counted (GAtomicRcBox). */
typedef struct
{
  GError *error;
} PrioReason;

/* Whether a signal still has to emit `cancelled`. */
typedef enum
{
  PRIO_CANCELLED_NOT_PENDING,
  PRIO_CANCELLED_PENDING,   /* the thread that aborted the signal will make it emit */
  PRIO_CANCELLED_IN_DISPOSE /* that thread found the signal in dispose (): dispose () emits */
} PrioPendingCancelled;

/* A change of a signal's priority that is being announced; on the stack of the thread that announces it. */
typedef struct
{
  GThread *changer;      /* compared only */
  PrioTaskPriority next; /* the new priority, which another thread may replace meanwhile */
} PrioChange;

typedef struct _PrioRegistration PrioRegistration;
typedef struct _PrioEdge PrioEdge;

/* Every signal has a node, so it is small: the fields of the fast paths come first, and fields that only dependents
 * and timeouts need are in their PrioHandle. */
struct _PrioSignalNode
{
  GCancellable *signal;           /* the signal that this node describes; not owned */
  /* The schedulers where the signal has tasks, oldest first; see prio_signal_node_has_registrations (). */
  PrioRegistration *registrations, *last_registration;
  PrioTaskPriority priority;      /* also read without the lock; written under it, atomically */
  guint8 is_task_signal : 1;      /* never changes, like the next */
  guint8 is_timeout : 1;
  guint8 follows;                 /* whether one of @sources is of PRIO_EDGE_PRIORITY; under the lock */

  /* Under the lock. */
  guint8 aborted : 1;
  guint8 is_dependent : 1;
  guint8 may_time_out : 1;        /* a timer may still abort the signal */
  guint8 missed_change : 1;       /* the followed priority changed while the signal was being disposed */
  guint8 pinned : 1;              /* the graph owns a reference to the signal */
  guint8 pending_cancelled : 2;   /* PrioPendingCancelled */
  guint8 notified : 1;            /* the notification of `reason` has begun */
  guint8 reached : 1;             /* by the abort that is walking the graph */
  guint8 emitted;                 /* a PrioTaskSignal has emitted `cancelled`, so GIO has the abort; atomic */
  PrioReason *reason;             /* of the abort, if @aborted */
  PrioChange *change;             /* the change that is being announced, or NULL */
  GQueue dependents, sources;     /* PrioEdge, oldest first */
  guint64 generation;             /* of the last edge from this node: one edge per source and generation */
  PrioHandle *handle;             /* of a dependent or a timeout, set when it is made; otherwise NULL */
};

/* Returns whether the signal has tasks at any scheduler.  This is a hint: it is read without the lock, and may
 * change at any moment.  Writers of `registrations` hold the lock and write atomically. */
static inline gboolean
prio_signal_node_has_registrations (PrioSignalNode *node)
{
  return __atomic_load_n (&node->registrations, __ATOMIC_RELAXED) != NULL;
}

/* States that @dependent depends on @source, in one way or both.  The edge is on a list of each, and is freed when
 * the first of the two is finalized. */
struct _PrioEdge
{
  guint64 generation : 62; /* counts the calls that add edges to a dependent; edges of one call share it */
  guint64 kinds : 2;       /* bit K: PrioEdgeKind K */
  PrioSignalNode *source, *dependent;
  GList of_source, of_dependent; /* in @dependents of @source, and in @sources of @dependent */
};

static inline gboolean
prio_edge_is (PrioEdge *edge, PrioEdgeKind kind)
{
  return edge->kinds >> kind & 1;
}

/* Returns whether a source can abort @node, or change its priority.  At most one cannot abort it.  Under the lock. */
static inline gboolean
prio_signal_node_has_sources (PrioSignalNode *node, PrioEdgeKind kind)
{
  if (kind == PRIO_EDGE_PRIORITY)
    return node->follows;
  return node->sources.length > 1 || (node->sources.length == 1 && prio_edge_is (node->sources.head->data, kind));
}

/* How a property is notified. */
typedef enum
{
  PRIO_NOTICE_NOW,        /* GLib holds no lock, and the caller holds a reference to the signal */
  PRIO_NOTICE_IN_DISPOSE, /* GObject would freeze a notification, and drop it */
  PRIO_NOTICE_LATER       /* GLib may hold the lock of the cancellable */
} PrioNotice;

/* The functions of the class that embeds a node. */
typedef struct
{
  GType type;   /* the class */
  gsize offset; /* of the node in an instance */
  gboolean (*has_handlers) (PrioSignalNode *node, PrioEdgeKind kind); /* for emissions by @kind */
  void (*emit_change) (PrioSignalNode *node, PrioTaskPriority previous, PrioNotice when);
  void (*notify_abort) (PrioSignalNode *node, PrioNotice when); /* once */
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

/* Returns whether @node is aborted.  For a plain cancellable the answer is GIO's, because g_cancellable_reset ()
 * makes it usable again.  Under the lock. */
static inline gboolean
prio_signal_node_is_aborted_locked (PrioSignalNode *node)
{
  if (!node->is_task_signal)
    {
      gboolean cancelled = g_cancellable_is_cancelled (node->signal);

      node->aborted = node->aborted && cancelled;
      return cancelled;
    }

  /* After a direct g_cancellable_cancel (), handlers may run before the signal's own class handler marks the node. */
  return node->aborted || g_cancellable_is_cancelled (node->signal);
}

void prio_signal_node_undo_reset_slow (PrioSignalNode *node);

/* Cancels an aborted PrioTaskSignal again if it has been reset with g_cancellable_reset ().  Called wherever a
 * signal is used.  The caller holds a reference to the signal, and is not inside a loop. */
static inline void
prio_signal_node_undo_reset (PrioSignalNode *node)
{
  if (G_UNLIKELY (__atomic_load_n (&node->emitted, __ATOMIC_RELAXED)))
    prio_signal_node_undo_reset_slow (node);
}

PrioReason *prio_reason_new (GError *error);
void prio_reason_unref (gpointer reason);

GQuark prio_signal_node_quark (void);

/* Returns the node of @signal, or NULL: a plain cancellable may have none yet. */
static inline PrioSignalNode *
prio_signal_node_find (GCancellable *signal)
{
  if (G_LIKELY (prio_signal_node_is_embedded (signal)))
    return G_STRUCT_MEMBER_P (signal, prio_signal_node_get_funcs ()->offset);
  return g_object_get_qdata (G_OBJECT (signal), prio_signal_node_quark ());
}

void prio_signal_node_init (PrioSignalNode *node, GCancellable *signal, gboolean is_task_signal,
                            PrioTaskPriority priority);

gboolean prio_signal_node_is_aborted (PrioSignalNode *node);
PrioReason *prio_signal_node_ref_reason (PrioSignalNode *node);
PrioTaskPriority prio_signal_node_get_priority (PrioSignalNode *node);

gboolean prio_signal_node_has_fixed_priority (PrioSignalNode *node);
gboolean prio_signal_node_begin_notice (PrioSignalNode *node);
