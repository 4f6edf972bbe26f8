/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-holding.c: finds tasks and sources that block a main loop */

#include "config.h"

#include "watch/prio-holding-private.h"

#include "watch/prio-trace-private.h"
#include "watch/sources/prio-flood-private.h"
#include "watch/sources/prio-symbol-private.h"

/* The largest number of reports in the queue.  Further reports are dropped. */
#define MAX_REPORTS 64

void
prio_held_free (PrioHeld *held)
{
  g_free (held->name);
  g_free (held);
}

/* The code that has blocked the loop since @since, in µs: @task, @other, @flood or, if all are NULL, unknown code. */
typedef struct
{
  gint64 since; /* 0 while GLib may wait for events */
  const PrioObserved *task;
  PrioOther *other; /* a source that is being dispatched */
  const char *flood; /* the description of a flood */
} PrioHolder;

/* The record of an observed loop. */
typedef struct
{
  gint64 threshold; /* µs; 0 while nothing has to be reported */
  PrioHeldFunc report;
  gboolean in_batch; /* whether a batch runs, at whose end reports are made */
  GQueue reports;     /* PrioHeld, the oldest first */
  gboolean has_source; /* whether an idle source for the reports is attached */
  PrioHolder holder;
  PrioFlood flood; /* the sources of this iteration that took less than the threshold */
  gint64 unknown, unknown_until; /* how long unknown code ran before the current source, and until when, µs */
  PrioOthersSeen seen;
} PrioHolding;

static void
holding_clear (gpointer data)
{
  PrioHolding *holding = data;

  g_queue_clear_full (&holding->reports, (GDestroyNotify) prio_held_free);
  prio_flood_clear (&holding->flood);
}

static const PrioSlotFuncs slot_funcs = { .size = sizeof (PrioHolding), .clear = holding_clear };

static inline PrioHolding *
holding_of (PrioLoop *loop)
{
  return prio_loop_ensure_slot (loop, PRIO_SLOT_WATCH, &slot_funcs);
}

/* Calls the report function for each queued report.  The caller has entered no loop.  The time that the program's
 * functions take is not counted, even if they run the main loop. */
static void
tell_all (gpointer loop)
{
  PrioHolding *holding = holding_of (loop);
  PrioHolder holder = holding->holder;
  gint64 before = prio_clock_now ();
  PrioHeld *held;

  prio_loop_ref (loop);
  holding->holder = (PrioHolder) { 0 };
  while ((held = g_queue_pop_head (&holding->reports)) != NULL)
    holding->report (loop, held);
  if (holder.since != 0)
    holder.since += prio_clock_now () - before;
  holding->holder = holder;
  prio_loop_unref (loop);
}

static gboolean
tell_from_source (gpointer loop)
{
  holding_of (loop)->has_source = FALSE;
  tell_all (loop);
  return G_SOURCE_REMOVE;
}

static void
tell_when_idle (PrioLoop *loop)
{
  PrioHolding *holding = holding_of (loop);
  g_autoptr (GSource) source = NULL;

  if (holding->has_source)
    return;
  holding->has_source = TRUE;
  source = g_idle_source_new ();
  g_source_set_callback (source, tell_from_source, prio_loop_ref (loop), (GDestroyNotify) prio_loop_unref);
  g_source_set_static_name (source, prio_others_ignored);
  g_source_attach (source, prio_observed_context (loop));
}

/* Queues a report if @duration, in µs, reaches the threshold.  @holder has blocked the loop until @now. */
static void
note (PrioLoop *loop, const PrioHolder *holder, gint64 duration, gint64 now)
{
  PrioHolding *holding = holding_of (loop);
  const PrioObserved *task = holder->task;
  gboolean is_idle = task != NULL && task->kind == PRIO_OBSERVED_IDLE;
  const char *name = task != NULL ? task->name : holder->flood;
  PrioHeld *held;

  if (holding->threshold == 0 || duration < holding->threshold)
    return;

  if (task == NULL && holder->other != NULL)
    name = prio_other_get_name (holder->other);
  if (name == NULL && task != NULL && task->func != NULL)
    name = prio_symbol_get_name (task->func);
  if (name == NULL && is_idle)
    name = "idle callback";
  if (task == NULL)
    prio_trace_held (name, duration, now);
  if (holding->reports.length >= MAX_REPORTS)
    return;

  held = g_new (PrioHeld, 1);
  *held = (PrioHeld) {
    .name = g_strdup (name),
    .priority = task != NULL && !is_idle ? task->priority : (gint) PRIO_TASK_PRIORITY_UNSET,
    .is_source = is_idle || (task == NULL && holder->other != NULL),
    .is_flood = holder->flood != NULL,
    .duration = duration,
  };
  g_queue_push_tail (&holding->reports, held);
  if (holding->in_batch)
    prio_observed_call_later (loop, tell_all, loop);
}

