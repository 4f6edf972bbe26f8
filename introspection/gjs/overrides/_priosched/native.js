// native.js: loads the native part, if it is installed: a library in C++ that posts and runs most tasks itself
//
// With SpiderMonkey 140, the native part also knows the state of each job: each reaction of a promise has the state of the code
// that registered the reaction.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported open */

const {GLib} = imports.gi;

// The version of the native part's functions that the overrides call.  A native part with another version does not open.
const INTERFACE = 11;

// The property of the global object by which the native part finds this program's context.
const MARK = '__prioSchedNative__';

// Returns the version of SpiderMonkey in this process, or 0 if it cannot be found.
function findEngine() {
    try {
        const [, maps] = GLib.file_get_contents('/proc/self/maps');
        return Number(/\/libmozjs-(\d+)[^/\n]*$/m.exec(new TextDecoder().decode(maps))?.[1] ?? 0);
    } catch {
        return 0;
    }
}

// Returns whether the native part was built for the SpiderMonkey of this process, or one of the versions is unknown.  Otherwise
// logs a warning: a library for another version might not load.
function isForThisEngine({MADE_FOR: madeFor}) {
    const engine = findEngine();
    if (madeFor === undefined || engine === 0 || engine === madeFor)
        return true;
    GLib.log_structured('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING, {
        MESSAGE: `The native part of PrioSched was built for SpiderMonkey ${madeFor}, and this is ${engine}: GJS goes on without it`,
    });
    return false;
}

// Returns the native part's namespace, or null if the namespace or its library is missing, or is for another SpiderMonkey.
function find() {
    try {
        imports.gi.versions.PrioSchedGjsEngine = '1';
        const {PrioSchedGjsEngine} = imports.gi;
        if (!isForThisEngine(PrioSchedGjsEngine))
            return null;
        return PrioSchedGjsEngine.Gain.$gtype?.name === 'PrioSchedGjsEngineGain' ? PrioSchedGjsEngine : null;
    } catch {
        return null;
    }
}

// Returns the native functions, or null if there is no native part that can be used here, or PRIO_SCHED_NATIVE=0 is in the
// environment.
function open() {
    const PrioSchedGjsEngine = GLib.getenv('PRIO_SCHED_NATIVE') === '0' ? null : find();
    if (PrioSchedGjsEngine === null) {
        if ((GLib.getenv('PRIO_SCHED_DEBUG') || '0') !== '0')
            printerr('PrioSched runs without its native part for GJS: tasks are slower, and some lose their state at an await');
        return null;
    }

    const native = {};
    globalThis[MARK] = native;
    const gain = PrioSchedGjsEngine.open(MARK, INTERFACE);
    delete globalThis[MARK];
    native.isExact = gain === PrioSchedGjsEngine.Gain.STATE;
    native.gain = native.isExact ? 'state' : 'speed';
    native.newRunner = PrioSchedGjsEngine.new_runner;
    native.offerSignal = PrioSchedGjsEngine.offer_signal;
    native.takeController = PrioSchedGjsEngine.take_controller;
    return gain === PrioSchedGjsEngine.Gain.NONE ? null : native;
}
