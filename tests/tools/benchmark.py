"""benchmark.py: compares the cost of tasks in Python with equivalent code, in one run

    benchmark.py [ROUNDS]

Rows in asyncio need a loop on GLib: PyGObject's own, or gbulb before 3.50.  Each figure is the lowest of several rounds.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import sys
import time

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

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


async def yields_under_a_signal():
    await scheduler.post_task(yields, signal=PrioSched.TaskController().signal)


async def each_awaited():
    for _ in range(N):
        await scheduler.post_task(nothing)


async def coroutine():
    pass


async def coroutines():
    for task in [scheduler.post_task(coroutine) for _ in range(N)]:
        await task


async def tasks_of_asyncio():
    for task in [asyncio.create_task(coroutine()) for _ in range(N)]:
        await task


async def options(**kwargs):
    for _ in range(N):
        last = scheduler.post_task(nothing, **kwargs)
    await last


def row(name, peer, ours, theirs, wanted=None):
    ratio = theirs / ours
    print(f'{name + " / " + peer:60} {ours:10.3f} {theirs:14.3f}  µs {ratio:12.2f} ×' + (f'   ≥ {wanted} ×' if wanted else ''))


def complete(future):
    """Iterates the main context, without asyncio, until future is done."""
    context = GLib.MainContext.default()
    while not future.done():
        context.iteration(True)
    return future.result()


def driven(function):
    """Returns the time of a coroutine function in a task that no loop of asyncio runs."""
    return timed(lambda: complete(scheduler.post_task(function)))


def new_loop():
    """Returns a loop of asyncio on GLib, or None."""
    try:
        from gi.events import GLibEventLoop
        return GLibEventLoop(GLib.MainContext.default())
    except ImportError:
        pass
    try:
        import gbulb
        gbulb.install()
        return asyncio.new_event_loop()
    except ImportError:
        return None


def main():
    print(f'{"":60} {"ours":>10} {"peer":>14}')
    idle, sleep = timed(idle_add), timed(lambda: asyncio.run(sleeps()))
    created = timed(lambda: asyncio.run(tasks_of_asyncio()))
    row('post_task, 100,000 pending', 'GLib.idle_add', driven(posts), idle, 3)
    row('the same, each awaited', 'GLib.idle_add', driven(awaited_posts), idle)
    plain, signal = driven(options), PrioSched.TaskController().signal
    row('with a priority', 'without', driven(lambda: options(priority='background')), plain, 0.87)
    row('with a signal', 'without', driven(lambda: options(signal=signal)), plain, 0.77)
    row('a controller', 'Gio.Cancellable', timed(lambda: [PrioSched.TaskController() for _ in range(N)]),
        timed(lambda: [Gio.Cancellable() for _ in range(N)]))
    row('await yield_()', 'asyncio.sleep(0)', driven(yields), sleep, 3)
    row('await post_task()', 'asyncio.sleep(0)', driven(each_awaited), sleep)
    row('a coroutine function, post to result', 'create_task', driven(coroutines), created, 1)

    loop = new_loop()
    if loop is None:
        return
    asyncio.set_event_loop(loop)

    def in_loop(function):
        return timed(lambda: loop.run_until_complete(function()))
    sleep, created = in_loop(sleeps), in_loop(tasks_of_asyncio)
    name = type(loop).__module__.partition('.glib')[0]
    print(f'In asyncio, with the loop of {name}:')
    for what, function in (('await yield_()', yields), ('await yield_(), in a task', yields_in_task),
                           ('the same, under a signal', yields_under_a_signal), ('await post_task()', each_awaited)):
        row(what, 'asyncio.sleep(0)', in_loop(function), sleep)
    row('post_task, 100,000 pending', 'GLib.idle_add', in_loop(posts), idle)
    row('a coroutine function, post to result', 'create_task', in_loop(coroutines), created)
    asyncio.set_event_loop(None)
    loop.close()


main()
