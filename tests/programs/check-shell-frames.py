"""check-shell-frames.py: counts the frames of a real GNOME Shell beside floods of tasks

    check-shell-frames.py [--rate HZ] [--seconds N]

Starts a headless Shell with an extension (shell-frames.js) that makes floods of steps of a millisecond, and counts the
stage's own signals: without a flood, beside a source of GLib that is always ready, and beside tasks of each priority,
following the stage's frame clock or not.

Prints one table.  If the processor itself draws, frames and tasks share its time, and there are fewer frames than
beside the source, which only gets the time that frames leave: judge the numbers yourself.  A row fails if frames stop:
if the clock is followed, and fewer than a third of the source's frames are drawn, four times.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import json
import os
import re
import tempfile

import patience
import shell

UUID = 'frames@prio-sched.example.org'
TRIES = 4
LEAST = 1 / 3  # share of the frames beside the source; if a flood stops frames, one or two a second are left
N_ROWS = 8

MODULE = """import {{Extension}} from 'resource:///org/gnome/shell/extensions/extension.js';
export default class extends Extension {{
    enable() {{ start({seconds}).catch(error => logError(error, 'shell-frames')); }}
    disable() {{}}
}}
"""
SCRIPT = """function init() {{
    return {{enable: () => start({seconds}).catch(error => logError(error, 'shell-frames')), disable: () => {{}}}};
}}
"""


def add_extension(extensions, seconds):
    version = shell.version()
    folder = os.path.join(extensions, UUID)
    os.mkdir(folder)
    with open(os.path.join(folder, 'metadata.json'), 'w') as file:
        json.dump({'uuid': UUID, 'name': 'Frames', 'description': 'Counts frames', 'shell-version': [str(version)]},
                  file)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'shell-frames.js')) as file:
        body = file.read()
    with open(os.path.join(folder, 'extension.js'), 'w') as file:
        file.write(body + (MODULE if version >= 45 else SCRIPT).format(seconds=seconds))


def measure(rate, seconds):
    """Returns the rows of one run of the Shell."""
    with tempfile.TemporaryDirectory() as place:
        environment, extensions = shell.set_up(place, UUID, dict(os.environ))
        add_extension(extensions, seconds)
        with shell.running(place, environment, f'1280x720@{rate}') as (process, said):
            patience.wait_for('the last row', lambda: 'shell-frames: done' in said() or process.poll() is not None,
                              seconds=60 + N_ROWS * (seconds + 5))
            complaints = re.findall(r'.*(?:JS ERROR|PrioSched-CRITICAL|PrioSched-WARNING).*', said())
            assert process.poll() is None and not complaints, complaints or 'the Shell has ended'
            return [json.loads(line) for line in re.findall(r'shell-frames: (\{.*\})', said())]


def failing(rows):
    peer = next(row['frames'] for row in rows if row['flood'] == 'GLib.idle_add')
    return [row for row in rows if row['follows'] and row['frames'] < LEAST * peer]


def show(rows):
    print(f'{"flood":<16}{"followed":<10}{"frames/s":>9}{"longest gap":>13}{"steps/s":>9}')
    for row in rows:
        print(f'{row["flood"]:<16}{"yes" if row["follows"] else "":<10}'
              f'{row["frames"]:>9}{row["gap"]:>10.1f} ms{row["steps"]:>9}', flush=True)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate', type=int, default=60)
    parser.add_argument('--seconds', type=float, default=1)
    options = parser.parse_args(arguments)
    for attempt in range(TRIES):
        rows = measure(options.rate, options.seconds * (1 + (attempt > 0)))
        show(rows)
        assert len(rows) == N_ROWS, f'{len(rows)} rows'
        failed = failing(rows)
        if not failed:
            return 0
    print('\n'.join(f'{row["flood"]}: {row["frames"]} frames' for row in failed))
    return 1


shell.on_a_bus(main)
