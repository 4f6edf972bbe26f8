/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counted-fixture.h: a scheduler with statistics, in frozen time, and a task under a controller */

#pragma once

#include "frozen-fixture.h"
#include "statistics.h"

static PrioTaskController *controller;
static PrioTask *posted;

static inline void
counted_set_up (Fixture *f, gconstpointer data)
{
  frozen_set_up (f, data);
  step_n_freed = 0;
  controller = prio_task_controller_new (USER_VISIBLE);
  prio_scheduler_start_statistics (f->scheduler);
}

static inline void
counted_tear_down (Fixture *f, gconstpointer data)
{
  g_clear_object (&controller);
  g_clear_object (&posted);
  fixture_tear_down (f, data);
}
