"""Passes reasons of aborts to the library and back.

A reason is any exception.  The library can carry only a GLib.Error, so it gets a GLib.Error with a number as its code,
and this module finds the exception by the number.
"""

import asyncio
import functools
import itertools
import operator
import sys
import weakref

from gi.module import get_introspection_module
from gi.repository import Gio, GLib

PrioSched = get_introspection_module('PrioSched')

_DOMAIN = 'prio-sched-python-exception'
_reasons = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


_IO_DOMAIN = GLib.quark_to_string(Gio.io_error_quark())


class AbortError(GLib.Error):
    """Reports an abort without a reason.  It is also a GLib.Error, with Gio.IOErrorEnum.CANCELLED.

    A program can derive classes from AbortError, and use their instances as reasons.
    """

    def __init__(self, message='Operation was cancelled'):
        super().__init__(message, _IO_DOMAIN, Gio.IOErrorEnum.CANCELLED)


def is_of_library(reason):
    """Returns whether the library can carry reason itself: a GLib.Error or an AbortError, but not an instance of a derived class."""
    return reason.__class__ in (GLib.Error, AbortError)


def check(reason):
    """Raises TypeError if reason is neither None nor an exception that an await can raise."""
    if reason is not None and not isinstance(reason, BaseException):
        raise TypeError(f'a reason is an exception, not {reason!r}')
    if isinstance(reason, (StopIteration, StopAsyncIteration)):
        raise TypeError(f'{reason!r} cannot be a reason: where a generator or "async for" awaits, it would be their end')


class _Reason:
    """Holds an exception that the library cannot carry, and a GLib.Error that stands for it, with a number as its code."""

    def __init__(self, exception):
        self.exception = exception
        self.error = GLib.Error.new_literal(GLib.quark_from_string(_DOMAIN), str(exception), next(_numbers))
        _reasons[self.error.code] = self


class _Box:
    """Keeps the reason and the handlers of a signal once the controller has gone.  The signal and all signals that
    depend on it refer to this object.
    """

    __slots__ = ('reason', 'handlers', 'connected', 'sources')

    def __init__(self, sources=()):
        self.reason = None
        self.handlers = self.connected = None
        self.sources = sources


def _references(keeper, controller):
    """Returns three numbers of references: to the controller's signal in the library, to the signal in Python, and to the signal's box.

    References to the box from the controller's own objects do not count.
    """
    signal, box = controller.get_signal(), keeper.box
    n_own = hasattr(controller, '_reason') + hasattr(controller, '_handlers')
    return signal.__grefcount__, sys.getrefcount(signal), sys.getrefcount(box) - n_own


@functools.lru_cache(maxsize=None)
def references_if_alone():
    """Returns the numbers of _references () for a signal to which only its controller refers.

    They depend on the versions of Python and PyGObject, so they are measured.
    """
    controller = PrioSched.TaskController()
    controller._reason = _Keeper(_Reason(None), box_of(controller.get_signal()), controller)
    return _references(controller._reason, controller)


def is_used_by_others(keeper, controller):
    """Returns whether other code than the controller refers to the controller's signal, or a dependent signal refers to that signal's box."""
    return any(map(operator.gt, _references(keeper, controller), references_if_alone()))


class _Keeper:
    """Holds the reason of an abort for a controller.

    The reason may refer to the controller.  Python's garbage collector has to see such a cycle.  It sees the references of a
    controller, but not of a signal, which the library holds.  So the controller holds the reason, and not the signal.
    """

    __slots__ = ('reason', 'box', 'controller')

    def __init__(self, reason, box, controller):
        self.reason = reason
        self.box = box
        self.controller = controller.weak_ref()  # a weak reference of GObject, which works even while the collector runs

    def __del__(self):
        _forget_tracebacks(self.reason.exception)
        controller = self.controller()
        if getattr(controller, '_reason', None) is not self:
            # The controller has gone, and the reason does not refer to the controller, so the signal's box can hold the reason.
            self.box.reason = self.reason
        elif is_used_by_others(self, controller):
            # If the reason refers to the controller, the collector has to look again before either is freed, so both stay alive.
            controller._reason = _Keeper(self.reason, self.box, controller)
        else:
            return
        # The collector has cleared the weak reference to the reason, so it is set again.
        _reasons[self.reason.error.code] = self.reason


def _forget_tracebacks(exception):
    seen = set()
    while exception is not None and id(exception) not in seen:
        seen.add(id(exception))
        exception.__traceback__ = None
        exception = exception.__cause__ or exception.__context__


