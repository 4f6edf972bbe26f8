/* prio-holding.c: what holds the loop, and for how long
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-holding-private.h"

#include "watch/prio-long-task-private.h"
#include "watch/sources/prio-symbol-private.h"

/* So many may wait until the loop gets to them. */
#define MAX_REPORTS 64

/* A source that makes the reports that are queued. */
typedef struct
{
  GSource source;
  PrioLoop *loop; /* a reference */
  gboolean told;
} Report;

void
prio_held_free (PrioHeld *held)
{
  prio_loop_unref (held->loop);
  g_free (held->name);
  g_free (held);
}

/* What a loop that is watched, or was, keeps. */
typedef struct
{
  gint64 threshold; /* µs; 0 while nobody watches */
  gboolean in_batch; /* tasks run: what is noted now is reported at the end of their batch */
  GQueue reports;     /* PrioHeld: the oldest first, for which a source or the end of the batch will come, or the end of a dispatch */
  gboolean has_source; /* that will tell them */
  gint64 since;     /* from when on time is the holder's, µs; 0 while GLib may sleep */
  const PrioObserved *task; /* the holder: a task, */
  PrioOther *other;         /* or one of the other sources, in its dispatch; or both are NULL */
  gint64 unknown;   /* how long nobody knows who was it before the source that is dispatched, µs */
  PrioOthersSeen seen;
} PrioHolding;

static const PrioSlotFuncs slot_funcs = { .size = sizeof (PrioHolding) };

/* Who holds @loop, which has been watched. */
static inline PrioHolding *
holding_of (PrioLoop *loop)
{
  return prio_observed_get_record (loop);
}

/* From @since on, µs, @task or @other holds the loop, or nobody knows who. */
static void
set_holder (PrioHolding *holding, const PrioObserved *task, PrioOther *other, gint64 since)
{
  holding->task = task;
  holding->other = other;
  holding->since = since;
}

/* Reports what is queued, outside.  The time that this takes is nobody's, also if a function runs the main loop. */
static void
tell_all (PrioLoop *loop)
{
  PrioHolding *holding = holding_of (loop);
  const PrioObserved *task = holding->task;
  PrioOther *other = holding->other;
  gint64 since = holding->since, before = prio_clock_now ();
  PrioHeld *held;

  prio_loop_ref (loop);
  set_holder (holding, NULL, NULL, 0);
  while ((held = g_queue_pop_head (&holding->reports)) != NULL)
    prio_long_task_held (held);
  set_holder (holding, task, other, since != 0 ? since + prio_clock_now () - before : 0);
  prio_loop_unref (loop);
}

static void
tell_after_batch (gpointer loop)
{
  tell_all (loop);
  prio_loop_unref (loop);
}

static gboolean
report_prepare (GSource *source G_GNUC_UNUSED, gint *timeout)
{
  *timeout = 0;
  return TRUE;
}

static gboolean
report_dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  Report *self = (Report *) source;

  self->told = TRUE;
  holding_of (self->loop)->has_source = FALSE;
  tell_all (self->loop);
  return G_SOURCE_REMOVE;
}

static void
report_finalize (GSource *source)
{
  Report *self = (Report *) source;
  PrioHolding *holding = holding_of (self->loop);

  if (holding->seen.ignored == source)
    holding->seen.ignored = NULL;
  if (!self->told)
    {
      /* The context has gone. */
      holding->has_source = FALSE;
      g_queue_clear_full (&holding->reports, (GDestroyNotify) prio_held_free);
    }
  prio_loop_unref (self->loop);
}

static GSourceFuncs report_funcs = { .prepare = report_prepare, .dispatch = report_dispatch, .finalize = report_finalize };

/* The reports are made when the loop gets to its idle sources. */
static void
tell_when_idle (PrioLoop *loop)
{
  PrioHolding *holding = holding_of (loop);
  g_autoptr (GSource) source = NULL;

  if (holding->has_source)
    return;
  source = g_source_new (&report_funcs, sizeof (Report));
  ((Report *) source)->loop = prio_loop_ref (loop);
  holding->has_source = TRUE;
  g_source_set_priority (source, G_PRIORITY_DEFAULT_IDLE);
  g_source_set_static_name (source, "prio-sched long task");
  holding->seen.ignored = source;
  g_source_attach (source, prio_observed_context (loop));
}

/* The loop has been held for @duration µs until @now, by @task, by @other or, if both are NULL, by nothing that is known.  The report
 * comes later. */
