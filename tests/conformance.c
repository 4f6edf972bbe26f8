/* conformance.c: runs conformance vectors through the C API
 *
 *   conformance FILE…
 *
 * Prints every difference between what a program of a file did here and what it is
 * expected to do; ends with "N agree, M differ", and status 1 if any differ.  The
 * form of the files is described in README.md beside the vectors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <locale.h>
#include <prio-sched.h>
#include <stdlib.h>

#include <json-glib/json-glib.h>

/* A program that runs. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *scheduler;
  JsonObject *handlers;
  GHashTable *signals;     /* name → GCancellable */
  GHashTable *controllers; /* name → PrioTaskController */
  GHashTable *announced;   /* names of signals that have emitted */
  GPtrArray *log;
  GPtrArray *rejected;
  GHashTable *outcomes; /* id → what became of it */
  guint n_open;         /* bodies and tasks that are not through */
} Program;

/* A list of operations that is being performed, and may be waiting in a yield. */
typedef struct
{
  Program *program;
  JsonArray *operations;
  guint next;
  char *label; /* "3" of task 3, "m3" of microtask 3 */
  guint n_yields;
  PrioTask *task; /* whose function it is, or NULL */
  gboolean deferred;
} Body;

static GQuark thrown_quark (void);
G_DEFINE_QUARK (thrown, thrown)

static gboolean body_perform (Body *body);

static void
program_log (Program *program, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (program->log, g_strdup_vprintf (format, args));
  va_end (args);
}

static PrioTaskPriority
priority_from_nick (const char *nick)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);
  GEnumValue *value = g_enum_get_value_by_nick (class, nick);

  if (value == NULL)
    g_error ("“%s” is no priority", nick);
  return value->value;
}

static const char *
priority_to_nick (PrioTaskPriority priority)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);

  return g_enum_get_value (class, priority)->value_nick;
}

static Body *
body_new (Program *program, JsonObject *operation, const char *prefix)
{
  Body *body = g_new0 (Body, 1);

  body->program = program;
  body->operations = json_object_get_array_member (operation, "body");
  body->label = g_strdup_printf ("%s%" G_GINT64_FORMAT, prefix, json_object_get_int_member (operation, "id"));
  program->n_open++;
  return body;
}

static void
body_free (Body *body)
{
  body->program->n_open--;
  g_free (body->label);
  g_free (body);
}

/* The body is through, with an error or without. */
static void
body_end (Body *body, GError *error)
{
  if (body->task != NULL && error != NULL)
    prio_task_return_error (body->task, g_steal_pointer (&error));
  else if (body->task != NULL && body->deferred)
    prio_task_return_value (body->task, NULL);
  g_clear_error (&error);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  Body *body = data;
  GError *error = NULL;

  body->n_yields++;
  if (!prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, &error))
    {
      g_ptr_array_add (body->program->rejected, g_strdup_printf ("%s.%u", body->label, body->n_yields));
      body_end (body, error);
      body_free (body);
      return;
    }

  program_log (body->program, "resume %s.%u", body->label, body->n_yields);
  if (body_perform (body))
    body_free (body);
}

static void
task_function (PrioTask *task, gpointer data)
{
  Body *body = data;

  body->task = task;
  program_log (body->program, "start %s", body->label);
  body_perform (body);
}

/* The task's closure goes when it has run, or when it is aborted before; a body
 * that waits in a yield goes later. */
static void
task_closure_gone (gpointer data)
{
  Body *body = data;

  if (!body->deferred)
    body_free (body);
}

static void
task_completed (GObject *source, GAsyncResult *result, gpointer data)
{
  Program *program = data;
  PrioTask *task = PRIO_TASK (result);
  const GError *error = prio_task_get_error (task);
  const char *outcome;

  if (error == NULL)
    outcome = "fulfilled";
  else if (error->domain == thrown_quark ())
    outcome = "threw";
  else
    outcome = "aborted";

  g_hash_table_insert (program->outcomes, g_strdup (prio_task_get_name (task)), g_strdup (outcome));
  program->n_open--;
}

static void
post (Program *program, JsonObject *operation)
{
  Body *body = body_new (program, operation, "");
  const char *signal = json_object_get_string_member_with_default (operation, "signal", NULL);
  const char *priority = json_object_get_string_member_with_default (operation, "priority", NULL);
  g_autofree char *name = g_strdup (body->label);
  g_autoptr (PrioTask) task = NULL;

  program->n_open++;
  task = prio_scheduler_post_task (program->scheduler, task_function, body, task_closure_gone,
                                   priority != NULL ? (gint) priority_from_nick (priority) : PRIO_PRIORITY_UNSET,
                                   signal != NULL ? g_hash_table_lookup (program->signals, signal) : NULL,
                                   json_object_get_int_member_with_default (operation, "delay", 0), name);
  prio_task_then (task, task_completed, program, NULL);
}

