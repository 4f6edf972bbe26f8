/* crossings-work.c: what is posted, and what becomes of it
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "crossings.h"

static GQuark failure_quark (void);
G_DEFINE_QUARK (crossings-failure, failure)

/* How a piece of work is posted. */
typedef struct
{
  Payload *payload;
  PrioScheduler *scheduler;
  GCancellable *signal;
  PrioTaskOptions options;
} Post;

gboolean
is_owner (World *world)
{
  return g_thread_self () == world->owner;
}

/* Returns: NULL if there are too many */
Payload *
payload_new (World *world, guint64 kinds, Book *book)
{
  Payload *payload;
  gint number = g_atomic_int_add (&world->n_payloads, 1);

  if (number >= MAX_PAYLOADS - 1)
    {
      g_atomic_int_add (&world->n_payloads, -1);
      return NULL;
    }
  payload = g_new0 (Payload, 1);
  payload->world = world;
  payload->number = (guint) number + 1;
  payload->kinds = kinds;
  payload->book = book;
  payload->foreign = !is_owner (world);
  payload->runs_left = 1;
  g_atomic_int_inc (&world->n_open);
  __atomic_store_n (&world->payloads[payload->number], payload, __ATOMIC_RELEASE);
  begin_all (world, kinds);
  return payload;
}

/* It is not going to run any more. */
static gboolean
is_aborted (Payload *payload)
{
  return payload->n_runs == 0 || payload->wants_more;
}

/* A destroy notify, or what comes instead of it. */
void
end_payload (gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  Mechanism outer;

  g_assert_cmpint (g_atomic_int_add (&payload->ended, 1), ==, 0);
  if ((payload->kinds & (BIT (THREAD) | BIT (MICROTASK) | BIT (IDLE))) == 0)
    count_end (payload, is_aborted (payload));
  end_all (world, payload->kinds);
  outer = enter_place (world, NOTIFY);
  if (dice (4) == 0)
    act (world);
  leave_place (world, outer);
  g_atomic_int_add (&world->n_open, -1);
}

/* Its function is called by the main loop. */
static Mechanism
enter_function (Payload *payload)
{
  World *world = payload->world;
  Origin *origin = payload->parent != NULL ? payload->parent->origin : payload->origin;

  g_assert_true (is_owner (world));
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  g_assert_cmpint (payload->runs_left, >, 0);
  g_assert_false (g_atomic_int_get (&payload->must_cancel));
  if (!world->is_free)
    g_assert_false (must_abort (world, origin));
  pass_time (1);
  begin_run (world, payload);
  payload->runs_left--;
  payload->n_runs++;
  payload->wants_more = FALSE;
  return enter_place (world, FUNCTION);
}

static gboolean
leave_function (Payload *payload, Mechanism outer, gboolean more)
{
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  payload->wants_more = more;
  leave_place (payload->world, outer);
  return more;
}

static gboolean
run_closure (gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);

  act_some (payload->world, 3);
  return leave_function (payload, outer, payload->runs_left > 0);
}

static void
run_once (gpointer data)
{
  Payload *payload = data;
  Mechanism outer;

  /* What it belongs to, if anything, is not over. */
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  outer = enter_place (payload->world, MICROTASK);
  payload->n_runs++;
  act_some (payload->world, 2);
  leave_place (payload->world, outer);
}

static void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  prio_idle_deadline_time_remaining (deadline);
  run_closure (data);
}

static void keep_deferred (World *world, PrioTask *task);

/* Its result, from whoever gives it. */
static void
give (PrioTask *task, Payload *payload)
{
  switch (dice (4))
    {
    case 0:
      g_atomic_int_set (&payload->given, NUMBER);
      prio_task_return_int (task, payload->number);
      break;

    case 1:
      g_atomic_int_set (&payload->given, FAILURE);
      prio_task_return_new_error (task, failure_quark (), (gint) payload->number, "failed");
      break;

    case 2:
      g_atomic_int_compare_and_exchange (&payload->given, NOTHING, IF_CANCELLED);
      if (!prio_task_return_error_if_cancelled (task))
        prio_task_return_value (task, NULL);
      break;

    default:
      prio_task_return_value (task, NULL);
      break;
    }
}

static void run_next (PrioTask *task, gpointer data);
static gboolean wait_in_task (World *world, PrioTask *task);

