/* speedups-table.c: the tasks of a scheduler in Python
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "speedups.h"

#define NO_IMPORT_PYGOBJECT /* speedups.c does */
#include <pygobject.h>

#include <prio-sched.h>

/* TableBase: the tasks of a scheduler, by the numbers that identify them in the library. */

#define N_PRIORITIES 3

typedef struct
{
  PyObject_HEAD
  PrioRunner *runner;
  PyObject *states[N_PRIORITIES];
  PyObject **entries; /* @size of them, by number; NULL where a number is free, None where an entry was dropped */
  guint *next_free;   /* for each free number, the next free one, or 0 */
  guint first_free;
  guint length, size;
} TableObject;

static guint
table_add (TableObject *self, PyObject *entry)
{
  guint number = self->first_free;

  if (number != 0)
    {
      self->first_free = self->next_free[number];
    }
  else
    {
      if (self->length == self->size)
        {
          self->size = MAX (self->size * 2, 64);
          self->entries = g_renew (PyObject *, self->entries, self->size);
          self->next_free = g_renew (guint, self->next_free, self->size);
          self->length = MAX (self->length, 1);
        }
      number = self->length++;
    }

  Py_INCREF (entry);
  self->entries[number] = entry;
  ((FutureObject *) entry)->number = number;
  return number;
}

/* Returns: (transfer full): the entry, or NULL */
static PyObject *
table_take (TableObject *self, guint number)
{
  PyObject *entry = number < self->length && number > 0 ? self->entries[number] : NULL;

  if (entry != NULL)
    {
      self->entries[number] = NULL;
      self->next_free[number] = self->first_free;
      self->first_free = number;
    }
  return entry;
}

static PyObject *
table_add_method (PyObject *object, PyObject *entry)
{
  if (!PyObject_TypeCheck (entry, &prio_future_type))
    return PyErr_Format (PyExc_TypeError, "%R is no future", entry);
  return PyLong_FromUnsignedLong (table_add ((TableObject *) object, entry));
}

static PyObject *
table_take_method (PyObject *object, PyObject *number)
{
  unsigned long n = PyLong_AsUnsignedLong (number);
  PyObject *entry;

  if (n == (unsigned long) -1 && PyErr_Occurred ())
    return NULL;
  entry = n <= G_MAXUINT ? table_take ((TableObject *) object, (guint) n) : NULL;
  if (entry == NULL)
    PyErr_SetObject (PyExc_KeyError, number);
  return entry;
}

/* Lets go of an entry whose number the library still has. */
static PyObject *
table_drop (PyObject *object, PyObject *entry)
{
  TableObject *self = (TableObject *) object;
  guint number = PyObject_TypeCheck (entry, &prio_future_type) ? ((FutureObject *) entry)->number : 0;

  if (number > 0 && number < self->length && self->entries[number] == entry)
    {
      self->entries[number] = Py_NewRef (Py_None);
      Py_DECREF (entry);
    }
  Py_RETURN_NONE;
}

static PyObject *
table_take_all (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  TableObject *self = (TableObject *) object;
  PyObject *list = PyList_New (0);

  for (guint i = 1; list != NULL && i < self->length; i++)
    {
      PyObject *entry = table_take (self, i);

      if (entry != NULL && entry != Py_None && PyList_Append (list, entry) < 0)
        Py_CLEAR (list);
      Py_XDECREF (entry);
    }
  return list;
}

/* Whether KeyboardInterrupt or SystemExit is set.  Any other exception is reported. */
static gboolean
is_interrupted (PyObject *where)
{
  if (PyErr_ExceptionMatches (PyExc_KeyboardInterrupt) || PyErr_ExceptionMatches (PyExc_SystemExit))
    return TRUE;

  PyErr_WriteUnraisable (where);
  return FALSE;
}

/* Takes the result of a call.  Returns FALSE if it was interrupted. */
static gboolean
called (PyObject *where, PyObject *result)
{
  Py_XDECREF (result);
  return result != NULL || !is_interrupted (where);
}

/* Calls a method that handles a rare case in Python.  Returns FALSE if it was interrupted. */
static gboolean
call_slow (PyObject *self, const char *method, PyObject *argument)
{
  return called (self, argument != NULL ? PyObject_CallMethod (self, method, "O", argument)
                                        : PyObject_CallMethod (self, method, NULL));
}

