// crawler.js: reads folders, and changes in them, into the index
//
// All work is one task of `background` priority, which has a few files open at a time and yields before each piece of a
// file.  GIO's threads wait for the disk.  An abort cancels their calls; after a call, the task keeps its priority.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';

import {Watches} from './watches.js';

const {TaskController} = PrioSched.web;
const {IOErrorEnum, FileQueryInfoFlags, FileType} = Gio;

Gio._promisify(Gio.File.prototype, 'query_info_async');
Gio._promisify(Gio.File.prototype, 'enumerate_children_async');
Gio._promisify(Gio.File.prototype, 'read_async');
Gio._promisify(Gio.FileEnumerator.prototype, 'next_files_async');
Gio._promisify(Gio.InputStream.prototype, 'read_bytes_async');

const MAX_FILES = 50000;
const MAX_FOLDERS = 50000;
const MAX_BYTES = 256 * 1024; // bytes of a file that are read at most
const PIECE = 16 * 1024; // bytes; their words take about a millisecond
const BATCH = 8; // files of a folder that are open at a time
const ATTRIBUTES = 'standard::name,standard::display-name,standard::type,standard::fast-content-type,standard::size,' +
    'standard::is-hidden,standard::is-backup,time::modified,time::modified-usec,id::file';
const NEWLINE = 10, SPACE = 32;

const decoder = new TextDecoder(); // bytes that are not UTF-8 become characters that no word contains

const timeOf = info => info.get_attribute_uint64('time::modified') + info.get_attribute_uint32('time::modified-usec') / 1e6;

// Some backends do not set these attributes, which then count as FALSE.
const isHidden = info => ['standard::is-hidden', 'standard::is-backup'].some(name => info.get_attribute_boolean(name));

// Decides by the name alone whether a file may contain text.
function mayBeText(info) {
    const type = info.get_attribute_string('standard::fast-content-type');
    return type !== null && (Gio.content_type_is_a(type, 'text/plain') || Gio.content_type_is_unknown(type));
}

// Closes the stream in the background.  A failure does not matter.
function close(stream) {
    stream.close_async(GLib.PRIORITY_LOW, null, null);
}

export class Crawler {
    #controller = new TaskController({priority: 'background'});
    #extras;
    #folders = new Map(); // URI → {id, watch}
    #ids = new Set(); // ids of the folders above
    #others = new Map(); // id of one of these folders → another path to it, used when the first is gone
    #index;
    #isRunning = false;
    #queue = new Map(); // URI → a file or folder to look at
    #roots;
    #watches = new Watches(file => this.#add(file));
    #whenIdle = []; // functions to call when the crawler is idle

    constructor(index, extras, roots) {
        this.#index = index;
        this.#extras = extras;
        this.#roots = new Set(roots.map(root => root.get_uri()));
        for (const root of roots)
            this.#add(root);
    }

    destroy() {
        this.#controller.abort();
        this.#others.clear();
        this.#leave('');
        this.#watches.destroy();
    }

    get isIdle() {
        return !this.#isRunning;
    }

    async idle() {
        if (this.#isRunning)
            await new Promise(resolve => this.#whenIdle.push(resolve));
    }

    #add(file) {
        this.#queue.set(file.get_uri(), file);
        if (!this.#isRunning)
            this.#start();
    }

    #start() {
        this.#isRunning = true;
        const {signal} = this.#controller;
        this.#extras.scheduler.postTask(() => this.#run(signal), {signal}).catch(error => {
            if (!signal.aborted)
                logError(error, 'file-search');
        }).finally(() => {
            this.#isRunning = false;
            if (this.#queue.size > 0 && !signal.aborted)
                this.#start(); // files may have been added while the index was tidied
            else
                this.#whenIdle.splice(0).forEach(tell => tell());
        });
    }

