"""Tests groups of tasks in Python, with asyncio and without.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import gc
import io
import itertools
import threading
import unittest
import warnings
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, GObject, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    """Runs a test without asyncio, and also with asyncio if its loop runs on GLib."""
    def test(self):
        task = scheduler.post_task(lambda: function(self))
        loop = GLib.MainLoop()
        task.add_done_callback(lambda task: loop.quit())
        loop.run()
        task.result()
        PrioSched.run(function(self))
    return test


class Turn:
    """Represents an awaitable that completes when it is called."""

    def __init__(self):
        self.has_come = False

    async def wait(self):
        while not self.has_come:
            await scheduler.yield_(signal='inherit', priority='background')

    def come(self):
        self.has_come = True


async def turns(n=8):
    for _ in range(n):
        await scheduler.yield_(priority='background')


class Places(unittest.TestCase):

    @run
    async def test_only_so_many_run_at_a_time(self):
        group = PrioSched.TaskGroup(scheduler, limit=2)
        waits, log = [Turn() for _ in range(5)], []

        async def work(i):
            log.append(i)
            await waits[i].wait()
            log.append(f'{i} has ended')
            return i * i

        posted = [group.post_task(lambda i=i: work(i)) for i in range(5)]
        self.assertEqual(group.n_tasks, 5)
        await turns()
        self.assertEqual(log, [0, 1])
        waits[1].come()
        await turns()
        self.assertEqual(log, [0, 1, '1 has ended', 2])
        self.assertEqual(group.n_tasks, 4)
        for wait in waits:
            wait.come()
        await group.drained()
        self.assertEqual([await task for task in posted], [0, 1, 4, 9, 16])
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_functions_and_results(self):
        group = PrioSched.TaskGroup(limit=1)

        def fail():
            raise ValueError('no')
        good, bad = group.post_task(lambda: 7, name='good'), group.post_task(fail, name='bad')
        self.assertIsInstance(good, PrioSched.PostedTask)
        self.assertEqual((good.name, bad.name), ('good', 'bad'))
        self.assertIn("'good'", repr(good))
        self.assertEqual(await good, 7)
        with self.assertRaisesRegex(ValueError, 'no'):
            await bad
        self.assertEqual(group.n_tasks, 0)
        self.assertEqual(await group.post_task(lambda: 8, delay=2), 8)

    @run
    async def test_the_next_is_chosen_by_priority_and_age(self):
        group = PrioSched.TaskGroup(limit=1, priority='background')
        wait, log = Turn(), []
        group.post_task(wait.wait)
        group.post_task(lambda: log.append('old'))
        group.post_task(lambda: log.append('urgent'), 'user-blocking')
        controller = PrioSched.TaskController('background')
        group.post_task(lambda: log.append('visible'), signal=controller.signal)
        await turns()
        controller.set_priority('user-visible')
        wait.come()
        await group.drained()
        self.assertEqual(log, ['urgent', 'visible', 'old'])

    @run
    async def test_a_limit_that_changes(self):
        group = PrioSched.TaskGroup(limit=1)
        self.assertEqual(group.limit, 1)
        waits = [Turn() for _ in range(3)]
        posted = [group.post_task(wait.wait) for wait in waits]
        await turns()
        self.assertEqual([task.state.value_nick for task in posted], ['running', 'pending', 'pending'])
        group.limit = 3
        await turns()
        self.assertEqual([task.state.value_nick for task in posted], ['running'] * 3)
        group.set_limit(2)
        for wait in waits:
            wait.come()
        await group.drained()

    def test_any_number(self):
        group = PrioSched.TaskGroup()
        self.assertIsNone(group.limit)
        group.limit = 3
        self.assertEqual(group.limit, 3)
        group.limit = None
        self.assertIsNone(group.limit)
        self.assertNotIn('at a time', repr(group))

    @run
    async def test_pending_is_notified(self):
        group, log = PrioSched.TaskGroup(limit=1), []
        group.connect('notify::n-tasks', lambda group, pspec: log.append(group.n_tasks))
        for _ in range(3):
            group.post_task(lambda: None)
        await turns()
        self.assertEqual(log, [3, 2, 1, 0])

    @run
    async def test_timeouts(self):
        group, log = PrioSched.TaskGroup(limit=1), []

        async def work(name):
            log.append((name, scheduler.did_timeout()))
            await scheduler.yield_()
            log.append((name, scheduler.did_timeout()))
        tasks = [group.post_task(lambda: work('urgent'), 'user-blocking'),
                 group.post_task(lambda: work('late'), 'background', timeout=PrioSched.TIMEOUT_IMMEDIATE),
                 group.post_task(lambda: work('in time'), 'background', timeout=10 ** 8),
                 group.post_task(lambda: work('never'), 'background', timeout=PrioSched.TIMEOUT_IDLE),
                 group.post_task(lambda: work('delayed'), 'background', delay=1, timeout=10 ** 8)]
        for task in tasks:
            await task
        self.assertEqual(log, [(name, name == 'late') for name in ('late', 'urgent', 'in time', 'never', 'delayed') for _ in range(2)])
        controller = PrioSched.TaskController('background')
        aborted = group.post_task(lambda: work('aborted'), signal=controller.signal, timeout=5)
        controller.abort(ValueError('mine'))
        with self.assertRaisesRegex(ValueError, 'mine'):
            await aborted

    @run
    async def test_the_priority_of_all(self):
        group = PrioSched.TaskGroup(limit=1, priority='background')
        self.assertEqual(group.priority, PrioSched.TaskPriority.BACKGROUND)
        task = group.post_task(lambda: None)
        self.assertEqual(task.priority.value_nick, 'background')
        group.set_priority('user-blocking')
        self.assertEqual(task.priority.value_nick, 'user-blocking')
        self.assertEqual(group.signal.priority.value_nick, 'user-blocking')
        await task

    def test_bad_input(self):
        for limit, error in ((0, ValueError), (-1, ValueError), (2.5, TypeError), ('two', TypeError), (True, TypeError),
                             (2 ** 32, ValueError)):
            with self.assertRaisesRegex(error, f'limit.*{limit}'):
                PrioSched.TaskGroup(limit=limit)
            with self.assertRaisesRegex(error, f'limit.*{limit}'):
                PrioSched.TaskGroup().limit = limit
        with self.assertRaisesRegex(TypeError, "'x' is not a scheduler"):
            PrioSched.TaskGroup('x')
        for priority in ('low', None, 7):
            with self.assertRaisesRegex(ValueError, f'{priority!r} is not a task priority'):
                PrioSched.TaskGroup(priority=priority)
        group = PrioSched.TaskGroup()
        for call, error, message in (
                (lambda: group.post_task(5), TypeError, '5 is not callable'),
                (lambda: group.post_task(None), TypeError, 'None is not callable'),
                (lambda: group.post_task(int, signal=3), TypeError, '3 is not a signal'),
                (lambda: group.post_task(int, delay=-1), ValueError, 'delay.*-1'),
                (lambda: group.post_task(int, name=3), TypeError, 'a name is a string, not 3'),
                (lambda: group.post_task(int, 'low'), ValueError, "'low' is not a task priority"),
                (lambda: group.post_task(int, limit=3), TypeError, 'limit'),
                (lambda: group.post_task(int, timeout='x'), TypeError, "timeout.*'x'"),
                (lambda: group.post_task(int, timeout=2 ** 31), ValueError, 'timeout.*2147483648'),
                (lambda: group.abort('now'), TypeError, "a reason is an exception, not 'now'"),
                (lambda: group.drained(3), TypeError, '3 is not a signal'),
                (lambda: group.set_priority(None), ValueError, 'None is not a task priority')):
            with self.assertRaisesRegex(error, message):
                call()
        self.assertEqual(group.n_tasks, 0)


class Ends(unittest.TestCase):

    @run
    async def test_an_abort_ends_all_and_the_group_goes_on(self):
        group, log = PrioSched.TaskGroup(limit=1), []

        async def work():
            try:
                await Turn().wait()
            except ValueError as error:
                log.append(error)
                await scheduler.yield_()
                raise
        posted = [group.post_task(work) for _ in range(3)]
        await turns()
        before, why = group.signal, ValueError('enough')
        group.abort(why)
        self.assertEqual((before.aborted, group.signal.aborted), (True, False))
        self.assertIs(before.reason, why)
        later = group.post_task(lambda: 'later')
        for task in posted:
            with self.assertRaises(ValueError) as raised:
                await task
            self.assertIs(raised.exception, why)
            self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        self.assertEqual(log, [why])
        self.assertEqual(await later, 'later')

    @run
    async def test_an_abort_without_a_reason(self):
        group = PrioSched.TaskGroup(limit=1)
        task = group.post_task(lambda: None)
        group.abort()
        with self.assertRaises(PrioSched.AbortError) as raised:
            await task
        self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

        class Replaced(PrioSched.AbortError):
            pass
        task, why = group.post_task(lambda: None), Replaced()
        group.abort(why)
        with self.assertRaises(Replaced) as raised:
            await task
        self.assertIs(raised.exception, why)
        await group.drained()

    @run
    async def test_a_signal_of_its_own(self):
        group, controller = PrioSched.TaskGroup(limit=1), PrioSched.TaskController('background')
        wait, why = Turn(), ValueError('mine')
        group.post_task(wait.wait)
        mine, other = group.post_task(lambda: 1, signal=controller.signal), group.post_task(lambda: 2)
        self.assertEqual(mine.priority.value_nick, 'background')
        controller.abort(why)
        with self.assertRaises(ValueError) as raised:
            await mine
        self.assertIs(raised.exception, why)
        late = group.post_task(lambda: 3, signal=controller.signal)
        with self.assertRaises(ValueError) as raised:
            await late
        wait.come()
        self.assertEqual(await other, 2)
        self.assertEqual(await group.post_task(lambda: 4, signal=Gio.Cancellable()), 4)

    @run
    async def test_what_is_queued_is_cancelled(self):
        group, wait = PrioSched.TaskGroup(limit=1), Turn()
        running, queued = group.post_task(wait.wait), group.post_task(lambda: 1)
        await turns()
        group.cancel_pending()
        with self.assertRaises(asyncio.CancelledError):
            await queued
        self.assertTrue(queued.cancelled())
        self.assertEqual(group.n_tasks, 1)
        wait.come()
        await running
        self.assertEqual(await group.post_task(lambda: 2), 2)

    @run
    async def test_one_is_cancelled(self):
        group, wait = PrioSched.TaskGroup(limit=1), Turn()
        running, queued, last = group.post_task(wait.wait), group.post_task(lambda: 1), group.post_task(lambda: 2)
        await turns()
        self.assertTrue(queued.cancel())
        running.cancel()
        for task in queued, running:
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.assertEqual(await last, 2)
        await group.drained()
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_many_are_aborted(self):
        group = PrioSched.TaskGroup(limit=1)
        wait = Turn()
        group.post_task(wait.wait)
        posted = [group.post_task(lambda: 1) for _ in range(2000)]
        await turns()
        group.abort(ValueError('all'))
        for task in posted:
            with self.assertRaisesRegex(ValueError, 'all'):
                await task
        wait.come()
        await group.drained()


class States(unittest.TestCase):

    @run
    async def test_yields_inherit(self):
        group, log = PrioSched.TaskGroup(limit=2, priority='background'), []

        async def work():
            await scheduler.yield_()
            state = PrioSched.SchedulingState.get_current()
            log.append(state.get_cancellable() is group.signal)
            await scheduler.yield_()
            log.append('background')
        task = group.post_task(work)
        scheduler.post_task(lambda: log.append('visible'))
        await task
        self.assertEqual(log, ['visible', True, 'background'])
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_an_abort_reaches_a_yield(self):
        group, log = PrioSched.TaskGroup(limit=1), []
        why = ValueError('enough')

        async def work():
            while True:
                log.append(1)
                await scheduler.yield_()
        task = group.post_task(work)
        scheduler.post_task(lambda: group.abort(why), 'user-blocking', delay=3)
        with self.assertRaises(ValueError) as raised:
            await task
        self.assertIs(raised.exception, why)

    @run
    async def test_a_paused_scheduler(self):
        other = PrioSched.Scheduler.new(None)
        group = PrioSched.TaskGroup(other, limit=1)
        task = group.post_task(lambda: 1)
        other.pause()
        await turns()
        self.assertFalse(task.done())
        other.resume()
        self.assertEqual(await task, 1)


class Threads(unittest.TestCase):

    def check_elsewhere(self, what, *calls):
        """Checks that each call, on another thread than the main context's, raises an error that names the thread."""
        told = []

        def call_all():
            for call in calls:
                try:
                    told.append(call())
                except RuntimeError as error:
                    told.append(str(error))
        thread = threading.Thread(target=call_all)
        thread.start()
        thread.join()
        for message in told:
            self.assertRegex(str(message), what)
        self.assertEqual(len(told), len(calls))

    def no_criticals(self):
        # A message of the library itself ends the program.
        before = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_CRITICAL | GLib.LogLevelFlags.LEVEL_ERROR)
        self.addCleanup(GLib.log_set_always_fatal, before)

    def test_methods_belong_to_one_thread(self):
        self.no_criticals()
        group = PrioSched.TaskGroup(limit=1)
        task = group.post_task(lambda: 1)

        def set_limit():
            group.limit = 3
        self.check_elsewhere(
            'group belongs to the thread that runs .* main context, and this is another one',
            lambda: group.post_task(int), group.drained, group.all, group.any, group.first, group.abort,
            lambda: group.abort(ValueError()), group.cancel_pending, lambda: group.set_limit(2), set_limit,
            lambda: group.set_priority('background'))
        self.assertEqual((group.limit, group.priority.value_nick, group.n_tasks), (1, 'user-visible', 1))
        self.assertFalse(group.signal.aborted)
        self.assertEqual(PrioSched.run(task), 1)

    def test_of_another_context(self):
        self.no_criticals()
        scheduler = PrioSched.Scheduler.new(GLib.MainContext())
        group = PrioSched.TaskGroup(scheduler)
        self.check_elsewhere('group belongs to the thread', group.drained, group.abort)

    def test_what_a_scheduler_counts(self):
        self.no_criticals()
        scheduler.start_statistics()
        self.addCleanup(scheduler.stop_statistics)
        self.check_elsewhere('on the thread that runs .* main context, and this is another one',
                             scheduler.count_pending, scheduler.get_statistics)
        self.assertEqual(scheduler.count_pending(), 0)
        self.assertTrue(scheduler.get_statistics().collecting)


