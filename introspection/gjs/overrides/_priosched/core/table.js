// table.js: the tasks of a scheduler, each with the promise that it settles
//
// The library knows a task by its number, and runs the task through a PrioSched.Runner.  A task costs one call into C to
// post and two to run, and needs no object or closure in C.
//
// SpiderMonkey walks the whole stack for every promise that is made or settled.  So the functions that make or settle
// promises are not divided further: each additional frame on the stack would cost time.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Table} = ((undefined, Object, Promise, imports) => {
const {drainMicrotaskQueue} = imports._promiseNative;
const {
    UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING, REJECTED, OUTSIDE, INSIDE, FOREVER,
} = imports.overrides._priosched.constants;
const Current = imports.overrides._priosched.core.current;
const {Entries} = imports.overrides._priosched.core.entries;
const {closedError, reasonOf, reasonOfRefusal} = imports.overrides._priosched.core.reasons;
const {newRunner} = imports.overrides._priosched.core.runner;
const {Entry, adoptedEntry, promiseOf} = imports.overrides._priosched.core.settling;
const {State, recordOf, stateOf} = imports.overrides._priosched.core.states;

const NO_EXPIRY = -1;

// The tasks of a scheduler, by their numbers in the library.
class Table {
    #entries = new Entries();
    #states = [UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING].map(priority => new State(this, null, priority));
    #runner;
    #idleRunner = null;
    #nWithSignals = 0;

    // These fields are shared by all tables. #exact is the native part if it knows the state of each job, or null; #running
    // has the state of the running code; #library has the library's functions and the class that the tables use.
    #exact;
    #running;
    #results;
    #aborts;
    #idles;
    #library;

    constructor(scheduler, {exact, running, results, aborts, idles, library}) {
        this.#exact = exact;
        this.#running = running;
        this.#results = results;
        this.#aborts = aborts;
        this.#idles = idles;
        this.#library = library;
        const run = id => id === 0 ? this.rejectPrioSchedTasks() : this.runPrioSchedTasks(null, id);
        this.scheduler = Current.linkTo(scheduler);
        this.#runner = newRunner(scheduler, exact ? id => exact.runAs(null, () => run(id)) : run, id => this.find(id));
    }

