"""Checks that a program in Vala includes headers that are installed.

    check-vapi.py VAPI HEADER…

HEADER… are the library's headers.  It fails if VAPI names another header that begins with prio-sched, or no header.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

vapi, *headers = map(pathlib.Path, sys.argv[1:])
named = {name for names in re.findall(r'cheader_filename = "([^"]+)"', vapi.read_text()) for name in names.split(',')}
missing = {name for name in named if name.startswith('prio-sched')} - {header.name for header in headers}
if missing:
    sys.exit(f'{vapi.name} names headers that are not installed: {", ".join(sorted(missing))}')
if not named:
    sys.exit(f'{vapi.name} names no header')
print(f'{vapi.name} names {", ".join(sorted(named))}')
