// kept.js: tasks that the native part keeps
//
// The native part (introspection/gjs/native) posts and runs the tasks that have only a callback and a priority or a signal, and their
// continuations, without a call through introspection.  If the stack has to identify the state of a task, the native part calls the
// task's function through the overrides.  The overrides reject aborted tasks.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Object, imports) => {
const {Gio} = imports.gi;
const {BACKGROUND, UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;
const {closedError, setReason} = imports.overrides._priosched.core.reasons;
const {promiseOfThenable} = imports.overrides._priosched.core.settling;
const {State, recordOf, stateOf} = imports.overrides._priosched.core.states;

const PENDING = {isRejected: false};

// Returns an object with the members of an Entry that core/results.js needs.  settle (promise, rejects, value) is a function of
// the native part, and outer the state of the code that has posted the task.
function entryOf(settle, promise, outer, state = null) {
    return {
        promise, state, outer, name: null, isRejected: false,
        resolve: value => settle(promise, false, value), reject: reason => settle(promise, true, reason),
    };
}

// The tasks with signals that the native part keeps, as a table that core/aborts.js knows.  The native part keeps no task of a
// signal while the overrides keep another task of the same signal (may_keep (), in fast.cpp).  So the native part's tasks of a
// signal were posted before the overrides' tasks, and are rejected first.
class Kept {
    #TaskSignal;
    #abort; // the library's method, which takes reasons of any type
    #aborts;
    #native;
    #table; // the native part's table
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

    // Returns the reason for which a task is rejected.  If the task has an owner (see State) that is aborted, the owner has the
    // reason.
    reasonFor(state, owner) {
        return owner?.aborted ? owner.reason : this.#defaultTable.reasonFor(state);
    }

    takeAborted(id) {
        const [promise, state, owner, outer] = this.#native.takeTask(this.#table, id);
        const entry = entryOf(this.#native.settle, promise, outer);
        return {entry, settle: entry.reject, value: this.reasonFor(state, owner)};
    }

    takeRejected() {
        this.#aborts.rejectAll(this, this.#native.takeRejected(this.#table) ?? []);
    }

    // Returns the handle with which the native part keeps tasks that have signal and no other option, or null if signal is
    // not a cancellable.
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

    // Returns the handle of an owner (see State), and creates it at the first call.  If the owner has no controller of the
    // library, the native part creates a controller for the handle; controllerOf () creates its JavaScript object on request.
    // priority is the priority of the tasks, which may be UNSET, and current is the signal's priority.
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

    // Returns a new object for the controller that the native part has created for an owner's handle.
    controllerOf({aborted, handle, reason}) {
        this.#native.offerController(handle);
        const controller = this.#native.takeController();
        this.#native.setRecord(handle, recordOf(controller.signal));
        if (aborted)
            setReason(controller.signal, reason);
        return controller;
    }

    // Aborts the signal of an owner, with or without a controller, and rejects the tasks: first the running ones, then the
    // waiting ones.
    abort(owner) {
        const {controller, handle, reason} = owner, running = this.#native.getRunning(owner);
        for (let i = 0; i < running.length; i += 2)
            this.#aborts.reject(entryOf(this.#native.settle, running[i], running[i + 1]), reason);
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

// Returns a function for the native part that calls callback in a separate state with that name, so that the task's
// continuations have the name, too.  If the callback returns a promise, the state is kept until the promise settles.
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

// Returns the functions that the native part calls, in the order of Hook, in engine.h.  As an argument, the state null stands for
// the state of tasks that have only the default priority.
function hooksOf(native, table, defaultTable, kept, {results, runIn, running}) {
    const orNone = state => state ?? defaultTable.states[USER_VISIBLE];
    return {
        closedError,
        follow: (returned, promise, state, then, outer) => results.follow(then === undefined ? returned : promiseOfThenable(returned, then),
            entryOf(native.settle, promise, outer, orNone(state))),
        // Ends a task whose function has returned a promise.  outer is undefined if the task has been aborted.
        finish(outcome, state, outer) {
            if (results.keepState(outcome, orNone(state), outer === undefined) || outer === undefined)
                return;
            if (outer === null) {
                outcome.settle(outcome.value);
            } else {
                running.settleUnder(outer, () => outcome.settle(outcome.value));
            }
        },
        // Both functions are bound, because a bound function adds no frame to the stack.
        run: defaultTable.runPrioSchedTasks.bind(defaultTable, native.runTable.bind(native, table)),
        stateHere: running.stateHere,
        unhandled: (promise, reason) => results.unhandled.add(promise, reason, null),
        named: (callback, name, state) => nameCallback({runIn, running}, callback, name, orNone(state)),
        report: () => results.report(),
        reason: (state, owner) => kept.reasonFor(state, owner),
        rejected: () => defaultTable.rejectPrioSchedTasks(kept),
        callUnder: (state, callback) => running.callUnder(state, callback),
        drainUnder(state) {
            running.leaveNative();
            running.drainUnder(state);
            results.drainBeforeResult();
        },
        settleUnder: (state, promise, value) => running.settleUnder(state, () => promise && native.settle(promise, false, value)),
        endUnder() {
            running.beginReactions(null);
            if (results.isWaiting) {
                results.drain();
                running.beginReactions(null);
            }
            running.endUnder();
        },
    };
}

// Makes the native part's table, for the tasks that the native part keeps; defaultTable has all other tasks of the default
// scheduler.  Returns the Kept, and hasten ().  That function replaces the method `name` of prototype by a native function, which
// handles simple calls on receiver, and passes all other calls to the method, such as calls with a generator function: a callback
// whose prototype is one of `others`.  handleOf (signal) returns the handle of a signal, or null.
function make(native, scheduler, defaultTable, {TaskSignal, abort, aborts, results, runIn, running}) {
    native.newRunner(scheduler);
    const table = native.newTable(defaultTable.states.slice(BACKGROUND));
    const kept = new Kept({TaskSignal, abort, aborts}, native, table, defaultTable);
    running.keepPlain(native, defaultTable.states[USER_VISIBLE]);
    native.setHooks(Object.values(hooksOf(native, table, defaultTable, kept, {results, runIn, running})));

    const hasten = (kind, prototype, name, receiver, handleOf, ...others) => {
        const method = prototype[name];
        const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
        if (!descriptor.writable)
            return; // a program has frozen the prototype
        const value = native[kind](table, receiver, method, method.name, method.length, handleOf, ...others);
        Object.defineProperty(prototype, name, {...descriptor, value});
    };
    return {hasten, kept};
}

return {make};
})(undefined, Object, imports);
