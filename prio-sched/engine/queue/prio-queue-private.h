/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-queue-private.h: a queue of tasks
 *
 * Promises: a queue holds its records by age, oldest first.  Appending a record, removing the head and removing any
 * entry take O(1).
 *
 * There are two kinds of record.  A job, of 40 bytes, is for prio_scheduler_post () and for numbers of bindings: it is
 * singly linked, and removed at the head of its queue, or after a search.  An entry is a job that can be removed from
 * any position, because it belongs to a group, has a delay, or is part of a larger record.  A *closure* is an entry
 * that is not part of a larger record, for a function without a result.  A queue holds records of one kind.
 *
 * The module that creates an entry supplies the functions to call for it (PrioEntryFuncs).
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "prio-types.h"
#include "base/prio-heap-private.h"
#include "queue/prio-state-private.h"

typedef struct _PrioJob PrioJob;
typedef struct _PrioEntry PrioEntry;
typedef struct _PrioQueue PrioQueue;

/* An *effective priority*: twice the priority, where background is 0, plus 1 for continuations (prio_effective ()).
 * The highest is for entries whose timeout has passed. */
typedef guint8 PrioEffective;
#define PRIO_N_EFFECTIVE 6
#define PRIO_EFFECTIVE_EXPIRED PRIO_N_EFFECTIVE
#define PRIO_N_LEVELS (PRIO_N_EFFECTIVE + 1)

struct _PrioJob
{
  PrioJob *next;
  guint64 order; /* the age, set when the job enters a queue */
  GSourceFunc func;
  gpointer data;
  union
  {
    GDestroyNotify notify;
    guint id; /* the number of a binding's task (prio-number) */
  };
};

typedef enum
{
  PRIO_QUEUE_JOBS,
  PRIO_QUEUE_ENTRIES
} PrioQueueKind;

/* The life of an entry.  prio_entry_move () moves it from one state to the next, and asserts that the arrow exists:
 *
 *     NEW ──→ DELAYED ──(due)──→ QUEUED ←──(its turn, again)──→ RUNNING ──(end)──→ DONE
 *       │        │                 ↑ │                             │               ↑
 *       └────────│─────────────────┘ │                             └──→ ABORTED ───┤
 *                │                   │                                     ↓       │
 *                │                   │                                  REJECTED ──┤
 *                │                   │                                             │
 *                └───────────────────┴──(abort, cancel)──→ DROPPED ──(aborted)─────┘
 *
 * The abort of a group leaves its entries on its list, DROPPED, or ABORTED if they are running.  The entries on the
 * list are processed later, in order, with the deferred releases: `aborted` is called for a DROPPED entry, `rejected`
 * for an ABORTED one.  Cancelling a DROPPED task aborts it at once; cancelling or aborting a task that is NEW, ABORTED,
 * REJECTED or DONE does nothing.
 *
 * An abort can drop the queues of a group without visiting their entries.  The stored state of such an entry is
 * still QUEUED; prio_entry_get_state () (prio-group-private.h) returns DROPPED. */
typedef enum
{
  PRIO_ENTRY_NEW,      /* in no scheduler */
  PRIO_ENTRY_DELAYED,  /* in the loop's heap of delays */
  PRIO_ENTRY_QUEUED,   /* in a queue */
  PRIO_ENTRY_DROPPED,  /* in no queue and no heap, and will not run */
  PRIO_ENTRY_RUNNING,  /* its function or its checkpoint is running */
  PRIO_ENTRY_ABORTED,  /* running, and its group has been aborted */
  PRIO_ENTRY_REJECTED, /* running; rejected with the abort's reason, and removed from its group's list */
  PRIO_ENTRY_DONE,
  PRIO_N_ENTRY_STATES
} PrioEntryState;

/* Whose an entry is, and whether its task runs in a thread. */
typedef enum
{
  PRIO_ENTRY_OF_PROGRAM = 0,
  PRIO_ENTRY_OF_LIBRARY = 1 << 0, /* hidden from observers */
  PRIO_ENTRY_IN_THREAD = 1 << 1   /* in no queue: the function runs in a thread; `job.data` is the waiting PrioWork */
} PrioEntryUse;

/* The functions of an entry, called on the owner thread.  `get_name`, `get_func`, `get_state`, `released` and
 * `rejected` may be NULL; so may `run` and `ran` for closures and numbers, which the dispatch runs directly.  Only
 * `run` and `ran` call user code. */