/* Ends the flood of an iteration, and reports it if its callbacks together took the threshold or longer. */
static void
end_flood (PrioLoop *loop, gint64 now)
{
  PrioFlood *flood = &holding_of (loop)->flood;

  if (flood->n > 1 && flood->total >= holding_of (loop)->threshold)
    {
      g_autofree char *text = prio_flood_describe (flood);

      note (loop, &(PrioHolder) { .flood = text }, flood->total, now);
    }
  prio_flood_clear (flood);
}

/* Queues a report if the current holder has blocked the loop for long.  Then unknown code is the holder, from @since. */
static void
pass_on (PrioLoop *loop, gint64 now, gint64 since)
{
  PrioHolding *holding = holding_of (loop);

  if (holding->holder.since != 0)
    note (loop, &holding->holder, now - holding->holder.since, now);
  holding->holder = (PrioHolder) { .since = since };
}

static void
batch_begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 now)
{
  holding_of (loop)->in_batch = TRUE;
  pass_on (loop, now, now);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  pass_on (loop, now, now);
  holding_of (loop)->holder.task = task;
}

static void
ran (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  holding_of (loop)->holder.task = task;
  pass_on (loop, now, now);
}

static void
yielded (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  /* The task's microtasks run next, and count as part of the task. */
  if (prio_observed_has_microtasks (loop))
    holding_of (loop)->holder.task = task;
  else
    ran (self, loop, task, now);
}

static void
prepares (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 now)
{
  PrioHolding *holding = holding_of (loop);

  pass_on (loop, now, 0);
  end_flood (loop, now);
  holding->in_batch = FALSE;
  if (holding->reports.length > 0)
    tell_when_idle (loop);
}

static void
checks (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 now)
{
  PrioHolding *holding = holding_of (loop);

  if (holding->threshold != 0)
    prio_others_look (loop, &holding->seen);
  holding->holder = (PrioHolder) { .since = holding->threshold != 0 ? prio_clock_now () : now };
}

static void
batch_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, PrioLane lane G_GNUC_UNUSED, gint64 began G_GNUC_UNUSED,
             gboolean cut G_GNUC_UNUSED, gint64 now)
{
  pass_on (loop, now, now);
  holding_of (loop)->in_batch = FALSE;
}

static PrioObserver observer = {
  .begins = begins,
  .yielded = yielded,
  .microtasks_ran = ran,
  .ended = ran,
  .prepares = prepares,
  .checks = checks,
  .batch_begins = batch_begins,
  .batch_ended = batch_ended,
};

/* Notes that a callback of a source begins.  Reports nothing, because GLib has locked the context. */
static void
source_begins (PrioLoop *loop, PrioOther *other)
{
  PrioHolding *holding = holding_of (loop);
  gint64 now;

  /* Ignores a call after the watch has ended, because sources keep these callback functions. */
  if (holding->threshold == 0)
    return;
  now = prio_clock_now ();
  holding->unknown = holding->holder.since != 0 ? now - holding->holder.since : 0;
  holding->unknown_until = now;
  holding->holder = (PrioHolder) { .since = now, .other = other };
}

static void
source_ended (PrioLoop *loop, PrioOther *other)
{
  PrioHolding *holding = holding_of (loop);
  gint64 now, held;

  if (holding->threshold == 0)
    return;
  now = prio_clock_now ();
  held = now - holding->holder.since;
  note (loop, &(PrioHolder) { 0 }, holding->unknown, holding->unknown_until);
  holding->holder.task = NULL;
  holding->holder.other = other;
  /* The short time before the dispatch counts for the source too, because GLib has spent it on the source. */
  if (holding->holder.since != 0 && held < holding->threshold)
    prio_flood_add (&holding->flood, prio_other_get_name (other), held + (holding->unknown < holding->threshold ? holding->unknown : 0));
  holding->unknown = 0;
  pass_on (loop, now, now);
  if (holding->reports.length > 0)
    tell_all (loop);
}

/* Adds the observer if @on is TRUE; otherwise undoes one such call.  The caller has entered no loop. */
void
prio_holding_observe (gboolean on)
{
  (on ? prio_observer_add : prio_observer_remove) (&observer);
}

/* Sets @report, which is called after anything has blocked @loop for @threshold µs or longer.  If @threshold is 0,
 * nothing is reported.  The caller has entered the loop. */
void
prio_holding_set (PrioLoop *loop, gint64 threshold, PrioHeldFunc report)
{
  PrioHolding *holding = holding_of (loop);

  if (holding->threshold == threshold)
    return;
  if (holding->threshold == 0)
    holding->seen = (PrioOthersSeen) { .begins = source_begins, .ended = source_ended };
  holding->threshold = threshold;
  holding->report = report;
  holding->holder = (PrioHolder) { 0 };
}
