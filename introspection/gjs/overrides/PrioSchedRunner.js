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

// The library calls this by setting its property.  GJS blocks all closures while its garbage
// collector sweeps, and it sweeps in slices, between which JavaScript runs: with a closure,
// tasks would be lost, and without them the sweep would never end.
const Driver = GObject.registerClass({
    GTypeName: typeName('PrioSchedDriver'),
    Properties: {
        'id': GObject.ParamSpec.uint('id', null, null,
            GObject.ParamFlags.WRITABLE | GObject.ParamFlags.EXPLICIT_NOTIFY, 0, 0xffffffff, 0),
    },
}, class Driver extends GObject.Object {
    set id(id) {
        this.run(id);
    }
});

// Calls run with the number of each task of scheduler..
var newRunner = function newRunner(scheduler, run) {
    const driver = new Driver();
    driver.run = run;
    return imports.gi.PrioSched.Runner.new_for_property(scheduler, driver, 'id');
};

// GJS runs its jobs in a source before all others, whose name says so.  The first job that it runs tells the library, which cannot
// find it otherwise.  If that job was run by a task, it is tried again, until no task comes before it.
var guardJobs = function (Runner) {
    Promise.resolve().then(() => {
        const source = GLib.main_current_source();
        if (source?.get_name() === 'GjsPromiseJobQueueSource') {
            Runner.guard_jobs(source);
        } else {
            GLib.idle_add(-1000, () => {
                guardJobs(Runner);
                return GLib.SOURCE_REMOVE;
            });
        }
    });
};
