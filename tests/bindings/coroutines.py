"""Tests coroutines without a loop of asyncio, threads, reasons, and the representation of tasks"""

import asyncio
import contextlib
import gc
import itertools
import logging
import os
import threading
import time
import traceback
import unittest
import unittest.mock
import warnings
import weakref
from signal import SIGINT

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


class Why(Exception):
    pass


def complete(future, seconds=10):
    """Iterates the main context until future is done."""
    context = GLib.MainContext.default()
    late = time.monotonic() + seconds
    while not future.done():
        # A separate source, so that the time is looked at.
        source = GLib.timeout_add(500, lambda: True)
        context.iteration(True)
        GLib.source_remove(source)
        if time.monotonic() > late:
            raise AssertionError(f'{future!r} has not completed')
    return future.result()


def posted(function):
    """Makes a test of a coroutine function: it runs in a task, without asyncio."""
    def test(self):
        complete(scheduler.post_task(lambda: function(self)))
    test.__name__ = function.__name__
    return test


class Worker:
    """Runs a main context in a separate thread."""

    def __enter__(self):
        self.loop = GLib.MainLoop.new(GLib.MainContext.new(), False)
        ready = threading.Event()

        def work():
            context = self.loop.get_context()
            context.push_thread_default()
            self.scheduler = PrioSched.Scheduler.ref_thread_default()
            ready.set()
            self.loop.run()
            context.pop_thread_default()
        self.thread = threading.Thread(target=work)
        self.thread.start()
        ready.wait()
        return self

    def __exit__(self, *exception):
        self.loop.quit()
        self.thread.join()


class Chains(unittest.TestCase):

    def test_tasks_that_each_await_the_one_before(self):
        """Checks a long chain; in an earlier version, some hundred tasks were too deep for Python."""
        done = []
        tail = scheduler.post_task(lambda: None, delay=5)
        for i in range(5000):
            async def job(before=tail, i=i):
                await before
                done.append(i)
            tail = scheduler.post_task(job)
        complete(tail, 30)
        self.assertEqual(done, list(range(5000)))

    def test_callbacks_that_each_end_the_next(self):
        done = []
        first = scheduler.post_task(lambda: None, delay=100000)
        before = first
        for i in range(5000):
            async def job(before=before):
                try:
                    await before
                finally:
                    done.append(True)
            before = scheduler.post_task(job)
        complete(scheduler.post_task(lambda: None, 'background'))
        first.cancel()
        with self.assertRaises(asyncio.CancelledError):
            complete(before, 30)
        self.assertEqual(len(done), 5000)


class Results(unittest.TestCase):

    def test_a_callback_of_what_is_done_is_called_once_whatever_it_returns(self):
        task = scheduler.post_task(lambda: None)
        complete(task)
        calls = []
        task.add_done_callback(lambda task: calls.append(task) or True)
        for _ in range(5):
            GLib.MainContext.default().iteration(False)
        self.assertEqual(calls, [task])

    @posted
    async def test_any_value_is_a_result(self):
        for value in (None, 5, (1, 2), (), ValueError('returned'), StopIteration(5), [], scheduler):
            task = scheduler.post_task(lambda value=value: value)
            self.assertIs(await task, value)
            self.assertIs(await task, value)
            self.assertIs(task.result(), value)

            async def function(value=value):
                await scheduler.yield_()
                return value
            self.assertIs(await scheduler.post_task(function), value)

    @posted
    async def test_stop_iteration_is_no_result(self):
        """Checks that StopIteration is refused as in asyncio: a coroutine would take it for the value of the await."""
        def function():
            raise StopIteration(5)
        with self.assertRaisesRegex(RuntimeError, 'StopIteration') as caught:
            await scheduler.post_task(function)
        self.assertEqual(caught.exception.__cause__.value, 5)

    @posted
    async def test_what_does_not_go_on_is_closed(self):
        log = []

        async def function():
            try:
                await scheduler.post_task(lambda: None, delay=100000)
            except GeneratorExit:
                log.append('closed')
                raise
        coroutine = function()
        coroutine.send(None)
        coroutine.close()
        self.assertEqual(log, ['closed'])


