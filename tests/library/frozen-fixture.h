/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frozen-fixture.h: a fixture in frozen time, which the test advances */

#pragma once

#include "frozen-time.h"
#include "helpers.h"

#define MS 1000

static inline void
frozen_set_up (Fixture *f, gconstpointer data)
{
  frozen_time = 1000 * G_USEC_PER_SEC;
  fixture_set_up (f, data);
}

static inline void
pass (gint64 ms)
{
  frozen_time += ms * MS;
}
