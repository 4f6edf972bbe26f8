/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-turn-private.h: decides whether tasks run next, or all other sources
 *
 * A *turn* of the other sources is a series of iterations of the main loop in which no task runs, except tasks that
 * have waited for one of these sources.  All decisions about turns are made here; the loop only reports events.
 *
 *        batch            turn of other sources            batch
 *     ├─────────┤├───────────────────────────────────┤├─────────┤
 *     task task   input, timers │ frame │ validation     task …
 *                 down to 118   │ 120   │ to 125    │ 126: tasks again, or, once a slice,
 *                                                   │ idle sources, to the bottom
 *
 * - A batch ends after 0.1 to 1 ms, because only GLib knows whether another source is ready, and it takes an iteration,
 *   about a microsecond, to find out.  Then the other sources have their turn.  If GTK lays out widgets in each turn
 *   (125), the next batch takes ten times as long as the layout, up to 2 ms.  Where frames are drawn,
 *   prio_scheduler_should_yield () returns TRUE at the end of the batch.  Elsewhere, or if the program has set the
 *   slice, a task may use the whole slice.
 * - A turn ends when GLib has reached 126 and found nothing ready above that: every source that was ready
 *   has been dispatched once, a frame that was due (120) has been drawn, and text has been validated
 *   (125).  So a window draws as much as it would beside one idle source.  A turn has no time limit:
 *   with one, no frame would be drawn beside a handler that takes longer than the limit.
 * - When an announced frame is due, and once per slice, the turn is whole: it continues to the bottom, where the idle
 *   sources of the program are (200).  If idle sources are always ready, they and the tasks get half of the time each,
 *   or tasks get the larger share that the program has set: while they have less, a due frame makes no turn whole.
 * - A source that is always ready keeps GLib from reaching the sources below it.  Probes report how far GLib has come:
 *   they are sources of the library, which GLib checks only if nothing above them is ready.  When GLib has not
 *   reached the frame for some iterations and milliseconds, there is a flood.  Tasks get half of the time during a
 *   flood.  The flood ends when an iteration reaches the sources below, or after a while, so that it has to be detected
 *   again.
 * - Where drawing takes all the time, tasks get a batch between two frames.  By default the batch is a tenth of the
 *   time (a ninth of the frame's time), so that nine tenths of the frames remain, and tasks that have run for longer
 *   than a slice wait nine times as long.  A slice that the program has set is not shortened.
 * - If the program has set a share for tasks, each drawing adds time that is due to tasks, each task uses some of it, and
 *   the turn ends before the next frame as long as some is left.
 * - The governor, which GLib asks first in every iteration, lets tasks run before all other sources if GLib does not
 *   reach the tasks' sources: urgent and user-visible tasks when a flood has been detected, background tasks for one
 *   batch in half a second.  The half second begins when the background tasks become ready.
 * - After a long handler, frame or task, input that came in that time goes first: tasks run once GLib has reached a
 *   source below input (prio_turn_admits ()), such as the probe at 1.  They run before all other sources only after
 *   half a second of input, of which a long handler counts as an eighth of a second at most.
 * - A task that has waited for another source may continue in the turn, right after that source, for some milliseconds:
 *   for example the next task of a group with a limit, when the operation of another task of the group has ended.
 *   Otherwise the group would run fewer tasks than its limit until the end of the turn.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include <glib.h>

/* How long a batch runs before it looks for other sources, µs: a tenth of the time since they were last busy, from MIN
 * to MAX; after a layout, ten times its time if that is more, but at most half a slice or MAX_LOOK_AFTER_LAYOUT. */
#define PRIO_MIN_LOOK 100
#define PRIO_MAX_LOOK 1000
#define PRIO_MAX_LOOK_AFTER_LAYOUT 2000

/* An iteration that takes this long may have delayed input, µs. */
#define PRIO_LONG_ITERATION 10000

/* The whole time, as a share in millionths. */
#define PRIO_WHOLE_SHARE 1000000

/* How far down GLib has come in an iteration: the priority of the last source that it has reached. */
typedef enum
{
  PRIO_REACH_TOP,    /* no source below G_PRIORITY_DEFAULT, 0, the priority of input */
  PRIO_REACH_INPUT,  /* past input, sources from 1 to 118; GTK 4 may draw at 1 */
  PRIO_REACH_FRAME,  /* 119 and 120: frame clocks paint at G_PRIORITY_HIGH_IDLE + 20 */
  PRIO_REACH_LAYOUT, /* 121 to 125: GTK validates text at 125 */
  PRIO_REACH_REST,   /* from 126 on */
} PrioReach;

typedef struct
{
  gboolean others;            /* whether the other sources have their turn, so that no task runs unless @continues */
  gboolean whole;             /* whether the turn continues to the bottom */
  gboolean granted;           /* whether tasks run right after input, or first (prio_turn_goes_first ()) */
  gboolean input_pending;     /* whether input may have come in a long iteration, and may still wait */
  gboolean held;              /* whether the last dispatch ran no task because input goes first */
  gboolean answered;          /* whether an operation that a task had begun has ended in this turn */
  gboolean continues;         /* whether tasks that waited for that operation run first in this iteration */
  gboolean drawn;             /* whether a frame has been drawn in this turn */
  gboolean rest_ran;          /* whether the turn is whole, and GLib has reached the rest */
  gboolean ends_before_frame; /* whether the turn ends before the next frame */
  PrioReach reached;          /* how far down GLib has come in the current iteration */

  gboolean rests;  /* whether no task is ready */
  gboolean waited; /* whether tasks were ready in the last iteration too */
  gint64 began;    /* when @waited was set or the turn began, µs; 0 for neither */
  gint64 iterated; /* when the last iteration with ready tasks began, µs */
  gint64 drawing;  /* how long drawing took in the turn, µs */
  gint64 layout;   /* how long sources from 121 to 125 took in the turn, µs */
  guint n_top;     /* how many iterations in a row reached at most PRIO_REACH_INPUT */

  guint n_input, n_input_long; /* how many short and long iterations in a row reached at most PRIO_REACH_TOP */
  gint64 input_time;           /* how long those iterations took, µs; a long one counts up to a limit */

  gint64 look;         /* how long a batch runs before it looks for other sources, µs */
  gint64 quiet_since;  /* when other sources were last busy, µs */
  gint64 slice;        /* the shortest slice of the schedulers whose tasks ran before this turn, µs */
  gint64 spent;        /* how long tasks have run since the last turn of other sources, µs */
  gint64 ran;          /* how long tasks ran before this turn, µs */
  gint64 since_whole;  /* how long tasks have run since the last whole turn, µs */
  gint64 rest_balance; /* how much time is due to tasks because of whole turns, µs; if negative, to other sources */
  gint64 flood_until;  /* until when a detected flood counts, µs */
  gint64 balance;      /* how much time is due to tasks because of a flood, µs; if negative, to other sources */
  gint64 after_frame;  /* how long tasks may run after a frame, µs, or 0 */
  guint task_share;    /* the share of tasks, in millionths, if the program has set it, or 0 */
  gint64 frame_due;    /* time due to tasks in return for drawing, µs; if negative, due to drawing; 0 without @task_share */
  gint64 frame;        /* when the next announced frame is due, µs; kept until a turn begins after that time; or 0 */

  gint64 background_since; /* when background tasks became ready, µs; 0 if none is ready, or after a background task or
                            * an idle callback has run */
} PrioTurn;

void prio_turn_init (PrioTurn *turn);
void prio_turn_set_task_share (PrioTurn *turn, guint share);
void prio_turn_iterate (PrioTurn *turn, gint64 now, gboolean urgent);
void prio_turn_count_background (PrioTurn *turn, gint64 now, gboolean waits, gboolean urgent);
void prio_turn_tasks_ran (PrioTurn *turn, gint64 now, gint64 ran, gint64 slice, gboolean cut);
void prio_turn_end (PrioTurn *turn, gint64 now, PrioReach reached);
void prio_turn_continued (PrioTurn *turn, gint64 ran);
void prio_turn_rest (PrioTurn *turn);
void prio_turn_reach (PrioTurn *turn, PrioReach reach);
gboolean prio_turn_goes_first (const PrioTurn *turn);
gboolean prio_turn_admits (PrioTurn *turn, PrioReach reached, gint64 took);

/* Returns whether input goes before tasks that are about to run, because the iteration has taken long, @took µs.  Lets
 * input go first only once in a row, because every iteration may be slow. */
static inline gboolean
prio_turn_is_held (PrioTurn *turn, gint64 took)
{
  turn->held = !turn->held && took >= PRIO_LONG_ITERATION;
  turn->input_pending |= turn->held;
  return turn->held;
}

/* Notes that a frame is due at @frame, µs.  Does nothing if @frame is 0, or an earlier frame has been noted. */
static inline void
prio_turn_announce_frame (PrioTurn *turn, gint64 frame)
{
  if (frame != 0 && (turn->frame == 0 || frame < turn->frame))
    turn->frame = frame;
}

/* Returns the time, µs, that is due to tasks, whose share is @share millionths, after other sources have had @time. */
static inline gint64
prio_share_of (guint share, gint64 time)
{
  return time * share / (PRIO_WHOLE_SHARE - share);
}

/* Returns how long tasks of a scheduler may run now, µs.  @slice is the slice of the scheduler, which the program has
 * set if @is_set. */
static inline gint64
prio_turn_allowance (PrioTurn *turn, gint64 slice, gboolean is_set)
{
  if (turn->balance > 0)
    return MIN (slice, MAX (PRIO_MAX_LOOK, turn->balance));
  return turn->after_frame != 0 && (!is_set || turn->task_share != 0) ? MIN (slice, turn->after_frame) : slice;
}

static inline gint64
prio_turn_look (PrioTurn *turn, gint64 allowance)
{
  return turn->balance > 0 || turn->after_frame != 0 ? allowance : MIN (allowance, turn->look);
}
