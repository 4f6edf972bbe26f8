"""CPython's own tests of timeouts, groups, wait_for () and so on, with a delayed task of ours in place of asyncio.sleep ()

    cpython_tests.py [MODULE…]

Needs PyGObject's loop (3.50), and the test package of this Python, which Debian has in libpythonX.Y-testsuite.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import importlib
import math
import sys
import unittest
import warnings

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

from gi.events import GLibEventLoop  # noqa: E402

MODULES = ['timeouts', 'taskgroups', 'waitfor', 'locks', 'queues']
scheduler = PrioSched.Scheduler.get_default()
asyncio_sleep = asyncio.sleep


async def sleep(delay, result=None):
    """A task that a coroutine runs, which awaits a delayed one."""
    async def function():
        await scheduler.post_task(lambda: None, delay=math.ceil(delay * 1000))
        return result
    # Passes of the loop are counted by sleep (0).
    return await (scheduler.post_task(function) if delay > 0 else asyncio_sleep(delay, result))


class Loop(GLibEventLoop):

    def __init__(self):
        super().__init__(GLib.MainContext.default())


def main():
    warnings.simplefilter('ignore', DeprecationWarning)
    asyncio.EventLoop = unittest.IsolatedAsyncioTestCase.loop_factory = Loop  # before classes of tests take it
    suite = unittest.TestSuite()
    for name in sys.argv[1:] or MODULES:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module('test.test_asyncio.test_' + name)))
    asyncio.sleep = sleep
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    sys.exit(not result.wasSuccessful())


main()