class Lives(unittest.TestCase):

    @run
    async def test_nothing_is_left(self):
        class Something:
            pass

        async def rounds():
            left = []
            for i in range(3):
                group, thing = PrioSched.TaskGroup(limit=1), Something()
                error = ValueError(thing)
                left += [weakref.ref(thing), weakref.ref(group)]
                tasks = [group.post_task(lambda thing=thing: turns(2)) for _ in range(3)]
                waits = [group.drained(), group.first(), group.any()]
                if i == 1:
                    group.abort(error)
                elif i == 2:
                    group.cancel_pending()
                for task in tasks + waits:
                    try:
                        await task
                    except (ValueError, GLib.Error, asyncio.CancelledError):
                        pass
                await group.drained()
                group.abort(error)
            return left
        left = await rounds()
        for _ in range(5):
            await turns(3)
            gc.collect()
        self.assertEqual([reference() for reference in left], [None] * 6)

    def test_a_context_that_goes(self):
        def in_thread():
            context = GLib.MainContext()
            own = PrioSched.Scheduler.new(context)
            group = PrioSched.TaskGroup(own, limit=1)
            return [group.post_task(lambda: None), group.post_task(lambda: turns(3)), group.drained()]
        results = []
        thread = threading.Thread(target=lambda: results.extend(in_thread()))
        thread.start()
        thread.join()
        for _ in range(3):
            gc.collect()
        self.assertEqual([task.done() for task in results], [True] * 3)

    def test_a_scheduler_that_goes(self):
        group = PrioSched.TaskGroup(PrioSched.Scheduler.new(None))
        for call in lambda: group.post_task(int), group.drained:
            with self.assertRaisesRegex(RuntimeError, 'the scheduler of the group has gone'):
                call()
        self.assertEqual(group.n_tasks, 0)



