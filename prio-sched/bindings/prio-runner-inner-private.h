/* prio-runner-inner-private.h: tasks of another kind that the function of a runner runs
 *
 * Promises: a PrioTask whose function calls that of a runner is an *inner task* there.  As for a number, prio_runner_end () ends it with its
 * checkpoint and tells whether it has been aborted, and prio_runner_next () then has no other.
 *
 * Everything here belongs to the thread in whose dispatch the task runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-runner.h"
#include "prio-task.h"

void prio_inner_run (PrioTask *task, PrioRunnerFunc func, guint id, gpointer data);
