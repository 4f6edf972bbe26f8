/* prio-task-result.c: giving a task its result, and getting it
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-task-impl-private.h"


static void
warn_of_return (PrioTask *self, const char *what)
{
  g_critical ("Task %s cannot be given a result: %s", self->name != NULL ? self->name : "(unnamed)", what);
}

/* Lets the caller give @self its result, if it has begun and nobody else does; who has not
 * heard of an abort may too.  If it is deferred, @owed is set, and its reference the
 * caller's. */
static gboolean
claim_return (PrioTask *self, gboolean *owed)
{
  PrioTaskState state = __atomic_load_n (&self->state, __ATOMIC_ACQUIRE);
  guint claim = __atomic_load_n (&self->claim, __ATOMIC_RELAXED);

  *owed = FALSE;
  if (state == PRIO_TASK_STATE_PENDING)
    {
      warn_of_return (self, "it has not begun");
      return FALSE;
    }

  if (state == PRIO_TASK_STATE_FULFILLED && claim == 0)
    {
      warn_of_return (self, "it has ended without, and had not deferred it");
      return FALSE;
    }

  /* In its function, with nothing deferred, no other thread may. */
  if (claim == 0 && prio_bias_is_home (&self->entry.core->loop->bias))
    __atomic_store_n (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_RELAXED);
  else
    claim = __atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL);

  if ((claim & PRIO_TASK_RETURNED) != 0)
    {
      warn_of_return (self, "it has been given one");
      return FALSE;
    }
  *owed = (claim & PRIO_TASK_DEFERRED) != 0;
  return TRUE;
}

/* The way of most results: given in the task's function, which has not deferred it, so that
 * no other thread may. */
static inline gboolean
return_in_passing (PrioTask *self, const PrioResult *result)
{
  PrioLoop *loop = self->entry.core->loop;
  PrioBias *bias = &loop->bias;
  gboolean is_simple;

  if (G_UNLIKELY (!prio_bias_enter_quickly (bias)))
    return FALSE;

  /* Another thread may have sent an abort. */
  is_simple = prio_inbox_state (&loop->inbox) != PRIO_INBOX_FILLED &&
              __atomic_load_n (&self->claim, __ATOMIC_RELAXED) == 0 &&
              __atomic_load_n (&self->state, __ATOMIC_RELAXED) == PRIO_TASK_STATE_RUNNING &&
              prio_entry_is_running (&self->entry);
  if (is_simple)
    {
      __atomic_store_n (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_RELAXED);
      self->result = *result;
      self->has_result = TRUE;
    }
  prio_bias_leave (bias);
  return is_simple;
}

static void
return_result (PrioTask *self, PrioResult *result)
{
  gboolean owed;

  if (claim_return (self, &owed))
    prio_task_return (self, result, owed);
}

/**
 * prio_task_defer:
 * @self: a task, in its function
 *
 * Says that the result comes later than the end of the function: the draft's
 * callback that returns a promise.
 *
 * The task stays in %PRIO_TASK_STATE_RUNNING until one of the `prio_task_return_…`
 * functions is called, which has to happen, once, on any thread, even if the task is
 * aborted meanwhile; it stays alive that long, so that whoever calls it need not hold the
 * task.  Its signal's abort does not end it any more once its function has returned.
 *
 * Since: 1.0
 */
void
prio_task_defer (PrioTask *self)
{
  g_return_if_fail (PRIO_IS_POSTED (self));
  /* It may be aborted meanwhile. */
  g_return_if_fail (prio_task_get_state (self) == PRIO_TASK_STATE_RUNNING ||
                    prio_task_get_state (self) == PRIO_TASK_STATE_ABORTED);

  g_object_ref (self);
  if (__atomic_fetch_or (&self->claim, PRIO_TASK_DEFERRED, __ATOMIC_ACQ_REL) != 0)
    g_object_unref (self); /* deferred already, or returned */
}

/**
 * prio_task_return_pointer: (skip)
 * @self: a task whose function has begun
 * @result: (nullable) (transfer full): the result
 * @destroy: (nullable): what frees @result if nobody takes it
 *
 * Fulfils the task with a pointer.
 *
 * Like its kin, it may be called once, in the task's function or, after
 * [method@PrioSched.Task.defer], later, on any thread.  Bindings use
 * [method@PrioSched.Task.return_value].
 *
 * Since: 1.0
 */
void
prio_task_return_pointer (PrioTask *self, gpointer result, GDestroyNotify destroy)
{
  PrioResult all = { .value.pointer = result, .destroy = destroy };

  g_return_if_fail (PRIO_IS_POSTED (self));

  if (!return_in_passing (self, &all))
    return_result (self, &all);
}

/**
 * prio_task_return_boolean:
 * @self: a task whose function has begun
 * @result: the result
 *
 * Fulfils the task with a boolean; see [method@PrioSched.Task.return_value].
 *
 * Since: 1.0
 */
void
prio_task_return_boolean (PrioTask *self, gboolean result)
{
  PrioResult all = { .value.boolean = result };

  g_return_if_fail (PRIO_IS_POSTED (self));

  if (!return_in_passing (self, &all))
    return_result (self, &all);
}

/**
 * prio_task_return_int:
 * @self: a task whose function has begun
 * @result: the result
 *
 * Fulfils the task with a number; see [method@PrioSched.Task.return_value].
 *
 * Since: 1.0
 */
void
prio_task_return_int (PrioTask *self, gssize result)
{
  PrioResult all = { .value.integer = result };

  g_return_if_fail (PRIO_IS_POSTED (self));

  if (!return_in_passing (self, &all))
    return_result (self, &all);
}

