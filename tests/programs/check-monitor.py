"""Checks prio-sched-monitor: the summary, the live view in a terminal, and programs that end badly.

    check-monitor.py MONITOR TRACED

TRACED is traced.c.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios

ENVIRONMENT = os.environ | {'LC_ALL': 'C.UTF-8', 'LANGUAGE': 'C'}


def run(*command, code=0, **kwargs):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, errors='replace', timeout=120, check=False, env=ENVIRONMENT, **kwargs)
    assert result.returncode == code, (command, result.returncode, result.stdout, result.stderr)
    return result


def rows(text, title):
    """The numbers of tasks in the table of @text that @title begins."""
    return {name: int(count) for name, count in
            re.findall(r'^(user-blocking|user-visible|background) +(\d+)', text[text.index(title):], re.MULTILINE)[:3]}


def check_summary(monitor, traced):
    result = run(monitor, traced, 'each', '', 7, code=7)
    assert result.stdout.startswith('204\n2\n1\n'), result.stdout
    assert '(traced)' in result.stdout and '\x1b' not in result.stdout, result.stdout
    assert rows(result.stdout, 'Waiting times') == {'user-blocking': 2, 'user-visible': 200, 'background': 4}, result.stdout
    assert rows(result.stdout, 'Running times') == {'user-blocking': 2, 'user-visible': 200, 'background': 4}, result.stdout
    ends = dict(re.findall(r'^(user-blocking|user-visible|background) +(\d+ +\d+ +\d+) ', result.stdout, re.MULTILINE))
    assert {name: row.split() for name, row in ends.items()} == {
        'user-blocking': ['2', '0', '0'], 'user-visible': ['200', '0', '0'], 'background': ['2', '2', '1']}, result.stdout
    assert not result.stderr, result.stderr


def check_threads(monitor, traced):
    assert rows(run(monitor, traced, 'threads').stdout, 'Running times')['background'] == 800


def check_fork(monitor, traced):
    """A child has its own page, and leaves its parent's alone."""
    printed = run(monitor, traced, 'fork').stdout
    assert printed.count('\n\n') == 1, printed
    first, second = printed[printed.index('Process'):].split('\n\n')
    assert rows(first, 'Running times') == {'user-blocking': 4, 'user-visible': 400, 'background': 8}, printed
    assert rows(second, 'Running times') == {'user-blocking': 0, 'user-visible': 0, 'background': 200}, printed
    assert 'of a thread' in second, printed
    # Which has told GLib no name.
    assert printed.count('(traced)') == 2, printed


def check_bad_programs(monitor, traced, folder):
    for program, code in (('/no/such/program', 127), (str(folder), 126)):
        result = run(monitor, program, code=code)
        assert program in result.stderr and not result.stdout, result.stderr
    assert 'no program' in run(monitor, code=2).stderr
    assert '--nonsense' in run(monitor, '--nonsense', traced, code=2).stderr
    assert 'PROGRAM' in run(monitor, '--help').stdout
    # What comes after the program is the program's.
    assert run(monitor, '--', 'printf', '%s', '--plain').stdout == '--plain'
    assert 'has not used prio-sched' in run(monitor, 'true').stderr
    assert 'has run no task' in run(monitor, traced, 'empty').stderr
    # It crashes: what it has told until then remains.
    result = run(monitor, traced, 'crash', code=128 + signal.SIGKILL)
    assert 'signal 9' in result.stderr, result.stderr
    assert rows(result.stdout, 'Running times')['user-visible'] == 10000, result.stdout
    result = run(monitor, traced, 'garbage')
    assert '1 file cannot be read' in result.stderr, result.stderr
    assert rows(result.stdout, 'Running times')['user-visible'] == 1, result.stdout
    # The library does not mind a folder that is not there.
    result = subprocess.run([traced, 'each'], env=ENVIRONMENT | {'PRIO_SCHED_MONITOR': '/no/such/folder', 'G_DEBUG': ''}, capture_output=True,
                            text=True, timeout=60, check=True)
    assert result.stderr.count('WARNING') == 1 and '/no/such/folder' in result.stderr, result.stderr


