"""The main loop continues: beside aborts of many coroutines at once, and beside a coroutine that yields when it is time

    asyncio_slices.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import functools
import time
import unittest
from unittest import mock

from asyncio_loops import GLib, PrioSched, Why, in_loop

from gi.overrides._priosched.tasks import table  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
MANY = 400
STEP = 0.0002  # seconds of cleanup of each coroutine: 80 ms for all of them
TWO_SLICES = 2 * 5 / 1e3


def run(function):
    return lambda self: PrioSched.run(function(self))


class Turns:
    """Records the turns of the main loop, each with the number of coroutines that had ended by then."""

    def __init__(self, ended):
        self.ended = ended
        self.seen = []
        self.source = GLib.timeout_add(1, self._turn, priority=GLib.PRIORITY_HIGH)

    def _turn(self):
        self.seen.append(len(self.ended))
        return True

    def longest(self):
        """Returns the most coroutines that ended between two turns."""
        GLib.source_remove(self.source)
        return max(after - before for before, after in zip([0, *self.seen], [*self.seen, len(self.ended)]))


async def sleep():
    await scheduler.sleep(10 ** 8)


async def wait_for_a_task():
    await scheduler.post_task(int, delay=10 ** 8)


async def wait_in_asyncio():
    await asyncio.get_running_loop().create_future()


class Slices(unittest.TestCase):

    async def check(self, wait):
        ended, begun = [], []

        async def stands(number):
            begun.append(number)
            try:
                await wait()
            finally:
                end = time.monotonic() + STEP
                while time.monotonic() < end:
                    pass
                ended.append(number)
        controller = PrioSched.TaskController()
        tasks = [scheduler.post_task(functools.partial(stands, number), signal=controller.signal) for number in range(MANY)]
        while len(begun) < MANY:
            await scheduler.sleep(1)
        turns = Turns(ended)
        controller.abort(Why())
        while len(ended) < MANY:
            await scheduler.sleep(1)
        longest = turns.longest()
        self.assertEqual(ended, list(range(MANY)))
        # On a busy machine fewer coroutines end in a slice, but not more.
        self.assertLessEqual(longest, 2 * TWO_SLICES / STEP)
        for task in tasks:
            with self.assertRaises(Why):
                await task

    @run
    async def test_of_coroutines_that_sleep(self):
        await self.check(sleep)

    @run
    async def test_of_coroutines_that_await_a_task(self):
        await self.check(wait_for_a_task)

    @in_loop
    async def test_of_coroutines_that_sleep_in_asyncio(self):
        await self.check(sleep)

    @in_loop
    async def test_of_coroutines_that_await_a_task_in_asyncio(self):
        await self.check(wait_for_a_task)

    @in_loop
    async def test_of_coroutines_that_await_what_asyncio_has(self):
        await self.check(wait_in_asyncio)

    @run
    async def test_of_tasks_that_have_not_begun(self):
        controller = PrioSched.TaskController()
        ended, begun = [], []

        async def awaits(number):
            task = scheduler.post_task(int, signal=controller.signal, delay=10 ** 8)
            begun.append(number)
            with self.assertRaises(Why):
                await task
            end = time.monotonic() + STEP
            while time.monotonic() < end:
                pass
            ended.append(number)
        for number in range(MANY):
            scheduler.post_task(functools.partial(awaits, number))
        while len(begun) < MANY:
            await scheduler.sleep(1)
        turns = Turns(ended)
        controller.abort(Why())
        while len(ended) < MANY:
            await scheduler.sleep(1)
        self.assertEqual(ended, list(range(MANY)))
        self.assertLessEqual(turns.longest(), 2 * TWO_SLICES / STEP)

    @run
    async def test_the_first_slice_includes_the_time_to_take_many_tasks(self):
        ended, slices, now = [], [], [0.0]

        def take(self):
            now[0] += 1
            return taken(self)

        def in_slices(self, *args):
            before = len(ended)
            sliced(self, *args)
            slices.append(len(ended) - before)

        async def stands():
            try:
                await sleep()
            finally:
                ended.append(1)
        taken, sliced = table.Table._fetch_rejected, table.Table.in_slices
        controller = PrioSched.TaskController()
        tasks = [scheduler.post_task(stands, signal=controller.signal) for _ in range(MANY)]
        await scheduler.post_task(int, 'background')
        # In this clock time passes only while tasks are taken.
        with mock.patch.object(table, 'time', mock.Mock(monotonic=lambda: now[0])), \
                mock.patch.object(table.Table, '_fetch_rejected', take), mock.patch.object(table.Table, 'in_slices', in_slices):
            controller.abort(Why())
            while not all(task.done() for task in tasks):
                await scheduler.sleep(1)
        self.assertEqual((slices[0], sum(slices)), (table._FEW, MANY))

    @run
    async def test_a_cancel_between_two_slices(self):
        """Checks that an aborted task that is not rejected yet may be cancelled."""
        controller = PrioSched.TaskController()
        tasks = [scheduler.post_task(int, signal=controller.signal, delay=10 ** 8) for _ in range(MANY)]
        controller.abort(Why())
        await scheduler.sleep(0)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with self.assertRaises((Why, asyncio.CancelledError)):
                await task
        self.assertEqual(scheduler.count_pending(), 0)

    async def turns_between_yields(self):
        """Returns how often a source that is always ready has its turn between two yields."""
        n_turns, turns = 0, []

        def turn():
            nonlocal n_turns
            n_turns += 1
            return True

        async def work():
            for _ in range(20):
                while not scheduler.should_yield():
                    pass
                before = n_turns
                await scheduler.yield_()
                turns.append(n_turns - before)
        # Below input, and above frames.
        source = GLib.idle_add(turn, priority=GLib.PRIORITY_HIGH_IDLE + 10)
        await scheduler.post_task(work)
        GLib.source_remove(source)
        return turns

    @in_loop
    async def test_other_sources_have_a_turn_at_each_yield(self):
        self.assertNotIn(0, await self.turns_between_yields())

    @in_loop
    async def test_other_sources_have_a_turn_at_each_yield_in_debug_mode(self):
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        loop.slow_callback_duration = 100
        self.assertNotIn(0, await self.turns_between_yields())


if __name__ == '__main__':
    unittest.main()
