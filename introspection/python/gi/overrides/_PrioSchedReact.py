"""What React's Scheduler has: methods of PrioSched.Scheduler for timeouts and current priorities.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import inspect
import operator

from gi.repository import GLib

from ..module import get_introspection_module
from . import _PrioSched as tasks
from . import _PrioSchedHelpers as helpers

PrioSched = get_introspection_module('PrioSched')

_MAX_TIMEOUT = 2 ** 31 - 1
_USER_VISIBLE = 2

_native_did_timeout = PrioSched.Scheduler.did_timeout
_native_run_with_priority = PrioSched.Scheduler.run_with_priority

_to_given_priority = None


def set_up(to_given_priority):
    """Sets what converts a priority that has to be there."""
    global _to_given_priority
    _to_given_priority = to_given_priority


def to_timeout(value):
    """Checks a timeout of a task, in milliseconds: None is 0, which is none."""
    if value is None:
        return 0
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'timeout is a whole number of milliseconds, not {value!r}') from None
    if not -_MAX_TIMEOUT - 1 <= number <= _MAX_TIMEOUT:
        raise ValueError(f'timeout is out of range: {value!r}')
    return number


def did_timeout(self):
    """Whether the timeout of the running task had passed when its turn came, or that of what follows its yield.

    After an await of something else than this library's it tells whether the timeout has passed by now.  False outside any task,
    and for one without a timeout.
    """
    state = tasks.own_state()
    if state is None or state is tasks.running.state:
        return _native_did_timeout(self)
    state = tasks.current_state()
    return state is not None and state.expiry is not None and GLib.get_monotonic_time() >= state.expiry


def get_current_priority(self):
    """The PrioSched.TaskPriority of what is running, which a yield inherits: 'user-visible' outside any task."""
    state = tasks.current_state()
    if state is None or (state.table is not None and state.table.context_id != hash(self.get_context())):
        return PrioSched.TaskPriority(_USER_VISIBLE)
    return state.priority_now()


def _to_called_now(func):
    helpers.to_callback(func)
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        raise TypeError(f'{func!r} is a coroutine function, which would go on later: post it as a task of that priority')
    return func


def run_with_priority(self, priority, func, *args):
    """Calls func (*args) now, as part of the running task but with another priority, and gives what it returns or raises.

    What it yields and begins has that priority, and the signal and the timeout of the running task.
    """
    number = _to_given_priority(priority)
    _to_called_now(func)
    table = tasks.table_of(self)
    outer = tasks.current_state()
    if outer is None:
        inner = table._states[number - 1]
    else:
        inner = tasks.State(outer.table or table, outer.signal, number, outer.expiry)
    return _call_under(self, inner, number, lambda: func(*args))


def _call_under(self, state, priority, func):
    """Calls func () in state, which has that priority."""
    outcome = []
    own, in_library = tasks.own_state(), tasks.running.state
    # The library makes its own current state one of that priority.
    is_in_library = (own is None or own is in_library) and self.get_context().is_owner()

    def call():
        former = tasks.enter_state(state)
        if is_in_library:
            tasks.running.state = state
        try:
            outcome.append((func(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            tasks.running.state = in_library
            tasks.restore_state(former)

    _native_run_with_priority(self, PrioSched.TaskPriority(priority), call)
    value, error = outcome.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error
    return value