class Row(GObject.Object):
    loaded = 0
    cancelled = 0


def make_rows():
    rows = Gio.ListStore()
    for _ in range(100):
        rows.append(Row())
    return rows, PrioSched.TaskGroup(limit=2)


async def load_until_aborted(row, position):
    try:
        await scheduler.sleep(60000)
    except BaseException:
        row.cancelled += 1
        raise


async def load_first(group, rows, n):
    """Begins to load the first n rows, of which two have a task when this returns.  Returns their feed."""
    feed = group.feed_model(load_until_aborted, rows)
    feed.set_view(0, n)
    while group.n_tasks < 2:
        await scheduler.sleep(1)
    await scheduler.sleep(1)
    return feed


class Rows(unittest.TestCase):

    @run
    async def test_rows_in_view_and_near_it_are_loaded(self):
        rows, group = make_rows()
        order = []

        async def load(row, position):
            if not row.loaded:
                order.append(position)
                await scheduler.sleep(1)
                row.loaded += 1

        feed = group.feed_model(load, rows, name='rows')
        feed.set_view(50, 4)
        self.assertEqual((feed.get_property('first'), feed.get_property('n-rows')), (50, 4))
        await group.drained()
        self.assertEqual(order[:4], [50, 51, 52, 53])
        self.assertEqual(sorted(order), [*range(46, 58)])
        feed.set_view(54, 4)
        await group.drained()
        self.assertEqual(sorted(order), [*range(46, 62)])
        self.assertEqual({row.loaded for row in rows}, {0, 1})

    @run
    async def test_rows_that_leave_are_aborted(self):
        rows, group = make_rows()
        feed = await load_first(group, rows, 2)
        feed.set_view(80, 2)
        while not rows[0].cancelled:
            await scheduler.sleep(1)
        self.assertEqual([position for position, row in enumerate(rows) if row.cancelled], [0, 1])
        rows.remove_all()
        await group.drained()

    @run
    async def test_a_loader_removes_its_row_and_adds_others(self):
        rows, group = make_rows()
        added = []

        def load(row, position):
            if not row.loaded:
                row.loaded = 1
                rows.remove(rows.find(row)[1])
                if len(added) < 20:
                    added.append(position)
                    rows.append(Row())

        feed = group.feed_model(load, rows)
        feed.set_view(0, 1000)
        await group.drained()
        self.assertEqual((len(rows), len(added)), (0, 20))

    @run
    async def test_a_loader_fails(self):
        rows, group = make_rows()
        def load(row, position):
            raise ValueError(position)

        feed = group.feed_model(load, rows)
        feed.set_view(0, 3)
        with contextlib.redirect_stderr(io.StringIO()):
            await group.drained()
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_a_dropped_feed_ends(self):
        rows, group = make_rows()
        calls = []
        feed = group.feed_model(lambda row, position: calls.append(position), rows)
        feed.set_view(0, 2)
        del feed
        gc.collect()
        await group.drained()
        self.assertEqual(calls, [])

    @run
    async def test_a_feed_is_dropped_while_its_rows_load(self):
        rows, group = make_rows()
        feed = await load_first(group, rows, 5)
        del feed
        gc.collect()
        while group.n_tasks:
            await scheduler.sleep(1)
        self.assertEqual([row.cancelled for row in rows[:3]], [1, 1, 0])

    @run
    async def test_a_loader_posts_to_its_group_and_moves_the_view(self):
        rows, group = make_rows()
        feed, posted = None, []
        async def load(row, position):
            if not row.loaded:
                row.loaded = 1
                group.post_task(lambda: posted.append(position))
                feed.set_view(position + 1, 1)
                await scheduler.yield_()

        feed = group.feed_model(load, rows)
        feed.set_view(0, 1)
        await group.drained()
        self.assertEqual(sorted(posted), [*range(100)])

    @run
    async def test_a_view_beyond_rows_that_go_and_come(self):
        rows, group = make_rows()
        asked = []
        feed = group.feed_model(lambda row, position: asked.append(position), rows)
        feed.set_view(2**32 - 1, 2**32 - 1)
        await group.drained()
        self.assertEqual(sorted(asked), [*range(100)])
        asked.clear()
        rows.remove_all()
        await group.drained()
        rows.splice(0, 0, [Row(), Row()])
        await group.drained()
        self.assertEqual(sorted(asked), [0, 1])

    def test_numbers_that_are_no_view(self):
        rows, group = make_rows()
        feed = group.feed_model(print, rows)
        for numbers in ((-1, 3), (0, -5), (0, 2**32)):
            with self.assertRaises(OverflowError):
                feed.set_view(*numbers)
        for number in (-1, float('nan'), float('inf')):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter('always')
                feed.props.look_ahead = number
            self.assertIn('out of range', str(caught[0].message))
        self.assertEqual((feed.props.first, feed.props.n_rows, feed.props.look_ahead), (0, 0, 1))

    def test_it_refuses_what_it_cannot_use(self):
        rows, group = make_rows()
        with self.assertRaisesRegex(TypeError, '3 is not callable'):
            group.feed_model(3, rows)
        with self.assertRaisesRegex(TypeError, 'a name is a string'):
            group.feed_model(print, rows, name=3)
        with self.assertRaises(TypeError):
            group.feed_model(print, [])


