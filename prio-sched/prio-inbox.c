/* prio-inbox.c: where other threads leave what the home thread is to do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-inbox-private.h"

/* What a burst needed beyond this is given back to the system. */
#define MAX_KEPT 1024

void
prio_inbox_init (PrioInbox *inbox)
{
  *inbox = (PrioInbox) { .state = PRIO_INBOX_EMPTY };
  prio_lock_init (&inbox->lock);
}

void
prio_inbox_clear (PrioInbox *inbox)
{
  prio_lock_clear (&inbox->lock);
  g_free (inbox->ops);
  g_free (inbox->spare);
}

/* Returns FALSE, with @op not taken, if the inbox is closed.
 *
 * The context is woken under the lock, since closing the inbox, which takes that
 * lock, is the last thing of the loop's before its context is freed. */
gboolean
prio_inbox_push (PrioInbox *inbox, const PrioOp *op, GMainContext *context)
{
  prio_lock_lock (&inbox->lock);

  if (inbox->closed)
    {
      prio_lock_unlock (&inbox->lock);
      return FALSE;
    }

  if (inbox->length == inbox->allocated)
    {
      inbox->allocated = MAX (inbox->allocated * 2, 16);
      inbox->ops = g_renew (PrioOp, inbox->ops, inbox->allocated);
    }
  inbox->ops[inbox->length++] = *op;

  if (inbox->length == 1 &&
      __atomic_exchange_n (&inbox->state, PRIO_INBOX_FILLED, __ATOMIC_SEQ_CST) == PRIO_INBOX_ASLEEP)
    g_main_context_wakeup (context);

  prio_lock_unlock (&inbox->lock);
  return TRUE;
}

/* Returns: (transfer full): what is there; to be given back once carried out */
PrioOp *
prio_inbox_take (PrioInbox *inbox, gsize *length, gsize *allocated)
{
  PrioOp *ops;

  prio_lock_lock (&inbox->lock);
  ops = inbox->ops;
  *length = inbox->length;
  *allocated = inbox->allocated;
  inbox->ops = g_steal_pointer (&inbox->spare);
  inbox->allocated = inbox->spare_allocated;
  inbox->spare_allocated = 0;
  inbox->length = 0;
  __atomic_store_n (&inbox->state, PRIO_INBOX_EMPTY, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&inbox->lock);

  return ops;
}

/* Only the home thread takes and gives back, so @spare needs no lock. */
void
prio_inbox_give_back (PrioInbox *inbox, PrioOp *ops, gsize allocated)
{
  if (inbox->spare != NULL || allocated > MAX_KEPT)
    {
      g_free (ops);
      return;
    }

  inbox->spare = ops;
  inbox->spare_allocated = allocated;
}
