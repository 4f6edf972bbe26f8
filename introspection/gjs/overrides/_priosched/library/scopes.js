// scopes.js: waits for the tasks that a function posts in a group, and aborts the rest once one fails
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {SCOPE, addRun} = ((undefined, Promise, Symbol, Set, Error, imports) => {
const {isAbort, toUnstepped} = imports.overrides._priosched.library.steps;

// The property of a group for its Scope, while run () runs a function.
const SCOPE = Symbol('scope');

class Scope {
    #failure = null; // the first error of a task, of a feed or of the function, as {error}
    #feeds = new Set();
    #group;

    constructor(group) {
        this.#group = group;
    }

    // Throws the first error, if there is one, so that no more tasks are posted.
    check() {
        if (this.#failure !== null)
            throw this.#failure.error;
    }

    fail(error) {
        if (this.#failure !== null)
            return;
        this.#failure = {error};
        this.#group.abort();
    }

    // Records the error of a task.  If run () throws this error, or has aborted the task, the task's promise gets an empty
    // handler, so that the rejection is not reported.
    taskFailed(error, {promise, state: {signal}}) {
        const isAborted = isAbort(error, signal);
        if (isAborted === (this.#failure !== null))
            promise.then(undefined, () => {});
        if (!isAborted)
            this.fail(error);
    }

    // Makes run () also wait for feed, the promise of a feed, because a feed is not a task of the group.
    follow(feed, signal) {
        this.#feeds.add(feed);
        feed.then(() => this.#feeds.delete(feed), error => {
            this.#feeds.delete(feed);
            if (!isAbort(error, signal))
                this.fail(error);
        });
    }

    async run(callback, drained) {
        let result;
        try {
            result = await callback(this.#group);
        } catch (error) {
            this.fail(error);
        }
        do {
            await Promise.allSettled(this.#feeds);
            await drained();
        } while (this.#feeds.size > 0);
        this.check();
        return result;
    }
}

// Adds run (), which calls a function with the group, and waits for the tasks that the function posts in it.  Programs could
// write `await using` instead, but no SpiderMonkey of GJS has that so far.
function addRun(TaskGroup, tasks, schedulerOf) {
    TaskGroup.prototype.run = async function (callback) {
        toUnstepped(callback, 'run ()');
        if (this[SCOPE])
            throw new Error('run (): the group already runs a function');
        const scheduler = schedulerOf(this), state = tasks.currentState(), scope = this[SCOPE] = new Scope(this);
        const ended = scope.run(callback, () => new Promise(resolve => tasks.runIn(state, () => resolve(this.drained()))));
        try {
            return await scheduler.adopt(ended);
        } catch (error) {
            scope.fail(error); // perhaps the calling task has been aborted
            await ended.catch(() => {});
            throw error;
        } finally {
            this[SCOPE] = undefined;
        }
    };
}

return {SCOPE, addRun};
})(undefined, Promise, Symbol, Set, Error, imports);
