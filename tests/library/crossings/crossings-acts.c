/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-acts.c: operations on work, from every place */

#include "crossings.h"

enum { MAX_DEPTH = 5 };

static void
untracked (gpointer world)
{
  g_atomic_int_add (&((World *) world)->n_objects, -1);
}

/* Adds @object to the objects whose end is checked. */
gpointer
track (World *world, gpointer object)
{
  g_atomic_int_inc (&world->n_objects);
  g_object_set_data_full (object, "crossings", world, untracked);
  return object;
}

/* Drops a reference.  Up to GLib 2.78, if dispose () keeps the object, g_object_unref () of the last reference is not
 * safe beside g_weak_ref_get () in another thread.  In that case, and while another thread runs, the reference is
 * dropped at the end of the program. */
void
let_go_of (World *world, gpointer object)
{
  if (object == NULL)
    return;
  if (!world->is_free)
    {
      g_object_unref (object);
      return;
    }
  pthread_mutex_lock (&slots_lock);
  world->dropped = g_slist_prepend (world->dropped, object);
  pthread_mutex_unlock (&slots_lock);
}

Origin *
origin_of (gpointer signal)
{
  return g_object_get_data (signal, "origin");
}

gboolean
may_abort (Origin *origin)
{
  if (origin == NULL)
    return FALSE;
  return origin->kind == TIMED_SIGNAL || g_atomic_int_get (&origin->may) || may_abort (origin->sources[0]) ||
         may_abort (origin->sources[1]);
}

/* Returns whether another thread has aborted the signal, or a signal that it depends on, and the owner has not noticed
 * yet. */
static gboolean
is_pending (World *world, Origin *origin)
{
  return origin != NULL && (g_atomic_int_get (&origin->must) > world->n_iterations || is_pending (world, origin->sources[0]) ||
                            is_pending (world, origin->sources[1]));
}

/* Returns whether the owner must have noticed the abort of the signal. */
gboolean
must_abort (World *world, Origin *origin)
{
  gint since = origin != NULL ? g_atomic_int_get (&origin->must) : 0;

  if (origin == NULL || is_pending (world, origin))
    return FALSE;
  return since != 0 || must_abort (world, origin->sources[0]) || must_abort (world, origin->sources[1]);
}

/* A lock of the program: it may be held during an abort, and taken in handlers and notifies. */
static GRecMutex lock;

/* Returns whether the lock may be taken: GLib may hold its own lock while it emits `cancelled`, and then the order
 * would be reversed. */
static gboolean
may_lock (World *world)
{
  return (world->uses & BIT (LOCK)) != 0 && (this_thread.n_held > 0 || this_thread.n_cancelling == 0);
}

static gboolean
hold_lock (World *world)
{
  if (!may_lock (world) || (this_thread.n_held == 0 && dice (2) == 0))
    return FALSE;
  g_rec_mutex_lock (&lock);
  this_thread.n_held++;
  begin (world, LOCK);
  return TRUE;
}

static void
release_lock (World *world, gboolean held)
{
  if (!held)
    return;
  end (world, LOCK);
  this_thread.n_held--;
  g_rec_mutex_unlock (&lock);
}

/* Takes and releases the lock. */
void
touch_lock (World *world)
{
  if (!may_lock (world))
    return;
  g_rec_mutex_lock (&lock);
  g_rec_mutex_unlock (&lock);
}

static void
emitted (World *world)
{
  Mechanism outer;

  touch_lock (world);
  if (g_atomic_int_add (&world->n_emitting, 1) < 6)
    {
      outer = enter_place (world, HANDLER);
      act_some (world, 2);
      leave_place (world, outer);
    }
  g_atomic_int_add (&world->n_emitting, -1);
}

static void
said_cancelled (GCancellable *signal G_GNUC_UNUSED, World *world)
{
  this_thread.n_cancelling++;
  emitted (world);
  this_thread.n_cancelling--;
}

