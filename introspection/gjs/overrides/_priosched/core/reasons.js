// reasons.js: reasons of aborts, of any type
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {
    AbortWatch, closedError, countAbort, describe, isInstance, makeAbort, named, reasonOf, reasonOfError, reasonOfRefusal, report, setReason, toFunction, wrapReason,
} = ((undefined, Symbol, Map, String, Error, TypeError, imports) => {
const {Gio, GLib} = imports.gi;

const REASON_DOMAIN = GLib.quark_from_string('prio-sched-js-reason');
const REASON = Symbol('reason');

function describe(value) {
    try {
        return String(value);
    } catch {
        return typeof value;
    }
}

// Describes a value for a message about a wrong argument.
function named(value) {
    return typeof value === 'string' ? `“${value}”` : describe(value);
}

// Returns whether value is an instance of type.  The prototype of a proxy may throw when it is read.
function isInstance(value, type) {
    try {
        return value instanceof type;
    } catch {
        return false;
    }
}

function toFunction(value) {
    if (typeof value === 'function')
        return value;
    const isResult = typeof value?.then === 'function' || typeof value?.next === 'function';
    throw new TypeError(`${named(value)} is not a function${isResult ? ': pass the function that returns it' : ''}`);
}

// Reasons that are not errors of GLib, by code.  The aborted signal has the reason itself; all other objects have a GError
// with the code.  As long as there is such a GError, its reason stays here.  So a reason stays for ever if it refers to an
// object that has the GError, such as the controller.
const reasons = new Map();

// Forgets reasons, from the oldest on, up to the first reason whose GError other objects than the aborted signal have.  This
// reason becomes the youngest.
function forgetReasons() {
    for (const [code, reason] of reasons) {
        reasons.delete(code);
        if (imports.gi.PrioSchedGjs.has_reason(code)) {
            reasons.set(code, reason);
            return;
        }
    }
}

// Sets the reason that reasonOf (signal) returns.
function setReason(signal, value) {
    signal[REASON] = {value};
}

function wrapReason(signal, value) {
    const error = imports.gi.PrioSchedGjs.new_reason(signal, describe(value));
    setReason(signal, value);
    forgetReasons();
    reasons.set(error.code, {value});
    return error;
}

// Returns abort (controller, reason), which calls the library's method with a reason of any type.  If the reason is not a
// GError and the controller has been aborted already, abort () does nothing.
function makeAbort({prototype: {abort}}) {
    return (controller, reason) => {
        if (reason === undefined || isInstance(reason, GLib.Error))
            abort.call(controller, reason ?? null);
        else if (!controller.signal.is_cancelled())
            abort.call(controller, wrapReason(controller.signal, reason));
    };
}

function kept({code, domain}) {
    return domain === REASON_DOMAIN ? reasons.get(code) ?? imports.gi.PrioSchedGjs.ref_aborted(code)?.[REASON] : undefined;
}

// Returns the reason that a GError of the library represents or, if it represents none, the GError itself.
function reasonOfError(error) {
    return (kept(error) ?? {value: error}).value;
}

// Returns the reason of an aborted signal, which is the same object for all its tasks.  If the signal is not aborted,
// returns a new error.
function reasonOf(signal) {
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
}

// Returns the reason for a task that was posted after its signal had been aborted with `reason`: in place of the default
// reason, an error whose message says so.
function reasonOfRefusal(reason) {
    const {IOErrorEnum} = Gio;
    if (!isInstance(reason, IOErrorEnum) || !reason.matches(IOErrorEnum, IOErrorEnum.CANCELLED) ||
        reason.message !== GLib.dgettext('prio-sched-1', 'Operation was cancelled'))
        return reason;
    return new IOErrorEnum({code: IOErrorEnum.CANCELLED, message: 'The signal was aborted before this task was posted: make a new controller'});
}

// The number of aborts from JavaScript.  As long as the number does not change, the running code has aborted no signal of the
// library.
let nAborts = 0;
function countAbort() {
    nAborts++;
}

// Reports once that a signal has been aborted.  The signal may be null, which is never aborted.
class AbortWatch {
    #isCounted;
    #seen = -1;
    #signal;

    // Aborts of plain cancellables of GIO are not counted, so isNew () always asks such a cancellable.
    constructor(signal) {
        this.#signal = signal;
        this.#isCounted = signal instanceof imports.gi.PrioSched.TaskSignal;
    }

    get hasSignal() {
        return this.#signal !== null;
    }

    // Returns whether the signal has been aborted and take () has not been called.  This is called at each step, so a signal
    // of the library is asked only if the number of aborts has changed.
    isNew() {
        if (this.#signal === null || (this.#isCounted && this.#seen === nAborts))
            return false;
        this.#seen = nAborts;
        return this.#signal.is_cancelled();
    }

    // Returns the reason, and reports the abort no more.
    take() {
        const reason = reasonOf(this.#signal);
        this.end();
        return reason;
    }

    end() {
        this.#signal = null;
    }
}

function closedError() {
    const {Error: PrioError} = imports.gi.PrioSched;
    return new PrioError({code: PrioError.CLOSED, message: 'The main context has gone'});
}

function report(error) {
    logError(isInstance(error, Error) ? error : new Error(describe(error)), 'Uncaught');
}

return {
    AbortWatch, closedError, countAbort, describe, isInstance, makeAbort, named, reasonOf, reasonOfError, reasonOfRefusal, report, setReason, toFunction, wrapReason,
};
})(undefined, Symbol, Map, String, Error, TypeError, imports);
