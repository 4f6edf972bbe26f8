/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-owners.c: threads that take turns in running a context, and post to it all the time
 *
 * With -m slow the program runs longer.  A signal handler stops one of the threads now and then, at any instruction, as
 * the kernel does on a busy machine.
 */

#define _GNU_SOURCE

#include "helpers.h"

#if defined (__linux__) && !defined (__SANITIZE_THREAD__)
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef SIGEV_THREAD_ID
#define KEEP_AWAY 1
#endif
#endif

enum { N_ROUNDS = 6000, N_SLOW_ROUNDS = 100000, N_UNDER_SIGNAL = 300, N_PLAIN = 40 };

typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  guint n_rounds;
  gint n_posted, n_freed, over; /* atomic */
} Owners;

static gboolean
run_once (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
count_freed (gpointer data)
{
  g_atomic_int_inc (&((Owners *) data)->n_freed);
}

static void
run_some (Owners *owners)
{
  if (!g_main_context_acquire (owners->context))
    return;
  g_main_context_iteration (owners->context, FALSE);
  g_main_context_release (owners->context);
}

#ifdef KEEP_AWAY
/* Some libcs do not have this name. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void
stay_away (int number)
{
  static gint n;
  struct timespec time = { 0, 20000 + g_atomic_int_add (&n, 1) % 20 * 20000 };

  nanosleep (&time, NULL);
}

static timer_t
keep_this_thread_away (void)
{
  struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
  struct itimerspec often = { { 0, 400000 }, { 0, 300000 } };
  timer_t timer;

  event.sigev_notify_thread_id = (pid_t) syscall (SYS_gettid);
  signal (SIGUSR1, stay_away);
  g_assert_cmpint (timer_create (CLOCK_MONOTONIC, &event, &timer), ==, 0);
  g_assert_cmpint (timer_settime (timer, 0, &often, NULL), ==, 0);
  return timer;
}
#endif

static gpointer
post_plainly (gpointer data)
{
  Owners *owners = data;
#ifdef KEEP_AWAY
  timer_t timer = keep_this_thread_away ();
#endif

  while (!g_atomic_int_get (&owners->over))
    {
      for (guint i = 0; i < N_PLAIN; i++)
        prio_scheduler_post (owners->scheduler, USER_VISIBLE, run_once, owners, count_freed);
      g_atomic_int_add (&owners->n_posted, N_PLAIN);
      run_some (owners);
    }
#ifdef KEEP_AWAY
  timer_delete (timer);
#endif
  return NULL;
}

/* Posts tasks, and aborts them: the abort does not leave the loop for long. */
static gpointer
post_and_abort (gpointer data)
{
  Owners *owners = data;

  for (guint round = 0; round < owners->n_rounds; round++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

      run_some (owners);
      for (guint i = 0; i < N_UNDER_SIGNAL; i++)
        prio_scheduler_post_full (owners->scheduler, &options, run_once, owners, count_freed);
      g_atomic_int_add (&owners->n_posted, N_UNDER_SIGNAL);
      prio_task_controller_abort (controller, NULL);
    }
  g_atomic_int_set (&owners->over, TRUE);
  return NULL;
}

/* Every destroy notify is called once, and no data is corrupt. */
static void
test_take_turns (void)
{
  Owners owners = { .context = g_main_context_new (), .n_rounds = g_test_slow () ? N_SLOW_ROUNDS : times (N_ROUNDS) };
  GThread *plain, *aborting;

  owners.scheduler = prio_scheduler_new (owners.context);
  plain = g_thread_new ("plain", post_plainly, &owners);
  aborting = g_thread_new ("aborting", post_and_abort, &owners);
  g_thread_join (aborting);
  g_thread_join (plain);

  while (g_main_context_iteration (owners.context, FALSE))
    ;
  g_assert_cmpint (owners.n_freed, ==, owners.n_posted);
  g_object_unref (owners.scheduler);
  g_main_context_unref (owners.context);
}

static void
note_thread (gpointer thread)
{
  *(GThread **) thread = g_thread_self ();
}

static gpointer
run_context (gpointer context)
{
  g_main_context_iteration (context, FALSE);
  return NULL;
}

/* A thread that has run the context may abort tasks while another thread runs it. */
static void
test_released_by_the_next_owner (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GThread *thread, *released_by = NULL;

  run_context (context);
  prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = prio_task_controller_get_signal (controller)), run_once, &released_by,
                            note_thread);
  prio_task_controller_abort (controller, NULL);
  g_assert_null (released_by);

  thread = g_thread_new ("next", run_context, context);
  g_thread_join (thread);
  g_assert_true (released_by == thread);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/owners/take-turns", test_take_turns);
  g_test_add_func ("/owners/released-by-the-next-owner", test_released_by_the_next_owner);

  return g_test_run ();
}
