// react.js: the functions of React's Scheduler
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {expiryAfter, make, toSpecial, toTimeout} = ((undefined, Object, Promise, Map, Number, Math, TypeError, imports) => {
const {MAX_SHARED_SLICE, UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING} = imports.overrides._priosched.constants;
const {named, toFunction} = imports.overrides._priosched.core.reasons;
const {keepResolvers} = imports.overrides._priosched.core.settling;
const {optionNames, toOptions} = imports.overrides._priosched.library.options;
const {AbortError, toUnstepped} = imports.overrides._priosched.library.steps;
const {State} = imports.overrides._priosched.core.states;

const MAX_FRAME_RATE = 125;
const MAX_TIMEOUT = 2 ** 31 - 1;
const OPTIONS = optionNames('delay', 'name', 'signal', 'timeout');

// The timeouts of the levels, in milliseconds; levels are the priorities of React's Scheduler.  A negative timeout has passed
// from the beginning, and 0 stands for no timeout.
const TIMEOUTS = {
    TIMEOUT_IMMEDIATE: -1,
    TIMEOUT_USER_BLOCKING: 250,
    TIMEOUT_NORMAL: 5000,
    TIMEOUT_LOW: 10000,
    TIMEOUT_IDLE: 0,
};

// The levels of React's Scheduler by name, each with the priority and the timeout of its tasks.
const LEVELS = new Map([
    ['immediate', [USER_BLOCKING, TIMEOUTS.TIMEOUT_IMMEDIATE]],
    ['user-blocking', [USER_BLOCKING, TIMEOUTS.TIMEOUT_USER_BLOCKING]],
    ['normal', [USER_VISIBLE, TIMEOUTS.TIMEOUT_NORMAL]],
    ['low', [BACKGROUND, TIMEOUTS.TIMEOUT_LOW]],
    ['idle', [BACKGROUND, TIMEOUTS.TIMEOUT_IDLE]],
]);

function toLevel(value) {
    const level = LEVELS.get(value);
    if (level === undefined)
        throw new TypeError(`${named(value)} is none of the levels ${[...LEVELS.keys()].join(', ')}`);
    return level;
}

function toFrameRate(value) {
    if (!Number.isInteger(value) || value < 0 || value > MAX_FRAME_RATE)
        throw new TypeError(`${named(value)} is not a frame rate, which is a whole number from 0 to ${MAX_FRAME_RATE}`);
    return value;
}

// Converts value to whole milliseconds.  Returns 0 only for 0.
function toTimeout(value) {
    if (typeof value !== 'number' || !(value >= -MAX_TIMEOUT) || value > MAX_TIMEOUT)
        throw new TypeError(`${named(value)} is not a timeout in milliseconds`);
    return value < 0 ? Math.floor(value) : Math.ceil(value);
}

let getTime = null; // returns the time that schedulers read, in microseconds

// Returns when a timeout passes, in microseconds of GLib's monotonic time, or null for no timeout.
function expiryAfter(delay, timeout) {
    if (timeout === 0)
        return null;
    return Math.min(Math.max(getTime() + (delay + timeout) * 1000, 0), Number.MAX_SAFE_INTEGER);
}

// The watcher of a task that has a timeout, takes turns or can be cancelled: see postWith () in core/table.js.  The table calls
// post (), and does not post the task itself.
class Special {
    #cancel = null; // removes the task from the library's queue
    #delay;
    #takesTurns;
    #timeout;

    constructor(delay, timeout, takesTurns = false) {
        this.#delay = delay;
        this.#takesTurns = takesTurns;
        this.#timeout = timeout;
    }

    // Cancels the task, if its callback has not started.
    cancel() {
        this.#cancel();
    }

    post(runner, id, entry) {
        const {table, signal, priority} = entry.state;
        this.#cancel = () => {
            // If the library has cancelled the task, it reports the number as rejected.  Because of isRejected, the table then
            // only frees the number.
            entry.isRejected = runner.cancel(id);
        };
        if (this.#timeout !== 0 || this.#takesTurns)
            entry.state = new State(table, signal, priority, expiryAfter(this.#delay, this.#timeout), this.#takesTurns);
        return runner.post_full(id, priority, signal, this.#delay, this.#timeout, this.#takesTurns);
    }

    posted() {}

    settled() {}
}

// A task of schedule_callback (), and its result.
class ScheduledCallback {
    #callback;
    #cancelled = null; // the error of the promise, once the callback has been cancelled
    #hasBegun = false;
    #isOver = false;
    #reject;
    #table;
    #timed;

    constructor(table, callback) {
        this.#table = table;
        this.#callback = callback;
    }

    // The function to call next: the callback, or a function that it has returned; or null if there is none.
    get callback() {
        return this.#callback;
    }

    // Cancels the callback: it is not called any more, and its later results are ignored.  Returns false if the callback has
    // ended, or has been cancelled before.
    cancel() {
        if (this.#isOver)
            return false;
        this.#isOver = true;
        this.#callback = null;
        // Without this handler, the rejection would be reported.
        this.finished.catch(() => {});
        this.#cancelled = new AbortError('The callback has been cancelled');
        this.#reject(this.#cancelled);
        if (!this.#hasBegun)
            this.#timed.cancel();
        return true;
    }

    // Sets the functions of timed, the watcher of the task, that the table calls.  Returns timed.
    watch(timed) {
        this.#timed = timed;
        timed.handle = this;
        timed.posted = reject => {
            this.#reject = reject;
        };
        // If the task is aborted before it begins, the callback is not called.
        timed.settled = () => {
            this.#isOver ||= !this.#hasBegun;
        };
        return timed;
    }

    // Calls the next function, as the callback of the task.  If that returns a function, continues with it after a yield.
    run(scheduler) {
        this.#hasBegun = true;
        this.#check();
        return this.#goOn(scheduler, this.#call(scheduler));
    }

    // Throws if the callback has been cancelled.
    #check() {
        if (this.#cancelled !== null)
            throw this.#cancelled;
    }

    // Calls the next function.  The table does not hold its scheduler: if that has gone, byDefault is asked whether the timeout
    // has passed.
    #call(byDefault) {
        const callback = this.#callback;
        this.#callback = null;
        try {
            return callback((this.#table.scheduler() ?? byDefault).did_timeout());
        } catch (error) {
            this.#isOver = true;
            throw error;
        }
    }

    #goOn(scheduler, value) {
        this.#check();
        if (typeof value === 'function')
            return this.#continue(scheduler, value);
        this.#isOver = true;
        return value;
    }

    async #continue(scheduler, value) {
        this.#callback = value;
        try {
            await (this.#table.scheduler() ?? scheduler).yield();
        } catch (error) {
            this.#isOver = true;
            this.#callback = null;
            throw error;
        }
        return this.run(scheduler);
    }
}

// Returns a Special for a task that has a timeout or takes turns, or null for other tasks.  A timeout of 0 means none.
function toSpecial(delay, timeout, takesTurns) {
    const milliseconds = timeout === undefined || timeout === null ? 0 : toTimeout(timeout);
    return milliseconds === 0 && !takesTurns ? null : new Special(delay, milliseconds, takesTurns);
}

// Adds JavaScript's methods to Scheduler, and sets the timeouts of React's levels in the library.
function make(library, tasks, {toDelay, toGivenPriority, toName, toSignal}) {
    const {currentState, isInLibrary, pending, runIn, tableOf} = tasks;
    const {Scheduler} = library, {did_timeout: didTimeout, dup_first_task: dupFirstTask} = Scheduler.prototype;

    getTime = library.testing_get_time;
    Object.assign(library, TIMEOUTS);

    // Calls func now, in state.  Returns its result, or throws.  If func is asynchronous, func continues with state after each
    // await.
    function runNow(state, func) {
        let error = null, value;
        runIn(state, () => {
            try {
                value = func();
            } catch (thrown) {
                error = {thrown};
            }
        });
        if (error !== null)
            throw error.thrown;
        if (!(value instanceof Promise))
            return value;
        pending.add(state);
        return value.finally(() => pending.remove(state));
    }

    // Returns whether the running task's timeout has passed.  After an await, the library may not know the task.  Then this
    // compares the state's expiry with the clock.
    Scheduler.prototype.did_timeout = function () {
        const state = currentState();
        if (state === null)
            return false;
        if (isInLibrary(state))
            return didTimeout.call(this);
        return state.expiry !== null && getTime() >= state.expiry;
    };

    Scheduler.prototype.get_current_priority = function () {
        const state = currentState();
        if (state === null)
            return USER_VISIBLE;
        return state.priority === UNSET ? state.signal.get_priority() : state.priority;
    };

    Scheduler.prototype.run_with_priority = function (priority, func) {
        const givenPriority = toGivenPriority(priority), table = tableOf(this), outer = currentState();
        toFunction(func);
        const inner = outer === null ? table.states[givenPriority]
            : new State(outer.table ?? table, outer.signal, givenPriority, outer.expiry, outer.takesTurns);
        return runNow(inner, func);
    };

    // Returns a function that runs func with the current state, wherever and as often as it is called.
    Scheduler.prototype.wrap_callback = function (func) {
        toFunction(func);
        const state = currentState() ?? tableOf(this).states[USER_VISIBLE];
        return function (...args) {
            return runNow(state, () => func.apply(this, args));
        };
    };

    Scheduler.prototype.force_frame_rate = function (fps) {
        const rate = toFrameRate(fps);
        this.set_time_slice(rate === 0 ? -1 : Math.min(Math.floor(1000 / rate), MAX_SHARED_SLICE));
    };

    // Ends the slice, so that other sources of the main context run, and changes are drawn.
    Scheduler.prototype.request_paint = function () {
        this.end_slice();
    };

    // Posts a task that calls callback (didTimeout), as React's function does.  If callback returns a function, a continuation
    // calls that, and so on.
    Scheduler.prototype.schedule_callback = function (level, callback, options = undefined) {
        const [priority, usualTimeout] = toLevel(level);
        toUnstepped(callback, 'schedule_callback ()');
        const {delay, name, signal, timeout} = toOptions(options, OPTIONS, 'schedule_callback ()');
        const milliseconds = toDelay(delay), givenSignal = toSignal(signal), givenName = toName(name), table = tableOf(this);
        const givenTimeout = timeout === undefined || timeout === null ? usualTimeout : toTimeout(timeout);
        const scheduled = new ScheduledCallback(table, callback), watcher = scheduled.watch(new Special(milliseconds, givenTimeout));
        const run = () => scheduled.run(Scheduler.get_default());
        scheduled.finished = new Promise(keepResolvers);
        table.postWith(run, priority, givenSignal, milliseconds, watcher, scheduled.finished, givenName);
        return scheduled;
    };

    Scheduler.prototype.cancel_callback = function (scheduled) {
        if (!(scheduled instanceof ScheduledCallback))
            throw new TypeError(`${named(scheduled)} is nothing that schedule_callback () has returned`);
        return scheduled.cancel();
    };

    // Returns the task that runs next: a result of schedule_callback (), or a PrioSched.Task that another language has posted.
    // Returns null if the next task was posted by another method, or if there is no task.
    Scheduler.prototype.get_first_task = function () {
        return tableOf(this).first?.watcher?.handle ?? dupFirstTask.call(this);
    };
}

return {expiryAfter, make, toSpecial, toTimeout};
})(undefined, Object, Promise, Map, Number, Math, TypeError, imports);
