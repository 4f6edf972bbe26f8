/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-result.c: gives a task its result */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* Claims the result of @self for the caller.  Returns FALSE, with a message, if the task has not begun, has ended
 * without deferring its result, or its result is claimed already.  An abort alone, which the caller may not know of,
 * does not prevent the claim. */
static gboolean
claim_return (PrioTask *self, const char *function)
{
  PrioTaskState state = __atomic_load_n (&self->state, __ATOMIC_ACQUIRE);
  guint claim = __atomic_load_n (&self->claim, __ATOMIC_RELAXED);

  if (state == PRIO_TASK_STATE_PENDING)
    {
      prio_task_complain (self, function, "cannot be given a result: it has not begun");
      return FALSE;
    }

  if (state == PRIO_TASK_STATE_FULFILLED && claim == 0)
    {
      prio_task_complain (self, function, "cannot be given a result: it has ended, without prio_task_defer()");
      return FALSE;
    }

  /* Until the task defers its result, only its function may claim the result, so a plain store is enough. */
  if (claim == 0 && prio_loop_is_owner_thread (self->entry.run_queue->loop))
    __atomic_store_n (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_RELAXED);
  else
    claim = __atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL);

  if ((claim & PRIO_TASK_RETURNED) != 0)
    {
      prio_task_complain (self, function, "cannot be given a second result: it has been given one");
      return FALSE;
    }
  return TRUE;
}

/* Gives the task @result, or destroys @result if the task cannot take it. */
static void
return_result (PrioTask *self, PrioResult *result, const char *function)
{
  if (claim_return (self, function))
    prio_task_return (self, result);
  else if (result->destroy != NULL)
    result->destroy (result->value.pointer);
}

/**
 * prio_task_return_pointer: (skip)
 * @self: a running task
 * @result: (nullable) (transfer full): the result
 * @destroy: (nullable): a function that frees @result if no caller takes it
 *
 * Fulfils the task with a pointer.
 *
 * Call only one of the `prio_task_return_…` functions, once: from the task's function or, after
 * [method@PrioSched.Task.defer] or for a task from [ctor@PrioSched.Task.new], from any thread that holds a reference.
 * @destroy is called without a lock held, on the thread that runs the scheduler's main context or, if the last
 * reference to the task is dropped on another thread, on that thread.  A second result is destroyed at once, with a
 * critical message.  Bindings use [method@PrioSched.Task.return_value].
 *
 * Since: 1.0
 */
void
prio_task_return_pointer (PrioTask *self, gpointer result, GDestroyNotify destroy)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  return_result (self, &(PrioResult) { .value.pointer = result, .destroy = destroy, .kind = PRIO_RESULT_POINTER }, G_STRFUNC);
}

/**
 * prio_task_return_boolean:
 * @self: a running task
 * @result: the result
 *
 * Fulfils the task with a boolean. [method@PrioSched.Task.return_value] says when, and on which threads, to call it.
 *
 * Since: 1.0
 */
void
prio_task_return_boolean (PrioTask *self, gboolean result)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  return_result (self, &(PrioResult) { .value.boolean = result, .kind = PRIO_RESULT_BOOLEAN }, G_STRFUNC);
}

/**
 * prio_task_return_int:
 * @self: a running task
 * @result: the result
 *
 * Fulfils the task with a number. [method@PrioSched.Task.return_value] says when, and on which threads, to call it.
 *
 * Since: 1.0
 */
void
prio_task_return_int (PrioTask *self, gssize result)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  return_result (self, &(PrioResult) { .value.integer = result, .kind = PRIO_RESULT_INT }, G_STRFUNC);
}

static void
value_free (gpointer data)
{
  g_value_unset (data);
  g_free (data);
}

/**
 * prio_task_return_value:
 * @self: a running task
 * @result: (nullable) (transfer none): the result
 *
 * Fulfils the task with a value, which is copied.
 *
 * ```c
 * static void
 * find_place (PrioTask *task, gpointer name)
 * {
 *   g_auto (GValue) value = G_VALUE_INIT;
 *
 *   g_value_init (&value, MY_TYPE_PLACE);
 *   g_value_take_boxed (&value, my_place_find (name));
 *   prio_task_return_value (task, &value);
 * }
 * ```
 *
 * Call only one of the `prio_task_return_…` functions, once: from the task's function or, after
 * [method@PrioSched.Task.defer] or for a task from [ctor@PrioSched.Task.new], from any thread that holds a reference.
 *
 * Since: 1.0
 */
