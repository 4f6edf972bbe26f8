// states.js: the states of tasks (scheduler, signal and priority), and the state of the running code
//
// SpiderMonkey runs the jobs of promises in a row, and does not report which code awaits which promise.  A task may settle a
// promise that code outside of it awaits, and then that code runs within the task.  The stack identifies that code: when an
// async function continues, its stack ends with the stack of the code that called it first.  So callbacks run under
// *frames*, functions whose names are the digits of the number of the callback's state.
//
// The stack does not show which code has called .then (): such a callback runs in the state of the code that settles
// the promise.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {
    Pending, State, doWithoutFrames, drainUnder, numberHere, recordOf, runUnder, stateOf,
} = ((Object, Function, Promise, Symbol, Map, Number, Math, RegExp, Error, imports) => {
const {drainMicrotaskQueue} = imports._promiseNative;
const {UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;

const BASE = 128;
const FRAME = 'prioSchedState';
// Matches the nearest frame that identifies a state: a frame of a state, or a function that runs or rejects tasks, below
// which the stack belongs to other code.
const NEAREST = new RegExp(`${FRAME}\\d|(?:run|reject)PrioSchedTasks@`);
const DIGIT = new RegExp(`(?:async\\*)?${FRAME}(\\d+)_@.*\\n?`, 'y');

let lastNumber = 0;

// Whether frames on the stack identify states.  If the native part knows the state of each job, no frames are needed.
let usesFrames = true;
function doWithoutFrames() {
    usesFrames = false;
}

// Calls callback for the frames, after all digits of a number have been put on the stack.  For each call in the code,
// SpiderMonkey's caches keep the first function that was called, and everything that it captures, until a garbage collection
// that no JavaScript code has caused.  If each frame called callback itself, one callback would be kept for each digit.  All
// frames use the one call in this function, so only one callback is kept.
function callIt(callback) {
    return callback();
}

// The functions that put the number of a state on the stack, by digit, each created at its first use.  The function of the
// last digit is called first.  Its argument `left` has the other digits, for which it calls the next function.
const frames = [];

function frameOf(digit) {
    frames[digit] ??= new Function('frameOf', 'callIt', `return function ${FRAME}${digit}_(left, callback) {
        return left === 0 ? callIt(callback) : frameOf(left % ${BASE})(Math.floor(left / ${BASE}), callback);
    }`)(frameOf, callIt);
    return frames[digit];
}

// The state of a task: the table of its scheduler; its signal, or null; the owner, a record of the web's part that creates
// the signal on request (Slots, in web/web.js), or null; its priority, or UNSET for the signal's; when its timeout passes,
// in microseconds, or null for no timeout, or undefined if only the library knows; and whether its continuations wait behind
// tasks of the same priority.
class State {
    constructor(table, signal, priority, expiry = null, takesTurns = false, owner = null) {
        this.table = table;
        this.given = signal;
        this.owner = owner;
        this.priority = priority;
        this.expiry = expiry;
        this.takesTurns = takesTurns;
        // Code of a task that has only the default priority acts as code outside any task does.  So its state has no frame,
        // and the number 0.
        const isLikeNone = signal === null && owner === null && (priority === USER_VISIBLE || priority === UNSET) && expiry === null && !takesTurns;
        this.number = isLikeNone || !usesFrames ? 0 : ++lastNumber;
        this.frame = this.number === 0 ? null : frameOf(this.number % BASE); // called with `left` and a callback
        this.left = Math.floor(this.number / BASE);
        this.keeper = null; // the handle with which the native part keeps continuations (core/kept.js), or null
        this.nPending = 0; // number of callbacks whose returned promises are pending
        this.name = null; // name of the task, if only one task has this state
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

// A map in the native part that does not keep the states alive.  A state is needed only as long as its promises can be
// settled, and for that time their reactions keep it alive.
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
    #n = 0; // number of added states, including states that the collector has freed

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

    // If value is a promise, keeps the state here as long as the promise is pending.  Returns value.
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

// Returns the record of a signal, and creates it at the first call: the state of the signal's last task, how many of its
// tasks and continuations are in tables of the overrides, and the native part's handle.
function recordOf(signal) {
    signal[RECORD] ??= {state: null, nPending: 0, handle: null};
    return signal[RECORD];
}

// Returns the state of a new task with a signal.  Consecutive tasks of the signal share it as long as table and priority do
// not change.
function stateOf(table, signal, priority) {
    const record = recordOf(signal), {state} = record;
    if (state === null || state.table !== table || state.priority !== priority)
        record.state = new State(table, signal, priority);
    return record.state;
}

// Calls callback under the frames of state, so that operations that callback starts belong to state, which may be null.
function runUnder(state, callback) {
    const frame = state?.frame ?? frameOf(0);
    return frame(state?.left ?? 0, callback);
}

// Runs the jobs that SpiderMonkey has queued, such as callbacks of .then ().  Operations that the jobs start belong to
// state, which may be null.
function drainUnder(state) {
    if (state && state.frame !== null)
        state.frame(state.left, drainMicrotaskQueue);
    else
        drainMicrotaskQueue();
}

// Returns the number of the state that the running code belongs to, or 0.  If isMixed, jobs of other tasks may also run
// under the frames of a state.  Then only the frames below an async function that has continued count.
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
