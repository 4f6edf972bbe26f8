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
import time

# A busy machine makes sources long.
ENVIRONMENT = os.environ | {'LC_ALL': 'C.UTF-8', 'LANGUAGE': 'C', 'PRIO_SCHED_LONG_TASKS': '0'}


def run(*command, code=0, **kwargs):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, errors='replace', timeout=120, check=False, env=ENVIRONMENT, **kwargs)
    assert result.returncode == code, (command, result.returncode, result.stdout, result.stderr)
    return result


def rows(text, title):
    """Returns the numbers of tasks in the table of text that title begins."""
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
    """Checks that a child is shown separately."""
    printed = run(monitor, traced, 'fork').stdout
    assert printed.count('\n\n') == 1, printed
    first, second = sorted(printed[printed.index('Process'):].split('\n\n'), key=lambda text: 'of a thread' in text)
    assert rows(first, 'Running times') == {'user-blocking': 4, 'user-visible': 400, 'background': 8}, printed
    assert rows(second, 'Running times') == {'user-blocking': 0, 'user-visible': 0, 'background': 200}, printed
    assert 'of a thread' in second, printed
    # This program has not set its name in GLib.
    assert printed.count('(traced)') == 2, printed


def check_bad_programs(monitor, traced, folder):
    for program, code in (('/no/such/program', 127), (str(folder), 126)):
        result = run(monitor, program, code=code)
        assert program in result.stderr and not result.stdout, result.stderr
    assert 'no program' in run(monitor, code=2).stderr
    assert '--nonsense' in run(monitor, '--nonsense', traced, code=2).stderr
    for threshold in '-1', '-2147483647':
        told = run(monitor, f'--threshold={threshold}', traced, 'empty', code=2).stderr
        assert threshold in told and 'threshold' in told, told
    assert 'PROGRAM' in run(monitor, '--help').stdout
    # Arguments after the program belong to the program.
    assert run(monitor, '--', 'printf', '%s', '--plain').stdout == '--plain'
    assert 'has sent no trace' in run(monitor, 'true').stderr
    assert 'has run no task' in run(monitor, traced, 'empty').stderr
    result = run(monitor, traced, 'garbage')
    assert not result.stderr.replace('\x1b]0;title\x07\n', ''), result.stderr
    assert rows(result.stdout, 'Running times')['user-visible'] == 1, result.stdout


def check_other_processes(monitor, traced):
    """Checks that processes that the program starts are shown, though they inherit no descriptor and the program has ended."""
    script = f'import subprocess; subprocess.run(["{traced}", "each"], close_fds=True, check=True)'
    assert rows(run(monitor, sys.executable, '-c', script).stdout, 'Running times')['user-visible'] == 200
    many = ' & '.join([f'{traced} each'] * 8)
    result = run(monitor, 'sh', '-c', f'{many} & wait')
    assert result.stdout.count('Process ') == 8, result.stdout
    for process in result.stdout.split('Process ')[1:]:
        assert rows(process, 'Running times') == {'user-blocking': 2, 'user-visible': 200, 'background': 4}, result.stdout


def check_monitor_has_gone(traced, folder):
    """Checks that neither a pipe without a reader, nor a descriptor of a process that has gone or that is not a pipe, disturbs a program."""
    precious = folder / 'precious'
    precious.write_text('keep')
    with precious.open('r+') as file:
        read, write = os.pipe()
        os.close(read)
        for descriptor, told in ((write, 'Broken pipe'), (file.fileno(), 'cannot be written'), (1 << 20, 'cannot be written')):
            trace = f'/proc/{os.getpid()}/fd/{descriptor}'
            result = subprocess.run([traced, 'each'], env=ENVIRONMENT | {'PRIO_SCHED_TRACE': trace, 'G_DEBUG': ''}, capture_output=True,
                                    text=True, timeout=60, check=True)
            assert result.stdout == '204\n2\n1\n' and result.stderr.count('WARNING') == result.stderr.count(told) == 1, result
        os.close(write)
    assert precious.read_text() == 'keep'


