"""Adds functions of React's package “scheduler” to PrioSched.Scheduler.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import contextvars
import functools
import inspect
import types

from gi.module import get_introspection_module

from ..arguments import to_callback, to_frame_rate, to_given_priority
from .._native import running
from ..futures.future import PostedTask
from ..names import name_of_callable
from ..tasks import states
from ..tasks.tables import table_of

PrioSched = get_introspection_module('PrioSched')

_USER_VISIBLE = 2

# The timeouts of React's priority levels, in milliseconds: a negative timeout has passed from the start, 0 means no timeout.
TIMEOUT_IMMEDIATE = -1
TIMEOUT_USER_BLOCKING = 250
TIMEOUT_NORMAL = 5000
TIMEOUT_LOW = 10000
TIMEOUT_IDLE = 0

# React's priority levels by name: the number of the task's priority, and the timeout.
_LEVELS = {
    'immediate': (3, TIMEOUT_IMMEDIATE),
    'user-blocking': (3, TIMEOUT_USER_BLOCKING),
    'normal': (2, TIMEOUT_NORMAL),
    'low': (1, TIMEOUT_LOW),
    'idle': (1, TIMEOUT_IDLE),
}


_copy_context = contextvars.copy_context
_native_did_timeout = PrioSched.Scheduler.did_timeout
_get_native_state, _new_native_state = PrioSched.SchedulingState.ref_current, PrioSched.SchedulingState.new


def did_timeout(self):
    """Returns whether the timeout of the running task had passed when the task, or its continuation, started.

    After an await of another library's future, returns whether the timeout has passed by now.  Returns False outside any task, and
    for a task without a timeout.
    """
    state = states.own_state()
    if state is None or state is running.state:
        return _native_did_timeout(self)
    state = states.current_state()
    return state is not None and state.expiry is not None and PrioSched.testing_get_time() >= state.expiry


def get_current_priority(self):
    """Returns the PrioSched.TaskPriority of the running code, which a yield inherits.

    This is 'user-visible' outside any task, and in a task that runs in another main context than this scheduler's.
    """
    state = states.current_state()
    if state is None or (state.table is not None and state.table.context_id != hash(self.get_context())):
        return PrioSched.TaskPriority(_USER_VISIBLE)
    return state.priority_now()


def _to_called_now(func):
    to_callback(func)
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        raise TypeError(f'{func!r} is a coroutine function, which would go on later: post it as a task of that priority')
    return func


def run_with_priority(self, priority, func, *args):
    """Calls func (*args) now, as part of the running task but with another priority, and returns its result or raises its
    exception.

    The yields of func have that priority, and the signal and the timeout of the running task.
    """
    number = to_given_priority(priority)
    _to_called_now(func)
    table = table_of(self)
    outer = states.current_state()
    if outer is None:
        inner = table._states[number - 1]
    else:
        inner = states.State(outer.table or table, outer.signal, number, outer.expiry, outer.takes_turns)
    return _call_under(self, inner, number, lambda: func(*args))


def _call_under(self, state, priority, func):
    """Calls func () in state, which has the given priority.  Returns its result or raises its exception."""
    outcome = []
    own, in_library = states.own_state(), running.state
    # Whether the library knows the state of the running code: then its current state changes during the call, and so does
    # running.state.
    is_in_library = (own is None or own is in_library) and self.get_context().is_owner()

    def call():
        former = states.enter_state(state)
        if is_in_library:
            running.state = state
        try:
            outcome.append((func(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            running.state = in_library
            states.restore_state(former)

    _new_native_state(_get_native_state(), self, PrioSched.TaskPriority(priority)).run(call)
    value, error = outcome.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error
    return value


def wrap_callback(self, func):
    """Returns a function that calls func (…) in the state that is current now, wherever and however often it is called.

    The yields of func have the priority, the signal and the timeout of the task that is running now; outside any task, the
    priority is 'user-visible'.  If func is a coroutine function, this holds for the whole coroutine.
    """
    to_callback(func)
    state = states.current_state() or table_of(self)._states[_USER_VISIBLE - 1]
    context = _copy_context()

    def call(*args, **kwargs):
        states.borrow_state(state)
        return func(*args, **kwargs)

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        own = context.copy()
        value = own.run(call, *args, **kwargs)
        return _to_the_end(own, value) if inspect.iscoroutine(value) else value

    return wrapped


async def _to_the_end(context, coroutine):
    return await _steps_in(context, coroutine)


@types.coroutine
def _steps_in(context, coroutine):
    """Runs each step of coroutine in context, on behalf of the code that awaits coroutine."""
    step, argument = coroutine.send, None
    while True:
        try:
            awaited = context.run(step, argument)
        except StopIteration as end:
            return end.value
        try:
            step, argument = coroutine.send, (yield awaited)
        except GeneratorExit:
            context.run(coroutine.close)
            raise
        except BaseException as error:
            step, argument = coroutine.throw, error


def force_frame_rate(self, fps):
    """Sets the time slice to the length of a frame, rounded down to milliseconds.

    fps is the number of frames a second, from 1 to 125, or 0 for a slice that adapts.
    """
    rate = to_frame_rate(fps)
    self.set_time_slice(1000 // rate if rate else -1)


def request_paint(self):
    """Makes should_yield () true until every other source of the main context has had its turn, so that changes are drawn."""
    self.end_slice()


def get_first_task(self):
    """Returns the task that runs next: a PrioSched.PostedTask, or a PrioSched.Task of another language.

    Returns None if no task waits, or if a continuation or a function without a result is next.  Raises RuntimeError on a thread
    that does not run the scheduler's main context.
    """
    table = table_of(self)
    table.check_owner('the first task can be asked for on')
    return table.get_first() or self.dup_first_task()


class _Scheduled:
    """Calls the callback of a task and, in continuations of the task, the function that each call returns, as long as it returns one."""

    def __init__(self, table, callback):
        self.table = table
        self.callback = callback

    def _call(self, func):
        # The table does not keep the scheduler alive.  If the scheduler has been freed, this thread's scheduler is asked.
        return func((self.table.scheduler() or PrioSched.Scheduler.ref_thread_default()).did_timeout())

    @property
    def _prio_sched_calls(self):
        return self.callback

    def __call__(self):
        value = self._call(self.callback)
        if not callable(value):
            return value
        coroutines = []
        coroutine = self._go_on(value, coroutines)
        coroutines.append(coroutine)
        return coroutine

    async def _go_on(self, value, coroutines):
        coroutine = coroutines.pop()
        try:
            while callable(value):
                coroutine.__qualname__ = name_of_callable(value)  # name_of () uses this attribute
                await self.table.yield_now()
                value = self._call(value)
        finally:
            del coroutine
        return await value if inspect.isawaitable(value) else value


def schedule_callback(self, level, callback, timeout=None, delay=0, signal=None, name=None):
    """Posts a task as React's scheduleCallback () does, which calls callback (did_timeout) in its turn.

    level     'immediate', 'user-blocking', 'normal', 'low' or 'idle', each of which has a timeout
    callback  a function of one argument, which is whether the timeout has passed.  If it returns a function, the task continues with
              that function, in the same way
    timeout   milliseconds, a whole number, instead of the level's; 0 for none
    delay, signal, name  as for post_task ()

    Returns a PrioSched.PostedTask, for cancel_callback ().
    """
    levels = _LEVELS.get(level) if isinstance(level, str) else None
    if levels is None:
        raise ValueError(f'{level!r} is none of the levels {", ".join(map(repr, _LEVELS))}')
    to_callback(callback)
    priority, milliseconds = levels
    scheduled = _Scheduled(table_of(self), callback)
    return self.post_task(scheduled, priority, signal, delay, name, timeout=milliseconds if timeout is None else timeout)


def cancel_callback(self, task):
    """Cancels a task of schedule_callback () or post_task ().  Returns whether that was still possible."""
    if not isinstance(task, PostedTask):
        raise TypeError(f'{task!r} is not a PrioSched.PostedTask')
    return task.cancel()
