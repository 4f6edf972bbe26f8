"""The fast path of tasks in Python, in Python: what _PrioSchedSpeedups does in C.

FutureBase holds the state of a task.  TableBase runs tasks, and posts those without signal,
delay or priority.  `running` is the current state of the library.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import contextvars
import itertools

from gi.repository import GLib

from ..module import get_introspection_module

PrioSched = get_introspection_module('PrioSched')

_MAX_NUMBER = 2 ** 32 - 1
_USER_VISIBLE = 2
_copy_context = contextvars.copy_context
_next_task = PrioSched.Runner.next
_end_task = PrioSched.Runner.end


class Running:

    __slots__ = ('state', 'depth')

    def __init__(self):
        self.state = None  # the _State that is current in the library, or None
        self.depth = 0     # the depth of main loops at which it was set


running = Running()


def set_up(state, task, continuation):
    """Sets the context variable of states, and the classes of tasks and continuations."""
    global _state, PostedTask, Continuation
    _state, PostedTask, Continuation = state, task, continuation


class FutureBase:

    # Defaults of the class: most futures never set these, and then need no memory for them.
    name = None
    _done = False
    _value = None
    _exception = None
    _retrieved = False
    _aborted = False
    _asyncio_future_blocking = False
    _waiter = None       # the step of the first _drive() that waits
    _callbacks = None    # what else waits
    _posted_with = None  # the _State, or None if only the library knows it
    _callback = None     # of a task, until it has run
    _context = None      # of a task, until it runs

    def __del__(self):
        if self._exception is not None and not self._retrieved:
            self._never_retrieved()


def _call(state, callback):
    """Runs in the task's own context."""
    _state.set(state)
    return callback()


class TableBase:

    def __init__(self, runner, states):
        self._entries = {}
        self._numbers = itertools.count(1)
        self._states = states
        self._visible = states[_USER_VISIBLE - 1]
        self._post = runner.post
        self._yield = runner.yield_

    def _add(self, entry):
        number = next(self._numbers)
        if number > _MAX_NUMBER:
            # Numbers wrap around, and some of the first may still be in use.
            self._numbers = (number for number in itertools.count(1) if number not in self._entries)
            return self._add(entry)
        self._entries[number] = entry
        return number

    def _take(self, number):
        return self._entries.pop(number)

    def _run(self, number):
        outer = running.state, running.depth
        running.depth = GLib.main_depth()
        take, next_task, plain = self._entries.pop, _next_task, self._states
        try:
            if number == 0:
                running.state = None
                self._take_rejected()
            while number:
                entry = take(number)
                running.state = state = entry._posted_with
                if entry.__class__ is Continuation:
                    entry._done = True
                    waiter = entry._waiter
                    if waiter is not None and entry._callbacks is None:
                        waiter()
                    else:
                        entry._notify()
                elif entry._callback is None:
                    self._settle_cancelled(entry)
                else:
                    context = entry._context
                    entry._context = None
                    try:
                        value = context.run(_call, state, entry._callback)
                    except BaseException as error:
                        self._finish(entry, context, None, error)
                    else:
                        # Most tasks have no result, and nobody waits for them.
                        if value is None and entry._waiter is None and state in plain and not entry._aborted:
                            entry._callback = None
                            entry._done = True
                            if entry._callbacks is not None:
                                _end_task()
                                entry._notify()
                        else:
                            self._finish(entry, context, value, None)
                number = next_task()
        finally:
            running.state, running.depth = outer

    def post(self, callback):
        task = PostedTask()
        task._callback = callback
        task._context = _copy_context()
        task._posted_with = self._visible
        number = self._add(task)
        if not self._post(number, _USER_VISIBLE):
            self._reject(self._take(number))
        return task

    def yield_now(self):
        """Posts a continuation with the state of the current task."""
        state = _state.get()
        # It is the library's current state, which the library makes the continuation inherit.
        if state is None or (state is running.state and state.table is self):
            future = Continuation()
            future._posted_with = state
            number = self._add(future)
            if not self._yield(number):
                self._reject_yield(self._take(number))
            return future
        return self._yield_elsewhere()