static void
priority_changed (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, World *world)
{
  emitted (world);
}

static GCancellable *
signal_new (World *world, guint i, Origin *origin)
{
  g_autoptr (GCancellable) one = NULL, other = NULL;
  GCancellable *sources[2];
  guint n_sources = 0;

  if (i < N_CONTROLLERS)
    {
      PrioTaskController *controller = prio_task_controller_new (BACKGROUND + dice (3));

      origin->kind = TASK_SIGNAL;
      let_go_of (world, PUT (world->controllers[i], controller));
      return g_object_ref (cancellable_of (controller));
    }
  if (i % 3 == 0)
    {
      origin->kind = CANCELLABLE;
      return g_cancellable_new ();
    }
  if (i % 3 == 1 && dice (2) == 0 && (world->uses & BIT (TIMED_SIGNAL)) != 0)
    {
      origin->kind = TIMED_SIGNAL;
      return G_CANCELLABLE (prio_task_signal_new_timeout (dice (8)));
    }

  origin->kind = ANY_SIGNAL;
  one = LOOK (world->signals[dice (i)]);
  other = LOOK (world->signals[dice (i)]);
  for (guint n = 0; n < 2; n++)
    {
      GCancellable *source = n == 0 ? one : other;

      if (source == NULL)
        continue;
      origin->sources[n] = origin_of (source);
      sources[n_sources++] = source;
    }
  if (n_sources > 0 && PRIO_IS_TASK_SIGNAL (sources[0]))
    return G_CANCELLABLE (prio_task_signal_new_any_following (sources, n_sources, PRIO_TASK_SIGNAL (sources[0])));
  return G_CANCELLABLE (prio_task_signal_new_any (sources, n_sources, BACKGROUND + dice (3)));
}

/* Creates a signal, on the owner's thread, because signals belong to that thread's context. */
void
make_signal (World *world, guint i)
{
  Origin *origin = g_new0 (Origin, 1);
  GCancellable *signal = signal_new (world, i, origin);
  guint handlers = dice (4);

  pthread_mutex_lock (&slots_lock);
  g_ptr_array_add (world->all_origins, origin);
  pthread_mutex_unlock (&slots_lock);
  g_object_set_data (G_OBJECT (signal), "origin", origin);
  track (world, signal);
  if ((world->uses & BIT (HANDLER)) != 0 && (handlers & 1) != 0)
    g_signal_connect (signal, "cancelled", G_CALLBACK (said_cancelled), world);
  if ((world->uses & BIT (HANDLER)) != 0 && (handlers & 2) != 0 && PRIO_IS_TASK_SIGNAL (signal))
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), world);
  let_go_of (world, PUT (world->signals[i], signal));
}

void
make_group (World *world, guint i)
{
  Book *book = world->books[dice (N_SCHEDULERS)];
  Group *group = g_new0 (Group, 1);

  group->book = book;
  group->group = track (world, prio_task_group_new (book->scheduler, 1 + dice (3), BACKGROUND + dice (3)));
  group->returns = (world->uses & BIT (RETURNS)) != 0 && dice (2) == 0;
  g_object_set (group->group, "return-on-abort", group->returns, NULL);
  pthread_mutex_lock (&slots_lock);
  group->number = world->all_groups->len;
  g_ptr_array_add (world->all_groups, group);
  pthread_mutex_unlock (&slots_lock);
  world->groups[i] = group;
}

/* Drops a reference to a group, perhaps the last: a new group replaces it. */
static void
drop_group (World *world, guint i)
{
  Group *group = world->groups[i];

  make_group (world, i);
  begin (world, DROP);
  let_go_of (world, g_steal_pointer (&group->group));
  end (world, DROP);
}

