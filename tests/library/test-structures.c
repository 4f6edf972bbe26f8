/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-structures.c: plain data structures, compared with simpler ones
 *
 * Links the library's own objects.
 */

#include "config.h"

#include <glib.h>

#include "base/prio-slab-private.h"
#include "base/prio-slots-private.h"
#include "queue/prio-microtasks-private.h"

enum { N_STEPS = 100000, RECORD_SIZE = 40, MAX_LIVE = 4000, MAX_MICROTASKS = 100 };

static PrioSlabChunk *
chunk_of (gpointer record)
{
  return (PrioSlabChunk *) ((gsize) record & ~(PRIO_SLAB_CHUNK_SIZE - 1));
}

/* Checks that the chunks with room are the chunks from which a record has been freed, without the current one. */
static void
check_room (PrioSlab *slab, GPtrArray *records)
{
  g_autoptr (GHashTable) room = g_hash_table_new (NULL, NULL);

  for (PrioSlabChunk *chunk = slab->room, *before = NULL; chunk != NULL; before = chunk, chunk = chunk->next)
    {
      g_assert_true (g_hash_table_add (room, chunk));
      g_assert_true (chunk->prev == before);
      g_assert_true (chunk->listed);
      g_assert_nonnull (chunk->free);
      g_assert_cmpuint (chunk->live, >, 0);
    }
  for (guint i = 0; i < records->len; i++)
    {
      PrioSlabChunk *chunk = chunk_of (records->pdata[i]);

      g_assert_true (g_hash_table_contains (room, chunk) == (chunk != slab->current && chunk->free != NULL));
    }
}

/* The number of records grows and shrinks; random records are freed. */
static void
test_slab (void)
{
  g_autoptr (GPtrArray) records = g_ptr_array_new ();
  gboolean grows = TRUE;
  PrioSlab slab;

  prio_slab_init (&slab, RECORD_SIZE);
  for (guint i = 0; i < N_STEPS; i++)
    {
      if (records->len == 0 || records->len == MAX_LIVE)
        grows = records->len == 0;
      if (g_test_rand_int_range (0, 4) == 0 ? !grows : grows)
        g_ptr_array_add (records, prio_slab_alloc (&slab));
      else if (records->len > 0)
        prio_slab_free (&slab, g_ptr_array_steal_index_fast (records, (guint) g_test_rand_int_range (0, (gint) records->len)));
      if (i % 100 == 0)
        check_room (&slab, records);
    }
  while (records->len > 0)
    prio_slab_free (&slab, g_ptr_array_steal_index_fast (records, records->len - 1));
  check_room (&slab, records);
  prio_slab_clear (&slab);
}

/* Microtasks come out in the order in which they went in, wherever the first microtask is when the queue grows. */
static void
test_microtasks (void)
{
  PrioMicrotasks microtasks = { 0 };
  PrioMicrotask microtask = { 0 };
  guint n_in = 0, n_out = 0;

  for (guint most = 1; most <= MAX_MICROTASKS; most++)
    {
      while (n_in - n_out < most)
        {
          microtask.data = GUINT_TO_POINTER (n_in++);
          prio_microtasks_push (&microtasks, &microtask);
        }
      for (guint n = 1 + most / 3; n > 0; n--)
        {
          g_assert_true (prio_microtasks_pop (&microtasks, &microtask));
          g_assert_cmpuint (GPOINTER_TO_UINT (microtask.data), ==, n_out++);
        }
    }
  while (n_out < n_in)
    {
      g_assert_true (prio_microtasks_pop (&microtasks, &microtask));
      g_assert_cmpuint (GPOINTER_TO_UINT (microtask.data), ==, n_out++);
    }
  g_assert_false (prio_microtasks_pop (&microtasks, &microtask));
  prio_microtasks_clear (&microtasks);
}

typedef struct
{
  guint n, n_ended, n_cleared;
} Kept;

static Kept *last_cleared;

static void
kept_ends (gpointer owner, gpointer record)
{
  g_assert_true (owner == GUINT_TO_POINTER (1));
  ((Kept *) record)->n_ended++;
}

static gboolean
kept_is_large (gpointer record)
{
  return ((Kept *) record)->n > 1;
}

static void
kept_trim (gpointer record)
{
  ((Kept *) record)->n--;
}

static void
kept_clear (gpointer record)
{
  Kept *kept = record;

  g_assert_cmpuint (kept->n_cleared, ==, 0);
  *last_cleared = *kept;
  last_cleared->n_cleared++;
}

static gpointer
make_record (gpointer slot)
{
  static const PrioSlotFuncs funcs = { sizeof (Kept), kept_ends, kept_is_large, kept_trim, kept_clear };

  return prio_slot_ensure (slot, &funcs);
}

/* A record is created once, whichever thread asks first; the owner ends, trims and clears it, and skips missing
 * records. */
static void
test_slots (void)
{
  static const PrioSlotFuncs plain = { .size = 1 };
  PrioSlot slots[3] = { { 0 } };
  GThread *threads[4];
  Kept cleared = { 0 }, *kept;

  last_cleared = &cleared;
  g_assert_false (prio_slots_are_large (slots, G_N_ELEMENTS (slots)));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("maker", make_record, &slots[1]);
  kept = make_record (&slots[1]);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (g_thread_join (threads[i]) == kept);
  g_assert_nonnull (prio_slot_ensure (&slots[2], &plain));

  g_assert_false (prio_slots_are_large (slots, G_N_ELEMENTS (slots)));
  kept->n = 2;
  g_assert_true (prio_slots_are_large (slots, G_N_ELEMENTS (slots)));
  prio_slots_trim (slots, G_N_ELEMENTS (slots));
  g_assert_false (prio_slots_are_large (slots, G_N_ELEMENTS (slots)));

  prio_slots_end (slots, G_N_ELEMENTS (slots), GUINT_TO_POINTER (1));
  prio_slots_clear (slots, G_N_ELEMENTS (slots));
  g_assert_cmpuint (cleared.n, ==, 1);
  g_assert_cmpuint (cleared.n_ended, ==, 1);
  g_assert_cmpuint (cleared.n_cleared, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/structures/slab", test_slab);
  g_test_add_func ("/structures/microtasks", test_microtasks);
  g_test_add_func ("/structures/slots", test_slots);

  return g_test_run ();
}
