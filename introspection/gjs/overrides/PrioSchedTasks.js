// PrioSchedTasks.js: tasks that are promises
//
// A task is a number to the library, which asks for it by a PrioSched.Runner: it costs
// a call to post it and two to run it, and no object, closure or trampoline in C.
//
// What state is current is known here, for the engine's jobs run within a task: with the
// state of that task until it has ended, then with that of whoever waits for it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {Gio, GLib, GObject} = imports.gi;
const {drainMicrotaskQueue} = imports._promiseNative;

const UNSET = 0;
const BACKGROUND = 1;
const USER_VISIBLE = 2;
const USER_BLOCKING = 3;
const REASON_DOMAIN = GLib.quark_from_string('prio-sched-js-reason');

const TABLE = Symbol('table');
const REASON = Symbol('reason');

// PrioSched.Posted
const REJECTED = 0;
const OUTSIDE = 1;
const INSIDE = 2;

// What a task was posted with: the table of its scheduler, its signal or null, and its
// priority, which may be UNSET: that of the signal.
class State {
    constructor(table, signal, priority, watcher = null) {
        this.table = table;
        this.signal = signal;
        this.priority = priority;
        this.watcher = watcher; // is told when the task settles
    }
}

// The executor of every promise: a closure less for each.  Who makes one calls post() or
// a yield of the table right after it.  The engine looks at the whole stack for every
// promise that is made or settled, so both are done in as few frames as possible.
let lastResolve, lastReject;
function keepResolvers(resolve, reject) {
    lastResolve = resolve;
    lastReject = reject;
}

// What the library calls by setting its property.  GJS refuses to call any closure as long
// as its collector sweeps, which goes on, slice by slice, while JavaScript runs: without
// this it would never end, and tasks be lost.
const Driver = GObject.registerClass({
    GTypeName: 'PrioSchedDriver',
    Properties: {
        'id': GObject.ParamSpec.uint('id', null, null,
            GObject.ParamFlags.WRITABLE | GObject.ParamFlags.EXPLICIT_NOTIFY, 0, 0xffffffff, 0),
    },
}, class Driver extends GObject.Object {
    set id(id) {
        this.run(id);
    }
});

// What is known of a task or, if it has no callback, of a continuation.
class Entry {
    constructor(callback, state) {
        this.callback = callback;
        this.state = state; // its own
        this.outer = null;  // of whoever waits for it
        this.resolve = lastResolve;
        this.reject = lastReject;
    }
}

function describe(value) {
    try {
        return String(value);
    } catch {
        return typeof value;
    }
}