def check_folder(monitor, traced, folder):
    """The monitor removes nothing outside the folder that it has made, and makes it where nobody else can exchange it."""
    precious, runtime = folder / 'precious', folder / 'runtime'
    for path in (precious, runtime):
        path.mkdir(mode=0o700)
    (precious / 'thesis').write_text('keep')
    environment = ENVIRONMENT | {'XDG_RUNTIME_DIR': str(runtime)}

    def monitored(script):
        return subprocess.run([monitor, 'sh', '-c', script], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    # The program puts a link in the folder's place, or another folder: what it names remains.
    result = monitored(f'mv "$PRIO_SCHED_MONITOR" {folder}/moved && ln -s {precious} "$PRIO_SCHED_MONITOR"')
    assert result.returncode == 0 and (precious / 'thesis').read_text() == 'keep', result
    result = monitored(f'mv "$PRIO_SCHED_MONITOR" {folder}/moved-too && mv {precious} "$PRIO_SCHED_MONITOR"')
    [other] = [path for path in runtime.iterdir() if path.is_dir() and not path.is_symlink()]
    assert result.returncode == 0 and (other / 'thesis').read_text() == 'keep', result
    # What has been told remains readable.
    result = monitored(f'{traced} each; mv "$PRIO_SCHED_MONITOR" {folder}/moved-last')
    assert rows(result.stdout, 'Running times')['user-visible'] == 200, result

    told = 'printf %s "$PRIO_SCHED_MONITOR"'
    assert monitored(told).stdout.startswith(f'{runtime}/'), monitored(told).stdout
    # Folders of others, or where others may write.
    for mode in 0o777, 0o1777, 0o770, 0o755:
        runtime.chmod(mode)
        assert not monitored(told).stdout.startswith(f'{runtime}/'), (oct(mode), monitored(told).stdout)
    runtime.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(runtime, 65534, 65534)
        assert not monitored(told).stdout.startswith(f'{runtime}/'), monitored(told).stdout


def no_page_left(before):
    return {str(path) for place in ('/dev/shm', os.environ.get('XDG_RUNTIME_DIR') or '/dev/shm')
            for path in pathlib.Path(place).glob('prio-sched-monitor-*')} <= before


class Terminal:
    """The monitor with a terminal of its own, whose foreground it is."""

    def __init__(self, *command):
        self.shown = ''
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(command[0], [str(word) for word in command], ENVIRONMENT | {'TERM': 'xterm'})
        self.pid = pid
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))

    def read_until(self, *wanted):
        while not all(word in self.shown for word in wanted):
            assert select.select([self.fd], [], [], 60)[0], self.shown
            self.shown += os.read(self.fd, 65536).decode(errors='replace')

    def end(self):
        """The exit code, after all has been read."""
        try:
            while select.select([self.fd], [], [], 60)[0]:
                data = os.read(self.fd, 65536)
                if not data:
                    break
                self.shown += data.decode(errors='replace')
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check_live(monitor, traced, folder):
    """What runs is shown while it does; then the summary."""
    terminal = Terminal(monitor, traced, 'wait', folder / 'go')
    terminal.read_until('Running: long one, user-visible, for ')
    (folder / 'go').touch()
    assert terminal.end() == 0, terminal.shown
    summary = terminal.shown[terminal.shown.rindex('\x1b[J'):]
    assert rows(summary, 'Running times')['user-visible'] == 1, summary
    assert 'long one' in summary[summary.index('Longest tasks'):], summary

    terminal = Terminal(monitor, traced, 'nothing')
    assert terminal.end() == 0 and 'has not used prio-sched' in terminal.shown, terminal.shown

    # What the program prints does nothing to the terminal.
    terminal = Terminal(monitor, traced, 'garbage')
    assert terminal.end() == 0
    assert '\x1b[2J' not in terminal.shown and '\x1b]' not in terminal.shown, terminal.shown
    assert 'garbage, and no end of the line' in terminal.shown, terminal.shown


