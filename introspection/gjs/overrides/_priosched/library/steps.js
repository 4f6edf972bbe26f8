// steps.js: generators as tasks, and the error that an abort is
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported AbortError, STEPPED, isStepped, toSteps, toUnstepped */

const {Gio, GLib} = imports.gi;
const {named, toFunction} = imports.overrides._priosched.core.reasons;

// An abort without a reason of the program's own, which is GIO's error, and whatever is derived from this as a reason: for all of
// them `error instanceof PrioSched.AbortError` is true.
var AbortError = class AbortError extends Error {
    constructor(message = 'Operation was cancelled') {
        super(message);
        this.name = 'AbortError';
    }

    static [Symbol.hasInstance](value) {
        if (Function.prototype[Symbol.hasInstance].call(this, value))
            return true;
        if (this !== AbortError || typeof value !== 'object' || value === null)
            return false;
        return value instanceof GLib.Error ? value.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED) : value.name === 'AbortError';
    }
};

// What generator functions inherit from, those that are bound too.
var STEPPED = [Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function* () {})];
const [GENERATOR] = STEPPED;

var isStepped = function isStepped(callback) {
    return STEPPED.includes(Object.getPrototypeOf(callback));
};

// A function that does something when it is called, which a generator function does not: where it is posted as a task in Python it
// is taken in steps, and here nobody would hear that nothing has run.
var toUnstepped = function toUnstepped(value, where) {
    if (!isStepped(toFunction(value)))
        return value;
    const callback = value.name === '' ? 'the callback' : named(value.name);
    if (Object.getPrototypeOf(value) === GENERATOR)
        throw new TypeError(`${where}: ${callback} is a generator function, and nothing of it would run: post_steps () makes its steps`);
    throw new TypeError(`${where}: ${callback} is an asynchronous generator function, and nothing of it would run: ` +
        'go through it with for await in an asynchronous function');
};

function toGenerator(value) {
    if (typeof value?.next !== 'function' || typeof value.throw !== 'function' || typeof value[Symbol.iterator] !== 'function')
        throw new TypeError(`${named(value)} is not a generator`);
    return value;
}

// The callback of a task that makes the steps of the generator that make () returns, as long as the slice lasts.  progress (value),
// if given, is called with the last value before it yields.  It waits for a promise that the generator yields, whose value that gets.  An abort is thrown where the generator stands; watchAbort () gives what tells of it.
var toSteps = function toSteps(scheduler, make, progress, watchAbort) {
    toFunction(make);
    const tell = progress === undefined || progress === null ? () => {} : toFunction(progress);

    const steps = async () => {
        const watch = watchAbort(), generator = toGenerator(make());
        let last = {}, step = generator.next();
        while (!step.done) {
            const isAborted = watch.isNew(), waits = step.value instanceof Promise;
            if (!waits)
                last = step;
            if (!isAborted && !waits && !scheduler.should_yield()) {
                step = generator.next();
                continue;
            }
            try {
                if ('value' in last)
                    tell(last.value);
            } catch (error) {
                generator.return();
                throw error;
            }
            last = {};
            let thrown = null, sent;
            try {
                if (isAborted)
                    throw watch.take();
                sent = await (waits ? step.value : scheduler.yield());
            } catch (error) {
                thrown = {error};
            }
            step = thrown === null ? generator.next(sent) : generator.throw(thrown.error);
        }
        if ('value' in last)
            tell(last.value);
        return step.value;
    };
    steps.calls = make; // for names of what runs
    return steps;
};
