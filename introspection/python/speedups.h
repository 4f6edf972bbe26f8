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
  PyObject *name, *value, *exception, *waiter, *callbacks, *posted_with, *callback, *context;
  char done, retrieved, aborted, blocking;
} FutureObject;

extern PyTypeObject prio_future_type G_GNUC_INTERNAL;

static inline gboolean
is_set (PyObject *object)
{
  return object != NULL && object != Py_None;
}
