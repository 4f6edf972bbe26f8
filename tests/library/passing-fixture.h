/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* passing-fixture.h: a fixture in simulated time, which passes with the test's work, and instead of the loop's sleep */

#pragma once

#include "frozen-time.h"
#include "helpers.h"

#define ITERATION 2 /* µs */

static gint
poll_in_time (GPollFD *fds, guint n_fds, gint timeout)
{
  frozen_time += ITERATION;
  return pass_instead_of_sleeping (fds, n_fds, timeout);
}

static inline void
passing_set_up (Fixture *f, gconstpointer data)
{
  frozen_time = 1000 * G_USEC_PER_SEC;
  fixture_set_up (f, data);
  g_main_context_set_poll_func (f->context, poll_in_time);
}