class Threads(unittest.TestCase):

    def test_who_awaits_another_thread_s_task_goes_on_in_its_own(self):
        here = threading.get_ident()

        async def function(other, expected):
            self.assertEqual(await other.post_task(threading.get_ident), expected)
            self.assertEqual(threading.get_ident(), here)
            await scheduler.yield_()
            await other.yield_()
            self.assertEqual(threading.get_ident(), here)
            await other.post_task(lambda: None, delay=1)
            self.assertEqual(threading.get_ident(), here)

        with Worker() as worker:
            complete(scheduler.post_task(lambda: function(worker.scheduler, worker.thread.ident), 'background'))
            seen = []
            worker.scheduler.post_task(lambda: None, delay=1).add_done_callback(lambda _: seen.append(threading.get_ident()))
            while not seen:
                GLib.MainContext.default().iteration(True)
            self.assertEqual(seen, [here])

    def test_who_begins_to_wait_while_another_thread_ends_it_is_told(self):
        called, main_context = [], GLib.MainContext.default()
        get_thread_default = GLib.MainContext.get_thread_default

        def find_context():
            """Called by add_done_callback (), after it has seen that the task is not done, and before it joins its list."""
            if threading.current_thread() is not threading.main_thread():
                # PyGObject calls this when it runs the worker's loop.
                return get_thread_default()
            begin.set()
            while not task.done():
                time.sleep(0.001)
            return None

        with Worker() as worker:
            begin = threading.Event()
            task = worker.scheduler.post_task(begin.wait)
            with unittest.mock.patch.object(GLib.MainContext, 'get_thread_default', find_context):
                task.add_done_callback(called.append)
        while main_context.iteration(False):
            pass
        self.assertEqual(called, [task])

    def test_each_thread_has_its_own_state(self):
        """Checks that an abort reaches the runs of all threads, too."""
        runs, may_end = threading.Event(), threading.Event()

        async def first():
            runs.set()
            may_end.wait()

        async def second(own):
            controller = PrioSched.TaskController('background')

            async def task():
                await own.post_task(lambda: None)
                may_end.set()
                time.sleep(0.05)
                controller.abort(Why())
                await own.yield_()
            await own.post_task(task, signal=controller.signal)

        with Worker() as a, Worker() as b:
            a.scheduler.post_task(first)
            runs.wait()
            with self.assertRaises(Why):
                complete(b.scheduler.post_task(lambda: second(b.scheduler)))

    def test_run_in_a_thread_with_a_context_of_its_own(self):
        """Checks that PrioSched.run () iterates that context, not the default one."""
        results = []

        def work():
            context = GLib.MainContext.new()
            context.push_thread_default()
            own = PrioSched.Scheduler.ref_thread_default()

            async def main():
                before = threading.get_ident()
                await own.yield_()
                await own.post_task(lambda: None, delay=1)
                return before == threading.get_ident()
            results.append(PrioSched.run(main()))
            context.pop_thread_default()
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(10)
        self.assertEqual(results, [True])

    def test_an_abort_from_another_thread(self):
        controller = PrioSched.TaskController()

        async def function():
            await scheduler.post_task(lambda: None, delay=100000)
        task = scheduler.post_task(function, signal=controller.signal)
        threading.Timer(0.01, controller.abort, (Why(),)).start()
        with self.assertRaises(Why):
            complete(task)


