"""Tests PrioSched.EventLoop: asyncio's calls for a task have the priority of that task (PyGObject 3.50 and later)."""

import asyncio
import contextlib
import functools
import socket
import sys
import unittest

from asyncio_loops import GLib, PrioSched, Why, gio, module, state

N = 5  # tasks of each kind
scheduler = PrioSched.Scheduler.get_default()
sys.argv[1:] = []


def run(loop_class, coroutine):
    factory = functools.partial(loop_class, GLib.MainContext.default())
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(asyncio.wait_for(coroutine, 100))


def in_loop(function):
    """Makes a test of a coroutine function, which may hang for 100 s, because valgrind is slow."""
    @functools.wraps(function)
    def test(self):
        run(PrioSched.EventLoop, function(self))
    return test


async def visible_after(begin, priority, **options):
    """Returns the notes of begin (note), called in a task of that priority, and of user-visible tasks that are posted
    after it.

    begin returns an awaitable for the end.
    """
    notes = []
    ended = await scheduler.post_task(lambda: [begin(notes.append)], priority, **options)
    tasks = [scheduler.post_task(lambda: notes.append('visible')) for _ in range(N)]
    await asyncio.gather(*tasks, *ended)
    return notes


def callbacks(note):
    future = asyncio.get_running_loop().create_future()
    for i in range(N):
        asyncio.get_running_loop().call_soon(note, i)
    asyncio.get_running_loop().call_soon(future.set_result, None)
    return future


def timers(note):
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    for i in range(N):
        loop.call_at(loop.time() - 1 + i / N, note, i)
    loop.call_at(loop.time(), future.set_result, None)
    return future


def done_callbacks(note):
    future, last = asyncio.Future(), asyncio.Future()
    for i in range(N):
        future.add_done_callback(lambda _, i=i: note(i))
    future.add_done_callback(last.set_result)
    future.set_result(None)
    return last


def tasks(note):
    async def count(i):
        await asyncio.sleep(0)
        note(i)
    return asyncio.gather(*(asyncio.create_task(count(i)) for i in range(N)))


class Priorities(unittest.TestCase):

    @in_loop
    async def test_what_a_background_task_leaves_to_asyncio_waits_for_visible_tasks(self):
        for begin in callbacks, timers, done_callbacks, tasks:
            with self.subTest(begin.__name__):
                self.assertEqual(await visible_after(begin, 'background'), ['visible'] * N + list(range(N)))

    @in_loop
    async def test_what_a_blocking_task_leaves_to_asyncio_goes_before_visible_tasks(self):
        for begin in callbacks, done_callbacks, tasks:
            with self.subTest(begin.__name__):
                self.assertEqual(await visible_after(begin, 'user-blocking'), list(range(N)) + ['visible'] * N)

    @in_loop
    async def test_every_pass_of_a_background_coroutine_waits_for_visible_tasks(self):
        turns, enough = [], asyncio.Event()

        async def background():
            while not enough.is_set():
                turns.append('background')
                await asyncio.sleep(0)
        task = scheduler.post_task(background, 'background')
        while not turns:
            await asyncio.sleep(0)
        del turns[:]
        await asyncio.gather(*(scheduler.post_task(lambda: turns.append('visible')) for _ in range(N)))
        enough.set()
        self.assertEqual(turns[:N], ['visible'] * N)
        await task

    @in_loop
    async def test_callbacks_follow_the_priority_of_the_signal(self):
        controller = PrioSched.TaskController('background')

        def begin(note):
            future = callbacks(note)
            controller.set_priority('user-blocking')
            return future
        self.assertEqual(await visible_after(begin, None, signal=controller.signal), list(range(N)) + ['visible'] * N)

    def test_the_order_within_a_priority_is_that_of_asyncio(self):
        async def program(priority):
            notes = []

            async def main():
                loop = asyncio.get_running_loop()
                queue = asyncio.Queue(1)

                async def produce(name):
                    for i in range(N):
                        await queue.put((name, i))
                        loop.call_soon(notes.append, ('put', name, i))

                async def consume():
                    for _ in range(2 * N):
                        notes.append(await queue.get())
                        loop.call_soon(notes.append, 'got')
                async with asyncio.TaskGroup() as group:
                    for coroutine in produce('a'), produce('b'), consume():
                        group.create_task(coroutine).add_done_callback(lambda _: notes.append('done'))
            await scheduler.post_task(main, priority)
            return notes

        expected = run(module.GLibEventLoop, program(None))
        self.assertEqual(len(expected), 6 * N + 3)
        for priority in None, 'background', 'user-blocking':
            self.assertEqual(run(PrioSched.EventLoop, program(priority)), expected, priority)


