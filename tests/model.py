"""model.py: a literal, slow model of the draft, and random programs for it and for the library

    model.py --check VECTORS                     the model does what the native implementation did
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
State = collections.namedtuple('State', 'abort fixed follows')  # names of signals, or None


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

    def __init__(self, label, state, run, refuse):
        self.label, self.state, self.run, self.refuse = label, state, run, refuse
        self.continuation = False
        self.order = None
        self.aborted = False


class Model:
    def __init__(self, program):
        self.log, self.outcomes, self.rejected = [], {}, []
        self.orders, self.timers_made = itertools.count(), itertools.count()
        self.queue, self.timers, self.microtasks = [], [], collections.deque()
        self.running = []  # tasks whose checkpoint is not over
        self.now = 0
        self.handlers = dict(program['handlers'])
        self.seen = set()
        self.signals = {}
        for name, given in program['signals'].items():
            self.make_signal(name, given)

        self.perform_all(program['main'], None)
        self.checkpoint()
        while self.run_next():
            pass

    def make_signal(self, name, given):
        signal = self.signals[name] = Signal(given['kind'], given.get('priority'))
        if signal.kind != 'any':
            return
        for source in given['sources']:
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
        entry.order = next(self.orders)
        self.queue.append(entry)

    def run_next(self):
        if not self.queue:
            if not self.timers:
                return False
            self.now = max(self.now, self.timers[0][0])
        while self.timers and self.timers[0][0] <= self.now:
            entry = heapq.heappop(self.timers)[2]
            if not entry.aborted:
                self.enqueue(entry)
        if self.queue:
            entry = min(self.queue, key=lambda entry: (-self.effective(entry), entry.order))
            self.queue.remove(entry)
            self.running.append(entry)
            settle = entry.run()
            self.checkpoint()
            self.running.remove(entry)
            settle()
            self.checkpoint()
        return True

    def checkpoint(self):
        while self.microtasks:
            self.microtasks.popleft()()

    # Operations

    def post(self, op, state):
        signal = op.get('signal')
        label = str(op['id'])
        if signal and self.signals[signal].aborted:
            self.outcomes[label] = 'aborted'
            return
        fixed = op.get('priority')
        follows = signal if fixed is None and signal and self.signals[signal].kind != 'abort' else None
        own = State(signal, fixed or (None if follows else 'user-visible'), follows)

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
        entry = Entry(label, own, run, refuse)
        delay = op.get('delay', 0)
        if delay:
            heapq.heappush(self.timers, (self.now + delay, next(self.timers_made), entry))
        else:
            self.enqueue(entry)

    def go_on(self, body, state, ended):
        """Runs body to its next yield."""
        try:
            label = next(body)
        except StopIteration:
            ended('fulfilled')
            return
        except RuntimeError as error:
            assert 'thrown' in str(error), error
            ended('threw')
            return
        state = state or State(None, 'user-visible', None)

        def refuse():
            self.rejected.append(label)
            body.close()
            self.microtasks.append(lambda: ended('aborted'))

        def run():
            self.log.append(f'resume {label}')
            self.go_on(body, state, ended)
            return lambda: None

        if state.abort and self.signals[state.abort].aborted:
            refuse()
            return
        entry = Entry(label, state, run, refuse)
        entry.continuation = True
        self.enqueue(entry)

    def perform_body(self, ops, state, label):
        n_yields = itertools.count(1)
        for op in ops:
            if op['op'] == 'yield':
                yield f'{label}.{next(n_yields)}'
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
        else:
            self.microtasks.append(lambda: self.microtask(op, state))

    def microtask(self, op, state):
        self.log.append(f'micro {op["id"]}')
        self.go_on(self.perform_body(op['body'], state, f'm{op["id"]}'), state, lambda outcome: None)

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
            for entry in self.running:
                if entry.state.abort == other:
                    entry.aborted = True
            waiting = [entry for entry in self.queue if entry.state.abort == other]
            waiting += [timer[2] for timer in self.timers if timer[2].state.abort == other and not timer[2].aborted]
            for entry in waiting:
                entry.aborted = True
                if entry in self.queue:
                    self.queue.remove(entry)
                entry.refuse()


def expect(program):
    model = Model(program)
    return {'log': model.log, 'outcomes': model.outcomes, 'rejected': sorted(model.rejected)}


# Random programs

class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.ids, self.micro_ids = itertools.count(1), itertools.count(1)
        self.budget = rng.randrange(4, 30)
        self.signals = {}

    def make(self, name):
        rng = self.rng
        for i in range(rng.randrange(1, 4)):
            self.signals[f'c{i}'] = {'kind': 'task', 'priority': rng.choice(PRIORITIES)}
        for i in range(rng.randrange(2)):
            self.signals[f'a{i}'] = {'kind': 'abort'}
        for i in range(rng.randrange(3)):
            names = list(self.signals)
            followed = [other for other in names if self.signals[other]['kind'] != 'abort']
            self.signals[f's{i}'] = {'kind': 'any', 'sources': rng.sample(names, rng.randrange(min(3, len(names) + 1))),
                                     'priority': rng.choice(PRIORITIES + followed)}
        changing = [other for other in self.signals if self.signals[other]['kind'] != 'abort']
        handlers = {other: [self.operation(2, False) for _ in range(rng.randrange(3))]
                    for other in changing if rng.randrange(3) == 0}
        main = [self.operation(0, False) for _ in range(rng.randrange(2, 9))]
        return {'name': name, 'signals': self.signals, 'handlers': handlers, 'main': main}

    def body(self, depth):
        return [self.operation(depth + 1, True) for _ in range(self.rng.randrange(4 if depth < 3 else 1))]

    def operation(self, depth, in_body):
        rng = self.rng
        self.budget -= 1
        kind = rng.choice(['post'] * 6 + ['priority'] * 2 + ['abort', 'microtask'] + (['yield'] * 4 + ['throw'] if in_body else []))
        if kind == 'priority':
            return {'op': kind, 'signal': rng.choice([n for n, s in self.signals.items() if s['kind'] == 'task']),
                    'to': rng.choice(PRIORITIES)}
        if kind == 'abort':
            return {'op': kind, 'signal': rng.choice([n for n, s in self.signals.items() if s['kind'] != 'any'])}
        if kind in ('yield', 'throw'):
            return {'op': kind}
        op = {'op': kind, 'id': next(self.ids if kind == 'post' else self.micro_ids)}
        if kind == 'post':
            if rng.randrange(2):
                op['signal'] = rng.choice(list(self.signals))
            if rng.randrange(3) == 0:
                op['priority'] = rng.choice(PRIORITIES)
            if rng.randrange(6) == 0:
                op['delay'] = rng.choice([30, 60, 90, 120])
        op['body'] = self.body(depth) if self.budget > 0 else []
        return op


def agrees(runner, programs):
    """Whether the library does what the model does with programs; what it says otherwise."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump([program | {'expect': expect(program)} for program in programs], file)
        file.flush()
        result = subprocess.run([*runner, file.name], capture_output=True, text=True, timeout=600)
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
    print(f'{len(programs) - wrong} of {len(programs)} programs: the model does what the native implementation did')
    return wrong > 0


def search(runner, n_programs, seed):
    print(f'seed {seed}', flush=True)
    rng = random.Random(seed)
    chunk = 2000
    for first in range(0, n_programs, chunk):
        programs = [Maker(rng).make(f'r{first + i}') for i in range(min(chunk, n_programs - first))]
        right, said = agrees(runner, programs)
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
    parser.add_argument('--programs', type=int, default=100000)
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('runner', nargs='*')
    given = parser.parse_args()
    if given.check:
        return check(given.check)
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), 'little')
    return search(given.runner, given.programs, seed)


sys.exit(main())
