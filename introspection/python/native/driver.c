/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* driver.c: runs coroutines if no loop of asyncio is running */

#include "native.h"

#define OBJECT(name) { #name, T_OBJECT, offsetof (DriverObject, name), 0, NULL }

static PyMemberDef driver_members[] = {
  OBJECT (coroutine),
  OBJECT (context),
  OBJECT (state),
  OBJECT (waits_for),
  OBJECT (pending),
  OBJECT (future),
  OBJECT (watch),
  OBJECT (value),
  OBJECT (error),
  OBJECT (main_context),
  { "thread", T_ULONG, offsetof (DriverObject, thread), 0, NULL },
  { "told", T_BOOL, offsetof (DriverObject, told), 0, NULL },
  { "ended", T_BOOL, offsetof (DriverObject, ended), 0, NULL },
  { NULL },
};

#define N_OBJECTS ((offsetof (DriverObject, thread) - offsetof (DriverObject, coroutine)) / sizeof (PyObject *))

/* The drivers, on all threads, that did not end in their first step, until they are freed.  The interpreter's lock guards
 * the list. */
static GQueue standing = G_QUEUE_INIT;

static int
driver_traverse (PyObject *object, visitproc visit, void *arg)
{
  PyObject **objects = &((DriverObject *) object)->coroutine;

  for (guint i = 0; i < N_OBJECTS; i++)
    Py_VISIT (objects[i]);
  return 0;
}

static int
driver_clear (PyObject *object)
{
  PyObject **objects = &((DriverObject *) object)->coroutine;

  for (guint i = 0; i < N_OBJECTS; i++)
    Py_CLEAR (objects[i]);
  return 0;
}

static void
driver_dealloc (PyObject *object)
{
  DriverObject *self = (DriverObject *) object;

  PyObject_GC_UnTrack (object);
  if (self->is_standing)
    g_queue_unlink (&standing, &self->link);
  driver_clear (object);
  Py_TYPE (object)->tp_free (object);
}

/* Makes the coroutine wait for @awaited, which it has yielded.  Leaves rare cases to Python. */
static PyObject *
stand (DriverObject *self, PyObject *awaited)
{
  FutureObject *future = (FutureObject *) awaited;

  if (!PyObject_TypeCheck (awaited, &prio_future_type) || awaited == self->future || is_set (future->waiter) ||
      is_set (future->callbacks) || is_set (self->pending))
    return PyObject_CallMethod ((PyObject *) self, "_stand", "O", awaited);

  Py_XSETREF (self->waits_for, Py_NewRef (awaited));
  Py_XSETREF (future->waiter, Py_NewRef ((PyObject *) self));
  if (future->done)
    return PyObject_CallMethod (awaited, "_check_waiting", NULL);
  Py_RETURN_NONE;
}

/* Settles the future of the coroutine, which has ended with @value or, if that is NULL, with the exception that is set. */
static PyObject *
end (DriverObject *self, PyObject *value)
{
  PyObject *exception = value == NULL ? fetch_exception () : NULL, *result;
  FutureObject *future = (FutureObject *) self->future;

  if (exception == NULL && future != NULL && !is_set (self->pending) && PyObject_TypeCheck (self->future, &prio_future_type) &&
      !is_set (future->waiter) && !is_set (future->callbacks) && !future->done && !self->is_abortable)
    {
      self->ended = TRUE;
      future->done = TRUE;
      Py_XSETREF (future->value, Py_NewRef (value));
      Py_CLEAR (future->callback);
      Py_RETURN_NONE;
    }

  result = PyObject_CallMethod ((PyObject *) self, "_end", "OO", value != NULL ? value : Py_None,
                                exception != NULL ? exception : Py_None);
  Py_XDECREF (exception);
  return result;
}

/* Fails an assertion, in builds with a sanitizer, if a coroutine continues in the state of another task.  Called in the
 * coroutine's context. */
static void
check_state (void)
{
#ifdef PRIO_CHECK_BINDING
  PyObject *own = NULL;
  int failed = PyContextVar_Get (prio_state_variable, NULL, &own);

  g_assert (failed == 0);
  g_assert (prio_running.state == NULL || prio_running.state == own);
  Py_DECREF (own);
#endif
}

