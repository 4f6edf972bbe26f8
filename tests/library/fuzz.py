"""fuzz.py: runs libFuzzer, starting with inputs from earlier runs

    fuzz.py FUZZ SECONDS       runs the program, starting with the inputs of stress-corpus.bin
    fuzz.py --keep INPUT...    adds inputs that it has found to stress-corpus.bin, as regression tests

FUZZ is BUILD/tests/fuzz, of a build with -Dfuzzing=true.  In stress-corpus.bin each input follows
its length, as two bytes, the lower one first; test-stress runs them all.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).with_name('stress-corpus.bin')


def inputs(packed):
    while packed:
        length = int.from_bytes(packed[:2], 'little')
        yield packed[2:2 + length]
        packed = packed[2 + length:]


def keep(paths):
    with CORPUS.open('ab') as corpus:
        for path in paths:
            found = pathlib.Path(path).read_bytes()
            corpus.write(len(found).to_bytes(2, 'little') + found)


def fuzz(program, seconds):
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory() as place:
        for number, known in enumerate(inputs(CORPUS.read_bytes())):
            (pathlib.Path(place) / str(number)).write_bytes(known)
        found = f'{program.parent}/'
        return subprocess.run([program, f'-max_total_time={seconds}', '-timeout=20', '-print_final_stats=1',
                               f'-artifact_prefix={found}', place]).returncode


if sys.argv[1] == '--keep':
    keep(sys.argv[2:])
else:
    sys.exit(fuzz(*sys.argv[1:]))
