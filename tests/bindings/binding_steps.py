"""Tests generators as tasks, and errors of aborts, in Python."""

import asyncio
import time
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402
from gi.overrides._priosched.arguments import name_of  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


LONG = 20  # items


class Seen:
    """Counts the long items that run, after n short items, until a source that is always ready has its turn."""

    def __init__(self, n):
        self.n = n
        self.ran = self.most = 0
        self.source = GLib.idle_add(self.look, priority=GLib.PRIORITY_DEFAULT)

    def look(self):
        self.most = max(self.most, self.ran)
        self.ran = 0
        return True

    def work(self, i):
        if i >= self.n:
            self.ran += 1
            spin(0.004)

    def end(self):
        self.look()
        most, self.most = self.most, 0
        return most

    def close(self):
        GLib.source_remove(self.source)


class Superseded(PrioSched.AbortError):
    pass


class Steps(unittest.TestCase):

    @run
    async def test_a_generator_is_stepped_and_its_result_is_what_it_returns(self):
        steps = []

        def count(n=5):
            for i in range(n):
                steps.append(i)
                yield i
            return 'result'
        self.assertEqual(await scheduler.post_task(count), 'result')
        self.assertEqual(await scheduler.post_task(lambda: count(2), 'background', name='count'), 'result')
        self.assertEqual(steps, [0, 1, 2, 3, 4, 0, 1])

    @run
    async def test_the_slice_decides_when_it_yields(self):
        log = []

        def steps():
            for i in range(300):
                if i == 0:
                    scheduler.post_task(lambda: log.append('urgent'), 'user-blocking')
                log.append(i)
                spin(0.0001)
                yield i
        await scheduler.post_task(steps, 'background')
        self.assertEqual(len(log), 301)
        self.assertLess(log.index('urgent'), 150)

    @run
    async def test_long_ones_after_short_ones_are_seen(self):
        # One of them is a tick of the coarse clock, and the source waits for at most a few.
        for n in 10, 100, 1000:
            seen = Seen(n)

            async def each():
                async for i in scheduler.each(range(n + LONG)):
                    seen.work(i)

            def steps():
                for i in range(n + LONG):
                    seen.work(i)
                    yield i
            for function in each, steps:
                await scheduler.post_task(function)
                self.assertLessEqual(seen.end(), 5, (function, n))
            for i in range(n + LONG):
                task = scheduler.post_task(lambda i=i: seen.work(i))
            await task
            self.assertLessEqual(seen.end(), 5, ('tasks', n))
            seen.close()

    @run
    async def test_progress_comes_once_per_batch(self):
        heard = []

        def steps():
            for i in range(100):
                if i == 20:
                    scheduler.post_task(lambda: None, 'user-blocking')
                yield i
        scheduler.set_time_slice(10_000)
        try:
            await scheduler.post_task(steps, 'background', progress=heard.append)
        finally:
            scheduler.set_time_slice(-1)
        self.assertEqual(heard[-1], 99)
        self.assertIn(20, heard)
        self.assertLess(len(heard), 50)
        self.assertEqual(heard, sorted(set(heard)))

    @run
    async def test_an_abort_comes_between_two_steps(self):
        controller = PrioSched.TaskController('background')
        log = []

        def steps():
            try:
                for i in range(1_000_000):
                    if i == 10:
                        scheduler.post_task(lambda: controller.abort(Superseded('later')), 'user-blocking')
                    yield i
            finally:
                log.append('closed')
        task = scheduler.post_task(steps, signal=controller.signal)
        with self.assertRaises(Superseded):
            await task
        self.assertEqual(log, ['closed'])
        self.assertEqual(task.state, PrioSched.TaskState.ABORTED)

    @run
    async def test_an_abort_by_a_step_is_raised_where_it_yields(self):
        """Checks the first step of the task and a later one."""
        for first in True, False:
            for how in 'abort', 'group', 'cancel':
                controller, group, log = PrioSched.TaskController(), PrioSched.TaskGroup(limit=1), []

                def steps():
                    try:
                        if not first:
                            urgent = scheduler.post_task(lambda: None, 'user-blocking')
                            while not urgent.done():
                                yield
                        {'abort': controller.abort, 'group': group.abort, 'cancel': task.cancel}[how]()
                        log.append('ended')
                        yield
                        log.append('one more')
                    finally:
                        log.append('closed')
                task = group.post_task(steps) if how == 'group' else scheduler.post_task(steps, signal=controller.signal)
                with self.assertRaises(asyncio.CancelledError if how == 'cancel' else PrioSched.AbortError):
                    await task
                self.assertEqual(log[-2:], ['ended', 'closed'], (first, how))

    @run
    async def test_an_abort_by_a_turn_of_each_is_raised_at_the_next(self):
        controller, log = PrioSched.TaskController(), []

        async def iterate():
            async for i in scheduler.each(range(10)):
                log.append(i)
                if i == 3:
                    controller.abort()
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.post_task(iterate, signal=controller.signal)
        self.assertEqual(log, [0, 1, 2, 3])

    @run
    async def test_what_it_raises_is_the_result(self):
        def fails():
            yield 1
            raise KeyError('mine')
        with self.assertRaises(KeyError):
            await scheduler.post_task(fails)

        def steps():
            yield 1

        def stop(value):
            raise StopIteration
        with self.assertRaises(RuntimeError):
            await scheduler.post_task(steps, progress=stop)
        with self.assertRaisesRegex(TypeError, 'progress is for generators'):
            await scheduler.post_task(lambda: 5, progress=print)

        async def asynchronous():
            yield 1
        signal, group = PrioSched.TaskController().signal, PrioSched.TaskGroup()
        for post, options in ((scheduler.post_task, {}), (scheduler.post_task, {'signal': signal}), (group.post_task, {})):
            for function in (asynchronous, lambda: asynchronous()):
                with self.assertRaisesRegex(TypeError, 'asynchronous generator.*async for'):
                    await post(function, **options)
        with self.assertRaisesRegex(TypeError, '5 is not callable'):
            scheduler.post_task(steps, progress=5)


