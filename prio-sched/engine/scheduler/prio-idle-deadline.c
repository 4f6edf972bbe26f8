/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-idle-deadline.c: the deadline of an idle callback */

#include "config.h"

#include "prio-idle-deadline.h"

#include "base/prio-thread-private.h"
#include "loop/prio-yield-private.h"

/**
 * PrioIdleDeadline:
 *
 * The time that an idle callback may take: the web's `IdleDeadline`.
 *
 * An idle callback works as long as there is time, and requests another one if there is work left:
 *
 * ```c
 * static void
 * tidy (PrioIdleDeadline *deadline, gpointer cache)
 * {
 *   while (cache_has_stale_rows (cache) && prio_idle_deadline_get_time_remaining (deadline) > 1)
 *     cache_drop_stale_row (cache);
 *
 *   if (cache_has_stale_rows (cache))
 *     prio_scheduler_request_idle_callback (prio_scheduler_get_default (), 0, tidy, cache, NULL);
 * }
 * ```
 *
 * The callback of [method@PrioSched.Scheduler.request_idle_callback] gets a deadline, which is valid only while the
 * callback runs, on its thread.  A copy may be used on any thread.
 *
 * Since: 1.0
 */

G_DEFINE_BOXED_TYPE (PrioIdleDeadline, prio_idle_deadline, prio_idle_deadline_copy, prio_idle_deadline_free)

/**
 * prio_idle_deadline_copy:
 * @deadline: a deadline
 *
 * Copies a deadline, because an idle callback's argument is valid only while the callback runs.  Call this function on
 * the thread of the callback; any thread may copy a copy.
 *
 * ```c
 * static gboolean
 * drop_row (gpointer deadline)
 * {
 *   return prio_idle_deadline_get_time_remaining (deadline) > 1 && cache_drop_stale_row ();
 * }
 *
 * static void
 * tidy (PrioIdleDeadline *deadline, gpointer scheduler)
 * {
 *   prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, drop_row,
 *                        prio_idle_deadline_copy (deadline), (GDestroyNotify) prio_idle_deadline_free);
 * }
 * ```
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
 * Frees a copy.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_idle_deadline_free (PrioIdleDeadline *deadline)
{
  g_free (deadline);
}

/**
 * prio_idle_deadline_get_time_remaining:
 * @deadline: a deadline
 *
 * Returns how long the idle period still lasts.
 *
 * While the callback runs, a frame or a delayed task that is due earlier shortens the period.  The period ends as soon
 * as a task is ready, and within a millisecond if there is input, or if a source, such as a timer, has been added to
 * the main context.  After a timer has been added, the next period ends when the timer is due.  The period has also
 * ended whenever [method@PrioSched.Scheduler.should_yield] returns %TRUE, so a callback need not call both.
 *
 * The callback may call this function, and so may any thread that has a copy of the deadline.  On other threads, and
 * after the callback has returned, the function only compares the deadline with the time.
 *
 * Returns: milliseconds; 0 if the period is over, or if the callback's timeout has expired
 *
 * Since: 1.0
 */
double
prio_idle_deadline_get_time_remaining (const PrioIdleDeadline *deadline)
{
  const PrioIdleDeadline *current = prio_thread.deadline;
  gint64 now, end;

  g_return_val_if_fail (deadline != NULL, 0);

  now = prio_clock_now ();
  end = deadline->time;
  if (end > now && current != NULL && current->loop == deadline->loop && current->time == end)
    end = prio_loop_end_of_idle (current, now);
  return end > now ? (end - now) / 1000.0 : 0;
}

/**
 * prio_idle_deadline_did_timeout:
 * @deadline: a deadline
 *
 * Returns whether the callback was called because its timeout expired, and not because there was idle time.  The
 * callback may call this function, and so may any thread that has a copy of the deadline.
 *
 * ```c
 * static void
 * save_draft (PrioIdleDeadline *deadline, gpointer draft)
 * {
 *   while (draft_has_changes (draft) &&
 *          (prio_idle_deadline_did_timeout (deadline) || prio_idle_deadline_get_time_remaining (deadline) > 1))
 *     draft_save_next_change (draft);
 * }
 * ```
 *
 * Returns: whether the timeout expired
 *
 * Since: 1.0
 */
gboolean
prio_idle_deadline_did_timeout (const PrioIdleDeadline *deadline)
{
  g_return_val_if_fail (deadline != NULL, FALSE);

  return deadline->did_timeout;
}
