"""Tests the statistics of schedulers in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402


class Statistics(unittest.TestCase):

    def setUp(self):
        self.scheduler = PrioSched.Scheduler()
        self.scheduler.start_statistics()

    def run_until(self, condition):
        while not condition():
            GLib.MainContext.default().iteration(True)

    def test_counts_and_times(self):
        ran = []
        futures = [self.scheduler.post_task(lambda i=i: ran.append(i), priority='background') for i in range(20)]
        self.assertEqual(self.scheduler.get_statistics().background.n_queued, 20)
        self.run_until(lambda: len(ran) == 20 and all(future.done() for future in futures))

        statistics = self.scheduler.get_statistics()
        background = statistics.background
        self.assertEqual([background.n_queued, background.n_delayed, background.n_run, background.n_continued, background.n_aborted],
                         [0, 0, 20, 0, 0])
        self.assertEqual((statistics.user_visible.n_run, statistics.collecting), (0, True))
        for times in background.waiting, background.running:
            self.assertGreater(times.total, 0)
            self.assertGreaterEqual(times.total, times.longest)
            self.assertGreaterEqual(times.longest, times.percentile_99)
            self.assertGreaterEqual(times.percentile_99, times.median)

        self.scheduler.start_statistics()
        self.assertEqual((self.scheduler.get_statistics().background.n_run, statistics.background.n_run), (0, 20))

    def test_a_part_outlives_the_whole(self):
        ran = []
        self.scheduler.post_task(lambda: ran.append(True))
        self.run_until(lambda: ran)
        self.run_until(lambda: self.scheduler.get_statistics().user_visible.n_run == 1)
        times = [self.scheduler.get_statistics().user_visible.running for _ in range(100)]
        PrioSched.Scheduler().get_statistics()
        self.assertEqual(len({(of.total, of.longest, of.median, of.percentile_99) for of in times}), 1)
        self.assertGreater(times[0].total, 0)

    def test_bad_values(self):
        nan = float('nan')
        for call, error, message in (
                (lambda: self.scheduler.set_task_share(nan), ValueError, 'share.*nan'),
                (lambda: self.scheduler.set_task_share(-0.1), ValueError, 'share.*-0.1'),
                (lambda: self.scheduler.set_task_share('0.1'), TypeError, "share.*'0.1'"),
                (lambda: self.scheduler.set_task_share(True), TypeError, 'share.*True'),
                (lambda: self.scheduler.set_task_share(0.91), ValueError, 'share.*0.9.*0.91'),
                (lambda: self.scheduler.set_task_share(None), TypeError, 'share.*None'),
                (lambda: self.scheduler.add_long_task_func(0, print), ValueError, 'threshold.*0'),
                (lambda: self.scheduler.add_long_task_func(2 ** 32, print), ValueError, 'threshold.*4294967296'),
                (lambda: self.scheduler.add_long_task_func(nan, print), TypeError, 'threshold.*nan'),
                (lambda: self.scheduler.add_long_task_func(True, print), TypeError, 'threshold.*True')):
            with self.assertRaisesRegex(error, message):
                call()
        self.assertEqual(self.scheduler.get_task_share(), 0)

    def test_yields_and_aborts(self):
        controller = PrioSched.TaskController('background')
        done = []

        async def task():
            await self.scheduler.sleep(0)
            await self.scheduler.sleep(0)
            done.append(True)
        posted = self.scheduler.post_task(task)
        aborted = [self.scheduler.post_task(lambda: done.append(1), signal=controller.signal) for _ in range(3)]
        self.scheduler.post_task(lambda: done.append(1), signal=controller.signal, delay=100000)
        self.assertEqual(self.scheduler.get_statistics().background.n_delayed, 1)
        controller.abort()
        self.run_until(lambda: done and posted.done() and all(future.done() for future in aborted))

        statistics = self.scheduler.get_statistics()
        self.assertEqual(done, [True])
        self.assertEqual([statistics.user_visible.n_run, statistics.user_visible.n_continued], [3, 2])
        self.assertEqual([statistics.background.n_run, statistics.background.n_aborted], [0, 4])

    def test_off(self):
        self.assertFalse(PrioSched.Scheduler().get_statistics().collecting)
        self.scheduler.stop_statistics()
        ran = []
        self.scheduler.post_task(lambda: ran.append(1))
        self.run_until(lambda: ran)
        self.assertEqual(self.scheduler.get_statistics().user_visible.n_run, 0)


if __name__ == '__main__':
    unittest.main()