typedef struct
{
  void (*run) (PrioEntry *entry);      /* runs the task; its state is current */
  void (*ran) (PrioEntry *entry);      /* `run` and the checkpoint are over: releases @entry, now or later */
  void (*aborted) (PrioEntry *entry);  /* @entry is DROPPED, and will not run: releases it */
  void (*rejected) (PrioEntry *entry); /* @entry is running, and has become REJECTED */
  void (*released) (PrioEntry *entry); /* @entry is DONE, and unreferenced: may free the record */
  char *(*get_name) (PrioEntry *entry); /* (transfer full) (nullable): the program's name for the task */
  gconstpointer (*get_func) (PrioEntry *entry); /* (nullable): the program's function */
  PrioTaskState (*get_state) (PrioEntry *entry); /* called before `ran`: the task's next state, or RUNNING if the result
                                                  * is deferred */
} PrioEntryFuncs;

/* The position of an entry among entries of its priority.  Bit 0 is also bit 0 of PrioEffective. */
typedef enum
{
  PRIO_ENTRY_IS_NEW = 0,
  PRIO_ENTRY_GOES_ON = 1 << 0,         /* a continuation, before new entries */
  PRIO_ENTRY_TAKES_TURNS = 1 << 1,     /* its continuations wait behind queued entries */
  PRIO_ENTRY_GOES_ON_BEHIND = 1 << 2   /* a continuation that waits behind queued entries */
} PrioEntryTurn;

/* The state of an entry's timeout.  An entry gets a timeout before it is added, or never. */
typedef enum
{
  PRIO_TIMED_NOT,
  PRIO_TIMED_WAITS,  /* while the entry is queued, it is also in the loop's heap of deadlines */
  PRIO_TIMED_EXPIRED /* while the entry is queued, it is among its run queue's expired entries, and nowhere else */
} PrioTimed;

struct _PrioEntry
{
  PrioJob job;
  const PrioEntryFuncs *funcs;
  PrioEntry *prev;
  PrioRunQueue *run_queue;
  PrioGroup *abort;                   /* the group that aborts the entry, or NULL */
  PrioGroup *follows;                 /* the group that determines the entry's priority, or NULL */
  PrioEntry *abort_next, *abort_prev; /* links in @entries of @abort */
  PrioHeapNode delay;                 /* node in the heap of delays, of deadlines, or of expired entries */
  guint8 priority;                    /* used if @follows is NULL */
  guint8 turn;                        /* PrioEntryTurn: the position among entries of the same priority */
  guint8 stored_state;                /* PrioEntryState; see prio_entry_get_state () */
  /* The next five fields are in one byte, because the dispatch checks several of them at once for each task. */
  guint8 use : 2;                     /* PrioEntryUse */
  guint8 timed : 2;                   /* PrioTimed */
  guint8 lends : 1;                   /* whether prio-lending has a node for the entry */
  guint8 boosted : 1;                 /* whether the entry is in a queue of prio-lending; then @follows is NULL */
  guint8 is_observed : 1;             /* whether @funcs belong to prio-observer */
  gint64 expiry;                      /* when the timeout passes, µs, unless @timed is PRIO_TIMED_NOT */
};

struct _PrioQueue
{
  PrioHeapNode ready;      /* node in the scheduler's ready group */
  PrioEffective effective; /* the effective priority of all its records */
  guint8 kind;             /* PrioQueueKind: the kind of all its records */
  PrioRunQueue *run_queue;
  PrioJob *head, *tail;
};

static inline PrioEntry *
prio_entry_from_delay (PrioHeapNode *node)
{
  return (gpointer) ((gchar *) node - G_STRUCT_OFFSET (PrioEntry, delay));
}

static inline PrioQueue *
prio_queue_from_ready (PrioHeapNode *node)
{
  return (gpointer) ((gchar *) node - G_STRUCT_OFFSET (PrioQueue, ready));
}

static inline gboolean
prio_entry_is_continuation (const PrioEntry *entry)
{
  return (entry->turn & (PRIO_ENTRY_GOES_ON | PRIO_ENTRY_GOES_ON_BEHIND)) != 0;
}

static inline guint8
prio_turn_of_continuation (gboolean takes_turns)
{
  return takes_turns ? PRIO_ENTRY_TAKES_TURNS | PRIO_ENTRY_GOES_ON_BEHIND : PRIO_ENTRY_GOES_ON;
}

/* Gives @entry, which is not added yet, a timeout that passes at @expiry, µs. */
static inline void
prio_entry_set_expiry (PrioEntry *entry, gint64 expiry)
{
  entry->timed = PRIO_TIMED_WAITS;
  entry->expiry = expiry;
}

static inline void
prio_entry_go_on (PrioEntry *entry)
{
  entry->turn = prio_turn_of_continuation ((entry->turn & PRIO_ENTRY_TAKES_TURNS) != 0);
}

static inline PrioEffective
prio_effective (PrioTaskPriority priority, gboolean continuation)
{
  return (PrioEffective) (2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND) + (continuation ? 1 : 0));
}

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

/* Appends @job.  Returns whether the queue was empty. */
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

/* Removes @entry, which may be at any position. */
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
