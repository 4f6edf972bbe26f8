"""Tests that a coroutine keeps its state after it has awaited code with another state: in a loop of asyncio, in
PrioSched.run (), and in a main loop of GLib alone

    asyncio_resumed.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import time
import unittest

from asyncio_loops import GLib, PrioSched, new_loop, state

scheduler = PrioSched.Scheduler.get_default()
OUTSIDE = (2, None)


async def by_yield():
    await scheduler.yield_()


async def by_sleep():
    await scheduler.sleep(1)


async def by_thread():
    await scheduler.run_in_thread(int)


async def by_task():
    await scheduler.post_task(by_yield)


def steps():
    yield
    yield scheduler.sleep(1)


JOBS = {'yield': by_yield, 'sleep': by_sleep, 'thread': by_thread, 'task': by_task, 'function': int, 'generator': steps}


class Work:
    """Has kinds of work that can be awaited under a signal, by name: each function starts the work, and returns an awaitable."""

    def __init__(self, worker):
        self.worker = worker
        self.group = PrioSched.TaskGroup()
        self.kinds = {'run_in_thread ()': lambda signal: scheduler.run_in_thread(int, signal=signal),
                      'worker.run ()': lambda signal: worker.run(scheduler, int, signal=signal),
                      'drained ()': self.drain, 'a yield': self.yield_elsewhere}
        for name, job in JOBS.items():
            self.kinds[name] = lambda signal, job=job: scheduler.post_task(job, signal=signal)
            self.kinds[f'{name} in a group'] = lambda signal, job=job: self.group.post_task(job, signal=signal)
            self.kinds[f'{name} in latest ()'] = lambda signal, job=job: scheduler.latest(job, signal=signal)()

    def drain(self, signal):
        self.group.post_task(by_yield, signal=signal)
        return self.group.drained()

    async def yield_elsewhere(self, signal):
        """Awaits the yield of a task."""
        continuations = []
        task = scheduler.post_task(lambda: continuations.append(scheduler.sleep(5)), signal=signal)
        await task
        await continuations[0]


class Resumed:
    """Tests each way to run a main loop.

    Outside any task there is no state, but a yield continues with a state: user-visible, without a signal.
    """

    async def check_each(self, kinds, expected, priority='background'):
        """Awaits each kind of work, and checks that the state is the expected one afterwards."""
        for name, begin in kinds.items():
            with self.subTest(work=name):
                controller = PrioSched.TaskController(priority)
                await begin(controller.signal)
                self.assertEqual(state() or OUTSIDE, expected)
                continuation = scheduler.yield_()
                controller.abort()
                await continuation  # is not aborted
                self.assertEqual(state() or OUTSIDE, expected)

    async def check_all(self, expected):
        async with PrioSched.Worker() as worker:
            await self.check_each(Work(worker).kinds, expected)

    def test_outside_any_task(self):
        self.run_main(lambda: self.check_all(OUTSIDE))

    def test_as_the_task_that_it_is(self):
        async def main():
            for number, priority in enumerate(('background', 'user-visible', 'user-blocking'), 1):
                await scheduler.post_task(lambda number=number: self.check_all((number, None)), priority)
            signal = PrioSched.TaskController('user-blocking').signal
            await scheduler.post_task(lambda: self.check_all((0, signal)), signal=signal)
        self.run_main(main)

    def test_while_other_tasks_run(self):
        """Checks results of a thread that come in the middle of a task with another state."""
        going = True

        def tick():
            time.sleep(0.001)
            if going:
                scheduler.post_task(tick)

        async def main():
            nonlocal going
            tick()
            kinds = {n: lambda signal: scheduler.post_task(by_thread, signal=signal) for n in range(5)}
            await scheduler.post_task(lambda: self.check_each(kinds, OUTSIDE, 'user-visible'))
            await self.check_each(kinds, OUTSIDE, 'user-visible')
            going = False
        self.run_main(main)

    def test_a_callback_of_a_future_is_outside_any_task(self):
        async def main():
            seen = []
            controller = PrioSched.TaskController('background')
            for job in JOBS.values():
                task = scheduler.post_task(job, signal=controller.signal)
                task.add_done_callback(lambda _: seen.append(state()))
                await task
                while len(seen) == 0:
                    await scheduler.sleep(1)
                self.assertEqual(seen.pop(), None)
        self.run_main(main)

    def test_outside_any_task_after_a_cancel(self):
        """Checks that the code continues soon, and that its yields do not have the cancelled task's priority."""
        async def main():
            log = []
            sleep = scheduler.sleep(1000000)

            async def stands():
                try:
                    await sleep
                except asyncio.CancelledError:
                    pass
                log.append(state())
                task = scheduler.post_task(lambda: log.append('posted'), 'user-blocking')
                await scheduler.yield_()
                log.append('yielded')
                await task
            scheduler.queue_microtask(stands)
            await scheduler.sleep(1)
            sleep.cancel()
            while 'yielded' not in log:
                await scheduler.sleep(1)
            self.assertEqual(log, [None, 'posted', 'yielded'])
        self.run_main(main)


class InAsyncio(Resumed, unittest.TestCase):

    def run_main(self, main):
        loop = new_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(asyncio.wait_for(main(), 100))
        finally:
            asyncio.set_event_loop(None)
            loop.close()


class InRun(Resumed, unittest.TestCase):

    def run_main(self, main):
        PrioSched.run(main())


class InMainLoop(Resumed, unittest.TestCase):

    def run_main(self, main):
        loop = GLib.MainLoop()
        errors = []

        async def run():
            try:
                await main()
            except BaseException as error:
                errors.append(error)
            loop.quit()
        scheduler.queue_microtask(run)
        loop.run()
        if errors:
            raise errors[0]


if __name__ == '__main__':
    unittest.main()
