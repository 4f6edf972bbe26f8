"""Tests that a task, as a task of asyncio, is cancelled at its await

    asyncio_tasks.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import asyncio
import inspect
import pathlib
import unittest

from asyncio_loops import PrioSched, Why, in_loop, wait_for_the_loop

scheduler = PrioSched.Scheduler.get_default()


def names_in_asyncio():
    """Returns the attributes, of any object, that asyncio's own code mentions."""
    for file in pathlib.Path(asyncio.__file__).parent.glob('*.py'):
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Attribute):
                yield node.attr


# Outside of tests, because valgrind takes long to read all of asyncio.
NAMES_IN_ASYNCIO = frozenset(names_in_asyncio())


class Likeness(unittest.TestCase):
    """Tests that objects that pass for tasks or futures of asyncio have the attributes that asyncio uses, and no other
    meanings for these names.
    """

    # Methods that settle a future: only the library calls them.
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
                            # No attribute of the object hides the method.
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
    async def test_gather_of_what_has_been_cancelled(self):
        for arguments in ((), ('enough',)):
            task = scheduler.post_task(lambda: None, delay=100000)
            everything = asyncio.gather(task, asyncio.sleep(0), return_exceptions=True)
            task.cancel(*arguments)
            error, value = await asyncio.wait_for(everything, 10)
            self.assertIsInstance(error, asyncio.CancelledError)
            self.assertEqual((error.args, value), (arguments or ('',), None))

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
        (found,) = await asyncio.gather(*(asyncio.all_tasks() - before), return_exceptions=True)
        self.assertIsInstance(found, asyncio.CancelledError)
        self.assertIs(task.exception(), why)


class Cancellation(unittest.TestCase):
    """Tests cancellation by asyncio's own functions: wait_for (), timeout (), groups and cancel ()."""

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
    async def test_who_awaits_is_cancelled_though_the_task_has_just_ended(self):
        """Checks that the cancellation is not lost, as in asyncio: the result has not been delivered yet."""
        loop, before, found = asyncio.get_running_loop(), asyncio.all_tasks(), []

        async def ends():
            await asyncio.sleep(0.001)
            loop.call_soon(waits.cancel)
            return 'ended'

        async def main():
            task = scheduler.post_task(ends)
            try:
                found.append(await task)
            except asyncio.CancelledError:
                found.append('cancelled')
            return task
        waits = asyncio.create_task(main())
        task = await waits
        self.assertEqual(found, ['cancelled'])
        self.assertEqual(await task, 'ended')
        self.assertIs(task.cancel(), False)
        self.assertEqual(asyncio.all_tasks(), before)

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
        """Checks that cancelling does not walk all paths: each task gathers the previous two, so they are exponentially many."""
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


if __name__ == '__main__':
    unittest.main()
