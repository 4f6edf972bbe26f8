// watches.js: tells what changes in folders
//
// Each watch is a source of the main context in which it was made, and a main loop looks at all of its sources each time
// round: some thousand would slow down all that the Shell does.  They have a context of their own, looked at once a second.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const {FileMonitorEvent, FileMonitorFlags} = Gio;

const MAX_WATCHES = 4000; // of the kernel's, of which all programs have some ten thousand

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

    // Gives the watch, or null.  GIO has no asynchronous way to watch a folder; the kernel is quick to.
    add(folder) {
        if (this.#size >= MAX_WATCHES)
            return null;
        this.#context.push_thread_default();
        try {
            const watch = folder.monitor_directory(FileMonitorFlags.WATCH_MOVES, null);
            watch.connect('changed', (_, file, other, event) => {
                // While a file is written to it is not read.
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
