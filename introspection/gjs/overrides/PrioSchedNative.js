// PrioSchedNative.js: the same as PrioSchedTasks.js, where the native part is there
//
// The native part (introspection/gjs/native) has the tables from numbers to callbacks and promises, runs
// tasks, settles their promises, and knows the current state.  Where the engine lets it, that is exact: each reaction has
// the state of the code that registered it.  What is rare is done here.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {GLib} = imports.gi;

const UNSET = 0;
const BACKGROUND = 1;
const USER_VISIBLE = 2;
const USER_BLOCKING = 3;

const TABLE = Symbol('table');

// The native part refuses if it was not made for these overrides.
const INTERFACE = 1;

// The property by which the native part finds this context.
const MARK = '__prioSchedNative__';

// The namespace, or null if it or its library is not there.
function find() {
    try {
        imports.gi.versions.PrioSchedGjs = '1';
        const {PrioSchedGjs} = imports.gi;
        return PrioSchedGjs.Gain.$gtype?.name === 'PrioSchedGjsGain' ? PrioSchedGjs : null;
    } catch {
        return null;
    }
}

// The native functions, or null.  PRIO_SCHED_NATIVE=0 in the environment goes without them.
function open() {
    const PrioSchedGjs = GLib.getenv('PRIO_SCHED_NATIVE') === '0' ? null : find();
    if (PrioSchedGjs === null)
        return null;

    const native = {newRunner: PrioSchedGjs.new_runner};
    globalThis[MARK] = native;
    const gain = PrioSchedGjs.open(MARK, INTERFACE);
    delete globalThis[MARK];
    native.isExact = gain === PrioSchedGjs.Gain.STATE;
    return gain === PrioSchedGjs.Gain.NONE ? null : native;
}

