"""Runs generators as tasks: a step runs up to the generator's next yield, and the time slice decides after which step the task yields."""

import inspect
import types

from gi.module import get_introspection_module

from .._native import make_steps
from .aborts import is_yet_to_be_told, signal_here
from .drivers import is_awaitable

PrioSched = get_introspection_module('PrioSched')


def _is_generator(value):
    return value.__class__ is types.GeneratorType and not value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE


class _WithProgress:
    """Contains a generator to run step by step, and the function to call with values that the generator yields."""

    __slots__ = ('generator', 'progress')

    def __init__(self, generator, progress):
        self.generator = generator
        self.progress = progress

    def __await__(self):
        # Only makes the object look awaitable, as the native code expects; an await of it fails.
        raise TypeError('generators are stepped')


def is_stepped(value):
    """Returns whether value, which the callback of a task has returned, is a generator to run step by step, with or without progress ()."""
    return _is_generator(value) or value.__class__ is _WithProgress


def in_steps(table, value, task):
    """Returns a coroutine that runs the generator in value, step by step, as task, and yields to other tasks when it should.

    An abort is raised at the generator's current yield.  If the generator yields an awaitable, the coroutine awaits it, and
    sends the result to the generator.
    """
    generator, progress = (value.generator, value.progress) if value.__class__ is _WithProgress else (value, None)
    coroutine = _in_steps(table, generator, progress, task)
    coroutine.__qualname__ = generator.__qualname__  # name_of () uses this attribute
    return coroutine


def has_ended_itself(task):
    """Returns whether the current step of task has aborted or cancelled task, or another thread has aborted it meanwhile."""
    run = task._callback  # the Driver or asyncio task; in the first step the task's function
    return (task._aborted or getattr(run, '_must_cancel', False) or getattr(run, 'pending', None) is not None or
            is_yet_to_be_told())


async def _in_steps(table, generator, progress, task):
    scheduler = table.scheduler() or PrioSched.Scheduler.ref_thread_default()
    signal = signal_here()
    passed = None if progress is None else []  # a list, which ends with the value that progress () has yet to get, if any
    error = sent = None
    try:
        while True:
            try:
                if error is not None:
                    value = generator.throw(error)
                elif sent is not None:
                    value = generator.send(sent)
                else:
                    value = make_steps(generator, scheduler, task, signal, passed)
            except StopIteration as stop:
                result = stop.value
                break
            error = sent = None
            waits = value is not None and is_awaitable(value)
            if not waits and passed is not None:
                passed[:] = [value]
            if waits or scheduler.should_yield() or has_ended_itself(task):
                _report(progress, passed)
                try:
                    sent = await (value if waits else table.yield_now())
                except GeneratorExit:
                    raise
                except BaseException as raised:
                    error = raised
        _report(progress, passed)
        return result
    finally:
        generator.close()
        task = signal = None  # a traceback may refer to this frame, and the collector does not see the references of a signal


def _report(progress, passed):
    if passed:
        value = passed[-1]
        passed.clear()
        progress(value)


def with_progress(callback, progress):
    """Returns a callback for a task that runs the generator of callback (), and reports to progress () the values that it yields.

    progress () gets the last value whenever the task yields, awaits or ends.
    """
    def begin():
        generator = callback()
        if not _is_generator(generator):
            raise TypeError(f'progress is for generators, and {callback!r} has returned {generator!r}')
        return _WithProgress(generator, progress)
    begin._prio_sched_calls = callback
    return begin
