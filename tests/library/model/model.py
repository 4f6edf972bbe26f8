"""model.py: runs the same programs in the library and in a literal model of the draft

    model.py --check VECTORS                     checks the model with vectors of the native implementation
    model.py RUNNER [--programs N] [--seed N]    checks the library with the model, on random programs
                    [--without KIND,...]         that have no such operations or handlers
                    [--with FEATURE,...]         that have these too: timeouts, groups, lending, statistics, trace, turns
                    [--replay FILE]              on the programs of FILE instead

conformance-vectors.md describes the programs; RUNNER is build/tests/conformance, or a program that
takes the same files.  A program with a different result, or a crash, is reduced as long as it still
fails, and printed as a vector.  If it fails only after others, all of them are saved to a file.  The
same seed makes the same programs.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from draft import Differs, expect
from programs import HAVING, Maker, smaller

CHUNK = 2000


def run(runner, programs, seconds):
    """Runs programs, and returns the outcome of each, and the error output if not all have ended."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump(programs, file)
        file.flush()
        try:
            result = subprocess.run([*runner, '--log', file.name], capture_output=True, timeout=seconds)
            out, said = result.stdout, result.stderr.decode() + (f'status {result.returncode}\n' if result.returncode else '')
        except subprocess.TimeoutExpired as error:
            out, said = error.stdout or b'', f'no end after {seconds} s\n'
    lines = out.decode().split('\n')
    return [json.loads(line) for line in lines[:-1]], said


def difference(program, got):
    """Returns how the library differs from the model, or None."""
    try:
        wanted = expect(program, got['log'])
    except Differs as error:
        return str(error)
    for what in 'log', 'outcomes', 'rejected':
        if wanted[what] != got[what]:
            return f'{what}: expected {wanted[what]}, got {got[what]}'
    return None


def first_wrong(runner, programs, seconds=10):
    """Returns the index of the first program that the library runs differently, and the difference; or None."""
    results, said = run(runner, programs, seconds)
    for i, (program, got) in enumerate(zip(programs, results)):
        wrong = difference(program, got)
        if wrong:
            return i, f'{program["name"]}: {wrong}'
    return (min(len(results), len(programs) - 1), said) if said or len(results) < len(programs) else None


def shrink(runner, program):
    found, end = True, time.monotonic() + 60
    while found:
        found = False
        for candidate in smaller(program):
            if time.monotonic() > end:
                return program
            if first_wrong(runner, [candidate]):
                program, found = candidate, True
                break
    return program


def vector(runner, program):
    """Returns a vector of program with the expected log; if the draft leaves a choice, with the library's."""
    results, _ = run(runner, [program], 10)
    try:
        return program | {'expect': expect(program, results[0]['log'] if results else None)}
    except Differs:
        return program


def tell(runner, programs):
    """Prints a vector of the last program or, if it fails only after the others, saves all programs."""
    program = programs[-1]
    if first_wrong(runner, [program]):
        program = shrink(runner, program)
        print(first_wrong(runner, [program])[1])
        print(json.dumps([vector(runner, program)]))
        return
    while len(programs) > 1 and first_wrong(runner, programs[len(programs) // 2:], 600):
        programs = programs[len(programs) // 2:]
    with tempfile.NamedTemporaryFile('w', prefix='programs-', suffix='.json', delete=False) as file:
        json.dump(programs, file)
    print(f'only after others: model.py RUNNER --replay {file.name}')


def check(path):
    with open(path) as file:
        programs = json.load(file)
    wrong = [f'{program["name"]}: {found}' for program in programs if (found := difference(program, program['expect']))]
    for line in wrong[:3]:
        print(line)
    print(f'{len(programs) - len(wrong)} of {len(programs)} programs: the model agrees')
    return len(wrong) > 0


def search(runner, chunks):
    n_programs = 0
    for programs in chunks:
        wrong = first_wrong(runner, programs, 600)
        if wrong:
            print(wrong[1])
            tell(runner, programs[:wrong[0] + 1])
            return 1
        n_programs += len(programs)
    print(f'{n_programs} programs agree')
    return 0


def random_chunks(n_programs, seed, without, having):
    rng = random.Random(seed)
    for first in range(0, n_programs, CHUNK):
        yield [Maker(rng, without, having).make(f'r{first + i}') for i in range(min(CHUNK, n_programs - first))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', metavar='VECTORS')
    parser.add_argument('--replay', metavar='FILE')
    parser.add_argument('--programs', type=int, default=None)
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--without', default='')
    parser.add_argument('--with', dest='having', default='')
    parser.add_argument('runner', nargs='*')
    given = parser.parse_args()
    if given.check:
        return check(given.check)
    if given.replay:
        with open(given.replay) as file:
            return search(given.runner, [json.load(file)])
    having = [feature for feature in HAVING if feature in given.having.split(',')]
    n_programs = given.programs or int(os.environ.get('RANDOM_PROGRAMS') or (3000 if having else 10000))
    seed = given.seed
    if seed is None:
        seed = int(os.environ.get('RANDOM_SEED') or int.from_bytes(os.urandom(4), 'little'))
    print(f'seed {seed}', flush=True)
    return search(given.runner, random_chunks(n_programs, seed, given.without.split(','), having))


os.environ.setdefault('MALLOC_PERTURB_', '165')
sys.exit(main())
