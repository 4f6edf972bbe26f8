// PrioSchedRunner.js: how the library calls JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported guardJobs, newRunner, typeName */

const {GLib, GObject} = imports.gi;

// The name of a type is taken for as long as the process lives, and each of its contexts needs one.
var typeName = function typeName(name) {
    let free = name;
    for (let i = 2; GObject.type_from_name(free) !== null; i++)
        free = `${name}${i}`;
    return free;
};

// GJS runs its jobs in a source before all others, and nobody but the source itself tells which that is: a job that it runs tells the
// library.  It is queued by a source that goes before tasks, since GJS 1.74 crashes where a program exits with a job in its queue.
// If a task has run it nevertheless, it is tried again, but not for ever: a GJS to come may call its source something else.
var guardJobs = function (Runner, tries = 16) {
    GLib.idle_add(-1000, () => {
        Promise.resolve().then(() => {
            const source = GLib.main_current_source();
            if (source?.get_name() === 'GjsPromiseJobQueueSource')
                Runner.guard_jobs(source);
            else if (tries > 1)
                guardJobs(Runner, tries - 1);
        });
        return GLib.SOURCE_REMOVE;
    });
};

// The library calls this by setting its property.  GJS blocks all closures while its garbage
// collector sweeps, and it sweeps in slices, between which JavaScript runs: with a closure,
// tasks would be lost, and without them the sweep would never end.
const Driver = GObject.registerClass({
    GTypeName: typeName('PrioSchedDriver'),
    Properties: {
        'id': GObject.ParamSpec.uint('id', null, null,
            GObject.ParamFlags.READWRITE | GObject.ParamFlags.EXPLICIT_NOTIFY, 0, 0xffffffff, 0),
        'asked': GObject.ParamSpec.uint('asked', null, null, GObject.ParamFlags.WRITABLE, 0, 0xffffffff, 0),
        'name': GObject.ParamSpec.string('name', null, null, GObject.ParamFlags.READABLE, null),
    },
}, class Driver extends GObject.Object {
    // Not 0 after System.exit (), which no `finally` notices.
    get id() {
        return this.running;
    }

    set id(id) {
        this.running = 1;
        this.run(id);
        this.running = 0;
    }

    // What the task that is asked for is called, which the library wants to know while somebody looks.
    set asked(id) {
        this.askedId = id;
    }

    get name() {
        const entry = this.find(this.askedId);
        return entry?.name || (entry?.callback?.calls ?? entry?.watcher?.handle?.callback ?? entry?.callback)?.name || null;
    }
});

// Calls run with the number of each task of scheduler, and find, which gives what its name and callback are known by.
var newRunner = function newRunner(scheduler, run, find = () => null) {
    const driver = new Driver();
    driver.run = run;
    driver.find = find;
    const runner = imports.gi.PrioSched.Runner.new_for_property(scheduler, driver, 'id');
    runner.set_name_properties(driver, 'asked', 'name');
    return runner;
};
