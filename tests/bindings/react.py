"""Tests functions of React's Scheduler in Python: timeouts of tasks, and the current priority."""

import asyncio
import threading
import time
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
BACKGROUND, USER_VISIBLE, USER_BLOCKING = (PrioSched.TaskPriority(number) for number in (1, 2, 3))


def run(function):
    return lambda self: PrioSched.run(function(self))


def spin(milliseconds):
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        pass


class Case(unittest.TestCase):

    def setUp(self):
        self.log = []

    def post(self, letter, priority, **options):
        """Posts a task that logs letter, a capital if did_timeout () is true for it."""
        return scheduler.post_task(lambda: self.tell(letter), priority, **options)

    def tell(self, letter):
        self.log.append(letter.upper() if scheduler.did_timeout() else letter)

    async def assert_ran(self, expected):
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(''.join(self.log), expected)
        self.log.clear()


class ScheduleCallback(Case):

    def test_timeout_for_priority_level(self):
        levels = [PrioSched.TIMEOUT_IMMEDIATE, PrioSched.TIMEOUT_USER_BLOCKING, PrioSched.TIMEOUT_NORMAL, PrioSched.TIMEOUT_LOW,
                  PrioSched.TIMEOUT_IDLE]
        self.assertEqual(levels, [-1, 250, 5000, 10000, 0])

    @run
    async def test_timeout(self):
        self.post('c', 'background', timeout=60000)
        self.post('b', 'background', timeout=5)
        spin(10)
        self.post('a', 'user-blocking')
        await self.assert_ran('Bac')

    @run
    async def test_immediate_goes_first(self):
        self.post('b', 'user-blocking')
        self.post('a', 'background', timeout=PrioSched.TIMEOUT_IMMEDIATE)
        self.post('c', 'background', timeout=PrioSched.TIMEOUT_IDLE)
        self.post('d', 'background', timeout=None)
        await self.assert_ran('Abcd')

    @run
    async def test_the_timeout_counts_from_the_end_of_the_delay(self):
        done = self.post('a', 'user-blocking', delay=100, timeout=60000)
        also = self.post('b', 'background', delay=10, timeout=-1)
        self.assertEqual(self.log, [])
        await done
        await also
        self.assertEqual(self.log, ['B', 'a'])

    @run
    async def test_sort_index(self):
        for letter, timeout in (('c', -5), ('b', -60), ('a', -1000)):
            self.post(letter, 'background', timeout=timeout)
        await self.assert_ran('ABC')

    @run
    async def test_with_a_signal(self):
        controller = PrioSched.TaskController('background')
        why = KeyError('enough')
        first = self.post('a', None, signal=controller.signal, timeout=-1, name='first')
        self.assertEqual((first.priority, first.name), (BACKGROUND, 'first'))
        self.post('b', 'user-blocking')
        await self.assert_ran('Ab')
        second = self.post('c', None, signal=controller.signal, timeout=-1)
        controller.abort(why)
        with self.assertRaises(KeyError):
            await second
        with self.assertRaises(KeyError):
            await self.post('d', 'background', signal=controller.signal, timeout=5)
        await self.assert_ran('')

    @run
    async def test_results_and_errors(self):
        def fail():
            raise ValueError('mine')
        self.assertEqual(await scheduler.post_task(lambda: 5, timeout=-1), 5)
        with self.assertRaisesRegex(ValueError, 'mine'):
            await scheduler.post_task(fail, timeout=-1)
        task = self.post('a', 'background', timeout=-1)
        self.assertTrue(task.cancel())
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.assert_ran('')

    @run
    async def test_from_another_thread(self):
        thread = threading.Thread(target=lambda: self.post('a', 'background', timeout=-1))
        self.post('b', 'user-visible')
        thread.start()
        thread.join()
        await self.assert_ran('Ab')

    def test_what_is_wrong_is_told(self):
        for bad in ('1', 1.5, float('nan'), True):
            with self.assertRaisesRegex(TypeError, f'timeout is a whole number of milliseconds, not {bad!r}'):
                scheduler.post_task(lambda: None, timeout=bad)
        for bad in (1 << 31, -(1 << 31) - 1, 1 << 64):
            with self.assertRaisesRegex(ValueError, f'timeout is out of range: {bad}'):
                scheduler.post_task(lambda: None, timeout=bad)


