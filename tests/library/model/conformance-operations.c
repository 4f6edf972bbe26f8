/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance-operations.c: the operations of a program */

#include <prio-sched.h>
#include "conformance.h"

_Thread_local Place *here;

static GQuark thrown_quark (void);
G_DEFINE_QUARK (thrown, thrown)

gboolean
is_thrown (const GError *error)
{
  return error->domain == thrown_quark ();
}

void
program_log (Program *program, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (program->log, g_strdup_vprintf (format, args));
  va_end (args);
}

/* Logs, for code under a state, also whether its timeout had passed at its turn. */
void
program_log_when (Program *program, const char *format, ...)
{
  va_list args;
  char *line;

  va_start (args, format);
  line = g_strdup_vprintf (format, args);
  va_end (args);
  if (prio_scheduler_did_timeout (here->schedulers[0]))
    {
      program_log (program, "%s late", line);
      g_free (line);
    }
  else
    {
      g_ptr_array_add (program->log, line);
    }
}

static gboolean
is_priority (const char *nick)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);

  return g_enum_get_value_by_nick (class, nick) != NULL;
}

PrioTaskPriority
priority_from_nick (const char *nick)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);
  GEnumValue *value = g_enum_get_value_by_nick (class, nick);

  if (value == NULL)
    g_error ("“%s” is not a priority", nick);
  return value->value;
}

const char *
priority_to_nick (PrioTaskPriority priority)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);

  return g_enum_get_value (class, priority)->value_nick;
}

Body *
body_new (Program *program, JsonObject *operation, const char *prefix)
{
  Body *body = g_new0 (Body, 1);

  body->refs = 1;
  body->program = program;
  body->operations = json_object_get_array_member (operation, "body");
  if (json_object_has_member (operation, "gone"))
    body->gone = json_object_get_array_member (operation, "gone");
  body->label = g_strdup_printf ("%s%" G_GINT64_FORMAT, prefix, json_object_get_int_member (operation, "id"));
  program->n_open++;
  return body;
}

void
body_unref (gpointer data)
{
  Body *body = data;

  if (--body->refs > 0)
    return;

  body->program->n_open--;
  g_free (body->label);
  g_free (body);
}

/* Ends the body, with an error or without. */
static void
body_end (Body *body, GError *error)
{
  if (body->task != NULL && error != NULL)
    prio_task_return_error (body->task, g_steal_pointer (&error));
  else if (body->task != NULL && body->deferred)
    prio_task_return_value (body->task, NULL);
  if (body->deferred)
    g_clear_object (&body->task);
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
      program_log_when (body->program, "resume %s.%u", body->label, body->n_yields);
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
  program_log_when (body->program, "start %s", body->label);
  body_perform (body);
}

const char *
outcome_of (PrioTask *task)
{
  const GError *error = prio_task_get_error (task);

  if (error == NULL)
    return "fulfilled";
  return is_thrown (error) ? "threw" : "aborted";
}

void
task_completed (GObject *source, GAsyncResult *result, gpointer data)
{
  Program *program = data;
  PrioTask *task = PRIO_TASK (result);
  const char *outcome = outcome_of (task);
  char *name = prio_task_dup_name (task);

  if (program->traced)
    program_log (program, "settled %s %s", name, outcome);
  g_hash_table_insert (program->outcomes, name, g_strdup (outcome));
  program->n_open--;
}

/* Yields, with the options of the older draft if @operation has some. */
static void
yield (Body *body, JsonObject *operation, PrioScheduler *scheduler)
{
  const char *signal = json_object_get_string_member_with_default (operation, "signal", NULL);
  const char *priority = json_object_get_string_member_with_default (operation, "priority", NULL);
  GCancellable *given = signal != NULL ? g_hash_table_lookup (body->program->signals, signal) : NULL;
  PrioYieldOptions options = { .cancellable = given, .takes_turns = takes_turns_in (operation) };

  if (g_strcmp0 (signal, "inherit") != 0)
    {
      signal = given != NULL ? signal : NULL;
      options.flags |= PRIO_YIELD_DROP_SIGNAL;
    }
  if (g_strcmp0 (priority, "inherit") == 0)
    options.flags |= PRIO_YIELD_KEEP_PRIORITY;
  else if (priority != NULL)
    options.priority = priority_from_nick (priority);
  else if (signal == NULL || given != NULL)
    options.flags |= PRIO_YIELD_DROP_PRIORITY;
  if (signal == NULL && priority == NULL)
    options.flags = 0;

  body->refs++;
  prio_scheduler_yield_async (scheduler, signal == NULL && priority == NULL && !options.takes_turns ? NULL : &options, yielded, body);
}

/* Returns the scheduler that @operation names, by default the first. */
PrioScheduler *
scheduler_in (Place *place, JsonObject *operation)
{
  return place->schedulers[json_object_get_int_member_with_default (operation, "scheduler", 0)];
}

