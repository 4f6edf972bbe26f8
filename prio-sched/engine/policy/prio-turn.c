/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-turn.c: decides whether tasks run next, or all other sources */

#include "config.h"

#include "policy/prio-turn-private.h"

/* There is a flood if GLib reaches no source that draws in this many iterations, which take this long together, µs:
 * many short ones or a few long ones. */
#define SPIN_ITERATIONS 8
#define SPIN_TIME 10000
#define LONG_SPIN_ITERATIONS 3
#define LONG_SPIN_TIME 50000

/* Long iterations that reach only input are a flood after this time, µs.  Each counts for a quarter of it at most. */
#define LONG_INPUT_TIME 500000

/* A flood counts as detected for this long, µs.  In this time, fewer iterations are enough to detect it again. */
#define FLOOD_TIME 100000
#define FLOOD_ITERATIONS 4
#define LONG_FLOOD_ITERATIONS 2
#define LONG_FLOOD_TIME 20000

/* The most time that can be due to tasks or to other sources, µs. */
#define MAX_BALANCE 50000

/* Other sources that use less time than this in a turn, µs, do not count as busy. */
#define MIN_USED 50

/* Frames get this many times as much time as the tasks between them. */
#define FRAME_SHARE 9

/* A turn that has taken this long, µs, is not expected to end soon. */
#define LONG_TURN 50000

/* The longest wait, µs, of other idle sources, if GLib reaches them and no share is set.  Background tasks wait for
 * half of this time at most, unless a more urgent task is ready. */
#define MAX_WAIT G_USEC_PER_SEC

/* A task that waited for another source continues at once if that source ran this soon after a turn began, µs. */
#define CONTINUING 5000

static void
forget_flood (PrioTurn *turn)
{
  turn->flood_until = 0;
  turn->balance = 0;
}

/* Initializes @turn.  In a dispatch, lets input go first, because a slow handler may have delayed it. */
void
prio_turn_init (PrioTurn *turn)
{
  turn->input_pending = g_main_depth () > 0;
  turn->look = PRIO_MIN_LOOK;
}

/* Returns the time, µs, that is due to tasks after a whole turn of @used µs: @used, or more for a share above half. */
static gint64
due_after_whole (const PrioTurn *turn, gint64 used)
{
  return prio_share_of (MAX (turn->task_share, PRIO_WHOLE_SHARE / 2), used);
}

/* Sets the minimum share of tasks, in millionths, or 0 for none.  Limits the time that the old share has made due. */
void
prio_turn_set_task_share (PrioTurn *turn, guint share)
{
  gint64 most = prio_share_of (share, MAX_BALANCE);

  turn->task_share = share;
  turn->frame_due = CLAMP (turn->frame_due, -most, most);
  turn->rest_balance = MIN (turn->rest_balance, due_after_whole (turn, MAX_BALANCE));
}

/* Notes that GLib has reached a source at @reach, which is below input, so that all ready input has been dispatched. */
void
prio_turn_reach (PrioTurn *turn, PrioReach reach)
{
  turn->reached = MAX (turn->reached, reach);
  turn->input_pending = FALSE;
  turn->n_input = turn->n_input_long = 0;
  turn->input_time = 0;
}

/* Ends the turn of the other sources, even if it is not complete. */
static void
end (PrioTurn *turn, gint64 now)
{
  gint64 used = now - turn->began;

  if (turn->began != 0)
    {
      if (used >= MIN_USED)
        turn->quiet_since = now;
      turn->look = CLAMP ((now - turn->quiet_since) / 10, PRIO_MIN_LOOK, PRIO_MAX_LOOK);
      /* Lengthens batches, because otherwise a layout after each batch would cost more than the batches. */
      turn->look = MAX (turn->look, MIN (turn->layout * 10, MIN (turn->slice / 2, PRIO_MAX_LOOK_AFTER_LAYOUT)));
    }
  if (turn->rest_ran)
    turn->rest_balance = MIN (turn->rest_balance + due_after_whole (turn, used),
                              due_after_whole (turn, turn->task_share != 0 ? MAX_WAIT : MAX_BALANCE));
  /* If GLib has not reached the sources below in a long turn, the next whole turn comes later. */
  if (turn->rest_ran || (turn->task_share != 0 && turn->whole && used >= LONG_TURN))
    turn->since_whole = 0;

  if (turn->others)
    turn->spent = 0;
  turn->others = turn->whole = turn->drawn = turn->rest_ran = turn->ends_before_frame = turn->waited = turn->continues = FALSE;
  turn->began = turn->drawing = turn->layout = 0;
  turn->n_top = 0;
  turn->reached = PRIO_REACH_TOP;
}

/* Counts an iteration, which has taken @took µs, if it did not get past input. */
static void
count_input (PrioTurn *turn, gint64 took)
{
  if (turn->reached != PRIO_REACH_TOP)
    return;
  if (took >= PRIO_LONG_ITERATION)
    turn->n_input_long++;
  else
    turn->n_input++;
  turn->input_time += MIN (took, LONG_INPUT_TIME / 4);
}

