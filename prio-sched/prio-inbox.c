/* prio-inbox.c: where other threads leave what the home thread is to do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-inbox-private.h"

/* What a burst needed beyond this is given back to the system. */
#define MAX_SPARE 16

/* What is done under the lock takes less time than it takes to go to sleep: it is
 * worth waiting for, for a while. */
#define SPINS 100

static void
lock (PrioInbox *inbox)
{
  for (guint i = 0; i < SPINS; i++)
    {
      if (prio_lock_trylock (&inbox->lock))
        return;
      prio_lock_relax ();
    }
  prio_lock_lock (&inbox->lock);
}

void
prio_inbox_init (PrioInbox *inbox)
{
  *inbox = (PrioInbox) { .state = PRIO_INBOX_EMPTY };
  prio_lock_init (&inbox->lock);
}

void
prio_inbox_clear (PrioInbox *inbox)
{
  PrioInboxChunk *chunk;

  g_assert (inbox->head == NULL);
  while ((chunk = inbox->spare) != NULL)
    {
      inbox->spare = chunk->next;
      g_aligned_free (chunk);
    }
  prio_lock_clear (&inbox->lock);
}

/* Under the lock: an empty chunk at the end. */
static PrioInboxChunk *
add_chunk (PrioInbox *inbox)
{
  PrioInboxChunk *chunk = inbox->spare;

  if (chunk != NULL)
    {
      inbox->spare = chunk->next;
      inbox->n_spare--;
    }
  else
    {
      chunk = g_aligned_alloc (1, sizeof *chunk, PRIO_CACHE_LINE);
    }

  chunk->next = NULL;
  chunk->length = 0;
  if (inbox->tail != NULL)
    inbox->tail->next = chunk;
  else
    inbox->head = chunk;
  inbox->tail = chunk;
  return chunk;
}

/* Returns FALSE, with @op not taken, if the inbox is closed.
 *
 * The context is woken under the lock, since closing the inbox, which takes that
 * lock, is the last thing of the loop's before its context is freed. */
gboolean
prio_inbox_push (PrioInbox *inbox, const PrioOp *op, GMainContext *context)
{
  PrioInboxChunk *chunk;

  lock (inbox);

  if (inbox->closed)
    {
      prio_lock_unlock (&inbox->lock);
      return FALSE;
    }

  chunk = inbox->tail;
  if (chunk == NULL || chunk->length == PRIO_INBOX_CHUNK_OPS)
    chunk = add_chunk (inbox);
  chunk->ops[chunk->length++] = *op;

  if (prio_inbox_state (inbox) != PRIO_INBOX_FILLED &&
      __atomic_exchange_n (&inbox->state, PRIO_INBOX_FILLED, __ATOMIC_SEQ_CST) == PRIO_INBOX_ASLEEP)
    g_main_context_wakeup (context);

  prio_lock_unlock (&inbox->lock);
  return TRUE;
}

/* Returns: (transfer full): what is there, each chunk to be given back once it is
 * carried out */
PrioInboxChunk *
prio_inbox_take (PrioInbox *inbox)
{
  PrioInboxChunk *chunk;

  lock (inbox);
  chunk = g_steal_pointer (&inbox->head);
  inbox->tail = NULL;
  __atomic_store_n (&inbox->state, PRIO_INBOX_EMPTY, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&inbox->lock);

  return chunk;
}

/* Returns FALSE if there is something in it, which has to be taken first. */
gboolean
prio_inbox_close (PrioInbox *inbox)
{
  lock (inbox);
  inbox->closed = inbox->head == NULL;
  prio_lock_unlock (&inbox->lock);

  return inbox->closed;
}

void
prio_inbox_give_back (PrioInbox *inbox, PrioInboxChunk *chunk)
{
  lock (inbox);
  if (inbox->n_spare < MAX_SPARE)
    {
      chunk->next = inbox->spare;
      inbox->spare = g_steal_pointer (&chunk);
      inbox->n_spare++;
    }
  prio_lock_unlock (&inbox->lock);

  g_aligned_free (chunk);
}
