// usual.js: the usual ways of GJS, which benchmarks compare with tasks
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported addIdles, awaitedIdle */

const {GLib} = imports.gi;

// Adds n idle sources, and waits for the last one.
var addIdles = n => new Promise(resolve => {
    let left = n;
    for (let i = 0; i < n; i++) {
        GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            if (--left === 0)
                resolve();
            return GLib.SOURCE_REMOVE;
        });
    }
});

var awaitedIdle = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));