def hostile_page(number):
    """A page (prio-monitor-page-private.h) that says @number wherever there is one, and tries to do something to the terminal."""
    bad = number.to_bytes(8, 'little', signed=True)
    name = '\x1b]0;title\x07\r\n\u2028\u202e\x9b2J'.encode().ljust(64, b'!')
    times = bad * 163
    task = struct.pack('<Ii', 0, number >> 32) + bad
    body = (2 * bad + name + bad + 3 * (3 * bad + 2 * times) + 16 * struct.pack('<i', -1) + 16 * (task + name) +
            10 * (task + 3 * bad + name))
    return b'prio-sched 1.0b\0' + struct.pack('<q', len(body) + 24) + body


def check_hostile_page(monitor, folder):
    """Whatever a page says: no number overflows (-fsanitize=undefined tells), and no line is added."""
    for number in (-1 << 63, (1 << 63) - 1, -1, 1 - (1 << 63), 5):
        (folder / 'page').write_bytes(hostile_page(number))
        (folder / 'done').unlink(missing_ok=True)
        script = f'cp {folder}/page "$PRIO_SCHED_MONITOR/1-0"; while ! test -e {folder}/done; do sleep 0.01; done'
        terminal = Terminal(monitor, 'sh', '-c', script)
        terminal.read_until('Running: ')
        (folder / 'done').touch()
        assert terminal.end() == 0 and 'runtime error' not in terminal.shown, terminal.shown
        assert not re.search('\x1b\\]|[\x07\u2028\u202e\x80-\x9f]', terminal.shown), terminal.shown
        if number < 0:
            # Nothing has run since before the clock began.
            assert re.search('Running: .*, for 0 µs', terminal.shown), terminal.shown
        result = run(monitor, 'sh', '-c', f'cp {folder}/page "$PRIO_SCHED_MONITOR/1-0"')
        assert not re.search(r'-\d', result.stdout) and not result.stderr, result
        assert not re.search('[\x00-\x09\x0b-\x1f\u2028\u202e\x7f-\x9f]', result.stdout), result.stdout
        assert len(result.stdout.splitlines()) == len([line for line in result.stdout.split('\n') if line]), result.stdout


def check_interrupt(monitor, traced, folder):
    """Ctrl-C ends both; so does a signal to the monitor alone."""
    terminal = Terminal(monitor, traced, 'wait', folder / 'never')
    terminal.read_until('Running: long one')
    os.write(terminal.fd, b'\x03')
    assert terminal.end() == 128 + signal.SIGINT, terminal.shown
    assert 'signal 2' in terminal.shown, terminal.shown
    assert 'Waiting times' in terminal.shown[terminal.shown.rindex('\x1b[J'):], terminal.shown

    terminal = Terminal(monitor, traced, 'wait', folder / 'never')
    terminal.read_until('Running: long one')
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM, terminal.shown


def main(monitor, traced):
    before = {str(path) for path in pathlib.Path('/dev/shm').glob('prio-sched-monitor-*')}
    check_summary(monitor, traced)
    check_threads(monitor, traced)
    check_fork(monitor, traced)
    with tempfile.TemporaryDirectory() as folder:
        check_bad_programs(monitor, traced, pathlib.Path(folder))
        check_live(monitor, traced, pathlib.Path(folder))
        check_interrupt(monitor, traced, pathlib.Path(folder))
        check_hostile_page(monitor, pathlib.Path(folder))
        check_folder(monitor, pathlib.Path(traced).resolve(), pathlib.Path(folder))
    assert no_page_left(before)


if __name__ == '__main__':
    main(*sys.argv[1:])
