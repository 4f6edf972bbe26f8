/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-flood-private.h: counts the callbacks of a *flood*: many short callbacks in one iteration of the main loop
 *
 * Promises: the memory that a flood needs does not grow with the number of callbacks and names.  At most
 * PRIO_FLOOD_PARTS functions are counted by name.  A further function replaces the function with the shortest total
 * time, whose separate counts are lost.
 *
 * Threads: a flood is used by one thread at a time. */

#pragma once

#include <glib.h>

#define PRIO_FLOOD_PARTS 16

typedef struct
{
  char *name;
  guint n;
  gint64 total; /* µs */
} PrioFloodPart;

/* Zeroed at first. */
typedef struct
{
  guint n;      /* the number of callbacks */
  gint64 total; /* the total time, µs */
  guint n_parts;
  PrioFloodPart parts[PRIO_FLOOD_PARTS]; /* by function name; callbacks without a part count only in @n and @total */
} PrioFlood;

void prio_flood_add (PrioFlood *flood, const char *name, gint64 duration);
char *prio_flood_describe (PrioFlood *flood);
void prio_flood_clear (PrioFlood *flood);
