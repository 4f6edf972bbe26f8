/* prio-loop.c: the record of a GMainContext: its life, and the way in
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-loop-private.h"

#include <pthread.h>

/* So many records are released between two looks at who else wants to come in. */
#define REAP_MAX 64
/* What a burst needed beyond this is given back to the system. */
#define MAX_KEPT_GRAVES 4096
/* There are two. */
#define MAX_LEAF_LOCKS 4

/* Guards the table and every loop's `n_users`.  A loop in it is not dead, unless
 * its context is being freed at this moment. */
static PrioLock table_lock = PRIO_LOCK_INIT;
static GHashTable *table; /* GMainContext → PrioLoop, neither owned */

/* Locks of other modules, for fork (); guarded by the same lock. */
static PrioLock *leaf_locks[MAX_LEAF_LOCKS];
static guint n_leaf_locks;

/* @lock is there for good, and may be taken inside a loop; nothing but GLib's own locks is taken under it.
 * So fork () takes it last.  Any thread, outside; to say it again does nothing. */
void
prio_loop_add_leaf_lock (PrioLock *lock)
{
  guint i = 0;

  prio_lock_lock (&table_lock);
  while (i < n_leaf_locks && leaf_locks[i] != lock)
    i++;
  if (i == n_leaf_locks)
    {
      g_assert (n_leaf_locks < MAX_LEAF_LOCKS);
      leaf_locks[n_leaf_locks++] = lock;
    }
  prio_lock_unlock (&table_lock);
}

PrioLoop *
prio_loop_ref (PrioLoop *loop)
{
  g_atomic_int_inc (&loop->refs);
  return loop;
}

void
prio_loop_unref (PrioLoop *loop)
{
  if (!g_atomic_int_dec_and_test (&loop->refs))
    return;

  loop->funcs->clear (loop);
  g_weak_ref_clear (&loop->thread_default);
  prio_bias_clear (&loop->bias);
  prio_inbox_clear (&loop->inbox);
  prio_slab_clear (&loop->jobs);
  prio_slab_clear (&loop->entries);
  prio_slab_clear (&loop->groups);
  prio_ready_clear (&loop->ready);
  prio_heap_clear (&loop->delays);
  prio_microtasks_clear (&loop->microtasks);
  g_clear_pointer (&loop->idles.by_id, g_hash_table_unref);
  g_free (loop->graves);
  g_aligned_free (loop);
}

static PrioLoop *
loop_new (GMainContext *context, const PrioLoopFuncs *funcs)
{
  PrioLoop *loop = g_aligned_alloc0 (1, sizeof *loop, PRIO_CACHE_LINE);

  loop->context = context;
  loop->funcs = funcs;
  loop->lane = PRIO_LANE_NONE;
  loop->wakeup_fd = -1;
  g_weak_ref_init (&loop->thread_default, NULL);
  prio_bias_init (&loop->bias);
  prio_inbox_init (&loop->inbox);
  prio_turn_init (&loop->turn);
  prio_slab_init (&loop->jobs, sizeof (PrioJob));
  prio_slab_init (&loop->entries, sizeof (PrioEntry));
  funcs->attach (loop);

  return loop;
}

/* fork () waits until no other thread is inside of a loop, and none has a lock of ours, so
 * that the child finds everything whole.  Locks are taken in the order in which they are
 * taken elsewhere: those of the loops, whose home threads may need one of the others to
 * get out, first.  A loop whose tasks another thread is running at this moment is not
 * waited for: the child can never own its context. */
static void
before_fork (void)
{
  GHashTableIter iter;
  PrioLoop *loop;
  gboolean barrier = FALSE;

  prio_lock_lock (&table_lock);

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    barrier = prio_bias_freeze (&loop->bias) || barrier;
  if (barrier)
    prio_bias_freeze_barrier ();
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    prio_bias_freeze_await (&loop->bias);

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    prio_lock_lock (&loop->inbox.lock);
  for (guint i = 0; i < n_leaf_locks; i++)
    prio_lock_lock (leaf_locks[i]);
}

static void
after_fork (gboolean in_child)
{
  GHashTableIter iter;
  PrioLoop *loop;

  for (guint i = n_leaf_locks; i > 0; i--)
    prio_lock_unlock (leaf_locks[i - 1]);
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    {
      prio_lock_unlock (&loop->inbox.lock);
      prio_bias_thaw (&loop->bias, in_child);
    }

  prio_lock_unlock (&table_lock);
}

