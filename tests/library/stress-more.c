/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stress-more.c: more random work: in handlers, with deferred tasks, and with signals of every kind
 */

#include "stress.h"

#include <glib-unix.h>
#include <unistd.h>

enum { N_MANY = 70 /* more than are released at once */ };

/* Returns whether @what is left out.  STRESS_WITHOUT in the environment lists parts to leave out, so that a known
 * defect does not hide others: handlers, contexts, resets, hand, cancels, groups, many, defer, states, probes,
 * timeouts. */
gboolean
without (const char *what)
{
  const char *given = g_getenv ("STRESS_WITHOUT");

  return given != NULL && strstr (given, what) != NULL;
}

static void
emitted (World *world)
{
  assert_outside (world);
  if (world->n_emitting > 8)
    return;

  world->n_emitting++;
  for (guint n = dice (world, 3); n > 1; n--)
    act (world);
  world->n_emitting--;
}

static void
said_cancelled (GCancellable *signal G_GNUC_UNUSED, World *world)
{
  emitted (world);
}

static void
priority_changed (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, World *world)
{
  emitted (world);
}

static void
priority_notified (PrioTaskSignal *signal G_GNUC_UNUSED, GParamSpec *pspec G_GNUC_UNUSED, World *world)
{
  emitted (world);
}

/* Connects handlers, or none. */
void
more_listen (World *world, gpointer signal)
{
  guint which = world->more ? dice (world, 8) : 0;

  if (without ("handlers"))
    return;

  if (which & 1)
    g_signal_connect (signal, "cancelled", G_CALLBACK (said_cancelled), world);
  if ((which & 2) && PRIO_IS_TASK_SIGNAL (signal))
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), world);
  if ((which & 4) && PRIO_IS_TASK_SIGNAL (signal))
    g_signal_connect (signal, "notify::priority", G_CALLBACK (priority_notified), world);
}

static GCancellable *
make_signal (World *world, guint i)
{
  GCancellable *sources[] = { cancellable_of (world->controllers[dice (world, N_CONTROLLERS)]),
                              world->signals[(i + 1) % N_MORE] };
  gsize n_sources = sources[1] != NULL ? 2 : 1;

  switch (i % 3)
    {
    case 0:
      return g_cancellable_new ();

    case 1:
      return G_CANCELLABLE (prio_task_signal_new_any (sources, n_sources, BACKGROUND + dice (world, 3)));

    default:
      return G_CANCELLABLE (prio_task_signal_new_timeout (dice (world, 3)));
    }
}

/* Replaces a signal.  A callback may release an object with a notify, which may call this again. */
static void
renew_signal (World *world, guint i)
{
  GCancellable *renewed = make_signal (world, i);
  g_autoptr (GCancellable) old G_GNUC_UNUSED = world->signals[i];

  world->signals[i] = renewed;
  more_listen (world, world->signals[i]);
}

/* Resets a signal, unless GIO is emitting `cancelled`: GIO does not define a reset then. */
static void
reset_signal (World *world, guint i)
{
  if (!without ("resets") && world->n_emitting == 0 && !PRIO_IS_TASK_SIGNAL (world->signals[i]))
    g_cancellable_reset (world->signals[i]);
}

/* Cancels a task whose signal is being aborted. */
static void
cancel_then_move (World *world, guint i)
{
  g_autoptr (PrioScheduler) scheduler = g_object_ref (world->schedulers[i % N_SCHEDULERS]);
  g_autoptr (PrioTaskController) controller = g_object_ref (world->controllers[i % N_CONTROLLERS]);

  if (without ("cancels"))
    return;
  if (world->tasks[i] != NULL)
    prio_task_cancel (world->tasks[i]);
  if (dice (world, 2) == 0)
    {
      prio_scheduler_pause (scheduler);
      prio_scheduler_resume (scheduler);
    }
  else
    {
      prio_task_controller_set_priority (controller, BACKGROUND + dice (world, 3), NULL);
    }
}

/* Returns the signal of the running code or, if it has none, one of the world's signals. */
static GCancellable *
current_signal (World *world, guint i)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  GCancellable *signal = state != NULL ? prio_scheduling_state_get_cancellable (state) : NULL;

  return g_object_ref (signal != NULL ? signal : world->signals[i % N_MORE]);
}

