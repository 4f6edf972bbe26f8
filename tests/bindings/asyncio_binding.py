"""Tasks in asyncio, with its loop on GLib: gbulb's, or PyGObject's own (3.50 and later).

    asyncio_binding.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import importlib
import sys
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
kind = sys.argv.pop()
module = importlib.import_module(kind)


def new_loop():
    if kind == 'gbulb':
        module.install()
        return asyncio.new_event_loop()
    return module.GLibEventLoop(GLib.MainContext.default())


class Asyncio(unittest.TestCase):

    def setUp(self):
        self.loop = new_loop()
        asyncio.set_event_loop(self.loop)
        self.addCleanup(self.loop.close)
        self.addCleanup(asyncio.set_event_loop, None)

    def run_coroutine(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def test_results(self):
        async def main():
            with self.assertRaises(ZeroDivisionError):
                await scheduler.post_task(lambda: 1 / 0)
            return await scheduler.post_task(lambda: 42, 'background')
        self.assertEqual(self.run_coroutine(main()), 42)

    def test_beside_asyncio(self):
        async def main():
            log = []

            async def worker(name):
                for i in range(3):
                    await scheduler.yield_()
                    log.append(f'{name}{i}')
                    await asyncio.sleep(0)
            await asyncio.gather(worker('a'), worker('b'))
            return sorted(log)
        self.assertEqual(self.run_coroutine(main()), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2'])

    def test_coroutine_functions(self):
        async def function():
            await scheduler.yield_()
            await asyncio.sleep(0.001)
            return await scheduler.post_task(lambda: 'inner')

        async def main():
            return await scheduler.post_task(function, 'background')
        self.assertEqual(self.run_coroutine(main()), 'inner')

    def test_abort(self):
        async def main():
            controller = PrioSched.TaskController('background')
            task = scheduler.post_task(lambda: None, signal=controller.signal, delay=10000)
            self.loop.call_later(0.01, controller.abort, LookupError('why'))
            with self.assertRaises(LookupError):
                await task
        self.run_coroutine(main())


if __name__ == '__main__':
    unittest.main()
