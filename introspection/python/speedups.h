/* speedups.h: the structure of a task in Python, for speedups*.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <glib.h>

/* FutureBase: a task or a continuation.  Its objects may be NULL, which is None in Python. */
typedef struct
{
  PyObject_HEAD
  PyObject *name, *value, *exception, *waiter, *waiter_context, *waiter_loop, *callbacks, *posted_with, *callback, *context;
  unsigned int number; /* by which the library knows it, or did last */
  char done, retrieved, aborted, blocking;
} FutureObject;

/* What this thread is running. */
typedef struct
{
  PyObject *state;   /* the current state of the library; NULL is None */
  PyObject *context; /* the contextvars.Context in which the task runs, or NULL */
  int depth;         /* of main loops, at which they were set, or 0 */
} PrioRunning;

extern G_GNUC_INTERNAL _Thread_local PrioRunning prio_running;

/* What set_up () is given: the context variable of states, two subclasses of FutureBase, and what the tasks of asyncio
 * have that run coroutines of ours. */
extern G_GNUC_INTERNAL PyObject *prio_state_variable;
extern G_GNUC_INTERNAL PyTypeObject *prio_task_type, *prio_continuation_type, *prio_coroutine_task_type;

/* Functions of asyncio. */
extern G_GNUC_INTERNAL PyObject *prio_get_running_loop, *prio_current_task;

extern G_GNUC_INTERNAL PyTypeObject prio_future_type, prio_table_type;

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
