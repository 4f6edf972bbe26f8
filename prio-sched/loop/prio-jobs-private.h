/* prio-jobs-private.h: an interpreter's own source for its jobs, beside tasks that run those jobs too
 *
 * Promises: in a main loop that a job runs, the guarded sources are left alone, as GLib leaves alone a source that is being
 * dispatched.  Before a task begins, the jobs that are queued are run: those of other sources' callbacks, and of the tasks
 * before it that are not an interpreter's.
 *
 * The sources of a loop belong to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"

gboolean prio_jobs_guard (GSource *source);
void prio_jobs_add (PrioLoop *loop, GSource *source);
void prio_jobs_run (PrioLoop *loop);
void prio_jobs_free (PrioLoop *loop);
