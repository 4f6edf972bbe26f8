"""Tests that an orderly end causes no reports, and adds no tracebacks to a shared reason

    asyncio_quiet.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import gc
import logging
import os
import subprocess
import sys
import threading
import unittest
import weakref

from asyncio_loops import PrioSched, Why, in_loop, kind

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


@contextlib.contextmanager
def reports():
    """Records the log while the block runs."""
    found = []

    class Handler(logging.Handler):
        def emit(self, record):
            found.append(record.getMessage())
    handler = Handler()
    logging.getLogger().addHandler(handler)
    try:
        yield found
    finally:
        gc.collect()
        logging.getLogger().removeHandler(handler)


class Quiet(unittest.TestCase):

    async def abort_both(self, reason):
        """Aborts a task that waits for a group, and then the group."""
        controller, group = PrioSched.TaskController(), PrioSched.TaskGroup(limit=2)

        async def work():
            await scheduler.sleep(10 ** 8)

        async def job():
            for _ in range(3):
                group.post_task(work)
            await group.all()
        task = scheduler.post_task(job, signal=controller.signal)
        await scheduler.sleep(5)
        controller.abort(reason)
        group.abort(reason)
        with self.assertRaises((PrioSched.AbortError, Why)):
            await task
        await group.drained()
        await scheduler.sleep(5)
        gc.collect()

    @run
    async def test_an_abort_of_a_task_and_of_the_group_that_it_waits_for(self):
        with reports() as found:
            await self.abort_both(None)
            await self.abort_both(Why())
        self.assertEqual(found, [])

    @in_loop
    async def test_the_same_in_asyncio(self):
        with reports() as found:
            await self.abort_both(None)
            await self.abort_both(Why())
        self.assertEqual(found, [])

    async def share(self):
        """Aborts many coroutines for one reason, whose traceback shows at most one of them."""
        class Big:
            pass
        alive, why = weakref.WeakSet(), Why()
        waits = asyncio.Event().wait if asyncio._get_running_loop() is not None else lambda: scheduler.sleep(10 ** 8)

        async def job(number):
            big = Big()
            alive.add(big)
            await (scheduler.sleep(10 ** 8) if number % 2 else waits())
        controller = PrioSched.TaskController()
        tasks = [scheduler.post_task(lambda number=number: job(number), signal=controller.signal) for number in range(100)]
        while len(alive) < 100:
            await scheduler.sleep(1)
        controller.abort(why)
        for task in tasks:
            with contextlib.suppress(Why):
                await task
        del task, tasks
        for _ in range(100):
            # asyncio may still have callbacks of the coroutines to call.
            if len(alive) > 1:
                await scheduler.sleep(1)
                gc.collect()
        self.assertLessEqual(len(alive), 1)

    @run
    async def test_a_reason_that_many_share_has_one_traceback(self):
        await self.share()

    @in_loop
    async def test_a_reason_that_many_share_has_one_traceback_in_asyncio(self):
        await self.share()

    async def abort_a_wait_for_a_thread(self):
        """Aborts a coroutine that waits for a function in a thread, which then fails."""
        controller, may_fail = PrioSched.TaskController(), threading.Event()

        def fail():
            may_fail.wait()
            raise LookupError('nobody waits')

        async def job():
            waits.append(scheduler.run_in_thread(fail))
            await waits[0]
        waits = []
        task = scheduler.post_task(job, signal=controller.signal)
        while not waits:
            await scheduler.sleep(1)
        controller.abort(Why())
        with self.assertRaises(Why):
            await task
        may_fail.set()
        while not waits[0].done():
            await scheduler.sleep(1)

    @run
    async def test_a_function_in_a_thread_that_fails_after_the_abort_of_its_waiter(self):
        with reports() as found:
            await self.abort_a_wait_for_a_thread()
        self.assertEqual(found, [])

    @in_loop
    async def test_a_function_in_a_thread_that_fails_after_the_abort_of_its_waiter_in_asyncio(self):
        with reports() as found:
            await self.abort_a_wait_for_a_thread()
        self.assertEqual(found, [])

    @run
    async def test_a_function_in_a_thread_has_its_name_in_its_repr(self):
        task = scheduler.run_in_thread(int, name='count')
        self.assertRegex(repr(task), r"^<PrioSched\.ThreadTask 'count' ")
        await task
        self.assertNotIn("'", repr(scheduler.run_in_thread(int)))

    @unittest.skipIf(kind == 'gbulb', 'gbulb ends the process')
    def test_an_exit_in_the_first_step(self):
        program = ('import gi; gi.require_version("PrioSched", "1"); from gi.repository import PrioSched\n'
                   'async def leaves(): raise SystemExit(7)\n'
                   'async def main(): await PrioSched.Scheduler.get_default().post_task(leaves)\n'
                   'PrioSched.run(main())\n')
        result = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, env=os.environ, check=False)
        self.assertEqual((result.returncode, result.stderr), (7, ''))

    @in_loop
    async def test_debug_mode_sees_slow_steps(self):
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        loop.slow_callback_duration = 0

        async def slow():
            await scheduler.yield_()
            await scheduler.post_task(int)
        with reports() as found:
            await scheduler.post_task(slow)
            await asyncio.sleep(0)
        loop.set_debug(False)
        self.assertTrue([report for report in found if report.startswith('Executing') and 'slow' in report], found)


if __name__ == '__main__':
    unittest.main()
