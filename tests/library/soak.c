/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* soak.c: many tasks from several threads, for a long time
 *
 *   G_SLICE=always-malloc GLIBC_TUNABLES=glibc.malloc.tcache_count=0 soak [--tasks N] [--seconds N]
 *
 * Two threads post, abort and change the priorities of 10,000,000 tasks of a context that a
 * third thread runs; schedulers and contexts are made and destroyed meanwhile.  Checks that each
 * destroy notify is called once, on the thread that the documentation names: the context's or, if the task is rejected,
 * the posting thread; and that all memory is freed.  With --seconds, repeats this for that time.  The environment
 * variables SOAK_SECONDS and, without --seconds, STRESS_TASKS take precedence if they are greater.  (The slices of GLib
 * up to 2.74 keep freed memory, and the caches of the C library count as used: hence the variables above.)
 */

#include "helpers.h"
#include "tsan-suppressions.h"

#include <malloc.h>
#include <stdlib.h>

enum { N_POSTERS = 2, N_OWN = 8, N_SHARED = 4, N_SCHEDULERS = 3 };

/* A posting thread waits while this many tasks have not ended. */
#define MAX_PENDING 20000

/* Bytes that rounds may leave: tables of GObject that have grown. */
#define SLACK 16384

#if defined (__SANITIZE_ADDRESS__) || defined (__SANITIZE_THREAD__)
#define MEMORY_IS_COUNTED FALSE /* not here: the sanitizer has its own allocator */
#else
#define MEMORY_IS_COUNTED TRUE
#endif

/* The fate of a task, to which its data points. */
typedef enum { NEW, RAN, FREED } Fate;

typedef struct
{
  GMainContext *context;
  PrioScheduler *schedulers[N_SCHEDULERS];
  PrioTaskController *shared[N_SHARED]; /* never aborted */
  GThread *owner;
  guint8 *fates;
  guint n_tasks;
  gint n_ended;    /* atomic: posted tasks that have ended */
  gint n_posters;  /* atomic: posters that have not ended */
  gint n_heard;    /* atomic: notified changes of dependent signals */
} Round;

typedef struct
{
  Round *round;
  GRand *random;
  PrioTaskController *own[N_OWN];
  PrioTaskSignal *dependents[N_OWN];
  guint first, end; /* the numbers of the thread's tasks */
  guint n_posted;
  guint n_rejected, n_aborts, n_changes;
} Poster;

static Round *current;

/* Set during a call that may reject its task. */
static _Thread_local gboolean posting;

static void
ended (gpointer data)
{
  guint8 *fate = data;

  g_assert_true (*fate != FREED);
  g_assert_true (g_thread_self () == current->owner || posting);
  *fate = FREED;
  g_atomic_int_inc (&current->n_ended);
}

static void
run (gpointer data)
{
  guint8 *fate = data;

  g_assert_true (*fate == NEW);
  g_assert_true (g_thread_self () == current->owner);
  *fate = RAN;
}

static gboolean
run_closure (gpointer data)
{
  run (data);
  return G_SOURCE_REMOVE;
}

static void
run_task (PrioTask *task, gpointer data)
{
  run (data);
  prio_task_return_int (task, 1);
}

static void
run_idle (PrioIdleDeadline *deadline, gpointer data)
{
  run (data);
}

static void
task_completed (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (g_thread_self () == current->owner);
}

static guint
dice (Poster *self, guint sides)
{
  return (guint) g_rand_int_range (self->random, 0, (gint32) sides);
}

static PrioTaskController *
any_controller (Poster *self)
{
  return dice (self, 4) == 0 ? self->round->shared[dice (self, N_SHARED)] : self->own[dice (self, N_OWN)];
}

static GCancellable *
any_signal (Poster *self)
{
  return dice (self,
               3) == 0 ? G_CANCELLABLE (self->dependents[dice (self, N_OWN)]) : cancellable_of (any_controller (self));
}

/* Handles a dependent signal, on whichever thread changes it: some of these signals have no other user. */
static void
priority_changed (PrioTaskSignal *signal, PrioTaskPriority previous, gpointer n_heard)
{
  g_atomic_int_inc ((gint *) n_heard);
}

/* Creates a signal that either of two signals aborts, and that follows one of them, or a sibling of that one. */
static void
renew_dependent (Poster *self, guint i)
{
  GCancellable *sources[] = { cancellable_of (any_controller (self)), cancellable_of (any_controller (self)) };
  PrioTaskSignal *followed = self->dependents[dice (self, N_OWN)];
  PrioTaskSignal *old = self->dependents[i];

  if (followed == NULL || dice (self, 2) == 0)
    followed = PRIO_TASK_SIGNAL (sources[0]);
  self->dependents[i] = prio_task_signal_new_any_following (sources, 2, followed);
  if (dice (self, 2) == 0)
    g_signal_connect (self->dependents[i], "priority-change", G_CALLBACK (priority_changed), &self->round->n_heard);
  g_clear_object (&old);
}

