"""Waits at the end of `async with`, for the tasks of a group or for the thread of a worker, without blocking the main loop."""

import asyncio
import threading

from gi.repository import GLib

from ..futures.contexts import get_running_loop, runs
from ..futures.future import CancelledError, Future, cancel_in_turn
from ..futures.reasons import AbortError

# The exceptions after which a wait at the end of `async with` continues.  Others, such as KeyboardInterrupt and GeneratorExit,
# end the program or the coroutine at once.
_ENDS = (Exception, CancelledError)


def is_in_main_loop():
    """Returns whether this thread runs a main loop, which must not block."""
    return GLib.main_depth() > 0 or bool(runs.stack) or get_running_loop() is not None


class _ThreadEnd(Future):
    """Completes when the thread of a stopped worker has ended."""

    __slots__ = ('_worker',)

    def cancel(self, msg=None):
        """Aborts the functions that the worker has queued.

        Returns False, because the waiting code is not cancelled at once, but when the thread has ended.
        """
        if not self._done:
            self._worker.stop('abort')
        return False


async def wait_for_thread(worker, join):
    """Calls join (), which blocks, in a separate thread, and awaits its end.  Then raises the last abort or cancellation of the wait."""
    end = _ThreadEnd()
    end._worker = worker

    def wait():
        join()
        end._settle()

    threading.Thread(target=wait, name='PrioSched join', daemon=True).start()
    aborted = None
    while not end.done():
        try:
            await end
        except _ENDS as error:
            worker.stop('abort')
            aborted = error
    if aborted is not None:
        raise aborted


class _Entering:
    """Finds the driver that runs a coroutine, when the coroutine awaits this object."""

    _asyncio_future_blocking = False

    def __init__(self):
        self.driver = None

    def __await__(self):
        self._asyncio_future_blocking = True
        yield self

    def add_done_callback(self, driver):
        self.driver = driver
        driver.go_on_after(self)

    def remove_done_callback(self, driver):
        """Does nothing, because go_on_after () checks whether the driver still waits."""

    def cancel(self, msg=None):
        return False


async def _find_run():
    """Returns the asyncio task, or the driver, that runs this coroutine."""
    loop = get_running_loop()
    if loop is not None:
        return asyncio.current_task(loop)
    entering = _Entering()
    await entering
    return entering.driver


class GroupScope:
    """Waits, at the end of `async with`, for the tasks of a group, and aborts all of them when one of them fails.

    The body is the code in `async with`.
    """

    def __init__(self, group):
        self._group = group
        self._run = None
        self._failed = None  # the first task that has failed
        self._is_decided = False  # whether the scope ends with another exception, so that errors of tasks are reported as usual
        self._feeds = set()
        self._change = None  # completes when a feed has ended
        self._is_cancelled = False  # whether a failure has cancelled the body, which has not got the CancelledError yet

    async def enter(self):
        self._run = await _find_run()

    def follow(self, feed):
        """Makes the scope also wait for feed, which is the task of a feed, and not a task of the group."""
        self._feeds.add(feed)
        feed.add_done_callback(self._feed_ended)

    def _feed_ended(self, feed):
        self._feeds.discard(feed)
        self.ended(feed)
        if self._change is not None:
            self._change._settle()

    def ended(self, task):
        """Aborts the group, and cancels the body, if task, which has ended, is the first to fail.  Keeps the task for leave ()."""
        error = task._exception
        if error is None or self._failed is not None or self._is_decided or task._aborted or isinstance(error, CancelledError):
            return
        self._failed = task
        task._retrieved = True
        self._group.abort()
        if self._run is not None:
            self._is_cancelled = True
            if hasattr(self._run, 'cancel_coroutine'):
                cancel_in_turn(self._run, None)
            else:
                self._run.cancel()

    def _takes_back(self, error):
        """Returns whether error is the CancelledError with which the scope has cancelled its own body.

        If so, takes back the cancellation.  Returns False if other code has cancelled the body, too.
        """
        if not self._is_cancelled or not isinstance(error, CancelledError):
            return False
        self._is_cancelled = False
        return not isinstance(self._run, asyncio.Task) or self._run.uncancel() == 0

    async def leave(self, error):
        """Waits until the group is empty.  Returns False if the body failed by itself, or was aborted.

        Returns True if the body raised nothing, or only the cancellation that the scope itself caused.  In that case, and
        if the body has turned that cancellation into another exception, raises an abort that came during the wait or,
        without an abort, the first exception of a task.
        """
        is_own = error is None or self._takes_back(error) or (self._is_cancelled and not isinstance(error, (CancelledError, AbortError)))
        self._is_decided = not is_own
        if error is not None:
            self._group.abort()
        ended = None
        is_done = False
        while not is_done:
            try:
                await self._group.drained()
                is_done = not self._feeds
                if not is_done:
                    self._change = Future()
                    await self._change
            except _ENDS as caught:
                if not self._takes_back(caught):
                    ended = caught
                    self._is_decided = True
                    self._group.abort()
        if self._is_cancelled and isinstance(self._run, asyncio.Task):
            self._run.uncancel()
        if self._failed is not None and self._is_decided:
            self._failed._retrieved = False  # so that its error is reported
        elif self._failed is not None:
            raise self._failed._exception
        if ended is not None and is_own:
            raise ended
        return is_own
