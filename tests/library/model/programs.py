"""programs.py: makes random programs, and reduces them

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import itertools

from draft import PRIORITIES

# Operations that the vectors do not have, and operations that only traced programs have.
MORE = ['idle', 'nest', 'pause', 'resume', 'cancel', 'renew']
TRACED = ['closure'] * 3 + ['cancel'] * 2 + ['unref']
# Operations of destroy notifies, and of handlers that these may cause.  Their inherited state is not defined.  They
# end no tasks of groups: which of those is first is not defined.
QUIET_GROUPS = ['limit', 'group priority']
QUIET = ['post'] * 2 + ['closure', 'priority', 'priority', 'abort', 'abort', 'pause', 'resume', 'unref'] + ['cancel'] * 4


# Features that the draft does not have.
HAVING = {'timeouts': ['busy'] * 3, 'groups': ['watch', 'limit', 'group priority', 'group abort', 'cancel queued'],
          'lending': ['then'] * 3 + ['lends'], 'statistics': ['statistics'] * 3, 'trace': ['trace'] * 2, 'turns': []}
UNTIL = ['drained', 'all', 'any', 'first']


class Maker:
    """Makes programs without the kinds of operations, or of handlers, in without, and with the features in having, which the
    draft does not have."""

    def __init__(self, rng, without=(), having=()):
        self.rng, self.without, self.having = rng, without, having
        self.ids, self.micro_ids, self.idle_ids, self.watch_ids, self.then_ids = (itertools.count(1) for _ in range(5))
        self.budget = rng.randrange(4, 30)
        self.signals = {}
        self.more = {}  # operations that the vectors do not have
        self.later, self.made = [], []  # signals that operations make
        self.traced = self.resets = False
        self.groups, self.lends = {}, 'lending' in having
        self.last_id = 0

    def make(self, name):
        rng = self.rng
        if self.having or rng.randrange(3) > 0:
            self.more = {'contexts': rng.randrange(1, 3), 'schedulers': rng.randrange(1, 4), 'slice': 0}
            # Only the log shows when aborts by hand are reported.
            self.traced = rng.randrange(2) == 0 or 'groups' in self.having or 'lending' in self.having
        for i in range(rng.randrange(1, 4)):
            self.signals[f'c{i}'] = {'kind': 'task', 'priority': rng.choice(PRIORITIES)}
        for i in range(rng.randrange(2)):
            self.signals[f'a{i}'] = {'kind': 'abort'}
        for i in range(rng.randrange(3)):
            names = list(self.signals)
            followed = [other for other in names if self.signals[other]['kind'] != 'abort']
            self.signals[f's{i}'] = {'kind': 'any', 'sources': rng.sample(names, rng.randrange(min(3, len(names) + 1))),
                                     'priority': rng.choice(PRIORITIES + followed)}
        if 'groups' in self.having:
            more_groups = [f'g{i}' for i in range(rng.randrange(1, 3))]
            self.groups = {name: {'context': rng.randrange(self.more['contexts']), 'scheduler': rng.randrange(self.more['schedulers']),
                                  'limit': rng.randrange(1, 4), 'priority': rng.choice(PRIORITIES)} for name in more_groups}
        # GIO does not allow to reset a signal with queued tasks in another context.
        self.resets = self.traced and self.more['contexts'] == 1 and 'a0' in self.signals
        self.later = [f'd{i}' for i in range(rng.randrange(4))] if self.more else []
        changing = [other for other in self.signals if self.signals[other]['kind'] != 'abort'] + self.later
        handlers = {other: calm([self.operation(2, quiet=self.traced) for _ in range(rng.randrange(3))])
                    for other in changing if rng.randrange(3) == 0}
        more = self.more_handlers(handlers) if self.traced else {}
        main = [self.operation(0) for _ in range(rng.randrange(2, 9))]
        if self.groups:
            more['groups'] = self.groups
        if self.lends:
            more['lends'] = [number for number in range(self.more['schedulers']) if rng.randrange(4) > 0]
        return {'name': name, **self.more, **more, 'signals': self.signals, 'handlers': handlers, 'main': main}

    def more_handlers(self, handlers):
        rng = self.rng
        more = {'traced': True}
        for kind, names in ('notify', list(handlers)), ('cancelled', self.all_signals() + self.later):
            if kind not in self.without:
                more[kind] = {other: self.quiet_body() for other in names if rng.randrange(2)}
        return more

    def body(self, depth, signal=None):
        ops = [self.operation(depth + 1, True) for _ in range(self.rng.randrange(4 if depth < 3 else 1))]
        if self.traced and self.budget > 0 and self.rng.randrange(4) == 0:
            ops += self.reset_burst() if self.resets and self.rng.randrange(2) else self.cancel_burst(signal)
        return [op for op in ops if op['op'] not in self.without]

    def reset_burst(self):
        return [{'op': 'abort', 'signal': 'a0'}, {'op': 'reset', 'signal': 'a0'}, {'op': 'yield'},
                *[{'op': 'abort', 'signal': 'a0'}] * self.rng.randrange(2)]

    def cancel_burst(self, signal):
        """Cancels tasks of a signal that was aborted by hand, while they are being ended."""
        rng = self.rng
        signal = signal or rng.choice(self.all_signals())
        ops = [self.posting({'op': 'post', 'id': next(self.ids), 'body': []}, signal) for _ in range(rng.randrange(4))]
        first = rng.randrange(1, 20) if not ops else ops[0]['id']
        ops += [{'op': 'abort', 'signal': signal, 'by hand': True}]
        ops += [{'op': kind, 'id': first + i} for kind in ('cancel', 'unref') for i in range(rng.randrange(3))]
        if rng.randrange(2):
            return [*ops, {'op': 'pause', 'scheduler': 0}, {'op': 'resume', 'scheduler': 0}]
        return [*ops, self.changing({'op': 'priority'})]

    def quiet_body(self):
        return [self.operation(3, quiet=True) for _ in range(self.rng.randrange(1, 3))] if self.budget > 0 else []

    def kinds(self, in_body, quiet):
        if quiet:
            kinds = QUIET + (QUIET_GROUPS if self.groups else [])
        else:
            kinds = ['post'] * 6 + ['priority'] * 2 + ['abort', 'microtask']
            if in_body:
                kinds += ['yield'] * 4 + ['throw']
            if self.more:
                kinds += MORE + ['any'] * len(self.later)
            for feature in self.having:
                kinds += HAVING[feature]
            kinds += ['wait'] * (3 if in_body and self.groups else 0) + ['await'] * (4 if in_body and self.lends else 0)
        kinds += ['drop'] * len(self.made)
        if self.traced and not quiet:
            kinds += TRACED + ['many'] * (self.rng.randrange(8) == 0)
        if self.resets:
            kinds += ['reset'] * 2
        return [kind for kind in kinds if kind not in self.without]

    def operation(self, depth, in_body=False, quiet=False):
        rng = self.rng
        self.budget -= 1
        kind = rng.choice(self.kinds(in_body, quiet))
        op = {'op': kind}
        if self.more and kind in ('post', 'closure', 'many', 'yield', 'idle', 'pause', 'resume', 'renew', 'lends', 'statistics'):
            op['scheduler'] = rng.randrange(self.more['schedulers'])
        if kind == 'priority':
            self.changing(op)
        elif kind == 'abort':
            self.aborting(op)
        elif kind == 'reset':
            op['signal'] = 'a0'
        elif kind == 'yield' and self.more:
            self.yielding(op)
        elif kind in ('cancel', 'unref', 'then', 'await'):
            # A posted task, half of the time.
            op['id'] = rng.randrange(1, rng.choice([20, self.last_id + 2]))
            if kind == 'then':
                op = {'op': kind, 'task': op['id'], 'id': next(self.then_ids), 'body': self.body(3) if rng.randrange(3) == 0 else []}
        elif kind in ('lends', 'statistics', 'trace'):
            op['to'] = rng.randrange(3) > 0
        elif kind == 'drop':
            op['signal'] = rng.choice(self.made + [name for name in self.signals if name[0] == 's'])
        elif kind == 'any':
            self.making(op)
        elif kind == 'nest':
            op['tasks'] = rng.randrange(1, 5)
        elif kind == 'many':
            op |= {'times': rng.randrange(60, 80), 'signal': rng.choice(self.all_signals())}
            self.timing(op)
        elif kind in HAVING['groups'] + ['wait']:
            self.grouping(op)
        elif kind == 'busy':
            op['ms'] = rng.choice([10, 20, 30, 50, 100])
        elif kind in ('post', 'closure', 'microtask', 'idle'):
            op['id'] = next({'microtask': self.micro_ids, 'idle': self.idle_ids}.get(kind, self.ids))
            self.last_id = max(self.last_id, op['id'])
            if kind in ('post', 'closure'):
                self.posting(op)
            elif kind == 'idle' and rng.randrange(2):
                op['timeout'] = rng.choice([10, 30, 60, 100])
            op['body'] = self.body(depth, op.get('signal')) if self.budget > 0 else []
            if kind == 'microtask':
                op['body'] = calm(op['body'])
        return op

    def all_signals(self):
        return [*self.signals, *self.made]

    def yielding(self, op):
        rng = self.rng
        if 'turns' in self.having and rng.randrange(3) == 0:
            op['turns'] = True
        if rng.randrange(4) == 0:
            op['context'] = rng.randrange(self.more['contexts'])
        elif rng.randrange(3) == 0:
            op |= rng.choice([{}, {'signal': rng.choice(['inherit', *self.all_signals()])}])
            op |= rng.choice([{}, {'priority': rng.choice(['inherit', *PRIORITIES])}])

    def making(self, op):
        rng = self.rng
        op['name'] = self.later.pop()
        op['sources'] = rng.sample(self.all_signals(), rng.randrange(min(4, len(self.all_signals()) + 1)))
        op['priority'] = rng.choice([*PRIORITIES, *self.made, *(name for name in self.signals if name[0] != 'a')])
        self.made.append(op['name'])

    def changing(self, op):
        op['signal'] = self.rng.choice([name for name, signal in self.signals.items() if signal['kind'] == 'task'])
        op['to'] = self.rng.choice(PRIORITIES)
        return op

    def aborting(self, op):
        by_hand = self.traced and self.rng.randrange(4) == 0
        op['signal'] = self.rng.choice([name for name, signal in self.signals.items() if by_hand or signal['kind'] != 'any'])
        if by_hand:
            op['by hand'] = True

    def grouping(self, op):
        rng = self.rng
        op['group'] = rng.choice(list(self.groups))
        if op['op'] == 'limit':
            op['limit'] = rng.randrange(1, 4)
        elif op['op'] == 'group priority':
            op['to'] = rng.choice(PRIORITIES)
        elif op['op'] in ('wait', 'watch'):
            op['until'] = rng.choice(UNTIL)
            if self.traced and rng.randrange(4) == 0:
                op['signal'] = rng.choice(self.all_signals())
        if op['op'] == 'watch':
            op |= {'id': next(self.watch_ids), 'body': self.body(3) if self.budget > 0 and rng.randrange(2) else []}

    def timing(self, op):
        if 'turns' in self.having and self.rng.randrange(2) > 0:
            op['turns'] = True
        if 'timeouts' in self.having and self.rng.randrange(3) > 0:
            op['timeout'] = self.rng.choice([-60, -20, -1, 10, 20, 30, 50, 60, 100, 200])

    def posting(self, op, signal=None):
        rng = self.rng
        if self.more:
            op['context'] = rng.randrange(self.more['contexts'])
        if signal or rng.randrange(2):
            op['signal'] = signal or rng.choice(self.all_signals())
        if rng.randrange(3) == 0:
            op['priority'] = rng.choice(PRIORITIES)
        if rng.randrange(6) == 0:
            op['delay'] = rng.choice([30, 60, 90, 120])
        if self.groups and op['op'] == 'post' and rng.randrange(3) > 0:
            op['group'] = rng.choice(list(self.groups))
        if self.lends and op['op'] == 'post' and rng.randrange(3) > 0:
            op['alone'] = True
        self.timing(op)
        if self.traced and 'gone' not in self.without and rng.randrange(3) == 0:
            op['gone'] = self.quiet_body()
        return op


def calm(ops):
    """Makes operations of ops take no time, because the loop may not look at the clock after them."""
    return [op for op in ops if op['op'] != 'busy']


def without_one(ops):
    for i, op in enumerate(ops):
        yield ops[:i] + ops[i + 1:]
        for part in 'body', 'gone':
            for fewer in without_one(op.get(part, [])):
                yield ops[:i] + [op | {part: fewer}] + ops[i + 1:]


def smaller(program):
    """Yields copies of program, each without one operation or one handler."""
    for main in without_one(program['main']):
        yield program | {'main': main}
    for kind in 'handlers', 'notify', 'cancelled':
        given = program.get(kind, {})
        for name, ops in given.items():
            yield program | {kind: {other: value for other, value in given.items() if other != name}}
            for fewer in without_one(ops):
                yield program | {kind: given | {name: fewer}}