// Options are as in PrioSchedTasks.js, which gives what both have in common.
function make(PrioSched, native, {State, newRunner, reasonOf, report, wrapReason}) {
    const {IdleDeadline, SchedulingState, TaskSignal} = PrioSched;

    function libraryState() {
        const state = SchedulingState.get_current();
        return state && new State(libraryTable(state.dup_scheduler()), state.get_signal(), state.get_priority());
    }

    function libraryTable(scheduler) {
        return scheduler === null ? null : tableOf(scheduler);
    }

    // The current state, or null for none.
    function currentState() {
        const state = native.state();
        return state === undefined ? libraryState() : state;
    }

    // The reason why a task with this state will not run.
    function rejectionOf({table, signal}) {
        if (signal !== null && (signal.is_cancelled() || table.wake()))
            return reasonOf(signal);
        return new PrioSched.Error({code: PrioSched.Error.CLOSED, message: 'The main context has gone'});
    }

    // What comes of the promise that a task's callback has returned: kept until the task has ended, and from then on
    // passed on.  So a rejection is never unhandled.
    function follow(returned, promise, reject, outer) {
        const outcome = {promise, reject, outer, rejects: null, value: undefined, isAwaited: false};
        const on = rejects => value => {
            if (outcome.isAwaited)
                native.settle(promise, reject, rejects, value, outer);
            else
                Object.assign(outcome, {rejects, value});
        };
        returned.then(on(false), on(true));
        return outcome;
    }

    function finish(outcome) {
        const {promise, reject, outer, rejects, value} = outcome;
        if (rejects === null)
            outcome.isAwaited = true;
        else
            native.settle(promise, reject, rejects, value, outer);
    }

    // Posts a continuation that inherits a state with a signal, or that of another scheduler.
    function yieldAs(object, id, state) {
        return object.table.inherit(id, state);
    }

    native.setHooks([rejectionOf, follow, finish, ({watcher}) => watcher.settled(), yieldAs, libraryState]);

    // The idle callbacks, by the numbers that identify them in the library.
    const idles = new Map();

    function runIdle(id) {
        const callback = idles.get(id);
        idles.delete(id);
        native.runAs(native.isExact ? libraryState() : undefined, () => {
            try {
                callback(IdleDeadline.get_current());
            } catch (error) {
                report(error);
            }
            native.drain();
        });
    }

    function cancelIdle(id) {
        idles.delete(id);
    }

    class Table {
        #states = [UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING].map(priority => new State(this, null, priority));
        #runner;
        #idleRunner = null;
        #object;

        constructor(scheduler) {
            this.#runner = native.newRunner(scheduler);
            this.#object = native.newTable(this.#states.slice(BACKGROUND));
            this.#object.table = this;
        }

        get object() { return this.#object; }

        requestIdle(scheduler, callback, timeout) {
            this.#idleRunner ??= newRunner(scheduler, runIdle);
            const id = this.#idleRunner.request_idle_callback(timeout);
            idles.set(id, callback);
            return id;
        }

        // Returns whether there is a main context.
        wake() {
            return native.wake(this.#object);
        }

        // Posts a task that settles the last promise.
        post(callback, priority) {
            native.post(this.#object, callback, priority);
        }

        // The same with all options.
        postWith(callback, priority, signal, delay, watcher = null) {
            if (priority === UNSET && !(signal instanceof TaskSignal))
                priority = USER_VISIBLE;
            if (signal === null && delay === 0) {
                native.post(this.#object, callback, priority);
                return;
            }
            const state = new State(this, signal, priority, watcher);
            watcher?.posted(this.#rejecter());
            const id = native.add(this.#object, callback, state, watcher !== null);
            native.enter(this.#object, id, this.#runner.post_full(id, priority, signal, delay, false));
        }

        // A function that rejects the last promise.
        #rejecter() {
            const reject = native.lastReject();
            if (native.isExact)
                return reject;
            const outer = currentState();
            return reason => native.settle(reject, reject, true, reason, outer);
        }

        // The state that a continuation inherits from `state`.
        #stateToInherit(state) {
            return state !== null && state.table === this ? state : this.#states[USER_VISIBLE];
        }

        #postContinuation(id, {signal, priority}) {
            return this.#runner.post_full(id, priority, signal, 0, true);
        }

        inherit(id, state) {
            const inherited = this.#stateToInherit(state);
            native.setState(this.#object, id, inherited);
            return this.#postContinuation(id, inherited);
        }

        // Posts a continuation of the current task, which inherits its state and resolves the last promise.
        yield() {
            native.yield(this.#object);
        }

        // Yields with the older draft's options: each is inherited or given.
        yieldWith(inheritsSignal, signal, inheritsPriority, priority) {
            const inherited = this.#stateToInherit(currentState());

            if (inheritsSignal && priority === UNSET)
                inheritsPriority = true;
            if (inheritsSignal)
                ({signal} = inherited);
            if (inheritsPriority) {
                ({priority} = inherited);
                if (priority === UNSET && signal !== inherited.signal)
                    signal = TaskSignal.any_following(signal ? [signal] : [], inherited.signal);
            }
            if (priority === UNSET && !(signal instanceof TaskSignal))
                priority = USER_VISIBLE;

            const state = new State(this, signal, priority);
            const id = native.add(this.#object, null, state, false);
            native.enter(this.#object, id, this.#postContinuation(id, state));
        }
    }

    // Queues a job of the engine, which runs with the current state.
    function queueMicrotask(callback) {
        const state = currentState();
        const run = () => {
            try {
                callback();
            } catch (error) {
                report(error);
            }
        };
        Promise.resolve().then(native.isExact && state === native.state() ? run : () => native.runAs(state, run));
    }

    const defaultScheduler = PrioSched.Scheduler.get_default();
    const defaultTable = new Table(defaultScheduler);

    // Carries what is the overrides' own: nobody else can pause it.
    const ownTable = new Table(PrioSched.Scheduler.new(null));
    native.setOwn(ownTable.object);

    function tableOf(scheduler) {
        return scheduler === defaultScheduler ? defaultTable : (scheduler[TABLE] ??= new Table(scheduler));
    }

    // Puts a native function before the method `name` of prototype, for calls on receiver without options.
    function hasten(prototype, name, receiver, kind) {
        const method = prototype[name];
        const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
        const value = native[kind](defaultTable.object, receiver, method, method.name, method.length);
        Object.defineProperty(prototype, name, {...descriptor, value});
    }

    return {
        nativePart: native.isExact ? 'state' : 'speed', tableOf, ownTable, keepResolvers: native.keep, USER_VISIBLE, queueMicrotask,
        cancelIdle, wrapReason, report,
        runAsNone: callback => native.runAs(null, callback),
        takeRejected: native.takeRejected,
        hastenPost: (prototype, name, receiver) => hasten(prototype, name, receiver, 'fastPost'),
        hastenYield: (prototype, name, receiver) => hasten(prototype, name, receiver, 'fastYield'),
    };
}
