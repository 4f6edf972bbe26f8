"""Runs the callbacks of asyncio with the priority of the task that they belong to."""

import asyncio
import collections
import contextlib
import math
import selectors
import signal
import threading

from gi.events import GLibEventLoop
from gi.module import get_introspection_module
from gi.repository import GLib

from ..arguments import NO_EXPIRY, UNSET
from ..futures.contexts import context_to_run, get_running_loop, is_at_rest, own_context
from ..futures.future import Continuation
from ..futures.future import own_state as _state
from .._native import running

PrioSched = get_introspection_module('PrioSched')

_REJECTED = 0
_USER_VISIBLE = 2
_follow = PrioSched.TaskSignal.new_any_following


class _Lane:
    """Calls the callbacks of asyncio for the tasks of one priority or signal, in their order.

    Posted as new tasks, the callbacks would starve while another coroutine yields in a loop.  Posted as continuations,
    they would starve new tasks while they repeat asyncio.sleep (0).  So the callbacks alternate: for a millisecond they are
    posted as new tasks, then for a millisecond as continuations.
    """

    def __init__(self, ready, key):
        self._ready = ready
        self._key = key
        self._table, self._priority, signal = key
        # The lane has the priority of signal, but is not aborted with it: the coroutine gets the abort by callbacks of asyncio, so
        # these must not be dropped.
        self._signal = _follow([], signal) if signal is not None else None
        self._handles = {}  # handles of asyncio by the continuations that call them, the oldest first
        self._continues = False
        self._is_watched = False

    def add(self, handle):
        """Posts a call of handle, an asyncio.Handle.  Returns False if the main context has gone, so that no call is posted."""
        if not self._post_handle(handle):
            return False
        if not self._is_watched:
            self._is_watched = self._post(Continuation.calling(self._take_turns), 1, True)
        return True

    def is_idle(self):
        return not self._is_watched and not self._handles

    def _post_handle(self, handle):
        def call():
            self._call(entry)
        call._prio_sched_calls = handle._callback  # name_of () uses this attribute
        entry = Continuation.calling(call)
        self._handles[entry] = handle
        if self._post(entry, 0, self._continues):
            return True
        self._handles.pop(entry, None)
        return False

    def _post(self, entry, delay, continues):
        number = self._table._add(entry)
        post, last = (self._table._yield_full, NO_EXPIRY) if continues else (self._table._post_full, 0)
        if post(number, self._priority, self._signal, delay, last, False) != _REJECTED:
            return True
        self._table._take(number)
        return False

    def _call(self, entry):
        handle = self._handles.pop(entry, None)
        if handle is not None:
            self._ready.call(handle)

    def take_back(self):
        """Removes the posted calls from the scheduler's queue, and returns their handles."""
        waiting, self._handles = self._handles, {}
        for entry in waiting:
            self._table.dequeue(entry)
            entry._waiter = None  # avoids a reference cycle: the waiter refers to entry
        return waiting.values()

    def _take_turns(self):
        with self._ready.lock:
            self._is_watched = False
            self._continues = bool(self._handles) and not self._continues
            if self._continues:
                for handle in self.take_back():
                    self._post_handle(handle)
            if self._handles:
                self._is_watched = self._post(Continuation.calling(self._take_turns), 1, True)
            else:
                self._ready.forget(self._key)


def _state_of_other(handle):
    """Returns the State of the task to which handle, an asyncio.Handle, belongs, if its callback is to be passed to a scheduler.

    Returns None if asyncio is to call it: outside any task, and for a task of the priority user-visible.
    """
    state = handle._context.get(_state) if handle._context is not None else None
    return state if state is not None and state.priority != _USER_VISIBLE else None


class _Ready(collections.deque):
    """Replaces the list of ready callbacks in a loop of asyncio, and passes the callbacks of a task to the task's scheduler.

    Callbacks outside any task, and of tasks with the priority user-visible, stay in the list, and asyncio calls them.
    """

    def __init__(self, loop):
        super().__init__()
        self.lock = threading.RLock()  # any thread may append
        self._lanes = {}
        self._is_ending = False
        self._loop = loop
        self._context_id = hash(loop._context)

    def __len__(self):
        # While a task of asyncio runs a nested main loop, asyncio must not call callbacks, so the list seems to be empty.
        return super().__len__() if asyncio.current_task(self._loop) is None else 0

    def append(self, handle):
        state = _state_of_other(handle)
        if state is None or not self._leave(handle, state):
            super().append(handle)

    def end(self):
        """Makes asyncio call all callbacks from now on, including the ones that were passed to schedulers, because the loop is about to end."""
        with self.lock:
            self._is_ending = True
            for lane in self._lanes.values():
                self.extend(lane.take_back())

    def _leave(self, handle, state):
        table = state.table
        if table is None or table.context_id != self._context_id:
            return False
        key = table, state.priority, state.signal if state.priority == UNSET else None
        with self.lock:
            if self._is_ending:
                return False
            lane = self._lanes.get(key)
            if lane is None:
                lane = self._lanes[key] = _Lane(self, key)
            if lane.add(handle):
                return True
            if lane.is_idle():
                self.forget(key)
            return False

    def forget(self, key):
        del self._lanes[key]

    def call(self, handle):
        loop = self._loop
        if handle._cancelled or loop.is_closed():
            return
        if get_running_loop() is not loop or asyncio.current_task(loop) is not None:
            # The loop is not running, or one of its tasks runs a nested main loop, so asyncio calls the callback later.
            super().append(handle)
            return
        outer, running.context = running.context, handle._context
        try:
            handle._run()
        finally:
            running.context = outer


