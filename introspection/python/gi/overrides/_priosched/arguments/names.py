"""What tasks are called in reports of long tasks, in traces and in the monitor.

The library asks for names only while one of these wants them.

SPDX-License-Identifier: LGPL-2.1-or-later
"""


def name_of_callable(callback):
    """What a function, or whatever else is called, is called; of what the binding calls that of the program's function in it."""
    callback = getattr(callback, '_prio_sched_calls', callback)
    name = getattr(callback, '__qualname__', None)
    if name is None and hasattr(callback, 'func'):
        return name_of_callable(callback.func)  # functools.partial
    return name if isinstance(name, str) else type(callback).__qualname__


def _name_of_runner(runner):
    """The name of who runs a coroutine: a Driver, a task of asyncio, or what wakes one up; or of another function."""
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
    """The name of an entry of a table: its own, or that of its function, or of the coroutine that goes on."""
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
