// testing.js: PrioSched.testing, the clock of a test
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((Promise, Error, TypeError, imports) => {
const {named} = imports.overrides._priosched.core.reasons;

const LONGEST = 1e15; // milliseconds: about 30,000 years

function toSpan(value) {
    if (typeof value !== 'number' || !(value >= 0 && value <= LONGEST))
        throw new TypeError(`${named(value)} is not a time of a test in milliseconds, which does not go back`);
    return value;
}

function make(PrioSched) {
    let hasBegun = false;

    function check(name) {
        if (!hasBegun)
            throw new Error(`testing.${name}: the time is the system's: call testing.begin () first`);
    }

    return {
        // Stops the time of all schedulers: from now on delays, timeouts, slices and frames follow the time of the test, and no
        // main loop sleeps until they are due.
        begin() {
            if (hasBegun)
                throw new Error('testing.begin (): a test has begun already: call testing.end ()');
            hasBegun = true;
            PrioSched.testing_begin();
        },

        // Ends the test: schedulers use the time of the system again.
        end() {
            check('end ()');
            hasBegun = false;
            PrioSched.testing_end();
        },

        // Advances the time, and runs each task that becomes due, at the time when it is due.
        advance(milliseconds) {
            check('advance ()');
            PrioSched.testing_advance(toSpan(milliseconds));
        },

        // Advances the time like advance (), while the program runs the main loop: await testing.advance_async (150).
        advance_async(milliseconds) {
            check('advance_async ()');
            const span = toSpan(milliseconds);
            return new Promise(resolve => PrioSched.testing_advance_async(span, () => resolve()));
        },

        // Advances the time, and runs nothing, as if the calling code took that long.
        spend(milliseconds) {
            check('spend ()');
            PrioSched.testing_spend(toSpan(milliseconds));
        },

        // Runs all tasks and sources that are ready, and does not advance the time.
        run_until_idle() {
            check('run_until_idle ()');
            PrioSched.testing_run_until_idle();
        },

        // Runs the next task that is ready, and no other task.  Returns whether there was one.
        step() {
            check('step ()');
            return PrioSched.testing_step();
        },

        // How much time of the test has passed, in milliseconds.
        get elapsed() {
            check('elapsed');
            return PrioSched.testing_get_elapsed();
        },

        // The time that schedulers read, in microseconds, for Scheduler.set_next_frame ().
        get time() {
            return PrioSched.testing_get_time();
        },

        // The names of the tasks that wait for their turn, in the order of their posts.
        get queued() {
            check('queued');
            return PrioSched.testing_list_queued();
        },

        // The names of the tasks that wait for the end of their delay, in the order of their posts.
        get delayed() {
            check('delayed');
            return PrioSched.testing_list_delayed();
        },
    };
}

return {make};
})(Promise, Error, TypeError, imports);
