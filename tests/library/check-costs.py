"""Checks that the cost of operations does not depend on the number of objects, by counting instructions.

    check-costs.py VALGRIND COSTS [in-all]

COSTS is the program of costs.c or, with in-all, of costs-in-all.c, whose operations are on all of the objects.  The count is the same
on a busy or slow machine.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import re
import subprocess
import sys

SIZES = 250, 4000
# For operations on all objects: the library keeps up to a thousand freed tasks for reuse, which costs less than freeing them, so
# both sizes are well above that.
SIZES_IN_ALL = 3000, 24000
# The allowed increase: a heap is deeper, and memory is allocated in larger pieces.
TOLERANCE = 1.5


def instructions(valgrind, program, name, size):
    run = subprocess.run([valgrind, '--tool=callgrind', '--callgrind-out-file=/dev/null', '--toggle-collect=measured',
                          program, name, str(size)],
                         check=True, text=True, stderr=subprocess.PIPE)
    return int(re.search(r'Collected : (\d+)', run.stderr).group(1))


def main(valgrind, program, in_all=None):
    failed = 0
    sizes = SIZES_IN_ALL if in_all else SIZES
    growth = TOLERANCE * (sizes[1] / sizes[0] if in_all else 1)
    names = subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    print(f'1..{len(names)}')
    for number, name in enumerate(names, 1):
        few, many = (instructions(valgrind, program, name, size) for size in sizes)
        good = many <= few * growth
        failed += not good
        print(f'{"ok" if good else "not ok"} {number} {name}')
        print(f'# {few} instructions with {sizes[0]}, {many} with {sizes[1]}', flush=True)
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
