"""window.py: a program in a window, which xdotool types into and whose title tells what it does

When nothing comes of what is waited for, the failure has what the program has written, and whether it still runs.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

import patience

PATIENCE = 120  # seconds
COMPLAINTS = re.compile('Traceback|CRITICAL|WARNING.*PrioSched|never retrieved')


def xdotool(*args):
    return subprocess.run(['xdotool', *args], capture_output=True, text=True).stdout.strip()


class Program:
    """Runs while the with statement does."""

    complaints = COMPLAINTS

    def __init__(self, command, **options):
        self.errors = tempfile.TemporaryFile('w+', errors='replace')
        self.process = subprocess.Popen(command, stderr=self.errors, **options)
        self.window = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def said(self):
        """What it has written to stderr so far."""
        # Not by the file's own position, which is that of the program too.
        with open(f'/proc/self/fd/{self.errors.fileno()}', errors='replace') as file:
            return file.read()

    def wait_for(self, what, look):
        """What look () gives, as soon as that is something; who waits for a program that has ended waits in vain."""
        try:
            return patience.wait_for(what, lambda: look() or self.process.poll() is not None and self.fail(what), PATIENCE)
        except AssertionError:
            self.fail(what)

    def fail(self, what):
        code = self.process.poll()
        state = 'still runs' if code is None else f'has ended with {code}'
        title = f', and its title is “{self.title()}”' if self.window and code is None else ''
        sys.exit(f'nothing came of: {what}. The program {state}{title}; it has written:\n{self.said()}')

    def wait_for_window(self, name):
        """Its window, by a part of its title; what is typed goes there."""
        self.window = self.wait_for('a window', lambda: xdotool('search', '--onlyvisible', '--name', name).split('\n')[0])
        xdotool('windowfocus', self.window)

    def title(self):
        return xdotool('getwindowname', self.window)

    def wait_for_title(self, what, pattern):
        """The match of a regular expression with its title."""
        return self.wait_for(what, lambda: re.search(pattern, self.title()))

    def type(self, text):
        xdotool('type', '--delay', '20', text)

    def key(self, *names):
        xdotool('key', *names)

    def close(self, key=None):
        """By that key, or as the window's frame does; fails with whatever the program, or Python, has complained of."""
        xdotool('key', key) if key else xdotool('windowclose', self.window)
        self.wait_for('its end', lambda: self.process.poll() is not None)
        if self.complaints.search(self.said()):
            sys.exit(f'it complains:\n{self.said()}')


def check_ends(command, name, environment=os.environ):
    """Without a display a program says so and fails; an interrupt ends it at once, and it says nothing."""
    nowhere = {key: value for key, value in environment.items() if key not in ('DISPLAY', 'WAYLAND_DISPLAY')} | {'LC_ALL': 'C.UTF-8'}
    result = subprocess.run(command, env=nowhere, timeout=PATIENCE, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and result.stderr == 'There is no display\n', result
    with Program(command, env=environment) as program:
        program.wait_for_window(name)
        program.process.send_signal(signal.SIGINT)
        program.wait_for('its end', lambda: program.process.poll() is not None)
        assert program.process.returncode == -signal.SIGINT and not COMPLAINTS.search(program.said()), program.said()
