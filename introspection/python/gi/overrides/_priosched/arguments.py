"""Checks and converts a program's arguments for the library: priorities, numbers, callbacks, signals, and names.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import inspect
import operator

from gi.module import get_introspection_module
from gi.repository import Gio

from .names import name_of_callable

PrioSched = get_introspection_module('PrioSched')

UNSET = 0  # the priority of a task that follows the priority of its signal
NO_EXPIRY = -1  # in place of the time when a task's timeout passes, if the task has none

_PRIORITIES = {'background': 1, 'user-visible': 2, 'user-blocking': 3}
_NAMES = f'these are {", ".join(map(repr, _PRIORITIES))}'

_MAX_TIMEOUT = 2 ** 31 - 1
_MAX_FRAME_RATE = 125
MAX_LIMIT = 2 ** 32 - 1


def to_priority(value):
    """Converts a priority, which is a member of TaskPriority, its nick or its number, to the number; None becomes UNSET."""
    if value.__class__ is str and value in _PRIORITIES:
        return _PRIORITIES[value]
    if value is None:
        return UNSET
    if isinstance(value, str):
        number = _PRIORITIES.get(value)
    elif isinstance(value, PrioSched.TaskPriority):
        number = int(value)
    else:
        # A plain number is accepted; a member of another enumeration is not.
        number = value if value.__class__ is int else None
    if number not in (1, 2, 3):
        raise ValueError(f'{value!r} is not a task priority: {_NAMES}')
    return number


def to_priority_of(callback, value):
    """Converts value to the number of a priority.

    The error has a hint if value is a signal or a controller, or may have been meant as an argument of callback.
    """
    try:
        return to_priority(value)
    except ValueError as error:
        is_signal = isinstance(value, Gio.Cancellable) or hasattr(value, 'get_signal')
        hint = '; pass signal=controller.signal' if is_signal else hint_at_arguments(callback, value)
        raise ValueError(f'{error}{hint}') from None


def to_given_priority(value):
    """Converts value, which must not be None, to the number of a priority."""
    if value is None:
        raise ValueError(f'None is not a task priority: {_NAMES}')
    return to_priority(value)


def refusing(method):
    """Decorates a method that checks its arguments, and calls no code of the program.

    The tracebacks of its errors end with the frame of call (), just below the caller's, and do not show the checks.
    """
    @functools.wraps(method)
    def call(*args, **kwargs):
        try:
            return method(*args, **kwargs)
        except (TypeError, ValueError, RuntimeError) as error:
            raise error.with_traceback(None)
    return call


def _to_integer(value, name, unit):
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f'{name} is a whole number of {unit}, not {value!r}') from None


def to_whole(value, name, unit, maximum, minimum=0):
    """Checks that value is a whole number from minimum to maximum, and returns it as an int."""
    number = _to_integer(value, name, unit)
    if not minimum <= number <= maximum:
        raise ValueError(f'{name} is out of range: {value!r}; it is from {minimum} to {maximum} {unit}')
    return number


def to_delay(value, name='delay', bits=64):
    if value.__class__ is int and value == 0:
        return 0  # most delays are 0
    return to_whole(value, name, 'milliseconds', (1 << bits) - 1)


def to_timeout(value):
    """Checks a timeout of a task, in milliseconds: None becomes 0, which means no timeout."""
    return 0 if value is None else to_whole(value, 'timeout', 'milliseconds', _MAX_TIMEOUT, -_MAX_TIMEOUT - 1)


def check_seconds(timeout):
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float))):
        raise TypeError(f'timeout is a number of seconds, not {timeout!r}')


def to_limit(value):
    """Checks how many tasks may run at a time: None becomes MAX_LIMIT, which means any number."""
    return MAX_LIMIT if value is None else to_whole(value, 'limit', 'tasks', MAX_LIMIT, 1)


def to_flag(value, name):
    if value is not True and value is not False:
        raise TypeError(f'{name} is True or False, not {value!r}')
    return value


def to_frame_rate(value):
    number = _to_integer(value, 'a frame rate', 'frames per second')
    if not 0 <= number <= _MAX_FRAME_RATE:
        raise ValueError(f'a frame rate that can be forced is from 0 to {_MAX_FRAME_RATE}, not {value!r}')
    return number


def to_part(value, what, maximum):
    """Checks that value is a number from 0 to maximum, which may have a fraction, and returns it as a float."""
    import numbers  # imported late, because few programs need it
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f'{what} is a number from 0 to {maximum}, not {value!r}')
    # This refuses NaN, too.
    if not 0 <= value <= maximum:
        raise ValueError(f'{what} is from 0 to {maximum}, not {value!r}')
    return float(value)


def to_callback(value):
    if not callable(value):
        hint = ': pass the function that returns it' if hasattr(value, '__await__') or inspect.isgenerator(value) else ''
        raise TypeError(f'{value!r} is not callable{hint}')
    return value


def hint_at_arguments(callback, value):
    """Returns a hint for an error's message if value may have been meant as an argument of callback."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except ValueError:
        return ''  # its signature is not known
    if all(parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) for parameter in parameters):
        return ''
    return f'; for an argument, post lambda: {getattr(callback, "__name__", "function")}({value!r})'


