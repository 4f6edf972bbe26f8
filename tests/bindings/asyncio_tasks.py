"""One kind of task in asyncio: it is cancelled, and aborted, where it stands

    asyncio_tasks.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import asyncio
import contextlib
import gc
import importlib.util
import inspect
import pathlib
import tempfile
import threading
import unittest

from asyncio_loops import Gio, GLib, PrioSched, Why, in_loop, wait_for_the_loop

scheduler = PrioSched.Scheduler.get_default()


def names_in_asyncio():
    """The attributes of anything that asyncio's own code mentions."""
    for file in pathlib.Path(asyncio.__file__).parent.glob('*.py'):
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Attribute):
                yield node.attr


# Not within a test: to read all of asyncio takes valgrind long.
NAMES_IN_ASYNCIO = frozenset(names_in_asyncio())


LIBRARY = """
import asyncio
seen = []

async def request():
    try:
        await asyncio.sleep(100)
    except BaseException as error:
        seen.append(error)
        raise

async def stream():
    await request()
    yield

async def first_of_stream():
    async for _ in stream():
        pass

async def again():
    try:
        await request()
    except asyncio.CancelledError:
        raise asyncio.CancelledError('another one')
"""


def load_library(folder):
    """A module that is installed as other libraries are."""
    path = folder / 'site-packages' / 'library_of_others.py'
    path.parent.mkdir()
    path.write_text(LIBRARY)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Likeness(unittest.TestCase):
    """What passes for a task or a future of asyncio's has what asyncio calls, and nothing else under those names."""

    # For whoever settles a future, which nobody but the library does.
    of_the_owner = {'set_result', 'set_exception'}

    async def kinds(self):
        async def waits():
            await asyncio.sleep(0.001)

        async def fails():
            await asyncio.sleep(0.001)
            raise Why()
        for signal in (None, PrioSched.TaskController().signal):
            for function in (waits, fails):
                before = asyncio.all_tasks()
                task = scheduler.post_task(function, signal=signal)
                while task.state == PrioSched.TaskState.PENDING:
                    await asyncio.sleep(0)
                (run,) = asyncio.all_tasks() - before
                yield task, run

    @in_loop
    async def test_a_task_of_asyncio_s_is_one(self):
        async for task, run in self.kinds():
            for is_done in (False, True):
                for name in dir(asyncio.Task):
                    if not name.startswith('__'):
                        expected = inspect.getattr_static(asyncio.Task, name)
                        self.assertIs(inspect.getattr_static(type(run), name), expected, name)
                        if callable(expected):
                            # No attribute of its own hides it.
                            self.assertIs(getattr(run, name).__self__, run, name)
                if not is_done:
                    await asyncio.wait([run])
            self.assertEqual(repr(run.exception()), repr(task.exception()))

    @in_loop
    async def test_a_future_has_what_asyncio_calls(self):
        public = {name for name in dir(asyncio.Future) if not name.startswith('_')} - self.of_the_owner
        used = public & NAMES_IN_ASYNCIO | {'_asyncio_future_blocking', '_make_cancelled_error'}
        self.assertGreater(len(used), 8)
        like = asyncio.get_running_loop().create_future()
        async for task, run in self.kinds():
            for future in (task, scheduler.yield_(), PrioSched.Future()):
                self.assertTrue(asyncio.isfuture(future))
                for name in used:
                    expected, found = getattr(like, name), getattr(future, name)
                    self.assertEqual(callable(expected), callable(found), (future, name))
                    if not callable(expected):
                        self.assertIs(type(found), type(expected), name)
                self.assertEqual((future.done(), future.cancelled()), (False, False))
                for method in (future.result, future.exception):
                    with self.assertRaises(asyncio.InvalidStateError):
                        method()
                self.assertEqual(future.remove_done_callback(print), 0)
                self.assertIs(future.get_loop(), asyncio.get_running_loop())
                self.assertIs(future.cancel(msg='enough'), True)
            await asyncio.wait([run])

    @in_loop
    async def test_gather_of_the_tasks_that_asyncio_knows(self):
        async for task, run in self.kinds():
            (found,) = await asyncio.gather(run, return_exceptions=True)
            self.assertIs(found, task.exception())

    @in_loop
    async def test_gather_of_what_has_been_aborted(self):
        controller, why = PrioSched.TaskController(), Why()

        async def sleeps():
            try:
                await asyncio.sleep(100)
            finally:
                await asyncio.sleep(0.001)
        before = asyncio.all_tasks()
        task = scheduler.post_task(sleeps, signal=controller.signal)
        while task.state == PrioSched.TaskState.PENDING:
            await asyncio.sleep(0)
        controller.abort(why)
        self.assertEqual(await asyncio.gather(*(asyncio.all_tasks() - before), return_exceptions=True), [why])
        self.assertIs(task.exception(), why)


