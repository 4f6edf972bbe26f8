/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-source.c: the GSources of a context
 *
 * Each lane has a source, so that urgent, user-visible and background tasks run before, among and after the other
 * sources of the context.  The governor, which precedes all other sources, does the housekeeping in its prepare, and
 * decides which lane is ready.  The others are attached while there is work for them, so that an idle scheduler costs
 * little.  The governor leaves too after a while without work, and the next post attaches it; but only in the default
 * context, which is never freed: elsewhere it notices the end of the context.  The priority of a source never changes:
 * GLib does not support that while it walks its list.
 *
 * Turns (prio-turn): while other sources have their turn, no lane is ready, and the probes, the
 * sources in between, report how far down GLib has come.
 *
 * Removal: any code can find the library's sources by id and destroy them, on any thread.  The
 * next prepare of the governor attaches new ones.  The governor replaces itself when it has been destroyed, unless its
 * context is being freed.
 */

#include "config.h"

#include "loop/prio-loop-source-private.h"

#include "base/prio-glib-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-lane-private.h"
#include "loop/prio-loop-end-private.h"
#include "loop/prio-observer-private.h"

typedef struct
{
  GSource parent;
  PrioLoop *loop; /* a reference */
  guint kind;     /* PrioLane, or PRIO_SOURCE_… */
} PrioSource;

/* Guards the sources of every loop.  Only GLib's own locks are taken under it. */
PrioLock prio_sources_lock = PRIO_LOCK_INIT;

static GSourceFuncs governor_funcs, lane_funcs, idle_funcs, probe_funcs;
static GSourceCallbackFuncs watch_funcs;

static const struct
{
  const char *name;
  gint priority;
  GSourceFuncs *funcs;
} kinds[PRIO_N_SOURCES] = {
  [PRIO_SOURCE_GOVERNOR] = { "prio-sched governor", G_MININT, &governor_funcs },
  [PRIO_LANE_URGENT] = { "prio-sched user-blocking", G_PRIORITY_HIGH / 2, &lane_funcs },
  [PRIO_LANE_USER_VISIBLE] = { "prio-sched user-visible", G_PRIORITY_DEFAULT, &lane_funcs },
  [PRIO_SOURCE_AFTER_INPUT] = { "prio-sched after input", G_PRIORITY_DEFAULT + 1, &probe_funcs },
  [PRIO_SOURCE_BEFORE_FRAME] = { "prio-sched before the frame", G_PRIORITY_HIGH_IDLE + 19, &probe_funcs },
  [PRIO_SOURCE_BEFORE_LAYOUT] = { "prio-sched before layout", G_PRIORITY_HIGH_IDLE + 21, &probe_funcs },
  [PRIO_SOURCE_AFTER_FRAME] = { "prio-sched after the frame", G_PRIORITY_HIGH_IDLE + 26, &probe_funcs },
  [PRIO_LANE_BACKGROUND] = { "prio-sched background", G_PRIORITY_LOW + 1, &lane_funcs }, /* after low sources, too */
  [PRIO_LANE_IDLE] = { "prio-sched idle callbacks", G_MAXINT, &idle_funcs },
  [PRIO_SOURCE_BOTTOM] = { "prio-sched at the bottom", G_MAXINT, &probe_funcs },
};

static GSource *
source_new (PrioLoop *loop, guint kind)
{
  GSource *source = g_source_new (kinds[kind].funcs, sizeof (PrioSource));

  ((PrioSource *) source)->loop = prio_loop_ref (loop);
  ((PrioSource *) source)->kind = kind;
  g_source_set_static_name (source, kinds[kind].name);
  g_source_set_priority (source, kinds[kind].priority);
  g_source_set_can_recurse (source, TRUE);
  g_source_set_callback_indirect (source, source, &watch_funcs);
  prio_before_unref (source);
  return source;
}

/* Returns the loop and the kind of @source, to which GLib holds a reference meanwhile.  GLib's lock orders this call
 * after the creation of @source, and GLib's reference orders it before its end; ThreadSanitizer sees neither, so
 * both are annotated here. */
static inline PrioLoop *
loop_of (GSource *source, guint *kind)
{
  PrioSource *self = (PrioSource *) source;
  PrioLoop *loop;

  prio_in_finalize (source);
  loop = self->loop;
  if (kind != NULL)
    *kind = self->kind;
  prio_before_unref (source);
  return loop;
}

