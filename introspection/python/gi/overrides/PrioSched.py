"""PrioSched in Python: tasks to await, and names as in the web's draft “Prioritized Task Scheduling”, such as post_task ().

A context variable carries the state (the signal and the priority of the running task) through `await`: a coroutine that
a task awaits runs with the task's state.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os

from gi.module import get_introspection_module
from gi.overrides import override
from gi.repository import GLib, GObject

from ._priosched.arguments import (UNSET, called_back, check_name, refusing, to_callback, to_delay, to_given_priority, to_flag, to_part, to_priority,
                                   to_priority_of, to_signal, to_signals, to_timeout, to_whole)
from ._priosched._native import keep_whole
from ._priosched.coroutines.run import EventLoop, run
from ._priosched.coroutines.steps import with_progress
from ._priosched.extras import channels, groups, helpers, react, testing, workers
from ._priosched.extras.react import TIMEOUT_IDLE, TIMEOUT_IMMEDIATE, TIMEOUT_LOW, TIMEOUT_NORMAL, TIMEOUT_USER_BLOCKING
from ._priosched.futures import handlers, reasons
from ._priosched.futures.forgotten import awaited
from ._priosched.futures.future import Future, PostedTask
from ._priosched.futures.reasons import AbortError
from ._priosched.names import name_sources
from ._priosched.tasks import threads
from ._priosched.tasks.states import get_current_state, in_context
from ._priosched.tasks.tables import table_of

PrioSched = get_introspection_module('PrioSched')
# Task is not in the list: PrioSched.Task stays the library's own class, whose objects are the tasks of other languages.
__all__ = ['AbortError', 'Channel', 'Future', 'IdleDeadline', 'PostedTask', 'Scheduler', 'SchedulingState', 'TIMEOUT_IDLE', 'TIMEOUT_IMMEDIATE',
           'TIMEOUT_LOW', 'TIMEOUT_NORMAL', 'TIMEOUT_USER_BLOCKING', 'TaskController', 'TaskGroup', 'TaskSignal', 'Worker', 'run', 'testing']
if EventLoop is not None:
    __all__.append('EventLoop')
# Makes tracebacks print the names that programs use, not the names of this package's modules.
for _class in filter(None, (AbortError, EventLoop, Future, PostedTask)):
    _class.__module__ = 'gi.repository.PrioSched'

if os.environ.get('PRIO_SCHED_LONG_TASKS', '0') != '0':
    name_sources(GLib, GLib)

# The members of TaskPriority by number, created once, because creating a member is slow.
_MEMBERS = (None, *map(PrioSched.TaskPriority, range(1, 4)))
_MAX_TASK_SHARE = 0.9

_native_yield_async = called_back(PrioSched.Scheduler, 'yield_async', 1, 'yield_')
PrioSched.Task.wait_async = called_back(PrioSched.Task, 'wait_async', 1)


def _part(field):
    def get(self):
        part = field.__get__(self)
        part.whole = self
        return part
    return property(get)


# The library can be built without statistics, long tasks and traces; then the methods for these are missing here, too.
_HAS_WATCH = hasattr(PrioSched, 'Statistics')
if _HAS_WATCH:
    # PyGObject frees a structure while its fields are still used, so the value of each field gets a reference to the structure.
    for _name in 'background', 'user_visible', 'user_blocking':
        setattr(PrioSched.Statistics, _name, _part(getattr(PrioSched.Statistics, _name)))
    for _name in 'waiting', 'running':
        setattr(PrioSched.TaskStatistics, _name, _part(getattr(PrioSched.TaskStatistics, _name)))


class Scheduler(PrioSched.Scheduler):

    sleep_async = called_back(PrioSched.Scheduler, 'sleep_async', 2, 'sleep')

    adopt, each, latest = helpers.adopt, helpers.each, helpers.latest
    did_timeout, get_current_priority = react.did_timeout, react.get_current_priority
    run_with_priority, wrap_callback = react.run_with_priority, react.wrap_callback
    force_frame_rate, request_paint, get_first_task = react.force_frame_rate, react.request_paint, react.get_first_task
    schedule_callback, cancel_callback = react.schedule_callback, react.cancel_callback

    def yield_async(self, *args, **kwargs):
        """Calls the library's yield_async (options, callback); options, a PrioSched.YieldOptions, may be left out.

        To await a yield, use yield_().
        """
        if 'options' not in kwargs and not (args and isinstance(args[0], PrioSched.YieldOptions)) and args[:1] != (None,):
            args = (None, *args)
        _native_yield_async(self, *args, **kwargs)

    @refusing
    def count_pending(self):
        """Returns how many tasks are queued or delayed.  Raises RuntimeError on a thread that does not run the scheduler's main context."""
        table_of(self).check_owner('the tasks are counted on')
        return super().count_pending()

    @property
    def current_signal(self):
        """The PrioSched.TaskSignal of the running task, of any scheduler, for posting other tasks; None outside any task.

        This is the signal that the task was posted with, if that is a PrioSched.TaskSignal and the task follows its priority.
        Otherwise it is a new signal with the task's priority.  An abort of the task's signal, if it has one, aborts the new signal.
        """
        state = get_current_state()
        if state is None:
            return None
        signal, priority = state.get_cancellable(), int(state.get_priority())
        if isinstance(signal, PrioSched.TaskSignal) and priority == UNSET:
            return signal
        return TaskSignal.any([] if signal is None else [signal], priority or 'user-visible')

    @refusing
    def set_next_frame(self, next_frame):
        """Sets when the next frame is due, in microseconds of GLib.get_monotonic_time (), or 0 if there is none."""
        super().set_next_frame(to_whole(next_frame, 'next_frame', 'microseconds', 2 ** 63 - 1))

    @refusing
    def set_time_slice(self, time_slice):
        """Sets how long tasks run before other sources have their turn, in milliseconds.

        0 runs one task at a time; -1, the default, adapts the time to frames.
        """
        super().set_time_slice(-1 if time_slice == -1 else to_part(time_slice, 'a time slice', 2 ** 32 - 1))

    @refusing
    def set_task_share(self, share):
        """Sets the least share of time that slow frames and other code's idle sources leave to tasks, up to 0.9; 0 lets the library decide."""
        super().set_task_share(to_part(share, 'a share', _MAX_TASK_SHARE))

    @refusing
    def set_starvation_limit(self, starvation_limit):
        """Sets how long a new task waits behind continuations of its priority before it has a turn, in milliseconds; 0 means for ever."""
        super().set_starvation_limit(to_whole(starvation_limit, 'starvation_limit', 'milliseconds', 2 ** 32 - 1))

    time_slice = property(PrioSched.Scheduler.get_time_slice, set_time_slice)
    task_share = property(PrioSched.Scheduler.get_task_share, set_task_share)
    starvation_limit = property(PrioSched.Scheduler.get_starvation_limit, set_starvation_limit)

    if _HAS_WATCH:
        def get_statistics(self):
            """Returns statistics of tasks since start_statistics ().

            Raises RuntimeError on a thread that does not run the scheduler's main context.
            """
            table_of(self).check_owner('the statistics can be asked for on')
            return super().get_statistics()

        def add_long_task_func(self, threshold, func):
            """Calls func (name, priority, duration) when a task or a source has blocked the main loop for threshold milliseconds.

            threshold is a whole number.  The priority is 0 for a source, and the duration is in milliseconds.

            Returns a number for remove_long_task_func ().

            From the first call on, GLib.idle_add () and similar functions name a source after its callback, unless the source has a name.
            """
            number = super().add_long_task_func(to_whole(threshold, 'a threshold', 'milliseconds', 2 ** 32 - 1, 1), func)
            name_sources(GLib, GLib)
            return number

    def post_task(self, callback, priority=None, signal=None, delay=0, name=None, progress=None, timeout=None,
                  takes_turns=False):
        """Posts a task, which calls callback () in its turn.  Any thread may post.

        callback  a function, or a coroutine function, whose coroutine runs as an asyncio task if a loop of asyncio is running
        priority  'user-blocking', 'user-visible' (the default) or 'background', or a member of PrioSched.TaskPriority: the
                  task keeps this priority.  Without it, the task follows the priority of signal, if signal has one
        signal    a PrioSched.TaskSignal, or any Gio.Cancellable, which can abort the task.  A coroutine that has started gets the
                  abort once, at its await: as the reason or, if it awaits a future of asyncio, as asyncio.CancelledError.  The
                  task's result is then whatever the coroutine returns or raises, and the reason if it raises that CancelledError
        delay     milliseconds to wait before the task is queued, a whole number
        name      for repr () and reports
        progress  progress (value) is called when the task yields, awaits or ends, with the last value from its generator
        timeout   milliseconds from the end of the delay after which the task runs before all tasks whose timeout has not
                  passed, a whole number, such as PrioSched.TIMEOUT_NORMAL; None or 0 for no timeout.  A negative timeout has
                  passed from the start, so did_timeout () returns True
        takes_turns  True to let the task wait, after each yield, behind queued tasks of the same priority, instead of running
                  before them

        If callback returns a generator, as a generator function does, the task runs the generator step by step, lets other
        tasks run when should_yield () is true, and has the generator's return value as its result.  If the generator yields
        an awaitable, as in `yield scheduler.sleep (5)`, the task awaits it, and sends the result to the generator.

        Returns a PrioSched.PostedTask.  Awaiting it returns the callback's result or raises its exception or, after an
        abort, the reason, by default a PrioSched.AbortError.  A wrong argument raises TypeError, and an unknown priority or a
        number out of range raises ValueError.
        """
        try:
            if not callable(callback):
                to_callback(callback)
            try:
                table = self._table
            except AttributeError:
                table = table_of(self)

            if progress is not None:
                callback = with_progress(callback, to_callback(progress))
            if delay == 0 and name is None and timeout is None and takes_turns is False:
                if priority is None and signal is None:
                    return table.post(callback)
                task = table.post_quickly(callback, priority, signal) if delay.__class__ is int else None
                if task is not None:
                    return task
            if name is not None:
                check_name(name)
            milliseconds = to_timeout(timeout)
            if milliseconds != 0 or to_flag(takes_turns, 'takes_turns'):
                return table.post_rare(callback, to_priority_of(callback, priority), to_signal(signal), to_delay(delay), name, milliseconds,
                                       takes_turns)
            return table.post_with(callback, to_priority_of(callback, priority), to_signal(signal), to_delay(delay), name)
        except (TypeError, ValueError) as error:
            raise error.with_traceback(None)

    def run_in_thread(self, func, *args, priority=None, signal=None, name=None):
        """Calls func (*args) in a thread of a pool, and returns its result or raises its exception: await
        scheduler.run_in_thread (func).

        priority, signal, name  as for post_task (); a change of priority has an effect only until a thread takes the call

        An abort before a thread takes the call ends the call at once, and func does not run; a later abort replaces the result,
        once func has returned.  func runs with a copy of the current contextvars.Context, as in asyncio.to_thread (), and
        outside any task.  Any thread may call this method.
        """
        return threads.run_in_thread(self, None, func, args, to_priority(priority), to_signal(signal), name)

    def queue_microtask(self, callback):
        """Calls callback (), a function or a coroutine function, after the function of the running task and before the next task.

        Outside any task, callback is called in the next iteration of the main context.
        """
        super().queue_microtask(in_context(to_callback(callback), True))

    @awaited
    def yield_(self, signal=None, priority=None, takes_turns=False):
        """Lets more urgent tasks, and other sources of the main context, run first: await scheduler.yield_ ().

        The continuation, which is the code after the await, runs with the priority of its task and before new tasks of that
        priority, so a loop of yields does not wait for new tasks.  If the task's signal has been aborted, the await raises the
        reason, but only once in a task: code that cleans up after that may await, and yield.

        signal, priority  of the continuation instead of the task's, as for post_task (); either may be 'inherit'.  If the
                          continuation has another signal, an abort of the task's signal is raised at the coroutine's next await
        takes_turns       True to wait behind tasks of the same priority that are queued already, as all yields of a task posted
                          with takes_turns do

        Outside any task, the priority of the continuation is 'user-visible', unless another one is given.
        """
        try:
            table = self._table
        except AttributeError:
            table = table_of(self)

        if signal is None and priority is None:
            return table.sleep(0, None, UNSET, takes_turns=True) if to_flag(takes_turns, 'takes_turns') else table.yield_now()
        return table.yield_with(signal if signal == 'inherit' else to_signal(signal),
                                priority if priority == 'inherit' else to_priority(priority), to_flag(takes_turns, 'takes_turns'))

    @refusing
    @awaited
    def sleep(self, delay, signal=None, priority=None):
        """Waits, and continues the current task: await scheduler.sleep (500).

        An abort of the signal ends the wait at once, and the await raises the reason.

        delay             milliseconds, a whole number
        signal, priority  of the code after the await instead of the task's; either may be 'inherit'
        """
        delay = to_delay(delay)
        signal = signal if signal == 'inherit' else to_signal(signal)
        priority = priority if priority == 'inherit' else to_priority(priority)
        return table_of(self).sleep(delay, signal, priority)

    def request_idle_callback(self, callback, timeout=None):
        """Calls callback (deadline) when the main loop has nothing else to do.

        deadline.get_time_remaining () is how many milliseconds callback may take, deadline.did_timeout whether timeout
        has expired.

        timeout  milliseconds after which the callback is called in any case, a whole number

        Returns a number for cancel_idle_callback ().
        """
        to_callback(callback)
        milliseconds = 0 if timeout is None else max(to_delay(timeout, 'timeout', 32), 1)
        call = in_context(callback)
        return super().request_idle_callback(milliseconds, lambda deadline: call(deadline.copy()))


