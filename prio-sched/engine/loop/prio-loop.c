/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop.c: creates, finds and frees loops, carries out operations, and makes deferred releases */

#include "config.h"

#include "loop/prio-loop-private.h"

#include <pthread.h>

/* How many releases prio_loop_flush_releases () takes at a time, before it leaves the loop and makes them. */
#define RELEASE_BATCH 64
/* A ring with room for more releases than this is freed when all releases have been taken. */
#define MAX_SPARE_RELEASES 4096
#define MAX_LEAF_LOCKS 16

/* Guards @table, and each change of a loop's `n_users` to or from 0. */
static PrioLock table_lock = PRIO_LOCK_INIT;
static GHashTable *table; /* GMainContext → PrioLoop, neither owned; each context still exists */

/* Functions with which new loops report to observers; NULL without observers.  Atomic; written under @table_lock. */
static const PrioObservingFuncs *observing;

/* Locks of other modules, which before_fork () takes; guarded by @table_lock. */
static PrioLock *leaf_locks[MAX_LEAF_LOCKS];
static guint n_leaf_locks;

/* Adds a lock of another module, which before_fork () takes after all other locks.  @lock is never cleared.  A thread
 * that has entered a loop may take it; a thread that holds it takes only GLib's own locks.  A second call for a lock
 * does nothing.  Any thread that has entered no loop may call this function. */
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

/* Prepares for fork (): takes all locks of the library in their usual order, so that the child finds all data
 * consistent.  The order is: the table's lock, the loops' locks, the mailboxes' locks, the leaf locks.  Does not wait
 * for a batch on another thread: that thread does not exist in the child, which cannot run the context. */
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

/* Returns the loop of @context, with one more user.  If there is none, creates it with @funcs. */
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

/* Removes a user.  After the last user, the loop's next dispatch removes the sources, unless the loop has been acquired
 * again.  Only a dispatch does so, because elsewhere the removal would race with the end of the context. */
void
prio_loop_release (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  __atomic_sub_fetch (&loop->n_users, 1, __ATOMIC_RELAXED);
  prio_lock_unlock (&table_lock);

  prio_loop_unref (loop);
}

static void
leave_table_locked (PrioLoop *loop)
{
  if (g_hash_table_lookup (table, loop->context) == loop)
    g_hash_table_remove (table, loop->context);
}

void
prio_loop_leave_table (PrioLoop *loop)
{
  prio_lock_lock (&table_lock);
  leave_table_locked (loop);
  prio_lock_unlock (&table_lock);
}

/* Returns whether the loop has no users, and if so, removes it from the table.  Called in a dispatch. */
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

/* Attaches the governor if it has left the context (prio-loop-source.c), and wakes the context, because GLib may have
 * prepared its sources already in this iteration.  Does nothing after the mailbox is closed, because the context may
 * not exist any more.  Any thread may call this function. */
static inline void
come_back (PrioLoop *loop)
{
  if (G_LIKELY (!__atomic_load_n (&loop->sources.is_away, __ATOMIC_ACQUIRE)))
    return;
  prio_lock_lock (&loop->mailbox.lock);
  if (!loop->mailbox.closed)
    {
      loop->funcs->attach (loop);
      g_main_context_wakeup (loop->context);
    }
  prio_lock_unlock (&loop->mailbox.lock);
}

/* Carries out the operations of other threads.  Called on the owner thread, while the mailbox is not EMPTY.
 *
 * If the mailbox is ASLEEP, the context may be about to poll, for example if another source's prepare function has
 * entered the loop.  This function then wakes the context, because there may be work now. */
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

/* Calls @notify, unless it is NULL, without a current scheduling state.  The caller has entered no loop. */
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

/* Makes prio_loop_flush_releases () call @func with @data.  Does nothing if @func is NULL. */
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

/* Enters the loop if this is the owner thread.  After the end of the loop, any thread may enter: it then holds the
 * mailbox's lock, and @locked is TRUE.  Returns FALSE if another thread is the owner. */
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

/* Takes up to @max releases, oldest first.  Returns their number.  If fewer wait, first processes aborted tasks. */
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

/* Returns whether this thread owns the loop's context, or would run it because it is the thread's default context. */
static G_GNUC_NO_INLINE gboolean
is_own_context (PrioLoop *loop)
{
  GMainContext *own = g_main_context_get_thread_default ();

  return loop->context == (own != NULL ? own : g_main_context_default ()) || g_main_context_is_owner (loop->context);
}

/* Returns whether this thread may make the loop's deferred releases.  A recorded owner thread that does not run the
 * context leaves them to the thread that runs it next.  While the loop ends, only the thread that ends it may make
 * them; after that, any thread may. */
static inline gboolean
may_release (PrioLoop *loop, gboolean context_gone)
{
  if (context_gone)
    return loop->releases.destroyer == NULL || loop->releases.destroyer == &prio_thread;
  return prio_thread.dispatches == &loop->lock || is_own_context (loop);
}

/* Defers, at the end of the loop, the releases of some tasks that have not run.  Called when all earlier releases
 * have been made.  Returns whether such tasks may be left. */
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

/* This state is never current, because no g_main_depth () equals its depth. */
const PrioState prio_state_none = { .depth = -1 };

/* Makes the deferred releases, if this thread may do so, and is not in such a call already.  The caller has entered no
 * loop.  Releases that a destroy notify defers are made after it has returned, so that a chain of destroy notifies does
 * not deepen the stack. */
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
  /* A destroy notify does not inherit the state of the task during which it happens to run. */
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

/* Sends @op to the owner thread or, if the mailbox is closed because the loop has ended, carries out @op here.
 * Returns whether this thread has to flush releases. */