static void
abort_signal (World *world)
{
  guint i = dice (N_SIGNALS);
  g_autoptr (PrioTaskController) controller = i < N_CONTROLLERS ? LOOK (world->controllers[i]) : NULL;
  g_autoptr (GCancellable) signal = controller != NULL ? g_object_ref (cancellable_of (controller)) : LOOK (world->signals[i]);
  Origin *origin = signal != NULL ? origin_of (signal) : NULL;
  gboolean by_hand = controller == NULL || dice (2) == 0, held;

  if (origin == NULL || (world->uses & BIT (by_hand ? BY_HAND : ABORT)) == 0)
    return;
  g_atomic_int_set (&origin->may, TRUE);
  something_is_aborted (world);
  begin (world, by_hand ? BY_HAND : ABORT);
  /* The owner may cancel a dependent signal, and then wait for the lock. */
  held = origin->kind != ANY_SIGNAL && origin->kind != TIMED_SIGNAL && hold_lock (world);
  g_atomic_int_inc (&world->n_emitting);
  this_thread.n_cancelling++;
  if (by_hand)
    g_cancellable_cancel (signal);
  else
    prio_task_controller_abort (controller, NULL);
  this_thread.n_cancelling--;
  g_atomic_int_add (&world->n_emitting, -1);
  release_lock (world, held);
  end (world, by_hand ? BY_HAND : ABORT);
  /* A second abort does nothing, also if the owner has not noticed the first one. */
  g_atomic_int_compare_and_exchange (&origin->must, 0, world->n_iterations + !is_owner (world));
}

/* Resets a signal.  GIO does not define a reset while the signal emits `cancelled`, nor while another thread runs. */
static void
reset_signal (World *world)
{
  g_autoptr (GCancellable) signal = LOOK (world->signals[N_CONTROLLERS + 3 * dice (2)]);

  if (world->is_free || !is_owner (world) || g_atomic_int_get (&world->n_emitting) > 0 || g_atomic_int_get (&world->live[THREAD]) > 0 ||
      signal == NULL || PRIO_IS_TASK_SIGNAL (signal))
    return;
  g_atomic_int_set (&origin_of (signal)->must, 0);
  g_cancellable_reset (signal);
}

void
cancel_task (World *world, PrioTask *task)
{
  Payload *payload = g_object_get_data (G_OBJECT (task), "payload");
  gboolean waits = is_owner (world) && payload->n_runs == 0 && prio_task_get_state (task) <= PRIO_TASK_STATE_RUNNING;
  gboolean held = hold_lock (world);

  g_atomic_int_set (&payload->cancelled, TRUE);
  something_is_aborted (world);
  prio_task_cancel (task);
  release_lock (world, held);
  if (waits && (payload->kinds & BIT (THREAD)) == 0)
    g_atomic_int_set (&payload->must_cancel, TRUE);
  g_atomic_int_set (&payload->must_end, world->n_iterations + !is_owner (world));
}

static void
cancel_something (World *world)
{
  g_autoptr (PrioTask) task = LOOK (world->tasks[dice (N_TASKS)]);
  g_autoptr (PrioScheduler) scheduler = LOOK (world->books[0]->scheduler);

  begin (world, CANCEL);
  if (task != NULL)
    {
      cancel_task (world, task);
    }
  else if (is_owner (world))
    {
      Book *book = world->books[dice (N_SCHEDULERS)];

      something_is_aborted (world);
      prio_runner_cancel (book->runner, 1 + dice ((guint) g_atomic_int_get (&world->n_payloads) + 1));
    }
  if (scheduler != NULL)
    prio_scheduler_cancel_idle_callback (scheduler, world->idle_ids[dice (N_TASKS)]);
  end (world, CANCEL);
}

static void
change_priority (World *world)
{
  g_autoptr (PrioTaskController) controller = LOOK (world->controllers[dice (N_CONTROLLERS)]);

  begin (world, PRIORITY);
  if (dice (4) == 0 && is_owner (world))
    prio_task_group_set_priority (world->groups[dice (N_GROUPS)]->group, BACKGROUND + dice (3), NULL);
  else if (controller != NULL)
    prio_task_controller_set_priority (controller, BACKGROUND + dice (3), NULL);
  end (world, PRIORITY);
}

