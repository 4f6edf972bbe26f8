"""Tests tasks in asyncio: their states across every await, as tasks of asyncio, chains and threads

    asyncio_states.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import gc
import logging
import threading
import unittest

from asyncio_loops import GLib, PrioSched, Why, gio, in_loop, kind, state

scheduler = PrioSched.Scheduler.get_default()


class States(unittest.TestCase):
    """Tests that the signal and the priority cross every await of asyncio."""

    @in_loop
    async def test_the_signal_is_current_after_every_await(self):
        controller = PrioSched.TaskController('background')
        found = []

        async def job():
            for wait in (asyncio.sleep(0), asyncio.sleep(0.001), asyncio.create_task(asyncio.sleep(0)), scheduler.yield_(),
                         asyncio.get_running_loop().run_in_executor(None, lambda: None)):
                await wait
                found.append(scheduler.current_signal is controller.signal)
        self.assertIsNone(scheduler.current_signal)
        await scheduler.post_task(job, signal=controller.signal)
        self.assertEqual(found, [True] * 5)

    @in_loop
    async def test_the_state_goes_through_every_await(self):
        controller = PrioSched.TaskController('background')
        log = []

        def note(*_):
            log.append(state())

        async def sub():
            note()
            await asyncio.sleep(0.001)
            note()

        async def agen():
            for _ in range(2):
                await asyncio.sleep(0)
                yield state()

        async def function():
            loop = asyncio.get_running_loop()
            note()
            for what in (scheduler.yield_, lambda: asyncio.sleep(0.001), lambda: asyncio.sleep(0), gio,
                         lambda: asyncio.gather(sub(), sub()), lambda: asyncio.create_task(sub()),
                         lambda: asyncio.to_thread(note), lambda: scheduler.post_task(lambda: None),
                         lambda: scheduler.post_task(lambda: None, delay=1), lambda: asyncio.wait_for(sub(), 10)):
                await what()
                note()
            loop.call_soon(note)
            loop.call_later(0.001, note)
            scheduler.post_task(lambda: None).add_done_callback(note)
            asyncio.ensure_future(asyncio.sleep(0)).add_done_callback(note)
            scheduler.queue_microtask(note)
            await asyncio.sleep(0.02)
            log.extend([value async for value in agen()])
            async with asyncio.timeout(10), asyncio.TaskGroup() as group:
                group.create_task(sub())
        await scheduler.post_task(function, signal=controller.signal)
        self.assertEqual(len(log), 29)
        for value in log:
            self.assertIsNotNone(value, log)
            self.assertIs(value[1], controller.signal)
        self.assertIsNone(state())

    @in_loop
    async def test_a_yield_after_an_await_is_what_its_task_is(self):
        for what in (lambda: asyncio.sleep(0.001), gio, lambda: asyncio.to_thread(lambda: None),
                     lambda: asyncio.gather(asyncio.sleep(0.001))):
            controller = PrioSched.TaskController('background')

            async def function(what=what, controller=controller):
                await what()
                log = []
                for i in range(5):
                    scheduler.post_task(lambda i=i: log.append(i), 'user-visible')
                await scheduler.yield_()
                self.assertEqual(log, [0, 1, 2, 3, 4])
                await what()
                controller.abort(Why())
                await scheduler.yield_()
            with self.assertRaises(Why):
                await scheduler.post_task(function, signal=controller.signal)

    @in_loop
    async def test_strangers_have_none(self):
        """Checks callbacks of a nested main loop, and code that started earlier or elsewhere."""
        log = []
        context = GLib.MainContext.default()

        def nested():
            GLib.idle_add(lambda: log.append(('nested', state())))
            scheduler.post_task(lambda: log.append(('other', state())), 'user-blocking')
            while len(log) < 2:
                context.iteration(True)
            log.append(('itself', state() is not None))
        await scheduler.post_task(nested, 'background')
        self.assertEqual(sorted(log[:2]), [('nested', None), ('other', (3, None))])
        self.assertEqual(log[2], ('itself', True))

        before = asyncio.ensure_future(asyncio.sleep(0.001))
        before.add_done_callback(lambda _: log.append(state()))
        await scheduler.post_task(lambda: GLib.timeout_add(1, lambda: log.append(state())), 'background')
        await before
        while len(log) < 5:
            await asyncio.sleep(0.001)
        self.assertEqual(log[3:], [None, None])

    @in_loop
    async def test_strangers_in_a_loop_of_a_coroutine_have_none(self):
        log = []

        def modal():
            loop = GLib.MainLoop()
            GLib.timeout_add(1, lambda: (log.append(state()), loop.quit())[1])
            loop.run()
            log.append(state() is not None)

        async def function():
            modal()
            await asyncio.sleep(0)
            modal()
            await scheduler.yield_()
            modal()
        if kind == 'gi.events':
            await scheduler.post_task(function, 'background')
            self.assertEqual(log, [None, True] * 3)


class OneKind(unittest.TestCase):
    """Tests that a posted coroutine function runs as a task of asyncio."""

    @in_loop
    async def test_it_is_the_current_task(self):
        async def function():
            tasks = [asyncio.current_task()]
            await scheduler.yield_()
            tasks.append(asyncio.current_task())
            await asyncio.sleep(0.001)
            tasks.append(asyncio.current_task())
            return tasks
        for signal in (None, PrioSched.TaskController().signal):
            tasks = await scheduler.post_task(function, signal=signal, name='mine')
            self.assertEqual(len(set(tasks)), 1)
            self.assertIsInstance(tasks[0], asyncio.Task)
            self.assertEqual(tasks[0].get_name(), 'mine')

    @in_loop
    async def test_all_of_asyncio_works_in_it(self):
        async def function():
            async with asyncio.timeout(10):
                await asyncio.wait_for(asyncio.sleep(0.001), 10)
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.001):
                    await asyncio.sleep(100)
            async with asyncio.TaskGroup() as group:
                child = group.create_task(asyncio.sleep(0.001, 'x'))
            lock, queue = asyncio.Lock(), asyncio.Queue()
            scheduler.post_task(lambda: queue.put_nowait('q'))
            async with lock:
                return child.result(), await queue.get()
        for signal in (None, PrioSched.TaskController().signal):
            self.assertEqual(await scheduler.post_task(function, 'background', signal), ('x', 'q'))

    @in_loop
    async def test_asynchronous_generators_are_closed(self):
        log = []

        async def numbers():
            try:
                for i in range(10):
                    await scheduler.yield_()
                    yield i
            finally:
                await asyncio.sleep(0)
                log.append('closed')

        async def function():
            async for i in numbers():
                if i == 2:
                    break
        await scheduler.post_task(function)
        gc.collect()
        while not log:
            await asyncio.sleep(0.001)
        self.assertEqual(log, ['closed'])

    @in_loop
    async def test_context_variables_are_those_of_the_post(self):
        variable = contextvars.ContextVar('variable', default=0)
        variable.set(5)

        async def function():
            before = variable.get()
            variable.set(6)
            await asyncio.sleep(0)
            return before, variable.get()
        self.assertEqual(await scheduler.post_task(function), (5, 6))
        self.assertEqual(variable.get(), 5)

    @in_loop
    async def test_an_exception_that_nobody_awaits_is_reported_once(self):
        async def fails():
            await asyncio.sleep(0)
            raise Why
        with self.assertLogs(level=logging.ERROR) as logs:
            task = scheduler.post_task(fails, name='the failing one')
            while not task.done():
                await asyncio.sleep(0.001)
            del task
            gc.collect()
        self.assertEqual(len(logs.output), 1, logs.output)
        self.assertIn('the failing one', logs.output[0])

    @in_loop
    async def test_a_chain_of_any_length(self):
        """Checks long chains; in an earlier version, some hundred tasks were too deep for Python."""
        done = []
        tail = scheduler.post_task(lambda: None, delay=5)
        for i in range(5000):
            async def job(before=tail, i=i):
                await before
                done.append(i)
            tail = scheduler.post_task(job)
        await tail
        self.assertEqual(done, list(range(5000)))

    @in_loop
    async def test_another_thread_s_task_does_not_take_it_there(self):
        """Checks that code that awaits another thread's task continues in its own thread."""
        context, ready, threads = GLib.MainContext.new(), threading.Event(), []
        loop = GLib.MainLoop.new(context, False)

        def work():
            context.push_thread_default()
            threads.append(PrioSched.Scheduler.ref_thread_default())
            ready.set()
            GLib.MainLoop.run(loop)
            context.pop_thread_default()
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait()
        other = threads.pop()
        here = threading.get_ident()

        async def function():
            self.assertEqual(await other.post_task(threading.get_ident), thread.ident)
            self.assertEqual(threading.get_ident(), here)
            await other.yield_()
            self.assertEqual(threading.get_ident(), here)
        try:
            await function()
            await scheduler.post_task(function, 'background')
            inside = other.post_task(lambda: None, delay=5)
            seen = asyncio.get_running_loop().create_future()
            inside.add_done_callback(lambda _: seen.set_result(threading.get_ident()))
            self.assertEqual(await seen, here)
        finally:
            loop.quit()
            thread.join()


