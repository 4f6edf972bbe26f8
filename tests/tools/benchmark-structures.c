/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchmark-structures.c: compares the library's data structures with GLib's
 *
 *   structures [--json] [--rounds N] [NAME…]
 *
 * CONTRIBUTING says why the library does not use GLib's.
 */

#include "config.h"

#include "benchmark.h"

#include "base/prio-owner-lock-private.h"
#include "base/prio-heap-private.h"
#include "loop/prio-mailbox-private.h"
#include "queue/prio-microtasks-private.h"
#include "base/prio-slab-private.h"
#include "policy/prio-stopwatch-private.h"

#define N BENCH_N

/* An entry, ordered by its age or by its due time. */
typedef struct
{
  PrioHeapNode place;
  guint64 key;
} Item;

static Item items[N];

static void
make_keys (gboolean in_order)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < N; i++)
    items[i].key = in_order ? i : g_rand_int (rand);
}

/* Measures a priority queue: entries are inserted, half are removed from anywhere, the rest in order. */

static double
heap (gboolean in_order)
{
  PrioHeap heap = { 0 };
  double start;

  make_keys (in_order);
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    prio_heap_insert (&heap, &items[i].place, items[i].key, i);
  for (guint i = 0; i < N; i += 2)
    prio_heap_remove (&heap, &items[i].place);
  while (heap.n_items > 0)
    prio_heap_remove (&heap, prio_heap_first (&heap)->node);
  start = bench_now () - start;

  prio_heap_clear (&heap);
  return start / N;
}

static double
heap_in_order (void)
{
  return heap (TRUE);
}

static double
heap_at_random (void)
{
  return heap (FALSE);
}

static gint
compare_items (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const Item *x = a, *y = b;

  return (x->key > y->key) - (x->key < y->key);
}

static double
sequence (gboolean in_order)
{
  g_autofree GSequenceIter **places = g_new (GSequenceIter *, N);
  GSequence *sequence = g_sequence_new (NULL);
  double start;

  make_keys (in_order);
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    places[i] = g_sequence_insert_sorted (sequence, &items[i], compare_items, NULL);
  for (guint i = 0; i < N; i += 2)
    g_sequence_remove (places[i]);
  while (!g_sequence_is_empty (sequence))
    g_sequence_remove (g_sequence_get_begin_iter (sequence));
  start = bench_now () - start;

  g_sequence_free (sequence);
  return start / N;
}

static double
sequence_in_order (void)
{
  return sequence (TRUE);
}

static double
sequence_at_random (void)
{
  return sequence (FALSE);
}

/* Records of one size, made and freed in the same order. */

typedef struct
{
  gpointer fields[5];
} Record;

static Record *records[N];

static double
slab (void)
{
  static PrioSlab slab;
  double start;

  if (slab.record_size == 0)
    prio_slab_init (&slab, sizeof (Record));

  start = bench_now ();
  for (guint i = 0; i < N; i++)
    records[i] = prio_slab_alloc (&slab);
  for (guint i = 0; i < N; i++)
    prio_slab_free (&slab, records[i]);
  return (bench_now () - start) / N;
}

static double
slice (void)
{
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    records[i] = g_slice_new (Record);
  for (guint i = 0; i < N; i++)
    g_slice_free (Record, records[i]);
  return (bench_now () - start) / N;
}

/* Messages from other threads: pushed, and taken by their receiver. */

static guint n_carried_out;

static void
carry_out (PrioLoop *loop, const PrioOp *op)
{
  n_carried_out++;
}

static double
mailbox (void)
{
  static PrioMailbox mailbox;
  static gboolean made;
  PrioOp op = { .apply = carry_out };
  double start;

  if (!made)
    prio_mailbox_init (&mailbox);
  made = TRUE;

  start = bench_now ();
  for (guint i = 0; i < N; i++)
    prio_mailbox_push (&mailbox, &op, NULL);
  n_carried_out = 0;
  prio_mailbox_carry_out (&mailbox, NULL);
  start = bench_now () - start;

  g_assert (n_carried_out == N);
  return start / N;
}

static double
async_queue (void)
{
  g_autoptr (GAsyncQueue) queue = g_async_queue_new ();
  PrioOp op = { NULL }, *taken;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    g_async_queue_push (queue, g_memdup2 (&op, sizeof op));
  while ((taken = g_async_queue_try_pop (queue)) != NULL)
    g_free (taken);
  return (bench_now () - start) / N;
}

/* Measures the lock, on the thread that nearly always owns it. */

static double
owner_lock (void)
{
  PrioOwnerLock lock;
  double start;

  prio_owner_lock_init (&lock);
  prio_owner_lock_acquire (&lock);
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    {
      if (prio_owner_lock_enter (&lock))
        prio_owner_lock_leave (&lock);
    }
  start = bench_now () - start;

  prio_owner_lock_clear (&lock);
  return start / N;
}

static double
mutex (void)
{
  GMutex mutex;
  double start;

  g_mutex_init (&mutex);
  start = bench_now ();
  for (guint i = 0; i < N; i++)
    {
      g_mutex_lock (&mutex);
      g_mutex_unlock (&mutex);
    }
  start = bench_now () - start;

  g_mutex_clear (&mutex);
  return start / N;
}

/* Measures microtasks: pushed, and run in the same order. */

static double
ring (void)
{
  static PrioMicrotasks microtasks;
  PrioMicrotask microtask = { NULL };
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    prio_microtasks_push (&microtasks, &microtask);
  while (prio_microtasks_pop (&microtasks, &microtask))
    continue;
  return (bench_now () - start) / N;
}

static double
queue (void)
{
  GQueue queue = G_QUEUE_INIT;
  PrioMicrotask microtask = { NULL }, *taken;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    g_queue_push_tail (&queue, g_memdup2 (&microtask, sizeof microtask));
  while ((taken = g_queue_pop_head (&queue)) != NULL)
    g_free (taken);
  return (bench_now () - start) / N;
}

/* Measures the time, read after each task. */

static double
stopwatch (void)
{
  PrioStopwatch watch;
  gint64 read = 0;
  double start = bench_now ();

  prio_stopwatch_start (&watch, g_get_monotonic_time ());
  for (guint i = 0; i < N; i++)
    read |= prio_stopwatch_lap (&watch, 1);
  start = bench_now () - start;

  g_assert (read != 0);
  return start / N;
}

static double
clock_each_time (void)
{
  gint64 read = 0;
  double start = bench_now ();

  for (guint i = 0; i < N; i++)
    read |= g_get_monotonic_time ();
  start = bench_now () - start;

  g_assert (read != 0);
  return start / N;
}

const BenchRow bench_rows[] = {
  { "priority queue, keys in order / GSequence", heap_in_order, sequence_in_order, "ns", "" },
  { "priority queue, keys at random / GSequence", heap_at_random, sequence_at_random, "ns", "" },
  { "slab / g_slice", slab, slice, "ns", "" },
  { "mailbox / GAsyncQueue", mailbox, async_queue, "ns", "" },
  { "owner lock / GMutex", owner_lock, mutex, "ns", "" },
  { "ring of microtasks / GQueue", ring, queue, "ns", "" },
  { "stopwatch / g_get_monotonic_time", stopwatch, clock_each_time, "ns", "" },
};

const guint bench_n_rows = G_N_ELEMENTS (bench_rows);
