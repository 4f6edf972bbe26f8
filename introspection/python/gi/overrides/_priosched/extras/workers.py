"""Runs functions in threads that have their own main context and scheduler."""

from gi.module import get_introspection_module

from ..arguments import check_name

PrioSched = get_introspection_module('PrioSched')

_HOW = {'abort': PrioSched.WorkerStop.ABORT, 'finish': PrioSched.WorkerStop.FINISH}


class Worker(PrioSched.Worker):
    """Runs one function after the other in a thread, by priority: await scheduler.run_in_worker (worker, func).

    name  the name of the thread, which debuggers and the operating system show

    As a context manager, it is stopped at the end and joined: queued functions run first, or are aborted if an exception is raised.
    Python's interpreter runs in one thread at a time, so a worker helps functions that wait, and libraries that compute without it.
    """

    def __init__(self, name=None):
        check_name(name)
        super().__init__(name=name)
        self._is_stopped = False

    @property
    def name(self):
        """The name of the thread, or None."""
        return self.props.name

    @property
    def scheduler(self):
        """The scheduler whose tasks run in the thread.  Tasks that are posted to it stay in the thread, with their callbacks."""
        return self.get_scheduler()

    def stop(self, how='abort'):
        """Ends the thread, soon.  A function that runs is not interrupted.

        how  'abort', which fails queued functions with PrioSched.Error.CLOSED, or 'finish', which runs them first; or a
             member of PrioSched.WorkerStop
        """
        if not isinstance(how, PrioSched.WorkerStop):
            if how.__class__ is not str or how not in _HOW:
                raise ValueError(f"{how!r} is not a way to stop a worker: these are 'abort', 'finish'")
            how = _HOW[how]
        self._is_stopped = True
        super().stop(how)

    def join(self):
        """Waits until the thread of a stopped worker has ended.  This blocks: call it at the end of a program."""
        if not getattr(self, '_is_stopped', True):
            raise RuntimeError('the worker is not stopped, so its thread would never end')
        if self.scheduler.get_context().is_owner():
            raise RuntimeError('the thread of a worker cannot wait for its own end')
        super().join()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop('finish' if kind is None else 'abort')
        self.join()