/* What a function of a task does at its end.  Returns: whether it goes on */
static gboolean
give_or_go_on (PrioTask *task, Payload *payload, gboolean may_go_on)
{
  World *world = payload->world;
  Payload *top = payload->parent != NULL ? payload->parent : payload, *next = NULL;

  switch (dice (5))
    {
    case 0:
      if ((world->uses & BIT (DEFERRED)) != 0)
        keep_deferred (world, task);
      return FALSE;

    case 3:
      return may_go_on && wait_in_task (world, task);

    case 1:
      if (may_go_on && (world->uses & BIT (GOES_ON)) != 0)
        next = payload_new (world, BIT (GOES_ON), payload->book);
      if (next == NULL)
        return FALSE;
      next->parent = top;
      next->fixed = top->fixed;
      prio_task_continue_with (task, run_next, next, end_payload);
      if (dice (2) == 0)
        act (world);
      return TRUE;

    case 2:
      give (task, top);
      return FALSE;

    default:
      return FALSE;
    }
}

static void
run_next (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);

  act_some (payload->world, 2);
  give_or_go_on (task, payload, TRUE);
  leave_function (payload, outer, FALSE);
}

static void
run_task (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);

  act_some (payload->world, 3);
  give_or_go_on (task, payload, TRUE);
  leave_function (payload, outer, FALSE);
}

static gboolean
run_step (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);
  gboolean more = payload->runs_left > 0;

  act_some (payload->world, 2);
  if (!more)
    give_or_go_on (task, payload, TRUE);
  return leave_function (payload, outer, more);
}

/* In a thread of the pool. */
static void
run_in_thread (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  Mechanism outer;

  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  take_turn (world);
  outer = enter_place (world, OTHER_THREAD);
  payload->n_runs++;
  act_some (world, 3);
  give_or_go_on (task, payload, FALSE);
  leave_place (world, outer);
  end_turn (world);
}

static void
run_id (World *world, guint id)
{
  Payload *payload = world->payloads[id];
  Mechanism outer = enter_function (payload);

  act_some (world, 3);
  leave_function (payload, outer, FALSE);
  if (dice (4) == 0)
    prio_runner_end ();
  end_payload (payload);
}

void
take_rejected (World *world, Book *book)
{
  gsize n = 0;
  g_autofree guint *ids = prio_runner_take_rejected (book->runner, &n);

  for (gsize i = 0; i < n; i++)
    end_payload (world->payloads[ids[i]]);
}

/* The function of a runner. */
void
run_ids (guint id, gpointer data)
{
  Book *book = data;
  World *world = this_thread.world;

  if (id == 0)
    take_rejected (world, book);
  for (; id != 0; id = prio_runner_next ())
    run_id (world, id);
}

/* Who gives a deferred task its result. */
static void
give_deferred (World *world, guint i)
{
  g_autoptr (PrioTask) task = TAKE (world->deferred[i]);
  Payload *payload = task != NULL ? g_object_get_data (G_OBJECT (task), "payload") : NULL;

  if (payload != NULL)
    {
      give (task, payload);
      end (world, DEFERRED);
    }
}

static void
keep_deferred (World *world, PrioTask *task)
{
  guint i = dice (N_TASKS);
  PrioTask *old;

  if (g_atomic_int_get (&world->over) || g_object_get_data (G_OBJECT (task), "payload") == NULL)
    return;
  prio_task_defer (task);
  begin (world, DEFERRED);
  old = PUT (world->deferred[i], g_object_ref (task));
  if (old != NULL)
    {
      give (old, g_object_get_data (G_OBJECT (old), "payload"));
      end (world, DEFERRED);
      let_go_of (world, old);
    }
}

void
return_results (World *world)
{
  for (guint i = 0; i < N_TASKS; i++)
    give_deferred (world, i);
}

static gboolean
may_be_aborted (Payload *payload)
{
  return may_abort (payload->origin) || g_atomic_int_get (&payload->cancelled) ||
         (payload->group != NULL && g_atomic_int_get (&payload->group->may)) || g_atomic_int_get (&payload->world->over);
}

