/* speedups.c: the fast path of tasks in Python, in C
 *
 * The module _PrioSchedSpeedups replaces _PrioSchedHot.py where it has been built.  It has the same
 * names: FutureBase, TableBase, running and set_up ().
 *
 * All of it runs with the interpreter's lock held.  The library holds none of its locks when it
 * calls Python, so waiting for one of them here cannot deadlock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "speedups.h"

#include <pygobject.h>

#include <prio-sched.h>

/* The arguments of set_up (): the context variable of states, and two subclasses of
 * FutureBase. */
static PyObject *state_variable;
static PyTypeObject *task_type, *continuation_type;

/* running: the current state of the library, and the depth of main loops at which it was set. */

typedef struct
{
  PyObject_HEAD
  PyObject *state; /* NULL is None */
  int depth;
} RunningObject;

static RunningObject *running;

static PyMemberDef running_members[] = {
  { "state", T_OBJECT, offsetof (RunningObject, state), 0, NULL },
  { "depth", T_INT, offsetof (RunningObject, depth), 0, NULL },
  { NULL },
};

static PyTypeObject running_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "_PrioSchedSpeedups.Running",
  .tp_basicsize = sizeof (RunningObject),
  .tp_flags = Py_TPFLAGS_DEFAULT,
  .tp_members = running_members,
};

static void
set_running_state (PyObject *state)
{
  Py_XINCREF (state);
  Py_XSETREF (running->state, state);
}

/* TableBase: the tasks of a scheduler, by the numbers that identify them in the library. */

#define N_PRIORITIES 3

