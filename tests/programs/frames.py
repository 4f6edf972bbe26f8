"""Tests a scheduler that follows the frame clock of a GTK 4 window, from Python."""

import os
import tempfile

import gi

gi.require_version('Gtk', '4.0')
gi.require_version('PrioSched', '1')
from gi.repository import GLib, Gtk, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()
window = Gtk.Window()
ticks = []
window.add_tick_callback(lambda *_: ticks.append(None) or GLib.SOURCE_CONTINUE)
window.present()
context = GLib.MainContext.default()

# Frames are followed without a call, after a task that lasts longer than a slice.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'trace.json')
    with open(path, 'wb') as file:
        PrioSched.trace_start(file.fileno())
    scheduler.post_task(lambda: GLib.usleep(20000))
    while len(ticks) < 10:
        context.iteration(True)
    PrioSched.trace_stop()
    with open(path, encoding='utf-8') as trace:
        assert '"next frame"' in trace.read()

scheduler.follow_frame_clock(window.get_frame_clock())
while scheduler.props.next_frame == 0:
    before = GLib.get_monotonic_time()
    context.iteration(True)
# The time of the next frame is an interval after a frame of that iteration, however long that took.
assert before < scheduler.get_next_frame() < GLib.get_monotonic_time() + 50000

scheduler.props.next_frame = 0
assert scheduler.get_next_frame() == 0
scheduler.unfollow_frame_clock(window.get_frame_clock())
window.destroy()
print('ok')
