"""Keeps the tasks of a scheduler in a table.

The library knows a task by its number, and runs it through a PrioSched.Runner.  So a task needs no
object or closure in C.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import contextvars
import sys
import time
import types
import weakref

from gi.module import get_introspection_module
from gi.repository import GLib

from ..arguments import NO_EXPIRY, UNSET, name_of
from ..coroutines.drivers import CoroutineTask, Driver, start, to_coroutine
from ..coroutines.steps import in_steps, is_stepped
from ..futures.contexts import SLICE, call_in, interrupt, local
from ..futures.forgotten import note_table
from ..futures.future import CancelledError, Continuation, PostedTask, Wait
from ..futures.future import own_state as _state
from .._native import TableBase, running, set_up
from ..futures.reasons import AbortError, is_aborted, reason_of
from .states import GivenState, State, current_state, expiry_after, own_priority

PrioSched = get_introspection_module('PrioSched')

_USER_VISIBLE = 2
_USER_BLOCKING = 3
_REJECTED = 0
_FEW = 16  # the number of steps that in_slices () makes at least, however long they take
_copy_context = contextvars.copy_context
_end_task = PrioSched.Runner.end

set_up(_state, PostedTask, Continuation, Wait, CoroutineTask, Driver)


def _closed():
    return GLib.Error.new_literal(PrioSched.error_quark(), 'The main context has gone', PrioSched.Error.CLOSED)


class _Entrance:
    """Serves as the function of a runner.  The library drops this object when the scheduler or the main context is freed; this closes the table."""

    def __init__(self, table):
        self.table = table

    def __call__(self, number):
        self.table.has_run = True
        self.table._run(number)

    def __del__(self):
        if sys.is_finalizing():
            return
        outer, running.state = running.state, None
        try:
            self.table._close()
        finally:
            running.state = outer


class Table(TableBase):
    """Keeps the tasks of a scheduler, by their numbers in the library."""

    has_run = False  # whether a main loop has run a task of this table

    @property
    def lends(self):
        """Whether the scheduler's tasks lend their priorities to tasks for which they wait."""
        return self.__class__ is not Table

    def __init__(self, scheduler):
        # A weak reference: the runner's function and the table must not keep the scheduler alive.
        self.scheduler = weakref.ref(scheduler)
        entrance = _Entrance(self)  # kept until this method ends: the library drops it at once if the main context has gone
        self._runner = PrioSched.Runner.new(scheduler, entrance)
        self._runner.set_name_func(lambda number: name_of(self._peek(number)))
        self._post_full = self._runner.post_full
        self._yield_full = self._runner.yield_full
        self._states = tuple(State(self, None, priority) for priority in range(1, 4))  # by priority - 1
        self.context_id = hash(scheduler.get_context())
        super().__init__(self._runner, self._states, self.context_id)
        note_table(self)

    def count_stuck(self):
        """Returns how many tasks wait, if no task of the table has ever run; otherwise 0.

        Returns 0 also on another thread, and after the scheduler has been freed.
        """
        scheduler = self.scheduler()
        if self.has_run or scheduler is None or not self._runner.is_owner():
            return 0
        return PrioSched.Scheduler.count_pending(scheduler)

    def get_first(self):
        """Returns the PostedTask that runs next, or None if there is none or if an entry of another kind is next."""
        entry = self._peek(self._runner.get_first())
        return entry if isinstance(entry, PostedTask) else None

    def dequeue(self, entry):
        """Removes a cancelled entry (a task or a continuation): later, if another thread runs the main context."""
        number = entry._number
        if self._peek(number) is not entry:
            return
        self.drop(entry)
        if self._runner.is_owner():
            self._runner.cancel(number)
        else:
            # When the lambda is called, the number may be free, or belong to another entry, so the lambda checks the number.
            # The call takes turns, so that threads that cancel task after task leave turns to other tasks.
            state = entry._posted_with
            self.call_soon(lambda: self._is_dropped(number) and self._runner.cancel(number),
                           int(state.priority_now()) if state is not None else _USER_VISIBLE, True)

    def check_owner(self, what):
        """Raises RuntimeError, whose message begins with the given words, on a thread that does not run the scheduler's main context.

        There the library would only log a critical message.
        """
        if not self._runner.is_owner():
            raise RuntimeError(f"{what} the thread that runs the scheduler's main context, and this is another one: do it in a task "
                               'that scheduler.post_task () posts there')

    # Running

    def in_slices(self, step, end=None):
        """Calls step () in slices, before other tasks, until step () returns False.  The first slice lasts until end, if given.

        Between two slices the main loop has its turn.
        """
        n, end = 0, end or time.monotonic() + SLICE
        goes_on = True
        try:
            while goes_on and (n < _FEW or time.monotonic() < end):
                goes_on = step()
                n += 1
        finally:
            if goes_on and not self.call_soon(lambda: self.in_slices(step)):
                # No thread runs the main context any more, so there are no more slices.
                while step():
                    pass

    def _take_rejected(self):
        end = time.monotonic() + SLICE
        self._fetch_rejected()
        self.in_slices(self._reject_next, end)

    def _reject_next(self):
        """Rejects the oldest of the entries that the library has dropped.  Returns whether there was such an entry."""
        number = self._next_rejected()
        if number == 0:
            return False
        entry = self._take(number)
        if entry is not None:
            posted_with = entry._posted_with
            reason = posted_with.reason() if posted_with is not None else reason_of(None)
            posted_with = None  # a traceback may refer to this frame, which should not keep the signal
            self._reject_with(entry, reason)
        return True

    def _close(self):
        """Rejects all entries, because no task will run any more."""
        for entry in self._take_all():
            if not entry._done:
                self._reject(entry)
        # If this thread does not own the main context, the context was freed, as when a worker stops, and not only the scheduler.
        # Then no coroutine of that context can continue.
        if not self._runner.is_owner():
            self._end_coroutines()

    def _end_coroutines(self):
        """Raises Error.CLOSED in the started coroutines, and once more if they await again.  Closes coroutines that have not ended by then."""
        for _ in range(2):
            for driver in self._standing():
                driver.throw_in(_closed())
        for driver in self._standing():
            driver.close(_closed())

    def _standing(self):
        return [driver for driver in Driver.all_standing() if driver.waits_for is not None
                and (driver.state.table is self if driver.state is not None else hash(driver.main_context) == self.context_id)]

    _interrupt = staticmethod(interrupt)

    _start = staticmethod(start)

    def _to_coroutine(self, value, task):
        """Returns a coroutine that runs value, an awaitable or a generator, which the callback of task has returned."""
        if isinstance(value, types.AsyncGeneratorType):
            raise TypeError(f'{value!r} is an asynchronous generator, of which nothing would run: post a coroutine function '
                            'that goes through it by async for')
        return in_steps(self, value, task) if is_stepped(value) else to_coroutine(value)

    def _finish(self, task, run, value, exception):
        """Settles task, whose callback has returned value or raised exception, or whose coroutine run runs, if that is not None."""
        told = run is not None and run.told
        if run is not None and run.ended:
            value, exception, run = run.value, run.error, None

        # _end_task () performs the checkpoint, which calls microtasks.  After that, the signal can no longer abort the task, so
        # the task can be settled.
        running.state = running.context = None
        aborted = _end_task()
        if run is not None and run.ended:
            # The checkpoint has settled the future that the coroutine awaited, so the coroutine has ended.
            value, exception, run, told = run.value, run.error, None, True
        if run is None and aborted and not told:
            self._settle_aborted(task)
        elif run is None and task._aborted:
            self._settle_cancelled(task)
        elif run is None:
            task._callback = None
            task._retrieved = isinstance(exception, (KeyboardInterrupt, SystemExit))
            task._settle(value, exception)
        else:
            task._callback = run
            run.attach(task)
        if run is not None:
            run.start_watching()
            if task._aborted:
                # The coroutine has cancelled its own task before its first await.
                task._aborted = False
                run.cancel_coroutine(None)
        if isinstance(exception, (KeyboardInterrupt, SystemExit)):
            raise exception

    def _settle_aborted(self, task):
        """Settles task, whose signal has been aborted while its callback ran."""
        task._abort(reason_of(task._posted_with.signal))

    def _settle_cancelled(self, task):
        """Settles task, which has been cancelled while its callback ran."""
        task._abort(CancelledError())

    def _reject(self, entry, delay=0):
        """Settles entry, a task or a continuation, which the library has not accepted or will not run.

        If entry is a yield in a coroutine that has got the abort already, the yield is posted again, without the signal.
        """
        state = entry._posted_with
        if state is not None and state.signal is not None and is_aborted(state.signal):
            abortable = local.abortable
            own = abortable.state if abortable is not None and entry.__class__ is Continuation and not state.is_given else None
            if own is not None and own.signal is state.signal:
                if abortable.told and self._yield_without_signal(entry, state, delay):
                    return
                abortable.hear()
            reason = reason_of(state.signal)
            if reason.__class__ is AbortError and entry.__class__ is PostedTask and entry._context is not None:
                reason = AbortError('The signal was aborted before this task was posted: make a new controller')
        else:
            reason = _closed()
        self._reject_with(entry, reason)

    def _yield_without_signal(self, future, state, delay):
        """Posts future, a yield that the library has rejected for an abort, again without the signal.

        The coroutine has got the abort, whose reason is raised only once, and may yield while it cleans up.  Returns False if
        the library rejects this, too.
        """
        priority = int(state.priority_now())
        future._posted_with = State(self, None, priority, state.expiry, state.takes_turns)
        number = self._add(future)
        if self._go_on(number, future._posted_with, delay) != _REJECTED:
            return True
        self._take(number)
        future._posted_with = state
        return False

    def _reject_with(self, entry, reason):
        if isinstance(entry, PostedTask):
            entry._abort(reason)
        else:
            entry._settle(None, reason)

    # Posting

    def post_with(self, callback, priority, signal, delay, name):
        priority = own_priority(priority, signal)
        state = self._states[priority - 1] if signal is None else State(self, signal, priority)
        return self._post_in(state, callback, delay, name)

    def post_rare(self, callback, priority, signal, delay, name, timeout, takes_turns):
        """Posts a task that takes turns, or has a timeout, which counts from the end of the delay."""
        priority = own_priority(priority, signal)
        task = new_task(callback, State(self, signal, priority, expiry_after(delay, timeout), takes_turns), name)
        number = self._add(task)
        if self._post_full(number, priority, signal, delay, timeout, takes_turns) == _REJECTED:
            self._reject(self._take(number))
        return task

    def _go_on(self, number, state, delay=0):
        """Posts the continuation with that number, to run in state after delay milliseconds.  Returns a PrioSched.PostResult."""
        expiry = NO_EXPIRY if state.expiry is None else state.expiry
        return self._yield_full(number, state.priority, state.signal, delay, expiry, state.takes_turns)

    def call_soon(self, call, priority=_USER_BLOCKING, takes_turns=False):
        """Calls call () soon, on the thread that runs the main context: before other tasks of the same priority or, with
        takes_turns, behind them.  Returns False if the main context has gone.

        If the scheduler is paused, call () is called all the same, so that awaits of cancelled and aborted tasks end.
        """
        scheduler = self.scheduler()
        if scheduler is not None and scheduler.get_paused():
            call_in(scheduler.get_context(), call)
            return True
        future = Continuation.calling(call)
        number = self._add(future)
        if self._yield_full(number, priority, None, 0, NO_EXPIRY, takes_turns) != _REJECTED:
            return True
        self._take(number)
        return False

    def _yield_elsewhere(self):
        """Yields for yield_now (), if the running code's state is unknown to the library, or another scheduler's."""
        return self._yield_in(self._inherited())

    def _reject_yield(self, future):
        if future._posted_with is None:
            future._posted_with = current_state()
        self._reject(future)

    def _inherited(self):
        """Returns the state that a continuation inherits from the running code.

        Outside any task, and in a task of another scheduler, this is the state of a user-visible task without a signal.
        """
        state = current_state()
        return state if state is not None and state.table in (self, None) else self._states[_USER_VISIBLE - 1]

    def yield_with(self, signal, priority, takes_turns):
        """Yields with options, as an older version of the web's scheduling draft has them.  signal and priority may be 'inherit'."""
        return self._yield_in(self._state_with(signal, priority, GivenState, takes_turns))

    def sleep(self, delay, signal, priority, takes_turns=False):
        """Yields for delay milliseconds.  Without signal, an abort of the task's signal ends the wait, and raises the reason once in the task."""
        state = self._state_with('inherit' if signal is None else signal, priority, State if signal is None else GivenState,
                                 takes_turns)
        return self._yield_in(state, delay)

    def _state_with(self, signal, priority, kind, takes_turns=False):
        inherited = self._inherited()
        if signal == 'inherit':
            signal = inherited.signal
            if priority == UNSET:
                priority = 'inherit'
        if priority == 'inherit':
            priority = inherited.priority
            if priority == UNSET and signal is not inherited.signal:
                # An abort of signal aborts the continuation, which follows the priority of the task's signal.
                signal = PrioSched.TaskSignal.new_any_following([signal] if signal else [], inherited.signal)
        return kind(self, signal, own_priority(priority, signal), inherited.expiry, takes_turns or inherited.takes_turns)

    def _yield_in(self, state, delay=0):
        future = Continuation()
        future._posted_with = state
        number = self._add(future)
        if self._go_on(number, state, delay) == _REJECTED:
            self._reject(self._take(number), delay)
        return future


def new_task(callback, state, name, kind=PostedTask):
    """Returns a task that has not been posted."""
    task = kind.__new__(kind)
    task._callback = callback
    task._context = _copy_context()
    task._posted_with = state
    task.name = name
    return task


