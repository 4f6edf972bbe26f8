/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* steps.c: runs steps of generators, and iterates for Scheduler.each (), until the running code should yield */

#include "native.h"

#include <gio/gio.h>
#define NO_IMPORT_PYGOBJECT /* module.c imports it */
#include <pygobject.h>

#include <prio-sched.h>

/* Returns whether @signal, the signal of the running code, has been aborted; FALSE if @signal is NULL or None. */
static gboolean
is_aborted (PyObject *signal)
{
  return is_set (signal) && G_IS_CANCELLABLE (pygobject_get (signal)) && g_cancellable_is_cancelled ((GCancellable *) pygobject_get (signal));
}

/* Returns whether to yield; TRUE also if a program uses another object in place of a PrioScheduler, because only Python can
 * ask that object. */
static gboolean
should_yield (PyObject *scheduler)
{
  return !PyObject_TypeCheck (scheduler, &PyGObject_Type) || !PRIO_IS_SCHEDULER (pygobject_get (scheduler)) ||
         prio_scheduler_should_yield ((PrioScheduler *) pygobject_get (scheduler));
}

/* Returns whether the step that has just run may have aborted or cancelled @task.  If so, has_ended_itself () in Python checks it. */
static gboolean
may_have_ended (FutureObject *task, PyObject *signal)
{
  static PyObject *name;
  PyObject *run = task->callback, *must_cancel;

  if (task->aborted || is_aborted (signal))
    return TRUE;
  if (!is_set (run))
    return FALSE;
  if (PyObject_TypeCheck (run, &prio_driver_base_type))
    return is_set (((DriverObject *) run)->pending);
  if (!PyObject_TypeCheck (run, (PyTypeObject *) prio_asyncio_task))
    return FALSE;

  if (name == NULL)
    name = PyUnicode_InternFromString ("_must_cancel");
  must_cancel = PyObject_GetAttr (run, name);
  Py_XDECREF (must_cancel);
  PyErr_Clear ();
  return must_cancel != Py_False;
}

/* Returns whether @value is of one of the frequent types whose values cannot be awaited. */
static gboolean
is_plain (PyObject *value)
{
  return value == Py_None || PyBool_Check (value) || PyFloat_CheckExact (value) || PyLong_CheckExact (value) || PyUnicode_CheckExact (value)
         || PyTuple_CheckExact (value) || PyList_CheckExact (value) || PyDict_CheckExact (value);
}

/* Runs steps of a generator: make_steps (generator, scheduler, task, signal, passed) in Python.
 *
 * Stops after a step if the task should yield or may have been aborted or cancelled, or if the value of the step may be an awaitable.
 * Returns that value.  If the generator ends, raises StopIteration with the generator's result.  Before the end, or a value that may be an
 * awaitable, appends the value of the previous step in this call, if any, to `passed`, which is a list or None. */
PyObject *
prio_make_steps (PyObject *Py_UNUSED (module), PyObject *const *args, Py_ssize_t n_args)
{
  PyObject *before, *next = NULL;
  PySendResult sent;
  gboolean goes_on;

  if (n_args != 5)
    {
      PyErr_SetString (PyExc_TypeError, "make_steps () takes five arguments");
      return NULL;
    }

  do
    {
      before = next;
      sent = PyIter_Send (args[0], Py_None, &next);
      goes_on = sent == PYGEN_NEXT && is_plain (next);
      if (!goes_on && sent != PYGEN_ERROR && before != NULL && PyList_Check (args[4]) && PyList_Append (args[4], before) < 0)
        Py_CLEAR (next);
      Py_XDECREF (before);
    }
  while (goes_on && !should_yield (args[1]) && !may_have_ended ((FutureObject *) args[2], args[3]));
  return sent != PYGEN_RETURN || next == NULL ? next : stop_with (next);
}

