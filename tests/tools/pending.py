"""pending.py: measures the cost of a task in Python beside the usual ways, by the number of tasks that are pending

    pending.py ROUNDS NUMBER…

Prints a line for each row: the name, the peer, and the lowest times of both in ns a task, for each NUMBER of tasks that are
pending at once.  Both run alternately in one process.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import sys
import time

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

MEASURED = 5000     # tasks a round, at least
N_STEPS = 100
BUDGET = 0.005      # slice of a loop by hand, in s
scheduler = PrioSched.Scheduler.get_default()
controller = PrioSched.TaskController('user-visible')
context = GLib.MainContext.default()
loop = GLib.MainLoop()
left = 0


def end(task):
    loop.quit()
    task.result()


def done():
    global left
    left -= 1
    return False


def run_loop(n, begin):
    global left
    left = n
    for _ in range(n):
        begin()
    while left:
        context.iteration(True)


def in_loop(begin):
    """Returns a function that measures n calls of begin, each of which leads to one call of done ()."""
    def measure(n, times):
        start = time.perf_counter()
        for _ in range(times):
            run_loop(n, begin)
        return time.perf_counter() - start
    return measure


def in_asyncio(function):
    """Returns a function that measures an asynchronous function of n, in asyncio's own loop."""
    def measure(n, times):
        async def repeat():
            start = time.perf_counter()
            for _ in range(times):
                await function(n)
            return time.perf_counter() - start
        return asyncio.run(repeat())
    return measure


def in_task(function):
    """Returns a function that measures an asynchronous function of n, in a task."""
    def measure(n, times):
        async def repeat():
            for _ in range(times):
                await function(n)
        start = time.perf_counter()
        scheduler.post_task(repeat).add_done_callback(end)
        loop.run()
        return time.perf_counter() - start
    return measure


async def awaited_posts(n):
    for task in [scheduler.post_task(done) for _ in range(n)]:
        await task


async def nothing():
    pass


async def awaited_tasks(n):
    for task in [asyncio.create_task(nothing()) for _ in range(n)]:
        await task


async def yield_once():
    await scheduler.yield_()


async def yields(n):
    for task in [scheduler.post_task(yield_once) for _ in range(n)]:
        await task


async def sleep_once():
    await asyncio.sleep(0)


async def sleeps(n):
    for task in [asyncio.create_task(sleep_once()) for _ in range(n)]:
        await task


def steps():
    for _ in range(N_STEPS):
        yield
    done()


def add_generator():
    """Runs a generator by hand: in an idle source, for the time of a frame's third."""
    generator = steps()

    def go_on():
        end = time.monotonic() + BUDGET
        for _ in generator:
            if time.monotonic() > end:
                return True
        return False
    GLib.idle_add(go_on, priority=GLib.PRIORITY_DEFAULT)


def add_idle():
    GLib.idle_add(done, priority=GLib.PRIORITY_DEFAULT)


ROWS = [
    ('post', 'GLib.idle_add()', in_loop(lambda: scheduler.post_task(done)), in_loop(add_idle), 1),
    ('post with a priority', 'GLib.idle_add()', in_loop(lambda: scheduler.post_task(done, 'user-blocking')), in_loop(add_idle), 1),
    ('post with a task signal', 'GLib.idle_add()', in_loop(lambda: scheduler.post_task(done, signal=controller.signal)),
     in_loop(add_idle), 1),
    ('post, await the result', 'asyncio.create_task()', in_task(awaited_posts), in_asyncio(awaited_tasks), 1),
    ('a coroutine that yields once', 'asyncio.sleep(0)', in_task(yields), in_asyncio(sleeps), 1),
    ('a step of a generator', 'by hand, in an idle source', in_loop(lambda: scheduler.post_task(steps)), in_loop(add_generator), N_STEPS),
]


def main(rounds, *numbers):
    for name, peer, ours, theirs, size in ROWS:
        print(name, peer, sep='\t', end='')
        for n in map(int, numbers):
            times = max(1, MEASURED // (n * size))
            pairs = [(ours(n, times), theirs(n, times)) for _ in range(int(rounds))]
            for lowest in map(min, zip(*pairs)):
                print(f'\t{lowest / (n * times * size) * 1e9:.1f}', end='')
        print(flush=True)


main(*sys.argv[1:])