static void
check_result (PrioTask *task, Payload *payload)
{
  Given given = g_atomic_int_get (&payload->given);
  const GError *error = prio_task_get_error (task);

  switch (prio_task_get_state (task))
    {
    case PRIO_TASK_STATE_FULFILLED:
      g_assert_null (error);
      g_assert_cmpint (given, !=, FAILURE);
      g_assert_cmpint (payload->n_runs, >, 0);
      g_assert_false (g_atomic_int_get (&payload->must_cancel));
      if (given == NUMBER)
        g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, payload->number);
      break;

    case PRIO_TASK_STATE_FAILED:
      g_assert_error (error, failure_quark (), (gint) payload->number);
      g_assert_cmpint (given, ==, FAILURE);
      break;

    case PRIO_TASK_STATE_ABORTED:
      g_assert_nonnull (error);
      g_assert_true (may_be_aborted (payload));
      break;

    default:
      g_assert_not_reached ();
    }
}

/* The task has its result: once. */
void
complete (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_place (payload->world, HANDLER);

  g_assert_true (is_owner (payload->world));
  g_assert_cmpint (g_atomic_int_add (&payload->completed, 1), ==, 0);
  check_result (PRIO_TASK (result), payload);
  if (dice (4) == 0)
    act (payload->world);
  leave_place (payload->world, outer);
}

static gboolean
uses (World *world, guint64 kinds)
{
  return (world->uses & kinds) == kinds;
}

/* Draws what it is posted with. */
static gboolean
post_prepare (Post *post, World *world, guint64 kinds)
{
  Book *book = world->books[dice (N_SCHEDULERS)];
  GCancellable *signal = dice (3) > 0 ? LOOK (world->signals[dice (N_SIGNALS)]) : NULL;
  Origin *origin = signal != NULL ? origin_of (signal) : NULL;
  gboolean is_delayed = dice (5) == 0 && uses (world, BIT (DELAYED)) && (kinds & BIT (THREAD)) == 0;
  gboolean is_timed = dice (4) == 0 && uses (world, BIT (TIMEOUT)) && (kinds & BIT (THREAD)) == 0;
  PrioTaskPriority priority = dice (4);

  *post = (Post) { .signal = signal, .scheduler = LOOK (book->scheduler) };
  if (post->scheduler == NULL)
    return FALSE;
  kinds |= origin != NULL ? BIT (origin->kind) : 0;
  kinds |= (is_delayed ? BIT (DELAYED) : 0) | (is_timed ? BIT (TIMEOUT) : 0);
  post->payload = payload_new (world, kinds, (kinds & (BIT (THREAD) | BIT (MICROTASK) | BIT (IDLE))) != 0 ? NULL : book);
  post->options = (PrioTaskOptions) {
    .priority = priority,
    .signal = signal,
    .delay = is_delayed ? 1 + dice (4) : 0,
    .timeout = is_timed ? (gint) dice (6) - 2 : 0,
    .name = dice (2) == 0 ? "named" : NULL,
  };
  if (post->payload == NULL)
    return FALSE;
  post->payload->origin = origin;
  post->payload->may_reject = may_abort (origin);
  post->payload->fixed = (gint8) (priority != 0 || origin == NULL || origin->kind == CANCELLABLE ? MAX (priority, 0) : 0);
  if (priority == 0 && (origin == NULL || origin->kind == CANCELLABLE))
    post->payload->fixed = USER_VISIBLE;
  return TRUE;
}

static void
post_finish (Post *post)
{
  g_clear_object (&post->scheduler);
  g_clear_object (&post->signal);
}

/* Nobody hears of the result any more. */
static void
through (gpointer data)
{
  g_atomic_int_add (&((Payload *) data)->world->n_open, -1);
}

/* The task is in hand, and has been told who hears of its result. */
static void
adopt (World *world, PrioTask *task, Payload *payload)
{
  payload->has_result = TRUE;
  track (world, task);
  g_object_set_data (G_OBJECT (task), "payload", payload);
  g_atomic_int_inc (&world->n_open);
  prio_task_then (task, complete, payload, through);
  let_go_of (world, PUT (world->tasks[dice (N_TASKS)], task));
}

static void
post_closure (World *world, guint64 kinds)
{
  Post post;

  if (post_prepare (&post, world, kinds))
    {
      Payload *payload = post.payload;

      payload->runs_left = (kinds & BIT (REPEATED)) != 0 ? (gint) dice (4) + 2 : 1;
      if (post.signal == NULL && post.options.delay == 0 && post.options.timeout == 0 && post.options.name == NULL)
        prio_scheduler_post (post.scheduler, payload->fixed, run_closure, payload, end_payload);
      else
        prio_scheduler_post_full (post.scheduler, &post.options, run_closure, payload, end_payload);
    }
  post_finish (&post);
}

