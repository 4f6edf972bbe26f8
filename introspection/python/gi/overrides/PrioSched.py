"""PrioSched in Python: tasks to await, and the draft's names.

State, that is the signal and the priority of the running task, goes through `await` by a
context variable: what a task awaits goes on with the state of whoever awaited it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import inspect
import itertools
import logging
import operator
import weakref

from gi.repository import Gio, GLib, GObject

from ..module import get_introspection_module
from ..overrides import override

PrioSched = get_introspection_module('PrioSched')
__all__ = []

_UNSET = -1
_MAX_DELAY = 2 ** 64 - 1
_logger = logging.getLogger('PrioSched')

# The PrioSched.SchedulingState of what runs in this context, or None.
_state = contextvars.ContextVar('PrioSched.state', default=None)

# What signals were aborted with, where that is no GLib.Error: the library knows it by a
# number, and so do the signals that depend on the one that was aborted, which keeps it.
_REASON_DOMAIN = 'prio-sched-python-exception'
_reasons = weakref.WeakValueDictionary()
_reason_numbers = itertools.count(1)


def _to_priority(value):
    """A member of TaskPriority or its nick; None is no priority."""
    if value is None:
        return _UNSET
    for priority in (PrioSched.TaskPriority.BACKGROUND, PrioSched.TaskPriority.USER_VISIBLE,
                     PrioSched.TaskPriority.USER_BLOCKING):
        if value == priority.value_nick or (isinstance(value, int) and not isinstance(value, bool) and value == priority):
            return int(priority)
    raise ValueError(f'{value!r} is no task priority')


def _to_delay(value, name='delay'):
    try:
        delay = operator.index(value)
    except TypeError:
        raise TypeError(f'{name} is a whole number of milliseconds, not {value!r}') from None
    if not 0 <= delay <= _MAX_DELAY:
        raise ValueError(f'{name} is out of range: {value!r}')
    return delay


def _to_callback(value):
    if not callable(value):
        raise TypeError(f'{value!r} is not callable')
    return value


def _to_signal(value):
    if value is not None and not isinstance(value, Gio.Cancellable):
        raise TypeError(f'{value!r} is no signal')
    return value


class _Reason:
    """An exception that is a reason; its number is a GLib.Error's code."""

    def __init__(self, exception):
        self.exception = exception
        self.error = GLib.Error.new_literal(GLib.quark_from_string(_REASON_DOMAIN), str(exception),
                                            next(_reason_numbers))
        _reasons[self.error.code] = self


def _to_exception(error):
    """The exception that a reason stands for, or the reason itself."""
    reason = _reasons.get(error.code) if error is not None and error.domain == _REASON_DOMAIN else None
    return reason.exception if reason is not None else error


class Future:
    """What becomes of a task: to be awaited in a coroutine, of PrioSched's or of asyncio's."""

    def __init__(self):
        self._done = False
        self._value = None
        self._exception = None
        self._callbacks = []
        self._looked_at = False

    def done(self):
        return self._done

    def result(self):
        if not self._done:
            raise RuntimeError('the task has not completed')
        self._looked_at = True
        if self._exception is not None:
            raise self._exception
        return self._value

    def exception(self):
        if not self._done:
            raise RuntimeError('the task has not completed')
        self._looked_at = True
        return self._exception

    def add_done_callback(self, callback):
        """Has callback (future) called in the context of now, at once if it is done."""
        context = contextvars.copy_context()
        if self._done:
            context.run(callback, self)
        else:
            self._callbacks.append((context, callback))

    def _settle(self, value=None, exception=None):
        if self._done:
            return
        self._done, self._value, self._exception = True, value, exception
        callbacks, self._callbacks = self._callbacks, []
        for context, callback in callbacks:
            context.run(callback, self)

    def __await__(self):
        if not self._done:
            loop = None if _driving else _running_asyncio_loop()
            if loop is None:
                yield self
            else:
                yield from self._in_asyncio(loop).__await__()
        return self.result()

    def _in_asyncio(self, loop):
        waiter = loop.create_future()
        self.add_done_callback(lambda future: waiter.done() or waiter.set_result(None))
        return waiter

    def __del__(self):
        if self._exception is not None and not self._looked_at:
            _logger.error('The exception of a task was never retrieved', exc_info=self._exception)


