"""Has the operations of the programs of crossings.py on groups"""

import asyncio

import gi

gi.require_version('PrioSched', '1')
from crossings_posts import (LOOP, PRIORITIES, callback_of, new_reason, new_work, operation, options, posted,  # noqa: E402
                             some_controller, some_scheduler)
from crossings_program import Awaited, Signal  # noqa: E402
from gi.repository import Gio, GLib, PrioSched  # noqa: E402


class Group:
    """Represents a group, and the possible results of its waits."""

    def __init__(self, program, here):
        limit = here.rng.choice((1, 1, 2, 3, None))
        self.native = program.keep(PrioSched.TaskGroup(some_scheduler(program, here), limit, here.rng.choice(PRIORITIES)))
        self.members = []
        self.signal = None
        program.groups.append((self.native, self))

    def current_signal(self, program):
        native = self.native.signal
        if self.signal is None or self.signal.native is not native:
            self.signal = Signal(native)
            program.signals.append(self.signal)
        return self.signal


def some_group(program, here):
    if program.groups and here.rng.random() < .7:
        return here.rng.choice(program.groups)[1]
    return Group(program, here)


@operation('group', LOOP)
def group(program, here):
    own = some_group(program, here)
    arguments, chain, used = options(program, here)
    chain = (*chain, own.current_signal(program))
    work, kinds = new_work(program, here, chain, in_group=True)
    future = program.keep(own.native.post_task(callback_of(work), **arguments))
    member = posted(program, here, future, chain, work, [*used, *kinds, 'group'])
    own.members.append(member)
    return member if not here.in_group else None


@operation('limit', LOOP)
def limit(program, here):
    some_group(program, here).native.limit = here.rng.choice((1, 2, None))


@operation('group-priority', LOOP)
def group_priority(program, here):
    try:
        some_group(program, here).native.set_priority(here.rng.choice(PRIORITIES))
    except GLib.Error as error:
        if not error.matches(PrioSched.error_quark(), PrioSched.Error.NOT_ALLOWED):
            raise


@operation('group-abort', LOOP)
def group_abort(program, here):
    own = some_group(program, here)
    reason = new_reason(program, here) if program.wants('reason', here.rng, .5) else None
    own.current_signal(program).reasons.append(PrioSched.AbortError() if reason is None else reason)
    own.native.abort(reason)


@operation('cancel-queued', LOOP)
def cancel_pending(program, here):
    own = some_group(program, here)
    for member in own.members:
        if not member.work.has_begun and not member.future.done():
            member.cancelled = program.has_cancelled = True
    own.native.cancel_pending()


class Wait(Awaited):
    """Represents a wait for a group."""

    def __init__(self, program, what, future, chain, group, returns, here):
        self.group, self.returns = group, returns
        super().__init__(program, what, future, chain, listen=not here.awaits)

    def allows_value(self, value):
        if not self.returns:
            return value is None
        return any(member.work.has_returned and member.work.value is value for member in self.group.members)

    def allows_error(self, error):
        if super().allows_error(error):
            return True
        if self.what == 'a wait, drained':
            return False
        if isinstance(error, GLib.Error) and error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND):
            return self.returns
        if isinstance(error, (asyncio.CancelledError, PrioSched.AbortError)) and self.program.has_cancelled:
            return True  # a member was cancelled
        return any(member.allows_error(error) for member in self.group.members)


def add_wait(name):
    @operation(f'wait-{name}', LOOP)
    def wait(program, here):
        own = some_group(program, here)
        chain, signal = (), None
        if program.wants('controller', here.rng):
            signal = some_controller(program, here)
            chain = (signal,)
            program.use('controller')
        future = getattr(own.native, name)(signal and signal.native)
        awaited = Wait(program, f'a wait, {name}', future, (*chain, *(here.chain or ())), own, name in ('any', 'first'), here)
        # Tasks of groups that wait for each other wait for ever.
        return awaited if not here.in_group else None


for until in ('drained', 'all', 'any', 'first'):
    add_wait(until)
