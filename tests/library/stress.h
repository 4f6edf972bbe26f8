/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stress.h: a world of random work */

#pragma once

#include "counts.h"
#include "helpers.h"

enum { N_SCHEDULERS = 3, N_CONTROLLERS = 5, N_TASKS = 8, N_MORE = 6 };

typedef struct
{
  GMainContext *context;
  GRand *random; /* or NULL, to use */
  const guint8 *bytes;
  gsize n_bytes;
  PrioScheduler *schedulers[N_SCHEDULERS];
  PrioTaskController *controllers[N_CONTROLLERS];
  PrioTaskSignal *dependents[N_CONTROLLERS];
  PrioTask *tasks[N_TASKS];
  guint idle_ids[N_TASKS];
  guint budget; /* number of posts left */
  guint n_made, n_freed, n_open;
  guint nesting;
  gboolean over; /* whether all operations have ended */
  gint n_contexts_freed;
  gpointer loop; /* with PRIO_INSIDE */

  /* With more: stress-more.c. */
  gboolean more;
  gboolean owns_signals; /* whether the signals were created in the world's context */
  GCancellable *signals[N_MORE]; /* one signal of every other kind */
  PrioTask *deferred[N_TASKS];
  PrioSchedulingState *state;
  guint n_emitting;
  guint n_sources_made;
  gint n_sources_freed;
} World;

/* The data of a callback: it lives until its destroy notify. */
typedef struct
{
  World *world;
  guint runs_left; /* how often it may still be called */
  gboolean freed;
} Payload;

/* Asserts, if the test is made of the library's own objects, that the library calls the program's code only when it
 * has entered no loop and holds no lock: a world has one thread. */
#ifdef PRIO_INSIDE
void assert_outside (World *world);
#else
#define assert_outside(world) ((void) (world))
#endif

/* test-stress.c */
guint dice (World *world, guint sides);
Payload *payload_new (World *world, guint runs);
void payload_free (gpointer data);
gboolean run_closure (gpointer data);
PrioScheduler *any_scheduler (World *world);
void act (World *world);

/* stress-more.c */
gboolean without (const char *what);
void more_set_up (World *world);
void more_listen (World *world, gpointer signal);
void more_act (World *world);
gboolean more_defers (World *world, PrioTask *task);
void more_probe (World *world);
void more_return_all (World *world);
void more_wait_for_timeouts (World *world);
void more_tear_down (World *world);
void more_turns (void);
