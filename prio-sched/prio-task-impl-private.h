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

struct _PrioTask
{
  GObject parent_instance;

  /* Set before it is posted. */
  PrioTaskFunc func;
  GCancellable *signal; /* what it was posted with */
  gint8 priority;       /* the same, or PRIO_PRIORITY_UNSET */
  char *name;
  gpointer tag;         /* which function gave it out as a GAsyncResult */

  /* Atomic. */
  gint state;  /* PrioTaskState */
  guint claim; /* PrioTaskClaim */

  /* Home. */
  PrioEntry entry; /* its core is held for as long as the task lives */
  PrioReaction *reactions, *last_reaction;
  PrioReaction first_reaction; /* most tasks have one */
  gboolean cancelled; /* by prio_task_cancel (), and not aborted before */
  gboolean has_result;
  gboolean told;      /* that it has completed */
  gboolean listened_to; /* signal handlers are connected, the last time we looked */

  PrioResult result; /* home; whoever sees it completed may read it */
};

void prio_task_clear (PrioTask *self);
void prio_task_tell (PrioTask *self);
void prio_task_drop (PrioTask *self);
void prio_task_pool_learn (void);
gboolean prio_task_is_listened_to (PrioTask *self);
void prio_task_return (PrioTask *self, PrioResult *result, gboolean owed);

/* A task that a scheduler has made, and not g_object_new () of some binding's. */
#define PRIO_IS_POSTED(task) (PRIO_IS_TASK (task) && (task)->entry.core != NULL)

static inline gboolean
prio_task_is_completed (PrioTask *self)
{
  return __atomic_load_n (&self->state, __ATOMIC_ACQUIRE) >= PRIO_TASK_STATE_FULFILLED;
}
