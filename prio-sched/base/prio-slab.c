/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slab.c: records of one size, for the owner thread of a loop */

#include "config.h"

#include "base/prio-slab-private.h"

#include "base/prio-list-private.h"

/* Numbers of empty chunks.  After a burst, MAX_SPARE (4 MiB) are kept.  An idle loop keeps KEPT_SPARE (1 MiB), and
 * returns the others to the system, TRIMMED at a time. */
#define MAX_SPARE 256
#define KEPT_SPARE 64
#define TRIMMED 16

void
prio_slab_init (PrioSlab *slab, guint record_size)
{
  *slab = (PrioSlab) { .record_size = record_size };
}

static void
chunk_list_free (PrioSlabChunk *chunk)
{
  while (chunk != NULL)
    {
      PrioSlabChunk *next = chunk->next;

      g_assert (chunk->live == 0);
      g_aligned_free (chunk);
      chunk = next;
    }
}

void
prio_slab_clear (gpointer data)
{
  PrioSlab *slab = data;

  if (slab->current != NULL)
    {
      slab->current->next = NULL;
      chunk_list_free (slab->current);
    }
  chunk_list_free (slab->spare);
  g_assert (slab->room == NULL);
}

/* Makes @chunk empty.  Its records follow the PrioSlabChunk, whose size keeps the records aligned. */
static void
chunk_reset (PrioSlabChunk *chunk, guint record_size)
{
  gchar *first = (gchar *) (chunk + 1);
  gsize n_records = (PRIO_SLAB_CHUNK_SIZE - sizeof *chunk) / record_size;

  *chunk = (PrioSlabChunk) { .fresh = first, .end = first + n_records * record_size };
}

gpointer
prio_slab_alloc_slow (PrioSlab *slab)
{
  PrioSlabChunk *chunk;

  if (slab->room != NULL)
    {
      chunk = slab->room;
      PRIO_LIST_REMOVE (slab->room, chunk, next, prev);
      chunk->listed = FALSE;
    }
  else
    {
      if (slab->spare != NULL)
        {
          chunk = slab->spare;
          PRIO_LIST_REMOVE (slab->spare, chunk, next, prev);
          slab->n_spare--;
        }
      else
        {
          chunk = g_aligned_alloc (1, PRIO_SLAB_CHUNK_SIZE, PRIO_SLAB_CHUNK_SIZE);
        }
      chunk_reset (chunk, slab->record_size);
    }

  slab->current = chunk;
  return prio_slab_alloc_quickly (slab);
}

/* Updates the lists after a record of @chunk was freed.  @chunk is not current, and was full before or is empty now. */
void
prio_slab_free_slow (PrioSlab *slab, PrioSlabChunk *chunk)
{
  if (chunk->live > 0)
    {
      PRIO_LIST_PREPEND (slab->room, chunk, next, prev);
      chunk->listed = TRUE;
      return;
    }

  if (chunk->listed)
    PRIO_LIST_REMOVE (slab->room, chunk, next, prev);

  if (slab->n_spare < MAX_SPARE)
    {
      PRIO_LIST_PREPEND (slab->spare, chunk, next, prev);
      slab->n_spare++;
    }
  else
    {
      g_aligned_free (chunk);
    }
}

gboolean
prio_slab_is_large (gpointer slab)
{
  return ((PrioSlab *) slab)->n_spare > KEPT_SPARE;
}

void
prio_slab_trim (gpointer data)
{
  PrioSlab *slab = data;

  for (guint i = 0; i < TRIMMED && prio_slab_is_large (slab); i++)
    {
      PrioSlabChunk *chunk = slab->spare;

      PRIO_LIST_REMOVE (slab->spare, chunk, next, prev);
      slab->n_spare--;
      g_aligned_free (chunk);
    }
}
