/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.c: the tasks of a scheduler in Python */

#include "native.h"

#define NO_IMPORT_PYGOBJECT /* module.c imports it */
#include <pygobject.h>

/* Fails an assertion, in builds with a sanitizer, if this thread may not change a table: it lacks the interpreter's lock. */
static void
check_lock (void)
{
#ifdef PRIO_CHECK_BINDING
  g_assert (PyGILState_Check ());
#endif
}

static guint
table_add (TableObject *self, PyObject *entry)
{
  guint number = self->first_free;

  check_lock ();
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
  ((FutureObject *) entry)->context_id = self->context_id;
  return number;
}

PyObject *
prio_table_take (TableObject *self, guint number)
{
  PyObject *entry = number < self->length && number > 0 ? self->entries[number] : NULL;

  check_lock ();
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
    return PyErr_Format (PyExc_TypeError, "%R is not a future", entry);
  return PyLong_FromUnsignedLong (table_add ((TableObject *) object, entry));
}

static PyObject *
table_take_method (PyObject *object, PyObject *number)
{
  unsigned long n = PyLong_AsUnsignedLong (number);
  PyObject *entry;

  if (n == (unsigned long) -1 && PyErr_Occurred ())
    return NULL;
  entry = n <= G_MAXUINT ? prio_table_take ((TableObject *) object, (guint) n) : NULL;
  if (entry == NULL)
    PyErr_SetObject (PyExc_KeyError, number);
  return entry;
}

/* Returns the entry with that number, and leaves it in the table; None for a free number, and for a dropped entry. */
static PyObject *
table_peek (PyObject *object, PyObject *number)
{
  TableObject *self = (TableObject *) object;
  unsigned long n = PyLong_AsUnsignedLong (number);

  if (n == (unsigned long) -1 && PyErr_Occurred ())
    return NULL;
  return Py_NewRef (n > 0 && n < self->length && self->entries[n] != NULL ? self->entries[n] : Py_None);
}

/* Returns whether the entry with that number was dropped, and the number is not free yet. */
static PyObject *
table_is_dropped (PyObject *object, PyObject *number)
{
  TableObject *self = (TableObject *) object;
  unsigned long n = PyLong_AsUnsignedLong (number);

  if (n == (unsigned long) -1 && PyErr_Occurred ())
    return NULL;
  return PyBool_FromLong (n > 0 && n < self->length && self->entries[n] == Py_None);
}

/* Drops an entry, but keeps its number in use, because the library still has the number.  Does nothing if the entry is not
 * in the table. */
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

static void
forget_rejected (TableObject *self)
{
  g_clear_pointer (&self->rejected, g_array_unref);
  self->n_rejected = 0;
}

/* Removes all entries from the table, and returns a list of the entries that were not dropped. */
static PyObject *
table_take_all (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  TableObject *self = (TableObject *) object;
  PyObject *list = PyList_New (0);

  forget_rejected (self);
  for (guint i = 1; list != NULL && i < self->length; i++)
    {
      PyObject *entry = prio_table_take (self, i);

      if (entry != NULL && entry != Py_None && PyList_Append (list, entry) < 0)
        Py_CLEAR (list);
      Py_XDECREF (entry);
    }
  return list;
}

/* Gets from the library the numbers of tasks that it has dropped, for table_next_rejected (). */
static PyObject *
table_fetch_rejected (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  TableObject *self = (TableObject *) object;
  gsize n;
  g_autofree guint *numbers = prio_runner_take_rejected (self->runner, &n);

  if (self->rejected == NULL)
    self->rejected = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_vals (self->rejected, numbers, (guint) n);
  Py_RETURN_NONE;
}

/* Returns the next of the numbers that table_fetch_rejected () has got, or 0 if there are no more. */
static PyObject *
table_next_rejected (PyObject *object, PyObject *Py_UNUSED (ignored))
{
  TableObject *self = (TableObject *) object;

  if (self->rejected != NULL && self->n_rejected < self->rejected->len)
    return PyLong_FromUnsignedLong (g_array_index (self->rejected, guint, self->n_rejected++));

  forget_rejected (self);
  return PyLong_FromLong (0);
}

/* Makes an instance of @type, a subclass of FutureBase that is defined in Python, without calling its __init__ (). */
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

/* Lets Python settle the entry of @number, which the library has rejected, by @method of the table. */
static void
reject (TableObject *self, guint number, const char *method)
{
  PyObject *entry = prio_table_take (self, number);

  if (!prio_call_slow ((PyObject *) self, method, entry))
    PyErr_WriteUnraisable ((PyObject *) self);
  Py_DECREF (entry);
}

/* Creates a task with @state and adds it to the table.  Returns it (transfer full), or NULL with an exception set. */
static FutureObject *
new_task (TableObject *self, PyObject *state, PyObject *callback)
{
  FutureObject *task = new_future (prio_task_type, state);

  if (task == NULL)
    return NULL;
  task->callback = Py_NewRef (callback);
  task->context = PyContext_CopyCurrent ();
  if (task->context == NULL)
    Py_CLEAR (task);
  else
    table_add (self, (PyObject *) task);
  return task;
}

