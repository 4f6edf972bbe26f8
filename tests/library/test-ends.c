/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-ends.c: objects that end in an unusual order, or while they are in use
 *
 * The scheduler, the controller, the signal, the task, the context and the main loop are
 * dropped in every order, from every kind of callback, with work of every kind pending.  Between the drops, the
 * remaining objects are used.  Each destroy notify is called once.
 *
 * The time is frozen, and advances when the main loop would sleep.
 */

#include <prio-sched-bindings.h>
#include "frozen-time.h"
#include "helpers.h"

enum { SCHEDULER, CONTROLLER, SIGNAL, TASK, CONTEXT, LOOP, N_THINGS };

/* Actions between two drops. */
typedef enum { NOTHING, USE, ABORT, N_MANNERS } Manner;

typedef struct
{
  PrioScheduler *scheduler;
  PrioTaskController *controller;
  PrioTaskSignal *signal;
  PrioTask *task;
  GMainContext *context;
  GMainLoop *loop;

  guint order[N_THINGS];
  Manner manner;
  gboolean dropped;
  guint n_made, n_freed;
} World;

/* The data of a callback that does nothing, or drops everything. */
typedef struct
{
  World *world;
  gboolean drops;
  gboolean freed;
} Payload;

static Payload *
payload_new (World *world, gboolean drops)
{
  Payload *payload = g_new0 (Payload, 1);

  payload->world = world;
  payload->drops = drops;
  world->n_made++;
  return payload;
}

static void drop_all (World *world);

static void
payload_free (gpointer data)
{
  Payload *payload = data;

  g_assert_false (payload->freed);
  payload->freed = TRUE;
  payload->world->n_freed++;
  g_free (payload);
}

static void
payload_run (gpointer data)
{
  Payload *payload = data;

  g_assert_false (payload->freed);
  if (payload->drops)
    drop_all (payload->world);
  g_assert_false (payload->freed);
}

static gboolean
run_closure (gpointer data)
{
  payload_run (data);
  return G_SOURCE_REMOVE;
}

static void
run_task (PrioTask *task, gpointer data)
{
  payload_run (data);
}

static void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  payload_run (data);
}

static void
run_reaction (GObject *source, GAsyncResult *result, gpointer data)
{
  payload_run (data);
}

/* Is called when a yield resumes.  It has no data, because it may never be called. */
static void
resumed (GObject *source, GAsyncResult *result, gpointer world)
{
  if (world != NULL)
    drop_all (world);
}

/* The kinds of callbacks. */
typedef enum
{
  CLOSURE,
  CLOSURE_WITH_SIGNAL,
  DELAYED_CLOSURE,
  POSTED_TASK,
  MICROTASK,
  IDLE_CALLBACK,
  IDLE_TIMEOUT,
  REACTION,
  N_KINDS
} Kind;

static void
post (World *world, Kind kind, PrioTaskPriority priority, Payload *payload, GDestroyNotify notify)
{
  PrioScheduler *scheduler = world->scheduler;
  GCancellable *signal = G_CANCELLABLE (world->signal);

  switch (kind)
    {
    case CLOSURE:
      prio_scheduler_post (scheduler, priority, run_closure, payload, notify);
      break;

    case CLOSURE_WITH_SIGNAL:
      prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .priority = priority, .cancellable = signal },
                                run_closure, payload, notify);
      break;

    case DELAYED_CLOSURE:
      prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .priority = priority, .cancellable = signal,
                                                                .delay = 1 },
                                run_closure, payload, notify);
      break;

    case POSTED_TASK:
      g_object_unref (prio_scheduler_post_task (scheduler,
                                                &(PrioTaskOptions) {
                                                  .priority = priority,
                                                  .cancellable = signal,
                                                  .name = "a task",
                                                },
                                                run_task, payload, notify));
      break;

    case MICROTASK:
      prio_scheduler_queue_microtask (scheduler, payload_run, payload, notify);
      break;

    case IDLE_CALLBACK:
      prio_scheduler_request_idle_callback (scheduler, 0, run_idle, payload, notify);
      break;

    case IDLE_TIMEOUT:
      prio_scheduler_request_idle_callback (scheduler, 1, run_idle, payload, notify);
      break;

    default:
      if (world->task != NULL)
        prio_task_then (world->task, run_reaction, payload, notify);
      else
        notify (payload);
      break;
    }
}

/* Posts waiting work of every kind. */
static void
post_everything (World *world)
{
  for (Kind kind = 0; kind < N_KINDS; kind++)
    post (world, kind, BACKGROUND + kind % 3, payload_new (world, FALSE), payload_free);
  prio_scheduler_yield_async (world->scheduler,
                              &(PrioYieldOptions) {
                                .signal = world->signal,
                                .flags = PRIO_YIELD_KEEP_PRIORITY,
                              },
                              resumed, NULL);
}