    async #run(signal) {
        // A file that is added meanwhile comes at the end of the map, so the loop reaches it.
        for (const [uri, file] of this.#queue) {
            this.#queue.delete(uri);
            // eslint-disable-next-line no-await-in-loop
            await this.#look(file, signal);
        }
        await this.#index.tidy();
    }

    // Returns the result of call (), or 'gone' if the file does not exist, or null if it cannot be read.
    async #skipErrors(call, signal) {
        try {
            return await call();
        } catch (error) {
            signal.throwIfAborted();
            if (!(error instanceof GLib.Error))
                throw error;
            return error.matches(Gio.IOErrorEnum, IOErrorEnum.NOT_FOUND) ? 'gone' : null;
        }
    }

    async #look(file, signal) {
        const uri = file.get_uri(), isRoot = this.#roots.has(uri);
        const flags = isRoot ? FileQueryInfoFlags.NONE : FileQueryInfoFlags.NOFOLLOW_SYMLINKS;
        const info = await this.#skipErrors(() => file.query_info_async(
            ATTRIBUTES, flags, GLib.PRIORITY_LOW, signal.cancellable), signal);
        if (info === 'gone' && this.#folders.has(uri)) {
            this.#index.removeFolder(uri);
            this.#leave(uri);
        } else if (info === 'gone') {
            this.#index.remove(uri);
        } else if (info === null || (isHidden(info) && !isRoot)) {
            // This is not a file to index.
        } else if (info.get_file_type() === FileType.DIRECTORY) {
            await this.#enter(file, info.get_attribute_string('id::file') ?? uri, signal);
        } else {
            await this.#read(file, info, signal);
        }
    }

    async #enter(folder, id, signal) {
        const uri = folder.get_uri();
        if (!this.#folders.has(uri)) {
            const isKnown = this.#ids.has(id);
            if (isKnown)
                this.#others.set(id, folder);
            if (isKnown || this.#folders.size >= MAX_FOLDERS)
                return;
            this.#ids.add(id);
            this.#folders.set(uri, {id, watch: this.#watches.add(folder)});
        }
        await this.#skipErrors(async () => {
            const children = await folder.enumerate_children_async(
                ATTRIBUTES, FileQueryInfoFlags.NOFOLLOW_SYMLINKS, GLib.PRIORITY_LOW, signal.cancellable);
            try {
                await this.#readChildren(children, signal);
            } finally {
                close(children);
            }
        }, signal);
    }

    async #readChildren(children, signal) {
        for (;;) {
            /* eslint-disable no-await-in-loop */
            const infos = await children.next_files_async(BATCH, GLib.PRIORITY_LOW, signal.cancellable);
            if (infos.length === 0)
                return;
            const files = [];
            for (const info of infos.filter(info => !isHidden(info))) {
                const child = children.get_child(info); // not by its name, which may not be valid UTF-8
                if (info.get_file_type() === FileType.DIRECTORY)
                    this.#queue.set(child.get_uri(), child);
                else
                    files.push(this.#read(child, info, signal));
            }
            await Promise.all(files);
            await this.#extras.scheduler.yield();
            /* eslint-enable no-await-in-loop */
        }
    }

    // Reads the words of a file, but not of symbolic links, sockets and devices.
    async #read(file, info, signal) {
        signal.throwIfAborted(); // the index may have been cleared since
        const uri = file.get_uri(), time = timeOf(info), known = this.#index.get(uri);
        if (info.get_file_type() !== FileType.REGULAR)
            return;
        if (known?.time === time || (known === undefined && this.#index.length >= MAX_FILES))
            return;
        const number = this.#index.add({uri, name: info.get_display_name(), time});
        const size = info.get_attribute_uint64('standard::size');
        if (size === 0 || !mayBeText(info))
            return;
        await this.#skipErrors(async () => {
            const stream = await file.read_async(GLib.PRIORITY_LOW, signal.cancellable);
            try {
                await this.#readText(stream, Math.min(size, MAX_BYTES), number, signal);
            } finally {
                close(stream);
            }
        }, signal);
    }

    async #readText(stream, size, number, signal) {
        let rest = new Uint8Array(); // the last word of a piece, which may continue in the next piece
        for (let left = size; left > 0;) {
            /* eslint-disable no-await-in-loop */
            const bytes = await stream.read_bytes_async(PIECE, GLib.PRIORITY_LOW, signal.cancellable);
            await this.#extras.scheduler.yield();
            const piece = bytes.toArray();
            left = piece.length === 0 ? 0 : left - piece.length;
            if (piece.includes(0))
                return; // not a text
            const end = left > 0 ? Math.max(piece.lastIndexOf(SPACE), piece.lastIndexOf(NEWLINE)) + 1 : piece.length;
            const text = new Uint8Array(rest.length + end);
            text.set(rest);
            text.set(piece.subarray(0, end), rest.length);
            this.#index.addText(number, decoder.decode(text));
            rest = piece.slice(end);
            /* eslint-enable no-await-in-loop */
        }
    }

    // Stops watching a folder and its subfolders, or all folders if uri is empty.
    #leave(uri) {
        for (const [other, {id, watch}] of this.#folders) {
            if (uri === '' || other === uri || other.startsWith(`${uri}/`)) {
                this.#watches.remove(watch);
                this.#folders.delete(other);
                this.#ids.delete(id);
                if (this.#others.has(id))
                    this.#add(this.#others.get(id));
                this.#others.delete(id);
            }
        }
    }
}
