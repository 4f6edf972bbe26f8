"""Tests feeds of the rows that a window shows, from Python."""

import gc
import unittest
import weakref

import gi

gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, GObject, Gtk, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
context = GLib.MainContext.default()


class Row(GObject.Object):
    __gtype_name__ = 'Row'

    def __init__(self, number=0):
        super().__init__()
        self.number = number
        self.loaded = self.cancelled = 0


class World:
    def __init__(self, n=1000, load=None):
        self.rows = Gio.ListStore(item_type=Row)
        self.rows.splice(0, 0, [Row(i) for i in range(n)])
        self.shown, self.asked = set(), []
        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda _, item: item.set_child(Gtk.Label()))
        factory.connect('bind', self.bind)
        factory.connect('unbind', lambda _, item: self.shown.discard(item))
        self.view = Gtk.ListView(model=Gtk.NoSelection(model=self.rows), factory=factory)
        self.window = Gtk.Window(default_width=300, default_height=400, child=Gtk.ScrolledWindow(child=self.view))
        self.group = PrioSched.TaskGroup(limit=4)
        self.feed = self.group.feed_view(load or self.load, self.view, name='rows')
        self.frames = 0
        self.window.present()
        while self.window.get_frame_clock() is None:
            context.iteration(True)
        self.window.get_frame_clock().connect('after-paint', self.count)
        self.settle()

    def bind(self, _, item):
        item.get_child().set_text(str(item.get_item().number))
        self.shown.add(item)

    def count(self, _):
        self.frames += 1

    async def load(self, row, position):
        self.asked.append(position)
        if not row.loaded:
            await scheduler.sleep(1)
            row.loaded += 1

    def settle(self):
        """Waits for three frames, and until no row is loading."""
        before = self.frames
        while self.frames < before + 3 or self.group.n_tasks > 0:
            self.window.queue_draw()
            context.iteration(True)

    def scroll(self, part):
        adjustment = self.view.get_vadjustment()
        adjustment.set_value(part * (adjustment.get_upper() - adjustment.get_page_size()))
        self.settle()

    def in_view(self):
        return {item.get_position() for item in self.shown if item.get_child().get_mapped()}

    def fed(self):
        first = self.feed.props.first
        return range(first, first + self.feed.props.n_rows)


class Views(unittest.TestCase):
    def test_rows_in_view_are_loaded_first_and_few_others(self):
        world = World()
        for part in (0.01, 0.02, 0.5, 0.51, 1, 0):
            world.asked.clear()
            world.scroll(part)
            view = world.fed()
            self.assertEqual(set(view), world.in_view())
            self.assertTrue(all(world.rows[i].loaded for i in view))
            self.assertLessEqual(len(world.asked), 3 * len(view))
        self.assertEqual({row.loaded for row in world.rows}, {0, 1})
        world.window.destroy()

    def test_the_model_is_replaced_and_emptied(self):
        world = World()
        other = Gio.ListStore(item_type=Row)
        other.splice(0, 0, [Row(i) for i in range(100)])
        world.view.set_model(Gtk.NoSelection(model=other))
        world.settle()
        self.assertEqual(set(world.fed()), world.in_view())
        self.assertTrue(all(other[i].loaded for i in world.fed()))
        other.remove_all()
        world.settle()
        self.assertEqual(len(world.fed()), 0)
        world.window.destroy()

    def test_the_view_is_destroyed_while_rows_load(self):
        cancelled = []

        async def load(row, position):
            try:
                await scheduler.sleep(60000)
            except BaseException:
                cancelled.append(position)
                raise
        world = World(n=0, load=load)
        world.rows.splice(0, 0, [Row(i) for i in range(1000)])
        while world.group.n_tasks < 4:
            context.iteration(True)
        while context.iteration(False):
            pass
        feed = weakref.ref(world.feed)
        world.window.destroy()
        world.window = world.view = world.feed = None
        world.shown.clear()
        while world.group.n_tasks > 0:
            context.iteration(True)
        self.assertEqual(sorted(cancelled), [0, 1, 2, 3])
        gc.collect()
        self.assertIsNone(feed())

    def test_it_refuses_what_it_cannot_use(self):
        group = PrioSched.TaskGroup()
        with self.assertRaisesRegex(TypeError, '3 is not callable'):
            group.feed_view(3, Gtk.ListView())
        with self.assertRaises(TypeError):
            group.feed_view(print, [])
        with self.assertRaisesRegex(TypeError, 'Gtk.ListView'):
            group.feed_view(print, Gtk.Label())


if __name__ == '__main__':
    unittest.main()
