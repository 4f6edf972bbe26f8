"""Tests how long the handlers of a controller's signal live, in Python.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gc
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, GObject, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_ERROR | GLib.LogLevelFlags.LEVEL_CRITICAL)


class Window:
    """Has a controller, and handlers of its signal."""

    def __init__(self, connect):
        self.heard = []
        self.controller = PrioSched.TaskController()
        self.handler = connect(self.controller.signal, self)

    def stopped(self, signal, *data):
        self.heard.append(data)


WAYS = {
    'connect ()': lambda signal, window: signal.connect('cancelled', window.stopped),
    'connect (), with data': lambda signal, window: signal.connect('cancelled', lambda signal, own: own.stopped(signal), window),
    'connect_after ()': lambda signal, window: signal.connect_after('cancelled', window.stopped, 1, 2),
    'connect () of GIO': lambda signal, window: signal.connect(lambda *_: window.heard.append(1)),
    'notify': lambda signal, window: signal.connect('notify::priority', lambda signal, _: window.stopped(signal)),
}


def collect():
    for _ in range(5):
        gc.collect()
        while GLib.MainContext.default().iteration(False):
            pass


class Handlers(unittest.TestCase):

    def count(self):
        collect()
        # A weak reference is cleared before a finalizer keeps the window.
        return sum(isinstance(window, Window) for window in gc.get_objects())

    def test_a_window_goes_of_whose_controller_it_has_a_handler(self):
        for name, connect in WAYS.items():
            for how in ('at once', 'aborted', 'after a task'):
                with self.subTest(connected_by=name, goes=how):
                    for _ in range(20):
                        window = Window(connect)
                        if how == 'aborted':
                            window.controller.abort()
                        elif how == 'after a task':
                            scheduler.post_task(int, signal=window.controller.signal)
                        del window
                    self.assertEqual(self.count(), 0)

    def test_a_window_goes_that_has_its_tasks(self):
        """Checks that a window is freed after its tasks have ended, in each way."""
        async def wait():
            await scheduler.sleep(0)

        def post(how, signal):
            if how == 'in a thread':
                return scheduler.run_in_thread(int, signal=signal)
            if how == 'in a thread, without a signal':
                return scheduler.run_in_thread(int)
            if how == 'in a thread, with a cancellable':
                return scheduler.run_in_thread(int, signal=Gio.Cancellable())
            if how == 'in a group':
                return PrioSched.TaskGroup().post_task(int, signal=signal)
            if how == 'coroutine':
                return scheduler.post_task(wait, signal=signal)
            if how == 'coroutine with a priority':
                return scheduler.post_task(wait, 'user-blocking', signal=signal)
            return scheduler.post_task(int, signal=signal, delay=10 ** 8 if how == 'cancelled' else 0)
        for how in ('function', 'coroutine', 'coroutine with a priority', 'in a group', 'in a thread',
                    'in a thread, without a signal', 'in a thread, with a cancellable', 'cancelled', 'aborted'):
            with self.subTest(task=how):
                for _ in range(20):
                    window = Window(WAYS['connect ()'])
                    window.task = post(how, window.controller.signal)
                    if how == 'cancelled':
                        window.task.cancel()
                    elif how == 'aborted':
                        window.controller.abort()
                    while not window.task.done():
                        GLib.MainContext.default().iteration(True)
                    del window
                self.assertEqual(self.count(), 0)

    def test_a_window_goes_that_has_a_job_that_fails_or_is_aborted(self):
        async def wait(_item):
            await scheduler.sleep(10 ** 8)

        def step():
            while True:
                yield

        def fail():
            yield
            raise ValueError

        async def fail_at_once():
            raise ValueError

        async def fail_later():
            await scheduler.yield_()
            raise ValueError

        async def await_another():
            await scheduler.post_task(fail_later, signal=scheduler.current_signal)

        # A kept exception keeps the frames that its traceback names and, with Python 3.12 and 3.13, the frames that called these.
        ways = {
            'coroutine': lambda signal: scheduler.post_task(lambda: wait(0), signal=signal),
            'coroutine that fails at once': lambda signal: scheduler.post_task(fail_at_once, signal=signal),
            'coroutine that fails later': lambda signal: scheduler.post_task(fail_later, signal=signal),
            'coroutine that awaits another': lambda signal: scheduler.post_task(await_another, signal=signal),
            'steps': lambda signal: scheduler.post_task(step, signal=signal),
            'steps that fail': lambda signal: scheduler.post_task(fail, signal=signal),
            'feed': lambda signal: PrioSched.TaskGroup().feed(wait, range(10), signal=signal),
        }
        for name, post in ways.items():
            with self.subTest(job=name):
                for _ in range(20):
                    window = Window(WAYS['connect ()'])
                    window.task = post(window.controller.signal)
                    for _ in range(5):
                        GLib.MainContext.default().iteration(False)
                    window.controller.abort()
                    while not window.task.done():
                        GLib.MainContext.default().iteration(True)
                    window.task.exception()
                    del window
                self.assertEqual(self.count(), 0)

    def test_a_gobject_goes_that_has_a_job_that_fails(self):
        """Checks this in PrioSched.run (), and so, with later versions of PyGObject, on a loop of asyncio."""
        class Window(GObject.Object):
            pass

        async def fail_at_once():
            raise ValueError

        async def fail_later():
            await scheduler.sleep(0)
            raise ValueError

        async def fail_at_the_abort():
            try:
                await scheduler.sleep(10 ** 8)
            finally:
                raise ValueError

        def steps():
            yield
            raise ValueError

        def fail():
            raise ValueError

        async def open_window(post):
            window = Window()
            window.controller = PrioSched.TaskController()
            window.closed = lambda *_: None
            window.controller.signal.connect('cancelled', lambda *_: window.closed())
            window.task = post(window.controller.signal)
            await scheduler.sleep(1)
            window.controller.abort()
            try:
                await window.task
            except (ValueError, PrioSched.AbortError):
                pass

        async def open_windows(post):
            for _ in range(20):
                await open_window(post)

        ways = {job.__name__: lambda signal, job=job: scheduler.post_task(job, signal=signal)
                for job in (fail_at_once, fail_later, fail_at_the_abort, steps, fail)}
        ways['in a thread'] = lambda signal: scheduler.run_in_thread(fail, signal=signal)
        for name, post in ways.items():
            with self.subTest(job=name):
                PrioSched.run(open_windows(post))
                collect()
                self.assertEqual(sum(isinstance(window, Window) for window in gc.get_objects()), 0)

    def test_a_window_goes_that_has_a_channel(self):
        for how in ('unused', 'used', 'closed', 'aborted'):
            with self.subTest(channel=how):
                for _ in range(20):
                    window = Window(WAYS['connect ()'])
                    window.channel = PrioSched.Channel(int, signal=window.controller.signal)
                    if how != 'unused':
                        window.channel.give(5)
                    if how == 'closed':
                        window.channel.close()
                    elif how == 'aborted':
                        window.controller.abort()
                        self.assertTrue(window.channel.closed)
                    del window
                self.assertEqual(self.count(), 0)

    def test_a_window_goes_that_has_a_latest(self):
        for _ in range(20):
            window = Window(WAYS['connect ()'])
            window.search = scheduler.latest(int, signal=window.controller.signal)
            del window
        self.assertEqual(self.count(), 0)

    def test_a_latest_keeps_its_signal(self):
        search = scheduler.latest(lambda: 1, signal=PrioSched.TaskController().signal)
        collect()
        run = search()
        while not run.done():
            GLib.MainContext.default().iteration(True)
        self.assertEqual(PrioSched.run(run), 1)

    def test_a_task_that_has_ended_has_the_priority_that_it_had(self):
        controller = PrioSched.TaskController('background')
        task = scheduler.post_task(int, signal=controller.signal)
        while not task.done():
            GLib.MainContext.default().iteration(True)
        controller.set_priority('user-blocking')
        self.assertEqual(task.priority, PrioSched.TaskPriority.BACKGROUND)

    def test_a_handler_is_called_as_long_as_the_controller_lives(self):
        window = Window(WAYS['connect_after ()'])
        collect()
        window.controller.abort()
        self.assertEqual(window.heard, [(1, 2)])

    def test_a_handler_is_called_as_long_as_others_have_the_signal(self):
        """Checks that the collector does not free the controller and the handler while a task is still pending."""
        heard = []

        def begin():
            controller = PrioSched.TaskController()
            controller.signal.connect('cancelled', lambda *_: heard.append(controller.priority))
            return scheduler.post_task(int, signal=controller.signal, delay=10 ** 8)
        task = begin()
        collect()
        task._posted_with.signal.cancel()
        self.assertEqual(len(heard), 1)

    def test_a_handler_outlives_the_controller_with_the_signal(self):
        heard = []
        signal = PrioSched.TaskController().signal
        signal.connect('cancelled', lambda *_: heard.append('cancelled'))
        collect()
        signal.cancel()
        self.assertEqual(heard, ['cancelled'])

    def test_a_handler_of_an_abort_can_disconnect_itself(self):
        controller, heard = PrioSched.TaskController(), []

        def stopped(signal):
            heard.append('cancelled')
            signal.disconnect(handler)
        handler = controller.signal.connect('cancelled', stopped)
        controller.abort()
        self.assertEqual(heard, ['cancelled'])

    def test_what_is_disconnected_is_released(self):
        def by_func(signal, window):
            signal.disconnect_by_func(window.stopped)
        for name, disconnect in {'disconnect ()': lambda signal, window: signal.disconnect(window.handler),
                                 'GObject': lambda signal, window: GObject.signal_handler_disconnect(signal, window.handler),
                                 'disconnect_by_func ()': by_func}.items():
            with self.subTest(disconnected_by=name):
                window = Window(WAYS['connect ()'])
                controller = window.controller
                disconnect(controller.signal, window)
                del window
                self.assertEqual(self.count(), 0)
                controller.abort()


if __name__ == '__main__':
    unittest.main()
