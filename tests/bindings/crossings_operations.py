"""Has the operations of the programs of crossings.py, each for one mechanism that is on"""

import asyncio
import json
import os
import tempfile
import threading

import gi

gi.require_version('PrioSched', '1')
from crossings_posts import (AWAITS, LOOP, PRIORITIES, callback_of, new_controller, new_error, new_reason, new_work,  # noqa: E402
                             operation, options, posted, settle_uses, some_controller, some_scheduler)
from crossings_program import Awaited  # noqa: E402
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix='crossings-')
TRACE = os.path.join(FOLDER, 'trace.json')
tracing = threading.RLock()
# gbulb continues asyncio in a main loop that one of its tasks runs, which asyncio does not allow.
NESTS = gi.version_info >= (3, 50)


# Signals

@operation('set-priority')
def set_priority(program, here):
    signal = some_controller(program, here)
    try:
        signal.controller.set_priority(here.rng.choice(PRIORITIES))
    except GLib.Error as error:
        if not error.matches(PrioSched.error_quark(), PrioSched.Error.NOT_ALLOWED):
            raise


@operation('abort')
def abort(program, here):
    signal = here.rng.choice(program.signals) if program.signals else new_controller(program, here)
    if signal.controller is None:
        if type(signal.native) is Gio.Cancellable:
            signal.native.cancel()
        return
    reason = new_reason(program, here) if program.wants('reason', here.rng, .5) else None
    if reason is not None:
        program.use('reason')
    signal.reasons.append(PrioSched.AbortError() if reason is None else reason)
    signal.controller.abort(reason)


@operation('reason')
def reason(program, here):
    """Tests values that are refused as reasons."""
    signal = some_controller(program, here)
    was_aborted = signal.is_aborted()
    try:
        signal.controller.abort(here.rng.choice(('text', 5, Exception, object(), StopIteration('end'), StopAsyncIteration('end'))))
    except TypeError:
        if signal.is_aborted() and not was_aborted and not here.in_thread:
            program.fail('an abort that is refused has aborted')
    else:
        program.fail('an abort with a bad reason')


@operation('handler', LOOP)
def handler(program, here):
    """Performs an operation in a handler, which may be removed before it is called."""
    signal = some_controller(program, here)
    name = here.rng.choice(('priority-change', 'cancelled', 'notify::priority', 'notify::reason'))
    inner = here.inner(None)
    calls = []

    def handle(*_):
        if len(calls) < 3:
            calls.append(1)
            program.act(inner)
    program.handlers.append((signal.native, signal.native.connect(name, handle)))


@operation('handler-off', LOOP)
def handler_off(program, here):
    if program.handlers:
        native, number = program.handlers.pop(here.rng.randrange(len(program.handlers)))
        native.disconnect(number)


# Awaiting

@operation('yield', LOOP)
def yield_(program, here):
    arguments, chain, used = options(program, here)
    arguments = {name: value for name, value in arguments.items() if name in ('signal', 'priority')}
    if not arguments.get('signal'):
        chain = here.chain
        if arguments and here.rng.random() < .5:
            arguments['signal'] = 'inherit'
    elif here.chain is not None:
        chain += here.chain
    return Awaited(program, 'a yield', some_scheduler(program, here).yield_(**arguments), chain, listen=not here.awaits)


@operation('sleep', LOOP)
def sleep(program, here):
    future = some_scheduler(program, here).sleep(here.rng.randrange(3))
    return Awaited(program, 'a sleep', future, here.chain, listen=not here.awaits)


@operation('older', AWAITS)
def older(program, here):
    """Awaits a promise that others may await, too."""
    known = [awaited for awaited in program.leaves if not (here.in_group and 'group' in awaited.used)]
    return here.rng.choice(known) if known else None


class Coroutine(Awaited):
    """Represents a coroutine that is awaited, or never starts."""

    def __init__(self, program, what, coroutine, chain, results=None):
        self.program, self.what, self.future, self.chain, self.work = program, what, coroutine, chain, None
        self.cancelled, self.used, self.results = False, (), results

    def allows_value(self, value):
        return self.results is None or self.results(value)

    def allows_error(self, error):
        return self.inner.allows_error(error) if getattr(self, 'inner', None) else super().allows_error(error)


