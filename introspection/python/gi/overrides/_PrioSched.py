"""The tasks of PrioSched in Python: their results, and what runs their coroutines.

For the library a task is a number, which it runs through a PrioSched.Runner.  A task costs
one call to post and one to run, and no object, closure or trampoline in C.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import functools
import itertools
import logging
import sys
import types
import weakref

from gi.repository import Gio, GLib

from ..module import get_introspection_module

try:
    from ._PrioSchedSpeedups import FutureBase, TableBase, running, set_up
except ImportError:
    from ._PrioSchedHot import FutureBase, TableBase, running, set_up

PrioSched = get_introspection_module('PrioSched')

UNSET = 0
_USER_VISIBLE = 2
_USER_BLOCKING = 3
_REJECTED = 0
_copy_context = contextvars.copy_context
_logger = logging.getLogger('PrioSched')

# The _State of the task to which this context belongs; None where only the library knows the
# state, mostly outside any task.
_state = contextvars.ContextVar('PrioSched.state', default=None)

# Reasons of aborts that are no GLib.Error.  The library, and dependent signals, identify such a
# reason by a number; the signal that was aborted keeps it alive.
_REASON_DOMAIN = 'prio-sched-python-exception'
_reasons = weakref.WeakValueDictionary()
_reason_numbers = itertools.count(1)


class Reason:
    """An exception that is the reason of an abort; its number is the code of a GLib.Error."""

    def __init__(self, exception):
        self.exception = exception
        self.error = GLib.Error.new_literal(GLib.quark_from_string(_REASON_DOMAIN), str(exception),
                                            next(_reason_numbers))
        _reasons[self.error.code] = self


def to_exception(error):
    """The exception that a reason stands for, or the reason itself."""
    reason = _reasons.get(error.code) if error is not None and error.domain == _REASON_DOMAIN else None
    return reason.exception if reason is not None else error


class Future(FutureBase):
    """The result of a task, which coroutines of PrioSched and of asyncio can await."""

    __slots__ = () if hasattr(FutureBase, '__weakref__') else ('__weakref__',)

    def get_loop(self):
        return asyncio.get_running_loop()

    def done(self):
        return self._done

    def cancelled(self):
        return False

    def result(self):
        if not self._done:
            raise asyncio.InvalidStateError('the task has not completed')
        if self._exception is not None:
            self._retrieved = True
            raise self._exception
        return self._value

    def exception(self):
        if not self._done:
            raise asyncio.InvalidStateError('the task has not completed')
        self._retrieved = True
        return self._exception

    def add_done_callback(self, callback, *, context=None):
        """Calls callback (future) when it is done, or soon if it is already, in context or a copy of the current one."""
        if context is None:
            context = _copy_context()
        self._add(callback, functools.partial(_call_soon, context, callback))
        if self._done:
            self._notify()

    def remove_done_callback(self, callback):
        before = self._callbacks or []
        self._callbacks = [pair for pair in before if pair[0] != callback]
        return len(before) - len(self._callbacks)

    def _add(self, callback, call):
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append((callback, call))

    def _wait(self, step):
        if self._waiter is None and self._callbacks is None:
            self._waiter = step
        else:
            self._add(step, step)

    def _settle(self, value=None, exception=None):
        if not self._done:
            self._done = True
            self._value = value
            self._exception = exception
            if self._waiter is not None or self._callbacks is not None:
                self._notify()

    def _notify(self):
        waiter, self._waiter = self._waiter, None
        callbacks, self._callbacks = self._callbacks, None
        if waiter is not None:
            waiter()
        for _, call in callbacks or ():
            try:
                call(self)
            except Exception:
                sys.excepthook(*sys.exc_info())

    def __await__(self):
        if not self._done:
            self._asyncio_future_blocking = True
            yield self
        if self._exception is not None:
            self._retrieved = True
            raise self._exception
        return self._value

    __iter__ = __await__

    def _is_abort(self):
        """Whether its exception is the reason of its signal's abort, as after a rejected yield."""
        state = self._posted_with
        if state is None or state.signal is None or not state.signal.is_cancelled():
            return False
        reason, exception = _reason_of(state.signal), self._exception
        return exception is reason or (isinstance(exception, GLib.Error) and isinstance(reason, GLib.Error) and
                                       (exception.domain, exception.code) == (reason.domain, reason.code))

    def _never_retrieved(self):
        if not self._is_abort():
            _logger.error('The exception of a task was never retrieved', exc_info=self._exception)