static PrioTask *
post_to_group (World *world, Post *post, gboolean steps)
{
  Group *group = world->groups[dice (N_GROUPS)];
  Payload *payload = post->payload;

  payload->group = group;
  payload->book = group->book;
  /* Without a priority of its own it follows the group, or its signal. */
  payload->fixed = (gint8) post->options.priority;
  return steps ? prio_task_group_post_steps (group->group, &post->options, run_step, payload, end_payload)
               : prio_task_group_post_task (group->group, &post->options, run_task, payload, end_payload);
}

static void
post_task (World *world, guint64 kinds)
{
  gboolean steps = (kinds & BIT (STEPS)) != 0;
  PrioTask *task = NULL;
  Post post;

  if (post_prepare (&post, world, kinds))
    {
      Payload *payload = post.payload;

      payload->runs_left = steps ? (gint) dice (5) + 1 : 1;
      if ((kinds & BIT (GROUP)) != 0)
        task = post_to_group (world, &post, steps);
      else if (steps)
        task = prio_scheduler_post_steps (post.scheduler, &post.options, run_step, payload, end_payload);
      else
        task = prio_scheduler_post_task (post.scheduler, &post.options, run_task, payload, end_payload);
      adopt (world, task, payload);
    }
  post_finish (&post);
}

static void
post_in_thread (World *world)
{
  Post post;

  if (post_prepare (&post, world, BIT (THREAD)))
    adopt (world, prio_scheduler_run_in_thread_under (post.scheduler, post.signal, post.options.name, run_in_thread, post.payload,
                                                      end_payload), post.payload);
  post_finish (&post);
}

/* The owner's thread: others do not know whether the runner has gone. */
static void
post_id (World *world)
{
  Post post;

  if (post_prepare (&post, world, BIT (RUNNER)))
    {
      Payload *payload = post.payload;
      PrioRunner *runner = prio_runner_ref (payload->book->runner);
      PrioPosted posted;

      if (payload->kinds & BIT (TIMEOUT))
        posted = prio_runner_post_timed (runner, payload->number, post.options.priority, post.signal, post.options.delay,
                                         post.options.timeout);
      else
        posted = prio_runner_post_full (runner, payload->number, post.options.priority, post.signal, post.options.delay, FALSE);
      if (posted == PRIO_POSTED_REJECTED)
        end_payload (payload);
      prio_runner_unref (runner);
    }
  post_finish (&post);
}

static void
post_aside (World *world, guint64 kinds)
{
  Book *book = world->books[dice (N_SCHEDULERS)];
  g_autoptr (PrioScheduler) scheduler = LOOK (book->scheduler);
  Payload *payload = scheduler != NULL ? payload_new (world, kinds, NULL) : NULL;

  if (payload == NULL)
    return;
  if (kinds & BIT (MICROTASK))
    prio_scheduler_queue_microtask (scheduler, run_once, payload, end_payload);
  else
    world->idle_ids[dice (N_TASKS)] = prio_scheduler_request_idle_callback (scheduler, run_idle, dice (2) * 3, payload, end_payload);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  PrioScheduler *scheduler = source != NULL ? PRIO_SCHEDULER (source) : NULL;
  gboolean sleeps = (payload->kinds & BIT (SLEEP)) != 0;
  Mechanism outer;

  g_assert_true (is_owner (world));
  if (sleeps ? prio_scheduler_sleep_finish (scheduler, result, NULL) : prio_scheduler_yield_full_finish (scheduler, result, NULL))
    {
      outer = enter_function (payload);
      act_some (world, 3);
      leave_function (payload, outer, FALSE);
    }
  else
    {
      payload->may_reject = TRUE;
      outer = enter_place (world, HANDLER);
      act_some (world, 2);
      leave_place (world, outer);
    }
  end_payload (payload);
}

void
yield_somewhere (World *world)
{
  gboolean sleeps = dice (3) == 0 && uses (world, BIT (SLEEP));
  PrioYieldOptions options = { .flags = dice (PRIO_YIELD_KEEP_PRIORITY + 2) };
  Post post;

  if (post_prepare (&post, world, sleeps ? BIT (SLEEP) : BIT (YIELD)))
    {
      options.priority = post.options.priority;
      options.signal = post.signal;
      post.payload->fixed = 0;
      if (sleeps)
        prio_scheduler_sleep_async (post.scheduler, dice (3), &options, yielded, post.payload);
      else
        prio_scheduler_yield_full_async (post.scheduler, &options, yielded, post.payload);
    }
  post_finish (&post);
}