/* Returns the context that @operation names, by default this one. */
Place *
place_of (Program *program, JsonObject *operation)
{
  return json_object_has_member (operation, "context") ? &program->places[json_object_get_int_member (operation, "context")] : here;
}

/* Returns the signal that @operation names, if it exists. */
GCancellable *
signal_in (Program *program, JsonObject *operation)
{
  const char *name = json_object_get_string_member_with_default (operation, "signal", NULL);

  return name != NULL ? g_hash_table_lookup (program->signals, name) : NULL;
}

/* Returns the priority that @operation has. */
PrioTaskPriority
priority_in (JsonObject *operation)
{
  const char *nick = json_object_get_string_member_with_default (operation, "priority", NULL);

  return nick != NULL ? priority_from_nick (nick) : PRIO_TASK_PRIORITY_UNSET;
}

/* Returns the timeout in milliseconds, or 0 for none. */
gint
timeout_in (JsonObject *operation)
{
  return (gint) json_object_get_int_member_with_default (operation, "timeout", 0);
}

gboolean
takes_turns_in (JsonObject *operation)
{
  return json_object_get_boolean_member_with_default (operation, "turns", FALSE);
}

static void
post (Program *program, JsonObject *operation)
{
  gboolean is_of_group = json_object_has_member (operation, "group");
  PrioTaskGroup *group = is_of_group ? group_in (program, operation) : NULL;
  g_autofree char *name = NULL;
  g_autoptr (PrioTask) task = NULL;
  PrioTaskOptions options;
  Body *body;

  if (is_of_group && group == NULL)
    return;

  body = body_new (program, operation, "");
  name = g_strdup (body->label);
  options = (PrioTaskOptions) {
    .priority = priority_in (operation),
    .cancellable = signal_in (program, operation),
    .delay = (guint64) json_object_get_int_member_with_default (operation, "delay", 0),
    .timeout = timeout_in (operation),
    .takes_turns = takes_turns_in (operation),
    .name = name,
  };
  program->n_open++;
  if (group != NULL)
    task = prio_task_group_post_task (group, &options, task_function, body, body_gone);
  else
    task = prio_scheduler_post_task (scheduler_in (place_of (program, operation), operation), &options, task_function, body,
                                     body_gone);
  g_object_set_data (G_OBJECT (task), "place", group != NULL ? here : place_of (program, operation));
  hear_of (program, task, operation);
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

PrioScheduler *
make_scheduler (Program *program, GMainContext *context, guint number)
{
  PrioScheduler *scheduler = prio_scheduler_new (context);

  if (program->slice >= 0)
    prio_scheduler_set_time_slice (scheduler, (double) program->slice / 1000);
  prio_scheduler_set_lends_priority (scheduler, lends (program, number));
  if (without_limit)
    prio_scheduler_set_starvation_limit (scheduler, G_MAXUINT);
  return scheduler;
}

/* Replaces the scheduler.  The previous scheduler is freed when its last callback has returned; until then a paused
 * scheduler would stay paused. */
static void
renew (Program *program, JsonObject *operation)
{
  guint number = (guint) json_object_get_int_member (operation, "scheduler");
  PrioScheduler **scheduler = &here->schedulers[number];
  g_autoptr (PrioScheduler) old = *scheduler;

  prio_scheduler_resume (old);
  *scheduler = make_scheduler (program, here->context, number);
  /* A destroy notify may have paused the scheduler. */
  prio_scheduler_resume (old);
}

static void
microtask (gpointer data)
{
  Body *body = data;

  program_log_when (body->program, "micro %s", body->label + 1);
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

/* Runs a task or, unless the time slice is 0, the tasks of an iteration.  Returns FALSE if there is no task. */
gboolean
place_run (Place *place)
{
  guint n_ran = place->n_ran;

  for (guint idle = 0; idle < 4 && place->n_ran == n_ran;)
    idle = g_main_context_iteration (place->context, FALSE) ? 0 : idle + 1;
  return place->n_ran != n_ran;
}

/* Makes an `any` signal of the existing sources.  Returns NULL if the signal to follow does not exist. */
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
    return G_CANCELLABLE (prio_task_signal_new_any_following ((GCancellable **) sources->pdata, sources->len, followed));
  if (!is_priority (priority))
    return NULL;
  return G_CANCELLABLE (prio_task_signal_new_any ((GCancellable **) sources->pdata, sources->len, priority_from_nick (priority)));
}

static void
add_signal (Program *program, const char *name, GCancellable *signal)
{
  g_object_set_data (G_OBJECT (signal), "name", (gpointer) name);
  g_hash_table_insert (program->signals, (gpointer) name, signal);

  listen_to_signal (program, name, signal);
}

void
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

/* Performs the operation that makes a signal. */
static void
any (Program *program, JsonObject *operation)
{
  GCancellable *signal = make_any (program, operation);

  if (signal != NULL)
    add_signal (program, json_object_get_string_member (operation, "name"), signal);
}

/* Runs a nested loop, whose tasks do not count as tasks of the outer loop. */
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

/* Performs operations on tasks; returns FALSE if @op is another one. */
static gboolean
perform_with_task (Program *program, const char *op, JsonObject *operation)
{
  if (g_str_equal (op, "post"))
    post (program, operation);
  else if (g_str_equal (op, "closure"))
    post_closure (program, operation);
  else if (g_str_equal (op, "many"))
    post_many (program, operation);
  else if (g_str_equal (op, "cancel"))
    cancel (program, operation);
  else if (g_str_equal (op, "unref"))
    unref (program, operation);
  else
    return FALSE;
  return TRUE;
}

/* Performs an operation that is neither a yield nor a throw. */
static void
perform (Program *program, const char *op, JsonObject *operation)
{
  PrioScheduler *scheduler = scheduler_in (here, operation);

  if (perform_with_task (program, op, operation) || perform_with_group (program, op, operation) ||
      perform_with_lending (program, op, operation))
    return;

  if (g_str_equal (op, "reset"))
    reset (program, operation);
  else if (g_str_equal (op, "priority"))
    set_priority (program, operation);
  else if (g_str_equal (op, "abort"))
    abort_signal (program, operation);
  else if (g_str_equal (op, "microtask"))
    prio_scheduler_queue_microtask (scheduler, microtask, body_new (program, operation, "m"), NULL);
  else if (g_str_equal (op, "idle"))
    prio_scheduler_request_idle_callback (scheduler, (guint) json_object_get_int_member_with_default (operation, "timeout", 0),
                                          idle_callback, body_new (program, operation, "i"), body_unref);
  else if (g_str_equal (op, "pause"))
    prio_scheduler_pause (scheduler);
  else if (g_str_equal (op, "resume"))
    prio_scheduler_resume (scheduler);
  else if (g_str_equal (op, "statistics"))
    set_counted (scheduler, json_object_get_boolean_member (operation, "to"));
  else if (g_str_equal (op, "trace"))
    set_traced (json_object_get_boolean_member (operation, "to"));
  else if (g_str_equal (op, "renew"))
    renew (program, operation);
  else if (g_str_equal (op, "any"))
    any (program, operation);
  else if (g_str_equal (op, "drop"))
    g_hash_table_remove (program->signals, json_object_get_string_member (operation, "signal"));
  else if (g_str_equal (op, "nest"))
    nest (json_object_get_int_member (operation, "tasks"));
  else if (g_str_equal (op, "busy"))
    pass_time (json_object_get_int_member (operation, "ms"));
  else
    g_error ("“%s” is not an operation", op);
}

static void
perform_and_log (Program *program, const char *op, JsonObject *operation)
{
  if (program->traced)
    program_log (program, "do %s", op);
  perform (program, op, operation);
  if (program->traced)
    program_log (program, "done");
}

/* Defers the result of the body's task, if it has one. */
static void
body_defer (Body *body)
{
  if (body->task == NULL || body->deferred)
    return;

  prio_task_defer (g_object_ref (body->task));
  body->deferred = TRUE;
}

/* Yields, or waits; returns FALSE if @op does neither, or there is nothing to wait for. */
static gboolean
body_pause (Body *body, const char *op, JsonObject *operation)
{
  Program *program = body->program;
  gboolean waits = g_str_equal (op, "wait"), awaits = g_str_equal (op, "await");
  PrioTaskGroup *group;
  PrioTask *task;

  if (!waits && !awaits && !g_str_equal (op, "yield"))
    return FALSE;

  if (program->traced)
    program_log (program, "do %s", op);
  group = waits ? group_in (program, operation) : NULL;
  task = awaits ? task_here (program, operation) : NULL;
  if ((waits && group == NULL) || (awaits && task == NULL))
    return FALSE;

  body_defer (body);
  if (waits)
    body_wait (body, operation, group);
  else if (awaits)
    body_await (body, task);
  else
    yield (body, operation, scheduler_in (place_of (program, operation), operation));
  return TRUE;
}

/* Performs operations up to the next yield. */
void
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
      else if (body_pause (body, op, operation))
        return;
      else if (!g_str_equal (op, "wait") && !g_str_equal (op, "await"))
        perform_and_log (program, op, operation);
    }

  body_end (body, NULL);
}

/* Performs @operations outside of any task. */
void
program_perform (Program *program, JsonArray *operations)
{
  Body body = { .program = program, .operations = operations, .label = (char *) "" };

  body_perform (&body);
}
