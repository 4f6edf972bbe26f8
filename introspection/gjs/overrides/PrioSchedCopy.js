// PrioSchedCopy.js: loads the copy of the library that a program or an extension brings along (manual/shipping.md)
//
// A copy is checked before GJS loads it: GJS keeps the first namespace that it finds, even if the library cannot be loaded, and
// then no other extension could use its own copy.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported complete, load */

const {Gio, GIRepository, GLib} = imports.gi;

const LIBRARY = 'libprio-sched-1.so.1';
const TYPELIB = 'PrioSched-1.typelib';
const BINDING = ['PrioSchedGjs-1.typelib', 'libprio-sched-gjs-1.so.1'];

const HEADER = 20;     // how many bytes at the start of an ELF file identify the processor
const START = 0x40000; // how many bytes at the start of a library contain the names of symbol versions

const GLIBC = [...'GLIBC_2.'].map(letter => letter.charCodeAt(0));

// Returns the first bytes of a file.
function startOf(path, length = START) {
    const stream = Gio.File.new_for_path(path).read(null);
    const bytes = stream.read_bytes(length, null).toArray();
    stream.close(null);
    return bytes;
}

function textOf(path) {
    return new TextDecoder().decode(Gio.File.new_for_path(path).load_contents(null)[1]);
}

// Returns the newest minor version of glibc that is named in the bytes of a file, or 0.  Searches the bytes themselves,
// because decoding all of them to a string would take ten times as long.
function glibcOf(bytes) {
    let newest = 0;
    for (let i = bytes.indexOf(GLIBC[0]); i !== -1; i = bytes.indexOf(GLIBC[0], i + 1)) {
        if (GLIBC.every((byte, k) => bytes[i + k] === byte))
            newest = Math.max(newest, parseInt(String.fromCharCode(...bytes.subarray(i + GLIBC.length, i + GLIBC.length + 3))) || 0);
    }
    return newest;
}

function systemGlibc() {
    const path = /\/\S*\/libc\.so\.6$/m.exec(textOf('/proc/self/maps'))?.[0];
    return path ? glibcOf(startOf(path)) : 0;
}

// Returns why a library cannot be loaded in this process, or null.
function whyUnusable(path) {
    const start = startOf(path), own = startOf('/proc/self/exe', HEADER);
    if (String.fromCharCode(...start.subarray(0, 4)) !== '\x7fELF')
        return 'is not a library';
    // Compares the bytes for the class (32 or 64 bits), the byte order and the processor.
    if ([4, 5, HEADER - 2, HEADER - 1].some(i => start[i] !== own[i]))
        return 'is for another kind of processor';
    const needed = glibcOf(start), present = systemGlibc();
    if (present !== 0 && needed > present)
        return `needs a newer C library: glibc 2.${needed}, and this is 2.${present}`;
    return null;
}

function checkLibrary(folder) {
    const why = whyUnusable(`${folder}/${LIBRARY}`);
    if (why !== null)
        throw new Error(`its ${LIBRARY} ${why}`);
}

// Throws if text, the source of an override, is empty or has a syntax error.
function checkText(file, text) {
    if (text.trim() === '')
        throw new Error(`its ${file} is empty`);
    try {
        new Function(text); // parses the text without running it
    } catch (error) {
        throw new Error(`its ${file} has an error: ${error.message}`);
    }
}

// Returns the path, in the folder of a copy, of the override with that name in imports.overrides.  The name may include
// folders, as in _priosched.core.tasks.
function fileOf(name) {
    return `overrides/${name.replaceAll('.', '/')}.js`;
}

// Returns a map of names to texts: of PrioSched.js, and of all overrides that it imports, directly or indirectly.
function readOverrides(folder) {
    const texts = new Map(), names = ['PrioSched'];
    for (const name of names) {
        const file = fileOf(name), path = `${folder}/${file}`;
        if (!Gio.File.new_for_path(path).query_exists(null))
            throw new Error(`it has no ${file}`);
        const text = textOf(path);
        checkText(file, text);
        texts.set(name, text);
        for (const [, needed] of text.matchAll(/ = imports\.overrides\.([\w.]+);$/gm)) {
            if (!names.includes(needed))
                names.push(needed);
        }
    }
    return texts;
}

