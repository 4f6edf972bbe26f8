// shell-search.js: searches in GNOME Shell with the extension of examples/file-search-extension
//
// The body of an extension for check-shell-search.py, in any Shell, which passes Main: start () enables the search
// extension, types into the overview, and prints the results.  The reading of one folder is delayed, so that the order of
// events is known.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported start */
/* global Main */

const {Gio, GLib, St} = imports.gi;

const UUID = 'file-search@prio-sched.example.org';
const FOLDER = GLib.getenv('FILE_SEARCH_FOLDER');
const N_FILES = Number(GLib.getenv('FILE_SEARCH_FILES'));
const ENABLED = 1;
const GAP = 30; // milliseconds between a frame and the request for the next
const TRIES = 4;
const LEAST = 1 / 3; // share of the frames beside a paused scheduler

const manager = Main.extensionManager;
const controller = Main.overview.searchController ?? Main.overview._overview._controls._searchController;
const view = controller._searchResults;

const now = () => GLib.get_monotonic_time();
const say = text => log(`shell-search: ${text}`);
const sleep = milliseconds => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, milliseconds, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

async function until(what, look) {
    say(`… ${what}`); // if this waits for ever, the last line shows the reason
    while (!look())
        await sleep(10); // eslint-disable-line no-await-in-loop
}

function assert(what, value) {
    if (!value)
        throw new Error(what);
    say(`ok ${what}`);
}

// Reading the folder "held" waits until the test releases it.
const local = Object.getPrototypeOf(Gio.File.new_for_path('/')); // the class, which has a copy of its interface's
                                                                 // methods
const held = {path: `${FOLDER}/deep/in/held`, isReached: false, letGo() {}};

function hold() {
    Gio._promisify(Gio.File.prototype, 'enumerate_children_async');
    const read = Gio.File.prototype.enumerate_children_async;
    const wait = new Promise(resolve => (held.letGo = resolve));
    held.isReached = false;
    local.enumerate_children_async = function (...args) {
        if (this.get_path() !== held.path)
            return read.apply(this, args);
        held.isReached = true;
        return wait.then(() => read.apply(this, args));
    };
}

const extension = () => manager.lookup(UUID).stateObj;
const provider = () => view._providers.find(other => other.id === UUID);

async function enable() {
    manager.enableExtension(UUID);
    await until('the provider', () => manager.lookup(UUID).state === ENABLED && provider());
}

async function disable() {
    manager.disableExtension(UUID);
    await until('no provider', () => manager.lookup(UUID).state !== ENABLED);
}

// Returns the names that the overview shows.
function shown() {
    const {display} = provider();
    const actors = display.visible ? display._content?.get_children() ?? display._grid.get_children() : [];
    return actors.map(({metaInfo}) => metaInfo.name).sort().join(' ');
}

const type = text => (controller._entry.text = text);

// Asks the provider itself, until it finds n files.
async function answers(word, n) {
    say(`… ${n} with “${word}”`);
    /* eslint-disable no-await-in-loop */
    while ((await provider().getInitialResultSet([word], new Gio.Cancellable())).length !== n)
        await sleep(10);
    /* eslint-enable no-await-in-loop */
}

// Types text, and waits until the overview shows the provider's results.
async function finds(text, names) {
    type(text);
    await until(`“${text}” in ${names}`,
        () => view._searchTimeoutId === 0 && !provider().searchInProgress && shown() === names);
}

// Returns how many frames are drawn until the condition holds, and how long that takes.  There is a pause before each
// request: if the processor itself draws, continuous frames would leave no time for background work.
async function frames(what, look) {
    const began = now();
    let n = 0, isOver = false;
    const actor = new St.Widget({width: 16, height: 16, style: 'background-color: red'});
    Main.uiGroup.add_child(actor);
    const id = global.stage.connect('after-paint', () => {
        n++;
        sleep(GAP).then(() => isOver || actor.queue_redraw());
    });
    await until(what, look);
    isOver = true;
    global.stage.disconnect(id);
    actor.destroy();
    return [n, now() - began];
}

const read = path => new TextDecoder().decode(GLib.file_get_contents(path)[1]);

// Returns how many files the folder has, or how often the pattern is in them.
const count = (folder, pattern) => {
    let n = 0;
    const files = Gio.File.new_for_path(folder).enumerate_children('standard::name', Gio.FileQueryInfoFlags.NONE, null);
    for (let info; (info = files.next_file(null)) !== null;) {
        try {
            n += pattern === null ? 1 : read(`${folder}/${info.get_name()}`).split(pattern).length - 1;
        } catch {
            // This is the descriptor of the folder that is being read.
        }
    }
    files.close(null);
    return n;
};
const watches = () => count('/proc/self/fdinfo', 'inotify wd:');
const descriptors = () => count('/proc/self/fd', null);
const write = (name, text) => GLib.file_set_contents(`${FOLDER}/${name}`, text);

