"""Tests waits for groups of tasks in Python, with asyncio and without.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402
from groups import Turn, run, scheduler, turns  # noqa: E402


class Waits(unittest.TestCase):

    @run
    async def test_all(self):
        group = PrioSched.TaskGroup(limit=2)
        self.assertIsNone(await group.all())
        group.post_task(lambda: 1)
        self.assertIsNone(await group.all())
        why = ValueError('no')

        def fail():
            raise why
        group.post_task(lambda: 1)
        failing = group.post_task(fail)
        with self.assertRaises(ValueError) as raised:
            await group.all()
        self.assertIs(raised.exception, why)
        self.assertIs(failing.exception(), why)
        wait = Turn()
        group.post_task(wait.wait)
        group.post_task(lambda: 1)
        done = group.all()
        await turns()
        group.abort(why)
        with self.assertRaises(ValueError) as raised:
            await done
        self.assertIs(raised.exception, why)
        await group.drained()

    @run
    async def test_any_and_first(self):
        group, wait = PrioSched.TaskGroup(limit=3), Turn()

        def fail():
            raise ValueError('no')

        async def slow():
            await wait.wait()
            return 'slow'
        for wait_for_none in group.any, group.first:
            with self.assertRaises(GLib.Error) as raised:
                await wait_for_none()
            self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND))
        tasks = [group.post_task(slow), group.post_task(fail), group.post_task(lambda: 'quick')]
        found_any, found_first = group.any(), group.first()
        with self.assertRaisesRegex(ValueError, 'no'):
            await found_first
        self.assertEqual(await found_any, 'quick')
        self.assertRaises(ValueError, tasks[1].result)
        found_any = group.any()
        wait.come()
        self.assertEqual(await found_any, 'slow')
        tasks = [group.post_task(fail), group.post_task(fail)]
        with self.assertRaisesRegex(ValueError, 'no'):
            await group.any()
        for task in tasks:
            task.exception()
        task = group.post_task(lambda: 1)
        found_first, why = group.first(), KeyError('aborted')
        group.abort(why)
        with self.assertRaises(KeyError) as raised:
            await found_first
        self.assertIs(raised.exception, why)

    @run
    async def test_nothing_is_kept_for_waits_that_are_over(self):
        group, wait = PrioSched.TaskGroup(limit=2), Turn()
        task = group.post_task(Turn)
        done = weakref.ref(task)
        found_first = group.first()
        await found_first
        del task, found_first
        group.post_task(wait.wait)
        for _ in range(5):
            await turns(3)
            gc.collect()
        self.assertIsNone(done())
        wait.come()
        await group.drained()

    @run
    async def test_an_abort_of_a_wait_is_silent(self):
        group, controller = PrioSched.TaskGroup(limit=1), PrioSched.TaskController()
        task = group.post_task(Turn().wait)
        waits = [getattr(group, name)(controller.signal) for name in ('drained', 'all', 'any', 'first')]
        await turns()
        with self.assertNoLogs('PrioSched'):
            controller.abort()
            await turns()
            self.assertEqual([wait.state for wait in waits], [PrioSched.TaskState.ABORTED] * 4)
            del waits
            gc.collect()
        task.cancel()

    @run
    async def test_a_wait_is_cancelled(self):
        group, wait = PrioSched.TaskGroup(limit=1), Turn()
        task = group.post_task(wait.wait)
        controller, why = PrioSched.TaskController(), ValueError('enough')
        drained, other = group.drained(controller.signal), group.drained()
        await turns()
        controller.abort(why)
        other.cancel()
        with self.assertRaises(ValueError) as raised:
            await drained
        self.assertIs(raised.exception, why)
        with self.assertRaises(asyncio.CancelledError):
            await other
        with self.assertRaises(GLib.Error):
            cancellable = Gio.Cancellable()
            cancellable.cancel()
            await group.all(cancellable)
        self.assertFalse(task.done())
        wait.come()
        await task

    @run
    async def test_a_task_waits_for_its_own_group(self):
        group, log = PrioSched.TaskGroup(limit=1), []

        async def wait_for_the_others():
            await scheduler.yield_()
            await group.drained()
            log.append('drained')
        group.post_task(wait_for_the_others)
        group.post_task(wait_for_the_others)
        group.post_task(lambda: log.append('other'))
        await group.drained()
        self.assertEqual(log, ['other', 'drained', 'drained'])

    @run
    async def test_asyncio_waits_only_so_long(self):
        if asyncio._get_running_loop() is None:
            return
        group, wait = PrioSched.TaskGroup(limit=1), Turn()
        group.post_task(wait.wait)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(group.drained(), 0.01)
        wait.come()
        await asyncio.gather(group.drained(), group.all())

    @run
    async def test_a_wait_that_begins_when_a_task_has_returned_waits_for_others(self):
        group, wait = PrioSched.TaskGroup(), Turn()

        async def other():
            await wait.wait()
            return 'other'
        task = group.post_task(lambda: 'one')
        group.post_task(other)
        self.assertEqual(await task, 'one')
        self.assertEqual(group.n_tasks, 1)
        waits = [group.any(), group.first()]
        wait.come()
        self.assertEqual([await one for one in waits], ['other', 'other'])

    def test_a_nested_main_loop_gets_results(self):
        context, group = GLib.MainContext.default(), PrioSched.TaskGroup()

        async def wait():
            group.post_task(int)
            await group.drained()

        async def nest():
            await wait()
            inner = scheduler.post_task(wait)
            for _ in range(1000):
                context.iteration(False)
            return inner.done()

        task = scheduler.post_task(nest)
        while not task.done():
            context.iteration(True)
        self.assertTrue(task.result())


if __name__ == '__main__':
    unittest.main()
