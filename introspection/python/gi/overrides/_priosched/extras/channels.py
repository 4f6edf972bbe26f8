"""Brings values from any thread to a function that runs on a main loop: channels."""

import collections
import inspect
import os
import threading

from gi.module import get_introspection_module
from gi.repository import GLib, GObject

from ..arguments import MAX_LIMIT, check_name, check_seconds, to_callback, to_priority, to_scheduler, to_signal, to_whole
from ..futures.contexts import is_run_here
from ..futures.future import Future
from ..futures.handlers import kept

PrioSched = get_introspection_module('PrioSched')

_PACES = {'each': PrioSched.ChannelPace.EACH, 'turn': PrioSched.ChannelPace.TURN, 'frame': PrioSched.ChannelPace.FRAME}
_FRAME = 17  # the length of a frame at 60 Hz, in milliseconds, rounded up

# The lock of all channels.  fork () takes the lock before it copies the process, so that the child can use channels, too.
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def _to_pace(value):
    if isinstance(value, PrioSched.ChannelPace):
        return value
    if value.__class__ is not str or value not in _PACES:
        raise ValueError(f"{value!r} is not a pace: these are 'each', 'turn', 'frame'")
    return _PACES[value]


def _closed_error():
    return GLib.Error.new_literal(PrioSched.error_quark(), 'The channel is closed', PrioSched.Error.CLOSED)


