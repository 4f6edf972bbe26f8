/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run.c: runs tasks in Python */

#include "native.h"

/* Returns whether the exception that is set is an interrupt: KeyboardInterrupt or SystemExit.  Reports and clears any other. */
static gboolean
is_interrupted (PyObject *where)
{
  if (PyErr_ExceptionMatches (PyExc_KeyboardInterrupt) || PyErr_ExceptionMatches (PyExc_SystemExit))
    return TRUE;

  PyErr_WriteUnraisable (where);
  return FALSE;
}

/* Drops @result, the result of a call.  If it is NULL, the call has failed, and this reports the exception.  But if that is
 * an interrupt, KeyboardInterrupt or SystemExit, it stays set, and this returns FALSE. */
static gboolean
called (PyObject *where, PyObject *result)
{
  Py_XDECREF (result);
  return result != NULL || !is_interrupted (where);
}

gboolean
prio_call_slow (PyObject *self, const char *method, PyObject *argument)
{
  return called (self, argument != NULL ? PyObject_CallMethod (self, method, "O", argument)
                                        : PyObject_CallMethod (self, method, NULL));
}

/* The loop of asyncio that runs on this thread, if none of its tasks is running. */
typedef struct
{
  PyObject *loop;  /* or None; NULL until get_free_loop () looks it up */
  gboolean debugs; /* whether the loop is in debug mode */
} FreeLoop;

static PyObject *
get_free_loop (FreeLoop *self)
{
  PyObject *task = NULL, *debugs = NULL;

  if (self->loop != NULL)
    return self->loop;

  self->loop = PyObject_CallNoArgs (prio_get_running_loop);
  if (self->loop != NULL && self->loop != Py_None)
    {
      task = PyObject_CallOneArg (prio_current_task, self->loop);
      debugs = task == Py_None ? PyObject_CallMethod (self->loop, "get_debug", NULL) : NULL;
      self->debugs = debugs == Py_True;
      if (debugs == NULL)
        Py_SETREF (self->loop, Py_NewRef (Py_None));
      Py_XDECREF (debugs);
    }
  PyErr_Clear ();
  Py_XDECREF (task);
  if (self->loop == NULL)
    self->loop = Py_NewRef (Py_None);
  return self->loop;
}

void
prio_call_outside (GSourceOnceFunc func, gpointer data)
{
  PyObject *outer = g_steal_pointer (&prio_running.state);

  prio_scheduling_state_run (NULL, func, data);
  Py_XSETREF (prio_running.state, outer);
}

/* Passes on the result of the asyncio task that @waiter has woken up, if the task has ended and runs a coroutine of this
 * library.  Asyncio would do so only later.  Returns FALSE, with the exception set, after KeyboardInterrupt or
 * SystemExit. */
static gboolean
woken (PyObject *waiter)
{
  PyObject *task = PyCFunction_Check (waiter) ? PyCFunction_GET_SELF (waiter) : NULL, *done;
  PyObject *type, *value, *traceback;
  gboolean is_told = TRUE;

  if (task == NULL || !PyType_IsSubtype (Py_TYPE (task), prio_coroutine_task_type))
    return TRUE;

  PyErr_Fetch (&type, &value, &traceback);
  done = PyObject_CallMethod (task, "done", NULL);
  if (done == Py_True)
    is_told = prio_call_slow (task, "coroutine_ended", NULL);
  Py_XDECREF (done);
  if (is_told)
    PyErr_Restore (type, value, traceback);
  return is_told;
}

/* Wakes up, by @waiter, the asyncio task that awaits @future, in the task's context.  Returns FALSE after KeyboardInterrupt
 * or SystemExit. */
static gboolean
wake_up (FutureObject *future, PyObject *waiter, gboolean debugs)
{
  PyObject *context, *result = NULL;
  gboolean is_done;

  if (debugs)
    return prio_call_slow ((PyObject *) future, "_wake_up_in_debug_mode", waiter);

  context = g_steal_pointer (&future->waiter_context);
  set_running_context (context);
  if (PyContext_Enter (context) == 0)
    {
      result = PyObject_CallOneArg (waiter, (PyObject *) future);
      if (PyContext_Exit (context) < 0)
        Py_CLEAR (result);
    }
  is_done = called (waiter, result);
  Py_DECREF (context);
  return woken (waiter) && is_done;
}