/* Attaches a source.  Under the lock. */
static void
attach_source_locked (PrioLoop *loop, guint kind)
{
  GSource *source = source_new (loop, kind);

  __atomic_store_n (&loop->sources.of[kind], source, __ATOMIC_RELAXED);
  __atomic_store_n (&loop->sources.n, loop->sources.n + 1, __ATOMIC_RELAXED);
  __atomic_store_n (&loop->sources.is_away, FALSE, __ATOMIC_RELEASE);
  g_source_attach (source, loop->context);
}

/* Returns (transfer full) (nullable) a source, which is no longer the loop's.  Under the lock. */
static GSource *
steal_source_locked (PrioLoop *loop, guint kind)
{
  GSource *source = loop->sources.of[kind];

  __atomic_store_n (&loop->sources.of[kind], NULL, __ATOMIC_RELAXED);
  if (source != NULL)
    __atomic_store_n (&loop->sources.n, loop->sources.n - 1, __ATOMIC_RELAXED);
  return source;
}

static void
release_source (GSource *source)
{
  prio_before_unref (source);
  g_source_unref (source);
}

/* Handles the destruction of @source: by the library if it is no longer the loop's, otherwise by other code or with
 * its context.  The loop ends here, and not when the source is finalized: until here GLib has not freed the memory
 * of the context.  Other threads may wake the context until the mailbox is closed, and a new context may get the
 * same memory. */
static void
source_destroyed (GSource *source)
{
  guint kind;
  PrioLoop *loop = loop_of (source, &kind);
  gboolean was_ours, ends = FALSE;

  prio_lock_lock (&prio_sources_lock);
  was_ours = loop->sources.of[kind] == source;
  if (was_ours)
    {
      steal_source_locked (loop, kind);
      ends = kind == PRIO_SOURCE_GOVERNOR && prio_source_context_ends (source);
      if (kind == PRIO_SOURCE_GOVERNOR && !ends)
        attach_source_locked (loop, kind);
    }
  prio_lock_unlock (&prio_sources_lock);

  if (ends)
    prio_loop_tear_down (loop);
  if (was_ours)
    release_source (source);
}

static void
watch_ref (gpointer source G_GNUC_UNUSED)
{
}

/* Runs at the end of each dispatch, and when @source is destroyed, even in a dispatch. */
static void
watch_unref (gpointer source)
{
  if (g_source_is_destroyed (source))
    source_destroyed (source);
}

/* Returns no callback.  The data is the source itself, so that a search by user data does not find it. */
static void
watch_get (gpointer watch, GSource *source, GSourceFunc *func, gpointer *data)
{
  *func = NULL;
  *data = source;
}

static GSourceCallbackFuncs watch_funcs = {
  watch_ref, watch_unref, watch_get
};

static void
attach_source (PrioLoop *loop, guint kind)
{
  prio_lock_lock (&prio_sources_lock);
  if (loop->sources.of[kind] == NULL)
    attach_source_locked (loop, kind);
  prio_lock_unlock (&prio_sources_lock);
}

/* Detaches a source.  If @is_away, the governor is to come back. */
static void
detach_source (PrioLoop *loop, guint kind, gboolean is_away)
{
  GSource *source;

  prio_lock_lock (&prio_sources_lock);
  source = steal_source_locked (loop, kind);
  __atomic_store_n (&loop->sources.is_away, is_away, __ATOMIC_RELEASE);
  prio_lock_unlock (&prio_sources_lock);

  if (source == NULL)
    return;

  g_source_destroy (source);
  if (kind == PRIO_SOURCE_GOVERNOR && !is_away)
    prio_loop_tear_down (loop);
  release_source (source);
}

static inline gboolean
has_source (PrioLoop *loop, guint kind)
{
  return __atomic_load_n (&loop->sources.of[kind], __ATOMIC_RELAXED) != NULL;
}

static void
source_finalize (GSource *source)
{
  prio_in_finalize (source);
  prio_loop_unref (((PrioSource *) source)->loop);
}

/* After this many iterations without work, a source leaves the context. */
#define MAX_IDLE_PASSES 100

/* Another thread that has sent an operation is likely to send more: the loop looks again this often before it sleeps,
 * which costs less than being woken. */
#define SPINS 2

/* For this many iterations after an iteration without tasks, urgent work waits while a task is ready: GLib may have
 * been asked in one of them whether anything is pending. */
#define MAX_HELD_UP 2

