// PrioSchedSettling.js: promises that are settled later, by tasks, and as many at a time as nobody feels
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Entry, Queue, Slice, followPromise, keepResolvers */

const {GLib} = imports.gi;

// The executor of every promise, which saves a closure for each.  The code that makes a promise
// calls post() or a yield of the table right after it.  The engine walks the whole stack for every
// promise that is made or settled, so both are done in as few frames as possible.
let lastResolve, lastReject;
var keepResolvers = function keepResolvers(resolve, reject) {
    lastResolve = resolve;
    lastReject = reject;
};

// A task or, if it has no callback, a continuation.
var Entry = class Entry {
    constructor(callback, state) {
        this.callback = callback;
        this.state = state; // its own state
        this.outer = null;  // the state of the code that awaits it
        this.watcher = null; // notified when the task settles
        this.isRejected = false; // by an abort, perhaps in `results`
        this.promise = null; // if it is watched
        this.name = null;
        this.resolve = lastResolve;
        this.reject = lastReject;
    }
};

// What comes of the promise that the callback of entry has returned: kept until the task has ended, and from then on given to later ().
// So a rejection is never unhandled.
var followPromise = function followPromise(promise, entry, later) {
    const outcome = {settle: null, value: undefined, isAwaited: false};
    const on = settle => value => {
        if (outcome.isAwaited)
            later(settle, value);
        else
            Object.assign(outcome, {settle, value});
    };
    promise.then(on(entry.resolve), on(entry.reject));
    return outcome;
};

// First in, first out, at a cost that does not depend on the length.
var Queue = class Queue {
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
};

const BATCH = 64;       // settled between two looks at the clock
const LENGTH = 5000;    // µs
const APART = 1000;     // µs between two that are not one after the other

// A slice of time for promises to be settled in.
var Slice = class Slice {
    #n = 0;
    #start = 0; // of the slice, or 0 until somebody looks at the clock
    #end = 0;   // when the clock was last looked at

    // Whether so many have been asked for that somebody should look at the clock.
    get isLong() {
        return this.#n > 4 * BATCH;
    }

    // Goes on with the last slice if that has hardly ended: many aborts of few tasks are as long as one of many.
    begin() {
        const now = GLib.get_monotonic_time();
        if (now - this.#end > APART) {
            this.#n = 0;
            this.#start = now;
        }
        this.#end = now;
    }

    // Asked before each promise.  What reacts to them takes its time too.
    isOver(react = null) {
        if (++this.#n % BATCH !== 0)
            return false;
        react?.();
        this.#end = GLib.get_monotonic_time();
        this.#start ||= this.#end;
        return this.#end - this.#start > LENGTH;
    }
};