static void
abort_tasks (World *world, Group *group)
{
  gboolean held = hold_lock (world);

  begin (world, ABORT);
  group->n_aborts++;
  group->n_within++;
  this_thread.n_cancelling++;
  prio_task_group_abort (group->group, NULL);
  this_thread.n_cancelling--;
  if (--group->n_within == 0)
    group->n_over = group->n_aborts;
  release_lock (world, held);
  end (world, ABORT);
}

static void
abort_group (World *world)
{
  Group *group = world->groups[dice (N_GROUPS)];

  if (!is_owner (world) || (world->uses & BIT (GROUP)) == 0)
    return;
  something_is_aborted (world);
  switch (dice (3))
    {
    case 0:
      prio_task_group_set_limit (group->group, 1 + dice (3));
      break;

    case 1:
      g_atomic_int_set (&group->may, TRUE);
      begin (world, CANCEL);
      prio_task_group_cancel_pending (group->group);
      end (world, CANCEL);
      break;

    default:
      g_atomic_int_set (&group->may, TRUE);
      abort_tasks (world, group);
      break;
    }
}

static void
nest (World *world)
{
  Mechanism outer;

  if (!is_owner (world) || world->nesting >= MAX_NESTING || world->is_list_changing || (world->uses & BIT (NESTED)) == 0)
    return;
  if (this_thread.place != FUNCTION && this_thread.place != N_MECHANISMS)
    loosen_runs (world);
  world->nesting++;
  outer = this_thread.place;
  this_thread.place = N_MECHANISMS;
  begin (world, NESTED);
  begin_iteration (world);
  g_main_context_iteration (world->context, FALSE);
  end_runs (world);
  end (world, NESTED);
  this_thread.place = outer;
  world->nesting--;
}

static void
act_once (gpointer world)
{
  act (world);
}

static void
use_state (World *world)
{
  g_autoptr (PrioSchedulingState) state = NULL;

  if (!is_owner (world))
    return;
  begin (world, STATE);
  state = g_steal_pointer (&world->state);
  if (state == NULL)
    world->state = prio_scheduling_state_ref_current ();
  else
    prio_scheduling_state_run (state, act_once, world);
  end (world, STATE);
}

/* Switches off the mechanisms of a scheduler from @first to @last. */
void
switch_off (World *world, Book *book, Mechanism first, Mechanism last)
{
  for (Mechanism which = first; which <= last; which++)
    {
      if (which != OBSERVER && which != TRACE)
        set_switch (world, book, which, FALSE);
    }
}

/* Replaces a scheduler, which is freed when its tasks have ended.  Callbacks may call this again meanwhile. */
static void
renew_scheduler (World *world)
{
  guint i = dice (N_SCHEDULERS);
  Book *old, *renewed;

  if (!is_owner (world))
    return;
  begin (world, RENEW);
  renewed = book_new (world);
  old = world->books[i];
  world->books[i] = renewed;
  check_statistics (world, old, FALSE);
  switch_off (world, old, STATISTICS, LONG_TASKS);
  /* A notify may have switched a mechanism on again. */
  switch_off (world, old, STATISTICS, LONG_TASKS);
  if ((world->uses & BIT (ENDING_THREAD)) != 0)
    start_thread (world);
  let_go_of (world, TAKE (old->scheduler));
  take_rejected (world, old);
  for (guint n = 0; n < N_GROUPS; n++)
    {
      if (world->groups[n]->book == old)
        drop_group (world, n);
    }
  end (world, RENEW);
}

static void
return_something (World *world)
{
  if (dice (2) == 0)
    return_results (world);
  else
    pass_time (dice (4) * 1000);
}

static void
renew_signal (World *world)
{
  if (is_owner (world))
    make_signal (world, dice (N_SIGNALS));
}

