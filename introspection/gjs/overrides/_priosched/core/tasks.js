// tasks.js: the tables of all schedulers, and the data that they share
//
// An import creates no object of the library and adds no source, because an extension of GNOME Shell must not do so before it is
// enabled.  Both happen when the first table is made.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((Symbol, imports) => {
const {USER_VISIBLE} = imports.overrides._priosched.constants;
const {Aborts} = imports.overrides._priosched.core.aborts;
const Current = imports.overrides._priosched.core.current;
const {Idles} = imports.overrides._priosched.core.idles;
const {AbortWatch, makeAbort, reasonOf, report} = imports.overrides._priosched.core.reasons;
const {Results} = imports.overrides._priosched.core.results;
const {Running} = imports.overrides._priosched.core.running;
const {keepResolvers} = imports.overrides._priosched.core.settling;
const {doWithoutFrames} = imports.overrides._priosched.core.states;
const {Table} = imports.overrides._priosched.core.table;
const Kept = imports.overrides._priosched.core.kept;
const Runner = imports.overrides._priosched.core.runner;
const Native = imports.overrides._priosched.native;

const TABLE = Symbol('table');

// The tables, and the data that they share.  native is the native part or null; exact is the native part if it knows
// the state of each job, or null.
class Tables {
    #defaultScheduler = null;
    #defaultTable;
    #getDefault;
    #whenStarted = [];
    #ownScheduler;
    #own;
    #newScheduler;

    constructor({Runner, Scheduler, SchedulingState, TaskSignal}, native, exact) {
        const {ref_current: getLibraryState} = SchedulingState;
        this.#newScheduler = () => Scheduler.new(null);
        this.running = new Running(native, exact, () => Current.stateOf(getLibraryState(), scheduler => this.tableOf(scheduler)),
            () => this.results.wakeIfWaiting());
        this.results = new Results(native, exact, this.running, () => this.own);
        this.aborts = new Aborts(native, this.results);
        this.idles = new Idles(this.running, this.results);
        this.exact = exact;
        this.library = {next: Runner.next, end: Runner.end, TaskSignal};
        this.#getDefault = () => Scheduler.get_default();
    }

    // Calls callback with the default scheduler and its table: now or, if no scheduler has a table yet, when the first one gets a
    // table.
    whenStarted(callback) {
        if (this.#defaultScheduler === null)
            this.#whenStarted.push(callback);
        else
            callback(this.#defaultScheduler, this.#defaultTable);
    }

    #start() {
        Runner.guardJobs(() => this.running.mixJobs());
        // Looking up a property of a GObject costs as much as a call.  Nearly all tasks belong to the default scheduler, which is
        // never freed.  So this scheduler's table is kept here, and not in a property of the scheduler.
        this.#defaultScheduler = this.#getDefault();
        this.#defaultTable = new Table(this.#defaultScheduler, this);
        // The overrides' own tasks have a separate scheduler, which a program cannot pause.  That scheduler is created here, and
        // not at its first use, because extensions call abort () where they may not create objects.
        this.#ownScheduler = this.#newScheduler();
        this.#own = this.tableOf(this.#ownScheduler);
        for (const callback of this.#whenStarted.splice(0))
            callback(this.#defaultScheduler, this.#defaultTable);
    }

    tableOf(scheduler) {
        if (this.#defaultScheduler === null)
            this.#start();
        return scheduler === this.#defaultScheduler ? this.#defaultTable : (scheduler[TABLE] ??= new Table(scheduler, this));
    }

    // Returns the table of the overrides' own tasks.  A table does not hold its scheduler, so #ownScheduler does.
    get own() {
        if (this.#defaultScheduler === null)
            this.#start();
        return this.#own;
    }
}

function make(PrioSched) {
    const native = Native.open(), exact = native?.isExact ? native : null;
    if (exact)
        doWithoutFrames();
    const tables = new Tables(PrioSched, native, exact), {aborts, idles, results, running} = tables;
    const currentState = () => running.currentState();
    const runIn = (state, callback) => running.runIn(state, callback);
    const tableOf = scheduler => tables.tableOf(scheduler);
    const abort = makeAbort(PrioSched.TaskController);
    let keeps = {hasten: () => {}, kept: null};
    tables.whenStarted((scheduler, table) => {
        if (native !== null)
            keeps = Kept.make(native, scheduler, table, {abort, aborts, results, runIn, running, TaskSignal: PrioSched.TaskSignal});
    });

    return {
        abort, currentState, runIn, tableOf, keepResolvers, pending: running.pending, reasonOf, report,
        get kept() { return keeps.kept; },
        hasten: (...method) => keeps.hasten(...method),
        whenStarted: callback => tables.whenStarted(callback),
        beginAbort: reason => aborts.begin(reason),
        cancelIdle: id => idles.cancel(id),
        forgetHandle: native?.forgetHandle ?? (() => {}),
        isInLibrary: state => running.isInLibrary(state),
        nativePart: native?.gain,
        ownTable: () => tables.own,
        ...Current.make(PrioSched, {currentState, runIn, tableOf}),
        rejected: (reason, name) => results.rejected(reason, name),
        runAsNone: callback => runIn(null, callback),
        runSoon: (state, callback) => tables.own.wake(() => runIn(state, callback)),
        stateAfterAbort: ({priority, signal, table}) => table.states[priority || signal?.priority || USER_VISIBLE],
        takeRejected: () => aborts.takeRejected(),
        watchAbort: () => new AbortWatch(currentState()?.signal ?? null),
    };
}

return {make};
})(Symbol, imports);