def check_monitor_stops(monitor, traced, folder):
    """Checks that a monitor that is stopped, or killed, does not hold up a program, which warns at most."""
    for signal_name, code in (('STOP', 0), ('KILL', -signal.SIGKILL)):
        done = folder / f'done-{signal_name}'
        script = f'kill -{signal_name} $PPID; "{traced}" many && touch "{done}"'
        with subprocess.Popen([monitor, 'sh', '-c', script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=ENVIRONMENT | {'G_DEBUG': ''}) as process:
            end = time.monotonic() + 60
            while not done.exists():
                assert time.monotonic() < end, signal_name
                time.sleep(0.01)
            process.send_signal(signal.SIGCONT)
            printed = process.communicate(timeout=60)[0]
        assert process.returncode == code and printed.startswith('10000\n'), (process.returncode, printed)
        assert code or 0 < rows(printed, 'Running times')['user-visible'] < 10000, printed


def check_exec(monitor, traced):
    """Checks that a program that executes another one continues its trace."""
    result = run(monitor, traced, 'exec', traced)
    assert result.stdout.count('Process ') == 1 and result.stdout.startswith('204\n2\n1\n'), result.stdout
    assert 200 <= rows(result.stdout, 'Running times')['user-visible'] <= 400, result.stdout


class Terminal:
    """Runs the monitor in the foreground of a new terminal."""

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
        """Returns the exit code, after all output has been read."""
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
    """Checks that tasks are shown while they run, and the summary at the end."""
    terminal = Terminal(monitor, traced, 'wait', folder / 'go')
    terminal.read_until('Running: long one, user-visible, for ')
    (folder / 'go').touch()
    assert terminal.end() == 0, terminal.shown
    summary = terminal.shown[terminal.shown.rindex('\x1b[J'):]
    assert rows(summary, 'Running times')['user-visible'] == 1, summary
    assert 'long one' in summary[summary.index('Longest tasks'):], summary

    terminal = Terminal(monitor, traced, 'nothing')
    assert terminal.end() == 0 and 'has sent no trace' in terminal.shown, terminal.shown

    # The output of the program does not control the terminal.
    terminal = Terminal(monitor, traced, 'garbage')
    assert terminal.end() == 0
    assert '\x1b[2J' not in terminal.shown and '\x1b]' not in terminal.shown, terminal.shown
    assert 'garbage, and no end of the line' in terminal.shown, terminal.shown


def check_crash(monitor, traced):
    """Checks that the events of a program before its crash are kept."""
    terminal = Terminal(monitor, traced, 'crash')
    terminal.read_until(' 10000 ')
    os.kill(int(re.search(r'Process (\d+)', terminal.shown).group(1)), signal.SIGKILL)
    assert terminal.end() == 128 + signal.SIGKILL, terminal.shown
    summary = terminal.shown[terminal.shown.rindex('\x1b[J'):]
    assert 'signal 9' in summary and rows(summary, 'Running times')['user-visible'] == 10000, summary


def hostile_lines(number):
    """Returns lines of a trace that contain number in place of each number, and control sequences for the terminal."""
    name = '\x1b]0;title\x07\\u000d\\u000a\u2028\\u202e\\u009b2J\\ud800' + '!' * 64
    head = f'"pid":{number},"tid":{number},"ts":{number},"dur":{number}'
    args = f'"name":"{name}","args":{{"task":{number},"priority":"background","kind":"closure","waited":{number}'
    yield f'{{"ph":"M",{head},"name":"process_name","args":{{"name":"{name}"}}}},'
    for _ in range(2):
        yield f'{{"ph":"X",{head},"cat":"post",{args},"due":{number}}}}},'
        yield f'{{"ph":"X",{head},"cat":"due",{args}}}}},'
        yield f'{{"ph":"i",{head},"cat":"abort",{args},"running":false}}}},'
        yield f'{{"ph":"X",{head},"cat":"run",{args},"end":"yielded"}}}},'
        yield f'{{"ph":"X",{head},"cat":"again",{args}}}}},'
        yield f'{{"ph":"f",{head},"id":"{number}.{number}"}},'
    yield '{"ph":"X","pid":1,"task":'
    yield f'{{"ph":"X",{head},"cat":"run","name":"cut\\'
    yield ',next line"'
    yield '{"ph":"' + '9' * 20000


def check_hostile_lines(monitor, folder):
    """Checks that no trace makes a number overflow (as -fsanitize=undefined would report), or adds a line."""
    for number in (-1 << 63, (1 << 63) - 1, -1, 1 - (1 << 63), 5, 1 << 70):
        (folder / 'lines').write_text('\n'.join(hostile_lines(number)) + '\n')
        (folder / 'done').unlink(missing_ok=True)
        script = f'cat {folder}/lines > "$PRIO_SCHED_TRACE"; while ! test -e {folder}/done; do sleep 0.01; done'
        terminal = Terminal(monitor, 'sh', '-c', script)
        terminal.read_until('Running: ' if number == 5 else 'tasks wait')
        (folder / 'done').touch()
        assert terminal.end() == 0 and 'runtime error' not in terminal.shown, terminal.shown
        assert not re.search('\x1b\\]|[\x07\u2028\u202e\x80-\x9f]', terminal.shown), terminal.shown
        result = run(monitor, 'sh', '-c', f'cat {folder}/lines > "$PRIO_SCHED_TRACE"')
        assert not re.search(r'-\d', result.stdout) and 'runtime error' not in result.stderr, result
        assert not re.search('[\x00-\x09\x0b-\x1f\u2028\u202e\x7f-\x9f]', result.stdout), result.stdout
        assert 'next line' not in result.stdout, result.stdout
        assert len(result.stdout.splitlines()) == len([line for line in result.stdout.split('\n') if line]), result.stdout


def check_just_begun(monitor, folder):
    """Checks that a task that has only just started is not shown as running: the trace reports its end a moment later."""
    begun = '{"ph":"X","pid":5,"tid":5,"ts":1,"cat":"post","name":"new","args":{"task":1,"priority":"background","kind":"closure"}},'
    arrow = f'{{"ph":"f","pid":5,"tid":5,"ts":{1 << 62},"id":"1.1"}},'
    (folder / 'lines').write_text(f'[\n{begun}\n{arrow}\n')
    (folder / 'done').unlink(missing_ok=True)
    terminal = Terminal(monitor, 'sh', '-c', f'cat {folder}/lines > "$PRIO_SCHED_TRACE"; while ! test -e {folder}/done; do sleep 0.01; done')
    terminal.read_until('0 tasks wait')
    (folder / 'done').touch()
    assert terminal.end() == 0 and 'Running: ' not in terminal.shown, terminal.shown


def check_prompt(monitor):
    """Checks that the beginning of a line is shown before the line ends: it may be a question."""
    terminal = Terminal(monitor, 'sh', '-c', 'printf "Really? [y/N] "; read answer; echo "you said $answer"')
    terminal.read_until('Really? [y/N] ')
    os.write(terminal.fd, b'y\n')
    assert terminal.end() == 0 and 'Really? [y/N] you said y\r\n' in terminal.shown, terminal.shown


def check_own_trace(monitor, traced):
    """Checks that a program with its own trace is shown, too."""
    printed = run(monitor, traced, 'own').stdout
    assert rows(printed, 'Running times')['user-visible'] == 400, printed


def check_names(monitor, folder):
    """Checks that the name of a program does not control the terminal."""
    name = folder / 'a\x1b]0;title\x07\nb'
    for code in (127, 0):
        told = run(monitor, name, code=code).stderr
        assert str(folder) in told and not re.search('[\x1b\x07]|\n.', told), told
        if code:
            name.symlink_to('/bin/true')


def check_full(monitor, traced):
    """Checks that a summary that cannot be written is an error."""
    with open('/dev/full', 'w', encoding='utf-8') as full:
        result = subprocess.run([monitor, traced, 'results'], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=60, check=False)
    assert result.returncode == 1 and 'summary cannot be written' in result.stderr, result


def check_interrupt(monitor, traced, folder):
    """Checks that Ctrl-C, or a signal to the monitor alone, ends the monitor and the program."""
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
    check_summary(monitor, traced)
    check_threads(monitor, traced)
    check_fork(monitor, traced)
    check_exec(monitor, traced)
    check_other_processes(monitor, pathlib.Path(traced).resolve())
    with tempfile.TemporaryDirectory() as folder:
        check_bad_programs(monitor, traced, pathlib.Path(folder))
        check_live(monitor, traced, pathlib.Path(folder))
        check_crash(monitor, traced)
        check_interrupt(monitor, traced, pathlib.Path(folder))
        check_hostile_lines(monitor, pathlib.Path(folder))
        check_just_begun(monitor, pathlib.Path(folder))
        check_prompt(monitor)
        check_own_trace(monitor, traced)
        check_names(monitor, pathlib.Path(folder))
        check_full(monitor, traced)
        check_monitor_has_gone(traced, pathlib.Path(folder))
        check_monitor_stops(monitor, pathlib.Path(traced).resolve(), pathlib.Path(folder))


if __name__ == '__main__':
    main(*sys.argv[1:])
