/* prio-dispatch-counts-private.h: counts the tasks that a batch runs
 *
 * Promises: a batch whose `effective` is COUNTING calls these functions for what it runs; no other does.  Which tasks
 * are counted may change while one runs: that one is not counted if it had begun before.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-dispatch-private.h"

void prio_batch_count_from (PrioBatch *batch, gint64 now);
void prio_batch_count_to_end (PrioBatch *batch);
void prio_batch_count_next (PrioBatch *batch, PrioQueue *queue);
void prio_batch_count_reading (PrioBatch *batch, gint64 now);
void prio_batch_count_jobs (PrioBatch *batch, PrioQueue *queue);
void prio_batch_append_again (PrioRunQueue *run_queue, PrioEffective effective, const PrioJob *job);
void prio_batch_count_entry (PrioBatch *batch, PrioEntry *entry);

void prio_observed_begin_run (PrioObservedTask *task, PrioEntry *entry);
void prio_observed_yield_run (PrioObservedTask *task, const PrioObserved *step);
void prio_observed_end_run (PrioObservedTask *task);

void prio_run_queue_set_collects (PrioRunQueue *run_queue, gboolean collects);
void prio_run_queue_reset_counts (PrioRunQueue *run_queue);
void prio_run_queue_copy_counts (PrioRunQueue *run_queue, PrioCounts *copy);
