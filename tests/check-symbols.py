"""Checks that the library exports what its headers declare, and nothing else.

    check-symbols.py LIBRARY HEADER…

SPDX-License-Identifier: LGPL-2.1-or-later
"""

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
    return {line.split()[-1] for line in lines}


def main(library, headers):
    wanted, found = declared(headers), exported(library)
    for name in sorted(wanted - found):
        print(f'declared, but not exported: {name}')
    for name in sorted(found - wanted):
        print(f'exported, but not declared: {name}')
    return 1 if wanted != found or not wanted else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
