// extension.js: counts files in the Shell, without slowing it down
//
// All of the work is one task of `background` priority, which lets more urgent work run after every file: frames,
// input, and the Shell's own work.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported init */

imports.gi.versions.PrioSched = '1';
const {Clutter, Gio, GLib, PrioSched, St} = imports.gi;
const Main = imports.ui.main;
const PanelMenu = imports.ui.panelMenu;
const {scheduler, TaskController} = PrioSched.web;

const FOLDER = GLib.getenv('FILE_COUNT_FOLDER') ?? GLib.get_home_dir();

class Extension {
    enable() {
        this._button = new PanelMenu.Button(0.5, 'File count');
        this._label = new St.Label({text: '…', y_align: Clutter.ActorAlign.CENTER});
        this._button.add_child(this._label);
        Main.panel.addToStatusArea('file-count', this._button);

        this._controller = new TaskController({priority: 'background'});
        this._task = scheduler.postTask(() => this._count(FOLDER), {signal: this._controller.signal})
            .then(n => {
                this._label.text = `${n} files`;
                log(`file-count: ${n} files`);
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
        this._button = this._label = this._task = null;
        log('file-count: disabled');
    }

    async _count(path) {
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
            for (let info; (info = files.next_file(null)) !== null;) {
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
}

function init() {
    return new Extension();
}
