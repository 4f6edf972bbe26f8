"""Implements the results of tasks, which coroutines of PrioSched and of asyncio can await."""

import asyncio
import collections
import contextvars
import functools
import logging
import threading
import time
import types

from gi.module import get_introspection_module
from gi.repository import GLib

from ..arguments import UNSET, check_seconds
from .forgotten import warn_of_forgotten
from .contexts import call_in, check_loop, get_running_loop, is_run_here, local, loop_of, own_context, run_in_turn
from .._native import FutureBase, call_outside, running
from .reasons import cancelled_for, is_reason_of

PrioSched = get_introspection_module('PrioSched')

CancelledError = asyncio.CancelledError
_get_ident = threading.get_ident
_copy_context = contextvars.copy_context
_logger = logging.getLogger('PrioSched')

# The State of the task to which the current contextvars.Context belongs; None outside any task, and if only the library
# knows the state.
own_state = contextvars.ContextVar('PrioSched.state', default=None)
# The State that Scheduler.wrap_callback () gives to a callback, whatever code calls the callback.
borrowed_state = contextvars.ContextVar('PrioSched.borrowed', default=None)


def cancel_in_turn(run, msg, passed_on=None):
    """Cancels run, which is a Driver or an asyncio task.

    Within cancel_in_turn () in the same thread, this leaves run to the outer call, so that the calls for a chain of awaiting
    tasks do not nest.  passed_on maps each cancelled run to the future that it awaited, so that a task that several runs
    await is cancelled once.  In a circle of tasks that await each other, none would
    end, so CancelledError is raised at the await of one.
    """
    cancels = local.cancels
    if cancels is not None:
        cancels.append((run, msg))
        return

    local.cancels = cancels = collections.deque(((run, msg),))
    passed_on = {} if passed_on is None else passed_on
    again = {}
    try:
        while cancels:
            run, msg = cancels.popleft()
            waits_for = awaited_by(run)
            if waits_for is not None and passed_on.get(run) is waits_for:
                again[run] = msg
            else:
                passed_on[run] = waits_for
                run.cancel_coroutine(msg)
    finally:
        local.cancels = None
    for run in _in_circles(again):
        if awaited_by(run) is passed_on.get(run):
            msg = again.get(run)
            run.throw_in(CancelledError() if msg is None else CancelledError(msg))


def awaited_by(run):
    """Returns the future that a Driver or an asyncio task awaits, or None."""
    return run._fut_waiter if isinstance(run, asyncio.Task) else run.waits_for


def _cancelled_by(run):
    """Returns the runs of the posted tasks that are cancelled with run, because run awaits them directly or through asyncio.

    A run is a Driver or an asyncio task.
    """
    runs = []
    futures = [awaited_by(run)]
    while futures:
        future = futures.pop()
        if isinstance(future, PostedTask):
            if hasattr(future._callback, 'cancel_coroutine'):
                runs.append(future._callback)
        elif isinstance(future, asyncio.Task):
            futures.append(future._fut_waiter)
        else:
            futures += getattr(future, '_children', ())  # the futures that gather () waits for
    return runs


def _in_circles(runs):
    """Searches for circles of runs, which are Drivers or asyncio tasks, that await each other, from each of runs on.

    Returns one run of each circle: the run that the search reaches twice.
    """
    found = []
    is_below = {}  # by run: True while the search follows the futures that the run awaits, and False afterwards
    for first in runs:
        path = [] if first in is_below else [(first, _cancelled_by(first))]
        is_below.setdefault(first, True)
        while path:
            run, following = path[-1]
            if not following:
                path.pop()
                is_below[run] = False
                continue
            run = following.pop()
            if run not in is_below:
                is_below[run] = True
                path.append((run, _cancelled_by(run)))
            elif is_below[run]:
                found.append(run)
    return found


# Held while any thread adds a waiter or takes waiters.  It is reentrant, because the garbage collector may run meanwhile, and
# finalizers may add or take waiters, too.
_waiting_lock = threading.RLock()


class _Raise:
    """Takes the place of a future that wakes up an asyncio task, so that the task raises an exception."""

    def __init__(self, exception):
        self._exception = exception

    def result(self):
        raise self._exception


class _ThreadWaiter:
    """Wakes a thread that waits in Future.result ().  The future calls its methods as it calls a Driver's."""

    def __init__(self):
        self.done = threading.Event()

    def __call__(self):
        self.done.set()

    def go_on_after(self, _):
        self.done.set()

    go_on_from = go_on_after

    def own_main_context(self):
        return None


