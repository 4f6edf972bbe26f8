/* test-runner-name.c: what the tasks of a runner are called
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <prio-sched-bindings.h>
#include <prio-sched-watch.h>
#include "frozen-fixture.h"

#define assert_critical(expression) assert_told ("*assertion*failed*", expression)

/* An interpreter's object, which is told a task's number, and then tells its name. */
typedef struct
{
  GObject parent;
  guint id, n_asked;
} Names;

typedef GObjectClass NamesClass;

enum { ID = 1, NAME, COUNT };

GType names_get_type (void);
G_DEFINE_TYPE (Names, names, G_TYPE_OBJECT)

static void
names_init (Names *self)
{
}

static void
names_set_property (GObject *object, guint property, const GValue *value, GParamSpec *pspec)
{
  ((Names *) object)->id = g_value_get_uint (value);
}

static void
names_get_property (GObject *object, guint property, GValue *value, GParamSpec *pspec)
{
  Names *self = (Names *) object;

  self->n_asked++;
  g_value_take_string (value, g_strdup_printf ("job %u", self->id));
}

static void
names_class_init (NamesClass *class)
{
  class->set_property = names_set_property;
  class->get_property = names_get_property;
  g_object_class_install_property (class, ID, g_param_spec_uint ("id", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_WRITABLE));
  g_object_class_install_property (class, NAME, g_param_spec_string ("name", NULL, NULL, NULL, G_PARAM_READABLE));
  g_object_class_install_property (class, COUNT, g_param_spec_uint ("count", NULL, NULL, 0, 9, 0, G_PARAM_READABLE));
}

/* Each takes as long as its number says. */
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

static char *
longest (PrioScheduler *scheduler)
{
  g_autoptr (GPtrArray) tasks = prio_scheduler_get_longest_tasks (scheduler);
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < tasks->len; i++)
    g_string_append_printf (names, "%s;", ((const PrioLongTask *) tasks->pdata[i])->name);
  return g_string_free (names, FALSE);
}

static void
assert_longest (Fixture *f, const char *expected)
{
  g_autofree char *names = NULL;

  fixture_run (f);
  names = longest (f->scheduler);
  g_assert_cmpstr (names, ==, expected);
}

/* A function is asked as long as somebody wants names, and nobody else. */
static void
test_function (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);
  guint n_asked = 0;

  prio_runner_set_name_func (runner, name_of, &n_asked, released);
  prio_runner_post (runner, 2, BACKGROUND);
  fixture_run (f);
  g_assert_cmpuint (n_asked, ==, 0);

  prio_scheduler_set_long_task_threshold (f->scheduler, 1000);
  prio_runner_post (runner, 70, BACKGROUND);
  prio_runner_post (runner, 60, BACKGROUND);
  prio_runner_post (runner, 51, BACKGROUND);
  assert_longest (f, "even 70;even 60;(null);");
  g_assert_cmpuint (n_asked, ==, 3);

  prio_runner_unref (runner);
  fixture_drop_context (f);
  g_assert_cmpuint (n_asked, ==, 1003);
}

/* Where the scheduler has gone, nobody will ask. */
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

/* For bindings whose functions cannot be called at all times. */
static void
test_properties (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);
  Names *names = g_object_new (names_get_type (), NULL);

  prio_runner_set_name_properties (runner, G_OBJECT (names), "id", "name");
  prio_scheduler_set_long_task_threshold (f->scheduler, 1000);
  prio_runner_post (runner, 55, BACKGROUND);
  assert_longest (f, "job 55;");
  g_assert_cmpuint (names->n_asked, ==, 1);

  prio_runner_unref (runner);
  fixture_drop_context (f);
  g_assert_finalize_object (names);
}

static void
test_misuse (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_tasks, NULL, NULL);
  g_autoptr (GObject) names = g_object_new (names_get_type (), NULL);

  assert_critical (prio_runner_set_name_func (NULL, name_of, NULL, NULL));
  assert_critical (prio_runner_set_name_func (runner, NULL, NULL, NULL));
  assert_critical (prio_runner_set_name_properties (NULL, names, "id", "name"));
  assert_critical (prio_runner_set_name_properties (runner, NULL, "id", "name"));
  assert_critical (prio_runner_set_name_properties (runner, names, NULL, "name"));
  assert_critical (prio_runner_set_name_properties (runner, names, "id", NULL));
  assert_critical (prio_runner_set_name_properties (runner, names, "no", "name"));
  assert_critical (prio_runner_set_name_properties (runner, names, "id", "no"));
  assert_critical (prio_runner_set_name_properties (runner, names, "name", "id"));
  assert_critical (prio_runner_set_name_properties (runner, names, "count", "name"));
  assert_critical (prio_runner_set_name_properties (runner, names, "id", "count"));
  prio_runner_set_name_properties (runner, names, "id", "name");
  assert_critical (prio_runner_set_name_func (runner, name_of, NULL, NULL));
  assert_critical (prio_runner_set_name_properties (runner, names, "id", "name"));
  prio_runner_unref (runner);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("/runner-name/function", test_function);
  add ("/runner-name/function-too-late", test_function_too_late);
  add ("/runner-name/properties", test_properties);
  add ("/runner-name/misuse", test_misuse);
  return g_test_run ();
}
