"""count-results.py: counts the results of test runs, from the logs of run-tests.py

    count-results.py BUILD[:LOG]… [--stacks BUILD[:LOG]…]…

LOG is the name of the log: the argument of run-tests.py --log, or “testlog”.  The builds after
each --stacks have run the same tests on different stacks: a test that only some of them have run counts as failed,
unless tests/not-here in the build lists it.

Each test of a program that uses TAP counts; any other program counts as one test.  A program that failed, and passed
when it was run again, alone, counts as passed, and is listed as flaky; if more than two are flaky, all of them count as
failed.

The last line is "N passed, N failed, N skipped"; the status is 1 if any failed, or
if a build has no results.  Before it comes the end of the output of each program that failed, even once, so that the
end of a log shows the cause.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import importlib
import os
import sys
import xml.etree.ElementTree as ElementTree

runner = importlib.import_module('run-tests')

LAST_LINES = 20
LAST_COLUMNS = 160
MOST_FLAKY = 2


class Results:
    """Reads the results of one run of tests."""

    def __init__(self, build):
        self.build, _, name = build.partition(':')
        self.log = f'{self.build}/meson-logs/{name or "testlog"}'
        self.flaky = []
        self.skipped_whole = os.path.exists(f'{self.log}.skipped')
        self.programs = {} if self.skipped_whole else self.read(self.log)

    @staticmethod
    def read(log):
        """Reads a log: {name of the program: [passed, failed, skipped, its result]}"""
        programs = {}
        for result in runner.read_results(f'{log}.json'):
            name = runner.plain(result['name'])
            if name in programs:
                raise ValueError(f'two tests are called “{name}”')
            programs[name] = [0, 0, 0, result]
        for suite in ElementTree.parse(f'{log}.junit.xml').iter('testsuite'):
            program = runner.plain(suite.get('name'))
            for case in suite.iter('testcase'):
                counts = programs[program if program in programs else runner.plain(case.get('name'))]
                failed = case.find('failure') is not None or case.find('error') is not None
                counts[1 if failed else 2 if case.find('skipped') is not None else 0] += 1
        for name, counts in programs.items():
            if not any(counts[:3]) and counts[3]['result'] == 'OK':
                raise ValueError(f'“{name}” is missing in the one of its two files')
            counts[:3] = settled(*counts)
        return programs

    def count(self):
        """Prints failures; returns (passed, failed, skipped)."""
        if self.skipped_whole:
            with open(f'{self.log}.skipped', encoding='utf-8') as reason:
                print(f'skipped: {reason.read()}')
            return collections.Counter(skipped=1)
        second = self.read(f'{self.log}-again') if os.path.exists(f'{self.log}-again.json') else {}
        total = collections.Counter()
        for name, (passed, failed, skipped, result) in self.programs.items():
            if failed:
                tell(self.build, name, result)
            if failed and name in second:
                passed, failed, skipped, result = second[name]
                if failed:
                    tell(self.build, f'{name}, run again', result)
                else:
                    self.flaky.append((f'{self.build}: {name}', passed))
                    print(f'  … and run again, alone: {passed} passed')
            total.update(passed=passed, failed=failed, skipped=skipped)
        return total


def settled(passed, failed, skipped, result):
    """Returns the counts of a program, corrected so that they do not hide a failure of the program itself: a leak, or a crash at its end."""
    if failed:
        return passed, failed, skipped
    if runner.passed(result):
        return passed, 0, skipped if passed or skipped else 1
    return passed if passed > 1 else 0, 1, skipped


def tell(build, name, result):
    """Prints which tests of a program failed, and the end of its output."""
    print(f'\n{build}: {name}: {result["result"]}, status {result["returncode"]}')
    for stream in 'stdout', 'stderr':
        lines = result.get(stream, '').splitlines()
        for line in [line for line in lines[:-LAST_LINES] if line.startswith('not ok')] + lines[-LAST_LINES:]:
            print(f'  {line[:LAST_COLUMNS]}')


def not_here(build):
    """Returns the programs that the stack of a build cannot have."""
    with open(f'{build}/tests/not-here', encoding='utf-8') as lines:
        return set(lines.read().splitlines())


def missing_programs(stacks):
    """Returns the programs that only some of the stacks have run: (build, program)."""
    everything = set().union(*(results.programs for results in stacks))
    return sorted((results.build, name) for results in stacks
                  for name in everything - set(results.programs) - not_here(results.build))


def main(arguments):
    builds, *groups = [group.split() for group in ' '.join(arguments).split('--stacks')]
    total = collections.Counter()
    flaky, runs, broken = [], {}, False
    for build in builds:
        try:
            results = Results(build)
            counts = results.count()
            runs[build] = results
            flaky += results.flaky
        except (OSError, ValueError, KeyError, ElementTree.ParseError) as error:
            print(f'{build}: no results: {error}')
            counts = collections.Counter(failed=1)
        broken = broken or not counts['passed'] + counts['skipped']
        total += counts
    for stacks in groups:
        for build, name in missing_programs([runs[build] for build in stacks if build in runs]):
            print(f'{build}: {name} was not run')
            total['failed'] += 1
    if flaky:
        print(f'\nflaky: {", ".join(name for name, _ in flaky)}')
    if len(flaky) > MOST_FLAKY:
        print(f'More than {MOST_FLAKY} are flaky: they have failed.')
        total['failed'] += len(flaky)
        total['passed'] -= sum(passed for _, passed in flaky)
    print(f'{total["passed"]} passed, {total["failed"]} failed, {total["skipped"]} skipped')
    return 1 if total['failed'] > 0 or broken else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