class Cancellation(unittest.TestCase):

    @posted
    async def test_a_coroutine_that_has_begun(self):
        """Checks that the error is thrown into the coroutine at its await."""
        for what in (scheduler.yield_, lambda: scheduler.post_task(lambda: None, delay=100000)):
            log = []

            async def function(what=what, log=log):
                try:
                    while True:
                        await what()
                except asyncio.CancelledError as error:
                    log.append(error.args)
                    await scheduler.yield_()
                    raise
                finally:
                    log.append('finally')
            task = scheduler.post_task(function, 'background')
            while task.state != PrioSched.TaskState.RUNNING:
                await scheduler.post_task(lambda: None, delay=1)
            self.assertTrue(task.cancel('enough'))
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual((log, task.cancelled(), task.state), ([('enough',), 'finally'], True, PrioSched.TaskState.ABORTED))
            self.assertFalse(task.cancel())

    @posted
    async def test_an_abort_in_the_first_step_wakes_who_awaits_in_its_checkpoint(self):
        aborts = (lambda controller, task: controller.abort(Why()), lambda controller, task: task.cancel())
        for abort, signal in itertools.product(aborts, (None, PrioSched.TaskController().signal)):
            async def awaits(abort=abort):
                controller = PrioSched.TaskController()
                task = scheduler.post_task(lambda: None, signal=controller.signal)
                abort(controller, task)
                try:
                    await task
                except (Why, asyncio.CancelledError):
                    return 'told'

            async def fails(awaits=awaits):
                raise Why(await awaits())
            self.assertEqual(await scheduler.post_task(awaits, 'background', signal), 'told')
            with self.assertRaisesRegex(Why, 'told'):
                await scheduler.post_task(fails, 'background', signal)

    @posted
    async def test_a_chain_of_any_length(self):
        """Checks a chain, and a chain in a main context that no thread runs."""
        context = GLib.MainContext()
        nowhere = PrioSched.Scheduler.new(context)
        for last in (scheduler, nowhere):
            cleaned_up = []

            async def link(before, cleaned_up=cleaned_up):
                try:
                    await before
                finally:
                    cleaned_up.append(True)
            task = last.post_task(lambda: None, delay=100000)
            for _ in range(3000):
                task = scheduler.post_task(lambda before=task: link(before))
            await scheduler.post_task(lambda: None, 'background')
            self.assertTrue(task.cancel('enough'))
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(len(cleaned_up), 3000)

    @posted
    async def test_the_result_is_what_it_makes_of_it(self):
        async def function():
            try:
                await scheduler.post_task(lambda: None, delay=100000)
            except asyncio.CancelledError:
                return 'denied'
        task = scheduler.post_task(function)
        await scheduler.yield_()
        await scheduler.post_task(lambda: None)
        task.cancel()
        self.assertEqual(await task, 'denied')
        self.assertFalse(task.cancelled())

    @posted
    async def test_an_abort_beside_the_outcome_is_raised_instead_of_it(self):
        for fails in False, True:
            for in_thread in False, True:
                controller, log = PrioSched.TaskController(), []

                def abort():
                    controller.abort()
                    if fails:
                        raise Why

                async def function():
                    try:
                        await (scheduler.run_in_thread(abort) if in_thread else scheduler.post_task(abort))
                    except PrioSched.AbortError:
                        await scheduler.sleep(1)
                        log.append('cleaned up')
                        raise
                with self.assertRaises(PrioSched.AbortError):
                    await scheduler.post_task(function, signal=controller.signal)
                self.assertEqual(log, ['cleaned up'])

    @posted
    async def test_an_abort_reaches_a_coroutine_where_it_stands(self):
        controller, why, log = PrioSched.TaskController(), Why(), []
        other = scheduler.post_task(lambda: None, delay=100000)

        async def function():
            try:
                await other
            finally:
                await scheduler.post_task(lambda: None, delay=1)
                log.append('finally')
        task = scheduler.post_task(function, signal=controller.signal)
        await scheduler.post_task(lambda: None, 'background')
        controller.abort(why)
        with self.assertRaises(Why) as caught:
            await task
        self.assertIs(caught.exception, why)
        self.assertEqual((log, task.state, other.state),
                         (['finally'], PrioSched.TaskState.ABORTED, PrioSched.TaskState.PENDING))
        other.cancel()

    @posted
    async def test_the_reason_is_raised_once(self):
        """Checks that later code may await; and the result is whatever the coroutine returns or raises, also if its
        first step aborts it.
        """
        async def yields(controller):
            while True:
                await scheduler.yield_()

        async def aborts_itself(controller):
            controller.abort(Why())
            await scheduler.post_task(lambda: None, delay=100000)

        async def waits(controller):
            await scheduler.post_task(lambda: None, delay=100000)

        for body in (yields, aborts_itself, waits):
            controller, log = PrioSched.TaskController(), []

            async def function(body=body, controller=controller, log=log):
                try:
                    await body(controller)
                except Why:
                    for _ in range(2):
                        await scheduler.yield_()
                        log.append(await scheduler.post_task(lambda: 'ran', 'user-blocking'))
                    return 'saved'
            task = scheduler.post_task(function, signal=controller.signal)
            while task.state == PrioSched.TaskState.PENDING:
                await scheduler.sleep(1)
            controller.abort(Why())
            self.assertEqual((await task, task.state, log), ('saved', PrioSched.TaskState.FULFILLED, ['ran'] * 2))

    @posted
    async def test_cancelled_tasks_let_go_at_once(self):
        """Checks that cancelled tasks are freed at once, even tasks whose delay is not over."""
        class Thing:
            pass
        thing = Thing()
        refs = [weakref.ref(thing)]
        tasks = [scheduler.post_task(lambda thing=thing: None, delay=3600000) for _ in range(100)]
        refs += [weakref.ref(task) for task in tasks]
        del thing
        for task in tasks:
            task.cancel()
        del tasks, task
        await scheduler.post_task(lambda: None, 'background')
        gc.collect()
        self.assertEqual([ref() for ref in refs], [None] * 101)

    @posted
    async def test_a_task_cannot_await_itself(self):
        async def function():
            await scheduler.yield_()
            await task
        task = scheduler.post_task(function)
        with self.assertRaisesRegex(RuntimeError, 'cannot await itself'):
            await task

    @posted
    async def test_a_task_cannot_await_itself_at_once(self):
        async def function():
            await tasks[0]
        tasks = [scheduler.post_task(function)]
        with self.assertRaisesRegex(RuntimeError, 'cannot await itself'):
            await tasks[0]

    @posted
    async def test_a_circle_of_tasks_ends_when_one_is_cancelled(self):
        async def await_other(i):
            await tasks[1 - i]
        tasks = [scheduler.post_task(lambda i=i: await_other(i)) for i in range(2)]
        await scheduler.sleep(1)
        self.assertTrue(tasks[0].cancel())
        for task in tasks:
            with self.assertRaises(asyncio.CancelledError):
                await task

    @posted
    async def test_a_bare_yield(self):
        """Checks that asyncio.sleep (0) yields, and that the continuation runs before new tasks."""
        log = []

        async def function(name):
            for i in range(3):
                await asyncio.sleep(0)
                log.append((name, i))
        first, second = scheduler.post_task(lambda: function('a')), scheduler.post_task(lambda: function('b'))
        await first
        await second
        self.assertEqual(log, [('a', 0), ('a', 1), ('a', 2), ('b', 0), ('b', 1), ('b', 2)])

    @posted
    async def test_what_would_never_wake_it_up_is_refused(self):
        loop = asyncio.new_event_loop()

        async def function():
            await loop.create_future()
        try:
            with self.assertRaisesRegex(RuntimeError, 'loop'):
                await scheduler.post_task(function)
        finally:
            loop.close()


