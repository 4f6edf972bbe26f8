/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-mailbox.c: operations that other threads send to the owner thread */

#include "config.h"

#include "loop/prio-mailbox-private.h"

/* Records begin at multiples of this size in the array. */
#define WORD sizeof (guint64)

/* An array of more words than this is freed after a burst. */
#define MAX_KEPT 8192

/* How often a thread tries to take the lock before it sleeps: sleeping takes longer than the lock is usually held. */
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

static GArray *
ops_new (void)
{
  return g_array_new (FALSE, FALSE, WORD);
}

static inline PrioOp *
op_at (GArray *ops, guint place)
{
  return (gpointer) &g_array_index (ops, guint64, place);
}

void
prio_mailbox_init (PrioMailbox *mailbox)
{
  *mailbox = (PrioMailbox) { .state = PRIO_MAILBOX_EMPTY, .ops = ops_new (), .taken = ops_new () };
  prio_lock_init (&mailbox->lock);
}

void
prio_mailbox_clear (PrioMailbox *mailbox)
{
  g_assert (mailbox->ops->len == 0);
  g_array_unref (mailbox->ops);
  g_array_unref (mailbox->taken);
  prio_lock_clear (&mailbox->lock);
}

/* Adds a copy of @op.  Returns FALSE if the mailbox is closed.
 *
 * Wakes a sleeping context under the lock.  The loop takes the lock to close the mailbox before its context is freed,
 * so the context is valid here. */
gboolean
prio_mailbox_push (PrioMailbox *mailbox, const PrioOp *op, GMainContext *context)
{
  gsize size = op->size != 0 ? op->size : sizeof *op;
  guint place;
  gboolean closed;

  lock (mailbox);
  closed = mailbox->closed;
  if (!closed)
    {
      place = mailbox->ops->len;
      g_array_append_vals (mailbox->ops, op, (guint) (size / WORD));
      op_at (mailbox->ops, place)->size = size;
      if (prio_mailbox_state (mailbox) != PRIO_MAILBOX_FILLED &&
          __atomic_exchange_n (&mailbox->state, PRIO_MAILBOX_FILLED, __ATOMIC_SEQ_CST) == PRIO_MAILBOX_ASLEEP)
        g_main_context_wakeup (context);
    }
  prio_lock_unlock (&mailbox->lock);
  return !closed;
}

static GArray *
take (PrioMailbox *mailbox)
{
  GArray *taken;

  lock (mailbox);
  taken = mailbox->ops;
  mailbox->ops = mailbox->taken;
  mailbox->taken = taken;
  __atomic_store_n (&mailbox->state, PRIO_MAILBOX_EMPTY, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&mailbox->lock);

  return taken;
}

/* Carries out the operations of other threads.  The caller has entered the loop. */
void
prio_mailbox_carry_out (PrioMailbox *mailbox, PrioLoop *loop)
{
  GArray *taken = take (mailbox);

  for (guint place = 0; place < taken->len; place += (guint) (op_at (taken, place)->size / WORD))
    op_at (taken, place)->apply (loop, op_at (taken, place));

  if (taken->len <= MAX_KEPT)
    {
      g_array_set_size (taken, 0);
      return;
    }
  g_array_unref (taken);
  mailbox->taken = ops_new ();
}

/* Closes the mailbox.  Returns FALSE if it contains operations, which the caller has to carry out first. */
gboolean
prio_mailbox_close (PrioMailbox *mailbox)
{
  lock (mailbox);
  mailbox->closed = mailbox->ops->len == 0;
  prio_lock_unlock (&mailbox->lock);

  return mailbox->closed;
}
