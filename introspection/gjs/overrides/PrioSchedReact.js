// PrioSchedReact.js: what React's Scheduler has: timeouts of tasks, and the current priority
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make, toTimed */

const {GLib} = imports.gi;
const {named, toFunction} = imports.overrides.PrioSchedReasons;
const {State} = imports.overrides.PrioSchedStates;

const MAX_TIMEOUT = 2 ** 31 - 1;
const UNSET = 0;
const USER_VISIBLE = 2;

// In whole milliseconds, none of which is 0 unless it has been given.
function toTimeout(value) {
    if (typeof value !== 'number' || !(value >= -MAX_TIMEOUT) || value > MAX_TIMEOUT)
        throw new TypeError(`${named(value)} is no timeout in milliseconds`);
    return value < 0 ? Math.floor(value) : Math.ceil(value);
}

// What a table does where it would post a task without a timeout.
class Timed {
    #delay;
    #timeout;

    constructor(delay, timeout) {
        this.#delay = delay;
        this.#timeout = timeout;
    }

    post(runner, id, entry) {
        const {table, signal, priority} = entry.state;
        const expiry = GLib.get_monotonic_time() + (this.#delay + this.#timeout) * 1000;
        entry.state = new State(table, signal, priority, Math.min(Math.max(expiry, 0), Number.MAX_SAFE_INTEGER));
        return runner.post_timed(id, priority, signal, this.#delay, this.#timeout);
    }

    posted() {}

    settled() {}
}

// For a table, or null for no timeout, which 0 is too.
var toTimed = function toTimed(timeout, delay) {
    const milliseconds = timeout === undefined || timeout === null ? 0 : toTimeout(timeout);
    return milliseconds === 0 ? null : new Timed(delay, milliseconds);
};

// Gives Scheduler its methods for JavaScript.
function make({Scheduler}, tasks, {toGivenPriority}) {
    const {currentState, isInLibrary, pending, runIn, tableOf} = tasks;
    const {did_timeout: didTimeout} = Scheduler.prototype;

    // Calls func now, as what belongs to state.  What it returns or throws.  If that is a promise, what awaits in func goes on with state.
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

    // Where the library does not know the task, after an await of something else, the clock tells.
    Scheduler.prototype.did_timeout = function () {
        const state = currentState();
        if (state === null)
            return false;
        if (isInLibrary(state))
            return didTimeout.call(this);
        return state.expiry !== null && GLib.get_monotonic_time() >= state.expiry;
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
            : new State(outer.table ?? table, outer.signal, givenPriority, outer.expiry);
        return runNow(inner, func);
    };
}
