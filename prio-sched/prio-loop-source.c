/* prio-loop-source.c: the GSources of a context
 *
 * One per lane, so that tasks go before, among or after the other sources of the
 * context, as they are urgent, user-visible or background.  The urgent one does
 * the housekeeping in its prepare, which comes before those of the other two, and
 * has them answer.  Those are in the context only while there is work for them,
 * so that an idle scheduler costs little.  Priorities of sources are never changed:
 * GLib cannot bear that while it goes through its list.
 *
 * Turns: when a slice is over, no lane is ready until a source at the lowest
 * priority there is has been dispatched, that is when every other ready source
 * has been.  Sources that are always ready would hold that up for ever, so a turn
 * ends after the time of a slice at the latest.  The source stays for the next turn.
 *
 * Removal: anybody can find our sources by id and destroy them, on any thread.  The next
 * prepare of the urgent source puts the others back.  The urgent source replaces itself
 * when GLib tells it that it has been destroyed, unless its context ends.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-core-private.h"

typedef struct
{
  GSource parent;
  PrioLoop *loop; /* a reference */
  PrioLane lane;
} PrioSource;

/* Guards the sources of every loop.  Nothing but GLib's own locks is taken under it. */
PrioLock prio_sources_lock = PRIO_LOCK_INIT;

static const gint lane_priorities[PRIO_N_LANES] = {
  [PRIO_LANE_URGENT] = G_PRIORITY_HIGH / 2,
  [PRIO_LANE_USER_VISIBLE] = G_PRIORITY_DEFAULT,
  [PRIO_LANE_BACKGROUND] = G_PRIORITY_LOW,
  [PRIO_LANE_IDLE] = G_PRIORITY_LOW + 100,
  [PRIO_LANE_TURN] = G_MAXINT,
};

static const char *const lane_names[PRIO_N_LANES] = {
  [PRIO_LANE_URGENT] = "prio-sched user-blocking",
  [PRIO_LANE_USER_VISIBLE] = "prio-sched user-visible",
  [PRIO_LANE_BACKGROUND] = "prio-sched background",
  [PRIO_LANE_IDLE] = "prio-sched idle callbacks",
  [PRIO_LANE_TURN] = "prio-sched turn",
};

static GSourceFuncs urgent_funcs, lane_funcs, turn_funcs;
static GSourceCallbackFuncs watch_funcs;

static GSource *
source_new (PrioLoop *loop, PrioLane lane)
{
  GSourceFuncs *funcs = lane == PRIO_LANE_URGENT ? &urgent_funcs : lane == PRIO_LANE_TURN ? &turn_funcs : &lane_funcs;
  GSource *source = g_source_new (funcs, sizeof (PrioSource));

  ((PrioSource *) source)->loop = prio_loop_ref (loop);
  ((PrioSource *) source)->lane = lane;
  g_source_set_static_name (source, lane_names[lane]);
  g_source_set_priority (source, lane_priorities[lane]);
  g_source_set_can_recurse (source, TRUE);
  g_source_set_callback_indirect (source, source, &watch_funcs);
  prio_before_unref (source);
  return source;
}

/* What @source, of which GLib holds a reference meanwhile, is about.  It has come by GLib's
 * lock, and goes by that reference: both have to be told to ThreadSanitizer. */
static inline PrioLoop *
loop_of (GSource *source, PrioLane *lane)
{
  PrioSource *self = (PrioSource *) source;
  PrioLoop *loop;

  prio_in_finalize (source);
  loop = self->loop;
  if (lane != NULL)
    *lane = self->lane;
  prio_before_unref (source);
  return loop;
}

/* Under the lock. */
static void
attach_source_locked (PrioLoop *loop, PrioLane lane)
{
  GSource *source = source_new (loop, lane);

  __atomic_store_n (&loop->sources[lane], source, __ATOMIC_RELAXED);
  g_source_attach (source, loop->context);
}

/* Returns: (transfer full) (nullable): the source, which is no longer the loop's */
static GSource *
steal_source_locked (PrioLoop *loop, PrioLane lane)
{
  GSource *source = loop->sources[lane];

  __atomic_store_n (&loop->sources[lane], NULL, __ATOMIC_RELAXED);
  return source;
}

