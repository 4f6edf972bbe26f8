/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor-longest.c: the longest runs, by name */

#include "config.h"

#include "monitor-longest.h"

#include <string.h>

/* Copies as much of @name as fits, in whole characters. */
static void
copy_name (char *to, const char *name)
{
  const char *end;

  if (g_strlcpy (to, name, PRIO_LONGEST_NAME) < PRIO_LONGEST_NAME)
    return;
  end = g_utf8_find_prev_char (to, to + PRIO_LONGEST_NAME - 1);
  if (end != NULL && g_utf8_get_char_validated (end, -1) >= (gunichar) -2)
    to[end - to] = '\0';
}

/* Returns the record of @name or, if there is none, the record to replace. */
static PrioLongest *
find (PrioLongest *table, guint n, const char *name, gint priority)
{
  PrioLongest *least = &table[0];

  for (guint i = 0; i < n; i++)
    {
      PrioLongest *record = &table[i];

      if (record->longest != 0 && record->priority == priority && strcmp (record->name, name) == 0)
        return record;
      if (record->longest < least->longest)
        least = record;
    }
  return least;
}

/* Adds a run of @time µs, which ended at @now, to @table, which has @n records.  @goes_on: an earlier part of the same
 * run has been added before. */
void
prio_longest_note (PrioLongest *table, guint n, const char *name, gint priority, gint64 time, gint64 now, gboolean goes_on)
{
  char copy[PRIO_LONGEST_NAME];
  PrioLongest *record;

  copy_name (copy, name != NULL ? name : "");
  time = MAX (time, 0);
  record = find (table, n, copy, priority);
  if (record->longest == 0 || record->priority != priority || strcmp (record->name, copy) != 0)
    {
      if (time > record->longest)
        {
          record->priority = priority;
          record->longest = record->total = time;
          record->ended = now;
          record->n_runs = 1;
          memcpy (record->name, copy, sizeof copy);
        }
    }
  else
    {
      if (time > record->longest)
        {
          record->longest = time;
          record->ended = now;
        }
      record->total = time <= G_MAXINT64 - record->total ? record->total + time : G_MAXINT64;
      record->n_runs += !goes_on;
    }
}
