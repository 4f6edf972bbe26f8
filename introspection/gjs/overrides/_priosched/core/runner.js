// runner.js: how the library calls JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported guardJobs, loadBinding, newRunner, typeName */

const {GLib, GObject} = imports.gi;
const {drainMicrotaskQueue} = imports._promiseNative;
imports.gi.versions.PrioSchedGjs = '1';

// The name of a type is taken for as long as the process lives, and each of its contexts needs one.
var typeName = function typeName(name) {
    let free = name;
    for (let i = 2; GObject.type_from_name(free) !== null; i++)
        free = `${name}${i}`;
    return free;
};

// The source in which GJS runs its jobs.
const JOBS = 'GjsPromiseJobQueueSource';

// The first source of context that has that name, among the given ids.
function findJobs(context, from, to) {
    for (let id = from; id <= to; id++) {
        const source = context.find_source_by_id(id);
        if (source?.get_name() === JOBS)
            return source;
    }
    return null;
}

// The last id that has been given in context.
function lastId(context) {
    const probe = GLib.idle_source_new();
    const id = probe.attach(context);
    probe.destroy();
    return id;
}

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
    // How many setters are on the stack, or were stopped by System.exit (), which no `finally` notices.
    get id() {
        return this.running;
    }

    set id(id) {
        const outer = this.running;
        this.running = outer + 1;
        try {
            this.run(id);
        } finally {
            this.running = outer;
        }
    }

    // The name of the task, for which the library asks while it is observed.
    set asked(id) {
        this.askedId = id;
    }

    get name() {
        const entry = this.find(this.askedId);
        if (!entry?.callback)
            return entry?.state?.name ?? null;
        const name = entry.name || (entry.callback.calls ?? entry.watcher?.handle?.callback ?? entry.callback).name || null;
        if (name !== null)
            entry.state = entry.state.named(name);
        return name;
    }
});

// Calls run with the number of each task of scheduler, and find, which gives what its name and callback are known by.
var newRunner = function newRunner(scheduler, run, find = () => null) {
    const driver = Object.assign(new Driver(), {running: 0, run, find});
    return imports.gi.PrioSchedGjs.new_runner(scheduler, driver);
};

// Loads the binding's library, which the native part is linked to and might not find by itself.
var loadBinding = () => imports.gi.PrioSchedGjs.guard_jobs;

// Queues a job.
const Prober = GObject.registerClass({
    GTypeName: typeName('PrioSchedProber'),
    Properties: {'id': GObject.ParamSpec.uint('id', null, null, GObject.ParamFlags.WRITABLE, 0, 1, 0)},
}, class Prober extends GObject.Object {
    set id(_) {
        Promise.resolve().then(() => {});
    }
});

// Tells the binding which source runs GJS's jobs.  GJS attaches it early, at the latest with the first job, so it is among the first or
// comes with a job of ours, which is run at once: GJS 1.74 crashes where a program exits with a job in its queue.
// No callback is needed, which GJS 1.74 would refuse during a collection.
var guardJobs = function () {
    const guard = imports.gi.PrioSchedGjs.guard_jobs;
    const context = GLib.MainContext.get_thread_default() ?? GLib.MainContext.default();
    const last = lastId(context);
    let source = findJobs(context, 1, Math.min(last, 1000));
    if (source === null) {
        Promise.resolve().then(() => {});
        drainMicrotaskQueue();
        source = findJobs(context, last + 1, lastId(context));
    }
    if (source !== null)
        guard(source, new Prober());
};
