"""Tests PrioSched.Channel in Python, and threads that wait for results.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gc
import os
import threading
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
context = GLib.MainContext.default()


def in_thread(function, runs=True):
    """Runs function () in a thread, and the main loop until it returns.  Returns its result, or raises its exception.

    runs  whether to run the main loop meanwhile
    """
    results = []

    def call():
        try:
            results.append((function(), None))
        except BaseException as error:
            results.append((None, error))
        context.wakeup()

    thread = threading.Thread(target=call)
    thread.start()
    while runs and not results:
        context.iteration(True)
    thread.join()
    value, error = results.pop()
    if error is not None:
        raise error
    return value


def iterate_until(is_so):
    while not is_so():
        context.iteration(True)


def in_child(function):
    """Returns whether function () returns True in a child process."""
    child = os.fork()
    if child == 0:
        is_so = False
        try:
            is_so = function()
        finally:
            os._exit(0 if is_so else 1)
    return os.waitpid(child, 0)[1] == 0


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

    def test_a_timeout_is_a_number_of_seconds(self):
        channel = PrioSched.Channel(print)
        with self.assertRaisesRegex(TypeError, "timeout is a number of seconds, not '1'"):
            channel.give(5, '1')
        self.assertEqual(len(channel), 0)

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

    def test_values_are_not_compared(self):
        class Array:  # as numpy's
            def __eq__(self, other):
                raise ValueError('the truth value of an array is ambiguous')

        channel = PrioSched.Channel(print, 1, signal=(signal := Gio.Cancellable()))
        channel.offer(Array())
        waiting = channel.give_async(Array())

        def give():
            with self.assertRaises(TimeoutError):
                channel.give(Array(), 0.01)
            return True

        self.assertTrue(in_thread(give, False))
        signal.cancel()
        iterate_until(waiting.done)
        self.assert_closed(waiting.result)

    def test_a_cancelled_give_is_not_delivered(self):
        used = []
        channel = PrioSched.Channel(used.append)
        channel.offer('first')
        waiting = [channel.give_async(value) for value in ('second', 'third')]
        waiting[0].cancel()
        iterate_until(lambda: 'third' in used)
        self.assertEqual(used, ['first', 'third'])

    def test_a_refused_value_is_released_without_the_lock(self):
        channel, other = PrioSched.Channel(print), PrioSched.Channel(print)
        waits = []

        class Releases:
            def __del__(self):
                thread = threading.Thread(target=len, args=[other], daemon=True)
                thread.start()
                thread.join(10)
                waits.append(thread.is_alive())
        channel.offer(1)
        waiting = [channel.give_async(Releases()) for _ in range(2)]
        channel.close()
        gc.collect()
        iterate_until(lambda: all(future.done() for future in waiting))
        self.assertEqual(waits, [False, False])

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

    def test_an_abort_wakes_a_thread_while_a_task_keeps_the_place(self):
        class Pending:
            def add_done_callback(self, callback):
                self.callback = callback

        pending, controller = Pending(), PrioSched.TaskController()
        channel = PrioSched.Channel(lambda _: pending, 1, signal=controller.signal)
        channel.offer(1)
        iterate_until(lambda: hasattr(pending, 'callback'))
        scheduler.post_task(controller.abort, 'user-blocking', delay=200)  # after the thread has begun to wait
        self.assert_closed(lambda: in_thread(lambda: channel.give(2)))

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

    def test_a_circle_through_the_callback_is_collected(self):
        class Window:
            def __init__(self, signal):
                self.shown = []
                self.channel = PrioSched.Channel(self.show, signal=signal)

            def show(self, value):
                self.shown.append(value)

        for signal in None, Gio.Cancellable():
            window = Window(signal)
            window.channel.offer(1)
            iterate_until(lambda: window.shown and not len(window.channel))
            if signal is not None:
                window.channel.offer(2)
                signal.cancel()
                iterate_until(lambda: not len(window.channel))
            gone = weakref.ref(window)
            del window
            while gone() is not None:
                context.iteration(False)
                gc.collect()

    def test_a_producer_outlives_the_loop(self):
        own = GLib.MainContext.new()
        channel = PrioSched.Channel(print, 1, scheduler=PrioSched.Scheduler.new(own))
        channel.offer(Value())
        del own
        errors = []

        def give():
            try:
                channel.give(Value(), 0.01)
            except (TimeoutError, GLib.Error) as error:
                errors.append(error)

        thread = threading.Thread(target=give)
        thread.start()
        thread.join()
        self.assertEqual(len(errors), 1)

    def test_a_child_process_uses_it(self):
        # Another thread may hold the lock of the channel when the process forks, and does not exist in the child.
        channel, over = PrioSched.Channel(lambda _: None, pace='turn'), threading.Event()

        def give():
            while not over.is_set():
                channel.replace(1)

        thread = threading.Thread(target=give)
        thread.start()
        self.assertEqual([in_child(lambda: channel.replace(2) and len(channel) > 0) for _ in range(20)], [True] * 20)
        over.set()
        thread.join()

    def test_a_child_process_releases_a_value_once(self):
        released, used = [], []
        worker = PrioSched.Worker('stopped')
        worker.stop()
        worker.join()
        channel = PrioSched.Channel(lambda _: used.append(1), 3)
        for _ in range(3):
            value = Value()
            weakref.finalize(value, released.append, 1)
            channel.offer(value)
        del value

        def use_in_child():
            worker.scheduler.post_task(print)
            iterate_until(lambda: not len(channel))
            return (len(used), len(released)) == (3, 3)

        self.assertTrue(in_child(use_in_child))
        self.assertEqual((used, released), ([], []))
        iterate_until(lambda: not len(channel))
        self.assertEqual((len(used), len(released)), (3, 3))

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

    def test_a_timeout_is_a_number_of_seconds(self):
        task = scheduler.post_task(lambda: 7)
        with self.assertRaisesRegex(TypeError, "timeout is a number of seconds, not '1'"):
            in_thread(lambda: task.result('1'))

    def test_the_own_thread_does_not_wait(self):
        task = scheduler.post_task(lambda: 7)
        with self.assertRaisesRegex(Exception, 'has not completed'):
            task.result()
        iterate_until(task.done)
        self.assertEqual(task.result(1), 7)


if __name__ == '__main__':
    unittest.main()
