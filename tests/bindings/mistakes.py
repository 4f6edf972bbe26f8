"""Tests messages about mistakes of newcomers: none hangs, each names the value, and most say how to write it."""

import os
import pathlib
import subprocess
import sys
import unittest

BEFORE = '''import gi
gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched
scheduler = PrioSched.Scheduler.get_default()
async def work():
    pass
def run(wait):
    async def main():
        return await wait()
    return PrioSched.run(main())
'''

USED_UP = '''controller = PrioSched.TaskController()
controller.abort()
run(lambda: scheduler.post_task(work, signal=controller.signal))
'''

IN_A_THREAD = '''import threading
group = PrioSched.TaskGroup(limit=1)
threading.Thread(target=lambda: group.post_task(work)).start()
'''

WITHOUT_OVERRIDES = '''import gi
from gi.repository import Gio
gi.overrides.__path__ = []
gi.require_version('PrioSched', '1')
from gi.repository import PrioSched
PrioSched.Scheduler.get_default().post_task(lambda: 1)
'''

FORGOTTEN = '''async def main():
    scheduler.yield_()
    await scheduler.sleep(1)
PrioSched.run(main())
'''

FORGOTTEN_AT_THE_END = '''async def main():
    scheduler.yield_()
PrioSched.run(main())
'''

LOOP_OF_YIELDS = '''done = False
def finish():
    global done
    done = True
async def reader():
    scheduler.post_task(finish)
    while not done:
        await scheduler.yield_()
PrioSched.run(reader())
'''

ASYNCIO = '''import asyncio
run(lambda: asyncio.sleep(0.001))
'''

CHANNEL = '''async def show(value):
    pass
PrioSched.Channel(show)
'''

WITHOUT_GTK = '''from gi.overrides._priosched.extras import groups
def require_version(*_):
    raise ValueError
groups.require_version = require_version
PrioSched.TaskGroup().feed_view(work, None)
'''

# For each mistake, by the name that tests/repository/check-mistakes.py knows: the program; the name of the value in the message, or
# None; the mend in the message, or None.
MISTAKES = {
    "'urgent'": ("scheduler.post_task(work, 'urgent')", "'urgent'", "'user-blocking'"),
    'coroutine instead of its function': ('scheduler.post_task(work())', '<coroutine object work', 'pass the function'),
    'controller as signal': ('scheduler.post_task(work, signal=PrioSched.TaskController())', 'TaskController', 'pass controller.signal'),
    'sleep(0.5)': ('run(lambda: scheduler.sleep(0.5))', '0.5', 'a whole number of milliseconds'),
    "post_task(print, 'x')": ("scheduler.post_task(print, 'x')", "'x'", "post lambda: print('x')"),
    'post_task(f, controller.signal)': ('scheduler.post_task(print, PrioSched.TaskController().signal)', 'TaskSignal', 'pass signal=controller.signal'),
    'run(main)': ('PrioSched.run(work)', '<function work', 'call it, as in PrioSched.run(main())'),
    'TaskGroup(8)': ('PrioSched.TaskGroup(8)', '8 is not a scheduler', 'pass limit=8'),
    'coroutine function for a channel': (CHANNEL, '<function show', 'pass lambda value: scheduler.post_task'),
    'rows in view, without the library for GTK': (WITHOUT_GTK, 'PrioSchedGtk', 'gir1.2-prioschedgtk-1'),
    'a delay out of range': ('scheduler.post_task(work, delay=-5)', '-5', 'it is from 0 to'),
    'a limit out of range': ('PrioSched.TaskGroup(limit=0)', '0', 'it is from 1 to'),
    'a wrong word': ("scheduler.post_task(work, prioriy='background')", 'prioriy', None),
    'used-up controller': (USED_UP, None, 'make a new controller'),
    'group in another thread': (IN_A_THREAD, None, 'scheduler.post_task'),
    'no await before yield_()': (FORGOTTEN, 'line 12, in main', 'yield_ () was never awaited'),
    'no await before a yield_() that is not over': (FORGOTTEN_AT_THE_END, 'line 12, in main', 'yield_ () was never awaited'),
    'no main loop': ('scheduler.post_task(work)\nscheduler.post_task(work)', '2 tasks', 'PrioSched.run ()'),
    'while not flag: await yield_()': (LOOP_OF_YIELDS, 'finish', 'takes_turns'),
    'asyncio.sleep() in PrioSched.run()': (ASYNCIO, None, 'await scheduler.sleep'),
}
# From PyGObject 3.50 on, asyncio's waits work.
WORKS = {'asyncio.sleep() in PrioSched.run()'}
# PyGObject's own messages about a bare function, which the manual mentions.
OF_PYGOBJECT = ('takes exactly 4 arguments', 'Expected PrioSched.TaskOptions, but got')
LEAST_MENDS = 16  # of table H


