"""CPython's own tests of timeouts, groups, wait_for (), shield () and so on, with tasks and futures of this library

    cpython_tests.py [MODULE…]

A delayed task replaces asyncio.sleep (), and shield () gets a future of this library.  Needs PyGObject's loop (3.50), and
the test package of this Python, which is in Debian's libpythonX.Y-testsuite.

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

MODULES = ['timeouts', 'taskgroups', 'waitfor', 'locks', 'queues', 'shield']
PACKAGE = 'test.test_asyncio'
# These tests report to logging, and not to an exception handler of a loop.
LEFT_OUT = ['test_shield_cancel_outer_exception_never_retrieved']
scheduler = PrioSched.Scheduler.get_default()
asyncio_sleep = asyncio.sleep


async def sleep(delay, result=None):
    """Runs a coroutine in a background task, which awaits a delayed one."""
    async def function():
        await scheduler.post_task(lambda: None, delay=math.ceil(delay * 1000))
        return result
    # Tests count passes of the loop by sleep (0).
    return await (scheduler.post_task(function, 'background') if delay > 0 else asyncio_sleep(delay, result))


class Loop(PrioSched.EventLoop):

    def __init__(self):
        super().__init__(GLib.MainContext.default())


class Promise(PrioSched.Future):
    """Represents a future of this library that a test settles."""

    _asyncio_awaited_by = None  # an attribute of asyncio's own futures

    def __init__(self, loop):
        super().__init__()
        self.get_loop = lambda: loop

    def set_result(self, value):
        self._settle(value)

    def set_exception(self, exception):
        self._settle(None, exception)


def shield_tests():
    """Returns the tests of the module for tasks, whose loop has no time and no GLib."""
    tasks = importlib.import_module(PACKAGE + '.test_tasks')

    def set_up(self):
        tasks.test_utils.TestCase.setUp(self)
        self.loop = Loop()
        self.addCleanup(self.loop.close)

    members = {name: test for name, test in vars(tasks.BaseTaskTests).items()
               if name.startswith('test_') and 'shield' in name and name not in LEFT_OUT}
    return type('ShieldTests', (tasks.test_utils.TestCase,),
                {**members, 'setUp': set_up, 'new_future': lambda self, loop: Promise(loop),
                 'new_task': lambda self, loop, coroutine: loop.create_task(coroutine)})


def load(name):
    loader = unittest.defaultTestLoader
    if name == 'shield':
        return loader.loadTestsFromTestCase(shield_tests())
    return loader.loadTestsFromModule(importlib.import_module(f'{PACKAGE}.test_{name}'))


class TapResult(unittest.TestResult):
    """Prints results in the form that count-results.py counts."""

    count = 0

    def say(self, test, outcome, comment='', error=None):
        self.count += 1
        print(f'{outcome} {self.count} - {test.id().removeprefix(PACKAGE + ".")}{comment}', flush=True)
        if error is not None:
            print('# ' + self._exc_info_to_string(error, test).rstrip().replace('\n', '\n# '), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, 'ok')

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, 'not ok', error=err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, 'not ok', error=err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.say(subtest, 'not ok', error=err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, 'ok', ' # SKIP ' + reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say(test, 'ok')

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say(test, 'not ok')


def main(names):
    warnings.simplefilter('ignore', DeprecationWarning)
    try:
        importlib.import_module(PACKAGE)
    except ImportError as error:
        version = '{}.{}'.format(*sys.version_info)
        print(f'Bail out! The tests of this Python are not installed ({error}): install libpython{version}-testsuite, or another '
              f'package with the module “test” of Python {version}')
        return 1
    asyncio.EventLoop = unittest.IsolatedAsyncioTestCase.loop_factory = Loop  # set before the classes of tests read it
    suites = {name: load(name) for name in names or MODULES}
    asyncio.sleep = sleep
    result = TapResult()
    for name, suite in suites.items():
        assert suite.countTestCases() > 0, f'there are no tests of {name}'
        suite.run(result)
    print(f'1..{result.count}')
    return 0 if result.wasSuccessful() else 1


sys.exit(main(sys.argv[1:]))
