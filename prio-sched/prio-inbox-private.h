/* prio-inbox-private.h: where other threads leave what the home thread is to do
 *
 * Promises: any thread may push; what is pushed is taken by the home thread, in
 * order and whole; a loop that sleeps in poll () is woken once for a burst.  A
 * closed inbox refuses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "prio-lock-private.h"

typedef struct _PrioLoop PrioLoop;
typedef struct _PrioOp PrioOp;

/* Carries out @op, at home.  Nothing of the user's may run in it: what is to be
 * released goes to the loop's garbage. */
typedef void (*PrioOpFunc) (PrioLoop *loop, const PrioOp *op);

/* Something to do at home.  What the fields mean is for @apply to say. */
struct _PrioOp
{
  PrioOpFunc apply;
  gpointer target; /* what it is about */
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
  GCancellable *signal;
  gint64 due; /* µs of g_get_monotonic_time (), or 0 */
  gint8 priority;
  guint8 flag;
  guint id; /* of a token, or 0 */
};

typedef enum
{
  PRIO_INBOX_EMPTY,  /* and the home thread will look before it sleeps */
  PRIO_INBOX_FILLED, /* and the home thread will look, or has been woken */
  PRIO_INBOX_ASLEEP  /* empty, and the context may be in poll (): cleared by who comes in or pushes */
} PrioInboxState;

/* What goes from one processor to another goes by lines of this many bytes. */
#define PRIO_CACHE_LINE 64
#define PRIO_CACHE_ALIGNED __attribute__ ((aligned (PRIO_CACHE_LINE)))

#define PRIO_INBOX_CHUNK_OPS 63

typedef struct _PrioInboxChunk PrioInboxChunk;

struct _PrioInboxChunk
{
  PrioInboxChunk *next;
  guint length;
  PrioOp ops[PRIO_INBOX_CHUNK_OPS] PRIO_CACHE_ALIGNED;
};

typedef struct
{
  gint state; /* PrioInboxState; atomic, and FILLED is set under @lock */
  PrioLock lock;
  PrioInboxChunk *head, *tail; /* under @lock, as is the rest */
  PrioInboxChunk *spare;       /* empty ones */
  guint n_spare;
  gboolean closed;
} PrioInbox;

void prio_inbox_init (PrioInbox *inbox);
void prio_inbox_clear (PrioInbox *inbox);
gboolean prio_inbox_push (PrioInbox *inbox, const PrioOp *op, GMainContext *context);
PrioInboxChunk *prio_inbox_take (PrioInbox *inbox);
gboolean prio_inbox_close (PrioInbox *inbox);
void prio_inbox_give_back (PrioInbox *inbox, PrioInboxChunk *chunk);

static inline PrioInboxState
prio_inbox_state (PrioInbox *inbox)
{
  return (PrioInboxState) __atomic_load_n (&inbox->state, __ATOMIC_ACQUIRE);
}

/* The context is about to poll: whoever pushes from now on has to wake it.
 * Returns FALSE if there is something already. */
static inline gboolean
prio_inbox_fall_asleep (PrioInbox *inbox)
{
  return prio_inbox_state (inbox) == PRIO_INBOX_ASLEEP ||
         g_atomic_int_compare_and_exchange (&inbox->state, PRIO_INBOX_EMPTY, PRIO_INBOX_ASLEEP);
}

static inline void
prio_inbox_wake (PrioInbox *inbox)
{
  if (prio_inbox_state (inbox) == PRIO_INBOX_ASLEEP)
    g_atomic_int_compare_and_exchange (&inbox->state, PRIO_INBOX_ASLEEP, PRIO_INBOX_EMPTY);
}
