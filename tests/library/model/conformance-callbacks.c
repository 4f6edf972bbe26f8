/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance-callbacks.c: the parts of a program that run in handlers and destroy notifies,
 * and the ends of its tasks
 */

#include "conformance.h"

/* Performs the handlers' operations for the signal, the first time. */
static void
perform_once (Program *program, JsonObject *handlers, GHashTable *performed, const char *name)
{
  if (g_hash_table_add (performed, (gpointer) name))
    program_perform (program, json_object_get_array_member (handlers, name));
}

static const char *
name_of (gpointer signal)
{
  return g_object_get_data (signal, "name");
}

static void
priority_changed (PrioTaskSignal *signal, PrioTaskPriority previous, Program *program)
{
  program_log (program, "change %s %s>%s", name_of (signal), priority_to_nick (previous),
               priority_to_nick (prio_task_signal_get_priority (signal)));
  perform_once (program, program->handlers, program->announced, name_of (signal));
}

static void
priority_notified (PrioTaskSignal *signal, GParamSpec *pspec, Program *program)
{
  program_log (program, "notify %s", name_of (signal));
  perform_once (program, program->notify_handlers, program->notified, name_of (signal));
}

static void
said_cancelled (GCancellable *signal, Program *program)
{
  program->n_cancelling++;
  program_log (program, "cancelled %s", name_of (signal));
  perform_once (program, program->cancelled_handlers, program->said, name_of (signal));
  program->n_cancelling--;
}

static gboolean
has_handler (JsonObject *handlers, const char *name)
{
  return handlers != NULL && json_object_has_member (handlers, name);
}

void
listen_to_signal (Program *program, const char *name, GCancellable *signal)
{
  if (has_handler (program->handlers, name))
    g_signal_connect (signal, "priority-change", G_CALLBACK (priority_changed), program);
  if (has_handler (program->notify_handlers, name))
    g_signal_connect (signal, "notify::priority", G_CALLBACK (priority_notified), program);
  /* The library's own handler comes first, with a plain cancellable too. */
  if (has_handler (program->cancelled_handlers, name))
    g_signal_connect_after (signal, "cancelled", G_CALLBACK (said_cancelled), program);
}

/* Handles the destroy notify of a post. */
void
body_gone (gpointer data)
{
  Body *body = data;

  if (body->program->traced)
    program_log (body->program, "gone %s", body->label);
  if (body->gone != NULL)
    program_perform (body->program, body->gone);
  body_unref (body);
}

static gboolean
closure_function (gpointer data)
{
  Body *body = data;

  here->n_ran++;
  program_log_when (body->program, "start %s", body->label);
  body_perform (body);
  return G_SOURCE_REMOVE;
}

void
post_closure (Program *program, JsonObject *operation)
{
  PrioScheduler *scheduler = scheduler_in (place_of (program, operation), operation);
  Body *body = body_new (program, operation, "f");
  GCancellable *signal = signal_in (program, operation);
  PrioTaskPriority priority = priority_in (operation);
  guint64 delay = (guint64) json_object_get_int_member_with_default (operation, "delay", 0);

  if (signal == NULL && delay == 0 && timeout_in (operation) == 0 &&
      !takes_turns_in (operation) && priority != PRIO_TASK_PRIORITY_UNSET)
    prio_scheduler_post (scheduler, priority, closure_function, body, body_gone);
  else
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) {
                                .priority = priority,
                                .cancellable = signal,
                                .delay = delay,
                                .timeout = timeout_in (operation),
                                .takes_turns = takes_turns_in (operation),
                              },
                              closure_function, body, body_gone);
}

static gboolean
one_of_many (gpointer data)
{
  Program *program = data;

  here->n_ran++;
  if (program->traced)
    program_log_when (program, "one");
  return G_SOURCE_REMOVE;
}

static void
one_gone (gpointer data)
{
  ((Program *) data)->n_open--;
}

void
post_many (Program *program, JsonObject *operation)
{
  PrioScheduler *scheduler = scheduler_in (here, operation);

  for (gint64 n = json_object_get_int_member (operation, "times"); n > 0; n--)
    {
      program->n_open++;
      prio_scheduler_post_full (scheduler,
                                &(PrioTaskOptions) { .cancellable = signal_in (program, operation),
                                                     .timeout = timeout_in (operation) },
                                one_of_many, program, one_gone);
    }
}

void
cancel (Program *program, JsonObject *operation)
{
  PrioTask *task = g_hash_table_lookup (program->tasks, GINT_TO_POINTER (json_object_get_int_member (operation, "id")));

  if (task != NULL)
    prio_task_cancel (task);
}

/* Drops the program's reference to a task. */
void
unref (Program *program, JsonObject *operation)
{
  g_hash_table_remove (program->tasks, GINT_TO_POINTER (json_object_get_int_member (operation, "id")));
}

void
abort_signal (Program *program, JsonObject *operation)
{
  PrioTaskController *controller =
      g_hash_table_lookup (program->controllers, json_object_get_string_member (operation, "signal"));
  GCancellable *signal = signal_in (program, operation);

  program->n_cancelling++;
  if (controller != NULL && !json_object_has_member (operation, "by hand"))
    prio_task_controller_abort (controller, NULL);
  else if (signal != NULL)
    g_cancellable_cancel (signal);
  program->n_cancelling--;
}

/* Resets a plain cancellable, but not in a handler, where GIO does not define that. */
void
reset (Program *program, JsonObject *operation)
{
  if (program->n_cancelling == 0)
    g_cancellable_reset (signal_in (program, operation));
}
