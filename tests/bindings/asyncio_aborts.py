"""Tests aborts in asyncio, which reach a coroutine at its await

    asyncio_aborts.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import gc
import threading
import unittest

from asyncio_loops import Gio, GLib, PrioSched, Why, in_loop, wait_for_the_loop

scheduler = PrioSched.Scheduler.get_default()


class Several(BaseException):
    """Represents a group of exceptions of a class that is not Python's."""

    def __init__(self, exceptions):
        super().__init__()
        self.exceptions = exceptions


class Request:
    """Behaves like other libraries, which know a cancellation only as a CancelledError."""

    def __init__(self):
        self.seen = []

    async def send(self):
        try:
            await asyncio.sleep(100)
        except BaseException as error:
            self.seen.append(error)
            raise

    async def stream(self):
        await self.send()
        yield

    async def first_of_stream(self):
        async for _ in self.stream():
            pass

    async def hide(self):
        """Raises the error without its cause, as httpcore does."""
        try:
            await self.send()
        except BaseException as error:
            raise error from None

    async def begin_anew(self):
        """Raises a new error, without a reference to the first."""
        try:
            await self.send()
        except asyncio.CancelledError:
            error = asyncio.CancelledError()
        raise error from None

    async def in_group(self):
        try:
            await self.send()
        except asyncio.CancelledError:
            error = BaseExceptionGroup('group', [asyncio.CancelledError(), asyncio.CancelledError()])
        raise error from None

    async def in_group_of_its_own(self):
        """Raises a group of a library's class, as anyio does before version 4."""
        try:
            await self.send()
        except asyncio.CancelledError:
            error = Several([asyncio.CancelledError('one'), Several([asyncio.CancelledError('two')])])
        raise error from None

    async def again(self):
        try:
            await self.send()
        except asyncio.CancelledError:
            raise asyncio.CancelledError('another one')


