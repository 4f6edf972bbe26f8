/* prio-mailbox.c: operations that other threads send to the owner thread
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-mailbox-private.h"

/* Chunks beyond this are returned to the system after a burst. */
#define MAX_SPARE 16

/* The lock is held for less time than it takes to go to sleep, so a thread first tries
 * this many times. */
#define SPINS 100

static void
lock (PrioMailbox *mailbox)
{
  for (guint i = 0; i < SPINS; i++)
    {
      if (prio_lock_trylock (&mailbox->lock))
        return;
      prio_lock_relax ();
    }
  prio_lock_lock (&mailbox->lock);
}

void
prio_mailbox_init (PrioMailbox *mailbox)
{
  *mailbox = (PrioMailbox) { .state = PRIO_MAILBOX_EMPTY };
  prio_lock_init (&mailbox->lock);
}

void
prio_mailbox_clear (PrioMailbox *mailbox)
{
  PrioMailboxChunk *chunk;

  g_assert (mailbox->head == NULL);
  while ((chunk = mailbox->spare) != NULL)
    {
      mailbox->spare = chunk->next;
      g_aligned_free (chunk);
    }
  prio_lock_clear (&mailbox->lock);
}

/* Under the lock.  Adds an empty chunk at the end. */
static PrioMailboxChunk *
add_chunk (PrioMailbox *mailbox)
{
  PrioMailboxChunk *chunk = mailbox->spare;

  if (chunk != NULL)
    {
      mailbox->spare = chunk->next;
      mailbox->n_spare--;
    }
  else
    {
      chunk = g_aligned_alloc (1, sizeof *chunk, PRIO_CACHE_LINE);
    }

  chunk->next = NULL;
  chunk->length = 0;
  if (mailbox->tail != NULL)
    mailbox->tail->next = chunk;
  else
    mailbox->head = chunk;
  mailbox->tail = chunk;
  return chunk;
}

/* Returns FALSE, and does not take @op, if the mailbox is closed.
 *
 * Wakes the context under the lock.  The loop takes the same lock to close the mailbox before
 * its context is freed, so that the context is valid here. */
gboolean
prio_mailbox_push (PrioMailbox *mailbox, const PrioOp *op, GMainContext *context)
{
  PrioMailboxChunk *chunk;

  lock (mailbox);

  if (mailbox->closed)
    {
      prio_lock_unlock (&mailbox->lock);
      return FALSE;
    }

  chunk = mailbox->tail;
  if (chunk == NULL || chunk->length == PRIO_MAILBOX_CHUNK_OPS)
    chunk = add_chunk (mailbox);
  chunk->ops[chunk->length++] = *op;

  if (prio_mailbox_state (mailbox) != PRIO_MAILBOX_FILLED &&
      __atomic_exchange_n (&mailbox->state, PRIO_MAILBOX_FILLED, __ATOMIC_SEQ_CST) == PRIO_MAILBOX_ASLEEP)
    g_main_context_wakeup (context);

  prio_lock_unlock (&mailbox->lock);
  return TRUE;
}

/* Returns: (transfer full): all chunks; prio_mailbox_give_back () each once its operations
 * are carried out */
PrioMailboxChunk *
prio_mailbox_take (PrioMailbox *mailbox)
{
  PrioMailboxChunk *chunk;

  lock (mailbox);
  chunk = g_steal_pointer (&mailbox->head);
  mailbox->tail = NULL;
  __atomic_store_n (&mailbox->state, PRIO_MAILBOX_EMPTY, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&mailbox->lock);

  return chunk;
}

/* Returns FALSE if the mailbox is not empty: its operations have to be taken first. */
gboolean
prio_mailbox_close (PrioMailbox *mailbox)
{
  lock (mailbox);
  mailbox->closed = mailbox->head == NULL;
  prio_lock_unlock (&mailbox->lock);

  return mailbox->closed;
}

void
prio_mailbox_give_back (PrioMailbox *mailbox, PrioMailboxChunk *chunk)
{
  lock (mailbox);
  if (mailbox->n_spare < MAX_SPARE)
    {
      chunk->next = mailbox->spare;
      mailbox->spare = g_steal_pointer (&chunk);
      mailbox->n_spare++;
    }
  prio_lock_unlock (&mailbox->lock);

  g_aligned_free (chunk);
}
