/* prio-queue-private.h: tasks in a row
 *
 * Promises: a queue holds what was put into it by age, oldest first; it takes at
 * the end and gives at the head in O(1), and gives up any entry in O(1).
 *
 * There are two kinds of record.  A job is what prio_scheduler_post () needs and
 * no more: 40 bytes, singly linked, it leaves its queue at the head only.  An
 * entry is a job that can be taken out anywhere: it belongs to a group, has a delay, or
 * is part of something larger.  A task id is a job that is a number: `data`.  A
 * queue holds records of one kind.
 *
 * What is done for an entry is for whoever has made it to say, by a table of functions
 * (PrioEntryFuncs).
 *
 * Everything here belongs to the owner thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-enums.h"
#include "base/prio-heap-private.h"
#include "queue/prio-state-private.h"

typedef struct _PrioJob PrioJob;
typedef struct _PrioEntry PrioEntry;
typedef struct _PrioQueue PrioQueue;

/* 2 × priority, from 0 for the lowest, plus one for continuations: see prio_effective (). */
typedef guint8 PrioEffective;
#define PRIO_N_EFFECTIVE 6

struct _PrioJob
{
  PrioJob *next;
  guint64 order; /* its age: given when it enters a queue */
  union
  {
    GSourceFunc func;
    guint id; /* of an entry that is a task id */
  };
  gpointer data;
  GDestroyNotify notify;
};

typedef enum
{
  PRIO_QUEUE_JOBS,
  PRIO_QUEUE_ENTRIES,
  PRIO_QUEUE_IDS /* embedded in a PrioIdQueue */
} PrioQueueKind;

/* The life of an entry.  prio_entry_move () takes it from one state to the next, and
 * asserts that there is an arrow:
 *
 *     NEW ──→ DELAYED ──(due)──→ QUEUED ←──(its turn, again)──→ RUNNING ──(end)──→ DONE
 *       │        │                 ↑ │                             │               ↑
 *       └────────│─────────────────┘ │                             └──→ ABORTED ───┤
 *                │                   │                                     ↓       │
 *                │                   │                                  REJECTED ──┤
 *                │                   │                                             │
 *                └───────────────────┴──(abort, cancel)──→ DROPPED ──(refused)─────┘
 *
 * The abort of a group leaves DROPPED entries on its list until they are
 * refused, which happens where something of the user's may run.  So it is with those that
 * are ABORTED, which are rejected in their place among the others.  To cancel a task that
 * is DROPPED refuses it at once; to cancel or abort one that is NEW, ABORTED, REJECTED or
 * DONE does nothing.
 *
 * The queues of a group can be dropped without a look at what is in them.  Their
 * entries say QUEUED, and are DROPPED: who wants to know asks prio_entry_get_state ()
 * (prio-group-private.h). */
typedef enum
{
  PRIO_ENTRY_NEW,     /* no scheduler has it */
  PRIO_ENTRY_DELAYED, /* in the loop's heap of delays */
  PRIO_ENTRY_QUEUED,  /* in a queue */
  PRIO_ENTRY_DROPPED, /* in neither any more, and will not run */
  PRIO_ENTRY_RUNNING, /* its function has not returned, or its checkpoint not ended */
  PRIO_ENTRY_ABORTED, /* the same, and its group has been aborted */
  PRIO_ENTRY_REJECTED, /* the same, and that is its result: off the list of its group */
  PRIO_ENTRY_DONE,
  PRIO_N_ENTRY_STATES
} PrioEntryState;

/* What is done for an entry, on the owner thread.  `released` and `rejected` may be NULL; so may `run` and
 * `ran` where the dispatch has a way of its own: closures, and task ids.  Of the user's, only
 * `run` and `ran` call anything. */
