"""check-frames.py: counts the frames of a window beside floods of tasks, at several rates

    check-frames.py [--chosen] [--rates RATE,…] PROGRAM [OPTION…]

A rate is x60, which is Xvfb, or 60, 144, 240 or any other, of mutter's headless virtual
monitor.  PROGRAM is build/tests/programs/frames or, for the gaps beside posts, steps and a
loop, gaps beside it; tests/programs/frames.c and gaps.c describe their options.  Set
LD_LIBRARY_PATH to measure the library of another build.

With --chosen each rate has only some of the scenes, but every length of a step and every companion of a flood occurs; with
PRIO_SCHED_THOROUGH in the environment it has all of them, as without --chosen.

Prints one table.  Fails if a row fails at any rate; skips if nothing can be measured.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

RATES = 'x60,60,144,240'
# The only rows that are checked.
JUDGED = ['--priority', 'background', '--priority', 'user-visible', '--priority', 'user-blocking']
CHOSEN = {
    'x60': ['--step', '1', *JUDGED],
    '240': ['--beside', 'alone', '--beside', 'redraw', '--step', '0.1', '--step', '20', *JUDGED],
}
SKIPPED = 77
# Writes the test program's output and status to files: mutter and dbus-run-session print too, and do not return it.
TO_FILES = 'folder=$1; shift; "$@" >"$folder/rows" 2>"$folder/errors"; echo $? >"$folder/status"'


def command_for(rate):
    """Returns the command for a display at a rate, or None if it is not installed."""
    if rate.startswith('x'):
        needed = ['xvfb-run']
        shown = ['xvfb-run', '-a', '-s', '-screen 0 800x600x24 -noreset']
    else:
        needed = ['dbus-run-session', 'mutter']
        shown = ['dbus-run-session', '--', 'mutter', '--headless', '--wayland', '--no-x11',
                 '--virtual-monitor', f'800x600@{rate}', '--']
    return shown if all(map(shutil.which, needed)) else None


def content(place, name):
    try:
        with open(os.path.join(place, name)) as file:
            return file.read()
    except FileNotFoundError:
        return ''


def come_first():
    """Gives this process a higher priority, if it may: load from others causes missed frames, and hides the library's."""
    try:
        os.nice(-10)
        with open('/proc/self/autogroup', 'w') as file:
            file.write('-10')
    except OSError:
        pass


def end_group(process):
    """Ends all processes of the group, whatever has ended this one."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass


def run_at(rate, shown, program):
    """Returns the program's status and output."""
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {'XDG_RUNTIME_DIR': place, 'GDK_BACKEND': 'x11' if rate.startswith('x') else 'wayland',
                                    'GSK_RENDERER': 'cairo', 'GTK_A11Y': 'none', 'GSETTINGS_BACKEND': 'memory', 'NO_AT_BRIDGE': '1'}
        os.chmod(place, 0o700)
        if not rate.startswith('x'):
            environment.pop('DISPLAY', None)
        display = subprocess.Popen([*shown, 'sh', '-c', TO_FILES, 'sh', place, *program, '--rate', rate.lstrip('x')],
                                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, preexec_fn=come_first)
        try:
            said = display.communicate()[1]
        finally:
            end_group(display)
        status = content(place, 'status').strip()
        sys.stderr.write(content(place, 'errors'))
        if status not in ('0', '1'):
            sys.stderr.write(said)
        return int(status or 2), content(place, 'rows').splitlines()


def main(arguments):
    rates, chosen = RATES, {}
    if arguments[:1] == ['--chosen']:
        chosen, arguments = {} if os.environ.get('PRIO_SCHED_THOROUGH') else CHOSEN, arguments[1:]
    if arguments[:1] == ['--rates']:
        rates, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)

    statuses = []
    for rate in rates.split(','):
        shown = command_for(rate)
        if shown is None:
            print(f'{rate:>4} Hz  is left out: nothing here shows it')
            continue
        status, rows = run_at(rate, shown, [*arguments, *chosen.get(rate, [])])
        print(*rows if not statuses else rows[1:], sep='\n', flush=True)
        statuses.append(status)
    return max(statuses, default=SKIPPED)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
sys.exit(main(sys.argv[1:]))
