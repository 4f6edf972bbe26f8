"""check-gallery.py: checks the gallery in a real window, by scrolling in it while it decodes pictures

    check-gallery.py GALLERY      (under xvfb-run)

The gallery prints events (--log), and the checks use the order of its output: rows in view start first, rows that have
left are aborted, frames come while rows are decoded.  Frames are compared with the frames of the paused window.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import window

N_ROWS = 200000
N_SMALL = 5000  # files, and rows, in the small gallery
LIMIT = 2
LEAST = 0.5     # of the frames of the paused window: with idles there is none as long as rows are decoded
ROUNDS = 4
MORE_ROUNDS = 40  # to distinguish the machine's slowness from the program's
ROUND = 0.5       # seconds
IN_A_ROW = 50     # rows that idles decode before the next frame, at least; GTK binds 200
ORDER = ['user-blocking', 'user-visible', 'background']


def picture(width, height, colour=None):
    """Makes a PNG file; without colour it is white, with a bit for each pixel."""
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    rows = (b'\0' + (bytes(colour) * width if colour else b'\xff' * ((width + 7) // 8))) * height
    depth = (8, 2) if colour else (1, 0)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, *depth, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows, 1)) + chunk(b'IEND', b''))


def make_folder(folder):
    (folder / 'more').mkdir(parents=True)
    for i in range(30):
        (folder / ('more' if i % 2 else '.') / f'{i:02}.png').write_bytes(picture(900, 600, (i * 8, 255 - i * 8, 99)))
    (folder / 'broken.png').write_bytes(picture(900, 600, (0, 0, 0))[:60])
    (folder / 'text.txt').write_text('no picture')


def in_view(view, row):
    return row - view[0] in range(view[1])


class Gallery(window.Program):
    """Runs the program, and keeps its output as lists of words."""

    # Messages of GLib and the sanitizers; Mesa and glycin print warnings on a machine without a graphics card.
    complaints = re.compile(r'-(CRITICAL|WARNING|ERROR) \*\*|ERROR: |runtime error|Traceback')

    def __init__(self, program, *arguments):
        super().__init__([program, '--log', *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                         env=os.environ | {'LC_ALL': 'C.UTF-8', 'G_DEBUG': 'fatal-criticals', 'GSETTINGS_BACKEND': 'memory'})
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.reader.join()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.split())

    def wait_for_line(self, *words, start=0):
        """Waits for a line that begins with words, after line start.  Returns its number."""
        def look():
            return next((i + 1 for i in range(start, len(self.lines)) if tuple(self.lines[i][:len(words)]) == words), 0)
        return self.wait_for(' '.join(words), look) - 1

    def key(self, *names):
        """Presses keys, and returns the position in the log."""
        start = len(self.lines)
        super().key('--clearmodifiers', *names)
        return start

    def shown_since(self, start):
        """Returns the rows that came into view last, after start, and when all of them had been bound; or None, if more are expected."""
        lines = self.lines[:]
        views = [i for i in range(start, len(lines)) if lines[i][0] == 'view']
        if not views:
            return None
        view = tuple(map(int, lines[views[-1]][1:3]))
        rows = set(range(view[0], min(view[0] + view[1], N_ROWS)))
        bound = {int(line[1]): i for i, line in enumerate(lines) if line[0] in ('enter', 'kept')}
        done = {int(line[1]) for line in lines if line[0] in ('done', 'kept')}
        if not rows <= bound.keys() or not rows <= done:
            return None
        return view, max(max(bound[row] for row in rows), views[-1]) + 1

    def wait_for_view(self, start, far=lambda first: True):
        """Waits until the rows in view are decoded; returns them, and the position in the log when they had been bound."""
        def look():
            shown = self.shown_since(start)
            return shown if shown and far(shown[0][0]) else None
        return self.wait_for('the rows in view', look)

    def is_narrow(self):
        width = re.search(r'WIDTH=(\d+)', window.xdotool('getwindowgeometry', '--shell', self.window))
        return width and int(width[1]) <= 360

    def close(self):
        super().close('ctrl+w')
        self.reader.join()
        assert self.process.returncode == 0, self.process.returncode


@contextlib.contextmanager
def running(program, *arguments):
    with Gallery(program, *arguments) as gallery:
        gallery.wait_for_window('^Gallery$')
        yield gallery
        gallery.close()


def check_order(gallery, view, start):
    """Checks that rows begin in the order of their priorities, which their places determine, until other rows come into view."""
    begun = []
    for line in gallery.lines[start:]:
        if line[0] in ('view', 'way'):
            break
        if line[0] == 'begin':
            begun.append((int(line[1]), line[2]))
    near = (view[0] - view[1], 3 * view[1])
    for row, priority in begun:
        expected = ORDER[0] if in_view(view, row) else ORDER[1] if in_view(near, row) else ORDER[2]
        assert priority == expected, (view, row, priority)
    ranks = [ORDER.index(priority) for _, priority in begun]
    assert ranks == sorted(ranks), (view, begun)
    return ranks.count(0)


def check_ends(gallery):
    """Checks that aborted rows are given up and never done, and that the limit is kept; returns how many were given up."""
    running_rows, dying = set(), collections.Counter()
    n_given_up = 0
    end = gallery.lines.index(['closed'])
    for what, row, *how in (line for line in gallery.lines[:end] if line[0] in ('begin', 'abort', 'given-up', 'done')):
        if how and how[0].endswith('idle'):
            break
        if what == 'begin':
            assert row not in running_rows, row
            running_rows.add(row)
        elif what == 'abort' and row in running_rows:
            running_rows.remove(row)
            dying[row] += 1
        elif what == 'given-up':
            n_given_up += 1
            assert dying[row] > 0, row
            dying[row] -= 1
        elif what == 'done':
            assert row in running_rows, f'{row} is done, which was not begun, or was aborted'
            running_rows.remove(row)
        assert len(running_rows) + sum(dying.values()) <= LIMIT, (running_rows, dying)
    return n_given_up


def check_jumps(gallery):
    """Jumps to the end and back: rows in view come first, and rows that have left are aborted."""
    n_first = 0
    for key, far in (('End', lambda first: first > N_ROWS / 2), ('Home', lambda first: first == 0),
                     ('Page_Down', lambda first: 0 < first < 1000)):
        start = gallery.key(key, *[key] * (3 if key == 'Page_Down' else 0))
        view, bound = gallery.wait_for_view(start, far)
        n_first += check_order(gallery, view, bound)
    assert n_first > 0, 'nothing was to be decoded'

    entered = {line[1] for line in gallery.lines if line[0] == 'enter' and int(line[1]) > N_ROWS / 2}
    ended = {line[1] for line in gallery.lines if line[0] in ('done', 'abort')}
    aborted = {line[1] for line in gallery.lines if line[0] == 'abort'}
    assert entered <= ended and entered & aborted, (sorted(entered - ended), len(entered & aborted))
    print(f'{n_first} rows in view were the first; {len(entered & aborted)} of {len(entered)} at the end were aborted')


def count_frames(gallery):
    start = len(gallery.lines)
    time.sleep(ROUND)
    lines = gallery.lines[start:]
    return sum(line[0] == 'frame' for line in lines), sum(line[0] == 'done' for line in lines)


def check_frames(gallery):
    """Checks that as many frames are drawn while rows are decoded as while it is paused.  The two take turns, and the sums count."""
    working = paused = n_done = 0
    for i in range(MORE_ROUNDS):
        gallery.wait_for_line('way', 'paused', start=gallery.key('ctrl+p'))
        paused += count_frames(gallery)[0]
        gallery.wait_for_line('way', 'prio-sched', start=gallery.key('ctrl+p'))
        frames, done = count_frames(gallery)
        working += frames
        n_done += done
        if i + 1 >= ROUNDS and n_done > 0 and paused > 0 and working >= LEAST * paused:
            break
    print(f'{working} frames while {n_done} rows were decoded, {paused} while it was paused, in {i + 1} rounds')
    assert n_done > 0 and paused > 0 and working >= LEAST * paused, 'fewer frames'


def check_idles(gallery):
    """Checks that, with idles, all rows that GTK has bound are decoded before the next frame; then switches back."""
    start = gallery.wait_for_line('way', 'idles', start=gallery.key('ctrl+2'))
    gallery.wait_for_line('begin', start=start)
    for key, far in (('End', lambda first: first > N_ROWS / 2), ('Home', lambda first: first == 0)):
        gallery.wait_for_view(gallery.key(key), far)
    end = gallery.wait_for_line('way', 'prio-sched', start=gallery.key('ctrl+1'))
    longest = n = 0
    for line in gallery.lines[start:end]:
        n = 0 if line[0] == 'frame' else n + (line[0] == 'begin')
        longest = max(longest, n)
        assert line[0] != 'begin' or line[2].endswith('idle'), line
    print(f'{longest} rows between two frames with idles')
    assert longest >= IN_A_ROW, longest
    assert gallery.lines[gallery.wait_for_line('begin', start=end)][2] in ORDER


def check_removed(gallery, folder):
    """Checks that, without its folder, the program continues, and reports each row as unreadable."""
    shutil.rmtree(folder)
    start = gallery.key('End')
    gallery.wait_for('rows that cannot be decoded',
                     lambda: sum(line[0] == 'done' and line[2] == 'broken' for line in gallery.lines[start:]) > 100)


def check_gallery(program, folder):
    make_folder(folder)
    with running(program, '--rows', N_ROWS, '--limit', LIMIT, folder) as gallery:
        gallery.wait_for_line('pictures', '31')
        start = gallery.wait_for_line('way', 'prio-sched')
        view, bound = gallery.wait_for_view(start - 1)
        n_first = check_order(gallery, view, bound)
        # The window may have been resized after some rows had started.
        n_views = sum(line[0] == 'view' for line in gallery.lines)
        assert n_first == view[1] or n_views > 1, (view, n_first, gallery.lines[start:bound + 50])
        gallery.wait_for('a broken picture', lambda: [line for line in gallery.lines if line[0] == 'done' and line[2] == 'broken'])
        check_jumps(gallery)
        check_frames(gallery)
        check_idles(gallery)
        check_removed(gallery, folder)
    check_ends(gallery)


def open_writer(pipe):
    """Opens a pipe for writing, once a reader has opened it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def check_leaving(program, folder):
    """Checks that rows that are being decoded when they leave are given up."""
    last, contents = folder / f'{N_SMALL - 1:04}.png', picture(40, 30, (1, 2, 3))
    folder.mkdir()
    for i in range(N_SMALL):
        (folder / f'{i:04}.png').write_bytes(contents)
    with running(program, '--rows', N_SMALL, '--limit', LIMIT, folder) as gallery:
        gallery.wait_for_line('view')
        gallery.wait_for_line('way', 'paused', start=gallery.key('ctrl+p'))
        last.unlink()
        os.mkfifo(last)  # opening it waits for a writer
        gallery.wait_for_line('enter', str(N_SMALL - 1), start=gallery.key('End'))
        start = gallery.key('ctrl+p')
        gallery.wait_for_line('begin', str(N_SMALL - 1), 'user-blocking', start=start)
        writer = gallery.wait_for('a thread that reads the picture', lambda: open_writer(last))
        (folder / 'new').write_bytes(contents)
        (folder / 'new').rename(last)
        start = gallery.key('Home')
        gallery.wait_for_line('view', '0', start=start)
        left = gallery.wait_for_line('abort', str(N_SMALL - 1), start=start)
        os.close(writer)
        gallery.wait_for_line('given-up', str(N_SMALL - 1), start=left)
        gallery.wait_for_line('done', str(N_SMALL - 1), 'decoded', start=left)
    assert check_ends(gallery) >= 1
    print('a row that was left while it was decoded was given up')


