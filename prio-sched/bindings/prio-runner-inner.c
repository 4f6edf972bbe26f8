/* prio-runner-inner.c: the end of the tasks that the function of a runner runs, and tasks of another kind among them
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-inner-private.h"

#include "loop/prio-dispatch-private.h"
#include "task/prio-task-private.h"

typedef struct _PrioInner PrioInner;

struct _PrioInner
{
  PrioInner *outer;  /* on this thread's stack */
  PrioBatch *batch;  /* in which it runs */
  PrioEntry *entry;
  gboolean running;
};

static PRIO_TLS PrioInner *innermost;

/* In the function of @task: calls @func, that of a runner, with @id. */
void
prio_inner_run (PrioTask *task, PrioRunnerFunc func, guint id, gpointer data)
{
  PrioInner inner = { .outer = innermost, .batch = prio_thread.batch, .entry = prio_task_get_entry (task), .running = TRUE };

  innermost = &inner;
  func (id, data);
  innermost = inner.outer;
}

/* What prio_runner_end () does where the batch runs no number.
 *
 * Returns: whether the inner task has been aborted; FALSE if it had ended before */
static gboolean
end_inner (void)
{
  PrioInner *inner = innermost;
  gboolean aborted;
  PrioLoop *loop;

  g_return_val_if_fail (inner != NULL && inner->batch == prio_thread.batch, FALSE);

  prio_thread.runs_jobs = FALSE;
  if (!inner->running)
    return FALSE;

  /* The batch puts back the state from before the task when its function has returned; that is none of this depth. */
  inner->running = FALSE;
  prio_thread.state = NULL;
  loop = inner->entry->run_queue->loop;
  if (prio_loop_has_operations (loop))
    prio_loop_catch_up (loop);
  if (prio_loop_has_microtasks (loop))
    prio_loop_checkpoint (loop);

  /* From here on an abort does not end it. */
  aborted = prio_entry_is_aborted (inner->entry);
  if (!aborted)
    prio_run_queue_release_entry (inner->entry);
  return aborted;
}

/**
 * prio_runner_end:
 *
 * Ends the function of the running task, and performs its checkpoint: the microtasks that it
 * queued are called.  After that its signal can no longer abort it (§2.4.2 of the draft), and
 * no task is running.
 *
 * Call it in the function of a runner, on its thread, if the binding needs to know of an
 * abort before it settles the result; otherwise [func@PrioSched.Runner.next] does the same.
 *
 * Returns: whether the task was aborted while it ran
 *
 * Since: 1.0
 */
gboolean
prio_runner_end (void)
{
  PrioBatch *batch = prio_thread.batch;

  if (G_UNLIKELY (batch == NULL || batch->numbers == NULL))
    return end_inner ();

  return prio_batch_end_number (batch);
}

/**
 * prio_runner_next:
 *
 * Ends the running task, and begins the next one of all schedulers if that is a task of the
 * same runner.
 *
 * Call it in the function of a runner, on its thread.  The function returns once this
 * returns 0.
 *
 * Returns: the number of the task that is running now, or 0 if there is none
 *
 * Since: 1.0
 */
guint
prio_runner_next (void)
{
  PrioBatch *batch = prio_thread.batch;

  if (G_UNLIKELY (batch == NULL || batch->numbers == NULL))
    {
      end_inner ();
      return 0;
    }

  prio_batch_end_number (batch);
  return prio_batch_next_number (batch);
}
