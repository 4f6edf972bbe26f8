"""Tests sleep() of schedulers in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


class TaskShare(unittest.TestCase):

    def test_task_share_is_said(self):
        own = PrioSched.Scheduler.new(GLib.MainContext())
        self.assertEqual(own.get_task_share(), 0)
        own.set_task_share(0.5)
        self.assertEqual(own.get_task_share(), 0.5)


class Sleep(unittest.TestCase):

    @run
    async def test_waits_for_so_long(self):
        start = GLib.get_monotonic_time()
        self.assertIsNone(await scheduler.sleep(20))
        self.assertGreaterEqual(GLib.get_monotonic_time() - start, 20000)

    @run
    async def test_no_delay_is_a_yield(self):
        log = []

        async def task():
            scheduler.post_task(lambda: log.append('task'))
            await scheduler.sleep(0)
            log.append('continuation')
        await scheduler.post_task(task)
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(log, ['continuation', 'task'])

    @run
    async def test_inherits_signal_and_priority(self):
        controller = PrioSched.TaskController('background')
        log = []

        async def task():
            await scheduler.sleep(1)
            state = PrioSched.SchedulingState.get_current()
            log.append((state.get_cancellable() is controller.signal, state.get_priority()))
            await scheduler.sleep(1, priority='user-blocking')
            log.append('given')
            await scheduler.sleep(60000)
        posted = scheduler.post_task(task, signal=controller.signal)
        while len(log) < 2:
            await scheduler.sleep(1)
        self.assertEqual(log, [(True, 0), 'given'])
        why = ValueError('enough')
        controller.abort(why)
        with self.assertRaises(ValueError) as raised:
            await posted
        self.assertIs(raised.exception, why)

    @run
    async def test_an_abort_ends_it_at_once(self):
        controller = PrioSched.TaskController()
        plain = Gio.Cancellable()
        sleeping = scheduler.sleep((1 << 64) - 1, signal=controller.signal)
        other = scheduler.sleep(60000, plain, 'background')
        controller.abort(KeyError('mine'))
        plain.cancel()
        with self.assertRaises(KeyError):
            await sleeping
        with self.assertRaises(GLib.Error) as raised:
            await other
        self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        with self.assertRaises(KeyError):
            await scheduler.sleep(0, signal=controller.signal)

    @run
    async def test_the_abort_of_a_signal_that_it_does_not_inherit(self):
        """Checks that the abort ends neither the sleep nor a yield, and is raised at the coroutine's next await."""
        def sleep(signal):
            scheduler.post_task(lambda: controller.abort(why), 'user-blocking')
            return scheduler.sleep(5, signal=signal)

        def abort_and_yield(**options):
            controller.abort(why)
            return scheduler.yield_(**options)

        why = ValueError('enough')
        for first in (True, False):
            for wait in (lambda: abort_and_yield(priority='user-visible'), lambda: abort_and_yield(priority='inherit'),
                         lambda: abort_and_yield(signal=Gio.Cancellable()), lambda: sleep(Gio.Cancellable())):
                controller, log = PrioSched.TaskController(), []

                async def function(first=first, wait=wait, log=log):
                    if not first:
                        await scheduler.yield_()
                    await wait()
                    log.append('went on')
                    await scheduler.post_task(lambda: None, delay=100000)
                with self.assertRaises(ValueError) as raised:
                    await scheduler.post_task(function, signal=controller.signal)
                self.assertIs(raised.exception, why)
                self.assertEqual(log, ['went on'])

    @run
    async def test_what_cleans_up_may_sleep(self):
        """Checks that the reason is raised only once in a task, so that cleanup code may sleep."""
        for first in (True, False):
            controller, log = PrioSched.TaskController(), []

            async def function(first=first, controller=controller, log=log):
                if first:
                    controller.abort(ValueError('enough'))
                try:
                    await scheduler.sleep(100000)
                finally:
                    start = GLib.get_monotonic_time()
                    await scheduler.sleep(5)
                    log.append(GLib.get_monotonic_time() - start >= 5000)
            task = scheduler.post_task(function, signal=controller.signal)
            while task.state == PrioSched.TaskState.PENDING:
                await scheduler.sleep(1)
            controller.abort(ValueError('enough'))
            with self.assertRaises(ValueError):
                await task
            self.assertEqual(log, [True])

    @run
    async def test_it_can_be_cancelled(self):
        sleeping = scheduler.sleep(60000)
        self.assertTrue(sleeping.cancel())
        with self.assertRaises(asyncio.CancelledError):
            await sleeping

    def test_what_is_wrong_is_told(self):
        for bad in ('1', 1.5, None, True):
            with self.assertRaisesRegex(TypeError, 'delay is a whole number of milliseconds'):
                scheduler.sleep(bad)
        for bad in (-1, 1 << 64):
            with self.assertRaisesRegex(ValueError, 'delay is out of range'):
                scheduler.sleep(bad)
        with self.assertRaisesRegex(TypeError, 'is not a signal'):
            scheduler.sleep(1, signal=5)
        with self.assertRaisesRegex(ValueError, 'is not a task priority'):
            scheduler.sleep(1, priority='urgent')
        with self.assertRaisesRegex(TypeError, 'sleep_async.. needs a callback'):
            scheduler.sleep_async(1, None)


if __name__ == '__main__':
    unittest.main()
