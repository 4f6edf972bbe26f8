"""Delivers an abort to the coroutines that run with a signal, each at its current await."""

import collections
import threading
import time

from gi.repository import GObject

from ..futures.contexts import SLICE, get_running_loop, local
from ..futures.future import CancelledError, Continuation, Future
from ..futures.reasons import cancelled_for, is_aborted, is_reason_of, members_of, reason_of, tells_of

# Guards the attribute _watch of signals, and the members of watches: the tasks of a signal may run in several threads.
_watches_lock = threading.RLock()


def _call_in_passes(loop, step, n=16):
    """Calls step () up to n times now, and again in each pass of asyncio's loop, until step () returns False.

    A pass runs all ready callbacks, and so continues the coroutines that step () has woken up.  n is doubled after a
    short pass, and halved after a long one.
    """
    begun = time.monotonic()

    def go_on():
        is_short = time.monotonic() - begun < SLICE / 2
        _call_in_passes(loop, step, n * 2 if is_short else max(n // 2, 1))

    goes_on = True
    try:
        for _ in range(n):
            goes_on = step()
            if not goes_on:
                break
    finally:
        if goes_on and not loop.is_closed():
            loop.call_soon(go_on)


class _Watch:
    """Reports the abort of a signal, which may come from any thread, to the coroutines that run with the signal."""

    def __init__(self, signal):
        # The members, which are Abortables, by table.  They keep the order in which they started, and get an abort in that order,
        # because asyncio finds the first of many waiters fastest.
        self.members = {}
        self.told = set()  # the tables to whose tasks tell () has reported the abort, perhaps before `cancelled` was emitted
        self.aborted = False
        self.handler = GObject.Object.connect(signal, 'cancelled', self._cancelled)

    def _cancelled(self, signal):
        self.aborted = True
        passed_on = {}  # shared by all tables, so that a task that many coroutines await is cancelled once
        for table in tuple(self.members):
            table.call_soon(lambda table=table: self._tell_in_slices(table, passed_on))

    def _tell_in_slices(self, table, passed_on):
        end = time.monotonic() + SLICE  # set before the copy below, because the copy of many members takes time, too
        members = collections.deque(self.members.get(table, ()))

        def tell_next():
            if members:
                members.popleft().abort(passed_on)
            return bool(members)
        loop = get_running_loop()
        if loop is None:
            table.in_slices(tell_next, end)
        else:
            _call_in_passes(loop, tell_next)

    def tell(self, table):
        """Reports the abort at once to the tasks of table, which this thread runs.  Later calls do nothing."""
        if table not in self.told:
            self.told.add(table)
            for member in tuple(self.members.get(table, ())):
                member.abort()

    @staticmethod
    def add(member):
        signal = member.state.signal
        with _watches_lock:
            watch = getattr(signal, '_watch', None)
            if watch is None:
                watch = signal._watch = _Watch(signal)
            watch.members.setdefault(member.state.table, {})[member] = None
        return watch

    def remove(self, member):
        signal = member.state.signal
        with _watches_lock:
            of_table = self.members.get(member.state.table, {})
            of_table.pop(member, None)
            if not of_table:
                self.members.pop(member.state.table, None)
            is_unused = not self.members and getattr(signal, '_watch', None) is self
            if is_unused:
                del signal._watch
        if is_unused:
            GObject.Object.disconnect(signal, self.handler)


def told_at(waits_for, reason):
    """Returns the exception that a coroutine gets at its await of waits_for, for an abort with reason.

    At a future of this library, this is the reason.  At another future, it is a CancelledError, because asyncio, and
    libraries built on it, take no other exception for a cancellation.
    """
    if not isinstance(waits_for, Future):
        return cancelled_for(reason)
    reason.__traceback__ = None  # drops the traceback of another coroutine that got the reason earlier
    return reason


class Abortable:
    """Base class of the objects that run a coroutine with a signal, and deliver an abort at the coroutine's current await.

    The coroutine awaits the future waits_for.  It gets the abort once: from a yield that the library rejects, or at another
    await, where the subclass delivers it.
    """

    state = None        # the state that the coroutine was posted with
    coroutine = None
    waits_for = None
    watch = None
    told = False        # whether the abort has reached the coroutine
    told_first = False  # whether the abort reached the coroutine while no other cancellation was pending
    is_cancelled_later = False  # whether the task was cancelled after the abort, while the coroutine cleaned up

    def hear(self):
        """Notes that the abort has reached the coroutine."""
        self.told = True
        self.told_first = not self.is_to_be_cancelled()

    def note_cancellation(self):
        """Notes that the task is being cancelled, by its cancel () or by code that awaits it."""
        self.is_cancelled_later = self.told

    def start_watching(self):
        if self.state is not None and self.state.signal is not None:
            self.watch = _Watch.add(self)
            if self.state.signal.is_cancelled():
                self.watch.aborted = True
                self.abort()

    def stop_watching(self):
        if self.watch is not None:
            self.watch.remove(self)
            self.watch = None

    def is_yielding(self, waits_for):
        """Returns whether the coroutine waits in a yield at which this class delivers no abort.

        Either the library rejects the yield, or the yield has options, which may have given it another signal.
        """
        if waits_for.__class__ is not Continuation:
            return False
        state = waits_for._posted_with
        return state is None or state.signal is self.state.signal or state.is_given

    def notice(self):
        """Calls hear () if the coroutine is about to get the abort as the exception of the yield that it awaits."""
        waits_for = self.waits_for
        if waits_for.__class__ is Continuation and is_reason_of(waits_for._exception, self.state.signal):
            self.hear()

    def is_to_be_cancelled(self):
        """Returns whether the coroutine has been cancelled, and has not got the CancelledError yet."""
        raise NotImplementedError

    def ends_by_abort(self):
        """Returns whether the CancelledError with which the coroutine ends comes from the abort."""
        return self.told_first

    def outcome_of(self, error):
        """Returns the exception for the task after its coroutine has ended with error: the reason if the abort caused error, or else error."""
        if self.is_cancelled_later and isinstance(error, CancelledError):
            return error
        signal = self.state.signal if error is not None and self.state is not None else None
        if signal is not None and (isinstance(error, CancelledError) or members_of(error)) and is_aborted(signal):
            reason = reason_of(signal)
            return reason if tells_of(error, reason, self.ends_by_abort()) else error
        return error

    def take_abort(self):
        """Returns the exception for an abort that came before the coroutine has got the outcome that it awaits, or None.

        As with a cancellation in asyncio, the coroutine does not get the outcome.
        """
        waits_for, watch = self.waits_for, self.watch
        if waits_for is None or self.told or (watch is not None and not watch.aborted):
            return None
        signal = self.state.signal if self.state is not None else None
        if signal is None or self.is_yielding(waits_for) or (watch is None and not is_aborted(signal)):
            return None
        self.hear()
        if isinstance(waits_for, Future):
            waits_for._is_left()
        return told_at(waits_for, reason_of(signal))

    def must_be_told(self):
        return self.watch is not None and self.watch.aborted and not self.told and not self.is_yielding(self.waits_for)


def signal_here():
    """Returns the signal of the coroutine that is running a step, or None."""
    abortable = local.abortable
    return None if abortable is None or abortable.state is None else abortable.state.signal


def is_yet_to_be_told():
    """Returns whether the coroutine whose step is running has been aborted, by the step itself or by another thread, and has not
    got the abort yet."""
    signal = signal_here()
    return signal is not None and not local.abortable.told and is_aborted(signal)
