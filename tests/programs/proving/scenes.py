"""scenes.py: work that real programs do beside a window, each as a generator of steps

A scene has a widget to look at, and makes the same steps for every way of running them: a step ends where a program can be
interrupted.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import difflib
import itertools
import os
import random
import re
import zlib

import gi

gi.require_version('Gtk', '4.0')
from gi.repository import Gtk  # noqa: E402

WORDS = 'scheduler window frame signal priority thread source queue main loop context abort yield delay slice turn task'.split()


def text(rng, n_words):
    return ' '.join(rng.choices(WORDS, k=n_words))


def list_of(model):
    factory = Gtk.SignalListItemFactory()
    factory.connect('setup', lambda _, item: item.set_child(Gtk.Label(xalign=0)))
    factory.connect('bind', lambda _, item: item.get_child().set_label(item.get_item().get_string()))
    return Gtk.ListView(model=Gtk.NoSelection(model=model), factory=factory)


class Scene:
    """Shows the results of one job in a widget."""

    priority = 'background'

    def __init__(self):
        self.first = None  # called with the first useful result

    def watch(self, changed):
        """Calls changed (…) whenever there are new results to show."""
        self.model.connect('items-changed', changed)

    def jobs(self):
        """Returns, for each job: its start (ms), its steps, its usual priority, and a key: the next job with this key aborts it."""
        return [(0, self.steps, self.priority, None)]


class Scan(Scene):
    """Lists the files of the system's folders, and shows a row for each file as soon as it is found."""

    def __init__(self):
        super().__init__()
        self.model = Gtk.StringList()
        self.widget = list_of(self.model)

    def steps(self):
        for folder, _, names in itertools.islice(os.walk('/usr'), 20000):
            self.model.splice(self.model.get_n_items(), 0, [f'{name}: {os.lstat(os.path.join(folder, name)).st_size}' for name in names])
            self.first()
            yield


class Diff(Scene):
    """Compares two texts of 120,000 lines, in indivisible blocks of some ms, and marks the differences."""

    priority = 'user-visible'

    def __init__(self):
        super().__init__()
        rng = random.Random(1)
        self.old = [text(rng, 8) for _ in range(120000)]
        self.new = [line if rng.random() < 0.8 else text(rng, 8) for line in self.old]
        self.widget = Gtk.TextView()
        self.buffer = self.widget.get_buffer()
        self.buffer.set_text('\n'.join(self.new))
        self.tag = self.buffer.create_tag('changed', background='yellow')

    def watch(self, changed):
        self.buffer.connect('apply-tag', changed)

    def steps(self):
        size = 2000
        for start in range(0, len(self.old), size):
            matcher = difflib.SequenceMatcher(None, self.old[start:start + size], self.new[start:start + size])
            for how, _, _, begin, end in matcher.get_opcodes():
                if how != 'equal':
                    self.buffer.apply_tag(self.tag, self.buffer.get_iter_at_line(start + begin)[1],
                                          self.buffer.get_iter_at_line(start + end)[1])
            self.first()
            yield


class Filter(Scene):
    """Filters 60,000 names while eight letters are typed; each letter starts anew."""

    priority = 'user-blocking'

    def __init__(self):
        super().__init__()
        rng = random.Random(2)
        self.names = [text(rng, 4) for _ in range(60000)]
        self.model = Gtk.StringList()
        self.widget = list_of(self.model)

    def matching(self, letters, is_last):
        self.model.splice(0, self.model.get_n_items(), [])
        found = []
        for i, name in enumerate(self.names):
            if re.search(letters, name):
                found.append(name)
            if i % 50 == 49:
                if found:
                    self.model.splice(self.model.get_n_items(), 0, found)
                    found = []
                    if is_last:
                        self.first()
                yield
        self.model.splice(self.model.get_n_items(), 0, found)

    def jobs(self):
        word = 'priority'
        return [(150 * i, lambda i=i: self.matching(word[:i + 1], i == len(word) - 1), self.priority, 'search') for i in range(len(word))]


class Books(Scene):
    """Searches 2,000 books of 15,000 words, and shows the places of the results."""

    def __init__(self):
        super().__init__()
        rng = random.Random(3)
        some = [text(rng, 15000) for _ in range(50)]
        self.books = [some[i % len(some)] for i in range(2000)]
        self.model = Gtk.StringList()
        self.widget = list_of(self.model)

    def steps(self):
        for i, book in enumerate(self.books):
            n = len(re.findall('main loop|task queue', book))
            self.model.append(f'book {i}: {n}')
            self.first()
            yield


class Menu(Scene):
    """Builds a menu of 3,000 items, with an icon and two labels each."""

    priority = 'user-visible'

    def __init__(self):
        super().__init__()
        self.box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        self.model = self.box.observe_children()
        self.widget = self.box

    def steps(self):
        for i in range(3000):
            row = Gtk.Box(spacing=6)
            row.append(Gtk.Image(icon_name='folder-symbolic'))
            row.append(Gtk.Label(label=f'Item {i}', hexpand=True, xalign=0))
            row.append(Gtk.Label(label=f'Ctrl+{i}'))
            self.box.append(row)
            self.first()
            yield


class InThread:
    """Represents a job for one thread, which runs jobs in turn: work () there, and show () in the main thread."""

    def __init__(self, work, show):
        self.work, self.show = work, show


class Pages(Scene):
    """Renders pages in one thread while they are turned: the page in view, and the next three."""

    N_TURNS = 20
    AHEAD = 3

    def __init__(self):
        super().__init__()
        rng = random.Random(4)
        self.page = ''.join(rng.choices(WORDS, k=130000)).encode()  # some 20 ms of work without the interpreter's lock
        self.model = Gtk.StringList()
        self.widget = list_of(self.model)

    def render(self, number, is_last):
        def show():
            self.model.append(f'page {number}')
            if is_last:
                self.first()
        return InThread(lambda: zlib.compress(self.page, 6), show)

    def jobs(self):
        for turn in range(self.N_TURNS):
            last = turn == self.N_TURNS - 1
            yield 100 * turn, self.render(turn, last), 'user-blocking', 'in view'
            for ahead in range(1, self.AHEAD + 1):
                yield 100 * turn, self.render(turn + ahead, False), 'background', f'ahead {ahead}'


class Both(Scene):
    """Scans, and filters meanwhile."""

    def __init__(self):
        self.scan, self.filter = Scan(), Filter()
        super().__init__()
        self.scan.first = lambda: None
        self.widget = Gtk.Box(homogeneous=True)
        for scene in self.scan, self.filter:
            scrolled = Gtk.ScrolledWindow(child=scene.widget, hexpand=True)
            self.widget.append(scrolled)

    def watch(self, changed):
        self.scan.watch(changed)
        self.filter.watch(changed)

    def jobs(self):
        self.filter.first = self.first
        return self.scan.jobs() + [(50 + start, *rest) for start, *rest in self.filter.jobs()]


SCENES = {'scan': Scan, 'diff': Diff, 'filter': Filter, 'books': Books, 'menu': Menu, 'pages': Pages, 'both': Both}
