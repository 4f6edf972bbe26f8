// results.js: the results of tasks, which settle with the state of the code that awaits them
//
// A promise is settled at once if the awaiting code's state is the current one, or if the native part knows the state of
// each job.  Otherwise the promise is settled once SpiderMonkey's job queue is empty.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Results} = ((Promise, imports) => {
const {USER_BLOCKING} = imports.overrides._priosched.constants;
const {Later, Queue, Slice, followPromise, keepResolvers, ownPromiseError} = imports.overrides._priosched.core.settling;
const {Unhandled} = imports.overrides._priosched.core.unhandled;

class Results {
    // Reports unhandled rejections after the last promise has been rejected.
    unhandled;
    // Promises to settle once SpiderMonkey's job queue is empty, each with the state of the code that awaits it; and aborted
    // tasks, as their tables and numbers.
    #queue = new Queue();
    // Whether settling #queue takes more than one slice, so that later promises have to be added to it.
    #isLate = false;
    #isAwake = false;
    #exact;
    #inexact; // the native part if it does not know the state of each job, or null
    #ownTable;
    #running;

    // native is the native part or null.  exact is the native part if it knows the state of each job, or null.  ownTable () returns
    // the table of the overrides' own tasks.
    constructor(native, exact, running, ownTable) {
        this.#exact = exact;
        this.#inexact = exact ? null : native;
        this.#running = running;
        this.#ownTable = ownTable;
        this.unhandled = new Unhandled(native, report => this.#reportLater(report));
    }

    get isLate() { return this.#isLate; }

    // Makes later promises wait in the queue from now on.
    delay() {
        this.#isLate = true;
    }

    // Whether promises wait in the queue.
    get isWaiting() { return this.#queue.length > 0; }

    // Whether promises wait in the queue that settle before the result of the running task.
    get #precedesResult() { return this.#queue.length > 0 && !this.#isLate; }

    // Settles the promises that settle before the result of the running task.
    drainBeforeResult() {
        if (this.#precedesResult)
            this.drain();
    }

    #reportLater(report) {
        this.#exact?.reportAfterTasks();
        const run = () => this.#isLate ? this.#reportLater(report) : this.#running.runIn(null, report);
        this.#ownTable().post(run, USER_BLOCKING, new Promise(keepResolvers));
    }

    // Reports unhandled rejections, unless more promises will be rejected soon.
    report() {
        if (!this.#isLate)
            this.unhandled.report();
    }

    // Posts a continuation after which drain () is called, unless an earlier one has not run yet.
    #wake() {
        this.#isAwake ||= this.#ownTable().wake(() => {
            this.#isAwake = false;
        });
    }

    // Posts a continuation for the waiting promises if no code will call drain () soon: outside of a table's tasks, or in a nested
    // main loop, where drain () is called only after the task that runs the loop.
    wakeIfWaiting() {
        if (!this.#isAwake && this.#queue.length > 0 && !this.#running.willDrain)
            this.#wake();
    }

    add(result) {
        this.#queue.push(result);
        this.#inexact?.drainAfterTask();
        this.wakeIfWaiting();
    }

    // Prepares to settle a promise: if it is to be rejected and has no handler, keeps it for the report of unhandled
    // rejections, and returns false.  Otherwise returns true, because some code may await the promise.
    watch({name, promise, reject, returned}, settle, value) {
        return promise === null || settle !== reject || !this.unhandled.add(promise, value, name, returned);
    }

    // Settles the promise of entry with value, now or later.
    settle(entry, settle, value) {
        if (this.#exact || this.#running.isHere(entry.outer)) {
            this.watch(entry, settle, value);
            settle(value);
        } else {
            this.add({entry, settle, value});
        }
    }

    // Returns a promise that is rejected already, for a task whose name may be null.
    rejected(reason, name = null) {
        let reject = null;
        const promise = this.unhandled.expect(new Promise((_resolve, rejectIt) => (reject = rejectIt)));
        this.unhandled.add(promise, reason, name);
        reject(reason);
        return promise;
    }

    // Makes entry settle like promise, which the callback of entry has returned.  If that is the task's own promise, rejects
    // entry with a TypeError.  Returns the outcome: see followPromise ().
    follow(promise, entry) {
        if (promise === entry.promise)
            return {settle: entry.reject, value: ownPromiseError(), isAwaited: false, isRejected: false};
        if (promise instanceof Later)
            promise.promise = entry.promise;
        entry.returned = promise;
        const outcome = followPromise(promise, entry, (settle, value) => {
            this.#running.pending.remove(entry.state);
            if (outcome.isRejected)
                return;
            this.#running.endFunction(entry.outer);
            if (this.#precedesResult)
                this.add({entry, settle, value});
            else
                this.settle(entry, settle, value);
        });
        return outcome;
    }

    // Keeps the state of a task's function, whose call has returned a promise, until that promise settles.  An aborted task
    // is rejected at once, but its function continues.  Returns whether the task's promise has to wait; it does not if the
    // returned promise has settled already.
    keepState(outcome, state, isAborted) {
        if (outcome.settle !== null)
            return false;
        outcome.isAwaited = true;
        outcome.isRejected = isAborted;
        this.#running.pending.add(state);
        return !isAborted;
    }

    // Settles the first waiting promise.  The promise's reactions run before the next look at the clock, because they take
    // time too.  Returns whether any code may await the promise.
    #settleNext() {
        const running = this.#running, result = this.#queue.shift();
        const {entry, settle, value} = result.table ? result.table.takeAborted(result.id) : result;
        running.beginReactions(entry.outer);
        const isAwaited = this.watch(entry, settle, value);
        settle(value);
        running.drainUnder(running.current);
        return isAwaited;
    }

    // Runs SpiderMonkey's queued jobs with the current state, and then settles the waiting promises.  After a
    // slice, leaves the rest to a later task.
    drain() {
        this.#running.drainUnder(this.#running.current);
        const slice = new Slice();
        let isAwaited = false;
        while (this.#queue.length > 0) {
            // A few promises that no code awaits are settled even if the slice is over.  So their rejections are reported even if
            // this task ends the main loop.
            if (slice.isOver() && (isAwaited || !slice.isShort)) {
                this.#isLate = true;
                this.#wake();
                return;
            }
            isAwaited = this.#settleNext() || isAwaited;
        }
        this.#isLate = false;
    }
}

return {Results};
})(Promise, imports);
