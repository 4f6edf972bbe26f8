// extras.js: functions that neither the web nor the library has
//
// They implement each (), slices () and latest (), methods of PrioSched.Scheduler and of PrioSched.web.extras.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Each, newLatest, slicesOf, toMilliseconds} = ((undefined, Object, Promise, Symbol, TypeError, imports) => {
const {Gio} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;
const {isThenable} = imports.overrides._priosched.core.settling;
const {AbortError, toUnstepped} = imports.overrides._priosched.library.steps;

function toIterator(items) {
    const make = items?.[Symbol.asyncIterator] ?? items?.[Symbol.iterator];
    if (typeof make !== 'function')
        throw new TypeError(`${named(items)} is nothing to iterate over`);
    const iterator = make.call(items);
    return {iterator, isAsync: make === items[Symbol.asyncIterator]};
}

function toMilliseconds(value) {
    if (typeof value !== 'number' || !(value === -1 || (value >= 0 && value <= 0xffffffff / 1000)))
        throw new TypeError(`${named(value)} is not a time slice in milliseconds, nor -1`);
    return value;
}

// Iterates over the items, and yields before an item if should_yield () returns true.
class Each {
    #isAsync;
    #isOver = false; // whether the iteration was ended early
    #iterator;
    #scheduler;
    #watch = null;
    #watchAbort;

    // watchAbort () returns an AbortWatch for the calling task.
    constructor(scheduler, items, watchAbort) {
        this.#scheduler = scheduler;
        this.#watchAbort = watchAbort;
        ({iterator: this.#iterator, isAsync: this.#isAsync} = toIterator(items));
    }

    [Symbol.asyncIterator]() {
        return this;
    }

    next() {
        try {
            if (this.#isOver)
                return Promise.resolve({done: true, value: undefined});
            this.#watch ??= this.#watchAbort();
            if (this.#watch.isNew())
                return this.#stop(this.#watch.take());
            if (this.#scheduler.should_yield())
                return this.#scheduler.yield().then(() => this.#step(), error => this.#stop(error));
            return Promise.resolve(this.#step());
        } catch (error) {
            return Promise.reject(error);
        }
    }

    // Returns the next result of the iterator.  As in any for await, the values of a synchronous iterator are awaited.
    #step() {
        const result = this.#iterator.next();
        if (this.#isAsync || !isThenable(result.value))
            return result;
        const {done, value} = result;
        return Promise.resolve(value).then(item => ({done, value: item}), error => done ? Promise.reject(error) : this.#stop(error));
    }

    // Ends the iteration, because the task has been aborted, or the item's promise is rejected.
    async #stop(error) {
        await this.#end();
        throw error;
    }

    async return(value) {
        await this.#end();
        return {value, done: true};
    }

    async #end() {
        this.#isOver = true;
        await this.#iterator.return?.();
    }
}

// Returns a slice, which is an iterator that ends when the iterating code should yield, and that can be iterated again after
// begin ().  The slice's variables are in a closure: in an asynchronous generator, each item would take longer by half of a call
// of should_yield ().
function newSlice(iterator, scheduler, watch) {
    let isBegun = false;
    const slice = {
        isOver: false,
        isAborted: false, // kept here, because the watch reports an abort only once
        begin() {
            isBegun = false;
        },
        [Symbol.iterator]: () => slice,
        next() {
            if (watch !== null && watch.isNew())
                slice.isAborted = true;
            if (slice.isOver || slice.isAborted || (isBegun && scheduler.should_yield()))
                return {done: true, value: undefined};
            isBegun = slice.isOver = true; // if the iterator throws, it is over
            const result = iterator.next();
            slice.isOver = !!result.done;
            return result;
        },
    };
    return slice;
}

// Returns an asynchronous iterator over slices of the items, which yields between two slices.  An item costs a call of
// should_yield (), and no promise.
function slicesOf(scheduler, items, watchAbort) {
    if (typeof items?.[Symbol.iterator] !== 'function')
        throw new TypeError(`${named(items)} is nothing to iterate over: slices () takes an iterable, and each () an asynchronous one, too`);
    return (async function* () {
        const watch = watchAbort(), iterator = items[Symbol.iterator]();
        const slice = newSlice(iterator, scheduler, watch.hasSignal ? watch : null);
        try {
            while (!slice.isOver) {
                if (slice.isAborted || watch.isNew())
                    throw watch.take();
                if (scheduler.should_yield())
                    await scheduler.yield();
                slice.begin();
                yield slice;
            }
        } finally {
            if (!slice.isOver)
                iterator.return?.();
        }
    })();
}

// Returns a function that runs job as a task under a new signal, which the next call aborts.  If a run is aborted this way, its
// promise is fulfilled with undefined.  newRun () returns a controller, and post (callback), which posts with the controller's
// signal.  newReason (message) returns the reason for the abort.
function newLatest(job, newRun,
    newReason = message => new Gio.IOErrorEnum({code: Gio.IOErrorEnum.CANCELLED, message})) {
    toUnstepped(job, 'latest ()');
    let last = null;
    const latest = async function (...args) {
        latest.abort();
        const {controller, post} = newRun();
        const run = last = {controller, isAborted: false};
        try {
            return await post(Object.assign(() => job.apply(this, args), {calls: job})); // the task is named after job
        } catch (error) {
            if (!run.isAborted || (error !== run.reason && !(error instanceof AbortError)))
                throw error;
            return undefined;
        } finally {
            if (last === run)
                last = null;
        }
    };
    // Aborts the current run, if any.
    latest.abort = () => {
        if (last === null)
            return;
        last.isAborted = true;
        last.reason = newReason('A later run has come');
        const {controller, reason} = last;
        last = null;
        controller.abort(reason);
    };
    return latest;
}

return {Each, newLatest, slicesOf, toMilliseconds};
})(undefined, Object, Promise, Symbol, TypeError, imports);
