"""Checks that no function in C and C++ has more than 60 lines between its braces.

    check-sizes.py SOURCE

SOURCE is the project's folder.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import sys

FOLDERS = ('prio-sched', 'introspection', 'examples', 'tests', 'react', 'dex', 'gtk')
SUFFIXES = ('.c', '.cpp', '.h', '.py', '.js', '.ts', '.pyi', '.vala')
FUNCTION = 60


def functions(lines):
    """Yields where each function of C begins, and its number of lines."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line.startswith('}') and start is not None:
            yield start, number - start - 1
            start = None


def too_long(path, lines):
    if path.suffix in ('.c', '.cpp', '.h'):
        yield from (f'{path}:{start}: a function of {length} lines' for start, length in functions(lines) if length > FUNCTION)


def main(source):
    planted = list(too_long(pathlib.Path('planted.c'), ['{', *[''] * 61, '}']))
    assert planted == ['planted.c:1: a function of 61 lines'], planted

    paths = [path for folder in FOLDERS for path in sorted((pathlib.Path(source) / folder).rglob('*')) if path.suffix in SUFFIXES]
    found = [what for path in paths for what in too_long(path, path.read_text(encoding='utf-8').splitlines())]
    print('\n'.join([*found, f'{len(found)} too long, of {len(paths)} files']))
    return 1 if found or len(paths) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
