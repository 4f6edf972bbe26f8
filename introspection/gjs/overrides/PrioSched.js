// PrioSched.js: PrioSched in JavaScript
//
// GJS calls _init() with the namespace.  The scheduler's methods give promises here,
// and PrioSched.web has the web's own interfaces.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {Gio, GLib} = imports.gi;

const UNSET = -1;
const NICKS = ['background', 'user-visible', 'user-blocking'];

// What a signal was aborted with, where that is no GError.
const reasons = new WeakMap();

// The engine's microtasks run between two tasks, and before a task's result settles.
function checkpoint() {
    imports._promiseNative.drainMicrotaskQueue();
}

function describe(value) {
    try {
        return typeof value === 'string' ? `“${value}”` : String(value);
    } catch {
        return typeof value;
    }
}

function toPriority(value) {
    if (value === undefined || value === null)
        return UNSET;
    if (Number.isInteger(value) && value >= 0 && value < NICKS.length)
        return value;
    const priority = typeof value === 'string' ? NICKS.indexOf(value) : -1;
    if (priority < 0)
        throw new TypeError(`${describe(value)} is no task priority`);
    return priority;
}

function toDelay(value = 0) {
    if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER)
        throw new TypeError(`${describe(value)} is no delay in milliseconds`);
    return Math.trunc(value);
}

function toCallback(value) {
    if (typeof value !== 'function')
        throw new TypeError(`${describe(value)} is no function`);
    return value;
}

function toSignal(value) {
    if (value === undefined || value === null)
        return null;
    if (!(value instanceof Gio.Cancellable))
        throw new TypeError(`${describe(value)} is no signal`);
    return value;
}

// The value that an abort gave, for the error that came of it.
function reasonOf(signal, error) {
    return signal !== null && reasons.has(signal) ? reasons.get(signal) : error;
}

function _init() {
    const PrioSched = this;
    const {Scheduler, TaskController} = PrioSched;

    const native = {
        postTask: Scheduler.prototype.post_task,
        queueMicrotask: Scheduler.prototype.queue_microtask,
        yieldFull: Scheduler.prototype.yield_full_async,
        abort: TaskController.prototype.abort,
    };

    // Posts a task, and calls settled (failed, value) when it has a result: with the
    // state in which it was posted, so that what awaits the result goes on in that.
    PrioSched._post = function (scheduler, callback, priority, signal, delay, name, settled) {
        let value, failed = false;
        const task = native.postTask.call(scheduler, () => {
            try {
                value = callback();
                // Whoever waits for the task hears of it: it is not unhandled.
                if (value instanceof Promise)
                    value.then(undefined, () => {});
            } catch (error) {
                failed = true;
                value = error;
            }
            checkpoint();
        }, priority, signal, delay, name);

        task.then(() => {
            const error = task.get_error();
            if (error !== null)
                settled(true, reasonOf(signal, error));
            else
                settled(failed, value);
            checkpoint();
        });
        return task;
    };

    Scheduler.prototype.post_task = function (callback, options = {}) {
        const {priority, signal, delay, name} = options ?? {};
        const args = [toCallback(callback), toPriority(priority), toSignal(signal), toDelay(delay),
            name === undefined || name === null ? null : String(name)];

        return new Promise((resolve, reject) => {
            PrioSched._post(this, ...args, (failed, value) => failed ? reject(value) : resolve(value));
        });
    };

    // Options: signal and priority, each of which may be "inherit".
    Scheduler.prototype.yield = function (options = undefined) {
        const {signal, priority} = options ?? {};
        const inherits = options === undefined || options === null ||
            (signal === undefined && priority === undefined);
        let flags = PrioSched.YieldFlags.NONE;
        if (inherits || signal === 'inherit')
            flags |= PrioSched.YieldFlags.INHERIT_SIGNAL;
        if (inherits || priority === 'inherit')
            flags |= PrioSched.YieldFlags.INHERIT_PRIORITY;
        const givenSignal = signal === 'inherit' ? null : toSignal(signal);
        const givenPriority = priority === 'inherit' ? UNSET : toPriority(priority);

        return new Promise((resolve, reject) => {
            native.yieldFull.call(this, flags, givenSignal, givenPriority, (scheduler, result) => {
                try {
                    scheduler.yield_finish(result);
                    resolve();
                } catch (error) {
                    reject(reasonOf(result.get_signal(), error));
                }
                checkpoint();
            });
        });
    };

    Scheduler.prototype.queue_microtask = function (callback) {
        toCallback(callback);
        native.queueMicrotask.call(this, () => {
            try {
                callback();
            } catch (error) {
                logError(error);
            }
            checkpoint();
        });
    };

    // The reason may be any value; signals made of this one get it too.
    TaskController.prototype.abort = function (reason = undefined) {
        if (reason instanceof GLib.Error || reason === undefined) {
            native.abort.call(this, reason ?? null);
            return;
        }
        if (!this.signal.is_cancelled())
            reasons.set(this.signal, reason);
        native.abort.call(this, null);
    };

    PrioSched.web = imports.overrides.PrioSchedWeb.make(PrioSched, {checkpoint, describe});
}
