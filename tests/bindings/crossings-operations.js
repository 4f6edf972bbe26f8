// crossings-operations.js: the operations of the programs of crossings.js, each for one mechanism that is on
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {Gio, GLib, PrioSched} = imports.gi;
const {Awaited, Signal} = imports['crossings-program'];
const {PRIORITIES, add, newController, newError, newReason, newWork, optionsFor, postTo, posted, someController, someScheduler} =
    imports['crossings-posts'];

const TRACE = `${GLib.dir_make_tmp('crossings-XXXXXX')}/trace.json`;
const IN_STEPS = new Set(['steps', 'progress']);

// Signals

add('set-priority', (program, here) => {
    const {controller} = someController(program, here), priority = here.random.pick(PRIORITIES);
    try {
        if (controller.setPriority)
            controller.setPriority(priority);
        else
            controller.set_priority?.(priority);
    } catch (error) {
        if (error.name !== 'NotAllowedError' && !(error instanceof GLib.Error && error.matches(PrioSched.Error, PrioSched.Error.NOT_ALLOWED)))
            throw error;
    }
});

add('abort', (program, here) => {
    const signal = program.signals.length > 0 ? here.random.pick(program.signals) : newController(program, here);
    if (signal.controller === null) {
        if (!(signal.native instanceof PrioSched.TaskSignal))
            signal.native.cancel();
        return;
    }
    if (!program.wants('reason', here.random, .5)) {
        signal.controller.abort();
        return;
    }
    program.use('reason');
    const reason = newReason(program, here);
    signal.reasons.push(reason);
    signal.controller.abort(reason);
});
add('reason', (program, here) => {
    const signal = someController(program, here), reason = newReason(program, here);
    signal.reasons.push(reason);
    signal.controller.abort(reason);
});

// An operation in a handler, which may be removed before it is called.
add('handler', (program, here) => {
    const {native} = someController(program, here), inner = here.inner(null);
    let n = 0;
    const id = native.connect(here.random.pick(['priority-change', 'cancelled', 'notify::priority', 'notify::reason']), () => {
        if (n++ < 3)
            program.act(inner);
    });
    program.handlers.push({native, id});
});
add('handler-off', program => {
    const handler = program.handlers.pop();
    handler?.native.disconnect(handler.id);
});

// Awaiting

add('yield', (program, here) => {
    const {options: {signal, priority}, chain} = optionsFor(program, here);
    const options = signal || priority ? {signal: signal ?? here.random.pick([null, 'inherit']), priority: priority ?? null} : undefined;
    return new Awaited(program, 'a yield', someScheduler(program, here).yield(options), both(here.chain, chain));
});
const both = (chain, other) => chain === null ? null : [...chain, ...other];

add('sleep', (program, here) => new Awaited(program, 'a sleep', someScheduler(program, here).sleep(here.random.below(3)), here.chain));

const older = (program, here) => {
    const known = program.leaves.filter(awaited => !here.inGroup || !awaited.used.includes('group'));
    return known.length > 0 ? here.random.pick(known) : null;
};
add('older', older, {awaits: true});

// A promise that another operation of the program settles.
class Other extends Awaited {
    constructor(program, what, promise, chain, {value, error = () => false}) {
        super(program, what, promise, chain);
        this.isValue = value;
        this.isError = error;
    }

    allowsValue(value) {
        return this.isValue(value);
    }

    allowsError(error) {
        return this.isError(error) || super.allowsError(error);
    }
}

add('adopt', (program, here) => {
    const inner = older(program, here) ?? new Awaited(program, 'a yield', someScheduler(program, here).yield(), here.chain);
    return new Other(program, `adopted: ${inner}`, someScheduler(program, here).adopt(inner.promise), here.chain,
        {value: value => inner.allowsValue(value), error: error => inner.allowsError(error)});
}, {awaits: true});

async function *itemsOf(scheduler) {
    for (let i = 0; i < 3; i++) {
        await scheduler.yield();
        yield i;
    }
}