// Returns the names in imports.overrides of the folders that contain these overrides, each folder after its parent: '' for
// the outermost folder, then for instance _priosched, and _priosched.core.
function foldersOf(names) {
    const folders = new Set(['']);
    for (const name of names) {
        const parts = name.split('.');
        for (let n = 1; n < parts.length; n++)
            folders.add(parts.slice(0, n).join('.'));
    }
    return folders;
}

// Returns the member of imports.overrides with that name, or imports.overrides itself for the name ''.
function find(name) {
    return name.split('.').filter(part => part !== '').reduce((importer, part) => importer[part], imports.overrides);
}

// Makes GJS look for these overrides in folder first, and returns a function that removes folder from the search paths.  The
// importer of a subfolder may already exist and search another copy, so the subfolder's search path is changed, too.
function lookIn(folder, names) {
    const added = [];
    for (const name of foldersOf(names)) {
        const {searchPath} = find(name), path = [folder, 'overrides', ...name.split('.')].join('/').replace(/\/$/, '');
        if (searchPath[0] !== path)
            searchPath.unshift(path);
        added.push({searchPath, path});
    }
    return () => added.forEach(({searchPath, path}) => searchPath.splice(searchPath.indexOf(path), 1));
}

// Loads the files of the overrides; this does not change the library yet.  GJS keeps each file that it has loaded, even if
// another file of the same copy cannot be loaded.  So this throws if a kept file of another copy has a different text.
function loadOverrides(folder, texts) {
    for (const [name, text] of texts) {
        const {__file__: path} = find(name);
        if (path !== undefined && path !== `${folder}/${fileOf(name)}` && textOf(path) !== text)
            throw new Error(`parts of another copy, which cannot be loaded, are used in this process, such as ${path}`);
    }
}

// Adds the overrides' members to the namespace, if GJS did not find or load the overrides when the namespace was first
// imported.  Returns the namespace.
var complete = function complete(namespace) {
    if (namespace.nativePart === undefined)
        imports.overrides.PrioSched._init.call(namespace);
    return namespace;
};

function isLoaded() {
    return Object.getOwnPropertyNames(imports.gi).includes('PrioSched') && imports.gi.PrioSched.nativePart !== undefined;
}

function useLibrary(folder) {
    // These functions are static before GIRepository 3.0, and methods of an object since then.  Both forms have to work,
    // because a program can load only the version that GJS itself uses.
    const repository = GIRepository.Repository.dup_default?.() ?? GIRepository.Repository;
    repository.prepend_search_path(folder);
    repository.prepend_library_path(folder);
    imports.gi.versions.PrioSched = '1';
    return complete(imports.gi.PrioSched);
}

function use(folder) {
    for (const name of [TYPELIB, LIBRARY, ...BINDING]) {
        if (!Gio.File.new_for_path(`${folder}/${name}`).query_exists(null))
            throw new Error(`it has no ${name}`);
    }
    checkLibrary(folder);
    const texts = readOverrides(folder), undo = lookIn(folder, texts.keys());
    try {
        loadOverrides(folder, texts);
        return useLibrary(folder);
    } catch (error) {
        undo();
        throw error;
    }
}

function say(sentence) {
    if ((GLib.getenv('PRIO_SCHED_DEBUG') || '0') !== '0')
        printerr(`PrioSched: ${sentence}`);
}

// Returns the namespace of the copy in folder or, if a library is loaded already, its namespace.
var load = function load(folder) {
    if (isLoaded()) {
        say(`the library that is loaded already is used, and not the copy in ${folder}`);
        return imports.gi.PrioSched;
    }
    try {
        const namespace = use(folder);
        say(`the copy in ${folder} is used`);
        return namespace;
    } catch (error) {
        throw new Error(`The copy of prio-sched in ${folder} cannot be used: ${error.message}`, {cause: error});
    }
};
