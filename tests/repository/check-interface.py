"""Counts the public functions of each header that programs include, without `_get_type ()`, and the functions that no
guide, example or reference example uses.

    check-interface.py SOURCE

SOURCE is the project's folder.  The functions of included headers count for a header, too.  A guide is a page of the
manual or README.md, an example a file in examples/, and a reference example a block of code in a documentation comment.
Neither number may grow beyond the bounds below: a new function needs an old one to be removed, and an example.  If a
number falls, lower its bound.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

# By header: the most functions, and the most functions without an example.  The bindings themselves are the examples of
# bindings' functions.
MOST = {
    'prio-sched.h': (109, 0),
    'prio-sched-feed.h': (4, 0),
    'prio-sched-testing.h': (12, 0),
    'prio-sched-threads.h': (9, 0),
    'prio-sched-watch.h': (8, 0),
    'prio-sched-bindings.h': (38, None),
    'prio-sched-react.h': (12, 0),
}


def functions_of(header):
    text = re.sub(r'/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.DOTALL)
    for declared, name in re.findall(r'PRIO_AVAILABLE_IN_\w+\s+(?:G_DECLARE_FINAL_TYPE \(\w+, (\w+)|[^;]*?\b(prio_\w+)\s*\()', text):
        yield f'{declared}_get_type' if declared else name


def interface(folder, header):
    included = re.findall(r'#include "(prio-[\w-]+\.h)"', (folder / header).read_text(encoding='utf-8'))
    paths = [folder / header, *(folder / path for path in included if (folder / path).exists())]
    return [name for path in paths for name in functions_of(path) if not name.endswith('_get_type')]


def shown_in(source):
    """Returns all code that the manual shows."""
    paths = [source / 'README.md', *(source / 'introspection' / 'manual').glob('*.md'), *(source / 'examples').rglob('*.[ch]')]
    texts = [path.read_text(encoding='utf-8') for path in paths]
    for path in [*(source / 'prio-sched').rglob('*.c'), *(source / 'prio-sched').glob('*.h'), *(source / 'react').glob('*.[ch]')]:
        texts += re.findall(r'^ *\* ```c\n(.*?)^ *\* ```$', path.read_text(encoding='utf-8'), re.DOTALL | re.MULTILINE)
    shown = set(re.findall(r'\b(?:prio_\w+|PRIO_ERROR\b)', '\n'.join(texts)))
    return shown | ({'prio_error_quark'} if 'PRIO_ERROR' in shown else set())  # programs use the macro instead


def main(source):
    source = pathlib.Path(source)
    shown, headers, failed = shown_in(source), {}, False
    for header, most in MOST.items():
        folder = next(source / name for name in ('prio-sched', 'react') if (source / name / header).exists())
        names = headers.setdefault(header, interface(folder, header))
        hidden = [name for name in names if name not in shown]
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
