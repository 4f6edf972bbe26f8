// crossings-posts.js: random posts of the programs of crossings.js: signals, options and functions
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported AWAITS, BODIES, OPERATIONS, OPTIONS, PRIORITIES, add, canBeMade, newController, newError, newReason, newWork,
   optionsFor, posted, someController, someGroupSafe, someScheduler */

const {Gio, GLib, PrioSched} = imports.gi;
const {web} = PrioSched;
const {Awaited, MAX_DEPTH, Signal, Work} = imports['crossings-program'];

var PRIORITIES = ['background', 'user-visible', 'user-blocking'];

// Mechanisms by name: operations, each called at a place (Here), which return a promise to await there, or nothing; options of
// tasks; kinds of functions.
var OPERATIONS = {};
var OPTIONS = {};
var BODIES = ['function', 'async', 'steps', 'progress', 'throws', 'thenable'];
var AWAITS = new Set(); // operations that only async functions call

var add = (name, operation, {awaits = false} = {}) => {
    OPERATIONS[name] = operation;
    if (awaits)
        AWAITS.add(name);
};

var canBeMade = (name, here) => here.awaits || !AWAITS.has(name);

// Signals

const isTimeout = error => (error instanceof GLib.Error && error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT)) ||
    error?.name === 'TimeoutError';
const isAbort = error => error instanceof PrioSched.AbortError;

function newSignal(program, values) {
    const signal = new Signal(values);
    program.signals.push(signal);
    return signal;
}

var newController = (program, here) => {
    const priority = here.random.pick(PRIORITIES);
    if (program.wants('web-controller', here.random, .5)) {
        program.use('web-controller');
        const controller = here.random.chance(.3) ? new web.AbortController() : new web.TaskController({priority});
        return newSignal(program, {web: controller.signal, controller, allows: isAbort});
    }
    const controller = new PrioSched.TaskController({priority});
    return newSignal(program, {native: controller.signal, controller, allows: isAbort});
};

var someController = (program, here) => {
    const known = program.signals.filter(signal => signal.controller !== null);
    return known.length > 0 && here.random.chance(.7) ? here.random.pick(known) : newController(program, here);
};

function someSignals(program, here) {
    const signals = [someController(program, here)];
    for (let i = here.random.below(3); i > 0 && program.signals.length > 0; i--)
        signals.push(here.random.pick(program.signals));
    return signals;
}

function newAny(program, here, follows) {
    const sources = someSignals(program, here), source = someController(program, here);
    if (here.random.chance(.5)) {
        const followed = follows && source.forWeb.priority ? source.forWeb : here.random.pick(PRIORITIES);
        const signal = here.random.chance(.2) ? web.AbortSignal.any(sources.map(one => one.forWeb))
            : web.TaskSignal.any(sources.map(one => one.forWeb), {priority: followed});
        return newSignal(program, {web: signal, sources});
    }
    const natives = sources.map(one => one.native);
    const native = follows && source.native instanceof PrioSched.TaskSignal ? PrioSched.TaskSignal.any_following(natives, source.native)
        : PrioSched.TaskSignal.any(natives, here.random.pick(PRIORITIES));
    return newSignal(program, {native, sources});
}

const signals = {
    'controller': someController,
    'any': (program, here) => newAny(program, here, false),
    'any-following': (program, here) => newAny(program, here, true),
    'timeout': (program, here) => newSignal(program, here.random.chance(.5)
        ? {web: web.AbortSignal.timeout(here.random.below(4)), allows: isTimeout}
        : {native: PrioSched.TaskSignal.new_timeout(here.random.below(4)), allows: isTimeout}),
    'cancellable': (program, here) => newSignal(program, {native: new Gio.Cancellable(), allows: isAbort}),
    'aborted': (program, here) => {
        const reason = newReason(program, here);
        const signal = newSignal(program, reason instanceof GLib.Error ? {native: PrioSched.TaskSignal.new_aborted(reason)}
            : {web: web.AbortSignal.abort(reason)});
        signal.reasons.push(reason);
        return signal;
    },
};