/* Returns whether @waiter wakes up an asyncio task that runs in @loop. */
static gboolean
is_of_loop (PyObject *waiter, PyObject *loop)
{
  static PyObject *name;
  PyObject *own;

  if (name == NULL)
    name = PyUnicode_InternFromString ("_loop");
  own = PyCFunction_Check (waiter) ? PyObject_GetAttr (PyCFunction_GET_SELF (waiter), name) : NULL;
  if (own == NULL)
    PyErr_Clear ();
  Py_XDECREF (own);
  return own != NULL && own == loop;
}

/* Returns whether @future is a yield that the code that awaits @future has made itself: both have the same State. */
static gboolean
is_own_yield (FutureObject *future)
{
  PyObject *state = future->posted_with != NULL ? future->posted_with : Py_None;
  PyObject *context, *own = NULL;
  DriverObject *driver;
  gboolean is_own;

  if (Py_TYPE (future) != prio_continuation_type)
    return FALSE;
  driver = PyObject_TypeCheck (future->waiter, &prio_driver_base_type) ? (DriverObject *) future->waiter : NULL;
  context = driver != NULL ? driver->context : future->waiter_context;
  if (driver != NULL && driver->state == state)
    return TRUE;
  if (!is_set (context))
    return FALSE;
  if (PyContext_Enter (context) < 0)
    {
      PyErr_Clear ();
      return FALSE;
    }

  is_own = PyContextVar_Get (prio_state_variable, NULL, &own) == 0 && own == state;
  Py_XDECREF (own);
  PyContext_Exit (context);
  return is_own;
}

typedef struct
{
  FutureObject *future;
  PyObject *waiter;
  gboolean debugs;
  gboolean is_done; /* FALSE after KeyboardInterrupt or SystemExit */
} Waking;

static void
wake (gpointer data)
{
  Waking *self = data;

  self->is_done = is_set (self->future->waiter_context) ? wake_up (self->future, self->waiter, self->debugs)
                                                        : called (self->waiter, PyObject_CallNoArgs (self->waiter));
}

/* Calls the waiters of @future, which is done.  Code that has made the yield @future continues in the current state.  Other
 * waiters are called outside any task, so that each runs in the state of its context.  Returns FALSE after
 * KeyboardInterrupt or SystemExit. */
static gboolean
notify (FutureObject *future, FreeLoop *free_loop)
{
  Waking waking = { .future = future };

  if (!is_set (future->waiter) || is_set (future->callbacks))
    return prio_call_slow ((PyObject *) future, "_notify", NULL);

  if (is_set (future->waiter_context))
    {
      if (!is_of_loop (future->waiter, get_free_loop (free_loop)))
        return prio_call_slow ((PyObject *) future, "_notify", NULL);
      waking.debugs = free_loop->debugs;
    }

  if (is_own_yield (future))
    {
      waking.waiter = g_steal_pointer (&future->waiter);
      wake (&waking);
    }
  else
    {
      waking.waiter = g_steal_pointer (&future->waiter);
      prio_call_outside (wake, &waking);
    }
  Py_DECREF (waking.waiter);
  return waking.is_done;
}

/* Calls the callback of @task in @context, after making the state of @task the current state of @context. */
static PyObject *
call_in_context (FutureObject *task, PyObject *context)
{
  PyObject *former, *value = NULL;

  if (PyContext_Enter (context) < 0)
    return NULL;
  former = PyContextVar_Set (prio_state_variable, task->posted_with);
  if (former != NULL)
    {
      Py_DECREF (former);
      value = PyObject_CallNoArgs (task->callback);
    }
  if (PyContext_Exit (context) < 0)
    Py_CLEAR (value);
  return value;
}

/* Ends the running task, and performs its checkpoint, which calls microtasks.  Returns whether the task's signal has aborted
 * the task while it ran. */
static gboolean
end_task (void)
{
  set_running_state (NULL);
  set_running_context (NULL);
  return prio_runner_end ();
}

/* Settles @task with @value.  @ended is whether end_task () was called already; otherwise the task ends here before its
 * waiters are called.  Returns FALSE after KeyboardInterrupt or SystemExit. */
static gboolean
settle (FutureObject *task, PyObject *value, gboolean ended, FreeLoop *free_loop)
{
  Py_CLEAR (task->callback);
  if (value != Py_None)
    Py_XSETREF (task->value, Py_NewRef (value));
  task->done = TRUE;
  if (!is_set (task->waiter) && !is_set (task->callbacks))
    return TRUE;

  if (!ended)
    end_task ();
  return notify (task, free_loop);
}