void
prio_task_return_value (PrioTask *self, const GValue *result)
{
  PrioResult all = { .kind = PRIO_RESULT_NONE };

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));
  g_return_if_fail (result == NULL || G_IS_VALUE (result));

  if (result != NULL)
    {
      GValue *copy = g_new0 (GValue, 1);

      g_value_init (copy, G_VALUE_TYPE (result));
      g_value_copy (result, copy);
      all = (PrioResult) { .value.pointer = copy, .destroy = value_free, .kind = PRIO_RESULT_VALUE };
    }
  return_result (self, &all, G_STRFUNC);
}

/**
 * prio_task_return_error:
 * @self: a running task
 * @error: (transfer full): the error
 *
 * Fails the task. [method@PrioSched.Task.return_value] says when, and on which threads, to call it.
 *
 * Since: 1.0
 */
void
prio_task_return_error (PrioTask *self, GError *error)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));
  g_return_if_fail (error != NULL);

  return_result (self, &PRIO_RESULT_OF_ERROR (error), G_STRFUNC);
}

/**
 * prio_task_return_new_error: (skip)
 * @self: a running task
 * @domain: the domain of the error
 * @code: its code
 * @format: its message, a format for printf()
 * @...: the arguments for @format
 *
 * Fails the task with a new error. [method@PrioSched.Task.return_value] says when, and on which threads, to call it.
 * Bindings use [method@PrioSched.Task.return_error].
 *
 * Since: 1.0
 */
void
prio_task_return_new_error (PrioTask *self, GQuark domain, gint code, const char *format, ...)
{
  va_list args;
  GError *error;

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));
  g_return_if_fail (format != NULL);

  va_start (args, format);
  error = g_error_new_valist (domain, code, format, args);
  va_end (args);

  return_result (self, &PRIO_RESULT_OF_ERROR (error), G_STRFUNC);
}

static gboolean
is_ended_by_abort (PrioTask *self)
{
  guint claim = __atomic_load_n (&self->claim, __ATOMIC_ACQUIRE);

  return (claim & PRIO_TASK_GIVEN_UP) != 0 ||
         ((claim & PRIO_TASK_RETURNED) != 0 && prio_task_get_state (self) == PRIO_TASK_STATE_ABORTED);
}

/**
 * prio_task_return_error_if_aborted:
 * @self: a running task
 *
 * Ends the task with the reason of its abort, if it has been cancelled or its signal aborted.
 *
 * A long function calls this function now and then, to stop when its result is no longer wanted:
 *
 * ```c
 * static void
 * index_rows (PrioTask *task, gpointer rows)
 * {
 *   for (guint i = 0; i < n_rows; i++)
 *     {
 *       if (prio_task_return_error_if_aborted (task))
 *         return;
 *       index_row (rows, i);
 *     }
 *   prio_task_return_boolean (task, TRUE);
 * }
 * ```
 *
 * If the call returns %TRUE, the task has its result: do not return another one.  The call also ends a task that has
 * deferred its result, although an abort alone does not.  The task ends in the state %PRIO_TASK_STATE_ABORTED, with the
 * reason as its error.
 *
 * Once an abort has ended the task, each further call returns %TRUE, even if a result has been returned since; that
 * result is released.  If the task is aborted but keeps a result that was returned earlier, the call is a mistake: it
 * logs a critical message, and returns %FALSE.  Any thread may call this function.
 *
 * Returns: %TRUE if an abort has ended the task
 *
 * Since: 1.0
 */
gboolean
prio_task_return_error_if_aborted (PrioTask *self)
{
  PrioReason *reason;
  gboolean was_ended;

  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), FALSE);

  /* prio_loop_enter () first carries out the calls of other threads, one of which may have cancelled the task. */
  if (prio_loop_enter (self->entry.run_queue->loop))
    {
      prio_loop_leave (self->entry.run_queue->loop);
      prio_loop_flush_releases (self->entry.run_queue->loop);
    }
  reason = prio_task_ref_reason (self);
  if (reason == NULL)
    return FALSE;

  was_ended = is_ended_by_abort (self);
  if (was_ended || !claim_return (self, G_STRFUNC))
    {
      prio_reason_unref (reason);
      return was_ended;
    }

  __atomic_fetch_or (&self->claim, PRIO_TASK_GIVEN_UP, __ATOMIC_ACQ_REL);
  prio_task_return (self, &PRIO_RESULT_OF_ABORT (reason));
  return TRUE;
}
