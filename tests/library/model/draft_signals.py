"""Models signals, their changes and aborts."""

PRIORITIES = ['background', 'user-visible', 'user-blocking']


class Signal:
    def __init__(self, place, kind, priority=None):
        self.kind, self.priority = kind, priority
        self.aborted = self.changing = False
        self.said = False     # whether it has emitted `cancelled`, some time after its abort
        self.roots = []       # names that an `any` depends on
        self.follows = None   # the root whose priority it follows
        self.place = place    # place where the signal was created
        self.dependents, self.followers = [], []  # names, in order of creation


class Signals:
    """Performs a Model's operations on signals."""

    def call_handler(self, kind, name, what, state):
        if name in self.handlers[kind]:
            self.say(what)
            if name not in self.seen[kind]:
                self.seen[kind].add(name)
                self.perform_all(self.handlers[kind][name], state)

    def say_cancelled(self, name, state):
        if self.signals[name].said:
            return
        self.signals[name].said = True
        self.unsaid.discard(name)
        self.n_cancelling += 1
        self.call_handler('cancelled', name, f'cancelled {name}', state)
        self.n_cancelling -= 1

    def make_signal(self, name, given):
        signal = self.signals[name] = Signal(self.here, given['kind'], given.get('priority'))
        if signal.kind != 'any':
            return
        signal.aborted = signal.said = any(self.signals[source].aborted for source in given['sources'])
        for source in [] if signal.aborted else given['sources']:
            other = self.signals[source]
            for root in [source] + [root for root in other.roots if self.signals[root].kind != 'any']:
                if root not in signal.roots:
                    signal.roots.append(root)
                    self.signals[root].dependents.append(name)
        if given['priority'] in self.signals:
            other = self.signals[given['priority']]
            signal.follows = other.follows if other.kind == 'any' else given['priority']
            signal.priority = other.priority
            if signal.follows is not None:
                self.signals[signal.follows].followers.append(name)

    def set_priority(self, name, to, state):
        signal = self.signals[name]
        if signal.changing:
            self.say(f'notallowed {name.split()[0]}')
            return
        if signal.priority == to:
            return
        signal.changing = True
        old, signal.priority = signal.priority, to
        self.recount()
        self.listen()
        self.call_handler('handlers', name, f'change {name} {old}>{to}', state)
        self.call_handler('notify', name, f'notify {name}', state)
        for follower in signal.followers:
            self.set_priority(follower, to, state)
        signal.changing = False

    def abort(self, name, state, by_hand):
        """Aborts a signal.  With g_cancellable_cancel (), dependents are aborted at once, and emit `cancelled` in their own context."""
        if not self.known(name) or self.signals[name].aborted:
            if by_hand and self.known(name):
                self.say_cancelled(name, state)
            return
        by_hand = by_hand or self.signals[name].kind == 'abort'
        names = [name]
        for marked in names:
            names += [other for other in self.signals[marked].dependents if other not in names and not self.signals[other].aborted]
        self.n_cancelling += 1
        for other in names:
            self.signals[other].aborted = True
            self.abort_lenders(other)
        for other in names:
            waiting = [entry for place in self.places for entry in place.queue + [timer[2] for timer in place.timers]]
            mine = sorted([entry for entry in self.running + waiting if entry.state.abort == other],
                          key=lambda entry: entry.age)
            # The library goes scheduler by scheduler, and may have rejected the dependents' tasks before it calls a
            # handler.
            loosely = (by_hand or len({entry.state.scheduler for entry in mine}) > 1
                       or any(name in self.handlers['cancelled'] for name in names))
            for entry in mine:
                self.cancel(entry, loosely, by_signal=True)
        # If no other code can run in between, all may leave their queues before the first emits.
        for other in [] if by_hand else names:
            self.listen()
            self.say_cancelled(other, state)
        if by_hand:
            self.unsaid |= set(names[1:]) & set(self.handlers['cancelled'])
            self.say_cancelled(name, state)
        self.listen(in_call=True)
        self.n_cancelling -= 1

    def reset(self, name):
        """Resets a signal; GIO does not define that in a handler."""
        if self.n_cancelling == 0:
            self.signals[name].aborted = self.signals[name].said = False

    def is_over(self, entry):
        """Returns whether the checkpoint of entry has ended.  If the draft leaves that open for a notify, the log decides."""
        return (self.n_loose > 0 and entry.returned and entry.label is not None and self.heard is not None
                and f'settled {entry.label} aborted' not in self.heard[len(self.log):])

    def cancel(self, entry, loosely=False, by_signal=False):
        waits = entry in entry.place.queue or any(timer[2] is entry for timer in entry.place.timers)
        loosely = loosely or entry.place is not self.here
        if waits:
            self.dequeue(entry)
            if not (by_signal and entry.is_new):
                self.count_abort(entry)
            entry.abort(loosely)
        elif entry in self.running and not entry.aborted and not self.is_over(entry):
            entry.aborted = True
            entry.reject(loosely)
        elif self.n_loose > 0:
            self.hasten(entry)
