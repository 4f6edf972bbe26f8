"""Generators as tasks: each step is short, and the time slice decides when the task yields.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import inspect
import types

from gi.module import get_introspection_module

from .aborts import is_yet_to_be_told
from .drivers import is_awaitable

PrioSched = get_introspection_module('PrioSched')


def _is_generator(value):
    return value.__class__ is types.GeneratorType and not value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE


class _WithProgress:
    """A generator to be stepped, and a function that gets its yields."""

    __slots__ = ('generator', 'progress')

    def __init__(self, generator, progress):
        self.generator = generator
        self.progress = progress

    def __await__(self):
        # An awaitable is not taken for the result.
        raise TypeError('generators are stepped')


def is_stepped(value):
    """Whether value, which the callback of a task has returned, is a generator to be stepped."""
    return _is_generator(value) or value.__class__ is _WithProgress


def in_steps(table, value, task):
    """Steps the generator of task as long as the slice lasts, and then yields.  An abort is raised where the generator stands.

    It awaits what the generator yields if that can be awaited, and the generator gets the result.
    """
    generator, progress = (value.generator, value.progress) if value.__class__ is _WithProgress else (value, None)
    coroutine = _in_steps(table, generator, progress, task)
    coroutine.__qualname__ = generator.__qualname__  # for names of what runs
    return coroutine


def has_ended_itself(task):
    """Whether the step that task has made has aborted or cancelled it."""
    run = task._callback  # or its function, in the first step
    return (task._aborted or getattr(run, '_must_cancel', False) or getattr(run, 'pending', None) is not None or
            is_yet_to_be_told())


async def _in_steps(table, generator, progress, task):
    scheduler = table.scheduler() or PrioSched.Scheduler.ref_thread_default()
    should_yield = scheduler.should_yield
    error = sent = news = None
    has_news = False
    try:
        while True:
            try:
                value = generator.send(sent) if error is None else generator.throw(error)
            except StopIteration as stop:
                result = stop.value
                break
            error = sent = None
            waits = value is not None and is_awaitable(value)
            if not waits:
                news, has_news = value, True
            if waits or should_yield() or has_ended_itself(task):
                if has_news and progress is not None:
                    progress(news)
                has_news = False
                try:
                    sent = await (value if waits else table.yield_now())
                except GeneratorExit:
                    raise
                except BaseException as raised:
                    error = raised
        if has_news and progress is not None:
            progress(news)
        return result
    finally:
        generator.close()


def with_progress(callback, progress):
    """The callback of a task whose generator tells progress (value) of what it yields."""
    def begin():
        generator = callback()
        if not _is_generator(generator):
            raise TypeError(f'progress is for generators, and {callback!r} has returned {generator!r}')
        return _WithProgress(generator, progress)
    begin._prio_sched_calls = callback
    return begin
