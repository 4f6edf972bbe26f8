"""lifetimes.py: checks that hundreds of thousands of tasks, and schedulers, leak no memory

Some rounds show a leak of many bytes a task.  With PRIO_SCHED_THOROUGH in the environment all rounds run, a million tasks, and
show a smaller one.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import os
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, GObject, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
# A sanitizer looks for other defects, for which a fifth of the rounds is enough.  It keeps 256 MB of freed memory, and data about it.
HAS_SANITIZER = 'LD_PRELOAD' in os.environ
ALLOWED = (384 if HAS_SANITIZER else 8) << 20
SOME = 1 / 5 if HAS_SANITIZER else 2 / 5
IS_THOROUGH = not HAS_SANITIZER and 'PRIO_SCHED_THOROUGH' in os.environ


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def growth(once, times, part=1 / 5):
    for _ in range(2):
        PrioSched.run(once())
    gc.collect()
    before = resident()
    for _ in range(times if IS_THOROUGH else int(times * part)):
        PrioSched.run(once())
    gc.collect()
    return resident() - before


class Lifetimes(unittest.TestCase):

    def test_many_tasks(self):
        async def once():
            tasks = [scheduler.post_task(lambda: i) for i in range(20000)]
            for task in tasks:
                await task
        self.assertLess(growth(once, 50), ALLOWED)

    def test_many_yields_aborts_and_signals(self):
        async def once():
            controller = PrioSched.TaskController('background')
            tasks = [scheduler.post_task(lambda: None, signal=controller.signal) for _ in range(1000)]
            for _ in range(4000):
                await scheduler.yield_()
            controller.abort()
            for task in tasks:
                with self.assertRaises(GLib.Error):
                    await task
        self.assertLess(growth(once, 200), ALLOWED)

    def test_coroutines_that_are_awaited_cancelled_and_aborted(self):
        left = []

        async def waits():
            await scheduler.yield_()
            # The task continues when the code that awaits it is cancelled.
            left.append(scheduler.post_task(lambda: None, delay=100000))
            await left[-1]

        async def ends():
            await scheduler.yield_()
            return await scheduler.post_task(lambda: 5)

        pending = scheduler.post_task(lambda: None, delay=10 ** 9)

        async def stands():
            # An abort does not cancel the awaited task.
            await pending

        async def once():
            controller = PrioSched.TaskController()
            tasks = [scheduler.post_task(ends) for _ in range(200)]
            cancelled = [scheduler.post_task(waits) for _ in range(200)]
            aborted = [scheduler.post_task(stands, signal=controller.signal) for _ in range(200)]
            for task in tasks:
                await task
            for task in cancelled:
                task.cancel()
            controller.abort(LookupError('enough'))
            for task in cancelled + aborted:
                with self.assertRaises((asyncio.CancelledError, LookupError)):
                    await task
            for task in left:
                task.cancel()
            left.clear()
        growth(once, 60, SOME)  # as much as the collector ever leaves at a time
        self.assertLess(growth(once, 60, SOME), ALLOWED)
        pending.cancel()

    def test_aborted_coroutines_leave_nothing_to_the_collector(self):
        """Checks that no circle of references remains, because the collector looks for these while the main loop waits."""
        async def sleeps(_):
            await scheduler.sleep(10 ** 8)

        async def awaits_a_task(task):
            await task

        async def awaits_what_asyncio_has(_):
            await asyncio.get_running_loop().create_future()

        async def once(waits):
            controller = PrioSched.TaskController()
            awaited = scheduler.post_task(int, delay=10 ** 8)
            tasks = [scheduler.post_task(lambda: waits(awaited), signal=controller.signal) for _ in range(100)]
            await scheduler.sleep(5)
            gc.collect()
            controller.abort()
            for task in tasks:
                with self.assertRaises(PrioSched.AbortError):
                    await task
            awaited.cancel()
            await scheduler.sleep(5)
            del task
            tasks.clear()
            return gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for waits in (sleeps, awaits_a_task, awaits_what_asyncio_has) if hasattr(PrioSched, 'EventLoop') else (sleeps, awaits_a_task):
            with self.subTest(waits.__name__):
                self.assertLess(PrioSched.run(once(waits)), 100)

    def test_schedulers_go(self):
        refs = []
        for _ in range(100):
            own = PrioSched.Scheduler.new(None)
            own.post_task(lambda: None)
            PrioSched.run(own.yield_())
            refs.append(weakref.ref(own))
            del own
        gc.collect()
        self.assertLess(sum(ref() is not None for ref in refs), 10)

    def test_closures_are_released(self):
        class Thing:
            pass
        thing = Thing()
        ref = weakref.ref(thing)
        controller = PrioSched.TaskController()
        task = scheduler.post_task(lambda thing=thing: None, signal=controller.signal)
        delayed = scheduler.post_task(lambda thing=thing: None, delay=10 ** 9)
        del thing
        controller.abort()
        delayed.cancel()
        PrioSched.run(scheduler.yield_())
        gc.collect()
        self.assertIsNone(ref())
        self.assertTrue(task.done() and delayed.done())
        self.assertEqual(delayed.state, PrioSched.TaskState.ABORTED)

    def found_by_the_collector(self, make):
        """Returns the wrapper of make () that C code passes to Python while the collector clears garbage that has that wrapper."""
        found = []
        store = Gio.ListStore(item_type=GObject.Object)
        first = Gio.SimpleAction.new('first', None)
        first.weak_ref(lambda: found.append(store.get_item(0)))  # called when the collector has cleared the wrapper of first
        store.append(make())
        circle = [first, store.get_item(0)]
        circle.append(circle)
        del circle, first
        gc.collect()
        return found[0]

    def test_a_signal_that_is_found_while_the_collector_runs(self):
        gc.disable()
        self.addCleanup(gc.enable)
        controller = PrioSched.TaskController()
        for make in (lambda: controller.signal, lambda: PrioSched.TaskSignal.any([controller.signal]), lambda: PrioSched.TaskSignal.any([]),
                     lambda: PrioSched.TaskSignal.new_timeout(10 ** 8)):
            gc.collect()
            signal = self.found_by_the_collector(make)
            self.assertFalse(signal.aborted)
            self.assertIs(scheduler.post_task(int, signal=signal).cancel(), True)

    def test_a_controller_that_is_found_while_the_collector_runs(self):
        gc.disable()
        self.addCleanup(gc.enable)
        controller = self.found_by_the_collector(PrioSched.TaskController)
        controller.abort(LookupError('enough'))
        self.assertIsInstance(controller.signal.reason, LookupError)


if __name__ == '__main__':
    unittest.main()
