"""Counts the public functions of each header that programs include, and those that no guide, example or reference example uses.

    check-interface.py SOURCE

SOURCE is the project's folder.  A header's functions are those of the headers that it includes.  A guide is a page of the manual or
README.md, an example a file in examples/, and a reference example a block of code in a documentation comment.  Neither number may
grow beyond what is written below: a function that comes in needs one that goes, and a place where it is shown.  A number that has
fallen is written down.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

# By header: how many functions it may have, and how many of them nothing shows.  Bindings are shown by the bindings themselves.
MOST = {
    'prio-sched.h': (127, 32),
    'prio-sched-watch.h': (30, 10),
    'prio-sched-bindings.h': (38, None),
}


def functions_of(header):
    text = re.sub(r'/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.DOTALL)
    for declared, name in re.findall(r'PRIO_AVAILABLE_IN_\w+\s+(?:G_DECLARE_FINAL_TYPE \(\w+, (\w+)|[^;]*?\b(prio_\w+)\s*\()', text):
        yield f'{declared}_get_type' if declared else name


def interface(folder, header):
    included = re.findall(r'#include "(prio-[\w-]+\.h)"', (folder / header).read_text(encoding='utf-8'))
    return [name for path in included if (folder / path).exists() for name in functions_of(folder / path)]


def shown_in(source):
    """All that is shown to who reads the manual."""
    paths = [source / 'README.md', *(source / 'introspection' / 'manual').glob('*.md'), *(source / 'examples').rglob('*.[ch]')]
    texts = [path.read_text(encoding='utf-8') for path in paths]
    for path in [*(source / 'prio-sched').rglob('*.c'), *(source / 'prio-sched').glob('*.h')]:
        texts += re.findall(r'^ *\* ```c\n(.*?)^ *\* ```$', path.read_text(encoding='utf-8'), re.DOTALL | re.MULTILINE)
    return set(re.findall(r'\bprio_\w+', '\n'.join(texts)))


def main(source):
    source = pathlib.Path(source)
    shown, headers, failed = shown_in(source), {}, False
    for header, most in MOST.items():
        names = headers.setdefault(header, interface(source / 'prio-sched', header))
        hidden = [name for name in names if name not in shown and not name.endswith('_get_type')]
        print(f'{header}: {len(names)} functions, {len(hidden)} that nothing shows')
        if most[1] is None:
            hidden = []
        elif hidden:
            print(' ', ' '.join(hidden))
        for what, number, bound in (('functions', len(names), most[0]), ('functions that nothing shows', len(hidden), most[1] or 0)):
            if number != bound:
                failed = True
                print(f'{header} has {number} {what}, and {bound} are written down in {pathlib.Path(__file__).name}')
    every = [name for names in headers.values() for name in names]
    for name in sorted({name for name in every if every.count(name) > 1}):
        failed = True
        print(f'{name} is in two headers')
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
