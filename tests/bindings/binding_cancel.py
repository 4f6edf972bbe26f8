"""Tests that cancelled tasks leave the library at once."""

import asyncio
import threading
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

LONG = 10 ** 8


class Cancelling(unittest.TestCase):

    def setUp(self):
        self.scheduler = PrioSched.Scheduler()
        self.scheduler.start_statistics()

    def iterate(self):
        while GLib.MainContext.default().iteration(False):
            pass

    def assert_gone(self, n_aborted, n_run=0):
        self.assertEqual(self.scheduler.count_pending(), 0)
        statistics = self.scheduler.get_statistics()
        counts = [(of.n_run, of.n_aborted) for of in (statistics.background, statistics.user_visible, statistics.user_blocking)]
        self.assertEqual([sum(n) for n in zip(*counts)], [n_run, n_aborted])

    def test_what_has_not_begun(self):
        controller = PrioSched.TaskController()
        tasks = [self.scheduler.post_task(self.fail, delay=LONG), self.scheduler.post_task(self.fail),
                 self.scheduler.post_task(self.fail, 'background', name='named'),
                 self.scheduler.post_task(self.fail, signal=controller.signal),
                 self.scheduler.post_task(self.fail, timeout=LONG),
                 self.scheduler.schedule_callback('idle', self.fail), self.scheduler.schedule_callback('low', self.fail, delay=LONG)]
        self.assertEqual(self.scheduler.count_pending(), 7)
        for task in tasks:
            self.assertTrue(task.cancel())
        self.assert_gone(7)
        self.iterate()
        self.assert_gone(7)
        self.assertEqual([task.cancelled() for task in tasks], [True] * 7)

    def test_sleeps(self):
        async def sleep():
            await self.scheduler.sleep(LONG)
        task = self.scheduler.post_task(sleep)
        self.iterate()
        self.assertEqual(self.scheduler.count_pending(), 1)
        self.assertTrue(task.cancel())
        self.assertEqual(self.scheduler.count_pending(), 1)  # the continuation of the coroutine
        self.iterate()
        self.assertTrue(task.cancelled())
        self.assert_gone(1, 1 + 1)

    def test_a_sleep_that_asyncio_ends(self):
        async def wait():
            if asyncio._get_running_loop() is None:
                self.skipTest('PyGObject has no loop of asyncio')
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.scheduler.sleep(LONG), 0.01)
            return self.scheduler.count_pending()
        self.assertEqual(PrioSched.run(wait()), 0)

    def test_the_first_task(self):
        first = self.scheduler.schedule_callback('immediate', self.fail)
        second = self.scheduler.post_task(lambda: 2)
        self.assertIs(self.scheduler.get_first_task(), first)
        first.cancel()
        self.assertIs(self.scheduler.get_first_task(), second)
        self.iterate()
        self.assertEqual(second.result(), 2)
        self.assert_gone(1, 1)

    def test_from_another_thread(self):
        task = self.scheduler.post_task(self.fail, delay=LONG)
        thread = threading.Thread(target=task.cancel)
        thread.start()
        thread.join()
        self.assertTrue(task.cancelled())
        self.iterate()
        self.assert_gone(1, 1)  # the call that reports it to the library

    def test_other_tasks_come_before_what_another_thread_cancels(self):
        """Checks that a thread that cancels task after task leaves turns to tasks of the same priority."""
        def cancel_many():
            for _ in range(100):
                self.scheduler.post_task(self.fail, priority).cancel()

        for priority in 'background', 'user-visible', 'user-blocking':
            with self.subTest(priority=priority):
                first = self.scheduler.post_task(self.scheduler.count_pending, priority)
                thread = threading.Thread(target=cancel_many)
                thread.start()
                thread.join()
                self.iterate()
                self.assertGreaterEqual(first.result(), 100)
                self.assertEqual(self.scheduler.count_pending(), 0)

    def test_a_number_that_is_free_by_then_is_left_to_others(self):
        """Checks a task that another thread cancels, and whose turn comes before the library notices."""
        ran = []

        class Runner:
            """Stands for the runner, with another thread that posts whenever it is called."""

            def __init__(self, runner):
                self.runner = runner

            def __getattr__(self, name):
                return getattr(self.runner, name)

            def cancel(self, number):
                thread = threading.Thread(target=post)
                thread.start()
                thread.join()
                self.runner.cancel(number)

        def post():
            self.scheduler.post_task(lambda: ran.append('posted'))

        task = self.scheduler.post_task(self.fail, timeout=-1)  # comes before all others
        self.scheduler._table._runner = Runner(self.scheduler._table._runner)
        thread = threading.Thread(target=task.cancel)
        thread.start()
        thread.join()
        self.iterate()
        post()
        self.iterate()
        self.assertEqual(ran, ['posted'])
        self.assertEqual(self.scheduler.get_statistics().user_visible.n_aborted, 0)

    def test_numbers_are_used_again(self):
        for _ in range(1000):
            self.scheduler.post_task(self.fail, delay=LONG).cancel()
        ran = []
        tasks = [self.scheduler.post_task(lambda i=i: ran.append(i), delay=1) for i in range(10)]
        for task in tasks[::2]:
            task.cancel()
        while len(ran) < 5:
            GLib.MainContext.default().iteration(True)
        self.iterate()
        self.assertEqual(ran, [1, 3, 5, 7, 9])
        self.assertEqual(self.scheduler.count_pending(), 0)
        of = self.scheduler.get_statistics().user_visible  # slices that drop many cancelled tasks count as user-blocking
        self.assertEqual([of.n_run, of.n_aborted], [5, 1005])

    def test_within_itself(self):
        async def cancel_others():
            for task in others:
                task.cancel()
            return self.scheduler.count_pending()
        task = self.scheduler.post_task(cancel_others)
        others = [self.scheduler.post_task(self.fail) for _ in range(3)]
        self.iterate()
        self.assertEqual(task.result(), 0)
        self.assert_gone(3, 1)


if __name__ == '__main__':
    unittest.main()