def _running_asyncio_loop():
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# Whether a coroutine is running that _drive() drives, and not asyncio.
_driving = False


def _send(coroutine):
    global _driving
    outer, _driving = _driving, True
    try:
        return coroutine.send(None)
    finally:
        _driving = outer


def _drive(coroutine, future):
    """Runs coroutine, in the current context, until it ends, and settles future."""
    context = contextvars.copy_context()

    def step(awaited=None):
        try:
            waits_for = context.run(_send, coroutine)
        except StopIteration as end:
            future._settle(end.value)
        except BaseException as error:  # its own, or that of what it awaited
            future._settle(exception=error)
        else:
            if isinstance(waits_for, Future):
                waits_for.add_done_callback(step)
            elif getattr(waits_for, '_asyncio_future_blocking', False):
                # What asyncio's own tasks do with a future that is awaited.
                waits_for._asyncio_future_blocking = False
                waits_for.add_done_callback(step)
            else:
                coroutine.close()
                future._settle(exception=RuntimeError(f'{waits_for!r} cannot be awaited here'))

    step()


class Task(Future):
    """A task that was posted."""

    def __init__(self, name):
        super().__init__()
        self.native = None
        self.name = name

    @property
    def state(self):
        return self.native.get_state()

    @property
    def priority(self):
        return self.native.get_priority()

    def cancel(self):
        self.native.cancel()


def _run_task(native, callback, future):
    """The function of a task: runs callback with the task's state as the context's."""
    context = contextvars.copy_context()
    context.run(_state.set, PrioSched.SchedulingState.get_current())
    inner = Future()
    try:
        result = context.run(callback)
    except BaseException as error:
        inner._settle(exception=error)
    else:
        if inspect.isawaitable(result):
            context.run(_drive, _as_coroutine(result), inner)
        else:
            inner._settle(result)

    if not inner.done():
        native.defer()
        inner.add_done_callback(lambda _: native.return_boolean(True))
    future._inner = inner


async def _as_coroutine(awaitable):
    return await awaitable


def _task_ready(native, future):
    inner = getattr(future, '_inner', None)
    if native.get_error() is not None:
        if inner is not None and inner.done():
            inner.exception()
        future._settle(exception=_to_exception(native.get_error()))
    else:
        exception = inner.exception()
        future._settle(None if exception else inner.result(), exception)


class Scheduler(PrioSched.Scheduler):

    def post_task(self, callback, priority=None, signal=None, delay=0, name=None):
        """Posts callback, a function or a coroutine function; gives what can be awaited."""
        _to_callback(callback)
        if name is not None and not isinstance(name, str):
            raise TypeError(f'a name is a string, not {name!r}')
        future = Task(name)
        future.native = native = super().post_task(
            lambda task, _: _run_task(task, callback, future), None, _to_priority(priority), _to_signal(signal),
            _to_delay(delay), name)
        native.then(lambda *_: _task_ready(native, future))
        return future

    def queue_microtask(self, callback):
        super().queue_microtask(_in_state(_to_callback(callback)))

    def yield_(self, signal=None, priority=None):
        """Lets others go first; either option may be "inherit", and both are by default."""
        flags = PrioSched.YieldFlags.NONE
        inherits = signal is None and priority is None
        if inherits or signal == 'inherit':
            flags |= PrioSched.YieldFlags.INHERIT_SIGNAL
        if inherits or priority == 'inherit':
            flags |= PrioSched.YieldFlags.INHERIT_PRIORITY
        signal = None if signal == 'inherit' else _to_signal(signal)
        priority = _UNSET if priority == 'inherit' else _to_priority(priority)

        future = Future()

        def resumed(scheduler, result):
            if result.get_error() is None:
                future._settle()
            else:
                future._settle(exception=_to_exception(result.get_error()))
                future._looked_at = True

        state = _state.get()
        post = super().yield_full_async
        if state is None:
            post(flags, signal, priority, resumed)
        else:
            state.run(lambda: post(flags, signal, priority, resumed))
        return future

    def request_idle_callback(self, callback, timeout=None):
        _to_callback(callback)
        milliseconds = 0 if timeout is None else max(_to_delay(timeout, 'timeout'), 1)
        if milliseconds > 2 ** 32 - 1:
            raise ValueError(f'timeout is out of range: {timeout!r}')

        def call(deadline):
            context = contextvars.copy_context()
            context.run(_state.set, PrioSched.SchedulingState.get_current())
            context.run(callback, IdleDeadline(deadline.copy()))

        return super().request_idle_callback(call, milliseconds)


