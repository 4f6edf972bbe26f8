/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-task-share.c: the least share of time for tasks */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#define MAX_TASK_SHARE 0.9

GParamSpec *
prio_scheduler_make_task_share (void)
{
  /**
   * PrioScheduler:task-share: (getter get_task_share) (setter set_task_share)
   *
   * The least share of time that slow frames, and idle sources of other code, leave to tasks; 0 lets the library decide.
   *
   * Changes are notified on the thread that makes them.
   *
   * Since: 1.0
   */
  return g_param_spec_double ("task-share", NULL, NULL, 0, MAX_TASK_SHARE, 0,
                              G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

G_GNUC_UNUSED static gboolean
prio_check_share (const char *function, double share)
{
  if (share >= 0 && share <= MAX_TASK_SHARE)
    return TRUE;

  g_critical ("%s: the share is %g, and has to be from 0 to %g", function, share, MAX_TASK_SHARE);
  return FALSE;
}

/**
 * prio_scheduler_set_task_share: (set-property task-share)
 * @self: a scheduler
 * @share: the least share of time for tasks, from 0 to 0.9; 0 lets the library decide
 *
 * Sets the least share of time that tasks get beside slow frames, and beside idle sources of other code.
 *
 * Frames: without a share, tasks have a tenth of the time beside slow frames, but at most a time slice
 * between two frames ([property@PrioSched.Scheduler:time-slice], 5 ms): a twentieth if each frame takes 100 ms.  With
 * @share, tasks have D × @share ∕ (1 − @share) ms after a frame that took D ms to draw, before the next frame begins:
 *
 * | share, if each frame takes 20 ms | time for tasks | frames per second (50 without tasks) |
 * | --- | --- | --- |
 * | 0 (no share) | 2.2 ms between two frames | 45 |
 * | 0.1 | 2.2 ms | 45 |
 * | 0.25 | 6.7 ms | 37 |
 * | 0.5 | 20 ms | 25 |
 *
 * Quickly drawn frames are not delayed, because tasks first use the time that drawing leaves: at 60 Hz and 0.5, frames
 * are delayed if they take longer than 8 ms.  Tasks run in slices, between which input is handled: the time that input
 * takes is missing from the tasks' share.
 *
 * A frame that is drawn in response to a key press does not wait for tasks: GTK 4 draws it right after the key.  Tasks
 * get their time before a later frame, and less than @share if most frames follow a key: with 0.5 and a key every
 * 350 ms, about 40 % if each frame takes 100 ms, 30 % with 200 ms, and 10 % with 400 ms.
 *
 * Idle sources of other code, such as layouts at %G_PRIORITY_DEFAULT_IDLE: without a share, tasks have as much time as
 * such a source took, up to 50 ms, before the next one begins.  With a share, tasks have at least half of the time, and
 * @share if that is more: with 0.8, tasks have 120 ms after a layout that took 30 ms.  Input and frames do not wait for
 * that.  The time of frames is counted separately; if tasks and frames take all of the time, such a source can run after
 * each 250 ms of tasks.
 *
 * The share is for `user-visible` and `user-blocking` tasks and continuations; `background` tasks run when no frame is
 * drawn.  If several schedulers of a main context set a share, the largest counts.
 *
 * ```c
 * // While results are drawn, the search gets half of the time.
 * prio_scheduler_set_task_share (scheduler, 0.5);
 * ```
 *
 * A value that is out of range is refused with a critical message.  A change takes effect at the next frame.  Any
 * thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_task_share (PrioScheduler *self, double share)
{
  guint parts;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_share (G_STRFUNC, share));

  /* In millionths.  A small share must not become 0, which means that no share is set. */
  parts = share > 0 ? MAX ((guint) (share * PRIO_WHOLE_SHARE + 0.5), 1) : 0;
  if (__atomic_exchange_n (&self->run_queue->task_share, parts, __ATOMIC_RELAXED) != parts)
    prio_scheduler_submit_change (self, prio_run_queues_update_task_share, "task-share");
}

/**
 * prio_scheduler_get_task_share: (get-property task-share)
 * @self: a scheduler
 *
 * Gets the share of time that [method@PrioSched.Scheduler.set_task_share] has set.  Any thread may call this function.
 *
 * ```c
 * gtk_range_set_value (GTK_RANGE (task_share_scale), prio_scheduler_get_task_share (scheduler));
 * ```
 *
 * Returns: the share, to a millionth; 0 if none has been set
 *
 * Since: 1.0
 */
double
prio_scheduler_get_task_share (PrioScheduler *self)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);

  return (double) __atomic_load_n (&self->run_queue->task_share, __ATOMIC_RELAXED) / PRIO_WHOLE_SHARE;
}
