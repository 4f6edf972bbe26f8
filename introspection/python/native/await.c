/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* await.c: awaits of tasks and continuations */

#include "native.h"

/* Notes that code uses @self.  A wait that code uses is not reported as never awaited. */
static void
notice (FutureObject *self)
{
  if (prio_future_is_wait (self))
    self->retrieved = TRUE;
}

/* The iterator of an `await` of a future. */
typedef struct
{
  PyObject_HEAD
  FutureObject *future;
  gboolean has_yielded;
} AwaitObject;

/* Returns whether Python's check_loop () has accepted @loop for the main context of @self, and noted this in the loop. */
static gboolean
is_checked (FutureObject *self, PyObject *loop)
{
  static PyObject *name;
  PyObject *id;
  gboolean is_same;

  if (name == NULL)
    name = PyUnicode_InternFromString ("_prio_sched_checked");
  id = PyObject_GetAttr (loop, name);
  if (id == NULL)
    {
      PyErr_Clear ();
      return FALSE;
    }
  is_same = PyLong_Check (id) && PyLong_AsSsize_t (id) == self->context_id && !PyErr_Occurred ();
  PyErr_Clear ();
  Py_DECREF (id);
  return is_same;
}

/* Returns whether an asyncio task runs the coroutine of @self, so that this coroutine might be the code that awaits @self. */
static gboolean
is_run_by_asyncio (FutureObject *self)
{
  return self->callback != NULL && PyType_IsSubtype (Py_TYPE (self->callback), (PyTypeObject *) prio_asyncio_task);
}

/* Returns FALSE, with RuntimeError set, if the running loop of asyncio would wait for ever, or a task would await itself. */
static gboolean
check_await (FutureObject *self)
{
  PyObject *loop = PyObject_CallNoArgs (prio_get_running_loop), *result = NULL;
  gboolean is_right;

  if (loop == NULL)
    return FALSE;

  is_right = loop == Py_None || (is_checked (self, loop) && !is_run_by_asyncio (self));
  if (!is_right)
    {
      result = PyObject_CallMethod ((PyObject *) self, "_check_await", "O", loop);
      is_right = result != NULL;
    }
  Py_XDECREF (result);
  Py_DECREF (loop);
  return is_right;
}

/* Raises @exception, which is the exception of @self or represents it, and returns NULL.  Each await adds its frames to the
 * traceback, so @exception first gets the traceback back that it had before the first await.  Many tasks may share the
 * reason of an abort, so the reason loses the traceback of the task that raised it before. */
static PyObject *
raise_exception (FutureObject *self, PyObject *exception)
{
  self->retrieved = TRUE;
  if (self->traceback == NULL && !self->aborted)
    self->traceback = PyException_GetTraceback (exception);
  if (PyException_SetTraceback (exception, self->traceback != NULL ? self->traceback : Py_None) < 0)
    return NULL;
  PyErr_SetObject ((PyObject *) Py_TYPE (exception), exception);
  return NULL;
}

static PyObject *
get_value (FutureObject *self)
{
  return Py_NewRef (self->value != NULL ? self->value : Py_None);
}

/* Raises the exception of @self, or a CancelledError in its place, in the code that awaits @self.  Returns NULL. */
static PyObject *
raise_here (FutureObject *self)
{
  PyObject *exception = PyObject_CallMethod ((PyObject *) self, "_raises_here", NULL);

  if (exception != NULL)
    raise_exception (self, exception);
  Py_XDECREF (exception);
  return NULL;
}

static PyObject *
await_next (PyObject *object)
{
  AwaitObject *self = (AwaitObject *) object;
  PyObject *value;

  if (!self->has_yielded && !self->future->done)
    {
      if (!check_await (self->future))
        return NULL;
      self->has_yielded = TRUE;
      self->future->blocking = TRUE;
      return Py_NewRef ((PyObject *) self->future);
    }

  self->has_yielded = TRUE;
  if (is_set (self->future->exception))
    return raise_here (self->future);

  value = get_value (self->future);
  if (value == Py_None)
    {
      /* An iterator that ends without an exception set has the result None. */
      Py_DECREF (value);
      return NULL;
    }
  return stop_with (value);
}

static int
await_traverse (PyObject *object, visitproc visit, void *arg)
{
  Py_VISIT (((AwaitObject *) object)->future);
  return 0;
}

