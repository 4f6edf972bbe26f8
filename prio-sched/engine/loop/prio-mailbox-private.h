/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-mailbox-private.h: operations that other threads send to the owner thread
 *
 * Promises: any thread may push an operation.  The owner thread takes all operations, in the order in which they were
 * pushed.  A context that sleeps in poll () is woken once for a burst.  A closed mailbox accepts no operation. */

#pragma once

#include <gio/gio.h>

#include "base/prio-lock-private.h"

typedef struct _PrioLoop PrioLoop;
typedef struct _PrioOp PrioOp;

/* Carries out @op on the owner thread.  Runs no user code, but defers releases (prio_loop_defer_release ()). */
typedef void (*PrioOpFunc) (PrioLoop *loop, const PrioOp *op);

/* An operation for the owner thread.  A larger record has a PrioOp as its first field, and sets @size. */
struct _PrioOp
{
  PrioOpFunc apply;
  gpointer target; /* the object or record to change */
  gpointer data;
  gsize size; /* the size of the whole record, a multiple of 8; 0 for a plain PrioOp */
};

typedef struct
{
  PrioOp op;
  gint64 due; /* µs of g_get_monotonic_time (), or 0 */
} PrioTimedOp;

typedef enum
{
  PRIO_MAILBOX_EMPTY,  /* no operations; the owner thread looks again before it sleeps */
  PRIO_MAILBOX_FILLED, /* operations; the owner thread looks again before it sleeps, or has been woken */
  PRIO_MAILBOX_ASLEEP  /* no operations; the context may be in poll (), so the next push wakes it */
} PrioMailboxState;

/* The size of a cache line, in bytes.  Fields that different threads write are in different lines. */
#define PRIO_CACHE_LINE 64
#define PRIO_CACHE_ALIGNED __attribute__ ((aligned (PRIO_CACHE_LINE)))

typedef struct
{
  gint state; /* PrioMailboxState; atomic, and FILLED is set under @lock */
  PrioLock lock;
  GArray *ops;   /* records of operations, in words of 8 bytes; under @lock */
  GArray *taken; /* the operations that the owner thread is carrying out, in the same form */
  gboolean closed; /* under @lock */
} PrioMailbox;

void prio_mailbox_init (PrioMailbox *mailbox);
void prio_mailbox_clear (PrioMailbox *mailbox);
gboolean prio_mailbox_push (PrioMailbox *mailbox, const PrioOp *op, GMainContext *context);
void prio_mailbox_carry_out (PrioMailbox *mailbox, PrioLoop *loop);
gboolean prio_mailbox_close (PrioMailbox *mailbox);

static inline PrioMailboxState
prio_mailbox_state (PrioMailbox *mailbox)
{
  return (PrioMailboxState) __atomic_load_n (&mailbox->state, __ATOMIC_ACQUIRE);
}

/* Makes the next push wake the context, which is about to poll.  Returns FALSE if the mailbox contains operations. */
static inline gboolean
prio_mailbox_fall_asleep (PrioMailbox *mailbox)
{
  return prio_mailbox_state (mailbox) == PRIO_MAILBOX_ASLEEP ||
         g_atomic_int_compare_and_exchange (&mailbox->state, PRIO_MAILBOX_EMPTY, PRIO_MAILBOX_ASLEEP);
}

static inline void
prio_mailbox_wake (PrioMailbox *mailbox)
{
  if (prio_mailbox_state (mailbox) == PRIO_MAILBOX_ASLEEP)
    g_atomic_int_compare_and_exchange (&mailbox->state, PRIO_MAILBOX_ASLEEP, PRIO_MAILBOX_EMPTY);
}
