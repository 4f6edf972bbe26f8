// idles.js: idle callbacks
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Idles} = ((Map, imports) => {
const {newRunner} = imports.overrides._priosched.core.runner;

class Idles {
    #callbacks = new Map(); // by their numbers in the library
    #results;
    #running;

    constructor(running, results) {
        this.#running = running;
        this.#results = results;
    }

    // Returns a runner for the idle callbacks of scheduler, which calls them in state.
    newRunner(scheduler, state) {
        return newRunner(scheduler, id => this.#run(id, state));
    }

    request(runner, callback, timeout) {
        const id = runner.request_idle_callback(timeout);
        this.#callbacks.set(id, callback);
        return id;
    }

    cancel(id) {
        this.#callbacks.delete(id);
    }

    #run(id, state) {
        const {IdleDeadline} = imports.gi.PrioSched, callback = this.#callbacks.get(id);
        this.#callbacks.delete(id);
        this.#running.runIn(state, () => callback(IdleDeadline.dup_current()), state);
        this.#running.runJobsIn(state, () => this.#results.drain());
    }
}

return {Idles};
})(Map, imports);
