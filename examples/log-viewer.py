#!/usr/bin/env python3
"""Shows a log of a million lines, and searches it while it is still being read.

    examples/log-viewer.py [FILE]
    examples/log-viewer.py --journal

Without a file, it makes up a log of 1,000,000 lines, the same each time: a day of a server.  FILE may be a pipe.

Reading is background work.  A search is user-visible work: it shows results at once, continues as more lines are read,
and is aborted by the next letter.  Only the lines near the view are objects.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

from __future__ import annotations

import argparse
import contextlib
import gettext
import locale
import logging
import os
import random
import re
import signal
import subprocess
import sys
from array import array
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import IO, Any, Optional, Protocol

import gi

gi.require_version('Adw', '1')
gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import Adw, Gdk, Gio, GLib, GObject, Gtk, PrioSched  # noqa: E402

messages = gettext.translation('prio-sched-1', os.environ.get('TEXTDOMAINDIR'), fallback=True)
_, ngettext = messages.gettext, messages.ngettext
scheduler = PrioSched.Scheduler.get_default()
logger = logging.getLogger('log-viewer')

BLOCK = 1 << 18    # bytes that are read at once
LONGEST = 1 << 14  # bytes of a line; a longer line becomes several
STEP = 500         # lines to search before asking whether to yield
SHOWN = 2000       # characters shown of a line

ANY, WARNING, ERROR = range(3)


class Problem(Exception):
    """Explains to the user, in a sentence, why no more of a log can be read."""


def unreadable(name: str, error: OSError) -> Problem:
    return Problem(_('“{name}” cannot be read: {reason}').format(name=name, reason=error.strerror))


class Source(Protocol):
    name: str
    size: int  # in bytes; 0 if it is not known

    def read(self) -> bytes:
        """Returns the next block, or b'' at the end.  A thread calls this, because it may take long."""
        ...


class File:
    """Reads a file or a pipe."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = GLib.filename_display_basename(path)
        self.size = 0
        self.file: Optional[IO[bytes]] = None

    def read(self) -> bytes:
        try:
            if self.file is None:
                self.file = open(self.path, 'rb', buffering=0)
                self.size = self.current_size()
            block = self.file.read(BLOCK)
            if not block and self.current_size() < self.size:
                raise Problem(_('“{name}” has become shorter while it was read').format(name=self.name))
            return block
        except OSError as error:
            raise unreadable(self.name, error) from None

    def current_size(self) -> int:
        assert self.file is not None
        return os.fstat(self.file.fileno()).st_size