/* Ends @task, which may have been aborted by its signal or cancelled while it ran, and settles it: as aborted or cancelled,
 * or else with @value.  Returns FALSE after KeyboardInterrupt or SystemExit. */
static gboolean
settle_abortable (TableObject *self, FutureObject *task, PyObject *value, FreeLoop *free_loop)
{
  gboolean aborted = end_task ();

  if (!aborted && !task->aborted)
    {
      gboolean is_done = settle (task, value, TRUE, free_loop);
      /* Often the coroutine that awaited the task has dropped the task already, so the task need not drop its signal. */
      gboolean is_kept = Py_REFCNT (task) > 1 && Py_TYPE (task->posted_with) == Py_TYPE (self->states[0]);

      return is_kept ? called ((PyObject *) self, prio_table_take_signal ((PyObject *) self, (PyObject *) task)) && is_done : is_done;
    }
  return prio_call_slow ((PyObject *) self, aborted ? "_settle_aborted" : "_settle_cancelled", (PyObject *) task);
}

/* Returns whether a loop of asyncio is running on this thread; TRUE also if that cannot be found out. */
static gboolean
is_in_asyncio (void)
{
  PyObject *loop = PyObject_CallNoArgs (prio_get_running_loop);

  if (loop == NULL)
    PyErr_Clear ();
  Py_XDECREF (loop);
  return loop != Py_None;
}

static PyObject *
new_driver (FutureObject *task, PyObject *context, PyObject *coroutine)
{
  return PyObject_CallFunctionObjArgs ((PyObject *) prio_driver_type, coroutine, context, task->posted_with, NULL);
}

static gboolean
finish (TableObject *self, FutureObject *task, PyObject *run, PyObject *value, PyObject *exception)
{
  return called ((PyObject *) self, PyObject_CallMethod ((PyObject *) self, "_finish", "OOOO", task, run,
                                                         value != NULL ? value : Py_None,
                                                         exception != NULL ? exception : Py_None));
}

/* Starts a coroutine for @value, an awaitable or a generator, which the callback of @task has returned, and lets Python
 * finish @task.  No function of Python has @context, or the state with the signal, in a variable: the traceback of an
 * exception would keep it.  Returns FALSE after KeyboardInterrupt or SystemExit. */
static gboolean
start (TableObject *self, FutureObject *task, PyObject *context, PyObject *value)
{
  PyObject *coroutine = PyObject_CallMethod ((PyObject *) self, "_to_coroutine", "OO", value, task), *exception, *run;
  PyObject *name = task->name != NULL ? task->name : Py_None;
  gboolean is_done;

  if (coroutine == NULL)
    {
      exception = fetch_exception ();
      is_done = finish (self, task, Py_None, NULL, exception);
      Py_DECREF (exception);
      return is_done;
    }

  if (is_in_asyncio ())
    run = PyObject_CallMethod ((PyObject *) self, "_start", "OOOO", coroutine, context, task->posted_with, name);
  else
    run = new_driver (task, context, coroutine);
  Py_DECREF (coroutine);
  if (run == NULL)
    return !is_interrupted ((PyObject *) self);

  is_done = finish (self, task, run, NULL, NULL);
  Py_DECREF (run);
  return is_done;
}

/* Runs @coroutine, which the callback of @task has returned, with a Driver.  No loop of asyncio may be running.  Returns
 * FALSE after KeyboardInterrupt or SystemExit. */
static gboolean
drive (TableObject *self, FutureObject *task, PyObject *context, PyObject *coroutine, FreeLoop *free_loop)
{
  DriverObject *driver = (DriverObject *) new_driver (task, context, coroutine);
  gboolean is_done = TRUE;

  if (driver == NULL)
    return !is_interrupted ((PyObject *) self);

  if (driver->ended && (is_set (driver->error) || task->aborted))
    {
      is_done = finish (self, task, Py_None, driver->value, driver->error);
    }
  else if (driver->ended)
    {
      is_done = settle (task, driver->value != NULL ? driver->value : Py_None, FALSE, free_loop);
    }
  else
    {
      end_task ();
      if (driver->ended)
        {
          /* The checkpoint has settled the future that the coroutine awaited, so the coroutine has ended. */
          is_done = finish (self, task, Py_None, driver->value, driver->error);
          Py_DECREF (driver);
          return is_done;
        }
      Py_XSETREF (task->callback, Py_NewRef ((PyObject *) driver));
      Py_XSETREF (driver->future, Py_NewRef ((PyObject *) task));
      if (task->aborted)
        {
          /* The coroutine has cancelled its own task before its first await. */
          task->aborted = FALSE;
          is_done = prio_call_slow ((PyObject *) driver, "cancel_coroutine", Py_None);
        }
      else if (driver->waits_for == (PyObject *) task)
        {
          is_done = prio_call_slow ((PyObject *) driver, "refuse_itself", NULL);
        }
    }
  Py_DECREF (driver);
  return is_done;
}

