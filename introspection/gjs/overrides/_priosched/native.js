// native.js: loads the native part, the library in C++ that posts and runs tasks in SpiderMonkey itself, if it is installed
//
// If SpiderMonkey supports this, the native part also knows the state of each job: each reaction has the state of the code that
// registered it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported open */

const {GLib} = imports.gi;

// The version of the native part's functions that the overrides call.  A native part with another version does not open.
const INTERFACE = 10;

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

// Returns whether the native part is for the SpiderMonkey of this process, as far as both versions are known, and logs a warning
// if not.  Loading a library for another version may fail.
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
