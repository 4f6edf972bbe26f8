/* prio-runner-private.h: the inside of PrioRunner
 *
 * Promises: a runner's tasks are those of the PrioIdQueue that it embeds, which says how they
 * run.  What is refused is collected, and told at the next checkpoint.
 *
 * It is closed, and its function released, when its scheduler has gone and its last
 * task id has ended, or with the context.  The record stays until nobody refers to it.
 *
 * Everything but the references belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-id-queue-private.h"
#include "prio-runner.h"

struct _PrioRunner
{
  PrioIdQueue ids; /* its run queue is NULL once the runner is closed */
  gint refs;       /* atomic: of the users together, of bindings, and of operations on their way */
  PrioLoop *loop;
  PrioRunnerFunc func; /* NULL once it is released */
  gpointer data;
  GDestroyNotify notify;
  GArray *rejected; /* of guint */
};
