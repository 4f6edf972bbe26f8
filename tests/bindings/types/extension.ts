// extension.ts: an extension of GNOME Shell
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import '@girs/gnome-shell/ambient';
import '@girs/gnome-shell/extensions/global';

import Gio from 'gi://Gio';
import PrioSched from 'gi://PrioSched?version=1';
import St from 'gi://St';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';

const {scheduler, TaskController} = PrioSched.web;

export default class CountExtension extends Extension {
    #button: PanelMenu.Button | null = null;
    #controller: PrioSched.web.TaskController | null = null;

    enable(): void {
        PrioSched.Scheduler.get_default().follow_frame_clock(global.stage);
        const button = new PanelMenu.Button(0.5, 'Count');
        const label = new St.Label({text: '…'});
        button.add_child(label);
        Main.panel.addToStatusArea('count', button);
        this.#button = button;
        this.#controller = new TaskController({priority: 'background'});
        const {signal} = this.#controller;
        scheduler.postTask(() => this.#count(this.dir), {signal})
            .then(n => label.set_text(`${n} files`))
            .catch((error: unknown) => signal.aborted || logError(error as object));
    }

    disable(): void {
        PrioSched.Scheduler.get_default().unfollow_frame_clock(global.stage);
        this.#controller?.abort();
        this.#button?.destroy();
        this.#button = this.#controller = null;
    }

    async #count(folder: Gio.File): Promise<number> {
        let n = 0;
        const files = folder.enumerate_children('standard::name', Gio.FileQueryInfoFlags.NONE, null);
        while (files.next_file(null) !== null) {
            n++;
            await scheduler.yield();
        }
        return n;
    }
}