/* Returns whether the urgent lane is next.  Urgent work without a task has it, but not again and again while a task
 * is ready: then it is done before the task, in the task's lane. */
static gboolean
is_urgent (PrioLoop *loop)
{
  if (loop->ready.mask >> 3 != 0)
    return TRUE;
  if (loop->ready.mask != 0 && loop->sources.taskless != 0 && loop->sources.iteration - loop->sources.taskless <= MAX_HELD_UP)
    return FALSE;
  return prio_loop_has_microtasks (loop) || prio_loop_has_releases (loop) || prio_loop_is_unused (loop);
}

/* Returns the lane of the next task, idle callback or housekeeping, or NONE. */
static PrioLane
next_lane (PrioLoop *loop)
{
  if (is_urgent (loop))
    return PRIO_LANE_URGENT;
  if (loop->ready.mask != 0)
    return prio_lane_of ((PrioEffective) prio_ready_top (&loop->ready));
  if (prio_loop_is_large (loop))
    return PRIO_LANE_BACKGROUND;
  return prio_idles_wait (&loop->idles) ? PRIO_LANE_IDLE : PRIO_LANE_NONE;
}

/* Begins the prepare and the check of the governor.  This thread owns the context. */
static void
take_over (PrioLoop *loop)
{
  prio_owner_lock_acquire (&loop->lock);
  /* Each function of a source ends with prio_before_unref (): GLib continues with another source, and may pass the context
   * to another thread, or free it.  GLib's locks order that, and ThreadSanitizer does not see them. */
  prio_in_finalize (loop);
  if (prio_mailbox_state (&loop->mailbox) == PRIO_MAILBOX_FILLED)
    {
      prio_loop_catch_up (loop);
      loop->sources.spins = SPINS;
    }
}

static inline void
adapt_source (PrioLoop *loop, guint kind, gboolean is_needed)
{
  if (is_needed)
    {
      loop->sources.idle_passes[kind] = 0;
      if (!has_source (loop, kind))
        attach_source (loop, kind);
    }
  else if (has_source (loop, kind) && ++loop->sources.idle_passes[kind] > MAX_IDLE_PASSES)
    {
      detach_source (loop, kind, FALSE);
    }
}

/* Attaches the sources that are needed, and detaches sources that have not been needed for a while.  Probes are
 * attached when a turn lasts for longer than an iteration. */
static void
adapt_sources (PrioLoop *loop)
{
  PrioTurn *turn = &loop->turn;
  gboolean is_long = turn->n_top > 0 || turn->drawn || turn->ends_before_frame;

  if (loop->sources.lane == PRIO_LANE_NONE && __atomic_load_n (&loop->sources.n, __ATOMIC_RELAXED) == 1)
    return;

  loop->sources.idle_passes[PRIO_SOURCE_GOVERNOR] = 0;
  for (guint lane = 0; lane < PRIO_N_LANES; lane++)
    adapt_source (loop, lane, (PrioLane) lane == loop->sources.lane);
  adapt_source (loop, PRIO_SOURCE_AFTER_INPUT,
                is_long || turn->granted || (turn->input_pending && loop->sources.lane != PRIO_LANE_NONE));
  adapt_source (loop, PRIO_SOURCE_BEFORE_FRAME, is_long);
  adapt_source (loop, PRIO_SOURCE_BEFORE_LAYOUT, is_long);
  adapt_source (loop, PRIO_SOURCE_AFTER_FRAME, turn->others);
  adapt_source (loop, PRIO_SOURCE_BOTTOM, turn->whole);
}

/* Detaches the governor from a context that has been idle for a while.  The next post attaches it again: it sees
 * that the mailbox is asleep, or comes before that, and then the governor stays. */
static void
leave_if_idle (PrioLoop *loop)
{
  if (loop->sources.lane == PRIO_LANE_NONE && __atomic_load_n (&loop->sources.n, __ATOMIC_RELAXED) == 1 &&
      !prio_due_is_used (&loop->due) && !prio_loop_is_observed (loop) &&
      ++loop->sources.idle_passes[PRIO_SOURCE_GOVERNOR] > MAX_IDLE_PASSES && loop->context == g_main_context_default ())
    {
      detach_source (loop, PRIO_SOURCE_GOVERNOR, TRUE);
    }
}

