// tasks.js: tasks that are promises
//
// For the library a task is a number, which it runs through a PrioSched.Runner.  A task costs
// one call to post and two to run, and no object, closure or trampoline in C.
//
// The current state is tracked here, because the jobs of the engine run within a task: with the
// state of that task until it has ended, then with the state of the code that awaits it.  Which of
// those jobs belong to it is known by core/states.js.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {GLib} = imports.gi;
const {drainMicrotaskQueue} = imports._promiseNative;
const States = imports.overrides._priosched.core.states;
const {State, numberHere, stateOf} = States;
const Native = imports.overrides._priosched.native;
const Current = imports.overrides._priosched.core.current;
const {AbortWatch, closedError, reasonOf, report, wrapReason} = imports.overrides._priosched.core.reasons;
const {newRunner} = imports.overrides._priosched.core.runner;
const {Entry, Queue, Slice, adoptedEntry, followPromise, keepResolvers} = imports.overrides._priosched.core.settling;
const {Unhandled} = imports.overrides._priosched.core.unhandled;

const UNSET = 0;
const BACKGROUND = 1;
const USER_VISIBLE = 2;
const USER_BLOCKING = 3;

const FOREVER = Number.MAX_SAFE_INTEGER; // milliseconds
const TABLE = Symbol('table');

// PrioSched.Posted
const REJECTED = 0;
const OUTSIDE = 1;
const INSIDE = 2;