class Lending(unittest.TestCase):
    """Tests that a task that waits by asyncio's functions lends its priority, too (WICG/scheduling-apis #98)."""

    def setUp(self):
        self.order = []
        scheduler.set_lends_priority(True)

    def tearDown(self):
        scheduler.set_lends_priority(False)

    def post(self, name, priority=None):
        return scheduler.post_task(lambda: self.order.append(name), priority, name=name)

    async def order_if(self, wait):
        """Returns the order of tasks when an urgent task waits for wait (low)."""
        async def function():
            # Callbacks that are added from here on run in turn with the loop.
            waiting = wait(low)
            between = self.post('between')
            await waiting
            self.order.append('high')
            await between
        low = self.post('low', 'background')
        del self.order[:]
        await scheduler.post_task(function, 'user-blocking')
        return self.order

    @in_loop
    async def test_gather_and_others(self):
        async def wait(low):
            await low
        for number, kind in enumerate((lambda low: asyncio.gather(low), lambda low: asyncio.wait_for(low, 100), asyncio.shield, wait)):
            for lends, first in ((True, ['low', 'between']), (False, ['between', 'low'])):
                scheduler.set_lends_priority(lends)
                order = await self.order_if(kind)
                with self.subTest(kind=number, lends=lends):
                    self.assertEqual([name for name in order if name != 'high'], first)

    @in_loop
    async def test_who_waits_no_more_lends_no_more(self):
        async def time_out(low):
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(low), 0)

        async def wait_for_another(low):
            await asyncio.wait([low, done], return_when=asyncio.FIRST_COMPLETED)

        async def gather(low):
            failing = asyncio.get_running_loop().create_future()
            failing.set_exception(Why())
            with self.assertRaises(Why):
                await asyncio.gather(low, failing)

        async def call_back(low):
            low.add_done_callback(print)
            low.remove_done_callback(print)

        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        for wait, lives_on in ((time_out, True), (wait_for_another, True), (call_back, True), (gather, False)):
            with self.subTest(wait=wait.__name__):
                await self.check_end(wait, lives_on)

    async def check_end(self, wait, lives_on):
        async def wait_and_go(low):
            await wait(low)
            self.order.append('went')
            if lives_on:
                await go_on

        def keep_busy(left=200):
            if left > 0:
                scheduler.post_task(lambda: keep_busy(left - holder.done()))
            else:
                self.order.append('between')

        async def until(is_so):
            while not is_so():
                await asyncio.sleep(0)

        del self.order[:]
        go_on = asyncio.get_running_loop().create_future()
        group = PrioSched.TaskGroup(scheduler, 1, 'background')
        holder = group.post_task(lambda: asyncio.get_running_loop().create_future(), 'user-blocking')
        await until(lambda: holder.state != PrioSched.TaskState.PENDING)
        low = group.post_task(lambda: self.order.append('low'))
        waiter = scheduler.post_task(lambda: wait_and_go(low), 'user-blocking')
        await until(lambda: self.order == ['went'])
        keep_busy()
        holder.cancel()
        await low
        go_on.set_result(None)
        await waiter
        await until(lambda: 'between' in self.order)
        self.assertEqual(self.order, ['went', 'between', 'low'])


if __name__ == '__main__':
    unittest.main()
