"""Models groups, their places, and the waits for them."""

import itertools

from draft_places import Entry, State


class Member:
    """Represents a task of a group, from its post until it has its result."""

    def __init__(self, group, label):
        self.group, self.label = group, label
        self.has_place = self.left = self.completed = False
        self.entry = None
        self.n_waits = 0  # its own waits for its group


class Wait:
    def __init__(self, group, until, member, told, deliver):
        self.group, self.until, self.member, self.told, self.deliver = group, until, member, told, deliver
        self.own = member is not None and member.group is group  # a group does not wait for a task that waits for it
        self.failure = None  # failure of the last task that was not fulfilled
        self.entry = self.join = None

    def is_for_all(self):
        return self.until in ('drained', 'all')


class Group:
    """Represents a group; to its tasks, it is a scheduler that is paused while no place is free."""

    def __init__(self, name, place, scheduler, given):
        self.name, self.place, self.outer = name, place, scheduler
        self.limit = given['limit']
        self.versions = itertools.count()  # of its signal
        self.signal = None
        self.n_open = self.n_waiting = self.n_taken = 0
        self.waits, self.joining = [], []  # waits that are notified of ended tasks, and waits that will be
        self.shared = {}  # by the signal of a task: the group's signal that depends on it
        self.queued = []  # posted tasks that have neither started nor ended

    @property
    def paused(self):
        return self.outer.paused or self.n_taken >= self.limit

    @property
    def lends(self):
        return self.outer.lends


class Parked:
    """Represents, to a wait, a scheduler that never runs it."""

    paused, outer, lends = True, None, False

    def __init__(self, place):
        self.place = place


def take_place(member):
    member.has_place = True
    member.group.n_taken += 1


def leave_place(member):
    member.group.n_taken -= member.has_place
    member.has_place = False


def leave(member):
    """Removes member, which has its result."""
    member.left = True
    leave_place(member)


