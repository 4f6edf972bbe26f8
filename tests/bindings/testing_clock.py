"""Tests PrioSched.testing in Python: the clock of a test.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import re
import threading
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
YEAR = 365 * 24 * 3600 * 1000


class Clock(unittest.TestCase):

    def setUp(self):
        self.clock = PrioSched.testing.Clock()
        self.clock.__enter__()
        self.addCleanup(self.clock.__exit__, None, None, None)

    def test_delays_follow(self):
        log = []
        scheduler.post_task(lambda: log.append(self.clock.elapsed), delay=30)
        scheduler.post_task(lambda: log.append(self.clock.elapsed), delay=10)
        self.clock.run_until_idle()
        self.assertEqual(log, [])
        self.clock.advance(9.5)
        self.assertEqual(log, [])
        self.clock.advance(YEAR)
        self.assertEqual(log, [10, 30])
        self.assertEqual(self.clock.elapsed, YEAR + 9.5)

    def test_coroutines_sleep_and_yield_in_time(self):
        log = []

        async def search():
            await scheduler.sleep(150)
            await scheduler.yield_()
            log.append(self.clock.elapsed)
            return 'found'
        task = scheduler.post_task(search)
        self.clock.advance(149)
        self.assertFalse(task.done())
        self.clock.advance(1)
        self.assertEqual((task.result(), log), ('found', [150]))

    def test_a_channel_keeps_pace_with_fast_frames(self):
        shown = []
        channel = PrioSched.Channel(lambda value: shown.append((value, self.clock.elapsed)), 2, 'frame')
        scheduler.set_next_frame(PrioSched.testing_get_time() + 7000)
        for value in range(2):
            channel.give(value)
        self.clock.advance(7)
        self.assertEqual(shown, [(0, 0)])
        self.clock.advance(1)
        self.assertEqual(shown, [(0, 0), (1, 8)])

    def test_generators_yield_after_a_slice(self):
        log = []

        def work():
            for item in range(12):
                self.clock.spend(1)
                yield item
        task = scheduler.post_task(work, progress=log.append)
        self.clock.run_until_idle()
        self.assertTrue(task.done())
        self.assertEqual(log, [4, 9, 11])

    def test_frames_are_announced(self):
        spent = []

        def work():
            while not scheduler.should_yield():
                self.clock.spend(0.5)
            spent.append(self.clock.elapsed)
        scheduler.set_next_frame(self.clock.time + 2000)
        scheduler.post_task(work)
        self.clock.run_until_idle()
        self.assertEqual(spent, [2])

    def test_timeouts_pass(self):
        log = []

        def work():
            self.clock.spend(20)
            log.append('a')
        scheduler.post_task(work, 'user-blocking')
        scheduler.post_task(lambda: log.append('c'))
        scheduler.post_task(lambda: log.append('b'), 'background', timeout=20)
        self.clock.run_until_idle()
        self.assertEqual(log, ['a', 'b', 'c'])

    def test_steps_and_lists(self):
        log = []
        for name, priority in (('a', 'background'), ('b', 'user-visible'), ('c', 'user-blocking')):
            scheduler.post_task(lambda name=name: log.append(name), priority, name=name)
        controller = PrioSched.TaskController()
        scheduler.post_task(print, signal=controller.signal, name='aborted').add_done_callback(lambda task: task.exception())
        scheduler.post_task(print, delay=10, signal=controller.signal, name='later').add_done_callback(lambda task: task.exception())
        self.assertEqual((self.clock.queued, self.clock.delayed), (['a', 'b', 'c', 'aborted'], ['later']))
        controller.abort()
        self.assertEqual((self.clock.queued, self.clock.delayed), (['a', 'b', 'c'], []))
        self.assertTrue(self.clock.step())
        self.assertEqual((log, self.clock.queued), (['c'], ['a', 'b']))
        self.assertTrue(self.clock.step() and self.clock.step())
        self.assertFalse(self.clock.step())
        self.assertEqual(log, ['c', 'b', 'a'])

    def test_threads_are_waited_for(self):
        task = scheduler.run_in_thread(threading.get_ident)
        self.clock.run_until_idle()
        self.assertNotEqual(task.result(), threading.get_ident())

    def test_coroutines_advance(self):
        log = []

        async def test():
            scheduler.post_task(lambda: log.append(self.clock.elapsed), delay=20)
            await self.clock.advance_async(50)
            return self.clock.elapsed
        self.assertEqual(PrioSched.run(test()), 50)
        self.assertEqual(log, [20])

    def test_there_is_one_clock(self):
        with self.assertRaisesRegex(RuntimeError, 'one clock'):
            PrioSched.testing.Clock().__enter__()

    def test_time_does_not_go_back(self):
        for wrong, error in ((-1, ValueError), (float('nan'), ValueError), (1e16, ValueError), ('1', TypeError), (None, TypeError)):
            for call in self.clock.advance, self.clock.advance_async, self.clock.spend:
                with self.assertRaisesRegex(error, f'time of a test .*{re.escape(repr(wrong))}'):
                    call(wrong)
        self.assertEqual(self.clock.elapsed, 0)

    def test_other_threads_do_not_advance(self):
        errors = []

        def call():
            try:
                self.clock.advance(1)
            except RuntimeError as error:
                errors.append(str(error))
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        self.assertIn('only the thread', errors[0])

    @unittest.skipIf(not hasattr(PrioSched, 'EventLoop'), 'PyGObject has no loop of asyncio')
    def test_not_beside_asyncio(self):
        async def test():
            self.assertIsNotNone(asyncio.get_running_loop())
            with self.assertRaisesRegex(RuntimeError, 'await clock.advance_async'):
                self.clock.advance(1)
        PrioSched.run(test())


class End(unittest.TestCase):

    def test_a_fixture_begins_and_ends(self):
        fixture = PrioSched.testing.clock()
        clock = next(fixture)
        clock.advance(10)
        self.assertEqual(clock.elapsed, 10)
        self.assertIsNone(next(fixture, None))
        for name in 'elapsed', 'queued', 'delayed':
            with self.assertRaisesRegex(RuntimeError, f'{name}: the time is the system'):
                getattr(clock, name)
        for call in clock.run_until_idle, clock.step, lambda: clock.advance(1), lambda: clock.spend(1):
            with self.assertRaisesRegex(RuntimeError, 'the time is the system'):
                call()

    def test_tasks_that_are_left_wait_for_the_rest_of_their_delay(self):
        with PrioSched.testing.Clock() as clock:
            task = scheduler.post_task(lambda: 'run', delay=YEAR)
            clock.advance(YEAR - 1)
        self.assertLess(abs(clock.time - GLib.get_monotonic_time()), 10 ** 9)

        async def wait():
            return await task
        self.assertEqual(PrioSched.run(wait()), 'run')

    def test_a_test_that_fails_ends(self):
        with self.assertRaises(ZeroDivisionError), PrioSched.testing.Clock():
            1 / 0
        with PrioSched.testing.Clock() as clock:
            self.assertEqual(clock.elapsed, 0)


if __name__ == '__main__':
    unittest.main()
