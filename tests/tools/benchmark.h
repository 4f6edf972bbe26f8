/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchmark.h: the rows of the benchmark */

#pragma once

#include <prio-sched-bindings.h>

typedef struct
{
  const char *name;
  double (*ours) (void); /* takes one round, in the unit */
  double (*peer) (void);
  const char *unit;
  const char *goal; /* value to reach */
} BenchRow;

extern const BenchRow bench_rows[];
extern const guint bench_n_rows;

double bench_now (void);

/* benchmark-rows.c: shared by both files of rows */
#define BENCH_N 100000

extern guint bench_ran;

gboolean bench_nothing (gpointer data);
void bench_run_until (GMainContext *context, guint n);
double bench_destroy_sources (GSource **sources, guint n);

/* benchmark-loop.c */
double bench_delays_iteration (void);
double bench_timeouts_iteration (void);
double bench_add_delay (void);
double bench_add_timeout (void);
double bench_post_flood (void);
double bench_invoke_flood (void);
double bench_repeat_in_batch (void);
double bench_repeat_per_iteration (void);
double bench_always_ready (void);
double bench_urgent_task (void);
double bench_urgent_idle (void);
double bench_should_yield (void);
double bench_context_pending (void);