/* Returns whether tasks that have been granted a batch run before every other source now, because input never ends. */
gboolean
prio_turn_goes_first (const PrioTurn *turn)
{
  return turn->granted && (turn->n_input_long > 0 ? turn->input_time >= LONG_INPUT_TIME
                                                  : turn->n_input >= SPIN_ITERATIONS && turn->input_time >= SPIN_TIME);
}

/* Returns whether tasks may run in a dispatch of a source of the library at @reached, @took µs after GLib checked its
 * sources.  During a flood of input tasks may run, but after the flood input goes first again. */
gboolean
prio_turn_admits (PrioTurn *turn, PrioReach reached, gint64 took)
{
  if (reached == PRIO_REACH_TOP && prio_turn_goes_first (turn))
    {
      turn->input_pending = TRUE;
      return TRUE;
    }
  if (reached != PRIO_REACH_TOP)
    prio_turn_reach (turn, reached);
  return !prio_turn_is_held (turn, took) && !turn->input_pending;
}

static gboolean
is_spinning (PrioTurn *turn, gint64 used)
{
  return (turn->n_top >= SPIN_ITERATIONS && used >= MAX (SPIN_TIME, MIN (turn->ran, MAX_BALANCE))) ||
         (turn->n_top >= LONG_SPIN_ITERATIONS && used >= LONG_SPIN_TIME);
}

/* Returns whether there is a flood, and tasks may run now.  GLib has not reached the frame for @used µs. */
static gboolean
is_flood (PrioTurn *turn, gint64 now, gint64 used)
{
  if (now < turn->flood_until)
    return (turn->n_top >= FLOOD_ITERATIONS || (turn->n_top >= LONG_FLOOD_ITERATIONS && used >= LONG_FLOOD_TIME)) &&
           turn->balance + used >= 0;
  if (!is_spinning (turn, used))
    return FALSE;

  turn->flood_until = now + FLOOD_TIME;
  turn->balance = -MIN (turn->ran, MAX_BALANCE);
  return TRUE;
}

static inline gboolean
is_for_drawing (PrioTurn *turn, gint64 used)
{
  return turn->drawing * 2 >= used;
}

/* Returns whether tasks may run before the next frame.  A frame has been drawn, and @used µs of the turn have passed.
 * Returns FALSE for a short turn that was mostly not spent on drawing, because it is likely to end soon. */
static gboolean
may_run_after_frame (PrioTurn *turn, gint64 used)
{
  if (!is_for_drawing (turn, used) && used < LONG_TURN)
    return FALSE;
  return turn->ran <= MAX (turn->slice, PRIO_MAX_LOOK) || used >= MIN (turn->ran * FRAME_SHARE, MAX_WAIT);
}

/* Counts the last iteration.  Returns whether the turn ends although that iteration has found a ready source. */
static gboolean
is_over (PrioTurn *turn, gint64 now)
{
  gint64 used = now - turn->began;

  turn->rest_ran |= turn->whole && turn->reached == PRIO_REACH_REST;
  if (turn->reached == PRIO_REACH_FRAME)
    {
      turn->drawn = turn->others;
      turn->drawing += now - turn->iterated;
    }
  if (turn->reached == PRIO_REACH_LAYOUT)
    turn->layout += now - turn->iterated;
  /* Counts PRIO_REACH_INPUT too, because GTK 4 may draw right after input, at priority 1. */
  if (turn->task_share != 0 && (turn->reached == PRIO_REACH_FRAME || turn->reached == PRIO_REACH_INPUT))
    turn->frame_due = MIN (turn->frame_due + prio_share_of (turn->task_share, now - turn->iterated),
                           prio_share_of (turn->task_share, MAX_WAIT));
  turn->ends_before_frame = turn->drawn && may_run_after_frame (turn, used);

  if (turn->reached <= PRIO_REACH_INPUT)
    {
      turn->n_top++;
      if (!is_flood (turn, now, used))
        return FALSE;

      turn->balance = MIN (turn->balance + used, MAX_BALANCE);
      return TRUE;
    }

  turn->n_top = 0;
  forget_flood (turn);
  if (turn->reached == PRIO_REACH_REST)
    return turn->rest_balance + due_after_whole (turn, used) >= 0;
  if (turn->reached != PRIO_REACH_LAYOUT || used < MIN (turn->ran, MAX_WAIT))
    return FALSE;

  turn->after_frame = used >= turn->slice ? used : 0;
  return TRUE;
}

/* Returns whether the turn continues with drawing, even if time is due to tasks, to reach the sources below at last. */
static gboolean
is_overdue (const PrioTurn *turn, gint64 now)
{
  return turn->whole && turn->since_whole >= MAX_WAIT / 4 && now - turn->began < LONG_TURN;
}

