"""Runs functions of Python in another thread, of the library's pool or of a worker, with a priority and a signal."""

import contextvars
import inspect

from gi.module import get_introspection_module
from gi.repository import Gio

from ..arguments import check_name, to_callback
from ..futures.future import Future
from ..futures.reasons import is_aborted, keep_reasons_of, reason_of, without_own_frames
from .states import State, leave_state
from .tables import table_of

PrioSched = get_introspection_module('PrioSched')


def _to_function(value):
    to_callback(value)
    if inspect.iscoroutinefunction(value):
        raise TypeError(f'{value!r} is a coroutine function, which runs in no thread: post it as a task')
    return value


class ThreadTask(Future):
    """Represents the result of run_in_thread (), which can be awaited and cancelled."""

    __slots__ = ('_cancellable',)

    def _is_left(self):
        # An error that no code awaits any more is not reported, as with asyncio.to_thread ().
        self._retrieved = True

    def cancel(self, msg=None):
        """Cancels the result, as asyncio.Future.cancel () does: the waiting code continues at once.

        A function that no thread has taken does not run; a running function is not interrupted.
        """
        if not super().cancel(msg):
            return False
        self._leave_signal()
        self._cancellable.cancel()
        return True


class _Work:
    """Keeps a function that a thread is to call, and then its result."""

    def __init__(self, future, call):
        self.future = future
        self.call = call
        self.context = contextvars.copy_context()
        self.value = self.error = None

    def run(self, task, *_):
        """Calls the function, in the other thread and outside any task, unless it has been cancelled."""
        call, context, self.call, self.context = self.call, self.context, None, None
        # A thread may take the function before the library notices a cancellation.
        if not self.future._cancellable.is_cancelled():
            context.run(leave_state)
            try:
                self.value = context.run(call)
            except BaseException as error:
                self.error = without_own_frames(error)
        # If the task was aborted, this gives it the error; otherwise this does nothing, and the library fulfils the task.
        task.return_error_if_aborted()
        task = context = None  # a traceback may lead to this frame, which should not keep the signal

    def end(self, _, task, *__):
        """Settles the future, on the thread that runs the scheduler's main context."""
        future, self.future, self.call, self.context = self.future, None, None, None
        value, error, self.value, self.error = self.value, self.error, None, None
        if future._done:
            return
        native = task.get_error()
        signal = future._posted_with.signal
        if signal is not None and is_aborted(signal):
            future._settle(None, reason_of(signal))
        elif native is None:
            future._settle(value, error)
        else:
            future._settle(None, native)


def _both(signal, own):
    """Returns a signal that is aborted with signal, if that is not None, and with own, the cancellable of the ThreadTask.

    It follows the priority of signal, if signal has one.
    """
    if signal is None:
        return own
    signals = [signal, own]
    if isinstance(signal, PrioSched.TaskSignal):
        both = PrioSched.TaskSignal.new_any_following(signals, signal)
    else:
        both = PrioSched.TaskSignal.new_any(signals, PrioSched.TaskPriority.USER_VISIBLE)
    keep_reasons_of(both, signals)
    return both


def run_in_thread(scheduler, worker, func, args, priority, signal, name):
    check_name(name)
    _to_function(func)
    table = table_of(scheduler)
    future = ThreadTask.__new__(ThreadTask)
    future.name = name
    future._cancellable = Gio.Cancellable()
    future._posted_with = State(table, signal, priority)
    future._context_id = table.context_id

    work = _Work(future, lambda: func(*args))
    both = _both(signal, future._cancellable)
    PrioSched.Scheduler.run_in_thread_full(scheduler, worker, priority, both, name, work.run).then(work.end)
    return future
