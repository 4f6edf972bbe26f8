/* prio-runner-private.h: the structure of PrioRunner
 *
 * Promises: a runner's tasks are the numbers of the PrioNumbers that it embeds; prio-number-private.h describes how they
 * run.  The ids of rejected tasks are collected, and reported at the next checkpoint.
 *
 * A runner is closed, and its function released, when its scheduler has been finalized and its last
 * number has ended, or when the context is destroyed.  The record stays until its last reference is dropped.
 *
 * Everything but the reference count belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-number-private.h"
#include "prio-runner.h"

struct _PrioRunner
{
  PrioNumbers numbers; /* its run queue is NULL once the runner is closed */
  gint refs;       /* atomic: one for all users of the numbers, and those of bindings and of pending operations */
  PrioLoop *loop;
  PrioRunnerFunc func; /* NULL once the runner is closed */
  gpointer data;
  GDestroyNotify notify;
  PrioRunnerNameFunc name_func; /* or NULL */
  gpointer name_data;
  GDestroyNotify name_notify;
  GArray *rejected; /* of guint */
};

void prio_runner_release (gpointer runner);
char *prio_runner_ask_name (PrioRunner *self, guint id, gboolean continuation);

/* Outside, on any thread: what the task @id, which is about to be posted, is called; or NULL.
 *
 * Returns: (transfer full) (nullable): the name */
static inline char *
prio_runner_name_of_post (PrioRunner *self, guint id, gboolean continuation)
{
  if (G_LIKELY (!prio_loop_is_observed (self->loop)))
    return NULL;
  return prio_runner_ask_name (self, id, continuation);
}