class Cancellation(unittest.TestCase):
    """By asyncio's own means: wait_for (), timeout (), groups and cancel ()."""

    @in_loop
    async def test_a_task_that_has_not_begun_is_cancelled(self):
        ran = []
        for delay in (0, 100000):
            task = scheduler.post_task(lambda: ran.append(True), delay=delay)
            self.assertIs(task.cancel('enough'), True)
            with self.assertRaises(asyncio.CancelledError) as caught:
                await task
            self.assertEqual(caught.exception.args, ('enough',))
            self.assertTrue(task.cancelled() and task.done())
            self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
            self.assertIs(task.cancel(), False)
            with self.assertRaises(asyncio.CancelledError):
                task.exception()
        await wait_for_the_loop()
        self.assertEqual(ran, [])

    @in_loop
    async def test_wait_for_and_timeout_time_out(self):
        ran = []
        task = scheduler.post_task(lambda: ran.append(True), delay=100000)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(task, 0.01)
        self.assertTrue(task.cancelled())
        with self.assertRaises(asyncio.TimeoutError):
            async with asyncio.timeout(0.01):
                await scheduler.post_task(lambda: ran.append(True), delay=100000)
        with self.assertRaises(asyncio.TimeoutError):
            async with asyncio.timeout(0.01):
                while True:
                    await scheduler.yield_()
        self.assertEqual(await asyncio.wait_for(scheduler.post_task(lambda: 5), 10), 5)

    @in_loop
    async def test_a_group_cancels_what_waits(self):
        log = []

        async def waits(what):
            try:
                await what
            except asyncio.CancelledError:
                log.append('cancelled')
                raise

        async def fails():
            await scheduler.yield_()
            raise ValueError('it')

        task = scheduler.post_task(lambda: log.append('ran'), delay=100000)
        with self.assertRaises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(waits(task))
                group.create_task(waits(asyncio.sleep(100)))
                group.create_task(fails())
        self.assertEqual(log, ['cancelled'] * 2)
        self.assertTrue(task.cancelled())

    @in_loop
    async def test_what_waits_in_a_yield_is_cancelled(self):
        async def yields():
            while True:
                await scheduler.yield_()
        task = asyncio.ensure_future(yields())
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

    @in_loop
    async def test_a_coroutine_is_cancelled_where_it_stands(self):
        for what in (lambda: asyncio.sleep(100), lambda: scheduler.post_task(lambda: None, delay=100000), scheduler.yield_,
                     lambda: asyncio.get_running_loop().create_future()):
            for signal in (None, PrioSched.TaskController().signal):
                log = []

                async def function(what=what, log=log):
                    try:
                        while True:
                            await what()
                    except asyncio.CancelledError as error:
                        log.append(error.args)
                        raise
                    finally:
                        log.append('finally')
                task = scheduler.post_task(function, signal=signal)
                while task.state != PrioSched.TaskState.RUNNING:
                    await asyncio.sleep(0)
                self.assertTrue(task.cancel('enough'))
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertEqual(log, [('enough',), 'finally'])
                self.assertTrue(task.cancelled())

    @in_loop
    async def test_the_result_is_what_a_coroutine_makes_of_it(self):
        async def function():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                return 'denied'
        task = scheduler.post_task(function)
        await wait_for_the_loop()
        self.assertTrue(task.cancel())
        self.assertEqual(await task, 'denied')
        self.assertEqual(task.state, PrioSched.TaskState.FULFILLED)
        self.assertFalse(task.cancelled())

    @in_loop
    async def test_a_task_that_cancels_itself(self):
        async def function():
            task.cancel()
            log.append('goes on')
            await asyncio.sleep(0)
            log.append('not so far')
        log = []
        task = scheduler.post_task(function)
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(log, ['goes on'])
        task = scheduler.post_task(lambda: task.cancel())
        with self.assertRaises(asyncio.CancelledError):
            await task

    @in_loop
    async def test_gather_shield_wait_and_as_completed(self):
        post = scheduler.post_task
        self.assertEqual(await asyncio.gather(post(lambda: 1), post(lambda: 2, 'user-blocking'), scheduler.yield_()), [1, 2, None])
        done, pending = await asyncio.wait([post(lambda: 8), post(lambda: 9, delay=100000)],
                                           return_when=asyncio.FIRST_COMPLETED)
        self.assertEqual(([task.result() for task in done], len(pending)), ([8], 1))
        self.assertEqual([await future for future in asyncio.as_completed([post(lambda: 1, delay=50), post(lambda: 2)])], [2, 1])

        inner = post(lambda: 5, delay=20)
        outer = asyncio.shield(inner)
        outer.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await outer
        self.assertEqual(await inner, 5)

        both = asyncio.gather(post(lambda: 1, delay=100000), post(lambda: 2, delay=100000))
        asyncio.get_running_loop().call_later(0.001, both.cancel)
        with self.assertRaises(asyncio.CancelledError):
            await both
        with self.assertRaises(asyncio.CancelledError):
            task = post(lambda: 1, delay=100000)
            task.cancel()
            await asyncio.gather(task)

    @in_loop
    async def test_a_task_cannot_await_itself(self):
        for first in (True, False):
            async def function(first=first):
                if not first:
                    await asyncio.sleep(0)
                await task
            task = scheduler.post_task(function)
            with self.assertRaisesRegex(RuntimeError, 'cannot await itself'):
                await task

    @in_loop
    async def test_a_circle_of_tasks_ends_when_one_is_cancelled(self):
        async def directly(task):
            await task

        async def in_a_child(task):
            await asyncio.create_task(directly(task))

        async def in_gather(task):
            await asyncio.gather(task, scheduler.yield_())

        for awaits in (directly, in_a_child, in_gather):
            for n in (2, 5):
                async def await_next(i, awaits=awaits, n=n):
                    await asyncio.sleep(0)
                    await awaits(tasks[(i + 1) % n])
                tasks = [scheduler.post_task(lambda i=i: await_next(i)) for i in range(n)]
                outside = scheduler.post_task(lambda: directly(tasks[0]))
                await wait_for_the_loop()
                self.assertTrue(outside.cancel('enough'))
                for task in outside, *tasks:
                    with self.assertRaises(asyncio.CancelledError):
                        await asyncio.wait_for(task, 10)

    @in_loop
    async def test_tasks_that_many_await_are_cancelled_once(self):
        """Each gathers the two before it, so there are more paths through them than could be gone."""
        for end in (lambda task, controller: task.cancel(), lambda task, controller: controller.abort(Why())):
            controller, tasks, told = PrioSched.TaskController(), [], []

            async def gather(i, tasks=tasks, told=told):
                try:
                    await (asyncio.gather(*tasks[i - 2:i]) if i > 1 else asyncio.sleep(1000))
                except (Why, asyncio.CancelledError):
                    told.append(i)
                    raise
            for i in range(100):
                tasks.append(scheduler.post_task(lambda i=i: gather(i), signal=controller.signal))
            await wait_for_the_loop()
            end(tasks[-1], controller)
            for task in reversed(tasks):
                with self.assertRaises((Why, asyncio.CancelledError)):
                    await task
            self.assertEqual(sorted(told), list(range(100)))