function make(PrioSched) {
    const {IdleDeadline, Runner, SchedulingState, TaskSignal} = PrioSched;
    const {next, end} = Runner;
    const {get_current: getLibraryState} = SchedulingState;

    // The native part, or null; and the same if it knows the state of each job.
    const native = Native.open();
    const exact = native?.isExact ? native : null;
    if (exact)
        States.doWithoutFrames();
    const runUnder = exact ? native.runAs : States.runUnder;
    const drainUnder = exact ? native.drain : States.drainUnder;

    // The current state: a State, or null for none.  It is undefined outside of what a table runs; there the library has it.
    let current;
    // The State that is current in the library, or null.
    let libraryState = null;
    // The depth of main loops at which `current` was set: what a nested loop runs is not part of the task that runs the loop.
    let depth = 0;
    // Whether a callback runs, and no job of the engine, which may belong to somebody else.
    let isCallback = false;
    // Whether a callback has been called and not returned, whether the jobs that are run may be those of a nested loop, and whether
    // a callback of the library's own may have left some.
    let isCalled = false, isMixed = false, hasOthers = false;

    let runsNative = false; // tasks, after which nobody calls drain()
    // By their numbers, the states of those whose callbacks have returned promises which are pending.
    const pending = new States.Pending();

    const settled = Promise.resolve();
    // The reaction of who has yielded is between two jobs, unless its task was that of a nested loop.
    let goesOn = false;
    const beginCallback = () => (isCallback = goesOn), endCallback = () => (isCallback = false);
    const beginMixed = () => (isMixed = true);

    // What other code has queued does not run as that of a task.  In a main loop that a job runs, nothing is run before the job has
    // returned, and then come the jobs that the tasks leave behind.
    function runOthers() {
        if (current === undefined) {
            current = null;
        } else {
            isMixed = true;
            settled.then(beginMixed);
        }
        drainUnder(current);
        isCalled = isMixed = hasOthers = false;
    }

    // All that is known of the state of the running code is known by these two.  An engine that keeps the state of
    // each job needs neither.

    // Whether the running code belongs to `current`.  It does if there is no number that it could have.
    function isOwn() {
        return exact ? exact.state() === current : isCallback || numberHere(isMixed) === (current?.number ?? 0);
    }

    function currentState() {
        if (exact)
            return exact.state() === undefined ? libraryCurrentState() : exact.state();
        if (current && GLib.main_depth() !== depth)
            return null;
        if (isCallback)
            return current;
        const number = current?.number || pending.size > 0 ? numberHere(isMixed) : 0;
        if (number === current?.number)
            return current;
        if (number !== 0)
            return pending.get(number) ?? null;
        return current === undefined ? libraryCurrentState() : null;
    }

    function libraryCurrentState() {
        return Current.stateOf(getLibraryState(), tableOf);
    }

    // The state in which the last task was posted; the library returned `posted` for it.
    function stateFor(posted) {
        if (exact)
            return posted === OUTSIDE ? exact.state() ?? null : currentState();
        if (current === null)
            return null;
        if (current === undefined)
            return posted === OUTSIDE ? null : libraryCurrentState();
        if (libraryState !== null ? posted === OUTSIDE : GLib.main_depth() !== depth)
            return null;
        return isCallback || current.number === 0 || current.number === numberHere(isMixed) ? current : null;
    }

    // Promises to settle once the engine's queue is empty, each with the state of the code that
    // awaits it; and, by their tables and numbers, tasks that are to be rejected.
    const results = new Queue();
    // Whether there are too many for one slice, and those that come wait behind.
    let isLate = false;
    let isAwake = false;

    // A task calls drain() where no other does.
    function wake() {
        isAwake ||= ownTable().wake(() => {
            isAwake = false;
        });
    }

    // Outside of what a table runs, drain() is not called, and in a nested main loop not before the task has ended.
    function wakeForResults() {
        if (!isAwake && results.length > 0 && (current === undefined || runsNative || GLib.main_depth() !== depth))
            wake();
    }

    function addResult(result) {
        results.push(result);
        wakeForResults();
    }

    // What nobody handles is reported when the last is rejected.
    const unhandled = new Unhandled(native, function later(report) {
        exact?.reportAfterTasks();
        ownTable().post(() => isLate ? later(report) : runIn(null, report), USER_BLOCKING, new Promise(keepResolvers));
    });

    // Whether somebody may await it.
    function watchRejection({name, promise, reject}, settle, value) {
        return promise === null || settle !== reject || !unhandled.add(promise, value, name);
    }

    function settleLater(entry, settle, value) {
        if (exact || entry.outer === (current ?? null)) {
            watchRejection(entry, settle, value);
            settle(value);
        } else {
            addResult({entry, settle, value});
        }
    }

    // The slice of the aborts.
    const aborting = new Slice();

    function beginAbort(reason) {
        aborting.begin();
        unhandled.begin(reason);
    }

    function isAbortLate() {
        // Those that are settled at once have no reactions yet that a slice could measure.
        const {isShort} = aborting;
        return isLate || (isLate = (aborting.isOver() && !isShort) || (native !== null && aborting.isLong));
    }

    function rejectAborted(entry, reason) {
        entry.isRejected = true;
        if (isAbortLate())
            addResult({entry, settle: entry.reject, value: reason});
        else
            settleLater(entry, entry.reject, reason);
    }

    // Reactions take their time too: they come before the next look at the clock.  Returns whether there may be any.
    function settleNext() {
        const result = results.shift();
        const {entry, settle, value} = result.table ? result.table.takeAborted(result.id) : result;
        current = entry.outer;
        libraryState = null;
        const isAwaited = watchRejection(entry, settle, value);
        settle(value);
        drainUnder(current);
        return isAwaited;
    }

    // Runs the engine's queue with the current state, and then settles `results`.
    function drain() {
        drainUnder(current);
        const slice = new Slice();
        let isAwaited = false;
        while (results.length > 0) {
            // A few that nobody awaits take no time: they are reported even if this task ends the main loop.
            if (slice.isOver() && (isAwaited || !slice.isShort)) {
                isLate = true;
                wake();
                return;
            }
            isAwaited = settleNext() || isAwaited;
        }
        isLate = false;
    }

    function follow(promise, entry) {
        return followPromise(promise, entry, (settle, value) => {
            pending.remove(entry.state);
            settleLater(entry, settle, value);
        });
    }

    // The idle callbacks, by the numbers that identify them in the library.
    const idles = new Map();

    const cancelIdle = id => idles.delete(id);

    // The tables that have unfinished tasks with signals.
    const withSignals = new Set();

    // Rejects the promises of aborted tasks, of all schedulers.
    function takeRejected() {
        for (const table of [...withSignals])
            table.takeRejected();
    }

    // The tasks of a scheduler, by the numbers that identify them in the library.
    class Table {
        #entries = [0]; // by number; for a free number, the next free one, or 0
        #free = 0;      // the first free number, or 0
        #states = [UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING].map(priority => new State(this, null, priority));
        #runner;
        #idleRunner = null;
        #nWithSignals = 0;

        constructor(scheduler) {
            const run = id => this.runPrioSchedTasks(null, id);
            this.scheduler = Current.linkTo(scheduler);
            this.#runner = newRunner(scheduler, exact ? id => exact.runAs(null, () => run(id)) : run, id => this.#entries[id]);
        }

        // Of tasks without a signal, by their priorities.
        get states() { return this.#states; }
        get first() { return this.#entries[this.#runner.get_first()] || null; }

        #add(entry) {
            const id = this.#free || this.#entries.length;
            if (id === this.#free)
                this.#free = this.#entries[id];
            this.#entries[id] = entry;
            return id;
        }

        #take(id) {
            const entry = this.#entries[id];
            this.#entries[id] = this.#free;
            this.#free = id;
            if (entry.state.signal !== null && --this.#nWithSignals === 0)
                withSignals.delete(this);
            return entry;
        }

        // The runner's function.  core/states.js knows its name.
        runPrioSchedTasks(runNative, id) {
            const outer = current, outerState = libraryState, outerDepth = depth, wasNative = runsNative;
            const wasMixed = isMixed && outer !== undefined, wasCalled = isCalled;
            depth = GLib.main_depth();
            isCallback = false;
            libraryState = null;
            if (!exact && (outer !== undefined || hasOthers))
                runOthers();
            runsNative = runNative !== null;
            if (id === 0 || runsNative)
                current = null;
            if (runsNative) {
                runNative(id);
            } else if (id === 0) {
                this.takeRejected();
                drain();
            }
            while (id !== 0 && !runsNative) {
                const entry = this.#take(id);
                if (entry.callback !== null) {
                    this.#call(entry);
                } else {
                    current = entry.outer;
                    libraryState = entry.state;
                    goesOn = Boolean(current?.number);
                    if (goesOn && outer !== undefined)
                        settled.then(beginCallback);
                    entry.resolve();
                    if (goesOn) {
                        isCallback = outer === undefined;
                        settled.then(endCallback);
                    }
                }
                if (current && current.frames !== null)
                    drainUnder(current);
                else
                    drainMicrotaskQueue();
                if (results.length > 0)
                    drain();
                isMixed = false;
                id = next();
            }
            isMixed = wasMixed || wasCalled;
            goesOn = false;
            current = outer;
            libraryState = outerState;
            depth = outerDepth;
            runsNative = wasNative;
            isCallback = isCalled = wasCalled; // if it was set for a reaction, what is on the stack tells
            // One of them may have ended the main loop, and then nothing else runs.
            unhandled.report(isLate);
        }

        #call(entry) {
            const {callback, state} = entry;
            let value, outcome = null, settle = entry.resolve;
            current = libraryState = state;
            isCallback = isCalled = true;
            try {
                // Its `this` must not be the entry.
                if (exact)
                    value = exact.runAs(state, callback);
                else
                    value = state.frames === null ? callback() : state.frames[0](state.frames, 1, callback);
                if (value instanceof Promise)
                    outcome = follow(value, entry);
            } catch (error) {
                settle = entry.reject;
                value = error;
            }
            isCallback = isCalled = false;
            if (state.frames === null)
                drainMicrotaskQueue();
            else
                drainUnder(state);

            // end() performs the checkpoint; after it, the signal can no longer abort the task.
            // Then the result settles, and code that awaits it continues with its own state.
            if (end()) {
                settle = entry.reject;
                value = reasonOf(state.signal);
            }
            entry.watcher?.settled();
            current = entry.outer;
            libraryState = null;
            if (outcome === null || settle === entry.reject) {
                watchRejection(entry, settle, value);
                settle(value);
            } else if (outcome.settle !== null) {
                watchRejection(entry, outcome.settle, outcome.value);
                outcome.settle(outcome.value);
            } else {
                outcome.isAwaited = true;
                pending.add(state);
            }
        }

        #runIdle(id) {
            const state = this.#states[BACKGROUND];
            const callback = idles.get(id);
            idles.delete(id);
            runIn(state, () => callback(IdleDeadline.get_current()), state);
            runIn(state, () => {
                isCallback = false;
                drain();
            }, state);
        }

        requestIdle(scheduler, callback, timeout) {
            this.#idleRunner ??= newRunner(scheduler, id => this.#runIdle(id));
            const id = this.#idleRunner.request_idle_callback(timeout);
            idles.set(id, callback);
            return id;
        }

        // Posts a task that has no effect but to call drain().  Returns whether there is a main context for it.
        wake(resolve = () => {}) {
            const entry = new Entry(null, this.#states[USER_BLOCKING]);
            entry.resolve = resolve;
            const id = this.#add(entry);
            const posted = this.#runner.post(id, USER_BLOCKING);
            if (posted === REJECTED)
                this.#take(id);
            return posted !== REJECTED;
        }

        // The signal of entry has been aborted, and may have been reset since, or the main context has gone.
        #reasonFor({signal}) {
            if (signal !== null && (signal.is_cancelled() || this.wake()))
                return reasonOf(signal);
            return closedError();
        }

        // What the aborted task settles with.
        takeAborted(id) {
            const entry = this.#take(id);
            entry.watcher?.settled();
            return {entry, settle: entry.reject, value: entry.isRejected ? undefined : this.#reasonFor(entry.state)};
        }

        takeRejected() {
            const ids = this.#runner.take_rejected();
            if (ids?.length > 0)
                aborting.begin();
            for (const id of ids ?? []) {
                if (this.#entries[id].isRejected) {
                    this.#take(id);
                } else if (isAbortLate()) {
                    addResult({table: this, id});
                } else {
                    const {entry, settle, value} = this.takeAborted(id);
                    settleLater(entry, settle, value);
                }
            }
        }

        #postFull(id, {signal, priority, expiry}, delay, continuation) {
            return continuation && expiry ? this.#runner.yield_timed(id, priority, signal, delay, expiry)
                : this.#runner.post_full(id, priority, signal, delay, continuation);
        }

        // Counts entry, whose state is known now, until #take().
        #count(entry) {
            if (entry.state.signal !== null && this.#nWithSignals++ === 0)
                withSignals.add(this);
        }

        #enter(id, entry, outer, posted) {
            entry.outer = outer;
            this.#count(entry);
            if (posted === REJECTED) {
                this.#take(id);
                entry.watcher?.settled();
                settleLater(entry, entry.reject, this.#reasonFor(entry.state));
            }
        }

        // Posts a task that settles the last promise.
        post(callback, priority, promise) {
            const entry = new Entry(callback, this.#states[priority]);
            entry.promise = unhandled.expect(promise);
            const id = this.#add(entry);
            const posted = this.#runner.post(id, priority);
            // Code outside any task has no state, and awaits the task without one.
            if (posted !== OUTSIDE || current)
                this.#enter(id, entry, stateFor(posted), posted);
        }

        // The same with all options.  The watcher, if any, gets a function that rejects the promise, is told when the task settles, and
        // may have its own way to post it.
        postWith(callback, priority, signal, delay, watcher, promise, name = null) {
            if (priority === UNSET && !(signal instanceof TaskSignal))
                priority = USER_VISIBLE;
            if (signal === null && delay === 0 && name === null && watcher === null) {
                this.post(callback, priority, promise);
                return;
            }
            const entry = new Entry(callback, signal === null ? this.#states[priority] : stateOf(this, signal, priority));
            entry.promise = unhandled.expect(promise);
            entry.name = name;
            if (watcher !== null) {
                entry.watcher = watcher;
                watcher.posted(reason => rejectAborted(entry, reason));
            }
            const id = this.#add(entry);
            const posted = watcher?.post ? watcher.post(this.#runner, id, entry) : this.#postFull(id, entry.state, delay, false);
            this.#enter(id, entry, stateFor(posted), posted);
        }

        // The state that a continuation inherits from `state`.
        stateToInherit(state) {
            return state !== null && state.table === this ? state : this.#states[USER_VISIBLE];
        }

        // Posts a continuation of the current task, which inherits its state and resolves the last promise.
        yield() {
            const entry = new Entry(null, libraryState);
            const id = this.#add(entry);

            if ((exact || pending.size > 0 || current?.number) && !isOwn()) {
                this.#yieldIn(currentState(), id, entry);
            } else if (libraryState !== null && libraryState === (current ?? this.#states[USER_VISIBLE]) &&
                libraryState.table === this) {
                // The library has the same current state, and makes the continuation inherit it.
                const posted = this.#runner.yield(id);
                if (posted === INSIDE) {
                    entry.outer = current;
                    if (entry.state.signal !== null)
                        this.#count(entry);
                } else {
                    this.#enterContinuation(id, entry, posted);
                }
            } else if (current === undefined) {
                this.#enterContinuation(id, entry, this.#runner.yield(id));
            } else {
                this.#yieldIn(current === null || GLib.main_depth() === depth ? current : null, id, entry);
            }
        }

        #yieldIn(state, id, entry) {
            entry.state = this.stateToInherit(state);
            this.#enter(id, entry, state, this.#postFull(id, entry.state, 0, true));
        }

        // Enters a continuation of code that may not be part of the current task.
        #enterContinuation(id, entry, posted) {
            const outer = stateFor(posted);
            entry.state = this.stateToInherit(outer);
            this.#enter(id, entry, outer, posted);
        }

        // adopted, the last promise, settles as promise does, in a continuation of the current task.  If that is aborted before, the
        // library rejects another continuation, whose time never comes.
        adopt(promise, adopted) {
            const outer = currentState(), waiting = new Entry(null, this.stateToInherit(outer)), {signal, priority} = waiting.state;
            const id = signal === null ? 0 : this.#add(waiting);
            const goOn = settle => value => this.#goOn(id, waiting, outer, settle, value);
            waiting.promise = unhandled.expect(adopted);
            Promise.resolve(promise).then(goOn(waiting.resolve), goOn(waiting.reject));
            if (id !== 0)
                this.#enter(id, waiting, outer, this.#postFull(id, {signal, priority}, FOREVER, true));
        }

        #goOn(id, waiting, outer, settle, value) {
            if (waiting.isRejected || (id !== 0 && this.#entries[id] !== waiting))
                return;
            const entry = adoptedEntry(waiting, settle, value, watchRejection);
            if (id !== 0 && this.#runner.cancel(id))
                this.takeRejected();
            this.#yieldIn(outer, this.#add(entry), entry);
        }

        // Yields with the older draft's options: each is inherited or given.
        yieldWith(inheritsSignal, signal, inheritsPriority, priority, delay = 0) {
            const outer = currentState();
            const inherited = this.stateToInherit(outer);
            const entry = new Entry(null, Current.stateToYield(this, inherited, inheritsSignal, signal, inheritsPriority, priority));
            const id = this.#add(entry);
            this.#enter(id, entry, outer, this.#postFull(id, entry.state, delay, true));
        }
    }

    // Calls callback in state, which may be null; library is the state that the library has.
    function runIn(state, callback, library = null) {
        const outer = current, outerState = libraryState, outerDepth = depth, wasCallback = isCallback, wasCalled = isCalled;
        current = state;
        libraryState = library;
        depth = GLib.main_depth();
        isCallback = isCalled = true;
        try {
            runUnder(state, callback);
        } catch (error) {
            report(error);
        }
        current = outer;
        libraryState = outerState;
        depth = outerDepth;
        isCallback = wasCallback;
        isCalled = wasCalled;
        hasOthers = true;
        wakeForResults();
    }

    // Looking up a property of one of the library's objects costs as much as a call.  Nearly all
    // tasks are those of the default scheduler, which is never freed, so its table is kept here.
    const defaultScheduler = PrioSched.Scheduler.get_default();
    const defaultTable = new Table(defaultScheduler);

    // Carries what is the overrides' own: nobody else can pause it.  Tables do not hold their schedulers.
    let ownScheduler = null, own = null;
    function ownTable() {
        ownScheduler ??= PrioSched.Scheduler.new(null);
        own ??= new Table(ownScheduler);
        return own;
    }

    function tableOf(scheduler) {
        return scheduler === defaultScheduler ? defaultTable : (scheduler[TABLE] ??= new Table(scheduler));
    }

    const isQuiet = () => pending.size === 0 && (current === undefined ? undefined : !current?.number);
    const hasten = native && Native.make(native, defaultScheduler, defaultTable,
        {closedError, follow, runTasks: defaultTable.runPrioSchedTasks, isQuiet, pending, reportUnhandled: () => unhandled.report(isLate), runIn, unhandled});

    return {
        queueMicrotask: Current.make(PrioSched, {currentState, native, runIn, tableOf}), hasten, nativePart: native?.gain,
        isInLibrary: state => state.expiry === undefined || state === libraryState, pending, runIn,
        tableOf, ownTable, keepResolvers, USER_VISIBLE, cancelIdle, beginAbort, currentState, reasonOf, takeRejected, watchAbort: () => new AbortWatch(currentState()?.signal ?? null), wrapReason, report, runAsNone: callback => runIn(null, callback),
    };
}
