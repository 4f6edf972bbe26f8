#!/usr/bin/env python3
"""Searches the files of a folder while it is still reading them.

    examples/search.py [FOLDER]

Reading is background work; a search is user-blocking, and the next letter aborts it.  The window stays responsive.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

from __future__ import annotations

import gettext
import os
import re
import signal
import sys
from typing import Optional

import gi

gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import Gdk, Gio, GLib, Gtk, PrioSched  # noqa: E402

messages = gettext.translation('prio-sched-1', os.environ.get('TEXTDOMAINDIR'), fallback=True)
_, ngettext = messages.gettext, messages.ngettext
scheduler = PrioSched.Scheduler.get_default()


class Index:
    """Maps words to the files that contain them."""

    def __init__(self) -> None:
        self.words: dict[str, set[str]] = {}
        self.n_files = 0

    async def read(self, folder: str) -> None:
        """Reads the files of folder.  Run it as a background task: more urgent tasks run after each file."""
        for place, _folders, names in os.walk(folder):
            for name in names:
                self.add(os.path.join(place, name))
                await scheduler.yield_()

    def add(self, path: str) -> None:
        if not os.path.isfile(path):  # a pipe, for example: opening it would wait for a writer
            return
        try:
            with open(path, encoding='utf-8', errors='ignore') as file:
                text = file.read(100_000)
        except OSError:
            return
        for word in set(re.findall(r'\w+', text.lower())):
            self.words.setdefault(word, set()).add(path)
        self.n_files += 1

    async def find(self, part: str) -> list[str]:
        """Returns the files that have a word with part in it."""
        found: set[str] = set()
        for i, word in enumerate(list(self.words)):
            if part in word:
                found |= self.words[word]
            if i % 1000 == 0:
                await scheduler.yield_()
        return sorted(found)


class Window(Gtk.ApplicationWindow):

    def __init__(self, application: Gtk.Application, folder: str) -> None:
        super().__init__(application=application, title=_('Search'), default_width=480, default_height=360)
        self.index = Index()
        self.answer = ''
        self.searching: Optional[PrioSched.TaskController] = None
        self.reading = PrioSched.TaskController('background')

        self.entry = Gtk.SearchEntry()
        self.entry.connect('changed', self.search)
        self.files = Gtk.StringList()
        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda factory, item: item.set_child(Gtk.Label(xalign=0)))
        factory.connect('bind', lambda factory, item: item.get_child().set_text(item.get_item().get_string()))
        view = Gtk.ListView(model=Gtk.NoSelection(model=self.files), factory=factory)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.append(self.entry)
        box.append(Gtk.ScrolledWindow(child=view, vexpand=True))
        self.set_child(box)

        self.connect('close-request', self.close_requested)
        scheduler.post_task(lambda: self.index.read(folder), signal=self.reading.signal).add_done_callback(self.show_state)
        self.update()

    def search(self, entry: Gtk.SearchEntry) -> None:
        if self.searching is not None:
            self.searching.abort()
        self.searching = PrioSched.TaskController('user-blocking')
        scheduler.post_task(lambda: self.show_found(entry.get_text().lower()), signal=self.searching.signal)

    async def show_found(self, part: str) -> None:
        found = await self.index.find(part) if part else []
        # The name of a file need not be UTF-8, but the text of a label must be.
        self.files.splice(0, self.files.get_n_items(), [GLib.filename_display_name(path) for path in found[:1000]])
        self.answer = ngettext('{n:n} file with “{part}”', '{n:n} files with “{part}”', len(found)).format(n=len(found), part=part) if part else ''
        self.show_state()

    def update(self) -> None:
        """Shows the progress now, and every 200 ms until the window is closed."""
        self.show_state()
        if not self.reading.signal.aborted:
            scheduler.post_task(self.update, 'user-visible', self.reading.signal, delay=200)

    def show_state(self, _task: Optional[PrioSched.Future] = None) -> None:
        n = self.index.n_files
        self.set_title(f'{self.answer or _("Search")} · ' + ngettext('{n:n} file read', '{n:n} files read', n).format(n=n))

    def close_requested(self, window: Gtk.Window) -> bool:
        self.reading.abort()
        if self.searching is not None:
            self.searching.abort()
        return False


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    folder = sys.argv[1] if len(sys.argv) > 1 else '/usr/share/doc'
    try:
        os.scandir(folder).close()
    except OSError as error:
        sys.exit(_('“{name}” cannot be read: {reason}').format(name=GLib.filename_display_name(folder), reason=error.strerror))
    if Gdk.Display.get_default() is None:
        sys.exit(_('There is no display'))

    application = Gtk.Application(application_id='org.example.PrioSched.Search', flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect('activate', lambda application: Window(application, folder).present())
    GLib.set_prgname('search')
    return application.run([])


if __name__ == '__main__':
    sys.exit(main())