/* Drops references that may be the last.  Remaining work is done meanwhile, or ends by itself. */
static void
drop_something (World *world)
{
  begin (world, DROP);
  switch (dice (6))
    {
    case 0:
      let_go_of (world, TAKE (world->controllers[dice (N_CONTROLLERS)]));
      break;

    case 1:
      let_go_of (world, TAKE (world->signals[dice (N_SIGNALS)]));
      break;

    case 2:
      if (is_owner (world))
        drop_group (world, dice (N_GROUPS));
      break;

    case 3:
      drop_feed (world);
      break;

    default:
      let_go_of (world, TAKE (world->tasks[dice (N_TASKS)]));
      break;
    }
  end (world, DROP);
}

/* Changes whether aborts end deferred tasks, even tasks whose signals were aborted before.  On another thread
 * g_object_set () would emit the resulting notify::state. */
static void
change_return (World *world)
{
  g_autoptr (PrioTask) task = LOOK (world->deferred[dice (N_TASKS)]);
  Payload *payload = task != NULL ? g_object_get_data (G_OBJECT (task), "payload") : NULL;

  if (task != NULL && (is_owner (world) || (payload->kinds & BIT (LISTENED)) == 0))
    return_on_abort (task, payload);
}

/* Makes another thread do an operation, and waits for it. */
static void
ask (World *world)
{
  if (!is_owner (world) || world->is_free || this_thread.n_held > 0)
    return;
  if (dice (2) == 0)
    ask_other_thread (world, 1 + dice (3), TRUE);
  else
    give_turn ();
}

static void
feed_something (World *world)
{
  if (!is_owner (world))
    return;
  switch (dice (3))
    {
    case 0: make_feed (world); break;
    case 1: change_list (world); break;
    default: move_view (world); break;
    }
}

static void
await_or_wait (World *world)
{
  if (!is_owner (world))
    return;
  if (dice (2) == 0 && (world->uses & BIT (WAIT)) != 0)
    wait_for_group (world);
  else if ((world->uses & BIT (AWAIT)) != 0)
    await_something (world);
}

static void
act_now (World *world)
{
  static const struct
  {
    void (*act) (World *world);
    guint64 uses;
  } acts[] = {
    { abort_signal, 0 }, { abort_signal, 0 }, { reset_signal, BIT (CANCELLABLE) }, { cancel_something, BIT (CANCEL) },
    { cancel_something, BIT (CANCEL) }, { change_priority, BIT (PRIORITY) }, { abort_group, 0 }, { nest, BIT (NESTED) },
    { ask, BIT (OTHER_THREAD) }, { start_thread, BIT (ENDING_THREAD) }, { start_thread, BIT (ENDING_THREAD) }, { use_state, BIT (STATE) },
    { renew_scheduler, BIT (RENEW) }, { return_something, 0 }, { change_return, BIT (RETURNS) }, { renew_signal, 0 }, { renew_signal, 0 },
    { drop_something, BIT (DROP) }, { be_slow, BIT (SLOW) }, { await_or_wait, 0 }, { await_or_wait, 0 }, { feed_something, BIT (FEED) },
    { feed_something, BIT (FEED) }, { feed_something, BIT (FEED) }, { switch_something, 0 },
    { switch_something, 0 }, { switch_something, 0 },
  };
  guint i = dice (2 * G_N_ELEMENTS (acts));

  if (i >= G_N_ELEMENTS (acts))
    post_something (world);
  else if ((world->uses & acts[i].uses) == acts[i].uses)
    acts[i].act (world);
}

/* Does a random operation, on any thread and from any place. */
void
act (World *world)
{
  if (g_atomic_int_get (&world->over) || this_thread.depth >= MAX_DEPTH)
    return;
  this_thread.depth++;
  act_now (world);
  this_thread.depth--;
}

void
act_some (World *world, guint at_most)
{
  for (guint n = dice (at_most); n > 0; n--)
    act (world);
}

