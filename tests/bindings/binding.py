"""Tests the Python binding: tasks, signals, bad input, and its use of the library."""

import contextlib
import gc
import logging
import os
import pathlib
import re
import subprocess
import sys
import unittest
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    """Makes a test of a coroutine function."""
    return lambda self: PrioSched.run(function(self))


class Importing(unittest.TestCase):

    def test_overrides_for_another_python_say_so(self):
        sources = pathlib.Path(sys.modules['gi.overrides.PrioSched'].__file__).parents[2]
        if list(sources.glob('gi/overrides/_priosched/_native*')):
            self.skipTest('the module _native is installed there')
        program = 'import gi; gi.require_version("PrioSched", "1"); from gi.repository import PrioSched'
        result = subprocess.run([sys.executable, '-c', program], env=dict(os.environ, PYTHONPATH=str(sources)),
                                capture_output=True, text=True, check=False)
        self.assertRegex(result.stderr, rf'PrioSched is installed for another Python than this one, which is {sys.implementation.cache_tag}')


class Tasks(unittest.TestCase):

    @run
    async def test_results_and_exceptions(self):
        self.assertEqual(await scheduler.post_task(lambda: 42), 42)

        async def later():
            await scheduler.yield_()
            return 'later'
        self.assertEqual(await scheduler.post_task(later, priority='background', name='later'), 'later')

        with self.assertRaises(ZeroDivisionError):
            await scheduler.post_task(lambda: 1 / 0)

    @run
    async def test_order(self):
        log = []
        tasks = [scheduler.post_task(lambda p=p: log.append(p), p) for p in ('background', None, 'user-blocking')]

        async def yields():
            log.append(1)
            await scheduler.yield_()
            log.append(2)
        tasks += [scheduler.post_task(yields, PrioSched.TaskPriority.BACKGROUND),
                  scheduler.post_task(lambda: log.append(3), 'background')]
        for task in tasks:
            await task
        self.assertEqual(log, ['user-blocking', None, 'background', 1, 2, 3])

    @run
    async def test_abort(self):
        class Why(Exception):
            pass
        controller = PrioSched.TaskController(priority='background')
        task = scheduler.post_task(lambda: None, signal=controller.signal)
        self.assertFalse(controller.signal.aborted)
        why = Why()
        controller.abort(why)
        self.assertTrue(controller.signal.aborted)
        self.assertIs(controller.signal.reason, why)
        with self.assertRaises(Why):
            await task

        plain = Gio.Cancellable()
        task = scheduler.post_task(lambda: None, signal=plain)
        plain.cancel()
        with self.assertRaises(GLib.Error) as caught:
            await task
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    @run
    async def test_yield_is_rejected(self):
        controller = PrioSched.TaskController()

        async def function():
            await scheduler.yield_()
            controller.abort(KeyError('stop'))
            await scheduler.yield_()
        with self.assertRaises(KeyError):
            await scheduler.post_task(function, signal=controller.signal)

    @run
    async def test_state_goes_through_await(self):
        """Checks that a task that awaits a more urgent one keeps its state."""
        log = []

        async def function():
            await scheduler.post_task(lambda: log.append('urgent'), 'user-blocking')
            visible = scheduler.post_task(lambda: log.append('visible'))
            await scheduler.yield_()
            log.append('background')
            await visible
        await scheduler.post_task(function, 'background')
        self.assertEqual(log, ['urgent', 'visible', 'background'])

    @run
    async def test_microtasks_and_idle_callbacks(self):
        log, kept = [], []

        def function():
            scheduler.queue_microtask(lambda: log.append('micro'))
            log.append('task')
        first, second = scheduler.post_task(function), scheduler.post_task(lambda: log.append('next'))
        await first
        await second
        self.assertEqual(log, ['task', 'micro', 'next'])

        def idle(deadline):
            log.append((deadline.did_timeout, 0 <= deadline.get_time_remaining() <= 50))
            current = PrioSched.IdleDeadline.dup_current()
            kept.append((deadline, isinstance(deadline, PrioSched.IdleDeadline), current.did_timeout))
        handle = scheduler.request_idle_callback(lambda deadline: log.append('cancelled'))
        scheduler.cancel_idle_callback(handle)
        scheduler.request_idle_callback(idle, timeout=1000)
        while len(log) < 4:
            await scheduler.post_task(lambda: None, delay=1)
        self.assertEqual(log[3], (False, True))
        [(deadline, *others)] = kept
        self.assertEqual(others, [True, False])
        self.assertEqual((deadline.get_time_remaining(), deadline.did_timeout), (0, False))
        self.assertIsNone(PrioSched.IdleDeadline.dup_current())

    @run
    async def test_time_of_an_idle_callback_falls(self):
        left, posted = [], []

        def idle(deadline):
            posted.append(scheduler.post_task(lambda: None, 'background', delay=20))
            left.append(deadline.get_time_remaining())
            posted.append(scheduler.post_task(lambda: None, 'background'))
            left.append(deadline.get_time_remaining())
        scheduler.request_idle_callback(idle)
        while len(left) < 2:
            await scheduler.post_task(lambda: None, delay=1)
        self.assertLessEqual(left[0], 20)
        self.assertEqual(left[1], 0)
        for task in posted:
            await task

    def test_microtasks_of_other_sources(self):
        """Checks that microtasks run before the next task, even if that task runs in the same iteration."""
        for priority, level in ('user-blocking', -50), ('user-visible', 0), ('background', 300):
            log, context = [], GLib.MainContext()

            def tick(*_):
                scheduler.queue_microtask(lambda: (log.append('micro'), scheduler.queue_microtask(lambda: log.append('of a microtask'))))
                return GLib.SOURCE_REMOVE
            source = GLib.idle_source_new()
            source.set_priority(level)
            source.set_callback(tick)
            source.attach(context)
            with self.subTest(priority):
                scheduler = PrioSched.Scheduler.new(context)
                scheduler.post_task(lambda: log.append('task'), priority)
                while 'task' not in log:
                    context.iteration(False)
                self.assertEqual(log, ['micro', 'of a microtask', 'task'])


