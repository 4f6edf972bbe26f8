"""PrioSched in Python: tasks to await, and the draft's names.

A context variable carries the state, which is the signal and the priority of the running task,
through `await`: a coroutine that a task awaits runs with the state of that task.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import operator

from gi.repository import Gio, GLib, GObject

from gi.module import get_introspection_module
from gi.overrides import override
from ._priosched.tasks import table as tasks
from ._priosched.extras import groups
from ._priosched.extras import helpers
from ._priosched.arguments import numbers
from ._priosched.extras import react
from ._priosched.futures import reasons
from ._priosched.tasks import threads
from ._priosched.futures.future import UNSET as _UNSET
from ._priosched.futures.future import Future, PostedTask
from ._priosched.futures.reasons import AbortError
from ._priosched.coroutines.run import GLibEventLoop, run
from ._priosched.coroutines.steps import with_progress

PrioSched = get_introspection_module('PrioSched')
# No Task here: PrioSched.Task is the library's class, which PyGObject uses for its objects.
__all__ = ['AbortError', 'Future', 'PostedTask', 'run']
if GLibEventLoop is not None:
    from ._priosched.coroutines.loop import EventLoop  # noqa: F401
    __all__.append('EventLoop')

_PRIORITIES = {'background': 1, 'user-visible': 2, 'user-blocking': 3}
_NAMES = f'these are {", ".join(map(repr, _PRIORITIES))}'


def _to_priority(value):
    """Converts a member of TaskPriority or its nick; None is UNSET."""
    if value.__class__ is str and value in _PRIORITIES:
        return _PRIORITIES[value]
    if value is None:
        return _UNSET
    if isinstance(value, str):
        number = _PRIORITIES.get(value)
    elif isinstance(value, PrioSched.TaskPriority):
        number = int(value)
    else:
        # A number of that size; members of other enumerations are none.
        number = value if value.__class__ is int else None
    if number not in (1, 2, 3):
        raise ValueError(f'{value!r} is no task priority: {_NAMES}')
    return number


def _to_priority_of(callback, value):
    """The same where an argument of callback may have been meant."""
    try:
        return _to_priority(value)
    except ValueError as error:
        raise ValueError(f'{error}{helpers.hint_at_arguments(callback, value)}') from None


def _to_whole(value, name, unit, bits):
    """Checks a number of that many bits, none of which is a sign."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{name} is a whole number of {unit}, not {value!r}') from None
    if not 0 <= number < 1 << bits:
        raise ValueError(f'{name} is out of range: {value!r}')
    return number


def _to_delay(value, name='delay', bits=64):
    if value.__class__ is int and value == 0:
        return 0  # as most are
    return _to_whole(value, name, 'milliseconds', bits)


_to_signal = helpers.to_signal  # each post with a signal looks it up


def _called_back(owner, name, position, awaitable=None):
    """Wraps the library's method of that name, whose argument at position is a callback.

    PyGObject 3.50 and later return an awaitable if there is no callback, and crash if an
    argument of that call is wrong.  So a callback is required; awaitable() is for await.
    """
    native = getattr(owner, name)
    hint = f'; {awaitable}() can be awaited' if awaitable else ''

    @functools.wraps(native)
    def method(self, *args, **kwargs):
        callback = args[position] if len(args) > position else kwargs.get('callback')
        if not callable(callback):
            raise TypeError(f'{name}() needs a callback, not {callback!r}{hint}')
        return native(self, *args, **kwargs)

    return method


