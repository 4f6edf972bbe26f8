"""Runs a coroutine with a main loop: PrioSched.run().

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import functools
import signal
import sys
import threading
import weakref

from gi.repository import GLib

from ..futures.contexts import call_in, context_to_run, get_running_loop, interrupt, is_at_rest, loop_of, own_context, runs
from ..futures.future import CancelledError, Future
from .drivers import CoroutineTask, Driver, close_generator, closing_loops, is_awaitable, start_alone, to_coroutine
from .generators import Finalizer, set_hook

try:
    import gi.events  # noqa: F401
except ImportError:  # for PyGObject before 3.50
    EventLoop = None
else:
    from .loop import EventLoop


# The flags CO_COROUTINE and CO_ASYNC_GENERATOR, which the code of async functions and generators has, without an import of inspect.
_ASYNC = 0x80 | 0x200


class _Run:

    def __init__(self, quit_loop):
        self.quit_loop = quit_loop
        self.error = None

    def interrupt(self, error):
        self.error = self.error or error
        self.quit_loop()

    def __enter__(self):
        runs.stack.append(self)
        return self

    def __exit__(self, *exception):
        runs.stack.pop()
        if self.error is not None:
            raise self.error from None


def _is_nested(context):
    """Returns whether this thread runs a main loop, and owns context.  Code that owns context outside a main loop has only made it thread-default."""
    return context.is_owner() and GLib.main_depth() > 0


class _Interruptible:
    """Handles Ctrl-C: the first one calls cancel (), which cancels the coroutine, so that the coroutine's finally clauses run.

    Later ones raise KeyboardInterrupt in the running code or, if the main loop waits, from run ().  A handler of the program
    is not replaced.
    """

    def __init__(self, cancel, context):
        self.cancel = cancel
        self.context = context
        self.count = 0
        self.outer = None  # the handler that this one replaces

    def _handle(self, _number, frame):
        self.count += 1
        if self.count == 1:
            self.cancel()
        elif is_at_rest(frame):
            call_in(self.context, functools.partial(interrupt, KeyboardInterrupt()))
        else:
            raise KeyboardInterrupt

    def __enter__(self):
        handler = signal.getsignal(signal.SIGINT)
        is_ours = isinstance(getattr(handler, '__self__', None), _Interruptible)  # the handler of an outer run ()
        if threading.current_thread() is threading.main_thread() and (handler is signal.default_int_handler or is_ours):
            self.outer = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception):
        if self.outer is not None and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self.outer)


class _Generators:
    """Records the asynchronous generators that start, and closes them when they are garbage collected or when run () ends.

    If a loop of asyncio is running, its hooks do this instead.
    """

    def __init__(self):
        self.open = weakref.WeakSet()
        self.outer = None

    def __enter__(self):
        self.outer = sys.get_asyncgen_hooks()
        if get_running_loop() is None:
            sys.set_asyncgen_hooks(firstiter=self.open.add, finalizer=Finalizer(close_generator))
        return self

    def __exit__(self, *exception):
        sys.set_asyncgen_hooks(*self.outer)
        set_hook(close_generator)

    async def close_all(self):
        for generator in list(self.open):
            await generator.aclose()


def _run_alone(coroutine, loop):
    """Runs coroutine to its end in a main loop, and returns a future with the result.  After Ctrl-C, raises KeyboardInterrupt."""
    future = Future()
    standing = []  # the Driver or task that runs coroutine, from its first await until Ctrl-C

    def cancel():
        if standing:
            standing.pop().cancel_coroutine(None)

    with _Interruptible(cancel, loop.get_context()) as interruptible:
        run = start_alone(coroutine, contextvars.copy_context(), future)
        ended_at_once = future.done()
        if not ended_at_once:
            future.add_done_callback(lambda _: loop.quit())
            standing.append(run)
            if interruptible.count > 0:
                call_in(loop.get_context(), cancel)
            try:
                loop.run()
            finally:
                _cancel_drivers([run], loop)
    # A coroutine that returns in its first step cannot be cancelled, so the interrupt is raised although the coroutine has a result.
    if interruptible.count > 0 and (future.cancelled() or (ended_at_once and future._exception is None)):
        raise KeyboardInterrupt
    return future


def _cancel_drivers(drivers, loop):
    """Cancels the drivers that have not ended, and runs the main loop until all have ended."""
    pending = {driver for driver in drivers if not driver.ended and driver.future is not None}

    def ended(driver, _):
        pending.discard(driver)
        if not pending:
            loop.quit()

    for driver in tuple(pending):
        driver.future.add_done_callback(functools.partial(ended, driver))
        driver.cancel_coroutine(None)
    while pending:
        loop.run()


def _cancel_rest(loop, context):
    """Cancels the coroutines that have started, as asyncio.run () does at its end, and the coroutines that start during their cleanup.

    Closes coroutines that have not ended even then.
    """
    for _ in range(2):
        _cancel_drivers([driver for driver in Driver.all_standing() if driver.runs_in(context)], loop)
    for driver in Driver.all_standing():
        if driver.runs_in(context):
            driver.close(CancelledError('PrioSched.run() has ended'))


def _run_in_context(coroutine, context, is_nested):
    """Runs coroutine with a Driver, and returns its result.

    This is used if asyncio has no loop on GLib, or if a loop of asyncio or the main context is running already.
    """
    is_pushed = hash(context) != hash(own_context())
    if is_pushed:
        context.push_thread_default()
    try:
        loop = GLib.MainLoop(context)
        with _Run(loop.quit), _Generators() as generators:
            try:
                future = _run_alone(coroutine, loop)
            finally:
                if not is_nested:
                    _cancel_rest(loop, context)
                if generators.open:
                    _run_alone(generators.close_all(), loop)
        return future.result()
    except RuntimeError as error:
        if error.args == ('no running event loop',) and hasattr(error, 'add_note'):
            error.add_note('With PyGObject before 3.50, PrioSched.run() has no loop of asyncio: await scheduler.sleep (ms) and other waits of PrioSched')
        raise
    finally:
        if is_pushed:
            context.pop_thread_default()


def _run_in_asyncio(coroutine, context):
    """Runs coroutine as an asyncio task, and returns its result.

    The loop is PyGObject's loop for context, if there is one, or else a new EventLoop, which runs as in asyncio.run ().
    """
    loop = loop_of(context)
    if loop is not None:
        with _Run(loop.stop):
            task = loop.create_task(coroutine)
            try:
                return _result_of(task, loop, context)
            finally:
                if not task.done():
                    _cancel_tasks([task], loop)

    with asyncio.Runner(loop_factory=functools.partial(EventLoop, context)) as runner:
        loop = runner.get_loop()
        with _Run(loop.stop):
            try:
                return _result_of(loop.create_task(coroutine), loop, context)
            finally:
                # Tasks may start during the cleanup, so the second call cancels these.  During that call, no more coroutines start.
                _cancel_tasks(asyncio.all_tasks(loop), loop)
                closing_loops.add(loop)
                try:
                    _cancel_tasks(asyncio.all_tasks(loop), loop)
                    runner.close()
                finally:
                    closing_loops.discard(loop)


def _cancel_tasks(tasks, loop):
    """Cancels asyncio tasks, and runs their loop until they have ended."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        try:
            loop.run_until_complete(asyncio.wait(tasks))
        except RuntimeError:
            # If another interrupt has stopped the loop, run it again.
            if runs.stack[-1].error is None:
                raise
    for task in tasks:
        if not isinstance(task, CoroutineTask) and not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler({'message': 'unhandled exception at the end of PrioSched.run()', 'task': task,
                                         'exception': task.exception()})