class Reasons(unittest.TestCase):

    def test_a_timeout_among_the_sources_needs_no_other_reference(self):
        """Checks that the library keeps a timeout for its dependents."""
        signal = PrioSched.TaskSignal.any([PrioSched.TaskSignal.any([PrioSched.TaskSignal.new_timeout(5)]),
                                           PrioSched.TaskController().signal])
        gc.collect()
        task = scheduler.post_task(lambda: None, signal=signal, delay=100000)
        del signal
        gc.collect()
        with self.assertRaises(GLib.Error) as caught:
            complete(task)
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT))

    def test_the_reason_of_a_dependent_lasts(self):
        """Checks that a dependent has its reason even after the source has been freed."""
        controller, why = PrioSched.TaskController(), Why('it')
        signal = PrioSched.TaskSignal.any([PrioSched.TaskSignal.any([controller.signal])])
        follower = PrioSched.TaskSignal.any([controller.signal], controller.signal)
        controller.abort(why)
        del controller
        gc.collect()
        self.assertIs(signal.reason, why)
        self.assertIs(follower.reason, why)
        with self.assertRaises(Why):
            complete(scheduler.post_task(lambda: None, signal=signal))

    def test_a_reason_whose_traceback_leads_to_its_controller(self):
        """Checks that the collector finds the circle."""
        class View:
            def load(self):
                controller = PrioSched.TaskController('background')
                signal = controller.signal
                try:
                    raise Why('it')
                except Why as error:
                    controller.abort(error)
                self.assert_reason(signal)

            def assert_reason(self, signal):
                assert isinstance(signal.reason, Why) and signal.reason.__traceback__ is not None
        refs = []
        for _ in range(10):
            view = View()
            view.load()
            refs.append(weakref.ref(view))
        del view
        gc.collect()
        self.assertEqual([ref() for ref in refs], [None] * 10)

    def test_a_signal_that_has_been_reset(self):
        signal = Gio.Cancellable()
        task = scheduler.post_task(lambda: None, signal=signal)
        signal.cancel()
        signal.reset()
        with self.assertRaises(GLib.Error) as caught:
            complete(task)
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_a_task_whose_context_has_gone(self):
        """Checks that a task whose context was freed fails, and does not wait for ever."""
        def post():
            context = GLib.MainContext.new()
            context.push_thread_default()
            try:
                return PrioSched.Scheduler.ref_thread_default().post_task(lambda: None)
            finally:
                context.pop_thread_default()
        task = post()
        gc.collect()
        self.assertTrue(task.done())
        self.assertTrue(task.exception().matches(PrioSched.error_quark(), PrioSched.Error.CLOSED))


