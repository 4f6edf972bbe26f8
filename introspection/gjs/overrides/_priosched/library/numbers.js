// numbers.js: the frame share and thresholds of schedulers
//
// What is checked here GJS would make a number of, and the library would refuse by a message only.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make */

const {GLib} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;
const {nameSources} = imports.overrides._priosched.library.sources;

const MAX_FRAME_SHARE = 0.9;
const MAX_THRESHOLD = 0xffffffff;

function toNumber(value, max, what) {
    if (typeof value !== 'number')
        throw new TypeError(`${named(value)} is not a ${what}, which is a number from 0 to ${max}`);
    if (!(value >= 0 && value <= max))
        throw new RangeError(`${named(value)} is not a ${what}, which is from 0 to ${max}`);
    return value;
}

// Gives Scheduler its methods for JavaScript.
function make({Scheduler}, {checkProperty}) {
    checkProperty(Scheduler.prototype, 'frame_share', value => toNumber(value, MAX_FRAME_SHARE, 'share'));
    checkProperty(Scheduler.prototype, 'long_task_threshold', value => {
        const threshold = Math.trunc(toNumber(value, MAX_THRESHOLD, 'threshold in milliseconds'));
        if (threshold > 0)
            nameSources();
        return threshold;
    });
    if ((GLib.getenv('PRIO_SCHED_LONG_TASKS') || '0') !== '0')
        nameSources();
}