class Channel:
    """Brings values from any thread to callback (value), which runs on the main loop, without a queue that grows.

    capacity   how many values wait or are in use at most: with 1 and replace (), the newest value wins
    pace       how often callback is called: 'each', for each value as soon as tasks of priority run; 'turn', at most once
               in a turn of the main loop; or 'frame', at most once a frame
    scheduler  the default one, or another
    priority, signal, name  as for post_task (); an abort of signal ends the channel

    callback is a function.  If it returns a task, such as a task of a group, the value counts as in use until the task is done.  A
    coroutine function or generator function is refused, because no code would run its result.  Any thread may use the channel.
    """

    def __init__(self, callback, capacity=1, pace='each', scheduler=None, priority=None, signal=None, name=None):
        check_name(name)
        self._callback = to_callback(callback)
        if inspect.iscoroutinefunction(callback) or inspect.isgeneratorfunction(callback):
            raise TypeError(f'{callback!r} has to run as a task: pass lambda value: scheduler.post_task(lambda: function(value))')
        self._capacity = to_whole(capacity, 'capacity', 'values', MAX_LIMIT, 1)
        self._pace = _to_pace(pace)
        self._scheduler = PrioSched.Scheduler.get_default() if scheduler is None else to_scheduler(scheduler)
        to_priority(priority)
        self._options = {'priority': priority, 'name': name}
        self._signal = kept(to_signal(signal))
        self._changed = threading.Condition(_lock)  # its lock guards the attributes below
        self._values = collections.deque()
        self._outside = collections.OrderedDict()  # the futures of give_async (), and their values, which wait until the channel is less full
        self._n_held = 0  # the number of values that callback uses, or whose tasks are not done
        self._is_posted = self._is_closed = False

    def __len__(self):
        """Returns how many values wait, are in use, or have tasks that are not done."""
        with self._changed:
            return len(self._values) + self._n_held

    def __bool__(self):
        return True

    @property
    def closed(self):
        """Whether the channel is closed to further values."""
        signal = self._signal()
        return self._is_closed or (signal is not None and signal.is_cancelled())

    def _has_place(self):
        return len(self._values) + self._n_held < self._capacity

    def _append(self, value):
        """Appends value; the caller holds the lock.  Returns whether the caller has to post the channel's task, by _post ()."""
        self._values.append(value)
        posts, self._is_posted = not self._is_posted, True
        return posts

    def replace(self, value):
        """Gives value.  If the channel is full, the oldest waiting value is dropped.

        If the channel is full of values in use, and none waits, value is added all the same.  Returns False if the channel is
        closed.
        """
        old = None
        with self._changed:
            if self.closed:
                return False
            if self._values and not self._has_place():
                old = self._values.popleft()
            posts = self._append(value)
        if posts:
            self._post(0)
        del old  # outside the lock, because this may run code of the program
        return True

    def offer(self, value):
        """Gives value, unless the channel is full or closed, or other values wait until it is less full: then returns False."""
        with self._changed:
            if self.closed or self._outside or not self._has_place():
                return False
            posts = self._append(value)
        if posts:
            self._post(0)
        return True

    def give(self, value, timeout=None):
        """Gives value.  If the channel is full, blocks this thread until there is a place for value.

        timeout  seconds, as for queue.Queue.put (), after which TimeoutError is raised

        Raises GLib.Error, PrioSched.Error.CLOSED, if the channel is or gets closed.  Raises RuntimeError on the thread of the main
        loop if the channel is full, because the thread would wait for ever: await give_async () there.
        """
        check_seconds(timeout)
        if self.offer(value):
            return
        if is_run_here(self._scheduler.get_context()):
            if self.closed:
                raise _closed_error()
            raise RuntimeError('the channel is full, and the thread of its main loop would wait for itself: await give_async()')
        future, signal = self.give_async(value), self._signal()
        handler = GObject.Object.connect(signal, 'cancelled', self._wake) if signal is not None else 0
        with self._changed:
            self._changed.wait_for(lambda: future.done() or self.closed, timeout)
            is_taken_back = self._outside.pop(future, self) is not self
            if not is_taken_back:
                self._changed.wait_for(future.done)  # another thread has taken value or rejects it, and is about to settle future
        if signal is not None:
            GObject.Object.disconnect(signal, handler)
        if is_taken_back:
            future.cancel()
            raise _closed_error() if self.closed else TimeoutError('the channel has been full all the time')
        future.result()

    def give_async(self, value):
        """Gives value, and waits until the channel has a place for it: await channel.give_async (value).

        The await raises GLib.Error, PrioSched.Error.CLOSED, if the channel is or gets closed.
        """
        future = Future()
        with self._changed:
            self._outside[future] = value
        self._let_in(0)
        return future

    def _let_in(self, n_places):
        """Notes that n_places more values have been used, and takes values of callers that wait, until the channel is full.

        If the channel is closed, the waiting callers get an error instead.
        """
        posts, ended = False, []
        with self._changed:
            self._n_held -= n_places
            closed = self.closed
            while self._outside and (closed or self._has_place()):
                ended.append(self._outside.popitem(last=False))
                if not closed and not ended[-1][0].done():
                    posts |= self._append(ended[-1][1])
        if posts:
            self._post(0)
        for future, _value in ended:  # outside the lock, because settling a future and releasing a value may run code of the program
            if future.done():
                continue
            if closed:
                future._retrieved = True  # the error is not reported if no code awaits the future
            future._settle(None, _closed_error() if closed else None)
        self._wake()

    def _wake(self, *_):
        with self._changed:
            self._changed.notify_all()

    def close(self):
        """Closes the channel to further values.  A second call does nothing.

        callback still gets the values in the channel.  Callers that wait until the channel is less full get an error.
        """
        with self._changed:
            self._is_closed = True
        self._let_in(0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _post(self, delay):
        self._scheduler.post_task(self._take, delay=delay, signal=self._signal(), **self._options).add_done_callback(self._taken)

    def _taken(self, task):
        """Ends the channel if its task has been aborted, or has been dropped with the main context."""
        if task.state != PrioSched.TaskState.ABORTED:
            return
        task.exception()
        with self._changed:
            values, self._values = self._values, collections.deque()
            self._is_closed, self._is_posted = True, False
        self._let_in(0)
        del values

    def _delay(self):
        """Returns how many milliseconds to wait between a value and the next, which the pace decides."""
        if self._pace == PrioSched.ChannelPace.EACH:
            return 0
        if self._pace == PrioSched.ChannelPace.TURN:
            return 1
        left = self._scheduler.get_next_frame() - PrioSched.testing_get_time()
        return left // 1000 + 1 if left > 0 else _FRAME

    def _take(self):
        """Calls the callback with waiting values until none is left or the task should yield, or once if the pace is 'turn' or 'frame'."""
        while True:
            with self._changed:
                if not self._values:
                    self._is_posted = False
                    return
                value = self._values.popleft()
                self._n_held += 1
            try:
                task = self._callback(value)
            except BaseException:
                self._post(self._delay())
                self._let_in(1)
                raise
            del value
            if hasattr(task, 'add_done_callback'):
                task.add_done_callback(lambda _: self._let_in(1))
            else:
                self._let_in(1)
            delay = self._delay()
            if delay > 0 or self._scheduler.should_yield():
                self._post(delay)
                return
