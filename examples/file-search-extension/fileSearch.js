// fileSearch.js: the provider of search results that the overview calls

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';
import Shell from 'gi://Shell';
import St from 'gi://St';

import * as Main from 'resource:///org/gnome/shell/ui/main.js';

const {TaskController, TaskSignal} = PrioSched.web;

Gio._promisify(Gio.AppInfo, 'launch_default_for_uri_async');

const MAX_RESULTS = 20;
const HOME = GLib.get_home_dir();

export class FileSearch {
    #controller = null; // controller of the last search
    #extras;
    #index;

    constructor(id, index, extras) {
        this.id = id;
        this.isRemoteProvider = false;
        this.canLaunchSearch = false;
        this.maxResults = MAX_RESULTS;
        this.crawler = null;
        // With an app the results are a list, and without one they are a grid.
        this.appInfo = Shell.AppSystem.get_default().lookup_app('org.gnome.Nautilus.desktop')?.app_info ?? null;
        this.#index = index;
        this.#extras = extras;
    }

    destroy() {
        this.#controller?.abort();
    }

    async getInitialResultSet(terms, cancellable) {
        this.#controller?.abort();
        this.#controller = new TaskController({priority: 'user-blocking'});
        const signal = TaskSignal.any([this.#controller.signal, cancellable], {priority: 'user-blocking'});
        try {
            return await this.#extras.scheduler.postTask(() => this.#search(terms, signal), {signal});
        } catch (error) {
            if (!signal.aborted)
                logError(error, this.id);
            return [];
        }
    }

    // Searches anew, because the index may have grown since the previous results.
    getSubsearchResultSet(_previousResults, terms, cancellable) {
        return this.getInitialResultSet(terms, cancellable);
    }

    // Returns the files that have been found so far.  If there are none yet, and files are still being indexed, waits
    // for the first file.
    async #search(terms, signal) {
        const {adopt, scheduler} = this.#extras;
        const query = await this.#index.query(terms, signal);
        let results = await this.#index.best(query, MAX_RESULTS);
        while (results.length === 0 && !this.crawler.isIdle) {
            // eslint-disable-next-line no-await-in-loop
            await adopt(Promise.race([query.more(), this.crawler.idle()]));
            results = await this.#index.best(query, MAX_RESULTS); // eslint-disable-line no-await-in-loop
        }
        scheduler.postTask(() => this.#showMore(query, terms, [...results]), {signal, priority: 'user-visible'})
            .catch(error => {
                if (!signal.aborted)
                    logError(error, this.id);
            });
        return results;
    }

    // Shows later results after the others, so that nothing moves just before the user clicks.
    async #showMore(query, terms, results) {
        while (results.length < MAX_RESULTS) {
            /* eslint-disable no-await-in-loop */
            await this.#extras.adopt(query.more());
            const more = await this.#index.best(query, MAX_RESULTS);
            results.push(...more.filter(uri => !results.includes(uri)));
            results.length = Math.min(results.length, MAX_RESULTS);
            // The Shell has no other function to add later results.
            await this.display.updateSearch([...results], terms, () => {});
            /* eslint-enable no-await-in-loop */
        }
    }

    filterResults(results, max) {
        return results.slice(0, max);
    }

    async getResultMetas(uris) {
        return uris.map(uri => {
            const name = this.#index.get(uri)?.name ?? uri; // the file may have been removed meanwhile
            const folder = Gio.File.new_for_uri(uri).get_parent()?.get_parse_name() ?? '';
            const [type] = Gio.content_type_guess(name, null);
            return {
                id: uri,
                name,
                description: `${folder}/`.startsWith(`${HOME}/`) ? `~${folder.slice(HOME.length)}` : folder,
                createIcon: size => new St.Icon({gicon: Gio.content_type_get_icon(type), icon_size: size}),
            };
        });
    }

    activateResult(uri) {
        const name = this.#index.get(uri)?.name ?? uri;
        Gio.AppInfo.launch_default_for_uri_async(uri, global.create_app_launch_context(0, -1), null)
            .catch(error => Main.notifyError(name, error.message));
    }

    // Called when the app's icon is clicked.
    launchSearch() {
        this.appInfo.launch([], global.create_app_launch_context(0, -1));
    }
}