@operation('adopt', AWAITS | LOOP)
def adopt(program, here):
    awaited = older(program, here) or yield_(program, here)
    coroutine = Coroutine(program, f'adopted: {awaited}', some_scheduler(program, here).adopt(awaited.future), here.chain, awaited.allows_value)
    coroutine.inner = awaited
    return coroutine


@operation('each', AWAITS | LOOP)
def each(program, here):
    scheduler = some_scheduler(program, here)
    inner = here.inner(here.chain)
    is_async = program.wants('async-generator', here.rng)
    if is_async:
        program.use('async-generator')

    async def items():
        for i in range(3):
            await scheduler.yield_()
            yield i

    async def iterate():
        got = []
        async for item in scheduler.each(items() if is_async else range(3)):
            got.append(item)
            program.act(inner)
        return got
    return Coroutine(program, 'each', iterate(), here.chain, lambda value: value == [0, 1, 2])


@operation('async-generator', AWAITS | LOOP)
def async_generator(program, here):
    """Makes a generator that may be left in the middle."""
    scheduler, n_items = some_scheduler(program, here), here.rng.randrange(4)

    async def items():
        try:
            while True:
                await scheduler.yield_()
                yield 5
        finally:
            program.act(here.inner(None))

    async def iterate():
        generator, n_got = items(), 0
        try:
            async for item in generator:
                n_got += 1
                if n_got >= n_items:
                    break
        finally:
            await generator.aclose()
        return n_got
    return Coroutine(program, 'an async generator', iterate(), here.chain, lambda value: value == max(n_items, 1))


@operation('latest', LOOP)
def latest(program, here):
    scheduler = some_scheduler(program, here)
    signal = some_controller(program, here) if program.wants('controller', here.rng) else None
    job = scheduler.latest(lambda: scheduler.yield_() if here.rng.random() < .5 else 7, here.rng.choice(PRIORITIES),
                           signal and signal.native)
    chain = (signal,) if signal else ()
    for _ in range(here.rng.randrange(3)):
        run = job()
        Latest(program, 'a run before', run._task, chain)
    run = job()
    if here.rng.random() < .2:
        job.abort()
    return Latest(program, 'a run', run._task, chain) if here.rng.random() < .5 or not here.awaits else None


class Latest(Awaited):
    def allows_value(self, value):
        return value in (None, 7)

    def allows_error(self, error):
        return isinstance(error, PrioSched.AbortError) or super().allows_error(error)


@operation('cancel')
def cancel(program, here):
    known = [awaited for awaited in program.awaited[-20:] if awaited.can_cancel]
    if known:
        here.rng.choice(known).cancel()


@operation('listener', LOOP)
def listener(program, here):
    """Performs an operation in a done callback, or in a callback that is removed."""
    known = program.awaited[-20:]
    if not known:
        return
    awaited = here.rng.choice(known)
    if awaited.n_listeners == 1 and here.rng.random() < .3:
        awaited.ignore()
        return
    inner = here.inner(None)
    awaited.future.add_done_callback(lambda future: program.act(inner))
    awaited.listen()


# Switches

def add_switch(name, on, off, where=LOOP):
    """Adds an operation that turns a switch of a scheduler on for a while."""
    @operation(name, where)
    def switch(program, here):
        scheduler = some_scheduler(program, here)
        state = program.switched.setdefault(name, {})
        if state.pop(id(scheduler), False):
            program.unuse(name)
            off(scheduler)
            return
        state[id(scheduler)] = True
        program.use(name, True)
        on(scheduler)
        program.endings.append(lambda: off(scheduler) if state.pop(id(scheduler), False) else None)


add_switch('lends', lambda scheduler: scheduler.set_lends_priority(True), lambda scheduler: scheduler.set_lends_priority(False))
add_switch('pause', PrioSched.Scheduler.pause, PrioSched.Scheduler.resume)
add_switch('statistics', PrioSched.Scheduler.start_statistics,
           lambda scheduler: (scheduler.get_statistics(), scheduler.stop_statistics()))
add_switch('task-share', lambda scheduler: scheduler.set_task_share(.5), lambda scheduler: scheduler.set_task_share(0))
add_switch('slice', lambda scheduler: scheduler.set_time_slice(0), lambda scheduler: scheduler.set_time_slice(-1))


