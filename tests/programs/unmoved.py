"""Runs sources without the library, for check-unmoved.py.

    unmoved.py [flood]

With "flood" it adds 2,000 short callbacks at once.
"""

import sys
import time

from gi.repository import GLib

loop = GLib.MainLoop()


def work(ms, name):
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        pass
    print(name, 'ends', flush=True)
    return False


def index_all():
    return work(60, 'index_all')


class Table:
    def sort_all(self):
        return work(40, 'sort_all')


def tick(data):
    work(50, 'tick')
    loop.quit()


def begin():
    GLib.idle_add(index_all)
    GLib.idle_add(Table().sort_all)
    GLib.timeout_add(150, tick, 'data')


def load_row():
    time.sleep(50e-6)


def begin_flood():
    for _ in range(2000):
        GLib.idle_add(load_row)
    GLib.timeout_add(150, tick, 'data')


GLib.timeout_add(20, begin_flood if sys.argv[1:] == ['flood'] else begin)
loop.run()