static PyObject *
table_post (PyObject *object, PyObject *callback)
{
  TableObject *self = (TableObject *) object;
  PyObject *state = self->states[PRIO_TASK_PRIORITY_USER_VISIBLE - PRIO_TASK_PRIORITY_BACKGROUND];
  FutureObject *task = new_task (self, state, callback);

  if (task != NULL && prio_runner_post (self->runner, task->number,
                                        PRIO_TASK_PRIORITY_USER_VISIBLE) == PRIO_POST_RESULT_REJECTED)
    reject (self, task->number, "_reject");
  return (PyObject *) task;
}

/* Reads the number of the priority, and the signal, which may be NULL, from a State.  Returns FALSE with an exception set on
 * failure. */
static gboolean
read_state (PyObject *state, long *priority, GCancellable **signal)
{
  static PyObject *names[2];
  PyObject *number, *object;

  if (names[1] == NULL)
    {
      names[0] = PyUnicode_InternFromString ("priority");
      names[1] = PyUnicode_InternFromString ("signal");
    }
  number = PyObject_GetAttr (state, names[0]);
  object = PyObject_GetAttr (state, names[1]);
  *priority = number != NULL ? PyLong_AsLong (number) : -1;
  *signal = object != NULL && object != Py_None ? (GCancellable *) pygobject_get (object) : NULL;
  /* The state holds the signal, so this function need not. */
  Py_XDECREF (number);
  Py_XDECREF (object);
  return !PyErr_Occurred ();
}

/* Gives @task, which has ended, a state of the same priority without a signal: handlers of the signal may refer to owners of
 * the task, and would keep it alive. */
PyObject *
prio_table_take_signal (PyObject *object, PyObject *task)
{
  FutureObject *future = (FutureObject *) task;
  long priority;
  GCancellable *signal;

  if (!read_state (future->posted_with, &priority, &signal))
    return NULL;
  if (signal == NULL)
    Py_RETURN_NONE;
  if (priority == PRIO_TASK_PRIORITY_UNSET)
    priority = PRIO_IS_TASK_SIGNAL (signal) ? prio_task_signal_get_priority (PRIO_TASK_SIGNAL (signal)) : PRIO_TASK_PRIORITY_USER_VISIBLE;
  Py_XSETREF (future->posted_with, Py_NewRef (((TableObject *) object)->states[priority - PRIO_TASK_PRIORITY_BACKGROUND]));
  Py_RETURN_NONE;
}

/* Posts a task, and returns it.  The arguments are a State, a callback, a delay and a name. */
static PyObject *
table_post_in (PyObject *object, PyObject *args)
{
  TableObject *self = (TableObject *) object;
  PyObject *state, *callback, *name;
  unsigned long long delay;
  long priority;
  GCancellable *signal;
  FutureObject *task;

  if (!PyArg_ParseTuple (args, "OOKO", &state, &callback, &delay, &name) || !read_state (state, &priority, &signal))
    return NULL;
  task = new_task (self, state, callback);
  if (task == NULL)
    return NULL;

  Py_XSETREF (task->name, Py_NewRef (name));
  if (prio_runner_post_full (self->runner, task->number, (gint) priority, signal, delay, 0,
                             FALSE) == PRIO_POST_RESULT_REJECTED)
    reject (self, task->number, "_reject");
  return (PyObject *) task;
}

/* Returns the number of a priority's nick, PRIO_TASK_PRIORITY_UNSET for None, or -1 for any other value. */
static int
priority_of (PyObject *value)
{
  static const char *const nicks[N_PRIORITIES] = { "background", "user-visible", "user-blocking" };

  if (value == Py_None)
    return PRIO_TASK_PRIORITY_UNSET;
  for (int i = 0; PyUnicode_CheckExact (value) && i < N_PRIORITIES; i++)
    {
      if (PyUnicode_CompareWithASCIIString (value, nicks[i]) == 0)
        return i + PRIO_TASK_PRIORITY_BACKGROUND;
    }
  return -1;
}

/* Returns (transfer full) a State for a post with @signal and @priority: the State of the last post, if that had both, or else
 * a new one.  Returns NULL with an exception set on failure. */
static PyObject *
state_for (TableObject *self, PyObject *signal, int priority)
{
  PyObject *number, *state = NULL;

  if (self->last_state != NULL && self->last_signal == signal && self->last_priority == priority)
    return Py_NewRef (self->last_state);

  number = PyLong_FromLong (priority);
  if (number != NULL)
    state = PyObject_CallFunctionObjArgs ((PyObject *) Py_TYPE (self->states[0]), self, signal, number, NULL);
  Py_XDECREF (number);
  if (state == NULL)
    return NULL;

  /* Another thread may have posted during the call, so the three fields are set together here. */
  self->last_signal = signal; /* @state holds the signal */
  self->last_priority = priority;
  Py_XSETREF (self->last_state, Py_NewRef (state));
  return state;
}