static void
set_priority (Program *program, JsonObject *operation)
{
  const char *name = json_object_get_string_member (operation, "signal");
  PrioTaskController *controller = g_hash_table_lookup (program->controllers, name);
  g_autoptr (GError) error = NULL;

  if (!prio_task_controller_set_priority (controller, priority_from_nick (json_object_get_string_member (operation, "to")), &error))
    {
      g_assert_error (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
      program_log (program, "notallowed %s", name);
    }
}

static void
abort_signal (Program *program, JsonObject *operation)
{
  const char *name = json_object_get_string_member (operation, "signal");
  PrioTaskController *controller = g_hash_table_lookup (program->controllers, name);

  if (controller != NULL)
    prio_task_controller_abort (controller, NULL);
  else
    g_cancellable_cancel (g_hash_table_lookup (program->signals, name));
}

static void
microtask (gpointer data)
{
  Body *body = data;

  program_log (body->program, "micro %s", body->label + 1);
  if (body_perform (body))
    body_free (body);
}

/* Performs what comes next.  Returns FALSE if the body waits in a yield. */
static gboolean
body_perform (Body *body)
{
  Program *program = body->program;

  while (body->next < json_array_get_length (body->operations))
    {
      JsonObject *operation = json_array_get_object_element (body->operations, body->next++);
      const char *op = json_object_get_string_member (operation, "op");

      if (g_str_equal (op, "post"))
        post (program, operation);
      else if (g_str_equal (op, "priority"))
        set_priority (program, operation);
      else if (g_str_equal (op, "abort"))
        abort_signal (program, operation);
      else if (g_str_equal (op, "microtask"))
        prio_scheduler_queue_microtask (program->scheduler, microtask, body_new (program, operation, "m"), NULL);
      else if (g_str_equal (op, "throw"))
        {
          body_end (body, g_error_new (thrown_quark (), 0, "thrown by %s", body->label));
          return TRUE;
        }
      else if (g_str_equal (op, "yield"))
        {
          if (body->task != NULL && !body->deferred)
            {
              prio_task_defer (body->task);
              body->deferred = TRUE;
            }
          prio_scheduler_yield_async (program->scheduler, yielded, body);
          return FALSE;
        }
      else
        g_error ("“%s” is no operation", op);
    }

  body_end (body, NULL);
  return TRUE;
}

static void
priority_changed (PrioTaskSignal *signal, PrioTaskPriority previous, Program *program)
{
  const char *name = g_object_get_data (G_OBJECT (signal), "name");
  Body body = { .program = program, .label = (char *) "" };

  program_log (program, "change %s %s>%s", name, priority_to_nick (previous),
               priority_to_nick (prio_task_signal_get_priority (signal)));

  if (g_hash_table_add (program->announced, (gpointer) name))
    {
      body.operations = json_object_get_array_member (program->handlers, name);
      body_perform (&body);
    }
}

static GCancellable *
make_any (Program *program, JsonObject *description)
{
  JsonArray *names = json_object_get_array_member (description, "sources");
  const char *priority = json_object_get_string_member (description, "priority");
  guint n_sources = json_array_get_length (names);
  g_autofree GCancellable **sources = g_new (GCancellable *, n_sources);

  for (guint i = 0; i < n_sources; i++)
    sources[i] = g_hash_table_lookup (program->signals, json_array_get_string_element (names, i));

  if (g_hash_table_contains (program->signals, priority))
    return G_CANCELLABLE (prio_task_signal_any_following (sources, n_sources,
                                                          g_hash_table_lookup (program->signals, priority)));
  return G_CANCELLABLE (prio_task_signal_any (sources, n_sources, priority_from_nick (priority)));
}

static void
make_signal (Program *program, const char *name, JsonObject *description)
{
  const char *kind = json_object_get_string_member (description, "kind");
  GCancellable *signal;

  if (g_str_equal (kind, "task"))
    {
      PrioTaskController *controller =
          prio_task_controller_new (priority_from_nick (json_object_get_string_member (description, "priority")));

      g_hash_table_insert (program->controllers, (gpointer) name, controller);
      signal = G_CANCELLABLE (g_object_ref (prio_task_controller_get_signal (controller)));
    }
  else if (g_str_equal (kind, "any"))
    signal = make_any (program, description);
  else
    signal = g_cancellable_new ();

  g_object_set_data (G_OBJECT (signal), "name", (gpointer) name);
  g_hash_table_insert (program->signals, (gpointer) name, signal);

  if (json_object_has_member (program->handlers, name))
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), program);
}

