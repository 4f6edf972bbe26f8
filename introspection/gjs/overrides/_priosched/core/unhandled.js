// unhandled.js: rejections that nobody handles, told once for all of one reason
//
// The engine tells of each by itself, as soon as its queue is empty, and says nothing of the reason.  A promise can be watched:
// await and .then () look at its constructor.  A watched promise that is rejected counts as handled for the engine, and is reported here
// unless somebody has looked at it by then.  The native part knows who has been looked at before; without it, all are watched from
// the beginning.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Unhandled */

const {countAbort, describe} = imports.overrides._priosched.core.reasons;

// A name for the log, where it cannot begin a line of its own, nor do anything to a terminal.
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

function nothing() {}

function isWatched(promise) {
    return Object.getPrototypeOf(promise) === watched;
}

function watch(promise) {
    return Object.setPrototypeOf(promise, watched);
}

// The files of the overrides, on a line of a stack.
const OWN = /\/overrides\/(?:PrioSched|_priosched\/)[\w/]*\.js/;

// The lines of the program's own, from a stack.
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

// The promises that are rejected and watched, by their reasons.  later (callback) calls it when all are rejected that will be.
var Unhandled = class Unhandled {
    #groups = new Map();
    #later;
    #native; // the native part, or null
    #origins = new Map(); // by reasons that do not tell where they come from, errors that do; the last few

    constructor(native, later) {
        this.#native = native;
        this.#later = later;
    }

    // Called with each promise of a task.
    expect(promise) {
        return this.#native === null ? watch(promise) : promise;
    }

    #isLookedAt(promise) {
        return this.#native === null ? !isWatched(promise) : this.#native.isHandled(promise);
    }

    // The program's lines that tell where reason comes from.
    #linesOf(promise, reason) {
        return stackOf(this.#origins.get(reason) ?? reason) || programLines(this.#native?.siteOf(promise)) || programLines(new Error().stack);
    }

    // Called where something is aborted, for promises that may be rejected later.
    begin(reason) {
        countAbort();
        if (reason instanceof Error)
            return;
        if (this.#origins.size >= MAX_ORIGINS)
            this.#origins.clear();
        this.#origins.set(reason, new Error());
    }

    // Called before promise is rejected.  Returns whether nobody has looked at it.
    add(promise, reason, name) {
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
        this.#groups.set(reason, {promises: [promise], stack: this.#linesOf(promise, reason), name});
        return true;
    }

    // Called when all that are rejected together are.
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
            // It prints the stack that it is given only of what is not an Error.
            logError({stack, toString: () => text}, n === 1 ? `Unhandled rejection of a task’s promise${told === null ? '' : `, “${told}”`}`
                : `Unhandled rejections of the promises of ${n} tasks${told === null ? '' : `, “${told}” and others`}`);
        }
    }
};