function make(PrioSched) {
    const {IdleDeadline, Runner, SchedulingState, TaskSignal} = PrioSched;
    const {next, end} = Runner;

    // The current state: a State, or null for none.  It is undefined outside of what a
    // table runs, where the library knows.
    let current;
    // The State that the library has as the current one, or null.
    let libraryState = null;
    // How deep in main loops `current` is: a loop that is started within a task runs
    // what is no part of it.
    let depth = 0;

    function currentState() {
        if (current === undefined)
            return libraryCurrentState();
        return current === null || GLib.main_depth() === depth ? current : null;
    }

    function libraryCurrentState() {
        const state = SchedulingState.get_current();
        return state && new State(libraryTable(state.dup_scheduler()), state.get_signal(), state.get_priority());
    }

    function libraryTable(scheduler) {
        return scheduler === null ? null : tableOf(scheduler);
    }

    // The current state for what has been posted just now.
    function stateFor(posted) {
        if (current === null)
            return null;
        if (current === undefined)
            return posted === OUTSIDE ? null : libraryCurrentState();
        return (libraryState !== null ? posted === OUTSIDE : GLib.main_depth() !== depth) ? null : current;
    }

    // Values that are reasons.  The signal that was aborted has its own; those that depend on
    // it have a GError, whose code stands for the value.  No more than so many are known by
    // code: GJS 1.74 never tells that an object has gone (its WeakRef keeps what it refers to).
    const MAX_REASONS = 100;
    const reasons = new Map();
    let lastReason = 0;

    function wrapReason(signal, value) {
        const code = ++lastReason;
        signal[REASON] = {value};
        reasons.set(code, {value});
        reasons.delete(code - MAX_REASONS);
        return GLib.Error.new_literal(REASON_DOMAIN, code, describe(value));
    }

    function reasonOf(signal) {
        const error = signal instanceof TaskSignal ? signal.get_reason() : null;
        if (error?.domain !== REASON_DOMAIN)
            return error ?? new Gio.IOErrorEnum({code: Gio.IOErrorEnum.CANCELLED, message: 'Operation was cancelled'});
        const reason = signal[REASON] ?? reasons.get(error.code);
        return reason ? reason.value : error;
    }

    // Promises to settle as soon as the engine's queue is empty, each with the state of who
    // waits for it.
    const results = [];

    function settleLater(entry, settle, value) {
        if (entry.outer === (current ?? null)) {
            settle(value);
            return;
        }
        results.push({entry, settle, value});
        // Outside of what a table runs, nobody drains but the engine.
        if (current === undefined && results.length === 1)
            defaultTable.wake();
    }

    // Runs what the engine has queued, with the current state, and then what waits.
    function drain() {
        drainMicrotaskQueue();
        while (results.length > 0) {
            const {entry, settle, value} = results.shift();
            current = entry.outer;
            libraryState = null;
            settle(value);
            drainMicrotaskQueue();
        }
    }

    function newRunner(scheduler, run) {
        const driver = new Driver();
        driver.run = run;
        return Runner.new_for_property(scheduler, driver, 'id');
    }

    // The callbacks for idle time, by the numbers that the library has for them.
    const idles = new Map();

    function runIdle(id) {
        const callback = idles.get(id);
        idles.delete(id);
        callOutside(() => callback(IdleDeadline.get_current()));
    }

    function cancelIdle(id) {
        idles.delete(id);
    }

    // The tables that have tasks with signals.
    const withSignals = new Set();

    // Rejects the promises of what has been aborted, wherever it was posted.
    function takeRejected() {
        for (const table of [...withSignals])
            table.takeRejected();
    }

    // The tasks of a scheduler: what the numbers mean.
    class Table {
        #entries = [0]; // by number; where there is none, the next number that is free
        #free = 0;      // the first of them, or 0
        #states = [UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING].map(priority => new State(this, null, priority));
        #runner;
        #idleRunner = null;
        #nWithSignals = 0;

        constructor(scheduler) {
            this.#runner = newRunner(scheduler, id => this.#run(id));
        }

        #add(entry) {
            const id = this.#free || this.#entries.length;
            if (id === this.#free)
                this.#free = this.#entries[id];
            this.#entries[id] = entry;
            return id;
        }

        #take(id) {
            const entry = this.#entries[id];
            this.#entries[id] = this.#free;
            this.#free = id;
            if (entry.state.signal !== null && --this.#nWithSignals === 0)
                withSignals.delete(this);
            return entry;
        }

        // What the runner calls.
        #run(id) {
            const outer = current, outerState = libraryState, outerDepth = depth;
            depth = GLib.main_depth();
            if (id === 0) {
                current = libraryState = null;
                this.takeRejected();
                drain();
            }
            while (id !== 0) {
                const entry = this.#take(id);
                if (entry.callback !== null) {
                    this.#call(entry);
                } else {
                    current = entry.outer;
                    libraryState = entry.state;
                    entry.resolve();
                }
                drainMicrotaskQueue();
                if (results.length > 0)
                    drain();
                id = next();
            }
            current = outer;
            libraryState = outerState;
            depth = outerDepth;
        }

        #call(entry) {
            const {state} = entry;
            let value, settle = entry.resolve;
            current = libraryState = state;
            try {
                value = entry.callback();
                // It is not unhandled: whoever waits for the task hears of it.
                if (value instanceof Promise)
                    value.then(undefined, () => {});
            } catch (error) {
                settle = entry.reject;
                value = error;
            }
            drainMicrotaskQueue();

            // Its checkpoint is over, and its signal aborts it no more: the result settles,
            // and who waits for it goes on as what he is.
            if (end()) {
                settle = entry.reject;
                value = reasonOf(state.signal);
            }
            state.watcher?.settled();
            current = entry.outer;
            libraryState = null;
            if (value instanceof Promise && settle === entry.resolve) {
                value.then(result => settleLater(entry, entry.resolve, result),
                    error => settleLater(entry, entry.reject, error));
            } else {
                settle(value);
            }
        }

        requestIdle(scheduler, callback, timeout) {
            this.#idleRunner ??= newRunner(scheduler, runIdle);
            const id = this.#idleRunner.request_idle_callback(timeout);
            idles.set(id, callback);
            return id;
        }

        // Has drain() called, in a task of its own.
        wake() {
            const entry = new Entry(null, this.#states[USER_BLOCKING]);
            entry.resolve = () => {};
            this.#runner.post(this.#add(entry), USER_BLOCKING);
        }

        // Its signal has been aborted, or the main context has gone.
        #reject(entry) {
            const {signal, watcher} = entry.state;
            watcher?.settled();
            if (signal?.is_cancelled())
                settleLater(entry, entry.reject, reasonOf(signal));
            else
                settleLater(entry, entry.reject, new PrioSched.Error({code: PrioSched.Error.CLOSED, message: 'The main context has gone'}));
        }

        takeRejected() {
            for (const id of this.#runner.take_rejected() ?? [])
                this.#reject(this.#take(id));
        }

        #postFull(id, {signal, priority}, delay, continuation) {
            return this.#runner.post_full(id, priority, signal, delay, continuation);
        }

        // Counts entry, whose state is its own now, until take().
        #count(entry) {
            if (entry.state.signal !== null && this.#nWithSignals++ === 0)
                withSignals.add(this);
        }

        #enter(id, entry, outer, posted) {
            entry.outer = outer;
            this.#count(entry);
            if (posted === REJECTED)
                this.#reject(this.#take(id));
        }

        // Posts what settles the promise made last.
        post(callback, priority) {
            const entry = new Entry(callback, this.#states[priority]);
            const id = this.#add(entry);
            const posted = this.#runner.post(id, priority);
            // What is posted from outside any task waits as none.
            if (posted !== OUTSIDE || current)
                this.#enter(id, entry, stateFor(posted), posted);
        }

        // The same with all there is.  The watcher, if any, is told how to reject the promise,
        // and when it settles.
        postWith(callback, priority, signal, delay, watcher = null) {
            if (priority === UNSET && !(signal instanceof TaskSignal))
                priority = USER_VISIBLE;
            if (signal === null && delay === 0) {
                this.post(callback, priority);
                return;
            }
            const entry = new Entry(callback, new State(this, signal, priority, watcher));
            watcher?.posted(reason => settleLater(entry, entry.reject, reason));
            const id = this.#add(entry);
            const posted = this.#postFull(id, entry.state, delay, false);
            this.#enter(id, entry, stateFor(posted), posted);
        }

        // What a continuation of state is posted with.
        #stateToInherit(state) {
            return state !== null && state.table === this ? state : this.#states[USER_VISIBLE];
        }

        // Has the promise made last resolved when the current task, with the state it has,
        // may go on.
        yield() {
            const entry = new Entry(null, libraryState);
            const id = this.#add(entry);

            // What the library has as the current state is inherited there.
            if (libraryState !== null && libraryState === (current ?? this.#states[USER_VISIBLE]) &&
                libraryState.table === this) {
                const posted = this.#runner.yield(id);
                if (posted === INSIDE) {
                    entry.outer = current;
                    if (entry.state.signal !== null)
                        this.#count(entry);
                } else {
                    this.#strayed(id, entry, posted);
                }
            } else if (current === undefined) {
                this.#strayed(id, entry, this.#runner.yield(id));
            } else {
                const outer = currentState();
                entry.state = this.#stateToInherit(outer);
                this.#enter(id, entry, outer, this.#postFull(id, entry.state, 0, true));
            }
        }

        // A continuation of what may be no part of the current task.
        #strayed(id, entry, posted) {
            const outer = stateFor(posted);
            entry.state = this.#stateToInherit(outer);
            this.#enter(id, entry, outer, posted);
        }

        // The older draft's options: what is not inherited is given.
        yieldWith(inheritsSignal, signal, inheritsPriority, priority) {
            const outer = currentState();
            const inherited = this.#stateToInherit(outer);

            if (inheritsSignal && priority === UNSET)
                inheritsPriority = true;
            if (inheritsSignal)
                ({signal} = inherited);
            if (inheritsPriority) {
                ({priority} = inherited);
                if (priority === UNSET && signal !== inherited.signal)
                    signal = TaskSignal.any_following(signal ? [signal] : [], inherited.signal);
            }
            if (priority === UNSET && !(signal instanceof TaskSignal))
                priority = USER_VISIBLE;

            const entry = new Entry(null, new State(this, signal, priority));
            const id = this.#add(entry);
            this.#enter(id, entry, outer, this.#postFull(id, entry.state, 0, true));
        }
    }

    function report(error) {
        logError(error instanceof Error ? error : new Error(describe(error)), 'Uncaught');
    }

    // A job of the engine's, with the state of now.
    function queueMicrotask(callback) {
        const state = currentState();
        Promise.resolve().then(() => {
            const outer = current;
            current = state;
            try {
                callback();
            } catch (error) {
                report(error);
            }
            current = outer;
        });
    }

    // Calls callback as no part of the task that calls it.
    function runAsNone(callback) {
        const outer = current, outerState = libraryState;
        current = libraryState = null;
        try {
            callback();
        } finally {
            current = outer;
            libraryState = outerState;
        }
    }

    // Calls callback, whose state the library knows, and what the engine has queued then.
    function callOutside(callback) {
        const outer = current, outerState = libraryState;
        current = undefined;
        libraryState = null;
        try {
            callback();
        } catch (error) {
            report(error);
        }
        drain();
        current = outer;
        libraryState = outerState;
    }

    // To look a property of an object of the library's up takes as long as a call; nearly
    // all tasks are of this one, which stays.
    const defaultScheduler = PrioSched.Scheduler.get_default();
    const defaultTable = new Table(defaultScheduler);

    function tableOf(scheduler) {
        return scheduler === defaultScheduler ? defaultTable : (scheduler[TABLE] ??= new Table(scheduler));
    }

    return {tableOf, keepResolvers, USER_VISIBLE, queueMicrotask, runAsNone, cancelIdle, takeRejected, wrapReason, report};
}