class Groups:
    """Performs a Model's operations on groups, on the threads that run their contexts."""

    def make_groups(self, given):
        self.groups, self.members, self.waits = {}, {}, set()  # members by label
        self.unwaited = {}  # waits to be reported at some time
        for name, described in given.items():
            place = self.places[described['context']]
            group = self.groups[name] = Group(name, place, place.scheduler_of(described), described)
            self.renew_signal(group, described['priority'])

    def group_of(self, op):
        """Returns the group that op names, or None if it is not of this context."""
        group = self.groups[op['group']] if 'group' in op else None
        return group if group and group.place is self.here else None

    def renew_signal(self, group, priority):
        group.signal, group.shared = f'{group.name} {next(group.versions)}', {}
        self.make_signal(group.signal, {'kind': 'task', 'priority': priority})

    def combine(self, group, own, label):
        """Returns the signal that aborts a task: the group's, or a combination with its own, which sets the priority if it has one.

        Tasks with the same signal share the combination, as long as one of them exists: if the program has dropped them, that is
        open.
        """
        if own is None:
            return group.signal
        shared = group.shared.get(own)
        if shared and not self.signals[shared].aborted and (self.is_held(shared) or not self.choose()):
            return shared
        name = group.shared[own] = f'{group.name} task {label}'
        follows = own if self.signals[own].kind != 'abort' else group.signal
        self.make_signal(name, {'kind': 'any', 'sources': [own, group.signal], 'priority': follows})
        return name

    def is_held(self, signal):
        waiting = [entry for place in self.places for entry in place.queue + [timer[2] for timer in place.timers]]
        return any(entry.state.abort == signal for entry in [*self.tasks.values(), *self.running, *waiting])

    def join(self, group, label):
        group.n_open += 1
        member = self.members[label] = Member(group, label)
        return member

    def forget_queued(self, label):
        for group in self.groups.values():
            group.queued = [member for member in group.queued if member.label != label]

    def complete(self, member, outcome):
        """Reports the outcome of member to the waits for its group."""
        if member is None or member.completed:
            return
        group = member.group
        member.completed = True
        self.forget_queued(member.label)
        leave(member)
        group.n_open -= 1
        group.n_waiting -= member.n_waits > 0
        self.settle_waits(group, member.label, outcome)

    def settle_waits(self, group, label=None, outcome=None):
        failed = outcome not in (None, 'fulfilled')
        ended = []
        for wait in group.waits:
            if failed:
                wait.failure = outcome
            if wait.until == 'all' and failed:
                ended.append((wait, outcome))
            elif label and (wait.until == 'first' or wait.until == 'any' and not failed):
                ended.append((wait, f'task {label}'))
            elif group.n_open == (group.n_waiting if wait.own else 0):
                ended.append((wait, 'ok' if wait.is_for_all() else wait.until == 'any' and wait.failure or 'none'))
        for wait, _ in ended:
            self.end_wait(wait)
        for wait, result in ended:
            self.deliver(wait, result, False)

    def end_wait(self, wait):
        self.waits.discard(wait)
        for waits in wait.group.waits, wait.group.joining:
            if wait in waits:
                waits.remove(wait)
        self.dequeue(wait.entry)
        member = wait.member
        if not wait.own:
            return
        member.n_waits -= 1
        if member.n_waits == 0 and not member.completed:
            wait.group.n_waiting -= 1
            if not member.left:
                take_place(member)

    def begin_wait(self, op, label, state, go_on):
        """Starts a wait, and when it is over, logs its result and calls go_on() in a microtask."""
        group, late = self.group_of(op), self.late

        def deliver(result):
            before, self.late = self.late, late
            self.say_when(f'waited {label} {result}')
            go_on()
            self.late = before

        signal = self.known(op.get('signal'))
        member = state.member if state and state.member and not state.member.left else None
        if signal and self.signals[signal].aborted:
            group.place.microtasks.append(lambda: deliver('aborted'))
            return
        wait = Wait(group, op['until'], member, lambda result: f'{label} {result}{" late" * late}', deliver)
        own = State(Parked(group.place), signal, 'user-visible', None)
        wait.entry = Entry(own, None, lambda loosely: self.abort_wait(wait, loosely))
        wait.entry.is_counted = False
        self.enqueue(wait.entry)
        self.waits.add(wait)
        if wait.own:
            member.n_waits += 1
            if member.n_waits == 1:
                group.n_waiting += 1
                leave_place(member)
        self.listen(in_call=True)  # notifies that its post calls come before the call checks whether it is over
        if wait not in self.waits:
            return
        if group.n_open == (group.n_waiting if wait.own else 0):
            self.join_waits(wait)
        else:
            group.joining.append(wait)
            wait.join = lambda: wait in group.joining and self.join_waits(wait)
            group.place.microtasks.append(wait.join)

    def join_waits(self, wait):
        """Makes the wait see tasks that end from now on, after earlier ends have been reported."""
        if wait in wait.group.joining:
            wait.group.joining.remove(wait)
        if wait.join in wait.group.place.microtasks:
            wait.group.place.microtasks.remove(wait.join)
        wait.group.waits.append(wait)
        self.settle_waits(wait.group)

    def abort_wait(self, wait, loosely):
        self.end_wait(wait)
        self.deliver(wait, 'aborted', loosely)

    def deliver(self, wait, result, loosely):
        if self.traced and (loosely or self.n_loose > 0):
            self.unwaited[wait.told(result)] = wait, result
        else:
            wait.group.place.microtasks.append(lambda: wait.deliver(result))

    def perform_with_group(self, op, state):
        """Performs op if it is an operation on a group; returns whether it was."""
        kind = op['op']
        if kind not in ('limit', 'group priority', 'group abort', 'cancel queued', 'watch'):
            return False
        group = self.group_of(op)
        if group is None:
            return True
        if kind == 'limit':
            group.limit = op['limit']
        elif kind == 'group priority':
            self.set_priority(group.signal, op['to'], state)
        elif kind == 'group abort':
            self.abort_group(group, state)
        elif kind == 'cancel queued':
            self.cancel_pending(group)
        else:
            label = f'w{op["id"]}'
            self.begin_wait(op, label, state,
                            lambda: self.go_on(self.perform_body(op['body'], state, label), state, lambda outcome: None))
        return True

    def wait(self, body, label, op, state, ended):
        """Waits; the body continues when the wait is over."""
        self.begin_wait(op, label, state, lambda: self.go_on(body, state, ended))
        if self.running:
            self.running[-1].returned = True
        self.listen()

    def cancel_pending(self, group):
        taken, group.queued = group.queued, []
        for member in taken:
            self.cancel(member.entry)
        self.listen()

    def abort_group(self, group, state):
        taken = [entry.member for entry in reversed(self.running)
                 if entry.member and entry.member.group is group and entry.on_stack]
        taken += group.queued
        group.queued = []
        for member in taken:
            leave(member)
        old = group.signal
        self.renew_signal(group, self.signals[old].priority)
        self.abort(old, state, False)
