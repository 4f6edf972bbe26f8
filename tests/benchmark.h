/* benchmark.h: the rows of the benchmark
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <prio-sched.h>

typedef struct
{
  const char *name;
  double (*ours) (void); /* one round, in the unit */
  double (*peer) (void);
  const char *unit;
  const char *goal; /* what to reach */
} BenchRow;

extern const BenchRow bench_rows[];
extern const guint bench_n_rows;

double bench_now (void);
