/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-handover.c: a thread that is held up inside a call, while the owner drops everything
 *
 * A call from another thread hands a reference over to the owner thread.  As soon as it has released the lock, the owner
 * may drop that reference, and with it the scheduler, the loop and the context.  So each call is made many times, and
 * each time the calling thread is held up after another one of its unlocks, until the owner has dropped everything.
 * Valgrind and AddressSanitizer then find any use of freed memory.
 */

#define _GNU_SOURCE /* RTLD_NEXT */

#include <prio-sched-threads.h>
#include "helpers.h"

#include <dlfcn.h>

enum { PATIENCE = 20 /* ms that the thread is held up at most: it may hold a lock that the owner needs */ };

typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  PrioTaskController *controller;
  PrioTask *deferred;
} World;

/* The references of the calling thread. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  PrioTaskController *controller;
  PrioTask *task;
} Held;

static GMutex mutex;
static GCond cond;
static gboolean held_up, dropped; /* guarded by @mutex */

/* The number of unlocks that the calling thread may still do before it is held up; 0 in other threads. */
static __thread guint n_unlocks;

static void
real_unlock (GMutex *unlocked)
{
  static void (*unlock) (GMutex *unlocked); /* atomic */

  if (__atomic_load_n (&unlock, __ATOMIC_RELAXED) == NULL)
    __atomic_store_n (&unlock, dlsym (RTLD_NEXT, "g_mutex_unlock"), __ATOMIC_RELAXED);
  unlock (unlocked);
}

/* Holds the thread up until the owner has dropped everything. */
static void
hold_up (void)
{
  gint64 end = g_get_monotonic_time () + PATIENCE * 1000;

  g_mutex_lock (&mutex);
  held_up = TRUE;
  g_cond_signal (&cond);
  while (!dropped && g_cond_wait_until (&cond, &mutex, end))
    ;
  real_unlock (&mutex);
}

/* Takes the place of GLib's function for the library and for this program. */
void
g_mutex_unlock (GMutex *unlocked)
{
  real_unlock (unlocked);
  if (n_unlocks > 0 && --n_unlocks == 0)
    hold_up ();
}

