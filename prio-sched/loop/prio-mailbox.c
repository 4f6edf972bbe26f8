/* prio-mailbox.c: where other threads leave what the owner thread is to do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-mailbox-private.h"

/* What a burst needed beyond this is given back to the system. */
#define MAX_SPARE 16

/* What is done under the lock takes less time than it takes to go to sleep: it is
 * worth waiting for, for a while. */
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

/* Under the lock: an empty chunk at the end. */
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

/* Returns FALSE, with @op not taken, if the mailbox is closed.
 *
 * The context is woken under the lock, since closing the mailbox, which takes that
 * lock, is the last thing of the loop's before its context is freed. */
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

/* Returns: (transfer full): what is there, each chunk to be given back once it is
 * carried out */
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

/* Returns FALSE if there is something in it, which has to be taken first. */
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
