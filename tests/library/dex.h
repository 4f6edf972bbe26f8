/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dex.h: helpers for tests of the library for libdex */

#pragma once

#include <prio-sched-dex.h>

#include "helpers.h"

/* The scheduler of libdex's main context. */
static PrioScheduler *scheduler;

static inline DexFuture *
wake_up (DexFuture *future G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  return NULL;
}

/* Waits for @future.  A result of another thread wakes the main context up only if a callback is attached there. */
static inline void
wait_for (DexFuture *future)
{
  g_autoptr (DexFuture) listener = dex_future_finally (dex_ref (future), wake_up, NULL, NULL);

  while (dex_future_is_pending (listener))
    g_main_context_iteration (NULL, TRUE);
}

/* Runs until nothing is ready. */
static inline void
settle_down (void)
{
  for (guint idle = 0; idle < 3;)
    idle = g_main_context_iteration (NULL, FALSE) ? 0 : idle + 1;
}

/* Returns a future that waits for @future. */
static inline DexFuture *
waiter (DexFuture *future)
{
  return dex_future_first (future, NULL);
}

/* Waits for @future, and drops it. */
static inline void
discard (DexFuture *future)
{
  dex_unref (waiter (future));
}

static inline void
assert_rejected (DexFuture *future, GQuark domain, gint code, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dex_future_get_value (future, &error));
  g_assert_error (error, domain, code);
  g_assert_true (g_pattern_match_simple (message, error->message));
}