class Future(FutureBase):
    """Represents the result of a task, which coroutines of PrioSched and of asyncio can await.

    It has the methods of asyncio.Future that code needs to wait for a result.
    """

    __slots__ = ('__weakref__',)
    __class_getitem__ = classmethod(types.GenericAlias)

    def _loop_elsewhere(self):
        # get_loop () calls this if no loop is running, as in loop.run_until_complete (future).
        return loop_of(own_context()) or asyncio.get_event_loop_policy().get_event_loop()

    def done(self):
        """Returns whether there is a result or an exception."""
        return self._done

    def cancelled(self):
        """Returns whether the future was cancelled.  Awaiting a cancelled future raises asyncio.CancelledError."""
        return self._done and isinstance(self._exception, CancelledError)

    def _wait_for_result(self, timeout):
        check_seconds(timeout)
        if not self._is_own_thread():
            self._wait_in_thread(timeout)

    def _is_own_thread(self):
        """Returns whether this thread must not block until the future is done.

        This is so if the thread runs a loop of asyncio or the task's main context, or if there is no scheduler.
        """
        if get_running_loop() is not None:
            return True
        table = self._table()
        scheduler = table.scheduler() if table is not None else None
        return scheduler is None or is_run_here(scheduler.get_context())

    def _wait_in_thread(self, timeout):
        waiter = _ThreadWaiter()
        self._add(waiter, None, None, None)
        if not self._done and not waiter.done.wait(timeout):
            self.remove_done_callback(waiter)
            raise TimeoutError(f'{self!r} is not done in time')

    def _has_no_result(self):
        raise asyncio.InvalidStateError(f'{self!r} has not completed')

    def exception(self):
        """Returns the exception or None.  Raises asyncio.CancelledError if the future was cancelled, and InvalidStateError if it is not done."""
        if not self._done:
            self._has_no_result()
        self._retrieved = True
        if isinstance(self._exception, CancelledError):
            raise self._exception
        return self._exception

    def cancel(self, msg=None):
        """Cancels the future, as asyncio.Future.cancel() does.  Returns False if the future was done already."""
        if self._done:
            return False
        self._settle_later(CancelledError() if msg is None else CancelledError(msg))
        return True

    # asyncio.gather () uses these two members of a cancelled future.

    def _make_cancelled_error(self):
        return self._exception

    @property
    def _cancel_message(self):
        return self._exception.args[0] if self.cancelled() and self._exception.args else None

    def _add_done_callback(self, callback, context):
        loop = get_running_loop()
        if loop is not None and not self._done:
            check_loop(loop, self._context_id)
        if context is None:
            context = _copy_context()
        if self._done:
            self._call_later(loop, own_context() if loop is None else None, callback, context)
            return
        if self._waiter is None and self._callbacks is None and loop is not None and is_wakeup(callback):
            self._waiter, self._waiter_context = callback, context
        else:
            self._add(callback, context, loop, None if loop is not None else (_get_ident(), own_context()))
        self._check_waiting()

    def _is_left(self):
        """Called when an abort has ended a coroutine's wait for this future.  Subclasses override this empty method."""

    def _check_waiting(self):
        """Calls a new waiter if another thread has settled the future while the waiter was added."""
        if self._done:
            self._notify_later()

    def remove_done_callback(self, callback):
        """Removes all instances of callback.  Returns the number of removed instances."""
        n_removed = 0
        if self._waiter is not None and self._waiter == callback:
            self._waiter = self._waiter_context = None
            n_removed = 1
        before = self._callbacks or []
        after = [entry for entry in before if entry[0] != callback]
        self._callbacks = after or None
        return n_removed + len(before) - len(after)

    def _table(self):
        state = self._posted_with
        return state.table if state is not None else None

    def _add(self, *entry):
        with _waiting_lock:
            if self._callbacks is None:
                self._callbacks = []
            self._callbacks.append(entry)

    def _wait(self, step):
        """Makes the future call step (), of a Driver or a similar waiter, when it is done.  A Driver then continues on its own thread."""
        if self._waiter is None and self._callbacks is None:
            self._waiter = step
        else:
            self._add(step, None, None, None)
        self._check_waiting()

    def _take_wakeup(self, task):
        """Removes the callback that would wake up task, an asyncio task.  Returns the callback and its context, or None if there is none."""
        entries = [(self._waiter, self._waiter_context)] + [entry[:2] for entry in self._callbacks or ()]
        for callback, context in entries:
            if callback is not None and getattr(callback, '__self__', None) is task:
                self.remove_done_callback(callback)
                return callback, context
        return None

    def _settle(self, value=None, exception=None):
        """Settles the future, unless it is done, and notifies its waiters.

        Waiters that may run here are called in turn, and the others later, on their threads.  After KeyboardInterrupt or
        SystemExit, all are called later.
        """
        if not self._done:
            if isinstance(exception, StopIteration):
                stop, exception = exception, RuntimeError('StopIteration cannot be raised into a coroutine')
                exception.__cause__ = stop
            self._value = value
            self._exception = exception
            self._done = True  # set last, because other threads read the result as soon as this is True
            if exception is not None and self._is_abort():
                # An abort is not reported as an exception that was never retrieved.  This is noted now: the collector may clear the reason later.
                self._aborted = self._retrieved = True
            self._leave_signal()
            if self._waiter is None and self._callbacks is None:
                return
            if isinstance(exception, (KeyboardInterrupt, SystemExit)):
                self._notify_later()
            else:
                self._notify()

    def _leave_signal(self):
        """Drops the signal of a task that has ended.

        The signal's handlers may refer to objects that own this future, and the collector would not see such a cycle.  If
        is_followed, a waiter still needs the state with the signal.
        """
        state = self._posted_with
        if state is not None and state.table is not None and not state.is_followed:
            state.table.take_signal(self)

    def _settle_later(self, exception):
        """Settles the future with exception, on any thread, even while code of the program runs: waiters are called later, on their threads."""
        self._exception = exception
        self._done = self._retrieved = True
        here = []
        for entry in self._take_waiting():
            callback, context, loop, thread = entry
            if context is None:
                callback.go_on_after(self)
            elif self._is_of(thread[1] if loop is None else getattr(loop, '_context', None)):
                here.append(entry)
            else:
                self._call_later(loop, thread and thread[1], callback, context)

        table = self._table()
        if here and (table is None or not table.call_soon(lambda: self._call_all(here))):
            for callback, context, loop, thread in here:
                self._call_later(loop, thread and thread[1], callback, context)

    def _notify_later(self):
        """Calls the waiters later.  So after an interrupt, run () ends first, and cancels the waiting coroutines."""
        for callback, context, loop, thread in self._take_waiting():
            if context is None:
                call_in(callback.own_main_context() or own_context(), lambda driver=callback: driver.go_on_from(self))
            else:
                self._call_later(loop, thread and thread[1], callback, context)

    def _is_of(self, main_context):
        """Returns whether main_context, if it is not None, is the main context that runs the task."""
        return main_context is not None and hash(main_context) == self._context_id

    def _take_waiting(self):
        """Removes and returns the waiters.  The thread that has removed a waiter calls it."""
        with _waiting_lock:
            waiter, context, callbacks = self._waiter, self._waiter_context, self._callbacks
            self._waiter = self._waiter_context = self._callbacks = None
        waiting = list(callbacks or ())
        if waiter is not None:
            loop = waiter.__self__.get_loop() if context is not None else None
            waiting.insert(0, (waiter, context, loop, None))
        return waiting

    def _notify(self):
        self._call_all(self._take_waiting())

    def _raises(self, task, context):
        """Returns the exception that the future raises in task, an asyncio task that awaits it in context.

        An asyncio task that a task of PrioSched has created gets the abort of that task as a cancellation.  The abort is
        first reported to the task of PrioSched, because a TaskGroup of asyncio ignores that a child was cancelled.
        """
        error = self._exception
        if not isinstance(task, asyncio.Task) or hasattr(task, 'coroutine_ended') or isinstance(error, CancelledError):
            return error
        own = context.get(own_state)
        if own is None or context.get(borrowed_state) is own or not is_reason_of(error, own.signal):
            return error
        watch = getattr(own.signal, '_watch', None)
        if watch is not None:
            watch.tell(own.table)
        return cancelled_for(error)

    def _raises_here(self):
        """Returns the exception for the code that awaits the future now: the future's exception, or a CancelledError in its place."""
        loop = get_running_loop()
        task = asyncio.current_task(loop) if loop is not None else None
        return self._raises(task, _copy_context()) if task is not None else self._exception

    def _as_seen_by(self, callback, context):
        """Returns the future to pass to callback: this future or, if callback wakes up an asyncio task that is to raise another error, a _Raise."""
        if self._exception is None or context is None:
            return self
        error = self._raises(getattr(callback, '__self__', None), context)
        return self if error is self._exception else raising(error)

    def _call_all(self, waiting):
        """Calls each waiter in the waiter's own state, and not in the state of the code that settles the future."""
        if waiting:
            call_outside(self._call_each, waiting)

    def _call_each(self, waiting):
        for callback, context, loop, thread in waiting:
            if context is None:
                run_in_turn(callback)
            elif loop is None and thread[0] == _get_ident():
                run_in_turn(functools.partial(context.run, callback, self))
            elif loop is not None and is_wakeup(callback) and loop is direct_loop():
                seen = self._as_seen_by(callback, context)
                run_in_turn(functools.partial(wake_up, callback, context, seen))
            else:
                self._call_later(loop, thread and thread[1], callback, context)
        waiting.clear()
        callback = context = None  # a traceback may lead to this frame, which should not keep the context

    def _wake_up_in_debug_mode(self, callback):
        context, self._waiter_context = self._waiter_context, None
        wake_up(callback, context, self)

    def _call_later(self, loop, main_context, callback, context):
        seen = self._as_seen_by(callback, context)
        if loop is None:
            call_in(main_context, lambda: context.run(callback, self))
        elif loop is get_running_loop():
            loop.call_soon(callback, seen, context=context)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(callback, seen, context=context)

    def _check_await(self, loop):
        check_loop(loop, self._context_id)
        if self._callback is not None and self._callback is asyncio.current_task(loop):
            raise RuntimeError(f'{self!r} cannot await itself')

    def _is_abort(self):
        """Returns whether the future's exception is a cancellation, or the reason for which its signal was aborted."""
        state = self._posted_with
        return isinstance(self._exception, CancelledError) or (state is not None and is_reason_of(self._exception, state.signal))

    def _never_retrieved(self):
        if not self._is_abort():
            _logger.error('The exception of %r was never retrieved', self, exc_info=self._exception)

    def _outcome(self):
        if not self._done:
            return 'pending'
        if self._exception is not None:
            return 'cancelled' if self.cancelled() else f'exception={self._exception!r}'
        return f'result={self._value!r}'

    def __repr__(self):
        return f'<PrioSched.{type(self).__name__}{self._name_in_repr()} {self._outcome()}>'

    def _name_in_repr(self):
        return f' {self.name!r}' if self.name is not None else ''


