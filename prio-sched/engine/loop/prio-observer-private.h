/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-observer-private.h: reports events of loops to observers (prio-observe.h) */

#pragma once

#include "loop/prio-run-queue-private.h"

gboolean prio_observers_exist (void);
gboolean prio_observers_hear_posts (void);

/* The record of an observed task, used on the owner thread.  It is small, because every waiting task has one. */
typedef struct _PrioObservedTask PrioObservedTask;

struct _PrioObservedTask
{
  PrioObserved told;
  guint8 was_job : 1; /* whether the task was posted as a job, so that its destroy notify is called right after its
                       * function */
  guint8 runs : 1;
  guint8 was_aborted : 1;
  PrioEntryFuncs funcs;           /* the functions of the entry while it is observed */
  const PrioEntryFuncs *original; /* the functions that the entry had before the observation */
  PrioObservedTask *outer;        /* the previous prio_thread.observed, while the task runs */
};

void prio_observed_queued (PrioEntry *entry);
PrioObservedTask *prio_observed_begins (PrioEntry *entry);
void prio_observed_yielded (PrioEntry *entry, const PrioObserved *step);
void prio_observed_microtasks_ran (PrioLoop *loop, const PrioObserved *step);
void prio_observed_leaves (PrioObservedTask *task, PrioEntry *entry);
void prio_observed_ended (PrioObservedTask *task);

PrioObservedTask *prio_observed_new_idle (PrioRunQueue *run_queue, gint64 now);
void prio_observed_idle_begins (PrioObservedTask *task, gconstpointer func);
void prio_observed_idle_aborted (PrioObservedTask *task);

void prio_observed_batch_begins (PrioLoop *loop, gint64 now);
void prio_observed_batch_ended (PrioLoop *loop, PrioLane lane, gint64 began, gboolean cut);
void prio_observed_turn_ends (PrioLoop *loop, gint64 now);
void prio_observed_prepares (PrioLoop *loop);
void prio_observed_checks (PrioLoop *loop);

/* Forgets when the last task ended, because other code may have run since. */
static inline void
prio_observed_forget_end (PrioLoop *loop)
{
  loop->watched.end = 0;
}
