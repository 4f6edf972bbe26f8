// states.js: the states that tasks are posted with, and whose state code belongs to
//
// The engine runs the jobs of promises in a row, and tells nobody who awaits what.  A task may settle a promise that
// code outside of it awaits, and then that code runs within the task.  It tells by the stack: the stack of an async
// function that goes on ends with the calling code's.  So callbacks run under *frames*, functions whose
// names are the digits of their state's number.
//
// The stack does not show which code has called .then (): such a callback runs in the state of who settles the promise.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Pending, State, doWithoutFrames, drainUnder, numberHere, recordOf, runUnder, stateOf */

const {drainMicrotaskQueue} = imports._promiseNative;
const {UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;

const BASE = 128;
const FRAME = 'prioSchedState';
// The nearest frame that tells: one of a state, or the functions that run and reject tasks without one.
const NEAREST = new RegExp(`${FRAME}\\d|(?:run|reject)PrioSchedTasks@`);
const DIGIT = new RegExp(`(?:async\\*)?${FRAME}(\\d+)_@.*\\n?`, 'y');

let lastNumber = 0;

// An engine that knows the state of each job needs no stack.
let usesFrames = true;
var doWithoutFrames = function doWithoutFrames() {
    usesFrames = false;
};

// The end of all frames.  SpiderMonkey remembers the first function that a place has called, with all that it captures, and
// forgets it only in a collection that no JavaScript has caused.  So all digits have one place between them.
function callIt(callback) {
    return callback();
}

// The functions by digits, each made when it is needed.  The first that is called has the last digit, and is given what is left of the number.
const frames = [];

function frameOf(digit) {
    frames[digit] ??= new Function('frameOf', 'callIt', `return function ${FRAME}${digit}_(left, callback) {
        return left === 0 ? callIt(callback) : frameOf(left % ${BASE})(Math.floor(left / ${BASE}), callback);
    }`)(frameOf, callIt);
    return frames[digit];
}

// The state of a task: the table of its scheduler; its signal or null, or an owner that makes it if somebody asks; its priority,
// which is UNSET for the signal's; when its timeout passes, in microseconds, or null; undefined where only the library knows that;
// and whether what follows its yields waits behind its equals.
var State = class State {
    constructor(table, signal, priority, expiry = null, takesTurns = false, owner = null) {
        this.table = table;
        this.given = signal;
        this.owner = owner;
        this.priority = priority;
        this.expiry = expiry;
        this.takesTurns = takesTurns;
        // 0, and without a frame, for a state that is like none.
        const isLikeNone = signal === null && owner === null && (priority === USER_VISIBLE || priority === UNSET) && expiry === null && !takesTurns;
        this.number = isLikeNone || !usesFrames ? 0 : ++lastNumber;
        this.frame = this.number === 0 ? null : frameOf(this.number % BASE); // called with `left'
        this.left = Math.floor(this.number / BASE);
        this.keeper = null; // the native part's handle, with which it keeps what follows a yield
        this.nPending = 0; // callbacks that have returned promises which are pending
        this.name = null; // of the one task that it is the state of
    }

    get signal() {
        return this.owner === null ? this.given : this.owner.signal;
    }

    // A state of its own for the task of that name, so that its continuations have the name too.
    named(name) {
        const number = usesFrames ? ++lastNumber : 0;
        const frame = usesFrames ? frameOf(number % BASE) : null;
        return Object.assign(Object.create(State.prototype), this, {name, number, frame, left: Math.floor(number / BASE), keeper: null, nPending: 0});
    }
};

// A Map in the native part, which does not keep the states: what can still settle their promises does.
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

// By number, the states of tasks whose callbacks have returned promises that are pending.
var Pending = class Pending {
    #states;
    #n = 0; // with unreferenced ones

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

    // Keeps the state as long as value is pending, if it is a promise.  Returns value.
    follow(state, value) {
        if (value instanceof Promise) {
            const settled = () => this.remove(state);
            this.add(state);
            value.then(settled, settled);
        }
        return value;
    }
};

const RECORD = Symbol('record');

// The record of a signal: the state of its last task, how many of its tasks and continuations are in tables of the overrides, and
// the native part's handle.
var recordOf = function recordOf(signal) {
    signal[RECORD] ??= {state: null, nPending: 0, handle: null};
    return signal[RECORD];
};

// The tasks of a signal have one state, as long as their priorities are the same.
var stateOf = function stateOf(table, signal, priority) {
    const record = recordOf(signal), {state} = record;
    if (state === null || state.table !== table || state.priority !== priority)
        record.state = new State(table, signal, priority);
    return record.state;
};

// Calls callback so that what it begins belongs to state, which may be null.
var runUnder = function runUnder(state, callback) {
    const frame = state?.frame ?? frameOf(0);
    return frame(state?.left ?? 0, callback);
};

// Runs the engine's queue: what the callbacks of .then () begin belongs to state.
var drainUnder = function drainUnder(state) {
    if (state && state.frame !== null)
        state.frame(state.left, drainMicrotaskQueue);
    else
        drainMicrotaskQueue();
};

// The number of the state that the running code belongs to, or 0.  Where jobs are mixed, jobs of others run under the frames of one state
// too, and only what async functions go on with tells whose it is.
var numberHere = function numberHere(isMixed) {
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
};