class _Awaited(Future):
    """Represents a wait, and warns if the wait is over, or the program ends, before any code has awaited it."""

    __slots__ = ('_made_at',)  # a warning with the place of the call; set in development

    @property
    def is_forgotten(self):
        """Whether no code has awaited the wait, or asked whether it is over."""
        return not self._retrieved and self._waiter is None and self._callbacks is None

    def _never_retrieved(self):
        if self._exception is None:
            warn_of_forgotten(self)
        else:
            super()._never_retrieved()

    def _wait(self, step):
        self._retrieved = True
        super()._wait(step)

    def done(self):
        self._retrieved = True
        return super().done()


class Continuation(_Awaited):
    """Represents the result of yield_ () or sleep (), or an internal call that waits for its turn."""

    __slots__ = ()

    @classmethod
    def calling(cls, call):
        """Returns a continuation that calls call () in its turn, and that no code awaits."""
        continuation = cls()
        continuation._waiter = call
        continuation._retrieved = True
        return continuation

    def cancel(self, msg=None):
        self._retrieved = True
        if self._done:
            return False
        table = self._table()
        if table is not None:
            table.dequeue(self)
        return super().cancel(msg)


class PostedTask(Future):
    """Represents a posted task, which can be awaited, cancelled and inspected like an asyncio.Task."""

    __slots__ = ()

    def __init__(self):
        raise TypeError('tasks are made by post_task()')

    @property
    def state(self):
        """The PrioSched.TaskState of the task."""
        if not self._done:
            return PrioSched.TaskState.RUNNING if self._context is None else PrioSched.TaskState.PENDING
        if self._exception is None:
            return PrioSched.TaskState.FULFILLED
        return PrioSched.TaskState.ABORTED if self._aborted or self._is_abort() else PrioSched.TaskState.FAILED

    @property
    def priority(self):
        """The current PrioSched.TaskPriority."""
        state = self._posted_with
        return state.signal.priority if state.priority == UNSET else PrioSched.TaskPriority(state.priority)

    def get_name(self):
        return self.name

    def cancel(self, msg=None):
        """Cancels this task alone, as asyncio.Task.cancel() does.

        A task that has not started will not run.  A coroutine that has started gets asyncio.CancelledError at its
        await, and its return value or exception is the result.  A running function continues, and its result is dropped.
        Code that awaits the task continues at once if another thread runs its function, or no thread runs its main context.
        Returns False if the task, or its coroutine, had ended already.
        """
        if self._done:
            return False
        callback = self._callback
        if self._context is not None:
            self._aborted = True
            self._callback = self._context = None
            self._posted_with.table.dequeue(self)
            super().cancel(msg)
            self._leave_signal()
        elif hasattr(callback, 'cancel_coroutine'):
            if callback.ended or (isinstance(callback, asyncio.Task) and callback.done()):
                return False
            callback.note_cancellation()
            cancel_in_turn(callback, msg)
            if self._is_out_of_reach():
                super().cancel(msg)
        else:
            # The task's function is running.
            self._aborted = True
            if self._is_in_another_thread():
                super().cancel(msg)
        return True

    def _main_context(self):
        scheduler = self._posted_with.table.scheduler()
        return scheduler.get_context() if scheduler is not None else None

    def _is_in_another_thread(self):
        """Returns whether the task's function is running in another thread."""
        context = self._main_context()
        return context is not None and not context.is_owner()

    def _is_out_of_reach(self):
        """Returns whether no thread runs the task's main context, while this thread runs another main context."""
        context, loop = self._main_context(), get_running_loop()
        here = own_context() if loop is None else getattr(loop, '_context', None)
        if context is None or context.is_owner() or self._is_of(here) or (loop is None and not here.is_owner()):
            return False
        if not context.acquire():
            return False
        context.release()
        return True

    def _abort(self, reason):
        # An abort is not reported as an exception that was never retrieved.
        self._aborted = self._retrieved = True
        self._callback = self._context = None
        self._settle(None, reason)

    def __repr__(self):
        state = self.state.value_nick
        outcome = f' {self._outcome()}' if self._done else ''
        return f'<PrioSched.PostedTask{self._name_in_repr()} {self.priority.value_nick} {state}{outcome}>'