@operation('watch', LOOP)
def watch(program, here):
    """Adds and removes an observer of long tasks."""
    scheduler, inner = some_scheduler(program, here), here.inner(None)
    number = scheduler.add_long_task_func(here.rng.choice((1, 1, 1000)),
                                          lambda *_: program.act(inner) if here.rng.random() < .1 else None)
    program.use('watch', True)

    def end():
        program.unuse('watch')
        scheduler.remove_long_task_func(number)
    program.endings.append(end)


@operation('unwatch', LOOP)
def unwatch(program, here):
    if program.endings and here.rng.random() < .5:
        program.endings.pop(here.rng.randrange(len(program.endings)))()


@operation('trace')
def trace(program, here):
    with tracing:
        if program.is_tracing:
            stop_trace(program)
        elif program.is_tracing is not None:
            program.is_tracing = True
            program.use('trace', True)
            with open(TRACE, 'wb') as file:
                PrioSched.trace_start(file.fileno())
            program.endings.append(lambda: stop_trace(program))


def stop_trace(program):
    with tracing:
        if not program.is_tracing:
            return
        program.is_tracing = None  # a release at its end may start another one
        PrioSched.trace_stop()
        program.is_tracing = False
        program.unuse('trace')
        if program.seed % 8 == 0:
            with open(TRACE, encoding='utf-8') as file:
                json.load(file)


@operation('schedulers', LOOP)
def schedulers(program, here):
    if len(program.schedulers) < 4:
        program.schedulers.append(program.keep(PrioSched.Scheduler.new(None)))
    else:
        some_scheduler(program, here).count_pending()


# Places

@operation('microtask')
def microtask(program, here):
    inner = here.inner(here.chain)
    some_scheduler(program, here).queue_microtask(lambda: [program.act(inner) for _ in range(2)] and None)


@operation('source')
def source(program, here):
    """Performs an operation in a source of GLib."""
    inner = here.inner(())
    call = here.rng.choice((lambda call: GLib.idle_add(call, priority=here.rng.choice((-100, 0, 200))),
                            lambda call: GLib.timeout_add(here.rng.randrange(3), call)))
    program.calls += 1

    def dispatch():
        program.calls -= 1
        program.act(inner)
        program.act(inner)
        return False
    call(dispatch)


@operation('idle')
def idle(program, here):
    inner, calls = here.inner(None), []
    program.calls += 1

    def call(deadline):
        program.calls -= 1
        calls.append(deadline.get_time_remaining())
        if len(calls) > 1:
            program.fail('an idle callback is called twice')
        program.act(inner)
    scheduler = some_scheduler(program, here)
    number = scheduler.request_idle_callback(call, here.rng.choice((None, 1)))
    if not here.in_thread and here.rng.random() < .3:
        scheduler.cancel_idle_callback(number)
        program.calls -= 1


@operation('nested', LOOP)
def nested(program, here):
    """Runs a nested main loop, for a moment."""
    if here.awaits or program.n_nested >= 2 or (not NESTS and program.loop is not None and asyncio.current_task(program.loop) is not None):
        return
    program.n_nested += 1
    loop = GLib.MainLoop()
    inner = here.inner(())
    program.use('nested', True)

    def end():
        program.act(inner)
        loop.quit()
        return False
    GLib.timeout_add(here.rng.randrange(2), end)
    try:
        loop.run()
    finally:
        program.n_nested -= 1
        program.unuse('nested')


@operation('thread', LOOP)
def thread(program, here):
    inner = here.inner(None, in_thread=True)

    def work():
        for _ in range(inner.rng.randrange(1, 5)):
            program.act(inner)
    own = threading.Thread(target=work)
    program.threads.append(own)
    own.start()
    if here.rng.random() < .5:
        own.join()


@operation('run-in-thread')
def run_in_thread(program, here):
    arguments, chain, used = options(program, here)
    arguments = {name: value for name, value in arguments.items() if name in ('signal', 'priority', 'name')}
    work, kinds = new_work(program, here, chain, ('function', 'raises', 'stop-iteration'), in_thread=True)
    work.signals = ()
    future = some_scheduler(program, here).run_in_thread(work.function, **arguments)
    awaited = Awaited(program, 'a function in a thread', future, chain, work, listen=not here.in_thread)
    settle_uses(program, awaited, ['run-in-thread', *used])
    return awaited