class Yields(unittest.TestCase):
    """Tests that awaited events do not starve beside a loop of yields of the same priority."""

    @staticmethod
    async def times_out():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.sleep(1000)

    async def assert_ends(self, waits, **options):
        """Checks that waits () ends, in a task with options, though another such task yields."""
        ended = []

        async def yields():
            for _ in range(10 ** 5):
                await scheduler.yield_()
                if ended:
                    return True

        async def function():
            for _ in range(3):
                await waits()
            ended.append(True)
        tasks = [scheduler.post_task(coroutine, **options) for coroutine in (function, yields, yields)]
        self.assertEqual(await asyncio.gather(*tasks), [None, True, True])

    @in_loop
    async def test_whatever_asyncio_does_for_a_task(self):
        waits = (lambda: asyncio.sleep(0), lambda: asyncio.sleep(0.001), self.times_out, gio, lambda: asyncio.to_thread(len, ''),
                 lambda: asyncio.create_task(asyncio.sleep(0)), lambda: scheduler.run_in_thread(len, ''),
                 lambda: scheduler.sleep(1))
        for priority in 'background', 'user-visible', 'user-blocking':
            for options in {'priority': priority}, {'signal': PrioSched.TaskController(priority).signal}:
                for number, what in enumerate(waits):
                    with self.subTest(priority=priority, by=list(options), what=number):
                        await self.assert_ends(what, **options)

    @in_loop
    async def test_a_timeout_around_the_loop_itself(self):
        for priority in 'background', 'user-visible', 'user-blocking':
            for options in {'priority': priority}, {'signal': PrioSched.TaskController(priority).signal}:
                async def function():
                    async with asyncio.timeout(0.001):
                        for _ in range(10 ** 5):
                            await scheduler.yield_()
                with self.assertRaises(TimeoutError):
                    await scheduler.post_task(function, **options)


