// sources.js: sources of GLib that have the names of their callbacks once somebody has watched for what holds the main loop
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported nameSources */

const {GLib} = imports.gi;

// Functions that take a callback, the first of their arguments that is a function.
const ADDERS = [[GLib, ['idle_add', 'timeout_add', 'timeout_add_seconds', 'child_watch_add']],
    [globalThis, ['setTimeout', 'setInterval']]];

// FILE:LINE of the code that has called the function which calls this, but for GJS's own.
function callingPlace() {
    const lines = new Error().stack.split('\n').slice(2);
    const line = lines.find(text => !text.includes('resource:///org/gnome/gjs/')) ?? lines[0] ?? '';
    return line.match(/([^/@]+:\d+):\d+$/)?.[1];
}

function nameSource(callback, place) {
    const source = GLib.main_current_source(), name = source?.get_name();
    // GLib calls some by their kind, such as GIdleSource.
    if (source && (!name || /^G.*Source$/.test(name)))
        source.set_name(`${callback.name || 'a function'}${place ? ` (${place})` : ''}`);
}

function named(callback, place) {
    let isNamed = false;
    return function (...args) {
        try {
            if (!isNamed)
                nameSource(callback, place);
        } catch {
            // A name that is not a string, or a getter that throws: the program is not to notice.
        }
        isNamed = true;
        return callback.apply(this, args);
    };
}

function naming(add) {
    return function (...args) {
        const given = args.findIndex(value => typeof value === 'function');
        if (given >= 0)
            args[given] = named(args[given], callingPlace());
        return add.apply(this, args);
    };
}

// Has the sources named that programs add from now on.
var nameSources = function nameSources() {
    for (const [object, names] of ADDERS.splice(0)) {
        for (const name of names.filter(each => typeof object[each] === 'function'))
            object[name] = naming(object[name]);
    }
};