class Lane:
    """Runs a thread with its own main context and scheduler."""

    def __init__(self, program, here):
        self.context = GLib.MainContext()
        self.loop = GLib.MainLoop(self.context)
        self.scheduler = PrioSched.Scheduler.new(self.context)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        self.context.push_thread_default()
        self.loop.run()
        self.context.pop_thread_default()

    def end(self):
        source = GLib.idle_source_new()
        source.set_callback(lambda *_: self.loop.quit())
        source.attach(self.context)
        self.thread.join()


@operation('lane')
def lane(program, here):
    """Posts a task in another main context."""
    if not program.lanes:
        if here.in_thread:
            return None
        program.lanes.append(Lane(program, here))
    arguments, chain, used = options(program, here)
    work, kinds = new_work(program, here, chain, ('function', 'coroutine', 'generator', 'raises'), in_thread=True)
    future = program.keep(program.lanes[0].scheduler.post_task(callback_of(work), **arguments))
    return posted(program, here, future, chain, work, ['lane', *used, *kinds])


# Other entry points of the library

@operation('wrap', LOOP)
def wrap(program, here):
    scheduler = some_scheduler(program, here)
    if here.awaits and here.rng.random() < .5:
        inner = here.inner(None)

        async def steps():
            await scheduler.yield_()
            program.act(inner)
            return 3
        return Coroutine(program, 'a wrapped coroutine', scheduler.wrap_callback(steps)(), here.chain, lambda value: value == 3)
    inner = here.inner(here.chain)
    call = scheduler.wrap_callback(lambda: program.act(inner) and None)
    program.calls += 1

    def dispatch():
        program.calls -= 1
        call()
        return False
    GLib.idle_add(dispatch)


@operation('with-priority', LOOP)
def with_priority(program, here):
    inner = here.inner(here.chain)
    some_scheduler(program, here).run_with_priority(here.rng.choice(PRIORITIES), program.act, inner)


@operation('schedule', LOOP)
def schedule(program, here):
    arguments, chain, used = options(program, here)
    arguments.pop('priority', None)
    arguments.pop('timeout', None)
    work, kinds = new_work(program, here, chain, ('function', 'coroutine', 'raises'))
    last = callback_of(work)
    first = (lambda late: lambda late: last()) if here.rng.random() < .5 else (lambda late: last())
    level = here.rng.choice(('immediate', 'user-blocking', 'normal', 'low', 'idle'))
    work.signals = ()
    future = program.keep(some_scheduler(program, here).schedule_callback(level, first, **arguments))
    return posted(program, here, future, chain, work, ['schedule', *used, *kinds])


@operation('first-task', LOOP)
def first_task(program, here):
    first = some_scheduler(program, here).get_first_task()
    if isinstance(first, PrioSched.PostedTask) and first.state != PrioSched.TaskState.PENDING:
        program.fail(f'the first task is {first!r}')


@operation('native')
def native(program, here):
    """Posts tasks of the library itself."""
    scheduler, inner = some_scheduler(program, here), here.inner(None)
    program.calls += 1
    left = [here.rng.randrange(3)]

    def run():
        program.act(inner)
        left[0] -= 1
        if left[0] < 0:
            program.calls -= 1
        return left[0] >= 0
    scheduler.post(PrioSched.TaskPriority(here.rng.randrange(1, 4)), run)


@operation('state')
def state(program, here):
    current = PrioSched.SchedulingState.get_current()
    inner = here.inner(None)
    if current is not None:
        current.get_priority(), current.get_cancellable(), current.dup_scheduler()
        current.run(lambda: program.act(inner) and None)


# An exception that is not retrieved, and reported once

@operation('unhandled', LOOP)
def unhandled(program, here):
    error = new_error(program, here)
    text = error.message if isinstance(error, GLib.Error) else error.args[0]

    def fail(*_):
        program.calls -= 1
        raise error

    async def fail_later():
        program.calls -= 1
        raise error
    program.calls += 1
    program.expected[text] += 1
    scheduler = some_scheduler(program, here)
    here.rng.choice((lambda: scheduler.post_task(fail), lambda: scheduler.post_task(fail_later), lambda: scheduler.queue_microtask(fail),
                     lambda: GLib.idle_add(fail), lambda: scheduler.request_idle_callback(fail)))()
