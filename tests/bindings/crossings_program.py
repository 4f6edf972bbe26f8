"""Runs one random program for crossings.py: its operations, and the checks at its end

A program knows for each awaitable how it may end: with the result or the exception of its function, with the reason of a signal
that can abort it, or cancelled.  Order and time are not checked.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import collections
import gc
import itertools
import logging
import random
import re
import sys
import threading
import traceback
import weakref

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402

CLOSED = (PrioSched.error_quark(), PrioSched.Error.CLOSED)
CONTEXT = GLib.MainContext.default()
MAX_DEPTH = 3


class Failed(Exception):
    """Is raised by functions of the programs."""


# The message of a task that is posted with a signal that has been aborted for no given reason.
REFUSED = 'The signal was aborted before this task was posted: make a new controller'


def is_same(error, reason):
    """Returns whether error, which was reported, represents reason."""
    if error is reason:
        return True
    if isinstance(reason, GLib.Error) and isinstance(error, GLib.Error):
        return (error.domain, error.code) == (reason.domain, reason.code) and error.message in (reason.message, REFUSED)
    # A coroutine cannot raise a StopIteration; asyncio, and code that awaits for others, raises a CancelledError.
    return isinstance(error, (RuntimeError, asyncio.CancelledError)) and error.__cause__ is not None and is_same(error.__cause__, reason)


class Signal:
    """Represents a signal, and the reasons for which it may have been aborted."""

    def __init__(self, native, sources=(), controller=None):
        self.native, self.sources, self.controller = native, sources, controller
        self.reasons = []

    def is_aborted(self):
        return self.native.is_aborted() if isinstance(self.native, PrioSched.TaskSignal) else self.native.is_cancelled()

    def allows(self, error):
        return self.is_aborted() and (any(is_same(error, reason) for reason in self.reasons) or
                                      any(source.allows(error) for source in self.sources))


class Here:
    """Describes the place of an operation: in the code of a task, or outside, and its thread."""

    def __init__(self, rng, chain=(), depth=0, awaits=False, in_thread=False, in_group=False, loop=None):
        self.rng = rng
        self.chain = chain          # the signals that can abort the task; None if any can
        self.depth = depth
        self.awaits = awaits
        self.in_thread = in_thread
        self.in_group = in_group    # whether it, or the code that waits for it, has a place in a group
        self.loop = loop            # the loop of asyncio that runs it

    def inner(self, chain, awaits=False, in_thread=None, in_group=False, loop=None):
        return Here(random.Random(self.rng.getrandbits(62)), chain, self.depth + 1, awaits,
                    self.in_thread if in_thread is None else in_thread, self.in_group or in_group, loop)


class Awaited:
    """Represents an awaitable, and the ways in which it may end."""

    can_cancel = True

    def __init__(self, program, what, future, chain, work=None, listen=True):
        self.program, self.what, self.future, self.chain, self.work = program, what, future, chain, work
        self.cancelled = False      # whether the awaitable may have been cancelled
        self.n_told = self.n_listeners = 0
        self.used = ()
        program.awaited.append(self)
        if listen:
            self.listen()

    def listen(self):
        self.n_listeners += 1
        self.future.add_done_callback(self.told)

    def ignore(self):
        """Makes the awaitable's outcome unimportant from now on."""
        if not self.future.done():
            self.n_listeners -= self.future.remove_done_callback(self.told)

    def told(self, future):
        self.n_told += 1
        if future is not self.future or not future.done():
            self.program.fail(f'{self} was told of {future!r}')

    def cancel(self):
        if not self.future.done():
            self.cancelled = self.program.has_cancelled = True
            self.future.cancel()

    def allows(self, value, error):
        if error is None:
            return self.allows_value(value)
        if isinstance(error, asyncio.CancelledError) and (self.cancelled or self.program.is_ending):
            return True
        return self.allows_error(error)

    def allows_value(self, value):
        work = self.work
        if work is None:
            return value is None
        return work.has_returned and value is work.value and not work.must_abort

    def allows_error(self, error):
        return ((self.work is not None and self.work.raised is not None and is_same(error, self.work.raised)) or
                self.program.is_allowed(self.chain, error))

    def check(self):
        future = self.future
        if not future.done():
            self.program.fail(f'{self.describe()} hangs')
            return
        state = getattr(future, 'state', None)
        if self.n_told != self.n_listeners:
            self.program.fail(f'a wrong number of calls: {self.describe()}')
        if state == PrioSched.TaskState.ABORTED and self.program.rng.random() < .3:
            return  # the result of an aborted task need not be retrieved
        value = error = None
        try:
            value = future.result()
        except BaseException as raised:
            error = raised
        if not self.allows(value, error):
            self.program.fail(f'{self.describe()} has ended with {value!r}, {error!r}')

    def __repr__(self):
        return f'{self.what} of {self.work}' if self.work is not None else self.what

    def describe(self):
        return (f'{self!r}: {self.future!r}, {self.n_listeners} listeners told {self.n_told} times, mechanisms {" ".join(self.used)}'
                f'{", cancelled" if self.cancelled else ""}')


