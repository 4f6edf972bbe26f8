/* conformance.c: runs conformance vectors through the C API
 *
 *   conformance FILE…
 *
 * Prints every difference between what a program of a file did here and what it is
 * expected to do; ends with "N agree, M differ", and status 1 if any differ.  The
 * form of the files is described in conformance-vectors.md.
 *
 * The clock stands still while there is work, and goes on by TICK when there is none, so
 * that no delay is ever missed on a slow machine.  A second context has a thread of its own;
 * one waits while the other runs, and they take turns after every task.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <locale.h>
#include <prio-sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include <json-glib/json-glib.h>

/* These two stand before GLib's, for the library as for us. */
static gint64 clock_now = G_USEC_PER_SEC;

gint64
g_get_monotonic_time (void)
{
  return clock_now;
}

gint64
g_source_get_time (GSource *source)
{
  return clock_now;
}

/* All delays are a multiple of it. */
#define TICK (10 * G_TIME_SPAN_MILLISECOND)

/* So long nothing is ever waited for. */
#define MAX_TICKS 1000

enum { MAX_PLACES = 2, MAX_SCHEDULERS = 3, MAX_NESTING = 3 };

/* A context, and what is on it. */
typedef struct
{
  GMainContext *context;
  PrioScheduler *schedulers[MAX_SCHEDULERS];
  guint n_ran; /* tasks, continuations and idle callbacks */
  guint nesting;
} Place;

/* Where this thread is. */
static _Thread_local Place *here;

/* A program that runs. */
typedef struct
{
  Place places[MAX_PLACES];
  guint n_places, n_schedulers;
  gint64 slice; /* or -1 */
  JsonObject *handlers;
  GHashTable *signals;     /* name → GCancellable */
  GHashTable *controllers; /* name → PrioTaskController */
  GHashTable *announced;   /* names of signals that have emitted */
  GPtrArray *log;
  GPtrArray *rejected;
  GHashTable *outcomes; /* id → what became of it */
  GHashTable *tasks;    /* id → PrioTask */
  guint n_open;         /* bodies and tasks that are not through */
} Program;

/* A list of operations that is being performed, and may be waiting in a yield. */
typedef struct
{
  guint refs; /* of the task's closure, the microtask, or a yield */
  Program *program;
  JsonArray *operations;
  guint next;
  char *label; /* "3" of task 3, "m3" of microtask 3, "i3" of idle callback 3 */
  guint n_yields;
  PrioTask *task; /* whose function it is, or NULL */
  gboolean deferred;
} Body;

static GQuark thrown_quark (void);
G_DEFINE_QUARK (thrown, thrown)

static void body_perform (Body *body);

static void G_GNUC_PRINTF (2, 3)
program_log (Program *program, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (program->log, g_strdup_vprintf (format, args));
  va_end (args);
}

static gboolean
is_priority (const char *nick)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);

  return g_enum_get_value_by_nick (class, nick) != NULL;
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

  body->refs = 1;
  body->program = program;
  body->operations = json_object_get_array_member (operation, "body");
  body->label = g_strdup_printf ("%s%" G_GINT64_FORMAT, prefix, json_object_get_int_member (operation, "id"));
  program->n_open++;
  return body;
}

static void
body_unref (gpointer data)
{
  Body *body = data;

  if (--body->refs > 0)
    return;

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
  if (!prio_scheduler_yield_finish ((PrioScheduler *) source, result, &error))
    {
      g_ptr_array_add (body->program->rejected, g_strdup_printf ("%s.%u", body->label, body->n_yields));
      body_end (body, error);
    }
  else
    {
      here->n_ran++;
      program_log (body->program, "resume %s.%u", body->label, body->n_yields);
      body_perform (body);
    }
  body_unref (body);
}

