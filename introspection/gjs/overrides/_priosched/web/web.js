// web.js: the web's interfaces: scheduler, TaskController, TaskSignal, and the interfaces that these need
//
// This file follows Web IDL, and the drafts of the DOM, of Prioritized Task Scheduling and of requestIdleCallback ().  It
// implements the graph of signals, events and promises; the library orders the tasks.  A signal gets a controller of the library
// when the first task is posted with it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Object, Promise, Symbol, Set, Array, Number, TypeError, imports) => {
// The argument with which this file calls constructors that programs may not call: programs cannot get this value.
const INTERNAL = Symbol('internal');

const {INHERIT, UNSET, USER_VISIBLE, USER_BLOCKING} = imports.overrides._priosched.constants;
const {
    DOMException, Event, EventTarget, asInterface, defineHandler, dispatch, hooks, listenersIn, toDictionary,
} = imports.overrides._priosched.web.events;
const {typeName} = imports.overrides._priosched.core.runner;
const {State} = imports.overrides._priosched.core.states;
const Bridge = imports.overrides._priosched.web.bridge;
const {toFunction, toInteger, toNick, toNumber, toPriority} = imports.overrides._priosched.web.conversions;
const {newLatest, toMilliseconds} = imports.overrides._priosched.library.extras;
const {named} = imports.overrides._priosched.core.reasons;

// Returns the internal slots of an AbortSignal, or undefined.
let slotsIn;

// Stands for an empty set; addTo () creates a new set for the first member.
const NONE = new Set();
function addTo(s, name, member) {
    if (s[name] === NONE)
        s[name] = new Set();
    s[name].add(member);
}

// Returns the slots of an AbortSignal, or throws.
function slotsOf(value) {
    const s = slotsIn(value);
    if (s === undefined)
        throw new TypeError(`${named(value)} is not an AbortSignal`);
    return s;
}

// Functions that convert between signals of the web, of GIO and of the library; make () sets them.
let bridge;
function toAnySignal(value, what) {
    return slotsIn(value) !== undefined ? value : bridge.webSignalOf(bridge.toCancellable(value, what));
}

// Returns the slots of a TaskSignal, or throws.
function taskSlotsOf(signal) {
    const s = slotsIn(signal);
    if (!s || s.priority === null)
        throw new TypeError(`${named(signal)} is not a TaskSignal`);
    return s;
}

// Signals.  A source is a signal on which other signals depend.  It refers to its dependent signals weakly, unless they have
// listeners.  GJS 1.74 has no working weak reference (its WeakRef keeps the object alive), but GObject has: a property binding
// between two objects ends with either of them.  So each signal has a Beacon: a GObject that represents the signal in such
// bindings.  A source finds its dependents by changing a property of its Beacon, to which a property of each dependent's Beacon
// is bound.

const {GObject} = imports.gi;
const ABORTS = 'aborts', CHANGES = 'changes';
// When an object with a binding is freed, GObject searches all bindings of the binding's source.  So a source signal's Beacon is
// bound to intermediate Beacons, which have no signal, and each of these to at most this many dependents.  The dependents'
// Beacons hold the intermediate one.
const MOST_BOUND = 100;
let found = null;

