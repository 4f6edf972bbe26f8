// prio-sched.js: PrioSched and the web's names, as a module
//
//   import {scheduler, TaskController} from 'file:///usr/share/prio-sched-1/prio-sched.js';
//
// If the folder of this file has a copy of the library, the module loads that copy, by overrides/PrioSchedCopy.js; so programs
// and extensions can bring a copy (see ../manual/shipping.md).  Otherwise the module loads the installed library.  If a part is
// missing, it throws an error that names the part.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Gio from 'gi://Gio';
import gi from 'gi';

const COPY = ['PrioSched-1.typelib', 'libprio-sched-1.so.1', 'overrides/PrioSched.js'];

// Returns the folder that has a copy of the library, or null.
function findCopy() {
    const folder = Gio.File.new_for_uri(import.meta.url).get_parent();
    if (folder.get_path() === null)
        return null; // this file may be in a GResource
    const missing = COPY.filter(name => !folder.resolve_relative_path(name).query_exists(null));
    if (missing.length > 0 && missing.length < COPY.length) {
        throw new Error(`The copy of prio-sched in ${folder.get_path()} is not complete: it has no ${
            missing.join(', and no ')}`);
    }
    return missing.length === 0 ? folder.get_path() : null;
}

// Loads a copy of the library with that copy's overrides.
function loadCopy(folder) {
    const path = `${folder}/overrides/PrioSchedCopy.js`;
    let load;
    try {
        const text = new TextDecoder().decode(Gio.File.new_for_path(path).load_contents(null)[1]);
        load = new Function(`${text}; return load;`)();
    } catch (error) {
        throw new Error(`The copy of prio-sched in ${folder} cannot be used: its overrides/PrioSchedCopy.js: ${error.message}`,
            {cause: error});
    }
    return load(folder);
}

// Adds the overrides to a namespace that GJS has loaded without them, and throws if they are missing.
function complete(namespace) {
    const folders = imports.overrides.searchPath;
    if (!folders.some(name => Gio.File.new_for_commandline_arg(name).get_child('PrioSched.js').query_exists(null))) {
        throw new Error('The typelib of prio-sched is here, and its overrides for GJS are not: ' +
            `there is no PrioSched.js in ${folders.join(', ')}`);
    }
    return imports.overrides.PrioSchedCopy.complete(namespace);
}

function loadInstalled() {
    try {
        const namespace = gi.require('PrioSched', '1');
        return namespace.nativePart === undefined ? complete(namespace) : namespace;
    } catch (error) {
        throw new Error(`prio-sched cannot be loaded: ${error.message}`, {cause: error});
    }
}

const copy = findCopy();
const PrioSched = copy === null ? loadInstalled() : loadCopy(copy);
export default PrioSched;
export const {
    scheduler, Scheduler, TaskController, TaskPriorityChangeEvent, TaskSignal, AbortController, AbortSignal,
    DOMException, Event, EventTarget, IdleDeadline, cancelIdleCallback, queueMicrotask, requestIdleCallback, install,
} = PrioSched.web;
