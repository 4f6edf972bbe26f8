"""Checks prio-sched-monitor with programs whose sources belong to GLib: it prints the names of slow callbacks, at once and in order.

    check-unmoved.py MONITOR PROGRAM…

Each program runs index_all for 60 ms, sort_all for 40 and tick for 50, and prints when they end; with "flood", load_row
2,000 times for 50 µs.  A busy machine may make more sources slow, and these slower.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import re
import subprocess
import sys
import tempfile

ENVIRONMENT = os.environ | {'LC_ALL': 'C.UTF-8', 'LANGUAGE': 'C', 'PYTHONUNBUFFERED': '1'}
ENVIRONMENT.pop('PRIO_SCHED_LONG_TASKS', None)
NAMES = ['index_all', 'sort_all', 'tick']


def run(*command, **environment):
    """Returns all output, in one stream."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                            check=False, env=ENVIRONMENT | environment)
    assert result.returncode == 0, (command, result.returncode, result.stdout)
    return result.stdout


def names_in(text):
    """Returns the reported names and the ends, in the order of the lines."""
    found = re.findall(r"The source '(?:\S*\.)?(index_all|sort_all|tick)\b[^']*' held|^(\w+ ends)$", text, re.MULTILINE)
    return [name or end for name, end in found]


def check_names(monitor, program):
    printed = run(monitor, '--plain', '--threshold', '20', '--', *program)
    assert names_in(printed) == [each for name in NAMES for each in (f'{name} ends', name)], printed
    summary = printed[printed.index('Longest of the other sources'):]
    for name in NAMES:
        assert re.search(rf'^ *\d[\d.]* m?s  (\S*\.)?{name}\b', summary, re.MULTILINE), printed
    assert 'Waiting times' not in printed, printed


def check_flood(monitor, program):
    """Checks that many short callbacks are named too, with their number, at once and in the summary."""
    printed = run(monitor, '--plain', '--threshold', '50', '--', *program, 'flood')
    flood = re.search(r'In one iteration, (\d+) callbacks of load_row\b[^\n]* held the main loop for \d{3}\.\d ms$', printed, re.MULTILINE)
    # A callback that a loaded machine has stopped for longer than the threshold is reported by itself.
    alone = re.findall(r"^.*The source '(?:\S*\.)?load_row\b[^']*' held", printed, re.MULTILINE)
    assert flood and int(flood[1]) + len(alone) == 2000, printed
    summary = printed[printed.index('Longest of the other sources'):]
    assert re.search(rf'^ *\d[\d.]* m?s  {flood[1]} callbacks of load_row\b', summary, re.MULTILINE), printed


def check_gdk(monitor, program):
    """Checks that sources of GDK's functions have the name of the program's function."""
    printed = run(monitor, '--plain', '--threshold', '20', '--', *program, 'gdk')
    if 'no GDK 3' in printed:
        print('GDK 3 is not installed')
        return
    assert names_in(printed) == [each for name in NAMES for each in (f'{name} ends', name)], printed


def check_options(monitor, program):
    for options in (['--no-preload'], ['--threshold', '0']):
        printed = run(monitor, '--plain', *options, '--', *program)
        assert 'held' not in printed and printed.count('ends') == 3, printed
    # The user's own setting is kept.
    assert 'held' not in run(monitor, '--plain', '--', *program, PRIO_SCHED_LONG_TASKS='100000')
    assert "index_all" in names_in(run(monitor, '--plain', '--', *program, PRIO_SCHED_LONG_TASKS='20'))


def check_others(monitor):
    """Checks that programs without GLib, and without a main loop, are not affected; Python finds its own sitecustomize."""
    assert run(monitor, '--plain', '--', 'printf', 'x').startswith('x')
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/sitecustomize.py', 'w', encoding='utf-8') as file:
            file.write('print("own")\n')
        printed = run(monitor, '--plain', '--', sys.executable, '-c',
                      'import sys, sitecustomize; print(sitecustomize.__file__, [p for p in sys.path if "/monitor" in p])',
                      PYTHONPATH=folder)
        assert printed.startswith(f'own\n{folder}/sitecustomize.py []\n'), printed


def main():
    monitor, *programs = sys.argv[1:]
    for program in programs:
        command = [sys.executable, program] if program.endswith('.py') else ['gjs', program] if program.endswith('.js') else [program]
        check_names(monitor, command)
        check_flood(monitor, command)
        # A program that uses the library is watched without being asked to load it.
        if not program.endswith('.js'):
            check_options(monitor, command)
        if not program.endswith(('.py', '.js')):
            check_gdk(monitor, command)
    check_others(monitor)


if __name__ == '__main__':
    main()
