"""keys.py GTK-VERSION [frame|handler]…: checks that keys that come during a slow frame, or a slow handler, go before the next task, of
any priority.

Needs an X display without a window manager, where the window under the pointer gets the keys, and xdotool.  Checks the order of keys and
tasks, and no times.  Beside busy processes dispatching one key may take ten milliseconds: the library takes several such keys for a
flood, and may run a task between them.  So the suite runs only the scenes of frames.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import shutil
import subprocess
import sys
import time

import gi

VERSION = sys.argv[1]
try:
    gi.require_version('Gdk', VERSION)
    gi.require_version('Gtk', VERSION)
except ValueError:
    sys.exit(77)
gi.require_version('PrioSched', '1')
from gi.repository import Gdk, GLib, Gtk, PrioSched  # noqa: E402

ROUNDS = 20
N_KEYS = 4  # in each round
PRIORITIES = ['background', 'user-visible', 'user-blocking']


class Scene:
    """Runs a task that makes a handler or a frame slow, again and again.  Keys come meanwhile."""

    def __init__(self, window):
        self.window = window
        self.slow = None
        self.log = ''
        self.is_due = False

    def note_key(self, *_):
        self.log += 'k'

    def be_slow(self, *_):
        """Sleeps, in a handler or in a frame.  When it returns, the keys have come to this process."""
        if not self.is_due:
            return
        self.is_due = False
        self.log += 'S'
        subprocess.run(['xdotool', 'key', '--delay', '1', *'a' * N_KEYS], check=True)
        time.sleep(0.02)
        Gdk.Display.get_default().sync()

    def is_open(self):
        """Returns whether slow code, or a key, is still to come."""
        return self.is_due or self.log.count('k') < N_KEYS * self.log.count('S')

    def step(self):
        """Runs as the next task.  Starts the next round when all keys have come, so that each key belongs to one round."""
        self.log += 'T'
        if not self.is_open():
            self.is_due = True
            self.slow()

    def run(self, slow, priority):
        scheduler, context = PrioSched.Scheduler.get_default(), GLib.MainContext.default()
        self.slow, self.log = slow, ''

        def again():
            if self.is_open() or self.log.count('S') < ROUNDS:
                self.step()
                scheduler.post_task(again, priority)
            else:
                self.slow = None

        scheduler.post_task(again, priority)
        while self.slow is not None:
            context.iteration(True)
        return [part[:N_KEYS] for part in self.log.split('S')[1:]]


def open_window(scene):
    """Opens a window that gets the keys, and draws in it."""
    window, area = scene.window, Gtk.DrawingArea()
    if VERSION == '3.0':
        area.connect('draw', scene.be_slow)
        window.connect('key-press-event', scene.note_key)
        window.add(area)
        window.resize(700, 500)
        window.show_all()
        window.move(0, 0)
    else:
        area.set_draw_func(scene.be_slow)
        keys = Gtk.EventControllerKey()
        keys.connect('key-pressed', scene.note_key)
        window.add_controller(keys)
        window.set_child(area)
        window.set_default_size(700, 500)
        window.present()
    return area


def await_keys(scene):
    """Waits until the window, under the pointer, gets a key."""
    while not scene.log:
        subprocess.run(['xdotool', 'mousemove', '100', '100', 'key', 'a'], check=True)
        GLib.timeout_add(100, lambda: GLib.SOURCE_REMOVE)
        GLib.MainContext.default().iteration(True)
    while GLib.MainContext.default().iteration(False):
        pass


def main():
    if shutil.which('xdotool') is None:
        return 77
    scene = Scene(Gtk.Window())
    area = open_window(scene)
    await_keys(scene)
    wrong = []
    ways = {'frame': area.queue_draw, 'handler': lambda: GLib.idle_add(scene.be_slow, priority=GLib.PRIORITY_DEFAULT)}
    for name in sys.argv[2:] or ways:
        for priority in PRIORITIES:
            rounds = scene.run(ways[name], priority)
            n_first = rounds.count('k' * N_KEYS)
            print(f'GTK {VERSION}, slow {name}, {priority}: keys came first {n_first} of {len(rounds)} times', flush=True)
            wrong += [] if n_first == len(rounds) == ROUNDS else [(name, priority, rounds)]
    assert not wrong, wrong
    return 0


sys.exit(main())
