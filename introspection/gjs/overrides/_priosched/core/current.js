// current.js: methods of the library that depend on the state of the calling code
//
// The library knows only the state of the callbacks that it calls, and not the state of code after an await.  So these methods
// get the state from the overrides, as the methods that return promises do.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {linkTo, make, stateOf, stateToYield} = ((undefined, Object, Promise, TypeError, imports) => {
const {Gio, GObject} = imports.gi;
const {INHERIT, UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;
const {closedError, named, toFunction} = imports.overrides._priosched.core.reasons;
const {State} = imports.overrides._priosched.core.states;

// Returns a function that returns scheduler, or null if scheduler has been freed.  The function must not hold scheduler.  GJS
// 1.74 has no working weak reference, but a GObject binding holds its source weakly, so the function asks a binding.
let end = null;
function linkTo(scheduler) {
    if (!(scheduler instanceof imports.gi.PrioSched.Scheduler))
        throw new TypeError(`${named(scheduler)} is not a scheduler, whose method this is`);
    end ??= new Gio.SimpleAction({name: 'end'});
    const binding = scheduler.bind_property('paused', end, 'enabled', GObject.BindingFlags.DEFAULT);
    return () => binding.dup_source();
}

// Returns a new State for a state of the library, or null for null.
function stateOf(state, tableOf) {
    if (state === null)
        return null;
    const scheduler = state.dup_scheduler();
    const found = new State(scheduler && tableOf(scheduler), state.get_cancellable(), state.get_priority());
    found.expiry = undefined;
    found.number = found.left = 0; // no frame identifies this state
    found.frame = null;
    return found;
}

// Returns the state of a continuation.  signal and priority are the options of yieldWith (), in core/table.js: a value or INHERIT.
function stateToYield(table, inherited, signal, priority, takesTurns) {
    const {TaskSignal} = imports.gi.PrioSched;
    if (signal === INHERIT && priority === UNSET)
        priority = INHERIT;
    if (signal === INHERIT)
        ({signal} = inherited);
    if (priority === INHERIT) {
        ({priority} = inherited);
        if (priority === UNSET && signal !== inherited.signal)
            signal = TaskSignal.any_following(signal ? [signal] : [], inherited.signal);
    }
    if (priority === UNSET && !(signal instanceof TaskSignal))
        priority = USER_VISIBLE;
    return Object.assign(new State(table, signal, priority, inherited.expiry, takesTurns || inherited.takesTurns), {name: inherited.name});
}

// Replaces methods of Scheduler and SchedulingState by methods that use the state of the running code.  Returns the function
// queueMicrotask () in an object.  core/tasks.js passes the last argument: currentState () returns the state of the running
// code, runIn () calls a function in a state, and tableOf () returns the table of a scheduler.
function make({Scheduler, SchedulingState, TaskSignal, YieldFlags, YieldOptions}, {currentState, runIn, tableOf}) {
    const {yield_async: yieldAsync, yield_finish: yieldFinish} = Scheduler.prototype;

    // Posts a continuation, with the signal and the priority of the third argument, that calls callback in state, which may be
    // null.
    function yieldUnder(scheduler, state, {signal, priority}, callback) {
        const options = new YieldOptions({flags: YieldFlags.DROP_SIGNAL | YieldFlags.DROP_PRIORITY});
        if (signal !== null)
            options.cancellable = signal;
        // If the priority is the signal's, the option stays unset, so the library uses the signal's priority.  GJS cannot set
        // the option to UNSET.
        if (priority !== UNSET || !(signal instanceof TaskSignal))
            options.priority = priority || USER_VISIBLE;
        yieldAsync.call(scheduler, options, (...args) => runIn(state, () => callback(...args)));
    }

    // The result of SchedulingState.get_current (): presents a state of the overrides as a PrioSched.SchedulingState.
    class CurrentState {
        #state;

        constructor(state) {
            this.#state = state;
        }

        dup_scheduler() {
            return this.#state.table?.scheduler() ?? null;
        }

        get_cancellable() {
            return this.#state.signal;
        }

        get_priority() {
            return this.#state.priority;
        }

        run(func) {
            runIn(this.#state, toFunction(func));
        }

        resume_async(callback) {
            toFunction(callback);
            const scheduler = this.dup_scheduler();
            if (scheduler !== null) {
                yieldUnder(scheduler, this.#state, this.#state, callback);
                return;
            }
            const task = Gio.Task.new(null, null, (source, result) => callback(source, result));
            task.return_error(closedError());
        }

        resume_finish(result) {
            return result instanceof Gio.Task ? result.propagate_boolean() : yieldFinish.call(Scheduler.get_default(), result);
        }

        toString() {
            return `[state of a task: priority ${this.#state.priority}, signal ${this.#state.signal}]`;
        }
    }
    Object.setPrototypeOf(CurrentState.prototype, SchedulingState.prototype);

    SchedulingState.get_current = function () {
        const state = currentState();
        return state && new CurrentState(state);
    };

    // Given only a callback, calls it in a continuation that inherits the state of the running code.  Given options and a
    // callback, calls the library's method.
    Scheduler.prototype.yield_async = function (...args) {
        const state = currentState(), callback = args.at(-1);
        if (args.length > 1 || typeof callback !== 'function')
            yieldAsync.call(this, args.length > 1 ? args[0] : null, callback); // throws for wrong arguments
        else
            yieldUnder(this, state, tableOf(this).stateToInherit(state), callback);
    };

    // Queues a job of SpiderMonkey that calls callback in the state of the running code.
    function queueMicrotask(callback) {
        const state = currentState();
        Promise.resolve().then(() => runIn(state, callback));
    }

    return {queueMicrotask};
}

return {linkTo, make, stateOf, stateToYield};
})(undefined, Object, Promise, TypeError, imports);