def called_back(owner, name, position, awaitable=None):
    """Wraps the method of owner with the given name, whose argument at position is a callback.

    Without a callback, PyGObject 3.50 and later return an awaitable, and crash if another argument is wrong.  So the
    wrapper raises TypeError without a callback.  awaitable is the name of a method to await instead, for the message.
    """
    native = getattr(owner, name)
    hint = f'; {awaitable}() can be awaited' if awaitable else ''

    @functools.wraps(native, ('__name__', '__qualname__'))
    def method(self, *args, **kwargs):
        callback = args[position] if len(args) > position else kwargs.get('callback')
        if not callable(callback):
            raise TypeError(f'{name}() needs a callback, not {callback!r}{hint}')
        return native(self, *args, **kwargs)

    # Copying the method's docstring would make PyGObject generate it at import, so the wrapper gets a short one.
    method.__doc__ = f'The library\'s {name} (), which needs a callback{hint}.'
    return method


def to_signal(value):
    if value is not None and not isinstance(value, Gio.Cancellable):
        hint = ': pass controller.signal' if hasattr(value, 'get_signal') else ''
        raise TypeError(f'{value!r} is not a signal{hint}')
    return value


def to_signals(values):
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f'signals are an iterable of Gio.Cancellable, not {values!r}') from None
    if None in values:
        raise TypeError('None is not a signal')
    return [to_signal(value) for value in values]


def to_scheduler(value):
    if value is None:
        return PrioSched.Scheduler.ref_thread_default()
    if not isinstance(value, PrioSched.Scheduler):
        raise TypeError(f'{value!r} is not a scheduler')
    return value


def check_name(value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f'a name is a string, not {value!r}')


# Names of tasks appear in reports of long tasks, in traces and in the monitor.  The library asks for a name
# only while one of these is used, so name_of () need not be fast.


def _name_of_runner(runner):
    """Returns the name of the code that a waiter continues.

    The waiter is a function, a Driver of a coroutine, or a method that wakes up an asyncio task.  The result is the name of the
    task, if it has one, or else of the coroutine or the function.
    """
    callback = getattr(runner, '_prio_sched_calls', runner)
    runner = getattr(callback, '__self__', callback)
    name = getattr(getattr(runner, 'future', None), 'name', None)
    if name is not None:
        return str(name)
    coroutine = getattr(runner, 'coroutine', None)
    if coroutine is None and hasattr(runner, 'get_coro'):
        coroutine = runner.get_coro()
    return name_of_callable(callback if coroutine is None else coroutine)


def name_of(entry):
    """Returns the name of an entry of a table (a task or a continuation), or None if it has no name.

    This is the name that the task was posted with, or the name of the function or of the coroutine that runs next.
    """
    if entry is None:
        return None
    name = getattr(entry, 'name', None)
    if name is not None:
        return str(name)
    callback = getattr(entry, '_callback', None)
    if callback is not None:
        return name_of_callable(callback)
    waiter = getattr(entry, '_waiter', None)
    return _name_of_runner(waiter) if waiter is not None else None
