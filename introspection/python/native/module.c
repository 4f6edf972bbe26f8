/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* module.c: the module _native, which runs tasks in Python
 *
 * FutureBase holds the state of a task, TableBase posts and runs tasks, EachBase iterates for Scheduler.each (), and DriverBase runs a
 * coroutine without a loop of asyncio.  Classes of the package derive from these.  `running` has the state of the running code.
 *
 * The module's code runs with the interpreter's lock held.  The library holds none of its locks when it
 * calls Python, so waiting for a lock of the library here cannot deadlock.
 */

#include "native.h"

#include <pygobject.h>

#include <prio-sched.h>

_Thread_local PrioRunning prio_running;

PyObject *prio_state_variable;
PyTypeObject *prio_task_type, *prio_continuation_type, *prio_wait_type, *prio_coroutine_task_type, *prio_driver_type;

PyObject *prio_get_running_loop, *prio_current_task, *prio_asyncio_task;

/* The members of `running`, through which Python reads and sets the PrioRunning of its thread */

static PyObject *
running_get (PyObject *Py_UNUSED (object), void *field)
{
  PyObject *value = *(PyObject **) (gpointer) ((char *) &prio_running + GPOINTER_TO_SIZE (field));

  return Py_NewRef (value != NULL ? value : Py_None);
}

static int
running_set (PyObject *Py_UNUSED (object), PyObject *value, void *field)
{
  PyObject **place = (PyObject **) (gpointer) ((char *) &prio_running + GPOINTER_TO_SIZE (field));

  Py_XSETREF (*place, value != Py_None ? Py_XNewRef (value) : NULL);
  return 0;
}

static PyObject *
running_get_depth (PyObject *Py_UNUSED (object), void *Py_UNUSED (data))
{
  return PyLong_FromLong (prio_running.depth);
}

static PyGetSetDef running_getset[] = {
  { "state", running_get, running_set, NULL, GSIZE_TO_POINTER (offsetof (PrioRunning, state)) },
  { "context", running_get, running_set, NULL, GSIZE_TO_POINTER (offsetof (PrioRunning, context)) },
  { "depth", running_get_depth, NULL, NULL, NULL },
  { NULL },
};

static PyTypeObject running_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.Running",
  .tp_basicsize = sizeof (PyObject),
  .tp_flags = Py_TPFLAGS_DEFAULT,
  .tp_getset = running_getset,
};

static PyObject *
set_up (PyObject *Py_UNUSED (module), PyObject *args)
{
  PyObject *variable;
  PyTypeObject *task, *continuation, *wait, *coroutine_task, *driver;

  if (!PyArg_ParseTuple (args, "O!O!O!O!O!O!", &PyContextVar_Type, &variable, &PyType_Type, &task, &PyType_Type,
                         &continuation, &PyType_Type, &wait, &PyType_Type, &coroutine_task, &PyType_Type, &driver))
    return NULL;
  if (!PyType_IsSubtype (task, &prio_future_type) || !PyType_IsSubtype (continuation, &prio_future_type) ||
      !PyType_IsSubtype (wait, &prio_future_type) ||
      !PyType_IsSubtype (driver, &prio_driver_base_type))
    {
      PyErr_SetString (PyExc_TypeError, "tasks must derive from FutureBase, and drivers of coroutines from DriverBase");
      return NULL;
    }

  Py_INCREF (variable);
  Py_XSETREF (prio_state_variable, variable);
  Py_INCREF (task);
  Py_XSETREF (prio_task_type, task);
  Py_INCREF (continuation);
  Py_XSETREF (prio_continuation_type, continuation);
  Py_INCREF (wait);
  Py_XSETREF (prio_wait_type, wait);
  Py_INCREF (driver);
  Py_XSETREF (prio_driver_type, driver);
  Py_INCREF (coroutine_task);
  Py_XSETREF (prio_coroutine_task_type, coroutine_task);
  Py_RETURN_NONE;
}

typedef struct
{
  PyObject *callable, *argument, *result;
} Call;

static void
call (gpointer data)
{
  Call *self = data;

  self->result = PyObject_CallOneArg (self->callable, self->argument);
}

static PyObject *
call_outside (PyObject *Py_UNUSED (module), PyObject *args)
{
  Call self = { NULL };

  if (!PyArg_ParseTuple (args, "OO", &self.callable, &self.argument))
    return NULL;
  prio_call_outside (call, &self);
  return self.result;
}