class WorkLoop(Case):

    @run
    async def test_a_continuation_keeps_the_time_of_its_task(self):
        told = []

        async def task():
            told.append(scheduler.did_timeout())
            spin(10)
            told.append(scheduler.did_timeout())
            await scheduler.yield_()
            self.tell('a')
        done = scheduler.post_task(task, 'background', timeout=10)
        await scheduler.post_task(lambda: self.post('c', 'user-blocking'), 'background')
        await done
        await self.assert_ran('Ac')
        # The answer does not change while the task runs.
        self.assertEqual(*told)

    @run
    async def test_and_so_does_what_yields_with_options_and_sleeps(self):
        async def task():
            await scheduler.yield_(priority='background')
            self.tell('a')
            await scheduler.sleep(1)
            self.tell('b')
            await scheduler.yield_(signal=Gio.Cancellable(), priority='inherit')
            self.tell('c')
        await scheduler.post_task(task, 'user-visible', timeout=-1)
        await self.assert_ran('ABC')

    @run
    async def test_after_an_await_of_something_else(self):
        other = PrioSched.Future()

        async def task():
            await other
            # The library does not know this task.
            self.tell('a')
            for _ in range(2):
                self.post('x', 'user-blocking')
                await scheduler.yield_()
                self.tell('a')

        async def settle():
            other._settle(5)
        done = scheduler.post_task(task, 'background', timeout=-1)
        await scheduler.post_task(settle, 'background')
        await done
        await self.assert_ran('AAAxx')

    @run
    async def test_asyncio_goes_on_with_it(self):
        async def task():
            await asyncio.sleep(0.001)
            self.tell('a')
            await scheduler.yield_()
            self.tell('a')
        if asyncio._get_running_loop() is None:
            self.skipTest('no loop of asyncio runs on GLib here')
        await scheduler.post_task(task, 'background', timeout=-1)
        await self.assert_ran('AA')

    @run
    async def test_an_abort_is_raised_once(self):
        controller = PrioSched.TaskController('background')

        async def task():
            try:
                controller.abort(ValueError('mine'))
                await scheduler.yield_()
            finally:
                self.tell('a')
                await scheduler.yield_()
                self.tell('b')
        done = scheduler.post_task(task, signal=controller.signal, timeout=-1)
        with self.assertRaises(ValueError):
            await done
        await self.assert_ran('AB')

    @run
    async def test_outside_of_the_task(self):
        self.assertFalse(scheduler.did_timeout())
        told = []

        def nested():
            context = GLib.MainContext.default()
            GLib.idle_add(lambda: told.append(scheduler.did_timeout()))
            while not told:
                context.iteration(True)
            self.tell('a')
        await scheduler.post_task(nested, timeout=-1)
        self.assertEqual(told, [False])
        thread = threading.Thread(target=lambda: told.append(scheduler.did_timeout()))
        await scheduler.post_task(lambda: (thread.start(), thread.join()), timeout=-1)
        self.assertEqual(told, [False, False])
        await self.assert_ran('A')

    @run
    async def test_a_generator(self):
        def steps():
            for _ in range(3):
                spin(6)
                self.tell('a')
                yield
        await scheduler.post_task(steps, 'background', timeout=5)
        self.assertEqual(self.log[-1], 'A')


