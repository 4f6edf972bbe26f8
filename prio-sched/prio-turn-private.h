/* prio-turn-private.h: whose turn it is, tasks' or everybody else's
 *
 * This is the policy of the loop; that it stands in one place is a decision.
 *
 *        batch            turn of the others               batch
 *     ├─────────┤├───────────────────────────────────┤├─────────┤
 *     task task   input, timers │ frame │ validation     task …
 *                 down to 118   │ 120   │ to 125    │ 126: tasks again, or, once a slice,
 *                                                   │ idle sources, to the bottom
 *
 * - A batch ends after a tenth of a millisecond to one, since only GLib knows whether anything else is
 *   ready: to ask it is an iteration, of a microsecond or so.  Then the others have their turn.
 * - A turn is over when GLib has come down to 126 and found nothing: all that was ready has been
 *   dispatched once, a frame that was due (120) has been drawn, and text has been validated
 *   (125).  So a window draws what it would draw beside one idle source.  No limit in time
 *   cuts a turn short: a handler that is longer than a slice would leave no frame.
 * - When a frame is due that was announced, and once a slice, the turn is a whole one: it goes to
 *   the bottom, where other people's idle sources are (200).  Those that are always ready have half of
 *   the time: whoever has had more waits for the other.
 * - Something that is always ready keeps GLib from ever coming down.  How far it comes,
 *   scouts tell: sources that are never ready, and are asked only if nothing
 *   above them is.  When it has not come down to the frame for some iterations and milliseconds,
 *   there is a flood, and tasks have half of the time beside it, until an iteration gets below it,
 *   or it is to be shown again.
 * - Where drawing takes all the time, tasks have their batch between two frames.  By default
 *   it is a tenth of what the frame took, so that nine tenths of the frames stay, and who
 *   has run for longer than a slice waits for nine times as long; who sets a slice has that.
 * - Tasks that GLib does not come to are let in before everything else, by the governor, which is
 *   asked first in every iteration: urgent and user-visible ones when a flood has been shown,
 *   background ones for one batch in half a second.
 *
 * Everything here is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* So often the others are looked for, µs: each time a tenth of how long they have had nothing to
 * do, within these. */
#define PRIO_MIN_LOOK 100
#define PRIO_MAX_LOOK 1000

/* How far down an iteration came: where the source stands that it dispatched. */
typedef enum
{
  PRIO_REACH_TOP,    /* above GTK's drawing: up to 118 */
  PRIO_REACH_FRAME,  /* 119 and 120: frame clocks paint at G_PRIORITY_HIGH_IDLE + 20 */
  PRIO_REACH_LAYOUT, /* 121 to 125: GTK validates text at 125 */
  PRIO_REACH_REST,   /* from 126 on */
} PrioReach;

typedef struct
{
  gboolean others;  /* they have their turn: tasks keep silent */
  gboolean whole;   /* it goes to the bottom */
  gboolean granted; /* tasks go before every other source in the next iteration */
  gboolean drawn;   /* a frame has been drawn in this turn, */
  gboolean paid;    /* and tasks may run before the next */
  PrioReach reached;

  gboolean rests;  /* there are no tasks */
  gboolean waited; /* tasks were ready in the last iteration too */
  gint64 began;    /* when that was seen, or the turn began, µs; 0 if not yet */
  gint64 iterated; /* when the last iteration began that has been looked at, µs */
  gint64 drawing;  /* what drawing took of the turn, µs */
  guint n_top;     /* iterations in a row that came no further than PRIO_REACH_TOP */

  gint64 look;         /* so long until the others are looked for, µs */
  gint64 quiet_since;  /* when the others had something to do, µs */
  gint64 slice;        /* of the scheduler whose tasks have run, µs */
  gint64 spent;        /* by tasks since the last turn, µs */
  gint64 ran;          /* by tasks before this one, µs */
  gint64 since_whole;  /* by tasks since the last whole turn, µs */
  gint64 rest_balance; /* what tasks are owed for whole turns, µs; the others, if it is below 0 */
  gint64 flood_until;  /* a flood has been shown, µs */
  gint64 balance;      /* what tasks are owed in it, µs; the others, if it is below 0 */
  gint64 share;        /* of time that they have after a frame, µs, or 0 */
  gint64 frame;        /* the first that was announced and is not due yet, or not heeded, µs, or 0 */

  gint64 background_since; /* when background tasks began to wait, µs, or 0 */
} PrioTurn;

void prio_turn_init (PrioTurn *turn);
void prio_turn_iterate (PrioTurn *turn, gint64 now, gboolean urgent);
void prio_turn_tasks_ran (PrioTurn *turn, gint64 now, gint64 ran, gint64 slice, gboolean cut);
void prio_turn_end (PrioTurn *turn, gint64 now, PrioReach reached);
void prio_turn_rest (PrioTurn *turn);

/* What tells how far the running iteration comes is asked. */
static inline void
prio_turn_reach (PrioTurn *turn, PrioReach reach)
{
  turn->reached = MAX (turn->reached, reach);
}

/* One is due at @frame, or it is not known when if that is 0. */
static inline void
prio_turn_announce_frame (PrioTurn *turn, gint64 frame)
{
  if (frame != 0 && (turn->frame == 0 || frame < turn->frame))
    turn->frame = frame;
}

/* How long tasks may run now, µs; @slice is that of their scheduler, and @is_set if somebody
 * has set it. */
static inline gint64
prio_turn_allowance (PrioTurn *turn, gint64 slice, gboolean is_set)
{
  if (turn->balance > 0)
    return MIN (slice, MAX (PRIO_MAX_LOOK, turn->balance));
  return turn->share != 0 && !is_set ? MIN (slice, turn->share) : slice;
}

/* And how long until the others are looked for, µs. */
static inline gint64
prio_turn_look (PrioTurn *turn, gint64 allowance)
{
  return turn->balance > 0 || turn->share != 0 ? allowance : MIN (allowance, turn->look);
}