class Wait(_Awaited, PostedTask):
    """Represents a wait for tasks of a group."""

    __slots__ = ('has_given_up',)  # set to True if the signal of the wait has ended it

    def _is_abort(self):
        return hasattr(self, 'has_given_up') or super()._is_abort()

    def _is_left(self):
        # Without other waiters, no code wants the result any more, so the wait is cancelled, which also keeps it from being reported.
        if self._callbacks is None:
            self.cancel()

    def cancel(self, msg=None):
        self._retrieved = True
        return super().cancel(msg)


def is_wakeup(callback):
    """Returns whether callback wakes up an asyncio task."""
    return isinstance(getattr(callback, '__self__', None), asyncio.Task)


def direct_loop():
    """Returns the running loop of asyncio if its tasks may be woken up here and now, because none of them is running; otherwise None."""
    if running.depth == 0 or running.depth != GLib.main_depth():
        return None
    loop = get_running_loop()
    return loop if loop is not None and asyncio.current_task(loop) is None else None


def wake_up(callback, context, future):
    """Wakes up an asyncio task, by calling callback (future) in context.  In asyncio's debug mode, logs steps that take too long."""
    task = callback.__self__
    loop, begun = task.get_loop(), time.monotonic()
    outer, running.context = running.context, context
    try:
        context.run(callback, future)
    finally:
        running.context = outer
        took = time.monotonic() - begun
        if loop.get_debug() and took >= loop.slow_callback_duration:
            asyncio.log.logger.warning('Executing %r took %.3f seconds', task, took)
        woken(task)
        if isinstance(future, (_Raise, Continuation)) and future._exception is not None:
            # Avoids a reference cycle: the traceback refers to frames that refer to the exception.  No other task waits for future.
            future._exception.__traceback__ = None
        callback = context = outer = task = None  # a traceback may lead to this frame, which should not keep the contexts


def woken(task):
    """Passes on the result of an asyncio task that runs a coroutine of this library, if the task has ended when this library woke it up."""
    if hasattr(task, 'coroutine_ended') and task.done():
        task.coroutine_ended()


def raising(exception):
    """Returns an object to pass to wake_up () in place of a future, so that the awaiting task raises exception."""
    return _Raise(exception)