class FlushWork(Case):

    @run
    async def test_current_priority_level(self):
        def task():
            self.log.append(scheduler.get_current_priority())

        async def coroutine():
            task()
            await scheduler.yield_()
            task()
        self.assertEqual(scheduler.get_current_priority(), USER_VISIBLE)
        await scheduler.post_task(task, 'background', timeout=-1)
        await scheduler.post_task(coroutine, 'user-blocking')
        controller = PrioSched.TaskController('background')
        await scheduler.post_task(lambda: (task(), controller.set_priority('user-blocking'), task()), signal=controller.signal)
        self.assertEqual(self.log, [BACKGROUND, USER_BLOCKING, USER_BLOCKING, BACKGROUND, USER_BLOCKING])
        self.assertIsInstance(self.log[0], PrioSched.TaskPriority)

    @run
    async def test_of_a_group(self):
        group = PrioSched.TaskGroup(limit=1, priority='background')
        self.assertEqual(await group.post_task(scheduler.get_current_priority), BACKGROUND)

    @run
    async def test_in_another_thread(self):
        priorities = []
        other = PrioSched.Scheduler.new(GLib.MainContext())

        def task():
            priorities.append(other.get_current_priority())
            thread = threading.Thread(target=lambda: priorities.append(scheduler.get_current_priority()))
            thread.start()
            thread.join()
        await scheduler.post_task(task, 'background')
        self.assertEqual(priorities, [USER_VISIBLE, USER_VISIBLE])


class RunWithPriority(Case):

    @run
    async def test_it_is_called_now(self):
        def inner(*args):
            self.log.append((scheduler.get_current_priority(), args, scheduler.did_timeout()))
            return 5

        def task():
            result = scheduler.run_with_priority('user-blocking', inner, 1, 'b')
            return result, scheduler.get_current_priority()
        self.assertEqual(await scheduler.post_task(task, 'background', timeout=-1), (5, BACKGROUND))
        self.assertEqual(scheduler.run_with_priority('background', inner), 5)
        self.assertEqual(self.log, [(USER_BLOCKING, (1, 'b'), True), (BACKGROUND, (), False)])
        self.assertEqual(scheduler.get_current_priority(), USER_VISIBLE)

    @run
    async def test_what_it_raises(self):
        def fail():
            raise KeyError('mine')

        def task():
            with self.assertRaises(KeyError):
                scheduler.run_with_priority(USER_BLOCKING, fail)
            return scheduler.get_current_priority()
        self.assertEqual(await scheduler.post_task(task, 'background'), BACKGROUND)

    @run
    async def test_what_it_begins_has_it(self):
        controller = PrioSched.TaskController('background')

        async def task():
            def begin():
                state = PrioSched.SchedulingState.get_current()
                self.assertEqual((state.get_cancellable(), state.get_priority()), (controller.signal, 3))
                scheduler.queue_microtask(lambda: self.log.append(scheduler.get_current_priority()))
                return scheduler.yield_()
            self.post('b', 'user-visible')
            urgent = scheduler.run_with_priority('user-blocking', begin)
            await urgent
            self.tell('a')
        await scheduler.post_task(task, signal=controller.signal)
        await self.assert_ran_after_priority('ab')

    async def assert_ran_after_priority(self, expected):
        self.assertEqual(self.log.pop(0), USER_BLOCKING)
        await self.assert_ran(expected)

    @run
    async def test_after_an_await_of_something_else(self):
        other = PrioSched.Future()
        controller = PrioSched.TaskController('background')

        async def task():
            await other
            urgent = scheduler.run_with_priority('user-blocking', scheduler.yield_)
            self.post('b', 'user-visible')
            await urgent
            self.tell('a')
            controller.abort(KeyError())
            with self.assertRaises(KeyError):
                await scheduler.run_with_priority('user-blocking', scheduler.yield_)

        async def settle():
            other._settle(5)
        done = scheduler.post_task(task, signal=controller.signal)
        await scheduler.post_task(settle, 'background')
        await done
        await self.assert_ran('ab')

    def test_what_is_wrong_is_told(self):
        async def coroutine():
            pass
        for bad in ('urgent', 0, 4, True, None, float('nan')):
            with self.assertRaisesRegex(ValueError, f'{bad!r} is not a task priority'):
                scheduler.run_with_priority(bad, lambda: None)
        with self.assertRaisesRegex(TypeError, '5 is not callable'):
            scheduler.run_with_priority('background', 5)
        with self.assertRaisesRegex(TypeError, 'is a coroutine function'):
            scheduler.run_with_priority('background', coroutine)


