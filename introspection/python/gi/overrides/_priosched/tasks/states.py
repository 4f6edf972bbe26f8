"""Defines the states of tasks, and finds the state of the running code."""

import contextvars

from gi.module import get_introspection_module
from gi.repository import GLib

from ..arguments import UNSET
from ..coroutines.drivers import is_awaitable, start_alone, to_coroutine
from ..futures.contexts import get_running_loop
from ..futures.future import Future
from ..futures.future import borrowed_state as _borrowed
from ..futures.future import own_state as _state
from .._native import running
from ..futures.reasons import reason_of

PrioSched = get_introspection_module('PrioSched')

_USER_VISIBLE = 2
_MAX_TIME = 2 ** 63 - 1
_copy_context = contextvars.copy_context
_get_native_state = PrioSched.SchedulingState.ref_current
# Set to find out whether a given context is the current one.
_probe = contextvars.ContextVar('PrioSched.probe', default=None)


class State:
    """Keeps the state of a task.  After an await of asyncio, PrioSched.SchedulingState.get_current () returns this object."""

    __slots__ = ('table', 'signal', 'priority', 'expiry', 'takes_turns')
    is_given = False  # whether the options of a yield gave this state, whose signal may thus differ from the task's
    is_followed = False  # whether a Follower of the task still needs this state when the task has ended

    def __init__(self, table, signal, priority, expiry=None, takes_turns=False):
        self.table = table
        self.signal = signal
        self.priority = priority  # UNSET to follow the signal's priority
        self.expiry = expiry      # when the task's timeout passes, in microseconds of GLib.get_monotonic_time (), or None
        self.takes_turns = takes_turns  # whether the code after a yield waits behind queued tasks of the same priority

    def dup_scheduler(self):
        """Returns the scheduler of the task, or None if the scheduler has been freed or only the library knows it."""
        return self.table.scheduler() if self.table is not None else None

    def get_cancellable(self):
        """Returns the signal that may abort the task, or None."""
        return self.signal

    def get_priority(self):
        """Returns the priority of the task as a number, or 0 if the task follows its signal."""
        return self.priority

    def priority_now(self):
        """Returns the current PrioSched.TaskPriority: the task's own or, if the task has none, the signal's."""
        return self.signal.priority if self.priority == UNSET else PrioSched.TaskPriority(self.priority)

    def reason(self):
        """Returns the exception of a task with this state that the library has rejected: the reason of the signal's abort."""
        return reason_of(self.signal)

    def run(self, func):
        """Calls func () in this state, and in a copy of the current contextvars.Context."""
        _copy_context().run(_call_with, self, func)

    def __repr__(self):
        priority = PrioSched.TaskPriority(self.priority).value_nick if self.priority != UNSET else "its signal's"
        return f'<PrioSched.SchedulingState priority={priority} signal={self.signal!r}>'


class GivenState(State):
    """Keeps the state of a yield whose options have a signal or a priority."""

    __slots__ = ()
    is_given = True


def _call_with(state, func):
    _state.set(state)
    func()


def own_state():
    """Returns the State of the task to which the current context belongs, or None."""
    return _state.get()


def enter_state(state):
    """Makes the current context belong to the task of state.  Returns the argument for restore_state ()."""
    return _state.set(state)


def borrow_state(state):
    """Makes the current context, which is not a task's, belong to the task of state."""
    _state.set(state)
    _borrowed.set(state)


def restore_state(former):
    _state.reset(former)


def leave_state():
    """Makes the current context belong to no task."""
    _state.set(None)


def own_priority(priority, signal):
    """Returns the priority of a task that is posted with priority and signal, or UNSET if the task follows the signal's priority."""
    return _USER_VISIBLE if priority == UNSET and not isinstance(signal, PrioSched.TaskSignal) else priority


def expiry_after(delay, timeout):
    """Returns when the timeout passes, if it begins after delay, in microseconds of GLib.get_monotonic_time (); None for no timeout."""
    return None if timeout == 0 else min(max(PrioSched.testing_get_time() + (delay + timeout) * 1000, 0), _MAX_TIME)


def _is_stranger():
    """Returns whether the current context belongs to a task, but the running code does not.

    If a task runs a nested main loop, the loop calls other code's callbacks in the context of the task.  Asyncio's
    callbacks have separate contexts, even in a nested loop.
    """
    depth = running.depth
    if depth == 0:
        # PyGObject's loop has a quit function for each main loop that runs it.  With more than one, a step of an asyncio task runs
        # a nested main loop, and the running code is a callback there, which is not part of the step.
        return len(getattr(get_running_loop(), '_quit_funcs', ())) > 1
    if running.context is None or depth == GLib.main_depth():
        return False
    former = _probe.set(running)
    try:
        return running.context.get(_probe) is running
    finally:
        _probe.reset(former)


def current_state():
    """Returns the State of the running code, or None.  If only the library knows the state, the result is a State without a table."""
    state = _state.get()
    if state is not None:
        return None if _is_stranger() else state
    native = _get_native_state()
    return State(None, native.get_cancellable(), native.get_priority()) if native is not None else None


def get_current_state():
    """Returns the result of PrioSched.SchedulingState.get_current(): the library's state or, after an await of asyncio, the context's."""
    state = _state.get()
    if state is None or state is running.state or _is_stranger():
        return _get_native_state()
    return state


def in_context(callback, keeps_state=False):
    """Wraps callback, a function or a coroutine function, to run in a copy of the current context.

    The callback runs in the state that is the library's current one when the callback is called.  With keeps_state, it runs in
    the state of the code that calls in_context (), if that is not the library's current one, as after an await of asyncio.
    """
    context = contextvars.copy_context()
    keeps_state = keeps_state and _state.get() is not running.state
    return lambda *args: context.run(_call_anew, callback, args, keeps_state)


def _call_anew(callback, args, keeps_state):
    if not keeps_state:
        _state.set(None)
    result = callback(*args)
    if result is not None and is_awaitable(result):
        start_alone(to_coroutine(result), _copy_context(), Future())
