/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slab-private.h: records of one size, for the owner thread of a loop
 *
 * Promises: allocating or freeing a record takes a few instructions.  A record has no header: masking its address gives
 * its *chunk*, a block of records.  The memory of empty chunks returns to the system, except for some chunks that are
 * kept for the next burst.  An idle loop returns most of these, too. */

#pragma once

#include <glib.h>

#define PRIO_SLAB_CHUNK_SIZE ((gsize) 16384)

typedef struct _PrioSlabChunk PrioSlabChunk;

struct _PrioSlabChunk
{
  PrioSlabChunk *next, *prev; /* in the list of chunks with room, or in the list of spare chunks */
  gpointer free;              /* the list of records that have been freed; each points to the next */
  gchar *fresh;               /* the first record that has never been allocated */
  gchar *end;                 /* the end of the last record that fits */
  guint live;                 /* the number of records in use */
  gboolean listed;            /* whether the chunk is in the list of chunks with room */
};

typedef struct
{
  PrioSlabChunk *current; /* the chunk from which records are allocated; in no list */
  PrioSlabChunk *room;    /* other chunks with room */
  PrioSlabChunk *spare;   /* empty chunks */
  guint n_spare;
  guint record_size;
} PrioSlab;

void prio_slab_init (PrioSlab *slab, guint record_size);
/* These functions take a PrioSlab, and have the types that PrioSlotFuncs requires. */
gboolean prio_slab_is_large (gpointer slab);
void prio_slab_trim (gpointer slab);
void prio_slab_clear (gpointer slab); /* every record must have been freed */
gpointer prio_slab_alloc_slow (PrioSlab *slab);
void prio_slab_free_slow (PrioSlab *slab, PrioSlabChunk *chunk);

/* Returns a record of the current chunk, or NULL if there is no such chunk or it is full. */
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
