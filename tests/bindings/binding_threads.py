"""Tests run_in_thread() of schedulers in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import gc
import threading
import time
import traceback
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
MAX_THREADS = 256


def run(function):
    return lambda self: PrioSched.run(function(self))


def fail(error):
    raise error


class Busy:
    """Keeps all threads of the pool busy, until the block ends."""

    async def __aenter__(self):
        self.end = threading.Event()
        self.tasks = []
        started = threading.Semaphore(0)

        def work():
            started.release()
            self.end.wait()
        while len(self.tasks) < MAX_THREADS:
            self.tasks.append(scheduler.run_in_thread(work))
            if not await self.has_started(started):
                break

    async def has_started(self, started):
        """Returns whether a thread has taken the last function, which happens soon if a thread is free."""
        for _ in range(100):
            if started.acquire(blocking=False):
                return True
            await scheduler.sleep(1)
        return False

    async def __aexit__(self, *_):
        self.end.set()
        for task in self.tasks:
            await task


class Threads(unittest.TestCase):

    @run
    async def test_result_and_exception(self):
        def add(a, b):
            return a + b, threading.current_thread() is threading.main_thread()
        task = scheduler.run_in_thread(add, 1, 2, name='addition')
        self.assertEqual((task.name, task.done()), ('addition', False))
        self.assertEqual(await task, (3, False))
        self.assertIsNone(await scheduler.run_in_thread(lambda: None, priority='background'))
        why = ValueError('no')
        try:
            await scheduler.run_in_thread(fail, why)
        except ValueError as error:
            self.assertIs(error, why)
            self.assertIn('in fail', ''.join(traceback.format_tb(error.__traceback__)))
        else:
            self.fail('nothing was raised')
        with self.assertRaises(RuntimeError):
            await scheduler.run_in_thread(fail, StopIteration(3))

    @run
    async def test_goes_on_in_its_own_thread_and_state(self):
        variable = contextvars.ContextVar('variable', default=None)
        controller = PrioSched.TaskController('background')

        async def task():
            variable.set('mine')
            state = await scheduler.run_in_thread(lambda: (variable.get(), PrioSched.SchedulingState.get_current()))
            return state, threading.current_thread(), PrioSched.SchedulingState.get_current().get_cancellable()
        state, thread, signal = await scheduler.post_task(task, signal=controller.signal)
        self.assertEqual(state, ('mine', None))
        self.assertIs(thread, threading.current_thread())
        self.assertIs(signal, controller.signal)

    @run
    async def test_the_most_urgent_is_taken_first(self):
        log = []
        async with Busy():
            controller = PrioSched.TaskController('background')
            tasks = [scheduler.run_in_thread(log.append, 'old', priority='background'),
                     scheduler.run_in_thread(log.append, 'follows', signal=controller.signal),
                     scheduler.run_in_thread(log.append, 'visible')]
            controller.set_priority('user-blocking')
            self.assertEqual(log, [])
        for task in tasks:
            await task
        self.assertEqual(sorted(log), ['follows', 'old', 'visible'])

    @run
    async def test_an_abort_before_a_thread_takes_it(self):
        log, why = [], KeyError('aborted')
        async with Busy():
            for signal, error in ((PrioSched.TaskController(), why), (Gio.Cancellable(), None)):
                task = scheduler.run_in_thread(log.append, 1, signal=getattr(signal, 'signal', signal))
                if error is not None:
                    signal.abort(why)
                    with self.assertRaises(KeyError) as raised:
                        await task
                    self.assertIs(raised.exception, why)
                else:
                    signal.cancel()
                    with self.assertRaises(GLib.Error) as raised:
                        await task
                    self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
            with self.assertRaises(KeyError):
                await scheduler.run_in_thread(log.append, 2, signal=PrioSched.TaskSignal.new_aborted(why))
        self.assertEqual(log, [])

    @run
    async def test_an_abort_while_it_runs(self):
        begun, end, controller, why = threading.Event(), threading.Event(), PrioSched.TaskController(), KeyError('aborted')

        def work():
            begun.set()
            end.wait()
            return 'ended'
        for result in (False, True):
            task = scheduler.run_in_thread(work, signal=controller.signal)
            while not begun.is_set():
                await scheduler.sleep(1)
            controller.abort(why)
            await scheduler.sleep(2)
            self.assertFalse(task.done())
            end.set()
            with self.assertRaises(KeyError) as raised:
                await task
            self.assertIs(raised.exception, why)
            begun.clear()
            end.clear()
            controller, why = PrioSched.TaskController(), KeyError('again')

    @run
    async def test_is_cancelled(self):
        log = []
        async with Busy():
            task = scheduler.run_in_thread(log.append, 1)
            self.assertTrue(task.cancel())
            self.assertFalse(task.cancel())
            with self.assertRaises(asyncio.CancelledError):
                await task
        end = threading.Event()
        task = scheduler.run_in_thread(end.wait)
        await scheduler.sleep(1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        end.set()
        self.assertEqual(await scheduler.run_in_thread(lambda: 3), 3)
        self.assertEqual(log, [])

    @run
    async def test_a_coroutine_hears_of_its_abort_while_it_waits(self):
        end, controller, why = threading.Event(), PrioSched.TaskController(), KeyError('aborted')
        task = scheduler.post_task(lambda: self.wait_for(end), signal=controller.signal)
        await scheduler.sleep(2)
        controller.abort(why)
        with self.assertRaises(KeyError):
            await task
        end.set()

    async def wait_for(self, end):
        await scheduler.run_in_thread(end.wait)

    @run
    async def test_bad_input(self):
        async def coroutine():
            pass
        for call, error, message in (
                (lambda: scheduler.run_in_thread(), TypeError, 'func'),
                (lambda: scheduler.run_in_thread(5), TypeError, '5 is not callable'),
                (lambda: scheduler.run_in_thread(coroutine), TypeError, 'coroutine function'),
                (lambda: scheduler.run_in_thread(int, priority='low'), ValueError, "'low' is not a task priority"),
                (lambda: scheduler.run_in_thread(int, signal=3), TypeError, '3 is not a signal'),
                (lambda: scheduler.run_in_thread(int, name=3), TypeError, 'a name is a string, not 3'),
                (lambda: scheduler.run_in_thread(int, delay=3), TypeError, 'delay')):
            with self.assertRaisesRegex(error, message):
                call()

    def test_from_other_threads(self):
        async def main():
            return await scheduler.run_in_thread(threading.get_ident)
        found = []

        def in_thread():
            context = GLib.MainContext()
            context.push_thread_default()
            own = PrioSched.Scheduler.new(context)

            async def work():
                found.append((await own.run_in_thread(lambda: 1), threading.current_thread()))
            PrioSched.run(work())
            context.pop_thread_default()
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
        self.assertEqual(found, [(1, thread)])
        self.assertNotEqual(PrioSched.run(main()), threading.get_ident())

    def test_threads_of_python_have_their_turns(self):
        """Checks that a thread gets the interpreter's lock: Python gives it to a thread that has waited for it for 5 ms, but not
        while the main loop takes it again and again.
        """
        ran = 0

        def work():
            nonlocal ran
            while thread_may_run:
                time.sleep(0.001)
                ran += 1

        def post():
            nonlocal end
            if time.thread_time() < end:
                scheduler.post_task(post)
            else:
                loop.quit()

        async def go_on():
            while time.thread_time() < end:
                await scheduler.yield_()

        loop = GLib.MainLoop()
        for busy in lambda: PrioSched.run(go_on()), lambda: (post(), loop.run()):
            ran, thread_may_run = 0, True
            thread = threading.Thread(target=work)
            thread.start()
            # Time of the main loop alone: the slowness of this machine does not matter.
            end = time.thread_time() + 0.5
            busy()
            thread_may_run = False
            thread.join()
            # Every 5 ms: a hundred turns.
            self.assertGreater(ran, 25)

    @run
    async def test_an_abort_that_the_function_causes_replaces_its_result(self):
        controller = PrioSched.TaskController()
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.run_in_thread(controller.abort, signal=controller.signal)

    def test_nothing_is_left(self):
        class Something:
            def __call__(self):
                return self

        async def main():
            left, controller = [], PrioSched.TaskController()
            for i in range(3):
                thing = Something()
                left.append(weakref.ref(thing))
                task = scheduler.run_in_thread(thing, signal=controller.signal if i == 1 else None)
                if i == 1:
                    controller.abort(ValueError(thing))
                elif i == 2:
                    task.cancel()
                try:
                    await task
                except (ValueError, asyncio.CancelledError):
                    pass
                await scheduler.run_in_thread(lambda: None)
            return left

        async def wait():
            await scheduler.sleep(1)
        left = PrioSched.run(main())
        for _ in range(1000):
            PrioSched.run(wait())
            gc.collect()
            if not any(reference() for reference in left):
                break
        self.assertEqual([reference() for reference in left], [None] * 3)

    def test_no_signals_are_left(self):
        def n_signals():
            gc.collect()
            return sum(isinstance(thing, PrioSched.TaskSignal) for thing in gc.get_objects())

        async def main():
            controller = PrioSched.TaskController()
            before = n_signals()
            for signal in (None, controller.signal, Gio.Cancellable()) * 10:
                await scheduler.run_in_thread(lambda: None, signal=signal, name='work')
            return before

        before = PrioSched.run(main())
        for _ in range(1000):
            PrioSched.run(scheduler.sleep(1))
            if n_signals() <= before:
                break
        self.assertLessEqual(n_signals(), before)


if __name__ == '__main__':
    unittest.main()
