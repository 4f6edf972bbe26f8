// runner.js: how the library calls JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {guardJobs, loadBinding, newRunner, typeName} = ((Object, Promise, Math, imports) => {
const {GLib, GObject} = imports.gi;
const {drainMicrotaskQueue} = imports._promiseNative;
imports.gi.versions.PrioSchedGjs = '1';

// Returns a free name for a GType: the given name, or the name and a number.  A type's name is registered for the life of
// the process, and each context of GJS needs a different one.
function typeName(name) {
    let free = name;
    for (let i = 2; GObject.type_from_name(free) !== null; i++)
        free = `${name}${i}`;
    return free;
}

// The name of the source in which GJS runs its jobs.
const JOBS = 'GjsPromiseJobQueueSource';

// Returns the source in which GJS runs its jobs, among the sources of context with the ids from `from` to `to`, or null.
function findJobs(context, from, to) {
    for (let id = from; id <= to; id++) {
        const source = context.find_source_by_id(id);
        if (source?.get_name() === JOBS)
            return source;
    }
    return null;
}

// Returns the latest id of a source of context, by attaching a new source.
function lastId(context) {
    const probe = GLib.idle_source_new();
    const id = probe.attach(context);
    probe.destroy();
    return id;
}

// Calls JavaScript when the library sets a property of this object.  A closure would not do: GJS 1.74 blocks all closures
// while its garbage collector sweeps, and the collector sweeps in slices, between which JavaScript runs.  Tasks would be
// lost, and without tasks the sweep would never end.
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

    // Sets the number of the task whose name the property `name` then has.  The library asks for names while tasks are
    // observed.
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

// Creates a runner for tasks of scheduler.  It calls run (id) with the number of a task that is to run first, or with 0 if
// tasks have been rejected.  find (id) returns the entry of a task, which has the task's name and callback.
function newRunner(scheduler, run, find = () => null) {
    const driver = Object.assign(new Driver(), {running: 0, run, find});
    return imports.gi.PrioSchedGjs.new_runner(scheduler, driver);
}

// Loads the binding's library by a look-up of one of its functions.  The native part is linked to this library, which the
// dynamic linker might not find by itself.
const loadBinding = () => imports.gi.PrioSchedGjs.guard_jobs;

// An object by which binding/jobs.c calls JavaScript.  The setter of `id` queues a job.  The setter of `left` calls jobsLeft ().
const Prober = GObject.registerClass({
    GTypeName: typeName('PrioSchedProber'),
    Properties: Object.fromEntries(['id', 'left'].map(name => [name, GObject.ParamSpec.uint(name, null, null, GObject.ParamFlags.WRITABLE, 0, 1, 0)])),
}, class Prober extends GObject.Object {
    set id(_) {
        Promise.resolve().then(() => {});
    }

    set left(_) {
        this.jobsLeft();
    }
});

// Tells the binding which source runs GJS's jobs.  GJS attaches that source early, at the latest for the first job.  So this
// looks for the source among the first ids of the context.  If the source is not there, queues a job, and looks for the
// source that GJS has attached for it.  The job is run at once, because GJS 1.74 crashes if a program exits with a job in
// the queue.  The binding gets an object with property setters, because GJS 1.74 would refuse a callback during a collection.
// jobsLeft () is called in a main loop that a job runs, if other jobs are queued: they run when that job has returned.
function guardJobs(jobsLeft) {
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
        guard(source, Object.assign(new Prober(), {jobsLeft}));
}

return {guardJobs, loadBinding, newRunner, typeName};
})(Object, Promise, Math, imports);
