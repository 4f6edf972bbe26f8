// reasons.js: reasons of aborts, of any type
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported AbortWatch, closedError, countAbort, describe, makeAbort, named, reasonOf, reasonOfError, report, setReason, toFunction, wrapReason */

const {Gio, GLib} = imports.gi;

const REASON_DOMAIN = GLib.quark_from_string('prio-sched-js-reason');
const REASON = Symbol('reason');

var describe = function describe(value) {
    try {
        return String(value);
    } catch {
        return typeof value;
    }
};

// For a message about a wrong value.
var named = function named(value) {
    return typeof value === 'string' ? `“${value}”` : describe(value);
};

var toFunction = function toFunction(value) {
    if (typeof value !== 'function')
        throw new TypeError(`${named(value)} is not a function`);
    return value;
};

// Reasons of aborts that are not errors of GLib.  The aborted signal has the value; everything else has a GError, whose code
// identifies the value here.  A value that refers to the controller, or to a dependent signal, is never forgotten.
const reasons = new Map();

// Forgets the oldest values whose error only the aborted signal has.  A value that is still needed becomes the youngest.
function forgetReasons() {
    for (const [code, reason] of reasons) {
        reasons.delete(code);
        if (imports.gi.PrioSchedGjs.has_reason(code)) {
            reasons.set(code, reason);
            return;
        }
    }
}

// Sets the result of reasonOf (signal).
var setReason = function setReason(signal, value) {
    signal[REASON] = {value};
};

var wrapReason = function wrapReason(signal, value) {
    const error = imports.gi.PrioSchedGjs.new_reason(signal, describe(value));
    setReason(signal, value);
    forgetReasons();
    reasons.set(error.code, {value});
    return error;
};

// Returns abort (controller, reason), which calls the library's method with a reason of any type.
var makeAbort = function makeAbort({prototype: {abort}}) {
    return (controller, reason) => {
        if (reason === undefined || reason instanceof GLib.Error)
            abort.call(controller, reason ?? null);
        else if (!controller.signal.is_cancelled())
            abort.call(controller, wrapReason(controller.signal, reason));
    };
};

function kept({code, domain}) {
    return domain === REASON_DOMAIN ? reasons.get(code) ?? imports.gi.PrioSchedGjs.ref_aborted(code)?.[REASON] : undefined;
}

// Returns the exception for a GError of the library.
var reasonOfError = function reasonOfError(error) {
    return (kept(error) ?? {value: error}).value;
};

// Returns the reason, which a signal has for all its tasks.
var reasonOf = function reasonOf(signal) {
    if (signal[REASON])
        return signal[REASON].value;
    const error = signal instanceof imports.gi.PrioSched.TaskSignal ? signal.dup_reason() : null;
    if (error === null) {
        const cancelled = new Gio.IOErrorEnum({code: Gio.IOErrorEnum.CANCELLED, message: 'Operation was cancelled'});
        if (signal.is_cancelled())
            signal[REASON] = {value: cancelled};
        return cancelled;
    }
    signal[REASON] = kept(error) ?? {value: error};
    return signal[REASON].value;
};

// Number of aborts from JavaScript: as long as it does not change, running code need not ask its signal.
let nAborts = 0;
var countAbort = function countAbort() {
    nAborts++;
};

// Reports once that signal, which may be null, has been aborted.
var AbortWatch = class AbortWatch {
    #isCounted;
    #seen = -1;
    #signal;

    // Aborts of plain GIO cancellables are not counted.
    constructor(signal) {
        this.#signal = signal;
        this.#isCounted = signal instanceof imports.gi.PrioSched.TaskSignal;
    }

    // Called at each step.
    isNew() {
        if (this.#signal === null || (this.#isCounted && this.#seen === nAborts))
            return false;
        this.#seen = nAborts;
        return this.#signal.is_cancelled();
    }

    // Returns the reason, which is no longer new.
    take() {
        const reason = reasonOf(this.#signal);
        this.end();
        return reason;
    }

    end() {
        this.#signal = null;
    }
};

var closedError = function closedError() {
    const {Error: PrioError} = imports.gi.PrioSched;
    return new PrioError({code: PrioError.CLOSED, message: 'The main context has gone'});
};

var report = function report(error) {
    logError(error instanceof Error ? error : new Error(describe(error)), 'Uncaught');
};
