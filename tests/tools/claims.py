"""Measures README's claims about idle sources and tasks, and prints the counts.

    meson devenv -C build python3 "$PWD/tests/tools/claims.py" [--check]

With --check, it fails if a count is not as README says, whatever the speed of the machine.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import sys
import time

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

N = 10000
MICROSECONDS = 50
FEW, MANY = 10, 100000
# A batch of tasks takes a millisecond.
MOST_IN_A_BATCH = 1000 // MICROSECONDS + 1

context = GLib.MainContext.default()
scheduler = PrioSched.Scheduler.get_default()
errors = []


def claim(holds, said):
    print(said)
    if not holds:
        errors.append(said)


def work():
    end = time.perf_counter_ns() + MICROSECONDS * 1000
    while time.perf_counter_ns() < end:
        pass


def run_idle_sources():
    n = 0

    def count():
        nonlocal n
        n += 1
        work()

    for _ in range(N):
        GLib.idle_add(count)
    begun = time.perf_counter()
    context.iteration(True)
    claim(n == N, f'{n:,} of {N:,} idle callbacks of {MICROSECONDS} µs run in one iteration, {time.perf_counter() - begun:.2f} s')


def run_tasks(name, priority, milliseconds):
    """Counts the tasks that run while a source of GLib with a priority is ready."""
    left, since, longest = N, None, 0

    def task():
        nonlocal left, since
        left -= 1
        if since is None:
            since = left
            GLib.idle_add(turn, priority=priority)
        work()

    def turn():
        nonlocal since, longest
        longest = max(longest, since - left)
        since = None

    for _ in range(N):
        scheduler.post_task(task)
    while left > 0:
        context.iteration(True)
    # A slice ends with a batch, and a batch with the task that has begun within its millisecond.
    most = 1000 * milliseconds // MICROSECONDS + (MOST_IN_A_BATCH if milliseconds > 1 else 1)
    claim(longest <= most, f'{longest} of {N:,} tasks of {MICROSECONDS} µs at most run while {name} is ready: {longest * MICROSECONDS / 1000} ms of tasks')


def change_priorities():
    """Measures the least of ten changes of the priority of few tasks, and of many."""
    took = {}
    for n in (FEW, MANY):
        controller = PrioSched.TaskController('background')
        for _ in range(n):
            scheduler.post_task(work, signal=controller.signal)
        times = []
        for priority in ('user-visible', 'background') * 5:
            begun = time.perf_counter()
            controller.set_priority(priority)
            times.append(time.perf_counter() - begun)
        controller.abort()
        took[n] = min(times)
    claim(took[MANY] < took[FEW] * MANY / FEW / 10,
          f'the priority of {FEW} tasks changes in {took[FEW] * 1e6:.1f} µs, of {MANY:,} in {took[MANY] * 1e6:.1f} µs')


run_idle_sources()
run_tasks('input', GLib.PRIORITY_DEFAULT, 1)
# GDK_PRIORITY_REDRAW.  If a loaded machine holds the callback up, it counts as a slow frame, and tasks may use a slice.
run_tasks('drawing', GLib.PRIORITY_HIGH_IDLE + 20, 5)
run_tasks('an idle source', GLib.PRIORITY_DEFAULT_IDLE, 5)
change_priorities()
if '--check' in sys.argv and errors:
    sys.exit('README says otherwise:\n' + '\n'.join(errors))