class Descriptors(unittest.TestCase):
    """Tests descriptors that a task of another priority waits for."""

    def setUp(self):
        self.ours, self.others = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.addCleanup(self.others.close)
        self.ours.setblocking(False)
        self.notes = []

    def note(self, what, enough=1):
        """Makes a reader or writer that notes each call, and removes itself after enough calls."""
        loop = asyncio.get_running_loop()
        remove = loop.remove_writer if what == 'writer' else loop.remove_reader

        def call():
            self.notes.append(what)
            if self.notes.count(what) == enough:
                remove(self.ours)
        return call

    async def when_noted(self, count):
        while len(self.notes) < count:
            await scheduler.post_task(lambda: None, 'background')

    async def leave_a_reader(self):
        """Makes a background task with a reader that is ready and has not been called yet."""
        loop = asyncio.get_running_loop()
        self.others.send(b'x')
        await scheduler.post_task(lambda: loop.add_reader(self.ours, self.note('reader')), 'background')
        for _ in range(N):
            await asyncio.sleep(0)
        self.assertEqual(self.notes, [])

    async def receives(self):
        loop = asyncio.get_running_loop()
        loop.call_soon(self.others.send, b'x')
        await loop.sock_recv(self.ours, 1)

    async def finds_the_end(self):
        loop = asyncio.get_running_loop()
        loop.call_soon(self.others.close)
        await loop.sock_recv(self.ours, 1)

    async def may_write(self):
        loop = asyncio.get_running_loop()
        written = loop.create_future()
        loop.add_writer(self.ours, lambda: written.done() or written.set_result(None))
        await written
        loop.remove_writer(self.ours)

    async def has_streams(self):
        reader, writer = await asyncio.open_connection(sock=self.ours)
        self.others.send(b'x')
        await reader.readexactly(1)
        self.others.close()
        await reader.read()
        writer.close()
        await writer.wait_closed()

    @in_loop
    async def test_asyncio_makes_few_passes_until_a_background_task_goes_on(self):
        loop = asyncio.get_running_loop()
        for wait in self.receives, self.may_write, self.finds_the_end, self.has_streams:
            passes = []
            loop._run_once = lambda passes=passes: passes.append(None) or type(loop)._run_once(loop)
            self.setUp()
            await scheduler.post_task(wait, 'background')
            del loop._run_once
            self.assertLess(len(passes), 50, wait.__name__)

    @in_loop
    async def test_a_reader_is_called_once_for_what_it_reads(self):
        loop, read = asyncio.get_running_loop(), []

        def receive():
            try:
                read.append(self.ours.recv(1))
            except BlockingIOError as error:
                read.append(error)
        await scheduler.post_task(lambda: loop.add_reader(self.ours, receive), 'background')
        for byte in b'x', b'y':
            self.others.send(byte)
            for _ in range(N):
                await asyncio.sleep(0)
            while byte not in read:
                await scheduler.post_task(lambda: None, 'background')
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(read, [b'x', b'y'])
        loop.remove_reader(self.ours)

    @in_loop
    async def test_a_reader_that_does_not_read_is_called_again(self):
        loop = asyncio.get_running_loop()
        self.others.send(b'x')
        for priority in 'background', 'user-blocking':
            del self.notes[:]
            await scheduler.post_task(lambda: loop.add_reader(self.ours, self.note('reader', 3)), priority)
            await self.when_noted(3)
            self.assertEqual(self.notes, ['reader'] * 3)

    @in_loop
    async def test_one_that_is_removed_before_its_turn_is_not_called(self):
        await self.leave_a_reader()
        asyncio.get_running_loop().remove_reader(self.ours)
        for _ in range(N):
            await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(self.notes, [])

    @in_loop
    async def test_one_that_is_replaced_before_its_turn_is_not_called(self):
        await self.leave_a_reader()
        asyncio.get_running_loop().add_reader(self.ours, self.note('other'))
        await self.when_noted(1)
        for _ in range(N):
            await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(self.notes, ['other'])

    @in_loop
    async def test_the_other_direction_need_not_wait(self):
        await self.leave_a_reader()
        asyncio.get_running_loop().add_writer(self.ours, self.note('writer', N))
        await self.when_noted(N + 1)
        self.assertEqual(self.notes, ['writer'] * N + ['reader'])


