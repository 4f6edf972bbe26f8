/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-contexts.c: contexts that are destroyed with tasks in them leak nothing */

#include "counts.h"
#include "helpers.h"
#include "tsan-suppressions.h"

static gint n_posted, n_notified, n_contexts, n_contexts_gone, n_signals, n_signals_gone; /* atomic */

/* Makes a context that is counted when it is freed. */
static GMainContext *
context_new (void)
{
  GMainContext *context = g_main_context_new ();

  watch_context (context, &n_contexts_gone);
  g_atomic_int_inc (&n_contexts);
  return context;
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
notified (gpointer data)
{
  g_atomic_int_inc (&n_notified);
}

static void
said (GCancellable *signal, gpointer data)
{
}

static void
signal_gone (gpointer data, GObject *signal)
{
  g_atomic_int_inc (&n_signals_gone);
}

static GCancellable *
counted (gpointer signal)
{
  g_atomic_int_inc (&n_signals);
  g_object_weak_ref (signal, signal_gone, NULL);
  return signal;
}

typedef enum
{
  PLAIN,
  CONTROLLER,
  ANY_OF_PLAIN,
  ANY_OF_SHARED,
  FOLLOWER_OF_SHARED,
  TIMEOUT,
  ANY_OF_TIMEOUT,
  N_KINDS
} Kind;

/* Returns: (transfer full): a new signal */
static GCancellable *
make_signal (Kind kind, GCancellable *shared)
{
  g_autoptr (GCancellable) source = NULL;
  g_autoptr (PrioTaskController) controller = NULL;

  switch (kind)
    {
    case PLAIN:
      return counted (g_cancellable_new ());

    case CONTROLLER:
      controller = prio_task_controller_new (BACKGROUND);
      return g_object_ref (counted (cancellable_of (controller)));

    case ANY_OF_PLAIN:
      source = counted (g_cancellable_new ());
      break;

    case ANY_OF_SHARED:
      source = g_object_ref (shared);
      break;

    case FOLLOWER_OF_SHARED:
      return counted (prio_task_signal_new_any_following (&shared, 1, PRIO_TASK_SIGNAL (shared)));

    case TIMEOUT:
      return counted (prio_task_signal_new_timeout (3600 * 1000));

    default:
      source = counted (prio_task_signal_new_timeout (3600 * 1000));
    }

  return counted (prio_task_signal_new_any (&source, 1, USER_VISIBLE));
}

static void
post (PrioScheduler *scheduler, GCancellable *signal, guint64 delay)
{
  g_atomic_int_inc (&n_posted);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal, .delay = delay }, nothing, NULL,
                            notified);
}

static void
assert_nothing_left (void)
{
  g_assert_cmpint (n_notified, ==, n_posted);
  g_assert_cmpint (n_contexts_gone, ==, n_contexts);
  g_assert_cmpint (n_signals_gone, ==, n_signals);
}

/* In an earlier version, the context owned the loop's record, the record the signal, and the signal the context. */
static void
test_queued (gconstpointer data)
{
  GMainContext *context = context_new ();
  g_autoptr (PrioTaskController) shared = prio_task_controller_new (BACKGROUND);
  PrioScheduler *scheduler = prio_scheduler_new (context);
  GCancellable *signal;

  g_main_context_push_thread_default (context);
  signal = make_signal (GPOINTER_TO_INT (data), cancellable_of (shared));
  post (scheduler, signal, 0);
  post (scheduler, signal, 1000);
  g_object_unref (signal);
  g_object_unref (scheduler);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);

  assert_nothing_left ();
}

/* No task is posted: a handler keeps a signal, which may not keep the context. */
static void
test_listened_to (gconstpointer data)
{
  GMainContext *context = context_new ();
  g_autoptr (PrioTaskController) shared = prio_task_controller_new (BACKGROUND);
  GCancellable *signal;

  g_main_context_push_thread_default (context);
  signal = make_signal (GPOINTER_TO_INT (data), cancellable_of (shared));
  g_signal_connect (signal, "cancelled", G_CALLBACK (said), NULL);
  g_object_unref (signal);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  g_assert_cmpint (n_contexts_gone, ==, n_contexts);

  g_clear_object (&shared);
  assert_nothing_left ();
}

/* The context of a dependent is destroyed, and then its source cancelled by hand: the default context emits the
 * dependent's `cancelled`. */
