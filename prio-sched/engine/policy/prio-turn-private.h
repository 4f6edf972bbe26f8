/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-turn-private.h: decides whether tasks run next, or all other sources
 *
 * A *turn* of the other sources is a series of iterations of the main loop in which no task runs.  All decisions about
 * turns are made here; the loop only reports events.
 *
 *        batch            turn of other sources            batch
 *     ├─────────┤├───────────────────────────────────┤├─────────┤
 *     task task   input, timers │ frame │ validation     task …
 *                 down to 118   │ 120   │ to 125    │ 126: tasks again, or, once a slice,
 *                                                   │ idle sources, to the bottom
 *
 * - A batch ends after 0.1 to 1 ms, because only GLib knows whether another source is ready,
 *   and it takes an iteration, about a microsecond, to find out.  Then the other sources have their turn.
 *   Where frames are drawn, a task that asks whether to yield, and steps, end there too.  Elsewhere they have the
 *   slice, and so they have if the program has set it.
 * - A turn ends when GLib has reached 126 and found nothing ready above that: every source that was ready
 *   has been dispatched once, a frame that was due (120) has been drawn, and text has been validated
 *   (125).  So a window draws as much as it would beside one idle source.  A turn has no time limit:
 *   with one, no frame would be drawn beside a handler that takes longer than the limit.
 * - When an announced frame is due, and once per slice, the turn is whole: it continues to the bottom, where the idle
 *   sources of the program are (200).  Idle sources that are always ready get half of the time: the side that has had
 *   more waits for the other.
 * - A source that is always ready keeps GLib from reaching the sources below it.  Probes report how far GLib has come:
 *   they are sources that are never ready, and GLib asks them only if nothing above them is ready.  When GLib has not
 *   reached the frame for some iterations and milliseconds, there is a flood.  Tasks get half of the time beside a
 *   flood, until an iteration reaches the sources below it, or until the flood has to be detected again.
 * - Where drawing takes all the time, tasks get a batch between two frames.  By default the batch is a tenth of the
 *   time (a ninth of the frame's time), so that nine tenths of the frames remain, and tasks that have run for longer
 *   than a slice wait nine times as long.  A slice that the program has set is not shortened.
 * - If the program has set a share for tasks beside frames, each drawing adds time that is due to tasks, each task uses
 *   some of it, and the turn ends before the next frame as long as some is left.
 * - The governor, which GLib asks first in every iteration, lets tasks run before all other sources if GLib does not
 *   reach them: urgent and user-visible tasks when a flood has been detected, background tasks for one batch in half a
 *   second.  This half second begins when they begin to wait, whatever else runs meanwhile.
 * - After a long handler, frame or task, input that came meanwhile goes first, however tasks become ready: they run
 *   once GLib has reached a source below input (prio_turn_admits ()), at 1, or where GTK 4 draws.  They run before all
 *   other sources only beside a flood of input, for which a long handler counts as an eighth of a second at most.
 *   Input that came meanwhile may take half a second.
 * - A task that has waited for another source may continue in the turn, right after that source, for some milliseconds:
 *   such as the task of a group that takes the place of a task whose operation has ended.  If it waited for the end of
 *   the turn, fewer operations would run at a time, the more of them end.
 *
 * Everything here belongs to the owner thread.
 */

#pragma once

#include <glib.h>

/* A batch ends, to look for other sources, after a tenth of the time for which they were idle, within these limits,
 * µs. */
#define PRIO_MIN_LOOK 100
#define PRIO_MAX_LOOK 1000

/* During an iteration that takes this long, input may have come, µs. */
#define PRIO_LONG_ITERATION 10000

/* A share of time, in millionths. */
#define PRIO_WHOLE_SHARE 1000000

/* How far down an iteration has come, by the priority of the dispatched source. */
typedef enum
{
  PRIO_REACH_TOP,    /* up to input, at 0 */
  PRIO_REACH_INPUT,  /* no input is ready; above GTK's drawing: up to 118 */
  PRIO_REACH_FRAME,  /* 119 and 120: frame clocks paint at G_PRIORITY_HIGH_IDLE + 20 */
  PRIO_REACH_LAYOUT, /* 121 to 125: GTK validates text at 125 */
  PRIO_REACH_REST,   /* from 126 on */
} PrioReach;

typedef struct
{
  gboolean others;            /* the other sources have their turn: no task runs */
  gboolean whole;             /* the turn continues to the bottom */
  gboolean granted;           /* tasks run right after input, or before every other source: prio_turn_goes_first () */
  gboolean input_pending;     /* input may have come during a long iteration, and may not have been dispatched yet */
  gboolean held;              /* tasks have let input go first in the last dispatch */
  gboolean answered;          /* an operation that one of our tasks had begun has ended in their turn, */
  gboolean continues;         /* and in this iteration tasks that have waited for it run before every other source */
  gboolean drawn;             /* a frame has been drawn in this turn, */
  gboolean ends_before_frame; /* and the turn ends before the next frame */
  PrioReach reached;          /* how far down the current iteration has come */

  gboolean rests;  /* no task is ready */
  gboolean waited; /* tasks were ready in the last iteration too */
  gint64 began;    /* when @waited was seen first, or the turn began, µs; 0 if not yet */
  gint64 iterated; /* when the last observed iteration began, µs */
  gint64 drawing;  /* how much of the turn drawing took, µs */
  guint n_top;     /* iterations in a row that reached at most PRIO_REACH_INPUT */

  guint n_input, n_input_long; /* iterations in a row that reached at most PRIO_REACH_TOP, short and long, */
  gint64 input_time;           /* and how long they took, µs: a long one is not counted in full */

  gint64 look;         /* how long a batch runs before it looks for other sources, µs */
  gint64 quiet_since;  /* when other sources were last busy, µs */
  gint64 slice;        /* the slice of the scheduler whose tasks have run, µs */
  gint64 spent;        /* how long tasks have run since the last turn of other sources, µs */
  gint64 ran;          /* how long tasks ran before this turn, µs */
  gint64 since_whole;  /* how long tasks have run since the last whole turn, µs */
  gint64 rest_balance; /* time due to tasks for whole turns, µs; if negative, due to other sources */
  gint64 flood_until;  /* when the flood ends to count as detected, µs */
  gint64 balance;      /* time due to tasks during a flood, µs; if negative, due to other sources */
  gint64 after_frame;  /* how long tasks may run after a frame, µs, or 0 */
  guint frame_share;   /* the share of tasks beside frames, if the program has set it, or 0 */
  gint64 frame_due;    /* if so: time due to tasks for drawing, µs; if negative, due to drawing */
  gint64 frame;        /* the first announced frame for which there has been no turn yet, µs, or 0 */

  gint64 background_since; /* when background tasks began to wait, µs; 0 if none does, or one, or an idle callback, has run since */
} PrioTurn;

void prio_turn_init (PrioTurn *turn);
void prio_turn_iterate (PrioTurn *turn, gint64 now, gboolean urgent);
void prio_turn_count_background (PrioTurn *turn, gint64 now, gboolean waits, gboolean urgent);
void prio_turn_tasks_ran (PrioTurn *turn, gint64 now, gint64 ran, gint64 slice, gboolean cut);
void prio_turn_end (PrioTurn *turn, gint64 now, PrioReach reached);
void prio_turn_continued (PrioTurn *turn, gint64 ran);
void prio_turn_rest (PrioTurn *turn);
void prio_turn_reach (PrioTurn *turn, PrioReach reach);
gboolean prio_turn_goes_first (const PrioTurn *turn);
gboolean prio_turn_admits (PrioTurn *turn, PrioReach reached, gint64 took);

/* Returns whether tasks, which are about to run in an iteration, have to let input go first, after a long part of
 * it: only once, because slow iterations may never end. */
static inline gboolean
prio_turn_is_held (PrioTurn *turn, gint64 took)
{
  turn->held = !turn->held && took >= PRIO_LONG_ITERATION;
  turn->input_pending |= turn->held;
  return turn->held;
}

/* Notes that a frame is due at @frame, µs, or 0 if the time is not known. */
static inline void
prio_turn_announce_frame (PrioTurn *turn, gint64 frame)
{
  if (frame != 0 && (turn->frame == 0 || frame < turn->frame))
    turn->frame = frame;
}

/* Returns how much time is due to a side with @share, if all others had @time, µs. */
static inline gint64
prio_share_of (guint share, gint64 time)
{
  return time * share / (PRIO_WHOLE_SHARE - share);
}

/* Returns how long tasks may run now, µs.  @slice is their scheduler's; @is_set says whether the program has set it. */
static inline gint64
prio_turn_allowance (PrioTurn *turn, gint64 slice, gboolean is_set)
{
  if (turn->balance > 0)
    return MIN (slice, MAX (PRIO_MAX_LOOK, turn->balance));
  return turn->after_frame != 0 && (!is_set || turn->frame_share != 0) ? MIN (slice, turn->after_frame) : slice;
}

static inline gint64
prio_turn_look (PrioTurn *turn, gint64 allowance)
{
  return turn->balance > 0 || turn->after_frame != 0 ? allowance : MIN (allowance, turn->look);
}