static void
set_frame (World *world, PrioScheduler *scheduler, gboolean on)
{
  prio_scheduler_set_task_share (scheduler, on ? 0.1 + 0.1 * dice (8) : 0);
  prio_scheduler_set_next_frame (scheduler, on ? g_get_monotonic_time () + dice (20) * 1000 : 0);
  if (is_owner (world))
    prio_scheduler_end_slice (scheduler);
}

static void
long_task (const char *name, PrioTaskPriority priority, double duration, gpointer world)
{
  emitted (world);
}

static void
set_long_tasks (World *world, PrioScheduler *scheduler, gboolean on)
{
  guint before = GPOINTER_TO_UINT (g_object_steal_data (G_OBJECT (scheduler), "long tasks")), id;

  if (before != 0)
    prio_scheduler_remove_long_task_func (scheduler, before);
  if (on)
    {
      id = prio_scheduler_add_long_task_func (scheduler, 1 + dice (3), long_task, world, NULL);
      g_object_set_data (G_OBJECT (scheduler), "long tasks", GUINT_TO_POINTER (id));
    }
}

static void
set_statistics (World *world, Book *book, PrioScheduler *scheduler, gboolean on)
{
  guint n_places = world->n_places;
  gboolean loose;

  book->steady = FALSE;
  check_statistics (world, book, FALSE);
  tally_set (world, &book->runs, on);
  /* The call may run a destroy notify that runs work, and looks at the counts. */
  loose = book->runs.loose;
  book->runs.loose = TRUE;
  (on ? prio_scheduler_start_statistics : prio_scheduler_stop_statistics) (scheduler);
  book->runs.loose = loose || n_places != world->n_places;
}

/* Sets a switch of a scheduler. */
void
set_switch (World *world, Book *book, Mechanism which, gboolean on)
{
  g_autoptr (PrioScheduler) scheduler = LOOK (book->scheduler);
  gboolean was_on = (book->on & BIT (which)) != 0;

  if (scheduler == NULL || (!on && !was_on))
    return;
  if (on && !was_on)
    begin (world, which);
  book->on = on ? book->on | BIT (which) : book->on & ~BIT (which);
  switch (which)
    {
    case STATISTICS: set_statistics (world, book, scheduler, on); break;
    case LENDING: prio_scheduler_set_lends_priority (scheduler, on); break;
    case TASK_SHARE: set_frame (world, scheduler, on); break;
    case PAUSE: on ? prio_scheduler_pause (scheduler) : prio_scheduler_resume (scheduler); break;
    case LONG_TASKS: set_long_tasks (world, scheduler, on); break;
    default: g_assert_not_reached ();
    }
  if (!on && was_on)
    end (world, which);
}

/* Sets a switch of the whole process. */
void
set_watching (World *world, Mechanism which, gboolean on)
{
  Tally *tally = which == TRACE ? &world->trace : &world->observed;

  /* A destroy notify that this change calls may stop the trace again. */
  if (world->is_watching_changed && which == TRACE && !world->trace.on)
    prio_trace_stop ();
  if (tally->on == on || world->is_watching_changed)
    return;
  world->is_watching_changed = TRUE;
  if (on)
    begin (world, which);
  if (which == TRACE)
    set_trace (world, on);
  else
    set_observer (world, on);
  if (!on)
    end (world, which);
  world->is_watching_changed = FALSE;
}

void
switch_something (World *world)
{
  Mechanism which = dice (LONG_TASKS + 1);
  Book *book = world->books[dice (N_SCHEDULERS)];

  /* While another thread runs, the thread that has set the switch is not known. */
  if ((world->uses & BIT (which)) == 0 || (!is_owner (world) && (world->is_free || which == OBSERVER)))
    return;
  if (which == TRACE)
    set_watching (world, which, !world->trace.on);
  else if (which == OBSERVER)
    set_watching (world, which, !world->observed.on);
  else
    set_switch (world, book, which, (book->on & BIT (which)) == 0 || dice (4) == 0);
}
