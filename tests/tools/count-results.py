"""Counts the results of test runs, from the files that meson test leaves.

    count-results.py BUILD[:LOG]… [--stacks BUILD…]

LOG is the name of the log: the argument of meson test --logbase, or “testlog”.  The builds after
--stacks have run the same tests on different stacks: a test that only some of them have run
counts as failed, unless the build says in tests/not-here that its stack cannot have it.

Each test of a program that uses TAP counts; any other program counts as one test.
The last line is "N passed, N failed, N skipped"; the status is 1 if any failed, or
if a build has no results.  Before it comes the end of what each program printed that failed:
who has only the end of a log sees why.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import sys
import xml.etree.ElementTree as ElementTree

LAST_LINES = 20
LAST_COLUMNS = 160


def plain(name):
    """The name of a program, without those of its project and suites, which Meson writes in several ways."""
    return name.rpartition('prio-sched:')[2].rpartition(' / ')[2]


def programs(log):
    """The results of the programs, by their names."""
    with open(f'{log}.json', encoding='utf-8') as lines:
        results = [json.loads(line) for line in lines]
    return {plain(result['name']): result for result in results}


def failed_programs(log):
    """The programs that failed, whatever the tests in them said: a leak, say."""
    return {name: result for name, result in programs(log).items() if result['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL')}


def tell(build, name, result):
    """Prints which tests of a program failed, and the end of what it printed."""
    print(f'\n{build}: {name}: {result["result"]}, status {result["returncode"]}')
    for stream in 'stdout', 'stderr':
        lines = result.get(stream, '').splitlines()
        for line in [line for line in lines[:-LAST_LINES] if line.startswith('not ok')] + lines[-LAST_LINES:]:
            print(f'  {line[:LAST_COLUMNS]}')


def missing_programs(builds):
    """What some of the builds have run and others have not: (build, program)."""
    names = {build: set(programs(log_of(build))) for build in builds}
    everything = set().union(*names.values())
    return sorted((build, name) for build in builds for name in everything - names[build] - not_here(build))


def not_here(build):
    """The programs that the stack of a build cannot have."""
    with open(f'{build.partition(":")[0]}/tests/not-here', encoding='utf-8') as lines:
        return set(lines.read().splitlines())


def log_of(build):
    build, _, name = build.partition(':')
    return f'{build}/meson-logs/{name or "testlog"}'


def count(build):
    log = log_of(build)
    passed = failed = skipped = 0
    failed_ones = failed_programs(log)
    for name, result in failed_ones.items():
        tell(build, name, result)
    unexplained = set(failed_ones)
    tree = ElementTree.parse(f'{log}.junit.xml')

    for suite in tree.iter('testsuite'):
        program = plain(suite.get('name'))
        for case in suite.iter('testcase'):
            name = plain(case.get('name'))
            if case.find('failure') is not None or case.find('error') is not None:
                failed += 1
                unexplained -= {program, name}
            elif case.find('skipped') is not None:
                skipped += 1
            elif name not in unexplained:
                passed += 1

    return passed, failed + len(unexplained), skipped


def main(arguments):
    builds, _, stacks = ' '.join(arguments).partition('--stacks')
    builds, stacks = builds.split(), stacks.split()
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
    try:
        for build, name in missing_programs(stacks):
            print(f'{build}: {name} was not run')
            total[1] += 1
    except OSError:
        pass  # no results: said above
    print('{} passed, {} failed, {} skipped'.format(*total))
    return 1 if total[1] > 0 or broken else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
