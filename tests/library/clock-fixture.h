/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock-fixture.h: a fixture in the time of a test, which prio_testing_advance () advances */

#pragma once

#include <prio-sched-testing.h>

#include "helpers.h"

static inline void
clock_set_up (Fixture *f, gconstpointer data)
{
  fixture_set_up (f, data);
  prio_testing_begin ();
}

static inline void
clock_tear_down (Fixture *f, gconstpointer data)
{
  prio_testing_end ();
  fixture_tear_down (f, data);
}
