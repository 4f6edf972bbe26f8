/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-race.c: a planted race, which ThreadSanitizer must find
 *
 *     test-race [--planted]
 *
 * ThreadSanitizer does not see futexes, and so not GMutex; a build for it replaces the library's
 * locks.  Two threads post, which is not a race, and count, which is one.  If the replaced locks made
 * ThreadSanitizer assume more order than they establish, it would miss the race.
 */

#include "helpers.h"

#define N 1000

static gboolean planted;
static gint n_posted; /* both threads count */
static gint n_run;

static gboolean
count (gpointer data)
{
  n_run++;
  return G_SOURCE_REMOVE;
}

static gpointer
post (gpointer scheduler)
{
  for (guint i = 0; i < N; i++)
    {
      prio_scheduler_post (scheduler, USER_VISIBLE, count, NULL, NULL);
      if (planted)
        n_posted++;
      else
        g_atomic_int_inc (&n_posted);
    }
  return NULL;
}

int
main (int argc, char **argv)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  GThread *threads[2];

  planted = argc > 1 && g_str_equal (argv[1], "--planted");

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("poster", post, scheduler);
  while (n_run < 2 * N)
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  return 0;
}
