// prio-sched-plain.js: the scheduler's names in plain JavaScript, for systems without the library
//
//   import {scheduler, TaskController, each, latest} from './prio-sched-plain.js';
//
// Each task and each yield is a GLib source with its priority.  An abort removes the sources of its signal, so an extension that
// aborts its controllers when it is disabled leaves nothing behind.  Tasks do not take turns with frames and input.  Code after a
// yield has the signal and the priority in the options of that yield, and does not inherit the task's.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import GLib from 'gi://GLib';

const PRIORITIES = {'user-blocking': 0, 'user-visible': 200, 'background': 300}; // priorities of GLib's sources
const SLICE = 5000; // microseconds

export class AbortError extends Error {
    constructor(message = 'The signal is aborted without a reason') {
        super(message);
        this.name = 'AbortError';
    }
}

export class TaskSignal {
    aborted = false;
    reason = undefined;
    priority = 'user-visible';
    onabort = null;
    waiting = new Set(); // tasks and yields

    throwIfAborted() {
        if (this.aborted)
            throw this.reason;
    }
}

export class TaskController {
    signal = new TaskSignal();

    constructor({priority = 'user-visible'} = {}) {
        this.setPriority(priority);
    }

    setPriority(priority) {
        this.signal.priority = toPriority(priority);
        this.signal.waiting.forEach(({source, follows}) => follows && source.set_priority(PRIORITIES[priority]));
    }

    abort(reason = new AbortError()) {
        const {signal} = this;
        if (signal.aborted)
            return;
        Object.assign(signal, {aborted: true, reason});
        for (const {source, reject} of [...signal.waiting]) {
            source.destroy();
            reject(reason);
        }
        signal.waiting.clear();
        signal.onabort?.();
    }
}

function toPriority(value) {
    if (!Object.hasOwn(PRIORITIES, value))
        throw new TypeError(`“${value}” is not a task priority`);
    return value;
}

// The signal of the running task until its first await, or null.
export let currentTaskSignal = null;

let sliceEnd = 0;
// Returns a promise.  A GLib source, idle or with the delay, calls callback, and settles the promise with the result.
function post(callback, {priority, signal = null, delay = 0} = {}) {
    return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const number = PRIORITIES[toPriority(priority ?? signal?.priority ?? 'user-visible')], follows = priority === undefined;
        const source = delay > 0 ? GLib.timeout_source_new(delay) : GLib.idle_source_new();
        const entry = {source, reject, follows};
        source.set_priority(number);
        source.set_callback(() => {
            signal?.waiting.delete(entry);
            sliceEnd = GLib.get_monotonic_time() + SLICE;
            currentTaskSignal = signal;
            try {
                resolve(callback());
            } catch (error) {
                reject(error);
            }
            currentTaskSignal = null;
            return GLib.SOURCE_REMOVE;
        });
        signal?.waiting.add(entry);
        source.attach(null);
    });
}

export const scheduler = {postTask: post, yield: options => post(() => {}, options)};

// Returns whether a task has run so long that it should yield.
export function shouldYield() {
    return GLib.get_monotonic_time() >= sliceEnd;
}

// Iterates over the items, and lets other tasks run before an item if shouldYield () returns true.
export async function* each(items, options = undefined) {
    for await (const item of items) {
        await (shouldYield() ? scheduler.yield(options) : options?.signal?.throwIfAborted());
        yield item;
    }
}

// Returns a function that runs job (…) as a task, and aborts the previous run, whose promise is then fulfilled with undefined.
export function latest(job, {priority = 'user-visible'} = {}) {
    let last = null;
    const run = (...args) => {
        run.abort();
        const {signal} = last = new TaskController({priority});
        return post(() => job(...args), {signal}).catch(error => {
            if (error !== signal.reason)
                throw error;
        });
    };
    run.abort = () => last?.abort();
    return run;
}