static void
run_nothing (PrioTask *task G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

/* Cancels the signal of the running code with g_cancellable_cancel (), and at once cancels, drops and moves its other
 * tasks. */
static void
abort_group (World *world, guint i)
{
  g_autoptr (GCancellable) signal = current_signal (world, i);
  g_autoptr (PrioScheduler) scheduler = g_object_ref (world->schedulers[i % N_SCHEDULERS]);
  PrioTask *tasks[4];

  if (without ("groups"))
    return;

  for (guint n = 0; n < G_N_ELEMENTS (tasks); n++)
    tasks[n] = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .cancellable = signal }, run_nothing,
                                         payload_new (world, 1), payload_free);
  world->n_emitting++;
  g_cancellable_cancel (signal);
  world->n_emitting--;
  prio_task_cancel (tasks[dice (world, G_N_ELEMENTS (tasks))]);
  for (guint n = 0; n < G_N_ELEMENTS (tasks); n++)
    g_object_unref (tasks[n]);
  cancel_then_move (world, i);
}

static void
resumed (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  ((World *) data)->n_open--;
}

/* Cancels the signal of the running code with g_cancellable_cancel (), resets it, and yields. */
static void
reset_and_yield (World *world, guint i)
{
  g_autoptr (GCancellable) signal = current_signal (world, i);

  if (without ("resets") || world->n_emitting > 0 || PRIO_IS_TASK_SIGNAL (signal))
    return;

  world->n_emitting++;
  g_cancellable_cancel (signal);
  world->n_emitting--;
  g_cancellable_reset (signal);
  world->n_open++;
  prio_scheduler_yield_async (world->schedulers[i % N_SCHEDULERS], NULL, resumed, world);
}

static void
post_many (World *world, GCancellable *signal)
{
  g_autoptr (GCancellable) held = g_object_ref (signal);
  g_autoptr (PrioScheduler) scheduler = g_object_ref (any_scheduler (world));

  if (without ("many") || world->budget < N_MANY)
    return;

  world->budget -= N_MANY;
  for (guint n = 0; n < N_MANY; n++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = held }, run_closure,
                              payload_new (world, 1), payload_free);
}

/* Uses the state of the running code, or an earlier one. */
static void
use_state (World *world)
{
  g_autoptr (PrioSchedulingState) state = g_steal_pointer (&world->state);

  if (without ("states"))
    return;
  if (state == NULL)
    world->state = prio_scheduling_state_ref_current ();
  else
    prio_scheduling_state_run (state, (GSourceOnceFunc) (gpointer) act, world);
}

/* A source for a pipe, which counts its end. */
typedef struct
{
  Sentinel parent;
  gpointer tag;
  int fd;
} Reader;

static gboolean
reader_check (GSource *source)
{
  return (g_source_query_unix_fd (source, ((Reader *) source)->tag) & G_IO_IN) != 0;
}

static gboolean
reader_dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  char byte;

  g_assert_cmpint (read (((Reader *) source)->fd, &byte, 1), ==, 1);
  return G_SOURCE_REMOVE;
}

static void
reader_finalize (GSource *source)
{
  close (((Reader *) source)->fd);
  sentinel_finalize (source);
}

/* Sends input while a task runs, which asks whether it should yield. */
void
more_probe (World *world)
{
  static GSourceFuncs funcs = { NULL, reader_check, reader_dispatch, reader_finalize, NULL, NULL };
  int ends[2];
  GSource *source;

  if (!world->more || dice (world, 16) > 0 || without ("probes") || !g_unix_open_pipe (ends, FD_CLOEXEC, NULL))
    return;

  source = g_source_new (&funcs, sizeof (Reader));
  ((Sentinel *) source)->n_freed = &world->n_sources_freed;
  ((Reader *) source)->fd = ends[0];
  ((Reader *) source)->tag = g_source_add_unix_fd (source, ends[0], G_IO_IN);
  g_source_attach (source, world->context);
  g_source_unref (source);
  world->n_sources_made++;

  g_assert_cmpint (write (ends[1], "x", 1), ==, 1);
  close (ends[1]);
  for (guint n = 0; n < 3; n++)
    prio_scheduler_should_yield (world->schedulers[0]);
}

/* Returns whether @task, whose function is running, gets its result later. */
gboolean
more_defers (World *world, PrioTask *task)
{
  guint i = world->more ? dice (world, N_TASKS) : 0;

  if (!world->more || world->deferred[i] != NULL || dice (world, 4) > 0 || without ("defer"))
    return FALSE;

  prio_task_defer (task);
  world->deferred[i] = g_object_ref (task);
  return TRUE;
}

static void
return_deferred (World *world, guint i)
{
  g_autoptr (PrioTask) task = g_steal_pointer (&world->deferred[i]);

  if (task != NULL)
    prio_task_return_pointer (task, g_strdup ("result"), g_free);
}

