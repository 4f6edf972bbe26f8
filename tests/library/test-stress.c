/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-stress.c: random work, from every kind of callback
 *
 * Tasks post, abort, change priorities, pause, cancel, yield, run nested loops and drop
 * schedulers, from each kind of callback, including destroy notifies; some worlds do more
 * (stress-more.c).  In all of them every destroy notify is called once, after its function, and no context, source or
 * descriptor leaks.
 *
 * With PRIO_FUZZ, this is the target of libFuzzer, whose bytes replace the random numbers.  The inputs that increased
 * coverage are run here too: in stress-corpus.bin each input follows its length, as two bytes in little-endian order.
 */

#ifdef PRIO_INSIDE
#include "config.h"
#endif

#include "stress.h"

#ifdef PRIO_INSIDE
#include "signal/prio-signal-node-private.h"
#include "scheduler/prio-scheduler-private.h"

static void
assert_unlocked (PrioLock *lock)
{
  g_assert_true (prio_lock_trylock (lock));
  prio_lock_unlock (lock);
}

void
assert_outside (World *world)
{
  PrioLoop *loop = world->loop;

  g_assert_true (prio_thread.inside == NULL);
  assert_unlocked (&loop->mailbox.lock);
  assert_unlocked (&prio_signal_lock);
}
#endif

guint
dice (World *world, guint sides)
{
  if (world->random != NULL)
    return (guint) g_rand_int_range (world->random, 0, (gint32) sides);
  if (world->n_bytes == 0)
    return sides - 1;

  world->n_bytes--;
  return *world->bytes++ % sides;
}

Payload *
payload_new (World *world, guint runs)
{
  Payload *payload = g_new0 (Payload, 1);

  payload->world = world;
  payload->runs_left = runs;
  world->n_made++;
  return payload;
}

static void
payload_run (Payload *payload)
{
  assert_outside (payload->world);
  g_assert_false (payload->freed);
  g_assert_cmpuint (payload->runs_left, >, 0);
  payload->runs_left--;
  more_probe (payload->world);
  for (guint n = dice (payload->world, 3); n > 0; n--)
    act (payload->world);
  g_assert_false (payload->freed);
}

void
payload_free (gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;

  assert_outside (world);
  g_assert_false (payload->freed);
  payload->freed = TRUE;
  world->n_freed++;
  if (dice (world, 8) == 0)
    act (world);
  g_free (payload);
}

gboolean
run_closure (gpointer data)
{
  Payload *payload = data;

  payload_run (payload);
  return payload->runs_left > 0;
}

static void
run_once (gpointer data)
{
  payload_run (data);
}

static void
run_task (PrioTask *task, gpointer data)
{
  World *world = ((Payload *) data)->world;

  payload_run (data);
  if (more_defers (world, task))
    return;

  switch (dice (world, 3))
    {
    case 0:
      prio_task_return_pointer (task, g_strdup ("result"), g_free);
      break;

    case 1:
      prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "failed");
      break;

    default:
      break;
    }
}

static void
run_reaction (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_task_get_state (PRIO_TASK (result)) >= PRIO_TASK_STATE_FULFILLED);
  payload_run (data);
}

static void
resumed (GObject *source, GAsyncResult *result, gpointer data)
{
  World *world = data;

  world->n_open--;
  if (dice (world, 2) == 0)
    act (world);
}

static void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  payload_run (data);
}

PrioScheduler *
any_scheduler (World *world)
{
  return world->schedulers[dice (world, N_SCHEDULERS)];
}

static GCancellable *
any_signal (World *world)
{
  guint i = dice (world, N_CONTROLLERS);

  switch (dice (world, 3))
    {
    case 0:
      return NULL;

    case 1:
      return cancellable_of (world->controllers[i]);

    default:
      return G_CANCELLABLE (world->dependents[i]);
    }
}

