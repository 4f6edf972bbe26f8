"""Tests an Adwaita window in asyncio: it searches while it reads, and each typed letter aborts the last search.

    adwaita.py      (under xvfb-run)

The letters come while files are read, so that no search but the last one can be complete.  It checks the shown rows, that
the other searches were aborted, that no warning was printed, and that as many frames were drawn as of its peer: a window
with the same rows without tasks, beside a g_idle_add () source that does nothing (see frames.c: on a shared machine the
kernel prefers threads that slept).  The two are measured in turn.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import logging
import math
import os
import sys
import tempfile
import time
import warnings

os.environ['G_DEBUG'] = 'fatal-criticals'

import gi  # noqa: E402

gi.require_version('Gtk', '4.0')
try:
    gi.require_version('Adw', '1')
except ValueError as error:
    sys.exit(f'{error}: install Adwaita with its typelib, which Debian has in gir1.2-adw-1')
gi.require_version('PrioSched', '1')
from gi.repository import Adw, Gio, GLib, Gtk, PrioSched  # noqa: E402

from gi.events import GLibEventLoopPolicy  # noqa: E402

N_FILES = 80
N_ITEMS = 400  # items in a file
TYPED = 'item 17'
ROUNDS = 6
MORE_ROUNDS = 30  # to distinguish the machine's slowness from the program's
LEAST = 0.9       # of the frames of the window without work, as in frames.c

scheduler = PrioSched.Scheduler.get_default()
complaints = []


def complain(what):
    print(what, file=sys.stderr, flush=True)
    complaints.append(what)


class Index:
    """Keeps items that are read from files."""

    def __init__(self, files):
        self.files = files
        self.items = []
        self.is_read = False
        self.more = asyncio.Event()

    async def read(self, progress):
        """Reads the files; run it as a background task."""
        for i, file in enumerate(self.files):
            contents = (await scheduler.adopt(file.load_contents_async(None)))[-2]
            async for line in scheduler.each(contents.decode().splitlines()):
                self.items.append(line)
            self.is_read = i == len(self.files) - 1
            self.more.set()
            self.more = asyncio.Event()
            progress(i)

    async def follow(self):
        """Yields the items that have been read, and that are being read."""
        n = 0
        while True:
            async for item in scheduler.each(self.items[n:]):
                n += 1
                yield item
            if n == len(self.items):
                if self.is_read:
                    return
                await self.more.wait()


class Window(Adw.ApplicationWindow):

    def __init__(self, application):
        super().__init__(application=application, title='Search', default_width=480, default_height=360)
        self.index = None
        self.entry = Gtk.SearchEntry()
        self.entry.connect('changed', lambda entry: self.search(entry.get_text()))
        self.progress = Gtk.ProgressBar()
        self.found = Gtk.StringList()
        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda factory, item: item.set_child(Gtk.Label(xalign=0)))
        factory.connect('bind', lambda factory, item: item.get_child().set_text(item.get_item().get_string()))
        view = Adw.ToolbarView()
        view.add_top_bar(Adw.HeaderBar(title_widget=self.entry))
        view.add_top_bar(self.progress)
        view.set_content(Gtk.ScrolledWindow(child=Gtk.ListView(model=Gtk.NoSelection(model=self.found), factory=factory)))
        self.set_content(view)

        self.find = scheduler.latest(self.show_found, 'user-blocking')
        self.outcomes = {}
        self.ended = None
        self.n_frames = 0
        self.progress.add_tick_callback(self.animate)

    def animate(self, progress, clock):
        progress.pulse()
        return GLib.SOURCE_CONTINUE

    def follow_frames(self):
        clock = self.get_frame_clock()
        scheduler.follow_frame_clock(clock)
        clock.connect('after-paint', self.drawn)

    def drawn(self, clock):
        self.n_frames += 1

    def search(self, text):
        self.found.splice(0, self.found.get_n_items(), [])
        if text:
            self.outcomes[text] = 'posted'
            self.find(text)  # the task is not awaited

    async def show_found(self, text):
        signal = scheduler.current_signal
        self.outcomes[text] = 'begun'
        try:
            found = [item async for item in self.index.follow() if text in item]
            self.found.splice(0, 0, found)
        except (GLib.Error, asyncio.CancelledError) as error:
            # The type depends on the awaited object: a yield, or the event of asyncio.
            is_cancelled = not isinstance(error, GLib.Error) or error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)
            self.outcomes[text] = 'aborted' if is_cancelled and signal.aborted else repr(error)
            raise
        except BaseException as error:
            self.outcomes[text] = repr(error)
            raise
        self.outcomes[text] = 'complete'
        self.ended.set_result(None)

    def shown(self):
        return [string.get_string() for string in self.found]


async def search_while_reading(window, files):
    """Types while files are read, until the last search has ended."""
    letters = iter(range(1, len(TYPED) + 1))

    def type_letter():
        window.entry.set_text(TYPED[:next(letters)])

    def progress(i):
        # As a key would come; some files are left after the last letter.
        if i % (N_FILES // (len(TYPED) + 1)) == 0 and i // (N_FILES // (len(TYPED) + 1)) < len(TYPED):
            GLib.idle_add(type_letter, priority=GLib.PRIORITY_DEFAULT)

    window.index = Index(files)
    window.ended = asyncio.get_running_loop().create_future()
    window.outcomes.clear()
    window.entry.set_text('')
    await scheduler.post_task(lambda: window.index.read(progress), 'background')
    await window.ended


def check_found(window):
    outcomes = list(window.outcomes.values())
    assert list(window.outcomes) == [TYPED[:n] for n in range(1, len(TYPED) + 1)], window.outcomes
    assert outcomes[-1] == 'complete', window.outcomes
    assert set(outcomes[:-1]) <= {'posted', 'aborted'} and 'aborted' in outcomes, window.outcomes
    expected = [f'item {i}' for i in range(N_FILES * N_ITEMS) if TYPED in f'item {i}']
    assert window.shown() == expected, (len(window.shown()), len(expected))


async def show_without_work(window, found, seconds):
    """Shows the window without work: the peer."""
    window.entry.set_text('')
    window.found.splice(0, 0, found)
    source = GLib.idle_add(lambda: GLib.SOURCE_CONTINUE)
    await asyncio.sleep(seconds)
    GLib.source_remove(source)


class Measure:

    def __init__(self):
        self.n_frames = self.seconds = 0

    async def add(self, window, awaitable):
        frames, start = window.n_frames, time.monotonic()
        await awaitable
        self.n_frames += window.n_frames - frames
        self.seconds += time.monotonic() - start
        return time.monotonic() - start

    def rate(self):
        return self.n_frames / self.seconds


async def measure(window, files):
    """Measures both windows in turn, so that other load of the machine affects both.  Compares the sums of all rounds."""
    await asyncio.sleep(0.5)
    window.follow_frames()
    working, peer = Measure(), Measure()
    for i in range(MORE_ROUNDS):
        seconds = await working.add(window, search_while_reading(window, files))
        check_found(window)
        await peer.add(window, show_without_work(window, window.shown(), seconds))
        lost = peer.rate() * working.seconds - working.n_frames
        if i + 1 >= ROUNDS and (working.rate() >= LEAST * peer.rate() or lost <= 2):
            break
    print(f'{working.n_frames} frames in {working.seconds:.1f} s of searches, '
          f'{peer.n_frames} in {peer.seconds:.1f} s of its peer, in {i + 1} rounds')
    assert peer.n_frames > 0 and (working.rate() >= LEAST * peer.rate() or lost <= 2), 'fewer frames'


class Complaints(logging.Handler):

    def emit(self, record):
        complain(self.format(record))


def listen():
    """Records warnings of Python and asyncio."""
    logging.getLogger().addHandler(Complaints(logging.WARNING))
    sys.unraisablehook = lambda what: complain(f'{what.exc_value!r} in {what.object!r}')
    sys.excepthook = lambda kind, value, traceback: complain(repr(value))
    warnings.showwarning = lambda message, category, *_: complain(f'{category.__name__}: {message}')


def main(folder):
    warnings.simplefilter('ignore', DeprecationWarning)
    asyncio.set_event_loop_policy(GLibEventLoopPolicy())
    loop = asyncio.get_event_loop_policy().get_event_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = math.inf  # seconds; other processes may use the machine
    loop.set_exception_handler(lambda loop, context: complain(repr(context)))
    warnings.simplefilter('always', ResourceWarning)
    warnings.simplefilter('always', RuntimeWarning)
    listen()

    files = []
    for i in range(N_FILES):
        path = os.path.join(folder, f'{i}.txt')
        with open(path, 'w') as file:
            file.write('\n'.join(f'item {n}' for n in range(i * N_ITEMS, (i + 1) * N_ITEMS)))
        files.append(Gio.File.new_for_path(path))

    tasks = []

    async def check(window):
        try:
            await measure(window, files)
        finally:
            window.close()

    def activate(application):
        window = Window(application)
        window.present()
        tasks.append(loop.create_task(check(window)))

    application = Adw.Application(application_id='org.example.PrioSched.Adwaita', flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect('activate', activate)
    application.run([])
    loop.run_until_complete(tasks.pop())
    loop.close()
    del application
    gc.collect()
    if complaints:
        sys.exit(f'{len(complaints)} complaints')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