def _in_state(callback):
    """callback in the context of now, with the state that the library has when it is called."""
    context = contextvars.copy_context()
    context.run(_state.set, PrioSched.SchedulingState.get_current() or _state.get())
    return lambda: context.run(callback)


Scheduler = override(Scheduler)
__all__.append('Scheduler')


class IdleDeadline:
    """What an idle callback is given."""

    def __init__(self, native):
        self._native = native
        self.did_timeout = native.did_timeout()

    def time_remaining(self):
        return self._native.time_remaining()


class TaskController(PrioSched.TaskController):

    def __init__(self, priority='user-visible'):
        super().__init__(priority=PrioSched.TaskPriority(_to_priority(_given(priority))))

    @property
    def signal(self):
        return self.get_signal()

    def set_priority(self, priority):
        super().set_priority(PrioSched.TaskPriority(_to_priority(_given(priority))))

    def abort(self, reason=None):
        """The reason may be a GLib.Error or any other exception."""
        if reason is not None and not isinstance(reason, BaseException):
            raise TypeError(f'a reason is an exception, not {reason!r}')
        if reason is None:
            # PyGObject takes no None for a GError.
            reason = GLib.Error.new_literal(Gio.io_error_quark(), 'Operation was cancelled', Gio.IOErrorEnum.CANCELLED)
        if isinstance(reason, GLib.Error):
            super().abort(reason)
        elif not self.signal.aborted:
            self.signal._reason = _Reason(reason)
            super().abort(self.signal._reason.error)


def _given(priority):
    if priority is None:
        raise ValueError('None is no task priority')
    return priority


TaskController = override(TaskController)
__all__.append('TaskController')


class TaskSignal(PrioSched.TaskSignal):

    @staticmethod
    def any(signals, priority='user-visible'):
        signals = [_to_signal(_given_signal(signal)) for signal in signals]
        if isinstance(priority, PrioSched.TaskSignal):
            return PrioSched.TaskSignal.any_following(signals, priority)
        result = _native_any(signals, PrioSched.TaskPriority(_to_priority(_given(priority))))
        return result

    def connect(self, *args):
        """GObject's connect (name, callback…), or Gio.Cancellable's, whose first argument is no name."""
        if args and isinstance(args[0], str):
            return GObject.Object.connect(self, *args)
        return super().connect(*args)

    @property
    def priority(self):
        return self.get_priority()

    @property
    def aborted(self):
        return self.is_aborted()

    @property
    def reason(self):
        return _to_exception(self.get_reason())


def _given_signal(signal):
    if signal is None:
        raise TypeError('None is no signal')
    return signal


_native_any = PrioSched.TaskSignal.any
TaskSignal = override(TaskSignal)
__all__.append('TaskSignal')


def run(coroutine):
    """Runs the main loop until coroutine ends, and gives its result."""
    if not inspect.isawaitable(coroutine):
        raise TypeError(f'{coroutine!r} cannot be awaited')
    future = Future()
    loop = GLib.MainLoop()
    future.add_done_callback(lambda _: loop.quit())
    _drive(_as_coroutine(coroutine), future)
    if not future.done():
        loop.run()
    return future.result()


__all__.append('run')
