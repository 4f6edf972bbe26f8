/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* future.c: tasks and continuations in Python */

#include "native.h"

#define OBJECT(name, field) { name, T_OBJECT, offsetof (FutureObject, field), 0, NULL }
#define FLAG(name, field) { name, T_BOOL, offsetof (FutureObject, field), 0, NULL }

static PyMemberDef future_members[] = {
  OBJECT ("name", name),
  OBJECT ("_value", value),
  OBJECT ("_exception", exception),
  OBJECT ("_waiter", waiter),
  OBJECT ("_waiter_context", waiter_context),
  OBJECT ("_callbacks", callbacks),
  OBJECT ("_posted_with", posted_with),
  OBJECT ("_callback", callback),
  OBJECT ("_context", context),
  { "_context_id", T_PYSSIZET, offsetof (FutureObject, context_id), 0, NULL },
  { "_number", T_UINT, offsetof (FutureObject, number), READONLY, NULL },
  FLAG ("_done", done),
  FLAG ("_retrieved", retrieved),
  FLAG ("_aborted", aborted),
  FLAG ("_asyncio_future_blocking", blocking),
  { NULL },
};

/* Returns all objects of @self: N_OBJECTS consecutive fields. */
static PyObject **
future_objects (FutureObject *self)
{
  return &self->name;
}

#define N_OBJECTS ((offsetof (FutureObject, context_id) - offsetof (FutureObject, name)) / sizeof (PyObject *))

static int
future_traverse (PyObject *object, visitproc visit, void *arg)
{
  PyObject **objects = future_objects ((FutureObject *) object);

  for (guint i = 0; i < N_OBJECTS; i++)
    Py_VISIT (objects[i]);
  return 0;
}

static int
future_clear (PyObject *object)
{
  PyObject **objects = future_objects ((FutureObject *) object);

  for (guint i = 0; i < N_OBJECTS; i++)
    Py_CLEAR (objects[i]);
  return 0;
}

/* Reports an exception that was never retrieved, or a wait that is over and was never awaited. */
static void
future_finalize (PyObject *object)
{
  FutureObject *self = (FutureObject *) object;
  PyObject *type, *value, *traceback, *result;

  if (self->retrieved || (!is_set (self->exception) && !(self->done && prio_future_is_wait (self))))
    return;

  PyErr_Fetch (&type, &value, &traceback);
  result = PyObject_CallMethod (object, "_never_retrieved", NULL);
  if (result == NULL)
    PyErr_WriteUnraisable (object);
  Py_XDECREF (result);
  PyErr_Restore (type, value, traceback);
}

static void
future_dealloc (PyObject *object)
{
  if (PyObject_CallFinalizerFromDealloc (object) < 0)
    return;

  PyObject_GC_UnTrack (object);
  future_clear (object);
  Py_TYPE (object)->tp_free (object);
}

static PyAsyncMethods future_async_methods = {
  .am_await = prio_future_await,
};

PyTypeObject prio_future_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.FutureBase",
  .tp_basicsize = sizeof (FutureObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_new = PyType_GenericNew,
  .tp_dealloc = future_dealloc,
  .tp_finalize = future_finalize,
  .tp_traverse = future_traverse,
  .tp_clear = future_clear,
  .tp_members = future_members,
  .tp_methods = prio_await_methods,
  .tp_as_async = &future_async_methods,
  .tp_iter = prio_future_await,
};
