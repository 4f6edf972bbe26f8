/* prio-scheduler-shares.c: shares of time that the program says
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-shares-private.h"

#define MAX_FRAME_SHARE 0.9
#define MAX_LEAST_SHARE 0.5

static GParamSpec *
new_share (const char *name, double max)
{
  return g_param_spec_double (name, NULL, NULL, 0, max, 0,
                              G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

/* Their properties, by their numbers. */
void
prio_scheduler_make_shares (GParamSpec **shares)
{
  /**
   * PrioScheduler:frame-share: (getter get_frame_share) (setter set_frame_share)
   *
   * Which part of the time tasks have beside a window that is slow to draw, from 0 to 0.9; 0 leaves
   * it to the library.
   *
   * It is notified on the thread that sets it.
   *
   * Since: 1.0
   */
  shares[PRIO_FRAME_SHARE] = new_share ("frame-share", MAX_FRAME_SHARE);

  /**
   * PrioScheduler:least-share-background:
   *
   * Which part of the time `background` tasks have at least beside more urgent work, from 0 to 0.5;
   * 0 is none.  See [method@PrioSched.Scheduler.set_least_share].
   *
   * It is notified on the thread that sets it.
   *
   * Since: 1.0
   */
  shares[PRIO_LEAST_SHARE_BACKGROUND] = new_share ("least-share-background", MAX_LEAST_SHARE);

  /**
   * PrioScheduler:least-share-user-visible:
   *
   * Which part of the time `user-visible` tasks have at least beside more urgent work, from 0 to 0.5;
   * 0 is none.  See [method@PrioSched.Scheduler.set_least_share].
   *
   * It is notified on the thread that sets it.
   *
   * Since: 1.0
   */
  shares[PRIO_LEAST_SHARE_USER_VISIBLE] = new_share ("least-share-user-visible", MAX_LEAST_SHARE);
}

static guint *
place_of (PrioScheduler *self, PrioShare share)
{
  return share == PRIO_FRAME_SHARE ? &self->run_queue->frame_share : &self->run_queue->least_shares[share - PRIO_LEAST_SHARE_BACKGROUND];
}

double
prio_scheduler_get_share (PrioScheduler *self, PrioShare share)
{
  return (double) __atomic_load_n (place_of (self, share), __ATOMIC_RELAXED) / PRIO_WHOLE_SHARE;
}

static void
op_shares_changed (PrioLoop *loop, const PrioOp *op G_GNUC_UNUSED)
{
  prio_shares_update (loop);
}

/* Like the functions of prio-options-private.h. */
G_GNUC_UNUSED static gboolean
prio_check_share (const char *function, double share, double max)
{
  /* What is not a number fails, too. */
  if (share >= 0 && share <= max)
    return TRUE;

  g_critical ("%s: the share is %g, and has to be from 0 to %g", function, share, max);
  return FALSE;
}

/* In millionths.  What is not nothing stays so. */
static guint
to_share (double share)
{
  return share > 0 ? MAX ((guint) (share * PRIO_WHOLE_SHARE + 0.5), 1) : 0;
}

void
prio_scheduler_set_share (PrioScheduler *self, PrioShare share, double value)
{
  PrioOp op = { .apply = op_shares_changed };
  guint parts = to_share (value);

  if (__atomic_exchange_n (place_of (self, share), parts, __ATOMIC_RELAXED) == parts)
    return;

  g_object_ref (self);
  prio_loop_submit (self->run_queue->loop, &op);
  prio_scheduler_notify_share (self, share);
  g_object_unref (self);
}

static PrioShare
least_share_of (PrioTaskPriority priority)
{
  return PRIO_LEAST_SHARE_BACKGROUND + priority - PRIO_TASK_PRIORITY_BACKGROUND;
}

/**
 * prio_scheduler_set_frame_share: (set-property frame-share)
 * @self: a scheduler
 * @share: which part of the time tasks have beside frames, from 0 to 0.9; 0 leaves it to the library
 *
 * Sets how much of the time tasks have beside a window that is slow to draw.
 *
 * Where drawing leaves little time, or none, it is a matter of the program what is more important.  Without a share
 * tasks have what drawing leaves them: beside frames of 20 ms each that follow one another, a tenth of the time, or a
 * time slice that has been set ([property@PrioSched.Scheduler:time-slice]) between two frames.  With a share @share,
 * a frame that took D ms to draw makes D × @share ∕ (1 − @share) ms due to the tasks before the next frame begins:
 *
 * | beside frames of 20 ms each | tasks have | frames per second, of 50 |
 * | --- | --- | --- |
 * | 0, no share | 2.2 ms between two frames | 45 |
 * | 0.1 | 2.2 ms | 45 |
 * | 0.25 | 6.7 ms | 37 |
 * | 0.5 | 20 ms | 25 |
 *
 * Frames that are drawn quickly are none the fewer, since what tasks run in the time that drawing leaves is taken from
 * what is due to them: at 60 Hz and 0.5, frames are delayed if they take longer than 8 ms.  A share is reached by slices,
 * between which input is handled.
 *
 * It counts for `user-visible` and `user-blocking` tasks and continuations, not for those of `background`, which
 * run when a frame is not being drawn, or by a share of their own.  If several schedulers of a main
 * context say a share, the largest counts.
 *
 * ```c
 * // A search is worth half of the frames while its results are drawn.
 * prio_scheduler_set_frame_share (scheduler, 0.5);
 * ```
 *
 * A value that is out of range is refused with a critical.  It takes effect at the next frame.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_frame_share (PrioScheduler *self, double share)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_share (G_STRFUNC, share, MAX_FRAME_SHARE));

  prio_scheduler_set_share (self, PRIO_FRAME_SHARE, share);
}

/**
 * prio_scheduler_get_frame_share: (get-property frame-share)
 * @self: a scheduler
 *
 * Gets which part of the time tasks have beside a window that is slow to draw, as far as
 * [method@PrioSched.Scheduler.set_frame_share] has said so.  Any thread may call it.
 *
 * ```c
 * gtk_range_set_value (GTK_RANGE (frame_share_scale), prio_scheduler_get_frame_share (scheduler));
 * ```
 *
 * Returns: the share, to a millionth; 0 if none has been set
 *
 * Since: 1.0
 */
