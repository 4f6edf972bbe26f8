/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-propagate.c: gets the result of a task */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* For messages: each kind of result, and the function that gets it. */
static const char *const results[PRIO_N_RESULT_KINDS] = {
  [PRIO_RESULT_NONE] = "no value, because nothing called prio_task_return_int() or the like",
  [PRIO_RESULT_POINTER] = "a pointer, which prio_task_propagate_pointer() gets",
  [PRIO_RESULT_BOOLEAN] = "a boolean, which prio_task_propagate_boolean() gets",
  [PRIO_RESULT_INT] = "an int, which prio_task_propagate_int() gets",
  [PRIO_RESULT_VALUE] = "a GValue, which prio_task_propagate_value() gets",
};

static const char *const wanted[PRIO_N_RESULT_KINDS] = {
  [PRIO_RESULT_POINTER] = "a pointer",
  [PRIO_RESULT_BOOLEAN] = "a boolean",
  [PRIO_RESULT_INT] = "an int",
  [PRIO_RESULT_VALUE] = "a GValue",
};

/* Sets @error if the result is an error.  Otherwise logs that there is no result, or none of @kind, for @function. */
static G_GNUC_NO_INLINE void
miss (PrioTask *self, PrioResultKind kind, GError **error, const char *function)
{
  if (!prio_task_is_completed (self))
    prio_task_complain (self, function, "has not completed, and has no result yet: wait with prio_task_wait_async()");
  else if (self->result.kind == PRIO_RESULT_TAKEN)
    prio_task_complain (self, function, "has no result any more: an earlier call has got its pointer");
  else if (prio_task_peek_error (self) == NULL)
    prio_task_complain (self, function, "has %s, and not %s, as its result", results[self->result.kind], wanted[kind]);
  else if (error != NULL)
    *error = g_error_copy (prio_task_peek_error (self));
}

/* Returns whether @self has completed and was fulfilled.  If not, sets @error or logs a message, for the public
 * function @function. */
gboolean
prio_task_succeeds (PrioTask *self, GError **error, const char *function)
{
  if (prio_task_get_state (self) == PRIO_TASK_STATE_FULFILLED)
    return TRUE;

  miss (self, PRIO_RESULT_NONE, error, function);
  return FALSE;
}

static inline gboolean
has_result_of (PrioTask *self, PrioResultKind kind)
{
  return G_LIKELY (prio_task_is_completed (self) && self->result.kind == kind);
}

/**
 * prio_task_propagate_pointer: (skip)
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets the pointer that [method@PrioSched.Task.return_pointer] has set, and transfers it to the caller.
 *
 * A second call returns %NULL and logs a critical, unless the result is %NULL.  A task that was fulfilled with no value
 * has %NULL as its pointer.  If the result is of another type, the function logs a critical that names both types, and
 * the result stays available to the right function.
 *
 * Any thread that sees the task completed may call this function, but not two threads at a time.
 *
 * Returns: (transfer full) (nullable): the result, or %NULL with @error set
 *
 * Since: 1.0
 */
gpointer
prio_task_propagate_pointer (PrioTask *self, GError **error)
{
  gpointer pointer;

  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!has_result_of (self, PRIO_RESULT_POINTER))
    {
      if (!has_result_of (self, PRIO_RESULT_NONE))
        miss (self, PRIO_RESULT_POINTER, error, G_STRFUNC);
      return NULL;
    }

  pointer = self->result.value.pointer;
  self->result.destroy = NULL;
  if (pointer != NULL)
    self->result.kind = PRIO_RESULT_TAKEN;
  return pointer;
}

/**
 * prio_task_propagate_boolean:
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets the boolean that [method@PrioSched.Task.return_boolean] has set.  You may call this more than once.
 *
 * If the result is of another type, or the task was fulfilled with no value, the function logs a critical and returns
 * %FALSE.
 *
 * Any thread that sees the task completed may call this function.
 *
 * Returns: the result, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_propagate_boolean (PrioTask *self, GError **error)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (has_result_of (self, PRIO_RESULT_BOOLEAN))
    return self->result.value.boolean;

  miss (self, PRIO_RESULT_BOOLEAN, error, G_STRFUNC);
  return FALSE;
}

/**
 * prio_task_propagate_int:
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets the number that [method@PrioSched.Task.return_int] has set.  You may call this more than once.
 *
 * If the result is of another type, or the task was fulfilled with no value, the function logs a critical and returns
 * -1.
 *
 * Any thread that sees the task completed may call this function.
 *
 * Returns: the result, or -1 with @error set
 *
 * Since: 1.0
 */
