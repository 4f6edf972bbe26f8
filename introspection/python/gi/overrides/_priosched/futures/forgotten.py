"""Warns about waits, such as results of yield_ () and sleep (), that are never awaited and, in development, about tasks that never ran."""

import atexit
import functools
import gc
import os
import sys
import traceback
import warnings
import weakref

# If this environment variable is set, the library itself reports how many tasks never ran, so this module does not.
_IS_DEBUGGING = os.environ.get('PRIO_SCHED_DEBUG', '0') != '0'
# Whether to give warnings for developers: with that variable, or in Python's development mode (-X dev, PYTHONDEVMODE).
IS_DEVELOPING = sys.flags.dev_mode or _IS_DEBUGGING

_FRAMES = 10
_OVERRIDES = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep


def awaited(method):
    """Decorates a method whose result is to be awaited.

    In development, the warning about a result that is never awaited says where the method was called.
    """
    if not IS_DEVELOPING:
        return method

    @functools.wraps(method)
    def call(*args, **kwargs):
        wait = method(*args, **kwargs)
        stack = traceback.extract_stack(sys._getframe(1))
        lines = traceback.format_list([frame for frame in stack if not frame.filename.startswith(_OVERRIDES)][-_FRAMES:])
        wait._made_at = f'PrioSched.{method.__qualname__} () was never awaited\nCalled at (most recent call last)\n{"".join(lines)}'.rstrip()
        return wait
    return call


def warn_of_forgotten(wait):
    """Warns about a wait as Python does about a coroutine that was never awaited."""
    message = getattr(wait, '_made_at', None) or 'a wait of PrioSched, such as yield_ (), sleep () or drained (), was never awaited'
    warnings.warn(message, RuntimeWarning, stacklevel=3, source=wait)


_tables = weakref.WeakSet()
note_table = _tables.add


@atexit.register
def _warn_at_exit():
    tables = tuple(_tables)
    for wait in (entry for table in tables for entry in gc.get_referents(table)):
        if getattr(wait, 'is_forgotten', False):
            warn_of_forgotten(wait)
    n = sum(table.count_stuck() for table in tables) if IS_DEVELOPING and not _IS_DEBUGGING else 0
    if n > 0:
        warnings.warn(f'{n} task{"" if n == 1 else "s"} of PrioSched never ran: a main loop runs tasks, as PrioSched.run () does', RuntimeWarning)