static void
renew_controller (World *world, guint i)
{
  g_autoptr (PrioTaskController) old G_GNUC_UNUSED = world->controllers[i];
  g_autoptr (PrioTaskSignal) old_dependent G_GNUC_UNUSED = world->dependents[i];
  GCancellable *source;

  world->controllers[i] = prio_task_controller_new (BACKGROUND + dice (world, 3));
  source = cancellable_of (world->controllers[i]);
  more_listen (world, source);
  world->dependents[i] = prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source));
  more_listen (world, world->dependents[i]);
}

static void
post_something (World *world)
{
  PrioTaskPriority priority = dice (world, 4); /* or none */
  guint64 delay = dice (world, 5) == 0 ? dice (world, 3) : 0;
  guint i = dice (world, N_TASKS);

  switch (dice (world, 7))
    {
    case 0:
    case 1:
      prio_scheduler_post (any_scheduler (world), MAX (priority, BACKGROUND), run_closure,
                           payload_new (world, 1 + dice (world, 3)), payload_free);
      break;

    case 2:
    case 3:
      prio_scheduler_post_full (any_scheduler (world),
                                &(PrioTaskOptions) {
                                  .priority = priority,
                                  .cancellable = any_signal (world),
                                  .delay = delay,
                                },
                                run_closure, payload_new (world, 1 + dice (world, 3)), payload_free);
      break;

    case 4:
      {
        g_autoptr (PrioTask) old = NULL;
        PrioTask *task = prio_scheduler_post_task (any_scheduler (world),
                                                   &(PrioTaskOptions) {
                                                     .priority = priority,
                                                     .cancellable = any_signal (world),
                                                     .delay = delay,
                                                     .name = dice (world, 2) == 0 ? "name" : NULL,
                                                   },
                                                   run_task, payload_new (world, 1), payload_free);

        prio_task_then (task, run_reaction, payload_new (world, 1), payload_free);
        /* Dropping the previous task may call this again. */
        old = g_steal_pointer (&world->tasks[i]);
        world->tasks[i] = task;
      }
      break;

    case 5:
      prio_scheduler_queue_microtask (any_scheduler (world), run_once, payload_new (world, 1), payload_free);
      break;

    default:
      world->idle_ids[dice (world, N_TASKS)] =
          prio_scheduler_request_idle_callback (any_scheduler (world), dice (world, 2), run_idle,
                                                payload_new (world, 1), payload_free);
      break;
    }
}

static void
meddle (World *world)
{
  guint i = dice (world, N_CONTROLLERS);
  g_autoptr (PrioTaskController) controller = g_object_ref (world->controllers[i]);

  switch (dice (world, 9))
    {
    case 0:
      prio_task_controller_abort (controller, NULL);
      break;

    case 1:
      g_cancellable_cancel (cancellable_of (controller));
      break;

    case 2:
      renew_controller (world, i);
      break;

    case 3:
    case 4:
      prio_task_controller_set_priority (controller, BACKGROUND + dice (world, 3), NULL);
      break;

    case 5:
      if (dice (world, 2) == 0)
        prio_scheduler_pause (any_scheduler (world));
      else
        prio_scheduler_resume (any_scheduler (world));
      break;

    case 6:
      if (world->tasks[i] != NULL)
        prio_task_cancel (world->tasks[i]);
      prio_scheduler_cancel_idle_callback (any_scheduler (world), world->idle_ids[i]);
      break;

    case 7:
      if (world->tasks[i] != NULL)
        prio_task_then (world->tasks[i], run_reaction, payload_new (world, 1), payload_free);
      break;

    default:
      {
        PrioScheduler *fresh = prio_scheduler_new (world->context);
        PrioScheduler **scheduler = &world->schedulers[dice (world, N_SCHEDULERS)];
        g_autoptr (PrioScheduler) old G_GNUC_UNUSED = *scheduler;

        prio_scheduler_set_time_slice (fresh, dice (world, 3) * 0.1);
        prio_scheduler_set_starvation_limit (fresh, 1);
        *scheduler = fresh;
      }
      break;
    }
}