double
prio_scheduler_get_frame_share (PrioScheduler *self)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);

  return prio_scheduler_get_share (self, PRIO_FRAME_SHARE);
}

/* Like the functions of prio-options-private.h. */
G_GNUC_UNUSED static gboolean
prio_check_shared (const char *function, gint priority)
{
  if (priority == PRIO_TASK_PRIORITY_BACKGROUND || priority == PRIO_TASK_PRIORITY_USER_VISIBLE)
    return TRUE;

  g_critical ("%s: the priority is %d: only PRIO_TASK_PRIORITY_BACKGROUND, %d, and PRIO_TASK_PRIORITY_USER_VISIBLE, %d, have "
              "more urgent ones beside which they can have a least share",
              function, priority, PRIO_TASK_PRIORITY_BACKGROUND, PRIO_TASK_PRIORITY_USER_VISIBLE);
  return FALSE;
}

/**
 * prio_scheduler_set_least_share:
 * @self: a scheduler
 * @priority: %PRIO_TASK_PRIORITY_BACKGROUND or %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @share: which part of the time its tasks have at least, from 0 to 0.5; 0 is none
 *
 * Lets tasks of a priority get on beside more urgent work that never ends.
 *
 * Without it order is strict, as in the draft: a task waits for all that are more urgent, and `background` tasks for
 * everything else in the main context too, but for one batch in half a second.  With it:
 *
 * - Of the time that tasks of @priority and more urgent ones run, those of @priority have at least @share while they wait.
 *   Each microsecond of more urgent tasks makes @share ∕ (1 − @share) due to them; as long as some is due, they go
 *   first, continuations before tasks and each by age.  If both priorities have one, `background` has its share of all, and
 *   `user-visible` that of the rest.
 * - Beside other sources of the main context, such as an idle source that is always ready, `background` tasks have about
 *   @share of the time, where no other tasks take it.  Input and a frame that is due go first; drawing without an
 *   end has them between two frames.  `user-visible` tasks have up to half of the time there anyway.
 *
 * | beside | `background` has, with no share | with 0.2 |
 * | --- | --- | --- |
 * | `user-blocking` tasks without end | nothing | 20 % |
 * | an idle source that is always ready | a batch in half a second | 20 % |
 * | a source of %G_PRIORITY_DEFAULT that is always ready | a batch in half a second | 20 % |
 *
 * Nothing becomes due while no task of the priority waits, nor more than 50 ms, and what such tasks run while
 * nothing more urgent waits is not taken from it.  Time is measured every 20 µs or after each task, whatever is longer,
 * and within about 4 ms when tasks suddenly take longer: a task that takes longer than what is due to it has the next one
 * wait as much longer, for a second of more urgent work at the most.  A more urgent task waits for one of them, as it does for any task that runs, and
 * [method@PrioSched.Scheduler.should_yield] tells them that it waits when nothing is due to them any more.
 *
 * It counts for all tasks of the main context; if several of its schedulers say a share, the largest counts.
 *
 * ```c
 * // The index grows, even if something else is always busy.
 * prio_scheduler_set_least_share (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, 0.1);
 * ```
 *
 * A value that is out of range, or another priority, is refused with a critical.  It takes effect with the next task.
 * Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_least_share (PrioScheduler *self, PrioTaskPriority priority, double share)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_shared (G_STRFUNC, priority));
  prio_return_if_wrong (prio_check_share (G_STRFUNC, share, MAX_LEAST_SHARE));

  prio_scheduler_set_share (self, least_share_of (priority), share);
}

/**
 * prio_scheduler_get_least_share:
 * @self: a scheduler
 * @priority: %PRIO_TASK_PRIORITY_BACKGROUND or %PRIO_TASK_PRIORITY_USER_VISIBLE
 *
 * Gets which part of the time tasks of a priority have at least beside more urgent work, as far as
 * [method@PrioSched.Scheduler.set_least_share] has said so.  Any thread may call it.
 *
 * ```c
 * gtk_range_set_value (GTK_RANGE (index_scale), prio_scheduler_get_least_share (scheduler, PRIO_TASK_PRIORITY_BACKGROUND));
 * ```
 *
 * Returns: the share, to a millionth; 0 if none has been set
 *
 * Since: 1.0
 */
double
prio_scheduler_get_least_share (PrioScheduler *self, PrioTaskPriority priority)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);
  prio_return_val_if_wrong (prio_check_shared (G_STRFUNC, priority), 0);

  return prio_scheduler_get_share (self, least_share_of (priority));
}