class Continuation(Future):
    """What yield_() returns."""

    __slots__ = ()

    def _never_retrieved(self):
        pass


def _call_soon(context, callback, future):
    """Calls callback as asyncio does: soon, in the running loop; at once if there is none."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        context.run(callback, future)
    else:
        loop.call_soon(callback, future, context=context)


def _drive(coroutine, context, future):
    """Runs coroutine in context until it ends, and settles future.  Returns its step function."""
    run = context.run
    send = coroutine.send

    def step(awaited=None):
        try:
            waits_for = run(send, None)
        except StopIteration as end:
            step.future._settle(end.value)
        except BaseException as error:  # raised by it, or by what it awaited
            step.future._settle(None, error)
        else:
            if isinstance(waits_for, Future):
                waits_for._wait(step)
            elif getattr(waits_for, '_asyncio_future_blocking', False):
                # This is what asyncio's own tasks do with an awaited future.
                waits_for._asyncio_future_blocking = False
                waits_for.add_done_callback(step)
            else:
                coroutine.close()
                step.future._settle(None, RuntimeError(f'{waits_for!r} cannot be awaited here'))

    step.future = future
    step()
    return step


def _is_awaitable(value):
    return isinstance(value, types.CoroutineType) or hasattr(value, '__await__')


async def _as_coroutine(awaitable):
    return await awaitable


def _to_coroutine(awaitable):
    return awaitable if isinstance(awaitable, types.CoroutineType) else _as_coroutine(awaitable)


class _State:
    """What a task was posted with."""

    __slots__ = ('table', 'signal', 'priority')

    def __init__(self, table, signal, priority):
        self.table = table
        self.signal = signal
        self.priority = priority  # UNSET for that of the signal


class PostedTask(Future):
    """A task that was posted."""

    __slots__ = ()

    @property
    def state(self):
        if not self._done:
            return PrioSched.TaskState.RUNNING if self._context is None else PrioSched.TaskState.PENDING
        if self._aborted:
            return PrioSched.TaskState.ABORTED
        return PrioSched.TaskState.FULFILLED if self._exception is None else PrioSched.TaskState.FAILED

    @property
    def priority(self):
        state = self._posted_with
        return state.signal.priority if state.priority == UNSET else PrioSched.TaskPriority(state.priority)

    def cancel(self):
        """Aborts this task alone; does nothing once its callback has returned."""
        if self._done or self._aborted or self._callback is None:
            return
        self._aborted = True
        if self._context is not None:
            self._callback = self._context = None
            self._posted_with.table.forget(self)

    def _abort(self, reason):
        # An abort is not reported if nobody waits for the task.
        self._aborted = self._retrieved = True
        self._callback = self._context = None
        self._settle(None, reason)


def cancelled():
    return GLib.Error.new_literal(Gio.io_error_quark(), 'Operation was cancelled', Gio.IOErrorEnum.CANCELLED)


def _reason_of(signal):
    """The exception of the tasks of an aborted signal."""
    if isinstance(signal, PrioSched.TaskSignal):
        return to_exception(signal.get_reason())
    return cancelled()


_end_task = PrioSched.Runner.end
set_up(_state, PostedTask, Continuation)


class Table(TableBase):
    """The tasks of a scheduler, by the numbers that identify them in the library."""

    def __init__(self, scheduler):
        # Neither the function nor the table keeps the scheduler alive.
        self._runner = PrioSched.Runner.new(scheduler, self._run)
        self._post_full = self._runner.post_full
        self._states = tuple(_State(self, None, priority) for priority in range(1, 4))  # by priority - 1
        super().__init__(self._runner, self._states)

    # Running

    def _take_rejected(self):
        for number in self._runner.take_rejected():
            self._reject(self._take(number))

    def _settle_cancelled(self, task):
        """Settles a cancelled task: its own number has come, or that of forget()."""
        if not task._done:
            task._abort(cancelled())

    def _finish(self, task, context, value, exception):
        """Settles task, whose callback has returned."""
        step = None
        if value is not None and _is_awaitable(value):
            step = _drive(_to_coroutine(value), context, Future())
            if step.future._done:
                value, exception, step = step.future._value, step.future.exception(), None

        # The checkpoint comes first; after it, the result settles, and the signal can no longer abort the task.
        aborted = _end_task()
        running.state = None
        if aborted or task._aborted:
            if step is not None:
                step.future._retrieved = True
            task._abort(_reason_of(task._posted_with.signal) if aborted else cancelled())
            return

        task._callback = None
        if step is None:
            task._settle(value, exception)
        else:
            step.future = task

    def _reject(self, entry):
        state = entry._posted_with
        if state is not None and state.signal is not None and state.signal.is_cancelled():
            reason = _reason_of(state.signal)
        else:
            reason = GLib.Error.new_literal(PrioSched.error_quark(), 'The main context has gone', PrioSched.Error.CLOSED)
        if entry.__class__ is PostedTask:
            entry._abort(reason)
        else:
            entry._settle(None, reason)

    # Posting

    def post_with(self, callback, priority, signal, delay):
        task = PostedTask()
        task._callback = callback
        task._context = _copy_context()
        if priority == UNSET and not isinstance(signal, PrioSched.TaskSignal):
            priority = _USER_VISIBLE
        if signal is None and delay == 0:
            task._posted_with = self._states[priority - 1]
            number = self._add(task)
            posted = self._runner.post(number, priority)
        else:
            task._posted_with = _State(self, signal, priority)
            number = self._add(task)
            posted = self._post_full(number, priority, signal, delay, False)
        if posted == _REJECTED:
            self._reject(self._take(number))
        return task

    def forget(self, task):
        """Settles a cancelled task soon."""
        number = self._add(task)
        if self._runner.post(number, _USER_BLOCKING) == _REJECTED:
            self._reject(self._take(number))

    def _yield_elsewhere(self):
        """Like yield_now(), if the current state of the library is not that of the task."""
        future = Continuation()
        future._posted_with = inherited = self._inherited()
        number = self._add(future)
        if self._post_full(number, inherited.priority, inherited.signal, 0, True) == _REJECTED:
            self._reject_yield(self._take(number))
        return future

    def _reject_yield(self, future):
        if future._posted_with is None:
            future._posted_with = current_state()
        self._reject(future)

    def _inherited(self):
        """The state that the current task passes on."""
        state = current_state()
        return state if state is not None and state.table in (self, None) else self._states[_USER_VISIBLE - 1]

    def yield_with(self, signal, priority):
        """The older draft's options, each of which may be "inherit"."""
        inherited = self._inherited()
        if signal == 'inherit':
            signal = inherited.signal
            if priority == UNSET:
                priority = 'inherit'
        if priority == 'inherit':
            priority = inherited.priority
            if priority == UNSET and signal is not inherited.signal:
                # One signal aborts it, the other one has its priority.
                signal = PrioSched.TaskSignal.any_following([signal] if signal else [], inherited.signal)
        if priority == UNSET and not isinstance(signal, PrioSched.TaskSignal):
            priority = _USER_VISIBLE

        future = Continuation()
        future._posted_with = _State(self, signal, priority)
        number = self._add(future)
        if self._post_full(number, priority, signal, 0, True) == _REJECTED:
            self._reject(self._take(number))
        return future


def current_state():
    """The _State of what is running, or None."""
    state = _state.get()
    if state is not None:
        # What a nested main loop runs within a task is not part of that task.
        return state if GLib.main_depth() == running.depth else None
    native = PrioSched.SchedulingState.get_current()
    return _State(None, native.get_signal(), native.get_priority()) if native is not None else None


def in_context(callback):
    """Wraps callback, a function or a coroutine function: it runs in a copy of the current context, with the
    state that is current in the library when it is called."""
    context = contextvars.copy_context()
    return lambda *args: context.run(_call_anew, callback, args)


def _call_anew(callback, args):
    _state.set(None)
    result = callback(*args)
    if result is not None and _is_awaitable(result):
        _drive(_to_coroutine(result), _copy_context(), Future())


def run(coroutine):
    """Runs the main loop until coroutine ends, and returns its result."""
    if not _is_awaitable(coroutine):
        raise TypeError(f'{coroutine!r} cannot be awaited')
    future = Future()
    loop = GLib.MainLoop()
    future.add_done_callback(lambda _: loop.quit())
    _drive(_to_coroutine(coroutine), _copy_context(), future)
    if not future.done():
        loop.run()
    return future.result()
