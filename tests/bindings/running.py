"""Tests PrioSched.run(), asyncio.run() without GLib, and how programs end"""

import signal
import subprocess
import sys
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


class Programs(unittest.TestCase):
    """Tests the ends of programs."""

    def run_program(self, text, *arguments):
        before = ('import asyncio, gc, os, signal, sys, threading\nimport gi\ngi.require_version("PrioSched", "1")\n'
                  'from gi.repository import GLib, PrioSched\nscheduler = PrioSched.Scheduler.get_default()\n')
        result = subprocess.run([sys.executable, '-W', 'ignore', '-c', before + text, *arguments], capture_output=True, text=True,
                                timeout=100)
        return result.returncode, result.stdout, result.stderr

    def test_sys_exit_ends_it(self):
        for how in ('def task(): sys.exit(3)', 'async def task(): await scheduler.yield_(); sys.exit(3)'):
            for loop in ('async def main(): await scheduler.post_task(task)\nPrioSched.run(main())',
                         'scheduler.post_task(task)\nGLib.MainLoop().run()'):
                status, out, error = self.run_program(f'{how}\n{loop}\nprint("went on")')
                self.assertEqual((status, out), (3, ''), (how, loop, error))

    def test_what_ends_the_first_step_is_told_once(self):
        for error, expected in ('SystemExit(3)', 3), ('KeyboardInterrupt()', -signal.SIGINT):
            status, out, stderr = self.run_program(f'async def main(): raise {error}\nPrioSched.run(main())')
            self.assertEqual((status, out), (expected, ''))
            self.assertNotIn('never retrieved', stderr)

    def test_a_keyboard_interrupt_comes_out(self):
        for how in ('def task(): raise KeyboardInterrupt', 'async def task(): await scheduler.yield_(); raise KeyboardInterrupt'):
            status, out, error = self.run_program(how + '''
async def main():
    try:
        await scheduler.post_task(task)
    except Exception as error:
        print('wrong', error)
try:
    PrioSched.run(main())
except KeyboardInterrupt:
    print('right')
''')
            self.assertEqual((status, out), (0, 'right\n'), error)

    def test_control_c_lets_finally_run(self):
        for wait in ('scheduler.post_task(lambda: None, "background", delay=1)', 'scheduler.yield_()',
                     'scheduler.post_task(lambda: None, delay=100000)'):
            status, out, error = self.run_program(f'''
async def main():
    try:
        # Not before: a slow machine may not have come here yet.
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        while True:
            await {wait}
    finally:
        await scheduler.yield_()
        print('finally')
try:
    PrioSched.run(main())
except KeyboardInterrupt:
    print('interrupted')
''')
            self.assertEqual((status, out), (0, 'finally\ninterrupted\n'), error)

    def test_control_c_in_a_step_is_heard_where_the_step_ends(self):
        for before in 'pass', 'await scheduler.yield_()':
            for interrupt in 'press()', 'action.activate()':
                for after in 'await scheduler.sleep(200000)', 'return':
                    status, out, error = self.run_program(f'''
from gi.repository import Gio
def press(*_):
    signal.raise_signal(signal.SIGINT)
action = Gio.SimpleAction.new("press")
action.connect('activate', press)
async def main():
    {before}
    try:
        {interrupt}
        {after}
    finally:
        print('finally')
try:
    PrioSched.run(main())
except KeyboardInterrupt:
    print('interrupted')
''')
                    self.assertEqual((status, out, error), (0, 'finally\ninterrupted\n', ''), (before, interrupt, after))

    @unittest.skipIf(hasattr(PrioSched, 'EventLoop'), 'in a loop of asyncio, run() does not nest in a coroutine')
    def test_control_c_cancels_the_innermost_run(self):
        for before in 'pass', 'await scheduler.yield_()':
            status, out, error = self.run_program(f'''
async def inner():
    try:
        scheduler.post_task(lambda: signal.raise_signal(signal.SIGINT))
        await scheduler.sleep(200000)
    finally:
        print('inner')
def nest():
    PrioSched.run(inner())
async def main():
    {before}
    try:
        nest()
    finally:
        print('outer')
try:
    PrioSched.run(main())
except KeyboardInterrupt:
    print('interrupted', signal.getsignal(signal.SIGINT) is signal.default_int_handler)
''')
            self.assertEqual((status, out, error), (0, 'inner\nouter\ninterrupted True\n', ''), before)

    def test_a_second_control_c_ends_what_cleans_up(self):
        for wait in ('await scheduler.post_task(lambda: None, delay=200000)', 'await scheduler.sleep(200000)',
                     'while True: await scheduler.yield_()', 'while True: pass'):
            status, out, error = self.run_program(f'''
def interrupt():
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
async def main():
    try:
        interrupt()
        await scheduler.sleep(100000)
    finally:
        try:
            interrupt()
            {wait}
            print('went on')
        finally:
            print('finally')
try:
    PrioSched.run(main())
except KeyboardInterrupt:
    print('interrupted')
''')
            self.assertEqual((status, out, error), (0, 'finally\ninterrupted\n', ''), wait)

    def test_an_interrupt_in_a_task_lets_finally_run(self):
        """Checks that the finally clauses of main, and of the tasks that have started, run."""
        for how, status in (('def task(): sys.exit(7)', 7), ('async def task(): await scheduler.yield_(); sys.exit(7)', 7),
                            ('def task(): raise KeyboardInterrupt', -signal.SIGINT)):
            for main in ('scheduler.post_task(task); await scheduler.post_task(lambda: 0, delay=100000)',
                         'await scheduler.post_task(task)'):
                out_status, out, error = self.run_program(f'''
{how}
async def waits(name):
    try:
        await scheduler.post_task(lambda: None, delay=100000)
    finally:
        await scheduler.yield_()
        await scheduler.post_task(lambda: None, 'background')
        print(name, 'cleaned up')
async def main():
    try:
        scheduler.post_task(lambda: waits('other'), 'user-blocking')
        await scheduler.post_task(lambda: None)
        {main}
    finally:
        await scheduler.yield_()
        print('finally')
PrioSched.run(main())
''')
                self.assertEqual((out_status, sorted(out.splitlines())), (status, ['finally', 'other cleaned up']), error)

    def test_what_is_left_at_the_end_is_cancelled(self):
        status, out, error = self.run_program('''
async def waits(name, what):
    try:
        await what()
    finally:
        await scheduler.post_task(lambda: None)
        print(name)
later = lambda: scheduler.post_task(lambda: None, delay=100000)
async def yields():
    while True:
        await scheduler.yield_()
async def other_task():
    await tasks[0]
async def main():
    tasks.append(scheduler.post_task(lambda: waits('a', later), name='a'))
    tasks.append(scheduler.post_task(lambda: waits('b', yields), 'background'))
    tasks.append(scheduler.post_task(lambda: waits('c', other_task), signal=PrioSched.TaskController().signal))
    while any(task.state == PrioSched.TaskState.PENDING for task in tasks):
        await scheduler.post_task(lambda: None, delay=1)
    return 'result'
for _ in range(2):
    tasks = []
    print(PrioSched.run(main()), *[task.state.value_nick for task in tasks])
''')
        lines = sorted(out.splitlines())
        self.assertEqual((status, lines), (0, sorted(['a', 'b', 'c', 'result aborted aborted aborted'] * 2)), error)
        self.assertNotIn('never retrieved', error)

    def test_what_begins_while_it_ends_is_cancelled_or_told(self):
        """Checks that no task hangs, and that no task is left for a closed loop of asyncio."""
        status, out, error = self.run_program('''
ended = []
async def posts_more():
    try:
        await scheduler.post_task(lambda: None, delay=100000)
    finally:
        tasks.append(scheduler.post_task(posts_more, 'user-blocking'))
        await scheduler.post_task(lambda: None, 'background')
        ended.append(True)
async def needs_another():
    try:
        await scheduler.post_task(lambda: None, delay=100000)
    finally:
        ended.append(await scheduler.post_task(helps))
async def helps():
    await scheduler.post_task(lambda: None, delay=1)
    return 'helped'
async def main():
    tasks.extend(scheduler.post_task(each, 'user-blocking') for each in (posts_more, needs_another, posts_more))
    await scheduler.post_task(lambda: None, 'user-blocking')
for _ in range(2):
    tasks, ended = [], []
    PrioSched.run(main())
    running = [task for task in tasks if task.state == PrioSched.TaskState.RUNNING]
    print(running, ended.count('helped'), ended.count(True) >= 2, len(tasks) < 30)
gc.collect()
''')
        self.assertEqual((status, out), (0, '[] 1 True True\n' * 2), error)
        self.assertNotIn('Task was destroyed', error)
        self.assertNotIn('never awaited', error)

    def test_a_nested_run_leaves_others_alone(self):
        status, out, error = self.run_program('''
async def inner():
    await scheduler.yield_()
    return 'inner'
async def waits():
    try:
        await scheduler.post_task(lambda: None, delay=20)
        print('went on')
    except asyncio.CancelledError:
        print('cancelled')
async def main():
    task = scheduler.post_task(waits)
    await scheduler.post_task(lambda: None)
    print(await scheduler.post_task(lambda: PrioSched.run(inner())))
    await task
PrioSched.run(main())
''')
        # The order is reversed if the nested run takes longer than the delay.
        self.assertEqual((status, sorted(out.split('\n'))), (0, ['', 'inner', 'went on']), error)

    def test_a_main_context_that_another_thread_runs_is_refused(self):
        status, out, error = self.run_program('''
has_begun, may_end, context = threading.Event(), threading.Event(), GLib.MainContext.default()
def hold():
    context.acquire()
    has_begun.set()
    may_end.wait()
    context.release()
thread = threading.Thread(target=hold, daemon=True)
thread.start()
has_begun.wait()
async def main(): print('runs')
try:
    PrioSched.run(main())
except RuntimeError as error:
    print('another thread' in str(error), 'push' in str(error))
may_end.set()
thread.join()
PrioSched.run(main())
print(context.is_owner())
''')
        self.assertEqual((status, out, error), (0, 'True True\nruns\nFalse\n', ''))

    def test_in_a_thread_that_has_pushed_a_main_context(self):
        """Checks that run () ends leftover tasks here too: a pushed context that is not running does not make it nested."""
        status, out, error = self.run_program('''
async def waits():
    try:
        await own.sleep(100000)
    finally:
        await own.yield_()
        print('cleaned up')
async def main():
    global own, task
    own = PrioSched.Scheduler.ref_thread_default()
    task = own.post_task(waits)
    await own.post_task(lambda: None)
def function():
    context = GLib.MainContext.new()
    context.push_thread_default()
    PrioSched.run(main())
    print(task.state.value_nick)
    context.pop_thread_default()
thread = threading.Thread(target=function)
thread.start()
thread.join()
''')
        self.assertEqual((status, out), (0, 'cleaned up\naborted\n'), error)

    def test_a_coroutine_that_swallows_its_cancellation_at_the_end(self):
        status, out, error = self.run_program('''
has_begun = False
async def swallows():
    global has_begun
    try:
        while True:
            has_begun = True
            await scheduler.yield_()
    except asyncio.CancelledError:
        return 'swallowed'
async def main():
    global task
    task = scheduler.post_task(swallows)
    while not has_begun:
        await scheduler.post_task(lambda: None, 'user-blocking', delay=1)
PrioSched.run(main())
print(task.result())
''')
        self.assertEqual((status, out), (0, 'swallowed\n'), error)

    def test_coroutines_of_a_paused_scheduler_are_cancelled(self):
        status, out, error = self.run_program('''
paused = PrioSched.Scheduler.new(None)
begun = []
async def yields():
    begun.append(yields)
    try:
        while True:
            await paused.yield_()
    finally:
        print('yield')
async def waits():
    begun.append(waits)
    try:
        await paused.post_task(lambda: None, delay=100000)
    finally:
        print('task')
async def main():
    for function in (waits, yields):
        paused.post_task(function)
    while len(begun) < 2:
        await scheduler.sleep(1)
    paused.pause()
faulthandler.dump_traceback_later(30, exit=True)
PrioSched.run(main())
'''.replace('\n', 'import faulthandler\n', 1))
        self.assertEqual((status, sorted(out.split())), (0, ['task', 'yield']), error)

    def test_asynchronous_generators_are_closed(self):
        status, out, error = self.run_program('''
async def numbers(name):
    try:
        for i in range(10):
            await scheduler.yield_()
            yield i
    finally:
        await scheduler.yield_()
        print(name, 'closed')
async def main():
    global kept
    async for i in numbers('dropped'):
        if i == 2:
            break
    gc.collect()
    await scheduler.post_task(lambda: None, 'background', delay=10)
    kept = numbers('kept')
    await anext(kept)
    print('end')
PrioSched.run(main())
''')
        self.assertEqual((status, out), (0, 'dropped closed\nend\nkept closed\n'), error)

    def test_an_asynchronous_generator_that_fails_to_close_is_reported(self):
        for before in 'pass', 'await scheduler.yield_()':
            status, out, error = self.run_program(f'''
async def numbers():
    try:
        yield 1
    finally:
        {before}
        raise ValueError('closing')
async def main():
    global kept
    kept = numbers()
    await anext(kept)
PrioSched.run(main())
print('end')
''')
            self.assertEqual((status, out), (0, 'end\n'), error)
            self.assertIn('ValueError: closing', error, before)

    def test_asyncio_without_glib_says_so(self):
        for what in ('await scheduler.post_task(lambda: 1)', 'await scheduler.yield_()',
                     'await asyncio.gather(scheduler.post_task(lambda: 1))', 'await asyncio.wait_for(scheduler.post_task(lambda: 1), 5)'):
            status, out, error = self.run_program(f'async def main(): {what}\nasyncio.run(main())')
            self.assertEqual(status, 1, error)
            self.assertIn("does not run the scheduler's main context", error)

    def test_asyncio_beside_a_thread_that_runs_glib(self):
        status, out, error = self.run_program('''
loop = GLib.MainLoop()
threading.Thread(target=loop.run, daemon=True).start()
while not GLib.MainContext.default().acquire() is False:
    GLib.MainContext.default().release()
async def main():
    ident = await scheduler.post_task(threading.get_ident)
    await scheduler.yield_()
    print(ident != threading.get_ident())
asyncio.run(main())
''')
        self.assertEqual((status, out), (0, 'True\n'), error)

    def test_run_in_a_function_of_a_task(self):
        async def inner():
            await scheduler.yield_()
            return 'inner'
        self.assertEqual(PrioSched.run(scheduler.post_task(lambda: PrioSched.run(inner()))), 'inner')

    def test_a_coroutine_cannot_run_another_one(self):
        """Checks that run () raises in a coroutine, because its main loop could wait for a task that waits for the coroutine."""
        async def inner():
            pass

        async def main():
            try:
                await scheduler.post_task(lambda: 1 / 0)
            except ZeroDivisionError:
                pass
            with self.assertRaisesRegex(RuntimeError, 'await it'):
                PrioSched.run(inner())
            return 'went on'
        self.assertEqual(PrioSched.run(main()), 'went on')
        self.assertEqual(PrioSched.run(scheduler.post_task(main)), 'went on')

    def test_run_in_asyncio_with_glib(self):
        """Checks PyGObject's own loop; without it, asyncio says that no loop is running."""
        status, out, error = self.run_program('''
async def inner():
    pass
async def main():
    try:
        PrioSched.run(inner())
    except RuntimeError as error:
        print('refused')
    await asyncio.sleep(0.001)
    print(await asyncio.create_task(asyncio.sleep(0.001, 'slept')))
PrioSched.run(main())
''')
        if gi.version_info >= (3, 50):
            self.assertEqual((status, out), (0, 'refused\nslept\n'), error)
        else:
            self.assertEqual(status, 1)
            self.assertIn('no running event loop', error)

    def test_rows_that_are_left_at_the_end_are_silent(self):
        status, out, error = self.run_program('''
from gi.repository import Gio, GObject
class Window(GObject.Object): pass
async def load(row, position): await scheduler.sleep(1)
async def main():
    window = Window()
    window.own = window
    window.group, window.rows = PrioSched.TaskGroup(limit=1), Gio.ListStore()
    for _ in range(5):
        window.rows.append(Gio.Cancellable())
    window.feed = window.group.feed_model(load, window.rows)
    window.feed.set_view(0, 3)
    await scheduler.sleep(0)
for _ in range(3):
    PrioSched.run(main())
    gc.collect()
    while GLib.MainContext.default().iteration(False): pass
''')
        self.assertEqual((status, out, error), (0, '', ''))


if __name__ == '__main__':
    unittest.main()
