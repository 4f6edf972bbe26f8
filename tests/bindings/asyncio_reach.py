"""Tests cancellation of code that awaits another context, another thread, or a long chain

    asyncio_reach.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import os
import threading
import unittest

from asyncio_loops import GLib, PrioSched, in_loop, wait_for_the_loop

scheduler = PrioSched.Scheduler.get_default()


class Reach(unittest.TestCase):
    """Tests that a waiting task is cancelled, whichever thread runs the awaited task."""

    async def outcomes_of_waiting(self, wait_for_it):
        """Returns how a task ends that awaits wait_for_it (), and is cancelled or timed out."""
        async def waits():
            return await wait_for_it()
        for wait in (lambda: asyncio.wait_for(waits(), 0.01), lambda: asyncio.wait_for(wait_for_it(), 0.01)):
            with self.assertRaises(asyncio.TimeoutError):
                await wait()
        task = asyncio.ensure_future(waits())
        await asyncio.sleep(0.001)
        self.assertTrue(task.cancel('enough'))
        with self.assertRaises(asyncio.CancelledError):
            await task

        posted = scheduler.post_task(waits)
        await asyncio.sleep(0.001)
        self.assertTrue(posted.cancel('enough'))
        with self.assertRaises(asyncio.CancelledError):
            await posted

    @in_loop
    async def test_whoever_awaits_what_nobody_runs_can_be_cancelled(self):
        context = GLib.MainContext()
        other = PrioSched.Scheduler.new(context)
        for wait_for_it in (lambda: other.post_task(lambda: None), lambda: other.post_task(lambda: None, delay=100000),
                            lambda: other.post_task(lambda: asyncio.sleep(0)), other.yield_):
            await self.outcomes_of_waiting(wait_for_it)

    @in_loop
    async def test_whoever_awaits_a_thread_that_has_ended_can_be_cancelled(self):
        """Tests a coroutine that has started, but whose thread has ended."""
        contexts = []

        def begin():
            context = GLib.MainContext()
            other = PrioSched.Scheduler.new(context)
            contexts.append((context, other))

            async def yields():
                while True:
                    await other.yield_()

            def run():
                context.push_thread_default()
                while task.state == PrioSched.TaskState.PENDING:
                    context.iteration(True)
                context.pop_thread_default()
            task = other.post_task(yields)
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
            self.assertEqual(task.state, PrioSched.TaskState.RUNNING)
            return task
        await self.outcomes_of_waiting(begin)

    @in_loop
    async def test_whoever_awaits_a_function_that_runs_in_another_thread_can_be_cancelled(self):
        """Tests that, as with run_in_executor (), the function continues without a waiter."""
        context, end = GLib.MainContext(), threading.Event()
        other = PrioSched.Scheduler.new(context)
        task = other.post_task(lambda: end.wait(60))
        loop = GLib.MainLoop(context)
        thread = threading.Thread(target=GLib.MainLoop.run, args=(loop,))
        thread.start()
        try:
            while task.state == PrioSched.TaskState.PENDING:
                await asyncio.sleep(0.001)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(task, 0.01)
            self.assertFalse(end.is_set())
            self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        finally:
            end.set()
            loop.quit()
            thread.join()
        self.assertTrue(task.cancelled())

    @in_loop
    async def test_a_coroutine_that_another_thread_runs_cleans_up_first(self):
        context, log = GLib.MainContext(), []
        other = PrioSched.Scheduler.new(context)

        async def function():
            try:
                log.append('begun')
                await other.post_task(lambda: None, delay=100000)
            finally:
                await other.post_task(lambda: None, delay=1)
                log.append(threading.get_ident())
        task = other.post_task(function)
        loop = GLib.MainLoop(context)
        thread = threading.Thread(target=GLib.MainLoop.run, args=(loop,))
        thread.start()
        try:
            while not log:
                await asyncio.sleep(0.001)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(task, 0.01)
            self.assertEqual(log, ['begun', thread.ident])
        finally:
            loop.quit()
            thread.join()

    @in_loop
    async def test_a_chain_of_any_length_is_cancelled(self):
        n_posted = 3000 if 'UNDER_VALGRIND' not in os.environ else 1500
        for kind in ('posted', 'mixed'):
            cleaned_up = []

            async def link(before, cleaned_up=cleaned_up):
                try:
                    await (before or asyncio.sleep(100))
                finally:
                    cleaned_up.append(True)
            task = None
            for i in range(n_posted if kind == 'posted' else 300):
                # With tasks of asyncio's own between them, asyncio itself nests the calls.
                task = scheduler.post_task(lambda before=task: link(before))
                if kind == 'mixed' and i % 2:
                    task = asyncio.ensure_future(link(task))
            await wait_for_the_loop()
            self.assertTrue(task.cancel('enough'))
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(len(cleaned_up), n_posted if kind == 'posted' else 450)


if __name__ == '__main__':
    unittest.main()