class Aborts(unittest.TestCase):

    @run
    async def test_an_abort_is_an_error_of_its_own(self):
        controller = PrioSched.TaskController()
        task = scheduler.post_task(lambda: None, signal=controller.signal)
        controller.abort()
        with self.assertRaises(PrioSched.AbortError) as raised:
            await task
        self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertIsInstance(controller.signal.reason, PrioSched.AbortError)
        plain = Gio.Cancellable()
        plain.cancel()
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.post_task(lambda: None, signal=plain)
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.yield_(PrioSched.TaskSignal.new_aborted())

    @run
    async def test_a_reason_of_the_program_s_own(self):
        controller = PrioSched.TaskController()
        why = Superseded('a later search')
        controller.abort(why)
        with self.assertRaises(PrioSched.AbortError) as raised:
            await scheduler.post_task(lambda: None, signal=controller.signal)
        self.assertIs(raised.exception, why)
        self.assertIs(PrioSched.TaskSignal.new_aborted(why).reason, why)
        other = PrioSched.TaskController()
        other.abort(GLib.Error.new_literal(Gio.io_error_quark(), 'full', Gio.IOErrorEnum.NO_SPACE))
        with self.assertRaises(GLib.Error) as raised:
            await scheduler.post_task(lambda: None, signal=other.signal)
        self.assertNotIsInstance(raised.exception, PrioSched.AbortError)

    @run
    async def test_other_errors_are_none(self):
        def fails():
            raise GLib.Error.new_literal(Gio.io_error_quark(), 'no', Gio.IOErrorEnum.NOT_FOUND)
        with self.assertRaises(GLib.Error) as raised:
            await scheduler.post_task(fails)
        self.assertNotIsInstance(raised.exception, PrioSched.AbortError)
        self.assertEqual(str(PrioSched.AbortError('mine').message), 'mine')



class Waits(unittest.TestCase):
    """Tests generators that yield futures."""

    @run
    async def test_it_sleeps_between_two_steps(self):
        log = []

        def steps():
            log.append('a')
            began = time.monotonic()
            yield scheduler.sleep(20)
            self.assertGreaterEqual(time.monotonic() - began, 0.02)
            log.append('b')
            return 'result'

        task = scheduler.post_task(steps)
        await scheduler.post_task(lambda: log.append('other'), 'background')
        self.assertEqual(await task, 'result')
        self.assertEqual(log, ['a', 'other', 'b'])

    @run
    async def test_it_gets_the_result_of_what_it_yields(self):
        def steps():
            value = yield scheduler.post_task(lambda: 42, 'background')
            try:
                yield scheduler.run_in_thread(lambda: 1 / 0)
            except ZeroDivisionError:
                value += 1
            return value

        self.assertEqual(await scheduler.post_task(steps), 43)

    @run
    async def test_whatever_can_be_awaited(self):
        async def add(a, b):
            await scheduler.yield_()
            return a + b

        def steps():
            return (yield add((yield add(1, 2)), 3))

        self.assertEqual(await scheduler.post_task(steps), 6)

    @run
    async def test_progress_is_what_it_yields_otherwise(self):
        heard = []

        def steps():
            yield 1
            yield scheduler.sleep(1)
            yield scheduler.sleep(1)
            yield 2
            yield scheduler.sleep(1)

        group = PrioSched.TaskGroup(limit=1)
        await scheduler.post_task(steps, progress=heard.append)
        await group.post_task(steps, progress=heard.append)
        self.assertEqual(heard, [1, 2, 1, 2])

    @run
    async def test_an_abort_ends_the_wait(self):
        controller, begun, caught = PrioSched.TaskController(), [], []

        def steps():
            begun.append(True)
            try:
                yield scheduler.sleep(60000)
            except PrioSched.AbortError as error:
                caught.append(error)
                raise

        task = scheduler.post_task(steps, signal=controller.signal)
        while not begun:
            await scheduler.sleep(1)
        controller.abort()
        with self.assertRaises(PrioSched.AbortError):
            await task
        self.assertEqual(len(caught), 1)

    @run
    async def test_the_job_of_latest_has_its_own_name(self):
        def name_of_first():
            pass

        search = scheduler.latest(name_of_first)
        search()
        self.assertIn('name_of_first', name_of(scheduler.get_first_task()))


if __name__ == '__main__':
    unittest.main()