add('each', (program, here) => {
    const scheduler = someScheduler(program, here), inner = here.inner(here.chain);
    const isAsync = program.wants('async-generator', here.random), got = [];
    if (isAsync)
        program.use('async-generator');
    const iterate = async () => {
        for await (const item of scheduler.each(isAsync ? itemsOf(scheduler) : [0, Promise.resolve(1), 2])) {
            got.push(item);
            program.act(inner);
        }
        return got.join();
    };
    return new Other(program, 'each', iterate(), here.chain, {value: value => value === '0,1,2'});
}, {awaits: true});

// A generator that may be left in the middle.
add('async-generator', (program, here) => {
    const scheduler = someScheduler(program, here), n = here.random.below(4), inner = here.inner(null);
    async function *items() {
        try {
            for (;;) {
                await scheduler.yield();
                yield 5;
            }
        } finally {
            program.act(inner);
        }
    }
    const iterate = async () => {
        let nGot = 0;
        for await (const _ of items()) {
            if (++nGot >= n)
                break;
        }
        return nGot;
    };
    return new Other(program, 'an async generator', iterate(), here.chain, {value: value => value === Math.max(n, 1)});
}, {awaits: true});

add('latest', (program, here) => {
    const scheduler = someScheduler(program, here), signal = program.wants('controller', here.random) ? someController(program, here) : null;
    const chain = signal === null ? [] : [signal];
    const job = scheduler.latest(() => here.random.chance(.5) ? scheduler.yield() : 7, {priority: here.random.pick(PRIORITIES), signal: signal?.native});
    let run = null;
    for (let i = here.random.below(3); i >= 0; i--)
        run = new Other(program, 'a run', job(), chain, {value: value => value === undefined || value === 7});
    if (here.random.chance(.2))
        job.abort();
    return run;
});

// Reactions of a promise, and the engine's combinations of several.
add('then', (program, here) => {
    const {promise} = older(program, here) ?? {promise: Promise.resolve()}, inner = here.inner(null);
    promise.finally(() => program.act(inner)).catch(() => {});
});
add('combined', (program, here) => {
    const parts = [0, 1].map(() => older(program, here) ?? new Awaited(program, 'a yield', someScheduler(program, here).yield(), here.chain));
    const promise = Promise[here.random.pick(['all', 'race', 'allSettled'])](parts.map(part => part.promise));
    return new Other(program, 'a combination', promise, here.chain,
        {value: () => true, error: error => parts.some(part => part.allowsError(error))});
}, {awaits: true});

// A call of GIO, under a signal.
add('gio', (program, here) => {
    const signal = someController(program, here);
    const promise = new Promise((resolve, reject) => {
        Gio.File.new_for_path('/').query_info_async('standard::name', Gio.FileQueryInfoFlags.NONE, 0, signal.native, (file, result) => {
            try {
                resolve(file.query_info_finish(result).get_name());
            } catch (error) {
                reject(error);
            }
        });
    });
    return new Other(program, 'a call of GIO', promise, here.chain, {value: value => value === '/',
        error: error => error instanceof GLib.Error && error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED)});
});

// Groups

class Group {
    #signal = null;

    constructor(program, here) {
        this.native = new PrioSched.TaskGroup({
            scheduler: someScheduler(program, here), limit: here.random.pick([1, 1, 2, 3, Infinity]), priority: here.random.pick(PRIORITIES),
        });
        this.members = [];
        program.groups.push(this);
    }

