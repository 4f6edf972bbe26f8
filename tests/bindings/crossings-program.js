// crossings-program.js: one random program for crossings.js: its operations, and the checks at its end
//
// A program knows for each promise how it may settle: with the result or the exception of its function, or with the reason of a
// signal that can abort it.  Order and time are not checked.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Awaited, Here, MAX_ACTS, MAX_DEPTH, Program, Signal, Work, isSame */

const {Gio, GLib, PrioSched} = imports.gi;

var MAX_ACTS = 300;
var MAX_DEPTH = 3;

// Returns whether error, which was reported, represents reason.
var isSame = (error, reason) => Object.is(error, reason) || (error instanceof GLib.Error && reason instanceof GLib.Error &&
    error.domain === reason.domain && error.code === reason.code && error.message === reason.message);

// Random numbers, by mulberry32.
class Random {
    constructor(seed) {
        this.seed = seed | 0;
    }

    next() {
        this.seed = (this.seed + 0x6d2b79f5) | 0;
        let t = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return (t ^ (t >>> 14)) >>> 0;
    }

    below(n) {
        return this.next() % n;
    }

    chance(probability) {
        return this.next() / 2 ** 32 < probability;
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

// A signal of the library or of the web, and the reasons for which it may have been aborted.
var Signal = class Signal {
    constructor({native = null, web = null, controller = null, sources = [], allows = null}) {
        Object.assign(this, {native: native ?? web.cancellable, web, controller, sources});
        this.reasons = [];
        this.allowsItself = allows ?? (() => false);
    }

    // The argument for functions of the web.
    get forWeb() {
        return this.web ?? this.native;
    }

    isAborted() {
        return this.web?.aborted ?? (this.native instanceof PrioSched.TaskSignal ? this.native.is_aborted() : this.native.is_cancelled());
    }

    allows(error) {
        return this.isAborted() && (this.reasons.some(reason => isSame(error, reason)) || this.allowsItself(error) ||
            this.sources.some(source => source.allows(error)));
    }
};

// The place of an operation: in the code of a task, or outside.
var Here = class Here {
    constructor(random, chain = [], depth = 0, awaits = false, inGroup = false) {
        // The signals that can abort the task, or null if any signal can; and whether the task, or the code that waits
        // for the task, has a place in a group.
        Object.assign(this, {random, chain, depth, awaits, inGroup});
    }

    static first(seed, ...others) {
        return new Here(new Random(seed), ...others);
    }

    inner(chain, awaits = false, inGroup = false) {
        return new Here(new Random(this.random.next()), chain, this.depth + 1, awaits, this.inGroup || inGroup);
    }
};

// A promise, and the ways in which it may settle.
var Awaited = class Awaited {
    constructor(program, what, promise, chain, work = null) {
        Object.assign(this, {program, what, promise, chain, work});
        this.isSettled = false;
        this.mayBeCancelled = false;
        this.used = [];
        program.awaited.push(this);
        program.nPending++;
        promise.then(value => this.settle(value), error => this.settle(undefined, {error}));
    }

    settle(value, rejection = null) {
        if (this.isSettled)
            this.program.fail(`${this} settles twice`);
        this.isSettled = true;
        this.program.nPending--;
        for (const name of this.used)
            this.program.unuse(name);
        if (!(rejection === null ? this.allowsValue(value) : this.allowsError(rejection.error)))
            this.program.fail(`${this} has settled with ${rejection === null ? String(value) : `the error ${describe(rejection.error)}`}`);
    }

    allowsValue(value) {
        const {work} = this;
        return work === null ? value === undefined : work.hasReturned && value === work.value && !work.mustAbort;
    }

    allowsError(error) {
        return (this.work?.hasThrown && Object.is(error, this.work.thrown)) || (this.mayBeCancelled && error instanceof PrioSched.AbortError) ||
            this.program.isAllowed(this.chain, error);
    }

    toString() {
        return `${this.what}${this.work === null ? '' : ` of ${this.work}`} (${this.used.join(' ')})`;
    }
};

function describe(error) {
    return `${typeof error === 'symbol' ? 'a symbol' : error}`.slice(0, 300) + (error?.stack ? ` at ${String(error.stack).split('\n')[0]}` : '');
}

// A function for a task, which performs operations.
var Work = class Work {
    constructor(program, here, kind, nOperations) {
        Object.assign(this, {program, here, kind, nOperations});
        this.value = `value ${program.number()}`;
        this.hasBegun = this.hasReturned = this.hasThrown = this.mustAbort = false;
        this.thrown = undefined;
        this.throws = null;
        this.signals = [];
    }

    begin() {
        if (this.hasBegun)
            this.program.fail(`${this} is called twice`);
        this.hasBegun = true;
    }

    end() {
        if (this.throws !== null)
            this.raise(this.throws.error);
        this.hasReturned = true;
        return this.value;
    }

    raise(error) {
        this.hasThrown = true;
        this.thrown = error;
        throw error;
    }

    // The function that the task calls.  An abort before it returns replaces the result.
    get callback() {
        if (this.kind === 'steps' || this.kind === 'progress')
            return () => this.steps();
        return () => {
            try {
                return this.kind === 'function' ? this.plain() : this.asynchronous();
            } finally {
                this.mustAbort = this.signals.some(signal => signal.isAborted());
            }
        };
    }

    plain() {
        this.begin();
        for (let i = 0; i < this.nOperations; i++)
            this.program.act(this.here);
        return this.end();
    }

    async asynchronous() {
        this.begin();
        for (let i = 0; i < this.nOperations; i++)
            await this.wait(this.program.act(this.here));
        return this.end();
    }

    *steps() {
        this.begin();
        for (let i = 0; i < 3 * this.nOperations; i++) {
            this.program.act(this.here);
            try {
                yield i;
            } catch (error) {
                this.handle(error, null);
            }
        }
        return this.end();
    }

    async wait(awaited) {
        if (!awaited)
            return;
        try {
            await awaited.promise;
        } catch (error) {
            this.handle(error, awaited);
        }
    }

    // Continues after error, or rethrows it; the awaited promise, or a signal that can abort the task, has caused it.
    handle(error, awaited) {
        if (!this.program.isAllowed(this.here.chain, error) && !awaited?.allowsError(error))
            this.program.fail(`${this} was told ${describe(error)} by ${awaited}`);
        if (this.here.random.chance(.5))
            this.raise(error);
    }

    toString() {
        return `${this.kind} ${this.value}`;
    }
};

// The program of one seed. crossings-operations.js has the operations.
var Program = class Program {
    #number = 0;
    #live = new Map();    // number of live uses of each mechanism
    #recent = new Map();  // when each mechanism was last used

    constructor(seed, mechanisms, wanted, {operations, options, canBeMade}) {
        Object.assign(this, {seed, wanted, operations, canBeMade});
        this.here = Here.first(seed);
        this.random = this.here.random;
        const density = this.random.pick([.2, .5, .5, .8]);
        this.on = new Set(mechanisms.filter(name => wanted.includes(name) || this.random.chance(density)));
        this.names = Object.keys(operations).filter(name => this.on.has(name));
        this.options = Object.entries(options).filter(([name]) => this.on.has(name));
        this.failures = [];
        this.expected = [];   // expected reports of unhandled rejections
        this.met = new Map();
        this.step = this.nActs = this.nPending = this.nCalls = this.nNested = 0;
        for (const name of ['awaited', 'leaves', 'endings', 'signals', 'groups', 'handlers', 'cancels'])
            this[name] = [];
        this.switched = new Map();
        this.isTracing = false;
        this.schedulers = [PrioSched.Scheduler.get_default(), PrioSched.Scheduler.new(null)];
        this.webSchedulers = [PrioSched.web.scheduler];
    }

    number() {
        return ++this.#number;
    }

    fail(what) {
        this.failures.push(what);
    }

    isAllowed(chain, error) {
        return (chain ?? this.signals).some(signal => signal.allows(error));
    }

    wants(name, random, probability = .3) {
        return this.on.has(name) && (this.wanted.includes(name) || random.chance(probability));
    }

    // Records that a mechanism is used, and meets those in use now, or a moment ago.
    use(name, lives = false) {
        for (const [other, step] of this.#recent) {
            if (other !== name && (step >= this.step - 1 || this.#live.get(other) > 0)) {
                const pair = name < other ? `${name} ${other}` : `${other} ${name}`;
                this.met.set(pair, (this.met.get(pair) ?? 0) + 1);
            }
        }
        this.#recent.set(name, this.step);
        if (lives)
            this.#live.set(name, (this.#live.get(name) ?? 0) + 1);
    }

    unuse(name) {
        this.#live.set(name, this.#live.get(name) - 1);
    }

    // Performs an operation that is possible here, which may return a promise to await.
    act(here) {
        if (++this.nActs > MAX_ACTS)
            return null;
        for (let i = 0; i < 4; i++) {
            const name = here.random.chance(.2) || this.names.length === 0 ? 'post' : here.random.pick(this.names);
            if (this.canBeMade(name, here))
                return this.make(name, here);
        }
        return null;
    }

    make(name, here) {
        this.use(name);
        const result = this.operations[name](this, here) ?? null;
        if (GLib.getenv('CROSSINGS_LOG') !== null)
            print(`${'  '.repeat(here.depth)}${name}: ${result}`);
        return result;
    }

    // Uses this mechanism.
    carry(name, here) {
        if (!(name in this.operations))
            return this.make(name.startsWith('web-') ? 'web-post' : 'post', here);
        return this.canBeMade(name, here) ? this.make(name, here) : null;
    }

    // Ends operations that hold tasks up, and returns whether all tasks have ended.
    isSettled() {
        while (this.endings.length > 0)
            this.endings.pop()();
        return this.nPending === 0 && this.nCalls === 0;
    }

    check() {
        for (const scheduler of this.schedulers) {
            if (scheduler.count_pending() !== 0)
                this.fail(`${scheduler.count_pending()} tasks are still queued`);
        }
        for (const {native} of this.groups) {
            if (native.n_tasks !== 0)
                this.fail(`a group has ${native.n_tasks} tasks in the end`);
        }
    }
};
