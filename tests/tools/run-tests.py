"""run-tests.py: runs the tests of a build with meson test, and examines tests that hang or fail

    run-tests.py BUILD [--log NAME] [--setup NAME] [--multiplier N] [--again] [--uptime SECONDS] [ARGUMENT…]

The arguments are passed to meson test.  The results are in BUILD/meson-logs/NAME.json and NAME.junit.xml, for
count-results.py; with a setup, in NAME-SETUP.json and so on.  A suite that has no test is an error.

Before a test exceeds its time and is killed, the stacks of its processes are printed.

--again runs each test that has failed once more, alone.  The second results are in NAME-again.json, and
count-results.py prints both.  Sanitizers, leaks, costs, models, conformance, and tests that look for rare races get no
second run: noise does not cause their failures, or must not.

--uptime runs the tests as on a machine that has been up for SECONDS.  If the kernel does not allow time namespaces,
they are skipped, and count-results.py says so.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

# A test in one of these suites is not run again.
NEVER_AGAIN = {'conformance', 'cost', 'leaks', 'model', 'races', 'stress'}
# More failures than this are not noise.
MOST_AGAIN = 5
# How long before its end a hanging test is examined, seconds.
MARGIN = 20
GDB = ('gdb', '-nx', '-batch', '-iex', 'set debuginfod enabled off', '-ex', 'thread apply all backtrace 40', '-p')


def plain(name):
    """Returns the name of a test without its project and suites, which versions of Meson write in several ways."""
    return name.removeprefix('prio-sched.').rpartition('prio-sched:')[2].rpartition(' / ')[2]


def passed(result):
    return result['result'] in ('OK', 'SKIP', 'EXPECTEDFAIL')


def read_results(path):
    """Returns the results that meson test has left in a file, in their order."""
    with open(path, encoding='utf-8') as lines:
        return [json.loads(line) for line in lines]


class Processes:
    """Reads the running processes from /proc: {pid: (parent, arguments, age in seconds)}"""

    def __init__(self):
        self.all = {}
        ticks = os.sysconf('SC_CLK_TCK')
        uptime = float(pathlib.Path('/proc/uptime').read_text().split()[0])
        for folder in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                fields = (folder / 'stat').read_text().rpartition(')')[2].split()
                arguments = (folder / 'cmdline').read_bytes().decode(errors='replace').split('\0')[:-1]
            except OSError:
                continue  # the process has ended
            self.all[int(folder.name)] = (int(fields[1]), arguments, uptime - int(fields[19]) / ticks)

    def children(self, parent):
        return [pid for pid, (of, _, _) in self.all.items() if of == parent]

    def descendants(self, pid):
        found = [pid]
        for one in found:
            found += self.children(one)
        return found


class Watch(threading.Thread):
    """Prints the stacks of tests that are about to be killed."""

    def __init__(self, meson, tests, multiplier):
        super().__init__(daemon=True)
        self.meson = meson
        self.tests = tests
        self.multiplier = multiplier
        self.seen = set()
        self.running = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(1):
            processes = Processes()
            self.running = processes.descendants(self.meson)
            for program in self.running:
                _, arguments, age = processes.all.get(program, (0, [], 0))
                for test in self.tests:
                    if program not in self.seen and arguments and arguments[-len(test['cmd']):] == test['cmd']:
                        limit = test['timeout'] * self.multiplier
                        if 0 < max(limit - MARGIN, limit / 2) < age:
                            self.seen.add(program)
                            self.show(test['name'], age, processes, program)

    @staticmethod
    def show(name, age, processes, program):
        print(f'\n{name} has run for {age:.0f} s and is about to be killed; this is where it is:', flush=True)
        for pid in processes.descendants(program):
            print(f'\n  process {pid}: {" ".join(processes.all[pid][1])[:200]}', flush=True)
            try:
                said = subprocess.run([*GDB, str(pid)], timeout=MARGIN, text=True, errors='replace', stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout
            except (OSError, subprocess.TimeoutExpired) as error:
                said = f'its stack is not to be had: {error}'
            print(said[-8000:], flush=True)


def own_offset():
    """Returns the offset of this time namespace to the first one, in seconds."""
    try:
        lines = pathlib.Path('/proc/self/timens_offsets').read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith('boottime')), 0)


def at_uptime(seconds):
    """Returns the command that runs another as if the machine had been up for seconds, or None without time namespaces."""
    offset = seconds - int(float(pathlib.Path('/proc/uptime').read_text().split()[0])) + own_offset()
    command = ['unshare', *([] if os.geteuid() == 0 else ['--user', '--map-current-user']), '--time', '--fork', '--kill-child',
               '--monotonic', str(offset), '--boottime', str(offset)]
    if shutil.which('unshare') is None or subprocess.run([*command, 'true'], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    return command


def interrupt(number, frame):
    raise KeyboardInterrupt


def stop(meson, running):
    """Ends a run with all of its processes, including processes that were running a second ago and have lost their parent."""
    for pid in {*Processes().descendants(meson), *running}:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(build, log, multiplier, before, arguments, tests):
    """Runs meson test, and returns its status."""
    meson = subprocess.Popen([*before, 'meson', 'test', '-C', build, '--no-rebuild', '--logbase', log,
                              '--timeout-multiplier', str(multiplier), *arguments])
    watch = Watch(meson.pid, tests, multiplier)
    watch.start()
    try:
        status = meson.wait()
    except KeyboardInterrupt:
        stop(meson.pid, watch.running)
        sys.exit('interrupted: not all tests have run')
    watch.ended.set()
    watch.join()
    return status


def again(build, log, multiplier, before, tests):
    """Runs failed tests once more; returns whether all of them pass then."""
    failed = [plain(result['name']) for result in read_results(f'{build}/meson-logs/{log}.json') if not passed(result)]
    suites = {test['name']: {suite.rpartition(':')[2] for suite in test['suite']} for test in tests}
    names = [name for name in failed if not suites[name] & NEVER_AGAIN]
    if not names or len(names) > MOST_AGAIN:
        return False
    print(f'\nOnce more, alone: {", ".join(names)}', flush=True)
    status = run(build, f'{log}-again', multiplier, before, ['--num-processes', '1', *names], tests)
    return status == 0 and names == failed


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument('build')
    parser.add_argument('--log', default='testlog')
    parser.add_argument('--setup')
    parser.add_argument('--suite', action='append', default=[])
    parser.add_argument('--multiplier', type=float, default=3)
    parser.add_argument('--again', action='store_true')
    parser.add_argument('--uptime', type=int)
    args, arguments = parser.parse_known_args()
    logs = pathlib.Path(args.build, 'meson-logs')
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    # Meson adds the name of the setup to the log's name.
    name = f'{args.log}-{args.setup}' if args.setup else args.log
    # Results of earlier runs must not be counted.
    for end in '.json', '.junit.xml', '.txt', '.skipped', '-again.json', '-again.junit.xml', '-again.txt':
        (logs / f'{name}{end}').unlink(missing_ok=True)
    arguments += [argument for suite in args.suite for argument in ('--suite', suite)]
    arguments += ['--setup', args.setup] if args.setup else []

    before = []
    if args.uptime is not None:
        before = at_uptime(args.uptime)
        if before is None:
            reason = f'the tests at an uptime of {args.uptime} s: no time namespaces here'
            print(f'skipped: {reason}')
            (logs / f'{name}.skipped').write_text(reason)
            return 0
    tests = json.loads(subprocess.run(['meson', 'introspect', args.build, '--tests'], check=True, stdout=subprocess.PIPE).stdout)
    missing = set(args.suite) - {suite.rpartition(':')[2] for test in tests for suite in test['suite']}
    if missing:
        print(f'No test is in the suite {", ".join(sorted(missing))}')
        return 1
    status = run(args.build, args.log, args.multiplier, before, arguments, tests)
    if not (logs / f'{name}.json').exists():
        status = 1
    elif status != 0 and args.again:
        status = 0 if again(args.build, args.log, args.multiplier, before, tests) else 1
    return min(status, 1)


if __name__ == '__main__':
    sys.exit(main())