static PrioScheduler *
any_scheduler (Poster *self)
{
  return self->round->schedulers[dice (self, N_SCHEDULERS)];
}

static guint8 *
next_task (Poster *self)
{
  return &self->round->fates[self->first + self->n_posted++];
}

static void
post_closure (Poster *self, GCancellable *signal, guint64 delay)
{
  guint8 *fate = next_task (self);

  posting = TRUE;
  if (!prio_scheduler_post_full (any_scheduler (self), &(PrioTaskOptions) { .cancellable = signal, .delay = delay },
                                 run_closure, fate, ended))
    {
      g_assert_true (*fate == FREED);
      self->n_rejected++;
    }
  posting = FALSE;
}

static void
post_with_result (Poster *self)
{
  g_autoptr (PrioTask) task = NULL;

  posting = TRUE;
  task = prio_scheduler_post_task (any_scheduler (self), &(PrioTaskOptions) { .cancellable = any_signal (self) },
                                   run_task, next_task (self), ended);
  posting = FALSE;
  if (dice (self, 2) == 0)
    prio_task_then (task, task_completed, NULL, NULL);
  if (dice (self, 4) == 0)
    prio_task_cancel (task);
}

static void
post_something (Poster *self)
{
  switch (dice (self, 20))
    {
    case 0:
      post_closure (self, NULL, 1 + dice (self, 3));
      break;

    case 1:
      post_closure (self, any_signal (self), 1 + dice (self, 3));
      break;

    case 2:
    case 3:
      post_with_result (self);
      break;

    case 4:
      prio_scheduler_queue_microtask (any_scheduler (self), run, next_task (self), ended);
      break;

    case 5:
      {
        PrioScheduler *scheduler = any_scheduler (self);
        guint id = prio_scheduler_request_idle_callback (scheduler, 1, run_idle, next_task (self), ended);

        if (dice (self, 2) == 0)
          prio_scheduler_cancel_idle_callback (scheduler, id);
        break;
      }

    case 6:
    case 7:
    case 8:
      prio_scheduler_post (any_scheduler (self), BACKGROUND + dice (self, 3), run_closure, next_task (self), ended);
      break;

    default:
      post_closure (self, any_signal (self), 0);
      break;
    }
}

static void
abort_some (Poster *self)
{
  PrioTaskController **controller = &self->own[dice (self, N_OWN)];

  prio_task_controller_abort (*controller, NULL);
  self->n_aborts++;
  /* Posts with this signal are rejected for a while. */
  for (guint i = 0; i < 5 && self->first + self->n_posted < self->end; i++)
    post_closure (self, cancellable_of (*controller), 0);
  g_object_unref (*controller);
  *controller = prio_task_controller_new (BACKGROUND + dice (self, 3));
}

/* Uses a scheduler for a single task of the context that others use. */
static void
use_scheduler (Poster *self)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (self->round->context);

  prio_scheduler_post (scheduler, BACKGROUND + dice (self, 3), run_closure, next_task (self), ended);
}

static void
count (gpointer n)
{
  ++*(guint *) n;
}

static gboolean
count_and_end (gpointer n)
{
  count (n);
  return G_SOURCE_REMOVE;
}

/* Runs a new context in this thread for a while, and destroys it with tasks in it. */
static void
use_context (Poster *self)
{
  GMainContext *context = g_main_context_new ();
  PrioScheduler *scheduler = prio_scheduler_new (context);
  guint n_ran = 0, n_freed = 0;

  for (guint i = 0; i < 20; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) { .signal = signal_of (any_controller (self)), .delay = i % 3 },
                              count_and_end, &n_ran, NULL);
  for (guint i = 0; i < 20; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) {
                                .priority = BACKGROUND,
                                .signal = signal_of (self->round->shared[0]),
                              },
                              count_and_end, &n_freed, count);
  g_main_context_iteration (context, FALSE);

  if (dice (self, 2) == 0)
    g_clear_object (&scheduler);
  g_main_context_unref (context);
  g_clear_object (&scheduler);
  g_assert_cmpuint (n_freed, >=, 20);
  g_assert_cmpuint (n_ran, <=, 20);
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static gpointer
run_poster (gpointer data)
{
  Poster *self = data;
  Round *round = self->round;

  for (guint i = 0; i < N_OWN; i++)
    self->own[i] = prio_task_controller_new (BACKGROUND + i % 3);
  for (guint i = 0; i < N_OWN; i++)
    renew_dependent (self, i);

  while (self->first + self->n_posted < self->end)
    {
      guint what = dice (self, 2000);

      if (what < 20)
        self->n_changes += prio_task_controller_set_priority (any_controller (self), BACKGROUND + dice (self, 3), NULL);
      else if (what < 22)
        abort_some (self);
      else if (what < 24)
        use_scheduler (self);
      else if (what == 24)
        use_context (self);
      else if (what < 35)
        renew_dependent (self, dice (self, N_OWN));
      else
        post_something (self);

      while (self->n_posted > MAX_PENDING &&
             (guint) g_atomic_int_get (&round->n_ended) + N_POSTERS * MAX_PENDING < N_POSTERS * self->n_posted)
        g_usleep (100);
    }

  for (guint i = 0; i < N_OWN; i++)
    {
      g_object_unref (self->own[i]);
      g_object_unref (self->dependents[i]);
    }
  g_atomic_int_dec_and_test (&round->n_posters);
  prio_scheduler_post (round->schedulers[0], BACKGROUND, nothing, NULL, NULL);
  return NULL;
}