    signalNow(program) {
        const native = this.native.signal;
        if (this.#signal?.native !== native) {
            this.#signal = new Signal({native, allows: error => error instanceof PrioSched.AbortError});
            program.signals.push(this.#signal);
        }
        return this.#signal;
    }
}

const someGroup = (program, here) =>
    program.groups.length > 0 && here.random.chance(.7) ? here.random.pick(program.groups) : new Group(program, here);

add('group', (program, here) => {
    const group = someGroup(program, here), options = optionsFor(program, here);
    options.chain.push(group.signalNow(program));
    options.used.push('group');
    const member = postTo(program, here, group.native, options, newWork(program, here, options.chain, {inGroup: true}), 'a member');
    group.members.push(member);
    return here.inGroup ? null : member;
});
add('limit', (program, here) => (someGroup(program, here).native.limit = here.random.pick([1, 2, Infinity])) && null);
add('group-priority', (program, here) => {
    try {
        someGroup(program, here).native.set_priority(here.random.pick(PRIORITIES));
    } catch (error) {
        if (!(error instanceof GLib.Error && error.matches(PrioSched.Error, PrioSched.Error.NOT_ALLOWED)))
            throw error;
    }
});
add('group-abort', (program, here) => {
    const group = someGroup(program, here), signal = group.signalNow(program);
    const reason = program.wants('reason', here.random, .5) ? newReason(program, here) : undefined;
    signal.reasons.push(reason);
    group.native.abort(reason);
});
add('cancel-queued', (program, here) => {
    const group = someGroup(program, here);
    for (const member of group.members)
        member.mayBeCancelled ||= !member.work.hasBegun;
    group.native.cancel_pending();
});

for (const name of ['drained', 'all', 'any', 'first']) {
    add(`wait-${name}`, (program, here) => {
        const group = someGroup(program, here), signal = program.wants('controller', here.random) ? someController(program, here) : null;
        if (signal !== null)
            program.use('controller');
        const {members} = group, returns = name === 'any' || name === 'first';
        const promise = group.native[name](signal === null ? undefined : {signal: signal.native});
        const wait = new Other(program, `a wait, ${name}`, promise, signal === null ? [] : [signal], {
            value: value => returns ? members.some(({work}) => work.hasReturned && work.value === value) : value === undefined,
            error: error => (name !== 'drained' && members.some(member => member.allowsError(error))) ||
                (returns && error instanceof GLib.Error && error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND)),
        });
        // Tasks of groups that wait for each other wait for ever.
        return here.inGroup ? null : wait;
    });
}

// Switches

// Adds an operation that turns a switch of a scheduler on for a while.
function addSwitch(name, on, off) {
    add(name, (program, here) => {
        const scheduler = someScheduler(program, here);
        const schedulers = program.switched.get(name) ?? new Set();
        program.switched.set(name, schedulers);
        const end = () => {
            if (!schedulers.delete(scheduler))
                return;
            program.unuse(name);
            off(scheduler);
        };
        if (schedulers.has(scheduler)) {
            end();
            return;
        }
        schedulers.add(scheduler);
        program.use(name, true);
        on(scheduler);
        program.endings.push(end);
    });
}

addSwitch('lends', scheduler => scheduler.set_lends_priority(true), scheduler => scheduler.set_lends_priority(false));
addSwitch('pause', scheduler => scheduler.pause(), scheduler => scheduler.resume());
addSwitch('statistics', scheduler => scheduler.start_statistics(), scheduler => {
    scheduler.get_statistics();
    scheduler.stop_statistics();
});
addSwitch('task-share', scheduler => scheduler.set_task_share(.5), scheduler => scheduler.set_task_share(0));
addSwitch('slice', scheduler => scheduler.set_time_slice(0), scheduler => scheduler.set_time_slice(-1));

// An observer of long tasks, added and removed.
add('watch', (program, here) => {
    const scheduler = someScheduler(program, here), inner = here.inner(null);
    const id = scheduler.add_long_task_func(here.random.pick([1, 1, 1000]), () => {
        if (here.random.chance(.1))
            program.act(inner);
    });
    program.use('watch', true);
    program.endings.push(() => {
        program.unuse('watch');
        scheduler.remove_long_task_func(id);
    });
});
add('unwatch', (program, here) => {
    if (program.endings.length > 0)
        program.endings.splice(here.random.below(program.endings.length), 1)[0]();
});

add('trace', program => {
    const end = () => {
        if (!program.isTracing)
            return;
        PrioSched.trace_stop();
        program.isTracing = false;
        program.unuse('trace');
        if (program.seed % 8 === 0)
            JSON.parse(new TextDecoder().decode(GLib.file_get_contents(TRACE)[1]));
    };
    if (program.isTracing) {
        end();
        return;
    }
    program.isTracing = true;
    program.use('trace', true);
    const file = Gio.File.new_for_path(TRACE).replace(null, false, Gio.FileCreateFlags.PRIVATE, null);
    PrioSched.trace_start(file.get_fd());
    file.close(null);
    program.endings.push(end);
});

add('schedulers', (program, here) => {
    if (program.schedulers.length < 4)
        program.schedulers.push(PrioSched.Scheduler.new(null));
    else
        someScheduler(program, here).count_pending();
});

