"""Models main contexts, and their queues."""

import collections
import itertools
import math

# Of these, abort, fixed and follows are names, or None; expiry is when the timeout passes, or None; member is the task of
# a group, or None; node is the lending node, or None.
State = collections.namedtuple('State', 'scheduler abort fixed follows expiry member node turns', defaults=[None, None, None, False])


class Entry:
    """Represents a posted task or continuation. abort() ends it before it runs, reject() while it runs."""

    made = itertools.count()

    def __init__(self, state, run, abort, reject=lambda loosely: None):
        self.state, self.run, self.abort, self.reject = state, run, abort, reject
        self.place = state.scheduler.place
        self.age, self.order = next(self.made), None
        self.continuation = self.aborted = self.returned = False  # returned: whether its function has
        self.on_stack = False  # whether its function is running
        self.label = None
        self.release = None  # remaining steps after the abort of a running task, once
        self.settle = lambda: None  # remaining steps after its checkpoint
        self.has_result, self.is_plain = True, False  # a plain task has only a function, and releases its data at once
        self.member = None  # the task's place in a group
        self.is_new = False  # whether another thread has posted it, and this one has not noticed
        self.is_counted = True  # by statistics
        self.number, self.counts_as = math.inf, None  # number of its run, and its priority then
        self.node = None  # node of the code that waits for it


class Scheduler:
    outer = None

    def __init__(self, place):
        self.place = place
        self.paused = self.lends = False
        self.collects, self.since, self.counts = False, 0, collections.Counter()


class Place:
    """A main context."""

    def __init__(self, n_schedulers):
        self.orders, self.timers_made = itertools.count(), itertools.count()
        self.queue, self.timers, self.microtasks = [], [], collections.deque()
        self.idle_pending, self.idle_running, self.idle_deadline = [], [], 0
        self.schedulers = [Scheduler(self) for _ in range(n_schedulers)]
        self.nesting = 0
        self.n_runs = 0
        self.begun = False  # whether its thread has run it

    def scheduler_of(self, op):
        return self.schedulers[op.get('scheduler', 0)]

    def is_empty(self):
        return not (self.queue or self.timers or self.microtasks or self.idle_pending or self.idle_running)
