"""Checks that the library exports exactly the functions that its headers declare, and that Debian's list of symbols has
them.

    check-symbols.py [--update] LIST LIBRARY HEADER…

LIST, in debian/, has the first version of each symbol; --update adds new ones, with the version of debian/changelog.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import subprocess
import sys


def declared(headers):
    names = set()
    for header in headers:
        with open(header, encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        names |= set(re.findall(r'(?:PRIO_AVAILABLE_IN_\w+|_PRIO_EXTERN)\s[^;{]*?\b(prio_\w+)\s*\(', text))
        # G_DECLARE_FINAL_TYPE (PrioTask, prio_task, …) declares the type's function.
        names |= {name + '_get_type' for name in re.findall(r'G_DECLARE_FINAL_TYPE \(\w+, (\w+),', text)}
    return names


def exported(library):
    lines = subprocess.run(['nm', '-D', '--defined-only', library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    # Some linkers export the ends of sections.
    return {line.split()[-1] for line in lines} - {'__bss_start', '_edata', '_end'}


def update(path, found):
    version = re.search(r'\(([^-]+)', (path.parent / 'changelog').read_text())[1]
    lines = path.read_text().splitlines()
    known = set(packaged(path))
    lines += [f' {name}@Base {version}' for name in found - known]
    symbols = sorted(line for line in lines if line.startswith(' '))
    path.write_text('\n'.join([line for line in lines if not line.startswith(' ')] + symbols) + '\n')


def packaged(path):
    return re.findall(r'^ (\w+)@Base \d', path.read_text(), re.M)


def main(arguments):
    updates = arguments[0] == '--update'
    path, library, *headers = arguments[updates:]
    path = pathlib.Path(path)
    wanted, found = declared(headers), exported(library)
    if updates:
        update(path, found)
    for name in sorted(wanted - found):
        print(f'declared, but not exported: {name}')
    for name in sorted(found - wanted):
        print(f'exported, but not declared: {name}')
    listed = set(packaged(path))
    for name in sorted(found ^ listed):
        kind = 'new (add it by --update)' if name in found else 'gone'
        print(f'{kind}, but not so in debian/{path.name}: {name}')
    return 1 if not wanted == found == listed or not wanted else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