def without_own_frames(error):
    """Removes the frames of the file that has caught error from the beginning of its traceback, if other frames follow.  Returns error."""
    traceback = error.__traceback__
    own = traceback.tb_frame.f_globals
    while traceback.tb_next is not None and traceback.tb_frame.f_globals is own:
        traceback = traceback.tb_next
    return error.with_traceback(traceback)


def box_of(signal):
    try:
        return signal._box
    except AttributeError:
        signal._box = _Box()
        return signal._box


def keep_reasons_of(dependent, signals):
    """Keeps the reasons of signals, and signals of new_timeout () among them, alive as long as dependent, a signal that depends on them."""
    sources = [signal for signal in signals if isinstance(signal, PrioSched.TaskSignal)]
    if sources:
        dependent._box = _Box([box_of(signal) for signal in sources])
    # The library refers to the signals weakly, and a timeout signal without references would be freed before it aborts dependent.
    timeouts = [signal for signal in sources if hasattr(signal, '_timeouts')]
    if timeouts:
        dependent._timeouts = timeouts


def to_error(exception, controller, signal):
    """Returns the GLib.Error that represents exception, the reason of an abort by controller."""
    references_if_alone()  # called now, because the first call must not happen while the collector runs
    reason = _Reason(exception)
    controller._reason = _Keeper(reason, box_of(signal), controller)
    return reason.error


def to_error_of(exception, signal):
    """Returns the GLib.Error that represents exception, and makes signal keep exception as the reason of its abort."""
    reason = _Reason(exception)
    box_of(signal).reason = reason
    return reason.error


def keep(exception, make):
    """Calls make (error), which returns an aborted signal, and makes the signal keep exception as the reason."""
    reason = _Reason(exception)
    signal = make(reason.error)
    _forget_tracebacks(exception)
    box_of(signal).reason = reason
    return signal


def to_exception(error):
    """Returns the exception for error, which is the reason of an abort in the library, or None for None.

    This is the exception that error stands for, an AbortError for a plain cancellation, or else error itself.
    """
    if error is None:
        return None
    if error.domain == _IO_DOMAIN and error.code == Gio.IOErrorEnum.CANCELLED:
        return AbortError(error.message)
    reason = _reasons.get(error.code) if error.domain == _DOMAIN else None
    return reason.exception if reason is not None else error


def is_aborted(signal):
    """Returns whether signal is aborted.

    For a TaskSignal, this calls is_aborted (): Gio.Cancellable.is_cancelled () reports the abort of a dependent signal a little later.
    """
    return signal.is_aborted() if isinstance(signal, PrioSched.TaskSignal) else signal.is_cancelled()


def reason_of(signal):
    """Returns the exception of the tasks of signal, which has been aborted: the reason, or an AbortError."""
    reason = to_exception(signal.dup_reason()) if isinstance(signal, PrioSched.TaskSignal) else None
    return reason if reason is not None else AbortError()


def _is_same(error, reason):
    """Returns whether both are the same reason, for which the library may have created two objects."""
    return error is reason or (isinstance(error, GLib.Error) and isinstance(reason, GLib.Error) and
                               (error.domain, error.code) == (reason.domain, reason.code))


def is_reason_of(error, signal):
    """Returns whether error is the reason for which signal has been aborted."""
    return signal is not None and is_aborted(signal) and _is_same(error, reason_of(signal))


def cancelled_for(reason):
    """Returns a CancelledError that reports an abort for reason."""
    error = asyncio.CancelledError(str(reason))
    error.__cause__ = reason
    return error


def members_of(error):
    """Returns the exceptions in error if it is an exception group, of Python or of a library such as anyio before version 4; otherwise ()."""
    members = getattr(error, 'exceptions', None)
    return members if isinstance(members, (list, tuple)) else ()


def tells_of(error, reason, is_told):
    """Returns whether error is reason, a CancelledError that reason caused, or a group of only these.

    If is_told, the abort reached the raising code before any other cancellation.  Then every CancelledError counts as
    caused by reason, because a library may catch one CancelledError and raise another.
    """
    members = members_of(error)
    if members:
        return all(tells_of(member, reason, is_told) for member in members)
    seen = set()
    if isinstance(error, asyncio.CancelledError):
        if is_told:
            return True
        while error is not None and not _is_same(error, reason) and id(error) not in seen:
            seen.add(id(error))
            error = error.__cause__ or error.__context__
    return _is_same(error, reason)
