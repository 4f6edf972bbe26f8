// kept.js: tasks that the native part keeps
//
// The native part (introspection/gjs/native) posts and runs the tasks that need nothing but a callback and a priority or a signal, and
// what follows their yields, without a call through introspection.  Where the stack has to tell the state of a task, it calls its function
// by way of the overrides.  They reject what is aborted.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make */

const {Gio} = imports.gi;
const {BACKGROUND, UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;
const {closedError, setReason} = imports.overrides._priosched.core.reasons;
const {promiseOfThenable} = imports.overrides._priosched.core.settling;
const {State, recordOf, stateOf} = imports.overrides._priosched.core.states;

const PENDING = {isRejected: false};

// As much of an entry as core/results.js needs: settle (promise, rejects, value) is the native part's.
function entryOf(settle, promise, state = null) {
    return {
        promise, state, outer: null, name: null, isRejected: false,
        resolve: value => settle(promise, false, value), reject: reason => settle(promise, true, reason),
    };
}

// The tasks with signals that the native part keeps, as a table that core/aborts.js knows.  It keeps none while the overrides keep one of the
// same signal (may_keep (), in fast.cpp): so the tasks that it keeps were posted before.
class Kept {
    #TaskSignal;
    #abort; // the library's method, for reasons of any type
    #aborts;
    #native;
    #table; // the native one
    #defaultTable;

    constructor({TaskSignal, abort, aborts}, native, table, defaultTable) {
        this.#TaskSignal = TaskSignal;
        this.#abort = abort;
        this.#aborts = aborts;
        this.#native = native;
        this.#table = table;
        this.#defaultTable = defaultTable;
        aborts.tables.add(this);
    }

    find() {
        return PENDING;
    }

    // The owner of the signal, or null, has the reason of its abort.
    reasonFor(state, owner) {
        return owner?.aborted ? owner.reason : this.#defaultTable.reasonFor(state);
    }

    takeAborted(id) {
        const [promise, state, owner] = this.#native.takeTask(this.#table, id), entry = entryOf(this.#native.settle, promise);
        return {entry, settle: entry.reject, value: this.reasonFor(state, owner)};
    }

    takeRejected() {
        this.#aborts.rejectAll(this, this.#native.takeRejected(this.#table) ?? []);
    }

    // The data for the native part to keep a task with signal alone, or null if it is not a signal.
    handleOf(signal) {
        if (!(signal instanceof Gio.Cancellable))
            return null;
        const record = recordOf(signal);
        if (record.handle === null) {
            const priority = signal instanceof this.#TaskSignal ? UNSET : USER_VISIBLE;
            this.#native.offerSignal(signal);
            record.handle = this.#newHandle(stateOf(this.#defaultTable, signal, priority), null, UNSET, record);
        }
        return record.handle;
    }

    // For an owner, which keeps the handle: a signal of the library's is made when it is asked for.  priority is its
    // tasks' priority, which may be UNSET, and current the signal's.
    handleOfOwner(owner, priority, current) {
        if (owner.handle === null) {
            const signal = owner.controller?.signal ?? null, record = signal && recordOf(signal);
            if (signal !== null)
                this.#native.offerSignal(signal);
            owner.handle = this.#newHandle(new State(this.#defaultTable, null, priority, null, false, owner), owner, current, record);
        }
        return owner.handle;
    }

    #newHandle(state, owner, current, record) {
        state.keeper = this.#native.newHandle(state, state.priority, owner, current, record);
        return state.keeper;
    }

    // The controller of an owner that has a handle and no controller yet.
    controllerOf({aborted, handle, reason}) {
        this.#native.offerController(handle);
        const controller = this.#native.takeController();
        this.#native.setRecord(handle, recordOf(controller.signal));
        if (aborted)
            setReason(controller.signal, reason);
        return controller;
    }

    // Rejects the tasks of an owner, with or without a controller: first the running ones, and then the waiting ones.
    abort(owner) {
        const {controller, handle, reason} = owner;
        for (const promise of this.#native.getRunning(owner))
            this.#aborts.reject(entryOf(this.#native.settle, promise), reason);
        if (controller === null)
            this.#native.abort(handle);
        else
            this.#abort(controller, reason);
        this.takeRejected();
    }

    setPriority({handle}, priority) {
        this.#native.setPriority(handle, priority);
    }
}

// Called instead of a callback that is known by its name: it runs in its own state.
function nameCallback({runIn, running}, callback, name, given) {
    const state = given.named(name);
    const call = () => {
        let settle;
        runIn(state, () => {
            try {
                const value = running.pending.follow(state, callback());
                settle = () => value;
            } catch (error) {
                settle = () => {
                    throw error;
                };
            }
        });
        return settle();
    };
    return Object.defineProperty(call, 'name', {value: name});
}

// The functions that the native part calls, in its order (Hook, in engine.h).  A state is null where it is like none.
function hooksOf(native, table, defaultTable, kept, {results, runIn, running}) {
    const orNone = state => state ?? defaultTable.states[USER_VISIBLE];
    return {
        closedError,
        follow: (returned, promise, state, then) => results.follow(then === undefined ? returned : promiseOfThenable(returned, then),
            entryOf(native.settle, promise, orNone(state))),
        finish(outcome, state) {
            if (outcome.settle !== null) {
                outcome.settle(outcome.value);
            } else {
                outcome.isAwaited = true;
                running.pending.add(orNone(state));
            }
        },
        // Bound functions are not frames on the stack.
        run: defaultTable.runPrioSchedTasks.bind(defaultTable, native.runTable.bind(native, table)),
        isQuiet: running.isQuiet,
        unhandled: (promise, reason) => results.unhandled.add(promise, reason, null),
        named: (callback, name, state) => nameCallback({runIn, running}, callback, name, orNone(state)),
        report: () => results.report(),
        reason: (state, owner) => kept.reasonFor(state, owner),
        rejected: () => defaultTable.rejectPrioSchedTasks(kept),
        callUnder: (state, callback) => running.callUnder(state, callback),
        drainUnder: running.drainUnder,
        endUnder() {
            running.beginReactions(null);
            if (results.isWaiting)
                results.drain();
            running.endUnder();
        },
    };
}

// Returns the table of what the native part keeps, and hasten (), which puts a native function before the method `name` of prototype, for
// calls on receiver.  handleOf (signal) gives the handle of a signal, or null.  Functions that inherit directly from one of `others` are
// left to the method.  These are the tasks of scheduler that core/tasks.js need not know; it has a table for all others.
function make(native, scheduler, defaultTable, {TaskSignal, abort, aborts, results, runIn, running}) {
    native.newRunner(scheduler);
    const table = native.newTable(defaultTable.states.slice(BACKGROUND));
    const kept = new Kept({TaskSignal, abort, aborts}, native, table, defaultTable);
    native.setHooks(Object.values(hooksOf(native, table, defaultTable, kept, {results, runIn, running})));

    const hasten = (kind, prototype, name, receiver, handleOf, ...others) => {
        const method = prototype[name];
        const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
        const value = native[kind](table, receiver, method, method.name, method.length, handleOf, ...others);
        Object.defineProperty(prototype, name, {...descriptor, value});
    };
    return {hasten, kept};
}
