/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-starvation-private.h: new tasks that wait behind continuations of their priority
 *
 * A continuation runs before all new tasks of its priority.  So code that yields until a new task has run would yield
 * forever.  Promises: a new task that has waited behind continuations for its scheduler's starvation-limit runs before
 * the next continuation.  The first time, a warning names the two tasks.  Then another new task begins to wait.
 *
 * Only the owner thread calls these functions. */

#pragma once

#include "loop/prio-run-queue-private.h"

PrioQueue *prio_starvation_relieve (PrioReady *ready, PrioQueue *queue, gint64 now);
void prio_starvation_warn (PrioReady *ready);
