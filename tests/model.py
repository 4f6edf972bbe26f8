"""model.py: a literal, slow model of the draft, and random programs for it and for the library

    model.py --check VECTORS                     the model does what they expect: the native implementation did it
    model.py RUNNER [--programs N] [--seed N]    the library does what the model does

Programs are those of conformance-vectors.md; RUNNER is build/tests/conformance, or what takes the
same files.  A program that the library runs otherwise is made smaller for as long as that stays so,
and printed as a vector.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import collections
import heapq
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

PRIORITIES = ['background', 'user-visible', 'user-blocking']
MAX_NESTING = 3
State = collections.namedtuple('State', 'scheduler abort fixed follows')  # the last three: names, or None


class Signal:
    def __init__(self, kind, priority=None):
        self.kind = kind
        self.priority = priority
        self.aborted = self.changing = False
        self.roots = []       # names that an `any` depends on
        self.follows = None   # the root of its priority
        self.dependents = []  # names, in the order of their making
        self.followers = []


class Entry:
    """A task, or a continuation, from its posting on."""

    def __init__(self, state, run, refuse):
        self.state, self.run, self.refuse = state, run, refuse
        self.place = state.scheduler.place
        self.continuation = False
        self.order = None
        self.aborted = False


class Scheduler:
    def __init__(self, place):
        self.place = place
        self.paused = False


class Place:
    """A main context."""

    def __init__(self, n_schedulers):
        self.orders, self.timers_made = itertools.count(), itertools.count()
        self.queue, self.timers, self.microtasks = [], [], collections.deque()
        self.idle_pending, self.idle_running, self.idle_deadline = [], [], 0
        self.schedulers = [Scheduler(self) for _ in range(n_schedulers)]
        self.nesting = 0

    def scheduler_of(self, op):
        return self.schedulers[op.get('scheduler', 0)]

    def is_empty(self):
        return not (self.queue or self.timers or self.microtasks or self.idle_pending or self.idle_running)


class Model:
    def __init__(self, program):
        self.log, self.outcomes, self.rejected = [], {}, []
        self.tasks = {}  # by id
        self.running = []  # tasks whose checkpoint is not over
        self.now = 0
        self.handlers = dict(program['handlers'])
        self.seen = set()
        self.signals, self.dropped = {}, set()
        for name, given in program['signals'].items():
            self.make_signal(name, given)

        self.places = [Place(program.get('schedulers', 1)) for _ in range(program.get('contexts', 1))]
        self.here = self.places[0]
        self.perform_all(program['main'], None)
        self.run_all()

    def make_signal(self, name, given):
        signal = self.signals[name] = Signal(given['kind'], given.get('priority'))
        if signal.kind != 'any':
            return
        signal.aborted = any(self.signals[source].aborted for source in given['sources'])
        for source in [] if signal.aborted else given['sources']:
            other = self.signals[source]
            for root in other.roots if other.kind == 'any' else [source]:
                if root not in signal.roots:
                    signal.roots.append(root)
                    self.signals[root].dependents.append(name)
        if given['priority'] in self.signals:
            other = self.signals[given['priority']]
            signal.follows = other.follows if other.kind == 'any' else given['priority']
            signal.priority = other.priority
            if signal.follows is not None:
                self.signals[signal.follows].followers.append(name)

    # Scheduling

    def effective(self, entry):
        state = entry.state
        priority = self.signals[state.follows].priority if state.follows else state.fixed
        return 2 * PRIORITIES.index(priority) + entry.continuation

    def enqueue(self, entry):
        entry.order = next(entry.place.orders)
        entry.place.queue.append(entry)

    def enqueue_later(self, entry, due):
        heapq.heappush(entry.place.timers, (due, next(entry.place.timers_made), entry))

    def withdraw(self, entry):
        """Takes it out of wherever it waits."""
        entry.place.queue = [other for other in entry.place.queue if other is not entry]
        entry.place.timers = [timer for timer in entry.place.timers if timer[2] is not entry]
        heapq.heapify(entry.place.timers)

    def run_all(self):
        """Contexts take turns; time goes on when none has anything to do."""
        while not all(place.is_empty() for place in self.places):
            ran = False
            for place in self.places:
                self.here = place
                ran |= self.run_next(place)
            if not ran and not self.resume_all():
                self.now += 10

    def resume_all(self):
        paused = [scheduler for place in self.places for scheduler in place.schedulers if scheduler.paused]
        for scheduler in paused:
            scheduler.paused = False
        return len(paused) > 0

    def run_next(self, place):
        self.checkpoint()
        while place.timers and place.timers[0][0] <= self.now:
            self.enqueue(heapq.heappop(place.timers)[2])
        runnable = [entry for entry in place.queue if not entry.state.scheduler.paused]
        if not runnable:
            return self.run_idle(place)
        entry = min(runnable, key=lambda entry: (-self.effective(entry), entry.order))
        place.queue.remove(entry)
        self.running.append(entry)
        settle = entry.run()
        self.checkpoint()
        self.running.remove(entry)
        settle()
        self.checkpoint()
        return True

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
        self.checkpoint()
        return True

    def checkpoint(self):
        place = self.here
        while place.microtasks:
            place.microtasks.popleft()()

    # Operations

    def post(self, op, state):
        signal = self.known(op.get('signal'))
        label = str(op['id'])
        if signal and self.signals[signal].aborted:
            self.outcomes[label] = 'aborted'
            return
        place = self.there(op)
        fixed = op.get('priority')
        follows = signal if fixed is None and signal and self.signals[signal].kind != 'abort' else None
        own = State(place.scheduler_of(op), signal, fixed or (None if follows else 'user-visible'), follows)

        def refuse():
            self.outcomes[label] = 'aborted'

        def run():
            self.log.append(f'start {label}')
            self.go_on(self.perform_body(op['body'], own, label), own, ended)
            return settle

        # What the body has come to, once it has; what the task has, once its checkpoint is over.
        ends = []

        def ended(outcome):
            ends.append(outcome)
            if settled:
                self.outcomes[label] = outcome

        def settle():
            if entry.aborted:
                self.outcomes[label] = 'aborted'
                return
            settled.append(True)
            if ends:
                self.outcomes[label] = ends[0]

        settled = []
        entry = self.tasks[op['id']] = Entry(own, run, refuse)
        if op.get('delay', 0):
            self.enqueue_later(entry, self.now + op['delay'])
        else:
            self.enqueue(entry)

    def go_on(self, body, state, ended):
        """Runs body to its next yield."""
        try:
            label, scheduler, op = next(body)
        except StopIteration:
            ended('fulfilled')
            return
        except RuntimeError as error:
            assert 'thrown' in str(error), error
            ended('threw')
            return
        place = scheduler.place
        if place is not self.here:
            state = None  # it does not go to another context
        own = self.state_of_yield(op, scheduler, state)

        def refuse():
            self.rejected.append(label)
            body.close()
            place.microtasks.append(lambda: ended('aborted'))

        def run():
            self.log.append(f'resume {label}')
            self.go_on(body, state, ended)
            return lambda: None

        if own.abort and self.signals[own.abort].aborted:
            refuse()
            return
        entry = Entry(own, run, refuse)
        entry.continuation = True
        self.enqueue(entry)

    def there(self, op):
        return self.places[op['context']] if 'context' in op else self.here

    def known(self, name):
        """The name, if it is that of a signal which the program has made, and not dropped."""
        return name if name == 'inherit' or name in self.signals and name not in self.dropped else None

    def state_of_yield(self, op, scheduler, state):
        """With the older draft's options."""
        signal, priority = self.known(op.get('signal')), op.get('priority')
        if priority is None and signal in (None, 'inherit'):
            signal = priority = 'inherit'
        # A state is that of one scheduler.
        inherited = state if state and state.scheduler is scheduler else State(scheduler, None, 'user-visible', None)
        abort = inherited.abort if signal == 'inherit' else signal
        if priority == 'inherit':
            return inherited._replace(abort=abort)
        follows = signal if priority is None and self.signals[signal].kind != 'abort' else None
        return State(scheduler, abort, priority or (None if follows else 'user-visible'), follows)

    def perform_body(self, ops, state, label):
        n_yields = itertools.count(1)
        for op in ops:
            if op['op'] == 'yield':
                yield f'{label}.{next(n_yields)}', self.there(op).scheduler_of(op), op
            elif op['op'] == 'throw':
                raise RuntimeError('thrown')
            else:
                self.perform(op, state)

    def perform_all(self, ops, state):
        for op in ops:
            self.perform(op, state)

    def perform(self, op, state):
        kind = op['op']
        if kind == 'post':
            self.post(op, state)
        elif kind == 'priority':
            self.set_priority(op['signal'], op['to'], state)
        elif kind == 'abort':
            self.abort(op['signal'])
        elif kind == 'microtask':
            self.here.microtasks.append(lambda: self.microtask(op, state))
        elif kind == 'idle':
            self.request_idle(op)
        elif kind == 'nest':
            self.nest(op['tasks'])
        elif kind == 'cancel':
            if op['id'] in self.tasks:
                self.cancel(self.tasks[op['id']])
        elif kind == 'renew':
            self.here.scheduler_of(op).paused = False
            self.here.schedulers[op['scheduler']] = Scheduler(self.here)
        elif kind == 'drop':
            self.dropped.add(op['signal'])
        elif kind == 'any':
            given = op | {'kind': 'any', 'sources': [name for name in op['sources'] if self.known(name)]}
            if given['priority'] in PRIORITIES or self.known(given['priority']):
                self.make_signal(op['name'], given)
                self.dropped.discard(op['name'])
        else:
            self.here.scheduler_of(op).paused = kind == 'pause'

    def microtask(self, op, state):
        self.log.append(f'micro {op["id"]}')
        self.go_on(self.perform_body(op['body'], state, f'm{op["id"]}'), state, lambda outcome: None)

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
                self.withdraw(timeout)
            self.log.append(f'idle {op["id"]}{how}')
            self.go_on(self.perform_body(op['body'], state, f'i{op["id"]}'), state, lambda outcome: None)

        def time_out():
            call(' timeout')
            return lambda: None

        timeout = None
        place.idle_pending.append(call)
        if op.get('timeout', 0):
            timeout = Entry(State(scheduler, None, 'user-visible', None), time_out, None)
            self.enqueue_later(timeout, self.now + op['timeout'])

    def set_priority(self, name, to, state):
        signal = self.signals[name]
        if signal.changing:
            self.log.append(f'notallowed {name}')
            return
        if signal.priority == to:
            return
        signal.changing = True
        old, signal.priority = signal.priority, to
        if name in self.handlers:
            self.log.append(f'change {name} {old}>{to}')
            if name not in self.seen:
                self.seen.add(name)
                self.perform_all(self.handlers[name], state)
        for follower in signal.followers:
            self.set_priority(follower, to, state)
        signal.changing = False

    def abort(self, name):
        if self.signals[name].aborted:
            return
        names = [name] + [other for other in self.signals[name].dependents if not self.signals[other].aborted]
        for other in names:
            self.signals[other].aborted = True
        for other in names:
            waiting = [entry for place in self.places for entry in place.queue + [timer[2] for timer in place.timers]]
            for entry in self.running + waiting:
                if entry.state.abort == other:
                    self.cancel(entry)

    def cancel(self, entry):
        waits = entry in entry.place.queue or any(timer[2] is entry for timer in entry.place.timers)
        if waits:
            self.withdraw(entry)
            entry.refuse()
        elif entry in self.running:
            entry.aborted = True