class Work:
    """Represents a function for a task, which performs operations."""

    def __init__(self, program, here, kind, n_operations):
        self.program, self.here, self.kind, self.n_operations = program, here, kind, n_operations
        self.value, self.raised = f'value {next(program.numbers)}', None
        self.has_begun = self.has_returned = self.must_abort = False
        self.signals = ()
        self.raises = None
        self.awaited = None

    def __repr__(self):
        return f'{self.kind} {self.value}'

    def begin(self):
        if self.has_begun:
            self.program.fail(f'{self} is called twice')
        self.has_begun = True
        if self.awaited is not None and self.awaited.future.done() and not self.awaited.cancelled and not self.here.in_thread:
            self.program.fail(f'{self} begins after its end')

    def end(self):
        if self.raises is not None:
            self.raised = self.raises
            raise self.raises
        self.has_returned = True
        return self.value

    def function(self):
        self.begin()
        for _ in range(self.n_operations):
            self.program.act(self.here)
        # An abort before this point replaces its result.
        self.must_abort = self.kind == 'function' and any(signal.is_aborted() for signal in self.signals)
        return self.end()

    async def coroutine(self):
        self.begin()
        for _ in range(self.n_operations):
            await self.wait(self.program.act(self.here))
        return self.end()

    def generator(self):
        self.begin()
        for i in range(self.n_operations * 3):
            self.program.act(self.here)
            try:
                yield i
            except GeneratorExit:
                raise
            except BaseException as error:
                self.catch(error)
        return self.end()

    async def wait(self, awaited):
        """Awaits the result of an operation, which may be None."""
        if awaited is None:
            return
        try:
            value = await awaited.future
        except GeneratorExit:
            raise
        except BaseException as error:
            self.catch(error, awaited)
        else:
            if not awaited.allows_value(value):
                self.program.fail(f'{self} was given {value!r} by {awaited}')

    def catch(self, error, awaited=None):
        """Continues after error, or raises it; the awaitable, a signal that can abort the task, or a cancellation has caused it."""
        program = self.program
        if isinstance(error, asyncio.CancelledError) and program.has_cancelled:
            if awaited is not None:
                awaited.cancelled = True  # as in asyncio
            self.raised = error
            raise error
        if not program.is_allowed(self.here.chain, error) and (awaited is None or not awaited.allows_error(error)):
            program.fail(f'{self} was told {error!r} by {awaited}')
        if self.here.rng.random() < .5:
            self.raised = error
            raise error


class Reports(logging.Handler):
    """Records all reports of unhandled exceptions."""

    def __init__(self):
        super().__init__()
        self.lines = []
        for name in ('PrioSched', 'asyncio'):
            logger = logging.getLogger(name)
            logger.addHandler(self)
            logger.propagate = False
        sys.excepthook = lambda kind, error, trace: self.add(error)
        sys.unraisablehook = lambda unraisable: self.add(unraisable.exc_value)
        threading.excepthook = lambda arguments: self.add(arguments.exc_value)

    def emit(self, record):
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(f'{record.getMessage()} {error!r}')

    def add(self, error):
        self.lines.append(''.join(traceback.format_exception(error)))


