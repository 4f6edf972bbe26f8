"""Models waits for tasks, and the priorities that they lend."""

import collections

from draft_signals import PRIORITIES


class Node:
    """Represents a task, or waiting code that is not a task and has no result."""

    def __init__(self, state):
        self.state = state
        self.aborted = False  # lends no other priority


class Lending:
    """Performs a Model's operations on tasks that wait for others."""

    def prepare_lending(self, program):
        self.lends, self.lending_numbers = 'lends' in program, program.get('lends', [])
        for place in self.places:
            for number in program.get('lends', []):
                place.schedulers[number].lends = True
        self.lent = []  # waits: pairs of waiter and awaited
        self.reactions = collections.defaultdict(list)  # by the label of a task: callbacks for its result
        self.n_awaiting = 0
        self.begun = []  # nodes of started tasks

    def begin_lending(self, entry, state):
        """Returns the state in which the function of entry runs."""
        if not state.scheduler.lends:
            return state
        self.begun.append(entry.node)
        return state._replace(node=entry.node)

    def own_priority(self, state):
        return PRIORITIES.index(self.signals[state.follows].priority if state.follows else state.fixed)

    def lent_to(self, node):
        """Returns the highest priority of the nodes that wait for node, directly or through others, or -1."""
        found = [node]
        for awaited in found:
            found += [waiter for waiter, other in self.lent if other is awaited and waiter not in found]
        return max([-1] + [self.own_priority(waiter.state) for waiter in found[1:] if not waiter.aborted])

    def lend(self, state, node):
        """Makes code of this context wait for a task."""
        if not state or not state.scheduler.lends or state.scheduler.place is not node.state.scheduler.place:
            return
        waiter = state.node
        if waiter is None:
            waiter = Node(state)
            waiter.aborted = state.abort is not None and self.signals[state.abort].aborted
        self.lent.append((waiter, node))

    def end_lending(self, node, aborted=False):
        """Ends the waits for a task, which has its result; if it is aborted, also its own waits."""
        node.aborted = node.aborted or aborted
        self.lent = [(waiter, awaited) for waiter, awaited in self.lent
                     if awaited is not node and not (aborted and waiter is node)]

    def abort_lenders(self, signal):
        for waiter, _ in self.lent:
            waiter.aborted = waiter.aborted or waiter.state.abort == signal
        for node in self.begun:
            node.aborted = node.aborted or node.state.abort == signal

    def await_task(self, entry, label, state, go_on):
        """Logs the outcome of entry, and calls go_on(), when entry has its result."""
        late = self.late

        def react():
            before, self.late = self.late, late
            self.n_awaiting -= 1
            self.say_when(f'awaited {label} {self.outcomes[entry.label]}')
            go_on()
            self.late = before

        self.n_awaiting += 1
        self.reactions[entry.label].append(react)
        told = f'{entry.label} {self.outcomes.get(entry.label)}'
        if told in self.untold:
            return
        if entry.label in self.outcomes:
            entry.place.microtasks.append(lambda: self.react(entry.label))
        else:
            self.lend(state, entry.node)

    def react(self, label):
        while self.reactions[label]:
            self.reactions[label].pop(0)()

    def task_here(self, op):
        """Returns the task that op names, if the program has it and it belongs to this context."""
        entry = self.tasks.get(op.get('task', op['id']))
        return entry if entry and entry.place is self.here else None

    def then(self, op, state):
        entry, label = self.task_here(op), f't{op["id"]}'
        if entry:
            self.await_task(entry, label, state,
                            lambda: self.go_on(self.perform_body(op['body'], state, label), state, lambda outcome: None))
