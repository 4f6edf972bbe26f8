// file-search.js: the crawler and the index of examples/file-search-extension, without a Shell
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.build_filenamev([imports.gi.GLib.path_get_dirname(imports.system.programPath),
    '..', 'bindings']));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, run, test} = imports.tap;

const EXTENSION = GLib.build_filenamev([GLib.path_get_dirname(imports.system.programPath), '..', '..', 'examples',
    'file-search-extension']);
const extras = PrioSched.web.extras.newScheduler();

async function start(folder) {
    const {Crawler} = await import(GLib.filename_to_uri(`${EXTENSION}/crawler.js`, null));
    const {WordIndex} = await import(GLib.filename_to_uri(`${EXTENSION}/wordIndex.js`, null));
    const index = new WordIndex(extras);
    return {index, crawler: new Crawler(index, extras, [folder])};
}

function remove(file) {
    if (file.query_file_type(Gio.FileQueryInfoFlags.NOFOLLOW_SYMLINKS, null) === Gio.FileType.DIRECTORY) {
        for (const info of file.enumerate_children('standard::name', Gio.FileQueryInfoFlags.NONE, null))
            remove(file.get_child(info.get_name()));
    }
    file.delete(null);
}

const save = file => file.replace_contents('words', null, false, Gio.FileCreateFlags.NONE, null);
const sleep = ms => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

async function isIndexed(index, file) {
    while (index.get(file.get_uri()) === undefined)
        await sleep(10); // eslint-disable-line no-await-in-loop
}

// Waits until a second crawler has been notified twice of a new file.  By then each crawler has been notified once.
async function isTold(folder) {
    const {crawler, index} = await start(folder);
    await crawler.idle();
    for (const name of ['one.txt', 'two.txt']) {
        save(folder.get_child(name));
        await isIndexed(index, folder.get_child(name)); // eslint-disable-line no-await-in-loop
    }
    crawler.destroy();
}

test('files that are saved while the index tidies are indexed before the crawler is idle', async () => {
    const folder = Gio.File.new_for_path(GLib.Dir.make_tmp('file-search-XXXXXX'));
    const {crawler, index} = await start(folder);
    const tidy = index.tidy.bind(index);
    index.tidy = async () => {
        index.tidy = tidy;
        await extras.adopt(isTold(folder));
    };
    await crawler.idle();
    assert(index.get(folder.get_child('one.txt').get_uri()) !== undefined);
    crawler.destroy();
    remove(folder);
});

test('a folder whose files are neither said to be hidden nor to be backups is read, and the folders in it', async () => {
    const {crawler, index} = await start(Gio.File.new_for_uri('resource:///org/gnome/gjs/modules'));
    const level = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_CRITICAL);
    await crawler.idle();
    GLib.log_set_always_fatal(level);
    for (const path of ['esm/gi.js', 'script/tweener/tweener.js'])
        assert(index.get(`resource:///org/gnome/gjs/modules/${path}`) !== undefined, path);
    crawler.destroy();
});

run();
