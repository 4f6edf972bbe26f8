// steps.js: generators as tasks, and the error of an abort

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {AbortError, STEPPED, isAbort, isStepped, toStep, toSteps, toUnstepped} = ((undefined, Object, Function, Promise, Symbol, Error, TypeError, imports) => {
const {Gio, GLib} = imports.gi;
const {named, reasonOf, toFunction} = imports.overrides._priosched.core.reasons;
const {Later} = imports.overrides._priosched.core.settling;
const {FOREVER} = imports.overrides._priosched.constants;

// The error of an abort without a reason.  `error instanceof PrioSched.AbortError` is true for GIO's error CANCELLED, too, for
// errors with the name AbortError, and for errors of classes that a program derives from this class.
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

// Returns whether a task with signal, which may be null or undefined, has failed with error because of an abort.
function isAbort(error, signal) {
    return error instanceof AbortError || (signal?.is_cancelled() && reasonOf(signal) === error);
}

// The prototypes of asynchronous functions, of generator functions, and of asynchronous ones of these.  Functions that bind ()
// makes of them have these prototypes, too.
const ASYNC = Object.getPrototypeOf(async () => {});
const STEPPED = [Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function* () {})];
const [GENERATOR] = STEPPED;

function isStepped(callback) {
    return STEPPED.includes(Object.getPrototypeOf(callback));
}

// Returns value if it is a function, and throws for other values.  Also throws for a generator function, because a call of it
// would silently do nothing.  In Python, the same methods run a generator function in steps, so programs may expect this here.
function toUnstepped(value, where) {
    if (!isStepped(toFunction(value)))
        return value;
    const callback = value.name === '' ? 'the callback' : named(value.name);
    if (Object.getPrototypeOf(value) === GENERATOR)
        throw new TypeError(`${where}: ${callback} is a generator function, and nothing of it would run: post_steps () makes its steps`);
    throw new TypeError(`${where}: ${callback} is an asynchronous generator function, and nothing of it would run: ` +
        'go through it with for await in an asynchronous function');
}

// Returns value if it is a function to call again until it returns false; otherwise throws.
function toStep(value, where) {
    if (Object.getPrototypeOf(toUnstepped(value, where)) === ASYNC) {
        throw new TypeError(`${where}: ${value.name === '' ? 'the callback' : named(value.name)} is an asynchronous function, and ` +
            'would be called again and again, because it returns a promise, and not false: post_task () calls it once');
    }
    return value;
}

// Returns value if it is a generator; otherwise throws.  posted is null or the stack of the code that posted the function that
// has returned value: the error then has this stack.
function toGenerator(value, posted) {
    if (typeof value?.next === 'function' && typeof value.throw === 'function' && typeof value[Symbol.iterator] === 'function')
        return value;
    throw Object.assign(new TypeError(`${named(value)} is not a generator`), posted && {stack: posted});
}

// Calls fulfilled or rejected when promise has settled; also calls rejected if the program has given promise a `then` that
// throws.  Neither function throws.
function settled(promise, fulfilled, rejected) {
    new Promise(resolve => resolve(promise)).then(fulfilled, rejected);
}

// Runs the steps of a generator in a task, and in the task's continuations.  The library calls the continuations directly, and no
// promise does: if a step in a job of a promise ran a main loop, GJS would run no other job in that loop.
class Steps {
    #generator;
    #later = new Later();
    #last = {};     // the last step, if its value has not been passed to progress ()
    #scheduler;
    #state;
    #tasks;
    #tell;
    #wait = null;   // identifies the current wait, for a promise or a continuation
    #watch;

    constructor(scheduler, generator, tell, tasks) {
        this.#scheduler = scheduler;
        this.#generator = generator;
        this.#tell = tell;
        this.#tasks = tasks;
        this.#state = tasks.currentState();
        this.#watch = tasks.watchAbort();
    }

    // Runs the first steps of the task.  Returns the generator's result, or a Later if the generator has not ended.
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

    // Runs steps as long as the slice lasts, and then posts a continuation.  The first step calls `method` of the generator.  If
    // the task has been aborted, throws the reason into the generator, and continues.  Returns the last step.
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

    // Prepares to throw the reason of an abort into the generator: the watch ends, so that this happens once, and the state
    // changes, so that the generator cleans up outside of the aborted task.
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

    // Posts a continuation, which calls resolve () after delay milliseconds.  Returns null or, if the task has been aborted
    // already, an object with the reason.  If the task is aborted later, throws the reason into the generator in another task.
    #post(resolve, delay = 0) {
        const wait = this.#wait = {posted: null};
        let refusal = null;
        const reject = reason => {
            refusal = {reason};
            if (this.#wait !== wait)
                return; // another wait has begun
            this.#wait = null;
            if (wait.posted !== null)
                this.#throwSoon(refusal);
        };
        wait.posted = this.#state.table.goOn(this.#state, resolve, reject, delay);
        return refusal;
    }

    #goOn(method, value) {
        return this.#post(() => this.#resume(method, value));
    }

    // Waits for promise: when it has settled, the steps continue.  Returns null or, if the task has been aborted already, an
    // object with the reason.
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

// Returns the callback of a task that runs the steps of the generator that make () returns.  The task yields when the slice is
// over.  Before that, progress (value), if given, is called with the last value that the generator has yielded.  If the generator
// yields a promise, the task waits for the promise, and passes its value to the generator.  An abort is thrown at the generator's
// current yield.
function toSteps(scheduler, make, progress, tasks) {
    toFunction(make);
    const tell = progress === undefined || progress === null ? () => {} : toFunction(progress);
    const posted = Object.getPrototypeOf(make) === GENERATOR ? null : new Error().stack;
    const steps = () => new Steps(scheduler, toGenerator(make(), posted), tell, tasks).begin();
    steps.calls = make; // the task is named after the function in this property
    return steps;
}

return {AbortError, STEPPED, isAbort, isStepped, toStep, toSteps, toUnstepped};
})(undefined, Object, Function, Promise, Symbol, Error, TypeError, imports);
