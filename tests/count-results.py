"""Counts the results of test runs, from the files that meson test leaves.

    count-results.py BUILD[:LOG]…

LOG is the name of the log: what meson test --logbase was given, or “testlog”.

Every test of a program that speaks TAP counts, and every other program as one.
The last line is "N passed, N failed, N skipped"; the status is 1 if any failed, or
if a build has no results.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import sys
import xml.etree.ElementTree as ElementTree


def failed_programs(log):
    """The programs that failed, whatever the tests in them said: a leak, say."""
    with open(f'{log}.json', encoding='utf-8') as lines:
        results = [json.loads(line) for line in lines]
    return {result['name'] for result in results if result['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL')}


def count(build):
    build, _, name = build.partition(':')
    log = f'{build}/meson-logs/{name or "testlog"}'
    passed = failed = skipped = 0
    unexplained = failed_programs(log)
    tree = ElementTree.parse(f'{log}.junit.xml')

    for suite in tree.iter('testsuite'):
        program = suite.get('name').split('.', 1)[-1]
        for case in suite.iter('testcase'):
            if case.find('failure') is not None or case.find('error') is not None:
                failed += 1
                unexplained -= {program, case.get('name')}
            elif case.find('skipped') is not None:
                skipped += 1
            elif case.get('name') not in unexplained:
                passed += 1

    return passed, failed + len(unexplained), skipped


def main(builds):
    total = [0, 0, 0]
    broken = False
    for build in builds:
        try:
            counts = count(build)
        except (OSError, ValueError, ElementTree.ParseError) as error:
            print(f'{build}: no results: {error}')
            counts = (0, 1, 0)
        broken = broken or counts[0] == 0
        total = [a + b for a, b in zip(total, counts)]
    print('{} passed, {} failed, {} skipped'.format(*total))
    return 1 if total[1] > 0 or broken else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