static void
after_fork_in_parent (void)
{
  after_fork (FALSE);
}

static void
after_fork_in_child (void)
{
  after_fork (TRUE);
}

/* The record of @context, for one more user; one that is made has @funcs. */
PrioLoop *
prio_loop_acquire (GMainContext *context, const PrioLoopFuncs *funcs)
{
  PrioLoop *loop;

  prio_lock_lock (&table_lock);

  if (table == NULL)
    {
      table = g_hash_table_new (NULL, NULL);
      pthread_atfork (before_fork, after_fork_in_parent, after_fork_in_child);
    }

  loop = g_hash_table_lookup (table, context);
  if (loop == NULL)
    {
      loop = loop_new (context, funcs);
      g_hash_table_insert (table, context, loop);
    }
  loop->n_users++;
  __atomic_store_n (&loop->unused, FALSE, __ATOMIC_RELAXED);
  prio_loop_ref (loop);

  prio_lock_unlock (&table_lock);

  return loop;
}

/* A user less.  The record itself goes with its next dispatch, if nobody has
 * joined by then: its sources can be taken from the context there only without a
 * race against the context's own end. */
void
prio_loop_part (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  if (--loop->n_users == 0)
    __atomic_store_n (&loop->unused, TRUE, __ATOMIC_RELAXED);
  prio_lock_unlock (&table_lock);

  prio_loop_unref (loop);
}

/* Under the lock. */
static void
leave_table_locked (PrioLoop *loop)
{
  if (g_hash_table_lookup (table, loop->context) == loop)
    g_hash_table_remove (table, loop->context);
}

/* Its context goes: nobody finds it any more. */
void
prio_loop_leave_table (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  leave_table_locked (loop);
  prio_lock_unlock (&table_lock);
}

/* Called in a dispatch: whether nobody uses the record any more.  From then on
 * nobody finds it either. */
gboolean
prio_loop_retire (PrioLoop *loop)
{
  gboolean unused;

  if (loop->cores != NULL)
    return FALSE;

  prio_lock_lock (&table_lock);
  unused = loop->n_users == 0;
  if (unused)
    leave_table_locked (loop);
  prio_lock_unlock (&table_lock);

  return unused;
}

void
prio_loop_carry_out_inbox (PrioLoop *loop)
{
  PrioInboxChunk *chunk = prio_inbox_take (&loop->inbox);

  while (chunk != NULL)
    {
      PrioInboxChunk *next = chunk->next;

      for (guint i = 0; i < chunk->length; i++)
        {
          __builtin_prefetch (&chunk->ops[i + 2]);
          chunk->ops[i].apply (loop, &chunk->ops[i]);
        }
      prio_inbox_give_back (&loop->inbox, chunk);
      chunk = next;
    }
}

/* The home thread has come in, and the inbox is not simply empty.
 *
 * If it is asleep, and this is between our prepare and our check, another source's
 * prepare for one, the context may be about to poll, and has to be told that there is
 * something to do. */
void
prio_loop_catch_up (PrioLoop *loop)
{
  if (prio_inbox_state (&loop->inbox) == PRIO_INBOX_FILLED)
    {
      prio_loop_carry_out_inbox (loop);
      return;
    }

  prio_inbox_wake (&loop->inbox);
  if (!loop->awake)
    g_main_context_wakeup (loop->context);
}

void
prio_loop_bury (PrioLoop *loop, GDestroyNotify func, gpointer data)
{
  if (loop->n_graves == loop->allocated_graves)
    {
      loop->allocated_graves = MAX (loop->allocated_graves * 2, 16);
      loop->graves = g_renew (PrioGrave, loop->graves, loop->allocated_graves);
    }
  loop->attention = TRUE;
  loop->graves[loop->n_graves++] = (PrioGrave) { func, data };
}

/* Comes in as the home thread or, after the context has gone, as anybody. */
static gboolean
come_in (PrioLoop *loop, gboolean *locked)
{
  *locked = FALSE;
  if (prio_loop_enter (loop))
    return TRUE;

  prio_lock_lock (&loop->inbox.lock);
  *locked = loop->inbox.closed;
  if (!*locked)
    prio_lock_unlock (&loop->inbox.lock);
  return *locked;
}

static void
go_out (PrioLoop *loop, gboolean locked)
{
  if (locked)
    prio_lock_unlock (&loop->inbox.lock);
  else
    prio_loop_leave (loop);
}

