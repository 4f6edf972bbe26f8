/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-work.c: posted work, and its outcome */

#include "crossings.h"

static GQuark failure_quark (void);
G_DEFINE_QUARK (crossings-failure, failure)

gboolean
is_owner (World *world)
{
  return g_thread_self () == world->owner;
}

/* Makes a payload.
 *
 * Returns: NULL if there are too many */
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

/* Returns whether the payload has been aborted, and will not run again. */
static gboolean
is_aborted (Payload *payload)
{
  return payload->n_runs == 0 || payload->wants_more;
}

/* Ends a payload.  Used as a destroy notify, or called in place of it. */
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
  /* Work that is posted under an aborted signal ends at once. */
  if (!g_atomic_int_get (&world->over) && !(payload->foreign && (payload->may_reject || world->is_free)))
    g_assert_true (is_owner (world));
  outer = enter_place (world, NOTIFY);
  touch_lock (world);
  if (dice (4) == 0)
    act (world);
  leave_place (world, outer);
  g_atomic_int_add (&world->n_open, -1);
}

/* Enters the function of work, which the main loop calls. */
Mechanism
enter_function (Payload *payload)
{
  World *world = payload->world;
  Origin *origin = payload->origin;

  g_assert_true (is_owner (world));
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  g_assert_cmpint (payload->runs_left, >, 0);
  g_assert_false (g_atomic_int_get (&payload->must_cancel));
  if (!world->is_free)
    g_assert_false (must_abort (world, origin));
  g_assert_false (goes_before_keys (payload));
  pass_time (1);
  begin_run (world, payload);
  payload->runs_left--;
  payload->n_runs++;
  payload->wants_more = FALSE;
  return enter_place (world, FUNCTION);
}

gboolean
leave_function (Payload *payload, Mechanism outer, gboolean more)
{
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  payload->wants_more = more;
  leave_place (payload->world, outer);
  return more;
}

gboolean
run_closure (gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);

  act_some (payload->world, 3);
  return leave_function (payload, outer, payload->runs_left > 0);
}

void
run_once (gpointer data)
{
  Payload *payload = data;
  Mechanism outer;

  /* The work of the microtask, if any, has not ended. */
  g_assert_cmpint (g_atomic_int_get (&payload->ended), ==, 0);
  outer = enter_place (payload->world, MICROTASK);
  payload->n_runs++;
  act_some (payload->world, 2);
  leave_place (payload->world, outer);
}

void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  prio_idle_deadline_get_time_remaining (deadline);
  run_closure (data);
}

static void keep_deferred (World *world, PrioTask *task);

/* Gives the task its result, on any thread. */
void
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
      if (!prio_task_return_error_if_aborted (task))
        prio_task_return_value (task, NULL);
      break;

    default:
      prio_task_return_value (task, NULL);
      break;
    }
}

/* Gives the result, or waits, at the end of a task's function. */
static void
give_or_wait (PrioTask *task, Payload *payload, gboolean may_wait)
{
  World *world = payload->world;

  switch (dice (4))
    {
    case 0:
      if ((world->uses & BIT (DEFERRED)) != 0)
        keep_deferred (world, task);
      break;

    case 1:
      if (may_wait)
        wait_in_task (world, task);
      break;

    case 2:
      give (task, payload);
      break;

    default:
      break;
    }
}

void
run_task (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);

  act_some (payload->world, 3);
  give_or_wait (task, payload, TRUE);
  leave_function (payload, outer, FALSE);
}

gboolean
run_step (PrioTask *task, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_function (payload);
  gboolean more = payload->runs_left > 0;

  act_some (payload->world, 2);
  if (!more)
    give_or_wait (task, payload, TRUE);
  return leave_function (payload, outer, more);
}

/* Runs in a thread of the pool. */
void
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
  give_or_wait (task, payload, FALSE);
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

/* Runs tasks: the function of a runner. */
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

/* Makes aborts end the task, even while it waits. */
void
return_on_abort (PrioTask *task, Payload *payload)
{
  World *world = payload->world;

  prio_task_set_return_on_abort (task, TRUE);
  g_atomic_int_set (&payload->returns, MAX (world->n_iterations + !is_owner (world), 1));
}

static gboolean
is_since (World *world, gint *since)
{
  gint iteration = g_atomic_int_get (since);

  return iteration != 0 && world->n_iterations >= iteration;
}

/* Returns whether an abort is to end the task, so that the test need not give a result. */
static gboolean
is_to_end (Payload *payload)
{
  World *world = payload->world;

  return !g_atomic_int_get (&world->over) && is_since (world, &payload->returns) &&
         (must_abort (world, payload->origin) || is_since (world, &payload->must_end) ||
          (payload->group != NULL && payload->n_aborts < payload->group->n_over));
}

/* Returns whether the task must have ended.  A dependent signal emits `cancelled` later, and so does a group's signal
 * that depends on it.  A function in a thread defers its result by returning, after its turn. */
