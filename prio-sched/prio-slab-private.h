/* prio-slab-private.h: records of one size, for the home thread of a loop
 *
 * Promises: allocation and release in a few instructions, no header per record,
 * and memory that goes back to the system when a chunk is empty, but for some
 * kept for the next burst, and most of those too when there is nothing to do.  A record's chunk is found by masking its address.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#define PRIO_SLAB_CHUNK_SIZE ((gsize) 16384)

typedef struct _PrioSlabChunk PrioSlabChunk;

struct _PrioSlabChunk
{
  PrioSlabChunk *next, *prev; /* among those with room, or among the spare ones */
  gpointer free;              /* records given back, each pointing to the next */
  gchar *fresh;               /* the first record never given out yet */
  gchar *end;                 /* where there is room for no other */
  guint live;                 /* records in use */
  gboolean listed;            /* whether it is among those with room */
};

typedef struct
{
  PrioSlabChunk *current; /* where records come from; not listed */
  PrioSlabChunk *room;    /* others with room */
  PrioSlabChunk *spare;   /* empty ones kept */
  guint n_spare;
  guint record_size;
} PrioSlab;

void prio_slab_init (PrioSlab *slab, guint record_size);
gboolean prio_slab_is_large (PrioSlab *slab);
void prio_slab_trim (PrioSlab *slab);
void prio_slab_clear (PrioSlab *slab); /* every record must have been freed */
gpointer prio_slab_alloc_slow (PrioSlab *slab);
void prio_slab_free_slow (PrioSlab *slab, PrioSlabChunk *chunk);

/* A record of the current chunk, or NULL if that is full. */
static inline gpointer
prio_slab_alloc_quickly (PrioSlab *slab)
{
  PrioSlabChunk *chunk = slab->current;
  gpointer record;

  if (G_UNLIKELY (chunk == NULL))
    return NULL;

  record = chunk->free;
  if (record != NULL)
    {
      chunk->free = *(gpointer *) record;
    }
  else
    {
      record = chunk->fresh;
      if (G_UNLIKELY (record == (gpointer) chunk->end))
        return NULL;
      chunk->fresh += slab->record_size;
    }

  chunk->live++;
  return record;
}

static inline gpointer
prio_slab_alloc (PrioSlab *slab)
{
  gpointer record = prio_slab_alloc_quickly (slab);

  return G_LIKELY (record != NULL) ? record : prio_slab_alloc_slow (slab);
}

static inline void
prio_slab_free (PrioSlab *slab, gpointer record)
{
  PrioSlabChunk *chunk = (PrioSlabChunk *) ((gsize) record & ~(PRIO_SLAB_CHUNK_SIZE - 1));

  *(gpointer *) record = chunk->free;
  chunk->free = record;
  chunk->live--;
  if (G_UNLIKELY (chunk != slab->current && (chunk->live == 0 || !chunk->listed)))
    prio_slab_free_slow (slab, chunk);
}