/* Takes the next few things to release, in the order in which they were buried. */
static guint
exhume (PrioLoop *loop, PrioGrave *graves, guint max)
{
  guint n;

  if (loop->condemned != NULL && loop->n_graves < max)
    loop->funcs->reap (loop, max);

  n = (guint) MIN (max, loop->n_graves - loop->first_grave);
  if (n > 0)
    memcpy (graves, loop->graves + loop->first_grave, n * sizeof *graves);
  loop->first_grave += n;

  if (loop->first_grave == loop->n_graves)
    {
      loop->first_grave = loop->n_graves = 0;
      if (loop->allocated_graves > MAX_KEPT_GRAVES)
        {
          g_clear_pointer (&loop->graves, g_free);
          loop->allocated_graves = 0;
        }
    }
  return n;
}

/* A prio_loop_collect () that is on the stack. */
typedef struct _PrioCollection PrioCollection;

struct _PrioCollection
{
  PrioLoop *loop;
  PrioCollection *outer;
};

static gboolean
is_collecting (PrioLoop *loop)
{
  for (PrioCollection *collection = prio_thread.collections; collection != NULL; collection = collection->outer)
    {
      if (collection->loop == loop)
        return TRUE;
    }
  return FALSE;
}

/* Releases what has been buried: outside, on a thread that may come in.  What a destroy
 * notify leaves comes after it, and not within, so that a chain of them goes no deeper. */
void
prio_loop_collect (PrioLoop *loop)
{
  PrioCollection self = { loop, prio_thread.collections };
  const PrioState *state = prio_thread.state;
  PrioGrave graves[REAP_MAX];
  gboolean locked, more = TRUE;

  if (is_collecting (loop))
    return;

  prio_loop_ref (loop);
  prio_thread.collections = &self;
  /* What is released has nothing to do with the task, if any, that releases it. */
  prio_thread.state = NULL;

  while (more && come_in (loop, &locked))
    {
      guint n = exhume (loop, graves, REAP_MAX);

      more = n > 0 || prio_loop_has_garbage (loop);
      go_out (loop, locked);

      for (guint i = 0; i < n; i++)
        {
          prio_before_unref (graves[i].data);
          graves[i].func (graves[i].data);
        }
    }

  prio_thread.state = state;
  prio_thread.collections = self.outer;
  prio_loop_unref (loop);
}

/* Returns whether there is something to be collected on this thread. */
static gboolean
submit (PrioLoop *loop, const PrioOp *op)
{
  gboolean locked = FALSE, garbage;

  /* Home moves when another thread begins to run the context, and the inbox is
   * closed once and for good: so this ends. */
  while (!prio_loop_enter (loop))
    {
      if (prio_inbox_push (&loop->inbox, op, loop->context))
        return FALSE;
      if (come_in (loop, &locked))
        break;
    }

  op->apply (loop, op);
  garbage = prio_loop_has_garbage (loop);
  go_out (loop, locked);
  return garbage;
}

/* Has @op carried out: now if this is the home thread, soon otherwise; and
 * releases what that leaves. */
void
prio_loop_submit (PrioLoop *loop, const PrioOp *op)
{
  if (submit (loop, op))
    prio_loop_collect (loop);
}

/* The same where nothing of the user's may run; what is left is released by the
 * next dispatch. */
void
prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op)
{
  submit (loop, op);
}

/* Whether the context has, asked on a thread that is not at home. */
gboolean
prio_loop_has_gone (PrioLoop *loop)
{
  gboolean closed;

  prio_lock_lock (&loop->inbox.lock);
  closed = loop->inbox.closed;
  prio_lock_unlock (&loop->inbox.lock);
  return closed;
}

/* Whether there is memory from a burst to be given back. */
gboolean
prio_loop_is_large (PrioLoop *loop)
{
  return (loop->pool_funcs != NULL && loop->pool_funcs->is_large (loop)) || prio_slab_is_large (&loop->jobs) ||
         prio_slab_is_large (&loop->entries) || prio_slab_is_large (&loop->groups);
}

/* Gives some of it back. */
void
prio_loop_trim (PrioLoop *loop)
{
  if (loop->pool_funcs != NULL)
    loop->pool_funcs->trim (loop);
  prio_slab_trim (&loop->jobs);
  prio_slab_trim (&loop->entries);
  prio_slab_trim (&loop->groups);
}
