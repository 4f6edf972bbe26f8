"""draft.py: a literal, slow model of the draft, which runs the programs of conformance-vectors.md

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import heapq
import itertools
import math

from draft_groups import Groups, leave, take_place
from draft_hearing import Differs, Hearing
from draft_lending import Lending, Node
from draft_places import Entry, Place, Scheduler, State
from draft_signals import PRIORITIES, Signals
from draft_statistics import Statistics

MAX_NESTING, MAX_TIME = 3, 10000  # the time in ms
MAX_TRIES = 50


class Model(Hearing, Signals, Groups, Lending, Statistics):
    """Runs a program."""

    def __init__(self, program, heard=None, choices=()):
        self.log, self.outcomes, self.rejected = [], {}, []
        self.prepare_hearing(heard, choices)
        self.program, self.traced = program, program.get('traced', False)
        self.tasks = {}  # by id
        self.running = []  # tasks whose checkpoint has not ended
        self.now = 0
        self.late = False  # whether the running code was called after the task's timeout
        self.handlers = {kind: program.get(kind, {}) for kind in ('handlers', 'notify', 'cancelled')}
        self.seen = {kind: set() for kind in self.handlers}
        self.released = {}  # label of ended work: its place, and the operations of its destroy notify
        self.unsaid = set()  # signals that will emit `cancelled` in their own context
        self.counted_elsewhere = []  # entries that another context has aborted, with their counts
        self.untold = {}  # label of a settled task that has not been reported yet: its place, its membership, and the earlier waits
        self.n_loose = 0  # level of code whose settled tasks may be reported later
        self.n_cancelling = 0
        self.places = [Place(program.get('schedulers', 1)) for _ in range(program.get('contexts', 1))]
        self.here = self.places[0]
        self.signals, self.dropped = {}, set()
        for name, given in program['signals'].items():
            self.make_signal(name, given)
        self.make_groups(program.get('groups', {}))
        self.prepare_lending(program)

    def run(self):
        self.perform_all(self.program['main'], None)
        self.run_all()
        self.say_counts()
        if self.released or self.unsaid or self.untold or self.unwaited:
            raise Differs(f'never gone: {list(self.released)}; never said cancelled: {list(self.unsaid)}; '
                          f'never told: {list(self.untold)}, {list(self.unwaited)}')

    def is_inside(self, place):
        """Returns whether this thread owns place.  The thread that made a context is its owner until another thread runs it."""
        return place is self.here or not place.begun and self.here is self.places[0]

    # Scheduling

    def effective(self, entry):
        state = entry.state
        lent = self.lent_to(entry.node) if entry.node and self.lends else -1
        return 2 * max(self.own_priority(state), lent) + (entry.continuation and not state.turns)

    def is_late(self, entry):
        """Returns whether the timeout of entry has passed."""
        return entry.state.expiry is not None and entry.state.expiry <= self.now

    def rank(self, entry):
        """Returns a key.  The entry with the least key is next: entries whose timeout has passed, by expiry time, then others by age."""
        return (-math.inf, entry.state.expiry, entry.order) if self.is_late(entry) else (-self.effective(entry), 0, entry.order)

    def enqueue(self, entry):
        entry.order = next(entry.place.orders)
        entry.place.queue.append(entry)
        entry.is_new = not self.is_inside(entry.place)

    def enqueue_later(self, entry, due):
        entry.is_new = not self.is_inside(entry.place)
        heapq.heappush(entry.place.timers, (due, next(entry.place.timers_made), entry))

    def dequeue(self, entry):
        """Removes entry from the queue, or from the timers."""
        entry.place.queue = [other for other in entry.place.queue if other is not entry]
        entry.place.timers = [timer for timer in entry.place.timers if timer[2] is not entry]
        heapq.heapify(entry.place.timers)

    def run_all(self):
        """Runs the contexts in turn; advances the time when no context has anything to do."""
        n_heard = -1
        while not all(place.is_empty() for place in self.places) or n_heard < len(self.log) or self.n_awaiting > 0:
            ran, n_heard = False, len(self.log)
            for number, place in enumerate(self.places):
                self.here, place.begun = place, True
                self.hear(f'turn {number}')
                n_before = len(self.log)
                for entry in place.queue + [timer[2] for timer in place.timers]:
                    entry.is_new = False
                ran |= self.run_next(place) or len(self.log) > n_before  # hearing a log entry is progress, too
            if not ran and not self.resume_all():
                self.now += 10
            if self.now > MAX_TIME and (self.waits or self.n_awaiting > 0):
                self.get_stuck()
                break
            if self.now > MAX_TIME:
                raise Differs('there is no end')

    def get_stuck(self):
        """Fails, because tasks wait for each other."""
        number = 1
        while self.heard is not None and any(what.startswith('turn') for what in self.heard[len(self.log):]):
            number = 1 - number
            self.say(f'turn {number}')

    def resume_all(self):
        """Resumes all schedulers, on the first context's thread."""
        self.here, resumed = self.places[0], False
        for scheduler in [scheduler for place in self.places for scheduler in place.schedulers]:
            resumed |= scheduler.paused
            scheduler.paused = False
            self.listen()
        return resumed

    def enqueue_due(self, place):
        while place.timers and place.timers[0][0] <= self.now:
            self.enqueue(heapq.heappop(place.timers)[2])

    def is_due(self, place):
        """Returns whether the delay of an entry has expired, which the loop may or may not have noticed."""
        return place.timers and place.timers[0][0] <= self.now

    def is_dropped(self, entry):
        return all(task is not entry for task in self.tasks.values())

    def run_next(self, place):
        self.enqueue_due(place)
        for _ in range(2):
            self.listen(True)
            self.checkpoint()
        self.listen(True)
        # Time may have passed in a microtask, for instance in a nested loop.
        if self.is_due(place) and self.choose():
            self.enqueue_due(place)
        runnable = [entry for entry in place.queue if not entry.state.scheduler.paused]
        if not runnable:
            return self.run_idle(place)
        entry = min(runnable, key=self.rank)
        place.queue.remove(entry)
        self.running.append(entry)
        late, self.late = self.late, self.is_late(entry)
        entry.on_stack = True
        self.begin_run(entry)
        entry.run()
        entry.on_stack, entry.returned = False, True
        self.late = late
        if entry.has_result or entry.is_plain:
            self.listen()
        if entry.has_result:
            # A continuation of a yield is called after its task has ended: the loop may have looked at the time by
            # then.
            if entry.continuation and self.is_due(place) and self.choose():
                self.enqueue_due(place)
            self.checkpoint()
        # Code that waits for a task is called before the loop looks at the time.
        if entry.label and entry.has_result and not entry.continuation:
            self.listen()
            self.checkpoint()
            # The data of an aborted task is released after its turn: the loop may look at the time before.
            if entry.aborted and self.is_due(place) and self.choose():
                self.enqueue_due(place)
            self.finish(entry)
            self.listen()
            if place.microtasks:
                place.microtasks.popleft()()
            # An entry without other references is freed then, with its data; the loop may look at the time later.
            if self.is_due(place) and self.is_dropped(entry) and self.choose():
                self.listen()
            self.end_run(entry)
        self.enqueue_due(place)
        self.listen()
        self.checkpoint()
        self.finish(entry)
        self.end_run(entry)
        self.end_turn()
        return True

    def finish(self, entry):
        """Ends entry, whose checkpoint is over."""
        if entry in self.running:
            self.running.remove(entry)
            entry.settle()

    def run_idle(self, place):
        if self.now >= place.idle_deadline:
            place.idle_running += place.idle_pending
            place.idle_pending = []
            if not place.idle_running:
                return False
            place.idle_deadline = min([self.now + 50] + [timer[0] for timer in place.timers])
        if not place.idle_running:
            return False
        place.idle_running[0]('')
        self.end_turn()
        return True

    def end_turn(self):
        self.listen()
        self.checkpoint()
        self.listen()

    def checkpoint(self):
        while self.here.microtasks:
            self.here.microtasks.popleft()()
            self.listen()

    # Operations

    def release(self, label, place, op):
        """Ends an entry: its destroy notify is called soon."""
        if self.traced:
            self.released[label] = place, op.get('gone', [])

    def tell(self, label, place, outcome, member=None):
        """Reports the result of a task: waiting code is called in a microtask."""
        self.outcomes[label] = outcome
        told = f'{label} {outcome}'

        def call():
            self.complete(member, outcome)
            if self.traced:
                self.say(f'settled {told}')
            self.react(label)

        call.label = label
        if self.traced and self.n_loose > 0:
            self.untold[told] = place, member, list(member.group.joining) if member else []
        elif self.traced or member or self.lends:
            place.microtasks.append(call)

    def state_of_post(self, op, signal, scheduler=None, member=None):
        fixed = op.get('priority')
        follows = signal if fixed is None and signal and self.signals[signal].kind != 'abort' else None
        # The timeout counts from the end of the delay.
        expiry = self.now + op.get('delay', 0) + op['timeout'] if op.get('timeout', 0) else None
        return State(scheduler or self.there(op).scheduler_of(op), signal, fixed or (None if follows else 'user-visible'), follows,
                     expiry, member, turns=op.get('turns', False))

    def enqueue_delayed(self, entry, op):
        if op.get('delay', 0):
            self.enqueue_later(entry, self.now + op['delay'])
        else:
            self.enqueue(entry)

    def post(self, op, state):
        signal = self.known(op.get('signal'))
        label = str(op['id'])
        group, member = self.group_of(op), None
        place = self.there(op)
        if 'group' in op:
            if group is None:
                return
            place = group.place
            signal = self.combine(group, signal, label)
            member = self.join(group, label)
        own = self.state_of_post(op, signal, group, member)
        if signal and self.signals[signal].aborted:
            self.tell(label, place, 'aborted', member)
            self.release(label, place, op)
            self.listen()
            self.tasks[op['id']] = Entry(own, None, None)
            self.tasks[op['id']].label = label
            return

        def end(outcome):
            # It stays in its waits unless it has been aborted itself: an abort as a result is not enough.
            self.end_lending(entry.node)
            if member:
                leave(member)
            self.tell(label, place, outcome, member)
            self.release(label, place, op)

        def run():
            self.forget_queued(label)
            if member and not member.left:
                take_place(member)
            self.say_when(f'start {label}')
            inner = self.begin_lending(entry, own)
            self.go_on(self.perform_body(op['body'], inner, label), inner, ended)

        # The outcome of the body, once it has ended; and whether the task's checkpoint is over.
        ends, settled = [], []

        def ended(outcome):
            ends.append(outcome)
            if settled:
                end(outcome)

        def settle():
            if entry.aborted:
                entry.release()
                return
            settled.append(True)
            if ends:
                self.complete(member, ends[0])
                end(ends[0])
                # Code that waits for the task is called before code that waits for its group.
                place.microtasks.rotate(1 if member and self.n_loose == 0 else 0)

        def abort(loosely):
            self.n_loose += loosely
            self.end_lending(entry.node, True)
            end('aborted')
            self.n_loose -= loosely

        def reject(loosely):
            self.n_loose += loosely
            self.end_lending(entry.node, True)
            self.tell(label, place, 'aborted', member)
            self.n_loose -= loosely

        entry = Entry(own, run, abort, reject)
        entry.release = functools.cache(lambda: self.release(label, place, op))
        entry.label, entry.member, entry.node, entry.settle = label, member, Node(own), settle
        if not op.get('alone', not self.lends):
            self.lend(state, entry.node)  # the code that posted the task waits for its result
        self.enqueue_delayed(entry, op)
        self.listen()
        self.tasks[op['id']] = entry  # after the call has returned
        if member:
            member.entry = entry
            if label not in self.outcomes:
                group.queued.append(member)

    def post_closure(self, op):
        """Posts a task without a result."""
        signal = self.known(op.get('signal'))
        label = f'f{op["id"]}'
        place = self.there(op)

        def end():
            self.release(label, place, op)

        def run():
            self.say_when(f'start {label}')
            inner = self.begin_lending(entry, own)
            self.go_on(self.perform_body(op['body'], inner, label), inner, lambda outcome: None)
            entry.release()

        if signal and self.signals[signal].aborted:
            self.release(label, self.here, op)
            return
        own = self.state_of_post(op, signal)
        entry = Entry(own, run, lambda loosely: end())
        entry.has_result, entry.node, entry.release = False, Node(own), functools.cache(end)
        entry.is_plain = 'priority' in op and signal is None and not op.get('delay', 0) and own.expiry is None and not own.turns
        self.enqueue_delayed(entry, op)

    def post_many(self, op):
        """Posts tasks that do nothing.  The log shows when one runs, because others may be freed before or after it."""
        signal = self.known(op.get('signal'))
        own = self.state_of_post(op, signal)

        def run():
            if self.traced:
                self.say_when('one')

        for _ in range(0 if signal and self.signals[signal].aborted else op['times']):
            self.enqueue(Entry(own, run, lambda loosely: None))

    def go_on(self, body, state, ended):
        """Runs body to its next yield."""
        self.resumed = state
        try:
            label, scheduler, op = next(body)
        except StopIteration:
            ended('fulfilled')
            return
        except RuntimeError as error:
            assert 'thrown' in str(error), error
            ended('threw')
            return
        if op['op'] == 'await':
            self.await_task(self.task_here(op), label, state, lambda: self.go_on(body, state, ended))
            if self.running:
                self.running[-1].returned = True
            self.listen()
            return
        if op['op'] == 'wait':
            self.wait(body, label, op, state, ended)
            return
        place = scheduler.place
        if place is not self.here:
            state = None  # the state does not go to another context
        late = self.late and place is self.here
        own = self.state_of_yield(op, scheduler, state)

        def abort(loosely):
            self.rejected.append(label)
            body.close()
            if loosely or self.n_loose > 0:
                self.n_loose += 1
                ended('aborted')
                self.n_loose -= 1
            else:
                place.microtasks.append(lambda: ended('aborted'))

        def run():
            if own.expiry is None:
                self.late = late  # a yield elsewhere is a plain callback
            self.say_when(f'resume {label}')
            self.go_on(body, state, ended)

        if own.abort and self.signals[own.abort].aborted:
            abort(False)
        else:
            entry = Entry(own, run, abort)
            entry.continuation, entry.node = True, Node(own)
            self.lend(state, entry.node)
            self.enqueue(entry)
        if self.running:
            self.running[-1].returned = True
        self.listen()

    def there(self, op):
        return self.places[op['context']] if 'context' in op else self.here

    def known(self, name):
        """Returns name, if it names a signal that the program has made and not dropped."""
        return name if name == 'inherit' or name in self.signals and name not in self.dropped else None

    def state_of_yield(self, op, scheduler, state):
        """Returns the state of a yield with the older draft's options."""
        signal, priority = self.known(op.get('signal')), op.get('priority')
        if priority is None and signal in (None, 'inherit'):
            signal = priority = 'inherit'
        # A state belongs to one scheduler.
        inherited = State(scheduler, None, 'user-visible', None)
        if state and scheduler in (state.scheduler, state.scheduler.outer):
            inherited = state._replace(scheduler=scheduler)
        inherited = inherited._replace(turns=inherited.turns or op.get('turns', False))
        abort = inherited.abort if signal == 'inherit' else signal
        if priority == 'inherit':
            return inherited._replace(abort=abort)
        follows = signal if priority is None and self.signals[signal].kind != 'abort' else None
        return State(scheduler, abort, priority or (None if follows else 'user-visible'), follows, inherited.expiry, turns=inherited.turns)

    def perform_body(self, ops, state, label):
        n_yields = itertools.count(1)
        for op in ops:
            if op['op'] == 'yield':
                if self.traced:
                    self.say('do yield')
                yield f'{label}.{next(n_yields)}', self.there(op).scheduler_of(op), op
                state = self.resumed
            elif op['op'] in ('wait', 'await'):
                if self.traced:
                    self.say(f'do {op["op"]}')
                if self.group_of(op) if op['op'] == 'wait' else self.task_here(op):
                    yield f'{label}.{next(n_yields)}', None, op
                    state = self.resumed
            elif op['op'] == 'throw':
                raise RuntimeError('thrown')
            else:
                self.perform(op, state)

    def perform_all(self, ops, state):
        for op in ops:
            self.perform(op, state)

    def perform(self, op, state):
        if self.traced:
            self.say(f'do {op["op"]}')
        self.perform_silently(op, state)
        if self.traced:
            self.say('done')

    def perform_silently(self, op, state):
        kind = op['op']
        if self.perform_with_group(op, state):
            return
        if kind == 'post':
            self.post(op, state)
        elif kind == 'closure':
            self.post_closure(op)
        elif kind == 'many':
            self.post_many(op)
        elif kind == 'priority':
            self.set_priority(op['signal'], op['to'], state)
        elif kind == 'abort':
            self.abort(op['signal'], state, op.get('by hand', False))
        elif kind == 'reset':
            self.reset(op['signal'])
        elif kind == 'unref':
            self.tasks.pop(op['id'], None)
        elif kind == 'microtask':
            self.queue_microtask(op, state)
        elif kind == 'idle':
            self.request_idle(op)
        elif kind == 'nest':
            self.nest(op['tasks'])
        elif kind == 'then':
            self.then(op, state)
        elif kind == 'lends':
            self.here.scheduler_of(op).lends = op['to']
        elif kind == 'statistics':
            self.collect(self.here.scheduler_of(op), op['to'])
        elif kind == 'trace':
            pass
        elif kind == 'busy':
            self.now += op['ms']
        elif kind == 'cancel':
            if op['id'] in self.tasks:
                self.cancel(self.tasks[op['id']])
        elif kind == 'renew':
            old = self.here.scheduler_of(op)
            old.paused = False
            self.listen()
            new = self.here.schedulers[op['scheduler']] = Scheduler(self.here)
            new.lends = op['scheduler'] in self.lending_numbers
            old.paused = False
        elif kind == 'drop':
            self.dropped.add(op['signal'])
        elif kind == 'any':
            given = op | {'kind': 'any', 'sources': [name for name in op['sources'] if self.known(name)]}
            if given['priority'] in PRIORITIES or self.known(given['priority']):
                self.make_signal(op['name'], given)
                self.dropped.discard(op['name'])
        else:
            self.here.scheduler_of(op).paused = kind == 'pause'

    def queue_microtask(self, op, state):
        late = self.late

        def run():
            before, self.late = self.late, late
            self.say_when(f'micro {op["id"]}')
            self.go_on(self.perform_body(op['body'], state, f'm{op["id"]}'), state, lambda outcome: None)
            self.late = before

        self.here.microtasks.append(run)

    def nest(self, n_tasks):
        place = self.here
        if place.nesting == MAX_NESTING:
            return
        place.nesting += 1
        while n_tasks > 0 and self.run_next(place):
            n_tasks -= 1
        place.nesting -= 1

    def request_idle(self, op):
        place = self.here
        scheduler = place.scheduler_of(op)
        state = State(scheduler, None, 'background', None)

        def call(how):
            for waiting in place.idle_pending, place.idle_running:
                if call in waiting:
                    waiting.remove(call)
            if timeout:
                self.dequeue(timeout)
            late, self.late = self.late, False
            self.say(f'idle {op["id"]}{how}')
            self.go_on(self.perform_body(op['body'], state, f'i{op["id"]}'), state, lambda outcome: None)
            self.late = late

        def time_out():
            call(' timeout')

        timeout = None
        place.idle_pending.append(call)
        if op.get('timeout', 0):
            timeout = Entry(State(scheduler, None, 'user-blocking', None), time_out, None)
            timeout.is_counted = False
            timeout.continuation = True  # in any case before other waiting entries
            self.enqueue_later(timeout, self.now + op['timeout'])


def expect(program, heard=None):
    """Performs program and returns its expected outcome; raises Differs if no choices lead to heard."""
    left = [()]
    for choices in left:
        model = Model(program, heard, choices)
        try:
            model.run()
            return {'log': model.log, 'outcomes': model.outcomes, 'rejected': sorted(model.rejected)}
        except Differs as error:
            wrong = wrong if choices else error
        if len(left) < MAX_TRIES:
            left += [choices + (False,) * n + (True,) for n in range(model.n_chosen - len(choices))]
    raise wrong