/* Decides whose turn it is in this iteration.  Reads the clock only if needed; returns @now, or the time read, µs. */
static gint64
take_turn (PrioLoop *loop, gint64 now)
{
  PrioTurn *turn = &loop->turn;
  gboolean urgent = loop->sources.lane > PRIO_LANE_BACKGROUND;

  if (loop->sources.checked != 0 && (!PRIO_CLOCK_TICKS || prio_clock_tick () != loop->sources.checked_tick))
    {
      now = now != 0 ? now : prio_clock_now ();
      turn->input_pending |= now - loop->sources.checked >= PRIO_LONG_ITERATION;
    }
  if (loop->sources.lane < PRIO_LANE_BACKGROUND)
    {
      if (G_UNLIKELY (!turn->rests || turn->granted))
        prio_turn_rest (turn);
      return now;
    }

  if (turn->others || turn->waited || turn->background_since != 0)
    {
      now = now != 0 ? now : prio_clock_now ();
      if (turn->others || turn->waited)
        prio_turn_iterate (turn, now, urgent);
      prio_turn_count_background (turn, now, !urgent || prio_loop_has_background (loop), urgent);
    }
  turn->granted |= urgent && !turn->others && turn->input_pending;
  turn->waited = TRUE;
  turn->rests = FALSE;
  return now;
}

/* Begins an iteration.  Returns whether tasks run before every other source in it. */
static gboolean
prepare (PrioLoop *loop, gint *timeout)
{
  gint64 now = 0;

  take_over (loop);
  loop->sources.iteration++;
  while (TRUE)
    {
      *timeout = -1;
      if (G_UNLIKELY (prio_loop_is_observed (loop)))
        prio_observed_prepares (loop);

      /* Not g_source_get_time (), which takes GLib's lock. */
      if (prio_due_is_used (&loop->due))
        now = prio_clock_now ();
      prio_loop_expire_delays (loop, now);

      loop->sources.awake = FALSE;
      loop->sources.lane = next_lane (loop);
      now = take_turn (loop, now);
      adapt_sources (loop);

      if (loop->sources.lane > PRIO_LANE_IDLE)
        {
          if (loop->turn.others)
            *timeout = 0;
          return prio_turn_goes_first (&loop->turn);
        }

      if (loop->sources.spins > 0)
        {
          loop->sources.spins--;
          *timeout = 0;
          return FALSE;
        }

      leave_if_idle (loop);
      if (prio_mailbox_fall_asleep (&loop->mailbox))
        break;
      take_over (loop);
    }

  /* All is done, unless GLib reaches the source of the idle callbacks, which sets its own timeout. */
  if (prio_due_has_delays (&loop->due) && loop->sources.lane == PRIO_LANE_NONE)
    *timeout = prio_timeout_until (prio_due_next (&loop->due), now);
  return FALSE;
}

guint64
prio_observed_iteration (PrioLoop *loop)
{
  return loop->sources.iteration;
}

static gboolean
governor_prepare (GSource *source, gint *timeout)
{
  PrioLoop *loop = loop_of (source, NULL);
  gboolean ready = prepare (loop, timeout);

  prio_before_unref (loop);
  return ready;
}

static void
note_check (PrioLoop *loop, gint64 now)
{
  loop->sources.checked = now;
  loop->sources.checked_tick = prio_clock_tick ();
  loop->sources.told = FALSE;
}

/* Takes in operations that other threads have sent meanwhile.  New tasks run in the next iteration, unless they are
 * urgent; delayed tasks that have become due are queued in the next iteration too. */
static gboolean
governor_check (GSource *source)
{
  PrioLoop *loop = loop_of (source, NULL);

  take_over (loop);
  loop->sources.awake = TRUE;
  /* From now on a push need not wake the context, which may be about to end. */
  prio_mailbox_wake (&loop->mailbox);
  prio_stopwatch_hurry (&loop->input.asked);
  note_check (loop, prio_clock_now ());
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_observed_checks (loop);
  prio_before_unref (loop);
  return FALSE;
}

/* Returns whether the next task is of the lane, and is to run when GLib dispatches this source. */
static gboolean
lane_prepare (GSource *source, gint *timeout)
{
  guint lane;
  PrioLoop *loop = loop_of (source, &lane);

  *timeout = -1;
  return (guint) loop->sources.lane == lane && (!loop->turn.others || loop->turn.continues) && !loop->turn.granted;
}