class Scheduler(numbers.Shares, PrioSched.Scheduler):

    yield_async = _called_back(PrioSched.Scheduler, 'yield_async', 0, 'yield_')
    yield_full_async = _called_back(PrioSched.Scheduler, 'yield_full_async', 1, 'yield_')
    sleep_async = _called_back(PrioSched.Scheduler, 'sleep_async', 2, 'sleep')
    post_task_async = _called_back(PrioSched.Scheduler, 'post_task_async', 3, 'post_task')
    run_in_thread_async = _called_back(PrioSched.Scheduler, 'run_in_thread_async', 3, 'run_in_thread')

    adopt, each, latest = helpers.adopt, helpers.each, helpers.latest
    did_timeout, get_current_priority = react.did_timeout, react.get_current_priority
    run_with_priority, wrap_callback = react.run_with_priority, react.wrap_callback
    force_frame_rate, get_first_task = react.force_frame_rate, react.get_first_task
    schedule_callback, cancel_callback = react.schedule_callback, react.cancel_callback

    def get_pending(self):
        """How many tasks are queued or delayed.  Raises RuntimeError on another thread than that of the main context."""
        tasks.table_of(self).check_owner('the tasks are counted on')
        return super().get_pending()

    def get_statistics(self):
        """The PrioSched.Statistics, or None if none are collected.  Raises RuntimeError on another thread, as get_pending () does."""
        tasks.table_of(self).check_owner('the statistics are told on')
        return super().get_statistics()

    def set_next_frame(self, next_frame):
        """Sets when the next frame is due, in microseconds of GLib.get_monotonic_time (), or 0 if there is none."""
        super().set_next_frame(_to_whole(next_frame, 'next_frame', 'microseconds', 63))

    def set_time_slice(self, time_slice):
        """Sets how long tasks run before other sources have their turn, in microseconds; 0 is one task at a time."""
        super().set_time_slice(_to_whole(time_slice, 'time_slice', 'microseconds', 32))

    def post_task(self, callback, priority=None, signal=None, delay=0, name=None, progress=None, timeout=None):
        """Posts a task, which calls callback () when its turn has come.  Any thread may post.

        callback  a function, or a coroutine function: that runs as a task of asyncio where its loop is running
        priority  'user-blocking', 'user-visible' (the default) or 'background', or a member of PrioSched.TaskPriority: it
                  stays.  Without one, the task has that of signal, and follows its changes
        signal    a PrioSched.TaskSignal, or any Gio.Cancellable, which aborts the task.  A coroutine that has begun is told
                  once, where it awaits: by the reason, or by asyncio.CancelledError if that is one of asyncio's futures.  The
                  result is what it makes of that
        delay     milliseconds to wait before the task is queued, a whole number
        name      for repr () and reports
        progress  progress (value) is called, where the task yields, with what its generator has yielded last
        timeout   milliseconds from the end of the delay after which it goes before every task whose timeout has not passed, a
                  whole number, such as PrioSched.TIMEOUT_NORMAL; negative ones have passed; None or 0 for none: did_timeout ()

        A generator that callback returns, as a generator function does, is the task: it goes on as long as should_yield ()
        says no, yields then, and the result is what it returns.

        Returns a PrioSched.PostedTask.  To await it gives what callback returns or raises what it raises, or the reason
        of the abort: any exception, or else PrioSched.AbortError.  Raises TypeError, or
        ValueError for what is no priority and for a delay out of range.
        """
        if not callable(callback):
            helpers.to_callback(callback)
        try:
            table = self._table
        except AttributeError:
            table = tasks.table_of(self)

        if progress is not None:
            callback = with_progress(callback, helpers.to_callback(progress))
        if priority is None and signal is None and delay == 0 and name is None and timeout is None:
            return table.post(callback)
        if name is not None and not isinstance(name, str):
            raise TypeError(f'a name is a string, not {name!r}')
        milliseconds = react.to_timeout(timeout)
        if milliseconds != 0:
            return table.post_timed(callback, _to_priority_of(callback, priority), _to_signal(signal), _to_delay(delay), name, milliseconds)
        return table.post_with(callback, _to_priority_of(callback, priority), _to_signal(signal), _to_delay(delay), name)

    def run_in_thread(self, func, *args, priority=None, signal=None, name=None):
        """Calls func (*args) in a thread of a pool, and gives what that returns or raises: await scheduler.run_in_thread (func).

        priority, signal, name  as for post_task (); a priority that changes counts until a thread has taken it

        An abort until then ends it at once, and later takes the place of its result, once func has returned.  func runs with
        a copy of the current context, as in asyncio.to_thread (), and in no task.  Any thread may call this.
        """
        return threads.run_in_thread(self, func, args, _to_priority(priority), _to_signal(signal), name)

    def queue_microtask(self, callback):
        """Calls callback (), a function or a coroutine function, after the running task and before the next one."""
        super().queue_microtask(tasks.in_context(helpers.to_callback(callback), True))

    def yield_(self, signal=None, priority=None):
        """Lets what is more urgent or older run first: await scheduler.yield_ ().

        What comes after it goes on with the priority of its task and before new tasks of that priority, so a loop of
        yields does not wait for any of those.  Where its signal has been aborted the reason is raised, once in
        a task: what cleans up after that may await, and yield.

        signal, priority  of the continuation instead of those of the task, as for post_task (); either may be 'inherit'.  With one
                          of these, the abort of a signal that it does not have is raised where the coroutine awaits next

        Outside any task the priority is 'user-visible'.
        """
        try:
            table = self._table
        except AttributeError:
            table = tasks.table_of(self)

        if signal is None and priority is None:
            return table.yield_now()
        return table.yield_with(signal if signal == 'inherit' else _to_signal(signal),
                                priority if priority == 'inherit' else _to_priority(priority))

    def sleep(self, delay, signal=None, priority=None):
        """Waits, and goes on as a continuation of the current task: await scheduler.sleep (500).

        An abort ends the wait at once: its reason is raised.

        delay             milliseconds, a whole number
        signal, priority  of the continuation instead of those of the task; either may be 'inherit'
        """
        delay = _to_delay(delay)
        signal = signal if signal == 'inherit' else _to_signal(signal)
        priority = priority if priority == 'inherit' else _to_priority(priority)
        return tasks.table_of(self).sleep(delay, signal, priority)

    def request_idle_callback(self, callback, timeout=None):
        """Calls callback (deadline) when the main loop has nothing else to do.

        deadline.time_remaining () is how many milliseconds it may take, deadline.did_timeout whether timeout was over.

        timeout  milliseconds after which it is called in any case, a whole number

        Returns a number for cancel_idle_callback ().
        """
        helpers.to_callback(callback)
        milliseconds = 0 if timeout is None else max(_to_delay(timeout, 'timeout', 32), 1)
        call = tasks.in_context(callback)
        return super().request_idle_callback(lambda deadline: call(deadline.copy()), milliseconds)


