"""Tests that the cleanup of asynchronous generators runs even if they are not iterated to their end

    asyncio_generators.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import unittest

from asyncio_loops import GLib, PrioSched, Why, new_loop, state

scheduler = PrioSched.Scheduler.get_default()

CLEAN_UPS = {
    'yield_ ()': lambda: scheduler.yield_(),
    'sleep ()': lambda: scheduler.sleep(1),
    'run_in_thread ()': lambda: scheduler.run_in_thread(int),
    'post_task ()': lambda: scheduler.post_task(int),
}


class Generators:
    """Tests each way to run a main loop."""

    async def rows(self, clean_up, log):
        try:
            for i in range(100):
                await scheduler.yield_()
                yield i
        finally:
            log.append(state())
            await clean_up()
            await clean_up()
            log.append('cleaned up')

    async def check(self, leave, expected=None):
        """Makes a task leave each generator in the middle."""
        for name, clean_up in CLEAN_UPS.items():
            with self.subTest(clean_up=name):
                log = []
                controller = PrioSched.TaskController('background')

                async def job(clean_up=clean_up, log=log, controller=controller):
                    async for i in self.rows(clean_up, log):
                        if i == 3 and await leave(controller):
                            break
                try:
                    await scheduler.post_task(job, signal=controller.signal)
                except Exception as error:
                    self.assertIsInstance(error, expected or ())
                gc.collect()
                for _ in range(1000):
                    if 'cleaned up' not in log:
                        await scheduler.sleep(1)
                self.assertEqual(log, [None, 'cleaned up'])

    def test_after_an_abort(self):
        async def leave(controller):
            controller.abort(Why())
            await scheduler.sleep(10 ** 8)
        self.run_main(lambda: self.check(leave, Why))

    def test_after_a_break(self):
        async def leave(_):
            return True
        self.run_main(lambda: self.check(leave))

    def test_after_an_error(self):
        async def leave(_):
            raise ZeroDivisionError
        self.run_main(lambda: self.check(leave, ZeroDivisionError))

    def test_what_asyncio_runs_next_has_its_own_hooks(self):
        async def main():
            await scheduler.post_task(int)
        self.run_main(main)
        log = []

        async def rows():
            try:
                yield 1
            finally:
                await asyncio.sleep(0)
                log.append('cleaned up')

        async def leaves():
            async for _ in rows():
                break
            gc.collect()
            for _ in range(5):
                await asyncio.sleep(0)
        asyncio.run(leaves())
        self.assertEqual(log, ['cleaned up'])


class InAsyncio(Generators, unittest.TestCase):

    def run_main(self, main):
        loop = new_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(asyncio.wait_for(main(), 100))
        finally:
            asyncio.set_event_loop(None)
            asyncio.set_event_loop_policy(None)
            loop.close()


class InRun(Generators, unittest.TestCase):

    def run_main(self, main):
        PrioSched.run(main())


class InMainLoop(Generators, unittest.TestCase):

    def run_main(self, main):
        loop = GLib.MainLoop()
        task = scheduler.post_task(main)
        task.add_done_callback(lambda _: loop.quit())
        loop.run()
        task.result()


if __name__ == '__main__':
    unittest.main()
