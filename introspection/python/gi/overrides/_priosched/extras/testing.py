"""PrioSched.testing: the clock of a test.

    with PrioSched.testing.Clock() as clock:
        search.type('a')
        clock.advance(150)
        assert search.found == ['apple']

A fixture for pytest, in conftest.py:

    clock = pytest.fixture(PrioSched.testing.clock)

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import threading

from gi.module import get_introspection_module

from ..arguments import to_part
from ..futures.contexts import get_running_loop
from ..futures.future import Future

PrioSched = get_introspection_module('PrioSched')

__all__ = ['Clock', 'clock']

_LONGEST = 10 ** 15  # milliseconds, which is 30,000 years
_tester = None  # the identifier of the thread in which the test began, or None


def _check(name):
    if _tester is None:
        raise RuntimeError(f'{name}: the time is the system\'s: use it in "with PrioSched.testing.Clock() as clock:"')
    if threading.get_ident() != _tester:
        raise RuntimeError(f'{name}: only the thread that has begun the test may call this')


def _check_sync(name):
    _check(name)
    if get_running_loop() is not None:
        raise RuntimeError(f'{name}: a loop of asyncio runs: await clock.advance_async () instead')


class Clock:
    """Sets the time of all schedulers in a test: delays, timeouts, slices and frames follow that time, and no code sleeps.

    A Clock is a context manager: at the end of `with`, the time is the system's again.  Timers of GLib and of asyncio keep the time of the system.
    """

    def __enter__(self):
        global _tester
        if _tester is not None:
            raise RuntimeError('A test has begun already: there is one clock in a process')
        _tester = threading.get_ident()
        PrioSched.testing_begin()
        return self

    def __exit__(self, *exception):
        global _tester
        _check('Clock')
        PrioSched.testing_end()
        _tester = None

    @property
    def elapsed(self):
        """How many milliseconds of the test have passed."""
        _check('elapsed')
        return PrioSched.testing_get_elapsed()

    @property
    def time(self):
        """The time that schedulers read, in microseconds, for Scheduler.set_next_frame ()."""
        return PrioSched.testing_get_time()

    def advance(self, milliseconds):
        """Advances the time.  Runs each task that becomes due, at the time when it is due, and waits for functions in threads to end."""
        _check_sync('advance ()')
        PrioSched.testing_advance(to_part(milliseconds, 'a time of a test', _LONGEST))

    def advance_async(self, milliseconds):
        """Advances the time like advance (), while the program runs the main loop: await clock.advance_async (150)."""
        _check('advance_async ()')
        future = Future()
        PrioSched.testing_advance_async(to_part(milliseconds, 'a time of a test', _LONGEST), lambda *_: future._settle(None))
        return future

    def spend(self, milliseconds):
        """Advances the time without running tasks, as if the calling code took that long."""
        if _tester is None:
            _check('spend ()')
        PrioSched.testing_spend(to_part(milliseconds, 'a time of a test', _LONGEST))

    def run_until_idle(self):
        """Runs all tasks, and other sources of the main context, that are ready, without advancing the time."""
        _check_sync('run_until_idle ()')
        PrioSched.testing_run_until_idle()

    def step(self):
        """Runs the next task or idle callback that is ready, and no other.  Returns whether there was one.  Other ready sources run first."""
        _check_sync('step ()')
        return PrioSched.testing_step()

    @property
    def queued(self):
        """The names of the tasks that wait for their turn, in the order of their posts."""
        _check('queued')
        return PrioSched.testing_list_queued()

    @property
    def delayed(self):
        """The names of the tasks that wait for the end of their delay, in the order of their posts."""
        _check('delayed')
        return PrioSched.testing_list_delayed()


def clock():
    """Makes a clock for a test: clock = pytest.fixture (PrioSched.testing.clock)."""
    with Clock() as made:
        yield made