void
more_return_all (World *world)
{
  for (guint i = 0; i < N_TASKS; i++)
    return_deferred (world, i);
}

static void
cancel_by_hand (World *world, guint i)
{
  g_autoptr (GCancellable) signal = NULL;

  if (without ("hand"))
    return;
  switch (dice (world, 3))
    {
    case 0:
      signal = g_object_ref (cancellable_of (world->controllers[i % N_CONTROLLERS]));
      break;

    case 1:
      signal = g_object_ref (G_CANCELLABLE (world->dependents[i % N_CONTROLLERS]));
      break;

    default:
      signal = g_object_ref (world->signals[i % N_MORE]);
    }
  world->n_emitting++;
  g_cancellable_cancel (signal);
  world->n_emitting--;
}

static void
drop_task (World *world, guint i)
{
  g_autoptr (PrioTask) old G_GNUC_UNUSED = g_steal_pointer (&world->tasks[i]);
}

void
more_act (World *world)
{
  guint i = dice (world, N_TASKS);

  switch (dice (world, 12))
    {
    case 0:
      renew_signal (world, i % N_MORE);
      break;

    case 1:
      reset_signal (world, i % N_MORE);
      break;

    case 2:
    case 3:
      cancel_by_hand (world, i);
      break;

    case 4:
      cancel_then_move (world, i);
      break;

    case 5:
      if (dice (world, 2) == 0)
        abort_group (world, i);
      else
        reset_and_yield (world, i);
      break;

    case 6:
      post_many (world,
                 dice (world,
                       2) == 0 ? world->signals[i % N_MORE] : cancellable_of (world->controllers[i % N_CONTROLLERS]));
      break;

    case 7:
      drop_task (world, i);
      break;

    case 8:
      return_deferred (world, i);
      break;

    case 9:
      use_state (world);
      break;

    default:
      prio_scheduler_post_full (any_scheduler (world),
                                &(PrioTaskOptions) {
                                  .priority = dice (world, 4),
                                  .cancellable = world->signals[i % N_MORE],
                                  .delay = dice (world, 5) / 3,
                                },
                                run_closure, payload_new (world, 1 + dice (world, 2)), payload_free);
      break;
    }
}

void
more_set_up (World *world)
{
  if (!world->more)
    return;

  /* Timeouts are tasks of the signals' context. */
  if (world->owns_signals)
    {
      g_object_unref (world->schedulers[0]);
      world->schedulers[0] = prio_scheduler_ref_thread_default ();
      prio_scheduler_set_starvation_limit (world->schedulers[0], 1);
    }
  for (guint i = 0; i < N_MORE; i++)
    renew_signal (world, i);
}

/* The clock does not stop while a scheduler is paused. */
void
more_wait_for_timeouts (World *world)
{
  g_autoptr (PrioTaskSignal) timeout = NULL;
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;

  if (!world->owns_signals || dice (world, 16) > 0 || without ("timeouts"))
    return;

  timeout = prio_task_signal_new_timeout (1);
  while (!prio_task_signal_is_aborted (timeout) && g_get_monotonic_time () < end)
    {
      for (guint i = 0; i < N_SCHEDULERS; i++)
        prio_scheduler_pause (world->schedulers[i]);
      g_main_context_iteration (world->context, FALSE);
    }
  g_assert_true (prio_task_signal_is_aborted (timeout));
}

void
more_tear_down (World *world)
{
  more_return_all (world);
  g_clear_pointer (&world->state, prio_scheduling_state_unref);
  for (guint i = 0; i < N_MORE; i++)
    g_clear_object (&world->signals[i]);
}

/* Takes longer than a slice. */
static gboolean
take_long (gpointer data G_GNUC_UNUSED)
{
  gint64 end = g_get_monotonic_time () + 2 * G_TIME_SPAN_MILLISECOND;

  while (g_get_monotonic_time () < end)
    ;
  return G_SOURCE_CONTINUE;
}

/* Runs a flood of tasks beside a source that is always ready: turns end by time, and leave no source in the context. */
void
more_turns (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (GSource) other = g_idle_source_new ();

  g_source_set_priority (other, G_PRIORITY_DEFAULT);
  g_source_set_callback (other, take_long, NULL, NULL);
  g_source_attach (other, context);
  prio_scheduler_set_time_slice (scheduler, 0.001);
  prio_scheduler_post (scheduler, USER_VISIBLE, take_long, NULL, NULL);
  for (guint n = 0; n < 60; n++)
    g_main_context_iteration (context, FALSE);
  g_assert_cmpuint (count_sources (context, "prio-sched at the bottom"), <=, 1);
  g_source_destroy (other);
}
