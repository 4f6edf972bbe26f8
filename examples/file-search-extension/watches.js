// watches.js: reports changes in folders
//
// Each watch is a source of the main context in which it was created, and a main loop looks at all of its sources in
// each iteration: several thousand sources would slow down the whole Shell.  So the watches have a separate context,
// which is iterated once a second.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const {FileMonitorEvent, FileMonitorFlags} = Gio;

const MAX_WATCHES = 4000; // inotify watches; the kernel lets all programs of a user have some ten thousand

export class Watches {
    #changed;
    #context = new GLib.MainContext();
    #id;
    #size = 0;

    // Calls changed () with each file that has changed.
    constructor(changed) {
        this.#changed = changed;
        this.#id = GLib.timeout_add_seconds(GLib.PRIORITY_LOW, 1, () => {
            this.#context.iteration(false);
            return GLib.SOURCE_CONTINUE;
        });
    }

    destroy() {
        GLib.source_remove(this.#id);
    }

    // Returns the watch, or null.  GIO cannot watch a folder asynchronously, but the kernel answers quickly.
    add(folder) {
        if (this.#size >= MAX_WATCHES)
            return null;
        this.#context.push_thread_default();
        try {
            const watch = folder.monitor_directory(FileMonitorFlags.WATCH_MOVES, null);
            watch.connect('changed', (_, file, other, event) => {
                // A file is not read before it has been written completely.
                if (event === FileMonitorEvent.CHANGED || event === FileMonitorEvent.ATTRIBUTE_CHANGED)
                    return;
                this.#changed(file);
                if (other !== null)
                    this.#changed(other);
            });
            this.#size++;
            return watch;
        } catch (error) {
            if (!error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_SUPPORTED))
                console.warn(`file-search: ${folder.get_parse_name()} is not watched: ${error.message}`);
            return null;
        } finally {
            this.#context.pop_thread_default();
        }
    }

    remove(watch) {
        if (watch === null)
            return;
        watch.cancel();
        this.#size--;
    }
}
