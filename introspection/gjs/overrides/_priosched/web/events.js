// events.js: DOMException, Event and EventTarget, which GJS lacks
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {
    DOMException, Event, EventTarget, asInterface, defineHandler, dispatch, hooks, listenersIn, toDictionary,
} = ((undefined, Object, Symbol, Map, Set, WeakMap, Math, Error, TypeError, imports) => {
const {named} = imports.overrides._priosched.core.reasons;

// Functions of signals and tasks that this file calls; web.js and its make () set them.
const hooks = {
    report() {},           // reports an uncaught exception
    listenersChanged() {}, // called with a target whose listeners have changed
    toSignal() {},         // returns the operations of an AbortSignal: aborted, add (algorithm) and remove (algorithm);
                           // throws for other values
};

// The listeners of a target in order, with an index by type and callback, because a target may have many listeners.
class Listeners {
    #all = new Set();
    #byType = new Map(); // then by callback: at most two listeners, one of them capturing

    [Symbol.iterator]() {
        return this.#all.values();
    }

    find(type, callback, capture) {
        return this.#byType.get(type)?.get(callback)?.find(l => l.capture === capture);
    }

    has(type) {
        return this.#byType.has(type);
    }

    add(listener) {
        const {callback, type} = listener;
        this.#all.add(listener);
        if (!this.#byType.has(type))
            this.#byType.set(type, new Map());
        const listeners = this.#byType.get(type);
        listeners.set(callback, [...listeners.get(callback) ?? [], listener]);
    }

    remove(listener) {
        const {callback, type} = listener, listeners = this.#byType.get(type);
        this.#all.delete(listener);
        const left = listeners.get(callback).filter(l => l !== listener);
        if (left.length > 0)
            listeners.set(callback, left);
        else if (listeners.delete(callback) && listeners.size === 0)
            this.#byType.delete(type);
    }
}

// Returns the listeners of a target, or undefined for other values.
let listenersIn;

function listenersFor(target) {
    const listeners = listenersIn(target);
    if (listeners === undefined)
        throw new TypeError(`${named(target)} is not an EventTarget`);
    return listeners;
}

// The names of errors by their codes, and the names of the constants for the codes from 1.  A text that does not end in “Error”
// stands for a code that no error has any more.
const CODES = [
    null, 'IndexSizeError', 'DOMString size', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError',
    'no data allowed', 'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError', 'InUseAttributeError',
    'InvalidStateError', 'SyntaxError', 'InvalidModificationError', 'NamespaceError', 'InvalidAccessError', 'validation',
    'TypeMismatchError', 'SecurityError', 'NetworkError', 'AbortError', 'URLMismatchError', 'QuotaExceededError',
    'TimeoutError', 'InvalidNodeTypeError', 'DataCloneError',
];
const CONSTANTS = `INDEX_SIZE DOMSTRING_SIZE HIERARCHY_REQUEST WRONG_DOCUMENT INVALID_CHARACTER NO_DATA_ALLOWED
    NO_MODIFICATION_ALLOWED NOT_FOUND NOT_SUPPORTED INUSE_ATTRIBUTE INVALID_STATE SYNTAX INVALID_MODIFICATION NAMESPACE
    INVALID_ACCESS VALIDATION TYPE_MISMATCH SECURITY NETWORK ABORT URL_MISMATCH QUOTA_EXCEEDED TIMEOUT INVALID_NODE_TYPE
    DATA_CLONE`.split(/\s+/);

class DOMException extends Error {
    constructor(message = '', name = 'Error') {
        super(`${message}`); // throws for a Symbol
        Object.defineProperty(this, 'name', {value: `${name}`, configurable: true});
    }

    get code() {
        return Math.max(0, CODES.indexOf(this.name));
    }
}
defineConstants(DOMException, Object.fromEntries(CONSTANTS.map((name, i) => [`${name}_ERR`, i + 1])));
Object.defineProperty(DOMException.prototype, Symbol.toStringTag, {value: 'DOMException', configurable: true});
Object.defineProperty(DOMException.prototype, 'code', {enumerable: true});

function defineConstants(constructor, constants) {
    for (const [name, value] of Object.entries(constants)) {
        Object.defineProperty(constructor, name, {value, enumerable: true});
        Object.defineProperty(constructor.prototype, name, {value, enumerable: true});
    }
}

function toDictionary(value, what) {
    if (value === undefined || value === null)
        return {};
    if (typeof value !== 'object' && typeof value !== 'function')
        throw new TypeError(`${what}: ${named(value)} is not an object`);
    return value;
}

// Events

// Dispatches an event to a target.  trusted says whether the library has created the event.
let dispatch;

class Event {
    #flags = {stop: false, stopNow: false, cancelled: false, dispatching: false, trusted: false, passive: false};
    #type;
    #init;
    #timeStamp = imports.gi.GLib.get_monotonic_time() / 1000;
    #target = null;
    #current = null;

    constructor(type, init = undefined) {
        if (arguments.length === 0)
            throw new TypeError('Event needs a type');
        this.#type = `${type}`;
        const {bubbles, cancelable, composed} = toDictionary(init, 'EventInit');
        this.#init = {bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed};
    }

    // Initializes an event, as programs did before events had constructors.
    initEvent(type, bubbles = false, cancelable = false) {
        if (arguments.length === 0)
            throw new TypeError('initEvent needs a type');
        if (this.#flags.dispatching)
            return;
        this.#type = `${type}`;
        this.#init = {bubbles: !!bubbles, cancelable: !!cancelable, composed: this.#init.composed};
        Object.assign(this.#flags, {stop: false, stopNow: false, cancelled: false, trusted: false});
        this.#target = null;
    }

    get timeStamp() { return this.#timeStamp; }
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
    set returnValue(value) { value || this.preventDefault(); }

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
        this.#flags.cancelled ||= this.#init.cancelable && !this.#flags.passive;
    }

    // Calls the listeners of target.  Returns whether no listener has prevented the default action.
    static #dispatch(event, target, {trusted}) {
        const flags = event.#flags;
        if (flags.dispatching)
            throw new DOMException('The event is being dispatched', 'InvalidStateError');
        flags.dispatching = true;
        flags.trusted = trusted;
        event.#target = event.#current = target;

        for (const listener of flags.stop ? [] : inOrder(listenersIn(target))) {
            if (listener.removed || listener.type !== event.#type)
                continue;
            if (listener.once)
                removeListener(target, listener);
            flags.passive = listener.passive;
            try {
                callListener(listener.callback, event, target);
            } catch (error) {
                hooks.report(error);
            }
            flags.passive = false;
            if (flags.stopNow)
                break;
        }

        event.#current = null;
        flags.dispatching = flags.stop = flags.stopNow = false;
        return !flags.cancelled;
    }

    static {
        dispatch = Event.#dispatch;
    }
}
defineConstants(Event, {NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3});

// Returns a copy of the listeners in calling order, capturing listeners first.  Listeners that are added later are not called.
function inOrder(all) {
    const listeners = [...all];
    if (!listeners.some(l => l.capture))
        return listeners;
    return [...listeners.filter(l => l.capture), ...listeners.filter(l => !l.capture)];
}

function callListener(callback, event, target) {
    if (typeof callback === 'function') {
        callback.call(target, event);
        return;
    }
    const handle = callback.handleEvent;
    if (typeof handle !== 'function')
        throw new TypeError('handleEvent is not a function');
    handle.call(callback, event);
}

function addListener(target, listener) {
    listenersIn(target).add(listener);
    hooks.listenersChanged(target);
}

function removeListener(target, listener) {
    listener.removed = true;
    listenersIn(target).remove(listener);
    listener.forget?.();
    hooks.listenersChanged(target);
}

function findListener(target, type, callback, capture) {
    return listenersFor(target).find(type, callback, capture);
}

class EventTarget {
    #listeners = null;

    static {
        listenersIn = target => Object(target) === target && #listeners in target ? target.#listeners ??= new Listeners() : undefined;
    }

    addEventListener(type, callback, options = undefined) {
        if (arguments.length < 2)
            throw new TypeError('addEventListener needs a type and a callback');
        if (callback !== null && callback !== undefined && typeof callback !== 'function' && typeof callback !== 'object')
            throw new TypeError(`The listener: ${named(callback)} is neither a function nor an object`);
        const {capture, once, passive, signal} = typeof options === 'object' || typeof options === 'function'
            ? toDictionary(options, 'Options') : {capture: options};
        const aborting = signal === undefined ? null : hooks.toSignal(signal);
        if (aborting?.aborted || callback === null || callback === undefined)
            return;
        type = `${type}`;
        if (findListener(this, type, callback, !!capture))
            return;

        const listener = {type, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false};
        addListener(this, listener);
        if (aborting !== null) {
            const algorithm = () => listener.removed || removeListener(this, listener);
            aborting.add(algorithm);
            listener.forget = () => aborting.remove(algorithm);
        }
    }

    removeEventListener(type, callback, options = undefined) {
        if (arguments.length < 2)
            throw new TypeError('removeEventListener needs a type and a callback');
        const capture = typeof options === 'object' && options !== null ? options.capture : options;
        const listener = findListener(this, `${type}`, callback, !!capture);
        if (listener)
            removeListener(this, listener);
    }

    dispatchEvent(event) {
        if (!(event instanceof Event))
            throw new TypeError(`dispatchEvent: ${named(event)} is not an Event`);
        listenersFor(this);
        return dispatch(event, this, {trusted: false});
    }
}

// Makes a class an interface of Web IDL, with its name as a tag, and enumerable members.
function asInterface(constructor) {
    const own = ['constructor', 'length', 'name', 'prototype'];
    for (const holder of [constructor, constructor.prototype]) {
        for (const name of Object.getOwnPropertyNames(holder).filter(member => !own.includes(member)))
            Object.defineProperty(holder, name, {enumerable: true});
    }
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, {value: constructor.name, configurable: true});
}

// Defines an attribute like onabort.  check () throws for an object that does not have the attribute.  If the attribute is set to
// another function, its listener keeps its position among the listeners.
function defineHandler(constructor, type, check) {
    const handlers = new WeakMap();
    Object.defineProperty(constructor.prototype, `on${type}`, {
        configurable: true,
        enumerable: true,
        get() {
            check(this);
            return handlers.get(this)?.value ?? null;
        },
        set(value) {
            check(this);
            const handler = handlers.get(this);
            const valid = typeof value === 'function' || (typeof value === 'object' && value !== null);
            if (!valid && handler) {
                removeListener(this, handler.listener);
                handlers.delete(this);
            } else if (valid && handler) {
                handler.value = value;
            } else if (valid) {
                const fresh = {value, listener: null};
                fresh.listener = {type, capture: false, once: false, passive: false, removed: false, callback: event => {
                    if (typeof fresh.value === 'function' && fresh.value.call(this, event) === false)
                        event.preventDefault();
                }};
                handlers.set(this, fresh);
                addListener(this, fresh.listener);
            }
        },
    });
}

asInterface(Event);
asInterface(EventTarget);

return {DOMException, Event, EventTarget, asInterface, defineHandler, dispatch, hooks, listenersIn, toDictionary};
})(undefined, Object, Symbol, Map, Set, WeakMap, Math, Error, TypeError, imports);
