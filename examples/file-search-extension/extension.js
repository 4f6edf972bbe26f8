// extension.js: finds files in the overview, by their names and by the words in them
//
// crawler.js reads the files into the index of wordIndex.js, as `background` tasks.  fileSearch.js answers
// searches from the index, as `user-blocking` tasks, while the index grows.
//
// For GNOME Shell 45 and later.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as ParentalControlsManager from 'resource:///org/gnome/shell/misc/parentalControlsManager.js';

import {Crawler} from './crawler.js';
import {FileSearch} from './fileSearch.js';
import {WordIndex} from './wordIndex.js';

const {DIRECTORY_DESKTOP, DIRECTORY_DOCUMENTS, DIRECTORY_DOWNLOAD} = GLib.UserDirectory;

function toFolders(names) {
    if (names.length > 0)
        return names.map(name => Gio.File.new_for_commandline_arg(name));
    const kinds = [DIRECTORY_DOCUMENTS, DIRECTORY_DESKTOP, DIRECTORY_DOWNLOAD];
    const paths = kinds.map(kind => GLib.get_user_special_dir(kind));
    // GLib returns null or the home folder for a folder that is not set up.  The home folder is too large.
    return paths.filter(path => path !== null && path !== GLib.get_home_dir()).map(path => Gio.File.new_for_path(path));
}

export default class FileSearchExtension extends Extension {
    enable() {
        // A separate scheduler is independent of other extensions.  Its tasks make way for frames: the Shell's stage
        // reports when they are due.
        this._extras = PrioSched.web.extras.newScheduler();
        this._extras.followFrameClock(global.stage);

        this._index = new WordIndex(this._extras);
        this._provider = new FileSearch(this.uuid, this._index, this._extras);
        this._settings = this.getSettings();
        this._settingsId = this._settings.connect('changed::folders', () => this._crawl());
        this._crawl();

        // The Shell accepts a provider with an app only once it knows which apps are allowed.
        this._parental = ParentalControlsManager.getDefault();
        this._parentalId = this._parental.connect('app-filter-changed', () => this._register());
        this._register();
    }

    disable() {
        this._parental.disconnect(this._parentalId);
        this._settings.disconnect(this._settingsId);
        if (this._provider.display)
            Main.overview.searchController.removeProvider(this._provider);
        this._provider.destroy();
        this._crawler.destroy();
        this._extras.unfollowFrameClock(global.stage);
        this._extras = this._index = this._provider = this._settings = this._crawler = this._parental = null;
    }

    _register() {
        if (!this._provider.display)
            Main.overview.searchController.addProvider(this._provider);
    }

    _crawl() {
        this._crawler?.destroy();
        this._index.clear();
        this._crawler = new Crawler(this._index, this._extras, toFolders(this._settings.get_strv('folders')));
        this._provider.crawler = this._crawler;
    }
}