class Looks(unittest.TestCase):
    """Tests how types, tasks and errors appear to a developer."""

    def test_types_have_parameters_at_run_time(self):
        self.assertEqual(PrioSched.PostedTask[int].__origin__, PrioSched.PostedTask)
        self.assertEqual(PrioSched.Future[int].__args__, (int,))

    def test_a_task_s_repr(self):
        task = scheduler.post_task(lambda: 5, 'background', name='mine')
        self.assertEqual(repr(task), "<PrioSched.PostedTask 'mine' background pending>")
        complete(task)
        self.assertEqual(repr(task), "<PrioSched.PostedTask 'mine' background fulfilled result=5>")
        self.assertEqual(task.get_name(), 'mine')
        task = scheduler.post_task(lambda: 5, signal=PrioSched.TaskController('user-blocking').signal)
        task.cancel()
        self.assertEqual(repr(task), '<PrioSched.PostedTask user-blocking aborted cancelled>')

    def test_what_nobody_awaits_is_reported_by_name(self):
        def fails():
            raise Why
        with self.assertLogs('PrioSched', logging.ERROR) as logs:
            scheduler.post_task(fails, name='the failing one')
            complete(scheduler.post_task(lambda: None, 'background'))
            gc.collect()
        self.assertIn('the failing one', logs.output[0])

    def test_a_yield_that_nobody_awaits_is_reported(self):
        """Checks that the yield is reported like a coroutine that was never awaited."""
        def call(forgets):
            with warnings.catch_warnings(record=True) as reported:
                warnings.simplefilter('always')
                complete(scheduler.post_task(forgets))
                complete(scheduler.post_task(lambda: None, 'background', delay=5))
                gc.collect()
            # PyGObject issues warnings, too.
            return [str(warning.message) for warning in reported if warning.category is RuntimeWarning]

        async def awaits():
            for waits in (scheduler.yield_(), scheduler.sleep(1), scheduler.yield_(priority='background'), group.drained()):
                await waits
            scheduler.yield_().add_done_callback(lambda _: None)
            scheduler.yield_().cancel()
            controller = PrioSched.TaskController()
            scheduler.sleep(100000, signal=controller.signal)
            controller.abort()

        group = PrioSched.TaskGroup(limit=1)
        for forget in (scheduler.yield_, lambda: scheduler.sleep(1), lambda: scheduler.yield_(priority='background'), group.drained,
                       group.all):
            (message,) = call(lambda forget=forget: forget() and None)
            self.assertRegex(message, r'yield_ \(\), sleep \(\).*was never awaited')
        self.assertEqual(call(awaits), [])

    def test_tracebacks_begin_in_the_program(self):
        def fails():
            raise Why

        async def fails_later():
            await scheduler.yield_()
            raise Why
        signal = PrioSched.TaskController().signal
        for task in (scheduler.post_task(fails), scheduler.post_task(fails, signal=signal), scheduler.post_task(fails_later),
                     scheduler.post_task(fails_later, signal=signal)):
            complete(scheduler.post_task(lambda: None, 'background'))
            files = [frame.filename for frame in traceback.extract_tb(task.exception().__traceback__)]
            self.assertEqual(files, [__file__])

    def test_ctrl_c_reaches_code_that_awaits_the_cleanup_of_an_aborted_task(self):
        async def clean_up():
            try:
                started.append(True)
                await scheduler.sleep(10 ** 8)
            finally:
                os.kill(os.getpid(), SIGINT)
                await scheduler.sleep(10 ** 8)

        async def main():
            controller = PrioSched.TaskController()
            task = scheduler.post_task(clean_up, signal=controller.signal)
            while not started:
                await scheduler.sleep(1)
            controller.abort(Why())
            with contextlib.suppress(Why):
                await task
            self.fail('the cancellation is lost')
        started = []
        with self.assertRaises(KeyboardInterrupt):
            PrioSched.run(main())

    def test_tracebacks_do_not_grow_with_the_number_of_awaits(self):
        async def fails():
            raise Why

        async def main():
            lengths = set()
            for failed in scheduler.post_task(fails), scheduler.run_in_thread(next, iter(())):
                for _ in range(5):
                    try:
                        await failed
                    except (Why, RuntimeError) as error:
                        lengths.add(len(traceback.extract_tb(error.__traceback__)))
                with self.assertRaises((Why, RuntimeError)) as caught:
                    failed.result()
                lengths.add(len(traceback.extract_tb(caught.exception.__traceback__)))
            return lengths
        self.assertLessEqual(max(PrioSched.run(main())), 3)

    def test_times_are_whole_numbers(self):
        for value, error in ((0.5, TypeError), (True, TypeError), (-1, ValueError), ('1', TypeError), (None, TypeError),
                             (2 ** 64, ValueError)):
            for call in (PrioSched.TaskSignal.new_timeout, lambda delay: scheduler.post_task(lambda: None, delay=delay)):
                with self.subTest(value=value), self.assertRaises(error) as caught:
                    call(value)
                self.assertIn(repr(value), str(caught.exception))

    def test_help_says_what_things_are(self):
        for name, words in (('post_task', ('milliseconds', 'background', 'user-blocking', 'signal', 'ValueError', 'TypeError')),
                            ('yield_', ('signal', 'inherit')), ('request_idle_callback', ('milliseconds', 'deadline')),
                            ('queue_microtask', ('task',))):
            text = getattr(PrioSched.Scheduler, name).__doc__
            for word in words:
                self.assertIn(word, text, name)


if __name__ == '__main__':
    unittest.main()
