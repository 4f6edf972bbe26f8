// native.js: the native part, where it is there
//
// The native part (introspection/gjs/native) posts and runs the tasks that need nothing but a callback, and the yields of code that
// has no signal, without a call through introspection.  Where the engine lets it, it also knows the state of each job: each
// reaction has the state of the code that registered it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make, open */

const {GLib} = imports.gi;
const {BACKGROUND, USER_VISIBLE} = imports.overrides._priosched.constants;

// The native part refuses if it was not made for these overrides.
const INTERFACE = 7;

// The property by which the native part finds this context.
const MARK = '__prioSchedNative__';

// The SpiderMonkey of this process, or 0 if nobody knows.
function findEngine() {
    try {
        const [, maps] = GLib.file_get_contents('/proc/self/maps');
        return Number(/\/libmozjs-(\d+)[^/\n]*$/m.exec(new TextDecoder().decode(maps))?.[1] ?? 0);
    } catch {
        return 0;
    }
}

// Whether the native part is for the SpiderMonkey of this process.  A library for another one need not be one that can be loaded.
function isForThisEngine({MADE_FOR: madeFor}) {
    const engine = findEngine();
    if (madeFor === undefined || engine === 0 || engine === madeFor)
        return true;
    GLib.log_structured('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING, {
        MESSAGE: `The native part of PrioSched was built for SpiderMonkey ${madeFor}, and this is ${engine}: GJS goes on without it`,
    });
    return false;
}

// The namespace, or null if it or its library is not there, or is for another engine.
function find() {
    try {
        imports.gi.versions.PrioSchedGjsEngine = '1';
        const {PrioSchedGjsEngine} = imports.gi;
        if (!isForThisEngine(PrioSchedGjsEngine))
            return null;
        return PrioSchedGjsEngine.Gain.$gtype?.name === 'PrioSchedGjsEngineGain' ? PrioSchedGjsEngine : null;
    } catch {
        return null;
    }
}

// The native functions, or null.  PRIO_SCHED_NATIVE=0 in the environment goes without them.
function open() {
    const PrioSchedGjsEngine = GLib.getenv('PRIO_SCHED_NATIVE') === '0' ? null : find();
    if (PrioSchedGjsEngine === null)
        return null;

    const native = {};
    globalThis[MARK] = native;
    const gain = PrioSchedGjsEngine.open(MARK, INTERFACE);
    delete globalThis[MARK];
    native.isExact = gain === PrioSchedGjsEngine.Gain.STATE;
    native.gain = native.isExact ? 'state' : 'speed';
    native.newRunner = PrioSchedGjsEngine.new_runner;
    return gain === PrioSchedGjsEngine.Gain.NONE ? null : native;
}

// Returns a function that puts a native one before the method `name` of prototype, for calls on receiver without options.
// Functions that inherit directly from one of `others` are left to the method.  The tasks are those of scheduler that core/tasks.js need not know; it has a table for all others.
function make(native, scheduler, defaultTable, {closedError, follow, isQuiet, pending, reportUnhandled, runIn, runTasks, unhandled}) {
    const {states} = defaultTable;
    const followNative = (returned, promise) => follow(returned, {
        outer: null, state: states[USER_VISIBLE], promise: null,
        resolve: value => native.settle(promise, false, value), reject: reason => native.settle(promise, true, reason),
    });
    const finish = outcome => {
        if (outcome.settle !== null)
            outcome.settle(outcome.value);
        else
            outcome.isAwaited = true;
    };
    // What is called instead of the function of a task that somebody knows by its name: it runs in a state of its own.
    const named = (callback, name, priority) => {
        const state = states[priority].named(name);
        const call = () => {
            let settle;
            runIn(state, () => {
                try {
                    const value = pending.follow(state, callback());
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
    };
    native.newRunner(scheduler);
    const table = native.newTable(states.slice(BACKGROUND));
    // Bound functions are not frames on the stack.
    const run = runTasks.bind(defaultTable, native.runTable.bind(native, table));
    const noteUnhandled = (promise, reason) => unhandled.add(promise, reason, null);
    native.setHooks([closedError, followNative, finish, run, isQuiet, noteUnhandled, named, reportUnhandled]);

    return (kind, prototype, name, receiver, ...others) => {
        const method = prototype[name];
        const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
        const value = native[kind](table, receiver, method, method.name, method.length, ...others);
        Object.defineProperty(prototype, name, {...descriptor, value});
    };
}