class _Readiness(asyncio.Handle):
    """Calls the reader or the writer of a descriptor once, and then watches the descriptor again."""

    __slots__ = ('_watched', '_fd')

    def __init__(self, watched, fd, loop):
        super().__init__(watched._callback, watched._args, loop, watched._context)
        self._watched = watched
        self._fd = fd

    def _run(self):
        try:
            if not self._watched._cancelled:
                self._watched._run()
        finally:
            self._loop._watch_again(self._watched, self._fd)


class EventLoop(GLibEventLoop):
    """Runs callbacks, timers and tasks, as PyGObject's loop does, but with the priority of the task that started them.

    main_context  the main context to run, which is the thread-default one while the loop runs; by default, the main context
                  that PrioSched.run () would run on this thread
    """

    def __init__(self, main_context=None):
        super().__init__(main_context if main_context is not None else context_to_run())
        self._ready = _Ready(self)
        # With PyGObject's resolution, which is a millisecond, asyncio would call timers up to a millisecond early.
        self._clock_resolution = 1e-9
        # The handles of readers and writers that are ready and have been passed to a scheduler.  Their descriptors are not
        # watched meanwhile: otherwise the source would be ready all the time, and tasks of a lower priority would never run.
        self._left = set()
        self._selector._register_key = self._watch
        self._interrupt = None  # an exception that is to be raised by run_forever ()

    def _get_timeout_ms(self):
        timeout = super()._get_timeout_ms()
        if timeout < 0 or self._ready:
            return timeout
        # PyGObject rounds down to milliseconds, so the loop would spin in the last millisecond.  This rounds up.
        return max(math.ceil((self._scheduled[0]._when - self.time()) * 1000), 0)

    @contextlib.contextmanager
    def running(self, quit_func):
        with self._as_thread_default(), self._taking_interrupts(), super().running(quit_func):
            yield
        if not self._quit_funcs and self._interrupt is not None:
            interrupt, self._interrupt = self._interrupt, None
            raise interrupt

    @contextlib.contextmanager
    def _as_thread_default(self):
        context = self._context
        if not context.acquire():
            raise RuntimeError(f'{self!r} cannot run: another thread runs its main context')
        context.release()
        is_other = hash(context) != hash(own_context())
        if is_other:
            context.push_thread_default()
        try:
            yield
        finally:
            if is_other:
                context.pop_thread_default()

    @contextlib.contextmanager
    def _taking_interrupts(self):
        """Makes the loop raise a KeyboardInterrupt of the Ctrl-C handler even while the loop waits: PyGObject would only print it then."""
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler) or self.is_running():
            yield
            return

        def handle(number, frame):
            try:
                handler(number, frame)
            except KeyboardInterrupt as error:
                if not is_at_rest(frame):
                    raise
                self.call_soon_threadsafe(self.interrupt, error)
        signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            if signal.getsignal(signal.SIGINT) is handle:
                signal.signal(signal.SIGINT, handler)

    def _run_once(self):
        # PyGObject prints an exception that leaves this method, or ends the process at once, so the loop is stopped here instead.
        try:
            super()._run_once()
        except (KeyboardInterrupt, SystemExit) as error:
            self.interrupt(error)

    def interrupt(self, error):
        """Stops the loop, and makes the code that runs the loop raise error, or an earlier error if there is one."""
        self._interrupt = self._interrupt or error
        self.stop()

    async def shutdown_asyncgens(self):
        # Code that is about to close a loop calls this method, so from now on asyncio calls all callbacks itself.
        self._ready.end()
        await super().shutdown_asyncgens()

    def _process_events(self, event_list):
        # Skips keys that have been removed since the poll, because for these PyGObject would remove a new key of the same descriptor.
        keys = self._selector._fd_to_key
        super()._process_events([(key, self._leave_events(key, events)) for key, events in event_list if keys.get(key.fd) is key])

    def _leave_events(self, key, events):
        """Passes the ready callbacks of key, a selectors.SelectorKey, to schedulers, if their tasks are not user-visible.

        Returns the remaining events, whose callbacks asyncio is to call.
        """
        rest = 0
        for event, handle in _handles_of(key):
            if events & event and handle not in self._left:
                if handle._cancelled or _state_of_other(handle) is None:
                    rest |= event
                else:
                    self._left.add(handle)
                    self._ready.append(_Readiness(handle, key.fd, self))
        if rest != events:
            self._watch_anew(key)
        return rest

    def _watch_again(self, handle, fd):
        self._left.discard(handle)
        key = self._selector._fd_to_key.get(fd)
        if key is not None and handle in key.data:
            self._watch_anew(key)

    def _watch_anew(self, key):
        self._selector._source.remove_unix_fd(key._tag)
        self._watch(key)

    def _watch(self, key):
        condition = GLib.IOCondition(0)
        for event, handle in _handles_of(key):
            if handle not in self._left:
                condition |= _CONDITIONS[event]
        # Without conditions, GLib would still report the end of the descriptor, so -1 takes the descriptor's place.
        key._tag = self._selector._source.add_unix_fd(key.fd if condition else -1, condition)


_CONDITIONS = {selectors.EVENT_READ: GLib.IOCondition.IN, selectors.EVENT_WRITE: GLib.IOCondition.OUT}


def _handles_of(key):
    """Returns a list of (event, handle) for the reader and the writer of key, a selectors.SelectorKey; either may be missing."""
    return [(event, handle) for event, handle in zip(_CONDITIONS, key.data) if handle is not None]