class Callbacks(unittest.TestCase):

    @in_loop
    async def test_a_callback_has_the_state_of_its_task_and_strangers_have_none(self):
        states, strangers = [], []

        async def main():
            await asyncio.sleep(0)
            GLib.idle_add(lambda: strangers.append(state()))
            nested = GLib.MainLoop()
            GLib.idle_add(lambda: strangers.append(state()) or nested.quit())
            super(GLib.MainLoop, nested).run()
            asyncio.get_running_loop().call_soon(lambda: states.append(state()))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await scheduler.post_task(main, 'background')
        self.assertEqual([int(priority) for priority, _ in states], [1])
        self.assertEqual(strangers, [None, None])

    @in_loop
    async def test_a_cancelled_handle_is_not_called(self):
        called = []

        def begin():
            handle = asyncio.get_running_loop().call_soon(called.append, 'cancelled')
            asyncio.get_running_loop().call_soon(called.append, 'called')
            handle.cancel()
        await scheduler.post_task(begin, 'background')
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(called, ['called'])

    @in_loop
    async def test_an_abort_loses_no_callback(self):
        controller = PrioSched.TaskController('background')
        notes = []

        def abort():
            notes.append('aborted')
            controller.abort(Why())

        async def main():
            for i in range(N):
                asyncio.get_running_loop().call_soon(notes.append, i)
            scheduler.post_task(abort, 'user-blocking')
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                notes.append('finally')
        with self.assertRaises(Why):
            await scheduler.post_task(main, signal=controller.signal)
        self.assertEqual(notes, ['aborted', *range(N), 'finally'])

    @in_loop
    async def test_threads_call(self):
        loop, notes = asyncio.get_running_loop(), []

        async def main():
            called = loop.create_future()

            def in_thread():
                loop.call_soon_threadsafe(lambda: notes.append(int(state()[0])))
                loop.call_soon_threadsafe(called.set_result, None)
            await asyncio.to_thread(in_thread)
            await called
        await scheduler.post_task(main, 'background')
        self.assertEqual(notes, [1])

    @in_loop
    async def test_what_is_raised_is_told_to_the_loop(self):
        told = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context['exception']))
        why = Why()

        def fail():
            raise why
        await scheduler.post_task(lambda: asyncio.get_running_loop().call_soon(fail) and None, 'background')
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(told, [why])

    @in_loop
    async def test_a_nested_main_loop_in_a_coroutine_runs_no_other(self):
        notes = []

        async def main():
            async def other():
                notes.append('other')
            task = asyncio.create_task(other())
            nested = GLib.MainLoop()
            scheduler.post_task(nested.quit, 'background')  # after the other task's step
            super(GLib.MainLoop, nested).run()
            notes.append('main')
            await task
        await scheduler.post_task(main, 'background')
        self.assertEqual(notes, ['main', 'other'])

    @in_loop
    async def test_a_nested_main_loop_in_a_coroutine_goes_on_without_asyncio(self):
        notes = []

        async def main():
            async def other():
                notes.append('other')
            task = asyncio.create_task(other())
            nested = GLib.MainLoop()
            GLib.timeout_add(20, nested.quit)  # some iterations after the other task's turn
            super(GLib.MainLoop, nested).run()
            notes.append('main')
            await task
        await asyncio.wait_for(scheduler.post_task(main, 'background'), 10)
        self.assertEqual(notes, ['main', 'other'])

    def test_a_loop_calls_nothing_where_it_does_not_run(self):
        called = []

        def leave(what):
            asyncio.get_running_loop().call_soon(called.append, what)
            scheduler.pause()  # so that the reader is passed to the task

        async def main(what):
            await scheduler.post_task(lambda: leave(what), 'background')

        def iterate():
            scheduler.resume()
            while GLib.MainContext.default().iteration(False):
                pass
        loop = PrioSched.EventLoop(GLib.MainContext.default())
        loop.run_until_complete(main(1))
        iterate()
        self.assertEqual(called, [])
        loop.run_until_complete(main(2))
        self.assertEqual(called, [1])
        loop.close()
        iterate()
        self.assertEqual(called, [1])

    def test_run_has_this_loop_and_ends_what_is_left(self):
        ended = []

        async def forever():
            try:
                while True:
                    await asyncio.sleep(0)
            finally:
                ended.append(True)

        async def main():
            await scheduler.post_task(lambda: globals().update(left=asyncio.ensure_future(forever())), 'background')
            await scheduler.post_task(lambda: None, 'background')
            return asyncio.get_running_loop()
        self.assertIsInstance(PrioSched.run(main()), PrioSched.EventLoop)
        self.assertEqual(ended, [True])

    def test_run_calls_what_is_ready_at_its_end(self):
        """Checks that ready callbacks are called as by asyncio, whatever the priority."""
        for priority in 'background', 'user-visible', 'user-blocking':
            for options in {'priority': priority}, {'signal': PrioSched.TaskController(priority).signal}:
                called = []

                async def leave(called=called):
                    loop, future = asyncio.get_running_loop(), asyncio.Future()
                    loop.call_soon(called.append, 'soon')
                    future.add_done_callback(lambda _: called.append('done'))
                    future.set_result(None)

                async def main(leave=leave, options=options):
                    await scheduler.post_task(leave, **options)
                PrioSched.run(main())
                self.assertEqual(called, ['soon', 'done'], options)


unittest.main()
