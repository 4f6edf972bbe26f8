/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-gjs-binding.c: the library of GJS's binding, without GJS */

#include "../library/frozen-fixture.h"

#include <prio-sched-gjs.h>
#include <prio-sched-watch.h>

/* An interpreter: its source runs the queued jobs, but does nothing while one of them is running. */
typedef struct
{
  GSource source;
  Fixture *f;
  guint n_jobs;
  gboolean running, done;
} Jobs;

static gboolean
jobs_prepare (GSource *source, gint *timeout)
{
  return ((Jobs *) source)->n_jobs > 0;
}

static gboolean
set_done (gpointer jobs)
{
  ((Jobs *) jobs)->done = TRUE;
  return G_SOURCE_REMOVE;
}

static gboolean
jobs_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  Jobs *self = (Jobs *) source;

  if (self->running)
    return G_SOURCE_CONTINUE;
  self->running = TRUE;
  while (self->n_jobs > 0)
    {
      self->n_jobs--;
      g_string_append_c (self->f->log, 'j');
      /* The first job runs a main loop, in which the second one waits for its turn. */
      prio_scheduler_post (self->f->scheduler, BACKGROUND, set_done, self, NULL);
      for (self->done = FALSE; !self->done;)
        g_main_context_iteration (self->f->context, TRUE);
    }
  self->running = FALSE;
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs jobs_funcs = { .prepare = jobs_prepare, .dispatch = jobs_dispatch };
static GSourceFuncs other_funcs = { .prepare = jobs_prepare, .dispatch = jobs_dispatch };
static GSourceFuncs without_prepare = { .dispatch = jobs_dispatch };

static Jobs *
jobs_new (Fixture *f, GSourceFuncs *funcs)
{
  Jobs *jobs = (Jobs *) g_source_new (funcs, sizeof *jobs);

  jobs->f = f;
  return jobs;
}

static gboolean
run_jobs (gpointer jobs)
{
  jobs_dispatch (jobs, NULL, NULL);
  return G_SOURCE_REMOVE;
}

/* The prober.  It queues no job: it counts its calls, and behaves as if jobs ran before. */
typedef struct
{
  GObject parent;
  guint n_asked;
} Prober;

typedef GObjectClass ProberClass;

GType prober_get_type (void);
G_DEFINE_TYPE (Prober, prober, G_TYPE_OBJECT)

static void
prober_init (Prober *self)
{
}

static void
prober_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  ((Prober *) object)->n_asked += property_id == 1;
}

static void
prober_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boolean (value, TRUE);
}

static void
prober_class_init (ProberClass *object_class)
{
  object_class->set_property = prober_set_property;
  object_class->get_property = prober_get_property;
  g_object_class_install_property (object_class, 1, g_param_spec_uint ("id", NULL, NULL, 0, 1, 0, G_PARAM_WRITABLE));
  g_object_class_install_property (object_class, 3, g_param_spec_uint ("left", NULL, NULL, 0, 1, 0, G_PARAM_WRITABLE));
  g_object_class_install_property (object_class, 2, g_param_spec_boolean ("known", NULL, NULL, FALSE, G_PARAM_READABLE));
}

/* A main loop that a job runs continues, even if a task runs the jobs.  The source is asked whether it still runs jobs afterwards, but
 * not while there is nothing to do. */
static void
test_jobs (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) prober = g_object_new (prober_get_type (), NULL);
  guint n_asked;
  Jobs *jobs = jobs_new (f, &jobs_funcs), *other = jobs_new (f, &other_funcs), *bare = jobs_new (f, &without_prepare);

  assert_told ("*assertion*failed*", prio_sched_gjs_guard_jobs (NULL, prober));
  g_source_attach (&bare->source, f->context);
  g_assert_false (prio_sched_gjs_guard_jobs (&bare->source, prober));
  g_source_destroy (&bare->source);
  g_assert_false (prio_sched_gjs_guard_jobs (&bare->source, prober));
  /* The source is in no main context yet. */
  g_assert_false (prio_sched_gjs_guard_jobs (&jobs->source, prober));
  g_source_set_priority (&jobs->source, -1000);
  g_source_attach (&jobs->source, f->context);
  g_assert_true (prio_sched_gjs_guard_jobs (&jobs->source, prober));
  g_assert_true (prio_sched_gjs_guard_jobs (&jobs->source, prober));
  g_source_attach (&other->source, f->context);
  g_assert_false (prio_sched_gjs_guard_jobs (&other->source, prober));
  g_source_destroy (&other->source);

  jobs->n_jobs = 2;
  prio_scheduler_post (f->scheduler, USER_BLOCKING, run_jobs, jobs, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "jj");
  jobs->n_jobs = 1;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "jjj");

  while (((Prober *) prober)->n_asked == 0)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  n_asked = ((Prober *) prober)->n_asked;
  fixture_run (f);
  g_assert_cmpuint (((Prober *) prober)->n_asked, ==, n_asked);

  g_source_destroy (&jobs->source);
  g_source_unref (&jobs->source);
  g_source_unref (&other->source);
  g_source_unref (&bare->source);
}

/* Without an interpreter that has been asked to exit, the program continues; web-exit.js tests the other
 * case. */
