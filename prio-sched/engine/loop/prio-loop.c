/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop.c: the loop: its life, how threads enter it, and deferred releases */

#include "config.h"

#include "loop/prio-loop-private.h"

#include <pthread.h>

/* After this many releases the thread leaves, so that others can enter. */
#define RELEASE_BATCH 64
/* Memory beyond this is returned to the system after a burst. */
#define MAX_SPARE_RELEASES 4096
#define MAX_LEAF_LOCKS 16

/* Guards the table and every loop's `n_users`.  A loop in the table is not dead, unless its context is being freed at
 * this moment. */
static PrioLock table_lock = PRIO_LOCK_INIT;
static GHashTable *table; /* GMainContext → PrioLoop, neither owned */

/* Written under @table_lock; atomic. */
static const PrioObservingFuncs *observing;

/* Locks of other modules, for fork (); under @table_lock. */
static PrioLock *leaf_locks[MAX_LEAF_LOCKS];
static guint n_leaf_locks;

/* Adds @lock, which is never cleared and may be taken inside a loop.  Only GLib's own locks are taken under it, so
 * fork () takes it last.  Call this on any thread, outside; a second call for a lock does nothing. */
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
  prio_slots_clear (loop->slots, PRIO_N_SLOTS);
  prio_owner_lock_clear (&loop->lock);
  prio_mailbox_clear (&loop->mailbox);
  prio_slab_clear (&loop->store.jobs);
  prio_slab_clear (&loop->store.entries);
  prio_slab_clear (&loop->watched.records);
  prio_ready_clear (&loop->ready);
  prio_due_clear (&loop->due);
  prio_microtasks_clear (&loop->between.microtasks);
  g_clear_pointer (&loop->idles.by_id, g_hash_table_unref);
  g_free (loop->releases.ring);
  g_aligned_free (loop);
}

static PrioLoop *
loop_new (GMainContext *context, const PrioLoopFuncs *funcs)
{
  PrioLoop *loop = g_aligned_alloc0 (1, sizeof *loop, PRIO_CACHE_LINE);

  loop->context = context;
  loop->funcs = funcs;
  loop->sources.lane = PRIO_LANE_NONE;
  loop->input.wakeup_fd = -1;
  loop->watched.funcs = observing;
  prio_owner_lock_init (&loop->lock);
  prio_mailbox_init (&loop->mailbox);
  prio_turn_init (&loop->turn);
  prio_slab_init (&loop->store.jobs, sizeof (PrioJob));
  prio_slab_init (&loop->store.entries, sizeof (PrioEntry));
  funcs->attach (loop);
  if (loop->watched.funcs != NULL)
    loop->watched.funcs->begins (loop);

  return loop;
}

/* Prepares for fork (): waits until no other thread is inside a loop, and none has a lock of the library, so that
 * the child finds all data consistent.  Takes locks in the order in which they are taken elsewhere: first the
 * loops', because an owner thread may need one of the other locks before it leaves; then the mailboxes'; then the
 * leaves.  Does not wait for a batch on another thread to end: this thread does not exist in the child, which can
 * never own its context. */
static void
before_fork (void)
{
  GHashTableIter iter;
  PrioLoop *loop;

  prio_lock_lock (&table_lock);
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    prio_lock_lock (&loop->lock.mutex);
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
    prio_lock_lock (&loop->mailbox.lock);
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
      prio_lock_unlock (&loop->mailbox.lock);
      if (in_child && !prio_owner_lock_is_owner (&loop->lock))
        loop->lock.owner = PRIO_NO_THREAD;
      prio_lock_unlock (&loop->lock.mutex);
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

/* Returns the loop of @context, with one more user.  If there is none, makes it with @funcs. */
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
  __atomic_add_fetch (&loop->n_users, 1, __ATOMIC_RELAXED);
  prio_loop_ref (loop);

  prio_lock_unlock (&table_lock);

  return loop;
}

PrioLoop *
prio_loop_find (GMainContext *context)
{
  PrioLoop *loop;

  prio_lock_lock (&table_lock);
  loop = table != NULL ? g_hash_table_lookup (table, context) : NULL;
  if (loop != NULL)
    prio_loop_ref (loop);
  prio_lock_unlock (&table_lock);
  return loop;
}

/* Removes a user.  The loop's next dispatch disposes of it, unless it has been acquired by then: only there can its
 * sources be removed from the context without a race against the end of the context. */
void
prio_loop_release (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  __atomic_sub_fetch (&loop->n_users, 1, __ATOMIC_RELAXED);
  prio_lock_unlock (&table_lock);

  prio_loop_unref (loop);
}