class Aborts(unittest.TestCase):
    """An abort of the signal reaches a coroutine where it stands."""

    async def outcome(self, body, reason=Why('enough'), abort_after=0.01):
        controller = PrioSched.TaskController('background')
        log = []

        async def function():
            try:
                await body()
                log.append('went on')
            except BaseException as error:
                log.append(error)
                raise
            finally:
                log.append('finally')
        task = scheduler.post_task(function, signal=controller.signal)
        while task.state == PrioSched.TaskState.PENDING:
            await asyncio.sleep(0.005)
        if abort_after is None:
            threading.Timer(0.01, controller.abort, (reason,)).start()
        else:
            asyncio.get_running_loop().call_later(abort_after, controller.abort, reason)
        with contextlib.suppress(BaseException):
            await task
        return log, task

    @in_loop
    async def test_the_reason_is_thrown_where_it_stands(self):
        why = Why('enough')
        other = scheduler.post_task(lambda: None, delay=100000)
        late = threading.Event()

        async def event():
            await asyncio.Event().wait()

        async def child():
            await asyncio.ensure_future(asyncio.sleep(100))

        async def awaits_other():
            await other

        async def yields():
            while True:
                await scheduler.yield_()

        async def sleeps():
            while True:
                await asyncio.sleep(0)

        async def in_gather():
            await asyncio.gather(asyncio.sleep(100), scheduler.post_task(lambda: None, delay=100000))

        try:
            for body in (lambda: asyncio.sleep(100), event, child, awaits_other, yields, sleeps, in_gather,
                         lambda: asyncio.to_thread(late.wait)):
                for after in (0.01, None):
                    log, task = await self.outcome(body, why, after)
                    self.assertEqual(log, [why, 'finally'])
                    self.assertIs(log[0], why)
                    self.assertIs(task.exception(), why)
                    self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        finally:
            # The loop waits for its threads.
            late.set()
        self.assertEqual(other.state, PrioSched.TaskState.PENDING)
        other.cancel()

    @in_loop
    async def test_what_asyncio_makes_of_cancellations_stays_right(self):
        """Groups, locks and wait_for() see the CancelledError that they need; the result is the reason."""
        children = []

        async def child():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                children.append('cancelled')
                raise

        async def group():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(child())

        async def wait_for():
            await asyncio.wait_for(child(), 100)

        async def condition():
            condition = asyncio.Condition()
            async with condition:
                await condition.wait()

        for body, expected in ((group, 1), (wait_for, 1), (condition, 0)):
            why = Why('enough')
            log, task = await self.outcome(body, why)
            self.assertEqual(log[1:], ['finally'])
            self.assertIs(task.exception(), why)
            await wait_for_the_loop()
            self.assertEqual(children, ['cancelled'] * expected)
            children.clear()

    @in_loop
    async def test_children_that_yield_are_cancelled(self):
        """A group ends with the reason, and nothing is left that nobody retrieves."""
        reported = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
        told = []

        async def yields():
            try:
                while True:
                    await scheduler.yield_()
            except BaseException as error:
                told.append(error)
                raise

        async def sleeps():
            await scheduler.sleep(100000)

        async def waits_first():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(100)
            await yields()

        for child in (yields, sleeps, waits_first):
            async def group(child=child):
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(3):
                        tasks.create_task(child())
            why = Why('enough')
            log, task = await self.outcome(group, why)
            self.assertIsInstance(log[0], asyncio.CancelledError)
            self.assertIs(task.exception(), why)
            self.assertEqual({type(error) for error in told}, set() if child is sleeps else {asyncio.CancelledError})
            told.clear()
        del task, log
        gc.collect()
        await wait_for_the_loop()
        self.assertEqual(reported, [])

    @in_loop
    async def test_other_libraries_are_cancelled(self):
        """By a CancelledError with the reason as its cause, also where they raise another one; the result is the reason."""
        with tempfile.TemporaryDirectory() as folder:
            module = load_library(pathlib.Path(folder))
            for function in (module.request, module.first_of_stream, module.again):
                why = Why('enough')
                module.seen.clear()
                log, task = await self.outcome(function, why)
                self.assertEqual([type(error) for error in module.seen], [asyncio.CancelledError], function)
                self.assertIs(module.seen[0].__cause__, why)
                self.assertIsInstance(log[0], asyncio.CancelledError)
                self.assertIs(task.exception(), why)
                self.assertEqual(task.state, PrioSched.TaskState.ABORTED)

    @in_loop
    async def test_the_result_is_what_a_coroutine_makes_of_the_reason(self):
        controller = PrioSched.TaskController()

        async def function():
            try:
                await asyncio.sleep(100)
            except Why:
                # Told once: what cleans up may await.
                await asyncio.sleep(0.001)
                async with asyncio.timeout(10):
                    await asyncio.sleep(0.001)
                return 'saved', asyncio.current_task().cancelling()
        task = scheduler.post_task(function, signal=controller.signal)
        while task.state == PrioSched.TaskState.PENDING:
            await asyncio.sleep(0.005)
        controller.abort(Why())
        self.assertEqual(await task, ('saved', 0))
        self.assertEqual(task.state, PrioSched.TaskState.FULFILLED)

    @in_loop
    async def test_after_a_rejected_yield_it_may_await(self):
        controller = PrioSched.TaskController()
        log = []

        async def function():
            await scheduler.yield_()
            controller.abort(Why())
            try:
                await scheduler.yield_()
            finally:
                await asyncio.sleep(0.01)
                log.append('cleaned up')
        with self.assertRaises(Why):
            await scheduler.post_task(function, signal=controller.signal)
        self.assertEqual(log, ['cleaned up'])

    async def aborted_while_it_cleans_up(self, body, cleans_up):
        """What happens of: body is aborted where it stands, and cleans up."""
        controller, why, log = PrioSched.TaskController(), Why(), []

        async def function():
            try:
                await body()
            except BaseException as error:
                log.append(error)
                raise
            finally:
                await cleans_up(log)
                log.append('cleaned up')
        task = scheduler.post_task(function, signal=controller.signal)
        for _ in range(3):
            await scheduler.post_task(lambda: None, 'user-blocking', delay=2)
        self.assertEqual(task.state, PrioSched.TaskState.RUNNING)
        scheduler.post_task(lambda: controller.abort(why), 'user-blocking')
        with self.assertRaises(Why) as caught:
            await task
        self.assertIs(caught.exception, why)
        self.assertIs(log.pop(0), why)
        return log

    @in_loop
    async def test_the_reason_is_raised_once(self):
        """What comes after may await, whatever it was that raised it."""
        async def yields():
            while True:
                await scheduler.yield_()

        async def iterates():
            async for _ in scheduler.each(iter(int, 1)):
                await scheduler.post_task(lambda: None)

        async def adopts():
            while True:
                await scheduler.adopt(asyncio.sleep(0))

        async def sleeps(log):
            for _ in range(3):
                await asyncio.sleep(0)

        async def posts(log):
            log.append(await scheduler.post_task(lambda: 'ran', 'user-blocking'))
            log.append(await scheduler.post_task(lambda: asyncio.sleep(0.001, 'slept')))

        async def yields_again(log):
            for _ in range(3):
                await scheduler.yield_()
                await asyncio.sleep(0)
                self.assertTrue(PrioSched.SchedulingState.get_current().get_signal().aborted)
            async for item in scheduler.each('ab'):
                await scheduler.yield_()
                log.append(item)

        async def adopts_again(log):
            log.append(await scheduler.adopt(asyncio.sleep(0.001, 'adopted')))

        for body in (yields, iterates, adopts, lambda: asyncio.sleep(100), lambda: asyncio.Event().wait(),
                     lambda: scheduler.post_task(lambda: None, delay=100000)):
            for cleans_up, expected in ((sleeps, []), (posts, ['ran', 'slept']), (yields_again, ['a', 'b']),
                                        (adopts_again, ['adopted'])):
                with self.subTest(body=body, cleans_up=cleans_up):
                    self.assertEqual(await self.aborted_while_it_cleans_up(body, cleans_up), expected + ['cleaned up'])

    @in_loop
    async def test_the_result_is_what_it_makes_of_its_own_abort(self):
        """Also where its first step aborts it, and however often it awaits."""
        for first in (True, False):
            for ends_with in ('saved', Why('other')):
                controller = PrioSched.TaskController()
                log = []

                async def function(first=first, ends_with=ends_with, controller=controller, log=log):
                    if not first:
                        await asyncio.sleep(0)
                    controller.abort(Why())
                    try:
                        await asyncio.sleep(100)
                    except Why:
                        await asyncio.sleep(0)
                        await scheduler.yield_()
                    if isinstance(ends_with, Why):
                        raise ends_with
                    return ends_with
                task = scheduler.post_task(function, signal=controller.signal)
                if isinstance(ends_with, Why):
                    with self.assertRaises(Why) as caught:
                        await task
                    self.assertEqual((caught.exception, task.state), (ends_with, PrioSched.TaskState.FAILED))
                else:
                    self.assertEqual((await task, task.state), ('saved', PrioSched.TaskState.FULFILLED))

    @in_loop
    async def test_a_coroutine_that_aborts_itself_is_told_at_the_next_await(self):
        for first in (False, True):
            controller = PrioSched.TaskController()
            log = []

            async def function(first=first, controller=controller, log=log):
                if not first:
                    await asyncio.sleep(0)
                controller.abort(Why())
                try:
                    await asyncio.sleep(100)
                except Why:
                    log.append('told')
                    raise
            with self.assertRaises(Why):
                await scheduler.post_task(function, signal=controller.signal)
            await wait_for_the_loop()
            self.assertEqual(log, ['told'])

    @in_loop
    async def test_a_plain_cancellable(self):
        signal = Gio.Cancellable()

        async def function():
            await asyncio.sleep(100)
        task = scheduler.post_task(function, signal=signal)
        await asyncio.sleep(0.01)
        signal.cancel()
        with self.assertRaises(GLib.Error) as caught:
            await task
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    @in_loop
    async def test_nothing_is_left_at_the_signal(self):
        signal = PrioSched.TaskController().signal
        for _ in range(3):
            await asyncio.gather(*(scheduler.post_task(lambda: asyncio.sleep(0.001), signal=signal) for _ in range(10)))
        self.assertFalse(hasattr(signal, '_watch'))

if __name__ == '__main__':
    unittest.main()
