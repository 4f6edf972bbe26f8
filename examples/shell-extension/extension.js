// extension.js: counts files in the Shell, without slowing it down
//
// All of the work is one task of `background` priority, which lets more urgent work run after every file: frames,
// input, and the Shell's own work.
//
// For GNOME Shell 45 and later, whose extensions are ES modules; ../shell-extension-43 is the same extension for
// Shell 43.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';
import St from 'gi://St';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';

const {scheduler, TaskController} = PrioSched.web;

const FOLDER = GLib.getenv('FILE_COUNT_FOLDER') ?? GLib.get_home_dir();

async function countFiles(path) {
    const folders = [Gio.File.new_for_path(path)];
    let n = 0;
    while (folders.length > 0) {
        const folder = folders.pop();
        let files;
        try {
            files = folder.enumerate_children('standard::name,standard::type',
                Gio.FileQueryInfoFlags.NOFOLLOW_SYMLINKS, null);
        } catch {
            continue;
        }
        for (const info of files) {
            if (info.get_file_type() === Gio.FileType.DIRECTORY)
                folders.push(folder.get_child(info.get_name()));
            else
                n++;
            // The promise is rejected with the reason of the abort once the extension is disabled.
            // eslint-disable-next-line no-await-in-loop
            await scheduler.yield();
        }
        files.close(null);
    }
    return n;
}

export default class FileCountExtension extends Extension {
    enable() {
        this._button = new PanelMenu.Button(0.5, 'File count');
        this._label = new St.Label({text: '…', y_align: Clutter.ActorAlign.CENTER});
        this._button.add_child(this._label);
        Main.panel.addToStatusArea('file-count', this._button);

        this._controller = new TaskController({priority: 'background'});
        scheduler.postTask(() => countFiles(FOLDER), {signal: this._controller.signal})
            .then(n => {
                this._label.text = `${n} files`;
                console.log(`file-count: ${n} files`);
            })
            .catch(error => {
                if (!this._controller?.signal.aborted && error.name !== 'AbortError')
                    logError(error, 'file-count');
            });
    }

    disable() {
        this._controller.abort();
        this._controller = null;
        this._button.destroy();
        this._button = this._label = null;
        console.log('file-count: disabled');
    }
}