void
act (World *world)
{
  if (world->over)
    return;
  if (world->more && dice (world, 3) == 0)
    {
      more_act (world);
      return;
    }

  switch (dice (world, 10))
    {
    case 0:
    case 1:
    case 2:
      meddle (world);
      break;

    case 3:
      if (world->nesting < 3)
        {
          world->nesting++;
          g_main_context_iteration (world->context, FALSE);
          world->nesting--;
        }
      break;

    case 4:
      world->n_open++;
      prio_scheduler_yield_async (any_scheduler (world),
                                  &(PrioYieldOptions) {
                                    .priority = dice (world, 4),
                                    .cancellable = any_signal (world),
                                    .flags = dice (world, PRIO_YIELD_KEEP_PRIORITY + 2),
                                  },
                                  resumed, world);
      break;

    default:
      if (world->budget > 0)
        {
          world->budget--;
          post_something (world);
        }
      break;
    }
}

/* The record of the loop, which shows whether a thread is inside it, outlives the context. */
static void
world_find_loop (World *world)
{
#ifdef PRIO_INSIDE
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (world->context);

  world->loop = prio_loop_ref (scheduler->run_queue->loop);
#endif
}

/* The warning about a task that waits behind yields does not end the test. */
static gboolean
is_fatal (const char *domain G_GNUC_UNUSED, GLogLevelFlags level G_GNUC_UNUSED, const char *message, gpointer data G_GNUC_UNUSED)
{
  return strstr (message, "starvation-limit") == NULL;
}

static void
world_set_up (World *world, gboolean more, GRand *random, const guint8 *bytes, gsize n_bytes)
{
  g_test_log_set_fatal_handler (is_fatal, NULL);
  *world = (World) { .budget = 400, .random = random, .bytes = bytes, .n_bytes = n_bytes, .more = more };
  world->context = g_main_context_new ();
  watch_context (world->context, &world->n_contexts_freed);
  world->owns_signals = more && !without ("contexts");
  if (world->owns_signals)
    g_main_context_push_thread_default (world->context);
  world_find_loop (world);
  for (guint i = 0; i < N_SCHEDULERS; i++)
    {
      world->schedulers[i] = prio_scheduler_new (world->context);
      /* The first has no limit, and the second a limit of a millisecond. */
      prio_scheduler_set_starvation_limit (world->schedulers[i], i);
    }
  for (guint i = 0; i < N_CONTROLLERS; i++)
    renew_controller (world, i);
  more_set_up (world);
}

/* Resumes all schedulers; a release may pause one again. */
static void
resume_all (World *world)
{
  gboolean paused = TRUE;

  while (paused)
    {
      paused = FALSE;
      for (guint i = 0; i < N_SCHEDULERS; i++)
        prio_scheduler_resume (world->schedulers[i]);
      for (guint i = 0; i < N_SCHEDULERS; i++)
        paused |= prio_scheduler_get_paused (world->schedulers[i]);
    }
}

/* Returns whether all work has ended; deferred tasks get a result. */
static gboolean
world_is_done (World *world)
{
  more_return_all (world);
  return world->n_freed == world->n_made && world->n_open == 0;
}

/* Runs all work to its end, or drops the context before. */
static void
world_finish (World *world, gboolean drop)
{
  if (!drop)
    {
      more_wait_for_timeouts (world);
      resume_all (world);
    }
  while (!drop && !world_is_done (world))
    {
      g_main_context_iteration (world->context, TRUE);
      resume_all (world);
    }

  world->over = TRUE;
  for (guint i = 0; i < N_SCHEDULERS; i++)
    g_clear_object (&world->schedulers[i]);
  if (world->owns_signals)
    g_main_context_pop_thread_default (world->context);
  g_main_context_unref (world->context);
}

