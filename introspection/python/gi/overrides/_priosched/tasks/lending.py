"""Reports to the library which task in Python waits for which, so that waiting tasks lend their priority to awaited tasks.

The library keeps the waits and applies the rules.  A task that has waited, or has been awaited, has a *lending number*, by which the library
knows it in waits.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import weakref

from ..coroutines.drivers import Driver
from ..futures.future import PostedTask, is_wakeup
from .states import State, current_state, expiry_after, own_priority
from .table import Table, new_task

_USER_VISIBLE = 2
_REJECTED = 0


class Follower:
    """Waits for a future of this library: the future calls this object when it is done, however it ends.

    A Follower that is made together with its future is called before all other waiters.
    """

    __slots__ = ('future',)

    def __init__(self, future):
        self.future = future
        future._wait(self)

    # Futures call these three methods of their waiters; a Driver, which runs a coroutine, has them, too.

    def own_main_context(self):
        scheduler = self.future._posted_with.table.scheduler()
        return scheduler.get_context() if scheduler is not None else None

    def go_on_after(self, future):
        """Calls this object later, in the scheduler's main context, because future has been cancelled.  Any thread may call this."""
        self.future._posted_with.table.call_soon(self)

    def go_on_from(self, future):
        self()


class _End(Follower):
    """Removes the lending number of a task that has its result, so that the library ends the task's waits, and other tasks' waits for it."""

    __slots__ = ()

    def __call__(self):
        state = self.future._posted_with
        lender, state.lender = state.lender, 0
        if lender != 0:
            state.table._runner.remove_lender(lender)


class LendingState(State):
    """Keeps the state of a task that may lend its priority, or borrow another task's."""

    __slots__ = ('lender', 'task')
    is_followed = True

    def __init__(self, table, signal, priority, expiry=None, takes_turns=False):
        super().__init__(table, signal, priority, expiry, takes_turns)
        self.lender = 0
        self.task = None  # a weak reference to the task, as soon as the task exists

    def find_lender(self):
        """Returns the task's lending number, which the first call gets from the library.

        Returns 0 if the task has its result, or if the library gives no number, as on another thread.
        """
        task = self.task() if self.lender == 0 and self.task is not None else None
        if task is not None and not task._done:
            self.lender = self._add_lender(task)
            if self.lender != 0:
                _End(task)
        return self.lender

    def _add_lender(self, task):
        waits = task._context is not None
        return self.table._runner.add_lender(task._number if waits else 0, self.priority, self.signal)


def _begin_wait(task):
    """Reports that the running code waits for task.  Returns the code's state, for _end_wait (), or None if no priority is lent."""
    waiter = current_state()
    if not isinstance(waiter, LendingState) or not waiter.table.lends:
        return None
    lender, awaited = waiter.find_lender(), task._posted_with.find_lender()
    if lender == 0 or awaited == 0 or lender == awaited:
        return None
    waiter.table._runner.begin_wait(lender, awaited)
    return waiter


def _end_wait(task, waiter):
    # The lending number is 0 once a task has its result; then the library has ended the wait already.
    if waiter.lender != 0 and task._posted_with.lender != 0:
        waiter.table._runner.end_wait(waiter.lender, task._posted_with.lender)


def _awaiting(task, iterator, waiter):
    try:
        return (yield from iterator)
    finally:
        _end_wait(task, waiter)


def _is_of_a_coroutine(callback):
    """Returns whether callback continues a coroutine.  Then LendingTask.__await__ () has reported the wait, and reports its end."""
    return is_wakeup(callback) or isinstance(callback, Driver)


class LendingTask(PostedTask):
    """Represents a task to which other tasks lend their priority while they wait for it."""

    __slots__ = ()

    def __await__(self):
        iterator = super().__await__()
        waiter = _begin_wait(self) if not self._done else None
        return iterator if waiter is None else _awaiting(self, iterator, waiter)

    __iter__ = __await__

    def add_done_callback(self, callback, *, context=None):
        # asyncio.gather () and asyncio.wait () add callbacks, and do not call __await__ (), so the wait begins here.
        if not self._done and not _is_of_a_coroutine(callback):
            _begin_wait(self)
        super().add_done_callback(callback, context=context)

    def remove_done_callback(self, callback):
        n_removed = super().remove_done_callback(callback)
        waiter = current_state()
        if isinstance(waiter, LendingState) and not _is_of_a_coroutine(callback):
            for _ in range(n_removed):
                _end_wait(self, waiter)
        return n_removed


def new_lending_task(callback, state, name):
    """Returns a task, not posted yet, that can lend its priority.  state, a LendingState, gets a weak reference to the task."""
    task = new_task(callback, state, name, LendingTask)
    state.task = weakref.ref(task)
    return task


class LendingTable(Table):
    """Keeps the tasks of a scheduler whose lends-priority is set.  Each task has a separate state, which keeps its lending number."""

    def post(self, callback):
        return self._post_lending(callback, LendingState(self, None, _USER_VISIBLE), 0, None)

    def post_quickly(self, callback, priority, signal):
        return None

    def post_with(self, callback, priority, signal, delay, name):
        return self._post_lending(callback, LendingState(self, signal, own_priority(priority, signal)), delay, name)

    def post_rare(self, callback, priority, signal, delay, name, timeout, takes_turns):
        state = LendingState(self, signal, own_priority(priority, signal), expiry_after(delay, timeout), takes_turns)
        return self._post_lending(callback, state, delay, name, timeout)

    def _post_lending(self, callback, state, delay, name, timeout=0):
        task = new_lending_task(callback, state, name)
        number = self._add(task)
        if self._post_full(number, state.priority, state.signal, delay, timeout, state.takes_turns) == _REJECTED:
            self._reject(self._take(number))
        return task

    def yield_now(self):
        return self._lend_to(super().yield_now())

    def yield_with(self, signal, priority, takes_turns):
        return self._lend_to(super().yield_with(signal, priority, takes_turns))

    def sleep(self, delay, signal, priority, takes_turns=False):
        return self._lend_to(super().sleep(delay, signal, priority, takes_turns))

    def _lend_to(self, continuation):
        """Reports that the running code waits for its own continuation, which thus borrows the priorities that other tasks lend to the code.

        Returns continuation.
        """
        state = current_state()
        if isinstance(state, LendingState) and not continuation._done and state.find_lender() != 0:
            self._runner.begin_wait_for_id(state.lender, continuation._number)
        return continuation
