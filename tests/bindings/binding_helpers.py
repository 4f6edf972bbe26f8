"""Tests each(), latest(), adopt() and current_signal of schedulers in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import time
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


async def generate():
    for i in range(3):
        await scheduler.yield_()
        yield i


class Each(unittest.TestCase):

    @run
    async def test_yields_if_it_is_time(self):
        log = []

        async def steps():
            async for i in scheduler.each(range(300)):
                if i == 0:
                    scheduler.post_task(lambda: log.append('urgent'), 'user-blocking')
                log.append(i)
                spin(0.0001)
        await scheduler.post_task(steps, 'background')
        self.assertEqual(len(log), 301)
        self.assertLess(log.index('urgent'), 150)

    def test_yields_before_the_main_loop_has_run(self):
        async def steps():
            heard = []
            source = GLib.Timeout(1)
            source.set_callback(lambda *_: heard.append(True))
            source.attach(context)
            async for _ in PrioSched.Scheduler.ref_thread_default().each(iter(int, 1)):
                if heard:
                    break

        context = GLib.MainContext.new()
        context.push_thread_default()
        try:
            PrioSched.run(steps())
        finally:
            context.pop_thread_default()

    @run
    async def test_iterates_over_anything(self):
        for items in ([0, 1, 2], iter(range(3)), generate(), {0: 'a', 1: 'b', 2: 'c'}):
            self.assertEqual([item async for item in scheduler.each(items)], [0, 1, 2])
        self.assertEqual([item async for item in scheduler.each('')], [])
        for items in (5, None, object()):
            with self.assertRaisesRegex(TypeError, 'nothing to iterate over'):
                scheduler.each(items)

    @run
    async def test_an_item_is_taken_by_any_await(self):
        items = scheduler.each('abcd')
        self.assertEqual(await anext(items), 'a')
        first, second = items.__anext__(), items.__anext__()
        self.assertEqual([await second, await first], ['c', 'b'])
        with self.assertRaises(StopIteration) as caught:
            next(items.__anext__().__await__())
        self.assertEqual(caught.exception.value, 'd')
        self.assertEqual(await anext(items, 'none'), 'none')
        with self.assertRaisesRegex(TypeError, 'async for'):
            await items

    @run
    async def test_an_item_is_taken_once(self):
        items = scheduler.each('ab')
        await anext(items)
        wait = items.__anext__().__await__()
        with self.assertRaises(StopIteration):
            next(wait)
        with self.assertRaisesRegex(RuntimeError, 'awaited already'):
            next(wait)

    @run
    async def test_an_error_of_an_iterator_is_raised_where_it_is_iterated(self):
        def fail():
            yield 1
            raise LookupError('no more')
        found = []
        with self.assertRaisesRegex(LookupError, 'no more'):
            async for item in scheduler.each(fail()):
                found.append(item)
        self.assertEqual(found, [1])
        items = scheduler.each(fail())
        self.assertEqual(await anext(items, 'none'), 1)
        with self.assertRaisesRegex(LookupError, 'no more'):
            await anext(items, 'none')

    @run
    async def test_an_iterator_that_holds_it_is_freed(self):
        class Items:
            def __iter__(self):
                return iter((self, 2))
        items = Items()
        items.each = scheduler.each(items)
        self.assertEqual(await anext(items.each), items)
        self.assertEqual(await anext(items.each), 2)
        freed = weakref.ref(items)
        del items
        gc.collect()
        self.assertIsNone(freed())

    def test_a_loop_that_runs_no_tasks_is_told(self):
        async def steps():
            async for i in scheduler.each(range(3)):
                self.fail('it would never yield')
        with self.assertRaisesRegex(RuntimeError, "does not run the scheduler's main context"):
            asyncio.run(steps())

    @run
    async def test_an_abort_ends_it(self):
        controller = PrioSched.TaskController('background')

        async def steps():
            async for i in scheduler.each(iter(int, 1)):
                spin(0.0001)
        task = scheduler.post_task(steps, signal=controller.signal)
        await scheduler.post_task(lambda: None, delay=20)
        why = ValueError('enough')
        controller.abort(why)
        with self.assertRaises(ValueError) as raised:
            await task
        self.assertIs(raised.exception, why)


class Latest(unittest.TestCase):

    @run
    async def test_a_new_run_aborts_the_one_before(self):
        log = []

        async def job(text, times=3):
            log.append(f'begin {text}')
            for _ in range(times):
                await scheduler.yield_()
            log.append(f'end {text} {scheduler.current_signal.aborted}')
            return text
        search = scheduler.latest(job)
        runs = [search(text) for text in 'abc']
        for _ in range(2):
            await scheduler.yield_()
        runs.append(search('d', times=2))
        self.assertEqual([await each for each in runs], [None, None, None, 'd'])
        self.assertEqual([line for line in log if line.startswith('end')], ['end d False'])
        self.assertEqual(await search('e'), 'e')

        last = search('f')
        search.abort()
        search.abort()
        self.assertIsNone(await last)

        # A run that has ended is not kept either: otherwise its error would be reported only at the next call.
        run = weakref.ref(search('g', times=0))
        for _ in range(100):
            await scheduler.post_task(lambda: None, 'background')
            if run() is None:
                break
        self.assertIsNone(run())

    @run
    async def test_no_other_error_is_hidden(self):
        fails = scheduler.latest(lambda: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            await fails()

        controller = PrioSched.TaskController()
        bound = scheduler.latest(lambda: (scheduler.current_signal.priority, scheduler.current_signal.aborted), 'background', controller.signal)
        self.assertEqual(await bound(), (PrioSched.TaskPriority.BACKGROUND, False))
        why = ValueError('page left')
        controller.abort(why)
        with self.assertRaises(ValueError) as raised:
            await bound()
        self.assertIs(raised.exception, why)

        cancellable = Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaises(GLib.Error):
            await scheduler.latest(lambda: None, signal=cancellable)()

    def test_bad_input(self):
        for error, arguments in ((TypeError, (5,)), (ValueError, (print, 'urgent')), (ValueError, (print, None)),
                                 (TypeError, (print, 'background', 5))):
            with self.subTest(arguments=arguments), self.assertRaises(error):
                scheduler.latest(*arguments)


class CurrentSignal(unittest.TestCase):

    @run
    async def test_outside_any_task_it_is_none(self):
        self.assertIsNone(scheduler.current_signal)
        await scheduler.post_task(lambda: None, signal=PrioSched.TaskController().signal)
        self.assertIsNone(scheduler.current_signal)

    @run
    async def test_it_is_the_signal_of_the_task(self):
        controller = PrioSched.TaskController('background')
        found, pauses = [], PrioSched.Future()

        def note():
            found.append(scheduler.current_signal is controller.signal)

        async def job():
            note()
            await scheduler.yield_()
            note()
            await scheduler.sleep(1)
            note()
            GLib.idle_add(pauses.cancel)
            try:
                await pauses
            except BaseException:
                note()
            scheduler.queue_microtask(note)
            await scheduler.yield_('inherit', 'user-blocking')
            note()
        await scheduler.post_task(job, signal=controller.signal)
        await scheduler.post_task(note, signal=controller.signal)
        self.assertEqual(found, [True] * 7)

    @run
    async def test_others_can_be_posted_with_it(self):
        controller = PrioSched.TaskController('background')

        async def job():
            inner = scheduler.post_task(lambda: scheduler.current_signal, signal=scheduler.current_signal)
            other = scheduler.post_task(lambda: scheduler.current_signal)
            return await inner, await other
        inner, other = await scheduler.post_task(job, signal=controller.signal)
        self.assertIs(inner, controller.signal)
        controller.abort()
        self.assertEqual((other.aborted, other.priority.value_nick), (False, 'user-visible'))

    @run
    async def test_it_has_the_priority_of_the_task(self):
        controller, plain, why = PrioSched.TaskController('background'), Gio.Cancellable(), ValueError('why')
        for priority in 'background', 'user-visible', 'user-blocking':
            signal = await scheduler.post_task(lambda: scheduler.current_signal, priority)
            self.assertEqual((signal.priority.value_nick, signal.aborted), (priority, False))
        fixed = await scheduler.post_task(lambda: scheduler.current_signal, 'user-blocking', controller.signal)
        of_plain = await scheduler.post_task(lambda: scheduler.current_signal, signal=plain)
        controller.set_priority('user-visible')
        self.assertEqual([fixed.priority.value_nick, of_plain.priority.value_nick], ['user-blocking', 'user-visible'])
        controller.abort(why)
        plain.cancel()
        self.assertIs(fixed.reason, why)
        self.assertTrue(of_plain.aborted)

    @run
    async def test_it_is_still_there_after_the_abort(self):
        controller, found = PrioSched.TaskController(), []

        async def job():
            controller.abort()
            found.append(scheduler.current_signal is controller.signal)
            try:
                await scheduler.yield_()
            finally:
                found.append(scheduler.current_signal.aborted)
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.post_task(job, signal=controller.signal)
        self.assertEqual(found, [True, True])

    @run
    async def test_in_a_group_it_is_aborted_with_the_group(self):
        group, own = PrioSched.TaskGroup(limit=1, priority='background'), PrioSched.TaskController('user-blocking')

        async def job():
            before = scheduler.current_signal
            await scheduler.yield_()
            return before, scheduler.current_signal
        for signal in await group.post_task(job):
            self.assertIs(signal, group.signal)
        signals = [*await group.post_task(job, 'user-blocking'), *await group.post_task(job, signal=own.signal)]
        self.assertEqual([(signal.priority.value_nick, signal.aborted) for signal in signals], [('user-blocking', False)] * 4)
        own.abort()
        self.assertEqual([signal.aborted for signal in signals], [False, False, True, True])
        group.abort()
        self.assertEqual([signal.aborted for signal in signals], [True] * 4)


class Adopt(unittest.TestCase):

    @run
    async def test_goes_on_as_a_continuation_of_the_task(self):
        log = []
        event = PrioSched.TaskController()

        async def wait():
            try:
                await scheduler.post_task(lambda: None, signal=event.signal, delay=60000)
            except GLib.Error:
                return 'value'

        async def background():
            log.append(await scheduler.adopt(wait()))
        task = scheduler.post_task(background, 'background')
        await scheduler.post_task(lambda: None, 'background')
        event.abort()
        await scheduler.post_task(lambda: log.append('visible'))
        await task
        self.assertEqual(log, ['visible', 'value'])

    @run
    async def test_is_aborted_with_the_task(self):
        controller = PrioSched.TaskController()
        why = ValueError('enough')

        async def job():
            async def wait():
                controller.abort(why)
            await scheduler.post_task(lambda: None)
            await scheduler.adopt(wait())
        with self.assertRaises(ValueError) as raised:
            await scheduler.post_task(job, signal=controller.signal)
        self.assertIs(raised.exception, why)

        async def fails():
            raise KeyError('mine')
        with self.assertRaises(KeyError):
            await scheduler.adopt(fails())
        for bad in (5, None, 'x'):
            with self.assertRaisesRegex(TypeError, 'cannot be awaited'):
                scheduler.adopt(bad)


class Mistakes(unittest.TestCase):
    """Tests that the error for a wrong call names the right call."""

    def test_what_is_passed_is_not_what_is_meant(self):
        def generator():
            yield

        def function(argument):
            pass
        controller = PrioSched.TaskController()
        post = scheduler.post_task
        for call, kind, message in (
                (lambda: post(generator()), TypeError, 'pass the function that returns it'),
                (lambda: post(int, signal=controller), TypeError, 'is not a signal: pass controller.signal'),
                (lambda: scheduler.yield_(signal=controller), TypeError, 'is not a signal: pass controller.signal'),
                (lambda: post(function, 5), ValueError, r'5 is not a task priority.*; for an argument, post lambda: function\(5\)'),
                (lambda: post(print, 'x'), ValueError, r"'x' is not a task priority.*; for an argument, post lambda: print\('x'\)"),
                (lambda: post(function, 'x', timeout=5), ValueError, r"lambda: function\('x'\)"),
                (lambda: post(int, 'low'), ValueError, "'user-blocking'$"),
                (lambda: post(lambda: None, 'low'), ValueError, "'user-blocking'$")):
            with self.assertRaisesRegex(kind, message):
                call()


if __name__ == '__main__':
    unittest.main()
