"""window.py: runs a program in a window, which xdotool types into and whose title shows its state

When a wait fails, the error has the program's output, and whether it still runs.

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
    """Runs a program for the duration of a with statement."""

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
        """Returns the program's output to stderr so far."""
        # The file's own position belongs to the program, too.
        with open(f'/proc/self/fd/{self.errors.fileno()}', errors='replace') as file:
            return file.read()

    def wait_for(self, what, look):
        """Returns the result of look (), as soon as it is true; fails if the program has ended."""
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
        """Waits for the program's window, by a part of its title, and types into that window from now on."""
        self.window = self.wait_for('a window', lambda: xdotool('search', '--onlyvisible', '--name', name).split('\n')[0])
        xdotool('windowfocus', self.window)

    def title(self):
        return xdotool('getwindowname', self.window)

    def wait_for_title(self, what, pattern):
        """Waits until the window's title matches a regular expression, and returns the match."""
        return self.wait_for(what, lambda: re.search(pattern, self.title()))

    def type(self, text):
        xdotool('type', '--delay', '20', text)

    def key(self, *names):
        xdotool('key', *names)

    def close(self, key=None):
        """Closes the window by a key, or as its frame does.  Fails with warnings that the program, or Python, has printed."""
        xdotool('key', key) if key else xdotool('windowclose', self.window)
        self.wait_for('its end', lambda: self.process.poll() is not None)
        if self.complaints.search(self.said()):
            sys.exit(f'it complains:\n{self.said()}')


def check_ends(command, name, environment=os.environ):
    """Checks that a program without a display prints an error and fails, and that an interrupt ends it at once and silently."""
    nowhere = {key: value for key, value in environment.items() if key not in ('DISPLAY', 'WAYLAND_DISPLAY')} | {'LC_ALL': 'C.UTF-8'}
    result = subprocess.run(command, env=nowhere, timeout=PATIENCE, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and result.stderr == 'There is no display\n', result
    with Program(command, env=environment) as program:
        program.wait_for_window(name)
        program.process.send_signal(signal.SIGINT)
        program.wait_for('its end', lambda: program.process.poll() is not None)
        assert program.process.returncode == -signal.SIGINT and not COMPLAINTS.search(program.said()), program.said()
