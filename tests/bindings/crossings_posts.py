"""Makes random posts for the programs of crossings.py: signals, options and functions"""

import asyncio

import gi

gi.require_version('PrioSched', '1')
from crossings_program import MAX_DEPTH, Awaited, Failed, Signal, Work  # noqa: E402
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

PRIORITIES = ('background', 'user-visible', 'user-blocking')
TIMED_OUT = (GLib.quark_to_string(Gio.io_error_quark()), Gio.IOErrorEnum.TIMED_OUT)

# Mechanisms by name: operations, each called at a place (Here), which return an awaitable, or None; options of tasks; kinds of
# functions.
OPERATIONS = {}
OPTIONS = {}
BODIES = {}
AWAITS, ASYNCIO, LOOP = 1, 2, 4  # where an operation is possible: in coroutines, in coroutines of asyncio, on the loop's
                                 # thread
places = {}


def operation(name, where=0):
    def add(function):
        OPERATIONS[name] = function
        places[name] = where
        return function
    return add


def option(name):
    def add(function):
        OPTIONS[name] = function
        places[name] = 0
        return function
    return add


for kind in ('function', 'coroutine', 'generator', 'progress', 'raises', 'raises-base', 'stop-iteration'):
    BODIES[kind] = kind
    places[kind] = 0


def can_be_made(name, here):
    where = places[name]
    return ((here.awaits or not where & AWAITS) and (here.loop is not None or not where & ASYNCIO) and
            (not here.in_thread or not where & LOOP))


# Signals

class Timeout(Signal):
    def allows(self, error):
        return self.is_aborted() and isinstance(error, GLib.Error) and (error.domain, error.code) == TIMED_OUT


class Plain(Signal):
    def allows(self, error):
        return self.is_aborted() and isinstance(error, PrioSched.AbortError)


def new_signal(program, here, signal):
    """Records signal, which lasts as long as the program.

    GLib before 2.80 holds a lock of all weak references while it calls PyGObject, which waits for the interpreter; another thread of
    the interpreter that releases a signal meanwhile waits for that lock.
    """
    program.keep(signal.native)
    program.signals.append(signal)
    return signal


def new_controller(program, here):
    controller = program.keep(PrioSched.TaskController(here.rng.choice(PRIORITIES)))
    return new_signal(program, here, Signal(controller.signal, controller=controller))


def some_controller(program, here):
    known = [signal for signal in program.signals if signal.controller is not None]
    return here.rng.choice(known) if known and here.rng.random() < .7 else new_controller(program, here)


def some_signals(program, here):
    signals = [some_controller(program, here)]
    signals += here.rng.sample(program.signals, min(len(program.signals), here.rng.randrange(3)))
    return signals


def add_signal(program, arguments, chain, signal):
    """Adds signal to the signals of the task."""
    chain.append(signal)
    if len(chain) > 1:
        native = PrioSched.TaskSignal.any([one.native for one in chain])
        signal = new_signal(program, None, Signal(native, tuple(chain)))
    arguments['signal'] = signal.native


@option('priority')
def add_priority(program, here, arguments, chain):
    priority = here.rng.choice(PRIORITIES)
    arguments['priority'] = here.rng.choice((priority, PrioSched.TaskPriority(PRIORITIES.index(priority) + 1)))


@option('controller')
def add_controller(program, here, arguments, chain):
    add_signal(program, arguments, chain, some_controller(program, here))


@option('any')
def add_any(program, here, arguments, chain):
    signals = some_signals(program, here)
    native = PrioSched.TaskSignal.any([signal.native for signal in signals], here.rng.choice(PRIORITIES))
    add_signal(program, arguments, chain, new_signal(program, here, Signal(native, signals)))


@option('any-following')
def add_any_following(program, here, arguments, chain):
    signals = some_signals(program, here)
    native = PrioSched.TaskSignal.any([signal.native for signal in signals], some_controller(program, here).native)
    add_signal(program, arguments, chain, new_signal(program, here, Signal(native, signals)))


@option('timeout')
def add_timeout(program, here, arguments, chain):
    add_signal(program, arguments, chain, new_signal(program, here, Timeout(PrioSched.TaskSignal.new_timeout(here.rng.randrange(4)))))


