/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-flood.c: counts the callbacks of a flood: many short callbacks in one iteration of the main loop */

#include "config.h"

#include "watch/sources/prio-flood-private.h"

/* The most functions that the description of a flood names. */
#define MAX_NAMED 3

/* Returns the part that counts @name.  If there is none, adds a part, or replaces the part with the shortest time. */
static PrioFloodPart *
find (PrioFlood *flood, const char *name)
{
  PrioFloodPart *least = flood->parts;

  for (guint i = 0; i < flood->n_parts; i++)
    {
      PrioFloodPart *part = &flood->parts[i];

      if (g_str_equal (part->name, name))
        return part;
      if (part->total < least->total)
        least = part;
    }
  if (flood->n_parts < PRIO_FLOOD_PARTS)
    least = &flood->parts[flood->n_parts++];
  g_free (least->name);
  *least = (PrioFloodPart) { .name = g_strdup (name) };
  return least;
}

/* Adds a callback that took @duration µs, of the function @name or, if @name is NULL, of an unknown function. */
void
prio_flood_add (PrioFlood *flood, const char *name, gint64 duration)
{
  PrioFloodPart *part;

  flood->n++;
  flood->total += duration;
  if (name == NULL)
    return;

  part = find (flood, name);
  part->n++;
  part->total += duration;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const PrioFloodPart *x = a, *y = b;

  return (x->total < y->total) - (x->total > y->total);
}

static void
append (GString *text, guint n, const char *name)
{
  const char *what = text->len > 0 ? "" : n == 1 ? " callback" : " callbacks";

  g_string_append_printf (text, "%s%u%s of %s", text->len > 0 ? ", " : "", n, what, name);
}

/* Returns a text with the numbers of callbacks, by function. */
char *
prio_flood_describe (PrioFlood *flood)
{
  GString *text = g_string_new (NULL);
  guint n_others = flood->n;

  qsort (flood->parts, flood->n_parts, sizeof *flood->parts, compare);
  for (guint i = 0; i < MIN (flood->n_parts, MAX_NAMED); i++)
    {
      append (text, flood->parts[i].n, flood->parts[i].name);
      n_others -= flood->parts[i].n;
    }
  if (n_others > 0)
    append (text, n_others, flood->n_parts > 0 ? "other functions" : "functions without a name");
  return g_string_free (text, FALSE);
}

void
prio_flood_clear (PrioFlood *flood)
{
  for (guint i = 0; i < flood->n_parts; i++)
    g_free (flood->parts[i].name);
  *flood = (PrioFlood) { 0 };
}
