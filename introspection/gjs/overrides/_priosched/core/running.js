// running.js: the state and the task of the running code
//
// The current state is tracked here, because SpiderMonkey's jobs run within a task: with the state of that task until it has
// ended, then with the state of the code that awaits the task.  states.js finds out which of those jobs belong to the task.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Running} = ((undefined, Promise, imports) => {
const {GLib} = imports.gi;
const {OUTSIDE} = imports.overrides._priosched.constants;
const {report} = imports.overrides._priosched.core.reasons;
const States = imports.overrides._priosched.core.states;

const settled = Promise.resolve();

class Running {
    // The current State, or null for none.  It is undefined outside of a table's tasks, where only the library knows the state.
    current = undefined;
    // The State that is current in the library, or null.
    libraryState = null;
    // The states of tasks whose callbacks have returned pending promises, by number.
    pending;
    // The depth of main loops, g_main_depth (), at which `current` was set.  Callbacks of a nested loop are not part of the
    // task that runs the loop.
    #depth = 0;
    // Whether the running code is a callback, and not a job of SpiderMonkey, which may belong to other code.
    #isCallback = false;
    // Three flags: whether a callback has been called and has not returned; whether the queued jobs may belong to code of a
    // nested main loop; and whether they may belong to a callback outside of tasks.
    #isCalled = false;
    #isMixed = false;
    #hasOthers = false;
    // The native part, if it does not know the state of each job; and the plain state, the state of tasks that have only the
    // default priority.  No frame on the stack identifies the plain state.  The native part runs most tasks that have it, with
    // `current` null, and knows whether the running code is part of such a task.
    #native = null;
    #plain = null;
    #runsNative = false; // whether the native part runs the current tasks: then no code calls drain () after them
    // Whether a continuation whose code has a numbered state is about to run.  #isCallback is then true until the job
    // #endCallback, which is queued after the continuation; in a nested main loop, only from the job #beginCallback on.
    // endRow () sets this to false, so if #beginCallback runs later, it sets #isCallback to false.
    #goesOn = false;

    #beginCallback = () => (this.#isCallback = this.#goesOn);
    #endCallback = () => (this.#isCallback = false);
    #beginMixed = () => (this.#isMixed = true);

