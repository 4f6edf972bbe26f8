"""benchmark.py: compares the cost of tasks in Python with what does the same, in one run

    benchmark.py [ROUNDS]

Needs gbulb for one of the rows.  Each figure is the lowest of several rounds.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import sys
import time

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

N = 100000
scheduler = PrioSched.Scheduler.get_default()
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def nothing():
    pass


def timed(run):
    def once():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    return min(once() for _ in range(rounds)) / N * 1e6


def idle_add():
    left = N

    def call():
        nonlocal left
        left -= 1
        return False
    for _ in range(N):
        GLib.idle_add(call)
    context = GLib.MainContext.default()
    while left:
        context.iteration(True)


async def sleeps():
    for _ in range(N):
        await asyncio.sleep(0)


async def posts():
    for _ in range(N):
        last = scheduler.post_task(nothing)
    await last


async def awaited_posts():
    for task in [scheduler.post_task(nothing) for _ in range(N)]:
        await task


async def yields():
    for _ in range(N):
        await scheduler.yield_()


async def yields_in_task():
    await scheduler.post_task(yields)


def row(name, peer, ours, theirs, wanted=None):
    ratio = theirs / ours
    print(f'{name + " / " + peer:60} {ours:10.3f} {theirs:14.3f}  µs {ratio:12.2f} ×' + (f'   ≥ {wanted} ×' if wanted else ''))


def gbulb_sleeps():
    import gbulb
    loop = gbulb.GLibEventLoop()
    try:
        return timed(lambda: loop.run_until_complete(sleeps()))
    finally:
        loop.close()


def main():
    print(f'{"":60} {"ours":>10} {"peer":>14}')
    idle, sleep = timed(idle_add), timed(lambda: asyncio.run(sleeps()))
    post, yields_ = timed(lambda: PrioSched.run(posts())), timed(lambda: PrioSched.run(yields()))
    row('post_task, 100,000 pending', 'GLib.idle_add', post, idle, 2)
    row('the same, each awaited', 'GLib.idle_add', timed(lambda: PrioSched.run(awaited_posts())), idle)
    row('await yield_()', 'asyncio.sleep(0)', yields_, sleep, 2)
    row('await yield_(), in a task', 'asyncio.sleep(0)', timed(lambda: PrioSched.run(yields_in_task())), sleep)
    try:
        row('await yield_()', 'asyncio.sleep(0) in gbulb', yields_, gbulb_sleeps())
    except ImportError:
        pass


main()
