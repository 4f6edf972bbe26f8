// conversions.js: arguments of the web's functions, as Web IDL converts them
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {toFunction, toInteger, toNick, toNumber, toPriority} = ((String, Number, Math, TypeError, imports) => {
const {NICKS} = imports.overrides._priosched.constants;
const {named} = imports.overrides._priosched.core.reasons;

function toPriority(value) {
    const priority = String(value);
    if (!NICKS.includes(priority))
        throw new TypeError(`“${priority}” is not a TaskPriority: these are ${NICKS.map(named).join(', ')}`);
    return priority;
}

// Returns the library's number for a priority that toPriority () has returned.
function toNumber(priority) {
    return NICKS.indexOf(priority) + 1;
}

function toNick(number) {
    return NICKS[number - 1];
}

// Converts value to an integer from 0 to max, as Web IDL converts an argument with [EnforceRange].
function toInteger(value, max, what) {
    const number = Math.trunc(+value); // throws for a BigInt
    if (!Number.isFinite(number) || number < 0 || number > max)
        throw new TypeError(`${what}: ${String(value)} is out of range`);
    return number;
}

function toFunction(value, what) {
    if (typeof value !== 'function')
        throw new TypeError(`${what}: ${named(value)} is not a function`);
    return value;
}

return {toFunction, toInteger, toNick, toNumber, toPriority};
})(String, Number, Math, TypeError, imports);