/* Breaks the reference cycles in which the garbage collector has found @object, the wrapper of a GObject, but keeps the GObject.
 * PyGObject's tp_clear would drop the GObject, although C code may still pass @object to Python while the collector clears garbage, in
 * this thread or another one.
 *
 * Handlers can be in such a cycle only if no other code refers to the GObject, because the collector sees them only then; so they are
 * disconnected in this case.  The collector clears the attributes of @object itself. */
static int
clear_wrapper (PyObject *object)
{
  GObject *own = pygobject_get (object);

  if (own != NULL && g_atomic_int_get (&own->ref_count) == 1)
    {
      Py_BEGIN_ALLOW_THREADS
      g_signal_handlers_destroy (own);
      Py_END_ALLOW_THREADS
    }
  return 0;
}

static PyObject *
keep_whole (PyObject *Py_UNUSED (module), PyObject *type)
{
  if (!PyType_Check (type) || !PyType_IsSubtype ((PyTypeObject *) type, &PyGObject_Type))
    return PyErr_Format (PyExc_TypeError, "%R is not a class of a GObject", type);
  ((PyTypeObject *) type)->tp_clear = clear_wrapper;
  Py_RETURN_NONE;
}

static PyObject *
main_depth (PyObject *Py_UNUSED (module), PyObject *Py_UNUSED (args))
{
  return PyLong_FromLong (g_main_depth ());
}

static PyMethodDef module_methods[] = {
  { "call_outside", call_outside, METH_VARARGS, "Calls callable (argument) outside any task: no state is current." },
  { "keep_whole", keep_whole, METH_O, "Makes the objects of a class keep their GObjects until they are freed." },
  { "main_depth", main_depth, METH_NOARGS, "Returns the same as GLib.main_depth (), in a tenth of the time." },
  { "make_steps", (PyCFunction) (void (*) (void)) prio_make_steps, METH_FASTCALL, "Continues a generator until the task should yield." },
  { "set_up", set_up, METH_VARARGS, NULL },
  { NULL },
};

static PyModuleDef module_definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "_native",
  .m_size = -1,
  .m_methods = module_methods,
};

/* Looks up the functions and classes of asyncio that this module uses. */
static gboolean
find_asyncio (void)
{
  PyObject *asyncio = PyImport_ImportModule ("asyncio");

  if (asyncio != NULL)
    {
      prio_get_running_loop = PyObject_GetAttrString (asyncio, "_get_running_loop");
      prio_current_task = PyObject_GetAttrString (asyncio, "current_task");
      prio_asyncio_task = PyObject_GetAttrString (asyncio, "Task");
      Py_DECREF (asyncio);
    }
  return prio_get_running_loop != NULL && prio_current_task != NULL && prio_asyncio_task != NULL &&
         PyType_Check (prio_asyncio_task);
}

PyMODINIT_FUNC PyInit__native (void);

PyMODINIT_FUNC
PyInit__native (void)
{
  PyObject *module, *gi = pygobject_init (3, 42, 0);

  PyObject *running_object;

  if (gi == NULL)
    return NULL;
  Py_DECREF (gi);

  if (PyType_Ready (&running_type) < 0 || PyType_Ready (&prio_future_type) < 0 || PyType_Ready (&prio_table_type) < 0 ||
      PyType_Ready (&prio_await_type) < 0 || PyType_Ready (&prio_driver_base_type) < 0 ||
      PyType_Ready (&prio_each_base_type) < 0 || !find_asyncio ())
    return NULL;
  running_object = PyObject_New (PyObject, &running_type);
  module = PyModule_Create (&module_definition);
  if (running_object == NULL || module == NULL)
    return NULL;

  if (PyModule_AddObjectRef (module, "running", running_object) < 0 ||
      PyModule_AddObjectRef (module, "FutureBase", (PyObject *) &prio_future_type) < 0 ||
      PyModule_AddObjectRef (module, "DriverBase", (PyObject *) &prio_driver_base_type) < 0 ||
      PyModule_AddObjectRef (module, "EachBase", (PyObject *) &prio_each_base_type) < 0 ||
      PyModule_AddObjectRef (module, "TableBase", (PyObject *) &prio_table_type) < 0)
    Py_CLEAR (module);
  return module;
}
