/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-context.c: finds or creates the loop of a context */

#include "config.h"

#include "loop/prio-lending-private.h"
#include "loop/prio-loop-end-private.h"
#include "loop/prio-loop-source-private.h"
#include "loop/prio-run-queue-group-private.h"

static void
clear (PrioLoop *loop)
{
  prio_run_queue_free_own (loop);
  prio_frames_clear (&loop->frames);
  prio_lending_free (loop);
}

static const PrioLoopFuncs loop_funcs = {
  .attach = prio_loop_attach,
  .process_aborted = prio_groups_process_aborted,
  .release_some = prio_loop_release_some,
  .clear = clear,
};

/* Returns the loop of @context with one more user.  Creates the loop if there is none. */
PrioLoop *
prio_loop_for_context (GMainContext *context)
{
  return prio_loop_acquire (context, &loop_funcs);
}