/* Removes the loop from the table.  Under the lock. */
static void
leave_table_locked (PrioLoop *loop)
{
  if (g_hash_table_lookup (table, loop->context) == loop)
    g_hash_table_remove (table, loop->context);
}

/* Removes the loop, whose context is being freed, from the table. */
void
prio_loop_leave_table (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  leave_table_locked (loop);
  prio_lock_unlock (&table_lock);
}

/* Removes the loop from the table if it has no users; returns whether it did.  In a dispatch. */
gboolean
prio_loop_dispose (PrioLoop *loop)
{
  gboolean unused;

  if (loop->run_queues.first != NULL)
    return FALSE;

  prio_lock_lock (&table_lock);
  unused = loop->n_users == 0;
  if (unused)
    leave_table_locked (loop);
  prio_lock_unlock (&table_lock);

  return unused;
}

/* Attaches the governor if it has left the context (prio-loop-source).  In the prepare of another source GLib is
 * past it already, and has to ask again.  Any thread. */
static inline void
come_back (PrioLoop *loop)
{
  if (G_LIKELY (!__atomic_load_n (&loop->sources.is_away, __ATOMIC_ACQUIRE)))
    return;
  loop->funcs->attach (loop);
  g_main_context_wakeup (loop->context);
}

/* Catches up after the owner thread has entered while the mailbox is not EMPTY.
 *
 * If it is ASLEEP, and this is between the governor's prepare and its check, for example in another source's
 * prepare, the context may be about to poll, and has to be woken, because there may be work now. */
void
prio_loop_catch_up (PrioLoop *loop)
{
  come_back (loop);
  if (prio_mailbox_state (&loop->mailbox) == PRIO_MAILBOX_FILLED)
    {
      prio_mailbox_carry_out (&loop->mailbox, loop);
      return;
    }

  prio_mailbox_wake (&loop->mailbox);
  if (!loop->sources.awake)
    g_main_context_wakeup (loop->context);
}

/* Calls a destroy notify, which may be NULL, at once, without the state of the task that runs.  Outside. */
void
prio_release_now (GDestroyNotify notify, gpointer data)
{
  const PrioState *state = prio_thread.state;

  if (notify == NULL)
    return;

  prio_thread.state = &prio_state_none;
  notify (data);
  prio_thread.state = state;
}

/* Queues a call of @func, which may be NULL, outside. */
void
prio_loop_defer_release (PrioLoop *loop, GDestroyNotify func, gpointer data)
{
  if (func == NULL)
    return;
  if (loop->releases.n == loop->releases.allocated)
    {
      loop->releases.allocated = MAX (loop->releases.allocated * 2, 16);
      loop->releases.ring = g_renew (PrioRelease, loop->releases.ring, loop->releases.allocated);
    }
  prio_loop_look_between_tasks (loop);
  loop->releases.ring[loop->releases.n++] = (PrioRelease) { func, data };
}

/* Enters as the owner thread or, after the end of the context, as any thread.  In the second case sets @locked and
 * holds the mailbox's lock.  Returns FALSE if another thread is the owner. */
gboolean
prio_loop_enter_or_lock (PrioLoop *loop, gboolean *locked)
{
  *locked = FALSE;
  if (prio_loop_enter (loop))
    return TRUE;

  prio_lock_lock (&loop->mailbox.lock);
  *locked = loop->mailbox.closed;
  if (!*locked)
    prio_lock_unlock (&loop->mailbox.lock);
  return *locked;
}

void
prio_loop_leave_or_unlock (PrioLoop *loop, gboolean locked)
{
  if (locked)
    prio_lock_unlock (&loop->mailbox.lock);
  else
    prio_loop_leave (loop);
}

/* Takes the next releases, up to @max, in the order in which they were deferred. */
static guint
take_releases (PrioLoop *loop, PrioRelease *releases, guint max)
{
  guint n;

  if (prio_loop_first_aborted (loop) != NULL && loop->releases.n < max)
    loop->funcs->process_aborted (loop, max);

  n = (guint) MIN (max, loop->releases.n - loop->releases.first);
  if (n > 0)
    memcpy (releases, loop->releases.ring + loop->releases.first, n * sizeof *releases);
  loop->releases.first += n;

  if (loop->releases.first == loop->releases.n)
    {
      loop->releases.first = loop->releases.n = 0;
      if (loop->releases.allocated > MAX_SPARE_RELEASES)
        {
          g_clear_pointer (&loop->releases.ring, g_free);
          loop->releases.allocated = 0;
        }
    }
  return n;
}

