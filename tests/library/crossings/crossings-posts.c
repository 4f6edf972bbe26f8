/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-posts.c: posts work, and waits for it */

#include "crossings.h"

/* The randomly drawn arguments of one post. */
typedef struct
{
  Payload *payload;
  PrioScheduler *scheduler;
  GCancellable *signal;
  PrioTaskOptions options;
} Post;

gboolean
uses (World *world, guint64 kinds)
{
  return (world->uses & kinds) == kinds;
}

/* Draws random options. */
static gboolean
post_prepare (Post *post, World *world, guint64 kinds)
{
  Book *book = world->books[dice (N_SCHEDULERS)];
  GCancellable *signal = (kinds & BIT (ROW)) == 0 && dice (3) > 0 ? LOOK (world->signals[dice (N_SIGNALS)]) : NULL;
  Origin *origin = signal != NULL ? origin_of (signal) : NULL;
  gboolean is_delayed = dice (5) == 0 && uses (world, BIT (DELAYED)) && (kinds & BIT (THREAD)) == 0;
  gboolean is_timed = dice (4) == 0 && uses (world, BIT (TIMEOUT)) && (kinds & BIT (THREAD)) == 0;
  gboolean takes_turns = dice (3) == 0 && uses (world, BIT (TURNS)) && (kinds & BIT (THREAD)) == 0;
  gboolean is_task = (kinds & (BIT (TASK) | BIT (STEPS) | BIT (GROUP) | BIT (THREAD))) != 0;
  PrioTaskPriority priority = dice (4);

  *post = (Post) { .signal = signal, .scheduler = LOOK (book->scheduler) };
  if (post->scheduler == NULL)
    return FALSE;
  kinds |= origin != NULL ? BIT (origin->kind) : 0;
  kinds |= (is_delayed ? BIT (DELAYED) : 0) | (is_timed ? BIT (TIMEOUT) : 0) | (takes_turns ? BIT (TURNS) : 0);
  kinds |= is_task ? BIT (dice (2) == 0 ? RETURNS : LISTENED) & world->uses : 0;
  post->payload = payload_new (world, kinds, (kinds & (BIT (THREAD) | BIT (MICROTASK) | BIT (IDLE))) != 0 ? NULL : book);
  post->options = (PrioTaskOptions) {
    .priority = priority,
    .cancellable = signal,
    .delay = is_delayed ? 1 + dice (4) : 0,
    .timeout = is_timed ? (gint) dice (6) - 2 : 0,
    .name = dice (2) == 0 ? "named" : NULL,
    .takes_turns = takes_turns,
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

/* Called when the result is no longer needed. */
static void
through (gpointer data)
{
  g_atomic_int_add (&((Payload *) data)->world->n_open, -1);
}

/* Keeps the task.  Its result is reported once. */
static void
adopt (World *world, PrioTask *task, Payload *payload)
{
  payload->has_result = TRUE;
  track (world, task);
  g_object_set_data (G_OBJECT (task), "payload", payload);
  if ((payload->kinds & BIT (LISTENED)) != 0)
    g_signal_connect (task, "notify::state", G_CALLBACK (state_changed), payload);
  if ((payload->kinds & BIT (RETURNS)) != 0)
    return_on_abort (task, payload);
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
      if (post.signal == NULL && post.options.delay == 0 && post.options.timeout == 0 && post.options.name == NULL && !post.options.takes_turns)
        prio_scheduler_post (post.scheduler, payload->fixed, run_closure, payload, end_payload);
      else
        prio_scheduler_post_full (post.scheduler, &post.options, run_closure, payload, end_payload);
    }
  post_finish (&post);
}

static PrioTask *
post_to_group (Group *group, PrioTaskGroup *own, Post *post, gboolean steps)
{
  Payload *payload = post->payload;

  payload->group = group;
  payload->book = group->book;
  payload->returns = group->returns;
  payload->n_aborts = group->n_aborts;
  /* Without its own priority, the task follows the group's or its signal's. */
  payload->fixed = (gint8) post->options.priority;
  return steps ? prio_task_group_post_steps (own, &post->options, run_step, payload, end_payload)
               : prio_task_group_post_task (own, &post->options, run_task, payload, end_payload);
}

static void
post_task (World *world, guint64 kinds)
{
  gboolean steps = (kinds & BIT (STEPS)) != 0;
  guint i = dice (N_GROUPS);
  PrioTask *task = NULL;
  Post post;

  if (post_prepare (&post, world, kinds))
    {
      Payload *payload = post.payload;

      payload->runs_left = steps ? (gint) dice (5) + 1 : 1;
      if ((kinds & BIT (GROUP)) != 0)
        task = post_to_group (world->groups[i], world->groups[i]->group, &post, steps);
      else if (steps)
        task = prio_scheduler_post_steps (post.scheduler, &post.options, run_step, payload, end_payload);
      else
        task = prio_scheduler_post_task (post.scheduler, &post.options, run_task, payload, end_payload);
      adopt (world, task, payload);
    }
  post_finish (&post);
}

/* Posts the task of a row, or of a feed without a list, to @own, the PrioTaskGroup of @group, which has perhaps been dropped.
 *
 * Returns: NULL if there are too many */
PrioTask *
post_row (World *world, Group *group, PrioTaskGroup *own, Origin *origin, PrioTaskSignal *signal)
{
  gboolean steps = uses (world, BIT (STEPS)) && dice (3) == 0;
  PrioTask *task = NULL;
  Post post;

  if (post_prepare (&post, world, BIT (ROW) | BIT (GROUP) | (steps ? BIT (STEPS) : 0)))
    {
      post.options.signal = signal;
      post.payload->origin = origin;
      post.payload->may_reject = TRUE;
      post.payload->runs_left = steps ? (gint) dice (5) + 1 : 1;
      task = post_to_group (group, own, &post, steps);
      adopt (world, g_object_ref (task), post.payload);
    }
  post_finish (&post);
  return task;
}

static void
post_in_thread (World *world)
{
  Post post;

  if (post_prepare (&post, world, BIT (THREAD)))
    adopt (world, prio_scheduler_run_in_thread_full (post.scheduler, NULL, post.options.priority, post.signal, post.options.name,
                                                      run_in_thread, post.payload, end_payload), post.payload);
  post_finish (&post);
}

/* Posts a task of a runner, on the owner's thread, because other threads do not know whether the runner still
 * exists. */
static void
post_id (World *world)
{
  Post post;

  if (post_prepare (&post, world, BIT (RUNNER)))
    {
      Payload *payload = post.payload;
      PrioRunner *runner = prio_runner_ref (payload->book->runner);
      PrioPostResult posted = prio_runner_post_full (runner, payload->number, post.options.priority, post.signal,
                                                     post.options.delay,
                                                 payload->kinds & BIT (TIMEOUT) ? post.options.timeout : 0, post.options.takes_turns);

      if (posted == PRIO_POST_RESULT_REJECTED)
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
    world->idle_ids[dice (N_TASKS)] = prio_scheduler_request_idle_callback (scheduler, dice (2) * 3, run_idle, payload, end_payload);
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
  if (sleeps ? prio_scheduler_sleep_finish (scheduler, result, NULL) : prio_scheduler_yield_finish (scheduler, result, NULL))
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

static void
yield_somewhere (World *world)
{
  gboolean sleeps = dice (3) == 0 && uses (world, BIT (SLEEP));
  PrioYieldOptions options = { .flags = dice (PRIO_YIELD_KEEP_PRIORITY + 2) };
  Post post;

  if (post_prepare (&post, world, sleeps ? BIT (SLEEP) : BIT (YIELD)))
    {
      options.priority = post.options.priority;
      options.cancellable = post.signal;
      options.takes_turns = post.options.takes_turns;
      post.payload->fixed = 0;
      if (sleeps)
        prio_scheduler_sleep_async (post.scheduler, dice (3), &options, yielded, post.payload);
      else
        prio_scheduler_yield_async (post.scheduler, &options, yielded, post.payload);
    }
  post_finish (&post);
}

/* Gives the waiting task its result.  Called when a wait is over. */
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
  payload->until = dice (PRIO_TASK_GROUP_WAIT_FIRST + 1);
  prio_task_group_wait_async (payload->group->group, payload->until, signal, waited, payload);
}

/* Lets the task wait; its result comes when the wait is over.  A task of a group does not wait for an older group,
 * because a circle would wait for ever. */
void
wait_in_task (World *world, PrioTask *task)
{
  Payload *waiter = g_object_get_data (G_OBJECT (task), "payload"), *payload = NULL;
  Group *group = world->groups[dice (N_GROUPS)];

  if (waiter != NULL && waiter->group != NULL && waiter->group->number > group->number)
    group = waiter->group;
  if (uses (world, BIT (DEFERRED) | BIT (WAIT)) && !g_atomic_int_get (&world->over) && waiter != NULL && group->group != NULL)
    payload = payload_new (world, BIT (WAIT), NULL);
  if (payload == NULL)
    return;
  prio_task_defer (task);
  begin (world, DEFERRED);
  payload->waiter = g_object_ref (task);
  payload->group = group;
  payload->until = dice (PRIO_TASK_GROUP_WAIT_FIRST + 1);
  prio_task_group_wait_async (payload->group->group, payload->until, NULL, waited, payload);
}

static void
awaited (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  Mechanism outer = enter_place (world, HANDLER);

  g_assert_true (prio_task_get_state (PRIO_TASK (result)) >= PRIO_TASK_STATE_FULFILLED);
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