@option('cancellable')
def add_cancellable(program, here, arguments, chain):
    known = [signal for signal in program.signals if isinstance(signal, Plain)]
    if not known or here.rng.random() < .5:
        known = [new_signal(program, here, Plain(Gio.Cancellable()))]
    add_signal(program, arguments, chain, here.rng.choice(known))


@option('aborted')
def add_aborted(program, here, arguments, chain):
    reason = new_reason(program, here)
    signal = new_signal(program, here, Signal(PrioSched.TaskSignal.new_aborted(reason)))
    signal.reasons.append(reason)
    add_signal(program, arguments, chain, signal)


@option('delay')
def add_delay(program, here, arguments, chain):
    arguments['delay'] = here.rng.randrange(3)


@option('late')
def add_late(program, here, arguments, chain):
    arguments['timeout'] = here.rng.choice((-1, 1, 2, 5000))


@option('name')
def add_name(program, here, arguments, chain):
    arguments['name'] = here.rng.choice(('', 'name', 'näme "\n'))


def options(program, here):
    """Returns the arguments of a post, the signals that can abort it, and the mechanisms in it."""
    arguments, chain, used = {}, [], []
    for name, add in OPTIONS.items():
        if program.wants(name, here.rng):
            add(program, here, arguments, chain)
            used.append(name)
    return arguments, tuple(chain), used


# Functions

class Reason(Exception):
    pass


class OwnAbort(PrioSched.AbortError):
    pass


class Bare(BaseException):
    pass


REASONS = (Reason, OwnAbort, Bare, KeyError, lambda text: GLib.Error(text, 'crossings', 7), asyncio.CancelledError,
           lambda text: GLib.Error(text, 'g-io-error-quark', Gio.IOErrorEnum.CANCELLED), asyncio.TimeoutError, RuntimeError)


def new_reason(program, here):
    return here.rng.choice(REASONS)(f'reason {next(program.numbers)}')


def new_error(program, here, kind=None):
    text = f'error {next(program.numbers)}'
    if kind == 'stop-iteration':
        return StopIteration(text)
    if kind == 'raises-base':
        return here.rng.choice((Bare, asyncio.InvalidStateError))(text)
    return here.rng.choice((Failed, KeyError, lambda text: GLib.Error(text, 'crossings', 3), asyncio.TimeoutError))(text)


def new_work(program, here, chain, kinds=tuple(BODIES), in_group=False, in_thread=None):
    """Returns a function, and the mechanisms in it."""
    used = [kind for kind in kinds if program.wants(kind, here.rng)]
    fitting = [kind for kind in used if not kind.startswith(('raises', 'stop'))] or ['function']
    kind = here.rng.choice(fitting)
    is_deep = here.depth >= MAX_DEPTH
    loop = program.loop if kind == 'coroutine' and not (here.in_thread or in_thread) else None
    inner = here.inner(chain, kind == 'coroutine', in_thread, in_group, loop)
    work = Work(program, inner, kind, 0 if is_deep else here.rng.randrange(4))
    raising = [kind for kind in used if kind.startswith(('raises', 'stop'))]
    if raising and here.rng.random() < .6:
        work.raises = new_error(program, here, here.rng.choice(raising))
        kind = here.rng.choice(raising)
    program.keep(work)
    work.signals = chain
    return work, {kind, work.kind}


def callback_of(work):
    kind = work.kind
    return work.coroutine if kind == 'coroutine' else work.generator if kind in ('generator', 'progress') else work.function


def settle_uses(program, awaited, used):
    for name in used:
        program.use(name, True)
    awaited.used = used
    if awaited.n_listeners > 0:
        awaited.future.add_done_callback(lambda future: [program.unuse(name) for name in used])


def some_scheduler(program, here):
    return here.rng.choice(program.schedulers)


@operation('post')
def post(program, here):
    arguments, chain, used = options(program, here)
    work, kinds = new_work(program, here, chain)
    if work.kind == 'progress':
        arguments['progress'] = lambda value: program.act(work.here) if work.here.rng.random() < .2 else None
    future = program.keep(some_scheduler(program, here).post_task(callback_of(work), **arguments))
    return posted(program, here, future, chain, work, [*used, *kinds])


def posted(program, here, future, chain, work, used):
    awaited = Awaited(program, 'a task', future, chain, work, listen=not here.in_thread and here.rng.random() < .7)
    work.awaited = awaited
    settle_uses(program, awaited, used)
    if work.kind != 'coroutine' and not here.in_group:
        program.leaves.append(awaited)
    return awaited