class Made(unittest.TestCase):
    """Tests tasks of the library that get their result from the code that creates them."""

    def wait(self, task):
        ended = []
        task.wait_async(None, lambda source, result: ended.append(source))
        while not ended:
            GLib.MainContext.default().iteration(True)
        self.assertEqual(ended, [task])

    def test_cancelled_wait(self):
        task = PrioSched.Task.new(scheduler)
        cancellable = Gio.Cancellable()
        errors = []

        def ended(source, result):
            try:
                task.wait_finish(result)
            except GLib.Error as error:
                errors.append(error)

        task.wait_async(cancellable, ended)
        cancellable.cancel()
        while not errors:
            GLib.MainContext.default().iteration(True)
        self.assertTrue(errors[0].matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertEqual(task.get_state(), PrioSched.TaskState.RUNNING)
        task.return_value(1)

    def test_result(self):
        task = PrioSched.Task.new(scheduler)
        self.assertEqual(task.get_state(), PrioSched.TaskState.RUNNING)
        task.return_value('text')
        self.wait(task)
        self.assertEqual(task.propagate_value(), (True, 'text'))

    def test_abort(self):
        controller = PrioSched.TaskController()
        options = PrioSched.TaskOptions()
        options.signal = controller.signal
        task = PrioSched.Task.new(scheduler, options)
        controller.abort()
        self.assertEqual(task.get_state(), PrioSched.TaskState.ABORTED)
        self.wait(task)
        with self.assertRaises(GLib.Error):
            task.propagate_int()
        task.return_int(1)
        self.assertEqual(task.get_state(), PrioSched.TaskState.ABORTED)


class Options(unittest.TestCase):
    """Tests a priority and a signal, passed in every way."""

    @run
    async def test_what_the_task_has(self):
        class Nick(str):
            pass

        follows, native = PrioSched.TaskController('user-blocking').signal, Gio.Cancellable()
        priorities = {None: 0, 'background': 1, Nick('background'): 1, ''.join(['back', 'ground']): 1, 'user-blocking': 3,
                      PrioSched.TaskPriority.BACKGROUND: 1, 3: 3}
        for priority, number in priorities.items():
            for signal in None, follows, native:
                with self.subTest(priority=priority, signal=signal):
                    wanted = number or (0 if signal is follows else 2)
                    found = await scheduler.post_task(PrioSched.SchedulingState.get_current, priority, signal)
                    self.assertEqual((found.get_priority(), found.get_cancellable()), (wanted, signal))

    @run
    async def test_one_after_the_other(self):
        """Checks that tasks share a state only if they have the same options."""
        one, other = PrioSched.TaskController(), PrioSched.TaskController()
        tasks = [scheduler.post_task(lambda i=i: i, priority, controller.signal)
                 for i, (priority, controller) in enumerate([(None, one), ('background', one), ('background', other), (None, one)])]
        other.abort()
        self.assertEqual([await tasks[i] for i in (0, 1, 3)], [0, 1, 3])
        with self.assertRaises(PrioSched.AbortError):
            await tasks[2]

    @run
    async def test_nothing_holds_the_signal_of_tasks_that_have_run(self):
        controller = PrioSched.TaskController()
        own = controller.signal
        signal = weakref.ref(own)
        own.connect('cancelled', lambda *_: None)  # its object for Python lives as long as the library's
        del own
        await scheduler.post_task(lambda: None, signal=controller.signal)
        await scheduler.post_task(lambda: None)
        del controller
        gc.collect()
        await scheduler.yield_()
        gc.collect()
        self.assertIsNone(signal())


class Signals(unittest.TestCase):

    def test_priority_change(self):
        log = []
        controller = PrioSched.TaskController('background')
        PrioSched.TaskSignal.any([controller.signal], priority=controller.signal).connect(
            'priority-change', lambda signal, previous: log.append((signal.priority.value_nick, previous.value_nick)))
        gc.collect()
        controller.set_priority(PrioSched.TaskPriority.USER_BLOCKING)
        self.assertEqual(log, [('user-blocking', 'background')])
        fixed = PrioSched.TaskSignal.any([controller.signal, Gio.Cancellable()], priority='background')
        self.assertEqual(fixed.priority, PrioSched.TaskPriority.BACKGROUND)
        controller.abort()
        self.assertTrue(fixed.aborted)


    def test_a_handler_that_mentions_its_own_signal_is_not_collected_with_it(self):
        """Checks that the collector does not clear the signal, which the library keeps for the handler."""
        heard = []

        def listen(connect, signal, how, name):
            getattr(signal, connect)(name, lambda *_: heard.append((how, signal.priority.value_nick)))

        controller = PrioSched.TaskController('background')
        for connect in ('connect', 'connect_after'):
            listen(connect, PrioSched.TaskSignal.any([controller.signal]), 'any', 'cancelled')
            listen(connect, PrioSched.TaskSignal.any([], controller.signal), 'follower', 'priority-change')
            listen(connect, PrioSched.TaskSignal.new_timeout(1), 'timeout', 'cancelled')
        gc.collect()
        controller.set_priority('user-blocking')
        controller.abort()
        while len(heard) < 6:
            GLib.MainContext.default().iteration(True)
        self.assertEqual(heard, [('follower', 'user-blocking')] * 2 + [('any', 'user-visible')] * 2 + [('timeout', 'user-visible')] * 2)


class BadInput(unittest.TestCase):

    def test_errors(self):
        def nothing():
            pass
        for error, args in ((TypeError, dict(callback=5)), (ValueError, dict(priority='urgent')),
                            (ValueError, dict(priority=0)), (ValueError, dict(priority=4)), (ValueError, dict(priority=True)),
                            (ValueError, dict(delay=-1)), (TypeError, dict(delay=1.5)), (TypeError, dict(delay='1')),
                            (TypeError, dict(delay=float('nan'))), (ValueError, dict(delay=2 ** 64)),
                            (TypeError, dict(signal=5)), (TypeError, dict(name=5))):
            with self.subTest(args=args), self.assertRaises(error):
                scheduler.post_task(**({'callback': nothing} | args))
        for error, call in ((ValueError, lambda: PrioSched.TaskController('x')),
                            (ValueError, lambda: PrioSched.TaskController().set_priority(None)),
                            (AttributeError, lambda: setattr(PrioSched.TaskController(), 'priority', 'background')),
                            (TypeError, lambda: PrioSched.TaskController().abort('why')),
                            (TypeError, lambda: PrioSched.TaskSignal.any([None])),
                            (ValueError, lambda: PrioSched.TaskSignal.any([], priority='x')),
                            (TypeError, lambda: scheduler.queue_microtask(5)),
                            (TypeError, lambda: scheduler.request_idle_callback(5)),
                            (ValueError, lambda: scheduler.request_idle_callback(nothing, -1)),
                            (TypeError, lambda: scheduler.yield_(signal=5)),
                            (TypeError, lambda: PrioSched.run(5))):
            with self.subTest(error=error), self.assertRaises(error):
                call()
        self.assertEqual(PrioSched.TaskController('background').priority, PrioSched.TaskPriority.BACKGROUND)

    def test_errors_name_the_value(self):
        async def never():
            pass
        signal, coroutine = PrioSched.TaskController().signal, never()
        state = PrioSched.TaskState.RUNNING
        for huge in (10 ** 30, -10 ** 30, 2 ** 63, 2 ** 31, state, PrioSched.Error.CLOSED, 2.0, b'background'):
            for call in (lambda: scheduler.post_task(print, huge), lambda: scheduler.yield_(priority=huge),
                         lambda: PrioSched.TaskController(huge), lambda: PrioSched.TaskController().set_priority(huge),
                         lambda: PrioSched.TaskSignal.any([], huge), lambda: scheduler.latest(print, huge)):
                with self.assertRaisesRegex(ValueError, re.escape(f'{huge!r} is not a task priority')):
                    call()
        for call, error, text in ((lambda: PrioSched.TaskSignal.any(None), TypeError, 'signals .* not None'),
                                  (lambda: PrioSched.TaskSignal.any(5), TypeError, 'signals .* not 5'),
                                  (lambda: PrioSched.TaskSignal.any(signal), TypeError, 'signals .* not <PrioSched.TaskSignal'),
                                  (lambda: PrioSched.TaskSignal.any_following(None, signal), TypeError, 'signals .* not None'),
                                  (lambda: PrioSched.TaskSignal.any_following([None], signal), TypeError, 'None is not a signal'),
                                  (lambda: PrioSched.TaskSignal.any_following([5], signal), TypeError, '5 is not a signal'),
                                  (lambda: PrioSched.TaskSignal.any_following([], None), TypeError, 'TaskSignal, not None'),
                                  (lambda: PrioSched.TaskSignal.any_following([], 5), TypeError, 'TaskSignal, not 5'),
                                  (lambda: PrioSched.TaskSignal.new_aborted('why'), TypeError, "exception, not 'why'"),
                                  (lambda: PrioSched.TaskSignal.new_aborted(ValueError), TypeError, 'exception, not <class'),
                                  (lambda: scheduler.set_next_frame(-1), ValueError, 'next_frame is out of range: -1'),
                                  (lambda: scheduler.set_next_frame(2 ** 63), ValueError, f'range: {2 ** 63}'),
                                  (lambda: scheduler.set_next_frame(1.5), TypeError, 'microseconds, not 1.5'),
                                  (lambda: scheduler.set_time_slice('2'), TypeError, "a time slice .*'2'"),
                                  (lambda: scheduler.set_time_slice(True), TypeError, 'a time slice .*True'),
                                  (lambda: scheduler.set_time_slice(None), TypeError, 'a time slice .*None'),
                                  (lambda: scheduler.set_time_slice(-2), ValueError, 'a time slice .*-2'),
                                  (lambda: scheduler.set_time_slice(2 ** 32), ValueError, f'a time slice .*{2 ** 32}'),
                                  (lambda: scheduler.cancel_idle_callback(-1), (ValueError, OverflowError), '-1'),
                                  (lambda: PrioSched.PostedTask(), TypeError, r'post_task\(\)'),
                                  (lambda: scheduler.post_task(coroutine), TypeError, 'never.*pass the function'),
                                  (lambda: scheduler.queue_microtask(coroutine), TypeError, 'never.*pass the function'),
                                  (lambda: scheduler.latest(coroutine), TypeError, 'never.*pass the function')):
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                call()
        coroutine.close()
        slice_before = scheduler.get_time_slice()
        scheduler.set_time_slice(slice_before)
        scheduler.set_next_frame(0)
        self.assertEqual((scheduler.get_time_slice(), scheduler.get_next_frame()), (slice_before, 0))
        self.assertEqual((scheduler.time_slice, scheduler.task_share), (slice_before, scheduler.get_task_share()))
        scheduler.time_slice, scheduler.task_share = slice_before, scheduler.task_share
        with self.assertRaises(TypeError):
            scheduler.time_slice = '2.5'

    def test_a_signal_that_is_aborted_from_the_start(self):
        why = ValueError('why')
        signal = PrioSched.TaskSignal.new_aborted(why)
        gc.collect()
        self.assertTrue(signal.aborted)
        self.assertIs(signal.reason, why)
        self.assertIs(PrioSched.TaskSignal.any([signal]).reason, why)
        task = scheduler.post_task(print, signal=signal)
        self.assertIs(task.exception(), why)
        for signal in (PrioSched.TaskSignal.new_aborted(None), PrioSched.TaskSignal.new_aborted(),
                       PrioSched.TaskSignal.new_aborted(GLib.Error('x', 'g-io-error-quark', Gio.IOErrorEnum.CANCELLED))):
            self.assertTrue(signal.reason.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_signals_from_any_iterable(self):
        controllers = [PrioSched.TaskController('background') for _ in range(2)]
        for kind in (list, tuple, set, iter):
            signal = PrioSched.TaskSignal.any_following(kind([controller.signal for controller in controllers]),
                                                        controllers[0].signal)
            self.assertEqual((signal.aborted, signal.priority), (False, PrioSched.TaskPriority.BACKGROUND))
        why = ValueError('why')
        controllers[1].abort(why)
        self.assertIs(signal.reason, why)

    def test_exception_that_nobody_awaits_is_reported_once(self):
        async def wait():
            scheduler.post_task(lambda: 1 / 0)
            await scheduler.post_task(lambda: None, 'background')
        with self.assertLogs('PrioSched', logging.ERROR) as logs:
            PrioSched.run(wait())
            gc.collect()
        self.assertEqual(len(logs.output), 1)
        self.assertIn('ZeroDivisionError', logs.output[0])

    @run
    async def test_what_fails_while_a_wait_tells_of_it_is_retrieved(self):
        """Checks that a failure which a wait reports counts as retrieved, as with gather () in asyncio.  Other failures are reported."""
        def fail():
            raise KeyError('planned')

        # all () raises only the first exception.
        for wait, n_reported in (('any', [0]), ('all', [0, 1, 2]), ('drained', [3])):
            group = PrioSched.TaskGroup(limit=1)
            with self.assertLogs('PrioSched', logging.ERROR) as logs:
                for _ in range(3):
                    group.post_task(fail)
                with contextlib.suppress(KeyError):
                    await getattr(group, wait)()
                await group.drained()
                gc.collect()
                logging.getLogger('PrioSched').error('the end')
            self.assertIn(len(logs.output) - 1, n_reported, (wait, logs.output))


class Names(unittest.TestCase):

    def test_python_keeps_its_names(self):
        controller, group, notified = PrioSched.TaskController(), PrioSched.TaskGroup(scheduler), []
        either = PrioSched.TaskSignal.any_following([], controller.signal)
        either.connect('notify::aborted', lambda signal, pspec: notified.append(signal.aborted))
        controller.signal.connect('notify::aborted', lambda signal, pspec: notified.append(signal.props.aborted))
        self.assertIsNone(controller.signal.dup_reason())
        controller.abort()
        self.assertTrue(controller.signal.dup_reason().matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertEqual((scheduler.count_pending(), controller.signal.count_pending(), group.n_tasks), (0, 0, 0))
        self.assertIs(group.dup_scheduler(), scheduler)
        self.assertEqual((notified, either.aborted), ([True], False))

    def test_yield_async_takes_options(self):
        options, log = PrioSched.YieldOptions(), []
        options.priority = PrioSched.TaskPriority.BACKGROUND
        scheduler.yield_async(options, lambda source, result: log.append(('later', source.yield_finish(result))))
        scheduler.yield_async(None, lambda source, result: log.append(('first', source.yield_finish(result))))
        scheduler.yield_async(lambda source, result: log.append(('second', source.yield_finish(result))))
        while len(log) < 3:
            GLib.MainContext.default().iteration(True)
        self.assertEqual(log, [('first', True), ('second', True), ('later', True)])
        for wrong in ((), (None,), (5,), (options,), (options, 5)):
            self.assertRaisesRegex(TypeError, 'yield_async.* needs a callback', scheduler.yield_async, *wrong)


if __name__ == '__main__':
    unittest.main()
