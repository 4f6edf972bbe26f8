// states.js: the states of tasks, and the state of the running code
//
// The engine runs the jobs of promises in a row, and does not report which code awaits which promise.  A task may
// settle a promise that code outside of it awaits, and then that code runs within the task.  The stack identifies it:
// when an async function continues, its stack ends with the calling code's.  So callbacks run under *frames*, functions
// whose names are the digits of their state's number.
//
// The stack does not show which code has called .then (): such a callback runs in the state of the code that settles
// the promise.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// Why this is a function: see “Names” in introspection/README.md.
var {
    Pending, State, doWithoutFrames, drainUnder, numberHere, recordOf, runUnder, stateOf,
} = ((Object, Function, Promise, Symbol, Map, Number, Math, RegExp, Error, imports) => {
const {drainMicrotaskQueue} = imports._promiseNative;
const {UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;

const BASE = 128;
const FRAME = 'prioSchedState';
// The nearest frame that identifies a state: a state's own, or the functions that run and reject tasks without a state.
const NEAREST = new RegExp(`${FRAME}\\d|(?:run|reject)PrioSchedTasks@`);
const DIGIT = new RegExp(`(?:async\\*)?${FRAME}(\\d+)_@.*\\n?`, 'y');

let lastNumber = 0;

// Whether frames on the stack identify states.  An engine that knows the state of each job needs no frames.
let usesFrames = true;
function doWithoutFrames() {
    usesFrames = false;
}

// Calls callback, after the frames for a number have been put on the stack.  SpiderMonkey remembers, for each call site, the
// first function that was called there and everything that it captures, and forgets it only in a collection that JavaScript
// has not caused.  So the functions of all digits call callback here.
function callIt(callback) {
    return callback();
}

// The functions that put the number of a state on the stack, by digit, each created at its first use.  The function of the last
// digit is called first, with the rest of the number.
const frames = [];

function frameOf(digit) {
    frames[digit] ??= new Function('frameOf', 'callIt', `return function ${FRAME}${digit}_(left, callback) {
        return left === 0 ? callIt(callback) : frameOf(left % ${BASE})(Math.floor(left / ${BASE}), callback);
    }`)(frameOf, callIt);
    return frames[digit];
}

// The state of a task: the table of its scheduler; its signal, or null; the owner, a record of the web's part that creates the signal on
// request, or null; its priority, or UNSET for the signal's; when its timeout passes, in microseconds, or null for no timeout, or undefined
// if only the library knows; and whether its continuations wait behind tasks of the same priority.
class State {
    constructor(table, signal, priority, expiry = null, takesTurns = false, owner = null) {
        this.table = table;
        this.given = signal;
        this.owner = owner;
        this.priority = priority;
        this.expiry = expiry;
        this.takesTurns = takesTurns;
        // A state with only a default priority has no frame, and the number 0.
        const isLikeNone = signal === null && owner === null && (priority === USER_VISIBLE || priority === UNSET) && expiry === null && !takesTurns;
        this.number = isLikeNone || !usesFrames ? 0 : ++lastNumber;
        this.frame = this.number === 0 ? null : frameOf(this.number % BASE); // called with `left'
        this.left = Math.floor(this.number / BASE);
        this.keeper = null; // the native part's handle, with which it keeps continuations
        this.nPending = 0; // callbacks whose returned promises are pending
        this.name = null; // name of the task, if this is the state of only one
    }

    get signal() {
        return this.given === null && this.owner !== null ? this.owner.signal : this.given;
    }

    // Returns a separate state for a task with a name, so that the continuations have the name too.
    named(name) {
        const number = usesFrames ? ++lastNumber : 0;
        const frame = usesFrames ? frameOf(number % BASE) : null;
        return Object.assign(Object.create(State.prototype), this, {name, number, frame, left: Math.floor(number / BASE), keeper: null, nPending: 0});
    }
}

// A map in the native part that does not keep the states alive.  The code that can settle their promises keeps them.
class WeakStates {
    #native;

    constructor(native) {
        this.#native = native;
    }

    get size() {
        return this.#native.countPending();
    }

    get(number) {
        return this.#native.getPending(number);
    }

    set(number, state) {
        this.#native.setPending(number, state);
    }

    delete(number) {
        this.#native.setPending(number, null);
    }
}

// The states of tasks whose callbacks have returned pending promises, by number.
class Pending {
    #states;
    #n = 0; // includes states that no other object refers to

    constructor(native) {
        this.#states = native ? new WeakStates(native) : new Map();
    }

    get size() {
        return this.#n === 0 ? 0 : this.#states.size;
    }

    get(number) {
        return this.#states.get(number);
    }

    add(state) {
        if (state.number === 0 || state.nPending++ > 0)
            return;
        this.#n++;
        this.#states.set(state.number, state);
    }

    remove(state) {
        if (state.number === 0 || --state.nPending > 0)
            return;
        this.#n--;
        this.#states.delete(state.number);
    }

    // If value is a promise, keeps the state as long as the promise is pending.  Returns value.
    follow(state, value) {
        if (value instanceof Promise) {
            const settled = () => this.remove(state);
            this.add(state);
            value.then(settled, settled);
        }
        return value;
    }
}

const RECORD = Symbol('record');

// Returns the record of a signal: the state of its last task, how many of its tasks and continuations are in tables of the
// overrides, and the native part's handle.
function recordOf(signal) {
    signal[RECORD] ??= {state: null, nPending: 0, handle: null};
    return signal[RECORD];
}

// Returns a state, which the tasks of a signal share as long as their priorities are the same.
function stateOf(table, signal, priority) {
    const record = recordOf(signal), {state} = record;
    if (state === null || state.table !== table || state.priority !== priority)
        record.state = new State(table, signal, priority);
    return record.state;
}

// Calls callback, so that operations that it starts belong to state, which may be null.
function runUnder(state, callback) {
    const frame = state?.frame ?? frameOf(0);
    return frame(state?.left ?? 0, callback);
}

// Runs the jobs that SpiderMonkey has queued, such as callbacks of .then ().  Operations that they start belong to state.
function drainUnder(state) {
    if (state && state.frame !== null)
        state.frame(state.left, drainMicrotaskQueue);
    else
        drainMicrotaskQueue();
}

// Returns the number of the state that the running code belongs to, or 0.  If jobs are mixed, jobs of other tasks may run under the
// frames of a state, too, and only a continued async function identifies its state.
function numberHere(isMixed) {
    const {stack} = new Error();
    DIGIT.lastIndex = stack.search(NEAREST);
    let number = 0;
    if (isMixed && !stack.slice(0, Math.max(0, DIGIT.lastIndex)).includes('async*'))
        return 0;
    while (DIGIT.lastIndex >= 0) {
        const match = DIGIT.exec(stack);
        if (match === null)
            break;
        number = number * BASE + Number(match[1]);
    }
    return number;
}

return {Pending, State, doWithoutFrames, drainUnder, numberHere, recordOf, runUnder, stateOf};
})(Object, Function, Promise, Symbol, Map, Number, Math, RegExp, Error, imports);