class Aborts(unittest.TestCase):
    """Tests that an abort of the signal reaches a coroutine at its await."""

    @in_loop
    async def test_the_result_is_the_reason_whatever_a_library_makes_of_the_cancellation(self):
        why = Why('enough')
        for body in (Request().hide, Request().begin_anew, Request().in_group, Request().in_group_of_its_own):
            with self.subTest(body=body.__name__):
                _, task = await self.outcome(body, why)
                self.assertIs(task.exception(), why)

                search = scheduler.latest(lambda body=body: body())
                first = search()
                await asyncio.sleep(0.01)
                second = search()
                self.assertIsNone(await first)
                await asyncio.sleep(0.01)
                search.abort()
                self.assertIsNone(await second)

    @in_loop
    async def test_an_abort_beside_the_result_is_raised_instead_of_it(self):
        controller, log = PrioSched.TaskController(), []

        async def function():
            try:
                await scheduler.post_task(controller.abort)
            except PrioSched.AbortError:
                await scheduler.sleep(1)
                await asyncio.sleep(0.001)
                log.append('cleaned up')
                raise
        with self.assertRaises(PrioSched.AbortError):
            await scheduler.post_task(function, signal=controller.signal)
        self.assertEqual(log, ['cleaned up'])

    @in_loop
    async def test_a_cancellation_beside_an_abort_is_one(self):
        """Checks that a task that is cancelled itself before the abort reaches it is not aborted."""
        controller = PrioSched.TaskController()
        task = scheduler.post_task(Request().begin_anew, signal=controller.signal)
        await wait_for_the_loop()
        task.cancel()
        controller.abort(Why('later'))
        with self.assertRaises(asyncio.CancelledError):
            await task

    @in_loop
    async def test_a_cancellation_that_is_over_does_not_hide_an_abort(self):
        """Checks a scope of anyio, which cancels a task that has run out of time, and does not always take the cancellation back."""
        for wait in (lambda: asyncio.sleep(100), lambda: scheduler.sleep(100000)):
            for takes_back in (False, True):
                async def body(wait=wait, takes_back=takes_back):
                    asyncio.get_running_loop().call_later(0.001, asyncio.current_task().cancel)
                    with contextlib.suppress(asyncio.CancelledError):
                        await wait()
                    if takes_back:
                        asyncio.current_task().uncancel()
                    over.set()
                    await Request().begin_anew()
                why, over, controller = Why('enough'), asyncio.Event(), PrioSched.TaskController()
                task = scheduler.post_task(body, signal=controller.signal)
                await over.wait()
                controller.abort(why)
                with self.assertRaises(Why) as caught:
                    await task
                self.assertIs(caught.exception, why)

    @in_loop
    async def test_a_cancellation_that_meets_an_abort_and_is_taken_back_changes_nothing(self):
        """Checks a scope of anyio that ends with the error of the abort."""
        async def body():
            await asyncio.sleep(0)
            own = asyncio.current_task()
            own.cancel()
            controller.abort(why)
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                own.uncancel()
            raise asyncio.CancelledError('of the scope')
        why, controller = Why('enough'), PrioSched.TaskController()
        with self.assertRaises(Why) as caught:
            await scheduler.post_task(body, signal=controller.signal)
        self.assertIs(caught.exception, why)

    @in_loop
    async def test_a_cancellation_that_comes_after_an_abort_changes_nothing(self):
        """Checks a task that is cancelled again after its abort, as by an anyio scope: the result is still the abort."""
        async def body():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                asyncio.current_task().cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(100)
            raise asyncio.CancelledError('of the scope')
        why = Why('enough')
        _, task = await self.outcome(body, why)
        self.assertIs(task.exception(), why)

    @in_loop
    async def test_a_cancellation_reaches_code_that_awaits_the_cleanup_of_an_aborted_task(self):
        async def clean_up():
            try:
                started.set()
                await asyncio.sleep(100)
            finally:
                begun.set()
                await asyncio.sleep(100)

        async def await_cleanup():
            try:
                await task
            except Why:
                self.fail('the cancellation is lost')
        started, begun, controller = asyncio.Event(), asyncio.Event(), PrioSched.TaskController()
        task = scheduler.post_task(clean_up, signal=controller.signal)
        awaiting = asyncio.get_running_loop().create_task(await_cleanup())
        await started.wait()
        controller.abort(Why('enough'))
        await begun.wait()
        awaiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await awaiting
        self.assertTrue(task.cancelled())

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

    def assert_tells_of(self, error, why, is_of_asyncio):
        """Checks that a coroutine that awaited a future of this library, or of asyncio, gets error for an abort with reason why."""
        if is_of_asyncio:
            self.assertIsInstance(error, asyncio.CancelledError)
            self.assertIs(error.__cause__, why)
            self.assertEqual(error.args, (str(why),))
        else:
            self.assertIs(error, why)

    @in_loop
    async def test_the_reason_is_thrown_where_it_awaits_one_of_ours(self):
        other = scheduler.post_task(lambda: None, delay=100000)
        late = threading.Event()

        async def awaits_other():
            await other

        async def yields():
            while True:
                await scheduler.yield_()

        async def in_time():
            async with asyncio.timeout(100):
                await other

        try:
            for body in (awaits_other, yields, in_time, lambda: scheduler.sleep(100000), lambda: scheduler.run_in_thread(late.wait)):
                for after in (0.01, None):
                    why = Why('enough')
                    log, task = await self.outcome(body, why, after)
                    self.assertEqual(log, [why, 'finally'])
                    self.assert_tells_of(log[0], why, False)
                    self.assertIs(task.exception(), why)
                    self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        finally:
            late.set()
        self.assertEqual(other.state, PrioSched.TaskState.PENDING)
        other.cancel()

    @in_loop
    async def test_what_awaits_something_of_asyncio_is_cancelled(self):
        """Checks that code which awaits asyncio is cancelled as by asyncio; the reason is the cause, and the result."""
        late = threading.Event()

        async def event():
            await asyncio.Event().wait()

        async def child():
            await asyncio.ensure_future(asyncio.sleep(100))

        async def sleeps():
            while True:
                await asyncio.sleep(0)

        async def in_gather():
            await asyncio.gather(asyncio.sleep(100), scheduler.post_task(lambda: None, delay=100000))

        async def adopts():
            await scheduler.adopt(asyncio.get_running_loop().create_future())

        try:
            for body in (lambda: asyncio.sleep(100), event, child, sleeps, in_gather, lambda: asyncio.to_thread(late.wait), adopts):
                for after in (0.01, None):
                    why = Why('enough')
                    log, task = await self.outcome(body, why, after)
                    self.assert_tells_of(log[0], why, True)
                    self.assertEqual(log[1:], ['finally'])
                    self.assertIs(task.exception(), why)
                    self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        finally:
            # The loop waits for its threads.
            late.set()

    @in_loop
    async def test_what_asyncio_makes_of_cancellations_stays_right(self):
        """Checks that groups, locks and wait_for() get the CancelledError that they need; the result is the reason."""
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
        """Checks that a group ends with the reason, and that no unretrieved exception is left."""
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
    async def test_children_that_await_tasks_are_cancelled(self):
        """Checks children that await tasks of the aborted signal, whether the parent or a child notices the abort first."""
        reported = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

        def own_signal():
            return PrioSched.SchedulingState.get_current().get_cancellable()

        async def awaits_a_yield():
            await scheduler.post_task(lambda: scheduler.sleep(100000), signal=own_signal())

        async def awaits_asyncio():
            await scheduler.post_task(lambda: asyncio.sleep(100), signal=own_signal())

        async def awaits_queued():
            await scheduler.post_task(lambda: None, delay=100000, signal=own_signal())

        async def posts_in_a_loop():
            while True:
                await scheduler.post_task(lambda: None, signal=own_signal())

        async def gathers():
            await asyncio.gather(*(scheduler.post_task(lambda: asyncio.sleep(100), signal=own_signal()) for _ in range(2)))

        async def in_thread():
            await scheduler.run_in_thread(lambda: None, signal=own_signal())
            await awaits_queued()

        for child in (awaits_a_yield, awaits_asyncio, awaits_queued, posts_in_a_loop, gathers, in_thread):
            for count in (1, 2):
                async def group(child=child, count=count):
                    async with asyncio.TaskGroup() as tasks:
                        for _ in range(count):
                            tasks.create_task(child())
                why = Why('enough')
                log, task = await self.outcome(group, why)
                self.assertIs(task.exception(), why, (child, count, log))
                self.assertEqual(task.state, PrioSched.TaskState.ABORTED)
        del task, log
        gc.collect()
        await wait_for_the_loop()
        self.assertEqual(reported, [])

    @in_loop
    async def test_the_result_is_the_reason_however_it_waits_for_a_child(self):
        """Checks children in a yield or a sleep of the scheduler, which notice the abort before or after their parent."""
        async def yields():
            while True:
                await scheduler.yield_()

        async def sleeps():
            await scheduler.sleep(100000)

        async def first_of(child):
            for first in asyncio.as_completed([child()]):
                await first

        async def in_group(child):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(child())

        waits = (lambda child: asyncio.wait_for(child(), 100), lambda child: asyncio.gather(child(), child()),
                 lambda child: asyncio.create_task(child()), lambda child: asyncio.shield(child()),
                 lambda child: asyncio.wait([asyncio.create_task(child())]), first_of, in_group)
        for child in yields, sleeps:
            for number, wait in enumerate(waits):
                for reason in Why('enough'), PrioSched.AbortError('enough'), GLib.Error('enough', 'domain', 1):
                    with self.subTest(child=child.__name__, wait=number, reason=type(reason)):
                        async def waits_for_it(wait=wait, child=child):
                            await wait(child)
                        log, task = await self.outcome(waits_for_it, reason)
                        self.assertIsInstance(task.exception(), type(reason))
                        self.assertEqual(str(task.exception()), str(reason))
                        self.assertEqual(task.state, PrioSched.TaskState.ABORTED)

    @in_loop
    async def test_a_group_whose_body_yields_ends_with_the_reason(self):
        """Checks that the group ends like a group whose body awaits asyncio."""
        async def group():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(asyncio.sleep(100))
                while True:
                    await scheduler.yield_()

        async def fails():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(group())
                try:
                    await asyncio.sleep(100)
                finally:
                    raise KeyError('of its own')

        why = Why('enough')
        log, task = await self.outcome(group, why)
        self.assertIs(task.exception(), why)
        log, task = await self.outcome(fails, why)
        self.assertIsInstance(task.exception(), ExceptionGroup)
        self.assertEqual(task.state, PrioSched.TaskState.FAILED)

    @in_loop
    async def test_other_libraries_are_cancelled(self):
        """Checks the installed libraries, even if they raise another CancelledError; the result is the reason."""
        for name in ('send', 'first_of_stream', 'again'):
            why, request = Why('enough'), Request()
            log, task = await self.outcome(getattr(request, name), why)
            self.assertEqual(len(request.seen), 1, name)
            self.assert_tells_of(request.seen[0], why, True)
            self.assertIsInstance(log[0], asyncio.CancelledError)
            self.assertIs(task.exception(), why)
            self.assertEqual(task.state, PrioSched.TaskState.ABORTED)

    @in_loop
    async def test_the_result_is_what_a_coroutine_makes_of_the_reason(self):
        for wait, expected in ((lambda: scheduler.sleep(100000), Why), (lambda: asyncio.sleep(100), asyncio.CancelledError)):
            controller = PrioSched.TaskController()

            async def function(wait=wait, expected=expected):
                try:
                    await wait()
                except expected:
                    # The abort is raised once: cleanup code may await.
                    await asyncio.sleep(0.001)
                    async with asyncio.timeout(10):
                        await asyncio.sleep(0.001)
                    # As in asyncio, code that continues after a cancellation takes it back.
                    return 'saved', asyncio.current_task().cancelling()
            task = scheduler.post_task(function, signal=controller.signal)
            while task.state == PrioSched.TaskState.PENDING:
                await asyncio.sleep(0.005)
            controller.abort(Why())
            self.assertEqual(await task, ('saved', 0 if expected is Why else 1))
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
        """Returns the exception, and the result, of a body that is aborted at its await, and cleans up."""
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
        return log

    @in_loop
    async def test_the_reason_is_raised_once(self):
        """Checks that code after the reason may await, whatever function raised the reason."""
        async def yields():
            while True:
                await scheduler.yield_()

        async def iterates():
            async for _ in scheduler.each(iter(int, 1)):
                await scheduler.post_task(lambda: None)

        async def adopts():
            await scheduler.adopt(asyncio.sleep(100))

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
                self.assertTrue(PrioSched.SchedulingState.get_current().get_cancellable().aborted)
            async for item in scheduler.each('ab'):
                await scheduler.yield_()
                log.append(item)

        async def adopts_again(log):
            log.append(await scheduler.adopt(asyncio.sleep(0.001, 'adopted')))

        for body, is_of_asyncio in ((yields, False), (iterates, False), (lambda: scheduler.post_task(lambda: None, delay=100000), False),
                                    (adopts, True), (lambda: asyncio.sleep(100), True), (lambda: asyncio.Event().wait(), True)):
            for cleans_up, expected in ((sleeps, []), (posts, ['ran', 'slept']), (yields_again, ['a', 'b']),
                                        (adopts_again, ['adopted'])):
                with self.subTest(body=body, cleans_up=cleans_up):
                    error, *log = await self.aborted_while_it_cleans_up(body, cleans_up)
                    self.assertEqual(log, expected + ['cleaned up'])
                    self.assertIsInstance(error, asyncio.CancelledError if is_of_asyncio else Why)

    @in_loop
    async def test_the_result_is_what_it_makes_of_its_own_abort(self):
        """Checks the results of a task that aborts itself, in its first step and after several awaits."""
        for first in (True, False):
            for ends_with in ('saved', Why('other')):
                controller = PrioSched.TaskController()
                log = []

                async def function(first=first, ends_with=ends_with, controller=controller, log=log):
                    if not first:
                        await asyncio.sleep(0)
                    controller.abort(Why())
                    try:
                        await scheduler.yield_()
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
            log, why = [], Why('its own')

            async def function(first=first, controller=controller, log=log, why=why):
                if not first:
                    await asyncio.sleep(0)
                controller.abort(why)
                try:
                    await asyncio.sleep(100)
                except BaseException as error:
                    log.append(error)
                    raise
            with self.assertRaises(Why):
                await scheduler.post_task(function, signal=controller.signal)
            await wait_for_the_loop()
            self.assert_tells_of(*log, why, True)

    @in_loop
    async def test_coroutines_hear_of_an_abort_in_the_order_in_which_they_have_begun(self):
        event = asyncio.Event()
        for wait in (event.wait, lambda: asyncio.sleep(100), lambda: scheduler.sleep(100000),
                     lambda: scheduler.post_task(lambda: None, delay=100000)):
            controller, ended = PrioSched.TaskController(), []

            async def function(number, ended=ended, wait=wait):
                try:
                    await wait()
                finally:
                    ended.append(number)
            tasks = [scheduler.post_task(lambda number=number: function(number), signal=controller.signal) for number in range(50)]
            await scheduler.post_task(lambda: None, 'background')
            controller.abort(Why())
            await asyncio.gather(*tasks, return_exceptions=True)
            self.assertEqual(ended, list(range(50)))

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
