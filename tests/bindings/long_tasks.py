"""Tests reports of long tasks in Python, and their names.

A slow machine does not make a test fail: it only adds other long tasks.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import functools
import json
import os
import tempfile
import threading
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
MS = 1000


def work(ms=20):
    end = GLib.get_monotonic_time() + ms * MS
    while GLib.get_monotonic_time() < end:
        pass


def index_files():
    work()


async def load_rows():
    work()
    await scheduler.yield_()
    work()
    await scheduler.sleep(1)
    work()


class Indexer:
    def index(self, *args):
        work()

    __call__ = index


class Sources(unittest.TestCase):
    """Tests that sources of GLib.idle_add () and similar functions have the names of their callbacks."""

    def setUp(self):
        self.told = []
        self.addCleanup(scheduler.remove_long_task_func, scheduler.add_long_task_func(20, lambda *task: self.told.append(task)))

    def names_after(self, add, name):
        """Returns the names of the reported sources, once one of them begins with name: on a slow machine there may be others."""
        add()
        names = []
        while not any(name in each for each in names):
            GLib.MainContext.default().iteration(True)
            names = [str(each) for each, of, _ in self.told if of == 0]
        return names

    def test_functions_and_what_else_can_be_called(self):
        line = index_files.__code__.co_firstlineno
        for add, name in ((lambda: GLib.idle_add(index_files), f'index_files (long_tasks.py:{line})'),
                          (lambda: GLib.idle_add(function=index_files), f'index_files (long_tasks.py:{line})'),
                          (lambda: GLib.timeout_add(1, Indexer().index, 1, priority=300), 'Indexer.index (long_tasks.py:'),
                          (lambda: GLib.idle_add(functools.partial(Indexer(), 3)), 'Indexer'),
                          (lambda: GLib.idle_add(lambda: work()), 'test_functions_and_what_else_can_be_called.<locals>'),
                          (lambda: threading.Thread(target=GLib.idle_add, args=(index_files,)).start(), 'index_files ')):
            self.told.clear()
            with self.subTest(name):
                self.names_after(add, name)

    def test_a_callback_that_has_no_name_is_called(self):
        class Nameless:
            n_called = 0

            def __getattr__(self, name):
                raise RuntimeError(f'{name} is not to be asked for')

            def __call__(self):
                self.n_called += 1

        callback = Nameless()
        GLib.idle_add(callback)
        while callback.n_called == 0:
            GLib.MainContext.default().iteration(True)
        self.assertEqual(callback.n_called, 1)

    def test_a_name_of_its_own_stays(self):
        def add():
            GLib.Source.set_name_by_id(GLib.idle_add(index_files), 'mine')

        self.assertFalse([name for name in self.names_after(add, 'mine') if 'index_files' in name])

    def test_arguments_results_and_errors_are_as_before(self):
        got = []

        def again(*args):
            got.append(args)
            return len(got) < 3

        GLib.idle_add(again, print, 5)
        loop = GLib.MainLoop()
        GLib.timeout_add(20, loop.quit)
        loop.run()
        self.assertEqual(got, [(print, 5)] * 3)
        with self.assertRaises(TypeError):
            GLib.idle_add()
        with self.assertRaises(TypeError):
            GLib.idle_add(5)
        self.assertEqual(GLib.idle_add.__name__, 'idle_add')

    def test_a_scheduler_that_stops_watching_leaves_the_names_to_the_others(self):
        add = GLib.idle_add
        other = PrioSched.Scheduler.new(GLib.MainContext.new())
        other.remove_long_task_func(other.add_long_task_func(30, print))
        self.assertIs(GLib.idle_add, add)
        self.names_after(lambda: GLib.idle_add(index_files), 'index_files (')


class LongTasks(unittest.TestCase):

    def setUp(self):
        self.told = []
        self.number = scheduler.add_long_task_func(20, lambda *task: self.told.append(task))

    def tearDown(self):
        if self.number:
            scheduler.remove_long_task_func(self.number)

    def names(self, priority=2):
        return [name for name, of, duration in self.told if of == priority and duration >= 20]

    def run_tasks(self, *tasks):
        async def run():
            for task in tasks:
                await task
            # Reports come after the batch.
            await scheduler.sleep(1)
        PrioSched.run(run())

    def test_names(self):
        self.run_tasks(scheduler.post_task(index_files, name='index'), scheduler.post_task(index_files),
                       scheduler.post_task(functools.partial(work, 20)))
        self.assertLess({'index', 'index_files', 'work'}, set(self.names()) | {None})

    def test_steps_of_coroutines(self):
        self.run_tasks(scheduler.post_task(load_rows), scheduler.post_task(load_rows, 'background', name='rows'))
        self.assertGreaterEqual(self.names().count('load_rows'), 3)
        self.assertGreaterEqual(self.names(1).count('rows'), 3)

    @unittest.skipUnless(hasattr(PrioSched, 'EventLoop'), 'PyGObject has no loop of asyncio')
    def test_steps_that_asyncio_makes(self):
        """Checks that the steps have the names of the coroutines, or of the functions that asyncio calls."""
        class Row:
            def show(self, future):
                work()
                future.set_result(None)

        async def load_pictures():
            await asyncio.sleep(0.001)
            work()
            await asyncio.create_task(load_rows())
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(Row().show, future)
            await future
        self.run_tasks(scheduler.post_task(load_pictures, 'background'), scheduler.post_task(load_pictures, 'background', name='pictures'))
        names = [str(name).split('.')[-1] for name in self.names(1)]
        for name, n in ('load_pictures', 1), ('pictures', 1), ('load_rows', 6), ('show', 2):
            self.assertGreaterEqual(names.count(name), n, f'{name} in {names}')
        self.assertFalse([name for name in self.names(1) if '_Lane' in str(name)])

    def test_names_of_what_the_binding_calls(self):
        def render_rows(did_timeout):
            work()
            return render_rest

        def render_rest(did_timeout):
            work()

        def read_lines():
            work()
            for _ in range(2):
                yield
                work()

        def count_lines():
            work()
            yield 1
            work()
        group = PrioSched.TaskGroup(limit=1)
        self.run_tasks(scheduler.schedule_callback('normal', render_rows), scheduler.post_task(read_lines),
                       scheduler.post_task(count_lines, progress=lambda _: None), group.post_task(index_files),
                       group.post_task(load_rows, 'background'))
        names = [str(name).split('.')[-1] for name in self.names() + self.names(1)]
        for name, n in ('render_rows', 1), ('render_rest', 1), ('read_lines', 2), ('count_lines', 1), ('index_files', 1), ('load_rows', 3):
            self.assertGreaterEqual(names.count(name), n, f'{name} in {names}')
        self.assertFalse({'_go_on', 'in_steps', '_Scheduled', 'begin'}.intersection(names), names)

    def test_sources(self):
        def tick():
            work()
            return GLib.SOURCE_REMOVE
        source = GLib.timeout_source_new(0)
        source.set_name('tick')
        source.set_callback(lambda *_: tick())
        source.attach(None)

        async def until_told():
            while 'tick' not in self.names(0):
                await scheduler.sleep(1)
        PrioSched.run(until_told())

    def test_names_in_a_trace(self):
        """Checks the names in events, also of a post, a due delay, an abort and a yield."""
        async def main():
            controller = PrioSched.TaskController('background')
            aborted = scheduler.post_task(lambda: None, signal=controller.signal, name='aborted one')
            controller.abort()
            with contextlib.suppress(PrioSched.AbortError):
                await aborted
            await scheduler.post_task(load_rows, 'background')
            await scheduler.post_task(index_files, delay=5)
            await scheduler.post_task(index_files, timeout=100, name='timed')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'trace.json')
            with open(path, 'wb') as file:
                PrioSched.trace_start(file.fileno())
            # Without asyncio, whose own steps have other names.
            loop = GLib.MainLoop()
            scheduler.post_task(main, name='main').add_done_callback(lambda _: loop.quit())
            loop.run()
            PrioSched.trace_stop()
            with open(path) as file:
                trace = json.load(file)
        events = trace['traceEvents'] if isinstance(trace, dict) else trace
        named = [(event['cat'], event['name']) for event in events if event.get('args', {}).get('kind') == "runner's task"]
        for expected in (('post', 'main'), ('post', 'aborted one'), ('abort', 'aborted one'), ('post', 'load_rows'), ('post', 'index_files'),
                         ('due', 'index_files'), ('post', 'timed'), ('run', 'load_rows')):
            self.assertIn(expected, named)
        self.assertGreaterEqual(named.count(('post', 'load_rows')), 2)
        self.assertNotIn("runner's task", [name for cat, name in named])

    def test_schedulers(self):
        another = PrioSched.Scheduler.new(GLib.MainContext.new())
        listed = PrioSched.Scheduler.list_all()
        self.assertLess(listed.index(scheduler), listed.index(another))

    def test_not_asked_for(self):
        class Callback:
            asked = False

            def __getattr__(self, name):
                if name != '__qualname__':
                    raise AttributeError(name)
                self.asked = True
                return 'callback'

            def __call__(self):
                pass
        asked, not_asked = Callback(), Callback()
        self.run_tasks(scheduler.post_task(asked))
        scheduler.remove_long_task_func(self.number)
        self.number = 0
        self.run_tasks(scheduler.post_task(not_asked))
        self.assertEqual((asked.asked, not_asked.asked), (True, False))

    def test_wrong(self):
        for wrong in (-1, 2 ** 32, '50'):
            with self.assertRaises((OverflowError, TypeError, ValueError)):
                scheduler.add_long_task_func(wrong, print)
        self.assertEqual(PrioSched.LONG_TASK_THRESHOLD, 50)


if __name__ == '__main__':
    unittest.main()
