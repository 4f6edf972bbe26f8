// hostile.js: calls every function of the library and of its overrides with random arguments
//
//     hostile.js [SEED] [CALLS]
//
// Exceptions and criticals are allowed.  A crash or a hang is not, and the main loop must keep
// working.  To repeat a failure, use the seed that is printed.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
const {Gio, GLib, GObject, PrioSched} = imports.gi;
const {web} = PrioSched;

// GJS makes methods on demand.
const METHODS = {
    Scheduler: ['post_task', 'yield', 'yield_async',
        'yield_finish', 'queue_microtask', 'request_idle_callback', 'cancel_idle_callback', 'get_context',
        'follow_frame_clock', 'unfollow_frame_clock', 'get_next_frame', 'set_next_frame', 'should_yield', 'get_time_slice', 'set_time_slice', 'pause',
        'resume', 'get_paused'],
    TaskController: ['abort', 'get_signal', 'set_priority'],
    TaskSignal: ['get_priority', 'dup_reason', 'has_fixed_priority', 'is_aborted', 'pin', 'connect', 'cancel'],
    Runner: ['post', 'post_full', 'yield', 'take_rejected'],
    SchedulingState: ['dup_scheduler', 'get_cancellable', 'get_priority', 'run'],
    Task: ['cancel', 'defer', 'wait_async', 'wait_finish', 'get_error', 'dup_name', 'get_priority', 'get_cancellable', 'get_state',
        'propagate_boolean', 'propagate_int', 'propagate_value', 'return_boolean', 'return_error', 'return_int', 'return_value'],
    IdleDeadline: ['copy', 'did_timeout', 'get_time_remaining'],
};

let seed = Number(ARGV[0] ?? (GLib.getenv('RANDOM_SEED') || GLib.random_int()));
const calls = Number(ARGV[1] ?? 20000);
print(`seed ${seed}`);

// Returns a random number, by mulberry32.
const random = n => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
};
const pick = list => list[random(list.length)];

// Thousands of criticals, and of unhandled rejections, are expected: they go to /dev/null, which gets the free number.  GJS aborts when a
// writer in JavaScript is called during a collection, and the library warns during a collection of dropped tasks.
GLib.close(2);
const silence = Gio.File.new_for_path('/dev/null').append_to(Gio.FileCreateFlags.NONE, null);

const scheduler = PrioSched.Scheduler.get_default();
const pool = [scheduler, PrioSched.Scheduler.new(null), new PrioSched.TaskController(), new Gio.Cancellable(),
    new GObject.Object(), web.scheduler, new web.TaskController(), new web.AbortController(), new web.EventTarget(),
    new web.Event('x'), web.AbortSignal.abort(), new web.TaskController().signal];

const throwing = () => {
    throw new Error('mine');
};
const something = () => random(3) === 0 ? pick(pool) : pick([
    undefined, null, true, false, 0, 1, 2, 3, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 64, 5n, '',
    'background', 'inherit', 'user-blocking', 'x'.repeat(1000), '\0', '\ud800', [], [1], [null], {}, {priority: 'x'},
    {priority: 'background'}, {delay: 1}, {delay: -1}, {signal: pick(pool)}, {once: true}, {handleEvent: throwing}, () => {},
    throwing, async () => throwing(), Object, Symbol('x'), new Date(), new Proxy({}, {get: throwing}), pick(pool),
    {toString: throwing, valueOf: throwing}, GLib.MainContext.default(), new Map(), new Uint8Array(3), [pick(pool)],
]);

// Every method of every prototype, and every function.  GJS itself aborts when a method of an object is called on
// another, or a class of GJS is constructed in odd ways.
const targets = [];
const collect = (holder, path, owner = null) => {
    for (const name of Reflect.ownKeys(holder)) {
        const target = Object.getOwnPropertyDescriptor(holder, name).value;
        if (typeof target === 'function' && name !== 'constructor' && name !== 'install')
            targets.push({path: `${path}.${String(name)}`, target, owner});
    }
};
collect(web, 'web');
for (const name of Reflect.ownKeys(web).filter(key => web[key].prototype)) {
    collect(web[name], `web.${name}`);
    collect(web[name].prototype, `web.${name}.prototype`);
}
for (const name of ['Scheduler', 'TaskController', 'TaskSignal', 'Runner', 'SchedulingState', 'Task', 'IdleDeadline']) {
    for (const key of ['get_default', 'ref_thread_default', 'new', 'any', 'any_following', 'new_aborted', 'new_timeout',
        'next', 'end', 'get_current']) {
        // If the library has no "new", it is GObject's own.
        if (PrioSched[name][key] && !(key === 'new' && /^Task./.test(name)))
            targets.push({path: `${name}.${key}`, target: PrioSched[name][key].bind(PrioSched[name]), owner: null});
    }
    for (const key of METHODS[name] ?? []) {
        if (typeof PrioSched[name].prototype[key] !== 'function')
            throw new Error(`there is no ${name}.prototype.${key}`);
        targets.push({path: `${name}.prototype.${key}`, target: PrioSched[name].prototype[key], owner: PrioSched[name]});
    }
}

// A function that does not return false would run for ever, before all others.
for (const name of ['post', 'post_full']) {
    targets.push({path: `Scheduler.${name}`, owner: PrioSched.Scheduler, target(...args) {
        return PrioSched.Scheduler.prototype[name].apply(this, args.map(arg => typeof arg === 'function' ? () => false : arg));
    }});
}

let nRight = 0;
function callOne() {
    const {target, owner} = pick(targets);
    const args = Array.from({length: random(5)}, something);
    const fitting = owner === null ? pool : pool.filter(thing => thing instanceof owner);
    if (fitting.length === 0)
        return;
    try {
        const result = owner === null && target.prototype && random(2)
            ? Reflect.construct(target, args) : Reflect.apply(target, pick(fitting), args);
        nRight++;
        if (result instanceof Promise)
            result.catch(() => {});
        else if (typeof result === 'object' && result !== null)
            pool[pool.length < 60 ? pool.length : 12 + random(48)] = result;
    } catch {
    }
}

const loop = new GLib.MainLoop(null, false);
async function main() {
    for (let i = 0; i < calls; i++) {
        callOne();
        if (i % 50 === 0) {
            PrioSched.Scheduler.prototype.resume.call(scheduler);
            await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
                resolve();
                return false;
            }));
        }
    }
    // The loop continues, and so do tasks.
    scheduler.set_time_slice(-1);
    while (scheduler.get_paused())
        scheduler.resume();
    await scheduler.post_task(() => {}, {priority: 'background'});
    print(`${nRight} of ${calls} calls of ${targets.length} functions were right`);
}
main().catch(error => {
    print(error, error?.stack);
    imports.system.exit(1);
}).finally(() => loop.quit());
loop.run();
