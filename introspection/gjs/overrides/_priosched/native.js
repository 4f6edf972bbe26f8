// native.js: the native part, where it is there
//
// Where the engine lets it, it also knows the state of each job: each reaction has the state of the code that registered it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported open */

const {GLib} = imports.gi;

// The native part refuses if it was not made for these overrides.
const INTERFACE = 9;

// The property by which the native part finds this context.
const MARK = '__prioSchedNative__';

// The SpiderMonkey of this process, or 0 if nobody knows.
function findEngine() {
    try {
        const [, maps] = GLib.file_get_contents('/proc/self/maps');
        return Number(/\/libmozjs-(\d+)[^/\n]*$/m.exec(new TextDecoder().decode(maps))?.[1] ?? 0);
    } catch {
        return 0;
    }
}

// Whether the native part is for the SpiderMonkey of this process.  A library for another one may not be loadable.
function isForThisEngine({MADE_FOR: madeFor}) {
    const engine = findEngine();
    if (madeFor === undefined || engine === 0 || engine === madeFor)
        return true;
    GLib.log_structured('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING, {
        MESSAGE: `The native part of PrioSched was built for SpiderMonkey ${madeFor}, and this is ${engine}: GJS goes on without it`,
    });
    return false;
}

// The namespace, or null if it or its library is not there, or is for another engine.
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

// The native functions, or null.  PRIO_SCHED_NATIVE=0 in the environment goes without them.
function open() {
    const PrioSchedGjsEngine = GLib.getenv('PRIO_SCHED_NATIVE') === '0' ? null : find();
    if (PrioSchedGjsEngine === null)
        return null;

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
