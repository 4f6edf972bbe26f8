/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-source.c: the library's GSources in a context
 *
 * Each lane has a source, so that urgent, user-visible and background tasks run before, among and after the other
 * sources of the context.  The governor, which precedes all other sources, does the housekeeping in its prepare, and
 * decides which lane is ready.  The library's other sources are attached only while they have work, so that an idle
 * scheduler costs little.  In the default context, the governor leaves too after a while without work, and the next
 * post attaches it again.  In other contexts the governor stays, because it notices the end of the context; the default
 * context never ends.  The priority of a source never changes: GLib does not support that while it walks its list.
 *
 * While other sources have their turn (prio-turn), no lane is ready, except for tasks that have waited for one of these
 * sources.  Sources between the lanes, the probes, report which priorities GLib has reached.
 *
 * Any code can find the library's sources by id and destroy them, on any thread.  The next prepare of the governor
 * attaches new ones.  If the governor itself is destroyed, a new governor is attached at once, unless the context is being
 * freed. */

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
  guint kind;     /* PrioLane, or a constant PRIO_SOURCE_… */
} PrioSource;

/* Guards the sources of all loops.  While a thread holds it, only GLib's own locks are taken. */
static PrioLock sources_lock = PRIO_LOCK_INIT;

__attribute__ ((constructor)) static void
load (void)
{
  prio_loop_add_leaf_lock (&sources_lock);
}

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
  [PRIO_LANE_BACKGROUND] = { "prio-sched background", G_PRIORITY_LOW + 1, &lane_funcs }, /* after G_PRIORITY_LOW */
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

/* Returns the loop and the kind of @source.  GLib holds a reference to @source during the call.  The annotations are
 * for ThreadSanitizer, which does not see that GLib's lock and reference put the call after the creation and before the
 * finalization. */
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

static void
attach_source_locked (PrioLoop *loop, guint kind)
{
  GSource *source = source_new (loop, kind);

  __atomic_store_n (&loop->sources.of[kind], source, __ATOMIC_RELAXED);
  __atomic_store_n (&loop->sources.n, loop->sources.n + 1, __ATOMIC_RELAXED);
  __atomic_store_n (&loop->sources.is_away, FALSE, __ATOMIC_RELEASE);
  g_source_attach (source, loop->context);
}

/* Removes source @kind from the loop.  Returns (transfer full) (nullable) the source.  The caller holds the lock. */
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

/* Handles the destruction of @source by the library, by other code, or at the end of the context.  At the end of the
 * context, ends the loop here, and not when the source is finalized: other threads may wake the context until the
 * mailbox is closed, and when @source is finalized, a new context may have the same address. */
static void
source_destroyed (GSource *source)
{
  guint kind;
  PrioLoop *loop = loop_of (source, &kind);
  gboolean was_ours, ends = FALSE;

  prio_lock_lock (&sources_lock);
  was_ours = loop->sources.of[kind] == source;
  if (was_ours)
    {
      steal_source_locked (loop, kind);
      ends = kind == PRIO_SOURCE_GOVERNOR && prio_source_context_ends (source);
      if (kind == PRIO_SOURCE_GOVERNOR && !ends)
        attach_source_locked (loop, kind);
    }
  prio_lock_unlock (&sources_lock);

  if (ends)
    prio_loop_tear_down (loop);
  if (was_ours)
    release_source (source);
}

static void
watch_ref (gpointer source G_GNUC_UNUSED)
{
}

/* Handles the destruction of @source, if it is destroyed.  GLib calls this function at the end of each dispatch, and
 * when @source is destroyed, even during a dispatch. */
static void
watch_unref (gpointer source)
{
  if (g_source_is_destroyed (source))
    source_destroyed (source);
}

/* Sets @func to NULL.  Sets @data to the source, so that no program finds the source by its own user data. */
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
  prio_lock_lock (&sources_lock);
  if (loop->sources.of[kind] == NULL)
    attach_source_locked (loop, kind);
  prio_lock_unlock (&sources_lock);
}