def expect(program):
    model = Model(program)
    return {'log': model.log, 'outcomes': model.outcomes, 'rejected': sorted(model.rejected)}


# Random programs

class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.ids, self.micro_ids, self.idle_ids = itertools.count(1), itertools.count(1), itertools.count(1)
        self.budget = rng.randrange(4, 30)
        self.signals = {}
        self.more = {}  # what the vectors have not
        self.later, self.made = [], []  # signals that operations make

    def make(self, name):
        rng = self.rng
        if rng.randrange(3) > 0:
            self.more = {'contexts': rng.randrange(1, 3), 'schedulers': rng.randrange(1, 4), 'slice': 0}
        for i in range(rng.randrange(1, 4)):
            self.signals[f'c{i}'] = {'kind': 'task', 'priority': rng.choice(PRIORITIES)}
        for i in range(rng.randrange(2)):
            self.signals[f'a{i}'] = {'kind': 'abort'}
        for i in range(rng.randrange(3)):
            names = list(self.signals)
            followed = [other for other in names if self.signals[other]['kind'] != 'abort']
            self.signals[f's{i}'] = {'kind': 'any', 'sources': rng.sample(names, rng.randrange(min(3, len(names) + 1))),
                                     'priority': rng.choice(PRIORITIES + followed)}
        self.later = [f'd{i}' for i in range(rng.randrange(4))] if self.more else []
        changing = [other for other in self.signals if self.signals[other]['kind'] != 'abort'] + self.later
        handlers = {other: [self.operation(2, False) for _ in range(rng.randrange(3))]
                    for other in changing if rng.randrange(3) == 0}
        main = [self.operation(0, False) for _ in range(rng.randrange(2, 9))]
        return {'name': name, **self.more, 'signals': self.signals, 'handlers': handlers, 'main': main}

    def body(self, depth):
        return [self.operation(depth + 1, True) for _ in range(self.rng.randrange(4 if depth < 3 else 1))]

    def operation(self, depth, in_body):
        rng = self.rng
        self.budget -= 1
        kinds = ['post'] * 6 + ['priority'] * 2 + ['abort', 'microtask']
        if in_body:
            kinds += ['yield'] * 4 + ['throw']
        if self.more:
            kinds += ['idle', 'nest', 'pause', 'resume', 'cancel', 'renew'] + ['any'] * len(self.later) + ['drop'] * len(self.made)
        kind = rng.choice(kinds)
        op = {'op': kind}
        if self.more and kind in ('post', 'yield', 'idle', 'pause', 'resume', 'renew'):
            op['scheduler'] = rng.randrange(self.more['schedulers'])
        if kind == 'priority':
            op |= {'signal': rng.choice([n for n, s in self.signals.items() if s['kind'] == 'task']), 'to': rng.choice(PRIORITIES)}
        elif kind == 'abort':
            op['signal'] = rng.choice([n for n, s in self.signals.items() if s['kind'] != 'any'])
        elif kind == 'yield' and self.more and rng.randrange(4) == 0:
            op['context'] = rng.randrange(self.more['contexts'])
        elif kind == 'yield' and self.more and rng.randrange(3) == 0:
            op |= rng.choice([{}, {'signal': rng.choice(['inherit', *self.all_signals()])}])
            op |= rng.choice([{}, {'priority': rng.choice(['inherit', *PRIORITIES])}])
        elif kind == 'cancel':
            op['id'] = rng.randrange(1, 20)
        elif kind == 'drop':
            op['signal'] = rng.choice(self.made + [name for name in self.signals if name[0] == 's'])
        elif kind == 'any':
            op['name'] = self.later.pop()
            op['sources'] = rng.sample(self.all_signals(), rng.randrange(min(4, len(self.all_signals()) + 1)))
            op['priority'] = rng.choice([*PRIORITIES, *self.made, *(name for name in self.signals if name[0] != 'a')])
            self.made.append(op['name'])
        elif kind == 'nest':
            op['tasks'] = rng.randrange(1, 5)
        elif kind in ('post', 'microtask', 'idle'):
            op['id'] = next({'post': self.ids, 'microtask': self.micro_ids, 'idle': self.idle_ids}[kind])
            if kind == 'post':
                self.posting(op)
            elif kind == 'idle' and rng.randrange(2):
                op['timeout'] = rng.choice([10, 30, 60, 100])
            op['body'] = self.body(depth) if self.budget > 0 else []
        return op

    def all_signals(self):
        return [*self.signals, *self.made]

    def posting(self, op):
        rng = self.rng
        if self.more:
            op['context'] = rng.randrange(self.more['contexts'])
        if rng.randrange(2):
            op['signal'] = rng.choice(self.all_signals())
        if rng.randrange(3) == 0:
            op['priority'] = rng.choice(PRIORITIES)
        if rng.randrange(6) == 0:
            op['delay'] = rng.choice([30, 60, 90, 120])


