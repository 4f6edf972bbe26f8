// A scheduler follows the frame clock of a GTK 4 window, from GJS.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.Gtk = '4.0';
imports.gi.versions.PrioSched = '1';
const {GLib, Gtk, PrioSched} = imports.gi;

Gtk.init();
const scheduler = PrioSched.Scheduler.get_default();
const window = new Gtk.Window();
window.add_tick_callback(() => GLib.SOURCE_CONTINUE);
window.present();
scheduler.follow_frame_clock(window.get_frame_clock());

const context = GLib.MainContext.default();
let before;
while (scheduler.next_frame === 0) {
    before = GLib.get_monotonic_time();
    context.iteration(true);
}
// The next frame is expected an interval after a frame of that iteration, however long the iteration took.
const after = GLib.get_monotonic_time();
if (!(before < scheduler.get_next_frame() && scheduler.get_next_frame() < after + 50000))
    throw new Error(`the next frame is due at ${scheduler.get_next_frame()}, and it is between ${before} and ${after}`);

scheduler.next_frame = 0;
if (scheduler.get_next_frame() !== 0)
    throw new Error('there is still a frame');
scheduler.unfollow_frame_clock(window.get_frame_clock());
window.destroy();
print('ok');
