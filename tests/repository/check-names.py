"""No two tests have the same name, whatever their suites: results are counted by names, and one would hide the other.

    check-names.py BUILD

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import json
import pathlib
import sys


def main(build):
    tests = json.loads(pathlib.Path(build, 'meson-info/intro-tests.json').read_text())
    suites = collections.defaultdict(list)
    for test in tests:
        suites[test['name']].append(', '.join(test['suite']))
    doubled = {name: found for name, found in suites.items() if len(found) > 1}
    for name, found in doubled.items():
        print(f'{name}: in {" and in ".join(found)}')
    print(f'{len(tests)} tests have {len(suites)} names')
    return len(doubled) > 0


sys.exit(main(*sys.argv[1:]))