static gint
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
check_list (const char *name, const char *what, GPtrArray *got, JsonArray *expected)
{
  guint n_expected = json_array_get_length (expected);
  gboolean same = got->len == n_expected;

  for (guint i = 0; i < MIN (got->len, n_expected); i++)
    {
      const char *wanted = json_array_get_string_element (expected, i);

      if (!g_str_equal (got->pdata[i], wanted))
        {
          g_print ("%s: %s[%u]: expected “%s”, got “%s”\n", name, what, i, wanted, (char *) got->pdata[i]);
          return FALSE;
        }
    }

  if (!same)
    g_print ("%s: %s: expected %u entries, got %u\n", name, what, n_expected, got->len);
  return same;
}

static gboolean
check_outcomes (const char *name, GHashTable *got, JsonObject *expected)
{
  g_autoptr (GList) ids = json_object_get_members (expected);
  gboolean same = TRUE;

  for (GList *l = ids; l != NULL; l = l->next)
    {
      const char *wanted = json_object_get_string_member (expected, l->data);
      const char *outcome = g_hash_table_lookup (got, l->data);

      if (g_strcmp0 (wanted, outcome) != 0)
        {
          g_print ("%s: outcome of %s: expected %s, got %s\n", name, (char *) l->data, wanted,
                   outcome != NULL ? outcome : "none");
          same = FALSE;
        }
    }

  if (g_hash_table_size (got) != g_list_length (ids))
    {
      g_print ("%s: expected %u outcomes, got %u\n", name, g_list_length (ids), g_hash_table_size (got));
      same = FALSE;
    }
  return same;
}

static gboolean
program_check (Program *program, const char *name, JsonObject *expected)
{
  gboolean same = check_list (name, "log", program->log, json_object_get_array_member (expected, "log"));

  g_ptr_array_sort (program->rejected, compare_strings);
  same &= check_list (name, "rejected", program->rejected, json_object_get_array_member (expected, "rejected"));
  same &= check_outcomes (name, program->outcomes, json_object_get_object_member (expected, "outcomes"));
  return same;
}

static Program *
program_new (JsonObject *description)
{
  Program *program = g_new0 (Program, 1);

  program->context = g_main_context_new ();
  program->scheduler = prio_scheduler_new (program->context);
  program->handlers = json_object_get_object_member (description, "handlers");
  program->signals = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->controllers = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->announced = g_hash_table_new (g_str_hash, g_str_equal);
  program->log = g_ptr_array_new_with_free_func (g_free);
  program->rejected = g_ptr_array_new_with_free_func (g_free);
  program->outcomes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return program;
}

static void
program_free (Program *program)
{
  g_hash_table_unref (program->controllers);
  g_hash_table_unref (program->signals);
  g_hash_table_unref (program->announced);
  g_ptr_array_unref (program->log);
  g_ptr_array_unref (program->rejected);
  g_hash_table_unref (program->outcomes);
  g_object_unref (program->scheduler);
  g_main_context_unref (program->context);
  g_free (program);
}

static gboolean
run_program (JsonObject *description)
{
  Program *program = program_new (description);
  JsonObject *signals = json_object_get_object_member (description, "signals");
  g_autoptr (GList) names = json_object_get_members (signals);
  Body main_body = { .program = program, .label = (char *) "" };
  gboolean same;

  g_main_context_push_thread_default (program->context);

  for (GList *l = names; l != NULL; l = l->next)
    make_signal (program, l->data, json_object_get_object_member (signals, l->data));

  main_body.operations = json_object_get_array_member (description, "main");
  body_perform (&main_body);
  while (program->n_open > 0)
    g_main_context_iteration (program->context, TRUE);

  g_main_context_pop_thread_default (program->context);

  same = program_check (program, json_object_get_string_member (description, "name"),
                        json_object_get_object_member (description, "expect"));
  program_free (program);
  return same;
}

/* Programs mostly wait for their delays: a few wait together, each on a thread and
 * in a main context of its own. */
#define N_THREADS 16

static gint n_agree, n_differ;

static void
run_in_pool (gpointer description, gpointer data)
{
  g_atomic_int_inc (run_program (description) ? &n_agree : &n_differ);
}

static void
run_file (const char *path)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  GThreadPool *pool = g_thread_pool_new (run_in_pool, NULL, N_THREADS, TRUE, NULL);
  JsonArray *programs;

  if (!json_parser_load_from_file (parser, path, &error))
    {
      g_printerr ("%s: %s\n", path, error->message);
      exit (2);
    }

  programs = json_node_get_array (json_parser_get_root (parser));
  for (guint i = 0; i < json_array_get_length (programs); i++)
    g_thread_pool_push (pool, json_array_get_object_element (programs, i), NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");

  if (argc < 2)
    {
      g_printerr ("Usage: %s FILE…\n", argv[0]);
      return 2;
    }

  for (int i = 1; i < argc; i++)
    run_file (argv[i]);

  g_print ("%d agree, %d differ\n", n_agree, n_differ);
  return n_differ > 0;
}