class Feeds(unittest.TestCase):

    @run
    async def test_items_are_asked_for_when_a_place_is_free(self):
        log, may_end, group = [], [], PrioSched.TaskGroup(limit=2)

        def items():
            for item in range(5):
                log.append(f'asked {item}')
                yield item

        async def work(item):
            log.append(f'begun {item}')
            while item not in may_end:
                await scheduler.sleep(1)

        feeding = group.feed(work, items())
        self.assertEqual(log, [])
        while len(log) < 4:
            await scheduler.sleep(1)
        self.assertEqual(log, ['asked 0', 'asked 1', 'begun 0', 'begun 1'])
        may_end.append(1)
        while len(log) < 6:
            await scheduler.sleep(1)
        self.assertEqual(log[4:], ['asked 2', 'begun 2'])
        may_end.extend(range(5))
        self.assertIsNone(await feeding)
        self.assertEqual(len(log), 10)
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_any_thread_may_ask_how_many_are_pending(self):
        group = PrioSched.TaskGroup(limit=1)
        tasks = [group.post_task(lambda: None) for _ in range(5)]
        found = []
        thread = threading.Thread(target=lambda: found.extend([group.n_tasks, group.get_n_tasks()]))
        thread.start()
        thread.join()
        self.assertEqual(found, [5, 5])
        for task in tasks:
            await task
        self.assertEqual(group.n_tasks, 0)

    @run
    async def test_any_number_of_places(self):
        done = []
        await PrioSched.TaskGroup().feed(done.append, range(1000))
        self.assertEqual(sorted(done), [*range(1000)])
        await PrioSched.TaskGroup(limit=3).feed(done.append, [])
        await PrioSched.TaskGroup(limit=3).feed(done.append, iter('ab'), priority='background', name='letters')
        self.assertEqual(done[1000:], ['a', 'b'])

    @run
    async def test_the_items_raise(self):
        def items():
            yield 1
            raise KeyError('no more')

        done = []
        with self.assertRaises(KeyError):
            await PrioSched.TaskGroup(limit=1).feed(done.append, items())
        self.assertEqual(done, [1])

    @run
    async def test_an_abort_of_the_group_ends_it(self):
        asked, closed = [], []

        def items():
            try:
                for item in range(1000):
                    asked.append(item)
                    yield item
            finally:
                closed.append(True)

        async def work(item):
            await scheduler.sleep(60000)

        group = PrioSched.TaskGroup(limit=3)
        feeding = group.feed(work, items())
        while len(asked) < 3:
            await scheduler.sleep(1)
        group.abort()
        with self.assertRaises(PrioSched.AbortError):
            await feeding
        await group.drained()
        self.assertEqual(asked, [0, 1, 2])

    @run
    async def test_its_signal_ends_it(self):
        controller, asked, begun, reasons = PrioSched.TaskController(), [], [], []

        async def work(item):
            begun.append(item)
            try:
                await scheduler.sleep(60000)
            except ValueError as reason:
                reasons.append(reason)
                raise

        feeding = PrioSched.TaskGroup(limit=3).feed(work, (asked.append(item) or item for item in itertools.count()),
                                                    signal=controller.signal)
        while len(begun) < 3:
            await scheduler.sleep(1)
        stop = ValueError('stop')
        controller.abort(stop)
        with self.assertRaises(ValueError) as caught:
            await feeding
        self.assertIs(caught.exception, stop)
        self.assertEqual(asked, [0, 1, 2])
        while len(reasons) < 3:
            await scheduler.sleep(1)
        self.assertEqual(reasons, [stop] * 3)

    @run
    async def test_what_its_items_end_is_posted_no_more(self):
        for end in 'abort', 'cancel', 'signal':
            done, group, controller = [], PrioSched.TaskGroup(limit=1), PrioSched.TaskController()
            with self.subTest(end):
                def items():
                    yield 1
                    {'abort': group.abort, 'cancel': lambda: feeding.cancel(), 'signal': controller.abort}[end]()
                    yield 2

                feeding = group.feed(done.append, items(), signal=controller.signal)
                with self.assertRaises((PrioSched.AbortError, asyncio.CancelledError)):
                    await feeding
                await group.drained()
                self.assertEqual(done, [1])

    @run
    async def test_a_cancel_lets_go_of_the_items(self):
        begun, closed = [], []

        def items():
            try:
                begun.append(True)
                yield from itertools.count()
            finally:
                closed.append(True)

        feeding = PrioSched.TaskGroup(limit=1).feed(lambda item: scheduler.sleep(5), items())
        while not begun:
            await scheduler.sleep(1)
        self.assertEqual(closed, [])
        feeding.cancel()
        while not closed:
            await scheduler.sleep(1)
        self.assertEqual(closed, [True])

    @run
    async def test_a_cancel_stops_the_feeding_alone(self):
        begun, done, group = [], [], PrioSched.TaskGroup(limit=2)

        async def work(item):
            begun.append(item)
            await scheduler.sleep(5)
            done.append(item)

        feeding = group.feed(work, range(1000))
        await scheduler.sleep(1)
        feeding.cancel()
        await group.drained()
        self.assertEqual(begun, done)
        self.assertLess(len(done), 10)

    def test_bad_input(self):
        group = PrioSched.TaskGroup(limit=2)
        for error, message, call in ((TypeError, '3 is not callable', lambda: group.feed(3, [])),
                                     (TypeError, 'not iterable', lambda: group.feed(print, 3)),
                                     (ValueError, "'urgent' is not a task priority", lambda: group.feed(print, [], priority='urgent')),
                                     (TypeError, 'a name is a string', lambda: group.feed(print, [], name=3)),
                                     (TypeError, 'signal', lambda: group.feed(print, [], signal=3))):
            with self.assertRaisesRegex(error, message):
                call()


if __name__ == '__main__':
    unittest.main()