    // Returns the state of the running code: null for no state, or for a plain state that the native part knows; undefined if
    // only the library knows; and false if the overrides have to search the stack.  depth is the current g_main_depth ().  The
    // native part calls this at each post.
    stateHere = depth => {
        const {current} = this;
        if (current !== undefined && this.#isCallback && depth === this.#depth)
            return current ?? false;
        if (current?.number || this.pending.size > 0)
            return false;
        return current && depth !== this.#depth ? null : current;
    };

    #exact;
    #getLibraryState;
    #left;

    // native is the native part or null; exact is the native part if it knows the state of each job, or null.  getLibraryState ()
    // returns the State that is current outside of a table's tasks.  left () is called after each callback outside of tasks.
    constructor(native, exact, getLibraryState, left) {
        this.pending = new States.Pending(native);
        this.#exact = exact;
        this.#getLibraryState = getLibraryState;
        this.#left = left;
        // These are fields, because methods would add a frame to the stack.
        this.runUnder = exact ? exact.runAs : States.runUnder;
        this.drainUnder = exact ? exact.drain : States.drainUnder;
    }

    keepPlain(native, state) {
        if (this.#exact)
            return;
        this.#native = native;
        this.#plain = state;
    }

    // Returns the state of the running code if `current` is null: null, or the plain state.
    #plainOrNone() {
        return !this.#isCallback && this.#native?.isPlain() ? this.#plain : null;
    }

    // If the native part knows the state of each job, isOwn () and currentState () ask it.  Otherwise they may search the stack.

    // Returns whether the running code belongs to `current`.  If neither `current` nor a pending state has a number, the answer
    // is true without a search of the stack.
    isOwn() {
        if (this.#exact)
            return this.#exact.state() === this.current;
        if (this.pending.size === 0 && !this.current?.number)
            return true;
        return this.#isCallback || States.numberHere(this.#isMixed) === (this.current?.number ?? 0);
    }

    currentState() {
        const {current, pending} = this;
        if (this.#exact)
            return this.#exact.state() === undefined ? this.#getLibraryState() : this.#exact.state();
        if (current && this.isNested)
            return null;
        if (this.#isCallback)
            return current;
        const number = current?.number || pending.size > 0 ? States.numberHere(this.#isMixed) : 0;
        if (number === current?.number)
            return current;
        if (number !== 0)
            return pending.get(number) ?? null;
        if (current === undefined)
            return this.#getLibraryState();
        return current === null ? this.#plainOrNone() : null;
    }

    // Returns the state of the running code, or null for none.  `current` must not be undefined, and isOwn () must be true.
    stateToYield() {
        const {current} = this;
        if (current === null)
            return this.#plainOrNone();
        return this.isNested ? null : current;
    }

    // Returns whether the running code may settle a promise that code in the state `outer` awaits, without a change of the
    // current state.
    isHere(outer) {
        const {current} = this;
        return outer === (current ?? null) || (current === null && this.#runsNative && outer === this.#plain);
    }

    // Called when the promise that a task's function has returned is settled: from now on the running code has the state `outer`.
    // If the native part runs the current task, records this there.
    endFunction(outer) {
        if (this.current === null && this.#runsNative && (outer === null || outer === this.#plain))
            this.#native.setPlain(outer !== null);
    }

    // Returns the state of the running code, which has just posted a task or a continuation; `posted` is the library's answer.
    stateFor(posted) {
        const {current} = this;
        if (this.#exact)
            return posted === OUTSIDE ? this.#exact.state() ?? null : this.currentState();
        if (current === null)
            return this.#plainOrNone();
        if (current === undefined)
            return posted === OUTSIDE ? null : this.#getLibraryState();
        if (this.libraryState !== null ? posted === OUTSIDE : this.isNested)
            return null;
        return this.#isCallback || current.number === 0 || current.number === States.numberHere(this.#isMixed) ? current : null;
    }

    // Returns whether the library, too, has the given state for the running code.
    isInLibrary(state) {
        return state.expiry === undefined || state === this.libraryState;
    }

    // Whether a nested main loop has called the running code.
    get isNested() {
        return GLib.main_depth() !== this.#depth;
    }

    // Whether drain () will run SpiderMonkey's jobs, and settle the waiting promises, once the running code returns.
    get willDrain() {
        return this.current !== undefined && !this.#runsNative && !this.isNested;
    }

    // Runs the jobs that other code has queued, outside any task.  If a job runs a nested main loop, SpiderMonkey runs no other
    // job until that job returns.  Then the jobs of the nested loop's tasks run, mixed with jobs of other code, so #isMixed is
    // set.
    #runOthers() {
        if (this.current === undefined) {
            this.current = null;
        } else {
            this.#isMixed = true;
            settled.then(this.#beginMixed);
        }
        this.drainUnder(this.current);
        this.#isCalled = this.#isMixed = this.#hasOthers = false;
    }

    // Records that jobs that a nested main loop has queued will run after the job that runs the loop, as if they were part of
    // the current task.
    mixJobs() {
        this.#isMixed = this.current !== undefined;
    }

    // Begins to run tasks one after another.  The number of the first task is id, or 0 if there is none; isNative says whether
    // the native part runs them.  Returns the argument for endRow ().
    beginRow(id, isNative) {
        const {current, libraryState} = this;
        const outer = {
            current, libraryState, depth: this.#depth, isCalled: this.#isCalled,
            isMixed: this.#isMixed && current !== undefined, runsNative: this.#runsNative,
        };
        this.#depth = GLib.main_depth();
        this.#isCallback = false;
        this.libraryState = null;
        if (!this.#exact && (current !== undefined || this.#hasOthers))
            this.#runOthers();
        this.#runsNative = isNative;
        if (id === 0 || isNative)
            this.current = null;
        return outer;
    }

    // Calls the callback of one of the native part's tasks, under the frames that identify the task's state.
    callUnder(state, callback) {
        this.#runsNative = false;
        this.beginCall(state);
        try {
            return state.frame(state.left, callback);
        } finally {
            this.endCall();
        }
    }

    // Calls settle (), which settles the promise of one of the native part's tasks unless it is settled already.  Runs the
    // reactions in the state of the code that has posted the task.
    settleUnder(state, settle) {
        this.#runsNative = false;
        this.beginReactions(state);
        settle();
        this.drainUnder(state);
    }

    // Makes the overrides settle the promises of the native part's running task, until endUnder ().
    leaveNative() {
        this.#runsNative = false;
    }

    // Ends a task of callUnder (), settleUnder () or leaveNative (), after all its reactions.
    endUnder() {
        this.#runsNative = true;
        this.endTask();
    }

    // Ends a task that has begun after beginRow (), after all its reactions.
    endTask() {
        this.#isMixed = false;
    }

    endRow({current, libraryState, depth, isCalled, isMixed, runsNative}) {
        this.#isMixed = isMixed || isCalled;
        this.#goesOn = false;
        this.current = current;
        this.libraryState = libraryState;
        this.#depth = depth;
        this.#runsNative = runsNative;
        this.#isCallback = this.#isCalled = isCalled; // if a reaction had set #isCallback, the stack identifies the state
    }

    // Sets the current state for the callback of a task.
    beginCall(state) {
        this.current = this.libraryState = state;
        this.#isCallback = this.#isCalled = true;
    }

    endCall() {
        this.#isCallback = this.#isCalled = false;
    }

    // Sets the current state for the reactions of a promise that is being settled.
    beginReactions(state) {
        this.current = state;
        this.libraryState = null;
    }

    // Sets the current state for the reaction that belongs to a continuation.
    beginContinuation({outer, state}, isInner) {
        this.current = outer;
        this.libraryState = state;
        this.#goesOn = !!outer?.number;
        if (this.#goesOn && isInner)
            settled.then(this.#beginCallback);
    }

    // Ends a continuation, after its promise has been settled.
    endContinuation(isInner) {
        if (!this.#goesOn)
            return;
        this.#isCallback = !isInner;
        settled.then(this.#endCallback);
    }

    // Calls callback in state, which may be null.  If callback throws, reports the error.  library is the library's state during
    // the call, or null.
    runIn(state, callback, library = null) {
        const {current, libraryState} = this, depth = this.#depth, wasCallback = this.#isCallback, wasCalled = this.#isCalled;
        this.#depth = GLib.main_depth();
        this.beginCall(state);
        this.libraryState = library;
        try {
            this.runUnder(state, callback);
        } catch (error) {
            report(error);
        }
        this.current = current;
        this.libraryState = libraryState;
        this.#depth = depth;
        this.#isCallback = wasCallback;
        this.#isCalled = wasCalled;
        this.#hasOthers = true;
        this.#left();
    }

    // Calls run () in state, but not as a callback: run () runs the jobs that a callback has queued.
    runJobsIn(state, run) {
        this.runIn(state, () => {
            this.#isCallback = false;
            run();
        }, state);
    }
}

return {Running};
})(undefined, Promise, imports);
