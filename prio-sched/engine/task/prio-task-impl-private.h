/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-impl-private.h: the fields of PrioTask, for prio-task*.c only */

#pragma once

#include "base/prio-check-private.h"
#include "queue/prio-state-private.h"
#include "signal/prio-signal-node-private.h"
#include "task/prio-task-private.h"

typedef enum
{
  PRIO_RESULT_NONE, /* the task was fulfilled with no value, or has no result yet */
  PRIO_RESULT_POINTER,
  PRIO_RESULT_BOOLEAN,
  PRIO_RESULT_INT,
  PRIO_RESULT_VALUE, /* a GValue */
  PRIO_RESULT_ERROR,
  PRIO_RESULT_ABORT, /* the reason of an abort */
  PRIO_RESULT_TAKEN, /* a pointer that a caller has taken over */
  PRIO_N_RESULT_KINDS
} PrioResultKind;

/* A value or an error, and the function that frees it. */
typedef struct
{
  union
  {
    gpointer pointer; /* or a GValue */
    gssize integer;
    gboolean boolean;
    GError *error;
    PrioReason *reason;
  } value;
  GDestroyNotify destroy;
  PrioResultKind kind;
} PrioResult;

/* These take over a GError and a PrioReason. */
#define PRIO_RESULT_OF_ERROR(made) \
  ((PrioResult) { .value.error = (made), .destroy = (GDestroyNotify) g_error_free, .kind = PRIO_RESULT_ERROR })
#define PRIO_RESULT_OF_ABORT(why) \
  ((PrioResult) { .value.reason = (why), .destroy = prio_reason_unref, .kind = PRIO_RESULT_ABORT })

/* A callback for the completion of a task. */
typedef struct _PrioReaction PrioReaction;

struct _PrioReaction
{
  PrioReaction *next;
  GAsyncReadyCallback callback;
  gpointer data;
  GDestroyNotify notify;
  PrioState state; /* held, if its run queue is set */
};

/* How far the result has been claimed: flags, set atomically.  The caller that sets
 * PRIO_TASK_RETURNED first gives the result.
 *
 * The code that will give a deferred result holds a reference to the task until then.  The loop
 * drops its own when the function has returned.  So a task whose result can no longer come is
 * disposed, and fails: prio_task_fail_if_dropped (). */
typedef enum
{
  PRIO_TASK_DEFERRED = 1 << 0,
  PRIO_TASK_RETURNED = 1 << 1,
  PRIO_TASK_CONTINUING = 1 << 2, /* deferred, and the next function, which may defer again, runs: prio-task-go-on.c */
  PRIO_TASK_GIVEN_UP = 1 << 3 /* the result is the reason of an abort: prio_task_return_error_if_aborted () */
} PrioTaskClaim;

/* The next function of a task that continues, part of a record of prio-task-go-on.c.  Owner thread. */
typedef struct _PrioTaskNext PrioTaskNext;

struct _PrioTaskNext
{
  void (*begin) (PrioTaskNext *next, PrioTask *task); /* outside, after the function of @task: queues a continuation */
  GDestroyNotify release;                             /* outside: @task has its result, and @begin was not called */
  PrioState state;                                    /* of the continuation; held until it begins */
  gboolean has_begun;                                 /* @begin was called, and owns @state and @waits */
  PrioTask *waits;                                    /* the continuation, from @begin until its turn, or NULL */
};

#define PRIO_WHOLE_PROGRESS 50000

struct _PrioTask
{
  GObject parent_instance;

  /* Set before the task is posted, with its function in `job.func`; the rest of the entry belongs to the owner thread. */
  PrioEntry entry; /* its functions never change; the task holds its run queue until it is finalized */

  /* Owner thread; @last_reaction is undefined while @reactions is NULL. */
  PrioReaction *last_reaction;
  PrioReaction first_reaction; /* most tasks have only one; its callback stays set once it was used */

