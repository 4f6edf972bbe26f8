"""Groups tasks of PrioSched in Python; a group runs a limited number of them at a time.

A group has a place for each task that may run at a time.  The library keeps the places, the ages of tasks, and the waits for them.
A task of a group is an entry in the table of its scheduler: the library runs it, by its number, when the group has a free place.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio

from gi import require_version
from gi.module import get_introspection_module
from gi.repository import Gio, GLib

from ..arguments import (MAX_LIMIT, check_name, refusing, to_flag, to_callback, to_delay, to_given_priority, to_limit, to_priority, to_priority_of,
                         to_scheduler, to_signal, to_timeout)
from ..coroutines.steps import with_progress
from ..futures import reasons
from ..futures.forgotten import awaited
from ..futures.future import Wait
from ..names import name_of_callable
from ..tasks import lending
from ..tasks.states import current_state, expiry_after
from ..tasks.table import new_task
from ..tasks.tables import table_of
from .feeds import Feed, row_function
from .scopes import GroupScope

PrioSched = get_introspection_module('PrioSched')

_HANDLE_DOMAIN = 'prio-sched-task-handle'
_USER_BLOCKING = 3


class _GroupState(lending.LendingState):
    """Keeps the state of a group's task.  handle is the number by which the library's group knows the task."""

    __slots__ = ('group', 'handle')

    def reason(self):
        # Without an abort, only the task was cancelled, as by cancel_pending ().
        return super().reason() if reasons.is_aborted(self.signal) else asyncio.CancelledError()

    def _add_lender(self, task):
        return self.group.add_lender(self.handle)


class _Place(lending.Follower):
    """Reports to the group that a task has ended, so that another task can run."""

    __slots__ = ()

    def __call__(self):
        state = self.future._posted_with
        state.group._task_is_done(state.handle, self.future)
        if not state.table.lends:
            state.table.take_signal(self.future)


class _Wait(lending.Follower):
    """Represents a wait for tasks of a group.  The wait's future is a task, which the library posts when the wait is over."""

    __slots__ = ('group', 'signal', 'own', 'number', 'returns', 'takes_failures')

    def __init__(self, group, until, signal, returns):
        table, state = group._table, current_state()
        task = new_task(self._finish, table._states[_USER_BLOCKING - 1], None, Wait)
        super().__init__(task)
        task._retrieved = False  # Follower has set this to True, although no code has awaited the wait yet
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
        # The wait is over, or has been given up, so the library need not wait any longer.
        self.own.cancel()
        self.group._forget(self)

    def _finish(self):
        """Returns the result of the wait, or raises its exception.  The library calls this, as the function of the wait's task."""
        value, error = self._end()
        if error is not None:
            raise error
        return value

    def _end(self):
        # This method returns an exception, and does not raise it.  The traceback would refer to this frame, and so to the
        # library's task, and the garbage collector cannot see reference cycles through the library.
        try:
            _, task, handle = self.group.finish_id(self.number)
        except GLib.Error as error:
            if self.signal is not None and reasons.is_aborted(self.signal):
                self.future.has_given_up = True
                return None, reasons.reason_of(self.signal)
            return None, self.group._to_exception(error)
        return self.group._outcome_of(task, handle) if self.returns else (None, None)


