/* prio-task-impl-private.h: the inside of PrioTask, for prio-task*.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "signal/prio-signal-node-private.h"
#include "queue/prio-state-private.h"
#include "task/prio-task-private.h"

typedef enum
{
  PRIO_RESULT_NONE, /* the task was fulfilled with no value, or has no result yet */
  PRIO_RESULT_POINTER,
  PRIO_RESULT_BOOLEAN,
  PRIO_RESULT_INT,
  PRIO_RESULT_VALUE, /* a GValue */
  PRIO_RESULT_ERROR,
  PRIO_RESULT_TAKEN, /* a pointer that has been handed over */
  PRIO_N_RESULT_KINDS
} PrioResultKind;

/* A value or an error, with what frees it. */
typedef struct
{
  union
  {
    gpointer pointer; /* or a GValue */
    gssize integer;
    gboolean boolean;
    GError *error;
  } value;
  GDestroyNotify destroy;
  PrioResultKind kind;
} PrioResult;

#define PRIO_RESULT_OF_ERROR(reason) \
  ((PrioResult) { .value.error = (reason), .destroy = (GDestroyNotify) g_error_free, .kind = PRIO_RESULT_ERROR })

/* Somebody waits for the result. */
typedef struct _PrioReaction PrioReaction;

struct _PrioReaction
{
  PrioReaction *next;
  PrioTaskReadyCallback callback;
  gpointer data;
  GDestroyNotify notify;
  PrioState state; /* held, if its run queue is set */
};

/* Who gives the result.
 *
 * Whoever gives a deferred result holds the task until then.  The loop drops its own
 * reference when the function has returned, so that a task whose result can come no more is
 * disposed, and fails: prio_task_fail_if_dropped (). */
typedef enum
{
  PRIO_TASK_DEFERRED = 1 << 0,
  PRIO_TASK_RETURNED = 1 << 1
} PrioTaskClaim;

struct _PrioTask
{
  GObject parent_instance;

  /* Set before it is posted; the rest of the entry belongs to the owner thread. */
  PrioTaskFunc func;
  PrioEntry entry; /* its functions are set for good; its run queue is held for as long as the task lives */
  gint8 priority;  /* what it was posted with, or PRIO_PRIORITY_UNSET */

  /* Home, and of no meaning while @reactions is NULL. */
  PrioReaction *last_reaction;
  PrioReaction first_reaction; /* most tasks have one; its callback is set once it has been used */

  /* From here on all is zero in a task that is as good as new. */
  PrioReaction *reactions; /* home */

  /* Set before it is posted. */
  GCancellable *signal; /* what it was posted with */
  char *name;           /* under prio_signal_lock once it is posted */
  const PrioTaskOrigin *origin; /* NULL: a scheduler, with no tag */

  /* Atomic. */
  gint state;  /* PrioTaskState */
  guint claim; /* PrioTaskClaim */

  /* Owner thread. */
  gboolean cancelled; /* by prio_task_cancel (), and not aborted before */
  gboolean has_result;
  gboolean notified; /* that it has completed */

  PrioResult result; /* home; whoever sees it completed may read it */
};

void prio_task_clear (PrioTask *self);
void prio_task_free_origin (PrioTask *self);
void prio_task_async_result_init (GAsyncResultIface *iface);
void prio_task_notify (PrioTask *self);
void prio_task_drop (PrioTask *self);
void prio_task_pool_learn (void);
gboolean prio_task_is_listened_to_slow (PrioTask *self);
void prio_task_return (PrioTask *self, PrioResult *result);
gboolean prio_task_fail_if_dropped (PrioTask *self);
void prio_task_complain (PrioTask *self, const char *function, const char *format, ...) G_GNUC_PRINTF (3, 4);
void prio_task_warn (PrioTask *self, const char *what);
void prio_task_notify_state (PrioTask *self);

/* GObject has a gap between its reference count and its data where pointers have 64 bits,
 * and notes there that a handler has ever been connected to an object.  Nothing promises
 * that, so it is tried out. */
typedef struct
{
  guint pristine; /* what the gap of an object has to which none has been connected */
  gboolean tells; /* whether it changes when one is; if not, each task has to be asked */
} PrioObjectGap;

extern PrioObjectGap prio_object_gap G_GNUC_INTERNAL; /* set once, before there is a task */

static inline guint
prio_object_gap_read (GObject *object)
{
#if GLIB_SIZEOF_VOID_P == 8
  G_STATIC_ASSERT (G_STRUCT_OFFSET (GObject, qdata) == G_STRUCT_OFFSET (GObject, ref_count) + 2 * sizeof (guint));

  return __atomic_load_n ((guint *) &object->ref_count + 1, __ATOMIC_RELAXED);
#else
  (void) object;
  return 0;
#endif
}

/* Whether signal handlers are connected. */
static inline gboolean
prio_task_is_listened_to (PrioTask *self)
{
  if (G_LIKELY (prio_object_gap.tells && prio_object_gap_read (&self->parent_instance) == prio_object_gap.pristine))
    return FALSE;

  return prio_task_is_listened_to_slow (self);
}

/* A task that a scheduler has made, and not g_object_new () of some binding's. */
#define PRIO_IS_POSTED(task) (PRIO_IS_TASK (task) && (task)->entry.run_queue != NULL)

/* The task that @entry is part of. */
static inline PrioTask *
prio_task_from_entry (PrioEntry *entry)
{
  return (gpointer) ((gchar *) entry - G_STRUCT_OFFSET (PrioTask, entry));
}

static inline gboolean
prio_task_is_completed (PrioTask *self)
{
  return __atomic_load_n (&self->state, __ATOMIC_ACQUIRE) >= PRIO_TASK_STATE_FULFILLED;
}

/* It is completed. */
static inline const GError *
prio_task_peek_error (PrioTask *self)
{
  return self->result.kind == PRIO_RESULT_ERROR ? self->result.value.error : NULL;
}
