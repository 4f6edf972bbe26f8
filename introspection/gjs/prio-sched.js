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

const LIBRARY = 'libprio-sched-1.so.1';
const COPY = ['PrioSched-1.typelib', LIBRARY, 'overrides/PrioSched.js'];

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

// A copy of the library is looked at before GJS is: its namespace belongs to the first that GJS finds, whether it can be loaded or not,
// and no other extension could use its own then.

const HEADER = 20;     // bytes of ELF that tell for which processor it is
const START = 0x40000; // bytes in which the names of versions are

function startOf(path) {
    const stream = Gio.File.new_for_path(path).read(null);
    const bytes = stream.read_bytes(START, null).toArray();
    stream.close(null);
    return Array.from({length: Math.ceil(bytes.length / 4096)}, (_, i) =>
        String.fromCharCode(...bytes.subarray(i * 4096, (i + 1) * 4096))).join('');
}

// The newest minor version of glibc that is named in it, or 0.
function glibcOf(start) {
    return Math.max(0, ...Array.from(start.matchAll(/GLIBC_2\.(\d+)/g), match => Number(match[1])));
}

function systemGlibc() {
    const maps = new TextDecoder().decode(Gio.File.new_for_path('/proc/self/maps').load_contents(null)[1]);
    const path = /\/\S*\/libc\.so\.6$/m.exec(maps)?.[0];
    return path ? glibcOf(startOf(path)) : 0;
}

// Why a library cannot be loaded in this process, or null.
function whyUnusable(path) {
    const start = startOf(path), own = startOf('/proc/self/exe');
    if (!start.startsWith('\x7fELF'))
        return 'is no library';
    // The class and the order of bytes, and the processor.
    if (start.slice(4, 6) !== own.slice(4, 6) || start.slice(HEADER - 2, HEADER) !== own.slice(HEADER - 2, HEADER))
        return 'is for another kind of processor';
    const needed = glibcOf(start), present = systemGlibc();
    if (present !== 0 && needed > present)
        return `needs a newer C library: glibc 2.${needed}, and this is 2.${present}`;
    return null;
}

function useCopy(folder) {
    const why = whyUnusable(`${folder}/${LIBRARY}`);
    if (why !== null)
        throw new Error(`The copy of prio-sched in ${folder} cannot be used: its ${LIBRARY} ${why}`);
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
        const folders = imports.overrides.searchPath;
        const isThere = folders.some(name => Gio.File.new_for_commandline_arg(name).get_child('PrioSched.js').query_exists(null));
        throw new Error(isThere ? 'Another copy of prio-sched could not be loaded in this process, and none can be now'
            : 'The typelib of prio-sched is here, and its overrides for GJS are not: ' +
                `there is no PrioSched.js in ${folders.join(', ')}`);
    }
    return namespace;
}

const PrioSched = load();
export default PrioSched;
export const {
    scheduler, Scheduler, TaskController, TaskPriorityChangeEvent, TaskSignal, AbortController, AbortSignal,
    DOMException, Event, EventTarget, IdleDeadline, cancelIdleCallback, queueMicrotask, requestIdleCallback, install,
} = PrioSched.web;