class Callbacks(Case):

    def go_on(self, letters):
        def call(did_timeout):
            self.log.append(letters[0].upper() if did_timeout else letters[0])
            return self.go_on(letters[1:]) if len(letters) > 1 else 5
        return call

    @run
    async def test_schedule_callback_levels(self):
        levels = ('low', 'idle', 'normal', 'user-blocking', 'immediate')
        tasks = [scheduler.schedule_callback(level, self.go_on(letter)) for level, letter in zip(levels, 'lenui')]
        self.assertEqual([await task for task in tasks], [5] * 5)
        await self.assert_ran('Iunle')

    @run
    async def test_schedule_callback_options(self):
        controller = PrioSched.TaskController('background')
        await scheduler.schedule_callback('low', self.go_on('a'), -1, delay=1, signal=controller.signal, name='named')
        other = scheduler.schedule_callback('low', self.go_on('b'), delay=1, signal=controller.signal)
        controller.abort(KeyError())
        with self.assertRaises(KeyError):
            await other
        self.assertFalse(other.cancel())
        scheduler.schedule_callback('immediate', self.go_on('c'), timeout=0)
        await self.assert_ran('Ac')

    @run
    async def test_a_continuation_that_is_another_function(self):
        task = scheduler.schedule_callback('low', self.go_on('abc'), timeout=0)
        self.post('x', 'background')
        self.assertEqual(await task, 5)
        await self.assert_ran('abcx')
        await scheduler.schedule_callback('immediate', self.go_on('ab'))
        await self.assert_ran('AB')

        def fail(_):
            raise ValueError('mine')

        async def seven(_):
            await scheduler.yield_()
            return 7
        with self.assertRaisesRegex(ValueError, 'mine'):
            await scheduler.schedule_callback('normal', lambda _: fail)
        self.assertEqual(await scheduler.schedule_callback('normal', seven), 7)
        self.assertEqual(await scheduler.schedule_callback('normal', lambda _: seven), 7)

    @run
    async def test_cancel_callback(self):
        first = scheduler.schedule_callback('low', self.go_on('a'))
        delayed = scheduler.schedule_callback('low', self.go_on('b'), delay=5)
        self.assertTrue(scheduler.cancel_callback(first) and delayed.cancel())
        self.assertFalse(scheduler.cancel_callback(first))
        with self.assertRaises(asyncio.CancelledError):
            await first
        third = scheduler.schedule_callback('normal', lambda _: (
            scheduler.schedule_callback('immediate', lambda _: third.cancel()), self.go_on('e'))[1])
        with self.assertRaises(asyncio.CancelledError):
            await third
        own = scheduler.schedule_callback('normal', lambda _: (own.cancel(), self.go_on('d'))[1])
        with self.assertRaises(asyncio.CancelledError):
            await own
        await scheduler.sleep(6)
        await self.assert_ran('')

    @run
    async def test_first_callback_node(self):
        self.assertIsNone(scheduler.get_first_task())
        low = scheduler.schedule_callback('low', self.go_on('b'))
        high = self.post('a', 'user-blocking')
        self.assertIs(scheduler.get_first_task(), high)
        late = scheduler.schedule_callback('immediate', self.go_on('l'))
        self.assertIs(scheduler.get_first_task(), late)
        late.cancel()
        await high
        self.assertIs(scheduler.get_first_task(), low)
        await low
        await self.assert_ran('ab')

        told = []

        def ask():
            try:
                scheduler.get_first_task()
            except RuntimeError as error:
                told.append(str(error))
        thread = threading.Thread(target=ask)
        await scheduler.post_task(lambda: (thread.start(), thread.join()))
        self.assertRegex(told[0], 'first task can be asked for on the thread that runs .* main context, and this is another one')

    @run
    async def test_first_task_of_a_group(self):
        group = PrioSched.TaskGroup(scheduler, limit=1)
        first, second = group.post_task(lambda: 1), group.post_task(lambda: 2, name='second')
        self.assertIs(scheduler.get_first_task(), first)
        self.assertTrue(first.cancel())
        await scheduler.yield_(priority='user-blocking')
        self.assertIs(scheduler.get_first_task(), second)
        self.assertEqual(await second, 2)

    @run
    async def test_wrap_a_coroutine_function(self):
        controller = PrioSched.TaskController('background')

        async def ask(first, last=None):
            now = scheduler.get_current_priority()
            await scheduler.yield_()
            self.log.append((now, scheduler.get_current_priority(), first, last))
            await asyncio.sleep(0)
            if last is None:
                raise ValueError('mine')
            return scheduler.get_current_priority()
        wrapped = await scheduler.post_task(lambda: scheduler.wrap_callback(ask), signal=controller.signal, timeout=-1)
        background = PrioSched.TaskPriority.BACKGROUND
        self.assertEqual(await wrapped(1, last=2), background)
        with self.assertRaisesRegex(ValueError, 'mine'):
            await wrapped(3)
        self.assertEqual(await scheduler.post_task(lambda: wrapped(4, 5), 'user-blocking'), background)
        self.assertEqual(self.log, [(background, background, 1, 2), (background, background, 3, None), (background, background, 4, 5)])
        self.log.clear()
        controller.abort(ValueError('aborted'))
        with self.assertRaisesRegex(ValueError, 'aborted'):
            await wrapped(6, 7)

    @run
    async def test_wrap_callback(self):
        controller = PrioSched.TaskController('background')

        def ask(*args, **kwargs):
            self.log.append((scheduler.get_current_priority(), scheduler.did_timeout(), args, kwargs))
            if args:
                return scheduler.yield_()
            raise ValueError('mine')
        outside = scheduler.wrap_callback(ask)
        wrapped = await scheduler.post_task(lambda: scheduler.wrap_callback(ask), signal=controller.signal, timeout=-1)
        self.assertEqual(wrapped.__name__, 'ask')
        with self.assertRaisesRegex(ValueError, 'mine'):
            await scheduler.post_task(outside, 'user-blocking')
        await wrapped(1, a=2)
        self.assertEqual(self.log, [(USER_VISIBLE, False, (), {}), (BACKGROUND, True, (1,), {'a': 2})])
        controller.abort(KeyError())
        with self.assertRaises(KeyError):
            await wrapped(1)

    @run
    async def test_force_frame_rate_and_request_paint(self):
        scheduler.force_frame_rate(30)
        self.assertEqual(scheduler.get_time_slice(), 33)
        scheduler.force_frame_rate(0)
        self.assertEqual(scheduler.get_time_slice(), -1)

        def task():
            scheduler.request_paint()
            return scheduler.should_yield()
        self.assertTrue(await scheduler.post_task(task))

    def test_what_is_wrong_is_told(self):
        for bad in ('user-visible', 'urgent', 3, float('nan'), None, []):
            with self.assertRaisesRegex(ValueError, "is none of the levels 'immediate', 'user-blocking'"):
                scheduler.schedule_callback(bad, lambda _: None)
        with self.assertRaisesRegex(TypeError, '5 is not callable'):
            scheduler.schedule_callback('low', 5)
        with self.assertRaisesRegex(TypeError, 'timeout is a whole number'):
            scheduler.schedule_callback('low', lambda _: None, timeout=1.5)
        with self.assertRaisesRegex(ValueError, 'delay is out of range'):
            scheduler.schedule_callback('low', lambda _: None, delay=-1)
        with self.assertRaisesRegex(TypeError, '5 is not a PrioSched.PostedTask'):
            scheduler.cancel_callback(5)
        for bad in (1.5, '60', True, None, float('nan')):
            with self.assertRaisesRegex(TypeError, 'a frame rate is a whole number'):
                scheduler.force_frame_rate(bad)
        for bad in (-1, 126):
            with self.assertRaisesRegex(ValueError, f'from 0 to 125, not {bad}'):
                scheduler.force_frame_rate(bad)
        with self.assertRaisesRegex(TypeError, 'not callable'):
            scheduler.wrap_callback(5)


if __name__ == '__main__':
    unittest.main()