static void
release_source (GSource *source)
{
  prio_before_unref (source);
  g_source_unref (source);
}

/* Whether the context of @source, which has been destroyed, is being freed: GLib takes it
 * from all of its sources before it destroys the first.  The field is read since
 * g_source_get_context () may not be asked then. */
static inline gboolean
context_ends (GSource *source)
{
  return source->context == NULL;
}

/* @source has been destroyed: by us if it is no longer the loop's, otherwise by somebody
 * else or with its context.  The loop ends here, and not when the source is finalized: GLib
 * has not yet freed the memory of the context, which other threads may wake until the inbox
 * is closed, and which another context may get. */
static void
source_destroyed (GSource *source)
{
  PrioLane lane;
  PrioLoop *loop = loop_of (source, &lane);
  gboolean was_ours, ends = FALSE;

  prio_lock_lock (&prio_sources_lock);
  was_ours = loop->sources[lane] == source;
  if (was_ours)
    {
      steal_source_locked (loop, lane);
      ends = lane == PRIO_LANE_URGENT && context_ends (source);
      if (lane == PRIO_LANE_URGENT && !ends)
        attach_source_locked (loop, lane);
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

/* Called at the end of each dispatch, and when @source is destroyed, even in a dispatch. */
static void
watch_unref (gpointer source)
{
  if (g_source_is_destroyed (source))
    source_destroyed (source);
}

/* There is no callback.  Its data is one that nobody finds a source by. */
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
attach_source (PrioLoop *loop, PrioLane lane)
{
  prio_lock_lock (&prio_sources_lock);
  if (loop->sources[lane] == NULL)
    attach_source_locked (loop, lane);
  prio_lock_unlock (&prio_sources_lock);
}

static void
detach_source (PrioLoop *loop, PrioLane lane)
{
  GSource *source;

  prio_lock_lock (&prio_sources_lock);
  source = steal_source_locked (loop, lane);
  prio_lock_unlock (&prio_sources_lock);

  if (source == NULL)
    return;

  g_source_destroy (source);
  if (lane == PRIO_LANE_URGENT)
    prio_loop_tear_down (loop);
  release_source (source);
}

static inline gboolean
has_source (PrioLoop *loop, PrioLane lane)
{
  return __atomic_load_n (&loop->sources[lane], __ATOMIC_RELAXED) != NULL;
}

static void
source_finalize (GSource *source)
{
  prio_in_finalize (source);
  prio_loop_unref (((PrioSource *) source)->loop);
}

/* After so many passes without work, a lane leaves the context. */
#define MAX_IDLE_PASSES 100

/* Another thread that has sent something is likely to send more: the loop looks
 * again so often before it sleeps, which costs less than being woken. */
#define LINGERS 2

static gboolean
is_urgent (PrioLoop *loop)
{
  return loop->ready.mask >> 3 != 0 || loop->microtasks.length > 0 || prio_loop_has_garbage (loop) ||
         __atomic_load_n (&loop->unused, __ATOMIC_RELAXED);
}

/* The lane of what is to be done next. */
static PrioLane
next_lane (PrioLoop *loop)
{
  if (is_urgent (loop))
    return PRIO_LANE_URGENT;
  if (loop->ready.mask != 0)
    return prio_lane_of ((PrioEffective) prio_ready_top (&loop->ready));
  if (prio_loop_is_large (loop))
    return PRIO_LANE_BACKGROUND;
  if (prio_idles_wait (&loop->idles) && prio_idle_may_run (loop, g_get_monotonic_time ()))
    return PRIO_LANE_IDLE;
  return PRIO_LANE_NONE;
}

/* What both stages of an iteration begin with: this thread owns the context. */
static void
take_over (PrioLoop *loop)
{
  prio_bias_take (&loop->bias);
  if (prio_inbox_state (&loop->inbox) == PRIO_INBOX_FILLED)
    {
      prio_loop_catch_up (loop);
      loop->lingers = LINGERS;
    }
}

/* Milliseconds until @due, rounded up so as not to wake too early, or -1. */
static gint
timeout_until (gint64 due, gint64 now)
{
  if (due <= now)
    return 0;
  return (gint) MIN ((due - now - 1) / 1000 + 1, G_MAXINT);
}

static inline void
adapt_source (PrioLoop *loop, PrioLane lane, gboolean is_needed)
{
  if (is_needed)
    {
      loop->idle_passes[lane] = 0;
      if (!has_source (loop, lane))
        attach_source (loop, lane);
    }
  else if (has_source (loop, lane) && ++loop->idle_passes[lane] > MAX_IDLE_PASSES)
    {
      detach_source (loop, lane);
    }
}

/* Has the sources in the context that are needed, and no longer one that has not been
 * needed for a while.  The urgent one is always there. */
static void
adapt_sources (PrioLoop *loop)
{
  for (PrioLane lane = 0; lane < PRIO_LANE_URGENT; lane++)
    adapt_source (loop, lane, lane == loop->lane);
  adapt_source (loop, PRIO_LANE_TURN, loop->turn);
}

/* When the loop has to be up again though nobody wakes it, as a timeout. */
static gint
next_timeout (PrioLoop *loop, gint64 now)
{
  gint64 due = G_MAXINT64;

  if (loop->delays.n_items > 0)
    due = (gint64) prio_heap_first (&loop->delays)->key;
  if (prio_idles_wait (&loop->idles))
    due = MIN (due, prio_idle_next (loop, now));

  return due == G_MAXINT64 ? -1 : timeout_until (due, now);
}

/* GLib goes on to another source, and may leave the context to another thread, or free it:
 * it has locks for that, which ThreadSanitizer does not see. */
static inline void
leave_loop (PrioLoop *loop)
{
  prio_before_unref (loop);
}

static gboolean
prepare (PrioLoop *loop, gint *timeout)
{
  gint64 now = 0;

  if (loop->probing)
    {
      *timeout = -1;
      return FALSE;
    }

  do
    {
      take_over (loop);
      *timeout = -1;

      /* Without GLib's lock, which g_source_get_time () takes. */
      if (loop->delays.n_items > 0 || loop->turn || prio_idles_wait (&loop->idles))
        now = g_get_monotonic_time ();
      prio_loop_expire_delays (loop, now);
      if (loop->turn && now >= loop->turn_end)
        loop->turn = FALSE;

      loop->awake = FALSE;
      loop->lane = next_lane (loop);
      adapt_sources (loop);

      if (loop->turn)
        {
          *timeout = 0;
          return FALSE;
        }
      if (loop->lane != PRIO_LANE_NONE)
        return loop->lane == PRIO_LANE_URGENT;

      if (loop->lingers > 0)
        {
          loop->lingers--;
          *timeout = 0;
          return FALSE;
        }
    }
  while (!prio_inbox_fall_asleep (&loop->inbox));

  /* Nothing to do: the slice, if one was running, ended before its time. */
  loop->slice_start = 0;
  *timeout = next_timeout (loop, now);
  return FALSE;
}

static gboolean
urgent_prepare (GSource *source, gint *timeout)
{
  PrioLoop *loop = loop_of (source, NULL);
  gboolean ready = prepare (loop, timeout);

  leave_loop (loop);
  return ready;
}

/* What has come meanwhile is looked at; what has become due is left to the next
 * prepare, which asks for the time anyway. */
static gboolean
urgent_check (GSource *source)
{
  PrioLoop *loop = loop_of (source, NULL);
  gboolean ready;

  take_over (loop);
  loop->awake = TRUE;
  ready = !loop->turn && is_urgent (loop);
  leave_loop (loop);
  return ready;
}

static gboolean
lane_prepare (GSource *source, gint *timeout)
{
  PrioLane lane;
  PrioLoop *loop = loop_of (source, &lane);

  *timeout = -1;
  return loop->lane == lane && !loop->turn && !loop->probing;
}

/* Nobody uses the record any more: its sources leave the context. */
static gboolean
retire (PrioLoop *loop)
{
  if (!prio_loop_retire (loop))
    return FALSE;

  for (PrioLane lane = 0; lane < PRIO_N_LANES; lane++)
    detach_source (loop, lane);
  return TRUE;
}

static gboolean
lane_dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioLane lane;
  PrioLoop *loop = prio_loop_ref (loop_of (source, &lane));
  gboolean retired;

  prio_bias_take (&loop->bias);
  loop->awake = TRUE;
  if (!loop->turn)
    prio_loop_run_batch (loop, lane, g_source_get_time (source));
  retired = retire (loop);
  leave_loop (loop);
  prio_loop_unref (loop);

  return retired ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static gboolean
turn_prepare (GSource *source, gint *timeout)
{
  PrioLoop *loop = loop_of (source, NULL);

  *timeout = -1;
  return loop->turn && !loop->probing;
}

/* Everything else that was ready has been dispatched. */
static gboolean
turn_dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  loop_of (source, NULL)->turn = FALSE;
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs urgent_funcs = {
  urgent_prepare, urgent_check, lane_dispatch, source_finalize, NULL, NULL
};

static GSourceFuncs lane_funcs = {
  lane_prepare, NULL, lane_dispatch, source_finalize, NULL, NULL
};

static GSourceFuncs turn_funcs = {
  turn_prepare, NULL, turn_dispatch, source_finalize, NULL, NULL
};

/* Puts @loop, which is new, into its context. */
void
prio_loop_attach (PrioLoop *loop)
{
  attach_source (loop, PRIO_LANE_URGENT);
}

/* A slice is over: the other sources have their turn. */
void
prio_loop_begin_turn (PrioLoop *loop, gint64 now)
{
  loop->turn = TRUE;
  loop->turn_end = prio_time_after (now, loop->slice_length != 0 ? loop->slice_length : PRIO_DEFAULT_SLICE);
  loop->slice_start = 0;
}

/* So many file descriptors are asked without an allocation. */
#define FEW_FDS 64

/* Which of @fds have something to say but that GLib has been woken, which it is by one of
 * them, to be polled for from the priority of 0 on.  That is not known before it has been
 * seen: once in the life of a context it is woken for that. */
static gboolean
input_waits (PrioLoop *loop, gint priority, GPollFD *fds, gint n_fds)
{
  gboolean finding = priority >= G_PRIORITY_DEFAULT && loop->wakeup_fd == -1;
  gint n_ready = 0;
  gint64 ready = -1;

  if (finding)
    g_main_context_wakeup (loop->context);
  if (g_poll (fds, (guint) n_fds, 0) <= 0)
    return FALSE;

  for (gint i = 0; i < n_fds; i++)
    {
      if (fds[i].revents != 0 && fds[i].fd != loop->wakeup_fd)
        {
          ready = fds[i].fd;
          n_ready++;
        }
    }

  if (!finding)
    return n_ready > 0;
  if (n_ready == 1)
    loop->wakeup_fd = ready;
  return n_ready > 1;
}

/* Whether a source that goes before those of @lane, or among them, is ready, without us.
 *
 * This is how GLib begins an iteration, inside a dispatch as in any nested main loop.  But
 * it ends there: g_main_context_check () would take references to what it finds ready, and
 * leave them to a dispatch that does not come.  What prepare finds ready needs no
 * descriptor; what has one is asked by poll (); the query changes nothing that the next
 * iteration does not set again. */
gboolean
prio_loop_others_wait (PrioLoop *loop, PrioLane lane)
{
  GPollFD few[FEW_FDS];
  g_autofree GPollFD *many = NULL;
  gint highest = lane_priorities[lane], priority, timeout, n_fds;
  gboolean ready;

  loop->probing = TRUE;
  ready = g_main_context_prepare (loop->context, &priority) && priority <= highest;
  loop->probing = FALSE;
  if (ready)
    return TRUE;

  n_fds = g_main_context_query (loop->context, highest, &timeout, few, FEW_FDS);
  if (n_fds <= FEW_FDS)
    return input_waits (loop, highest, few, n_fds);

  many = g_new (GPollFD, n_fds);
  return input_waits (loop, highest, many,
                      MIN (n_fds, g_main_context_query (loop->context, highest, &timeout, many, n_fds)));
}