Scheduler = override(Scheduler)


class IdleDeadline(PrioSched.IdleDeadline):
    """Represents the deadline of an idle callback: the callback's argument, which IdleDeadline.dup_current () returns, too."""

    @property
    def did_timeout(self):
        """Returns whether the callback is called because its timeout has expired."""
        return super().did_timeout()


IdleDeadline = override(IdleDeadline)


class TaskController(PrioSched.TaskController):
    """Aborts the tasks that were posted with the controller's signal, and changes their priority."""

    def __init__(self, priority='user-visible'):
        super().__init__(priority=_MEMBERS[to_given_priority(priority)])

    @property
    def signal(self):
        """The controller's PrioSched.TaskSignal, for post_task () and for any call of GIO that takes a Gio.Cancellable."""
        signal = self.get_signal()
        try:
            signal._controller
        except AttributeError:
            signal._controller = self.weak_ref()  # weak, because the controller holds the signal
        return signal

    @property
    def priority(self):
        """The PrioSched.TaskPriority of the signal; set_priority () changes it."""
        return self.signal.priority

    def __repr__(self):
        return f'<PrioSched.TaskController {self.signal!r}>'

    def set_priority(self, priority):
        """Changes the priority of the signal, and of all tasks and signals that follow it.

        Raises GLib.Error, PrioSched.Error.NOT_ALLOWED, in a handler of priority-change for this signal.
        """
        super().set_priority(PrioSched.TaskPriority(to_given_priority(priority)))

    def abort(self, reason=None):
        """Aborts the tasks of the signal.

        reason  the exception that an await of a task raises: any but StopIteration and StopAsyncIteration; by default a
                PrioSched.AbortError
        """
        reasons.check(reason)
        if reason is None:
            # PyGObject does not accept None for a GError, so the default reason is made here.
            reason = AbortError()
        if reasons.is_of_library(reason):
            super().abort(reason)
        elif not self.signal.aborted:
            super().abort(reasons.to_error(reason, self, self.signal))