/* Continues the coroutine, without an exception. */
static PyObject *
go_on (DriverObject *self)
{
  PyObject *outer = g_steal_pointer (&prio_running.context), *context = self->context, *result = NULL, *returned = NULL;
  PySendResult how = PYGEN_ERROR;

  prio_running.context = Py_NewRef (context);
  Py_CLEAR (self->waits_for);
  if (PyContext_Enter (context) == 0)
    {
      check_state ();
      how = PyIter_Send (self->coroutine, Py_None, &result);
      if (PyContext_Exit (context) < 0)
        how = PYGEN_ERROR;
    }
  Py_XSETREF (prio_running.context, outer);

  returned = how == PYGEN_NEXT ? stand (self, result) : end (self, how == PYGEN_RETURN ? result : NULL);
  Py_XDECREF (result);
  return returned;
}

static PyObject *
driver_step (PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
  DriverObject *self = (DriverObject *) object;
  PyObject *exception = n_args > 0 ? args[0] : Py_None;

  if (self->ended)
    Py_RETURN_NONE;
  if (self->is_abortable || exception != Py_None || is_set (self->watch) || is_set (self->pending))
    return PyObject_CallMethod (object, "_step", "O", exception);
  return go_on (self);
}

/* Continues the coroutine, because the future that it awaits is done: later, if this is not the driver's thread. */
static PyObject *
driver_call (PyObject *object, PyObject *Py_UNUSED (args), PyObject *Py_UNUSED (kwargs))
{
  DriverObject *self = (DriverObject *) object;

  if (self->thread != PyThread_get_thread_ident ())
    return PyObject_CallMethod (object, "_step_elsewhere", NULL);
  return driver_step (object, NULL, 0);
}

/* Lets Python prepare this thread before the thread's first driver runs. */
static gboolean
begin_thread (PyObject *self)
{
  static _Thread_local gboolean has_begun;
  PyObject *result;

  if (has_begun)
    return TRUE;
  has_begun = TRUE;
  result = PyObject_CallMethod (self, "_begin_thread", NULL);
  Py_XDECREF (result);
  return result != NULL;
}

static int
driver_init (PyObject *object, PyObject *args, PyObject *Py_UNUSED (kwargs))
{
  DriverObject *self = (DriverObject *) object;
  PyObject *coroutine, *context, *state, *signal, *result;

  if (!PyArg_ParseTuple (args, "OO!O", &coroutine, &PyContext_Type, &context, &state) || !begin_thread (object))
    return -1;

  Py_XSETREF (self->coroutine, Py_NewRef (coroutine));
  Py_XSETREF (self->context, Py_NewRef (context));
  Py_XSETREF (self->state, Py_NewRef (state));
  self->thread = PyThread_get_thread_ident ();
  if (state != Py_None)
    {
      signal = PyObject_GetAttrString (state, "signal");
      if (signal == NULL)
        return -1;
      self->is_abortable = signal != Py_None;
      Py_DECREF (signal);
    }
  else
    {
      result = PyObject_CallMethod (object, "_find_main_context", NULL);
      if (result == NULL)
        return -1;
      Py_DECREF (result);
    }

  result = driver_step (object, NULL, 0);
  Py_XDECREF (result);
  if (result != NULL && !self->ended && !self->is_standing)
    {
      self->is_standing = TRUE;
      self->link.data = self;
      g_queue_push_tail_link (&standing, &self->link);
    }
  return result != NULL ? 0 : -1;
}

static PyObject *
driver_all_standing (PyObject *Py_UNUSED (ignored), PyObject *Py_UNUSED (args))
{
  PyObject *list = PyList_New (0);

  for (GList *link = standing.head; list != NULL && link != NULL; link = link->next)
    {
      DriverObject *self = link->data;

      /* A driver that is about to be freed is still in the list, but has no references. */
      if (!self->ended && Py_REFCNT ((PyObject *) self) > 0 && PyList_Append (list, (PyObject *) self) < 0)
        Py_CLEAR (list);
    }
  return list;
}

static PyMethodDef driver_methods[] = {
  { "step", (PyCFunction) (void (*) (void)) driver_step, METH_FASTCALL, NULL },
  { "all_standing", driver_all_standing, METH_NOARGS | METH_STATIC, "Returns the drivers that have not ended, of all threads." },
  { NULL },
};

PyTypeObject prio_driver_base_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.DriverBase",
  .tp_basicsize = sizeof (DriverObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_new = PyType_GenericNew,
  .tp_init = driver_init,
  .tp_dealloc = driver_dealloc,
  .tp_traverse = driver_traverse,
  .tp_clear = driver_clear,
  .tp_call = driver_call,
  .tp_members = driver_members,
  .tp_methods = driver_methods,
};
