// channels.js: channels, which pass values to a function on the main loop, in a queue of limited length
//
// JavaScript has one thread, so handlers and tasks of the main loop give the values.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Object, Promise, Number, Math, Error, TypeError, imports) => {
const {GLib} = imports.gi;
const {named, report} = imports.overrides._priosched.core.reasons;
const {isThenable} = imports.overrides._priosched.core.settling;
const {optionNames, toOptions} = imports.overrides._priosched.library.options;
const {isAbort, toUnstepped} = imports.overrides._priosched.library.steps;

const OPTIONS = optionNames('capacity', 'pace', 'scheduler', 'priority', 'signal', 'name');
const MAX_CAPACITY = 0xffffffff;
const FRAME = 17; // milliseconds between two frames at 60 Hz, rounded up

function toCapacity(value) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_CAPACITY)
        throw new TypeError(`${named(value)} is not a capacity, which is a whole number of values from 1`);
    return value;
}

function make({Channel: Native, ChannelPace, Error, Scheduler, error_quark: errorQuark, testing_get_time: getTime}, {toName, toPriority, toSignal}) {
    const PACES = {each: ChannelPace.EACH, turn: ChannelPace.TURN, frame: ChannelPace.FRAME};

    function toPace(value) {
        const pace = typeof value === 'string' && Object.hasOwn(PACES, value) ? PACES[value] : value;
        if (!Object.values(PACES).includes(pace))
            throw new TypeError(`${named(value)} is not a pace: these are 'each', 'turn', 'frame'`);
        return pace;
    }

    const closedError = () => new GLib.Error(errorQuark(), Error.CLOSED, 'The channel is closed');

    class Channel {
        #callback;
        #capacity;
        #isClosed = false;
        #isPosted = false;
        #nHeld = 0;
        #options;
        #outside = []; // values that are given while the channel is full
        #pace;
        #scheduler;
        #values = [];

        constructor(callback, options = undefined) {
            const {capacity = 1, pace = 'each', scheduler = Scheduler.get_default(), priority, signal, name} =
                toOptions(options, OPTIONS, 'new Channel ()');
            toUnstepped(callback, 'new Channel ()');
            if (!(scheduler instanceof Scheduler))
                throw new TypeError(`${named(scheduler)} is not a scheduler`);
            toPriority(priority);
            this.#callback = callback;
            this.#capacity = toCapacity(capacity);
            this.#pace = toPace(pace);
            this.#scheduler = scheduler;
            this.#options = {priority, signal: toSignal(signal), name: toName(name) ?? (callback.name || undefined)};
        }

        get length() {
            return this.#values.length + this.#nHeld;
        }

        get closed() {
            return this.#isClosed || this.#isAborted;
        }

        get #isAborted() { return this.#options.signal?.is_cancelled() ?? false; }

        // Gives a value.  If the channel is full, the value replaces the oldest waiting value, if there is one.  Returns false if
        // the channel is closed.
        replace(value) {
            if (this.closed)
                return false;
            if (this.#values.length > 0 && this.length >= this.#capacity)
                this.#values.shift();
            this.#append(value);
            return true;
        }

        // Gives a value if the channel is neither full nor closed, and no other value waits to be given.  Returns whether the
        // value was given.
        offer(value) {
            if (this.closed || this.#outside.length > 0 || this.length >= this.#capacity)
                return false;
            this.#append(value);
            return true;
        }

        // Gives a value as soon as the channel is not full.  The promise is then fulfilled, or rejected if the channel is closed
        // first.
        give(value) {
            return new Promise((resolve, reject) => {
                this.#outside.push({value, resolve, reject});
                this.#letIn();
            });
        }

        close() {
            this.#isClosed = true;
            this.#letIn();
        }

        #append(value) {
            this.#values.push(value);
            if (!this.#isPosted)
                this.#post(0);
        }

        #letIn() {
            while (this.#outside.length > 0 && (this.closed || this.length < this.#capacity)) {
                const {value, resolve, reject} = this.#outside.shift();
                if (this.closed) {
                    reject(closedError());
                } else {
                    this.#append(value);
                    resolve();
                }
            }
        }

        #post(delay) {
            this.#isPosted = true;
            const take = Object.assign(() => this.#take(), {calls: this.#callback});
            this.#scheduler.post_task(take, {...this.#options, delay}).catch(() => {
                this.#isClosed = true;
                this.#isPosted = false;
                this.#values = [];
                this.#letIn();
            });
        }

        #leave() {
            this.#nHeld--;
            this.#letIn();
        }

        // Ends a call of the callback that has failed, or whose promise is rejected.  Reports the error, unless it is an abort.
        #fail(error) {
            this.#leave();
            if (!isAbort(error, this.#options.signal))
                report(error);
        }

        // Returns the milliseconds to wait before the next value.
        #delay() {
            if (this.#pace === ChannelPace.EACH)
                return 0;
            if (this.#pace === ChannelPace.TURN)
                return 1;
            const left = this.#scheduler.get_next_frame() - getTime();
            return left > 0 ? Math.floor(left / 1000) + 1 : FRAME;
        }

        // Calls the callback with waiting values.  When it is time to yield, after one value if the pace is 'turn' or 'frame',
        // and if the callback throws, posts another task.
        #take() {
            while (this.#values.length > 0 && !this.#isAborted) {
                let result;
                this.#nHeld++;
                try {
                    result = (0, this.#callback)(this.#values.shift());
                } catch (error) {
                    this.#post(this.#delay());
                    this.#fail(error);
                    return;
                }
                if (isThenable(result))
                    result.then(() => this.#leave(), error => this.#fail(error));
                else
                    this.#leave();
                const delay = this.#delay();
                if (delay > 0 || this.#scheduler.should_yield()) {
                    this.#post(delay);
                    return;
                }
            }
            this.#isPosted = false;
        }
    }
    Channel.$gtype = Native.$gtype;
    return Channel;
}

return {make};
})(undefined, Object, Promise, Number, Math, Error, TypeError, imports);