TaskController = override(TaskController)


_native_new_any = PrioSched.TaskSignal.new_any
_native_new_any_following = PrioSched.TaskSignal.new_any_following
_native_new_aborted = PrioSched.TaskSignal.new_aborted
_native_new_timeout = PrioSched.TaskSignal.new_timeout


class TaskSignal(PrioSched.TaskSignal):
    """Represents a Gio.Cancellable that has a priority."""

    @staticmethod
    def any(signals, priority='user-visible'):
        """Returns a signal that is aborted as soon as one of signals is aborted; each of these is a Gio.Cancellable.

        priority  a fixed priority, or a PrioSched.TaskSignal, whose priority the new signal follows
        """
        signals = to_signals(signals)
        if isinstance(priority, PrioSched.TaskSignal):
            return TaskSignal.any_following(signals, priority)
        result = _native_new_any(signals, PrioSched.TaskPriority(to_given_priority(priority)))
        reasons.keep_reasons_of(result, signals)
        return result

    @staticmethod
    def any_following(signals, priority_source):
        """Returns a signal that is aborted as soon as one of signals is aborted, and that follows the priority of priority_source."""
        signals = to_signals(signals)
        if not isinstance(priority_source, PrioSched.TaskSignal):
            raise TypeError(f'the source of a priority is a PrioSched.TaskSignal, not {priority_source!r}')
        result = _native_new_any_following(signals, priority_source)
        reasons.keep_reasons_of(result, signals)
        return result

    # The library's names for any () and any_following ().
    new_any, new_any_following = any, any_following

    @staticmethod
    def new_aborted(reason=None):
        """Returns an aborted signal.  reason is any exception but StopIteration and StopAsyncIteration; by default a PrioSched.AbortError."""
        reasons.check(reason)
        if reason is None or reasons.is_of_library(reason):
            return _native_new_aborted(reason if reason is not None else AbortError())
        return reasons.keep(reason, _native_new_aborted)

    @staticmethod
    def new_timeout(delay):
        """Returns a signal that is aborted after delay milliseconds, a whole number."""
        result = _native_new_timeout(to_delay(delay))
        result._timeouts = ()
        return result

    def connect(self, *args):
        """Calls GObject's connect (name, callback, …) or, if no name is given, Gio.Cancellable's connect (callback, …), for aborts."""
        if args and isinstance(args[0], str):
            handler = GObject.Object.connect(self, *args[:1], *handlers.held(self, args[1:]))
        else:
            handler = super().connect(*handlers.held(self, args))
        return self._pinned_for(handler)

    def connect_after(self, *args):
        return self._pinned_for(super().connect_after(*args[:1], *handlers.held(self, args[1:])))

    def connect_data(self, *args, **kwargs):
        return self._pinned_for(super().connect_data(*args, **kwargs))

    def connect_object(self, *args):
        return self._pinned_for(super().connect_object(*args))

    def connect_object_after(self, *args):
        return self._pinned_for(super().connect_object_after(*args))

    def disconnect(self, handler):
        """Disconnects a handler by GObject's method.

        Gio.Cancellable's method waits for the end of an abort, so it would never return in a handler of the abort.
        """
        GObject.Object.disconnect(self, handler)

    def _pinned_for(self, handler):
        # If only its own handler refers to a signal that depends on other signals, Python's garbage collector would free both,
        # although the other signals can still abort this one.  So pin () keeps the signal alive for as long as they can.
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
        """The exception with which the signal was aborted, or None."""
        return reasons.to_exception(self.dup_reason())


TaskSignal = override(TaskSignal)
for _class in TaskController, TaskSignal:
    keep_whole(_class)


class SchedulingState(PrioSched.SchedulingState):

    resume_async = called_back(PrioSched.SchedulingState, 'resume_async', 0)

    @staticmethod
    def get_current():
        """Returns the state of the running code, even after an await of asyncio; None outside any task."""
        return get_current_state()


SchedulingState = override(SchedulingState)


class TaskGroup(groups.TaskGroup):

    wait_async = called_back(PrioSched.TaskGroup, 'wait_async', 2, 'drained')


TaskGroup = override(TaskGroup)


class Worker(workers.Worker):
    __doc__ = workers.Worker.__doc__


Worker = override(Worker)


Channel = channels.Channel