static void
test_cancelled_by_hand_later (void)
{
  GMainContext *context = context_new ();
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (PrioTaskSignal) before = NULL, after = NULL;
  gint n_said = 0;

  g_main_context_push_thread_default (context);
  before = prio_task_signal_new_any (&plain, 1, USER_VISIBLE);
  g_main_context_pop_thread_default (context);
  g_signal_connect_swapped (before, "cancelled", G_CALLBACK (g_atomic_int_inc), &n_said);
  g_main_context_unref (context);
  g_cancellable_cancel (plain);
  g_assert_cmpint (n_said, ==, 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpint (n_said, ==, 1);

  /* The context is destroyed between the cancel and the emission. */
  context = context_new ();
  g_cancellable_reset (plain);
  g_main_context_push_thread_default (context);
  after = prio_task_signal_new_any (&plain, 1, USER_VISIBLE);
  g_main_context_pop_thread_default (context);
  g_signal_connect_swapped (after, "cancelled", G_CALLBACK (g_atomic_int_inc), &n_said);
  g_cancellable_cancel (plain);
  g_main_context_unref (context);
  g_assert_cmpint (n_said, ==, 1);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpint (n_said, ==, 2);

  g_clear_object (&before);
  g_clear_object (&after);
  assert_nothing_left ();
}

/* An action of another thread, or this one, in the middle of the destruction of a context: GLib has freed it, and is
 * about to release its sources. */
typedef struct
{
  GSource parent;
  void (*func) (gpointer data);
  gpointer data;
} EndSource;

static void
context_ends (GSource *source)
{
  EndSource *self = (EndSource *) source;

  self->func (self->data);
}

static GSourceFuncs end_funcs = { sentinel_prepare, NULL, NULL, context_ends, NULL, NULL };

/* A context with a scheduler that is asleep. */
static GMainContext *
context_with_end (void (*func) (gpointer data), gpointer data, PrioTaskController *controller)
{
  GMainContext *context = context_new ();
  PrioScheduler *scheduler = prio_scheduler_new (context);
  GSource *source = g_source_new (&end_funcs, sizeof (EndSource));

  ((EndSource *) source)->func = func;
  ((EndSource *) source)->data = data;
  /* The last source of the context is released first. */
  g_source_set_priority (source, G_MAXINT);
  g_source_attach (source, context);
  g_source_unref (source);

  post (scheduler, cancellable_of (controller), 3600 * 1000);
  g_object_unref (scheduler);
  for (guint i = 0; i < 5; i++)
    g_main_context_iteration (context, FALSE);
  return context;
}

static gpointer
abort_it (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static void
abort_in_a_thread (gpointer controller)
{
  g_thread_join (g_thread_new ("aborter", abort_it, controller));
}

/* An abort during the destruction once woke a context that had been freed. */
static void
test_abort_at_its_end (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  g_main_context_unref (context_with_end (abort_in_a_thread, controller, controller));
  assert_nothing_left ();
}

typedef struct
{
  PrioTaskController *controller;
  GThread *thread;
  guint n_here, n_elsewhere;
} Releases;

static void
count_thread (gpointer data)
{
  Releases *self = data;

  if (g_thread_self () == self->thread)
    self->n_here++;
  else
    self->n_elsewhere++;
}

static void
count_thread_and_abort (gpointer data)
{
  Releases *self = data;

  count_thread (data);
  abort_in_a_thread (self->controller);
}

/* Found by `soak`: tasks that another thread aborted during the destruction were released on that thread, and the
 * destruction did not wait for it. */
static void
test_released_by_one_thread (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Releases releases = { controller, g_thread_self (), 0, 0 };
  GMainContext *context = context_new ();
  PrioScheduler *scheduler = prio_scheduler_new (context);

  /* More than are released at once, so that the others are still queued when the first notify aborts them. */
  for (guint i = 0; i < 300; i++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = i < 100 ? NULL : signal_of (controller) },
                              nothing, &releases, i == 0 ? count_thread_and_abort : count_thread);
  g_object_unref (scheduler);
  g_main_context_unref (context);
  g_assert_cmpuint (releases.n_elsewhere, ==, 0);
  g_assert_cmpuint (releases.n_here, ==, 300);
  assert_nothing_left ();
}

static gboolean
ran (gpointer n_ran)
{
  ++*(guint *) n_ran;
  return G_SOURCE_REMOVE;
}

static void
post_to_context (GMainContext *context, guint *n_ran)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

  g_atomic_int_inc (&n_posted);
  prio_scheduler_post (scheduler, USER_VISIBLE, ran, n_ran, notified);
}

typedef struct
{
  GMainContext *ending; /* compared only */
  GMainContext *others[64];
  guint n_ran;
} Successors;

static void
make_others (gpointer data)
{
  Successors *self = data;

  /* The allocator decides whether one of them gets the memory. */
  for (guint i = 0; i < G_N_ELEMENTS (self->others); i++)
    {
      self->others[i] = context_new ();
      if (self->others[i] == self->ending)
        g_test_message ("the %uth is where the one is that ends", i);
      post_to_context (self->others[i], &self->n_ran);
    }
}

/* In an earlier version, a new context at the address of a context in destruction got its record, too. */
static void
test_another_in_its_place (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Successors self = { NULL };

  /* New memory does not come from the shortest lists of free memory: fill those. */
  for (guint i = 0; i < G_N_ELEMENTS (self.others); i++)
    self.others[i] = context_new ();
  for (guint i = 0; i < G_N_ELEMENTS (self.others); i++)
    g_main_context_unref (self.others[i]);

  self.ending = context_with_end (make_others, &self, controller);
  g_main_context_unref (self.ending);
  for (guint i = 0; i < G_N_ELEMENTS (self.others); i++)
    {
      while (g_main_context_iteration (self.others[i], FALSE))
        ;
    }
  g_assert_cmpuint (self.n_ran, ==, G_N_ELEMENTS (self.others));
  for (guint i = 0; i < G_N_ELEMENTS (self.others); i++)
    g_main_context_unref (self.others[i]);
  assert_nothing_left ();
}

