/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* native.h: the structures of tasks, drivers and tables in Python, for the sources in this folder */

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <glib.h>

#include <prio-sched-bindings.h>

#ifdef Py_GIL_DISABLED
#error "PrioSched needs the interpreter's lock, and this is a free-threaded build of Python"
#endif

/* FutureBase: an entry of a table: a task, a continuation or a wait.  An object field that is NULL is None in Python. */
typedef struct
{
  PyObject_HEAD
  PyObject *name, *value, *exception, *traceback, *waiter, *waiter_context, *callbacks, *posted_with, *callback, *context;
  Py_hash_t context_id; /* hash () of the main context that runs the task, or 0 */
  unsigned int number;  /* the number by which the library knows the entry, kept after the entry's end */
  char done, retrieved, aborted, blocking;
} FutureObject;

/* DriverBase: runs a coroutine if no loop of asyncio is running.  Fields that are objects may be NULL, which Python sees
 * as None. */
typedef struct
{
  PyObject_HEAD
  PyObject *coroutine, *context, *state, *waits_for, *pending, *future, *watch, *value, *error, *main_context;
  unsigned long thread; /* the thread in which the coroutine runs */
  char told, ended;
  char is_abortable; /* whether @state has a signal */
  char is_standing;  /* whether @link is in the list of waiting drivers */
  GList link;
} DriverObject;

/* TableBase: the tasks of a scheduler, by their numbers in the library. */

#define N_PRIORITIES 3

typedef struct
{
  PyObject_HEAD
  PrioRunner *runner;
  PyObject *states[N_PRIORITIES];
  PyObject *last_state; /* the state of the last post with a signal, which the next post may share until tasks run; or
                         * NULL */
  PyObject *last_signal; /* the signal of @last_state, which holds it */
  int last_priority;     /* the priority of @last_state */
  PyObject **entries; /* @size entries, by number; NULL for a free number, None for a dropped entry */
  guint *next_free;   /* for each free number, the next free number, or 0 */
  guint first_free;
  guint length, size;
  Py_ssize_t context_id;
  GArray *rejected; /* the numbers (guint) of tasks that the library has dropped, for table_next_rejected (); or NULL */
  guint n_rejected; /* how many of @rejected table_next_rejected () has returned */
} TableObject;

/* The state and the context of the code that this thread is running. */
typedef struct
{
  PyObject *state;   /* the State for the library's current state; NULL if there is none */
  PyObject *context; /* the contextvars.Context in which the task runs, or NULL */
  int depth;         /* g_main_depth () when the running batch of tasks began, or 0 */
} PrioRunning;

/* Each task reads and writes this variable.  So its TLS model needs no function call to find the address. */
extern G_GNUC_INTERNAL _Thread_local PrioRunning prio_running __attribute__ ((tls_model ("initial-exec")));

/* The arguments of set_up (): the context variable with the State of the running code; the classes PostedTask,
 * Continuation and Wait, which derive from FutureBase; CoroutineTask, from which the asyncio tasks that run coroutines of
 * this library derive; and Driver, which derives from DriverBase. */
extern G_GNUC_INTERNAL PyObject *prio_state_variable;
extern G_GNUC_INTERNAL PyTypeObject *prio_task_type, *prio_continuation_type, *prio_wait_type, *prio_coroutine_task_type, *prio_driver_type;

/* The functions _get_running_loop () and current_task (), and the class Task, of asyncio. */
extern G_GNUC_INTERNAL PyObject *prio_get_running_loop, *prio_current_task, *prio_asyncio_task;

extern G_GNUC_INTERNAL PyTypeObject prio_future_type, prio_await_type, prio_driver_base_type, prio_each_base_type, prio_table_type;

/* Returns whether @self is the result of a yield, a sleep or a wait for a group, which are only made to be awaited. */
static inline gboolean
prio_future_is_wait (FutureObject *self)
{
  return Py_TYPE (self) == prio_continuation_type || Py_TYPE (self) == prio_wait_type;
}

/* Removes the entry of @number from the table, and returns it (transfer full): None if the entry was dropped, or NULL if
 * there is none. */
PyObject *prio_table_take (TableObject *self, guint number) G_GNUC_INTERNAL;

/* Makes @task, which has ended, drop its signal.  Returns None, or NULL with an exception set. */
PyObject *prio_table_take_signal (PyObject *object, PyObject *task) G_GNUC_INTERNAL;

/* Calls a Python method that handles a rare case, with @argument unless that is NULL.  Returns FALSE, with the exception
 * set, after KeyboardInterrupt or SystemExit.  Reports other exceptions. */
gboolean prio_call_slow (PyObject *self, const char *method, PyObject *argument) G_GNUC_INTERNAL;

/* Runs a batch of tasks, from a number on, or settles rejected tasks if the number is 0: the method _run () of a table. */
PyObject *prio_table_run (PyObject *object, PyObject *const *args, Py_ssize_t n_args) G_GNUC_INTERNAL;

/* Calls @func outside any task: no state is current. */
void prio_call_outside (GSourceOnceFunc func, gpointer data) G_GNUC_INTERNAL;

/* Notes that this thread begins or has ended a batch of tasks.  At the end, other threads may get the interpreter's lock. */
void prio_turn_begin (void) G_GNUC_INTERNAL;
void prio_turn_end (void) G_GNUC_INTERNAL;

/* Runs steps of a generator: the function make_steps () for Python, which steps.c describes. */
PyObject *prio_make_steps (PyObject *module, PyObject *const *args, Py_ssize_t n_args) G_GNUC_INTERNAL;

/* The methods of FutureBase by which code waits for a future. */
extern G_GNUC_INTERNAL PyMethodDef prio_await_methods[];
PyObject *prio_future_await (PyObject *object) G_GNUC_INTERNAL;

static inline void
set_running_state (PyObject *state)
{
  Py_XSETREF (prio_running.state, Py_XNewRef (state));
}

static inline void
set_running_context (PyObject *context)
{
  Py_XSETREF (prio_running.context, Py_XNewRef (context));
}

static inline gboolean
is_set (PyObject *object)
{
  return object != NULL && object != Py_None;
}

/* Clears the exception that is set, and returns it (transfer full) with its traceback. */
static inline PyObject *
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

/* Raises StopIteration with @value (transfer full), as an iterator does that ends with a result.  Returns NULL. */
static inline PyObject *
stop_with (PyObject *value)
{
  PyObject *stop = PyObject_CallOneArg (PyExc_StopIteration, value);

  Py_DECREF (value);
  if (stop != NULL)
    PyErr_SetObject (PyExc_StopIteration, stop);
  Py_XDECREF (stop);
  return NULL;
}
