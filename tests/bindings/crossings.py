"""crossings.py: random programs in which every pair of mechanisms meets

    crossings.py [asyncio's loop] [--programs N] [--seed N] [--only MECHANISM,...] [--table]

Each program uses a random part of the binding's mechanisms, from everywhere.  Each awaitable settles once, in an allowed way; no
handled exception is reported; no object leaks.  --seed repeats one program, --table shows how often each pair of mechanisms has met.
The programs are the same each time; with PRIO_SCHED_THOROUGH in the environment there are many more, with random seeds.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import asyncio
import collections
import faulthandler
import gc
import importlib
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import traceback

import gi

gi.require_version('PrioSched', '1')
import crossings_asyncio  # noqa: E402, F401
import crossings_groups  # noqa: E402, F401
import crossings_operations  # noqa: E402, F401
from crossings_posts import ASYNCIO, BODIES, OPERATIONS, OPTIONS, can_be_made, places  # noqa: E402
from crossings_program import CONTEXT, Awaited, Here, Program, Work, check_reports, find_left, spin  # noqa: E402
from gi.repository import GLib, PrioSched  # noqa: E402

HANGS = 30  # seconds without a new program, before it counts as hanging
N_PROGRAMS = 100
FIRST_SEED = 1
N_ROUNDS = 5  # of programs for pairs that have not met yet
N_SHOWN = 10  # pairs to print that have not met
IS_THOROUGH = 'PRIO_SCHED_THOROUGH' in os.environ
MAX_ACTS = 300
LOGS = 'CROSSINGS_LOG' in os.environ  # whether each operation is logged
HOMES = ('iterate', 'run', 'asyncio')
# Mechanisms that are not tasks, and have no effect without a post.
MECHANISMS = sorted({*OPERATIONS, *OPTIONS, *BODIES})
# GLib before 2.80 holds a lock of all weak references in g_weak_ref_get () while PyGObject's toggle notify waits for the interpreter.
# A thread that has the interpreter and finalizes a signal waits for that lock: a deadlock in about 1 of 2,000 programs, caused by
# GLib and PyGObject.  A program does not choose which thread finalizes a signal, so mechanisms with other threads are left out.
THREADS = ('lane', 'run-in-thread', 'thread', 'to-thread')
HAS_DEADLOCK = (GLib.MAJOR_VERSION, GLib.MINOR_VERSION) < (2, 80)
LEFT_OUT = THREADS if HAS_DEADLOCK and not IS_THOROUGH else ()


def all_pairs(mechanisms):
    return list(itertools.combinations(mechanisms, 2))


class Crossing(Program):
    """Represents a program that chooses among the operations."""

    def __init__(self, seed, mechanisms, wanted, home):
        super().__init__(seed, mechanisms, wanted)
        self.home = home
        self.loop = self.lock = None
        self.switched = {}
        self.is_tracing = self.leaves_early = False
        self.n_nested = self.calls = self.n_acts = 0
        self.here = Here(self.rng)
        self.operations = sorted(set(OPERATIONS) & self.on) or ['post']

    def act(self, here):
        """Performs an operation that is possible here, which may return an awaitable."""
        self.n_acts += 1
        if self.n_acts > MAX_ACTS:
            return None
        for _ in range(4):
            name = 'post' if here.rng.random() < .25 else here.rng.choice(self.operations)
            if can_be_made(name, here):
                return self.make(name, here)
        return None

    def make(self, name, here):
        self.use(name)
        result = OPERATIONS[name](self, here)
        if LOGS:
            os.write(1, f'{"  " * here.depth}{name}: {result}, {getattr(result, "used", "")}\n'.encode())
        return result

    def carry(self, name, here):
        """Uses this mechanism."""
        if name not in OPERATIONS:
            return self.make('post', here)
        return self.make(name, here) if can_be_made(name, here) else None

    # Where it runs

    def begin(self):
        first = First(self, Here(random.Random(self.seed + 1), (), 1, True, loop=self.loop), 'first', 0)
        future = self.schedulers[0].post_task(first.coroutine)
        Awaited(self, 'the first task', future, (), first)
        for name in self.wanted:
            self.carry(name, self.here)

    def go_on(self):
        self.step += 1
        self.act(self.here)

    def is_settled(self):
        """Ends operations that hold tasks up, and returns whether all tasks have ended."""
        self.finish()
        if self.calls > 0 or any(thread.is_alive() for thread in self.threads):
            return False
        return not self.pending()

    def settle(self):
        self.iterate_until_settled()
        self.n_acts = MAX_ACTS  # later operations have no effect
        for thread in self.threads:
            thread.join()
        self.iterate_until_settled()

    def iterate_until_settled(self):
        while not self.is_settled():
            # Events without a listener, and operations of other threads, need not wake this thread up.
            tick = GLib.timeout_add(1, lambda: True) if any(one.n_listeners == 0 for one in self.pending()) or self.threads else 0
            CONTEXT.iteration(True)
            if tick != 0:
                GLib.source_remove(tick)

    def hangs(self):
        """Prints the pending awaitables, and ends the process."""
        lines = [f'{self.home}: {awaited.describe()} hangs' for awaited in self.pending()]
        lines += [f'{self.calls} calls, {sum(thread.is_alive() for thread in self.threads)} threads', f'settled: {self.is_settled()}', *check_reports(self.expected)]
        os.write(2, '\n'.join([*lines, '']).encode())
        write_met(self.met)
        faulthandler.dump_traceback()
        os._exit(1)

    def iterate(self):
        self.begin()
        for _ in range(self.rng.randrange(4, 12)):
            self.go_on()
            CONTEXT.iteration(False)

    async def main(self):
        try:
            self.loop = asyncio.get_running_loop()
            self.lock = asyncio.Lock()
        except RuntimeError:
            pass
        self.begin()
        for _ in range(self.rng.randrange(4, 12)):
            self.go_on()
            await self.clock.sleep(0, priority=self.rng.choice(('user-blocking', 'background')))
        # Running tasks are cancelled if the program ends before them.
        while not self.is_settled() and not self.leaves_early:
            await self.clock.sleep(1)
        # A paused scheduler would keep tasks for ever that continue after a cancellation.
        self.n_acts, self.is_ending, self.loop = MAX_ACTS, True, None
        self.finish()

    def run(self, loop):
        watchdog = GLib.timeout_add_seconds(HANGS // 3, self.hangs)
        if self.home == 'iterate':
            self.iterate()
        elif self.home == 'run':
            self.leaves_early = self.rng.random() < .2
            self.has_cancelled = self.has_cancelled or self.leaves_early
            PrioSched.run(self.main())
        else:
            loop.run_until_complete(self.main())
        self.settle()
        for lane in self.lanes:
            lane.end()
        for native, number in self.handlers:
            native.disconnect(number)
        GLib.source_remove(watchdog)
        spin()
        self.check()


class First(Work):
    """Uses the wanted mechanisms."""

    async def coroutine(self):
        self.begin()
        for name in self.program.wanted * 2:
            await self.wait(self.program.carry(name, self.here))
        return self.end()


def can_meet(home, names):
    """Returns whether the mechanisms can meet in a program that home runs."""
    return home == 'asyncio' or (home == 'run' and RUN_IS_ASYNCIO) or not any(places[name] & ASYNCIO for name in names)


RUN_IS_ASYNCIO = gi.version_info >= (3, 50)


def mechanisms_of(arguments):
    named = arguments.only.split(',') if arguments.only else [name for name in MECHANISMS if name not in LEFT_OUT]
    return [name for name in named if arguments.loop is not None or not places[name] & ASYNCIO]


def write_met(met):
    """Reports to the parent which pairs have met in one program, even if it has failed."""
    os.write(1, ''.join(f'{one} {other} {count}\n' for (one, other), count in met.items()).encode())


def run_one(seed, mechanisms, loop):
    """Runs the program of seed, and returns its errors, and how it ran."""
    pairs = all_pairs(mechanisms)
    # A row of programs, one for each pair, has each pair twice.
    wanted = pairs[seed * 2 % len(pairs)] + pairs[(seed * 2 + 1) % len(pairs)]
    rng = random.Random(seed)
    homes = [home for home in HOMES if can_meet(home, wanted) and (home != 'asyncio' or loop is not None)]
    program = Crossing(seed, mechanisms, wanted, rng.choice(homes))
    try:
        program.run(loop)
    finally:
        write_met(program.met)
    failures, refs, expected, home = program.failures, program.refs, program.expected, program.home
    del program
    left = find_left(refs)
    failures += [f'{len(left)} of {len(refs)} things are left: {", ".join(left[:3])}'] if left else []
    failures += check_reports(expected)
    return failures, home


def new_loop(kind):
    if kind is None:
        return None
    module = importlib.import_module(kind)
    if kind == 'gbulb':
        module.install()
        return asyncio.new_event_loop()
    return module.GLibEventLoop(CONTEXT)


def child(arguments):
    """Runs programs, and writes the seed before each; any other output is an error."""
    faulthandler.enable()
    loop = new_loop(arguments.loop)
    if loop is not None:
        asyncio.set_event_loop(loop)
    gc.collect()
    gc.freeze()
    for seed in seeds_of(arguments):
        os.write(2, f'seed {seed}\n'.encode())
        try:
            failures, home = run_one(seed, mechanisms_of(arguments), loop)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
            sys.exit(1)
        for failure in failures:
            os.write(2, ascii(f'{home}: {failure}').encode() + b'\n')


class Watched:
    """Runs processes that run programs, one after another, and reads their reports."""

    def __init__(self, arguments):
        self.arguments, self.seed, self.n_lost = arguments, None, 0
        self.said = []
        self.met = collections.Counter()

    def run(self, seeds):
        """Continues after a program that has ended a process, until too many have."""
        while seeds and self.n_lost < 5:
            loop = [self.arguments.loop] if self.arguments.loop else []
            only = ['--only', self.arguments.only] if self.arguments.only else []
            own = [sys.executable, __file__, *loop, *only, '--child', ','.join(map(str, seeds))]
            self.process = subprocess.Popen(own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace')
            reader = threading.Thread(target=self.read_counts)
            reader.start()
            self.read()
            reader.join()
            if self.process.wait() == 0:
                break
            self.said.append((self.seed, f'the process has ended with {self.process.returncode}'))
            self.n_lost += 1
            seeds = seeds[seeds.index(self.seed) + 1:] if self.seed in seeds else []

    def read_counts(self):
        for line in self.process.stdout:
            one, other, count = line.split()
            self.met[one, other] += int(count)

    def read(self):
        watchdog = None
        for line in self.process.stderr:
            if line.startswith('seed '):
                self.seed = int(line.split()[1])
                if watchdog is not None:
                    watchdog.cancel()
                watchdog = threading.Timer(HANGS, self.hangs)
                watchdog.daemon = True
                watchdog.start()
            else:
                self.said.append((self.seed, line.rstrip()))
        if watchdog is not None:
            watchdog.cancel()

    def hangs(self):
        self.said.append((self.seed, 'hangs'))
        self.process.send_signal(signal.SIGABRT)  # makes faulthandler print the stack


def print_table(met, mechanisms):
    width = max(map(len, mechanisms))
    for i, one in enumerate(mechanisms):
        counts = ' '.join(f'{met[min(one, other), max(one, other)]:4}' for other in mechanisms[:i])
        print(f'{i:2} {one:{width}} {counts}')


def seeds_of(arguments):
    return map(int, arguments.child.split(','))


def seeds_for(pairs, mechanisms, after):
    """Returns, for each of pairs, a seed whose program wants it."""
    n_pairs, places_of = len(all_pairs(mechanisms)), {pair: i for i, pair in enumerate(all_pairs(mechanisms))}
    for pair in pairs:
        yield next(seed for seed in itertools.count(after) if places_of[pair] - seed * 2 % n_pairs in (0, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('loop', nargs='?')
    parser.add_argument('--programs', type=int, default=N_PROGRAMS * (150 if IS_THOROUGH else 1))
    parser.add_argument('--seed', type=int)
    parser.add_argument('--only')
    parser.add_argument('--table', action='store_true')
    parser.add_argument('--child')
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)

    programs = arguments.programs if arguments.seed is None else 1
    seed = arguments.seed if arguments.seed is not None else random.randrange(10 ** 9) if IS_THOROUGH else FIRST_SEED
    print(f'{programs} programs from seed {seed} on', flush=True)
    if LEFT_OUT and not arguments.only:
        print('left out, as GLib before 2.80 may deadlock:', ', '.join(LEFT_OUT), flush=True)
    watched, mechanisms = Watched(arguments), mechanisms_of(arguments)
    for begin in range(seed, seed + programs, 5000):
        watched.run(list(range(begin, min(begin + 5000, seed + programs))))
    n_more, has_all = 0, programs >= N_PROGRAMS and not arguments.only
    for i in range(N_ROUNDS):
        apart = [pair for pair in all_pairs(mechanisms) if watched.met[pair] == 0]
        if has_all and apart:
            seeds = list(dict.fromkeys(seeds_for(apart, mechanisms, seed + programs + i * len(all_pairs(mechanisms)))))
            watched.run(seeds)
            n_more += len(seeds)
    for failed, line in watched.said:
        print(f'seed {failed}: {line}')
    apart = [pair for pair in all_pairs(mechanisms) if watched.met[pair] == 0]
    if arguments.table:
        print_table(watched.met, mechanisms)
    n_pairs = len(all_pairs(mechanisms))
    print(f'{programs + n_more} programs, {len(mechanisms)} mechanisms, {n_pairs - len(apart)} of {n_pairs} pairs have met')
    if has_all and apart:
        print(f'{len(apart)} never met:', ', '.join(map(' and '.join, apart[:N_SHOWN])), '...' if len(apart) > N_SHOWN else '')
    return 1 if watched.said or (has_all and apart) else 0


if __name__ == '__main__':
    sys.exit(main())
