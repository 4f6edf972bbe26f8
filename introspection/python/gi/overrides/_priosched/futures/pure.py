"""The fast path of tasks in Python, in Python: what _speedups does in C.

FutureBase holds the state of a task.  TableBase runs tasks, and posts those without signal,
delay or priority.  `running` is the current state of the library.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextvars
import itertools
import sys
import threading
import time
import weakref

from gi.module import get_introspection_module
from gi.repository import GLib

from .reasons import without_own_frames

PrioSched = get_introspection_module('PrioSched')

_MAX_NUMBER = 2 ** 32 - 1
_SWITCH_INTERVAL = 5_000_000  # ns
_LONG_ENOUGH = 100_000
_USER_VISIBLE = 2
_copy_context = contextvars.copy_context
_get_running_loop = asyncio._get_running_loop
_get_ident = threading.get_ident
_next_task = PrioSched.Runner.next
_end_task = PrioSched.Runner.end


class Running(threading.local):
    """What this thread is running."""

    state = None    # the State that is current in the library, or None
    depth = 0       # the depth of main loops at which it was set, or 0
    context = None  # the contextvars.Context in which the task runs, or None


running = Running()


class Turns(threading.local):
    """Lets the other threads of Python have their turns.

    A thread that waits for the interpreter's lock asks for it if nobody has let go of it for 5 ms, and then gets it.  The main loop lets
    go of it between two batches of tasks, each a millisecond at most, and takes it again at once.  That wakes the thread up, which finds
    the lock taken and waits for another 5 ms.  So here the lock stays free for long enough, as often as Python would have given it away.
    """

    was_free = has_run = 0

    def begin(self):
        now = time.monotonic_ns()
        if now - self.has_run >= _LONG_ENOUGH:
            self.was_free = now

    def end(self):
        self.has_run = time.monotonic_ns()
        if self.has_run - self.was_free >= _SWITCH_INTERVAL and len(sys._current_frames()) > 1:
            time.sleep(0.000001)  # which takes about 50 µs
            self.was_free = self.has_run = time.monotonic_ns()


_turns = Turns()


def set_up(state, task, continuation, coroutine_task, driver):
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
    _waiter = None          # the first that waits: a Driver, or what wakes a task of asyncio up
    _waiter_context = None  # the context of the latter
    _callbacks = None       # what else waits
    _posted_with = None     # the State, or None if only the library knows it
    _callback = None        # of a task, until it has run; then what runs its coroutine
    _context = None         # of a task, until it runs
    _number = 0
    _context_id = 0         # of the main context that runs it, or 0

    def result(self):
        """Returns the result, or raises the exception; asyncio.InvalidStateError if there is none yet."""
        if not self._done:
            self._has_no_result()
        self._notice()
        if self._exception is not None:
            self._retrieved = True
            raise self._exception
        return self._value

    def get_loop(self):
        """The loop of asyncio that is running, since any may wait."""
        loop = _get_running_loop()
        return loop if loop is not None else self._loop_elsewhere()

    def add_done_callback(self, callback, *, context=None):
        """Calls callback (future) soon after it is done, on this thread, in context or a copy of the current one."""
        self._notice()
        self._add_done_callback(callback, context)

    def _notice(self):
        """Somebody uses it: a yield has not been forgotten."""
        if self.__class__ is Continuation:
            self._retrieved = True

    def __await__(self):
        self._notice()
        if not self._done:
            loop = _get_running_loop()
            if loop is not None:
                self._check_await(loop)
            self._asyncio_future_blocking = True
            yield self
        if self._exception is not None:
            self._retrieved = True
            raise self._raises_here()
        return self._value

    __iter__ = __await__

    def __del__(self):
        if not self._retrieved and (self._exception is not None or (self._done and self.__class__ is Continuation)):
            self._never_retrieved()


# Weak references to the drivers that have not ended with their first step and still live.
_standing = set()


class DriverBase:
    """What runs a coroutine where no loop of asyncio is running."""

    waits_for = None
    watch = None
    told = False
    pending = None       # what is to be raised where it awaits next
    future = None        # what is settled when it has ended
    ended = False
    value = None         # how it has ended
    error = None
    main_context = None  # where it runs, if it is not a task's

    def __init__(self, coroutine, context, state):
        self.coroutine = coroutine
        self.context = context
        self.state = state
        self.thread = _get_ident()
        if state is None:
            self._find_main_context()
        self._step(None)
        if not self.ended:
            _standing.add(weakref.ref(self, _standing.discard))

    @staticmethod
    def all_standing():
        """Those that have not ended, in any thread."""
        drivers = (reference() for reference in tuple(_standing))
        return [driver for driver in drivers if driver is not None and not driver.ended]

    def __call__(self, awaited=None):
        if self.thread == _get_ident():
            self._step(None)
        else:
            self._step_elsewhere()

    def step(self, exception=None):
        self._step(exception)


def _call(state, callback):
    """Runs in the task's own context."""
    _state.set(state)
    return callback()