/* Uses the remaining objects. */
static void
use (World *world)
{
  if (world->scheduler != NULL)
    {
      post_everything (world);
      prio_scheduler_pause (world->scheduler);
      prio_scheduler_resume (world->scheduler);
      prio_scheduler_should_yield (world->scheduler);
    }
  if (world->controller != NULL)
    prio_task_controller_set_priority (world->controller, BACKGROUND + (world->n_made + 1) % 3, NULL);
  if (world->signal != NULL)
    {
      GCancellable *source = G_CANCELLABLE (world->signal);

      g_object_unref (prio_task_signal_new_any_following (&source, 1, world->signal));
    }
  if (world->task != NULL)
    prio_task_get_error (world->task);
}

static void
abort_something (World *world)
{
  if (world->controller != NULL)
    prio_task_controller_abort (world->controller, NULL);
  else if (world->signal != NULL)
    g_cancellable_cancel (G_CANCELLABLE (world->signal));
  else if (world->task != NULL)
    prio_task_cancel (world->task);
}

static void
drop (World *world, guint thing)
{
  switch (thing)
    {
    case SCHEDULER:
      g_clear_object (&world->scheduler);
      break;

    case CONTROLLER:
      g_clear_object (&world->controller);
      break;

    case SIGNAL:
      g_clear_object (&world->signal);
      break;

    case TASK:
      g_clear_object (&world->task);
      break;

    case CONTEXT:
      g_clear_pointer (&world->context, g_main_context_unref);
      break;

    default:
      g_main_loop_quit (world->loop);
      g_clear_pointer (&world->loop, g_main_loop_unref);
      break;
    }
}

static void
drop_all (World *world)
{
  if (world->dropped)
    return;

  world->dropped = TRUE;
  for (guint i = 0; i < N_THINGS; i++)
    {
      drop (world, world->order[i]);
      if (world->manner == USE)
        use (world);
      else if (world->manner == ABORT && i == 2)
        abort_something (world);
    }
}

/* Callers of a function that drops everything. */

static void
from_outside (World *world)
{
  drop_all (world);
}

static void
from_continuation (World *world)
{
  prio_scheduler_yield_async (world->scheduler, NULL, resumed, world);
}

static void
payload_drop_and_free (gpointer data)
{
  World *world = ((Payload *) data)->world;

  payload_free (data);
  drop_all (world);
}

static void
from_destroy_notify_of_abort (World *world)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  prio_scheduler_post_full (world->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, run_closure,
                            payload_new (world, FALSE), payload_drop_and_free);
  prio_task_controller_abort (controller, NULL);
}

static void
run_and_return (PrioTask *task, gpointer data)
{
  prio_task_return_pointer (task, payload_new (((Payload *) data)->world, FALSE), payload_drop_and_free);
}

static void
from_destroy_notify_of_result (World *world)
{
  g_object_unref (prio_scheduler_post_task (world->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING },
                                            run_and_return, payload_new (world, FALSE), payload_free));
}

/* Handlers of signals. */

static void
state_changed (PrioTask *task, GParamSpec *pspec, World *world)
{
  if (prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED)
    drop_all (world);
}

static void
from_state_changed (World *world)
{
  g_signal_connect (world->task, "notify::state", G_CALLBACK (state_changed), world);
}

#if !GLIB_CHECK_VERSION (2, 80, 0)
/* GLib holds a lock later in this emission, so almost no function may be called. */
static void
from_cancelled (World *world)
{
  g_signal_connect_swapped (world->signal, "cancelled", G_CALLBACK (drop_all), world);
  prio_task_controller_abort (world->controller, NULL);
}
#endif

static void
priority_changed (PrioTaskSignal *signal, PrioTaskPriority previous, World *world)
{
  drop_all (world);
}

static void
from_priority_change (World *world)
{
  g_signal_connect (world->signal, "priority-change", G_CALLBACK (priority_changed), world);
  prio_task_controller_set_priority (world->controller, USER_BLOCKING, NULL);
}

static void
from_priority_change_of_dependent (World *world)
{
  GCancellable *source = G_CANCELLABLE (world->signal);
  g_autoptr (PrioTaskSignal) dependent = prio_task_signal_new_any_following (&source, 1, world->signal);

  g_signal_connect (dependent, "priority-change", G_CALLBACK (priority_changed), world);
  prio_task_controller_set_priority (world->controller, USER_BLOCKING, NULL);
}

static gboolean
abort_and_drop (gpointer data)
{
  World *world = data;

  prio_task_controller_abort (world->controller, NULL);
  drop_all (world);
  return G_SOURCE_REMOVE;
}

static void
from_other_source (World *world)
{
  GSource *source = g_idle_source_new ();

  g_source_set_callback (source, abort_and_drop, world, NULL);
  g_source_attach (source, world->context);
  g_source_unref (source);
}

/* Drops everything while GLib walks through its sources. */
static gboolean
prepare_and_drop (GSource *source, gint *timeout)
{
  World *world = *(World **) (source + 1);

  *timeout = -1;
  drop_all (world);
  g_source_destroy (source);
  return FALSE;
}