static void
note (PrioLoop *loop, const PrioObserved *task, PrioOther *other, gint64 duration, gint64 now)
{
  PrioHolding *holding = holding_of (loop);
  const char *name = task != NULL ? task->name : other != NULL ? prio_other_get_name (other) : NULL;
  gboolean is_idle = task != NULL && task->kind == PRIO_OBSERVED_IDLE;
  gboolean is_source = is_idle || (task == NULL && other != NULL);
  gint priority = task != NULL && !is_idle ? task->priority : (gint) PRIO_PRIORITY_UNSET;
  PrioHeld *held;

  if (name == NULL && task != NULL && task->func != NULL && duration >= holding->threshold)
    name = prio_symbol_get_name (task->func);
  if (name == NULL && is_idle)
    name = "idle callback";
  if (task == NULL && duration >= holding->threshold)
    prio_observed_held (loop, name, duration, now);
  if (duration < holding->threshold || holding->reports.length >= MAX_REPORTS || !prio_observed_is_here (loop))
    return;

  held = g_new (PrioHeld, 1);
  *held = (PrioHeld) {
    .loop = prio_loop_ref (loop),
    .name = g_strdup (name),
    .priority = priority,
    .is_source = is_source,
    .duration = duration,
  };
  g_queue_push_tail (&holding->reports, held);
  if (holding->in_batch)
    prio_observed_call_later (loop, tell_after_batch, prio_loop_ref (loop));
}

static inline PrioHolding *
watched (PrioLoop *loop)
{
  PrioHolding *holding = holding_of (loop);

  return holding != NULL && holding->threshold != 0 ? holding : NULL;
}

/* The holder of @loop changes at @since. */
static void
pass_on (PrioLoop *loop, gint64 now, gint64 since)
{
  PrioHolding *holding = holding_of (loop);

  if (holding->since != 0)
    note (loop, holding->task, holding->other, now - holding->since, now);
  set_holder (holding, NULL, NULL, since);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  holding->in_batch = TRUE;
  pass_on (loop, now, now);
  holding->task = task;
}

static void
ran (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  holding->task = task;
  pass_on (loop, now, now);
}

static void
yielded (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  PrioHolding *holding = watched (loop);

  /* Its microtasks follow, and are a part of the step. */
  if (prio_observed_has_microtasks (loop) && holding != NULL)
    holding->task = task;
  else
    ran (self, loop, task, now);
}

static void
prepares (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  pass_on (loop, now, 0);
  holding->in_batch = FALSE;
  if (holding->reports.length > 0)
    tell_when_idle (loop);
}

static void
checks (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  prio_others_look (loop, &holding->seen);
  set_holder (holding, NULL, NULL, now);
}

static void
batch_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, PrioLane lane G_GNUC_UNUSED, gint64 began G_GNUC_UNUSED,
             gboolean cut G_GNUC_UNUSED, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  pass_on (loop, now, now);
  holding->in_batch = FALSE;
}

/* The context is locked, so nothing may be reported yet. */
static void
source_begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, PrioOther *other, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  holding->unknown = holding->since != 0 ? now - holding->since : 0;
  set_holder (holding, NULL, other, now);
}

static void
source_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, PrioOther *other, gint64 now)
{
  PrioHolding *holding = watched (loop);

  if (holding == NULL)
    return;
  if (holding->unknown >= holding->threshold)
    note (loop, NULL, NULL, holding->unknown, now);
  holding->unknown = 0;
  if (holding->since != 0)
    note (loop, NULL, other, now - holding->since, now);
  set_holder (holding, NULL, NULL, now);
  if (holding->reports.length > 0)
    tell_all (loop);
}

static PrioObserver observer = {
  .begins = begins,
  .yielded = yielded,
  .microtasks_ran = ran,
  .ended = ran,
  .prepares = prepares,
  .checks = checks,
  .batch_ended = batch_ended,
  .source_begins = source_begins,
  .source_ended = source_ended,
};

/* Any thread, outside: a scheduler watches from now on, or no longer if not @on. */
void
prio_holding_observe (gboolean on)
{
  (on ? prio_observer_add : prio_observer_remove) (&observer);
}

/* Inside: what holds @loop for @threshold µs is reported by prio_long_task_held (); 0 for nothing. */
void
prio_holding_set (PrioLoop *loop, gint64 threshold)
{
  PrioHolding *holding = prio_observed_ensure_record (loop, &slot_funcs);

  if (holding->threshold == threshold)
    return;
  if (holding->threshold == 0)
    holding->seen.last = 0;
  holding->threshold = threshold;
  set_holder (holding, NULL, NULL, 0);
}
