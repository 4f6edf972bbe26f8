"""Tests how PrioSched.EventLoop is run, in which thread, and how it ends (PyGObject 3.50 and later)."""

import asyncio
import functools
import os
import signal
import sys
import threading
import unittest

from asyncio_loops import GLib, PrioSched

scheduler = PrioSched.Scheduler.get_default()
sys.argv[1:] = []


class Interrupts(unittest.TestCase):
    """Tests that the code that runs the loop raises KeyboardInterrupt and SystemExit, wherever they were raised, after all finally clauses."""

    def assert_comes_out(self, run, interrupt, begin, is_own):
        notes = []

        def fail():
            raise interrupt

        async def main():
            try:
                await begin(fail)
                await asyncio.sleep(100)
            except BaseException as error:
                notes.append(type(error))
                raise
            finally:
                await asyncio.sleep(0)
                notes.append('finally')
        with self.assertRaises(type(interrupt)) as caught:
            run(main())
        self.assertIs(caught.exception, interrupt)
        self.assertEqual(notes, [type(interrupt) if is_own else asyncio.CancelledError, 'finally'])

    @staticmethod
    def run_alone(coroutine):
        with asyncio.Runner(loop_factory=functools.partial(PrioSched.EventLoop, GLib.MainContext.default())) as runner:
            runner.run(coroutine)

    def test_whatever_raises_them(self):
        async def sleeps_and_calls(fail):
            await asyncio.sleep(0.001)
            fail()

        async def itself(fail):
            fail()

        async def calls_soon(fail):
            asyncio.get_running_loop().call_soon(fail)

        async def begins_a_task(fail):
            asyncio.create_task(sleeps_and_calls(fail))

        async def posts(fail):
            scheduler.post_task(lambda: sleeps_and_calls(fail), 'background')
        begins = (itself, sleeps_and_calls, calls_soon, begins_a_task, posts, lambda fail: asyncio.create_task(sleeps_and_calls(fail)),
                  lambda fail: scheduler.post_task(lambda: sleeps_and_calls(fail)), lambda fail: scheduler.post_task(fail),
                  lambda fail: scheduler.post_task(lambda: calls_soon(fail), 'background'))
        for run_it in PrioSched.run, self.run_alone:
            for interrupt in KeyboardInterrupt('it'), SystemExit('it'):
                for number, begin in enumerate(begins):
                    with self.subTest(run=run_it, interrupt=interrupt, begin=number):
                        self.assert_comes_out(run_it, interrupt, begin, number < 2)

    def test_a_second_control_c_while_the_loop_waits(self):
        """Checks that the first Ctrl-C cancels, and the second one is raised."""
        def interrupt():
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

        async def main(notes):
            try:
                interrupt()
                await asyncio.sleep(100)
            finally:
                try:
                    interrupt()
                    await asyncio.sleep(20)
                    notes.append('went on')
                finally:
                    notes.append('finally')
        for run_it in PrioSched.run, self.run_alone:
            notes, before = [], signal.getsignal(signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                run_it(main(notes))
            self.assertEqual(notes, ['finally'])
            self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_the_loop_can_run_again(self):
        loop = PrioSched.EventLoop(GLib.MainContext.default())
        for interrupt in KeyboardInterrupt, SystemExit:
            async def fail(interrupt=interrupt):
                raise interrupt
            with self.assertRaises(interrupt):
                loop.run_until_complete(fail())
            self.assertEqual(loop.run_until_complete(asyncio.sleep(0.001, 'slept')), 'slept')
        loop.close()


async def what_it_finds():
    """Returns, in a thread, whether asyncio and the thread's own scheduler have the same main context, which runs tasks."""
    loop = asyncio.get_running_loop()
    own = PrioSched.Scheduler.ref_thread_default()

    async def task():
        await asyncio.sleep(0.001)
        await own.yield_()
        return threading.get_ident()
    ran_in = await asyncio.gather(*(own.post_task(task, priority) for priority in ('background', 'user-blocking')))
    return type(loop), hash(loop._context) == hash(own.get_context()), ran_in == [threading.get_ident()] * 2


class Timers(unittest.TestCase):

    def test_no_timer_is_called_before_its_time(self):
        early = []

        async def main():
            loop = asyncio.get_running_loop()
            for seconds in (0.0004, 0.0007, 0.0016, 0.0105):
                for _ in range(20):
                    end = loop.time() + seconds
                    await asyncio.sleep(seconds)
                    if loop.time() < end:
                        early.append(end - loop.time())
        PrioSched.run(main())
        self.assertEqual(early, [])


class Threads(unittest.TestCase):

    expected = (PrioSched.EventLoop, True, True)

    def in_thread(self, call, own_context):
        """Returns the result of call () in a thread that has pushed its own main context, or not."""
        results = []

        def function():
            context = GLib.MainContext.new()
            if own_context:
                context.push_thread_default()
            try:
                results.append(call())
            except BaseException as error:
                results.append(error)
            finally:
                if own_context:
                    context.pop_thread_default()
        thread = threading.Thread(target=function)
        thread.start()
        thread.join()
        return results[0]

    @staticmethod
    def run_by_runner():
        with asyncio.Runner(loop_factory=PrioSched.EventLoop) as runner:
            return runner.run(what_it_finds())

    def test_it_runs_asyncio_in_any_thread(self):
        for call in (lambda: PrioSched.run(what_it_finds())), self.run_by_runner:
            self.assertEqual(call(), self.expected)
            for own_context in True, False:
                with self.subTest(own_context=own_context):
                    self.assertEqual(self.in_thread(call, own_context), self.expected)

    def test_the_same_while_the_main_thread_runs(self):
        async def main():
            return [await asyncio.to_thread(self.in_thread, call, own_context)
                    for call in ((lambda: PrioSched.run(what_it_finds())), self.run_by_runner) for own_context in (True, False)]
        self.assertEqual(PrioSched.run(main()), [self.expected] * 4)

    def test_no_main_context_is_pushed_any_more(self):
        def call():
            before = GLib.MainContext.get_thread_default()
            self.run_by_runner()
            return before == GLib.MainContext.get_thread_default()
        for own_context in True, False:
            self.assertIs(self.in_thread(call, own_context), True)

    def test_a_context_that_another_thread_runs_is_an_error(self):
        async def main():
            return await asyncio.to_thread(self.in_thread, lambda: PrioSched.EventLoop(GLib.MainContext.default()).run_forever(), False)
        with self.assertRaisesRegex(RuntimeError, 'another thread'):
            raise PrioSched.run(main())


unittest.main()
