"""Tests the page in GTK's inspector, in a Python program that does not use it: its tasks have the names of their functions."""

import time

import gi

gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import GLib, Gtk, PrioSched  # noqa: E402


def below(widget):
    """Yields a widget, and all widgets in it."""
    yield widget
    child = widget.get_first_child()
    while child is not None:
        yield from below(child)
        child = child.get_next_sibling()


def named(widgets, name):
    return next(widget for widget in widgets if widget.__gtype__.name == name)


def texts(widget):
    return [label.get_text() for label in below(widget) if isinstance(label, Gtk.Label)]


def wait_until(condition):
    while not condition():
        GLib.MainContext.default().iteration(True)


def sort_all():
    time.sleep(0.06)


window = Gtk.Window()
window.present()
# Before there is a scheduler, as with GTK_DEBUG=interactive.
Gtk.Window.set_interactive_debugging(True)
page = named(below(named(Gtk.Window.get_toplevels(), 'GtkInspectorWindow')), 'PrioInspectorPage')
page.get_ancestor(Gtk.Stack).set_visible_child(page)
wait_until(page.get_mapped)

scheduler = PrioSched.Scheduler.get_default()
wait_until(lambda: 'Scheduler 1' in texts(page))
for part in 'PrioInspectorScheduler', 'PrioInspectorLongest':
    named(below(named(below(page), part)), 'GtkSwitch').set_active(True)
assert scheduler.get_statistics().collecting

scheduler.post_task(sort_all, 'background')
wait_until(lambda: 'sort_all' in texts(page))
row = texts(page)[texts(page).index('sort_all'):]
assert row[1] == 'background' and float(row[2]) >= 60, row
print('sort_all is in the inspector')