static void
value_free (gpointer data)
{
  g_value_unset (data);
  g_free (data);
}

/**
 * prio_task_return_value:
 * @self: a task whose function has begun
 * @result: (nullable) (transfer none): the result
 *
 * Fulfils the task with a value, which is copied.
 *
 * It may be called once, in the task's function or, after
 * [method@PrioSched.Task.defer], later, on any thread.
 *
 * Since: 1.0
 */
void
prio_task_return_value (PrioTask *self, const GValue *result)
{
  GValue *copy = NULL;
  gboolean owed;

  g_return_if_fail (PRIO_IS_POSTED (self));
  g_return_if_fail (result == NULL || G_IS_VALUE (result));

  if (!claim_return (self, &owed))
    return;

  if (result != NULL)
    {
      copy = g_new0 (GValue, 1);
      g_value_init (copy, G_VALUE_TYPE (result));
      g_value_copy (result, copy);
    }
  prio_task_return (self, &(PrioResult) { .value.pointer = copy,
                                          .destroy = copy != NULL ? value_free : NULL }, owed);
}

/**
 * prio_task_return_error:
 * @self: a task whose function has begun
 * @error: (transfer full): the error
 *
 * Fails the task; see [method@PrioSched.Task.return_value].
 *
 * Since: 1.0
 */
void
prio_task_return_error (PrioTask *self, GError *error)
{
  gboolean owed;

  g_return_if_fail (PRIO_IS_POSTED (self));
  g_return_if_fail (error != NULL);

  if (!claim_return (self, &owed))
    return;

  prio_task_return (self, &(PrioResult) { .error = error }, owed);
}

/**
 * prio_task_return_new_error: (skip)
 * @self: a task whose function has begun
 * @domain: the domain of the error
 * @code: its code
 * @format: its message, in the manner of printf()
 * @...: what @format needs
 *
 * Fails the task with a new error.  Bindings use
 * [method@PrioSched.Task.return_error].
 *
 * Since: 1.0
 */
void
prio_task_return_new_error (PrioTask *self, GQuark domain, gint code, const char *format, ...)
{
  va_list args;
  GError *error;
  gboolean owed;

  g_return_if_fail (PRIO_IS_POSTED (self));
  g_return_if_fail (format != NULL);

  if (!claim_return (self, &owed))
    return;

  va_start (args, format);
  error = g_error_new_valist (domain, code, format, args);
  va_end (args);

  prio_task_return (self, &(PrioResult) { .error = error }, owed);
}

/* Whether there is a value; sets @error if there is an error instead. */
static gboolean
check_result (PrioTask *self, GError **error)
{
  if (self->result.error == NULL)
    return TRUE;

  if (error != NULL)
    *error = g_error_copy (self->result.error);
  return FALSE;
}

/**
 * prio_task_propagate_pointer: (skip)
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets what [method@PrioSched.Task.return_pointer] was given, and hands it over:
 * who asks again, or asks after another, gets %NULL.
 *
 * Returns: (transfer full) (nullable): the result, or %NULL with @error set
 *
 * Since: 1.0
 */
gpointer
prio_task_propagate_pointer (PrioTask *self, GError **error)
{
  g_return_val_if_fail (PRIO_IS_POSTED (self), NULL);
  g_return_val_if_fail (prio_task_is_completed (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!check_result (self, error))
    return NULL;

  self->result.destroy = NULL;
  return g_steal_pointer (&self->result.value.pointer);
}

/**
 * prio_task_propagate_boolean:
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets what [method@PrioSched.Task.return_boolean] was given.
 *
 * Returns: the result, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_propagate_boolean (PrioTask *self, GError **error)
{
  g_return_val_if_fail (PRIO_IS_POSTED (self), FALSE);
  g_return_val_if_fail (prio_task_is_completed (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return check_result (self, error) && self->result.value.boolean;
}

/**
 * prio_task_propagate_int:
 * @self: a completed task
 * @error: return location for a `GError`
 *
 * Gets what [method@PrioSched.Task.return_int] was given.
 *
 * Returns: the result, or -1 with @error set
 *
 * Since: 1.0
 */
gssize
prio_task_propagate_int (PrioTask *self, GError **error)
{
  g_return_val_if_fail (PRIO_IS_POSTED (self), -1);
  g_return_val_if_fail (prio_task_is_completed (self), -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  return check_result (self, error) ? self->result.value.integer : -1;
}

/**
 * prio_task_propagate_value:
 * @self: a completed task
 * @value: (out caller-allocates): where to put the result; stays unset if the task
 *   was fulfilled with no value
 * @error: return location for a `GError`
 *
 * Gets a copy of what [method@PrioSched.Task.return_value] was given.  Others may
 * get theirs.
 *
 * Returns: %TRUE, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_propagate_value (PrioTask *self, GValue *value, GError **error)
{
  g_return_val_if_fail (PRIO_IS_POSTED (self), FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (prio_task_is_completed (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_result (self, error))
    return FALSE;

  if (self->result.destroy == value_free)
    {
      const GValue *result = self->result.value.pointer;

      g_value_init (value, G_VALUE_TYPE (result));
      g_value_copy (result, value);
    }
  return TRUE;
}

/**
 * prio_task_get_error:
 * @self: a task
 *
 * Gets why the task failed or was aborted.  It belongs to the task.
 *
 * Returns: (transfer none) (nullable): the error, or %NULL if there is none, or not yet
 *
 * Since: 1.0
 */
const GError *
prio_task_get_error (PrioTask *self)
{
  g_return_val_if_fail (PRIO_IS_POSTED (self), NULL);

  return prio_task_is_completed (self) ? self->result.error : NULL;
}
