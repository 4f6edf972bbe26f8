/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-runner-name.c: names of a runner's tasks */

#include <prio-sched-bindings.h>
#include <prio-sched-watch.h>
#include "frozen-fixture.h"

#define assert_critical(expression) assert_told ("*assertion*failed*", expression)

/* Each task takes as many milliseconds as its number. */
static void
run_tasks (guint id, gpointer data)
{
  for (; id != 0; id = prio_runner_next ())
    pass (id);
}

static char *
name_of (guint id, gpointer n_asked)
{
  ++*(guint *) n_asked;
  return id % 2 == 0 ? g_strdup_printf ("even %u", id) : NULL;
}

static void
released (gpointer n_asked)
{
  *(guint *) n_asked += 1000;
}

static void
note_name (const char *name, PrioTaskPriority priority, double duration, gpointer names)
{
  g_string_append_printf (names, "%s;", name);
}

/* A function is called only as long as names are needed. */
static void
test_function (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  guint n_asked = 0;

  prio_runner_set_name_func (runner, name_of, &n_asked, released);
  prio_runner_post (runner, 2, BACKGROUND);
  fixture_run (f);
  g_assert_cmpuint (n_asked, ==, 0);

  prio_scheduler_add_long_task_func (f->scheduler, 1, note_name, names, NULL);
  prio_runner_post (runner, 70, BACKGROUND);
  prio_runner_post (runner, 60, BACKGROUND);
  prio_runner_post (runner, 51, BACKGROUND);
  fixture_run (f);
  g_assert_cmpstr (names->str, ==, "even 70;even 60;(null);");
  g_assert_cmpuint (n_asked, ==, 3);

  prio_runner_unref (runner);
  fixture_drop_context (f);
  g_assert_cmpuint (n_asked, ==, 1003);
}

/* After the scheduler has gone, the function is not called. */
static void
test_function_too_late (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);
  guint n_asked = 0;

  fixture_drop_context (f);
  prio_runner_set_name_func (runner, name_of, &n_asked, released);
  g_assert_cmpuint (n_asked, ==, 1000);
  prio_runner_unref (runner);
}

static void
test_misuse (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);

  assert_critical (prio_runner_set_name_func (NULL, name_of, NULL, NULL));
  assert_critical (prio_runner_set_name_func (runner, NULL, NULL, NULL));
  prio_runner_set_name_func (runner, name_of, NULL, NULL);
  assert_critical (prio_runner_set_name_func (runner, name_of, NULL, NULL));
  prio_runner_unref (runner);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("/runner-name/function", test_function);
  add ("/runner-name/function-too-late", test_function_too_late);
  add ("/runner-name/misuse", test_misuse);
  return g_test_run ();
}