/* EachBase: an asynchronous iterator, which is also the awaitable for its next item.  Its subclass has two coroutine
 * functions: _next () gets the first item and asynchronous items, yields, and raises aborts; _end () raises the error at
 * the end. */
typedef struct
{
  PyObject_HEAD
  PyObject *scheduler;
  PyObject *iterator; /* NULL if _next () gives all items, as it does until _next () sets this field */
  PyObject *signal;   /* the signal of the code that iterates, or NULL */
  PyObject *item;     /* the item that the next await takes, or NULL */
} EachObject;

static int
each_traverse (PyObject *object, visitproc visit, void *arg)
{
  EachObject *self = (EachObject *) object;

  Py_VISIT (self->scheduler);
  Py_VISIT (self->iterator);
  Py_VISIT (self->signal);
  Py_VISIT (self->item);
  return 0;
}

static int
each_clear (PyObject *object)
{
  EachObject *self = (EachObject *) object;

  Py_CLEAR (self->scheduler);
  Py_CLEAR (self->iterator);
  Py_CLEAR (self->signal);
  Py_CLEAR (self->item);
  return 0;
}

static void
each_dealloc (PyObject *object)
{
  PyObject_GC_UnTrack (object);
  each_clear (object);
  Py_TYPE (object)->tp_free (object);
}

static PyObject *
each_anext (PyObject *object)
{
  EachObject *self = (EachObject *) object;
  PyObject *error, *end;

  if (!is_set (self->iterator) || self->item != NULL || is_aborted (self->signal) || should_yield (self->scheduler))
    return PyObject_CallMethod (object, "_next", NULL);

  self->item = PyIter_Next (self->iterator);
  if (self->item != NULL)
    return Py_NewRef (object);

  /* The await of _end () raises the error, because the builtin anext () crashes if this function raises an error. */
  error = PyErr_Occurred () ? fetch_exception () : Py_NewRef (PyExc_StopAsyncIteration);
  end = PyObject_CallMethod (object, "_end", "O", error);
  Py_DECREF (error);
  return end;
}

static PyObject *
each_await (PyObject *object)
{
  if (((EachObject *) object)->item != NULL)
    return Py_NewRef (object);
  PyErr_SetString (PyExc_TypeError, "each () cannot be awaited: iterate over it with “async for”");
  return NULL;
}

/* Returns (transfer full) the item for the await, or NULL with an exception set. */
static PyObject *
take_item (PyObject *object)
{
  PyObject *item = g_steal_pointer (&((EachObject *) object)->item);

  if (item == NULL)
    PyErr_SetString (PyExc_RuntimeError, "this item of each () was awaited already");
  return item;
}

static PySendResult
each_send (PyObject *object, PyObject *Py_UNUSED (sent), PyObject **result)
{
  *result = take_item (object);
  return *result != NULL ? PYGEN_RETURN : PYGEN_ERROR;
}

static PyObject *
each_iternext (PyObject *object)
{
  PyObject *item = take_item (object);

  return item != NULL ? stop_with (item) : NULL;
}

static PyAsyncMethods each_async = {
  .am_await = each_await,
  .am_aiter = Py_NewRef,
  .am_anext = each_anext,
  .am_send = each_send,
};

static PyMemberDef each_members[] = {
  { "_scheduler", T_OBJECT, offsetof (EachObject, scheduler), 0, NULL },
  { "_iterator", T_OBJECT, offsetof (EachObject, iterator), 0, NULL },
  { "_signal", T_OBJECT, offsetof (EachObject, signal), 0, NULL },
  { NULL },
};

PyTypeObject prio_each_base_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.EachBase",
  .tp_basicsize = sizeof (EachObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_new = PyType_GenericNew,
  .tp_dealloc = each_dealloc,
  .tp_traverse = each_traverse,
  .tp_clear = each_clear,
  .tp_as_async = &each_async,
  .tp_iternext = each_iternext,
  .tp_members = each_members,
};
