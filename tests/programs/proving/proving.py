"""proving.py: programs in the shape of real ones, by idle sources, by hand, and with the library

    proving.py [--rounds N] [SCENE…]      runs each scene in each way, alternately, and prints the medians

Run it under Xvfb, or in mutter; see below.  The ways:

    idle       a step for each call of a GLib.idle_add () source, as people write it
    by hand    steps for 5 ms in such a source, as an expert would
    library    a generator that is posted

Jobs of one thread go to it through a queue, first come first served; through a priority queue, which drops cancelled jobs; and
through a worker.

Frames are counted of a square that turns all the time, per second until the work is done; "shown" are the frames that show new
results.  Keys come every 50 ms through a file descriptor at GLib's default priority, as input does.  Times are ms.

    GSK_RENDERER=cairo xvfb-run -a meson devenv -C build python3 tests/programs/proving/proving.py
    dbus-run-session -- mutter --headless --wayland --no-x11 --virtual-monitor 1280x720@240 -- …

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import itertools
import json
import os
import queue
import statistics
import subprocess
import sys
import threading
import time

import gi

gi.require_version('Gdk', '4.0')
gi.require_version('Graphene', '1.0')
gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import Gdk, GLib, Graphene, Gtk, PrioSched  # noqa: E402
from scenes import SCENES, InThread  # noqa: E402

# The ways, and how long each runs steps at a time, in seconds.
WAYS = {'idle': 0, 'by hand': 0.005, 'library': None}
COLUMNS = ('frames', 'shown', 'gap', 'key', 'first', 'done', 'cpu')
KEYS = 0.05      # seconds between two keys
SETTLING = 1000  # ms

clock = time.perf_counter


class Way:
    """Runs jobs: in idle sources that run steps for a time, the budget, or in the library if the budget is None."""

    def __init__(self, budget):
        self.budget = budget
        self._thread = None

    def begin(self, steps, priority, ended):
        """Starts a job, and returns a function that cancels it."""
        if isinstance(steps, InThread):
            return self._run_in_worker(steps, priority, ended) if self.budget is None else self._run_by_hand(steps, priority, ended)
        return self._post(steps, priority, ended) if self.budget is None else self._add_idle(steps(), ended)

    def _post(self, steps, priority, ended):
        controller = PrioSched.TaskController(priority)
        task = PrioSched.Scheduler.get_default().post_task(steps, signal=controller.signal)
        task.add_done_callback(lambda task: task.cancelled() or task.exception() or ended())
        return controller.abort

    def _run_in_worker(self, job, priority, ended):
        if self._thread is None:
            self._thread = PrioSched.Worker('pages')
        controller = PrioSched.TaskController(priority)
        task = self._thread.run(PrioSched.Scheduler.get_default(), job.work, signal=controller.signal)
        task.add_done_callback(lambda task: task.cancelled() or task.exception() or (job.show(), ended()))
        return controller.abort

    def _run_by_hand(self, job, priority, ended):
        if self._thread is None:
            self._queue, self._ages = queue.PriorityQueue(), itertools.count()
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        is_cancelled = threading.Event()
        knows_priorities = self.budget > 0
        self._queue.put((priority != 'user-blocking' if knows_priorities else 0, next(self._ages), job, is_cancelled, ended))
        return is_cancelled.set

    def _work(self):
        while True:
            *_, job, is_cancelled, ended = self._queue.get()
            if self.budget > 0 and is_cancelled.is_set():
                continue
            job.work()
            GLib.idle_add(self._come_home, job, is_cancelled, ended)

    @staticmethod
    def _come_home(job, is_cancelled, ended):
        if not is_cancelled.is_set():
            job.show()
            ended()

    def _add_idle(self, iterator, ended):
        def call():
            end = clock() + self.budget
            while True:
                try:
                    next(iterator)
                except StopIteration:
                    ended()
                    return False
                if clock() >= end:
                    return True

        source = GLib.idle_add(call)
        return lambda: GLib.source_remove(source)


class Jobs:
    """Keeps the jobs of a scene.  A job starts, and ends or is cancelled by the next job with the same key."""

    def __init__(self, scene, way, ended):
        self.way, self.ended = way, ended
        self.planned, self.running = 0, {}  # functions that cancel jobs, by key or number
        for number, (delay, steps, priority, key) in enumerate(scene.jobs()):
            self.planned += 1
            GLib.timeout_add(delay, self._begin, key or number, steps, priority)

    def _begin(self, key, steps, priority):
        self.planned -= 1
        if key in self.running:
            self.running.pop(key)()
        self.running[key] = lambda: None
        cancel = self.way.begin(steps, priority, lambda: self._end(key))
        if key in self.running:
            self.running[key] = cancel
        return False

    def _end(self, key):
        del self.running[key]
        if not self.planned and not self.running:
            self.ended()


class Keys:
    """Presses keys from another thread, and records how long each has waited, in seconds."""

    def __init__(self):
        self.waited = []
        self.reading, self.writing = os.pipe()
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.reading, GLib.IOCondition.IN, self._pressed)
        threading.Thread(target=self._press, daemon=True).start()

    def _press(self):
        while True:
            time.sleep(KEYS)
            os.write(self.writing, f'{clock()}\n'.encode())

    def _pressed(self, *_):
        self.waited.extend(clock() - float(line) for line in os.read(self.reading, 4096).split())
        return True


class Square(Gtk.Widget):
    """Draws a square that turns all the time."""

    SIDE = Graphene.Rect().init(-20, -20, 40, 40)
    CENTRE = Graphene.Point().init(50, 30)
    COLOUR = Gdk.RGBA()
    COLOUR.parse('steelblue')

    def __init__(self):
        super().__init__()
        self.angle = 0
        self.set_size_request(100, 60)
        self.add_tick_callback(lambda *_: self.queue_draw() or True)

    def do_snapshot(self, snapshot):
        self.angle += 6
        snapshot.translate(self.CENTRE)
        snapshot.rotate(self.angle)
        snapshot.append_color(self.COLOUR, self.SIDE)


def open_window(scene, painted):
    box, window = Gtk.Box(orientation=Gtk.Orientation.VERTICAL), Gtk.Window(default_width=800, default_height=600)
    box.append(Square())
    box.append(Gtk.ScrolledWindow(child=scene.widget, vexpand=True))
    window.set_child(box)
    window.present()
    changed = []
    scene.watch(lambda *_: changed or changed.append(True))

    def after_paint(*_):
        painted.append((clock(), bool(changed)))
        changed.clear()

    window.get_frame_clock().connect('after-paint', after_paint)
    return window


def run(name, way):
    """Runs one scene, and prints the measurements."""
    loop, painted, times = GLib.MainLoop(), [], {}

    def start():
        times.update(start=clock(), cpu=time.process_time())
        keys.waited.clear()
        times['jobs'] = Jobs(scene, Way(WAYS[way]), end)

    def end():
        times.update(done=clock(), cpu=time.process_time() - times['cpu'])
        loop.quit()

    scene = SCENES[name]()
    scene.first = lambda: times.setdefault('first', clock())
    window = open_window(scene, painted)
    keys = Keys()
    # The jobs start when GTK has nothing else to do.
    GLib.timeout_add(SETTLING, lambda: GLib.idle_add(start, priority=GLib.PRIORITY_LOW) and False)
    loop.run()
    window.destroy()

    begun, done = times['start'], times['done']
    shown = sum(is_new for moment, is_new in painted if begun < moment < done)
    frames = [begun, *(moment for moment, _ in painted if begun < moment < done), done]
    seconds = {'gap': max(after - before for before, after in zip(frames, frames[1:])), 'key': max(keys.waited, default=0),
               'first': times['first'] - begun, 'done': done - begun, 'cpu': times['cpu']}
    rates = {'frames': (len(frames) - 2) / (done - begun), 'shown': shown / (done - begun)}
    print(json.dumps(rates | {name: 1000 * value for name, value in seconds.items()}))


def show(name, rows):
    for way in WAYS:
        medians = (statistics.median(row[column] for row in rows[way]) for column in COLUMNS)
        print(f'{name:<8}{way:<9}' + ''.join(f'{median:>8.0f}' for median in medians), flush=True)
        name = ''


def measure(name, n_rounds):
    rows = {way: [] for way in WAYS}
    for _ in range(n_rounds):
        for way in WAYS:
            output = subprocess.run([sys.executable, __file__, '--run', name, way], check=True, stdout=subprocess.PIPE, text=True,
                                    timeout=300).stdout
            rows[way].append(json.loads(output.splitlines()[-1]))
    return rows


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--run', nargs=2, metavar=('SCENE', 'WAY'), help='one scene, in one way, once')
    parser.add_argument('scenes', nargs='*', metavar='SCENE', default=list(SCENES))
    options = parser.parse_args(arguments)
    if options.run:
        run(*options.run)
        return
    print(f'{"":<17}' + ''.join(f'{column:>8}' for column in COLUMNS), flush=True)
    for name in options.scenes:
        show(name, measure(name, options.rounds))


if __name__ == '__main__':
    main(sys.argv[1:])
