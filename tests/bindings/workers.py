"""Tests PrioSched.Worker in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import sys
import threading
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


class Workers(unittest.TestCase):

    def assert_closed(self, error):
        self.assertTrue(error.matches(PrioSched.error_quark(), PrioSched.Error.CLOSED), error)

    @run
    async def test_a_function_runs_in_its_thread(self):
        async with PrioSched.Worker('render') as worker:
            self.assertEqual(worker.name, 'render')
            value, thread = await worker.run(scheduler, lambda *args: (args, threading.get_ident()), 1, 2)
            self.assertEqual(value, (1, 2))
            self.assertNotEqual(thread, threading.get_ident())
            self.assertEqual(thread, await worker.run(scheduler, threading.get_ident))

    @run
    async def test_an_exception_comes_home(self):
        async with PrioSched.Worker() as worker:
            with self.assertRaises(ZeroDivisionError):
                await worker.run(scheduler, lambda: 1 / 0)

    @run
    async def test_they_run_by_priority(self):
        log, may_go_on = [], threading.Event()
        controller = PrioSched.TaskController('background')
        async with PrioSched.Worker() as worker:
            held = worker.run(scheduler, may_go_on.wait)
            tasks = [worker.run(scheduler, log.append, 'a', priority='background'),
                     worker.run(scheduler, log.append, 'b'),
                     worker.run(scheduler, log.append, 'c', signal=controller.signal)]
            controller.set_priority('user-blocking')
            may_go_on.set()
            for task in (held, *tasks):
                await task
        self.assertEqual(''.join(log), 'cba')

    @run
    async def test_an_abort_and_a_cancellation_end_what_waits(self):
        log, may_go_on = [], threading.Event()
        controller, plain = PrioSched.TaskController(), Gio.Cancellable()
        async with PrioSched.Worker() as worker:
            held = worker.run(scheduler, may_go_on.wait)
            aborted = worker.run(scheduler, log.append, 'a', signal=controller.signal)
            cancelled = worker.run(scheduler, log.append, 'b')
            third = worker.run(scheduler, log.append, 'c', signal=plain)
            controller.abort(KeyError('why'))
            cancelled.cancel()
            plain.cancel()
            with self.assertRaises(KeyError):
                await aborted
            self.assertTrue(cancelled.cancelled())
            with self.assertRaises(PrioSched.AbortError):
                await third
            may_go_on.set()
            await held
        self.assertEqual(log, [])

    @run
    async def test_its_end_finishes_what_is_queued(self):
        async with PrioSched.Worker() as worker:
            tasks = [worker.run(scheduler, lambda i=i: i) for i in range(20)]
        self.assertEqual([await task for task in tasks], list(range(20)))
        with self.assertRaises(GLib.Error) as caught:
            await worker.run(scheduler, print)
        self.assert_closed(caught.exception)

    @run
    async def test_an_exception_aborts_what_is_queued(self):
        has_begun, may_go_on = threading.Event(), threading.Event()
        with self.assertRaises(KeyError):
            async with PrioSched.Worker() as worker:
                held = worker.run(scheduler, lambda: (has_begun.set(), may_go_on.wait()))
                has_begun.wait()
                task = worker.run(scheduler, print)
                worker.stop()
                may_go_on.set()
                raise KeyError
        await held
        with self.assertRaises(GLib.Error) as caught:
            await task
        self.assert_closed(caught.exception)

    @run
    async def test_coroutines_that_have_begun_end_in_its_thread(self):
        for how in 'abort', 'finish':
            with self.subTest(how):
                await self.assert_coroutines_end(how)

    async def assert_coroutines_end(self, how):
        has_begun, log = threading.Event(), []
        worker = PrioSched.Worker()
        there, never = worker.scheduler, PrioSched.Scheduler.get_default().sleep(100000)

        async def wait(awaitable):
            try:
                await awaitable
            finally:
                log.append(threading.get_ident())
                try:
                    await there.yield_()
                finally:
                    log.append('yields')

        def begin():
            log.append(threading.get_ident())
            return wait(there.sleep(100000) if how == 'abort' else never)

        task = there.post_task(begin)
        there.post_task(has_begun.set)
        has_begun.wait()
        worker.stop(how)
        worker.join()
        queued = there.post_task(print)
        for ended in task, queued:
            with self.assertRaises(GLib.Error) as caught:
                await ended
            self.assert_closed(caught.exception)
        self.assertEqual(log, [log[0], log[0], 'yields'])
        never.cancel()

    def test_an_abort_beside_a_result_from_a_thread_continues_a_coroutine_once(self):
        controller, may_go_on, has_told, log = PrioSched.TaskController(), threading.Event(), threading.Event(), []

        async def wait():
            try:
                await worker.scheduler.post_task(may_go_on.wait)
            except PrioSched.AbortError:
                await scheduler.post_task(lambda: log.append('awaited'), delay=5)
                log.append('continues')

        def abort_beside_the_result():
            controller.abort()
            may_go_on.set()
            worker.scheduler.post_task(has_told.set)
            has_told.wait()

        worker = PrioSched.Worker()
        task = scheduler.post_task(wait, signal=controller.signal)
        scheduler.post_task(abort_beside_the_result, 'background')
        while not task.done():
            GLib.MainContext.default().iteration(True)
        self.assertEqual(log, ['awaited', 'continues'])
        worker.stop()
        worker.join()

    @run
    async def test_a_task_that_exits_ends_only_itself(self):
        async def leave():
            await PrioSched.Scheduler.ref_thread_default().sleep(1)
            raise SystemExit

        async with PrioSched.Worker() as worker:
            for function in sys.exit, leave:
                with self.assertRaises(SystemExit):
                    await worker.scheduler.post_task(function)
            self.assertEqual(await worker.run(scheduler, int), 0)

    @run
    async def test_it_is_stopped_twice_and_from_inside(self):
        worker = PrioSched.Worker()

        def stop():
            worker.stop('finish')
            worker.stop(PrioSched.WorkerStop.ABORT)
            worker.join()

        with self.assertRaisesRegex(RuntimeError, 'cannot wait for its own end'):
            await worker.run(scheduler, stop)
        worker.join()
        worker.join()

    @run
    async def test_what_is_posted_there_stays_there(self):
        async with PrioSched.Worker() as worker:
            seen = []
            worker.scheduler.post(PrioSched.TaskPriority.USER_VISIBLE, lambda: seen.append(threading.get_ident()))
        self.assertEqual(len(seen), 1)
        self.assertNotEqual(seen[0], threading.get_ident())

    def test_a_worker_that_nobody_stops(self):
        worker = PrioSched.Worker()
        del worker

    def test_nobody_waits_for_one_that_is_not_stopped(self):
        worker = PrioSched.Worker()
        with self.assertRaisesRegex(RuntimeError, 'the worker is not stopped'):
            worker.join()

    def test_bad_input(self):
        with PrioSched.Worker() as worker:
            for error, message, call in (
                    (TypeError, 'None is not a PrioSched.Scheduler', lambda: worker.run(None, print)),
                    (TypeError, 'is not a PrioSched.Scheduler', lambda: worker.run(print, 1)),
                    (TypeError, '3 is not callable', lambda: worker.run(scheduler, 3)),
                    (TypeError, 'coroutine function', lambda: worker.run(scheduler, self.coroutine)),
                    (ValueError, "'urgent' is not a task priority", lambda: worker.run(scheduler, print, priority='urgent')),
                    (ValueError, "'now' is not a way to stop a worker", lambda: worker.stop('now')),
                    (TypeError, 'a name is a string', lambda: PrioSched.Worker(3))):
                with self.assertRaisesRegex(error, message):
                    call()

    async def coroutine(self):
        pass


if __name__ == '__main__':
    unittest.main()