Scheduler = override(Scheduler)
__all__.append('Scheduler')


class IdleDeadline(PrioSched.IdleDeadline):
    """The argument of an idle callback, which get_current () gives, too."""

    @property
    def did_timeout(self):
        """Whether the callback is called since its timeout was over."""
        return super().did_timeout()


IdleDeadline = override(IdleDeadline)
__all__.append('IdleDeadline')


class TaskController(PrioSched.TaskController):
    """Aborts the tasks of its signal, and changes their priority."""

    def __init__(self, priority='user-visible'):
        super().__init__(priority=PrioSched.TaskPriority(_to_priority(_given(priority))))

    @property
    def signal(self):
        """Its PrioSched.TaskSignal, for post_task () and for any call of GIO's."""
        return self.get_signal()

    @property
    def priority(self):
        """The PrioSched.TaskPriority of its signal, which set_priority () changes."""
        return self.signal.priority

    def __repr__(self):
        return f'<PrioSched.TaskController {self.signal!r}>'

    def set_priority(self, priority):
        """Changes the priority of all tasks that follow the signal, and of signals that do.

        Raises GLib.Error, PrioSched.Error.NOT_ALLOWED, in a handler of that change.
        """
        super().set_priority(PrioSched.TaskPriority(_to_priority(_given(priority))))

    def abort(self, reason=None):
        """Aborts the tasks of the signal.

        reason  what awaiting them raises: any exception but StopIteration and StopAsyncIteration; without one a
                PrioSched.AbortError
        """
        reasons.check(reason)
        if reason is None:
            # PyGObject does not accept None for a GError.
            reason = AbortError()
        if reasons.is_of_library(reason):
            super().abort(reason)
        elif not self.signal.aborted:
            super().abort(reasons.to_error(reason, self, self.signal))


def _given(priority):
    if priority is None:
        raise ValueError(f'None is no task priority: {_NAMES}')
    return priority


TaskController = override(TaskController)
__all__.append('TaskController')


