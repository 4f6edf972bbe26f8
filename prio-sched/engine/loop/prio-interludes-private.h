/* prio-interludes-private.h: what bindings have called between two tasks
 *
 * Promises: before a batch chooses a task, it calls the functions that have been added to its loop, the last one first.
 *
 * They belong to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"

void prio_interludes_call (PrioLoop *loop);
void prio_interludes_free (PrioLoop *loop);