/* Begins an iteration.  Called only if tasks are ready, and were ready in the last iteration.  @urgent says whether one
 * of them is urgent or user-visible.  If not, they are background tasks, which wait until no other source is ready. */
void
prio_turn_iterate (PrioTurn *turn, gint64 now, gboolean urgent)
{
  if (!turn->whole)
    turn->others &= urgent;

  if (turn->began == 0)
    {
      turn->began = now;
      turn->ran = 0;
    }
  else
    {
      count_input (turn, now - turn->iterated);
      if (!turn->continues && is_over (turn, now))
        {
          turn->granted = urgent;
          end (turn, now);
        }
    }
  turn->reached = PRIO_REACH_TOP;
  turn->iterated = now;
  turn->continues = turn->others && turn->answered && !turn->input_pending && now - turn->began < CONTINUING &&
                    (turn->frame == 0 || now < turn->frame);
  turn->answered = FALSE;
  if (G_UNLIKELY (turn->task_share != 0))
    turn->ends_before_frame = turn->others && turn->frame_due > 0 && !is_overdue (turn, now);
}

/* Limits the time for which background tasks wait for other sources.  They wait for more urgent tasks without a limit.
 * Called in each iteration.  @waits says whether background tasks are ready, @urgent whether a more urgent task is. */
void
prio_turn_count_background (PrioTurn *turn, gint64 now, gboolean waits, gboolean urgent)
{
  if (!waits)
    turn->background_since = 0;
  else if (turn->background_since == 0)
    turn->background_since = now;
  else if (!urgent && now - turn->background_since >= MAX_WAIT / 2)
    {
      /* Lets background tasks run right after input, or before every other source, even in a whole turn. */
      turn->granted = TRUE;
      turn->others = turn->whole = FALSE;
    }
}

/* Notes that tasks have run until @now, for @ran µs.  @slice is the shortest slice of their schedulers.  @cut says
 * whether the tasks stopped because their time is over. */
void
prio_turn_tasks_ran (PrioTurn *turn, gint64 now, gint64 ran, gint64 slice, gboolean cut)
{
  gboolean is_due = turn->frame != 0 && turn->frame <= now;

  turn->granted = turn->waited = turn->rest_ran = FALSE;
  turn->began = 0;
  turn->spent += ran;
  turn->since_whole += ran;
  turn->rest_balance = MAX (turn->rest_balance - ran, -MAX_BALANCE);
  /* Time is due to drawing only after a frame. */
  turn->frame_due = MAX (turn->frame_due - ran,
                         turn->after_frame != 0 ? -prio_share_of (turn->task_share, MAX_WAIT) : MIN (turn->frame_due, 0));
  if (!cut)
    return;

  if (now < turn->flood_until)
    turn->balance = MAX (turn->balance - turn->spent, -MAX_BALANCE);
  else
    turn->balance = 0;
  turn->whole = (is_due && turn->task_share == 0) ||
                ((is_due || turn->since_whole >= MIN (slice, MAX_WAIT)) && turn->rest_balance <= 0);
  if (is_due)
    turn->frame = 0;
  turn->ran = turn->spent;
  turn->slice = slice;
  turn->others = TRUE;
  turn->after_frame = turn->spent = 0;
  turn->began = now;
  turn->n_top = 0;
}

/* Notes that tasks that waited for another source have run in the turn, for @ran µs. */
void
prio_turn_continued (PrioTurn *turn, gint64 ran)
{
  turn->ran += ran;
  turn->since_whole += ran;
  turn->rest_balance = MAX (turn->rest_balance - ran, -MAX_BALANCE);
}

/* Ends the turn, because tasks are about to run.  GLib has reached a source of the library at @reached, so every source
 * above has been dispatched. */
void
prio_turn_end (PrioTurn *turn, gint64 now, PrioReach reached)
{
  gint64 used = now - turn->began;
  gboolean at_bottom = turn->whole && reached == PRIO_REACH_REST;

  if (reached == PRIO_REACH_FRAME)
    {
      gint64 due = turn->task_share != 0 ? turn->frame_due : is_for_drawing (turn, used) ? used / FRAME_SHARE : 0;

      turn->after_frame = MAX (due, PRIO_MAX_LOOK);
    }
  else if (reached > PRIO_REACH_FRAME)
    {
      forget_flood (turn);
      turn->after_frame = 0;
    }
  end (turn, now);
  if (at_bottom)
    turn->since_whole = turn->rest_balance = 0;
}

void
prio_turn_rest (PrioTurn *turn)
{
  turn->reached = PRIO_REACH_TOP;
  turn->began = 0;
  end (turn, 0);
  turn->rests = TRUE;
  turn->granted = turn->held = FALSE;
  turn->frame = 0;
  turn->spent = turn->since_whole = turn->rest_balance = turn->after_frame = turn->frame_due = turn->background_since = 0;
}