/* Returns whether @value is not a plain result, but an awaitable, a generator to run step by step, or an asynchronous
 * generator, which is refused. */
static gboolean
is_awaitable (PyObject *value)
{
  PyAsyncMethods *methods = Py_TYPE (value)->tp_as_async;

  if (PyGen_CheckExact (value) || PyAsyncGen_CheckExact (value))
    return TRUE;
  return methods != NULL && methods->am_await != NULL;
}

/* Runs the callback of @task.  Settles the frequent cases here, and leaves exceptions, asyncio, and coroutines with a signal to
 * Python.  Returns FALSE after KeyboardInterrupt or SystemExit. */
static gboolean
run_task (TableObject *self, FutureObject *task, FreeLoop *free_loop)
{
  PyObject *context = g_steal_pointer (&task->context);
  PyObject *exception = NULL, *value;
  gboolean is_done;
  gboolean plain = task->posted_with == self->states[0] || task->posted_with == self->states[1] ||
                   task->posted_with == self->states[2];

  set_running_context (context);
  value = call_in_context (task, context);
  if (value == NULL)
    exception = fetch_exception ();

  if (value != NULL && plain && !task->aborted && !is_awaitable (value))
    is_done = settle (task, value, FALSE, free_loop);
  else if (value != NULL && !is_awaitable (value))
    is_done = settle_abortable (self, task, value, free_loop);
  else if (value != NULL && plain && PyCoro_CheckExact (value) && !is_in_asyncio ())
    is_done = drive (self, task, context, value, free_loop);
  else if (value != NULL)
    is_done = start (self, task, context, value);
  else
    is_done = finish (self, task, Py_None, NULL, exception);
  Py_XDECREF (value);
  Py_XDECREF (exception);
  Py_DECREF (context);
  return is_done;
}

/* Runs the task @number, and then each next task of the runner, until the library has none for now.  Returns FALSE after
 * KeyboardInterrupt or SystemExit. */
static gboolean
run_all (TableObject *self, guint number)
{
  FreeLoop free_loop = { .loop = NULL };
  gboolean is_done = TRUE;

  while (number != 0)
    {
      PyObject *entry = prio_table_take (self, number);

      if (entry != NULL && entry != Py_None)
        {
          FutureObject *future = (FutureObject *) entry;

          set_running_state (future->posted_with);
          if (Py_TYPE (entry) == prio_continuation_type)
            {
              future->done = TRUE;
              is_done = notify (future, &free_loop);
            }
          else
            {
              is_done = run_task (self, future, &free_loop);
            }
        }
      Py_XDECREF (entry);
      if (!is_done)
        break;

      /* Before the next task, the library may call code that does not belong to this task, so no state may be left. */
      set_running_state (NULL);
      set_running_context (NULL);
      number = prio_runner_next ();
    }
  Py_XDECREF (free_loop.loop);
  return is_done;
}

PyObject *
prio_table_run (PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
  TableObject *self = (TableObject *) object;
  unsigned long number = n_args > 0 ? PyLong_AsUnsignedLong (args[0]) : 0;
  PrioRunning outer = prio_running;
  gboolean is_done;

  if (PyErr_Occurred ())
    return NULL;
#ifdef PRIO_CHECK_BINDING
  g_assert (prio_runner_is_owner (self->runner));
#endif

  prio_turn_begin ();
  prio_running = (PrioRunning) { .depth = g_main_depth () };
  Py_INCREF (object);
  Py_CLEAR (self->last_state);
  is_done = number == 0 ? prio_call_slow (object, "_take_rejected", NULL) : run_all (self, (guint) number);
  Py_CLEAR (self->last_state);
  set_running_state (NULL);
  set_running_context (NULL);
  prio_running = outer;
  prio_turn_end ();

  if (!is_done)
    {
      PyObject *exception = fetch_exception (), *result = PyObject_CallMethod (object, "_interrupt", "O", exception);

      Py_DECREF (exception);
      Py_DECREF (object);
      return result;
    }
  Py_DECREF (object);
  Py_RETURN_NONE;
}
