"""Runs sources without the library, for check-unmoved.py."""

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


GLib.timeout_add(20, begin)
loop.run()
