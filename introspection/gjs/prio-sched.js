// prio-sched.js: PrioSched and the web's names, as a module
//
//   import {scheduler, TaskController} from 'file:///usr/share/prio-sched-1/prio-sched.js';
//
// Where a copy of the library is in the folder of this file, that is what it loads: so programs and extensions
// bring their own (see ../manual/shipping.md).  It says in a sentence what is missing.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import GIRepository from 'gi://GIRepository';
import Gio from 'gi://Gio';
import gi from 'gi';

const COPY = ['PrioSched-1.typelib', 'libprio-sched-1.so.1', 'overrides/PrioSched.js'];

// The folder that has a copy of the library, or null.
function findCopy() {
    const folder = Gio.File.new_for_uri(import.meta.url).get_parent();
    if (folder.get_path() === null)
        return null; // a resource, say
    const missing = COPY.filter(name => !folder.resolve_relative_path(name).query_exists(null));
    if (missing.length > 0 && missing.length < COPY.length) {
        throw new Error(`The copy of prio-sched in ${folder.get_path()} is not complete: it has no ${
            missing.join(', and no ')}`);
    }
    return missing.length === 0 ? folder.get_path() : null;
}

function useCopy(folder) {
    // The repository is an object since GIRepository 3.0.  GJS finds no version but the one that it uses itself.
    const repository = GIRepository.Repository.dup_default?.() ?? GIRepository.Repository;
    repository.prepend_search_path(folder);
    repository.prepend_library_path(folder);
    imports.overrides.searchPath.unshift(`${folder}/overrides`);
}

function load() {
    const folder = findCopy();
    if (folder !== null)
        useCopy(folder);
    let namespace;
    try {
        namespace = gi.require('PrioSched', '1');
    } catch (error) {
        throw new Error(`prio-sched cannot be loaded: ${error.message}`, {cause: error});
    }
    if (namespace.web === undefined) {
        const folders = imports.overrides.searchPath.join(', ');
        throw new Error('The typelib of prio-sched is here, and its overrides for GJS are not: ' +
            `there is no PrioSched.js in ${folders}`);
    }
    return namespace;
}

const PrioSched = load();
export default PrioSched;
export const {
    scheduler, Scheduler, TaskController, TaskPriorityChangeEvent, TaskSignal, AbortController, AbortSignal,
    DOMException, Event, EventTarget, IdleDeadline, cancelIdleCallback, queueMicrotask, requestIdleCallback, install,
} = PrioSched.web;