static void
round_run (guint n_tasks, guint seed, gboolean tell)
{
  Round round = { .owner = g_thread_self (), .n_tasks = n_tasks, .n_posters = N_POSTERS };
  Poster posters[N_POSTERS];
  GThread *threads[N_POSTERS];

  current = &round;
  round.fates = g_new0 (guint8, n_tasks);
  round.context = g_main_context_new ();
  for (guint i = 0; i < N_SCHEDULERS; i++)
    round.schedulers[i] = prio_scheduler_new (round.context);
  for (guint i = 0; i < N_SHARED; i++)
    round.shared[i] = prio_task_controller_new (BACKGROUND + i % 3);

  for (guint i = 0; i < N_POSTERS; i++)
    {
      posters[i] = (Poster) { .round = &round, .random = g_rand_new_with_seed (seed + i),
                              .first = i * (n_tasks / N_POSTERS), .end = (i + 1) * (n_tasks / N_POSTERS) };
      threads[i] = g_thread_new ("poster", run_poster, &posters[i]);
    }

  while (g_atomic_int_get (&round.n_posters) > 0 || (guint) g_atomic_int_get (&round.n_ended) < n_tasks)
    g_main_context_iteration (round.context, TRUE);

  for (guint i = 0; i < N_POSTERS; i++)
    {
      g_thread_join (threads[i]);
      g_rand_free (posters[i].random);
      if (tell)
        g_print ("%u posted, %u rejected; %u aborts, %u changes of priority\n", posters[i].n_posted,
                 posters[i].n_rejected, posters[i].n_aborts, posters[i].n_changes);
    }

  if (tell)
    g_print ("%d changes notified to handlers of dependent signals\n", round.n_heard);

  for (guint i = 0; i < n_tasks; i++)
    g_assert_true (round.fates[i] == FREED);
  g_assert_cmpint (round.n_ended, ==, n_tasks);

  for (guint i = 0; i < N_SCHEDULERS; i++)
    g_object_unref (round.schedulers[i]);
  for (guint i = 0; i < N_SHARED; i++)
    g_object_unref (round.shared[i]);
  g_main_context_unref (round.context);
  g_free (round.fates);

  /* The posters' signals belong to the default context; another thread's g_object_unref () may still use a reference
   * that the context drops. */
  while (g_main_context_iteration (NULL, FALSE))
    continue;
}

static gsize
memory_in_use (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* Returns @value, or the environment's value, if that is more. */
static gint
at_least (gint value, const char *variable)
{
  const char *text = g_getenv (variable);

  return text != NULL ? MAX (value, atoi (text)) : value;
}

int
main (int argc, char **argv)
{
  gint n_tasks = 10000000, seconds = 0;
  guint seed = g_random_int ();
  const GOptionEntry options[] = {
    { "tasks", 0, 0, G_OPTION_ARG_INT, &n_tasks, "Tasks of a round", "N" },
    { "seconds", 0, 0, G_OPTION_ARG_INT, &seconds, "How long to make rounds", "N" },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  gint64 end;
  gsize before;
  guint n_rounds = 0;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || n_tasks < N_POSTERS)
    {
      g_printerr ("%s\n", error != NULL ? error->message : "Too few tasks");
      return 2;
    }
  if (seconds > 0)
    seconds = at_least (seconds, "SOAK_SECONDS");
  else
    n_tasks = at_least (n_tasks, "STRESS_TASKS");
  n_tasks -= n_tasks % N_POSTERS;

  g_print ("seed %u\n", seed);
  /* GLib creates the lock of its errors with the first error, and ThreadSanitizer does not see that another thread
   * waits for the lock. */
  g_error_free (g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "made early"));
  /* Creates the objects that are created once, and kept. */
  round_run (20000, seed, FALSE);
  before = memory_in_use ();
  end = g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND;

  do
    {
      n_rounds++;
      round_run ((guint) n_tasks, seed + N_POSTERS * n_rounds, n_rounds == 1);
      if (MEMORY_IS_COUNTED && memory_in_use () > before + SLACK)
        {
          g_printerr ("After round %u, %" G_GSIZE_FORMAT " bytes are in use; they were %" G_GSIZE_FORMAT "\n", n_rounds,
                      memory_in_use (), before);
          return 1;
        }
    }
  while (g_get_monotonic_time () < end);

  g_print ("%u rounds of %d tasks; bytes in use: %" G_GSIZE_FORMAT " before, %" G_GSIZE_FORMAT " after\n", n_rounds, n_tasks,
           before, memory_in_use ());
  return 0;
}
