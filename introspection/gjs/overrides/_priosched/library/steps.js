// steps.js: generators as tasks, and the error of an abort

// Why this is a function: see “Names” in introspection/README.md.
var {AbortError, STEPPED, isStepped, toSteps, toUnstepped} = ((undefined, Object, Function, Promise, Symbol, Error, TypeError, imports) => {
const {Gio, GLib} = imports.gi;
const {named, toFunction} = imports.overrides._priosched.core.reasons;
const {Later} = imports.overrides._priosched.core.settling;
const {FOREVER} = imports.overrides._priosched.constants;

// The error of an abort without a reason.  `error instanceof PrioSched.AbortError` is true for GIO's error, too, and for errors
// of classes that a program derives from this one.
class AbortError extends Error {
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
}

// The prototype of generator functions, also of bound ones.
const STEPPED = [Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function* () {})];
const [GENERATOR] = STEPPED;

function isStepped(callback) {
    return STEPPED.includes(Object.getPrototypeOf(callback));
}

// Throws for a generator function, which does not run when it is called.  Python takes a posted generator function in steps; here
// the call would silently do nothing.
function toUnstepped(value, where) {
    if (!isStepped(toFunction(value)))
        return value;
    const callback = value.name === '' ? 'the callback' : named(value.name);
    if (Object.getPrototypeOf(value) === GENERATOR)
        throw new TypeError(`${where}: ${callback} is a generator function, and nothing of it would run: post_steps () makes its steps`);
    throw new TypeError(`${where}: ${callback} is an asynchronous generator function, and nothing of it would run: ` +
        'go through it with for await in an asynchronous function');
}

// Returns value if it is a generator; otherwise throws.  posted is the stack of the code that posted the function that returned
// value, or null.
function toGenerator(value, posted) {
    if (typeof value?.next === 'function' && typeof value.throw === 'function' && typeof value[Symbol.iterator] === 'function')
        return value;
    throw Object.assign(new TypeError(`${named(value)} is not a generator`), posted && {stack: posted});
}

// Calls fulfilled or rejected, which never throw, when promise has settled, even if the program has changed the methods
// of Promise.
function settled(promise, fulfilled, rejected) {
    new Promise(resolve => resolve(promise)).then(fulfilled, rejected);
}

// Runs the steps of a generator in a task, and in the task's continuations.  The library calls those without a promise: if a job of a
// promise runs a main loop, GJS runs no other job in it.
class Steps {
    #generator;
    #later = new Later();
    #last = {};     // the last step whose value has not been passed to progress ()
    #scheduler;
    #state;
    #tasks;
    #tell;
    #wait = null;   // identifies the promise that the steps wait for
    #watch;

    constructor(scheduler, generator, tell, tasks) {
        this.#scheduler = scheduler;
        this.#generator = generator;
        this.#tell = tell;
        this.#tasks = tasks;
        this.#state = tasks.currentState();
        this.#watch = tasks.watchAbort();
    }

    // Runs the first steps of the task.  Returns the generator's result, or a Later.
    begin() {
        const step = this.#make('next');
        return step.done ? step.value : this.#later;
    }

    #report() {
        const last = this.#last;
        this.#last = {};
        try {
            if ('value' in last)
                this.#tell(last.value);
        } catch (error) {
            this.#generator.return();
            throw error;
        }
    }

    // Runs steps as long as the slice lasts.  The first step calls `method` of the generator.  Returns the last step.
    #make(method, value) {
        let step = this.#generator[method](value);
        while (!step.done) {
            const waits = step.value instanceof Promise, isAborted = this.#watch.isNew();
            if (!waits)
                this.#last = step;
            if (!isAborted && !waits && !this.#scheduler.should_yield()) {
                step = this.#generator.next();
                continue;
            }
            this.#report();
            const refusal = isAborted ? {reason: this.#watch.take()} : waits ? this.#waitFor(step.value) : this.#goOn('next');
            if (refusal === null)
                return step;
            if (waits)
                settled(step.value, () => {}, () => {});
            return this.#throw(refusal);
        }
        this.#report();
        return step;
    }

    // Throws the reason of the abort into the generator, once.  The generator cleans up outside of the aborted task.
    #hear() {
        this.#watch.end();
        this.#state = this.#tasks.stateAfterAbort(this.#state);
    }

    #throw({reason}) {
        let end;
        this.#hear();
        this.#tasks.runIn(this.#state, () => {
            try {
                const step = this.#make('throw', reason);
                end = () => step;
            } catch (error) {
                end = () => {
                    throw error;
                };
            }
        });
        return end();
    }

    #resume(method, value) {
        try {
            const step = this.#make(method, value);
            if (step.done)
                this.#later.resolve(step.value);
        } catch (error) {
            this.#later.reject(error);
        }
    }

    #throwSoon({reason}) {
        this.#hear();
        this.#tasks.runSoon(this.#state, () => this.#resume('throw', reason));
    }

    // Posts a continuation.  Returns null or, if the task has been aborted, the reason.  A later abort makes the steps
    // continue.
    #post(resolve, delay = 0) {
        const wait = this.#wait = {posted: null};
        let refusal = null;
        const reject = reason => {
            refusal = {reason};
            if (wait.posted !== null && this.#wait === wait)
                this.#throwSoon(refusal);
            this.#wait = null;
        };
        wait.posted = this.#state.table.goOn(this.#state, resolve, reject, delay);
        return refusal;
    }

    #goOn(method, value) {
        return this.#post(() => this.#resume(method, value));
    }

    // Continues the steps when promise has settled.
    #waitFor(promise) {
        this.#wait = {posted: null};
        const refusal = this.#state.signal === null ? null : this.#post(() => {}, FOREVER), wait = this.#wait;
        const on = method => value => {
            if (this.#wait !== wait)
                return; // an abort has ended the wait
            if (wait.posted !== null)
                this.#state.table.takeBack(wait.posted);
            const refused = this.#goOn(method, value);
            if (refused !== null)
                this.#throwSoon(refused);
        };
        if (refusal === null)
            settled(promise, on('next'), on('throw'));
        return refusal;
    }
}

// Returns the callback of a task that runs steps of the generator that make () returns, as long as the slice lasts.  progress
// (value), if given, is called with the last value before the task yields.  If the generator yields a promise, the task waits for the
// promise, and passes its value to the generator.  An abort is thrown at the generator's current yield.
function toSteps(scheduler, make, progress, tasks) {
    toFunction(make);
    const tell = progress === undefined || progress === null ? () => {} : toFunction(progress);
    const posted = Object.getPrototypeOf(make) === GENERATOR ? null : new Error().stack;
    const steps = () => new Steps(scheduler, toGenerator(make(), posted), tell, tasks).begin();
    steps.calls = make; // the task is named after the function in this property
    return steps;
}

return {AbortError, STEPPED, isStepped, toSteps, toUnstepped};
})(undefined, Object, Function, Promise, Symbol, Error, TypeError, imports);