// Places

// Calls a function n times; the program waits for the calls.
var awaitCall = (program, inner, n = 1) => {
    program.nCalls++;
    return () => {
        program.nCalls--;
        for (let i = 0; i < n; i++)
            program.act(inner);
        return false;
    };
};

add('microtask', (program, here) => someScheduler(program, here).queue_microtask(awaitCall(program, here.inner(null), 2)));
add('source', (program, here) => {
    const call = awaitCall(program, here.inner([]), 2);
    if (here.random.chance(.5))
        GLib.idle_add(here.random.pick([-100, 0, 200]), call);
    else
        GLib.timeout_add(0, here.random.below(3), call);
});
add('idle', (program, here) => {
    const scheduler = someScheduler(program, here), call = awaitCall(program, here.inner(null));
    const id = scheduler.request_idle_callback(deadline => {
        deadline.get_time_remaining();
        call();
    }, here.random.pick([undefined, 1]));
    if (here.random.chance(.3)) {
        scheduler.cancel_idle_callback(id);
        program.nCalls--;
    }
});

// Runs a nested main loop for a moment.
add('nested', (program, here) => {
    if (here.awaits || program.nNested >= 2)
        return;
    program.nNested++;
    program.use('nested', true);
    const loop = new GLib.MainLoop(null, false), inner = here.inner([]);
    GLib.timeout_add(0, here.random.below(2), () => {
        program.act(inner);
        loop.quit();
        return false;
    });
    loop.run();
    program.nNested--;
    program.unuse('nested');
});

// Other entry points of the library

add('wrap', (program, here) => {
    const call = awaitCall(program, here.inner(here.chain));
    GLib.idle_add(0, someScheduler(program, here).wrap_callback(call));
});
add('with-priority', (program, here) => {
    const inner = here.inner(here.chain);
    someScheduler(program, here).run_with_priority(here.random.pick(PRIORITIES), () => {
        program.act(inner);
    });
});
add('schedule', (program, here) => {
    const {options, chain, used} = optionsFor(program, here);
    delete options.priority;
    const {work, mechanisms} = newWork(program, here, chain, {kinds: ['function', 'throws']});
    work.signals = [];
    const scheduler = someScheduler(program, here), {callback} = work, goesOn = here.random.chance(.5);
    const scheduled = scheduler.schedule_callback(here.random.pick(['immediate', 'user-blocking', 'normal', 'low', 'idle']),
        () => goesOn ? () => callback() : callback(), options);
    const awaited = posted(program, here, 'a callback', scheduled.finished, chain, work, ['schedule', ...used, ...mechanisms]);
    program.cancels.push(() => {
        awaited.mayBeCancelled = true;
        scheduler.cancel_callback(scheduled);
    });
    return awaited;
});
add('cancel', program => program.cancels.pop()?.());
add('first-task', (program, here) => {
    someScheduler(program, here).get_first_task();
});

// Tasks that the library posts itself.
add('native', (program, here) => {
    const scheduler = someScheduler(program, here), inner = here.inner(null);
    let left = here.random.below(3);
    program.nCalls++;
    scheduler.post(here.random.pick(PRIORITIES), () => {
        program.act(inner);
        if (--left < 0)
            program.nCalls--;
        return left >= 0;
    });
});
add('state', (program, here) => {
    const state = PrioSched.SchedulingState.get_current();
    if (state === null)
        return;
    state.get_priority();
    state.get_cancellable();
    state.dup_scheduler();
    state.run(awaitCall(program, here.inner(null)));
});

// A rejection without a handler, which is reported once.
add('unhandled', (program, here) => {
    const text = `unhandled ${program.seed} ${program.number()}`, error = newError(program, here, text);
    const scheduler = someScheduler(program, here);
    program.nCalls++;
    program.expected.push(text);
    const fail = () => {
        program.nCalls--;
        throw error;
    };
    here.random.pick([() => scheduler.post_task(fail), () => scheduler.post_task(async () => fail()), () => scheduler.queue_microtask(fail),
        () => GLib.idle_add(0, fail), () => scheduler.request_idle_callback(fail)])();
});
