"""Provides loops of asyncio on GLib for tests: gbulb's, or PyGObject's own (3.50 and later)"""

import asyncio
import importlib
import sys

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

kind = sys.argv.pop()
module = importlib.import_module(kind)


class Why(Exception):
    pass


def new_loop():
    if kind == 'gbulb':
        module.install()
        return asyncio.new_event_loop()
    return module.GLibEventLoop(GLib.MainContext.default())


def in_loop(function):
    """Makes a test of a coroutine function, which may hang for 100 s, because valgrind is slow."""
    def test(self):
        loop = new_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(asyncio.wait_for(function(self), 100))
        finally:
            asyncio.set_event_loop(None)
            loop.close()
    test.__name__ = function.__name__
    return test


def state():
    """Returns the priority and the signal of the running code, or None."""
    current = PrioSched.SchedulingState.get_current()
    return current and (current.get_priority(), current.get_cancellable())


async def wait_for_the_loop():
    for _ in range(5):
        await asyncio.sleep(0)
    await PrioSched.Scheduler.get_default().post_task(lambda: None, 'background')


async def gio():
    """Starts an operation of GIO, in the way of the installed PyGObject."""
    file = Gio.File.new_for_path(__file__)
    if gi.version_info >= (3, 50):
        await file.load_contents_async()
    else:
        future = asyncio.get_running_loop().create_future()
        file.load_contents_async(None, lambda source, result: future.set_result(source.load_contents_finish(result)))
        await future
