/* prio-idle-deadline.c: how much idle time is left
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-idle-deadline.h"

#include "loop/prio-idle-private.h"
#include "base/prio-thread-private.h"

/**
 * PrioIdleDeadline:
 *
 * Tells an idle callback how much time it has: the web's `IdleDeadline`.
 *
 * An idle callback works as long as there is time, and asks for another idle period if
 * there is work left:
 *
 * ```c
 * static void
 * tidy (PrioIdleDeadline *deadline, gpointer cache)
 * {
 *   while (cache_has_stale_rows (cache) && prio_idle_deadline_time_remaining (deadline) > 1)
 *     cache_drop_stale_row (cache);
 *
 *   if (cache_has_stale_rows (cache))
 *     prio_scheduler_request_idle_callback (prio_scheduler_get_default (), tidy, 0, cache, NULL);
 * }
 * ```
 *
 * A deadline is what [method@PrioSched.Scheduler.request_idle_callback] gives its callback, and
 * belongs to that, on its thread; a copy may be asked on any thread.
 *
 * Since: 1.0
 */

G_DEFINE_BOXED_TYPE (PrioIdleDeadline, prio_idle_deadline, prio_idle_deadline_copy, prio_idle_deadline_free)

/**
 * prio_idle_deadline_get_current:
 *
 * Gets the deadline of the idle callback that runs on the calling thread, which a
 * runner's function is not given
 * ([method@PrioSched.Runner.request_idle_callback]).  Any thread may call it.
 *
 * Returns: (transfer full) (nullable): the deadline, or %NULL if none runs
 *
 * Since: 1.0
 */
PrioIdleDeadline *
prio_idle_deadline_get_current (void)
{
  return g_memdup2 (prio_thread.deadline, sizeof (PrioIdleDeadline));
}

/**
 * prio_idle_deadline_copy:
 * @deadline: a deadline
 *
 * Copies a deadline, which is an idle callback's only while it runs.
 *
 * It is called on the thread of the callback; a copy may be copied on any thread.
 *
 * Returns: (transfer full): a copy
 *
 * Since: 1.0
 */
PrioIdleDeadline *
prio_idle_deadline_copy (const PrioIdleDeadline *deadline)
{
  g_return_val_if_fail (deadline != NULL, NULL);

  return g_memdup2 (deadline, sizeof *deadline);
}

/**
 * prio_idle_deadline_free: (skip)
 * @deadline: (transfer full): a copy of a deadline
 *
 * Frees a copy.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_idle_deadline_free (PrioIdleDeadline *deadline)
{
  g_free (deadline);
}

/**
 * prio_idle_deadline_time_remaining:
 * @deadline: a deadline
 *
 * Tells how long the idle period lasts still.  Any thread that has the deadline, or a copy, may
 * call it.
 *
 * Returns: milliseconds; 0 if it is over, or the callback's timeout was
 *
 * Since: 1.0
 */
double
prio_idle_deadline_time_remaining (const PrioIdleDeadline *deadline)
{
  gint64 now;

  g_return_val_if_fail (deadline != NULL, 0);

  now = g_get_monotonic_time ();
  return deadline->time > now ? (deadline->time - now) / 1000.0 : 0;
}

/**
 * prio_idle_deadline_did_timeout:
 * @deadline: a deadline
 *
 * Tells whether the callback is called because its timeout was over, and not
 * because there is idle time.  Any thread that has the deadline, or a copy, may call it.
 *
 * Returns: whether it was
 *
 * Since: 1.0
 */
gboolean
prio_idle_deadline_did_timeout (const PrioIdleDeadline *deadline)
{
  g_return_val_if_fail (deadline != NULL, FALSE);

  return deadline->did_timeout;
}