/* Returns whether urgent tasks have been posted since prepare: they need not wait for another iteration. */
static gboolean
lane_check (GSource *source)
{
  guint lane;
  PrioLoop *loop = loop_of (source, &lane);
  gboolean ready = lane == PRIO_LANE_URGENT && !loop->turn.others && !loop->turn.granted && !loop->turn.input_pending && is_urgent (loop);

  prio_before_unref (loop);
  return ready;
}

/* Prepares idle callbacks.  This source has the lowest priority: GLib asks it only if no other source is ready. */
static gboolean
idle_prepare (GSource *source, gint *timeout)
{
  PrioLoop *loop = loop_of (source, NULL);
  gboolean ready;
  gint timer;

  *timeout = -1;
  if (loop->sources.lane != PRIO_LANE_IDLE)
    return FALSE;

  g_main_context_query (loop->context, G_MAXINT, &timer, NULL, 0);
  ready = prio_idle_prepare (loop, timer, timeout);
  prio_before_unref (loop);
  return ready;
}

static gboolean
probe_prepare (GSource *source, gint *timeout)
{
  guint kind;
  PrioLoop *loop = loop_of (source, &kind);

  *timeout = -1;
  return prio_source_ends_turn (&loop->turn, kind);
}

static gboolean
probe_check (GSource *source)
{
  guint kind;
  PrioLoop *loop = loop_of (source, &kind);

  prio_turn_reach (&loop->turn, prio_source_reach (kind));
  prio_before_unref (loop);
  return FALSE;
}

/* Ends the loop before its context, and aborts queued and later tasks.  Outside, on the thread that runs the context. */
void
prio_loop_close (PrioLoop *loop)
{
  /* The governor's source is the last: with it the loop ends. */
  for (guint kind = 0; kind < PRIO_N_SOURCES; kind++)
    detach_source (loop, kind, FALSE);
}

static gboolean
dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  guint kind;
  PrioLoop *loop = prio_loop_ref (loop_of (source, &kind));
  gint64 now = prio_clock_now ();
  gboolean ends_turn, disposed;

  prio_owner_lock_acquire (&loop->lock);
  loop->sources.awake = TRUE;
  /* The iteration may have been about to sleep. */
  if (kind == PRIO_LANE_IDLE && prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY)
    prio_loop_catch_up (loop);
  ends_turn = !loop->turn.others || prio_source_ends_turn (&loop->turn, kind);
  /* In this iteration a long dispatch may have run before, at the same priority. */
  if ((ends_turn || loop->turn.continues) &&
      prio_turn_admits (&loop->turn, prio_source_reach (kind), now - loop->sources.checked))
    {
      if (ends_turn && G_UNLIKELY (prio_loop_is_observed (loop)))
        prio_observed_turn_ends (loop, now);
      if (ends_turn)
        prio_turn_end (&loop->turn, now, prio_source_reach (kind));
      prio_loop_run_batch (loop, ends_turn ? prio_source_lowest_lane (loop, kind) : PRIO_LANE_USER_VISIBLE, now);
    }
  disposed = prio_loop_dispose (loop);
  if (disposed)
    prio_loop_close (loop);
  prio_before_unref (loop);
  prio_loop_unref (loop);

  return disposed ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static GSourceFuncs governor_funcs = {
  governor_prepare, governor_check, dispatch, source_finalize, NULL, NULL
};

static GSourceFuncs lane_funcs = {
  lane_prepare, lane_check, dispatch, source_finalize, NULL, NULL
};

static GSourceFuncs idle_funcs = {
  idle_prepare, NULL, dispatch, source_finalize, NULL, NULL
};

static GSourceFuncs probe_funcs = {
  probe_prepare, probe_check, dispatch, source_finalize, NULL, NULL
};

/* Attaches @loop, which is new or was away, to its context, on any thread.  For should_yield (), the code that has
 * brought it back begins here. */
void
prio_loop_attach (PrioLoop *loop)
{
  if (loop->sources.is_away && prio_owner_lock_is_owner (&loop->lock))
    {
      gint64 now = prio_clock_now ();

      loop->turn.input_pending |= now - loop->sources.checked >= PRIO_LONG_ITERATION;
      note_check (loop, now);
    }
  attach_source (loop, PRIO_SOURCE_GOVERNOR);
}

gboolean
prio_loop_has_source (PrioLoop *loop, const GSource *source)
{
  for (guint kind = 0; kind < PRIO_N_SOURCES; kind++)
    {
      if (__atomic_load_n (&loop->sources.of[kind], __ATOMIC_RELAXED) == source)
        return TRUE;
    }
  return FALSE;
}