static void
run_all (GMainContext *context)
{
  for (guint idle = 0; idle < 3;)
    idle = g_main_context_iteration (context, FALSE) ? 0 : idle + 1;
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
ignore (gpointer data)
{
}

static void
nothing_of_task (PrioTask *task, gpointer data)
{
}

static void
nothing_of_value (PrioChannel *channel, gpointer value, gpointer data)
{
}

static void
nothing_of_idle (PrioIdleDeadline *deadline, gpointer data)
{
}

static void
defer (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
}

static void
settled (GObject *source, GAsyncResult *result, gpointer data)
{
}

static void
return_int (Held *held)
{
  prio_task_return_int (held->task, 42);
  g_clear_object (&held->task);
}

static void
drop_deferred (Held *held)
{
  g_clear_object (&held->task);
}

static void
then (Held *held)
{
  prio_task_then (held->task, settled, NULL, NULL);
  g_clear_object (&held->task);
}

static void
cancel (Held *held)
{
  prio_task_cancel (held->task);
  g_clear_object (&held->task);
}

static void
report_progress (Held *held)
{
  prio_task_set_progress (held->task, 0.5);
  g_clear_object (&held->task);
}

static void
post (Held *held)
{
  prio_scheduler_post (held->scheduler, BACKGROUND, nothing, NULL, ignore);
  g_clear_object (&held->scheduler);
}

static void
post_task (Held *held)
{
  PrioTask *task = prio_scheduler_post_task (held->scheduler,
                                                        &(PrioTaskOptions) {
                                                          .priority = USER_VISIBLE,
                                                          .signal = prio_task_controller_get_signal (held->controller),
                                                        },
                                                        nothing_of_task, NULL, ignore);

  g_object_unref (task);
  g_clear_object (&held->controller);
  g_clear_object (&held->scheduler);
}

static void
queue_microtask (Held *held)
{
  prio_scheduler_queue_microtask (held->scheduler, ignore, NULL, ignore);
  g_clear_object (&held->scheduler);
}

static void
yield (Held *held)
{
  prio_scheduler_yield_async (held->scheduler, NULL, settled, NULL);
  g_clear_object (&held->scheduler);
}

static void
pause_and_resume (Held *held)
{
  prio_scheduler_pause (held->scheduler);
  prio_scheduler_resume (held->scheduler);
  g_clear_object (&held->scheduler);
}

static void
drop_scheduler (Held *held)
{
  g_clear_object (&held->scheduler);
}

static void
abort_controller (Held *held)
{
  prio_task_controller_abort (held->controller, NULL);
  g_clear_object (&held->controller);
}

static void
set_priority (Held *held)
{
  prio_task_controller_set_priority (held->controller, USER_BLOCKING, NULL);
  g_clear_object (&held->controller);
}

static void
use_channel (Held *held)
{
  PrioChannel *channel = prio_channel_new (held->scheduler, NULL, 2, PRIO_CHANNEL_PACE_TURN, nothing_of_value, NULL, ignore);

  g_clear_object (&held->scheduler);
  prio_channel_offer (channel, held, ignore);
  prio_channel_offer (channel, held, ignore);
  prio_channel_replace (channel, held, ignore);
  g_object_unref (channel);
}

static void
sleep_in_scheduler (Held *held)
{
  prio_scheduler_sleep_async (held->scheduler, 1000, NULL, settled, NULL);
  g_clear_object (&held->scheduler);
}

static void
request_idle (Held *held)
{
  prio_scheduler_cancel_idle_callback (held->scheduler,
                                       prio_scheduler_request_idle_callback (held->scheduler, 0, nothing_of_idle, NULL, ignore));
  g_clear_object (&held->scheduler);
}

/* The caller is the owner for a while. */
static void
run (Held *held)
{
  run_all (held->context);
  g_clear_pointer (&held->context, g_main_context_unref);
}

static void
run_and_post (Held *held)
{
  prio_scheduler_post (held->scheduler, BACKGROUND, nothing, NULL, ignore);
  prio_scheduler_queue_microtask (held->scheduler, ignore, NULL, ignore);
  run_all (held->context);
  g_clear_object (&held->scheduler);
  run_all (held->context);
  g_clear_pointer (&held->context, g_main_context_unref);
}

static const struct
{
  const char *name;
  void (*call) (Held *held);
  gboolean with_scheduler, with_controller, with_context;
} calls[] = {
  { "return-int", return_int },
  { "drop-deferred", drop_deferred },
  { "then", then },
  { "cancel", cancel },
  { "set-progress", report_progress },
  { "post", post, TRUE },
  { "post-task", post_task, TRUE, TRUE },
  { "queue-microtask", queue_microtask, TRUE },
  { "yield", yield, TRUE },
  { "pause-and-resume", pause_and_resume, TRUE },
  { "drop-scheduler", drop_scheduler, TRUE },
  { "abort", abort_controller, FALSE, TRUE },
  { "set-priority", set_priority, FALSE, TRUE },
  { "channel", use_channel, TRUE },
  { "sleep", sleep_in_scheduler, TRUE },
  { "idle", request_idle, TRUE },
  { "run", run, FALSE, FALSE, TRUE },
  { "run-and-post", run_and_post, TRUE, FALSE, TRUE },
};

typedef struct
{
  guint nth_unlock;
  void (*call) (Held *held);
  Held held;
  gboolean was_held_up;
} Caller;

static gpointer
call_and_be_held_up (gpointer data)
{
  Caller *caller = data;

  n_unlocks = caller->nth_unlock;
  caller->call (&caller->held);
  caller->was_held_up = n_unlocks == 0;
  n_unlocks = 0;

  g_mutex_lock (&mutex);
  held_up = TRUE;
  g_cond_signal (&cond);
  g_mutex_unlock (&mutex);
  return NULL;
}

static PrioTask *
post_deferred (World *world)
{
  return prio_scheduler_post_task (world->scheduler,
                                   &(PrioTaskOptions) {
                                     .priority = USER_VISIBLE,
                                     .signal = prio_task_controller_get_signal (world->controller),
                                   },
                                   defer, NULL, ignore);
}

/* Drops the references of the owner, and runs the context. */
static void
drop_references (World *world)
{
  g_clear_object (&world->deferred);
  g_clear_object (&world->controller);
  g_clear_object (&world->scheduler);
  run_all (world->context);
}

/* If @early, the owner drops its references before the call, so the caller has the last ones.  Returns whether the
 * caller was held up, which is FALSE if the call has fewer unlocks. */
static gboolean
try (guint nth_unlock, gboolean early, guint i)
{
  World world = { .context = g_main_context_new () };
  Caller caller = { .nth_unlock = nth_unlock, .call = calls[i].call };
  GThread *thread;

  world.scheduler = prio_scheduler_new (world.context);
  world.controller = prio_task_controller_new (USER_VISIBLE);
  world.deferred = post_deferred (&world);
  run_all (world.context);

  if (calls[i].with_scheduler)
    caller.held.scheduler = g_object_ref (world.scheduler);
  if (calls[i].with_controller)
    caller.held.controller = g_object_ref (world.controller);
  if (calls[i].with_context)
    caller.held.context = g_main_context_ref (world.context);
  if (!calls[i].with_scheduler && !calls[i].with_controller && !calls[i].with_context)
    caller.held.task = calls[i].call == drop_deferred ? g_steal_pointer (&world.deferred) : g_object_ref (world.deferred);

  if (early)
    drop_references (&world);
  else
    prio_scheduler_post (world.scheduler, USER_VISIBLE, nothing, NULL, ignore);

  held_up = dropped = FALSE;
  thread = g_thread_new ("caller", call_and_be_held_up, &caller);
  g_mutex_lock (&mutex);
  while (!held_up)
    g_cond_wait (&cond, &mutex);
  g_mutex_unlock (&mutex);

  run_all (world.context);
  if (world.deferred != NULL && caller.call != return_int)
    prio_task_return_int (world.deferred, 1);
  run_all (world.context);
  drop_references (&world);
  g_main_context_unref (world.context);

  g_mutex_lock (&mutex);
  dropped = TRUE;
  g_cond_signal (&cond);
  g_mutex_unlock (&mutex);
  g_thread_join (thread);
  return caller.was_held_up;
}

static void
expect_warning (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  g_assert_nonnull (strstr (message, "the last reference to it has been dropped"));
}

static void
test_call (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data), n_held_up = 0;

  /* A deferred task whose last reference is dropped is a warning. */
  g_log_set_handler ("PrioSched", G_LOG_LEVEL_WARNING, expect_warning, NULL);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL);
  for (guint early = 0; early < 2; early++)
    for (guint n = 1; try (n, early, i); n++)
      n_held_up++;
  g_assert_cmpuint (n_held_up, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *path = g_strconcat ("/handover/", calls[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_call);
    }

  return g_test_run ();
}