async function checkFrames() {
    for (let i = 1; ; i++) {
        const {native} = extension()._extras, index = extension()._index;
        /* eslint-disable no-await-in-loop */
        const [indexing, time] = await frames('the files', () => index.length >= N_FILES);
        await until('what is held', () => held.isReached);
        native.pause();
        const end = now() + time;
        const [paused] = await frames('the same time', () => now() >= end);
        native.resume();
        say(`${indexing} frames while ${index.length} files are indexed, ${paused} in the same ${
            Math.round(time / 1000)} ms while they are not`);
        if (indexing >= LEAST * paused || i === TRIES) {
            assert('frames are drawn while it indexes', indexing >= LEAST * paused);
            return;
        }
        await disable();
        held.isReached = false;
        await enable();
        /* eslint-enable no-await-in-loop */
    }
}

async function checkSearches() {
    const {_crawler: crawler} = extension();
    await finds('quokka', 'a.txt b.txt');
    assert('results come before the indexing has ended', !crawler.isIdle);

    // Waits for the first result, because no file with the word has been found.
    const before = provider().getInitialResultSet(['numbat'], new Gio.Cancellable());
    const after = provider().getInitialResultSet(['platypus'], new Gio.Cancellable());
    assert('the last search wins', (await before).length === 0 && (await after).length === 1);

    type('numbat');
    await until('a search that has found nothing', () => view._searchTimeoutId === 0 && provider().searchInProgress);
    await finds('quokka', 'a.txt b.txt');
    assert('it wins in the Shell', !crawler.isIdle);

    await finds('echid', 'c.txt');
    assert('one of two is found', !crawler.isIdle);
    held.letGo();
    await until('the other', () => shown() === 'c.txt held.txt');
    assert('later results are shown without another search', true);
    await until('all', () => crawler.isIdle);
    await finds('numbat', 'held.txt');
}

async function checkFiles() {
    const index = extension()._index;
    await finds('zurich', 'accents.txt');
    await finds('森', 'cjk.txt');
    await finds('bilby', 'caf\ufffd wombat.txt (invalid encoding)');
    await finds('thylacine dugong', 'huge.txt');
    for (const word of ['quagga', 'moa', 'dodo', 'aurochs'])
        await answers(word, 0); // eslint-disable-line no-await-in-loop
    assert('a file that is hidden, or behind a link, or no text, and words far down in a file are not found', true);

    const {length} = index;
    write('many/1/added.txt', 'kookaburra');
    await answers('kookaburra', 1);
    await finds('kookaburra', 'added.txt');
    assert('a file that is added is found', true);
    write('many/1/added.txt', 'currawong');
    await answers('currawong', 1);
    await answers('kookaburra', 0);
    assert('a file that is changed is found by its new text only', index.length === length + 1);
    GLib.mkdir_with_parents(`${FOLDER}/later/in`, 0o700);
    write('later/in/deep.txt', 'galah');
    await answers('galah', 1);
    Gio.File.new_for_path(`${FOLDER}/later`).move(Gio.File.new_for_path(`${FOLDER}/many/moved`), 0, null, null);
    const moved = Gio.File.new_for_path(`${FOLDER}/many/moved/in/deep.txt`).get_uri();
    await until('a moved folder', () => index.get(moved) && index.length === length + 2);
    await finds('galah', 'deep.txt');
    GLib.spawn_command_line_sync(`rm -r ${FOLDER}/many/1 ${FOLDER}/many/moved`);
    await answers('galah', 0);
    await answers('currawong', 0);
    assert('files of a folder that is removed are not found', true);
}

async function checkLaunch() {
    await finds('platypus', 'd.txt');
    const opened = GLib.getenv('FILE_SEARCH_OPENED');
    provider().display.getFirstResult().activate();
    await until('an opened file', () => GLib.file_test(opened, GLib.FileTest.EXISTS) &&
        read(opened) === `${FOLDER}/d.txt`);
}

async function check() {
    await until('the Shell', () => !Main.layoutManager._startingUp);
    const before = [watches(), descriptors()];
    hold();
    await enable();
    await checkFrames();
    Main.overview.show();
    await until('the overview', () => Main.overview.visible && !Main.overview.animationInProgress);
    await checkSearches();
    await checkFiles();
    await checkLaunch();
    await disable();

    hold();
    await enable();
    const {native} = extension()._extras;
    const search = provider().getInitialResultSet(['numbat'], new Gio.Cancellable());
    await until('some files', () => extension()._index.length > 20);
    assert('folders are watched', watches() > before[0] && !extension()._crawler.isIdle);
    await disable();
    assert('a search ends', (await search).length === 0);
    await until('nothing that waits', () => native.count_pending() === 0);
    assert('the provider is gone', provider() === undefined);
    await until('no watches', () => watches() === before[0]);
    await until('no open files', () => descriptors() <= before[1]);
    held.letGo();
    await sleep(100);
    assert('nothing is left', native.count_pending() === 0 && watches() === before[0]);
}

var start = async function start() { // eslint-disable-line no-var
    try {
        await check();
        say('done');
    } catch (error) {
        say(`failed: ${error.message}\n${error.stack}`);
    }
};
