"""Tests `async with` for workers and groups in Python, with asyncio and without.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import gc
import sys
import threading
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
HAS_LOOP = hasattr(PrioSched, 'EventLoop')


def run_in_main_loop(coroutine):
    """Runs a coroutine as a task, without asyncio."""
    task = scheduler.post_task(lambda: coroutine)
    loop = GLib.MainLoop()
    task.add_done_callback(lambda task: loop.quit())
    loop.run()
    task.result()


def run(function):
    """Runs a test without asyncio, in PrioSched.run (), and in PrioSched.EventLoop if there is one."""
    def test(self):
        run_in_main_loop(function(self))
        PrioSched.run(function(self))
        if HAS_LOOP:
            asyncio.Runner(loop_factory=PrioSched.EventLoop).run(function(self))
    test.function = function
    return test


class Ticks:
    """Counts how often the main loop runs a source until it is closed."""

    def __init__(self):
        self.n = 0
        self.id = GLib.timeout_add(1, self._tick)

    def _tick(self):
        self.n += 1
        return GLib.SOURCE_CONTINUE

    async def more(self, n=3):
        end = self.n + n
        while self.n < end:
            await scheduler.sleep(1)

    def close(self):
        GLib.source_remove(self.id)


async def cancel_in_asyncio(coroutine, may_cancel):
    """Runs a coroutine as a task of asyncio or of the library, and cancels it once may_cancel allows."""
    if asyncio._get_running_loop() is not None:
        task = asyncio.ensure_future(coroutine)
    else:
        task = scheduler.post_task(lambda: coroutine)
    while not may_cancel():
        await scheduler.sleep(1)
    task.cancel()
    await task


class Workers(unittest.TestCase):

    def setUp(self):
        self.may_end = threading.Event()
        self.has_begun = threading.Event()

    def hold(self):
        self.has_begun.set()
        self.may_end.wait()
        return 'held'

    async def begun(self):
        while not self.has_begun.is_set():
            await scheduler.sleep(1)

    async def let_end(self):
        """Lets the held function end after the main loop has run."""
        with contextlib.closing(Ticks()) as ticks:
            await ticks.more()
        self.may_end.set()

    def reset(self):
        self.may_end.clear()
        self.has_begun.clear()

    @run
    async def test_what_is_queued_runs_and_the_main_loop_too(self):
        self.reset()
        log = []
        async with PrioSched.Worker('render') as worker:
            self.assertEqual(worker.name, 'render')
            held = worker.run(scheduler, self.hold)
            queued = worker.run(scheduler, log.append, 'queued')
            end = scheduler.post_task(self.let_end)
        self.assertEqual(log, ['queued'])
        self.assertEqual(await held, 'held')
        await queued
        await end
        with self.assertRaises(GLib.Error):
            await worker.run(scheduler, print)

    @run
    async def test_a_body_that_raises_aborts_what_is_queued(self):
        self.reset()
        log = []
        with self.assertRaises(KeyError):
            async with PrioSched.Worker() as worker:
                worker.run(scheduler, self.hold)
                await self.begun()
                queued = worker.run(scheduler, log.append, 'queued')
                end = scheduler.post_task(self.let_end)
                raise KeyError
        self.assertTrue(self.may_end.is_set())
        with self.assertRaises(GLib.Error):
            await queued
        self.assertEqual(log, [])
        await end

    @run
    async def test_an_aborted_body_waits_for_the_thread(self):
        self.reset()
        controller = PrioSched.TaskController()

        async def search():
            async with PrioSched.Worker() as worker:
                await worker.run(scheduler, self.hold)

        task = scheduler.post_task(search, signal=controller.signal)
        await self.begun()
        controller.abort(ValueError('closed'))
        await self.let_end()
        with self.assertRaisesRegex(ValueError, 'closed'):
            await task

    @run
    async def test_an_abort_of_its_end_aborts_what_is_queued(self):
        self.reset()
        controller, log, queued = PrioSched.TaskController(), [], []

        async def search():
            async with PrioSched.Worker() as worker:
                worker.run(scheduler, self.hold)
                queued.append(worker.run(scheduler, log.append, 'queued'))
            log.append('goes on')

        task = scheduler.post_task(search, signal=controller.signal)
        await self.begun()
        controller.abort(ValueError('closed'))
        await self.let_end()
        with self.assertRaisesRegex(ValueError, 'closed'):
            await task
        self.assertEqual(log, [])
        self.assertIsNotNone(queued[0].exception())

    @run
    async def test_a_cancellation_of_its_end_waits_for_the_thread(self):
        self.reset()
        log, queued = [], []

        async def search():
            async with PrioSched.Worker() as worker:
                worker.run(scheduler, self.hold)
                queued.append(worker.run(scheduler, log.append, 'queued'))
                log.append('end')
            log.append('goes on')

        end = scheduler.post_task(self.end_once_cancelled)
        with self.assertRaises(asyncio.CancelledError):
            await cancel_in_asyncio(search(), lambda: log == ['end'] and self.has_begun.is_set())
        self.assertEqual(log, ['end'])
        self.assertIsNotNone(queued[0].exception())
        self.assertTrue(self.may_end.is_set())
        await end

    async def end_once_cancelled(self):
        await self.begun()
        await self.let_end()

    @run
    async def test_a_worker_that_is_stopped_in_its_own_scope(self):
        async with PrioSched.Worker() as worker:
            worker.stop()
        async with PrioSched.Worker() as worker:
            worker.stop('finish')
            worker.stop()

    @run
    async def test_two_wait_for_one_worker(self):
        async with PrioSched.Worker() as worker:
            async with worker:
                self.assertEqual(await worker.run(scheduler, lambda: 5), 5)

    @run
    async def test_a_worker_does_not_wait_for_itself(self):
        worker = PrioSched.Worker()

        async def wait():
            async with worker:
                pass

        with self.assertRaisesRegex(RuntimeError, 'cannot wait for its own end'):
            await worker.scheduler.post_task(wait)
        worker.stop()
        worker.join()

    @run
    async def test_plain_with_in_the_main_loop_names_async_with(self):
        with self.assertRaisesRegex(RuntimeError, 'async with'):
            with PrioSched.Worker():
                self.fail()
        await scheduler.sleep(1)
        with self.assertRaisesRegex(RuntimeError, 'async with'):
            with PrioSched.Worker():
                self.fail()
        with self.assertRaisesRegex(RuntimeError, 'async with'):
            await scheduler.post_task(PrioSched.Worker().__enter__)

    def test_plain_with_in_a_loop_of_asyncio(self):
        async def main():
            with PrioSched.Worker():
                self.fail()

        with self.assertRaisesRegex(RuntimeError, 'async with'):
            asyncio.run(main())

    def test_async_with_in_a_loop_of_asyncio(self):
        async def main():
            async with PrioSched.Worker() as worker:
                worker.scheduler.post(PrioSched.TaskPriority.USER_VISIBLE, log.append, 'ran')

        log = []
        asyncio.run(main())
        self.assertEqual(log, ['ran'])

    def test_plain_with_outside_the_main_loop(self):
        with PrioSched.Worker() as worker:
            worker.scheduler.post(PrioSched.TaskPriority.USER_VISIBLE, self.has_begun.set)
        self.assertTrue(self.has_begun.is_set())

    @run
    async def test_plain_with_in_a_thread(self):
        def use():
            with PrioSched.Worker() as worker:
                worker.scheduler.post(PrioSched.TaskPriority.USER_VISIBLE, lambda: None)
            return 'ended'

        self.assertEqual(await scheduler.run_in_thread(use), 'ended')
        async with PrioSched.Worker() as worker:
            self.assertEqual(await worker.run(scheduler, use), 'ended')


class Groups(unittest.TestCase):

    def setUp(self):
        self.log = []
        self.n_begun = 0

    async def begun(self, n=1):
        """Waits until n tasks that never end have begun."""
        while self.n_begun < n:
            await scheduler.sleep(1)
        self.n_begun = 0

    async def work(self, name):
        await scheduler.yield_()
        self.log.append(name)
        return name

    async def fails(self):
        await scheduler.yield_()
        raise ValueError('failed')

    async def never(self):
        self.n_begun += 1
        try:
            await scheduler.sleep(1 << 30)
        except BaseException as error:
            self.log.append(f'never {type(error).__name__}')
            raise

    @run
    async def test_it_waits_for_all(self):
        self.log = []
        async with PrioSched.TaskGroup(limit=2) as group:
            tasks = [group.post_task(lambda i=i: self.work(i)) for i in range(5)]
            self.assertEqual(self.log, [])
        self.assertEqual(sorted(self.log), [0, 1, 2, 3, 4])
        self.assertEqual([task.result() for task in tasks], [0, 1, 2, 3, 4])
        async with group:
            pass
        async with PrioSched.TaskGroup() as group:
            group.feed(lambda i: self.work(i), range(5, 9))
        self.assertEqual(sorted(self.log), list(range(9)))

    @run
    async def test_it_waits_for_feeds(self):
        def items():
            yield 1
            raise ValueError('failed')

        self.log = []
        with self.assertRaisesRegex(ValueError, 'failed'):
            async with PrioSched.TaskGroup(limit=1) as group:
                group.feed(self.work, items())
                await self.never()
        self.assertEqual(self.log[-1], 'never CancelledError')
        with self.assertRaises(KeyError):
            async with PrioSched.TaskGroup(limit=1) as group:
                feed = group.feed(self.work, range(1 << 30))
                await scheduler.sleep(1)
                raise KeyError
        self.assertTrue(feed.done())

    @run
    async def test_the_first_error_aborts_the_rest(self):
        self.log = []
        with self.assertRaisesRegex(ValueError, 'failed'):
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)
                group.post_task(self.fails)
        self.assertEqual(self.log, ['never AbortError'])
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_an_error_ends_a_body_that_never_ends(self):
        self.log = []
        for wait in self.never, scheduler_waits, asyncio_waits:
            with self.assertRaisesRegex(ValueError, 'failed'):
                async with PrioSched.TaskGroup() as group:
                    group.post_task(self.fails)
                    await wait()
            await scheduler.sleep(1)
        self.assertEqual(self.log, ['never CancelledError'])

    @run
    async def test_an_error_while_the_body_awaits_its_task(self):
        with self.assertRaisesRegex(ValueError, 'failed'):
            async with PrioSched.TaskGroup() as group:
                await group.post_task(self.fails)
        await scheduler.sleep(1)

    @run
    async def test_an_error_of_a_function_that_fails_while_the_body_runs(self):
        with self.assertRaises(ZeroDivisionError):
            async with PrioSched.TaskGroup() as group:
                group.post_task(lambda: 1 / 0)
                for _ in range(20):
                    await scheduler.yield_(priority='background')
        await scheduler.sleep(1)

    @run
    async def test_a_body_that_raises_aborts_the_rest(self):
        self.log, self.n_begun = [], 0
        with self.assertRaises(KeyError):
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)
                await self.begun()
                raise KeyError
        self.assertEqual(self.log, ['never AbortError'])
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_an_error_of_a_task_is_raised_although_the_body_fails_while_it_is_cancelled(self):
        self.log = []
        with self.assertRaisesRegex(ValueError, 'failed') as raised:
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.fails)
                try:
                    await self.never()
                finally:
                    raise KeyError
        self.assertIsInstance(raised.exception.__context__, KeyError)

    @run
    async def test_an_error_in_the_clean_up_of_a_task_is_reported(self):
        async def fail_at_the_abort():
            self.n_begun += 1
            try:
                await scheduler.sleep(100000)
            finally:
                raise IndexError

        async def fail():
            async with PrioSched.TaskGroup() as group:
                group.post_task(fail_at_the_abort)
                await self.begun()
                raise ValueError

        async def wait():
            async with PrioSched.TaskGroup() as group:
                group.post_task(fail_at_the_abort)

        async def abort(body):
            controller = PrioSched.TaskController()
            task = scheduler.post_task(body, signal=controller.signal)
            await self.begun()
            controller.abort()
            await task

        for job, expected in (fail, ValueError), (lambda: abort(wait), PrioSched.AbortError):
            self.n_begun = 0
            with self.assertLogs('PrioSched', 'ERROR') as logs:
                with self.assertRaises(expected):
                    await job()
                while not any('IndexError' in output for output in logs.output):
                    await scheduler.sleep(1)
                    gc.collect()

    @run
    async def test_the_first_error_is_raised(self):
        async def fail_at_the_abort():
            try:
                await self.never()
            finally:
                await scheduler.sleep(1)
                raise KeyError('later')

        self.log = []
        with self.assertRaisesRegex(ValueError, 'failed'):
            async with PrioSched.TaskGroup() as group:
                later = group.post_task(fail_at_the_abort)
                group.post_task(self.fails)
        self.assertIsNotNone(later.exception())

    @run
    async def test_an_aborted_body_aborts_the_rest(self):
        self.log, self.n_begun = [], 0
        controller = PrioSched.TaskController()

        async def body():
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)
                await scheduler.sleep(100000)

        async def end():
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)

        tasks = [scheduler.post_task(each, signal=controller.signal) for each in (body, end)]
        await self.begun(2)
        controller.abort(RuntimeError('closed'))
        for task in tasks:
            with self.assertRaisesRegex(RuntimeError, 'closed'):
                await task
        self.assertEqual(self.log, ['never AbortError'] * 2)

    @run
    async def test_a_cancelled_body_aborts_the_rest(self):
        async def body():
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)
                self.log.append('body')
                await scheduler.sleep(100000)

        async def end():
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.never)
                self.log.append('body')

        for each in body, end:
            self.log, self.n_begun = [], 0
            with self.assertRaises(asyncio.CancelledError):
                await cancel_in_asyncio(each(), lambda: self.log == ['body'] and self.n_begun == 1)
            self.assertEqual(self.log, ['body', 'never AbortError'])

    @run
    async def test_tasks_that_are_cancelled_or_aborted_are_no_errors(self):
        controller = PrioSched.TaskController()
        async with PrioSched.TaskGroup() as group:
            group.post_task(self.never).cancel()
            group.post_task(self.never, signal=controller.signal)
            await scheduler.yield_(priority='background')
            controller.abort()
            await scheduler.yield_(priority='background')
            group.abort()
            group.post_task(lambda: self.work('later'))
        self.assertIn('later', self.log)

    @run
    async def test_a_cancellation_from_outside_is_not_taken_back(self):
        if asyncio._get_running_loop() is None:
            return

        async def body():
            async with PrioSched.TaskGroup() as group:
                group.post_task(self.fails)
                try:
                    await scheduler.sleep(100000)
                finally:
                    task.cancel()

        task = asyncio.ensure_future(body())
        with self.assertRaises(asyncio.CancelledError):
            await task

    @run
    async def test_a_timeout_of_asyncio_around_it(self):
        if asyncio._get_running_loop() is None or sys.version_info < (3, 11):
            return
        self.log, self.n_begun = [], 0
        with self.assertRaises(TimeoutError):
            async with asyncio.timeout(100) as timeout:
                async with PrioSched.TaskGroup() as group:
                    group.post_task(self.never)
                    await self.begun()
                    timeout.reschedule(0)
        self.assertEqual(self.log, ['never AbortError'])
        async with asyncio.timeout(100):
            with self.assertRaises(ValueError):
                async with PrioSched.TaskGroup() as group:
                    group.post_task(self.fails)
                    await self.never()
            await scheduler.sleep(1)

    @run
    async def test_a_group_is_in_one_scope(self):
        async with PrioSched.TaskGroup() as group:
            with self.assertRaisesRegex(RuntimeError, 'is in an `async with` already'):
                async with group:
                    pass

    @run
    async def test_a_task_of_the_group_enters_no_other_thread(self):
        group = PrioSched.TaskGroup()

        def enter():
            with self.assertRaisesRegex(RuntimeError, 'belongs to'):
                group.__aenter__().send(None)

        await scheduler.run_in_thread(enter)


async def scheduler_waits():
    await scheduler.sleep(100000)


async def asyncio_waits():
    if asyncio._get_running_loop() is not None:
        await asyncio.sleep(100)
    else:
        await scheduler.sleep(100000)


if __name__ == '__main__':
    unittest.main()