static gboolean
must_have_ended (Payload *payload)
{
  World *world = payload->world;
  Origin *origin = payload->origin;
  gboolean depends = origin != NULL && (payload->group != NULL || origin->kind == ANY_SIGNAL);

  return !world->is_free && (payload->kinds & BIT (THREAD)) == 0 && world->n_iterations >= payload->deferred_since && is_to_end (payload) &&
         (!depends || is_since (world, &payload->must_end));
}

/* Returns whether the task must still wait: no abort during its function, or before, has ended it. */
static gboolean
must_wait (Payload *payload)
{
  return !payload->world->is_free && !g_atomic_int_get (&payload->world->over) && (payload->kinds & BIT (THREAD)) == 0 &&
         !g_atomic_int_get (&payload->returns) && !g_atomic_int_get (&payload->aborted_in_run) && !payload->may_end;
}

/* Checks, on the owner's thread, that an abort has ended a task with a deferred result if it must have. */
static void
check_answer (PrioTask *task)
{
  Payload *payload = g_object_get_data (G_OBJECT (task), "payload");

  if (must_have_ended (payload))
    g_assert_cmpint (prio_task_get_state (task), >=, PRIO_TASK_STATE_FULFILLED);
  else if (must_wait (payload))
    g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
}

void
check_answers (World *world)
{
  for (guint i = 0; i < N_TASKS; i++)
    {
      g_autoptr (PrioTask) task = LOOK (world->deferred[i]);

      if (task != NULL)
        check_answer (task);
    }
}

static gboolean
may_be_aborted (Payload *payload)
{
  return may_abort (payload->origin) || g_atomic_int_get (&payload->cancelled) ||
         (payload->group != NULL && g_atomic_int_get (&payload->group->may)) || g_atomic_int_get (&payload->world->over);
}

/* Gives the task its result. */
static void
answer (World *world, PrioTask *task)
{
  give (task, g_object_get_data (G_OBJECT (task), "payload"));
  end (world, DEFERRED);
  let_go_of (world, task);
}

/* Gives a deferred task its result.  Half of the tasks that an abort ends never get one. */
static void
give_deferred (World *world, guint i)
{
  g_autoptr (PrioTask) task = LOOK (world->deferred[i]);
  Payload *payload = task != NULL ? g_object_get_data (G_OBJECT (task), "payload") : NULL;
  PrioTask *taken;

  if (payload == NULL || (is_to_end (payload) && payload->number % 2 == 0))
    return;
  taken = TAKE (world->deferred[i]);
  if (taken != NULL)
    answer (world, taken);
}

static void
keep_deferred (World *world, PrioTask *task)
{
  guint i = dice (N_TASKS);
  Payload *payload = g_object_get_data (G_OBJECT (task), "payload");
  PrioTask *old;

  if (g_atomic_int_get (&world->over) || payload == NULL)
    return;
  prio_task_defer (task);
  payload->deferred_since = world->n_iterations + !is_owner (world);
  payload->may_end = may_be_aborted (payload);
  begin (world, DEFERRED);
  old = PUT (world->deferred[i], g_object_ref (task));
  if (old != NULL)
    answer (world, old);
}

void
return_results (World *world)
{
  for (guint i = 0; i < N_TASKS; i++)
    give_deferred (world, i);
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

/* Called once, when the task has its result. */
void
complete (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Payload *payload = data;
  Mechanism outer = enter_place (payload->world, HANDLER);

  g_assert_true (is_owner (payload->world));
  touch_lock (payload->world);
  g_assert_cmpint (g_atomic_int_add (&payload->completed, 1), ==, 0);
  check_result (PRIO_TASK (result), payload);
  if (dice (4) == 0)
    act (payload->world);
  leave_place (payload->world, outer);
}

/* Handles the task's notify::state.  A handler may abort the task, which then does not start. */
void
state_changed (GObject *task, GParamSpec *property G_GNUC_UNUSED, gpointer data)
{
  Payload *payload = data;
  World *world = payload->world;
  PrioTaskState state = prio_task_get_state (PRIO_TASK (task));
  Mechanism outer;

  if (state == PRIO_TASK_STATE_RUNNING && (payload->kinds & BIT (THREAD)) == 0 && !payload->begins)
    {
      pass_time (1);
      begin_run (world, payload);
      payload->begins = TRUE;
    }
  outer = enter_place (world, HANDLER);
  g_assert_true (is_owner (world) || g_atomic_int_get (&world->over));
  g_assert_cmpint (state, >=, payload->state);
  payload->state = (gint) state;
  touch_lock (world);
  if (payload->n_runs == 0 && state == PRIO_TASK_STATE_RUNNING && dice (3) == 0 && (world->uses & BIT (CANCEL)) != 0)
    cancel_task (world, PRIO_TASK (task));
  else
    act_some (world, 2);
  leave_place (world, outer);
}