/* Posts a task, and returns it.  The arguments are a callback, a priority's nick and a signal, which both may be None.
 * Returns None, and posts nothing, if Python has to check them. */
static PyObject *
table_post_quickly (PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
  TableObject *self = (TableObject *) object;
  int priority = n_args == 3 ? priority_of (args[1]) : -1;
  GCancellable *signal = NULL;
  PyObject *state;
  FutureObject *task;
  PrioPostResult posted;

  if (priority < 0)
    Py_RETURN_NONE;
  if (PyObject_TypeCheck (args[2], &PyGObject_Type) && G_IS_CANCELLABLE (pygobject_get (args[2])))
    signal = (GCancellable *) pygobject_get (args[2]);
  else if (args[2] != Py_None)
    Py_RETURN_NONE;

  if (priority == PRIO_TASK_PRIORITY_UNSET && !PRIO_IS_TASK_SIGNAL (signal))
    priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  state = signal != NULL ? state_for (self, args[2], priority) : Py_NewRef (self->states[priority - PRIO_TASK_PRIORITY_BACKGROUND]);
  task = state != NULL ? new_task (self, state, args[0]) : NULL;
  Py_XDECREF (state);
  if (task == NULL)
    return NULL;

  posted = signal != NULL ? prio_runner_post_full (self->runner, task->number, priority, signal, 0, 0, FALSE)
                          : prio_runner_post (self->runner, task->number, (PrioTaskPriority) priority);
  if (posted == PRIO_POST_RESULT_REJECTED)
    reject (self, task->number, "_reject");
  return (PyObject *) task;
}

/* Returns whether the library itself knows @state, the running code's state, which a continuation inherits: @state is None,
 * outside any task, or is the library's current state and belongs to @self.  Returns -1 with an exception set on failure. */
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
  if (prio_runner_yield (self->runner, number) == PRIO_POST_RESULT_REJECTED)
    reject (self, number, "_reject_yield");
  return (PyObject *) future;
}

static int
table_init (PyObject *object, PyObject *args, PyObject *kwargs)
{
  TableObject *self = (TableObject *) object;
  PyObject *runner, *states[N_PRIORITIES];

  if (!PyArg_ParseTuple (args, "O(OOO)n", &runner, &states[0], &states[1], &states[2], &self->context_id))
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
  Py_VISIT (self->last_state);
  for (guint i = 1; i < self->length; i++)
    Py_VISIT (self->entries[i]);
  return 0;
}

static int
table_clear (PyObject *object)
{
  TableObject *self = (TableObject *) object;

  PyObject **entries = g_steal_pointer (&self->entries);
  guint length = self->length;

  /* The table is empty before entries are freed, because their finalizers may post. */
  g_clear_pointer (&self->next_free, g_free);
  self->length = self->size = self->first_free = 0;
  for (guint i = 1; i < length; i++)
    Py_XDECREF (entries[i]);
  g_free (entries);
  for (guint i = 0; i < N_PRIORITIES; i++)
    Py_CLEAR (self->states[i]);
  Py_CLEAR (self->last_state);
  return 0;
}

static void
table_dealloc (PyObject *object)
{
  PyObject_GC_UnTrack (object);
  table_clear (object);
  forget_rejected ((TableObject *) object);
  g_clear_pointer (&((TableObject *) object)->runner, prio_runner_unref);
  Py_TYPE (object)->tp_free (object);
}

static PyMethodDef table_methods[] = {
  { "_add", table_add_method, METH_O, NULL },
  { "_fetch_rejected", table_fetch_rejected, METH_NOARGS, NULL },
  { "_is_dropped", table_is_dropped, METH_O, NULL },
  { "_next_rejected", table_next_rejected, METH_NOARGS, NULL },
  { "_peek", table_peek, METH_O, NULL },
  { "_take", table_take_method, METH_O, NULL },
  { "_take_all", table_take_all, METH_NOARGS, NULL },
  { "take_signal", prio_table_take_signal, METH_O, "Takes the signal of a task that has ended." },
  { "drop", table_drop, METH_O, NULL },
  { "_run", (PyCFunction) (void (*) (void)) prio_table_run, METH_FASTCALL, NULL },
  { "post", table_post, METH_O, NULL },
  { "_post_in", table_post_in, METH_VARARGS, NULL },
  { "post_quickly", (PyCFunction) (void (*) (void)) table_post_quickly, METH_FASTCALL, NULL },
  { "yield_now", table_yield_now, METH_NOARGS, NULL },
  { NULL },
};

PyTypeObject prio_table_type = {
  PyVarObject_HEAD_INIT (NULL, 0)
  .tp_name = "gi.overrides._priosched._native.TableBase",
  .tp_basicsize = sizeof (TableObject),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_new = PyType_GenericNew,
  .tp_init = table_init,
  .tp_dealloc = table_dealloc,
  .tp_traverse = table_traverse,
  .tp_clear = table_clear,
  .tp_methods = table_methods,
};
