"""Checks that the flood example draws its window under each flood, and the picture of its frames.

    check-flood.py SCREENSHOT-SCRIPT DRAWING-PROGRAM BUILD-FOLDER

Runs on a display, for the frames; each picture of the window is taken on a separate display.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import patience
import svg

SHOWN = 2500  # ms of the flood
PATIENCE = 60  # seconds
AT_ONCE = {'WAIT': '0.3', 'AFTER': '0.3'}  # a picture that is taken too early is taken again


def is_drawn(script, program, flood, picture):
    """Returns whether a picture of the window has so many colours that the window must be drawn."""
    subprocess.run([script, picture, '560x500', 'type "Still alive"', program, '--flood', flood], check=True, timeout=PATIENCE,
                   env=os.environ | AT_ONCE)
    colours = subprocess.run(['identify', '-format', '%k', picture], check=True, text=True, stdout=subprocess.PIPE).stdout
    return int(colours) > 50


def check_window(script, program, folder):
    for flood in ('background', 'user-visible', 'user-blocking'):
        picture = folder / f'{flood}.png'
        patience.wait_for(f'a picture of the window, under {flood}', lambda: is_drawn(script, program, flood, picture), PATIENCE)
        assert not svg.faults(picture), svg.faults(picture)


def log_of(program, flood):
    """Returns the program's output until enough of the flood has passed."""
    lines, begun = [], None
    with subprocess.Popen([program, '--log', '--flood', flood], text=True, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            lines.append(line)
            what, time = re.fullmatch(r'(frame|flood) (\d+) ms, \d+ tasks\n', line).groups()
            if what == 'flood':
                begun = int(time)
            elif begun is not None and int(time) > begun + SHOWN:
                break
        process.kill()
    return ''.join(lines)


def check_drawing(drawing, program, folder):
    logs = []
    for flood in ('glib-idle', 'user-visible'):
        logs.append(folder / flood)
        logs[-1].write_text(log_of(program, flood))
    drawn = subprocess.run([sys.executable, drawing, 'flood', *logs], check=True, text=True, stdout=subprocess.PIPE).stdout
    assert not list(svg.svg_faults(drawn)), list(svg.svg_faults(drawn))


def main(script, drawing, build):
    program = f'{build}/examples/flood'
    with tempfile.TemporaryDirectory() as folder:
        check_window(script, program, pathlib.Path(folder))
        check_drawing(drawing, program, pathlib.Path(folder))

    bad = subprocess.run([program, '--flood', 'bad'], check=False, text=True, stderr=subprocess.PIPE)
    assert bad.returncode == 1 and 'bad' in bad.stderr, bad


if __name__ == '__main__':
    main(*sys.argv[1:])