typedef struct
{
  PyObject_HEAD
  PrioRunner *runner;
  PyObject *states[N_PRIORITIES];
  PyObject **entries; /* @size of them, by number; NULL where a number is free */
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

/* Calls a method that handles a rare case in Python; reports its exception. */
static void
call_slow (PyObject *self, const char *method, PyObject *argument)
{
  PyObject *result = argument != NULL ? PyObject_CallMethod (self, method, "O", argument)
                                      : PyObject_CallMethod (self, method, NULL);

  if (result == NULL)
    PyErr_WriteUnraisable (self);
  Py_XDECREF (result);
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

  call_slow ((PyObject *) self, method, entry);
  Py_DECREF (entry);
}

static PyObject *
table_post (PyObject *object, PyObject *callback)
{
  TableObject *self = (TableObject *) object;
  FutureObject *task = new_future (task_type,
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
  if (state != running->state)
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

  if (PyContextVar_Get (state_variable, NULL, &state) < 0)
    return NULL;

  inherited = is_inherited (self, state);
  if (inherited <= 0)
    {
      Py_DECREF (state);
      return inherited < 0 ? NULL : PyObject_CallMethod (object, "_yield_elsewhere", NULL);
    }

  future = new_future (continuation_type, state);
  Py_DECREF (state);
  if (future == NULL)
    return NULL;

  number = table_add (self, (PyObject *) future);
  if (prio_runner_yield (self->runner, number) == PRIO_POSTED_REJECTED)
    reject (self, number, "_reject_yield");
  return (PyObject *) future;
}

static void
resume (FutureObject *future)
{
  future->done = TRUE;
  if (is_set (future->waiter) && !is_set (future->callbacks))
    {
      PyObject *waiter = g_steal_pointer (&future->waiter);
      PyObject *result = PyObject_CallNoArgs (waiter);

      if (result == NULL)
        PyErr_WriteUnraisable (waiter);
      Py_XDECREF (result);
      Py_DECREF (waiter);
    }
  else
    {
      call_slow ((PyObject *) future, "_notify", NULL);
    }
}

/* Calls the callback of @task in @context, with its state as the current one. */
static PyObject *
call_in_context (FutureObject *task, PyObject *context)
{
  PyObject *former, *value = NULL;

  if (PyContext_Enter (context) < 0)
    return NULL;
  former = PyContextVar_Set (state_variable, task->posted_with);
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

/* Runs the callback of @task.  Settles the most frequent result, None, here; leaves all others to Python. */
static void
run_task (TableObject *self, FutureObject *task)
{
  PyObject *context = g_steal_pointer (&task->context);
  PyObject *exception = NULL, *value, *result;
  gboolean plain = task->posted_with == self->states[0] || task->posted_with == self->states[1] ||
                   task->posted_with == self->states[2];

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
          call_slow ((PyObject *) task, "_notify", NULL);
        }
    }
  else
    {
      result = PyObject_CallMethod ((PyObject *) self, "_finish", "OOOO", task, context,
                                    value != NULL ? value : Py_None, exception != NULL ? exception : Py_None);
      if (result == NULL)
        PyErr_WriteUnraisable ((PyObject *) self);
      Py_XDECREF (result);
    }
  Py_XDECREF (value);
  Py_XDECREF (exception);
  Py_DECREF (context);
}

static void
run_entry (TableObject *self, PyObject *entry)
{
  FutureObject *future = (FutureObject *) entry;

  set_running_state (future->posted_with);
  if (Py_TYPE (entry) == continuation_type)
    resume (future);
  else if (is_set (future->callback) && is_set (future->context))
    run_task (self, future);
  else
    call_slow ((PyObject *) self, "_settle_cancelled", entry);
}

/* The function of the runner. */
static PyObject *
table_run (PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
  TableObject *self = (TableObject *) object;
  unsigned long number = n_args > 0 ? PyLong_AsUnsignedLong (args[0]) : 0;
  PyObject *outer_state = g_steal_pointer (&running->state);
  int outer_depth = running->depth;

  if (PyErr_Occurred ())
    return NULL;

  running->depth = g_main_depth ();
  if (number == 0)
    call_slow (object, "_take_rejected", NULL);

  while (number != 0)
    {
      PyObject *entry = table_take (self, (guint) number);

      if (entry != NULL)
        run_entry (self, entry);
      Py_XDECREF (entry);
      number = prio_runner_next ();
    }

  Py_XSETREF (running->state, outer_state);
  running->depth = outer_depth;
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
  { "_run", (PyCFunction) (void (*) (void)) table_run, METH_FASTCALL, NULL },
  { "post", table_post, METH_O, NULL },
  { "yield_now", table_yield_now, METH_NOARGS, NULL },
  { NULL },
};

static PyTypeObject table_type = {
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

static PyObject *
set_up (PyObject *Py_UNUSED (module), PyObject *args)
{
  PyObject *variable;
  PyTypeObject *task, *continuation;

  if (!PyArg_ParseTuple (args, "O!O!O!", &PyContextVar_Type, &variable, &PyType_Type, &task, &PyType_Type,
                         &continuation))
    return NULL;
  if (!PyType_IsSubtype (task, &prio_future_type) || !PyType_IsSubtype (continuation, &prio_future_type))
    {
      PyErr_SetString (PyExc_TypeError, "what is posted is a FutureBase");
      return NULL;
    }

  Py_INCREF (variable);
  Py_XSETREF (state_variable, variable);
  Py_INCREF (task);
  Py_XSETREF (task_type, task);
  Py_INCREF (continuation);
  Py_XSETREF (continuation_type, continuation);
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
  { "set_up", set_up, METH_VARARGS, NULL },
  { NULL },
};

static PyModuleDef module_definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "_PrioSchedSpeedups",
  .m_size = -1,
  .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__PrioSchedSpeedups (void);

PyMODINIT_FUNC
PyInit__PrioSchedSpeedups (void)
{
  PyObject *module, *gi = pygobject_init (3, 42, 0);

  if (gi == NULL)
    return NULL;
  Py_DECREF (gi);

  if (PyType_Ready (&running_type) < 0 || PyType_Ready (&prio_future_type) < 0 || PyType_Ready (&table_type) < 0)
    return NULL;
  running = PyObject_New (RunningObject, &running_type);
  module = PyModule_Create (&module_definition);
  if (running == NULL || module == NULL)
    return NULL;
  running->state = NULL;
  running->depth = 0;

  if (PyModule_AddObjectRef (module, "running", (PyObject *) running) < 0 ||
      PyModule_AddObjectRef (module, "FutureBase", (PyObject *) &prio_future_type) < 0 ||
      PyModule_AddObjectRef (module, "TableBase", (PyObject *) &table_type) < 0)
    Py_CLEAR (module);
  return module;
}
