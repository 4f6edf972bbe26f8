"""Checks the marks for Sysprof.

    check-sysprof.py TRACED [INDEXER]

TRACED is traced.c, INDEXER the example.  This program plays Sysprof: it has a socket, passes its other end by
SYSPROF_CONTROL_FD, and gives each thread that asks for it a ring of memory for its records.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import json
import mmap
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading

PAGE = mmap.PAGESIZE
RING = 256 * PAGE
FRAME = struct.Struct('<HhiqII')  # length, processor, process, ns, kind, padding
MARK = struct.Struct('<q24s40s')  # ns, group, name; then the message
MARK_KIND = 10

Mark = collections.namedtuple('Mark', 'time duration name message')


class Ring:
    """Reads a ring: a header of a page, with the reader's head and the writer's tail, and a body."""

    def __init__(self):
        self.fd = os.memfd_create('ring')
        os.ftruncate(self.fd, PAGE + RING)
        self.memory = mmap.mmap(self.fd, PAGE + RING)
        struct.pack_into('<IIII', self.memory, 0, 0, 0, PAGE, RING)

    def drain(self):
        head, tail = struct.unpack_from('<II', self.memory)
        body = self.memory[PAGE:] * 2 if tail < head else self.memory[PAGE:]
        end = tail + RING if tail < head else tail
        while head < end:
            length, _, _, time, kind, _ = FRAME.unpack_from(body, head)
            if kind & 0xff == MARK_KIND:
                duration, group, name = MARK.unpack_from(body, head + FRAME.size)
                message = body[head + FRAME.size + MARK.size:head + length]
                if text(group) == 'PrioSched':
                    yield Mark(time, duration, text(name), text(message))
            head += length
        struct.pack_into('<I', self.memory, 0, head % RING)


def text(padded):
    return padded.split(b'\0')[0].decode('utf-8', 'replace')


class Peer(threading.Thread):
    """Collects the records of a program, until it ends."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ours, self.theirs = socket.socketpair()
        self.rings, self.marks = [], []

    def run(self):
        asked = b''
        self.ours.settimeout(0.001)
        while True:
            try:
                heard = self.ours.recv(100)
            except TimeoutError:
                self.drain()
                continue
            if not heard:
                break
            asked += heard
            while asked.startswith(b'CreatRing\0'):
                asked = asked[10:]
                ring = Ring()
                self.rings.append(ring)
                socket.send_fds(self.ours, [b'\1'], [ring.fd])
        assert not asked, asked
        self.drain()

    def drain(self):
        for ring in self.rings:
            self.marks.extend(ring.drain())


def record(*command, trace, **environment):
    """Runs a program under the peer; returns its output, its marks, and its trace."""
    peer = Peer()
    peer.start()
    fd = peer.theirs.fileno()
    environment = os.environ | {'LC_ALL': 'C.UTF-8', 'G_DEBUG': '', 'SYSPROF_CONTROL_FD': str(fd), 'PRIO_SCHED_TRACE': str(trace)} | environment
    with subprocess.Popen([str(word) for word in command], env=environment, pass_fds=[fd], stdout=subprocess.PIPE, text=True) as program:
        peer.theirs.close()
        printed = program.communicate(timeout=120)[0]
    assert program.returncode == 0, (command, program.returncode)
    peer.join()
    return printed, peer.marks, json.loads(trace.read_text(encoding='utf-8'))


def check_same(marks, events):
    """Checks that each run in the trace has its mark, with the same name (cut at 39 bytes, in both), start, duration and wait."""
    def cut(name):
        return text(name.encode()[:39] + b'\0')

    def wait(mark):
        told = re.search(r' after a wait of (-?\d+) µs$', mark.message)
        return int(told[1]) if told else None

    runs = collections.Counter((cut(event['name']), event['ts'] * 1000, event['dur'] * 1000, event['args'].get('waited'))
                               for event in events if event.get('cat') == 'run')
    marks = collections.Counter((mark.name, mark.time, mark.duration, wait(mark)) for mark in marks if mark.name != "others' turn")
    assert runs == marks, ((runs - marks).most_common(5), (marks - runs).most_common(5))


def check_each(traced, folder):
    printed, marks, events = record(traced, 'each', trace=folder / 'trace.json')
    check_same(marks, events)
    ended, yielded, _ = (int(line) for line in printed.split())
    assert sum(', done' in mark.message for mark in marks) == ended
    assert sum(', yielded' in mark.message for mark in marks) == yielded
    [follows] = [mark for mark in marks if mark.name == 'follows']
    assert re.fullmatch(r'user-blocking, done after a wait of \d+ µs', follows.message), follows


def check_threads(traced, folder):
    """Checks that each thread has a ring, unless Sysprof's library has dropped the socket already.

    At the end of a thread that library leaks 40 bytes of each ring.
    """
    printed, marks, events = record(traced, 'threads', trace=folder / 'trace.json', ASAN_OPTIONS='detect_leaks=0')
    assert int(printed.split()[0]) == sum(event.get('cat') == 'run' for event in events)
    if marks:
        check_same(marks, events)


def check_without(traced, folder):
    """Checks a socket without another end, and a missing socket."""
    for number in ('', '99', 'x'):
        environment = os.environ | {'SYSPROF_CONTROL_FD': number, 'G_DEBUG': ''}
        subprocess.run([traced, 'each'], env=environment, stdout=subprocess.DEVNULL, timeout=60, check=True)


def check_indexer(indexer, folder):
    root = folder / 'files'
    root.mkdir()
    for i in range(40):
        (root / f'{i}.txt').write_text(f'word{i} ' * 40000)
    printed, marks, events = record(indexer, '--query', 'word1', '--interval', '1', root, trace=folder / 'trace.json')
    check_same(marks, events)
    # The example has counted its tasks itself.
    for priority, count in re.findall(r'^(user-blocking|user-visible|background) +(\d+)', printed, re.MULTILINE):
        assert sum(mark.message.startswith(f'{priority}, done') for mark in marks) == int(count), (priority, count)


def main(traced, indexer=None):
    for test, program in ((check_each, traced), (check_threads, traced), (check_without, traced), (check_indexer, indexer)):
        if program:
            with tempfile.TemporaryDirectory() as folder:
                test(program, pathlib.Path(folder))
            print(f'{test.__name__}: ok')


if __name__ == '__main__':
    main(*sys.argv[1:])