def _free_loop():
    """The loop of asyncio that is running here, if none of its tasks is."""
    loop = _get_running_loop()
    return loop if loop is not None and asyncio.current_task(loop) is None else None


class TableBase:

    def __init__(self, runner, states, context_id):
        self._context_id = context_id
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
        entry._number = number
        entry._context_id = self._context_id
        return number

    def _take(self, number):
        return self._entries.pop(number)

    def _peek(self, number):
        return self._entries.get(number)

    def drop(self, entry):
        """Lets go of an entry whose number the library still has."""
        if self._entries.get(entry._number) is entry:
            self._entries[entry._number] = None

    def _take_all(self):
        entries, self._entries = self._entries, {}
        return [entry for entry in entries.values() if entry is not None]

    def _run(self, number):
        outer = running.state, running.depth, running.context
        _turns.begin()
        running.depth = GLib.main_depth()
        try:
            if number == 0:
                running.state = running.context = None
                self._take_rejected()
            self._run_all(number, _free_loop())
        except (KeyboardInterrupt, SystemExit) as error:
            self._interrupt(error)
        finally:
            running.state, running.depth, running.context = outer
            _turns.end()

    def _run_all(self, number, loop):
        take, next_task = self._entries.pop, _next_task
        while number:
            entry = take(number)
            if entry is not None:
                running.state = entry._posted_with
                if entry.__class__ is Continuation:
                    self._resume(entry, loop)
                else:
                    self._run_task(entry)
            number = next_task()

    def _resume(self, entry, loop):
        entry._done = True
        waiter = entry._waiter
        if waiter is None or entry._callbacks is not None:
            entry._notify()
        elif entry._waiter_context is None:
            entry._waiter = None
            waiter()
        elif waiter.__self__._loop is loop:
            entry._waiter = None
            running.context = context = entry._waiter_context
            try:
                context.run(waiter, entry)
            finally:
                self._woken(waiter.__self__)
        else:
            entry._notify()

    def _run_task(self, entry):
        running.context = context = entry._context
        entry._context = None
        state = entry._posted_with
        try:
            value = context.run(_call, state, entry._callback)
        except BaseException as error:
            self._finish(entry, context, None, without_own_frames(error))
        else:
            # Most tasks have no result, and nobody waits for them.
            if value is None and entry._waiter is None and state in self._states and not entry._aborted:
                entry._callback = None
                entry._done = True
                if entry._callbacks is not None:
                    _end_task()
                    entry._notify()
            else:
                self._finish(entry, context, value, None)

    def post(self, callback):
        task = PostedTask.__new__(PostedTask)
        task._callback = callback
        task._context = _copy_context()
        task._posted_with = self._visible
        number = self._add(task)
        if not self._post(number, _USER_VISIBLE):
            self._reject(self._take(number))
        return task

    def post_quickly(self, callback, priority, signal):
        """Returns None: arguments are looked at elsewhere."""

    def _post_in(self, state, callback, delay, name):
        task = PostedTask.__new__(PostedTask)
        task._callback = callback
        task._context = _copy_context()
        task._posted_with = state
        task.name = name
        number = self._add(task)
        if not self._post_full(number, state.priority, state.signal, delay, 0, False):
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