  /* From here on, every field of a task in the pool is zero: prio_task_clear (). */
  PrioReaction *reactions; /* owner thread */

  /* Set before the task is posted. */
  GCancellable *signal; /* the options' signal */
  char *name;           /* under prio_signal_lock once the task is posted */
  GObject *source_object; /* owned, or NULL: the task or, for a continuation, the scheduler */
  gpointer source_tag;    /* the _async function whose result the task is, or NULL */

  gpointer program_func; /* atomic: the program's function, if another one is the task's; for messages; or NULL */

  PrioTaskNext *next; /* owner thread; owned by this task until the continuation begins, then by that; or NULL */

  /* Atomic. */
  guint8 state; /* PrioTaskState */
  guint8 claim; /* PrioTaskClaim */
  guint8 return_on_abort; /* an abort also ends it after its function has returned, or while it runs in a thread */

  /* Owner thread. */
  guint8 cancelled; /* atomic, written by the owner thread: prio_task_cancel () has been called in time, and the
                     * signal had not been aborted before */
  guint8 has_result;
  guint8 notified : 1;       /* the notification of the completion has begun */
  guint8 is_heard : 1;       /* the completion had a handler: the task does not go into the pool */
  guint8 tells_progress : 1; /* a microtask will notify the progress */
  gint8 priority;  /* as posted, or PRIO_TASK_PRIORITY_UNSET */

  guint16 progress; /* atomic: in parts of PRIO_WHOLE_PROGRESS */

  PrioResult result; /* written on the owner thread; any thread that sees the task completed may read it */
};

void prio_task_clear (PrioTask *self);
char *prio_task_dup_name (PrioTask *self);
void prio_task_async_result_init (GAsyncResultIface *iface);
void prio_task_notify (PrioTask *self);
void prio_task_drop (PrioTask *self);
PrioReason *prio_task_ref_reason (PrioTask *self);
gboolean prio_task_succeeds (PrioTask *self, GError **error, const char *function);
gboolean prio_task_is_listened_to (PrioTask *self);
gboolean prio_task_return_quietly (PrioTask *self, PrioResult *result);
gboolean prio_task_fail_if_dropped (PrioTask *self);
void prio_task_warn (PrioTask *self, const char *what);
void prio_task_tell_late_result (PrioTask *self);
void prio_task_notify_state (PrioTask *self);

gboolean prio_complain_of_task (const char *function, PrioTask *task);

/* Returns whether @task was made by a scheduler, and not by a binding's g_object_new (); if not, logs a critical
 * message for @function. */
static inline gboolean
prio_check_task (const char *function, PrioTask *task)
{
  return G_LIKELY (PRIO_IS_TASK (task) && task->entry.run_queue != NULL) || prio_complain_of_task (function, task);
}

static inline void
prio_task_set_func (PrioTask *task, PrioTaskFunc func)
{
  task->entry.job.func = (GSourceFunc) (gpointer) func;
}

static inline PrioTaskFunc
prio_task_get_func (PrioTask *task)
{
  return (PrioTaskFunc) (gpointer) task->entry.job.func;
}

/* Returns the program's function that the task calls, or NULL: for messages. */
static inline gpointer
prio_task_get_program_func (PrioTask *task)
{
  gpointer func = __atomic_load_n (&task->program_func, __ATOMIC_RELAXED);

  return func != NULL ? func : (gpointer) prio_task_get_func (task);
}

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

static inline const GError *
prio_task_peek_error (PrioTask *self)
{
  if (self->result.kind == PRIO_RESULT_ABORT)
    return self->result.value.reason->error;
  return self->result.kind == PRIO_RESULT_ERROR ? self->result.value.error : NULL;
}

/* Gives the task its result: see prio_task_return_quietly (). */
static inline void
prio_task_return (PrioTask *self, PrioResult *result)
{
  if (prio_task_return_quietly (self, result))
    prio_loop_flush_releases (self->entry.run_queue->loop);
}
