/* prio-loop.c: the record of a GMainContext: its life, and the way in
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-loop-private.h"

#include "prio-bond-private.h"
#include "prio-hub-private.h"
#include "prio-runner-private.h"
#include "prio-task-private.h"

#include <pthread.h>

/* So many records are released between two looks at who else wants to come in. */
#define REAP_MAX 64
/* What a burst needed beyond this is given back to the system. */
#define MAX_KEPT_GRAVES 4096

/* Guards the table and every loop's `n_users`.  A loop in it is not dead, unless
 * its context is being freed at this moment. */
static PrioLock table_lock = PRIO_LOCK_INIT;
static GHashTable *table; /* GMainContext → PrioLoop, neither owned */

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

  g_clear_pointer (&loop->own, prio_core_free_own);
  g_weak_ref_clear (&loop->thread_default);
  prio_bias_clear (&loop->bias);
  prio_inbox_clear (&loop->inbox);
  prio_slab_clear (&loop->jobs);
  prio_slab_clear (&loop->entries);
  prio_slab_clear (&loop->bonds);
  prio_ready_clear (&loop->ready);
  prio_heap_clear (&loop->delays);
  prio_microtasks_clear (&loop->microtasks);
  prio_idles_clear (&loop->idles);
  g_free (loop->graves);
  g_aligned_free (loop);
}

static PrioLoop *
loop_new (GMainContext *context)
{
  PrioLoop *loop = g_aligned_alloc0 (1, sizeof *loop, PRIO_CACHE_LINE);

  loop->context = context;
  loop->lane = PRIO_LANE_NONE;
  loop->wakeup_fd = -1;
  g_weak_ref_init (&loop->thread_default, NULL);
  prio_bias_init (&loop->bias);
  prio_inbox_init (&loop->inbox);
  prio_turn_init (&loop->turn);
  prio_slab_init (&loop->jobs, sizeof (PrioJob));
  prio_slab_init (&loop->entries, sizeof (PrioEntry));
  prio_bonds_init (&loop->bonds);
  prio_loop_attach (loop);

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
  prio_lock_lock (&prio_sources_lock);
  prio_lock_lock (&prio_hub_lock);
}

static void
after_fork (gboolean in_child)
{
  GHashTableIter iter;
  PrioLoop *loop;

  prio_lock_unlock (&prio_hub_lock);
  prio_lock_unlock (&prio_sources_lock);
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

/* The record of @context, made if need be, for one more user. */
PrioLoop *
prio_loop_join (GMainContext *context)
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
      loop = loop_new (context);
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

static gboolean
loop_leave_table (PrioLoop *loop, gboolean even_if_used)
{
  gboolean gone;

  prio_lock_lock (&table_lock);
  gone = even_if_used || loop->n_users == 0;
  if (gone && g_hash_table_lookup (table, loop->context) == loop)
    g_hash_table_remove (table, loop->context);
  prio_lock_unlock (&table_lock);

  return gone;
}

/* Called in a dispatch: whether nobody uses the record any more.  From then on
 * nobody finds it either. */
gboolean
prio_loop_retire (PrioLoop *loop)
{
  return loop->cores == NULL && loop_leave_table (loop, FALSE);
}

static void
carry_out_inbox (PrioLoop *loop)
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
      carry_out_inbox (loop);
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
    prio_bond_reap (loop, max);

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

/* Whether the calling thread owns the context; if so, it is at home from now on.  Who was
 * at home last need not: nobody has taken over yet, or nobody runs the context. */
gboolean
prio_loop_is_owner (PrioLoop *loop)
{
  gboolean is_owner;

  /* Within a dispatch it does. */
  for (PrioBatch *batch = prio_thread.batch; batch != NULL; batch = batch->outer)
    {
      if (batch->loop == loop)
        return TRUE;
    }

  if (prio_loop_enter (loop))
    {
      is_owner = g_main_context_is_owner (loop->context);
      prio_loop_leave (loop);
      return is_owner;
    }

  prio_lock_lock (&loop->inbox.lock);
  is_owner = !loop->inbox.closed && g_main_context_is_owner (loop->context);
  prio_lock_unlock (&loop->inbox.lock);
  if (is_owner)
    prio_bias_take (&loop->bias);
  return is_owner;
}

/* Whether there is memory from a burst to be given back. */
gboolean
prio_loop_is_large (PrioLoop *loop)
{
  return prio_task_pool_is_large (loop) || prio_slab_is_large (&loop->jobs) || prio_slab_is_large (&loop->entries) ||
         prio_slab_is_large (&loop->bonds);
}

/* Gives some of it back. */
void
prio_loop_trim (PrioLoop *loop)
{
  prio_task_pool_trim (loop);
  prio_slab_trim (&loop->jobs);
  prio_slab_trim (&loop->entries);
  prio_slab_trim (&loop->bonds);
}

/* Releases the head of @queue, of jobs or tokens. */
static void
release_job (PrioLoop *loop, PrioQueue *queue)
{
  PrioJob *job = prio_queue_pop_job (queue);

  prio_core_head_gone (queue->core, queue);
  if (queue->kind == PRIO_QUEUE_TOKENS)
    {
      prio_runner_release (prio_runner_from_queue (queue));
    }
  else
    {
      if (job->notify != NULL)
        prio_loop_bury (loop, job->notify, job->data);
      prio_core_release (queue->core);
    }
  prio_slab_free (&loop->jobs, job);
}

/* Returns FALSE when nothing is left. */
static gboolean
release_some (PrioLoop *loop)
{
  PrioMicrotask microtask;
  gsize n = 0;

  while (n < REAP_MAX && prio_microtasks_pop (&loop->microtasks, &microtask))
    {
      if (microtask.notify != NULL)
        prio_loop_bury (loop, microtask.notify, microtask.data);
      prio_state_release (&microtask.state);
      n++;
    }

  while (n < REAP_MAX && prio_idle_release_one (loop))
    n++;

  while (n < REAP_MAX && loop->delays.n_items > 0)
    {
      prio_core_refuse (prio_entry_from_delay (prio_heap_first (&loop->delays)->node));
      n++;
    }

  while (n < REAP_MAX && prio_ready_first (&loop->ready) != NULL)
    {
      PrioQueue *queue = prio_ready_first (&loop->ready);

      if (queue->kind == PRIO_QUEUE_ENTRIES)
        prio_core_refuse ((PrioEntry *) queue->head);
      else
        release_job (loop, queue);
      n++;
    }

  return n > 0;
}

/* The context has gone, and with it every scheduler, which would hold it: what they left
 * in the queues, none of which is paused any more, is released on this thread. */
void
prio_loop_tear_down (PrioLoop *loop)
{
  gboolean more;

  prio_in_finalize (loop);
  loop_leave_table (loop, TRUE);

  prio_bias_take (&loop->bias);

  /* With the inbox closed it is its lock that lets in, and nobody is at home. */
  do
    carry_out_inbox (loop);
  while (!prio_inbox_close (&loop->inbox));
  prio_bias_leave_for_good (&loop->bias);

  prio_task_pool_clear (loop);
  do
    {
      prio_lock_lock (&loop->inbox.lock);
      more = release_some (loop);
      prio_lock_unlock (&loop->inbox.lock);

      prio_loop_collect (loop);
    }
  while (more);
}
