/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-orders.c: more tasks than 32 bits can count
 *
 * Links the library's own objects, because posting 2³² tasks takes too long: the counters are
 * set to just below their limits.
 */

#include "config.h"

#include "helpers.h"
#include "scheduler/prio-scheduler-private.h"

enum { N_SIGNALS = 40, N_TASKS = 400 };

static guint n_ran;

static gboolean
run_numbered (gpointer number)
{
  g_assert_cmpuint (GPOINTER_TO_UINT (number), ==, n_ran);
  n_ran++;
  return G_SOURCE_REMOVE;
}

/* Tasks in queues of many signals, which merge by a change of priority, delayed tasks that are due at once, and plain
 * tasks between them all run by age. */
static void
test_by_age (Fixture *f, gconstpointer border)
{
  PrioLoop *loop = f->scheduler->run_queue->loop;
  PrioTaskController *controllers[N_SIGNALS];

  loop->next_order = loop->due.next_delay = *(const guint64 *) border - N_TASKS / 2;
  n_ran = 0;

  for (guint i = 0; i < N_SIGNALS; i++)
    controllers[i] = prio_task_controller_new (BACKGROUND + i % 3);

  for (guint i = 0; i < N_TASKS; i++)
    {
      GCancellable *signal = i % 3 == 0 ? NULL : cancellable_of (controllers[i * 7 % N_SIGNALS]);

      prio_scheduler_post_full (f->scheduler,
                                &(PrioTaskOptions) {
                                  .priority = signal != NULL ? PRIO_TASK_PRIORITY_UNSET : USER_VISIBLE,
                                  .cancellable = signal,
                                },
                                run_numbered, GUINT_TO_POINTER (i), NULL);
    }
  for (guint i = 0; i < N_TASKS; i++)
    prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .delay = 1 }, run_numbered,
                              GUINT_TO_POINTER (N_TASKS + i), NULL);

  for (guint i = 0; i < N_SIGNALS; i++)
    g_assert_true (prio_task_controller_set_priority (controllers[i], USER_VISIBLE, NULL));

  g_usleep (2000);
  while (n_ran < 2 * N_TASKS)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpuint (loop->next_order, ==, *(const guint64 *) border - N_TASKS / 2 + 2 * N_TASKS);

  for (guint i = 0; i < N_SIGNALS; i++)
    g_object_unref (controllers[i]);
}

int
main (int argc, char **argv)
{
  static const guint64 borders[] = { (guint64) 1 << 31, (guint64) 1 << 32, (guint64) 1 << 33, (guint64) 1 << 53, (guint64) 1 << 63 };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (borders); i++)
    {
      g_autofree char *path = g_strdup_printf ("/orders/%" G_GUINT64_FORMAT, borders[i]);

      g_test_add (path, Fixture, &borders[i], fixture_set_up, test_by_age, fixture_tear_down);
    }

  return g_test_run ();
}
