// PrioSchedWeb.js: the web's interfaces: scheduler, TaskController, TaskSignal, and
// those they stand on
//
// Behaves as the drafts and Web IDL say: the graph of signals, events and promises are
// here; the order of tasks is the library's.  A signal has a PrioSched.TaskController
// of its own as soon as a task is posted with it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const PRIORITIES = ['background', 'user-visible', 'user-blocking'];
const UNSET = -1;
const USER_VISIBLE = 1;

const CODES = {
    IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
    InvalidAccessError: 15, NetworkError: 19, AbortError: 20, TimeoutError: 23, DataCloneError: 25,
};

// Given to constructors that are not for programs.
const INTERNAL = Symbol('internal');

// What the objects have inside: AbortSignal → its slots, EventTarget → its listeners.
const slots = new WeakMap();
const listenersOf = new WeakMap();

class DOMException extends Error {
    constructor(message = '', name = 'Error') {
        super(String(message));
        Object.defineProperty(this, 'name', {value: String(name), configurable: true});
    }

    get code() {
        return CODES[this.name] ?? 0;
    }
}
Object.defineProperty(DOMException.prototype, Symbol.toStringTag, {value: 'DOMException', configurable: true});

// Web IDL's conversions

function toDictionary(value, what) {
    if (value === undefined || value === null)
        return {};
    if (typeof value !== 'object' && typeof value !== 'function')
        throw new TypeError(`${what} is no object`);
    return value;
}

function toPriority(value) {
    const priority = String(value);
    if (!PRIORITIES.includes(priority))
        throw new TypeError(`“${priority}” is no TaskPriority`);
    return priority;
}

// [EnforceRange] unsigned long long, or unsigned long
function toInteger(value, max, what) {
    const number = Math.trunc(Number(value));
    if (!Number.isFinite(number) || number < 0 || number > max)
        throw new TypeError(`${what}: ${String(value)} is out of range`);
    return number;
}

function toFunction(value, what) {
    if (typeof value !== 'function')
        throw new TypeError(`${what} is no function`);
    return value;
}

function toAbortSignal(value, what) {
    if (!slots.has(value))
        throw new TypeError(`${what} is no AbortSignal`);
    return value;
}

let report; // an exception that nobody catches

// Events

class Event {
    #flags = {stop: false, stopNow: false, cancelled: false, dispatching: false, trusted: false};
    #type;
    #init;
    #target = null;
    #current = null;

    constructor(type, init = undefined) {
        if (arguments.length === 0)
            throw new TypeError('Event needs a type');
        const {bubbles, cancelable, composed} = toDictionary(init, 'EventInit');
        this.#type = String(type);
        this.#init = {bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed};
        this.timeStamp = imports.gi.GLib.get_monotonic_time() / 1000;
    }