static G_GNUC_NO_INLINE gboolean
submit_from_elsewhere (PrioLoop *loop, const PrioOp *op)
{
  gboolean locked, releases;

  if (prio_mailbox_push (&loop->mailbox, op, loop->context))
    {
      come_back (loop);
      return FALSE;
    }
  /* The mailbox stays closed, so this enters the loop or locks the mailbox. */
  prio_loop_enter_or_lock (loop, &locked);

  op->apply (loop, op);
  releases = prio_loop_has_releases (loop);
  /* Tasks that @op queues in a loop that has ended never run, so they are released here. */
  while (prio_loop_is_dead (loop) && loop->funcs->release_some (loop))
    releases = TRUE;
  prio_loop_leave_or_unlock (loop, locked);
  return releases;
}

/* Carries out @op, or sends it to the owner thread.  Returns whether this thread has to flush releases.  @op may
 * contain the last reference to the loop, which the owner may then free, so the caller must hold another. */
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

/* Carries out @op and makes the releases that @op defers.  If another thread is the owner, that thread does both. */
void
prio_loop_submit (PrioLoop *loop, const PrioOp *op)
{
  prio_loop_ref (loop);
  if (submit (loop, op))
    prio_loop_flush_releases (loop);
  prio_loop_unref (loop);
}

/* Carries out @op, or sends it to the owner thread.  Leaves the releases to the next dispatch, because the caller may
 * hold a lock of the program.  After the end of the loop there is no next dispatch, so this call makes them. */
void
prio_loop_submit_post (PrioLoop *loop, const PrioOp *op)
{
  prio_loop_ref (loop);
  if (submit (loop, op) && prio_loop_has_gone (loop))
    prio_loop_flush_releases (loop);
  prio_loop_unref (loop);
}

/* Carries out @op, or sends it to the owner thread.  Runs no user code: the releases are left to the next dispatch. */
void
prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op)
{
  prio_loop_ref (loop);
  submit (loop, op);
  prio_loop_unref (loop);
}

typedef struct
{
  PrioOp op;
  GDestroyNotify notify;
} CallOp;

static void
op_call (PrioLoop *loop, const PrioOp *op)
{
  PrioMicrotask microtask = { .data = op->data, .notify = ((const CallOp *) op)->notify };

  if (prio_loop_is_dead (loop))
    prio_loop_defer_release (loop, microtask.notify, op->data);
  else
    prio_loop_queue_microtask (loop, &microtask);
}

/* Calls @notify with @data in a microtask, on the thread that runs the context.  If the loop has ended, calls @notify
 * at once or, if @quietly, in a later prio_loop_flush_releases (). */
void
prio_loop_call (PrioLoop *loop, GDestroyNotify notify, gpointer data, gboolean quietly)
{
  CallOp self = { { .apply = op_call, .data = data, .size = sizeof self }, notify };

  (quietly ? prio_loop_submit_quietly : prio_loop_submit) (loop, &self.op);
}

static void
op_observe (PrioLoop *loop, const PrioOp *op G_GNUC_UNUSED)
{
  if (prio_loop_is_dead (loop))
    return;
  /* Set atomically, because posts on other threads read this field. */
  __atomic_store_n (&loop->watched.funcs, __atomic_load_n (&observing, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
  if (loop->watched.funcs != NULL)
    loop->watched.funcs->begins (loop);
}

/* Submits @op to every loop (prio_loop_submit ()).  If @funcs is not NULL, loops that are created later report with
 * @funcs while there is an observer.  Any thread that has entered no loop may call this function. */
void
prio_loops_submit (const PrioOp *op, const PrioObservingFuncs *funcs)
{
  g_autoptr (GPtrArray) loops = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_loop_unref);
  GHashTableIter iter;
  PrioLoop *loop;

  prio_lock_lock (&table_lock);
  if (funcs != NULL)
    __atomic_store_n (&observing, funcs->is_wanted () ? funcs : NULL, __ATOMIC_RELEASE);
  if (table != NULL)
    {
      g_hash_table_iter_init (&iter, table);
      while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &loop))
        g_ptr_array_add (loops, prio_loop_ref (loop));
    }
  prio_lock_unlock (&table_lock);

  for (guint i = 0; i < loops->len; i++)
    prio_loop_submit (loops->pdata[i], op);
}

/* Makes every loop report with @funcs if there is an observer, and stop reporting otherwise.  Loops of other threads
 * follow later.  Checks for observers under the lock, so that the last of several concurrent calls sees all observers.
 * Any thread that has entered no loop may call this function. */
void
prio_loops_observe (const PrioObservingFuncs *funcs)
{
  prio_loops_submit (&(PrioOp) { .apply = op_observe }, funcs);
}

/* Returns whether the loop has ended, usually with its context.  Any thread that has entered no loop may call this. */
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

gpointer
prio_loop_ensure_slot (PrioLoop *loop, PrioSlotNumber number, const PrioSlotFuncs *funcs)
{
  return prio_slot_ensure (&loop->slots[number], funcs);
}

/* Returns whether a burst of tasks has left memory that prio_loop_trim () may return to the system. */
gboolean
prio_loop_is_large (PrioLoop *loop)
{
  return prio_slots_are_large (loop->slots, PRIO_N_SLOTS) || prio_slab_is_large (&loop->store.jobs) || prio_slab_is_large (&loop->store.entries) ||
         prio_slab_is_large (&loop->watched.records);
}

void
prio_loop_trim (PrioLoop *loop)
{
  prio_slots_trim (loop->slots, PRIO_N_SLOTS);
  prio_slab_trim (&loop->store.jobs);
  prio_slab_trim (&loop->store.entries);
  prio_slab_trim (&loop->watched.records);
}
