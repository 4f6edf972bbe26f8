"""Groups of tasks of PrioSched in Python, of which only so many run at a time.

The library has the places, the ages and the waits: a task of a group is one of the scheduler's, whose number the group
posts when its turn has come.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio

from gi.module import get_introspection_module
from gi.repository import Gio, GLib

from ..arguments import (MAX_LIMIT, check_name, to_flag, to_callback, to_delay, to_given_priority, to_limit, to_priority,
                         to_scheduler, to_signal, to_timeout)
from ..coroutines.steps import with_progress
from ..futures import reasons
from ..futures.future import PostedTask
from ..names import name_of_callable
from ..tasks import lending
from ..tasks.states import current_state, expiry_after
from ..tasks.table import new_task
from ..tasks.tables import table_of
from .feeds import Feed

PrioSched = get_introspection_module('PrioSched')

_HANDLE_DOMAIN = 'prio-sched-task-handle'
_USER_BLOCKING = 3


class _GroupState(lending.LendingState):
    """The state of a task of a group: it tells the group which of its tasks waits for it."""

    __slots__ = ('group', 'handle')

    def reason(self):
        # A task without an abort was cancelled alone.
        return super().reason() if reasons.is_aborted(self.signal) else asyncio.CancelledError()

    def _new_lender(self, task):
        return self.group.new_lender(self.handle)


class _Place(lending.Follower):
    """Tells the group that a task needs its place no longer."""

    __slots__ = ()

    def __call__(self):
        state = self.future._posted_with
        state.group._task_is_done(state.handle, self.future)
        if not state.table.lends:
            state.table.take_signal(self.future)


class _WaitTask(PostedTask):
    """The task of a wait."""

    __slots__ = ()

    def _is_left(self):
        # Its result is not reported.
        if self._callbacks is None:
            self.cancel()


class _Wait(lending.Follower):
    """A wait for a group, which is a task that the library posts when the wait is over."""

    __slots__ = ('group', 'signal', 'own', 'number', 'returns', 'takes_failures')

    def __init__(self, group, until, signal, returns):
        table, state = group._table, current_state()
        task = new_task(self._finish, table._states[_USER_BLOCKING - 1], None, _WaitTask)
        super().__init__(task)
        self.group, self.signal, self.returns = group, signal, returns
        self.takes_failures = until in (PrioSched.TaskGroupWait.ALL, PrioSched.TaskGroupWait.ANY)
        self.own = both = Gio.Cancellable()
        if signal is not None:
            both = PrioSched.TaskSignal.new_any([signal, self.own], PrioSched.TaskPriority.USER_VISIBLE)
        own, handle = (state.group, state.handle) if isinstance(state, _GroupState) else (None, 0)
        self.number = table._add(task)
        group._waits.add(self)
        group.wait_id(own, handle, until, both, table._runner, self.number)

    def __call__(self):
        # It is over, or nobody waits any more.
        self.own.cancel()
        self.group._forget(self)

    def _finish(self):
        """The callback of the task."""
        value, error = self._end()
        if error is not None:
            raise error
        return value

    def _end(self):
        # The library's task is nothing for a traceback: what that leads to through the library the collector cannot see.
        try:
            _, task, handle = self.group.finish_id(self.number)
        except GLib.Error as error:
            if self.signal is not None and reasons.is_aborted(self.signal):
                return None, reasons.reason_of(self.signal)
            return None, self.group._to_exception(error)
        return self.group._outcome_of(task, handle) if self.returns else (None, None)


class TaskGroup(PrioSched.TaskGroup):
    """Tasks of which only so many run at a time: the next one is chosen by priority and age.

    scheduler  of the tasks; by default this thread's main context's
    limit      how many run at a time, a whole number from 1; None for any number
    priority   of those tasks that have none of their own

    A coroutine counts until it has ended.  Whoever uses a group holds its scheduler, if that is not the default one: the group
    does not.  All methods belong to the thread that runs the scheduler's main context, and raise RuntimeError on another one.
    """

    def __init__(self, scheduler=None, limit=None, priority='user-visible'):
        scheduler, limit = to_scheduler(scheduler), to_limit(limit)
        super().__init__(scheduler=scheduler, limit=limit, priority=PrioSched.TaskPriority(to_given_priority(priority)))
        self._set_up(scheduler)

    def _set_up(self, scheduler):
        self._tasks = table_of(scheduler)
        self._waits = set()
        self._done = {}  # as long as somebody waits: by their handles, the tasks that have completed

    @property
    def _table(self):
        try:
            return self._tasks
        except AttributeError:
            # It was made by TaskGroup.new () or in another language.
            self._check_scheduler()
            self._set_up(self.dup_scheduler())
            return self._tasks

    @property
    def limit(self):
        """How many tasks run at a time, or None for any number.  If more are running when it changes, they go on."""
        limit = self.get_limit()
        return None if limit == MAX_LIMIT else limit

    @limit.setter
    def limit(self, limit):
        self.set_limit(limit)

    def set_limit(self, limit):
        limit = to_limit(limit)
        self._check_owner()
        super().set_limit(limit)

    @property
    def pending(self):
        """How many tasks are queued or running; 'notify::pending' tells of changes."""
        return self.get_n_pending()

    get_pending, ref_scheduler = PrioSched.TaskGroup.get_n_pending, PrioSched.TaskGroup.dup_scheduler

    @property
    def priority(self):
        """The PrioSched.TaskPriority of those tasks that have none of their own."""
        return self.get_priority()

    def set_priority(self, priority):
        """Changes the priority of those tasks, queued and running.

        Raises GLib.Error, PrioSched.Error.NOT_ALLOWED, in a handler of that change.
        """
        priority = PrioSched.TaskPriority(to_given_priority(priority))
        self._check_owner()
        super().set_priority(priority)

    @property
    def signal(self):
        """The PrioSched.TaskSignal that the next abort () aborts, for whatever else belongs to the group."""
        return self.get_signal()

    def __repr__(self):
        limit = self.limit
        places = '' if limit is None else f', {limit} at a time'
        return f'<PrioSched.TaskGroup {self.priority.value_nick}, {self.pending} pending{places}>'

    def post_task(self, callback, priority=None, signal=None, delay=0, name=None, progress=None, timeout=None,
                  takes_turns=False):
        """Posts a task that begins when a place is free, and otherwise is as one of PrioSched.Scheduler.post_task ().

        It is aborted with the group, and with signal if there is one.  If that has a priority, the task has it.

        Returns a PrioSched.PostedTask.
        """
        to_callback(callback)
        if progress is not None:
            callback = with_progress(callback, to_callback(progress))
        if name is not None:
            check_name(name)
        priority, signal, delay = to_priority(priority), to_signal(signal), to_delay(delay)
        milliseconds = to_timeout(timeout)
        self._check_owner()
        table, own_signal = self._table, self.get_signal()
        state = _GroupState(table, own_signal, priority, expiry_after(delay, milliseconds), to_flag(takes_turns, 'takes_turns'))
        state.group = self
        task = (lending.new_lending_task if table.lends else new_task)(callback, state, name)
        number = table._add(task)
        state.handle, combined, _ = self.post_id(table._runner, number, priority, signal, delay, milliseconds, takes_turns,
                                                    name if name is not None else name_of_callable(callback))
        if combined is None:
            table._take(number)
            self._check_scheduler()
            raise RuntimeError('the main context of the group has gone')
        if signal is not None:
            state.signal = combined
            reasons.keep_reasons_of(combined, [signal, own_signal])
        if state.handle == 0:
            table._reject(table._take(number))
        else:
            _Place(task)
        return task

    def feed(self, callback, items, priority=None, signal=None, name=None):
        """Posts a task callback (item) for each of the items, which are asked for when a place is free: there may be a million.

        callback  a function, a coroutine function or a generator function, as for post_task ()
        items     what is iterated over: a list, or a generator that finds the next one when it is asked

        signal    aborts the tasks, and the feed, as an abort of the group does

        Returns a PrioSched.PostedTask, which ends with the last of them, or fails with what items raise.  If it is cancelled, no
        more are posted, and posted ones go on.  A failure is reported, unless callback
        catches it.
        """
        to_callback(callback)
        if name is not None:
            check_name(name)
        options = {'priority': priority, 'signal': to_signal(signal), 'name': name}
        to_priority(priority)
        self._check_owner()
        scheduler = self.dup_scheduler()
        if scheduler is None:
            self._check_scheduler()
        return Feed(self, callback, items, options).post(scheduler)

    def _check_owner(self):
        if hasattr(self, '_tasks') or self.dup_scheduler() is not None:
            self._table.check_owner('a group belongs to')

    def _check_scheduler(self):
        if self.dup_scheduler() is None:
            raise RuntimeError('the scheduler of the group has gone: hold it as long as you use the group')

    def _task_is_done(self, handle, task):
        error = task._exception
        if self._waits:
            self._done[handle] = task
            if error is not None and any(wait.takes_failures for wait in self._waits):
                task._retrieved = True
        self.return_id(handle, None if error is None else f'{type(error).__name__}: {error}')

    def abort(self, reason=None):
        """Aborts all tasks, queued and running.  The group goes on: what is posted from now on has another signal.

        reason  what awaiting them raises: any exception but StopIteration and StopAsyncIteration; without one a
                PrioSched.AbortError
        """
        reasons.check(reason)
        self._check_owner()
        if reason is None:
            reason = reasons.AbortError()
        if reasons.is_of_library(reason):
            super().abort(reason)
        else:
            super().abort(reasons.to_error_of(reason, self.get_signal()))

    def cancel_queued(self):
        """Cancels the tasks that have not begun: awaiting one raises asyncio.CancelledError."""
        self._check_owner()
        super().cancel_queued()

    def _wait(self, until, signal, returns=False):
        self._check_scheduler()
        self._check_owner()
        return _Wait(self, until, to_signal(signal), returns).future

    def drained(self, signal=None):
        """To be awaited: until no task is queued or running, whatever becomes of them.

        A task of the group that awaits it is not waited for, and gives its place to another one.

        signal  a Gio.Cancellable that ends this wait, and no task: then it raises the reason
        """
        return self._wait(PrioSched.TaskGroupWait.DRAINED, signal)

    def all(self, signal=None):
        """To be awaited: like drained (), but raises what the first task raises that fails, or the reason of its abort."""
        return self._wait(PrioSched.TaskGroupWait.ALL, signal)

    def any(self, signal=None):
        """To be awaited: the result of the first task that returns from now on.

        If all fail, it raises what the last has raised; without any task GLib.Error, Gio.IOErrorEnum.NOT_FOUND.
        """
        return self._wait(PrioSched.TaskGroupWait.ANY, signal, True)

    def first(self, signal=None):
        """To be awaited: what becomes of the first task that completes from now on: its result, or what it raises."""
        return self._wait(PrioSched.TaskGroupWait.FIRST, signal, True)

    def _forget(self, wait):
        self._waits.discard(wait)
        if not self._waits:
            self._done.clear()

    def _to_exception(self, error):
        """Returns the exception of a wait that the library has ended with error."""
        if error.domain == _HANDLE_DOMAIN:
            task = self._done.get(error.code & MAX_LIMIT)
            return task._exception if task is not None else error
        return reasons.to_exception(error)

    def _outcome_of(self, native, handle):
        """The result and the exception of a task of the library's, one of which is None."""
        task = self._done.get(handle)
        if task is not None:
            task._retrieved = True
            return task._value, task._exception
        error = native.get_error()
        if error is not None:
            # It was aborted, or is one of another language's.
            return None, reasons.to_exception(error)
        return native.propagate_value()[1], None
