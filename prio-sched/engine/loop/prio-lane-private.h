/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-lane-private.h: which sources of the library end a turn (prio-turn-private.h), and which tasks each source runs
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-loop-private.h"

static inline PrioReach
prio_source_reach (guint kind)
{
  switch (kind)
    {
    case PRIO_SOURCE_GOVERNOR:
    case PRIO_LANE_URGENT:
    case PRIO_LANE_USER_VISIBLE: return PRIO_REACH_TOP;
    case PRIO_SOURCE_AFTER_INPUT: return PRIO_REACH_INPUT;
    case PRIO_SOURCE_BEFORE_FRAME: return PRIO_REACH_FRAME;
    case PRIO_SOURCE_BEFORE_LAYOUT: return PRIO_REACH_LAYOUT;
    default: return PRIO_REACH_REST;
    }
}

/* Returns whether the turn of the other sources ends when GLib reaches the library's source @kind. */
static inline gboolean
prio_source_ends_turn (PrioTurn *turn, guint kind)
{
  switch (kind)
    {
    case PRIO_SOURCE_AFTER_INPUT: return turn->granted;
    case PRIO_SOURCE_BEFORE_FRAME: return turn->ends_before_frame;
    case PRIO_SOURCE_AFTER_FRAME: return turn->others && !turn->whole;
    case PRIO_SOURCE_BOTTOM: return turn->whole;
    default: return FALSE;
    }
}

static inline PrioLane
prio_source_lowest_lane (PrioLoop *loop, guint kind)
{
  switch (kind)
    {
    case PRIO_SOURCE_GOVERNOR:
    case PRIO_SOURCE_AFTER_INPUT: return MIN (loop->sources.lane, PRIO_LANE_USER_VISIBLE);
    case PRIO_SOURCE_BEFORE_FRAME:
    case PRIO_SOURCE_AFTER_FRAME: return PRIO_LANE_USER_VISIBLE;
    case PRIO_SOURCE_BOTTOM: return PRIO_LANE_BACKGROUND;
    default: return (PrioLane) kind;
    }
}
