"""Adds methods to Scheduler that the web's scheduling draft does not have: each (), adopt () and latest ()."""

import inspect

from gi.module import get_introspection_module
from gi.repository import Gio, GLib

from .._native import EachBase, main_depth
from ..arguments import to_callback, to_given_priority, to_signal
from ..coroutines.aborts import is_yet_to_be_told, signal_here
from ..futures.contexts import check_loop, get_running_loop
from ..futures.handlers import kept
from ..futures.reasons import keep_reasons_of

PrioSched = get_introspection_module('PrioSched')


class Each(EachBase):
    """Iterates over items, and yields to other tasks before an item if should_yield () is true.

    EachBase, in C, implements __anext__ (), which calls _next () for the first item, asynchronous items, yields and aborts.
    """

    def __init__(self, scheduler, items):
        self._scheduler = scheduler
        self._is_async = hasattr(items, '__aiter__')
        self._is_checked = False
        try:
            self._items = items.__aiter__() if self._is_async else iter(items)
        except TypeError:
            raise TypeError(f'{items!r} is nothing to iterate over') from None

    async def _next(self):
        should_yield = self._scheduler.should_yield()
        if not self._is_checked:
            loop = get_running_loop()
            if loop is not None:
                check_loop(loop, hash(self._scheduler.get_context()))
            self._is_checked = True
            self._signal = signal_here()
            self._iterator = None if self._is_async else self._items
            # Before the main loop runs, should_yield () is false, because no time slice has begun.
            should_yield = should_yield or main_depth() == 0
        if should_yield or is_yet_to_be_told():
            await self._scheduler.yield_()
        if self._is_async:
            return await self._items.__anext__()
        try:
            return next(self._items)
        except StopIteration:
            raise StopAsyncIteration from None

    async def _end(self, error):
        raise error


def each(self, items):
    """Iterates over items, and yields to other tasks if should_yield () is true: async for item in scheduler.each (items)."""
    return Each(self, items)


async def _adopt(self, awaitable):
    try:
        return await awaitable
    finally:
        await self.yield_()


def adopt(self, awaitable):
    """Awaits awaitable, and returns its result in a continuation of the current task, with the task's signal and priority."""
    if not inspect.isawaitable(awaitable) and not hasattr(awaitable, '__await__'):
        raise TypeError(f'{awaitable!r} cannot be awaited')
    return _adopt(self, awaitable)


class Run:
    """Represents a run of a job, which can be awaited: the result is None if a later run, or Latest.abort (), has aborted this run."""

    def __init__(self, controller, task):
        self._controller = controller
        self._task = task
        self._is_aborted = False

    def _abort(self):
        self._is_aborted = True
        self._controller.abort()

    def done(self):
        return self._task.done()

    def __await__(self):
        try:
            return (yield from self._task.__await__())
        except GLib.Error as error:
            if self._is_aborted and error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED):
                return None
            raise


class Latest:
    """Calls a job; a new run aborts the previous one."""

    def __init__(self, scheduler, job, priority, signal):
        self._scheduler = scheduler
        self._job = job
        self._priority = priority
        self._signal = kept(signal)
        self._run = None

    def __call__(self, *args, **kwargs):
        self.abort()
        controller = PrioSched.TaskController.new(self._priority)
        signal, given = controller.signal, self._signal()
        if given is not None:
            signals = [signal, given]
            signal = PrioSched.TaskSignal.new_any_following(signals, signal)
            keep_reasons_of(signal, signals)
        call = lambda: self._job(*args, **kwargs)  # noqa: E731
        call._prio_sched_calls = self._job  # name_of () uses this attribute
        task = self._scheduler.post_task(call, signal=signal)
        run = self._run = Run(controller, task)
        task.add_done_callback(self._forget)
        return run

    def _forget(self, task):
        """Forgets a run that has ended, so that its error is reported when no other code keeps the run."""
        if self._run is not None and self._run.done():
            self._run = None

    def abort(self):
        """Aborts the current run, if any."""
        run, self._run = self._run, None
        if run is not None and not run.done():
            run._abort()


def latest(self, job, priority='user-visible', signal=None):
    """Returns a function that calls job (…) as a task; its next call aborts the previous run, whose result is then None.

    In the job, scheduler.current_signal is the signal of the run.
    """
    to_callback(job)
    return Latest(self, job, PrioSched.TaskPriority(to_given_priority(priority)), to_signal(signal))
