"""A loop of asyncio whose callbacks have the priority of the task that they belong to.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import collections

from gi.events import GLibEventLoop

from ..module import get_introspection_module
from ._PrioSched import _state
from ._PrioSchedFutures import UNSET, Continuation, get_running_loop, running

PrioSched = get_introspection_module('PrioSched')

_REJECTED = 0
_USER_VISIBLE = 2
_follow = PrioSched.TaskSignal.any_following


class _Ready(collections.deque):
    """The callbacks that are ready, to which asyncio appends, whoever has them: those of a task are left to its scheduler.

    Where the task's priority is that of asyncio itself, user-visible, asyncio runs them.
    """

    def __init__(self, loop):
        super().__init__()
        self._loop = loop
        self._context_id = hash(loop._context)

    def __len__(self):
        # In a main loop that one of its tasks runs, asyncio does nothing.
        return super().__len__() if asyncio.current_task(self._loop) is None else 0

    def append(self, handle):
        state = handle._context.get(_state) if handle._context is not None else None
        if state is None or state.priority == _USER_VISIBLE or not self._post(handle, state):
            super().append(handle)

    def _post(self, handle, state):
        table = state.table
        if table is None:
            return False
        # An abort tells the coroutine; what asyncio has to do for it is not dropped.
        signal = _follow([], state.signal) if state.priority == UNSET else None
        entry = Continuation()
        entry._waiter = lambda: self._run(handle)
        number = table._add(entry)
        if (entry._context_id != self._context_id or
                table._post_full(number, state.priority, signal, 0, False) == _REJECTED):
            table._take(number)
            return False
        return True

    def _run(self, handle):
        loop = self._loop
        if handle._cancelled or loop.is_closed():
            return
        if get_running_loop() is not loop or asyncio.current_task(loop) is not None:
            # It does not run, or one of its tasks runs a nested main loop: until that ends.
            super().append(handle)
            return
        outer, running.context = running.context, handle._context
        try:
            handle._run()
        finally:
            running.context = outer


class EventLoop(GLibEventLoop):
    """PyGObject's loop, in which the callbacks, timers and tasks that a task begins have its priority."""

    def __init__(self, main_context=None):
        super().__init__(main_context)
        self._ready = _Ready(self)
