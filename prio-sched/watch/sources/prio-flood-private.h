/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-flood-private.h: counts many short callbacks of other sources
 *
 * Promises: a flood needs the same room however many callbacks and names there are.  The functions that took longest
 * are among those counted by name; a function that comes again after others took its place is counted anew.
 *
 * Threads: the flood's owner.
 */

#pragma once

#include <glib.h>

#define PRIO_FLOOD_PARTS 16

typedef struct
{
  char *name;
  guint n;
  gint64 total; /* µs */
} PrioFloodPart;

/* At first all 0. */
typedef struct
{
  guint n;      /* callbacks */
  gint64 total; /* how long they took together, µs */
  guint n_parts;
  PrioFloodPart parts[PRIO_FLOOD_PARTS]; /* by their names; the other callbacks are counted in @n alone */
} PrioFlood;

void prio_flood_add (PrioFlood *flood, const char *name, gint64 duration);
char *prio_flood_describe (PrioFlood *flood);
void prio_flood_clear (PrioFlood *flood);