static void
world_tear_down (World *world)
{
  for (guint i = 0; i < N_TASKS; i++)
    g_clear_object (&world->tasks[i]);
  for (guint i = 0; i < N_CONTROLLERS; i++)
    {
      g_clear_object (&world->controllers[i]);
      g_clear_object (&world->dependents[i]);
    }
  more_tear_down (world);
  g_clear_pointer (&world->random, g_rand_free);
#ifdef PRIO_INSIDE
  prio_loop_unref (world->loop);
#endif
  g_assert_cmpuint (world->n_freed, ==, world->n_made);
  g_assert_cmpint (world->n_contexts_freed, ==, 1);
  g_assert_cmpint (world->n_sources_freed, ==, (gint) world->n_sources_made);
}

static void
run_world (World *world, gboolean drop)
{
  for (guint i = 0; i < 30; i++)
    act (world);
  for (guint i = 0; i < 20; i++)
    g_main_context_iteration (world->context, FALSE);
  world_finish (world, drop);
  world_tear_down (world);
}

/* The first byte selects whether the context is dropped, and whether the world does more. */
#define HAS_MORE 0x18
#define MORE_MASK 0x98

static void
run_bytes (const guint8 *bytes, gsize n_bytes)
{
  World world;

  if (n_bytes == 0)
    return;

  world_set_up (&world, (bytes[0] & MORE_MASK) == HAS_MORE, NULL, bytes + 1, n_bytes - 1);
  run_world (&world, bytes[0] & 1);
}

#ifdef PRIO_FUZZ

int LLVMFuzzerTestOneInput (const guint8 *bytes, gsize n_bytes);

int
LLVMFuzzerTestOneInput (const guint8 *bytes, gsize n_bytes)
{
  run_bytes (bytes, n_bytes);
  return 0;
}

#else

static void
run_worlds (gboolean drop, gboolean more)
{
  guint n_descriptors;

  g_main_context_default ();
  n_descriptors = count_descriptors ();
  for (guint round = 0; round < 300; round++)
    {
      World world;

      world_set_up (&world, more, g_rand_new_with_seed ((guint32) g_test_rand_int ()), NULL, 0);
      run_world (&world, drop);
    }
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
}

static void
test_to_the_end (void)
{
  run_worlds (FALSE, FALSE);
}

static void
test_to_the_end_of_the_context (void)
{
  run_worlds (TRUE, FALSE);
}

static void
test_more (void)
{
  run_worlds (FALSE, TRUE);
}

static void
test_more_to_the_end_of_the_context (void)
{
  run_worlds (TRUE, TRUE);
}

static void
test_corpus (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "stress-corpus.bin", NULL);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  const guint8 *bytes;
  gsize length;

  g_file_get_contents (path, &contents, &length, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (length, >, 1000);

  bytes = (const guint8 *) contents;
  while (length > 2)
    {
      gsize n_bytes = bytes[0] | bytes[1] << 8;

      g_assert_cmpuint (n_bytes + 2, <=, length);
      run_bytes (bytes + 2, n_bytes);
      bytes += n_bytes + 2;
      length -= n_bytes + 2;
    }
}

/* Does not print the warning about a task that waits behind yields. */
static void
print_others (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if (strstr (message, "starvation-limit") == NULL)
    g_log_default_handler (domain, level, message, data);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_log_set_handler ("PrioSched", (GLogLevelFlags) (G_LOG_LEVEL_WARNING | G_LOG_FLAG_FATAL), print_others, NULL);

  g_test_add_func ("/stress/corpus", test_corpus);
  g_test_add_func ("/stress/to-the-end", test_to_the_end);
  g_test_add_func ("/stress/to-the-end-of-the-context", test_to_the_end_of_the_context);
  g_test_add_func ("/stress/turns", more_turns);
  g_test_add_func ("/stress/more", test_more);
  g_test_add_func ("/stress/more-to-the-end-of-the-context", test_more_to_the_end_of_the_context);

  return g_test_run ();
}

#endif
