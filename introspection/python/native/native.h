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

/* FutureBase: a task or a continuation.  Its objects may be NULL, which is None in Python. */
typedef struct
{
  PyObject_HEAD
  PyObject *name, *value, *exception, *waiter, *waiter_context, *callbacks, *posted_with, *callback, *context;
  Py_hash_t context_id; /* number of the main context that runs it, or 0 */
  unsigned int number;  /* its number in the library, or its last one */
  char done, retrieved, aborted, blocking;
} FutureObject;

/* DriverBase: runs a coroutine if no loop of asyncio is running.  Its objects may be NULL, which is None in Python. */
typedef struct
{
  PyObject_HEAD
  PyObject *coroutine, *context, *state, *waits_for, *pending, *future, *watch, *value, *error, *main_context;
  unsigned long thread; /* the thread in which it runs */
  char told, ended;
  char is_abortable; /* whether its state has a signal */
  char is_standing;  /* whether it is in the list of waiting drivers, by @link */
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
  PyObject *last_signal; /* the signal of @last_state */
  int last_priority;     /* the priority of @last_state */
  PyObject **entries; /* @size entries, by number; NULL for a free number, None for a dropped entry */
  guint *next_free;   /* for each free number, the next free number, or 0 */
  guint first_free;
  guint length, size;
  Py_ssize_t context_id;
  GArray *rejected; /* numbers (guint) that the library has dropped, and the table still has; or NULL */
  guint n_rejected; /* how many of them have been settled */
} TableObject;

/* The code that this thread is running. */
typedef struct
{
  PyObject *state;   /* the current state of the library; NULL for None */
  PyObject *context; /* the contextvars.Context in which the task runs, or NULL */
  int depth;         /* the depth of main loops at which both were set, or 0 */
} PrioRunning;

/* Each task reads and writes it, so its address is found without a function call. */
extern G_GNUC_INTERNAL _Thread_local PrioRunning prio_running __attribute__ ((tls_model ("initial-exec")));

/* The arguments of set_up (): the context variable of states, three subclasses of FutureBase, the attributes of asyncio's
 * tasks that run this library's coroutines, and a subclass of DriverBase. */
extern G_GNUC_INTERNAL PyObject *prio_state_variable;
extern G_GNUC_INTERNAL PyTypeObject *prio_task_type, *prio_continuation_type, *prio_wait_type, *prio_coroutine_task_type, *prio_driver_type;

/* Functions and classes of asyncio. */
extern G_GNUC_INTERNAL PyObject *prio_get_running_loop, *prio_current_task, *prio_asyncio_task;

extern G_GNUC_INTERNAL PyTypeObject prio_future_type, prio_await_type, prio_driver_base_type, prio_each_base_type, prio_table_type;

/* Returns whether @self is the result of a yield or of a wait for a group, which is made to be awaited. */
static inline gboolean
prio_future_is_wait (FutureObject *self)
{
  return Py_TYPE (self) == prio_continuation_type || Py_TYPE (self) == prio_wait_type;
}

/* Returns (transfer full) the entry of @number, None if it was dropped, or NULL if there is none. */
PyObject *prio_table_take (TableObject *self, guint number) G_GNUC_INTERNAL;

/* Takes the signal of @task, which has ended and no longer needs it. */
PyObject *prio_table_take_signal (PyObject *object, PyObject *task) G_GNUC_INTERNAL;

/* Calls a Python method that handles a rare case.  Returns FALSE after an interrupt. */
gboolean prio_call_slow (PyObject *self, const char *method, PyObject *argument) G_GNUC_INTERNAL;

/* Runs a task: the function of the runner. */
PyObject *prio_table_run (PyObject *object, PyObject *const *args, Py_ssize_t n_args) G_GNUC_INTERNAL;

/* Calls @func outside any task: no state is current. */
void prio_call_outside (GSourceOnceFunc func, gpointer data) G_GNUC_INTERNAL;

/* Notes that tasks on this thread begin, or have ended. */
void prio_turn_begin (void) G_GNUC_INTERNAL;
void prio_turn_end (void) G_GNUC_INTERNAL;

/* Runs steps of a generator. */
PyObject *prio_make_steps (PyObject *module, PyObject *const *args, Py_ssize_t n_args) G_GNUC_INTERNAL;

/* The methods of FutureBase for awaiting it. */
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

/* Takes @value, and raises StopIteration with it: the end of an iterator that has a result.  Returns NULL. */
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