gssize
prio_task_propagate_int (PrioTask *self, GError **error)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  if (has_result_of (self, PRIO_RESULT_INT))
    return self->result.value.integer;

  miss (self, PRIO_RESULT_INT, error, G_STRFUNC);
  return -1;
}

/* Initializes @value with the result.  If the task has no value, leaves @value unset. */
static void
put_result (PrioTask *self, GValue *value)
{
  PrioResult *result = &self->result;

  switch (result->kind)
    {
    case PRIO_RESULT_POINTER:
      g_value_init (value, G_TYPE_POINTER);
      g_value_set_pointer (value, prio_task_propagate_pointer (self, NULL));
      break;

    case PRIO_RESULT_BOOLEAN:
      g_value_init (value, G_TYPE_BOOLEAN);
      g_value_set_boolean (value, result->value.boolean);
      break;

    case PRIO_RESULT_INT:
      g_value_init (value, G_TYPE_INT64);
      g_value_set_int64 (value, result->value.integer);
      break;

    case PRIO_RESULT_VALUE:
      g_value_init (value, G_VALUE_TYPE ((GValue *) result->value.pointer));
      g_value_copy (result->value.pointer, value);
      break;

    default:
      break;
    }
}

/* Implements prio_task_propagate_value () for the public function @function. */
gboolean
prio_task_propagate_value_for (PrioTask *self, GValue *value, GError **error, const char *function)
{
  if (!prio_task_is_completed (self) || self->result.kind >= PRIO_RESULT_ERROR)
    {
      miss (self, PRIO_RESULT_VALUE, error, function);
      return FALSE;
    }
  if (G_VALUE_TYPE (value) != G_TYPE_INVALID)
    {
      prio_task_complain (self, function, "keeps its result: the value to put it into has to be unset, and is a %s",
                          G_VALUE_TYPE_NAME (value));
      return FALSE;
    }

  put_result (self, value);
  return TRUE;
}

/**
 * prio_task_propagate_value:
 * @self: a completed task
 * @value: (out caller-allocates): return location for the result: an unset value, which stays
 *   unset if the task was fulfilled with no value
 * @error: return location for a `GError`
 *
 * Gets the result, whatever its type.  If @value is set already, the function logs a critical, and the task keeps the
 * result.
 *
 * A result of [method@PrioSched.Task.return_value] is copied in each call.  A boolean is returned as %G_TYPE_BOOLEAN,
 * an int as %G_TYPE_INT64.  A pointer is returned as %G_TYPE_POINTER, and transferred to the caller, who frees it:
 * unsetting @value does not free it.  A second call for a pointer logs a critical, and returns %FALSE.
 *
 * ```c
 * static void
 * show_result (GObject *source, GAsyncResult *result, gpointer label)
 * {
 *   g_auto (GValue) value = G_VALUE_INIT;
 *   g_autofree char *text = NULL;
 *
 *   if (prio_task_propagate_value (PRIO_TASK (result), &value, NULL) && G_IS_VALUE (&value))
 *     text = g_strdup_value_contents (&value);
 *   gtk_label_set_text (label, text != NULL ? text : "nothing");
 * }
 * ```
 *
 * Any thread that sees the task completed may call this function.  If the result is a pointer, two threads must not
 * call it at the same time.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_propagate_value (PrioTask *self, GValue *value, GError **error)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return prio_task_propagate_value_for (self, value, error, G_STRFUNC);
}

/**
 * prio_task_get_error:
 * @self: a task
 *
 * Gets the error with which the task failed or was aborted.  Any thread may call this function.
 *
 * Returns: (transfer none) (nullable): the error, or %NULL if the task has neither failed nor been aborted
 *
 * Since: 1.0
 */
const GError *
prio_task_get_error (PrioTask *self)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), NULL);

  return prio_task_is_completed (self) ? prio_task_peek_error (self) : NULL;
}
