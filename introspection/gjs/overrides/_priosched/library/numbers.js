// numbers.js: methods with a task share, a threshold or a file descriptor
//
// The methods check these numbers.  GJS would convert any value to a number, and the library would only log a message.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Number, TypeError, RangeError, imports) => {
const {GLib} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;
const {nameSources} = imports.overrides._priosched.library.sources;

const MAX_TASK_SHARE = 0.9;
const MAX_THRESHOLD = 0xffffffff;
const MAX_DESCRIPTOR = 0x7fffffff;

function toNumber(value, min, max, what) {
    if (typeof value !== 'number')
        throw new TypeError(`${named(value)} is not a ${what}, which is a number from ${min} to ${max}`);
    if (!(value >= min && value <= max))
        throw new RangeError(`${named(value)} is not a ${what}, which is from ${min} to ${max}`);
    return value;
}

function toDescriptor(value) {
    if (!Number.isInteger(value) || value < 0 || value > MAX_DESCRIPTOR)
        throw new TypeError(`${named(value)} is not a file descriptor`);
    return value;
}

// Makes the methods of Scheduler, and trace_start (), check their arguments.
function make(PrioSched, {checkProperty}) {
    const {Scheduler, trace_start: startTrace} = PrioSched;
    checkProperty(Scheduler.prototype, 'task_share', value => toNumber(value, 0, MAX_TASK_SHARE, 'share'));
    // The library can be built without traces and long tasks.  Then it has none of the functions below.
    if (startTrace === undefined)
        return;
    PrioSched.trace_start = fd => startTrace(toDescriptor(fd));
    const {add_long_task_func: addLongTaskFunc} = Scheduler.prototype;
    Scheduler.prototype.add_long_task_func = function (threshold, func) {
        const id = addLongTaskFunc.call(this, toNumber(threshold, 1, MAX_THRESHOLD, 'threshold in milliseconds'), func);
        nameSources();
        return id;
    };
    if ((GLib.getenv('PRIO_SCHED_LONG_TASKS') || '0') !== '0')
        nameSources();
}

return {make};
})(undefined, Number, TypeError, RangeError, imports);
