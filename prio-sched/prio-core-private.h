/* prio-core-private.h: what of a scheduler its tasks need
 *
 * Promises: a core lives as long as anything uses it: its PrioScheduler, its
 * queued tasks, the objects and captured states that came from it.  It puts
 * tasks into queues and takes them out; a task is in one place at a time.
 *
 * Everything here but prio_core_new () is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-frames-private.h"
#include "prio-loop-private.h"

#define PRIO_DEFAULT_SLICE 5000 /* µs */

struct _PrioCore
{
  PrioLoop *loop;
  GWeakRef scheduler; /* from any thread */
  gint64 slice;       /* µs; atomic */

  PrioQueue jobs[PRIO_N_EFFECTIVE];
  PrioQueue entries[PRIO_N_EFFECTIVE];
  PrioGroup *groups;
  PrioIdQueue *id_queues;
  PrioReadyGroup ready; /* those of its queues, and of those of the two above, that have a head */
  PrioFrame next_frame; /* as its scheduler was told by hand */
  gsize users;
  PrioCore *next, *prev; /* among those of the loop */
};

PrioCore *prio_core_new (PrioLoop *loop);
PrioCore *prio_core_own (PrioLoop *loop);
void prio_core_free_own (PrioLoop *loop);
void prio_core_end (PrioCore *core);
void prio_core_set_paused (PrioCore *core, gboolean paused);

void prio_core_enqueue (PrioEntry *entry);
void prio_core_admit (PrioEntry *entry, gint64 due);
void prio_core_withdraw (PrioEntry *entry);
void prio_core_abort_running (PrioEntry *entry);
void prio_core_discharge (PrioEntry *entry);
void prio_core_refuse (PrioEntry *entry);
PrioEntry *prio_core_new_entry (PrioCore *core, GSourceFunc func, gpointer data, GDestroyNotify notify);

extern const PrioEntryFuncs prio_closure_funcs G_GNUC_INTERNAL;

static inline gint64
prio_core_get_slice (PrioCore *core)
{
  return __atomic_load_n (&core->slice, __ATOMIC_RELAXED);
}

static inline void
prio_core_hold (PrioCore *core)
{
  core->users++;
}

/* A user less; with the last it goes. */
static inline void
prio_core_release (PrioCore *core)
{
  if (G_UNLIKELY (--core->users == 0))
    prio_core_end (core);
}

/* @queue has got a head, or another effective priority. */
static inline void
prio_core_make_ready (PrioCore *core, PrioQueue *queue)
{
  prio_ready_add (&core->loop->ready, &core->ready, queue);
}

/* @queue has lost its head, or what has been one. */
static inline void
prio_core_head_gone (PrioCore *core, PrioQueue *queue)
{
  prio_ready_head_gone (&core->loop->ready, &core->ready, queue);
}

static inline void
prio_core_fill_job (PrioCore *core, PrioJob *job, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  job->order = core->loop->next_order++;
  job->func = func;
  job->data = data;
  job->notify = notify;
  core->users++;
}

static inline void
prio_core_append_job (PrioCore *core, PrioEffective effective, GSourceFunc func, gpointer data,
                      GDestroyNotify notify)
{
  PrioJob *job = prio_slab_alloc (&core->loop->jobs);

  prio_core_fill_job (core, job, func, data, notify);
  if (prio_queue_append (&core->jobs[effective], job))
    prio_core_make_ready (core, &core->jobs[effective]);
}