def agrees(runner, programs, seconds=10):
    """Whether the library does what the model does with programs; what it says otherwise."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump([program | {'expect': expect(program)} for program in programs], file)
        file.flush()
        try:
            result = subprocess.run([*runner, file.name], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return False, f'no end after {seconds} s\n'
    return result.returncode == 0, result.stdout + result.stderr


def smaller(program):
    """Programs like it, with one operation less."""
    def without(ops):
        for i, op in enumerate(ops):
            yield ops[:i] + ops[i + 1:]
            for body in without(op.get('body', [])):
                yield ops[:i] + [op | {'body': body}] + ops[i + 1:]
    for main in without(program['main']):
        yield program | {'main': main}
    for name, ops in program['handlers'].items():
        yield program | {'handlers': {other: value for other, value in program['handlers'].items() if other != name}}
        for fewer in without(ops):
            yield program | {'handlers': program['handlers'] | {name: fewer}}


def shrink(runner, program):
    found = True
    while found:
        found = False
        for candidate in smaller(program):
            if not agrees(runner, [candidate])[0]:
                program, found = candidate, True
                break
    return program


def check(path):
    with open(path) as file:
        programs = json.load(file)
    wrong = 0
    for program in programs:
        wanted = {key: program['expect'][key] for key in ('log', 'outcomes', 'rejected')}
        got = expect(program)
        if got != wanted:
            wrong += 1
            if wrong < 3:
                print(program['name'], *(f'\n{key}\n  {wanted[key]}\n  {got[key]}' for key in wanted if wanted[key] != got[key]))
    print(f'{len(programs) - wrong} of {len(programs)} programs: the model does what they expect')
    return wrong > 0


def search(runner, n_programs, seed):
    print(f'seed {seed}', flush=True)
    rng = random.Random(seed)
    chunk = 2000
    for first in range(0, n_programs, chunk):
        programs = [Maker(rng).make(f'r{first + i}') for i in range(min(chunk, n_programs - first))]
        right, said = agrees(runner, programs, 600)
        if right:
            continue
        for program in programs:
            if not agrees(runner, [program])[0]:
                program = shrink(runner, program)
                print(agrees(runner, [program])[1])
                print(json.dumps([program | {'expect': expect(program)}]))
                return 1
        print(said)
        return 1
    print(f'{n_programs} programs agree')
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', metavar='VECTORS')
    parser.add_argument('--programs', type=int, default=int(os.environ.get('RANDOM_PROGRAMS', 10000)))
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('runner', nargs='*')
    given = parser.parse_args()
    if given.check:
        return check(given.check)
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), 'little')
    return search(given.runner, given.programs, seed)


sys.exit(main())