static void
task_function (PrioTask *task, gpointer data)
{
  Body *body = data;

  here->n_ran++;
  body->task = task;
  program_log (body->program, "start %s", body->label);
  body_perform (body);
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

/* A yield, with the options of the older draft where @operation has some. */
static void
yield (Body *body, JsonObject *operation, PrioScheduler *scheduler)
{
  const char *signal = json_object_get_string_member_with_default (operation, "signal", NULL);
  const char *priority = json_object_get_string_member_with_default (operation, "priority", NULL);
  GCancellable *given = signal != NULL ? g_hash_table_lookup (body->program->signals, signal) : NULL;
  PrioYieldFlags flags = PRIO_YIELD_NONE;

  if (g_strcmp0 (signal, "inherit") == 0)
    flags |= PRIO_YIELD_INHERIT_SIGNAL;
  else if (given == NULL)
    signal = NULL;
  if (g_strcmp0 (priority, "inherit") == 0)
    flags |= PRIO_YIELD_INHERIT_PRIORITY;

  body->refs++;
  if (signal == NULL && priority == NULL)
    {
      prio_scheduler_yield_async (scheduler, yielded, body);
      return;
    }

  prio_scheduler_yield_full_async (scheduler, flags, given,
                                   priority != NULL && (flags & PRIO_YIELD_INHERIT_PRIORITY) == 0
                                     ? (gint) priority_from_nick (priority) : PRIO_PRIORITY_UNSET,
                                   yielded, body);
}

/* The scheduler that @operation names, the first if it names none. */
static PrioScheduler *
scheduler_in (Place *place, JsonObject *operation)
{
  return place->schedulers[json_object_get_int_member_with_default (operation, "scheduler", 0)];
}

static void
post (Program *program, JsonObject *operation)
{
  Place *there = &program->places[json_object_get_int_member_with_default (operation, "context", 0)];
  Body *body = body_new (program, operation, "");
  const char *signal = json_object_get_string_member_with_default (operation, "signal", NULL);
  const char *priority = json_object_get_string_member_with_default (operation, "priority", NULL);
  g_autofree char *name = g_strdup (body->label);
  g_autoptr (PrioTask) task = NULL;

  program->n_open++;
  task = prio_scheduler_post_task (scheduler_in (there, operation), task_function, body, body_unref,
                                   priority != NULL ? (gint) priority_from_nick (priority) : PRIO_PRIORITY_UNSET,
                                   signal != NULL ? g_hash_table_lookup (program->signals, signal) : NULL,
                                   json_object_get_int_member_with_default (operation, "delay", 0), name);
  prio_task_then (task, task_completed, program, NULL);
  g_hash_table_insert (program->tasks, GINT_TO_POINTER (json_object_get_int_member (operation, "id")), g_steal_pointer (&task));
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
cancel (Program *program, JsonObject *operation)
{
  PrioTask *task = g_hash_table_lookup (program->tasks, GINT_TO_POINTER (json_object_get_int_member (operation, "id")));

  if (task != NULL)
    prio_task_cancel (task);
}

static PrioScheduler *
make_scheduler (Program *program, GMainContext *context)
{
  PrioScheduler *scheduler = prio_scheduler_new (context);

  if (program->slice >= 0)
    prio_scheduler_set_time_slice (scheduler, (guint) program->slice);
  return scheduler;
}

/* Has another scheduler instead. */
static void
renew (Program *program, JsonObject *operation)
{
  PrioScheduler **scheduler = &here->schedulers[json_object_get_int_member (operation, "scheduler")];
  g_autoptr (PrioScheduler) old G_GNUC_UNUSED = *scheduler;

  *scheduler = make_scheduler (program, here->context);
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
  body_perform (body);
  body_unref (body);
}

static void
idle_callback (PrioIdleDeadline *deadline, gpointer data)
{
  Body *body = data;

  here->n_ran++;
  program_log (body->program, "idle %s%s", body->label + 1, prio_idle_deadline_did_timeout (deadline) ? " timeout" : "");
  body_perform (body);
}

/* Runs a task; or an iteration's tasks, unless the time slice is 0.  Returns FALSE if there is none. */
static gboolean
place_run (Place *place)
{
  guint n_ran = place->n_ran;

  for (guint idle = 0; idle < 4 && place->n_ran == n_ran;)
    idle = g_main_context_iteration (place->context, FALSE) ? 0 : idle + 1;
  return place->n_ran != n_ran;
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

/* Of the sources that are there.  Returns NULL if what it should follow is not. */
static GCancellable *
make_any (Program *program, JsonObject *description)
{
  JsonArray *names = json_object_get_array_member (description, "sources");
  const char *priority = json_object_get_string_member (description, "priority");
  g_autoptr (GPtrArray) sources = g_ptr_array_new ();
  PrioTaskSignal *followed = g_hash_table_lookup (program->signals, priority);

  for (guint i = 0; i < json_array_get_length (names); i++)
    {
      GCancellable *source = g_hash_table_lookup (program->signals, json_array_get_string_element (names, i));

      if (source != NULL)
        g_ptr_array_add (sources, source);
    }

  if (followed != NULL)
    return G_CANCELLABLE (prio_task_signal_any_following ((GCancellable **) sources->pdata, sources->len, followed));
  if (!is_priority (priority))
    return NULL;
  return G_CANCELLABLE (prio_task_signal_any ((GCancellable **) sources->pdata, sources->len, priority_from_nick (priority)));
}

static void
add_signal (Program *program, const char *name, GCancellable *signal)
{
  g_object_set_data (G_OBJECT (signal), "name", (gpointer) name);
  g_hash_table_insert (program->signals, (gpointer) name, signal);

  if (json_object_has_member (program->handlers, name))
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), program);
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

  add_signal (program, name, signal);
}

/* An operation makes a signal. */
static void
any (Program *program, JsonObject *operation)
{
  GCancellable *signal = make_any (program, operation);

  if (signal != NULL)
    add_signal (program, json_object_get_string_member (operation, "name"), signal);
}

/* What a nested loop runs does not count outside of it. */
static void
nest (gint64 n_tasks)
{
  Place *place = here;
  guint n_ran = place->n_ran;

  if (place->nesting == MAX_NESTING)
    return;

  place->nesting++;
  while (n_tasks > 0 && place_run (place))
    n_tasks--;
  place->nesting--;
  place->n_ran = n_ran;
}

/* Performs an operation that is neither a yield nor a throw. */
static void
perform (Program *program, JsonObject *operation)
{
  const char *op = json_object_get_string_member (operation, "op");
  PrioScheduler *scheduler = scheduler_in (here, operation);

  if (g_str_equal (op, "post"))
    post (program, operation);
  else if (g_str_equal (op, "priority"))
    set_priority (program, operation);
  else if (g_str_equal (op, "abort"))
    abort_signal (program, operation);
  else if (g_str_equal (op, "microtask"))
    prio_scheduler_queue_microtask (scheduler, microtask, body_new (program, operation, "m"), NULL);
  else if (g_str_equal (op, "idle"))
    prio_scheduler_request_idle_callback (scheduler, idle_callback,
                                          (guint) json_object_get_int_member_with_default (operation, "timeout", 0),
                                          body_new (program, operation, "i"), body_unref);
  else if (g_str_equal (op, "pause"))
    prio_scheduler_pause (scheduler);
  else if (g_str_equal (op, "resume"))
    prio_scheduler_resume (scheduler);
  else if (g_str_equal (op, "cancel"))
    cancel (program, operation);
  else if (g_str_equal (op, "renew"))
    renew (program, operation);
  else if (g_str_equal (op, "any"))
    any (program, operation);
  else if (g_str_equal (op, "drop"))
    g_hash_table_remove (program->signals, json_object_get_string_member (operation, "signal"));
  else if (g_str_equal (op, "nest"))
    nest (json_object_get_int_member (operation, "tasks"));
  else
    g_error ("“%s” is no operation", op);
}

/* Performs what comes next, up to the next yield. */
static void
body_perform (Body *body)
{
  Program *program = body->program;

  while (body->next < json_array_get_length (body->operations))
    {
      JsonObject *operation = json_array_get_object_element (body->operations, body->next++);
      const char *op = json_object_get_string_member (operation, "op");

      if (g_str_equal (op, "throw"))
        {
          body_end (body, g_error_new (thrown_quark (), 0, "thrown by %s", body->label));
          return;
        }
      else if (g_str_equal (op, "yield"))
        {
          if (body->task != NULL && !body->deferred)
            {
              prio_task_defer (body->task);
              body->deferred = TRUE;
            }
          yield (body, operation, scheduler_in (here, operation));
          return;
        }
      else
        perform (program, operation);
    }

  body_end (body, NULL);
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

  program->n_places = (guint) json_object_get_int_member_with_default (description, "contexts", 1);
  program->n_schedulers = (guint) json_object_get_int_member_with_default (description, "schedulers", 1);
  if (program->n_places > MAX_PLACES || program->n_schedulers > MAX_SCHEDULERS)
    g_error ("At most %u contexts of %u schedulers", MAX_PLACES, MAX_SCHEDULERS);
  program->slice = json_object_get_int_member_with_default (description, "slice", -1);
  for (guint i = 0; i < program->n_places; i++)
    {
      Place *place = &program->places[i];

      place->context = g_main_context_new ();
      for (guint j = 0; j < program->n_schedulers; j++)
        place->schedulers[j] = make_scheduler (program, place->context);
    }

  program->handlers = json_object_get_object_member (description, "handlers");
  program->signals = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->controllers = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->announced = g_hash_table_new (g_str_hash, g_str_equal);
  program->log = g_ptr_array_new_with_free_func (g_free);
  program->rejected = g_ptr_array_new_with_free_func (g_free);
  program->outcomes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  program->tasks = g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  return program;
}

/* What a program that got stuck still has open is lost with it. */
static void
program_free (Program *program)
{
  g_hash_table_unref (program->controllers);
  g_hash_table_unref (program->signals);
  g_hash_table_unref (program->announced);
  g_ptr_array_unref (program->log);
  g_ptr_array_unref (program->rejected);
  g_hash_table_unref (program->outcomes);
  g_hash_table_unref (program->tasks);
  for (guint i = 0; i < program->n_places; i++)
    {
      for (guint j = 0; j < program->n_schedulers; j++)
        g_object_unref (program->places[i].schedulers[j]);
      g_main_context_unref (program->places[i].context);
    }
  g_free (program);
}

/* The thread of the second context: it runs when it is told to. */
static struct
{
  sem_t begin, ended;
  Place *place;
  gboolean ran;
} other_thread;

static gpointer
run_other_thread (gpointer data G_GNUC_UNUSED)
{
  while (TRUE)
    {
      sem_wait (&other_thread.begin);
      here = other_thread.place;
      g_main_context_push_thread_default (here->context);
      other_thread.ran = place_run (here);
      g_main_context_pop_thread_default (here->context);
      sem_post (&other_thread.ended);
    }
  return NULL;
}

static gboolean
place_run_on_other_thread (Place *place)
{
  static GThread *thread;

  if (thread == NULL)
    {
      sem_init (&other_thread.begin, 0, 0);
      sem_init (&other_thread.ended, 0, 0);
      thread = g_thread_new ("other", run_other_thread, NULL);
    }

  other_thread.place = place;
  sem_post (&other_thread.begin);
  sem_wait (&other_thread.ended);
  return other_thread.ran;
}

/* Runs every context once; returns FALSE if none had anything to do. */
static gboolean
program_run_places (Program *program)
{
  gboolean ran = place_run (&program->places[0]);

  for (guint i = 1; i < program->n_places; i++)
    ran |= place_run_on_other_thread (&program->places[i]);
  return ran;
}

/* Resumes whatever is paused; returns FALSE if nothing was. */
static gboolean
program_resume (Program *program)
{
  gboolean paused = FALSE;

  for (guint i = 0; i < program->n_places; i++)
    for (guint j = 0; j < program->n_schedulers; j++)
      {
        paused |= prio_scheduler_get_paused (program->places[i].schedulers[j]);
        prio_scheduler_resume (program->places[i].schedulers[j]);
      }
  return paused;
}

static void
program_run (Program *program)
{
  for (guint ticks = 0; program->n_open > 0 && ticks < MAX_TICKS;)
    {
      if (program_run_places (program) || program_resume (program))
        {
          ticks = 0;
        }
      else
        {
          ticks++;
          clock_now += TICK;
        }
    }
}

static gboolean
run_program (JsonObject *description)
{
  Program *program = program_new (description);
  JsonObject *signals = json_object_get_object_member (description, "signals");
  g_autoptr (GList) names = json_object_get_members (signals);
  Body main_body = { .program = program, .label = (char *) "" };
  gboolean same;

  here = &program->places[0];
  g_main_context_push_thread_default (here->context);

  for (GList *l = names; l != NULL; l = l->next)
    make_signal (program, l->data, json_object_get_object_member (signals, l->data));

  main_body.operations = json_object_get_array_member (description, "main");
  body_perform (&main_body);
  program_run (program);

  g_main_context_pop_thread_default (here->context);

  same = program_check (program, json_object_get_string_member (description, "name"),
                        json_object_get_object_member (description, "expect"));
  program_free (program);
  return same;
}

static void
run_file (const char *path, guint *n_agree, guint *n_differ)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonArray *programs;

  if (!json_parser_load_from_file (parser, path, &error))
    {
      g_printerr ("%s: %s\n", path, error->message);
      exit (2);
    }

  programs = json_node_get_array (json_parser_get_root (parser));
  for (guint i = 0; i < json_array_get_length (programs); i++)
    ++*(run_program (json_array_get_object_element (programs, i)) ? n_agree : n_differ);
}

int
main (int argc, char **argv)
{
  guint n_agree = 0, n_differ = 0;

  setlocale (LC_ALL, "");

  if (argc < 2)
    {
      g_printerr ("Usage: %s FILE…\n", argv[0]);
      return 2;
    }

  for (int i = 1; i < argc; i++)
    run_file (argv[i], &n_agree, &n_differ);

  g_print ("%u agree, %u differ\n", n_agree, n_differ);
  return n_differ > 0;
}