reports = Reports()


class Program:
    """Represents the program of one seed."""

    def __init__(self, seed, mechanisms, wanted):
        self.seed, self.wanted = seed, wanted
        self.rng = random.Random(seed)
        self.numbers = itertools.count(1)
        density = self.rng.choice((.2, .5, .5, .8))
        self.on = {name for name in mechanisms if name in wanted or self.rng.random() < density}
        self.failures, self.awaited, self.leaves, self.threads, self.endings = [], [], [], [], []
        self.signals, self.groups, self.handlers, self.lanes = [], [], [], []
        self.expected = collections.Counter()   # expected reports of unhandled exceptions
        self.refs = []
        self.is_ending = self.has_cancelled = False
        self.live = collections.Counter()       # number of live uses of each mechanism
        self.recent = {}                        # when each mechanism was last used
        self.met = collections.Counter()
        self.step = 0
        self.schedulers = [self.keep(PrioSched.Scheduler.new(None))]
        self.clock = PrioSched.Scheduler.new(None)

    def keep(self, thing):
        """Keeps a weak reference to thing, which must be freed after the end of the program."""
        self.refs.append((repr(thing), thing.weak_ref() if hasattr(thing, 'weak_ref') else weakref.ref(thing)))
        return thing

    def fail(self, what):
        self.failures.append(what)

    def is_allowed(self, chain, error):
        """Returns whether a signal of chain may have raised error."""
        return any(signal.allows(error) for signal in (self.signals if chain is None else chain))

    # Which mechanisms meet

    def wants(self, name, rng, probability=.3):
        return name in self.on and (name in self.wanted or rng.random() < probability)

    def use(self, name, lives=False):
        """Records that a mechanism is used, and meets those in use now, or a moment ago."""
        for other in tuple(self.recent):
            if other != name and (self.recent[other] >= self.step - 1 or self.live[other] > 0):
                self.met[min(name, other), max(name, other)] += 1
        self.recent[name] = self.step
        if lives:
            self.live[name] += 1

    def unuse(self, name):
        self.live[name] -= 1

    # The end

    def pending(self):
        return [awaited for awaited in self.awaited if not awaited.future.done() or awaited.n_told < awaited.n_listeners]

    def finish(self):
        """Ends operations that would hold tasks up."""
        while self.endings:
            self.endings.pop()()

    def check(self):
        for awaited in self.awaited:
            awaited.check()
        for scheduler in self.schedulers:
            if scheduler.count_pending() != 0:
                self.fail(f'{scheduler.count_pending()} tasks are still queued')
        for group, _ in self.groups:
            if group.n_tasks != 0:
                self.fail(f'{group!r} has tasks in the end')
        # A reason that refers to its controller and to its signal is never collected, as documented.
        for reason in itertools.chain.from_iterable(signal.reasons for signal in self.signals):
            reason.__traceback__ = reason.__context__ = None


def check_reports(expected):
    """Returns errors in the reports; there must be one for each of expected."""
    lines, reports.lines = reports.lines, []
    found, expected = [], dict(expected)
    for line in lines:
        text = next((text for text in expected if re.search(rf'\b{text}\b', line)), None)
        if text is None:
            found.append(f'reported: {line}')
        else:
            expected[text] -= 1
    return found + [f'{text} was reported {1 - count} times' for text, count in expected.items() if count != 0]


def spin():
    """Lets the main context dispatch all ready sources."""
    for _ in range(50):
        if not CONTEXT.iteration(False):
            break


def find_left(refs):
    """Returns the remaining objects of a program that has ended."""
    sys.last_type = sys.last_value = sys.last_traceback = sys.last_exc = None  # references from reported exceptions
    for _ in range(4):
        gc.collect()
        spin()
        left = [what for what, ref in refs if ref() is not None]
        if not left:
            break
    return left