/* A call of prio_loop_flush_releases () on the stack. */
typedef struct _PrioFlush PrioFlush;

struct _PrioFlush
{
  PrioLoop *loop;
  PrioFlush *outer;
};

static gboolean
is_flushing (PrioLoop *loop)
{
  for (PrioFlush *flush = prio_thread.flushes; flush != NULL; flush = flush->outer)
    {
      if (flush->loop == loop)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether this thread runs the context of the loop, or is about to: it is the thread's default. */
static G_GNUC_NO_INLINE gboolean
is_own_context (PrioLoop *loop)
{
  GMainContext *own = g_main_context_get_thread_default ();

  return loop->context == (own != NULL ? own : g_main_context_default ()) || g_main_context_is_owner (loop->context);
}

/* Returns whether this thread makes the loop's deferred releases.  While its context ends, only the thread that
 * destroys it does.  Before its first iteration, the thread that made the loop is its owner, but may have made it
 * for another thread, which releases then. */
static inline gboolean
may_release (PrioLoop *loop, gboolean context_gone)
{
  if (context_gone)
    return loop->releases.destroyer == NULL || loop->releases.destroyer == &prio_thread;
  return G_LIKELY (loop->sources.iteration != 0) || is_own_context (loop);
}

/* Called when all deferred releases are made.  At the end of the context, returns whether more have been deferred. */
static inline gboolean
release_what_is_left (PrioLoop *loop, gboolean context_gone)
{
  if (!context_gone || loop->releases.destroyer == NULL)
    return FALSE;
  if (loop->funcs->release_some (loop))
    return TRUE;
  loop->releases.destroyer = NULL;
  return FALSE;
}

/* No g_main_depth () is negative. */
const PrioState prio_state_none = { .depth = -1 };

/* Makes the deferred releases.  Call it outside, on a thread that may enter.  Releases that a destroy notify defers
 * are made after it has returned, so that a chain of destroy notifies does not deepen the stack. */
void
prio_loop_flush_releases (PrioLoop *loop)
{
  PrioFlush self = { loop, prio_thread.flushes };
  const PrioState *state = prio_thread.state;
  PrioRelease releases[RELEASE_BATCH];
  gboolean locked, more = TRUE;

  if (is_flushing (loop))
    return;

  prio_loop_ref (loop);
  prio_thread.flushes = &self;
  /* Destroy notifies do not inherit the state of the task in which they happen to run. */
  prio_thread.state = &prio_state_none;

  while (more && prio_loop_enter_or_lock (loop, &locked))
    {
      guint n = 0;

      more = may_release (loop, locked);
      if (more)
        {
          n = take_releases (loop, releases, RELEASE_BATCH);
          more = n > 0 || prio_loop_has_releases (loop) || release_what_is_left (loop, locked);
        }
      prio_loop_leave_or_unlock (loop, locked);

      for (guint i = 0; i < n; i++)
        {
          prio_before_unref (releases[i].data);
          releases[i].func (releases[i].data);
        }
    }

  prio_thread.state = state;
  prio_thread.flushes = self.outer;
  prio_loop_unref (loop);
}

/* Sends @op to the owner thread, or applies it if this thread has become the owner or there is none any more.
 * Returns whether there are releases for this thread to flush. */
static G_GNUC_NO_INLINE gboolean
submit_from_elsewhere (PrioLoop *loop, const PrioOp *op)
{
  gboolean locked = FALSE, releases;

  /* This ends: another thread must begin to run the context to become the owner, and a closed mailbox stays closed. */
  do
    {
      if (prio_mailbox_push (&loop->mailbox, op, loop->context))
        {
          come_back (loop);
          return FALSE;
        }
    }
  while (!prio_loop_enter_or_lock (loop, &locked) && !prio_loop_enter (loop));

  op->apply (loop, op);
  releases = prio_loop_has_releases (loop);
  /* A worker has closed the loop, or a group has outlived it: tasks that the operation has queued never run. */
  while (prio_loop_is_dead (loop) && loop->funcs->release_some (loop))
    releases = TRUE;
  prio_loop_leave_or_unlock (loop, locked);
  return releases;
}

static inline gboolean
submit (PrioLoop *loop, const PrioOp *op)
{
  gboolean releases;

  if (G_UNLIKELY (!prio_loop_enter (loop)))
    return submit_from_elsewhere (loop, op);

  op->apply (loop, op);
  releases = prio_loop_has_releases (loop);
  prio_loop_leave (loop);
  return releases;
}

/* Carries out @op, now if this is the owner thread, otherwise soon, and makes its releases. */
void
prio_loop_submit (PrioLoop *loop, const PrioOp *op)
{
  if (submit (loop, op))
    prio_loop_flush_releases (loop);
}

/* Submits @op for a caller that may hold a lock of the program: the next dispatch makes the releases of aborts.  If
 * the loop has ended, they are made here. */
void
prio_loop_submit_post (PrioLoop *loop, const PrioOp *op)
{
  if (submit (loop, op) && prio_loop_has_gone (loop))
    prio_loop_flush_releases (loop);
}

/* Submits @op where no user code may run: the next dispatch makes the releases of @op. */
void
prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op)
{
  submit (loop, op);
}

typedef struct
{
  PrioOp op;
  GDestroyNotify notify;
} CallOp;

static void
do_nothing (gpointer data G_GNUC_UNUSED)
{
}

static void
op_call (PrioLoop *loop, const PrioOp *op)
{
  PrioMicrotask microtask = { .func = do_nothing, .data = op->data, .notify = ((const CallOp *) op)->notify };

  if (prio_loop_is_dead (loop))
    prio_loop_defer_release (loop, microtask.notify, op->data);
  else
    prio_loop_queue_microtask (loop, &microtask);
}

/* Calls @notify with @data on the thread that runs the context, at its next checkpoint.  If the context is gone,
 * calls it here, unless @quietly. */
void
prio_loop_call (PrioLoop *loop, GDestroyNotify notify, gpointer data, gboolean quietly)
{
  CallOp self = { { .apply = op_call, .data = data, .size = sizeof self }, notify };

  if (submit (loop, &self.op) && !quietly)
    prio_loop_flush_releases (loop);
}

static void
op_observe (PrioLoop *loop, const PrioOp *op G_GNUC_UNUSED)
{
  if (prio_loop_is_dead (loop))
    return;
  /* Posts on other threads check this. */
  __atomic_store_n (&loop->watched.funcs, __atomic_load_n (&observing, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
  if (loop->watched.funcs != NULL)
    loop->watched.funcs->begins (loop);
}

/* Adds @funcs to every loop, as long as there is an observer, and removes them otherwise.  Threads that run other
 * loops follow soon.  Whether there is one is asked under the lock, so the last of several concurrent calls decides,
 * and knows the effects of all others.  Any thread, outside. */
void
prio_loops_observe (const PrioObservingFuncs *funcs)
{
  g_autoptr (GPtrArray) loops = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_loop_unref);
  PrioOp op = { .apply = op_observe };
  GHashTableIter iter;
  PrioLoop *loop;

  prio_lock_lock (&table_lock);
  __atomic_store_n (&observing, funcs->is_wanted () ? funcs : NULL, __ATOMIC_RELEASE);
  if (table != NULL)
    {
      g_hash_table_iter_init (&iter, table);
      while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
        g_ptr_array_add (loops, prio_loop_ref (loop));
    }
  prio_lock_unlock (&table_lock);

  for (guint i = 0; i < loops->len; i++)
    prio_loop_submit (loops->pdata[i], &op);
}

/* Returns whether the context is gone.  For threads other than the owner thread. */
gboolean
prio_loop_has_gone (PrioLoop *loop)
{
  gboolean closed;

  prio_lock_lock (&loop->mailbox.lock);
  closed = loop->mailbox.closed;
  prio_lock_unlock (&loop->mailbox.lock);
  return closed;
}

gsize
prio_observed_owner (PrioLoop *loop)
{
  return __atomic_load_n (&loop->lock.owner, __ATOMIC_RELAXED);
}

GMainContext *
prio_observed_context (PrioLoop *loop)
{
  return loop->context;
}

/* Returns whether there is memory from a burst to be returned to the system. */
gboolean
prio_loop_is_large (PrioLoop *loop)
{
  return prio_slots_are_large (loop->slots, PRIO_N_SLOTS) || prio_slab_is_large (&loop->store.jobs) || prio_slab_is_large (&loop->store.entries) ||
         prio_slab_is_large (&loop->watched.records);
}

/* Returns some of this memory to the system. */
void
prio_loop_trim (PrioLoop *loop)
{
  prio_slots_trim (loop->slots, PRIO_N_SLOTS);
  prio_slab_trim (&loop->store.jobs);
  prio_slab_trim (&loop->store.entries);
  prio_slab_trim (&loop->watched.records);
}