/* Makes an instance of @type, a subclass of FutureBase that is defined in Python. */
static FutureObject *
new_future (PyTypeObject *type, PyObject *posted_with)
{
  FutureObject *future = (FutureObject *) type->tp_alloc (type, 0);

  if (future != NULL && posted_with != NULL)
    {
      Py_INCREF (posted_with);
      future->posted_with = posted_with;
    }
  return future;
}

/* The library has rejected @number: lets Python settle the entry. */
static void
reject (TableObject *self, guint number, const char *method)
{
  PyObject *entry = table_take (self, number);

  if (!call_slow ((PyObject *) self, method, entry))
    PyErr_WriteUnraisable ((PyObject *) self);
  Py_DECREF (entry);
}

static PyObject *
table_post (PyObject *object, PyObject *callback)
{
  TableObject *self = (TableObject *) object;
  FutureObject *task = new_future (prio_task_type,
                                   self->states[PRIO_TASK_PRIORITY_USER_VISIBLE - PRIO_TASK_PRIORITY_BACKGROUND]);
  guint number;

  if (task == NULL)
    return NULL;
  Py_INCREF (callback);
  task->callback = callback;
  task->context = PyContext_CopyCurrent ();
  if (task->context == NULL)
    {
      Py_DECREF (task);
      return NULL;
    }

  number = table_add (self, (PyObject *) task);
  if (prio_runner_post (self->runner, number, PRIO_TASK_PRIORITY_USER_VISIBLE) == PRIO_POSTED_REJECTED)
    reject (self, number, "_reject");
  return (PyObject *) task;
}

/* Whether @state is the current state of the library, and one of @self: then the library makes a continuation inherit
 * it.  Returns -1 with an exception set on failure. */
static int
is_inherited (TableObject *self, PyObject *state)
{
  PyObject *table;
  gboolean is_own;

  if (state == Py_None)
    return 1;
  if (state != prio_running.state)
    return 0;

  for (guint i = 0; i < N_PRIORITIES; i++)
    {
      if (state == self->states[i])
        return 1;
    }

  table = PyObject_GetAttrString (state, "table");
  if (table == NULL)
    return -1;
  is_own = table == (PyObject *) self;
  Py_DECREF (table);
  return is_own;
}

static PyObject *
table_yield_now (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  TableObject *self = (TableObject *) object;
  FutureObject *future;
  PyObject *state;
  guint number;
  int inherited;

  if (PyContextVar_Get (prio_state_variable, NULL, &state) < 0)
    return NULL;

  inherited = is_inherited (self, state);
  if (inherited <= 0)
    {
      Py_DECREF (state);
      return inherited < 0 ? NULL : PyObject_CallMethod (object, "_yield_elsewhere", NULL);
    }

  future = new_future (prio_continuation_type, state);
  Py_DECREF (state);
  if (future == NULL)
    return NULL;

  number = table_add (self, (PyObject *) future);
  if (prio_runner_yield (self->runner, number) == PRIO_POSTED_REJECTED)
    reject (self, number, "_reject_yield");
  return (PyObject *) future;
}

/* Returns: (transfer full): the loop of asyncio that is running here, if none of its tasks is; else None */
static PyObject *
get_free_loop (void)
{
  PyObject *loop = PyObject_CallNoArgs (prio_get_running_loop), *task = NULL;

  if (loop != NULL && loop != Py_None)
    {
      task = PyObject_CallOneArg (prio_current_task, loop);
      if (task != Py_None)
        Py_SETREF (loop, Py_NewRef (Py_None));
    }
  if (loop == NULL || PyErr_Occurred ())
    PyErr_Clear ();
  Py_XDECREF (task);
  return loop != NULL ? loop : Py_NewRef (Py_None);
}

/* @waiter has woken a task of asyncio up: if that has ended and runs a coroutine of ours, it is told at once. */
static gboolean
woken (PyObject *waiter)
{
  PyObject *task = PyCFunction_Check (waiter) ? PyCFunction_GET_SELF (waiter) : NULL, *done;
  PyObject *type, *value, *traceback;
  gboolean is_told = TRUE;

  if (task == NULL || !PyType_IsSubtype (Py_TYPE (task), prio_coroutine_task_type))
    return TRUE;

  PyErr_Fetch (&type, &value, &traceback);
  done = PyObject_CallMethod (task, "done", NULL);
  if (done == Py_True)
    is_told = call_slow (task, "coroutine_ended", NULL);
  Py_XDECREF (done);
  if (is_told)
    PyErr_Restore (type, value, traceback);
  return is_told;
}

