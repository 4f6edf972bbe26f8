/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The observer checks that each reported task starts only once it is queued, ends only if it has started, and ends
 * once. */

#include "loop/prio-observer-private.h"

typedef enum
{
  ABSENT,
  DELAYED,
  QUEUED,
  RUNS,
  YIELDED
} State;

static GMutex mutex;
static GHashTable *states; /* id → State */

/* Moves the task to @to, which it may reach from the states in @from. */
static void
move (const PrioObserved *task, guint from, State to)
{
  gpointer id = GSIZE_TO_POINTER (task->id);
  State state;

  g_mutex_lock (&mutex);
  state = GPOINTER_TO_UINT (g_hash_table_lookup (states, id));
  g_assert_cmpuint (from >> state & 1, ==, 1);
  if (to == ABSENT)
    g_hash_table_remove (states, id);
  else
    g_hash_table_insert (states, id, GUINT_TO_POINTER (to));
  g_mutex_unlock (&mutex);
}

static void
delayed (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  g_assert_cmpint (task->due, >, 0);
  move (task, 1 << ABSENT, DELAYED);
}

static void
queued (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  g_assert_cmpint (task->queued, <=, now);
  move (task, 1 << ABSENT | 1 << DELAYED | 1 << YIELDED, QUEUED);
}

static void
begins (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  g_assert_cmpint (task->begun, ==, now);
  move (task, 1 << QUEUED, RUNS);
}

static void
yielded (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  move (task, 1 << RUNS, YIELDED);
}

static void
ended (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  move (task, 1 << RUNS, ABSENT);
}

static void
aborted (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gboolean runs, gint64 now)
{
  if (runs)
    move (task, 1 << RUNS, RUNS);
  else
    move (task, 1 << DELAYED | 1 << QUEUED, ABSENT);
}

static PrioObserver observer = {
  .delayed = delayed,
  .queued = queued,
  .begins = begins,
  .yielded = yielded,
  .ended = ended,
  .aborted = aborted,
};

static void __attribute__ ((constructor))
observe (void)
{
  states = g_hash_table_new (NULL, NULL);
  prio_observer_add (&observer);
}