    // States of tasks without a signal, by priority.
    get states() { return this.#states; }
    get first() { return this.find(this.#runner.get_first()) || null; }

    find(id) {
        return this.#entries.find(id);
    }

    take(id) {
        const entry = this.#entries.take(id), {signal} = entry.state;
        if (signal !== null) {
            recordOf(signal).nPending--;
            if (--this.#nWithSignals === 0)
                this.#aborts.tables.delete(this);
        }
        return entry;
    }

    // Rejects the promises of table's aborted tasks, and runs their reactions.  table may be another object with
    // takeRejected (): see core/kept.js.
    rejectPrioSchedTasks(table = this) {
        const running = this.#running, results = this.#results, outer = running.beginRow(0, false);
        table.takeRejected();
        results.drain();
        running.endRow(outer);
        results.report();
    }

    // Runs tasks for the library's runner, from the task `id` on.  If runNative is not null, runNative (id) runs them
    // instead, in the native part.  core/states.js searches the stack for the names of this method and the previous one.
    runPrioSchedTasks(runNative, id) {
        const running = this.#running, results = this.#results, {next} = this.#library;
        const outer = running.beginRow(id, runNative !== null), isInner = outer.current !== undefined;
        if (runNative !== null)
            runNative(id);
        while (id !== 0 && runNative === null) {
            const entry = this.take(id);
            if (entry.callback !== null) {
                this.#call(entry);
            } else {
                running.beginContinuation(entry, isInner);
                entry.resolve();
                running.endContinuation(isInner);
            }
            const {current} = running;
            if (current && current.frame !== null)
                running.drainUnder(current);
            else
                drainMicrotaskQueue();
            if (results.isWaiting)
                results.drain();
            running.endTask();
            id = next();
        }
        running.endRow(outer);
        // Reports now, because a task may have ended the main loop, and then no later task would report the rejections.
        results.report();
    }

    #call(entry) {
        const {callback, state} = entry, exact = this.#exact, running = this.#running, results = this.#results;
        let value, outcome = null, settle = entry.resolve;
        running.beginCall(state);
        try {
            // Calls the variable `callback`, because entry.callback () would pass the entry as `this`.
            if (exact)
                value = exact.runAs(state, callback);
            else
                value = state.frame === null ? callback() : state.frame(state.left, callback);
            const promise = promiseOf(value);
            if (promise !== null)
                outcome = results.follow(promise, entry);
        } catch (error) {
            settle = entry.reject;
            value = error;
        }
        running.endCall();
        if (state.frame === null)
            drainMicrotaskQueue();
        else
            running.drainUnder(state);
        results.drainBeforeResult();

        // end () ends the task in the library, and returns whether the task was aborted while it ran.  From now on the
        // signal can no longer abort the task.  Then the result settles, and code that awaits the result continues with its
        // own state.
        if (this.#library.end()) {
            settle = entry.reject;
            value = reasonOf(state.signal);
        }
        entry.watcher?.settled();
        running.beginReactions(entry.outer);
        if (outcome !== null && results.keepState(outcome, state, settle === entry.reject))
            return;
        if (outcome !== null && settle !== entry.reject)
            ({settle, value} = outcome);
        // If an abort has rejected the promise already, or has put it into a queue to be rejected, the value is not used.
        if (entry.isRejected)
            return;
        results.watch(entry, settle, value);
        settle(value);
    }

    requestIdle(scheduler, callback, timeout) {
        this.#idleRunner ??= this.#idles.newRunner(scheduler, this.#states[BACKGROUND]);
        return this.#idles.request(this.#idleRunner, callback, timeout);
    }

    // Posts a continuation that calls resolve ().  After it, drain () settles the waiting promises.  Returns false if the main
    // context has gone, and otherwise true.
    wake(resolve = () => {}) {
        const entry = new Entry(null, this.#states[USER_BLOCKING]);
        entry.resolve = resolve;
        const id = this.#entries.add(entry);
        // A continuation is posted because a task would have to wait behind a loop of yields.
        const posted = this.#runner.yield_full(id, USER_BLOCKING, null, 0, NO_EXPIRY, false);
        if (posted === REJECTED)
            this.take(id);
        return posted !== REJECTED;
    }

    // Returns the reason for which the library has rejected a task with this state: the reason of the aborted signal or, if
    // the main context has gone, an error.  A Gio.Cancellable may have been reset since it was aborted.  So if the signal is
    // not aborted, a post shows whether the main context is still there.
    reasonFor({signal}) {
        if (signal !== null && (signal.is_cancelled() || this.wake()))
            return reasonOf(signal);
        return closedError();
    }

    // Takes an aborted task out of the table.  Returns its entry, the function that rejects its promise, and the reason.
    takeAborted(id) {
        const entry = this.take(id);
        entry.watcher?.settled();
        return {entry, settle: entry.reject, value: entry.isRejected ? undefined : this.reasonFor(entry.state)};
    }

    takeRejected() {
        this.#aborts.rejectAll(this, this.#runner.take_rejected() ?? []);
    }

    #postTask(id, {signal, priority, takesTurns}, delay) {
        return this.#runner.post_full(id, priority, signal, delay, 0, takesTurns);
    }

    #postContinuation(id, {signal, priority, expiry, takesTurns = false}, delay = 0) {
        return this.#runner.yield_full(id, priority, signal, delay, expiry ?? NO_EXPIRY, takesTurns);
    }

    // Counts entry among the tasks of its signal, if it has one, until take () removes entry.
    #count({state: {signal}}) {
        if (signal === null)
            return;
        recordOf(signal).nPending++;
        if (this.#nWithSignals++ === 0)
            this.#aborts.tables.add(this);
    }

    #enter(id, entry, outer, posted) {
        entry.outer = outer;
        this.#count(entry);
        if (posted === REJECTED) {
            this.take(id);
            entry.watcher?.settled();
            const reason = this.reasonFor(entry.state);
            this.#results.settle(entry, entry.reject, entry.callback === null ? reason : reasonOfRefusal(reason));
        }
    }

    // Posts a task that settles `promise`: the promise that was created last, with keepResolvers ().
    post(callback, priority, promise) {
        const entry = new Entry(callback, this.#states[priority]);
        entry.promise = this.#results.unhandled.expect(promise);
        const id = this.#entries.add(entry);
        const posted = this.#runner.post(id, priority);
        // Code outside any task has no state.  So if such code posts the task, entry.outer stays null, and nothing is left
        // to do.
        if (posted !== OUTSIDE || this.#running.current)
            this.#enter(id, entry, this.#running.stateFor(posted), posted);
    }

    // Posts a task with all options.  The watcher is null or an object that follows the task: posted () gets a function that
    // rejects the promise, and settled () is called when the callback has returned, or will not be called.  A watcher may
    // have two more functions: stateIn () returns the task's state, and post () posts the task in the library.
    postWith(callback, priority, signal, delay, watcher, promise, name = null) {
        if (priority === UNSET && !(signal instanceof this.#library.TaskSignal))
            priority = USER_VISIBLE;
        if (signal === null && delay === 0 && name === null && watcher === null) {
            this.post(callback, priority, promise);
            return;
        }
        const state = signal === null ? this.#states[priority]
            : watcher?.stateIn ? watcher.stateIn(this, signal, priority) : stateOf(this, signal, priority);
        const entry = new Entry(callback, state);
        entry.promise = this.#results.unhandled.expect(promise);
        entry.name = name;
        if (watcher !== null) {
            entry.watcher = watcher;
            watcher.posted(reason => this.#aborts.reject(entry, reason));
        }
        const id = this.#entries.add(entry);
        const posted = watcher?.post ? watcher.post(this.#runner, id, entry) : this.#postTask(id, entry.state, delay);
        this.#enter(id, entry, this.#running.stateFor(posted), posted);
    }

    // Returns the state that a continuation inherits from `state`: `state` itself or, if that is null or another
    // scheduler's, the state of tasks with the default priority.
    stateToInherit(state) {
        return state !== null && state.table === this ? state : this.#states[USER_VISIBLE];
    }

    // Posts a continuation of the running code.  The continuation inherits that code's state, and resolves the promise that was
    // created last, with keepResolvers ().
    yield() {
        const running = this.#running, {current, libraryState} = running;
        const entry = new Entry(null, libraryState);
        const id = this.#entries.add(entry);

        if (!running.isOwn()) {
            this.#yieldIn(running.currentState(), id, entry);
        } else if (libraryState !== null && libraryState === (current ?? this.#states[USER_VISIBLE]) && libraryState.table === this) {
            // The library, too, has this state as the current one, so the continuation inherits it there.
            const posted = this.#runner.yield(id);
            if (posted === INSIDE) {
                entry.outer = current;
                this.#count(entry);
            } else {
                this.#enterContinuation(id, entry, posted);
            }
        } else if (current === undefined) {
            this.#enterContinuation(id, entry, this.#runner.yield(id));
        } else {
            this.#yieldIn(running.stateToYield(), id, entry);
        }
    }

    #yieldIn(state, id, entry) {
        entry.state = this.stateToInherit(state);
        this.#enter(id, entry, state, this.#postContinuation(id, entry.state));
    }

    // Completes the entry of a continuation that the library has posted; `posted` is the library's answer.  The running code may
    // not be part of the current task, so its state is looked up first.
    #enterContinuation(id, entry, posted) {
        const outer = this.#running.stateFor(posted);
        entry.state = this.stateToInherit(outer);
        this.#enter(id, entry, outer, posted);
    }

    // Posts a continuation of the code that runs in state, after delay milliseconds.  The continuation calls resolve () in
    // that state.  If the state's signal is aborted first, reject (reason) is called instead.  Returns the argument for
    // takeBack ().
    goOn(state, resolve, reject, delay = 0) {
        const running = this.#running, entry = new Entry(null, state);
        entry.resolve = () => running.runIn(state, resolve, state);
        entry.reject = reject;
        const id = this.#entries.add(entry);
        this.#enter(id, entry, state, this.#postContinuation(id, state, delay));
        return {id, entry};
    }

    // Drops a continuation that goOn () has posted, without calling its functions.  If it has run, or has been rejected,
    // does nothing.
    takeBack({id, entry}) {
        if (entry.isRejected || this.find(id) !== entry)
            return;
        Object.assign(entry, {isRejected: true, resolve() {}, reject() {}});
        if (this.#runner.cancel(id))
            this.takeRejected();
    }

    // Makes `adopted`, the promise that was created last, settle as `promise` does, in a continuation of the running code.  If
    // that code has a signal, a second continuation is posted, which never becomes due: if the signal is aborted first, the
    // library rejects this continuation, and `adopted` with it.
    adopt(promise, adopted) {
        const outer = this.#running.currentState(), waiting = new Entry(null, this.stateToInherit(outer)), {signal, priority} = waiting.state;
        const id = signal === null ? 0 : this.#entries.add(waiting);
        const goOn = settle => value => this.#goOn(id, waiting, outer, settle, value);
        waiting.promise = this.#results.unhandled.expect(adopted);
        Promise.resolve(promise).then(goOn(waiting.resolve), goOn(waiting.reject));
        if (id !== 0)
            this.#enter(id, waiting, outer, this.#postContinuation(id, {signal, priority}, FOREVER));
    }

    #goOn(id, waiting, outer, settle, value) {
        if (waiting.isRejected || (id !== 0 && this.find(id) !== waiting))
            return;
        const entry = adoptedEntry(waiting, settle, value, (...result) => this.#results.watch(...result));
        if (id !== 0 && this.#runner.cancel(id))
            this.takeRejected();
        this.#yieldIn(outer, this.#entries.add(entry), entry);
    }

    // Yields with the options signal and priority, which yield () had in an older draft of the web's interface.  Each is
    // INHERIT, for the running code's signal or priority, or a value; signal may also be null, and priority UNSET.  Settles
    // `promise`: the promise that was created last, with keepResolvers ().
    yieldWith(promise, signal, priority, {delay = 0, takesTurns = false} = {}) {
        const outer = this.#running.currentState();
        const inherited = this.stateToInherit(outer);
        const entry = new Entry(null, Current.stateToYield(this, inherited, signal, priority, takesTurns));
        entry.promise = this.#results.unhandled.expect(promise);
        const id = this.#entries.add(entry);
        this.#enter(id, entry, outer, this.#postContinuation(id, entry.state, delay));
    }
}

return {Table};
})(undefined, Object, Promise, imports);
