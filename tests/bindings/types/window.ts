// window.ts: a GTK 4 window that searches while it is typed in
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import '@girs/gtk-4.0/ambient';

import GObject from 'gi://GObject?version=2.0';
import Gtk from 'gi://Gtk?version=4.0';
import PrioSched from 'gi://PrioSched?version=1';

const scheduler = PrioSched.Scheduler.get_default();

class SearchWindow extends Gtk.ApplicationWindow {
    #controller: PrioSched.TaskController | null = null;
    #entry = new Gtk.SearchEntry();
    #label = new Gtk.Label();

    static {
        GObject.registerClass(this);
    }

    constructor(application: Gtk.Application) {
        super({application, title: 'Search'});
        this.connect('realize', () => {
            const clock = this.get_frame_clock();
            if (clock !== null)
                scheduler.follow_frame_clock(clock);
        });
        this.#entry.connect('search-changed', entry => void this.#search(entry.text));
        this.set_child(this.#entry);
    }

    async #search(text: string): Promise<void> {
        this.#controller?.abort();
        this.#controller = PrioSched.TaskController.new('user-visible');
        const {signal} = this.#controller;
        const n = await scheduler.post_task(() => text.length, {signal}).catch(() => 0);
        if (!signal.is_cancelled())
            this.#label.set_text(`${n} found`);
    }
}

const application = new Gtk.Application();
application.connect('activate', () => new SearchWindow(application).present());
await application.runAsync([]);