/* The wait is over, for the task that has waited for it too. */
void
give_to_waiter (Payload *payload)
{
  PrioTask *task = g_steal_pointer (&payload->waiter);

  if (task == NULL)
    return;
  give (task, g_object_get_data (G_OBJECT (task), "payload"));
  end (payload->world, DEFERRED);
  let_go_of (payload->world, task);
}

static void
waited (GObject *group, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  g_autoptr (PrioTask) task = NULL;
  Mechanism outer = enter_place (world, HANDLER);

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, &task, NULL);
  payload->n_runs = 1;
  give_to_waiter (payload);
  act_some (world, 2);
  leave_place (world, outer);
  end_payload (payload);
}

void
wait_for_group (World *world)
{
  g_autoptr (GCancellable) signal = dice (3) == 0 ? LOOK (world->signals[dice (N_SIGNALS)]) : NULL;
  Payload *payload = payload_new (world, BIT (WAIT), NULL);

  if (payload == NULL)
    return;
  payload->group = world->groups[dice (N_GROUPS)];
  payload->until = dice (PRIO_TASK_GROUP_FIRST + 1);
  prio_task_group_wait_async (payload->group->group, payload->until, signal, waited, payload);
}

/* The task has its result when the wait is over.  If tasks of two groups wait for each other's, one of them hears so at once; but not
 * where another task, which they could have waited for, waits too later: so nobody waits for any, or for the first. */
static gboolean
wait_in_task (World *world, PrioTask *task)
{
  Payload *payload = NULL;

  if (uses (world, BIT (DEFERRED) | BIT (WAIT)) && !g_atomic_int_get (&world->over) &&
      g_object_get_data (G_OBJECT (task), "payload") != NULL)
    payload = payload_new (world, BIT (WAIT), NULL);
  if (payload == NULL)
    return FALSE;
  prio_task_defer (task);
  begin (world, DEFERRED);
  payload->waiter = g_object_ref (task);
  payload->group = world->groups[dice (N_GROUPS)];
  payload->until = dice (2) == 0 ? PRIO_TASK_GROUP_DRAINED : PRIO_TASK_GROUP_ALL;
  prio_task_group_wait_async (payload->group->group, payload->until, NULL, waited, payload);
  return FALSE;
}

static void
awaited (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  Mechanism outer = enter_place (world, HANDLER);

  g_assert_true (prio_task_get_completed (PRIO_TASK (result)));
  payload->n_runs = 1;
  act_some (world, 2);
  leave_place (world, outer);
}

void
await_something (World *world)
{
  g_autoptr (PrioTask) task = LOOK (world->tasks[dice (N_TASKS)]);
  Payload *payload = task != NULL ? payload_new (world, BIT (AWAIT), NULL) : NULL;

  if (payload != NULL)
    prio_task_then (task, awaited, payload, end_payload);
}

void
post_something (World *world)
{
  static const guint64 kinds[] = {
    BIT (CLOSURE), BIT (CLOSURE), BIT (CLOSURE) | BIT (REPEATED), BIT (TASK), BIT (TASK), BIT (STEPS), BIT (GROUP), BIT (GROUP),
    BIT (GROUP) | BIT (STEPS), BIT (THREAD), BIT (RUNNER), BIT (RUNNER), BIT (MICROTASK), BIT (IDLE), BIT (YIELD),
  };
  guint64 kind = kinds[dice (G_N_ELEMENTS (kinds))];

  if (!uses (world, kind) || g_atomic_int_add (&world->budget, -1) <= 0)
    return;
  if ((kind & (BIT (GROUP) | BIT (RUNNER) | BIT (IDLE))) != 0 && !is_owner (world))
    return;

  if (kind & BIT (CLOSURE))
    post_closure (world, kind);
  else if (kind & BIT (THREAD))
    post_in_thread (world);
  else if (kind & BIT (RUNNER))
    post_id (world);
  else if (kind & (BIT (MICROTASK) | BIT (IDLE)))
    post_aside (world, kind);
  else if (kind & BIT (YIELD))
    yield_somewhere (world);
  else
    post_task (world, kind);
}
