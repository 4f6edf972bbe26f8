"""States: what a task was posted with, and what runs has which.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

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
_get_native_state = PrioSched.SchedulingState.get_current
# Tells whether a context is the current one.
_probe = contextvars.ContextVar('PrioSched.probe', default=None)


class State:
    """The state of a task: the result of PrioSched.SchedulingState.get_current() in it."""

    __slots__ = ('table', 'signal', 'priority', 'expiry', 'takes_turns')
    is_given = False  # to a yield, whose signal is not the task's
    is_followed = False  # whether a Follower of the task asks it when the task has ended

    def __init__(self, table, signal, priority, expiry=None, takes_turns=False):
        self.table = table
        self.signal = signal
        self.priority = priority  # UNSET for the signal's
        self.expiry = expiry      # when its timeout passes, in microseconds of GLib.get_monotonic_time (), or None
        self.takes_turns = takes_turns  # whether what follows its yields waits behind its equals

    def dup_scheduler(self):
        """The scheduler of the task, or None if it has gone."""
        return self.table.scheduler() if self.table is not None else None

    def get_signal(self):
        """The signal that may abort the task, or None."""
        return self.signal

    def get_priority(self):
        """The priority of the task as a number, or 0 for its signal's."""
        return self.priority

    def priority_now(self):
        """The PrioSched.TaskPriority, which is its signal's if it has none."""
        return self.signal.priority if self.priority == UNSET else PrioSched.TaskPriority(self.priority)

    def reason(self):
        """Why the library has rejected a task with this state."""
        return reason_of(self.signal)

    def run(self, func):
        """Calls func () in this state."""
        _copy_context().run(_call_with, self, func)

    def __repr__(self):
        priority = PrioSched.TaskPriority(self.priority).value_nick if self.priority != UNSET else "its signal's"
        return f'<PrioSched.SchedulingState priority={priority} signal={self.signal!r}>'


class GivenState(State):
    """The state of a yield with options."""

    __slots__ = ()
    is_given = True


def _call_with(state, func):
    _state.set(state)
    func()


def own_state():
    """The State of the task to which the current context belongs, or None."""
    return _state.get()


def enter_state(state):
    """From now on, the current context belongs to the task of state.  Returns what restore_state () takes."""
    return _state.set(state)


def borrow_state(state):
    """From now on, the current context, which is not a task's, belongs to the task of state."""
    _state.set(state)
    _borrowed.set(state)


def restore_state(former):
    _state.reset(former)


def leave_state():
    """From now on, the current context belongs to no task."""
    _state.set(None)


def own_priority(priority, signal):
    """Returns the priority of a task that is posted with both: UNSET if it follows its signal."""
    return _USER_VISIBLE if priority == UNSET and not isinstance(signal, PrioSched.TaskSignal) else priority


def expiry_after(delay, timeout):
    """When that timeout passes, in microseconds of GLib.get_monotonic_time (), or None if there is none."""
    return None if timeout == 0 else min(max(GLib.get_monotonic_time() + (delay + timeout) * 1000, 0), _MAX_TIME)


def _is_stranger():
    """Whether what runs is not part of the task to whose context it belongs.

    A nested main loop calls others in the context of the task that runs it.  Asyncio's callbacks in there have their own
    contexts.
    """
    depth = running.depth
    if depth == 0:
        # A nested loop that a step of asyncio's runs: asyncio itself does nothing in it.
        return len(getattr(get_running_loop(), '_quit_funcs', ())) > 1
    if running.context is None or depth == GLib.main_depth():
        return False
    former = _probe.set(running)
    try:
        return running.context.get(_probe) is running
    finally:
        _probe.reset(former)


def current_state():
    """The State of what is running, or None."""
    state = _state.get()
    if state is not None:
        return None if _is_stranger() else state
    native = _get_native_state()
    return State(None, native.get_signal(), native.get_priority()) if native is not None else None


def get_current_state():
    """PrioSched.SchedulingState.get_current(): the library's, or the context's after an await of asyncio's."""
    state = _state.get()
    if state is None or state is running.state or _is_stranger():
        return _get_native_state()
    return state


def in_context(callback, keeps_state=False):
    """Wraps callback, a function or a coroutine function: it runs in a copy of the current context, with the
    state that is current in the library when it is called, or else with the current one."""
    context = contextvars.copy_context()
    keeps_state = keeps_state and _state.get() is not running.state
    return lambda *args: context.run(_call_anew, callback, args, keeps_state)


def _call_anew(callback, args, keeps_state):
    if not keeps_state:
        _state.set(None)
    result = callback(*args)
    if result is not None and is_awaitable(result):
        start_alone(to_coroutine(result), _copy_context(), Future())