def _result_of(task, loop, context):
    """Runs loop until task, an asyncio task, has ended, and returns the task's result.

    Returns None if an interrupt has stopped the loop: the _Run around this call then raises the interrupt.
    """
    def cancel():
        task.cancel()
        loop.call_soon_threadsafe(lambda: None)  # wakes up the loop, which may be about to wait

    with _Interruptible(cancel, context) as interruptible:
        try:
            return loop.run_until_complete(task)
        except RuntimeError:
            # The error is "Event loop stopped before Future completed." if an interrupt has stopped the loop.
            if runs.stack[-1].error is None:
                raise
        except asyncio.CancelledError:
            if interruptible.count == 0:
                raise
            raise KeyboardInterrupt from None


def run(coroutine):
    """Runs the main loop until coroutine ends, and returns its result or raises its exception.

    With PyGObject 3.50 and later this is asyncio.run () with a PrioSched.EventLoop.  With earlier versions run () behaves
    in the same way: Ctrl-C cancels the coroutine and is raised as KeyboardInterrupt, SystemExit is raised, and asynchronous generators
    are closed.  At the end, the coroutines of started tasks are cancelled, and also coroutines that start during their cleanup;
    tasks that have not started remain in the main context.  The main context is the thread-default one or else the global default
    one; outside the main thread, while another thread runs that, it is a new one.

    In a task's function, run () runs a nested main loop, and cancels no other coroutines.  In a coroutine, it raises RuntimeError.
    """
    if not is_awaitable(coroutine):
        hint = ': call it, as in PrioSched.run(main())' if callable(coroutine) else ''
        raise TypeError(f'{coroutine!r} cannot be awaited{hint}')
    loop = get_running_loop()
    caller = sys._getframe(1)
    if caller.f_code.co_flags & _ASYNC or (loop is not None and asyncio.current_task(loop) is not None):
        if hasattr(coroutine, 'close'):
            coroutine.close()
        raise RuntimeError('PrioSched.run() cannot be called in a coroutine, which can await it instead')
    context = context_to_run()
    coroutine = to_coroutine(coroutine)
    is_nested = _is_nested(context)
    if not context.acquire():
        coroutine.close()
        raise RuntimeError('PrioSched.run() cannot run the main context, which another thread runs: push one of your own, by '
                           'GLib.MainContext.new().push_thread_default()')
    try:
        if loop is None and EventLoop is not None and not is_nested:
            return _run_in_asyncio(coroutine, context)
        return _run_in_context(coroutine, context, is_nested)
    finally:
        context.release()