class Journal:
    """Reads the system's journal from journalctl."""

    COMMAND = ['journalctl', '--quiet', '--no-pager', '-o', 'short-iso', '-n', '1000000']

    def __init__(self) -> None:
        self.name = _('Journal')
        self.size = 0
        self.process: Optional[subprocess.Popen[bytes]] = None

    def read(self) -> bytes:
        try:
            if self.process is None:
                self.process = subprocess.Popen(self.COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
            assert self.process.stdout is not None
            block = self.process.stdout.read(BLOCK)
        except OSError as error:
            raise unreadable(self.name, error) from None
        if not block and self.process.wait() != 0:
            raise Problem(_('The journal cannot be read'))
        return block


class Example:
    """Generates a log; all of its lines have the same length."""

    MESSAGES = {'info    GET /pictures/{0}.jpeg 200 in {1} ms': 70,
                'debug   cache of pictures is {1} % full, oldest is {0}': 20,
                'warning picture {0} took {1} ms to decode': 8,
                'error   picture {0} cannot be read, nor its mirror {1}': 2}  # how many of a hundred lines

    def __init__(self, n_lines: int = 1_000_000) -> None:
        self.name = _('Made-up Log')
        self.n_lines = n_lines
        self.n_read = 0
        self.random = random.Random(1)
        self.texts = [text.format(self.random.randrange(100_000), self.random.randrange(100))
                      for text in self.random.choices(list(self.MESSAGES), list(self.MESSAGES.values()), k=1024)]
        self.size = n_lines * len(self.line(0))

    def line(self, number: int) -> str:
        minutes, seconds = divmod(number * 86_400 // self.n_lines, 60)
        return (f'2026-11-23 {minutes // 60:02}:{minutes % 60:02}:{seconds:02} request {number:07} '
                f'{self.texts[self.random.getrandbits(10)]:<60}\n')

    def read(self) -> bytes:
        begin, self.n_read = self.n_read, min(self.n_read + 2000, self.n_lines)
        return ''.join(map(self.line, range(begin, self.n_read))).encode()


class Log:
    """Keeps the lines of a source: one text, and where each line begins in it.

    The source is read from beginning to end.
    """

    def __init__(self, source: Source, signal: PrioSched.TaskSignal) -> None:
        self.source = source
        self.signal = signal
        self.text = bytearray()
        self.starts = array('Q', [0])  # where each line begins, and then where the text ends
        self.levels = bytearray()
        self.rest = b''                # a line whose end has not been read
        self.is_complete = False
        self.problem: Optional[str] = None
        self.reading = self.read_on()

    def __len__(self) -> int:
        return len(self.levels)

    def fraction(self) -> float:
        if self.is_complete:
            return 1
        return min(len(self.text) / self.source.size, 1) if self.source.size else 0

    def read_on(self) -> PrioSched.PostedTask[None]:
        """Returns the task that reads the next block.  Await it at the end of the lines that have been read."""
        return scheduler.post_task(self.read_block, signal=self.signal, name='read')

    async def read_block(self) -> None:
        try:
            block = await scheduler.run_in_thread(self.source.read, signal=self.signal)
            if not self.text and b'\0' in block:
                raise Problem(_('“{name}” is not text').format(name=self.source.name))
        except Problem as problem:
            self.problem = str(problem)
            block = b''

        *lines, self.rest = (self.rest + block).split(b'\n')
        if self.rest and (not block or len(self.rest) > LONGEST):
            lines.append(self.rest)
            self.rest = b''
        async for line in scheduler.each(lines):
            self.add(line)
        if block:
            self.reading = self.read_on()
        else:
            self.is_complete = True

    def add(self, line: bytes) -> None:
        level = self.level_of(line[:200].lower())
        for begin in range(0, len(line) or 1, LONGEST):
            self.text += line[begin:begin + LONGEST]
            self.text += b'\n'
            self.starts.append(len(self.text))
            self.levels.append(level)

    @staticmethod
    def level_of(text: bytes) -> int:
        if b'error' in text or b'fatal' in text or b'critical' in text:
            return ERROR
        return WARNING if b'warn' in text else ANY

    def line(self, number: int) -> str:
        return self.text[self.starts[number]:self.starts[number + 1] - 1].decode('utf-8', 'replace')

    async def find(self, part: str, level: int) -> AsyncIterator[tuple[Sequence[int], int]]:
        """Searches all lines in order.  Yields the numbers of lines that have part, and how many lines have been searched."""
        n_searched = 0
        while True:
            n_lines, is_last = len(self), self.is_complete
            async for first in scheduler.each(range(n_searched, n_lines, STEP)):
                end = min(first + STEP, n_lines)
                yield self.matching(part, level, first, end), end
            if is_last:
                return
            n_searched = n_lines
            await self.reading

    def matching(self, part: str, level: int, first: int, end: int) -> Sequence[int]:
        numbers: Sequence[int] = range(first, end)
        if part:
            text = self.text[self.starts[first]:self.starts[end]].decode('utf-8', 'replace').lower()
            numbers = [number for number, line in enumerate(text.split('\n'), first) if part in line]
        return numbers if level == ANY else [number for number in numbers if self.levels[number] >= level]


class Row(GObject.Object):
    """Represents a line that the view shows."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class Found(GObject.Object, Gio.ListModel):
    """Holds the numbers of the lines that a search has found.  Rows are made for the lines that the view asks for."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part
        self.numbers = array('I')
        self.n_searched = 0

    def append(self, numbers: Iterable[int]) -> None:
        n_before = len(self.numbers)
        self.numbers.extend(numbers)
        if len(self.numbers) > n_before:
            self.items_changed(n_before, 0, len(self.numbers) - n_before)

    def do_get_item_type(self) -> GObject.GType:
        return Row.__gtype__

    def do_get_n_items(self) -> int:
        return len(self.numbers)

    def do_get_item(self, position: int) -> Optional[Row]:
        return Row(self.numbers[position]) if position < len(self.numbers) else None


def to_markup(text: str, part: str) -> str:
    """Returns the text as markup, with each part marked."""
    # Replaces characters that would be invisible, or break the line.
    text = re.sub('[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]', '\ufffd', text.rstrip('\r')[:SHOWN])
    pieces = re.split(f'({re.escape(part)})', text, flags=re.IGNORECASE) if part else [text]
    pieces = [GLib.markup_escape_text(piece) for piece in pieces]
    pieces[1::2] = [f'<span background="#f9f06b" foreground="black">{piece}</span>' for piece in pieces[1::2]]
    return ''.join(pieces)


class Window(Adw.ApplicationWindow):

    def __init__(self, application: Adw.Application, source: Source) -> None:
        super().__init__(application=application, default_width=960, default_height=640)
        self.found = Found('')
        self.shown = Gtk.NoSelection(model=self.found)
        self.tick = 0      # id of the frame callback that shows the progress
        self.n_frames = 0  # frames that have shown it
        self.is_told = False  # whether an error of the log has been shown
        self.set_content(self.build())
        self.add_keys()
        self.entry.grab_focus()

        # aborts the reader when the window is closed
        self.controller = PrioSched.TaskController('background')
        self.log = Log(source, self.controller.signal)
        self.search = scheduler.latest(self.show_found, 'user-visible')
        self.connect('close-request', self.close_requested)
        self.begin()

    def build(self) -> Gtk.Widget:
        self.label = Adw.WindowTitle()
        self.level = Gtk.DropDown.new_from_strings([_('All Lines'), _('Warnings and Errors'), _('Errors')])
        self.level.connect('notify::selected', self.begin)
        header = Adw.HeaderBar(title_widget=self.label)
        header.pack_start(self.level)

        self.entry = Gtk.SearchEntry(placeholder_text=_('Search lines'), hexpand=True)
        self.entry.connect('changed', self.begin)
        self.entry.connect('stop-search', lambda entry: entry.set_text(''))
        self.entry.set_key_capture_widget(self)
        clamp = Adw.Clamp(child=self.entry, maximum_size=480,
                          margin_top=6, margin_bottom=6, margin_start=12, margin_end=12)
        self.progress = Gtk.ProgressBar(css_classes=['osd'])

        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda factory, item: item.set_child(Gtk.Label(xalign=0)))
        factory.connect('bind', self.bind)
        self.view = Gtk.ListView(model=self.shown, factory=factory, css_classes=['monospace'])
        self.status = Adw.StatusPage(icon_name='text-x-generic-symbolic')
        self.pages = Gtk.Stack(vexpand=True)
        self.pages.add_named(Gtk.ScrolledWindow(child=self.view), 'lines')
        self.pages.add_named(self.status, 'nothing')
        self.toasts = Adw.ToastOverlay(child=self.pages)

        for widget, name in (self.level, _('Level')), (self.entry, _('Search lines')), (self.view, _('Lines')), \
                            (self.progress, _('Progress')):
            widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for widget in header, clamp, self.progress, self.toasts:
            box.append(widget)
        return box

    def add_keys(self) -> None:
        for name, function, key in (('find', lambda *_: self.entry.grab_focus(), '<Control>f'),
                                    ('close', lambda *_: self.close(), '<Control>w')):
            action = Gio.SimpleAction(name=name)
            action.connect('activate', function)
            self.add_action(action)
            self.get_application().set_accels_for_action(f'win.{name}', [key])
        escape = Gtk.Shortcut(trigger=Gtk.ShortcutTrigger.parse_string('Escape'),
                              action=Gtk.CallbackAction.new(lambda *_: self.entry.set_text('') or True))
        shortcuts = Gtk.ShortcutController()
        shortcuts.add_shortcut(escape)
        self.add_controller(shortcuts)

    def begin(self, *_: Any) -> None:
        """Searches for the text of the entry; an earlier search is aborted."""
        self.search(self.entry.get_text().lower(), self.level.get_selected())

    async def show_found(self, part: str, level: int) -> None:
        # A separate model: it gets no results of another search.
        self.found = found = Found(part)
        self.shown.set_model(found)
        self.change()
        outcome, n_frames = 'aborted', self.n_frames
        try:
            async for numbers, found.n_searched in self.log.find(part, level):
                found.append(numbers)
                self.change()
            outcome = 'complete'
        finally:
            logger.debug('“%s”, level %d: %s, %d found in %d lines, %d frames', part, level, outcome,
                         len(found.numbers), found.n_searched, self.n_frames - n_frames)
        self.change()

    def bind(self, factory: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        number, label = item.get_item().number, item.get_child()
        text = to_markup(self.log.line(number), self.found.part)
        label.set_markup(f'<span alpha="50%">{number + 1:>7n}</span>  {text}')
        label.set_css_classes([[], ['warning'], ['error']][self.log.levels[number]])

    def change(self) -> None:
        """Shows the progress, at most once per frame."""
        if not self.tick:
            self.tick = self.add_tick_callback(self.show_state)

    def show_state(self, window: Gtk.Widget, clock: Any) -> bool:
        self.tick = 0
        self.n_frames += 1
        log, n_lines, n_searched = self.log, len(self.log), self.found.n_searched
        is_searching = n_searched < n_lines or not log.is_complete
        parts = []
        if n_lines or not log.is_complete:
            counts = ngettext('{found:n} of {all:n} line', '{found:n} of {all:n} lines', n_lines)
            parts.append(counts.format(found=len(self.found.numbers), all=n_lines))
        if not log.is_complete and log.source.size:
            parts.append(_('{percent} read').format(percent=f'{int(100 * log.fraction())} %'))
        if is_searching and self.found.part and n_lines:
            parts.append(_('{percent} searched').format(percent=f'{100 * n_searched // n_lines} %'))
        self.label.set_title(log.source.name)
        self.label.set_subtitle(' · '.join(parts))
        self.set_title(' · '.join([log.source.name, *parts]))
        self.progress.set_fraction(log.fraction() if not log.is_complete else n_searched / n_lines if n_lines else 1)
        self.progress.set_opacity(is_searching)
        self.show_page(is_searching)
        return GLib.SOURCE_REMOVE

    def show_page(self, is_searching: bool) -> None:
        """Shows the lines, or why there are none."""
        log = self.log
        if log.problem and len(log) and not self.is_told:
            self.is_told = True
            logger.debug('%s', log.problem)
            self.toasts.add_toast(Adw.Toast(title=GLib.markup_escape_text(log.problem), timeout=0))
        if is_searching or self.found.numbers:
            self.pages.set_visible_child_name('lines')
            return
        why = _('No such lines') if len(log) else log.problem or _('“{name}” is empty').format(name=log.source.name)
        logger.debug('%s', why)
        self.status.set_title(why)
        self.pages.set_visible_child_name('nothing')

    def close_requested(self, window: Gtk.Window) -> bool:
        self.controller.abort()
        self.search.abort()
        return False


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(locale.Error):  # the locale may not be installed
        locale.setlocale(locale.LC_ALL, '')
    parser = argparse.ArgumentParser(description=_('Shows a log, and searches it while it is still being read.'))
    parser.add_argument('file', nargs='?', metavar=_('FILE'),
                        help=_('the log; without one, a log of 1,000,000 lines is made up'))
    parser.add_argument('--journal', action='store_true', help=_('show the journal of the system'))
    parser.add_argument('--verbose', action='store_true', help=_('print the result of each search'))
    options = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if options.verbose else logging.WARNING, format='%(message)s')
    if options.file:
        source: Source = File(options.file)
    elif options.journal:
        source = Journal()
    else:
        source = Example()
    if Gdk.Display.get_default() is None:
        sys.exit(_('There is no display'))

    application = Adw.Application(application_id='org.example.PrioSched.LogViewer',
                                  flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect('activate', lambda application: Window(application, source).present())
    GLib.set_prgname('log-viewer')
    return application.run([])


if __name__ == '__main__':
    sys.exit(main())
