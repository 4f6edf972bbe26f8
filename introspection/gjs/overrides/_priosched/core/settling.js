// settling.js: the entries of tasks, promises that tasks return, and a queue and time slices to settle promises later
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {
    Entry, Later, Queue, Slice, adoptedEntry, followPromise, isThenable, keepResolvers, ownPromiseError, promiseOf, promiseOfThenable,
} = ((undefined, Object, Promise, Date, TypeError) => {
// Keeps the functions that settle a new promise, for the Entry that the table creates right after the promise.  This is the
// executor of all promises with an Entry, so that none of them needs a closure.  SpiderMonkey walks the whole stack
// for every promise that is created or settled, so both happen in as few frames as possible.
let lastResolve, lastReject;
function keepResolvers(resolve, reject) {
    lastResolve = resolve;
    lastReject = reject;
}

// A task or, if it has no callback, a continuation.
class Entry {
    constructor(callback, state) {
        this.callback = callback;
        this.state = state; // the task's own state
        this.outer = null;  // the state of the code that awaits the task
        this.watcher = null; // an object that follows the task, or null: see postWith () in table.js
        this.isRejected = false; // whether an abort has rejected the promise, or has put the entry into the queue of Results
        this.promise = null; // the promise, if its rejection is reported when no code handles it
        this.name = null;
        this.resolve = lastResolve;
        this.reject = lastReject;
    }
}

// Returns the entry of a continuation that settles the promise of `waiting` with value.  `waiting`, an entry that has waited
// for the value, then has no effect.
function adoptedEntry(waiting, settle, value, watchRejection) {
    const entry = new Entry(null, null);
    entry.promise = waiting.promise;
    entry.reject = waiting.reject;
    entry.resolve = () => {
        watchRejection(entry, settle, value);
        settle(value);
    };
    Object.assign(waiting, {isRejected: true, promise: null, reject: () => {}});
    return entry;
}

function isThenable(value) {
    return ((typeof value === 'object' && value !== null) || typeof value === 'function') && typeof value.then === 'function';
}

function ownPromiseError() {
    return new TypeError('The task has returned its own promise, which would wait for itself');
}

// Returns a promise for a thenable, whose `then` has been read.
function promiseOfThenable(value, then) {
    return new Promise(resolve => resolve({then: (...settlers) => then.apply(value, settlers)}));
}

// Returns a promise for `value`, the result of a function: value itself if it is a promise or a Later, a new promise for
// another thenable, or null for other values.
function promiseOf(value) {
    if (value instanceof Promise || value instanceof Later)
        return value;
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function')
        return null;
    const {then} = value;
    return typeof then === 'function' ? promiseOfThenable(value, then) : null;
}

// The result of a task's callback that continues in later calls.  A Later is like a promise, but calls its handlers at once,
// whereas reactions of a promise may have to wait.
class Later {
    promise = null; // the promise of the task
    #settlers = null;

    then(resolve, reject) {
        this.#settlers = {resolve, reject};
    }

    resolve(value) {
        const {resolve, reject} = this.#settlers, promise = promiseOf(value);
        if (promise === null)
            resolve(value);
        else if (promise === this.promise)
            reject(ownPromiseError());
        else
            promise.then(resolve, reject);
    }

    reject(error) {
        this.#settlers.reject(error);
    }
}

// Follows the promise that the callback of entry has returned, so that a rejection always has a handler.  Returns the
// outcome: if the promise settles while the task runs, the outcome has the function and the value with which entry is to be
// settled.  After the task has set isAwaited, later () gets the two instead.
function followPromise(promise, entry, later) {
    const outcome = {settle: null, value: undefined, isAwaited: false, isRejected: false};
    const on = settle => value => {
        if (outcome.isAwaited)
            later(settle, value);
        else
            Object.assign(outcome, {settle, value});
    };
    promise.then(on(entry.resolve), on(entry.reject));
    return outcome;
}

// A queue, first in, first out, whose operations take constant time.
class Queue {
    #items = [];
    #first = 0;

    get length() {
        return this.#items.length - this.#first;
    }

    push(item) {
        this.#items.push(item);
    }

    shift() {
        const item = this.#items[this.#first];
        this.#items[this.#first++] = undefined;
        if (this.#first === this.#items.length || this.#first === 4096) {
            this.#items.splice(0, this.#first);
            this.#first = 0;
        }
        return item;
    }
}

const FEW = 16;         // promises to settle in a slice even if its time is over
const MANY = 256;       // most promises to settle in a slice while their reactions are not measured
const LENGTH = 5;       // milliseconds that a slice takes
const MAX_PAUSE = 1;    // milliseconds that may pass between two slices that count as one

// A slice of time in which promises are settled.  The clock of Date.now () is cheap to read, and counts milliseconds.  So it
// is read after each promise and its reactions: a slice exceeds its time by at most one millisecond and one promise.  The
// slice also ends if the system's clock is set.
class Slice {
    #n = 0;
    #start = 0;
    #end = 0;   // when the clock was last read

    get isShort() {
        return this.#n < FEW;
    }

    // Whether so many promises have been settled that later ones should wait.
    get isLong() {
        return this.#n > MANY;
    }

    #restart(now) {
        this.#n = 0;
        this.#start = now;
    }

    // Begins a slice, or continues the last slice if that has only just ended: many aborts of few tasks count like one abort
    // of many.
    begin() {
        const now = Date.now(), passed = now - this.#end;
        if (!(passed >= 0 && passed <= MAX_PAUSE))
            this.#restart(now);
        this.#end = now;
    }

    // Returns whether the slice has ended.  This is called before each promise, and counts it.
    isOver() {
        const now = Date.now();
        if (this.#start === 0)
            this.#restart(now);
        this.#n++;
        this.#end = now;
        const passed = now - this.#start;
        return passed < 0 || passed >= LENGTH;
    }
}

return {Entry, Later, Queue, Slice, adoptedEntry, followPromise, isThenable, keepResolvers, ownPromiseError, promiseOf, promiseOfThenable};
})(undefined, Object, Promise, Date, TypeError);
