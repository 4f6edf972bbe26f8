"""Runs functions in threads that have their own main context and scheduler."""

import weakref

from gi.module import get_introspection_module

from ..arguments import check_name, to_priority, to_signal
from ..tasks import threads
from .scopes import is_in_main_loop, wait_for_thread

PrioSched = get_introspection_module('PrioSched')

_HOW = {'abort': PrioSched.WorkerStop.ABORT, 'finish': PrioSched.WorkerStop.FINISH}

# All workers, for _is_in_worker (): their threads may block.
_workers = weakref.WeakSet()


def _is_in_worker():
    return any(worker.scheduler.get_context().is_owner() for worker in tuple(_workers))


class Worker(PrioSched.Worker):
    """Runs one function after the other in a thread, by priority: await worker.run (scheduler, func).

    name  the name of the thread, which debuggers and the operating system show

    `async with` stops the worker at the end, and waits for its thread while the main loop continues: queued functions run first,
    or are aborted if an exception is raised.  Plain `with` does the same and blocks, so it raises RuntimeError in a main loop, except
    in a worker's thread.
    Python's interpreter runs in one thread at a time, so a worker helps functions that wait, and libraries that release the GIL.
    """

    def __init__(self, name=None):
        check_name(name)
        super().__init__(name=name)
        self._is_stopped = False
        _workers.add(self)

    @property
    def name(self):
        """The name of the thread, or None."""
        return self.props.name

    @property
    def scheduler(self):
        """The scheduler whose tasks run in the thread.  Tasks that are posted to it stay in the thread, with their callbacks."""
        return self.get_scheduler()

    def run(self, scheduler, func, *args, priority=None, signal=None, name=None):
        """Calls func (*args) in the thread, one call after the other, and returns its result or raises its exception.

        priority, signal and name are as in scheduler.run_in_thread ().  If the thread ends before func begins, the await raises
        GLib.Error, PrioSched.Error.CLOSED.
        """
        if not isinstance(scheduler, PrioSched.Scheduler):
            raise TypeError(f'{scheduler!r} is not a PrioSched.Scheduler')
        return threads.run_in_thread(scheduler, self, func, args, to_priority(priority), to_signal(signal), name)

    def stop(self, how='abort'):
        """Asks the thread to end, and returns at once.  A function that is running is not interrupted.

        how  'abort', which makes queued functions fail with PrioSched.Error.CLOSED, or 'finish', which runs them first; or a
             member of PrioSched.WorkerStop
        """
        if not isinstance(how, PrioSched.WorkerStop):
            if how.__class__ is not str or how not in _HOW:
                raise ValueError(f"{how!r} is not a way to stop a worker: these are 'abort', 'finish'")
            how = _HOW[how]
        self._is_stopped = True
        super().stop(how)

    def join(self):
        """Waits until the thread of a stopped worker has ended.  This blocks: call it at the end of a program.

        Raises RuntimeError if the worker is not stopped, and in the worker's thread.
        """
        if not getattr(self, '_is_stopped', True):
            raise RuntimeError('the worker is not stopped, so its thread would never end')
        self._check_thread()
        super().join()

    def _check_thread(self):
        if self.scheduler.get_context().is_owner():
            raise RuntimeError('the thread of a worker cannot wait for its own end')

    def __enter__(self):
        if is_in_main_loop() and not _is_in_worker():
            self.stop()
            raise RuntimeError('`with` would block the main loop until the thread of the worker has ended: use `async with`')
        return self

    def __exit__(self, kind, *_):
        self.stop('finish' if kind is None else 'abort')
        self.join()

    async def __aenter__(self):
        self._check_thread()
        return self

    async def __aexit__(self, kind, *_):
        self.stop('finish' if kind is None else 'abort')
        await wait_for_thread(self, super().join)
