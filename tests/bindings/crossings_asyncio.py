"""Has the operations of the programs of crossings.py with asyncio's functions"""

import asyncio

from crossings_operations import Coroutine, older, some_scheduler
from crossings_posts import ASYNCIO, AWAITS, new_work, operation
from crossings_program import Awaited

HERE = AWAITS | ASYNCIO


class Child(Awaited):
    """Represents a task of asyncio, which asyncio may cancel."""

    def allows(self, value, error):
        return isinstance(error, asyncio.CancelledError) and self.program.has_cancelled or super().allows(value, error)


def new_child(program, here):
    """Creates a coroutine that belongs to the running task."""
    work, kinds = new_work(program, here, here.chain, ('coroutine', 'raises'), in_group=here.in_group)
    work.kind, work.here.awaits, work.here.loop = 'coroutine', True, here.loop
    for kind in kinds:
        program.use(kind)
    return work


def begin(program, here, make=asyncio.create_task):
    work = new_child(program, here)
    child = Child(program, 'a child', make(work.coroutine()), here.chain, work)
    program.has_cancelled = True  # an abort cancels children
    return child


@operation('create-task', HERE)
def create_task(program, here):
    return begin(program, here)


def of(program, what, here, coroutine, values, inner):
    """Records a coroutine that awaits the awaitables in inner, and raises any of their exceptions."""
    awaited = Coroutine(program, what, coroutine, here.chain, values)
    awaited.allows_error = lambda error: any(one.allows_error(error) for one in inner) or program.is_allowed(here.chain, error)
    return awaited


@operation('gather', HERE)
def gather(program, here):
    inner = [begin(program, here), begin(program, here)]
    leaf = older(program, here)
    if leaf is not None:
        inner.append(leaf)
    keeps = here.rng.random() < .5

    async def collect():
        return await asyncio.gather(*(one.future for one in inner), return_exceptions=keeps)
    return of(program, 'gather', here, collect(), lambda value: len(value) == len(inner), inner)


@operation('task-group', HERE)
def task_group(program, here):
    inner = []

    async def collect():
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(2):
                    inner.append(begin(program, here, group.create_task))
                program.act(here.inner(here.chain))
        except BaseExceptionGroup as group:
            for error in group.exceptions:
                if not any(one.allows_error(error) for one in inner) and not program.is_allowed(here.chain, error):
                    program.fail(f'a group of asyncio has raised {error!r}')
    return of(program, 'a group of asyncio', here, collect(), lambda value: value is None, inner)


def waits(program, here):
    leaf = older(program, here)
    return leaf if leaf is not None and here.rng.random() < .5 else begin(program, here)


@operation('timeout-of-asyncio', HERE)
def timeout(program, here):
    inner, delay = waits(program, here), here.rng.choice((0, .001, 5))
    program.has_cancelled = True
    inner.cancelled = True

    async def collect():
        try:
            async with asyncio.timeout(delay):
                await inner.future
        except TimeoutError:
            if delay == 5 and not inner.allows_error(TimeoutError()):
                inner_error = inner.future.exception() if inner.future.done() and not inner.future.cancelled() else None
                if not isinstance(inner_error, TimeoutError) and not is_timeout_of(program, here):
                    program.fail('a timeout of asyncio has passed too soon')
    return of(program, 'a timeout of asyncio', here, collect(), lambda value: value is None, [inner])


def is_timeout_of(program, here):
    """Returns whether a signal that can abort the task may have been aborted for a TimeoutError."""
    signals = program.signals if here.chain is None else here.chain
    return any(isinstance(reason, TimeoutError) for signal in signals for reason in signal.reasons)


@operation('wait-for', HERE)
def wait_for(program, here):
    inner = waits(program, here)
    program.has_cancelled = True
    inner.cancelled = True

    async def collect():
        try:
            await asyncio.wait_for(inner.future, here.rng.choice((0, .001, 5)))
        except TimeoutError:
            pass
    return of(program, 'wait_for', here, collect(), lambda value: value is None, [inner])


@operation('to-thread', HERE)
def to_thread(program, here):
    inner = here.inner(None, in_thread=True)
    return Coroutine(program, 'to_thread', asyncio.to_thread(lambda: program.act(inner) and None), here.chain, lambda value: value is None)


@operation('sleep-of-asyncio', HERE)
def sleep(program, here):
    return Coroutine(program, 'asyncio.sleep', asyncio.sleep(here.rng.choice((0, 0, .001))), here.chain, lambda value: value is None)


@operation('call-soon', HERE)
def call_soon(program, here):
    inner = here.inner(None)
    program.calls += 1

    def call():
        program.calls -= 1
        program.act(inner)
    here.rng.choice((here.loop.call_soon, here.loop.call_soon_threadsafe, lambda call: here.loop.call_later(.001, call)))(call)


@operation('lock', HERE)
def lock(program, here):
    own = program.lock

    async def hold():
        async with own:
            await some_scheduler(program, here).yield_()
            await asyncio.sleep(0)
    return Coroutine(program, 'a lock', hold(), here.chain, lambda value: value is None)