static void
await_dealloc (PyObject *object)
{
  PyObject_GC_UnTrack (object);
  Py_CLEAR (((AwaitObject *) object)->future);
  PyObject_GC_Del (object);
}

PyTypeObject prio_await_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.Await",
  .tp_basicsize = sizeof (AwaitObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
  .tp_dealloc = await_dealloc,
  .tp_traverse = await_traverse,
  .tp_iter = PyObject_SelfIter,
  .tp_iternext = await_next,
};

PyObject *
prio_future_await (PyObject *object)
{
  AwaitObject *self = PyObject_GC_New (AwaitObject, &prio_await_type);

  if (self == NULL)
    return NULL;
  self->future = (FutureObject *) Py_NewRef (object);
  notice (self->future);
  self->has_yielded = FALSE;
  PyObject_GC_Track (self);
  return (PyObject *) self;
}

static PyObject *
future_result (PyObject *object, PyObject *args, PyObject *kwargs)
{
  static char *names[] = { (char *) "timeout", NULL };
  FutureObject *self = (FutureObject *) object;
  PyObject *timeout = Py_None, *waited;

  if (!PyArg_ParseTupleAndKeywords (args, kwargs, "|O:result", names, &timeout))
    return NULL;
  if (!self->done)
    {
      waited = PyObject_CallMethod (object, "_wait_for_result", "O", timeout);
      if (waited == NULL)
        return NULL;
      Py_DECREF (waited);
    }
  if (!self->done)
    return PyObject_CallMethod (object, "_has_no_result", NULL);
  notice (self);
  return is_set (self->exception) ? raise_exception (self, self->exception) : get_value (self);
}

static PyObject *
future_get_loop (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  PyObject *loop = PyObject_CallNoArgs (prio_get_running_loop);

  if (loop != Py_None)
    return loop;
  Py_DECREF (loop);
  return PyObject_CallMethod (object, "_loop_elsewhere", NULL);
}

/* Returns whether @callback wakes up an asyncio task. */
static gboolean
is_wakeup (PyObject *callback)
{
  return PyCFunction_Check (callback) && PyCFunction_GET_SELF (callback) != NULL &&
         PyType_IsSubtype (Py_TYPE (PyCFunction_GET_SELF (callback)), (PyTypeObject *) prio_asyncio_task);
}

static PyObject *
future_add_done_callback (PyObject *object, PyObject *args, PyObject *kwargs)
{
  static char *names[] = { (char *) "", (char *) "context", NULL };
  FutureObject *self = (FutureObject *) object;
  PyObject *callback, *context = Py_None, *loop;

  if (!PyArg_ParseTupleAndKeywords (args, kwargs, "O|$O:add_done_callback", names, &callback, &context))
    return NULL;
  notice (self);

  if (context != Py_None && PyContext_CheckExact (context) && !self->done && !is_set (self->waiter) &&
      !is_set (self->callbacks) && is_wakeup (callback))
    {
      loop = PyObject_CallNoArgs (prio_get_running_loop);
      if (loop == NULL)
        return NULL;
      if (loop != Py_None && is_checked (self, loop))
        {
          Py_XSETREF (self->waiter, Py_NewRef (callback));
          Py_XSETREF (self->waiter_context, Py_NewRef (context));
          Py_DECREF (loop);
          Py_RETURN_NONE;
        }
      Py_DECREF (loop);
    }
  return PyObject_CallMethod (object, "_add_done_callback", "OO", callback, context);
}

PyMethodDef prio_await_methods[] = {
  { "result", (PyCFunction) (void (*) (void)) future_result, METH_VARARGS | METH_KEYWORDS,
    "Returns the result, or raises the exception.\n\nIn a thread that runs neither the main context of the task nor a loop of asyncio, it "
    "first waits until the task is done.\n\ntimeout  seconds, as in concurrent.futures, after which TimeoutError is raised; the task "
    "continues" },
  { "get_loop", future_get_loop, METH_NOARGS, "Returns the running loop of asyncio, because a future belongs to no loop." },
  { "add_done_callback", (PyCFunction) (void (*) (void)) future_add_done_callback, METH_VARARGS | METH_KEYWORDS,
    "Calls callback (future) soon after it is done, on this thread, in context or a copy of the current one." },
  { NULL },
};
