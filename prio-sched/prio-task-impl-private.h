/* prio-task-impl-private.h: the inside of PrioTask, for prio-task*.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-hub-private.h"
#include "prio-task-private.h"

/* A value with what frees it, or an error. */
typedef struct
{
  union
  {
    gpointer pointer;
    gssize integer;
    gboolean boolean;
  } value;
  GDestroyNotify destroy;
  GError *error;
} PrioResult;

/* Somebody waits for the result. */
typedef struct _PrioReaction PrioReaction;

struct _PrioReaction
{
  PrioReaction *next;
  PrioTaskReadyCallback callback;
  gpointer data;
  GDestroyNotify notify;
  PrioState state; /* held, if its core is set */
};

/* Who has taken it upon himself to give the result.
 *
 * A task whose result is deferred has a reference that belongs to whoever returns it: it is
 * taken before PRIO_TASK_DEFERRED is set, and becomes that of who sets PRIO_TASK_RETURNED,
 * the first.  So he need hold none, on whichever thread, and whatever has become of the
 * task. */
typedef enum
{
  PRIO_TASK_DEFERRED = 1 << 0,
  PRIO_TASK_RETURNED = 1 << 1
} PrioTaskClaim;

/* Of whose _async function a task is the result: what few of them have. */
typedef struct
{
  GObject *source_object; /* owned, or NULL: the scheduler */
  gpointer tag;
} PrioTaskOrigin;

struct _PrioTask
{
  GObject parent_instance;

  /* Set before it is posted; the rest of the entry is home. */
  PrioTaskFunc func;
  PrioEntry entry; /* its core is held for as long as the task lives */
  gint8 priority;  /* what it was posted with, or PRIO_PRIORITY_UNSET */

  /* Home, and of no meaning while @reactions is NULL. */
  PrioReaction *last_reaction;
  PrioReaction first_reaction; /* most tasks have one; its callback is set once it has been used */

  /* From here on all is zero in a task that is as good as new. */
  PrioReaction *reactions; /* home */

  /* Set before it is posted. */
  GCancellable *signal; /* what it was posted with */
  char *name;
  const PrioTaskOrigin *origin; /* NULL: a scheduler, with no tag */

  /* Atomic. */
  gint state;  /* PrioTaskState */
  guint claim; /* PrioTaskClaim */

  /* Home. */
  gboolean cancelled; /* by prio_task_cancel (), and not aborted before */
  gboolean has_result;
  gboolean told; /* that it has completed */

  PrioResult result; /* home; whoever sees it completed may read it */
};

extern const PrioTaskOrigin prio_yield_origin G_GNUC_INTERNAL;

void prio_task_clear (PrioTask *self);
void prio_task_tell (PrioTask *self);
void prio_task_drop (PrioTask *self);
void prio_task_pool_learn (void);
gboolean prio_task_is_listened_to_slow (PrioTask *self);
void prio_task_return (PrioTask *self, PrioResult *result, gboolean owed);

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
#define PRIO_IS_POSTED(task) (PRIO_IS_TASK (task) && (task)->entry.core != NULL)

static inline gboolean
prio_task_is_completed (PrioTask *self)
{
  return __atomic_load_n (&self->state, __ATOMIC_ACQUIRE) >= PRIO_TASK_STATE_FULFILLED;
}
