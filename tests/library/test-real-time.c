/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-real-time.c: a real-time thread that becomes the owner of a context
 *
 * Links the library's own objects, so that a thread can stay inside the library for long.
 */

/* For sched_setaffinity (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "helpers.h"
#include "scheduler/prio-scheduler-private.h"
#include "stay-inside.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* Milliseconds inside. */
enum { N_LOOKS = 1000000 };

static gint stop_staying;

/* Enters the loop, and stays there nearly all the time. */
static gpointer
be_inside (gpointer data)
{
  Fixture *f = data;

  g_main_context_iteration (f->context, FALSE);
  while (!g_atomic_int_get (&stop_staying))
    stay_inside (f->scheduler->run_queue->loop, N_LOOKS);
  return NULL;
}

static gint64
get_cpu_time (void)
{
  struct timespec spent;

  g_assert_cmpint (clock_gettime (CLOCK_THREAD_CPUTIME_ID, &spent), ==, 0);
  return spent.tv_sec * G_USEC_PER_SEC + spent.tv_nsec / 1000;
}

/* Takes the context over in a real-time thread on the same processor, where the other thread runs only while this one
 * sleeps.  In an earlier version, this thread kept the processor until the kernel's limit for real time, 950 ms. */
static gpointer
take_over_in_real_time (gpointer data)
{
  Fixture *f = data;
  struct sched_param param = { .sched_priority = 1 };
  cpu_set_t one, all;
  GThread *other;
  gint64 spent;

  g_assert_cmpint (sched_getaffinity (0, sizeof all, &all), ==, 0);
  CPU_ZERO (&one);
  for (gint i = 0; i < CPU_SETSIZE && CPU_COUNT (&one) == 0; i++)
    {
      if (CPU_ISSET (i, &all))
        CPU_SET (i, &one);
    }

  g_atomic_int_set (&stop_staying, FALSE);
  if (sched_setaffinity (0, sizeof one, &one) != 0)
    return (gpointer) "sched_setaffinity() is not permitted";
  other = g_thread_new ("inside", be_inside, f);
  g_usleep (20000);
  if (pthread_setschedparam (pthread_self (), SCHED_FIFO, &param) != 0)
    {
      g_atomic_int_set (&stop_staying, TRUE);
      g_thread_join (other);
      return (gpointer) "SCHED_FIFO is not permitted";
    }
  g_usleep (1000);
  g_atomic_int_set (&stop_staying, TRUE);

  spent = get_cpu_time ();
  g_main_context_iteration (f->context, FALSE);
  spent = get_cpu_time () - spent;
  g_thread_join (other);
  g_assert_cmpint (spent, <, 200000);
  return NULL;
}

static void
test_taking_over_in_real_time (Fixture *f, gconstpointer data)
{
  const char *skipped = NULL;

  g_main_context_pop_thread_default (f->context);
  for (guint i = 0; i < 3 && skipped == NULL; i++)
    skipped = g_thread_join (g_thread_new ("real time", take_over_in_real_time, f));
  if (skipped != NULL)
    g_test_skip (skipped);
  g_main_context_push_thread_default (f->context);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/real-time/taking-over", test_taking_over_in_real_time);

  return g_test_run ();
}