static void
test_exit_without_an_interpreter (Fixture *f, gconstpointer data)
{
  prio_sched_gjs_exit ();
  post_letter (f, BACKGROUND, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* The object that JavaScript has for a runner. */
typedef struct
{
  GObject parent;
  Fixture *f;
  PrioRunner *runner;
  guint running, asked;
} Driver;

typedef GObjectClass DriverClass;

enum { ID = 1, ASKED, NAME };

GType driver_get_type (void);
G_DEFINE_TYPE (Driver, driver, G_TYPE_OBJECT)

static void
driver_init (Driver *self)
{
}

static void
driver_run (Driver *self, guint id)
{
  if (id == 0)
    {
      gsize n;
      g_autofree guint *rejected = prio_runner_take_rejected (self->runner, &n);

      for (gsize i = 0; i < n; i++)
        g_string_append_printf (self->f->log, "-%c", (gchar) rejected[i]);
    }
  for (; id != 0; id = prio_runner_next ())
    {
      g_string_append_c (self->f->log, (gchar) id);
      pass (1);
    }
}

static void
driver_set_property (GObject *object, guint property, const GValue *value, GParamSpec *pspec)
{
  Driver *self = (Driver *) object;

  if (property == ASKED)
    {
      self->asked = g_value_get_uint (value);
      return;
    }
  self->running++;
  driver_run (self, g_value_get_uint (value));
  self->running--;
}

static void
driver_get_property (GObject *object, guint property, GValue *value, GParamSpec *pspec)
{
  Driver *self = (Driver *) object;

  if (property == ID)
    g_value_set_uint (value, self->running);
  else
    g_value_take_string (value, g_strdup_printf ("job %c", (gchar) self->asked));
}

static void
driver_class_init (DriverClass *class)
{
  class->set_property = driver_set_property;
  class->get_property = driver_get_property;
  g_object_class_install_property (class, ID, g_param_spec_uint ("id", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_READWRITE));
  g_object_class_install_property (class, ASKED, g_param_spec_uint ("asked", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_WRITABLE));
  g_object_class_install_property (class, NAME, g_param_spec_string ("name", NULL, NULL, NULL, G_PARAM_READABLE));
}

static Driver *
driver_new (Fixture *f, PrioScheduler *scheduler)
{
  Driver *driver = g_object_new (driver_get_type (), NULL);

  driver->f = f;
  driver->runner = prio_sched_gjs_new_runner (scheduler, G_OBJECT (driver));
  return driver;
}

static void
note_name (const char *name, PrioTaskPriority priority, double duration, gpointer names)
{
  g_string_append_printf (names, "%s;", name);
}

/* A runner calls by setting a property, and gets names through two others. */
static void
test_runner (Fixture *f, gconstpointer data)
{
  Driver *driver = driver_new (f, f->scheduler);
  g_autoptr (GString) names = g_string_new (NULL);

  assert_told ("*assertion*failed*", prio_sched_gjs_new_runner (NULL, G_OBJECT (driver)));
  assert_told ("*assertion*failed*", prio_sched_gjs_new_runner (f->scheduler, NULL));
  prio_scheduler_add_long_task_func (f->scheduler, 1, note_name, names, NULL);
  prio_runner_post (driver->runner, 'b', USER_VISIBLE);
  prio_runner_post (driver->runner, 'a', USER_BLOCKING);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  g_assert_cmpstr (names->str, ==, "job a;job b;");

  /* A stopped setter: if GJS has not been asked to exit, the program continues. */
  driver->running++;
  prio_runner_post (driver->runner, 'c', USER_VISIBLE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abc");

  prio_runner_unref (driver->runner);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_finalize_object (driver);
}

/* When tasks are dropped with another main context, a task of the first scheduler sets the property. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  GMainContext *context = g_main_context_new ();
  PrioScheduler *scheduler = prio_scheduler_new (context);
  g_autoptr (PrioScheduler) home = NULL;
  Driver *driver;

  g_main_context_push_thread_default (f->context);
  home = prio_scheduler_ref_thread_default ();
  driver = driver_new (f, scheduler);
  g_main_context_pop_thread_default (f->context);
  prio_runner_post (driver->runner, 'a', USER_VISIBLE);
  g_object_unref (scheduler);
  g_main_context_unref (context);
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "-a");
  prio_runner_unref (driver->runner);
  g_assert_finalize_object (driver);
}

/* A reason exists as long as an error with its code besides the aborted signal's, even a copy of that error. */
static void
test_reasons (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE), *later;
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller), *aborted;
  GError *error = prio_sched_gjs_new_reason (signal, "why"), *other = NULL, *copy = NULL;
  gint code = error->code;

  later = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  other = prio_sched_gjs_new_reason (prio_task_controller_get_signal (later), "other");
  g_object_unref (later);

  g_assert_cmpint (code, !=, other->code);
  g_assert_cmpstr (error->message, ==, "why");
  copy = g_error_copy (error);
  g_assert_cmpint (copy->code, ==, code);
  g_clear_error (&error);
  prio_task_controller_abort (controller, copy);
  g_assert_true (prio_sched_gjs_has_reason (code));
  g_clear_error (&copy);
  g_assert_false (prio_sched_gjs_has_reason (code));
  aborted = prio_sched_gjs_ref_aborted (code);
  g_assert_true (aborted == signal);
  g_object_unref (aborted);
  copy = prio_task_signal_dup_reason (signal);
  g_assert_true (prio_sched_gjs_has_reason (code));
  g_object_unref (controller);
  g_assert_null (prio_sched_gjs_ref_aborted (code));
  g_assert_true (prio_sched_gjs_has_reason (code));
  g_clear_error (&copy);
  g_assert_false (prio_sched_gjs_has_reason (code));
  g_assert_true (prio_sched_gjs_has_reason (other->code));
  g_clear_error (&other);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("/gjs-binding/exit-without-an-interpreter", test_exit_without_an_interpreter);
  add ("/gjs-binding/jobs", test_jobs);
  add ("/gjs-binding/reasons", test_reasons);
  add ("/gjs-binding/runner", test_runner);
  add ("/gjs-binding/context-goes", test_context_goes);
  return g_test_run ();
}
