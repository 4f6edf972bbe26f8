// unhandled.js: reports unhandled rejections, once for each reason
//
// GJS reports each rejection separately, as soon as SpiderMonkey's queue is empty, and without the reason.  So a promise is
// watched here: it gets another prototype, whose `constructor` is a getter, and `await` and .then () call this getter.  A watched
// promise that is rejected gets an empty handler, so that GJS does not report it, and is reported here unless `await` or .then ()
// has been used by then.  The native part knows which promises have a handler before they are rejected; without the native part,
// all are watched from the beginning.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Unhandled} = ((undefined, Object, Promise, Symbol, Map, WeakMap, String, Reflect, Error, imports) => {
const {GLib} = imports.gi;
const {countAbort, describe, isInstance} = imports.overrides._priosched.core.reasons;

// Returns a name for the log, escaped so that it cannot start a new line or control a terminal.
function escapeName(name) {
    return name?.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, character => `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`) ?? null;
}

const {prototype} = Promise;
const {then} = prototype;
const watched = Object.create(prototype, {
    constructor: {
        configurable: true,
        get() {
            Object.setPrototypeOf(this, prototype);
            return Promise;
        },
        set(value) {
            Object.setPrototypeOf(this, prototype);
            Object.defineProperty(this, 'constructor', {value, configurable: true, enumerable: true, writable: true});
        },
    },
});

const MAX_ORIGINS = 100;
const ORIGIN = Symbol('PrioSched.origin'); // property of a GLib.Error with its origin: GJS 1.90 crashes if a GLib.Error is a key of a WeakMap

function nothing() {}

function isWatched(promise) {
    return Object.getPrototypeOf(promise) === watched;
}

function watch(promise) {
    return Object.setPrototypeOf(promise, watched);
}

// Matches a line of a stack in the overrides' files.
const OWN = /\/overrides\/(?:PrioSched|_priosched\/)[\w/]*\.js/;

// Returns the program's own lines of a stack.
function programLines(stack) {
    return String(stack ?? '').split('\n').filter(line => line !== '' && !OWN.test(line)).join('\n');
}

function stackOf(reason) {
    try {
        return programLines(reason?.stack);
    } catch {
        return '';
    }
}

// The rejected promises that are watched, by reason.  later (callback) calls callback after all rejections.
class Unhandled {
    #groups = new Map();
    #later;
    #native; // the native part, or null
    // For reasons without a stack: errors whose stacks show where the reasons come from.  If there are MAX_ORIGINS primitive
    // reasons, a new one replaces all of them.
    #origins = new WeakMap();
    #primitiveOrigins = new Map();

    constructor(native, later) {
        this.#native = native;
        this.#later = later;
    }

    // Watches a promise of a task, if there is no native part.  Returns the promise.
    expect(promise) {
        return this.#native === null ? watch(promise) : promise;
    }

    #isLookedAt(promise) {
        return this.#native === null ? !isWatched(promise) : this.#native.isHandled(promise);
    }

    // Returns the program's lines of a stack that show where reason comes from.  returned is the promise that the task's function
    // has returned, or null.
    #linesOf(promise, returned, reason) {
        return stackOf(this.#originOf(reason) ?? reason) || programLines(this.#native?.siteOf(returned ?? promise)) ||
            programLines(new Error().stack);
    }

    #originOf(reason) {
        return isInstance(reason, GLib.Error) ? reason[ORIGIN] : this.#origins.get(reason) ?? this.#primitiveOrigins.get(reason);
    }

    // Counts an abort.  If the reason is not an Error, which has a stack, records the stack of the abort, because the promises
    // may be rejected only later, under another stack.
    begin(reason) {
        countAbort();
        if (isInstance(reason, Error))
            return;
        const origin = new Error();
        if (isInstance(reason, GLib.Error)) {
            Reflect.defineProperty(reason, ORIGIN, {value: origin, configurable: true});
        } else if (Object(reason) === reason) {
            this.#origins.set(reason, origin);
        } else {
            if (this.#primitiveOrigins.size >= MAX_ORIGINS)
                this.#primitiveOrigins.clear();
            this.#primitiveOrigins.set(reason, origin);
        }
    }

    // Adds a promise, which is about to be rejected, to the report, unless the promise has a handler.  Returns whether it was
    // added.  returned is the rejected promise that the task's function has returned, or null.
    add(promise, reason, name, returned = null) {
        if (this.#isLookedAt(promise))
            return false;
        then.call(promise, undefined, nothing);
        watch(promise);
        const group = this.#groups.get(reason);
        if (group !== undefined) {
            group.promises.push(promise);
            group.name ??= name;
            return true;
        }
        if (this.#groups.size === 0)
            this.#later(() => this.report());
        this.#groups.set(reason, {promises: [promise], stack: this.#linesOf(promise, returned, reason), name});
        return true;
    }

    // Logs the rejections that still have no handler, once for each reason.  This is called after all promises of an abort have
    // been rejected.
    report() {
        if (this.#groups.size === 0)
            return;
        const groups = [...this.#groups];
        this.#groups.clear();
        for (const [reason, {promises, stack, name}] of groups) {
            const n = promises.filter(isWatched).length;
            if (n === 0)
                continue;
            const text = describe(reason), told = escapeName(name);
            // Logs an object that is not an Error, because for an Error logError () would ignore the given stack.
            logError({stack, toString: () => text}, n === 1 ? `Unhandled rejection of a task’s promise${told === null ? '' : `, “${told}”`}`
                : `Unhandled rejections of the promises of ${n} tasks${told === null ? '' : `, “${told}” and others`}`);
        }
    }
}

return {Unhandled};
})(undefined, Object, Promise, Symbol, Map, WeakMap, String, Reflect, Error, imports);
