"""Checks that the programs that run the tests and count their results hide no failure.

    check-runs.py MESON

It runs small projects whose tests pass, fail, fail once, hang, or crash after they have passed.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
FAILS_ONCE = 'if [ -e "{0}" ]; then echo fine; else touch "{0}"; echo "the first time"; exit 1; fi'


class Project:
    """Represents a project with shell scripts as tests, and its results."""

    def __init__(self, meson, tests):
        self.place = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.place.name)
        self.build = folder / 'build'
        lines = ["project('prio-sched', meson_version: '>= 1.0')", "sh = find_program('sh')"]
        for name, script, options in tests:
            script = script.format(folder / f'{name} was here')
            lines.append(f"test('{name}', sh, args: ['-c', '''{script}'''], {options})")
        (folder / 'meson.build').write_text('\n'.join(lines) + '\n')
        subprocess.run([meson, 'setup', self.build, folder], check=True, stdout=subprocess.DEVNULL)

    def run(self, *arguments):
        """Returns the status and output of run-tests.py."""
        return self.output('run-tests.py', self.build, *arguments)

    def count(self):
        """Returns the status and output of count-results.py."""
        return self.output('count-results.py', self.build)

    @staticmethod
    def output(program, *arguments):
        done = subprocess.run([sys.executable, HERE / program, *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout


def expect(project, arguments, statuses, last, *said):
    """Runs the tests, and compares both statuses and the last line; each string of said must be in the output."""
    run_status, run_output = project.run(*arguments)
    count_status, count_output = project.count()
    output = run_output + count_output
    assert (run_status, count_status) == statuses, (run_status, count_status, output)
    assert count_output.splitlines()[-1] == last, output
    for text in said:
        assert text in output, (text, output)
    return output


def main(meson):
    passes = ('passes', 'true', '')
    tap = ('tap', r'printf "1..3\nok 1 a\nok 2 b\nok 3 c # SKIP\n"', "protocol: 'tap'")
    expect(Project(meson, [passes, tap]), ['--again'], (0, 0), '3 passed, 0 failed, 1 skipped')

    once = [(f'{name} fails once', FAILS_ONCE, "suite: 'c'") for name in 'abc']
    expect(Project(meson, [passes, *once[:2]]), ['--again'], (0, 0), '3 passed, 0 failed, 0 skipped', 'the first time',
           'run again, alone', 'flaky: ', ': a fails once', ': b fails once')
    expect(Project(meson, [passes, *once]), ['--again'], (0, 1), '1 passed, 3 failed, 0 skipped', 'More than 2 are flaky')
    expect(Project(meson, [passes, *once[:1]]), [], (1, 1), '1 passed, 1 failed, 0 skipped')
    output = expect(Project(meson, [passes, ('leaks once', FAILS_ONCE, "suite: ['c', 'leaks']")]), ['--again'], (1, 1),
                    '1 passed, 1 failed, 0 skipped')
    assert 'Once more' not in output, output

    expect(Project(meson, [passes, ('fails', 'echo for good; exit 3', '')]), ['--again'], (1, 1),
           '1 passed, 1 failed, 0 skipped', 'for good', 'status 3', 'fails, run again')
    expect(Project(meson, [('crashes at its end', r'printf "1..2\nok 1\nok 2\n"; kill -SEGV $$', "protocol: 'tap'")]), [],
           (1, 1), '2 passed, 1 failed, 0 skipped')
    expect(Project(meson, [('fails in part', r'printf "1..2\nok 1\nnot ok 2 of it\n"', "protocol: 'tap'")]), [],
           (1, 1), '1 passed, 1 failed, 0 skipped', 'not ok 2 of it')
    expect(Project(meson, [('was to fail', 'true', 'should_fail: true')]), [], (1, 1), '0 passed, 1 failed, 0 skipped')
    expect(Project(meson, [passes, ('hangs', 'sleep 1000', 'timeout: 4')]), ['--multiplier', '1'], (1, 1),
           '1 passed, 1 failed, 0 skipped', 'hangs has run for', 'sleep 1000')
    expect(Project(meson, [(*passes[:2], "suite: 'c'"), (*passes[:2], "suite: 'gtk'")]), [], (0, 1), '0 passed, 1 failed, 0 skipped',
           'two tests are called “passes”')

    always = ('fails when young', 'test $(cut -d. -f1 /proc/uptime) -gt 1000', '')
    young = Project(meson, [passes, always])
    status, output = young.run('--again', '--uptime', '20')
    assert status == 1 or 'no time namespaces here' in output, output
    status, output = young.run('--suite', 'nonsense')
    assert status == 1 and 'No test is in the suite nonsense' in output, output
    one, other = Project(meson, [passes]), Project(meson, [passes, ('more', 'true', '')])
    for project in one, other:
        (project.build / 'tests').mkdir()
        (project.build / 'tests/not-here').write_text('')
        project.run()
    status, output = one.output('count-results.py', one.build, other.build, '--stacks', one.build, other.build)
    assert status == 1 and f'{one.build}: more was not run' in output and output.endswith('3 passed, 1 failed, 0 skipped\n'), output

    broken = Project(meson, [passes])
    broken.run()
    (broken.build / 'meson-logs/testlog.json').write_text('{"name": "passes", "resu')
    status, output = broken.count()
    assert status == 1 and output.splitlines()[-1] == '0 passed, 1 failed, 0 skipped', output


if __name__ == '__main__':
    main(*sys.argv[1:])
