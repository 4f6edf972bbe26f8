/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-stopwatch.c: the time between two looks at the clock, whatever ran before
 *
 * Short tasks are followed by long ones, in simulated time, where the coarse clock ticks every 4 ms.  The promise: the end
 * of a period is noticed within a tick of that clock, and a task.
 */

#include <prio-sched-bindings.h>
#include <prio-sched-watch.h>
#include "frozen-fixture.h"

#define TICK 4000  /* resolution of the coarse clock, µs */
#define SLICE 5000 /* by default, µs */
#define LOOK 100   /* duration of the source that is always ready, µs */
#define N_LONG 40 /* tasks */

static const guint n_short[] = { 0, 1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 100, 1000, 10000 };
static const gint64 lengths[] = { 700, 1500, 3000, 3999, 4000, 10000, 35000, G_USEC_PER_SEC };

typedef struct
{
  Fixture f;
  guint n_short;
  gint64 length;        /* duration of a long task, µs */
  guint n_begun;
  gint64 since;         /* when the ready source was last dispatched, µs */
  gint64 unseen;        /* the longest time between two of its dispatches, µs */
  PrioRunner *runner;
} Row;

static void
set_up (Row *row, guint n, gint64 length)
{
  *row = (Row) { .n_short = n, .length = length };
  frozen_tick = TICK;
  frozen_set_up (&row->f, NULL);
  /* The time is between two ticks now. */
  frozen_time += 1234;
}

static void
tear_down (Row *row)
{
  fixture_tear_down (&row->f, NULL);
  frozen_tick = 0;
}

/* Makes a step: the first four steps take 1 µs, and the later ones @length each.  Returns whether there are more. */
static gboolean
step (Row *row)
{
  guint n = row->n_begun++;

  if (n >= row->n_short)
    frozen_time += row->length;
  else if (n % 4 == 3)
    frozen_time++;
  return row->n_begun < row->n_short + N_LONG;
}

/* Tasks, one after another, beside a source that is always ready */

static gboolean
look (gpointer data)
{
  Row *row = data;

  row->unseen = MAX (row->unseen, frozen_time - row->since);
  frozen_time += LOOK;
  row->since = frozen_time;
  return G_SOURCE_CONTINUE;
}

static gboolean
once (gpointer row)
{
  step (row);
  return G_SOURCE_REMOVE;
}

static gboolean
again (gpointer row)
{
  return step (row);
}

static gboolean
make (PrioTask *task G_GNUC_UNUSED, gpointer row)
{
  return step (row);
}

static void
run_ids (guint id, gpointer row)
{
  for (; id != 0; id = prio_runner_next ())
    step (row);
}

static void
post_jobs (Row *row)
{
  for (guint i = 0; i < row->n_short + N_LONG; i++)
    prio_scheduler_post (row->f.scheduler, USER_VISIBLE, once, row, NULL);
}

static void
post_entries (Row *row)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

  for (guint i = 0; i < row->n_short + N_LONG; i++)
    prio_scheduler_post_full (row->f.scheduler, &options, once, row, NULL);
}

static void
post_again (Row *row)
{
  prio_scheduler_post (row->f.scheduler, USER_VISIBLE, again, row, NULL);
}

static void
post_steps (Row *row)
{
  g_object_unref (prio_scheduler_post_steps (row->f.scheduler, &(PrioTaskOptions) { 0 }, make, row, NULL));
}

static void
post_ids (Row *row)
{
  row->runner = prio_runner_new (row->f.scheduler, run_ids, row, NULL);
  for (guint i = 1; i <= row->n_short + N_LONG; i++)
    prio_runner_post (row->runner, i, USER_VISIBLE);
}

static void
post_counted (Row *row)
{
  prio_scheduler_start_statistics (row->f.scheduler);
  post_jobs (row);
}