const Beacon = GObject.registerClass({
    GTypeName: typeName('PrioSchedBeacon'),
    Properties: Object.fromEntries([ABORTS, CHANGES].map(name => [name,
        GObject.ParamSpec.uint(name, null, null, GObject.ParamFlags.READWRITE, 0, 0xffffffff, 0)])),
}, class Beacon extends GObject.Object {
    get aborts() { return this._aborts ?? 0; }
    set aborts(count) { this.#reached(ABORTS, count); }
    get changes() { return this._changes ?? 0; }
    set changes(count) { this.#reached(CHANGES, count); }

    #reached(name, count) {
        this[`_${name}`] = count;
        if (this.signal !== undefined)
            found?.push(this.signal);
    }
});

function beaconOf(signal) {
    const s = slotsIn(signal);
    if (s.beacon === null) {
        s.beacon = new Beacon();
        s.beacon.signal = signal;
    }
    return s.beacon;
}

function addDependent(source, dependent, how) {
    const row = slotsIn(source)[how] ??= {beacon: null, nBound: MOST_BOUND};
    if (row.nBound === MOST_BOUND) {
        row.beacon = new Beacon();
        row.nBound = 0;
        beaconOf(source).bind_property(how, row.beacon, how, GObject.BindingFlags.DEFAULT);
    }
    row.nBound++;
    const bound = beaconOf(dependent);
    row.beacon.bind_property(how, bound, how, GObject.BindingFlags.DEFAULT);
    (bound.boundBy ??= []).push(row.beacon);
}

// Returns the dependents of source, in the order of their creation.  how is ABORTS for dependents that are aborted with source,
// or CHANGES for dependents that follow its priority.
function dependentsOf(source, how) {
    const s = slotsIn(source);
    if (s[how] === null)
        return [];
    const outer = found;
    found = [];
    try {
        s.beacon[how] = (s.beacon[how] + 1) % 0xffffffff;
        s.beacon.notify(how);
        return found.filter(signal => signal !== source);
    } finally {
        found = outer;
    }
}

// Updates whether the sources of target keep target alive: they do as long as target has algorithms, or listeners for an event
// that a source can cause.
function listenersChanged(target) {
    const s = slotsIn(target);
    if (!s?.dependent)
        return;
    const listeners = listenersIn(target);
    const isUsed = s.algorithms.size > 0;
    const aborts = !s.aborted && (isUsed || listeners.has('abort'));
    const changes = isUsed || listeners.has('prioritychange');
    for (const source of new Set(s.prioritySource === null ? s.sources : [...s.sources, s.prioritySource])) {
        const wanted = (aborts && s.sources.has(source)) || (changes && source === s.prioritySource);
        if (wanted)
            addTo(slotsIn(source), 'pinned', target);
        else
            slotsIn(source).pinned.delete(target);
    }
}

function addAlgorithm(signal, algorithm) {
    const s = slotsIn(signal);
    addTo(s, 'algorithms', algorithm);
    if (s.algorithms.size === 1)
        listenersChanged(signal);
}

function removeAlgorithm(signal, algorithm) {
    const {algorithms} = slotsIn(signal);
    if (algorithms.delete(algorithm) && algorithms.size === 0)
        listenersChanged(signal);
}

// The internal slots of a signal.  Most signals set only a few of these fields.
class Slots {
    constructor(signal) {
        this.web = signal;
        this.aborted = false;
        this.reason = undefined;
        this.algorithms = NONE;
        this.dependent = false;
        this.sources = NONE;
        this.pinned = NONE; // dependents that this signal keeps alive
        this.beacon = null;
        this.aborts = null; // dependents that are aborted with the signal: see addDependent ()
        this.changes = null;
        this.priority = null;
        this.changing = false;
        this.prioritySource = null;
        this.controller = null; // the library's controller
        this.cancellable = null;
        this.follower = null; // follower of the cancellable that the signal represents: see bridge.js
        this.handle = null; // handle of the tasks that the native part keeps
        this.state = null; // state of the last task that the native part does not keep
    }

    get signal() { return controllerOf(this).signal; }
}

class AbortSignal extends EventTarget {
    #slots = new Slots(this);

    static {
        slotsIn = value => Object(value) === value && #slots in value ? value.#slots : undefined;
    }

    constructor(key = undefined) {
        if (key !== INTERNAL)
            throw new TypeError('Illegal constructor');
        super();
    }

    get aborted() { return slotsOf(this).aborted; }
    get reason() { return slotsOf(this).reason; }

    // A cancellable for calls of GIO; an addition to the web's interface.
    get cancellable() { return slotsOf(this) && bridge.cancellableOf(this); }

    throwIfAborted() {
        const {aborted, reason} = slotsOf(this);
        if (aborted)
            throw reason;
    }

    static abort(reason = undefined) {
        const signal = new AbortSignal(INTERNAL);
        markAborted(slotsIn(signal), reason);
        return signal;
    }

    static timeout(milliseconds) {
        const delay = toInteger(milliseconds, Number.MAX_SAFE_INTEGER, 'timeout');
        const signal = new AbortSignal(INTERNAL);
        startTimeout(signal, delay);
        return signal;
    }

    static any(signals) {
        return makeDependent(toSignals(signals), AbortSignal);
    }
}
defineHandler(AbortSignal, 'abort', slotsOf);
hooks.listenersChanged = listenersChanged;
hooks.toSignal = value => {
    const signal = toAnySignal(value, 'signal');
    return {
        aborted: slotsIn(signal).aborted,
        add: algorithm => addAlgorithm(signal, algorithm),
        remove: algorithm => removeAlgorithm(signal, algorithm),
    };
};

function toSignals(signals) {
    if ((typeof signals !== 'object' && typeof signals !== 'function') || signals === null ||
        typeof signals[Symbol.iterator] !== 'function')
        throw new TypeError(`The signals: ${named(signals)} is not a sequence`);
    return Array.from(signals, signal => toAnySignal(signal, 'A member of the signals'));
}

function markAborted(s, reason) {
    s.aborted = true;
    s.hasDefault = reason === undefined;
    s.reason = s.hasDefault
        ? new DOMException('The signal is aborted without a reason', 'AbortError') : reason;
}

// Runs the DOM's "abort steps" for signal, which also abort the signal's tasks.
function runAbortSteps(signal) {
    const s = slotsIn(signal);
    const algorithms = [...s.algorithms];
    s.algorithms.clear();
    if (algorithms.length > 0 || s.handle !== null)
        beginAbort(s.reason);
    // The native part's tasks were posted before the others, so they are aborted first.
    if (s.handle !== null)
        kept.abort(s);
    for (const algorithm of algorithms)
        algorithm(s.reason);
    // Drops the controller after the abort, because a controller keeps the reason: if the reason refers to this signal, neither
    // could be freed.
    if (s.controller !== null) {
        s.controller.abort(s.reason);
        s.controller = s.handle = null;
    }
    dispatch(new Event('abort'), signal, {trusted: true});
    listenersChanged(signal);
}

function signalAbort(signal, reason) {
    const s = slotsIn(signal);
    if (s.aborted)
        return;
    forgetHandle();
    markAborted(s, reason);
    const dependents = dependentsOf(signal, ABORTS).filter(d => !slotsIn(d).aborted);
    dependents.forEach(d => markAborted(slotsIn(d), s.reason));
    [signal, ...dependents].forEach(runAbortSteps);
}

// Carries out the DOM's "create a dependent abort signal".  If one of the signals is aborted, the result is aborted, too, and has
// no sources.  Otherwise it depends on roots, which are signals without sources.
function makeDependent(signals, Interface) {
    const result = new Interface(INTERNAL);
    const s = slotsIn(result);
    const aborted = signals.find(signal => signal.aborted);
    if (aborted) {
        markAborted(s, aborted.reason);
        return result;
    }

    s.dependent = true;
    for (const signal of signals) {
        const source = slotsIn(signal);
        for (const root of source.dependent ? source.sources : [signal]) {
            if (s.sources.has(root))
                continue;
            addTo(s, 'sources', root);
            addDependent(root, result, ABORTS);
        }
    }
    return result;
}

// Returns the signal of a controller; throws for other values.
let signalOf;

class AbortController {
    #signal;

    static {
        signalOf = controller => controller.#signal;
    }

    constructor() {
        this.#signal = new (new.target === TaskController || TaskController.isPrototypeOf(new.target)
            ? TaskSignal : AbortSignal)(INTERNAL);
    }

    get signal() { return this.#signal; }

    abort(reason = undefined) {
        signalAbort(this.#signal, reason);
    }
}

class TaskPriorityChangeEvent extends Event {
    #previous;

    constructor(type, init) {
        if (arguments.length < 2)
            throw new TypeError('TaskPriorityChangeEvent needs a type and a previousPriority');
        super(type, init);
        const {previousPriority} = toDictionary(init, 'TaskPriorityChangeEventInit');
        if (previousPriority === undefined)
            throw new TypeError('previousPriority is missing');
        this.#previous = toPriority(previousPriority);
    }

    get previousPriority() { return this.#previous; }
}

class TaskSignal extends AbortSignal {
    constructor(key = undefined) {
        super(key);
        slotsIn(this).priority = 'user-visible';
    }

    get priority() { return taskSlotsOf(this).priority; }

    static any(signals, init = undefined) {
        const sources = toSignals(signals);
        const {priority: given = 'user-visible'} = toDictionary(init, 'TaskSignalAnyInit');
        const priority = bridge.isTaskSignal(given) ? bridge.webSignalOf(given) : given;
        const follow = priority instanceof TaskSignal ? priority : null;
        const fixed = follow ? follow.priority : toPriority(priority);
        const result = makeDependent(sources, TaskSignal);
        const s = slotsIn(result);

        s.dependent = true;
        s.priority = fixed;
        const f = follow && slotsIn(follow);
        s.prioritySource = f?.dependent ? f.prioritySource : follow;
        if (s.prioritySource !== null)
            addDependent(s.prioritySource, result, CHANGES);
        return result;
    }
}
defineHandler(TaskSignal, 'prioritychange', taskSlotsOf);

// Sets the priority, and notifies listeners and dependent signals.
function announceChange(signal, s, priority) {
    const previousPriority = s.priority;
    s.priority = priority;
    if (s.controller !== null)
        s.controller.set_priority(toNumber(priority));
    else if (s.handle !== null)
        kept.setPriority(s, toNumber(priority));
    dispatch(new TaskPriorityChangeEvent('prioritychange', {previousPriority}), signal, {trusted: true});
    // A handler may have created a dependent signal, which started with the previous priority.  So this looks for dependents
    // until there is no new one.
    const reached = new Set();
    const isLeft = follower => !reached.has(follower);
    for (let left = dependentsOf(signal, CHANGES); left.length > 0; left = dependentsOf(signal, CHANGES).filter(isLeft)) {
        for (const follower of left) {
            reached.add(follower);
            changePriority(follower, priority);
        }
    }
}

// Carries out "signal priority change" of Prioritized Task Scheduling (§3.3).
function changePriority(signal, priority) {
    const s = slotsIn(signal);
    if (s.changing)
        throw new DOMException('The priority is being changed already', 'NotAllowedError');
    if (s.priority === priority)
        return;
    s.changing = true;
    try {
        announceChange(signal, s, priority);
    } finally {
        s.changing = false;
    }
}

class TaskController extends AbortController {
    constructor(init = undefined) {
        const {priority = 'user-visible'} = toDictionary(init, 'TaskControllerInit');
        const value = toPriority(priority);
        super();
        slotsIn(signalOf(this)).priority = value;
    }

    setPriority(priority) {
        const signal = signalOf(this);
        taskSlotsOf(signal);
        if (arguments.length === 0)
            throw new TypeError('setPriority needs a priority');
        changePriority(signal, toPriority(priority));
    }
}

// The argument of an idle callback, which has a copy of the library's deadline.
class IdleDeadline {
    #deadline;

    constructor(key = undefined, deadline = undefined) {
        if (key !== INTERNAL)
            throw new TypeError('Illegal constructor');
        this.#deadline = deadline;
    }

    get didTimeout() { return this.#deadline.did_timeout(); }

    timeRemaining() { return this.#deadline.get_time_remaining(); }
}

// Additions to the web's interface, for one scheduler.
class Extras {
    #currentTaskSignal;
    #getNative;
    #scheduler;
    #newExtras;

    constructor(getNative, scheduler, newExtras, currentTaskSignal) {
        this.#currentTaskSignal = currentTaskSignal;
        this.#getNative = getNative;
        this.#scheduler = scheduler;
        this.#newExtras = newExtras;
        // The methods are bound to this object, so that programs can destructure them: const {each, latest} = extras.
        for (const name of ['shouldYield', 'followFrameClock', 'unfollowFrameClock', 'each', 'slices', 'adopt', 'latest', 'newScheduler'])
            Object.defineProperty(this, name, {value: this[name].bind(this)});
    }

    // The web's scheduler, and the library's scheduler.
    get scheduler() { return this.#scheduler; }
    get native() { return this.#getNative(); }

    // The signal of the running task, which may belong to another scheduler, or null: see currentTaskSignal (), in make ().
    get currentTaskSignal() { return this.#currentTaskSignal(); }

    // The length of a slice, in milliseconds, or -1 if it adapts.
    get timeSlice() { return this.native.get_time_slice(); }
    set timeSlice(value) { this.native.set_time_slice(toMilliseconds(value)); }
    get starvationLimit() { return this.native.starvation_limit; }
    set starvationLimit(value) { this.native.starvation_limit = toInteger(value, 0xffffffff, 'starvationLimit'); }

    shouldYield() { return this.native.should_yield(); }
    followFrameClock(clock) { this.native.follow_frame_clock(clock); }
    unfollowFrameClock(clock) { this.native.unfollow_frame_clock(clock); }
    each(items) { return this.native.each(items); }
    slices(items) { return this.native.slices(items); }
    adopt(promise) { return this.native.adopt(promise); }

    latest(job, options = undefined) {
        const {priority = 'user-visible', signal} = toDictionary(options, 'Options');
        const given = toPriority(priority), givenSignal = signal === undefined ? null : toAnySignal(signal, 'signal');
        return newLatest(job, () => {
            const controller = new TaskController({priority: given});
            const own = givenSignal === null ? controller.signal
                : TaskSignal.any([controller.signal, givenSignal], {priority: controller.signal});
            return {controller, post: callback => this.#scheduler.postTask(callback, {signal: own})};
        }, message => new DOMException(message, 'AbortError'));
    }

    // Returns the Extras of a new scheduler in the same main context; its tasks are paused separately.
    newScheduler() { return this.#newExtras(); }
}

let startTimeout, beginAbort, forgetHandle, kept, controllerOf;

function make(PrioSched, tasks) {
    const getNative = () => PrioSched.Scheduler.get_default();
    hooks.report = tasks.report;
    ({beginAbort, forgetHandle} = tasks);

    // Returns the library's controller for the signal with the slots s, and creates it at the first call.  If the signal is
    // aborted, returns a new controller that has been aborted.
    controllerOf = s => {
        if (s.controller !== null)
            return s.controller;
        if (s.handle !== null)
            return (s.controller = kept.controllerOf(s));
        const controller = new PrioSched.TaskController({priority: toNumber(s.priority ?? 'user-visible')});
        if (s.aborted)
            controller.abort(s.reason);
        else
            s.controller = controller;
        return controller;
    };

    bridge = Bridge.make(PrioSched, tasks, {
        slotsIn, changePriority, abort: signalAbort,
        newSignal: isTaskSignal => new (isTaskSignal ? TaskSignal : AbortSignal)(INTERNAL),
    });

    startTimeout = (signal, delay) => {
        const abort = () => signalAbort(signal, new DOMException('The time is up', 'TimeoutError'));
        const table = tasks.ownTable(), promise = new Promise(tasks.keepResolvers);
        // The timer is a continuation, because a task would have to wait behind a loop of yields.
        const timer = {
            post: (runner, id) => runner.yield_full(id, USER_BLOCKING, null, delay, -1, false), posted() {}, settled() {},
        };
        table.postWith(() => tasks.runAsNone(abort), USER_BLOCKING, null, delay, timer, promise);
    };

    // Keeps the function that rejects a task's promise among the signal's algorithms, until the callback has returned, or will
    // not be called.  A table calls the methods: see postWith () in core/table.js.
    class Watcher {
        constructor(s) {
            this.slots = s;
            this.signal = s.web;
        }

        // Returns the state of the task.  The signal's slots keep it, and not the record of the library's signal: the library's
        // signal must not hold the web's signal, which holds the library's controller.
        stateIn(table, signal, priority) {
            const {slots, slots: {state}} = this;
            if (state === null || state.table !== table || state.priority !== priority)
                slots.state = new State(table, signal, priority, null, false, slots);
            return slots.state;
        }

        posted(reject) {
            addAlgorithm(this.signal, this.reject = reject);
        }

        settled() {
            removeAlgorithm(this.signal, this.reject);
        }
    }

    // Returns {s, cancellable}: s has the slots of a signal of the web, or cancellable is a signal of another kind; the other
    // member is null.  If the signal is aborted, throws the reason.
    function toLive(signal) {
        const s = slotsIn(signal) ?? null;
        const cancellable = s === null && signal !== undefined ? bridge.toCancellable(signal, 'signal') : null;
        if (s?.aborted) {
            // Changes the message of the default reason, and not the reason itself, so that the object stays the same.
            if (s.hasDefault)
                s.reason.message = 'The signal was aborted without a reason before this task was posted: make a new controller';
            throw s.reason;
        }
        if (cancellable?.is_cancelled())
            throw tasks.reasonOf(cancellable);
        return {s, cancellable};
    }

    // Returns the native part's handle of a signal, or null if the value is not a signal, or is an aborted signal of the web.
    function handleOf(signal) {
        const s = slotsIn(signal);
        if (s === undefined)
            return kept.handleOf(signal);
        return s.aborted ? null : kept.handleOfOwner(s, s.priority === null ? USER_VISIBLE : UNSET, toNumber(s.priority ?? 'user-visible'));
    }

    class Scheduler {
        #brand;
        #native; // the library's scheduler, which its table does not hold; null for the default scheduler
        #ownTable = null;

        constructor(key = undefined, scheduler = null) {
            if (key !== INTERNAL)
                throw new TypeError('Illegal constructor');
            this.#native = scheduler;
        }

        get #table() {
            return (this.#ownTable ??= tasks.tableOf(this.#native ?? getNative()));
        }

        static #isScheduler(value) {
            return typeof value === 'object' && value !== null && #brand in value;
        }

        // Posts a task.  A wrong argument rejects the promise, as Web IDL requires.
        postTask(callback, options = undefined) {
            try {
                if (!Scheduler.#isScheduler(this))
                    throw new TypeError(`postTask: ${named(this)} is not a Scheduler`);
                toFunction(callback, 'The callback of postTask');
                const dictionary = toDictionary(options, 'SchedulerPostTaskOptions');
                // Web IDL requires that each member is converted before the next one is read.
                const {delay: rawDelay} = dictionary;
                const delay = rawDelay === undefined ? 0 : toInteger(rawDelay, Number.MAX_SAFE_INTEGER, 'delay');
                const {priority: rawPriority} = dictionary;
                const priority = rawPriority === undefined ? UNSET : toNumber(toPriority(rawPriority));
                const {signal} = dictionary;
                const {s, cancellable} = toLive(signal);

                const table = this.#table, promise = new Promise(tasks.keepResolvers);
                if (s === null) {
                    table.postWith(callback, priority, cancellable, delay, null, promise);
                } else {
                    // An AbortSignal that is not a TaskSignal has no priority that a task could follow.
                    table.postWith(callback, priority === UNSET && s.priority === null ? USER_VISIBLE : priority,
                        s.signal, delay, new Watcher(s), promise);
                }
                return promise;
            } catch (error) {
                return tasks.rejected(error);
            }
        }

        // Yields.  In the current draft of Prioritized Task Scheduling, yield () has no options, and ignores arguments.  In an
        // older draft, the argument is an object with options.
        yield(options = undefined) {
            if (!Scheduler.#isScheduler(this))
                return Promise.reject(new TypeError(`yield: ${named(this)} is not a Scheduler`));
            if (typeof options === 'object' && options !== null)
                return this.#yieldWith(options);
            const table = this.#table, promise = new Promise(tasks.keepResolvers);
            table.yield();
            return promise;
        }

        // Yields with the options of the older draft, signal and priority, each of which may be "inherit".  A signal "inherit"
        // without a priority inherits the priority, too.
        #yieldWith(options) {
            try {
                const {priority} = options;
                const number = priority === undefined ? UNSET : priority === INHERIT ? INHERIT : toNumber(toPriority(priority));
                const {signal} = options;
                const {s, cancellable} = toLive(signal === INHERIT ? undefined : signal);
                const given = signal === INHERIT ? INHERIT : s === null ? cancellable : s.signal;
                const table = this.#table, promise = new Promise(tasks.keepResolvers);
                if (priority === undefined && signal === undefined)
                    table.yield();
                else
                    table.yieldWith(promise, given, number);
                return promise;
            } catch (error) {
                return tasks.rejected(error);
            }
        }
    }

    function requestIdleCallback(callback, options = undefined) {
        toFunction(callback, 'The callback of requestIdleCallback');
        const {timeout = 0} = toDictionary(options, 'IdleRequestOptions');
        // The timeout is an unsigned long, which Web IDL converts modulo 2³².
        return getNative().request_idle_callback(deadline => callback(new IdleDeadline(INTERNAL, deadline)), +timeout >>> 0);
    }

    function cancelIdleCallback(handle) {
        getNative().cancel_idle_callback(+handle >>> 0);
    }

    function queueMicrotask(callback) {
        toFunction(callback, 'The callback of queueMicrotask');
        tasks.queueMicrotask(callback);
    }

    // Returns null outside any task, and otherwise the running task's signal.  If the task has no signal, or a priority that is
    // not its signal's, returns a new signal with the task's priority, which is aborted with the task's signal, if there is one.
    function currentTaskSignal() {
        const state = tasks.currentState();
        if (state === null)
            return null;
        const signal = state.owner?.web ?? (state.signal && bridge.webSignalOf(state.signal));
        if (state.priority === UNSET)
            return signal;
        return TaskSignal.any(signal === null ? [] : [signal], {priority: toNick(state.priority)});
    }

    function newExtras() {
        const another = PrioSched.Scheduler.new(null);
        return new Extras(() => another, new Scheduler(INTERNAL, another), newExtras, currentTaskSignal);
    }

    [AbortController, AbortSignal, IdleDeadline, Scheduler, TaskController, TaskPriorityChangeEvent, TaskSignal].forEach(asInterface);
    const web = {
        scheduler: new Scheduler(INTERNAL), Scheduler, TaskController, TaskSignal, TaskPriorityChangeEvent,
        AbortController, AbortSignal, Event, EventTarget, DOMException, IdleDeadline, requestIdleCallback, cancelIdleCallback,
        queueMicrotask,
    };

    tasks.whenStarted(() => {
        ({kept} = tasks);
        tasks.hasten('fastPost', Scheduler.prototype, 'postTask', web.scheduler, handleOf);
        tasks.hasten('fastYield', Scheduler.prototype, 'yield', web.scheduler);
    });

    Object.defineProperty(web, 'extras', {value: new Extras(getNative, web.scheduler, newExtras, currentTaskSignal)});

    // Defines in target the names of the web that target lacks.
    Object.defineProperty(web, 'install', {value(target) {
        if ((typeof target !== 'object' && typeof target !== 'function') || target === null)
            throw new TypeError(`install: ${named(target)} is not an object`);
        for (const [name, value] of Object.entries(web)) {
            if (!(name in target))
                Object.defineProperty(target, name, {value, writable: true, configurable: true, enumerable: false});
        }
    }});
    return web;
}

return {make};
})(undefined, Object, Promise, Symbol, Set, Array, Number, TypeError, imports);