class TaskSignal(PrioSched.TaskSignal):
    """A Gio.Cancellable that has a priority."""

    @staticmethod
    def any(signals, priority='user-visible'):
        """A signal that is aborted as soon as one of signals is, each a Gio.Cancellable.

        priority  its own, which does not change, or a PrioSched.TaskSignal, whose priority it follows
        """
        signals = _to_signals(signals)
        if isinstance(priority, PrioSched.TaskSignal):
            return PrioSched.TaskSignal.any_following(signals, priority)
        result = _native_any(signals, PrioSched.TaskPriority(_to_priority(_given(priority))))
        reasons.keep_reasons_of(result, signals)
        return result

    @staticmethod
    def any_following(signals, priority_source):
        """A signal that is aborted as soon as one of signals is, and that follows the priority of priority_source."""
        signals = _to_signals(signals)
        if not isinstance(priority_source, PrioSched.TaskSignal):
            raise TypeError(f'the source of a priority is a PrioSched.TaskSignal, not {priority_source!r}')
        result = _native_any_following(signals, priority_source)
        reasons.keep_reasons_of(result, signals)
        return result

    @staticmethod
    def new_aborted(reason=None):
        """A signal that has been aborted, with any exception; None is a GLib.Error with Gio.IOErrorEnum.CANCELLED."""
        reasons.check(reason)
        if reason is None or reasons.is_of_library(reason):
            return _native_new_aborted(reason if reason is not None else AbortError())
        return reasons.keep(reason, _native_new_aborted)

    @staticmethod
    def new_timeout(delay):
        """A signal that is aborted after delay milliseconds, a whole number."""
        result = _native_new_timeout(_to_delay(delay))
        result._timeouts = ()
        return result

    def connect(self, *args):
        """GObject's connect (name, callback…), or Gio.Cancellable's, which takes no name."""
        if args and isinstance(args[0], str):
            handler = GObject.Object.connect(self, *args)
        else:
            handler = super().connect(*args)
        return self._pinned_for(handler)

    def connect_after(self, *args):
        return self._pinned_for(super().connect_after(*args))

    def connect_data(self, *args, **kwargs):
        return self._pinned_for(super().connect_data(*args, **kwargs))

    def connect_object(self, *args):
        return self._pinned_for(super().connect_object(*args))

    def connect_object_after(self, *args):
        return self._pinned_for(super().connect_object_after(*args))

    def _pinned_for(self, handler):
        # If only its own handler refers to the signal, Python's collector clears both, while the
        # library still holds the signal and would call the handler.
        self.pin()
        return handler

    @property
    def priority(self):
        return self.get_priority()

    @property
    def aborted(self):
        return self.is_aborted()

    def __repr__(self):
        return f'<PrioSched.TaskSignal {self.priority.value_nick}{" aborted" if self.aborted else ""}>'

    @property
    def reason(self):
        """The exception with which it was aborted, or None."""
        return reasons.to_exception(self.get_reason())


def _to_signals(values):
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f'signals are an iterable of Gio.Cancellable, not {values!r}') from None
    if None in values:
        raise TypeError('None is no signal')
    return [_to_signal(value) for value in values]


_native_any = PrioSched.TaskSignal.any
_native_any_following = PrioSched.TaskSignal.any_following
_native_new_aborted = PrioSched.TaskSignal.new_aborted
_native_new_timeout = PrioSched.TaskSignal.new_timeout
TaskSignal = override(TaskSignal)
__all__.append('TaskSignal')


class SchedulingState(PrioSched.SchedulingState):

    resume_async = _called_back(PrioSched.SchedulingState, 'resume_async', 0)

    @staticmethod
    def get_current():
        """The state of what is running, also after an await of asyncio's; None outside any task."""
        return tasks.get_current_state()


SchedulingState = override(SchedulingState)
__all__.append('SchedulingState')


groups.set_up(_to_priority, _to_delay)
react.set_up(lambda priority: _to_priority(_given(priority)))
numbers.set_up(lambda priority: _to_priority(_given(priority)), _to_whole)


class Statistics(numbers.Statistics):
    """What the tasks of a scheduler have done, by their priorities."""


Statistics = override(Statistics)
__all__.append('Statistics')


class Times(numbers.Times):
    """How long tasks have waited, or have run, in milliseconds."""


Times = override(Times)
__all__.append('Times')


class TaskGroup(groups.TaskGroup):

    wait_async = _called_back(PrioSched.TaskGroup, 'wait_async', 2, 'drained')


TaskGroup = override(TaskGroup)
__all__.append('TaskGroup')