def run_alone(program, **environment):
    return subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60, env={**os.environ, 'G_DEBUG': '', **environment})


def run(program):
    return run_alone(BEFORE + program, PYTHONDEVMODE='1')


class Mistakes(unittest.TestCase):

    def test_each_has_its_message(self):
        n = 0
        for name, (program, value, mend) in MISTAKES.items():
            with self.subTest(name):
                said = run(program)
                if name in WORKS and said.returncode == 0:
                    n += 1
                    continue
                self.assertTrue(said.stderr)
                if value is not None:
                    self.assertIn(value, said.stderr)
                if mend is not None:
                    self.assertIn(mend, said.stderr)
                    n += 1
        self.assertGreaterEqual(n, LEAST_MENDS)

    def test_a_forgotten_wait_is_reported_without_development_mode(self):
        for program in FORGOTTEN, FORGOTTEN_AT_THE_END:
            self.assertIn('was never awaited', run_alone(BEFORE + program).stderr)

    def test_a_wait_that_is_awaited_when_the_program_ends_is_not_reported(self):
        waits = '''group = PrioSched.TaskGroup()
async def wait(call):
    while True:
        await call()
async def main():
    group.post_task(lambda: wait(lambda: scheduler.sleep(10 ** 6)))
    for call in scheduler.yield_, group.drained, lambda: scheduler.sleep(10 ** 6):
        scheduler.post_task(lambda call=call: wait(call))
    await scheduler.sleep(1)
PrioSched.run(main())
'''
        self.assertNotIn('was never awaited', run(waits).stderr)

    def test_with_its_variable_the_library_counts_tasks_that_never_ran(self):
        said = run_alone(BEFORE + 'scheduler.post_task(work)', PRIO_SCHED_DEBUG='1').stderr
        # A library without statistics counts no tasks.
        counts = run_alone(BEFORE + "print(hasattr(PrioSched.Scheduler, 'start_statistics'))").stdout
        self.assertEqual(said.count('1 task never ran'), ['False', 'True'].index(counts.strip()), said)

    def test_overrides_not_found(self):
        said = run_alone(WITHOUT_OVERRIDES).stderr
        self.assertTrue(any(words in said for words in OF_PYGOBJECT), said)
        manual = pathlib.Path(__file__).parents[2] / 'introspection/manual/python.md'
        if manual.exists():
            self.assertTrue(all(words in manual.read_text(encoding='utf-8') for words in OF_PYGOBJECT))

    def test_the_programs_line_is_next_to_the_error(self):
        """Checks that at most one frame of the overrides is below the program's line."""
        for name in ("'urgent'", 'coroutine instead of its function', 'controller as signal', 'sleep(0.5)', "post_task(print, 'x')",
                     'a delay out of range', 'a limit out of range', 'group in another thread'):
            with self.subTest(name):
                lines = [line for line in run(MISTAKES[name][0]).stderr.splitlines() if line.startswith('  File ')]
                own = len(lines)
                while 'overrides' in lines[own - 1]:
                    own -= 1
                self.assertLessEqual(len(lines) - own, 1, lines)

    def test_a_program_that_ends_in_time_is_quiet(self):
        self.assertNotIn('never ran', run('run(lambda: scheduler.post_task(work))\nscheduler.post_task(work)').stderr)


if __name__ == '__main__':
    unittest.main()