static void
from_prepare (World *world)
{
  static GSourceFuncs funcs = { prepare_and_drop, NULL, NULL, NULL, NULL, NULL };
  GSource *source = g_source_new (&funcs, sizeof (GSource) + sizeof world);

  *(World **) (source + 1) = world;
  g_source_attach (source, world->context);
  g_source_unref (source);
}

static void
run_id_of_runner (guint id, gpointer data)
{
  payload_run (data);
}

static void
from_runner (World *world)
{
  g_autoptr (PrioRunner) runner = prio_runner_new (world->scheduler, run_id_of_runner, payload_new (world, TRUE),
                                                   payload_free);

  for (guint id = 1; id < 4; id++)
    prio_runner_post (runner, id, USER_BLOCKING);
}

/* Drops everything in a nested loop, which then ends. */
static gboolean
run_nested (gpointer data)
{
  World *world = ((Payload *) data)->world;
  GMainLoop *nested = g_main_loop_new (world->context, FALSE);

  post (world, CLOSURE, USER_BLOCKING, payload_new (world, TRUE), payload_free);
  prio_scheduler_post (world->scheduler, BACKGROUND, end_loop, g_main_loop_ref (nested), (GDestroyNotify) g_main_loop_unref);
  g_main_loop_run (nested);
  g_main_loop_unref (nested);
  return G_SOURCE_REMOVE;
}

static void
from_nested_loop (World *world)
{
  prio_scheduler_post (world->scheduler, USER_BLOCKING, run_nested, payload_new (world, FALSE), payload_free);
}

static void (*const places[]) (World *world) = {
  from_outside,
  from_continuation,
  from_destroy_notify_of_abort,
  from_destroy_notify_of_result,
  from_state_changed,
#if !GLIB_CHECK_VERSION (2, 80, 0)
  from_cancelled,
#endif
  from_priority_change,
  from_priority_change_of_dependent,
  from_other_source,
  from_prepare,
  from_runner,
  from_nested_loop,
};

/* Starts the drops from outside of callbacks, from a callback of a kind, or from its destroy notify. */
static void
start (World *world, guint place)
{
  if (place < G_N_ELEMENTS (places))
    places[place](world);
  else if (place < G_N_ELEMENTS (places) + N_KINDS)
    post (world, place - G_N_ELEMENTS (places), USER_BLOCKING, payload_new (world, TRUE), payload_free);
  else
    post (world, place - G_N_ELEMENTS (places) - N_KINDS, USER_BLOCKING, payload_new (world, FALSE),
          payload_drop_and_free);
}

static void
run_world (guint place, const guint *order, Manner manner)
{
  World world = { .manner = manner };
  GMainLoop *loop;

  memcpy (world.order, order, sizeof world.order);
  world.context = g_main_context_new ();
  g_main_context_set_poll_func (world.context, pass_instead_of_sleeping);
  world.loop = g_main_loop_new (world.context, FALSE);
  world.scheduler = prio_scheduler_new (world.context);
  prio_scheduler_set_starvation_limit (world.scheduler, 0);
  world.controller = prio_task_controller_new (USER_VISIBLE);
  world.signal = g_object_ref (prio_task_controller_get_signal (world.controller));
  world.task = prio_scheduler_post_task (world.scheduler,
                                         &(PrioTaskOptions) {
                                           .signal = world.signal,
                                           .name = "a task",
                                         },
                                         run_task, payload_new (&world, FALSE), payload_free);

  start (&world, place);
  if (!world.dropped)
    {
      post_everything (&world);
      loop = g_main_loop_ref (world.loop);
      g_main_loop_run (loop);
      g_main_loop_unref (loop);
    }

  g_assert_true (world.dropped);
  g_assert_cmpuint (world.n_freed, ==, world.n_made);
}

static void
swap (guint *a, guint *b)
{
  guint kept = *a;

  *a = *b;
  *b = kept;
}

/* Makes the next permutation of @order, in lexicographic order; returns FALSE after the last. */
static gboolean
permute (guint *order)
{
  gint i = N_THINGS - 2, j = N_THINGS - 1;

  while (i >= 0 && order[i] > order[i + 1])
    i--;
  if (i < 0)
    return FALSE;

  while (order[j] < order[i])
    j--;
  swap (&order[i], &order[j]);
  for (gint left = i + 1, right = N_THINGS - 1; left < right; left++, right--)
    swap (&order[left], &order[right]);
  return TRUE;
}

static void
test_every_order (void)
{
  guint order[N_THINGS] = { 0, 1, 2, 3, 4, 5 };
  guint n_orders = 0;
  guint step = (720 / times (720)) | 1; /* odd, so that consecutive orders differ at the end */

  do
    {
      if (n_orders++ % step != 0)
        continue;
      for (guint place = 0; place < G_N_ELEMENTS (places) + 2 * N_KINDS; place++)
        for (Manner manner = 0; manner < N_MANNERS; manner++)
          run_world (place, order, manner);
    }
  while (permute (order));
  g_assert_cmpuint (n_orders, ==, 720);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  frozen_time = 1000 * G_USEC_PER_SEC;

  g_test_add_func ("/ends/in-every-order", test_every_order);

  return g_test_run ();
}