const plain = {
    'priority': (options, random) => (options.priority = random.pick(PRIORITIES)),
    'delay': (options, random) => (options.delay = random.below(3)),
    'late': (options, random) => (options.timeout = random.pick([-1, 1, 2, 5000])),
    'name': (options, random) => (options.name = random.pick(['', 'name', 'näme "\n'])),
};
for (const name of [...Object.keys(signals), ...Object.keys(plain)])
    OPTIONS[name] = name;

// Returns the arguments of a post, the signals that can abort it, and the mechanisms in it.
var optionsFor = (program, here, forWeb = false) => {
    const options = {}, used = [], chain = [];
    for (const [name] of program.options.filter(([one]) => program.wants(one, here.random))) {
        used.push(name);
        if (name in plain)
            plain[name](options, here.random);
        else
            chain.push(signals[name](program, here));
    }
    if (chain.length > 1) {
        options.signal = forWeb ? web.TaskSignal.any(chain.map(signal => signal.forWeb))
            : PrioSched.TaskSignal.any(chain.map(signal => signal.native), here.random.pick(PRIORITIES));
    } else if (chain.length === 1) {
        options.signal = forWeb ? chain[0].forWeb : chain[0].native;
    }
    if (forWeb) {
        delete options.timeout;
        delete options.name;
    }
    return {options, chain, used};
};

// Functions

class OwnAbort extends PrioSched.AbortError {}
class Failed extends Error {}

var newReason = (program, here) => {
    const text = `reason ${program.number()}`;
    return here.random.pick([() => new Failed(text), () => new OwnAbort(text), () => text, () => 0, () => null, () => Symbol(text),
        () => ({text}), () => NaN, () => new GLib.Error(GLib.quark_from_string('crossings'), 7, text),
        () => new web.DOMException(text, 'AbortError'), () => Promise.resolve(text)])();
};

var newError = (program, here, text = `error ${program.number()}`) => here.random.pick([() => new Failed(text), () => text,
    () => new TypeError(text), () => new GLib.Error(GLib.quark_from_string('crossings'), 3, text)])();

// Returns a function, and the mechanisms in it.
var newWork = (program, here, chain, {kinds = BODIES, inGroup = false} = {}) => {
    const used = kinds.filter(kind => program.wants(kind, here.random));
    const fitting = used.filter(kind => !['throws', 'thenable'].includes(kind));
    const kind = fitting.length > 0 ? here.random.pick(fitting) : 'function';
    const nOperations = here.depth >= MAX_DEPTH ? 0 : here.random.below(4);
    const work = new Work(program, here.inner(chain, kind === 'async', inGroup), kind, nOperations);
    work.signals = chain;
    const mechanisms = [kind];
    if (used.includes('throws') && here.random.chance(.6)) {
        work.throws = {error: newError(program, here)};
        mechanisms.push('throws');
    } else if (used.includes('thenable') && kind !== 'steps' && kind !== 'progress') {
        const {callback} = work;
        mechanisms.push('thenable');
        Object.defineProperty(work, 'callback', {value: () => {
            const value = callback();
            value?.catch?.(() => {}); // it may be rejected before any code handles it
            return {then: (resolve, reject) => Promise.resolve(value).then(resolve, reject)};
        }});
    }
    return {work, mechanisms};
};

var someScheduler = (program, here) => here.random.pick(program.schedulers);

// Posts work by post (callback, options), or in steps, and records it.
var posted = (program, here, what, promise, chain, work, used) => {
    const awaited = new Awaited(program, what, promise, chain, work);
    for (const name of used)
        program.use(name, true);
    awaited.used = used;
    if (work.kind !== 'async' && !here.inGroup)
        program.leaves.push(awaited);
    return awaited;
};

// Posts to any object that has post_task () and post_steps ().
var postTo = (program, here, target, {options, chain, used}, {work, mechanisms}, what) => {
    const names = [...used, ...mechanisms];
    if (work.kind === 'progress')
        options.progress = () => work.here.random.chance(.2) && program.act(work.here);
    const isStepped = work.kind === 'steps' || work.kind === 'progress';
    const promise = isStepped ? target.post_steps(work.callback, options) : target.post_task(work.callback, options);
    return posted(program, here, what, promise, chain, work, names);
};

add('post', (program, here) => {
    const options = optionsFor(program, here);
    return postTo(program, here, someScheduler(program, here), options, newWork(program, here, options.chain), 'a task');
});