#define N_AT_ONCE 6

static gint next_worker;

static gpointer
work (gpointer data)
{
  GCancellable *shared = data;
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) g_atomic_int_add (&next_worker, 1));
  GMainContext *context = context_new ();
  PrioScheduler *scheduler;

  g_main_context_push_thread_default (context);
  scheduler = prio_scheduler_ref_thread_default ();
  for (guint i = 0; i < 50; i++)
    {
      GCancellable *signal = make_signal (g_rand_int_range (random, 0, N_KINDS), shared);

      if (g_rand_boolean (random))
        g_signal_connect (signal, "cancelled", G_CALLBACK (said), NULL);
      post (scheduler, signal, g_rand_boolean (random) ? 0 : (guint64) g_rand_int_range (random, 1, 5000));
      if (g_rand_int_range (random, 0, 20) == 0)
        g_cancellable_cancel (signal);
      g_object_unref (signal);
      if (g_rand_int_range (random, 0, 50) == 0)
        g_main_context_iteration (context, FALSE);
    }

  g_object_unref (scheduler);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  return NULL;
}

/* In an earlier version, none of 3,000 such threads freed its context.  The threads' shared signals change and are
 * aborted while the threads end. */
static void
test_many_threads (void)
{
  guint n_descriptors = count_descriptors ();
  guint n_workers = times (3000);

  for (guint n = 0; n < n_workers; n += N_AT_ONCE)
    {
      PrioTaskController *shared = prio_task_controller_new (BACKGROUND);
      GThread *threads[N_AT_ONCE];

      for (guint i = 0; i < N_AT_ONCE; i++)
        threads[i] = g_thread_new ("worker", work, cancellable_of (shared));
      prio_task_controller_set_priority (shared, USER_VISIBLE, NULL);
      for (guint i = 0; i < N_AT_ONCE / 2; i++)
        g_thread_join (threads[i]);
      prio_task_controller_set_priority (shared, USER_BLOCKING, NULL);
      prio_task_controller_abort (shared, NULL);
      for (guint i = N_AT_ONCE / 2; i < N_AT_ONCE; i++)
        g_thread_join (threads[i]);
      g_object_unref (shared);
    }

  /* Emits for signals that were cancelled with g_cancellable_cancel (), and had no context left. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
  assert_nothing_left ();
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
}

static void
capture_state (GCancellable *signal, gpointer data)
{
  PrioSchedulingState **state = data;

  *state = prio_scheduling_state_ref_current ();
}

/* A signal's emission in its main context is not part of a task whose state a handler could keep beyond the context. */
static void
test_no_state_in_what_is_said_later (void)
{
  GMainContext *context = context_new ();
  g_autoptr (GCancellable) source = g_cancellable_new ();
  g_autoptr (PrioTaskSignal) dependent = NULL;
  PrioSchedulingState *state = (gpointer) &state;

  g_main_context_push_thread_default (context);
  dependent = prio_task_signal_new_any (&source, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  g_main_context_pop_thread_default (context);
  g_signal_connect (dependent, "cancelled", G_CALLBACK (capture_state), &state);

  g_cancellable_cancel (source);
  while (g_main_context_iteration (context, FALSE))
    ;
  g_main_context_unref (context);
  g_assert_null (state);
}

int
main (int argc, char **argv)
{
  static const char *const names[N_KINDS] = {
    "plain", "controller", "any-of-plain", "any-of-shared", "follower-of-shared", "timeout", "any-of-timeout"
  };

  g_test_init (&argc, &argv, NULL);

  /* The source has a descriptor, so it stays. */
  g_main_context_iteration (NULL, FALSE);

  for (gint kind = 0; kind < N_KINDS; kind++)
    {
      g_autofree char *queued = g_strdup_printf ("/contexts/queued/%s", names[kind]);
      g_autofree char *listened_to = g_strdup_printf ("/contexts/listened-to/%s", names[kind]);

      g_test_add_data_func (queued, GINT_TO_POINTER (kind), test_queued);
      g_test_add_data_func (listened_to, GINT_TO_POINTER (kind), test_listened_to);
    }
  g_test_add_func ("/contexts/cancelled-by-hand-later", test_cancelled_by_hand_later);
  g_test_add_func ("/contexts/no-state-in-what-is-said-later", test_no_state_in_what_is_said_later);
  g_test_add_func ("/contexts/end/abort", test_abort_at_its_end);
  g_test_add_func ("/contexts/end/released-by-one-thread", test_released_by_one_thread);
  g_test_add_func ("/contexts/end/another-in-its-place", test_another_in_its_place);
  g_test_add_func ("/contexts/many-threads", test_many_threads);

  return g_test_run ();
}