static void
check_batches (guint n, gint64 length, void (*post) (Row *row))
{
  Row row;

  set_up (&row, n, length);
  attach_source (row.f.context, G_PRIORITY_DEFAULT, look, &row);
  row.since = frozen_time;
  post (&row);
  while (row.n_begun < row.n_short + N_LONG)
    g_main_context_iteration (row.f.context, TRUE);
  g_clear_pointer (&row.runner, prio_runner_unref);
  tear_down (&row);

  if (row.unseen >= SLICE + TICK + length)
    g_test_fail_printf ("%u short ones first, then of %d us: %d us unseen", n, (gint) length, (gint) row.unseen);
}

static void
test_batches (gconstpointer post)
{
  for (guint i = 0; i < G_N_ELEMENTS (n_short); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (lengths); j++)
        check_batches (n_short[i], lengths[j], *(void (*const *) (Row *row)) post);
    }
}

/* Items in a loop over prio_scheduler_should_yield () */

/* Makes items until should_yield () returns TRUE.  Returns how long the long items have taken, µs. */
static gint64
make_items (Row *row)
{
  gint64 start;

  for (guint i = 0; i < row->n_short; i++)
    {
      step (row);
      if (prio_scheduler_should_yield (row->f.scheduler))
        return 0;
    }
  start = frozen_time;
  do
    step (row);
  while (!prio_scheduler_should_yield (row->f.scheduler));
  return frozen_time - start;
}

static gboolean
loop (gpointer data)
{
  Row *row = data;

  row->unseen = make_items (row);
  return G_SOURCE_REMOVE;
}

static void
check_loop (guint n, gint64 length, gboolean in_task)
{
  Row row;

  set_up (&row, n, length);
  if (in_task)
    prio_scheduler_post (row.f.scheduler, USER_VISIBLE, loop, &row, NULL);
  else
    attach_source (row.f.context, G_PRIORITY_DEFAULT, loop, &row);
  fixture_run (&row.f);
  tear_down (&row);

  if (row.unseen >= MAX (SLICE, TICK) + length)
    g_test_fail_printf ("%s: %u short items first, then of %d us: %d us until it says yes", in_task ? "in a task" : "in a source", n,
                        (gint) length, (gint) row.unseen);
}

static void
test_should_yield (gconstpointer in_task)
{
  for (guint i = 0; i < G_N_ELEMENTS (n_short); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (lengths); j++)
        check_loop (n_short[i], lengths[j], GPOINTER_TO_UINT (in_task));
    }
}

/* Outside of a task the time counts from GLib's last check, however late the coarse clock is. */

static const gint64 *worked;

static gboolean
ask_after_work (gpointer data)
{
  Fixture *f = data;

  frozen_time += *worked;
  g_assert_cmpint (prio_scheduler_should_yield (f->scheduler), ==, *worked >= SLICE);
  return G_SOURCE_REMOVE;
}

static void
test_outside_of_tasks (void)
{
  static const gint64 works[] = { 0, 1000, 1001, 2000, 4000, 4999, 5000, 6000, 20000 };

  for (gint64 late = 0; late < TICK; late += 333)
    {
      for (guint i = 0; i < G_N_ELEMENTS (works); i++)
        {
          Row row;

          set_up (&row, 0, 0);
          frozen_time += TICK - frozen_time % TICK + late;
          worked = &works[i];
          attach_source (row.f.context, G_PRIORITY_DEFAULT, ask_after_work, &row.f);
          fixture_run (&row.f);
          tear_down (&row);
        }
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*post) (Row *row);
  } posts[] = {
    { "jobs", post_jobs }, { "entries", post_entries }, { "continuing", post_again },
    { "steps", post_steps }, { "ids", post_ids }, { "counted", post_counted },
  };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (posts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/stopwatch/batches/%s", posts[i].name);

      g_test_add_data_func (path, &posts[i].post, test_batches);
    }
  g_test_add_data_func ("/stopwatch/should-yield/in-a-task", GUINT_TO_POINTER (TRUE), test_should_yield);
  g_test_add_data_func ("/stopwatch/should-yield/in-a-source", GUINT_TO_POINTER (FALSE), test_should_yield);
  g_test_add_func ("/stopwatch/outside-of-tasks", test_outside_of_tasks);

  return g_test_run ();
}
