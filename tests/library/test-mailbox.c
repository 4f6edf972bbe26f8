/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-mailbox.c: posts and changes from other threads
 *
 * Links the library's own objects, to see the memory that the mailbox keeps.
 */

#include "config.h"

#include "helpers.h"
#include "scheduler/prio-scheduler-private.h"

#include <malloc.h>

enum { N_TASKS = 100000, FEW_BYTES = 200000 };

static guint n_ran;

static gboolean
count (gpointer data)
{
  n_ran++;
  return G_SOURCE_REMOVE;
}

static gpointer
post_many (gpointer scheduler)
{
  for (guint i = 0; i < N_TASKS; i++)
    prio_scheduler_post (scheduler, USER_VISIBLE, count, NULL, NULL);
  return NULL;
}

/* A burst takes much memory, and most of it is freed. */
static void
test_burst (Fixture *f, gconstpointer data)
{
  PrioMailbox *mailbox = &f->scheduler->run_queue->loop->mailbox;

  n_ran = 0;
  for (guint i = 1; i <= 3; i++)
    {
      g_thread_join (g_thread_new ("burst", post_many, f->scheduler));
      g_assert_cmpuint (mailbox->ops->len, >, N_TASKS);
      g_assert_cmpuint (mailbox->ops->len % N_TASKS, ==, 0);
      fixture_run (f);
      g_assert_cmpuint (n_ran, ==, i * N_TASKS);
      g_assert_cmpuint (mailbox->ops->len, ==, 0);
      g_assert_cmpuint (malloc_usable_size (mailbox->ops->data) + malloc_usable_size (mailbox->taken->data), <, FEW_BYTES);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/mailbox/burst", test_burst);

  return g_test_run ();
}
