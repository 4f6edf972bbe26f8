/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-impl-private.h: the fields of PrioTask, for code that makes, continues, settles or groups tasks */

#pragma once

#include "base/prio-check-private.h"
#include "queue/prio-state-private.h"
#include "signal/prio-signal-node-private.h"
#include "task/prio-task-private.h"

typedef enum
{
  PRIO_RESULT_NONE, /* the task has no result yet, or was fulfilled with no value */
  PRIO_RESULT_POINTER,
  PRIO_RESULT_BOOLEAN,
  PRIO_RESULT_INT,
  PRIO_RESULT_VALUE, /* a GValue */
  PRIO_RESULT_ERROR,
  PRIO_RESULT_ABORT, /* the reason of an abort */
  PRIO_RESULT_TAKEN, /* a pointer that prio_task_propagate_pointer () has given to a caller */
  PRIO_N_RESULT_KINDS
} PrioResultKind;

/* A value or an error, and the function that frees it. */
typedef struct
{
  union
  {
    gpointer pointer; /* or a pointer to a GValue */
    gssize integer;
    gboolean boolean;
    GError *error;
    PrioReason *reason;
  } value;
  GDestroyNotify destroy;
  PrioResultKind kind;
} PrioResult;

/* PRIO_RESULT_OF_ERROR takes ownership of a GError, and PRIO_RESULT_OF_ABORT of a PrioReason. */
#define PRIO_RESULT_OF_ERROR(made) \
  ((PrioResult) { .value.error = (made), .destroy = (GDestroyNotify) g_error_free, .kind = PRIO_RESULT_ERROR })
#define PRIO_RESULT_OF_ABORT(why) \
  ((PrioResult) { .value.reason = (why), .destroy = prio_reason_unref, .kind = PRIO_RESULT_ABORT })

/* A callback for the completion of a task. */
typedef struct _PrioReaction PrioReaction;

struct _PrioReaction
{
  PrioReaction *next, *prev;
  GAsyncReadyCallback callback;
  gpointer data;
  GDestroyNotify notify;
  PrioTask *wait;  /* owned: the task that stands for a wait that a cancellable can end; or NULL */
  PrioState state; /* owns its references if @state.run_queue is set */
};

/* Flags that are set atomically.  The first caller that sets PRIO_TASK_RETURNED gives the task its result.
 *
 * The code that will give a deferred result holds a reference to the task.  So if the task is disposed without a
 * result, the result cannot come any more, and the task fails: prio_task_fail_if_dropped (). */
typedef enum
{
  PRIO_TASK_DEFERRED = 1 << 0,
  PRIO_TASK_RETURNED = 1 << 1,
  PRIO_TASK_CONTINUING = 1 << 2, /* the next function runs, and may defer the result again: prio-task-go-on.c */
  PRIO_TASK_GIVEN_UP = 1 << 3 /* the result is the abort's reason, because the task called
                               * prio_task_return_error_if_aborted () */
} PrioTaskClaim;

/* The next function of a task that continues with another function: the head of a Slice in prio-task-go-on.c.  Used
 * only on the owner thread. */
typedef struct _PrioTaskNext PrioTaskNext;

struct _PrioTaskNext
{
  void (*begin) (PrioTaskNext *next, PrioTask *task); /* called after the function of @task: queues a continuation */
  GDestroyNotify release;                             /* called instead of @begin if @task has its result */
  PrioState state;                                    /* the continuation's state; owns references until @begin */
  gboolean has_begun;                                 /* whether @begin was called */
  PrioTask *waits;                                    /* the queued continuation, or NULL */
};

#define PRIO_WHOLE_PROGRESS 50000

struct _PrioTask
{
  GObject parent_instance;

  /* The function, in `entry.job.func`, is set before the task is posted.  The entry's other fields belong to the owner
   * thread. */
  PrioEntry entry; /* only prio-observer replaces its functions; its run queue is set until prio_task_clear () */

  /* Only the owner thread uses these fields. */
  PrioReaction *last_reaction; /* NULL while @reactions is NULL */
  PrioReaction first_reaction; /* most tasks have one reaction; it is in use if its @callback is not NULL */

  /* In the pool, this field and all fields after it are zero: prio_task_clear (). */
  PrioReaction *reactions; /* owner thread */

  /* Set before the task is posted. */
  GCancellable *signal; /* the options' signal */
  char *name;           /* guarded by prio_signal_lock once the task is posted */
  GObject *source_object; /* owned; if NULL, the source object is the task or, for a continuation, the scheduler */
  gpointer source_tag;    /* the _async function whose result the task is, or NULL */

  gpointer program_func; /* for messages: the program's function, if the task's function is the library's; atomic */

  PrioTask *awaited; /* in the task of a wait: the awaited task, which is only compared after the wait; owner thread */
  PrioTaskNext *next; /* or NULL; owned by the task, and by the continuation after @begin; owner thread */

  /* Atomic. */
  guint8 state; /* PrioTaskState */
  guint8 claim; /* PrioTaskClaim */
  guint8 return_on_abort; /* whether an abort also ends a task whose function has returned, or runs in a thread */

  /* Owner thread. */
  guint8 cancelled; /* whether prio_task_cancel () came before a result or an abort by the signal; atomic */
  guint8 has_result;
  guint8 notified : 1;       /* whether the notification of the completion has begun */
  guint8 is_heard : 1;       /* whether `notify` had handlers at the completion: such a task is not reused */
  guint8 tells_progress : 1; /* whether a microtask that notifies the progress is queued */
  gint8 priority;  /* as posted, or PRIO_TASK_PRIORITY_UNSET; set before the post, and then constant */

  guint16 progress; /* in units of 1 / PRIO_WHOLE_PROGRESS; atomic */

  PrioResult result; /* written on the owner thread; any thread that sees the task completed may read it */
};

void prio_task_clear (PrioTask *self);
void prio_task_add_reaction (PrioTask *self, const PrioState *held, const PrioReaction *template);
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

/* Returns whether @task was created by a scheduler, and not by a binding's g_object_new ().  If not, logs a critical
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

/* Returns the program's function that the task calls, for messages; or NULL. */
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

/* Gives the task its result.  On the owner thread, also calls the destroy notifies that were deferred meanwhile. */
static inline void
prio_task_return (PrioTask *self, PrioResult *result)
{
  if (prio_task_return_quietly (self, result))
    prio_loop_flush_releases (self->entry.run_queue->loop);
}