def check_nothing(program, folder):
    """Checks a folder without pictures, a missing folder, and wrong arguments."""
    (folder / 'empty').mkdir()
    for path, said in ((folder / 'empty', 'There is no picture'), (folder / 'nothing & <b>', 'nothing & <b>')):  # text that is not
                                                                                                                 # markup
        with running(program, path) as gallery:
            gallery.wait_for(f'“{said}”', lambda: any(line[:1] == ['nothing:'] and said in ' '.join(line) for line in gallery.lines))
    for arguments, said in ((['--rows', '0'], '0, '), (['--limit', '-1'], ', -1,'), ([folder, folder], 'and 2')):
        result = subprocess.run([program, *arguments], stderr=subprocess.PIPE, text=True, timeout=window.PATIENCE, check=False,
                                env=os.environ | {'LC_ALL': 'C.UTF-8'})
        assert result.returncode == 1 and said in result.stderr, result


def check_odd(program, folder):
    """Checks that too large files are not decoded, and that a folder need not have a path."""
    folder.mkdir()
    for name, width, height in (('0.png', 12000, 9000), ('1.png', 9, 9), ('2.png', 9, 9)):
        (folder / name).write_bytes(picture(width, height))
    os.truncate(folder / '1.png', 300_000_000)  # a hole after a complete picture
    with running(program, '--rows', 3, '--limit', 1, folder) as gallery:
        gallery.wait_for('all that is there', lambda: sum(line[0] == 'done' for line in gallery.lines) == 3)
        outcomes = sorted(line[1:] for line in gallery.lines if line[0] == 'done')
        assert outcomes == [['0', 'broken'], ['1', 'broken'], ['2', 'decoded']], outcomes
    with running(program, '--rows', 100, 'resource:///org/gtk/libgtk/icons') as gallery:
        gallery.wait_for('a decoded row', lambda: any(line[0] == 'done' and line[2] == 'decoded' for line in gallery.lines))
        window.xdotool('windowsize', gallery.window, '200', '200')
        gallery.wait_for('a window as narrow as a telephone', gallery.is_narrow)


def main(program):
    with tempfile.TemporaryDirectory() as name:
        check_leaving(program, pathlib.Path(name) / 'small')
        check_gallery(program, pathlib.Path(name) / 'pictures')
        check_odd(program, pathlib.Path(name) / 'odd')
        check_nothing(program, pathlib.Path(name))


main(*sys.argv[1:])