/* Wakes up a task of asyncio, which awaits @future, in its context. */
static gboolean
wake_up (FutureObject *future, PyObject *waiter)
{
  PyObject *context = g_steal_pointer (&future->waiter_context), *result = NULL;
  gboolean is_done;

  Py_CLEAR (future->waiter_loop);
  set_running_context (context);
  if (PyContext_Enter (context) == 0)
    {
      result = PyObject_CallOneArg (waiter, (PyObject *) future);
      if (PyContext_Exit (context) < 0)
        Py_CLEAR (result);
    }
  is_done = called (waiter, result);
  Py_DECREF (context);
  return woken (waiter) && is_done;
}

/* Returns FALSE if it was interrupted. */
static gboolean
resume (FutureObject *future, PyObject **free_loop)
{
  PyObject *waiter;
  gboolean is_done;

  future->done = TRUE;
  if (!is_set (future->waiter) || is_set (future->callbacks))
    return call_slow ((PyObject *) future, "_notify", NULL);

  if (is_set (future->waiter_context))
    {
      if (*free_loop == NULL)
        *free_loop = get_free_loop ();
      if (future->waiter_loop != *free_loop)
        return call_slow ((PyObject *) future, "_notify", NULL);
    }

  waiter = g_steal_pointer (&future->waiter);
  is_done = is_set (future->waiter_context) ? wake_up (future, waiter) : called (waiter, PyObject_CallNoArgs (waiter));
  Py_DECREF (waiter);
  return is_done;
}

/* Calls the callback of @task in @context, with its state as the current one. */
static PyObject *
call_in_context (FutureObject *task, PyObject *context)
{
  PyObject *former, *value = NULL;

  if (PyContext_Enter (context) < 0)
    return NULL;
  former = PyContextVar_Set (prio_state_variable, task->posted_with);
  if (former != NULL)
    {
      Py_DECREF (former);
      value = PyObject_CallNoArgs (task->callback);
    }
  if (PyContext_Exit (context) < 0)
    Py_CLEAR (value);
  return value;
}

static PyObject *
fetch_exception (void)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  if (traceback != NULL)
    PyException_SetTraceback (value, traceback);
  Py_XDECREF (type);
  Py_XDECREF (traceback);
  return value;
}

/* Runs the callback of @task.  Settles the most frequent result, None, here; leaves all others to Python.
 * Returns FALSE if it was interrupted. */
static gboolean
run_task (TableObject *self, FutureObject *task)
{
  PyObject *context = g_steal_pointer (&task->context);
  PyObject *exception = NULL, *value;
  gboolean is_done = TRUE;
  gboolean plain = task->posted_with == self->states[0] || task->posted_with == self->states[1] ||
                   task->posted_with == self->states[2];

  set_running_context (context);
  value = call_in_context (task, context);
  if (value == NULL)
    exception = fetch_exception ();

  if (value == Py_None && plain && !task->aborted && !is_set (task->waiter))
    {
      Py_CLEAR (task->callback);
      task->done = TRUE;
      if (is_set (task->callbacks))
        {
          prio_runner_end ();
          is_done = call_slow ((PyObject *) task, "_notify", NULL);
        }
    }
  else
    {
      is_done = called ((PyObject *) self, PyObject_CallMethod ((PyObject *) self, "_finish", "OOOO", task, context,
                                                                value != NULL ? value : Py_None,
                                                                exception != NULL ? exception : Py_None));
    }
  Py_XDECREF (value);
  Py_XDECREF (exception);
  Py_DECREF (context);
  return is_done;
}

