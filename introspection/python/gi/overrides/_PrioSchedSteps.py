"""Generators as tasks: each step is short, and the time slice decides when the task yields.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import inspect
import types

from ..module import get_introspection_module

PrioSched = get_introspection_module('PrioSched')


def is_stepped(value):
    """Whether value, which the callback of a task has returned, is a generator to be stepped."""
    return value.__class__ is types.GeneratorType and not value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE


def in_steps(table, generator, progress=None):
    """Steps generator as long as the slice lasts, and then yields.  An abort is raised where the generator stands."""
    coroutine = _in_steps(table, generator, progress)
    coroutine.__qualname__ = generator.__qualname__  # for names of what runs
    return coroutine


async def _in_steps(table, generator, progress):
    scheduler = table.scheduler() or PrioSched.Scheduler.ref_thread_default()
    should_yield = scheduler.should_yield
    error = value = None
    has_news = False
    try:
        while True:
            try:
                if error is None:
                    value = next(generator)
                else:
                    value = generator.throw(error)
            except StopIteration as stop:
                result = stop.value
                break
            error = None
            has_news = True
            if should_yield():
                if progress is not None:
                    progress(value)
                has_news = False
                try:
                    await table.yield_now()
                except GeneratorExit:
                    raise
                except BaseException as raised:
                    error = raised
        if has_news and progress is not None:
            progress(value)
        return result
    finally:
        generator.close()


def with_progress(table, callback, progress):
    """The callback of a task whose generator tells progress (value) of what it yields."""
    def begin():
        generator = callback()
        if not is_stepped(generator):
            raise TypeError(f'progress is for generators, and {callback!r} has returned {generator!r}')
        return in_steps(table, generator, progress)
    begin._prio_sched_calls = callback
    return begin