/* Detaches a source.  For the governor: if @is_away, the next post attaches it again; otherwise this ends the loop. */
static void
detach_source (PrioLoop *loop, guint kind, gboolean is_away)
{
  GSource *source;

  prio_lock_lock (&sources_lock);
  source = steal_source_locked (loop, kind);
  __atomic_store_n (&loop->sources.is_away, is_away, __ATOMIC_RELEASE);
  prio_lock_unlock (&sources_lock);

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

/* A source is detached after this many iterations without work. */
#define MAX_IDLE_PASSES 100

/* How often the loop looks for further operations before it sleeps, after another thread has sent one.  Waking up costs
 * more than looking. */
#define SPINS 2

/* If a dispatch ran no task, urgent work that is not a task shares the lane of the next task for this many iterations:
 * two, because an iteration may be only a call of g_main_context_pending (). */
#define MAX_HELD_UP 2

/* Returns whether the urgent lane is next, for an urgent task or for other urgent work.  Returns FALSE if the
 * lane has just done such work without a task, and a task is ready: the work then shares the task's lane. */
static gboolean
is_urgent (PrioLoop *loop)
{
  if (loop->ready.mask >> 3 != 0)
    return TRUE;
  if (loop->ready.mask != 0 && loop->sources.taskless != 0 && loop->sources.iteration - loop->sources.taskless <= MAX_HELD_UP)
    return FALSE;
  return prio_loop_has_microtasks (loop) || prio_loop_has_releases (loop) || prio_loop_is_unused (loop);
}

/* Returns the lane of the next task, idle callback or other work of the loop, or PRIO_LANE_NONE. */
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

/* Makes this thread, which owns the context, the owner thread, and carries out operations of other threads. */
static void
take_over (PrioLoop *loop)
{
  prio_owner_lock_acquire (&loop->lock);
  /* Pairs with prio_before_unref () at the end of each source function.  After such a function, another thread may run
   * or free the context, and ThreadSanitizer does not see that GLib's locks order this. */
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

/* Attaches the sources that are needed, and detaches sources that have not been needed for a while.  Most probes are
 * needed when a turn lasts longer than one iteration. */
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

/* Detaches the governor from the default context if the context has been idle for a while.  A later post attaches
 * the governor again.  If a post comes before the mailbox falls asleep, take_over () in prepare () does so. */
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

/* Decides whether tasks or other sources run in this iteration.  @now is the time, or 0 if the time is not known.
 * Reads the clock only if needed.  Returns @now, or the time that was read, µs. */
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

/* Begins an iteration.  Returns whether the governor dispatches tasks, before every other source. */
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

      /* Reads the clock itself, because g_source_get_time () would take GLib's lock. */
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

  /* Wakes GLib for the next delay.  If idle callbacks wait, their source does so. */
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

/* Carries out operations that other threads have sent since prepare.  If these post tasks, only urgent tasks make their
 * lane ready in this iteration.  Delayed tasks are queued in the next iteration at the earliest. */
static gboolean
governor_check (GSource *source)
{
  PrioLoop *loop = loop_of (source, NULL);

  take_over (loop);
  loop->sources.awake = TRUE;
  /* The context is awake until the next prepare.  Until then, a push need not wake it. */
  prio_mailbox_wake (&loop->mailbox);
  prio_stopwatch_hurry (&loop->input.asked);
  note_check (loop, prio_clock_now ());
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_observed_checks (loop);
  prio_before_unref (loop);
  return FALSE;
}

/* Returns whether the next task is of this source's lane, and may run when GLib dispatches the source. */
static gboolean
lane_prepare (GSource *source, gint *timeout)
{
  guint lane;
  PrioLoop *loop = loop_of (source, &lane);

  *timeout = -1;
  return (guint) loop->sources.lane == lane && (!loop->turn.others || loop->turn.continues) && !loop->turn.granted;
}

/* Returns whether urgent work has come since prepare, and can be done in this iteration. */
static gboolean
lane_check (GSource *source)
{
  guint lane;
  PrioLoop *loop = loop_of (source, &lane);
  gboolean ready = lane == PRIO_LANE_URGENT && !loop->turn.others && !loop->turn.granted && !loop->turn.input_pending && is_urgent (loop);

  prio_before_unref (loop);
  return ready;
}

/* Prepares idle callbacks.  GLib calls this function only if no other source is ready yet, because this source has the
 * lowest priority. */
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

void
prio_loop_close (PrioLoop *loop)
{
  /* The governor comes last, because detaching it ends the loop. */
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
  /* Wakes the mailbox, which the governor's prepare may have set to ASLEEP before idle callbacks became ready. */
  if (kind == PRIO_LANE_IDLE && prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY)
    prio_loop_catch_up (loop);
  ends_turn = !loop->turn.others || prio_source_ends_turn (&loop->turn, kind);
  /* Input goes first if another dispatch at the same priority has taken long. */
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

/* Attaches @loop, which is new, or whose governor has left its context.  Any thread may call this function.  On the
 * owner thread, code outside of tasks gets a new time slice for should_yield (). */
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
