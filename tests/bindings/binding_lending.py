"""Tests that a task in Python which awaits another lends it its priority (WICG/scheduling-apis #98).

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import threading
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402


class Lending(unittest.TestCase):

    def setUp(self):
        self.context = GLib.MainContext()
        self.context.push_thread_default()
        self.scheduler = PrioSched.Scheduler(context=self.context, lends_priority=True)
        self.order = []

    def tearDown(self):
        self.context.pop_thread_default()

    def iterate(self):
        while self.context.iteration(False):
            pass

    def post(self, name, priority=None, callback=None, **options):
        return self.scheduler.post_task(callback if callback is not None else lambda: self.order.append(name), priority, name=name,
                                        **options)

    def post_waiting(self, name, priority, awaited, **options):
        """Posts a task that awaits another one at once."""
        async def wait():
            self.order.append(f'{name} waits')
            try:
                await awaited
            except GLib.Error:
                self.order.append(f'{name} is aborted')
            self.order.append(name)
        return self.post(name, priority, wait, **options)

    def test_the_awaited_runs_with_the_priority_of_who_waits(self):
        low = self.post('low', 'background')
        self.post('between')
        self.post_waiting('high', 'user-blocking', low)
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'low', 'high', 'between'])
        self.assertEqual(low.priority, PrioSched.TaskPriority.BACKGROUND)

    def test_off_nothing_is_lent(self):
        self.scheduler.props.lends_priority = False
        low = self.post('low', 'background')
        self.post('between')
        self.post_waiting('high', 'user-blocking', low)
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'between', 'low', 'high'])

    def test_it_can_be_turned_on_later(self):
        self.scheduler.props.lends_priority = False
        self.post('before', 'background')
        self.scheduler.set_lends_priority(True)
        low = self.post('low', 'background')
        self.post('between')
        self.post_waiting('high', 'user-blocking', low)
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'low', 'high', 'between', 'before'])

    def yielding(self, name, times=2):
        async def steps():
            for i in range(times):
                self.order.append(f'{name}{i}')
                await self.scheduler.yield_()
            self.order.append(name)
        return steps

    def test_its_continuations_too(self):
        low = self.post('low', 'background', self.yielding('low'))
        self.post_waiting('high', 'user-blocking', low)
        self.post('between')
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'low0', 'low1', 'low', 'high', 'between'])

    def test_a_continuation_that_was_queued_before(self):
        low = self.post('low', 'background', self.yielding('low', 1))
        self.iterate_until('low0')
        self.post('between')
        self.post_waiting('high', 'user-blocking', low)
        self.iterate()
        self.assertEqual(self.order, ['low0', 'high waits', 'low', 'high', 'between'])

    def iterate_until(self, name):
        self.scheduler.set_time_slice(0)
        while name not in self.order:
            self.context.iteration(False)

    def test_a_sleep_ends_with_what_is_lent(self):
        async def sleep():
            self.order.append('asleep')
            await self.scheduler.sleep(1)
            self.order.append('low')

        low = self.post('low', 'background', sleep)
        self.post_waiting('high', 'user-blocking', low)
        self.iterate_until('asleep')
        between = lambda: self.order.append('between') if 'high' in self.order else self.post('between', None, between)
        between()
        while 'between' not in self.order:
            self.context.iteration(True)
        self.assertEqual(self.order, ['high waits', 'asleep', 'low', 'high', 'between'])

    def test_through_others(self):
        low = self.post('low', 'background')
        middle = self.post_waiting('middle', 'background', low)
        self.post('between')
        self.post_waiting('high', 'user-blocking', middle)
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'middle waits', 'low', 'middle', 'high', 'between'])

    def test_through_a_circle(self):
        tasks = []

        async def wait(other):
            self.order.append(f'waits for {other}')
            await tasks[other]
        tasks[:] = [self.post(str(i), 'background', lambda other=1 - i: wait(other)) for i in range(2)]
        self.post('between')
        self.post_waiting('high', 'user-blocking', tasks[0])
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'waits for 1', 'waits for 0', 'between'])
        tasks[0].cancel()
        self.iterate()
        self.assertTrue(all(task.done() for task in tasks))

    def test_a_change_of_who_waits(self):
        controller = PrioSched.TaskController('background')
        low = self.post('low', 'background')
        self.post('between')
        self.post_waiting('waiter', None, low, signal=controller.signal)
        self.post('change', 'user-blocking', lambda: controller.set_priority('user-blocking'))
        self.iterate()
        self.assertEqual(self.order, ['waiter waits', 'low', 'waiter', 'between'])

    def post_held_back(self):
        """Posts a task that has no place in its group until another one is cancelled."""
        group = PrioSched.TaskGroup(self.scheduler, 1, 'background')
        holder = self.post('never', delay=10 ** 8)

        async def hold():
            await holder
        group.post_task(hold, 'user-blocking')
        self.scheduler.set_time_slice(0)
        low = group.post_task(lambda: self.order.append('low'))
        self.iterate()
        self.assertEqual(self.order, [])
        return low, holder

    def test_who_is_aborted_lends_no_more(self):
        for abort in (True, False):
            controller = PrioSched.TaskController('user-blocking')
            low, holder = self.post_held_back()
            self.post_waiting('high', None, low, signal=controller.signal)
            self.iterate()
            if abort:
                controller.abort()
                self.iterate()
            self.post('between')
            holder.cancel()
            self.iterate()
            self.assertEqual(self.order, ['high waits', 'high is aborted', 'high', 'between', 'low'] if abort else
                             ['high waits', 'low', 'high', 'between'])
            del self.order[:]

    def test_who_goes_on_lends_no_more(self):
        controller = PrioSched.TaskController('user-blocking')
        low, holder = self.post_held_back()
        never = self.post('never', delay=10 ** 8)

        async def wait():
            try:
                await low
            except PrioSched.AbortError:
                self.order.append('high goes on')
                await never
        high = self.post('high', None, wait, signal=controller.signal)
        self.iterate()
        controller.abort()
        self.iterate()
        self.post('between')
        holder.cancel()
        self.iterate()
        self.assertEqual(self.order, ['high goes on', 'between', 'low'])
        never.cancel()
        self.iterate()
        self.assertTrue(high.done())

    def test_who_is_cancelled_lends_no_more(self):
        low = self.post('low', 'background')
        high = self.post_waiting('high', 'user-blocking', low)
        self.iterate_until('high waits')
        self.post('between')
        high.cancel()
        self.iterate()
        self.assertTrue(low.cancelled() and high.cancelled())
        self.assertEqual(self.order, ['high waits', 'between'])

    def test_tasks_of_groups(self):
        group = PrioSched.TaskGroup(self.scheduler, 1, 'background')
        first, second = (group.post_task(lambda name=name: self.order.append(name)) for name in ('first', 'second'))
        self.post('between')
        self.post_waiting('high', 'user-blocking', second)
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'second', 'high', 'between', 'first'])
        self.assertTrue(first.done())

        async def wait():
            await low
            self.order.append('of group')
        low = self.post('low', 'background')
        self.post('between')
        del self.order[:]
        group.post_task(wait, 'user-blocking')
        self.iterate()
        self.assertEqual(self.order, ['low', 'of group', 'between'])

    def test_generators(self):
        def steps():
            for i in range(3):
                self.order.append(f'low{i}')
                yield i
        self.scheduler.set_time_slice(0)
        low = self.post('low', 'background', steps)
        self.post_waiting('high', 'user-blocking', low)
        self.post('between')
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'low0', 'low1', 'low2', 'high', 'between'])

    def test_what_another_thread_has_posted(self):
        posted = []
        thread = threading.Thread(target=lambda: posted.append(self.post('low', 'background')))
        thread.start()
        thread.join()
        self.post('between')
        self.post_waiting('high', 'user-blocking', posted[0])
        self.iterate()
        self.assertEqual(self.order, ['high waits', 'low', 'high', 'between'])

    def test_a_wait_in_another_thread(self):
        low = self.post('low', 'background')
        errors = []

        async def wait():
            await low

        def run():
            try:
                asyncio.run(wait())
            except BaseException as error:
                errors.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            self.iterate()
        thread.join()
        self.assertEqual((errors, self.order), ([], ['low']))

    def test_results_and_exceptions(self):
        async def fail():
            raise KeyError('low')

        async def high():
            with self.assertRaisesRegex(KeyError, 'low'):
                await failing
            return await returning
        failing, returning = self.post('failing', 'background', fail), self.post('returning', 'background', lambda: 42)
        task = self.post('high', 'user-blocking', high)
        self.iterate()
        self.assertEqual(task.result(), 42)
        self.assertEqual(repr(returning), "<PrioSched.PostedTask 'returning' background fulfilled result=42>")

    def test_a_scheduler_that_goes_while_tasks_wait(self):
        low = self.post('low', 'background', delay=10 ** 8)
        high = self.post_waiting('high', 'user-blocking', low)
        self.iterate()
        gone = weakref.ref(self.scheduler)
        self.context.pop_thread_default()
        self.scheduler = self.context = None
        del low, high
        gc.collect()
        self.assertIsNone(gone())
        self.context = GLib.MainContext()
        self.context.push_thread_default()

    def test_many(self):
        low = [self.post('', 'background') for i in range(2000)]

        async def wait():
            for task in low:
                await task
        high = [self.post('', 'user-blocking', wait) for i in range(3)]
        self.post('between')
        self.iterate()
        self.assertTrue(all(task.done() for task in low + high))
        self.assertEqual(self.order.index('between'), 2000)


if __name__ == '__main__':
    unittest.main()
