// runner.js: how the library calls JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// Why this is a function: see “Names” in introspection/README.md.
var {guardJobs, loadBinding, newRunner, typeName} = ((Object, Promise, Math, imports) => {
const {GLib, GObject} = imports.gi;
const {drainMicrotaskQueue} = imports._promiseNative;
imports.gi.versions.PrioSchedGjs = '1';

// The name of a type is registered for the life of the process, and each context of GJS needs a different one.
function typeName(name) {
    let free = name;
    for (let i = 2; GObject.type_from_name(free) !== null; i++)
        free = `${name}${i}`;
    return free;
}

// The source in which GJS runs its jobs.
const JOBS = 'GjsPromiseJobQueueSource';

// Returns the first source of context with that name, among the given ids.
function findJobs(context, from, to) {
    for (let id = from; id <= to; id++) {
        const source = context.find_source_by_id(id);
        if (source?.get_name() === JOBS)
            return source;
    }
    return null;
}

// Returns the last id that has been used in context.
function lastId(context) {
    const probe = GLib.idle_source_new();
    const id = probe.attach(context);
    probe.destroy();
    return id;
}

// Calls JavaScript when the library sets a property of this object.  A closure would not do: GJS blocks all closures
// while its garbage collector sweeps, and it sweeps in slices, between which JavaScript runs.  Tasks would be lost, and
// without tasks the sweep would never end.
const Driver = GObject.registerClass({
    GTypeName: typeName('PrioSchedDriver'),
    Properties: {
        'id': GObject.ParamSpec.uint('id', null, null,
            GObject.ParamFlags.READWRITE | GObject.ParamFlags.EXPLICIT_NOTIFY, 0, 0xffffffff, 0),
        'asked': GObject.ParamSpec.uint('asked', null, null, GObject.ParamFlags.WRITABLE, 0, 0xffffffff, 0),
        'name': GObject.ParamSpec.string('name', null, null, GObject.ParamFlags.READABLE, null),
    },
}, class Driver extends GObject.Object {
    // Returns how many setters are on the stack or never returned because of System.exit (), which skips `finally`.
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

    // Sets the name of the task; the library asks for it while the task is observed.
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

// Creates a runner that calls run with the number of each task of scheduler; find (id) returns the name and the
// callback of a task.
function newRunner(scheduler, run, find = () => null) {
    const driver = Object.assign(new Driver(), {running: 0, run, find});
    return imports.gi.PrioSchedGjs.new_runner(scheduler, driver);
}

// Loads the binding's library, to which the native part is linked: the linker might not find it later.
const loadBinding = () => imports.gi.PrioSchedGjs.guard_jobs;

// An object whose property setter queues a job.
const Prober = GObject.registerClass({
    GTypeName: typeName('PrioSchedProber'),
    Properties: {'id': GObject.ParamSpec.uint('id', null, null, GObject.ParamFlags.WRITABLE, 0, 1, 0)},
}, class Prober extends GObject.Object {
    set id(_) {
        Promise.resolve().then(() => {});
    }
});

// Tells the binding which source runs GJS's jobs.  GJS attaches that source early, at the latest for the first job.  So it is among
// the first sources, or is attached for a job that is queued here and run at once: GJS 1.74 crashes where a program exits with a job
// in its queue.  A property setter queues the job, because GJS 1.74 would refuse a callback during a collection.
function guardJobs() {
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
}

return {guardJobs, loadBinding, newRunner, typeName};
})(Object, Promise, Math, imports);