/* The tasks from @number on, until there is none, or one is interrupted: then returns FALSE. */
static gboolean
run_all (TableObject *self, guint number)
{
  PyObject *free_loop = NULL;
  gboolean is_done = TRUE;

  while (number != 0 && is_done)
    {
      PyObject *entry = table_take (self, number);

      if (entry != NULL && entry != Py_None)
        {
          FutureObject *future = (FutureObject *) entry;

          set_running_state (future->posted_with);
          is_done = Py_TYPE (entry) == prio_continuation_type ? resume (future, &free_loop) : run_task (self, future);
        }
      Py_XDECREF (entry);
      if (is_done)
        number = prio_runner_next ();
    }
  Py_XDECREF (free_loop);
  return is_done;
}

/* The function of the runner. */
static PyObject *
table_run (PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
  TableObject *self = (TableObject *) object;
  unsigned long number = n_args > 0 ? PyLong_AsUnsignedLong (args[0]) : 0;
  PrioRunning outer = prio_running;
  gboolean is_done;

  if (PyErr_Occurred ())
    return NULL;

  prio_running = (PrioRunning) { .depth = g_main_depth () };
  Py_INCREF (object);
  is_done = number == 0 ? call_slow (object, "_take_rejected", NULL) : run_all (self, (guint) number);
  set_running_state (NULL);
  set_running_context (NULL);
  prio_running = outer;

  if (!is_done)
    {
      PyObject *exception = fetch_exception (), *result = PyObject_CallMethod (object, "_interrupt", "O", exception);

      Py_DECREF (exception);
      Py_DECREF (object);
      return result;
    }
  Py_DECREF (object);
  Py_RETURN_NONE;
}

static int
table_init (PyObject *object, PyObject *args, PyObject *kwargs)
{
  TableObject *self = (TableObject *) object;
  PyObject *runner, *states[N_PRIORITIES];

  if (!PyArg_ParseTuple (args, "O(OOO)", &runner, &states[0], &states[1], &states[2]))
    return -1;
  if (!pyg_boxed_check (runner, PRIO_TYPE_RUNNER))
    {
      PyErr_SetString (PyExc_TypeError, "a table needs a PrioSched.Runner");
      return -1;
    }

  if (self->runner != NULL)
    {
      PyErr_SetString (PyExc_TypeError, "a table has its PrioSched.Runner already");
      return -1;
    }

  self->runner = prio_runner_ref (pyg_boxed_get (runner, PrioRunner));
  for (guint i = 0; i < N_PRIORITIES; i++)
    {
      Py_INCREF (states[i]);
      Py_XSETREF (self->states[i], states[i]);
    }
  return 0;
}

static int
table_traverse (PyObject *object, visitproc visit, void *arg)
{
  TableObject *self = (TableObject *) object;

  for (guint i = 0; i < N_PRIORITIES; i++)
    Py_VISIT (self->states[i]);
  for (guint i = 1; i < self->length; i++)
    Py_VISIT (self->entries[i]);
  return 0;
}

static int
table_clear (PyObject *object)
{
  TableObject *self = (TableObject *) object;

  for (guint i = 0; i < N_PRIORITIES; i++)
    Py_CLEAR (self->states[i]);
  for (guint i = 1; i < self->length; i++)
    Py_CLEAR (self->entries[i]);
  self->length = self->first_free = 0;
  self->size = 0;
  g_clear_pointer (&self->entries, g_free);
  g_clear_pointer (&self->next_free, g_free);
  return 0;
}

static void
table_dealloc (PyObject *object)
{
  PyObject_GC_UnTrack (object);
  table_clear (object);
  g_clear_pointer (&((TableObject *) object)->runner, prio_runner_unref);
  Py_TYPE (object)->tp_free (object);
}

static PyMethodDef table_methods[] = {
  { "_add", table_add_method, METH_O, NULL },
  { "_take", table_take_method, METH_O, NULL },
  { "_take_all", table_take_all, METH_NOARGS, NULL },
  { "drop", table_drop, METH_O, NULL },
  { "_run", (PyCFunction) (void (*) (void)) table_run, METH_FASTCALL, NULL },
  { "post", table_post, METH_O, NULL },
  { "yield_now", table_yield_now, METH_NOARGS, NULL },
  { NULL },
};

PyTypeObject prio_table_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "_PrioSchedSpeedups.TableBase",
  .tp_basicsize = sizeof (TableObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_new = PyType_GenericNew,
  .tp_init = table_init,
  .tp_dealloc = table_dealloc,
  .tp_traverse = table_traverse,
  .tp_clear = table_clear,
  .tp_methods = table_methods,
};