typedef struct
{
  void (*run) (PrioEntry *entry);      /* its turn has come, and its state is current */
  void (*ran) (PrioEntry *entry);      /* that has returned, and its checkpoint is over: it is discharged, or will be */
  void (*aborted) (PrioEntry *entry);  /* it is DROPPED, and will not run: it is discharged */
  void (*rejected) (PrioEntry *entry); /* it is running, and REJECTED */
  void (*released) (PrioEntry *entry); /* it is DONE, and nothing refers to it any more: the record may go */
} PrioEntryFuncs;

struct _PrioEntry
{
  PrioJob job;
  const PrioEntryFuncs *funcs;
  PrioEntry *prev;
  PrioRunQueue *run_queue;
  PrioGroup *abort;                   /* whose abort is its own, or NULL */
  PrioGroup *follows;                 /* whose priority is its own, or NULL */
  PrioEntry *abort_next, *abort_prev; /* among the entries of @abort */
  PrioHeapNode delay;                 /* its place among the delayed ones */
  guint8 priority;                    /* where @follows is NULL */
  guint8 continuation;
  guint8 stored_state;                  /* PrioEntryState; see prio_entry_get_state () */
};

struct _PrioQueue
{
  PrioHeapNode ready;      /* its place in its scheduler's group */
  PrioEffective effective; /* of everything in it */
  guint8 kind;             /* PrioQueueKind, of its records */
  PrioRunQueue *run_queue;
  PrioJob *head, *tail;
};

/* The delayed entry that @node is the place of. */
static inline PrioEntry *
prio_entry_from_delay (PrioHeapNode *node)
{
  return (gpointer) ((gchar *) node - G_STRUCT_OFFSET (PrioEntry, delay));
}

static inline PrioEffective
prio_effective (PrioTaskPriority priority, gboolean continuation)
{
  return (PrioEffective) (2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND) + (continuation ? 1 : 0));
}

/* The priority of what has the effective priority @effective. */
static inline PrioTaskPriority
prio_effective_priority (PrioEffective effective)
{
  return (PrioTaskPriority) (effective / 2 + PRIO_TASK_PRIORITY_BACKGROUND);
}

static inline void
prio_queue_init (PrioQueue *queue, PrioRunQueue *run_queue, PrioEffective effective, PrioQueueKind kind)
{
  *queue = (PrioQueue) {
    .ready = { PRIO_HEAP_NONE },
    .effective = effective,
    .kind = (guint8) kind,
    .run_queue = run_queue,
  };
}

/* Appends @job, and tells whether the queue was empty. */
static inline gboolean
prio_queue_append (PrioQueue *queue, PrioJob *job)
{
  PrioJob *tail = queue->tail;

  job->next = NULL;
  queue->tail = job;
  if (tail != NULL)
    {
      tail->next = job;
      return FALSE;
    }

  queue->head = job;
  return TRUE;
}

static inline gboolean
prio_queue_append_entry (PrioQueue *queue, PrioEntry *entry)
{
  entry->prev = (PrioEntry *) queue->tail;
  return prio_queue_append (queue, &entry->job);
}

/* Takes the oldest out. */
static inline PrioJob *
prio_queue_pop_job (PrioQueue *queue)
{
  PrioJob *job = queue->head;

  queue->head = job->next;
  if (job->next == NULL)
    queue->tail = NULL;
  return job;
}

static inline PrioEntry *
prio_queue_pop_entry (PrioQueue *queue)
{
  PrioEntry *entry = (PrioEntry *) prio_queue_pop_job (queue);

  if (queue->head != NULL)
    ((PrioEntry *) queue->head)->prev = NULL;
  return entry;
}

/* Takes @entry out, wherever it stands. */
static inline void
prio_queue_unlink (PrioQueue *queue, PrioEntry *entry)
{
  PrioEntry *next = (PrioEntry *) entry->job.next;

  if (entry->prev != NULL)
    entry->prev->job.next = entry->job.next;
  else
    queue->head = entry->job.next;

  if (next != NULL)
    next->prev = entry->prev;
  else
    queue->tail = (PrioJob *) entry->prev;
}
