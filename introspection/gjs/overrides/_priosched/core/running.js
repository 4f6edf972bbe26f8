// running.js: whose the running code is
//
// The current state is tracked here, because the jobs of the engine run within a task: with the
// state of that task until it has ended, then with the state of the code that awaits it.  Which of
// those jobs belong to it is known by states.js.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Running */

const {GLib} = imports.gi;
const {OUTSIDE} = imports.overrides._priosched.constants;
const {report} = imports.overrides._priosched.core.reasons;
const States = imports.overrides._priosched.core.states;

const settled = Promise.resolve();

var Running = class Running {
    // A State, or null for none.  It is undefined outside of what a table runs; there the library has it.
    current = undefined;
    // The State that is current in the library, or null.
    libraryState = null;
    // By number, the states of tasks whose callbacks have returned promises that are pending.
    pending;
    // The depth of main loops at which `current` was set: what a nested loop runs is not part of the task that runs the loop.
    #depth = 0;
    // Whether a callback runs, and no job of the engine, which may belong to somebody else.
    #isCallback = false;
    // Whether a callback has been called and not returned, whether the jobs that are run may belong to a nested loop, and whether
    // a callback of the library's own may have left some.
    #isCalled = false;
    #isMixed = false;
    #hasOthers = false;
    #runsNative = false; // tasks, after which nobody drains the engine's queue
    // The reaction of a yield is between two jobs, unless its task was a nested loop's.
    #goesOn = false;

    #beginCallback = () => (this.#isCallback = this.#goesOn);
    #endCallback = () => (this.#isCallback = false);
    #beginMixed = () => (this.#isMixed = true);

    // Whether nobody could tell the state of the running code from none; undefined if the library has to say.  The native part asks
    // at each post.
    isQuiet = () => this.pending.size === 0 && (this.current === undefined ? undefined : !this.current?.number);

    #exact;
    #getLibraryState;
    #left;

    // native is the native part or null, exact the same if it knows the state of each job.  getLibraryState () gives the State that is
    // current outside of what a table runs, and left () is called after each callback of the library's own.
    constructor(native, exact, getLibraryState, left) {
        this.pending = new States.Pending(native);
        this.#exact = exact;
        this.#getLibraryState = getLibraryState;
        this.#left = left;
        // These are called with a state, and put no frame of their own on the stack.
        this.runUnder = exact ? exact.runAs : States.runUnder;
        this.drainUnder = exact ? exact.drain : States.drainUnder;
    }

    // All that is known of the state of the running code is known by these two.  An engine that keeps the state of
    // each job needs neither.

    // Whether the running code belongs to `current`.  It does if there is no number that it could have.
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
        return current === undefined ? this.#getLibraryState() : null;
    }

    // The state in which the last task was posted; the library returned `posted` for it.
    stateFor(posted) {
        const {current} = this;
        if (this.#exact)
            return posted === OUTSIDE ? this.#exact.state() ?? null : this.currentState();
        if (current === null)
            return null;
        if (current === undefined)
            return posted === OUTSIDE ? null : this.#getLibraryState();
        if (this.libraryState !== null ? posted === OUTSIDE : this.isNested)
            return null;
        return this.#isCallback || current.number === 0 || current.number === States.numberHere(this.#isMixed) ? current : null;
    }

    // Whether the library knows state as the running code's.
    isInLibrary(state) {
        return state.expiry === undefined || state === this.libraryState;
    }

    // Whether a nested main loop runs the running code.
    get isNested() {
        return GLib.main_depth() !== this.#depth;
    }

    // Whether the engine's queue is drained when the running code has returned, and all that follows from it is settled.
    get isDrained() {
        return this.current !== undefined && !this.#runsNative && !this.isNested;
    }

    // Jobs that other code has queued do not run as a task's.  In a main loop that a job runs, nothing is run before the job has
    // returned, and then come the jobs that the tasks leave behind.
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

    // A row of tasks, whose number for the first is 0 if there is none.  Returns what endRow () takes.
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

    // Calls the callback of a task of a native row in a state that the stack has to tell.
    callUnder(state, callback) {
        this.#runsNative = false;
        this.beginCall(state);
        try {
            return state.frame(state.left, callback);
        } finally {
            this.endCall();
        }
    }

    // That task has run, and all that followed from it.
    endUnder() {
        this.#runsNative = true;
        this.endTask();
    }

    // A task of the row has run, and all that followed from it.
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
        this.#isCallback = this.#isCalled = isCalled; // if it was set for a reaction, what is on the stack tells
    }

    // The callback of a task.
    beginCall(state) {
        this.current = this.libraryState = state;
        this.#isCallback = this.#isCalled = true;
    }

    endCall() {
        this.#isCallback = this.#isCalled = false;
    }

    // A promise is settled that code of that state awaits.
    beginReactions(state) {
        this.current = state;
        this.libraryState = null;
    }

    // For a continuation, to which the reaction belongs.
    beginContinuation({outer, state}, isInner) {
        this.current = outer;
        this.libraryState = state;
        this.#goesOn = Boolean(outer?.number);
        if (this.#goesOn && isInner)
            settled.then(this.#beginCallback);
    }

    // Its promise is settled.
    endContinuation(isInner) {
        if (!this.#goesOn)
            return;
        this.#isCallback = !isInner;
        settled.then(this.#endCallback);
    }

    // Calls callback in state, which may be null; library is the state that the library has.
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

    // For code that is not a callback, but runs the jobs that a callback has left.
    runJobsIn(state, run) {
        this.runIn(state, () => {
            this.#isCallback = false;
            run();
        }, state);
    }
};
