// states.js: the states that tasks are posted with, and whose state code belongs to
//
// The engine runs the jobs of promises in a row, and tells nobody who awaits what.  A task may settle a promise that
// code outside of it awaits, and then that code runs within the task.  It tells by the stack: the stack of an async
// function that goes on ends with that of the code that called it.  So callbacks run under *frames*, functions whose
// names are the digits of their state's number.
//
// What the stack does not tell is who has called .then (): such a callback runs in the state of who settles the promise.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Pending, State, doWithoutFrames, drainUnder, numberHere, runUnder, stateOf */

const {drainMicrotaskQueue} = imports._promiseNative;
const {UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;

const BASE = 128;
const FRAME = 'prioSchedState';
// The nearest frame that tells: one of a state, or the function that runs tasks without one.
const NEAREST = new RegExp(`${FRAME}\\d|runPrioSchedTasks@`);
const DIGIT = new RegExp(`(?:async\\*)?${FRAME}(\\d+)_@.*\\n?`, 'y');

let lastNumber = 0;

// An engine that knows the state of each job needs no stack.
let usesFrames = true;
var doWithoutFrames = function doWithoutFrames() {
    usesFrames = false;
};

// The functions by digits, each made when it is needed.
const frames = [];

function frameOf(digit) {
    frames[digit] ??= new Function(`return function ${FRAME}${digit}_(frames, i, callback) {
        return frames[i](frames, i + 1, callback);
    }`)();
    return frames[digit];
}

// The end of all frames.  SpiderMonkey remembers the first function that a place has called, with all that it captures, and
// forgets it only in a collection that no JavaScript has caused.  So all digits have one place between them.
function callIt(_frames, _i, callback) {
    return callback();
}

// The first is called first, and has the last digit.
function framesOf(number) {
    const found = [];
    do {
        found.push(frameOf(number % BASE));
        number = Math.floor(number / BASE);
    } while (number > 0);
    found.push(callIt);
    return found;
}

// What a task was posted with: the table of its scheduler, its signal or null, its priority, which is UNSET for that of the
// signal, when its timeout passes, in microseconds, or null; undefined where only the library knows that; and whether what follows its
// yields waits behind its equals.
var State = class State {
    constructor(table, signal, priority, expiry = null, takesTurns = false) {
        this.table = table;
        this.signal = signal;
        this.priority = priority;
        this.expiry = expiry;
        this.takesTurns = takesTurns;
        // 0, and null, for a state that is like none.
        const isLikeNone = signal === null && (priority === USER_VISIBLE || priority === UNSET) && expiry === null && !takesTurns;
        this.number = isLikeNone || !usesFrames ? 0 : ++lastNumber;
        this.frames = this.number === 0 ? null : framesOf(this.number);
        this.nPending = 0; // callbacks that have returned promises which are pending
        this.name = null; // of the one task that it is the state of
    }

    // A state of its own for the task of that name, so that its continuations have the name too.
    named(name) {
        const number = usesFrames ? ++lastNumber : 0;
        const frames = usesFrames ? framesOf(number) : null;
        return Object.assign(Object.create(State.prototype), this, {name, number, frames, nPending: 0});
    }
};

// By their numbers, the states of those whose callbacks have returned promises which are pending.
var Pending = class Pending {
    #states = new Map();

    get size() {
        return this.#states.size;
    }

    get(number) {
        return this.#states.get(number);
    }

    add(state) {
        if (state.number !== 0 && state.nPending++ === 0)
            this.#states.set(state.number, state);
    }

    remove(state) {
        if (state.number !== 0 && --state.nPending === 0)
            this.#states.delete(state.number);
    }

    // The same for as long as value is pending, if it is a promise.  Returns value.
    follow(state, value) {
        if (value instanceof Promise) {
            const settled = () => this.remove(state);
            this.add(state);
            value.then(settled, settled);
        }
        return value;
    }
};

const STATE = Symbol('state');

// The tasks of a signal have one state, as long as their priorities are the same.
var stateOf = function stateOf(table, signal, priority) {
    const last = signal[STATE];
    return last?.table === table && last.priority === priority ? last : (signal[STATE] = new State(table, signal, priority));
};

// Calls callback so that what it begins belongs to state, which may be null.
var runUnder = function runUnder(state, callback) {
    const called = state?.frames ?? framesOf(0);
    return called[0](called, 1, callback);
};

// Runs the engine's queue: what the callbacks of .then () begin belongs to state.
var drainUnder = function drainUnder(state) {
    if (state && state.frames !== null)
        state.frames[0](state.frames, 1, drainMicrotaskQueue);
    else
        drainMicrotaskQueue();
};

// The number of the state that the running code belongs to, or 0.  Where jobs are mixed, those of others run under the frames of one state
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
