"""Tests PrioSched.Channel in Python, and threads that wait for results.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gc
import threading
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
context = GLib.MainContext.default()


def in_thread(function):
    """Runs function () in a thread, and the main loop until it returns.  Returns its result, or raises its exception."""
    results = []

    def call():
        try:
            results.append((function(), None))
        except BaseException as error:
            results.append((None, error))
        context.wakeup()

    thread = threading.Thread(target=call)
    thread.start()
    while not results:
        context.iteration(True)
    thread.join()
    value, error = results.pop()
    if error is not None:
        raise error
    return value


def iterate_until(is_so):
    while not is_so():
        context.iteration(True)


class Value:
    pass


class Channels(unittest.TestCase):

    def assert_closed(self, function):
        with self.assertRaises(GLib.Error) as caught:
            function()
        self.assertTrue(caught.exception.matches(PrioSched.error_quark(), PrioSched.Error.CLOSED))

    def test_the_newest_wins(self):
        shown = []
        channel = PrioSched.Channel(shown.append, pace='frame')
        in_thread(lambda: [channel.replace(i) for i in range(10000)])
        iterate_until(lambda: shown and shown[-1] == 9999)
        self.assertLess(len(shown), 5000)
        iterate_until(lambda: not len(channel))

    def test_a_replaced_value_is_released_at_once(self):
        channel = PrioSched.Channel(print, pace='frame', signal=(signal := Gio.Cancellable()))
        value = Value()
        released = weakref.ref(value)
        channel.replace(value)
        del value
        self.assertIsNotNone(released())
        channel.replace(None)
        self.assertIsNone(released())
        signal.cancel()
        self.assertFalse(channel.replace(None))

    def test_an_offer_is_refused(self):
        shown = []
        channel = PrioSched.Channel(shown.append, 2)
        self.assertEqual([channel.offer(i) for i in range(3)], [True, True, False])
        self.assertEqual(len(channel), 2)
        iterate_until(lambda: len(shown) == 2)
        self.assertTrue(channel.offer(3))
        iterate_until(lambda: shown == [0, 1, 3])

    def test_giving_waits_in_a_thread(self):
        shown = []

        def show(value):
            self.assertLessEqual(len(channel), 3)
            shown.append(value)

        channel = PrioSched.Channel(show, 3)
        in_thread(lambda: [channel.give(i) for i in range(300)])
        iterate_until(lambda: len(shown) == 300)
        self.assertEqual(shown, [*range(300)])

    def test_giving_on_the_loop_is_refused(self):
        channel = PrioSched.Channel(print, 1, signal=(signal := Gio.Cancellable()))
        channel.give(1)
        with self.assertRaisesRegex(RuntimeError, 'give_async'):
            channel.give(2)
        signal.cancel()
        self.assert_closed(lambda: channel.give(3))

    def test_giving_is_awaited_on_the_loop(self):
        shown = []
        channel = PrioSched.Channel(shown.append, 1, 'turn')

        async def produce():
            for i in range(5):
                await channel.give_async(i)

        task = scheduler.post_task(produce)
        iterate_until(task.done)
        task.result()
        iterate_until(lambda: shown == [*range(5)])

    def test_a_full_channel_times_out(self):
        channel = PrioSched.Channel(print, 1, signal=(signal := Gio.Cancellable()))
        channel.offer(1)
        errors = []

        def give():
            try:
                channel.give(2, 0.01)
            except TimeoutError as error:
                errors.append(error)

        thread = threading.Thread(target=give)
        thread.start()
        thread.join()
        self.assertEqual(len(errors), 1)
        signal.cancel()

    def test_closing_wakes_and_refuses(self):
        shown = []

        def show(value):
            shown.append(value)
            channel.close()
            channel.close()

        channel = PrioSched.Channel(show, 1)
        channel.offer(1)
        self.assert_closed(lambda: in_thread(lambda: [channel.give(i) for i in range(3)]))
        self.assertFalse(channel.replace(2))
        self.assertTrue(channel.closed)

    def test_an_abort_ends_it(self):
        controller = PrioSched.TaskController()
        channel = PrioSched.Channel(self.fail, 2, signal=controller.signal)
        channel.offer(1)
        channel.offer(2)
        scheduler.post_task(controller.abort, 'user-blocking')
        self.assert_closed(lambda: in_thread(lambda: channel.give(3)))
        iterate_until(lambda: not len(channel))

    def test_a_task_keeps_the_place(self):
        group = PrioSched.TaskGroup(scheduler, 1)
        release, running = PrioSched.Channel(print, 1), []

        async def work(value):
            running.append(value)
            self.assertLessEqual(len(channel), 2)
            await scheduler.yield_()

        channel = PrioSched.Channel(lambda value: group.post_task(lambda: work(value)), 2)
        in_thread(lambda: [channel.give(i) for i in range(20)])
        iterate_until(lambda: len(running) == 20 and not len(channel))
        del release

    def test_an_exception_does_not_end_it(self):
        shown = []

        def show(value):
            if value == 1:
                raise ValueError(value)
            shown.append(value)

        channel = PrioSched.Channel(show, 5)
        for i in range(3):
            channel.offer(i)
        with self.assertLogs('PrioSched', 'ERROR'):
            iterate_until(lambda: shown == [0, 2])
            gc.collect()

    def test_wrong_arguments(self):
        for capacity in 0, -1, 2 ** 32:
            with self.assertRaises(ValueError):
                PrioSched.Channel(print, capacity)
        for pace in 'frames', 1, None:
            with self.assertRaises(ValueError):
                PrioSched.Channel(print, 1, pace)
        with self.assertRaises(TypeError):
            PrioSched.Channel(None)


class Results(unittest.TestCase):

    def test_a_thread_gets_the_result(self):
        task_of = lambda: scheduler.post_task(threading.get_ident)  # noqa: E731
        self.assertEqual(in_thread(lambda: task_of().result()), threading.get_ident())
        self.assertEqual(in_thread(lambda: task_of().result(timeout=60)), threading.get_ident())

    def test_a_thread_gets_the_exception(self):
        with self.assertRaises(ZeroDivisionError):
            in_thread(lambda: scheduler.post_task(lambda: 1 / 0).result())

    def test_a_thread_gets_the_result_of_a_coroutine(self):
        async def answer():
            await scheduler.sleep(1)
            return 42

        self.assertEqual(in_thread(lambda: scheduler.post_task(answer).result()), 42)

    def test_an_abort_wakes_the_thread(self):
        controller = PrioSched.TaskController()
        scheduler.post_task(controller.abort, 'user-blocking', delay=1)
        with self.assertRaises(PrioSched.AbortError):
            in_thread(lambda: scheduler.post_task(print, signal=controller.signal, delay=100000).result())

    def test_it_times_out(self):
        task = scheduler.post_task(lambda: 7, delay=50)
        with self.assertRaises(TimeoutError):
            in_thread(lambda: task.result(0.001))
        iterate_until(task.done)
        self.assertEqual(task.result(), 7)

    def test_the_own_thread_does_not_wait(self):
        task = scheduler.post_task(lambda: 7)
        with self.assertRaisesRegex(Exception, 'has not completed'):
            task.result()
        iterate_until(task.done)
        self.assertEqual(task.result(1), 7)


if __name__ == '__main__':
    unittest.main()
