/* test-longest.c: how often what holds a main loop has run, where that runs main loops itself
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <prio-sched-watch.h>
#include "frozen-fixture.h"

static void
post_named (Fixture *f, const char *name, void (*then) (Step *step))
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .name = name }, step_run, step_new (f, name[0], then, NULL), step_free);
}

static void
step_inner (Step *step)
{
  pass (70);
}

static void
run_inside (Step *step)
{
  pass (60);
  post_named (step->f, "inner", step_inner);
  fixture_run (step->f);
  pass (80);
}

static void
run_around (Step *step)
{
  pass (10);
  post_named (step->f, "middle", run_inside);
  fixture_run (step->f);
}

static void
assert_longest (Fixture *f, const char *expected)
{
  g_autoptr (GPtrArray) tasks = prio_scheduler_get_longest_tasks (f->scheduler);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < tasks->len; i++)
    {
      const PrioLongTask *task = tasks->pdata[i];

      if (task->name != NULL)
        g_string_append_printf (text, "%s:%g/%g/%d ", task->name, task->longest, task->total, (gint) task->n_runs);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

/* What a task runs in a main loop of its own is not its own time, and does not make two runs of one. */
static void
test_nested (Fixture *f, gconstpointer data)
{
  prio_scheduler_add_long_task_func (f->scheduler, 1000, NULL, NULL, NULL);
  post_named (f, "outer", run_around);
  assert_ran (f, "omi");
  assert_longest (f, "middle:80/140/1 inner:70/70/1 outer:10/10/1 ");
  post_named (f, "outer", run_around);
  assert_ran (f, "omi");
  assert_longest (f, "middle:80/280/2 inner:70/140/2 outer:10/20/2 ");
}

/* A copy has a name of its own. */
static void
test_copy (void)
{
  char name[] = "index";
  PrioLongTask task = { .name = name, .priority = PRIO_TASK_PRIORITY_BACKGROUND, .longest = 3, .ended = 5, .total = 7, .n_runs = 2 };
  PrioLongTask *copy = prio_long_task_copy (&task), *nameless;

  name[0] = 'x';
  g_assert_cmpstr (copy->name, ==, "index");
  g_assert_cmpint (copy->priority, ==, task.priority);
  g_assert_cmpfloat (copy->longest, ==, task.longest);
  g_assert_cmpint (copy->ended, ==, task.ended);
  g_assert_cmpfloat (copy->total, ==, task.total);
  g_assert_cmpuint (copy->n_runs, ==, task.n_runs);
  prio_long_task_free (copy);

  task.name = NULL;
  nameless = prio_long_task_copy (&task);
  g_assert_null (nameless->name);
  prio_long_task_free (nameless);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/longest/nested", Fixture, NULL, frozen_set_up, test_nested, fixture_tear_down);
  g_test_add_func ("/longest/copy", test_copy);
  return g_test_run ();
}
