"""costs.py: prints the cost of a task beside the usual ways, for one to 100,000 pending tasks, in C, Python and JavaScript

    meson devenv -C BUILD python3 SOURCE/tests/tools/costs.py [--rounds N] [--update]

Prints tables in Markdown: how many times cheaper a task is than the usual way (below 1: dearer), and its cost alone.  --update writes
them into introspection/manual/costs.md.  Run it on an idle machine.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent
PAGE = TOOLS.parent.parent / 'introspection/manual/costs.md'
NUMBERS = (1, 10, 100, 1000, 100000)
START, END = '<!-- costs.py -->\n', '<!-- end -->\n'


def python():
    """Returns a Python that has PyGObject."""
    for name in (sys.executable, 'python3', '/usr/bin/python3'):
        path = shutil.which(name)
        if path and subprocess.run([path, '-c', 'from gi.repository import GLib'], stderr=subprocess.DEVNULL).returncode == 0:
            return path
    sys.exit('costs.py: no Python here has PyGObject')


def commands(build):
    yield 'C', [f'{build}/tests/pending']
    yield 'Python', [python(), str(TOOLS / 'pending.py')]
    yield 'JavaScript (GJS)', ['gjs', str(TOOLS / 'pending.js')]


def cell(ours, theirs):
    ratio = theirs / ours
    return f'{ratio:.0f}' if ratio >= 10 else f'{ratio:.1f}'


def table(language, lines):
    yield f'| {language} | instead of | {" | ".join(f"{n:,}" for n in NUMBERS)} | one of 1,000 |'
    yield f'| --- | --- | {"---: | " * (len(NUMBERS) + 1)}'.rstrip()
    for line in lines:
        name, peer, *figures = line.split('\t')
        pairs = list(zip(*[iter(map(float, figures))] * 2))
        ours = pairs[NUMBERS.index(1000)][0]
        cost = f'{ours / 1000:.2f} µs' if ours >= 1000 else f'{ours:.0f} ns'
        yield f'| {name} | {peer} | {" | ".join(cell(*pair) for pair in pairs)} | {cost} |'


def main():
    parser = argparse.ArgumentParser(description='Prints the cost of a task beside the usual ways.')
    parser.add_argument('--rounds', type=int, default=7, metavar='N')
    parser.add_argument('--update', action='store_true', help=f'write the tables into {PAGE.name}')
    arguments = parser.parse_args()
    build = os.environ.get('MESON_BUILD_ROOT') or pathlib.Path.cwd()
    tables = []
    for language, command in commands(build):
        printed = subprocess.run([*command, str(arguments.rounds), *map(str, NUMBERS)], stdout=subprocess.PIPE, text=True, check=True)
        tables.append('\n'.join(table(language, printed.stdout.splitlines())))
        print(tables[-1], end='\n\n', flush=True)
    if arguments.update:
        text = '\n\n'.join(tables) + '\n'
        PAGE.write_text(re.sub(f'(?<={START}).*(?={END})', lambda match: text, PAGE.read_text(), flags=re.DOTALL))


main()