class TaskGroup(PrioSched.TaskGroup):
    """Runs a limited number of tasks at a time; priority and age choose the next one.

    scheduler  the scheduler of the tasks; by default the one of this thread's main context
    limit      the most tasks that run at a time, a whole number from 1; None for any number
    priority   the priority of tasks that are posted without one

    `async with` waits at its end until the group is empty, while the main loop continues.  The first exception of a task aborts
    the others and cancels the code in `async with`, which then raises that exception; an exception of the code aborts all
    tasks.  A task that was aborted or cancelled has not failed.

    A coroutine counts as a running task until it has ended.  A group does not keep its scheduler alive: keep a reference to a
    scheduler that is not the default one.  Call the methods on the thread that runs the scheduler's main context; on another
    thread they raise RuntimeError.
    """

    @refusing
    def __init__(self, scheduler=None, limit=None, priority='user-visible'):
        if isinstance(scheduler, int):
            raise TypeError(f'{scheduler!r} is not a scheduler: pass limit={scheduler!r}')
        scheduler, limit = to_scheduler(scheduler), to_limit(limit)
        super().__init__(scheduler=scheduler, limit=limit, priority=PrioSched.TaskPriority(to_given_priority(priority)))
        self._set_up(scheduler)

    def _set_up(self, scheduler):
        self._tasks = table_of(scheduler)
        self._waits = set()
        self._scope = None  # the GroupScope of the `async with` that the program is in, or None
        self._done = {}  # tasks that have completed, by their handles; kept as long as there are waits

    @property
    def _table(self):
        try:
            return self._tasks
        except AttributeError:
            # TaskGroup.new (), or another language, has made the group, and so __init__ () was not called.
            self._check_scheduler()
            self._set_up(self.dup_scheduler())
            return self._tasks

    @property
    def limit(self):
        """The most tasks that run at a time, or None for any number.  If it is lowered, running tasks continue."""
        limit = self.get_limit()
        return None if limit == MAX_LIMIT else limit

    @limit.setter
    def limit(self, limit):
        self.set_limit(limit)

    @refusing
    def set_limit(self, limit):
        limit = to_limit(limit)
        self._check_owner()
        super().set_limit(limit)

    @property
    def n_tasks(self):
        """The number of tasks that are queued or running; 'notify::n-tasks' reports changes."""
        return self.get_n_tasks()

    @property
    def priority(self):
        """The PrioSched.TaskPriority of tasks that were posted without one."""
        return self.get_priority()

    @refusing
    def set_priority(self, priority):
        """Changes the priority of tasks that were posted without one, queued and running.

        Raises GLib.Error, PrioSched.Error.NOT_ALLOWED, in a handler of such a change.
        """
        priority = PrioSched.TaskPriority(to_given_priority(priority))
        self._check_owner()
        super().set_priority(priority)

    @property
    def signal(self):
        """The PrioSched.TaskSignal that the next abort () aborts, for other operations that belong to the group."""
        return self.get_signal()

    def __repr__(self):
        limit = self.limit
        places = '' if limit is None else f', {limit} at a time'
        return f'<PrioSched.TaskGroup {self.priority.value_nick}, {self.n_tasks} tasks{places}>'

    @refusing
    def post_task(self, callback, priority=None, signal=None, delay=0, name=None, progress=None, timeout=None,
                  takes_turns=False):
        """Posts a task that starts when a place is free, and otherwise behaves as in PrioSched.Scheduler.post_task ().

        An abort of the group or of signal aborts the task.  Without priority, the task follows the priority of signal or, if
        signal has none, the group's.

        Returns a PrioSched.PostedTask.
        """
        to_callback(callback)
        if progress is not None:
            callback = with_progress(callback, to_callback(progress))
        if name is not None:
            check_name(name)
        priority, signal, delay = to_priority_of(callback, priority), to_signal(signal), to_delay(delay)
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
        """Posts a task, which calls callback (item), for each item.  Takes the next item only when a place is free, so there may be a
        million items.

        callback  a function, a coroutine function or a generator function, as for post_task ()
        items     an iterable: a list, or a generator that finds the next item on request

        signal    aborts the tasks, and the feed, as an abort of the group does

        Returns a PrioSched.PostedTask for the feed, which ends with the last task, or fails with the exception that items raises.
        If the feed is cancelled, it posts no more tasks; posted tasks continue.  An exception of callback is reported, and does
        not end the feed; but in `async with`, it ends the group as any failure does.
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
        task = Feed(self, callback, items, options).post(scheduler)
        if self._scope is not None:
            self._scope.follow(task)
        return task

    def feed_model(self, callback, model, name=None):
        """Makes a PrioSched.Feed that posts a task, which calls callback (item, position), for each row of a list in or near the view.

        callback  a function or a coroutine function, as for post_task (); it should return at once for a row that is loaded already
        model     a Gio.ListModel

        Nothing is posted before a call of the feed's set_view (first, n_rows).  Its property look-ahead is how many rows on each side of
        the view are loaded as well, as a multiple of the rows in view.  The task of a row that leaves these rows, or the
        list, is aborted; when the row comes back, callback is posted again.  A failure is reported, unless callback catches it.

        Hold the feed: it ends with the last reference to it, or when the group is aborted.  The feed keeps callback alive, and the
        garbage collector does not see that.  So if the object that holds the feed has callback as a method, drop the feed or abort
        the group when you no longer need the object, such as a window that closes.
        """
        return PrioSched.Feed.new_for_model(self, model, self._row_function(callback, name))

    def feed_view(self, callback, view, name=None):
        """Posts a task, which calls callback (item, position), for each row that a list of GTK shows, and then for the nearest rows.

        callback  as for feed_model (): abort the group when a window closes that has callback as a method
        view      a Gtk.ListView, Gtk.GridView or Gtk.ColumnView in a Gtk.ScrolledWindow

        Returns the PrioSched.Feed, which the view holds until it is disposed of.  It follows the scrolling, and the view's
        model.  This needs PrioSchedGtk, which is not in pip's package: Debian's gir1.2-prioschedgtk-1, or a build with GTK.
        """
        post = self._row_function(callback, name)
        try:
            require_version('PrioSchedGtk', '1')
        except ValueError:
            raise ValueError('feed_view() needs PrioSchedGtk, which a package of pip does not have: install gir1.2-prioschedgtk-1, or build '
                             'prio-sched with -Dgtk=enabled') from None
        feed_view, gtk = get_introspection_module('PrioSchedGtk').feed_view, get_introspection_module('Gtk')
        if not isinstance(view, (gtk.ListBase, gtk.ColumnView)):
            raise TypeError(f'{view!r} shows no rows that can be loaded: pass a Gtk.ListView, Gtk.GridView or Gtk.ColumnView')
        return feed_view(self, view, post)

    def _row_function(self, callback, name):
        to_callback(callback)
        if name is not None:
            check_name(name)
        self._check_scheduler()
        self._check_owner()
        return row_function(self, self.dup_scheduler(), callback, name)

    def _check_owner(self):
        if hasattr(self, '_tasks') or self.dup_scheduler() is not None:
            self._table.check_owner('a group belongs to')

    def _check_scheduler(self):
        if self.dup_scheduler() is None:
            raise RuntimeError('the scheduler of the group has gone: hold it as long as you use the group')

    def _task_is_done(self, handle, task):
        error = task._exception
        if self._scope is not None:
            self._scope.ended(task)
        if self._waits:
            self._done[handle] = task
            if error is not None and any(wait.takes_failures for wait in self._waits):
                task._retrieved = True
        self.return_id(handle, None if error is None else f'{type(error).__name__}: {error}')

    def abort(self, reason=None):
        """Aborts all tasks, queued and running.  Tasks that are posted from now on have a new signal.

        reason  the exception that an await of a task raises: any but StopIteration and StopAsyncIteration; by default a
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

    def cancel_pending(self):
        """Cancels the tasks that have not started: awaiting one raises asyncio.CancelledError."""
        self._check_owner()
        super().cancel_pending()

    def _wait(self, until, signal, *, returns=False):
        self._check_scheduler()
        self._check_owner()
        return _Wait(self, until, to_signal(signal), returns).future

    @awaited
    def drained(self, signal=None):
        """Waits until no task is queued or running, whether tasks succeed or fail: await group.drained ().

        If a task of the group awaits this, the wait does not include that task, and another task of the group can run meanwhile.

        signal  a Gio.Cancellable that ends only this wait, which then raises the reason
        """
        return self._wait(PrioSched.TaskGroupWait.DRAINED, signal)

    @awaited
    def all(self, signal=None):
        """Waits like drained (), but ends when a task fails or is aborted from now on, and raises its exception or the reason of the abort."""
        return self._wait(PrioSched.TaskGroupWait.ALL, signal)

    @awaited
    def any(self, signal=None):
        """Waits for the first task that returns from now on, and returns its result.

        If all tasks fail, the await raises the exception of the last task; without any task, GLib.Error with Gio.IOErrorEnum.NOT_FOUND.
        """
        return self._wait(PrioSched.TaskGroupWait.ANY, signal, returns=True)

    @awaited
    def first(self, signal=None):
        """Waits for the first task that completes from now on, and returns its result or raises its exception."""
        return self._wait(PrioSched.TaskGroupWait.FIRST, signal, returns=True)

    async def __aenter__(self):
        self._check_scheduler()
        self._check_owner()
        if self._table and self._scope is not None:
            raise RuntimeError('the group is in an `async with` already')
        self._scope = GroupScope(self)
        try:
            await self._scope.enter()
        except BaseException:
            self._scope = None
            raise
        return self

    async def __aexit__(self, _, error, __):
        try:
            return await self._scope.leave(error)
        finally:
            self._scope = None

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
        """Returns the result and the exception, or None, of the task with that handle.  native is the library's object for the task."""
        task = self._done.get(handle)
        if task is not None:
            task._retrieved = True
            return task._value, task._exception
        error = native.get_error()
        if error is not None:
            # The task was aborted, or was posted in another language.
            return None, reasons.to_exception(error)
        return native.propagate_value()[1], None
