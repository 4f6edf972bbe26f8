"""Tests aborts of coroutines that wait in httpx and anyio, if these are installed

    asyncio_libraries.py gbulb|gi.events

asyncio_aborts.py does the same with a cancellation without them.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import importlib
import socket
import unittest

from asyncio_loops import PrioSched, Why, in_loop

scheduler = PrioSched.Scheduler.get_default()


def find(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


anyio, httpx = find('anyio'), find('httpx')


async def outcome(function, begun):
    """Returns the outcome of a task that is aborted once begun is done."""
    controller, why = PrioSched.TaskController(), Why('enough')
    task = scheduler.post_task(function, signal=controller.signal)
    await begun
    controller.abort(why)
    try:
        return await task
    except Why as error:
        return 'the reason' if error is why else error
    except BaseException as error:
        return error


@unittest.skipUnless(httpx, 'there is no httpx')
class Http(unittest.TestCase):
    """Runs a server that reads requests and never answers.

    A request is aborted while it waits for the answer: while it connects, anyio before version 4 may lose a cancellation.
    """

    def setUp(self):
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.listening.settimeout(60)
        self.addCleanup(self.listening.close)
        self.url = f'http://127.0.0.1:{self.listening.getsockname()[1]}/'

    def client(self):
        return httpx.AsyncClient(trust_env=False, verify=False, timeout=None)

    async def take(self, n):
        """Reads n requests."""
        def take():
            for _ in range(n):
                connection, _ = self.listening.accept()
                self.addCleanup(connection.close)
                connection.recv(10000)
        await asyncio.to_thread(take)

    @in_loop
    async def test_requests_are_aborted_for_the_reason(self):
        async def get(n):
            async with self.client() as client:
                await asyncio.gather(*(client.get(self.url) for _ in range(n)))

        async def stream():
            async with self.client() as client, client.stream('GET', self.url):
                pass

        self.assertEqual(await outcome(lambda: get(1), self.take(1)), 'the reason')
        self.assertEqual(await outcome(lambda: get(3), self.take(3)), 'the reason')
        self.assertEqual(await outcome(stream, self.take(1)), 'the reason')

    @in_loop
    async def test_each_run_that_a_later_one_aborts_gives_none(self):
        async with self.client() as client:
            latest = scheduler.latest(lambda word: client.get(self.url + word))
            runs = []
            for word in 'abc':
                runs.append(latest(word))
                await self.take(1)
            latest.abort()
            for run in runs:
                self.assertIsNone(await run)


@unittest.skipUnless(anyio, 'there is no anyio')
class Anyio(unittest.TestCase):

    @in_loop
    async def test_groups_end_with_the_reason(self):
        async def child():
            await scheduler.sleep(100000)

        async def group(begin, *children):
            async with anyio.create_task_group() as tasks:
                for function, *args in children:
                    tasks.start_soon(function, *args)
                await scheduler.post_task(lambda: None, 'background')
                begin()
                await anyio.sleep(100)

        inner = group, lambda: None, (child,), (anyio.sleep, 100)
        for children in ([(child,), (child,)], [(anyio.sleep, 100)], [inner, inner]):
            begun = asyncio.Event()
            self.assertEqual(await outcome(lambda: group(begun.set, *children), begun.wait()), 'the reason')

    @in_loop
    async def test_scopes_that_have_ended_hide_nothing(self):
        async def after(begin, wait):
            with anyio.move_on_after(0.001):
                await wait()
            begin()
            await wait()

        async def within(begin, wait):
            with anyio.fail_after(100):
                begin()
                await wait()

        for function in after, within:
            for wait in (lambda: anyio.sleep(100), lambda: scheduler.sleep(100000), lambda: anyio.Event().wait()):
                begun = asyncio.Event()
                self.assertEqual(await outcome(lambda: function(begun.set, wait), begun.wait()), 'the reason')

    @in_loop
    async def test_what_a_scope_shields_cleans_up(self):
        log, begun = [], asyncio.Event()

        async def function():
            try:
                begun.set()
                await anyio.sleep(100)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.001)
                    await scheduler.sleep(1)
                    log.append('cleaned up')
        self.assertEqual((await outcome(function, begun.wait()), log), ('the reason', ['cleaned up']))


if __name__ == '__main__':
    unittest.main()
