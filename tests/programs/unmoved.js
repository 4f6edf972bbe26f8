// unmoved.js [flood]: a program whose sources belong to GLib, for check-unmoved.py
//
// It imports the library, which names the callbacks of JavaScript.  With "flood" it adds 2,000 short callbacks at once.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const loop = new GLib.MainLoop(null, false);

PrioSched.Scheduler.get_default();

function work(ms, name) {
    const end = GLib.get_monotonic_time() + ms * 1000;
    while (GLib.get_monotonic_time() < end)
        ;
    print(`${name} ends`);
    return GLib.SOURCE_REMOVE;
}

function index_all() {
    return work(60, 'index_all');
}

function sort_all() {
    return work(40, 'sort_all');
}

function tick() {
    loop.quit();
    return work(50, 'tick');
}

function load_row() {
    GLib.usleep(50);
    return GLib.SOURCE_REMOVE;
}

GLib.timeout_add(GLib.PRIORITY_DEFAULT, 20, function begin() {
    if (ARGV[0] === 'flood') {
        for (let i = 0; i < 2000; i++)
            GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, load_row);
    } else {
        GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, index_all);
        GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, sort_all);
    }
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 150, tick);
    return GLib.SOURCE_REMOVE;
});
loop.run();