    get type() { return this.#type; }
    get target() { return this.#target; }
    get srcElement() { return this.#target; }
    get currentTarget() { return this.#current; }
    get eventPhase() { return this.#flags.dispatching ? 2 : 0; }
    get bubbles() { return this.#init.bubbles; }
    get cancelable() { return this.#init.cancelable; }
    get composed() { return this.#init.composed; }
    get defaultPrevented() { return this.#flags.cancelled; }
    get isTrusted() { return this.#flags.trusted; }
    get cancelBubble() { return this.#flags.stop; }
    set cancelBubble(value) { this.#flags.stop ||= !!value; }
    get returnValue() { return !this.#flags.cancelled; }

    composedPath() {
        return this.#flags.dispatching ? [this.#target] : [];
    }

    stopPropagation() {
        this.#flags.stop = true;
    }

    stopImmediatePropagation() {
        this.#flags.stop = this.#flags.stopNow = true;
    }

    preventDefault() {
        this.#flags.cancelled ||= this.#init.cancelable;
    }

    // Returns whether nobody has prevented the default.
    static _dispatch(event, target, trusted) {
        const flags = event.#flags;
        if (flags.dispatching)
            throw new DOMException('The event is being dispatched', 'InvalidStateError');
        flags.dispatching = true;
        flags.trusted = trusted;
        event.#target = event.#current = target;

        for (const listener of flags.stop ? [] : [...listenersOf.get(target)]) {
            if (listener.removed || listener.type !== event.#type)
                continue;
            if (listener.once)
                removeListener(target, listener);
            try {
                callListener(listener.callback, event, target);
            } catch (error) {
                report(error);
            }
            if (flags.stopNow)
                break;
        }

        event.#current = null;
        flags.dispatching = flags.stop = flags.stopNow = false;
        return !flags.cancelled;
    }
}
for (const [name, value] of Object.entries({NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3})) {
    Object.defineProperty(Event, name, {value, enumerable: true});
    Object.defineProperty(Event.prototype, name, {value, enumerable: true});
}

function callListener(callback, event, target) {
    if (typeof callback === 'function') {
        callback.call(target, event);
        return;
    }
    const handle = callback.handleEvent;
    if (typeof handle !== 'function')
        throw new TypeError('handleEvent is no function');
    handle.call(callback, event);
}

function addListener(target, listener) {
    listenersOf.get(target).push(listener);
    listenersChanged(target);
}

function removeListener(target, listener) {
    const listeners = listenersOf.get(target);
    listener.removed = true;
    listeners.splice(listeners.indexOf(listener), 1);
    listenersChanged(target);
}

function findListener(target, type, callback, capture) {
    return listenersOf.get(target).find(l => l.type === type && l.callback === callback && l.capture === capture);
}

class EventTarget {
    constructor() {
        listenersOf.set(this, []);
    }

    addEventListener(type, callback, options = undefined) {
        if (arguments.length < 2)
            throw new TypeError('addEventListener needs a type and a callback');
        if (callback !== null && callback !== undefined && typeof callback !== 'function' && typeof callback !== 'object')
            throw new TypeError('The listener is no function, and no object');
        const {capture, once, signal} = typeof options === 'object' || typeof options === 'function'
            ? toDictionary(options, 'Options') : {capture: options};
        if (signal !== undefined)
            toAbortSignal(signal, 'signal');
        if (signal?.aborted || callback === null || callback === undefined)
            return;
        type = String(type);
        if (findListener(this, type, callback, !!capture))
            return;

        const listener = {type, callback, capture: !!capture, once: !!once, removed: false};
        addListener(this, listener);
        if (signal)
            slots.get(signal).algorithms.add(() => listener.removed || removeListener(this, listener));
    }

    removeEventListener(type, callback, options = undefined) {
        const capture = typeof options === 'object' && options !== null ? options.capture : options;
        const listener = findListener(this, String(type), callback, !!capture);
        if (listener)
            removeListener(this, listener);
    }

    dispatchEvent(event) {
        if (!(event instanceof Event))
            throw new TypeError('dispatchEvent needs an Event');
        return Event._dispatch(event, this, false);
    }
}

// An attribute like onabort: its listener keeps the place of the first one set.
function defineHandler(constructor, type) {
    const handlers = new WeakMap();
    Object.defineProperty(constructor.prototype, `on${type}`, {
        configurable: true,
        enumerable: true,
        get() {
            return handlers.get(this)?.value ?? null;
        },
        set(value) {
            const handler = handlers.get(this);
            const valid = typeof value === 'function' || (typeof value === 'object' && value !== null);
            if (!valid && handler) {
                removeListener(this, handler.listener);
                handlers.delete(this);
            } else if (valid && handler) {
                handler.value = value;
            } else if (valid) {
                const fresh = {value, listener: null};
                fresh.listener = {type, capture: false, once: false, removed: false, callback: event => {
                    if (typeof fresh.value === 'function')
                        fresh.value.call(this, event);
                }};
                handlers.set(this, fresh);
                addListener(this, fresh.listener);
            }
        },
    });
}

// Signals.  A source holds those that depend on it weakly, unless somebody listens to
// them; they hold it weakly.

function listenersChanged(target) {
    const s = slots.get(target);
    if (!s)
        return;
    const listeners = listenersOf.get(target);
    const aborts = !s.aborted && listeners.some(l => l.type === 'abort');
    const changes = listeners.some(l => l.type === 'prioritychange');
    s.timeoutKeeper?.(aborts);
    for (const [refs, wanted] of [[s.sources, aborts], [s.prioritySource ? [s.prioritySource] : [], changes]]) {
        for (const ref of refs) {
            const source = slots.get(ref.deref() ?? null);
            if (source)
                source.kept[wanted || (aborts && s.sources.has(ref)) ? 'add' : 'delete'](target);
        }
    }
}

class AbortSignal extends EventTarget {
    constructor(token) {
        if (token !== INTERNAL)
            throw new TypeError('Illegal constructor');
        super();
        slots.set(this, {
            aborted: false, reason: undefined, algorithms: new Set(), dependent: false,
            ref: new WeakRef(this), sources: new Set(), dependents: [], kept: new Set(),
            priority: null, changing: false, prioritySource: null, followers: [], controller: null,
        });
    }

    get aborted() { return slots.get(this).aborted; }
    get reason() { return slots.get(this).reason; }

    throwIfAborted() {
        if (this.aborted)
            throw this.reason;
    }

    static abort(reason = undefined) {
        const signal = new AbortSignal(INTERNAL);
        markAborted(slots.get(signal), reason);
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
defineHandler(AbortSignal, 'abort');

function toSignals(signals) {
    if ((typeof signals !== 'object' && typeof signals !== 'function') || signals === null ||
        typeof signals[Symbol.iterator] !== 'function')
        throw new TypeError('The signals are no sequence');
    return Array.from(signals, signal => toAbortSignal(signal, 'A member of the signals'));
}

function markAborted(s, reason) {
    s.aborted = true;
    s.reason = reason === undefined
        ? new DOMException('The signal is aborted without a reason', 'AbortError') : reason;
}

// The draft's "run the abort steps", and what they do to the signal's tasks.
function runAbortSteps(signal) {
    const s = slots.get(signal);
    const algorithms = [...s.algorithms];
    s.algorithms.clear();
    for (const algorithm of algorithms)
        algorithm(s.reason);
    s.controller?.abort(s.reason);
    Event._dispatch(new Event('abort'), signal, true);
    listenersChanged(signal);
}

function signalAbort(signal, reason) {
    const s = slots.get(signal);
    if (s.aborted)
        return;
    markAborted(s, reason);
    const dependents = s.dependents.map(ref => ref.deref()).filter(d => d && !slots.get(d).aborted);
    dependents.forEach(d => markAborted(slots.get(d), s.reason));
    [signal, ...dependents].forEach(runAbortSteps);
}

// "Create a dependent abort signal": roots are what is depended on.
function makeDependent(signals, Interface) {
    const result = new Interface(INTERNAL);
    const s = slots.get(result);
    const aborted = signals.find(signal => signal.aborted);
    if (aborted) {
        markAborted(s, aborted.reason);
        return result;
    }

    s.dependent = true;
    for (const signal of signals) {
        const source = slots.get(signal);
        const roots = source.dependent ? [...source.sources].map(ref => ref.deref()).filter(Boolean) : [signal];
        for (const root of roots) {
            const r = slots.get(root);
            if (s.sources.has(r.ref))
                continue;
            s.sources.add(r.ref);
            r.dependents.push(s.ref);
        }
    }
    return result;
}

class AbortController {
    #signal;

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
    constructor(token) {
        super(token);
        slots.get(this).priority = 'user-visible';
    }

    get priority() { return slots.get(this).priority; }

    static any(signals, init = undefined) {
        const sources = toSignals(signals);
        const {priority = 'user-visible'} = toDictionary(init, 'TaskSignalAnyInit');
        const follow = priority instanceof TaskSignal ? priority : null;
        const fixed = follow ? follow.priority : toPriority(priority);
        const result = makeDependent(sources, TaskSignal);
        const s = slots.get(result);

        s.dependent = true;
        s.priority = fixed;
        const f = follow && slots.get(follow);
        const source = f?.dependent ? f.prioritySource?.deref() : follow;
        if (source) {
            s.prioritySource = slots.get(source).ref;
            slots.get(source).followers.push(s.ref);
        }
        return result;
    }
}
defineHandler(TaskSignal, 'prioritychange');

// The draft's "signal priority change" (§4.3.1).
function changePriority(signal, priority) {
    const s = slots.get(signal);
    if (s.changing)
        throw new DOMException('The priority is being changed already', 'NotAllowedError');
    if (s.priority === priority)
        return;
    s.changing = true;
    const previousPriority = s.priority;
    s.priority = priority;
    s.controller?.set_priority(PRIORITIES.indexOf(priority));
    Event._dispatch(new TaskPriorityChangeEvent('prioritychange', {previousPriority}), signal, true);
    for (const follower of s.followers.map(ref => ref.deref()).filter(Boolean))
        changePriority(follower, priority);
    s.changing = false;
}

class TaskController extends AbortController {
    constructor(init = undefined) {
        const {priority = 'user-visible'} = toDictionary(init, 'TaskControllerInit');
        const value = toPriority(priority);
        super();
        slots.get(this.signal).priority = value;
    }

    setPriority(priority) {
        if (arguments.length === 0)
            throw new TypeError('setPriority needs a priority');
        changePriority(this.signal, toPriority(priority));
    }
}

let startTimeout;

function make(PrioSched, tasks) {
    const native = PrioSched.Scheduler.get_default();
    const table = tasks.tableOf(native);
    ({report} = tasks);
    const keptTimeouts = new Set();

    // What the library knows a signal by.
    function controllerOf(signal) {
        const s = slots.get(signal);
        s.controller ??= new PrioSched.TaskController({priority: PRIORITIES.indexOf(s.priority ?? 'user-visible')});
        return s.controller;
    }

    startTimeout = (signal, delay) => {
        const {ref} = slots.get(signal);
        slots.get(signal).timeoutKeeper = wanted => keptTimeouts[wanted ? 'add' : 'delete'](ref.deref());
        native.post_full(PrioSched.TaskPriority.USER_BLOCKING, null, delay, () => {
            tasks.callOutside(() => {
                const expired = ref.deref();
                if (expired) {
                    keptTimeouts.delete(expired);
                    signalAbort(expired, new DOMException('The time is up', 'TimeoutError'));
                }
            });
            return false;
        });
    };

    // What rejects a task's promise is among the signal's algorithms until that settles.
    class Watcher {
        constructor(algorithms) {
            this.algorithms = algorithms;
        }

        posted(reject) {
            this.algorithms.add(this.reject = reject);
        }

        settled() {
            this.algorithms.delete(this.reject);
        }
    }

    class Scheduler {
        constructor(token) {
            if (token !== INTERNAL)
                throw new TypeError('Illegal constructor');
        }

        // What is wrong with the arguments rejects the promise, as Web IDL has it.
        postTask(callback, options = undefined) {
            try {
                toFunction(callback, 'The callback of postTask');
                const dictionary = toDictionary(options, 'SchedulerPostTaskOptions');
                // A member is converted before the next is looked at.
                const {delay: rawDelay} = dictionary;
                const delay = rawDelay === undefined ? 0 : toInteger(rawDelay, Number.MAX_SAFE_INTEGER, 'delay');
                const {priority: rawPriority} = dictionary;
                const priority = rawPriority === undefined ? UNSET : PRIORITIES.indexOf(toPriority(rawPriority));
                const {signal} = dictionary;
                const s = signal === undefined ? null : slots.get(toAbortSignal(signal, 'signal'));
                if (s?.aborted)
                    throw s.reason;

                const promise = new Promise(tasks.keepResolvers);
                if (s === null) {
                    table.postWith(callback, priority, null, delay);
                } else {
                    // A plain signal has no priority to follow.
                    table.postWith(callback, priority === UNSET && s.priority === null ? USER_VISIBLE : priority,
                        controllerOf(signal).signal, delay, new Watcher(s.algorithms));
                }
                return promise;
            } catch (error) {
                return Promise.reject(error);
            }
        }

        yield() {
            const promise = new Promise(tasks.keepResolvers);
            table.yield();
            return promise;
        }
    }

    function requestIdleCallback(callback, options = undefined) {
        toFunction(callback, 'The callback of requestIdleCallback');
        const {timeout = 0} = toDictionary(options, 'IdleRequestOptions');
        // unsigned long: modulo 2³², as Web IDL has it
        return native.request_idle_callback(deadline => {
            const time = imports.gi.GLib.get_monotonic_time() / 1000 + deadline.time_remaining();
            const didTimeout = deadline.did_timeout();
            callback({
                get didTimeout() { return didTimeout; },
                timeRemaining: () => Math.max(0, time - imports.gi.GLib.get_monotonic_time() / 1000),
            });
        }, Number(timeout) >>> 0);
    }

    function cancelIdleCallback(handle) {
        native.cancel_idle_callback(Number(handle) >>> 0);
    }

    function queueMicrotask(callback) {
        toFunction(callback, 'The callback of queueMicrotask');
        tasks.queueMicrotask(callback);
    }

    const web = {
        scheduler: new Scheduler(INTERNAL), Scheduler, TaskController, TaskSignal, TaskPriorityChangeEvent,
        AbortController, AbortSignal, Event, EventTarget, DOMException, requestIdleCallback, cancelIdleCallback,
        queueMicrotask,
    };

    // Defines what the engine lacks.
    Object.defineProperty(web, 'install', {value(target) {
        for (const [name, value] of Object.entries(web)) {
            if (!(name in target))
                Object.defineProperty(target, name, {value, writable: true, configurable: true, enumerable: false});
        }
    }});
    return web;
}
