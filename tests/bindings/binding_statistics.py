"""Tests the statistics of schedulers in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

BACKGROUND, USER_VISIBLE = PrioSched.TaskPriority.BACKGROUND, PrioSched.TaskPriority.USER_VISIBLE


class Statistics(unittest.TestCase):

    def setUp(self):
        self.scheduler = PrioSched.Scheduler()
        self.scheduler.props.collects_statistics = True

    def run_until(self, condition):
        while not condition():
            GLib.MainContext.default().iteration(True)

    def test_counts_and_times(self):
        ran = []
        futures = [self.scheduler.post_task(lambda i=i: ran.append(i), priority='background') for i in range(20)]
        self.assertEqual(self.scheduler.get_statistics().get_n_queued(BACKGROUND), 20)
        self.run_until(lambda: len(ran) == 20 and all(future.done() for future in futures))

        statistics = self.scheduler.get_statistics()
        self.assertEqual([statistics.get_n_queued(BACKGROUND), statistics.get_n_delayed(BACKGROUND), statistics.get_n_run(BACKGROUND),
                          statistics.get_n_continued(BACKGROUND), statistics.get_n_aborted(BACKGROUND)], [0, 0, 20, 0, 0])
        self.assertEqual(statistics.get_n_run(USER_VISIBLE), 0)
        for times in (statistics.get_waiting_times(BACKGROUND), statistics.get_running_times(BACKGROUND)):
            self.assertEqual(times.get_count(), 20)
            self.assertGreater(times.get_total(), 0)
            self.assertGreaterEqual(times.get_total(), times.get_longest())
            self.assertGreaterEqual(times.get_longest(), times.get_percentile(99))
            self.assertGreaterEqual(times.get_percentile(99), times.get_median())

        self.scheduler.reset_statistics()
        self.assertEqual(self.scheduler.get_statistics().get_n_run(BACKGROUND), 0)
        self.assertEqual(statistics.get_n_run(BACKGROUND), 20)
        self.assertEqual(statistics.get_running_times(BACKGROUND).get_count(), 20)

    def test_bad_values(self):
        statistics = self.scheduler.get_statistics()
        times = statistics.get_waiting_times('background')
        nan = float('nan')
        for call, error, message in (
                (lambda: self.scheduler.set_frame_share(nan), ValueError, 'share.*nan'),
                (lambda: self.scheduler.set_frame_share(-0.1), ValueError, 'share.*-0.1'),
                (lambda: self.scheduler.set_frame_share('0.1'), TypeError, "share.*'0.1'"),
                (lambda: self.scheduler.set_frame_share(True), TypeError, 'share.*True'),
                (lambda: self.scheduler.set_frame_share(0.91), ValueError, 'share.*0.9.*0.91'),
                (lambda: self.scheduler.set_frame_share(None), TypeError, 'share.*None'),
                (lambda: self.scheduler.set_long_task_threshold(-1), ValueError, 'threshold.*-1'),
                (lambda: self.scheduler.set_long_task_threshold(2 ** 32), ValueError, 'threshold.*4294967296'),
                (lambda: self.scheduler.set_long_task_threshold(nan), TypeError, 'threshold.*nan'),
                (lambda: self.scheduler.set_long_task_threshold(True), TypeError, 'threshold.*True'),
                (lambda: times.get_percentile(101), ValueError, 'percent.*101'),
                (lambda: times.get_percentile(-1), ValueError, 'percent.*-1'),
                (lambda: times.get_percentile(nan), ValueError, 'percent.*nan'),
                (lambda: times.get_percentile('99'), TypeError, "percent.*'99'"),
                (lambda: statistics.get_n_run(7), ValueError, '7 is not a task priority'),
                (lambda: statistics.get_running_times('low'), ValueError, "'low' is not a task priority")):
            with self.assertRaisesRegex(error, message):
                call()
        self.assertEqual(self.scheduler.get_frame_share(), 0)

    def test_nicks(self):
        self.scheduler.post_task(int, 'background')
        statistics = self.scheduler.get_statistics()
        for priority in ('background', BACKGROUND, 1):
            self.assertEqual([getattr(statistics, f'get_n_{name}')(priority) for name in ('queued', 'delayed', 'run', 'continued', 'aborted')],
                             [1, 0, 0, 0, 0])
            self.assertEqual(statistics.get_running_times(priority).get_percentile(50), 0)
        self.assertEqual(statistics.get_n_queued('user-visible'), 0)

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
        self.assertEqual(self.scheduler.get_statistics().get_n_delayed(BACKGROUND), 1)
        controller.abort()
        self.run_until(lambda: done and posted.done() and all(future.done() for future in aborted))

        statistics = self.scheduler.get_statistics()
        self.assertEqual(done, [True])
        self.assertEqual([statistics.get_n_run(USER_VISIBLE), statistics.get_n_continued(USER_VISIBLE)], [3, 2])
        self.assertEqual([statistics.get_n_run(BACKGROUND), statistics.get_n_aborted(BACKGROUND)], [0, 4])

    def test_off(self):
        self.assertFalse(PrioSched.Scheduler().get_collects_statistics())
        self.scheduler.set_collects_statistics(False)
        ran = []
        self.scheduler.post_task(lambda: ran.append(1))
        self.run_until(lambda: ran)
        self.assertEqual(self.scheduler.get_statistics().get_n_run(USER_VISIBLE), 0)


if __name__ == '__main__':
    unittest.main()
