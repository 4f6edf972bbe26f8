// PrioSched.js: adapts the library's classes to JavaScript
//
// GJS calls _init () with the namespace PrioSched as `this`.  In JavaScript, the scheduler's methods return promises, and
// PrioSched.web has the interfaces of the web.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {_init} = ((undefined, Object, Promise, Symbol, Array, Number, Math, Error, TypeError, RangeError, imports) => {
const {Gio, GLib, GObject} = imports.gi;

const {INHERIT, MAX_SHARED_SLICE, NICKS, UNSET, USER_VISIBLE} = imports.overrides._priosched.constants;
const {Each, newLatest, slicesOf} = imports.overrides._priosched.library.extras;
const {countAbort, named, reasonOf} = imports.overrides._priosched.core.reasons;
const {namesOfSteps, namesOfTasks, optionNames, toOptions} = imports.overrides._priosched.library.options;
const {AbortError, STEPPED, isStepped, toStep, toSteps, toUnstepped} = imports.overrides._priosched.library.steps;
const React = imports.overrides._priosched.library.react;
// The files below are loaded before this file changes the library.  So if one of them cannot be loaded, the library is
// unchanged, and the program can still use another copy that is complete.
const Channels = imports.overrides._priosched.library.channels;
const Groups = imports.overrides._priosched.library.groups;
const Numbers = imports.overrides._priosched.library.numbers;
const Runner = imports.overrides._priosched.core.runner;
const Tasks = imports.overrides._priosched.core.tasks;

const NAMES = `these are ${NICKS.map(named).join(', ')}`;

function toPriority(value) {
    if (value === undefined || value === null)
        return UNSET;
    if (Number.isInteger(value) && value > 0 && value <= NICKS.length)
        return value;
    const priority = typeof value === 'string' ? NICKS.indexOf(value) + 1 : UNSET;
    if (priority === UNSET)
        throw new TypeError(`${named(value)} is not a task priority: ${NAMES}`);
    return priority;
}

// Converts a priority like toPriority (), but throws for undefined and null, too.
function toGivenPriority(value) {
    const priority = toPriority(value);
    if (priority === UNSET)
        throw new TypeError(`${named(value)} is not a task priority: ${NAMES}`);
    return priority;
}

// Makes `priority` a property that throws when it is set.  GObject's own setter would complain about a number, even if the
// program has passed a string.
function definePriority(prototype, what, get) {
    Object.defineProperty(prototype, 'priority', {
        configurable: true,
        get,
        set() {
            throw new TypeError(`The priority of a ${what} that has been made is set by set_priority ()`);
        },
    });
}

function toDelay(value = 0) {
    return toGivenDelay(value);
}

function toGivenDelay(value) {
    if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER)
        throw new TypeError(`${named(value)} is not a delay in milliseconds`);
    return Math.trunc(value);
}

// Returns the end of the message for a value that is not a Gio.Cancellable: if the value is a controller, or a signal of the
// web, a hint which of its properties to pass instead; otherwise an empty string.
function hintFor({cancellable, signal}) {
    if (cancellable instanceof Gio.Cancellable)
        return ': give its cancellable';
    if (signal instanceof Gio.Cancellable)
        return ': give its signal';
    return signal?.cancellable instanceof Gio.Cancellable ? ': give the cancellable of its signal' : '';
}

function toSignal(value) {
    if (value === undefined || value === null)
        return null;
    if (!(value instanceof Gio.Cancellable))
        throw new TypeError(`${named(value)} is not a signal${hintFor(value)}`);
    return value;
}

function toName(value) {
    if (value === undefined || value === null)
        return null;
    if (typeof value !== 'string')
        throw new TypeError(`${named(value)} is not a name`);
    return value;
}

function toSignals(value) {
    if (typeof value?.[Symbol.iterator] !== 'function')
        throw new TypeError(`${named(value)} is not a sequence of signals`);
    return Array.from(value, signal => {
        if (signal === undefined || signal === null)
            throw new TypeError(`${named(signal)} is not a signal`);
        return toSignal(signal);
    });
}

function toFlag(value, name) {
    if (value !== undefined && typeof value !== 'boolean')
        throw new TypeError(`${name} is true or false, not ${named(value)}`);
    return value === true;
}

// Converts a number from 0 to max to an integer, and throws for any other value, which GJS would convert without an error.
function toInteger(value, max, what) {
    if (typeof value !== 'number' || !(value >= 0) || value > max)
        throw new TypeError(`${named(value)} is not a valid ${what}`);
    return Math.trunc(value);
}

const toTimeSlice = value => {
    if (typeof value !== 'number' || !(value === -1 || (value >= 0 && value <= 0xffffffff)))
        throw new TypeError(`${value} is not a time slice in milliseconds, nor -1`);
    return value;
};
const toFrameTime = value => toInteger(value, Number.MAX_SAFE_INTEGER, 'time of a frame in microseconds');

function toFrameClock(value) {
    const type = value instanceof GObject.Object ? GObject.type_from_name(GObject.type_name_from_instance(value)) : null;
    if (type === null || GObject.signal_lookup('before-paint', type) === 0)
        throw new TypeError(`${named(value)} is not a frame clock`);
    return value;
}

// Defines a property of prototype with the given name and, if that has underscores, also in camelCase.
function defineProperty(prototype, name, get, set = undefined) {
    for (const alias of [name, name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())])
        Object.defineProperty(prototype, alias, {configurable: true, get, set});
}

// Makes set_NAME () check each value with convert (), and the property NAME call get_NAME () and set_NAME ().
function checkProperty(prototype, name, convert) {
    const setter = `set_${name}`, set = prototype[setter], getter = `get_${name}`;
    prototype[setter] = function (value) {
        set.call(this, convert(value));
    };
    // GObject's name of the property has hyphens, and GJS uses that name, too.
    for (const alias of [name, name.replaceAll('_', '-')]) {
        defineProperty(prototype, alias, function () {
            return this[getter]();
        }, function (value) {
            this[setter](value);
        });
    }
}

// Returns the classes that _init () changes.  GJS loads the library at the first look-up of a class.  If that fails, this
// throws an error that says so.
function classesOf(PrioSched) {
    try {
        const {Scheduler, TaskController, TaskSignal} = PrioSched;
        return {Scheduler, TaskController, TaskSignal};
    } catch (error) {
        throw new Error(`The typelib of PrioSched is here, and its library cannot be loaded: ${error.message}`);
    }
}

// Makes post () and the methods for slices and frames check their arguments.
function checkScheduler(Scheduler) {
    const {post} = Scheduler.prototype;

    // Checks the priority, because GJS would accept any value for an enumerator, and convert it to a number.
    Scheduler.prototype.post = function (priority, callback) {
        return post.call(this, toGivenPriority(priority), toStep(callback, 'post ()'));
    };

    // Suggests post_task () to a program that calls the web's method here.
    Scheduler.prototype.postTask = () => {
        throw new TypeError('postTask() is a function of PrioSched.web.scheduler: call post_task () here');
    };

    const {set_time_slice: setTimeSlice} = Scheduler.prototype;
    Scheduler.prototype.set_time_slice = function (value) {
        if (value > MAX_SHARED_SLICE && this === Scheduler.get_default())
            throw new RangeError(`${value} is too long a slice for the default scheduler, which all share: at most ${MAX_SHARED_SLICE} milliseconds`);
        setTimeSlice.call(this, value);
    };
    checkProperty(Scheduler.prototype, 'time_slice', toTimeSlice);
    checkProperty(Scheduler.prototype, 'next_frame', toFrameTime);
    for (const name of ['follow_frame_clock', 'unfollow_frame_clock']) {
        const method = Scheduler.prototype[name];
        Scheduler.prototype[name] = function (clock) {
            method.call(this, toFrameClock(clock));
        };
    }
}

// Adds the methods that post a task and return a promise.  byDefault is the default scheduler, and table its Table; both are
// null until the first scheduler has a Table.  A post to byDefault without options takes a shorter path.  Each method creates
// its promise itself, so that the stack is short there: see keepResolvers () in core/settling.js.
function addPosts(Scheduler, tasks) {
    const {keepResolvers, tableOf} = tasks;
    let byDefault = null, table = null;

    Scheduler.prototype.post_task = function (callback, options) {
        if (options !== undefined || this !== byDefault || typeof callback !== 'function' || isStepped(callback))
            return postWith(this, toUnstepped(callback, 'post_task ()'), toOptions(options, namesOfTasks, 'post_task ()'));
        const promise = new Promise(keepResolvers);
        table.post(callback, USER_VISIBLE, promise);
        return promise;
    };

    function postWith(self, callback, {priority, signal, delay, name, timeout, takesTurns}) {
        const givenPriority = toPriority(priority);
        const givenSignal = toSignal(signal);
        const milliseconds = toDelay(delay);
        const givenName = toName(name), special = React.toSpecial(milliseconds, timeout, toFlag(takesTurns, 'takesTurns'));
        const itsTable = tableOf(self), promise = new Promise(keepResolvers);
        itsTable.postWith(callback, givenPriority, givenSignal, milliseconds, special, promise, givenName);
        return promise;
    }

    tasks.whenStarted((...started) => {
        [byDefault, table] = started;
        tasks.hasten('fastPost', Scheduler.prototype, 'post_task', byDefault, signal => tasks.kept.handleOf(signal), ...STEPPED);
    });

    // Posts a task that runs, in steps, the generator that make () returns.  In addition to the options of post_task (),
    // there is the option progress, a function: see toSteps ().
    Scheduler.prototype.post_steps = function (make, options) {
        const given = toOptions(options, namesOfSteps, 'post_steps ()');
        return postWith(this, toSteps(this, make, given.progress, tasks), given);
    };
}

// Adds the methods that continue the calling task later: yield (), sleep (), adopt (), each () and slices ().
function addYields(Scheduler, tasks) {
    const {keepResolvers, tableOf} = tasks;
    const names = optionNames('signal', 'priority', 'name', 'takesTurns'), namesOfSleep = optionNames('signal', 'priority');
    let byDefault = null, table = null;

    // Returns a promise that is fulfilled in a continuation of the calling task, or rejected if the continuation's signal is
    // aborted.  The options are signal and priority, each of which may be 'inherit', and takesTurns.  The option name has no
    // effect.
    Scheduler.prototype.yield = function (options) {
        if (options !== undefined || this !== byDefault)
            return yieldWith(this, options);
        const promise = new Promise(keepResolvers);
        table.yield();
        return promise;
    };

    function yieldWith(self, options) {
        const {signal = null, priority = null, name, takesTurns} = toOptions(options, names, 'yield ()');
        const turns = toFlag(takesTurns, 'takesTurns');
        toName(name); // a continuation has no separate name
        const givenSignal = signal === INHERIT ? INHERIT : toSignal(signal);
        const givenPriority = priority === INHERIT ? INHERIT : toPriority(priority);
        const itsTable = tableOf(self), promise = new Promise(keepResolvers);
        if (signal !== null || priority !== null)
            itsTable.yieldWith(promise, givenSignal, givenPriority, {takesTurns: turns});
        else if (turns)
            itsTable.yieldWith(promise, INHERIT, INHERIT, {takesTurns: true});
        else
            itsTable.yield();
        return promise;
    }

    // Returns a promise that is fulfilled after the delay, in a continuation of the calling task, or rejected if the
    // continuation's signal is aborted.  The continuation has the given signal and priority.  Without the option signal, it
    // has the task's signal; with neither option, it also has the task's priority.
    Scheduler.prototype.sleep = function (delay, options) {
        const {signal = null, priority = null} = toOptions(options, namesOfSleep, 'sleep ()');
        const milliseconds = toGivenDelay(delay);
        const givenSignal = signal === null || signal === INHERIT ? INHERIT : toSignal(signal);
        const givenPriority = priority === INHERIT ? INHERIT : toPriority(priority);
        const itsTable = tableOf(this), promise = new Promise(keepResolvers);
        itsTable.yieldWith(promise, givenSignal, givenPriority, {delay: milliseconds});
        return promise;
    };

    tasks.whenStarted((...started) => {
        [byDefault, table] = started;
        tasks.hasten('fastYield', Scheduler.prototype, 'yield', byDefault);
    });

    // Returns a promise that settles as `promise` does, in a continuation of the calling task.  If that task is aborted
    // first, the returned promise is rejected.
    Scheduler.prototype.adopt = function (promise) {
        const itsTable = tableOf(this), adopted = new Promise(keepResolvers);
        itsTable.adopt(promise, adopted);
        return adopted;
    };

    // Returns an asynchronous iterator: for await (const item of scheduler.each(items)).  Before an item, the iterator
    // awaits yield () if should_yield () returns true.
    Scheduler.prototype.each = function (items) {
        return new Each(this, items, tasks.watchAbort);
    };

    // Returns an asynchronous iterator over slices, which awaits yield () between two slices if should_yield () returns
    // true.  A slice is an iterator over some of the items: for (const item of slice).
    Scheduler.prototype.slices = function (items) {
        return slicesOf(this, items, tasks.watchAbort);
    };
}

// Adds the methods whose callbacks are not tasks: microtasks and idle callbacks.
function addCallbacks(Scheduler, {cancelIdle: forgetIdle, queueMicrotask, tableOf}) {
    const {cancel_idle_callback: cancelIdle} = Scheduler.prototype;

    Scheduler.prototype.queue_microtask = function (callback) {
        queueMicrotask(toUnstepped(callback, 'queue_microtask ()'));
    };

    Scheduler.prototype.request_idle_callback = function (callback, timeout = 0) {
        toUnstepped(callback, 'request_idle_callback ()');
        const milliseconds = toDelay(timeout);
        if (milliseconds > 0xffffffff)
            throw new TypeError(`${timeout} is out of range`);
        return tableOf(this).requestIdle(this, callback, milliseconds);
    };

    Scheduler.prototype.cancel_idle_callback = function (id) {
        cancelIdle.call(this, id);
        forgetIdle(id);
    };
}

function addLatest({Scheduler, TaskController, TaskSignal}) {
    // Returns a function that posts a task, which calls job with the function's arguments.  Each call of the function aborts
    // the task of the previous call.
    Scheduler.prototype.latest = function (job, options = undefined) {
        const {priority, signal} = toOptions(options, optionNames('priority', 'signal'), 'latest ()');
        const givenPriority = toPriority(priority) || USER_VISIBLE, givenSignal = toSignal(signal);
        return newLatest(job, () => {
            const controller = new TaskController({priority: givenPriority});
            const own = givenSignal === null ? controller.signal : TaskSignal.any_following([controller.signal, givenSignal], controller.signal);
            return {controller, post: callback => this.post_task(callback, {signal: own})};
        });
    };
}

function refuseThreads({Scheduler, Worker}) {
    // Makes these methods throw, because GJS would end the program if a second thread called a JavaScript function.
    for (const [type, name] of [[Scheduler, 'run_in_thread'], [Scheduler, 'run_in_thread_full'], [Worker, 'run']]) {
        type.prototype[name] = function () {
            throw new Error(`${name}(): JavaScript has one thread, and its functions run in no other: post a task that ` +
                'yields, call an asynchronous function of GIO’s, or begin a Gio.Subprocess');
        };
    }
    Worker.new = Worker.prototype._init = function () {
        throw new Error('new Worker (): JavaScript has one thread, and its functions run in no other: post a task that yields');
    };
}

function adaptControllers(TaskController, tasks) {
    const {new: newNative} = TaskController, {set_priority: setPriority} = TaskController.prototype;

    TaskController.new = priority => newNative.call(TaskController, toGivenPriority(priority));
    // Creates a controller from a priority, or from an object with properties.
    TaskController.prototype._init = function (values = {}, ...others) {
        const properties = values !== null && typeof values === 'object' ? values : {priority: values};
        const given = properties.priority === undefined ? properties
            : {...properties, priority: toGivenPriority(properties.priority)};
        GObject.Object.prototype._init.call(this, given, ...others);
    };
    TaskController.prototype.set_priority = function (priority) {
        return setPriority.call(this, toGivenPriority(priority));
    };
    definePriority(TaskController.prototype, 'controller', function () {
        return this.signal.priority;
    });

    // Aborts the controller's signal, and the signals that depend on it.  The reason may have any type; by default, it is
    // GIO's error CANCELLED.  The promises of the aborted tasks are rejected before this method returns or, if there are many,
    // in later tasks.
    TaskController.prototype.abort = function (reason = undefined) {
        tasks.abort(this, reason);
        tasks.beginAbort(tasks.reasonOf(this.signal));
        tasks.takeRejected();
    };
}

// Removes Task.then (), and makes new_any () and new_any_following () of TaskSignal check their arguments.
function addNames({Scheduler, Task, TaskSignal}) {
    Task.prototype.then = undefined; // a promise that is resolved with a task would call this method, and never settle
    [TaskSignal.new_any, TaskSignal.new_any_following] = [TaskSignal.any, TaskSignal.any_following]; // their names in the library
}

// Adds the property current_signal: null outside any task, and otherwise the signal of the running task, of any scheduler.  If
// the task has no signal, or a priority that is not its signal's, the property is a new signal with the task's priority.  An
// abort of the task's signal, if there is one, also aborts this new signal.
function addCurrentSignal({Scheduler, TaskSignal}, {currentState}) {
    defineProperty(Scheduler.prototype, 'current_signal', () => {
        const state = currentState(), {signal, priority} = state ?? {};
        if (state === null || priority === UNSET)
            return state && signal;
        return TaskSignal.any(signal === null ? [] : [signal], priority);
    });
}

function adaptSignals(TaskSignal) {
    const {new_any: newAny, new_any_following: newAnyFollowing, new_timeout: newTimeout} = TaskSignal;

    // Looks up the reason if signal is aborted already, because the source signal that has the reason may be freed later.
    // Returns signal.
    const takeReason = signal => {
        if (signal.is_cancelled())
            reasonOf(signal);
        return signal;
    };
    TaskSignal.any = (signals, priority) => takeReason(newAny.call(TaskSignal, toSignals(signals), toGivenPriority(priority)));
    TaskSignal.any_following = (signals, source) => {
        const given = toSignals(signals);
        if (!(source instanceof TaskSignal))
            throw new TypeError(`${named(source)} is not the signal of a task, so its priority cannot be followed`);
        return takeReason(newAnyFollowing.call(TaskSignal, given, source));
    };
    TaskSignal.new_timeout = delay => newTimeout.call(TaskSignal, toGivenDelay(delay));

    // Calls GObject's connect (name, callback) or, if the first argument is not a name, Gio.Cancellable's connect ().  After
    // the former, pin () keeps the signal alive as long as a source signal can reach it.  Otherwise GJS would disconnect the
    // handler as soon as the collector frees the signal's JavaScript object.
    for (const name of ['connect', 'connect_after']) {
        const connect = TaskSignal.prototype[name];
        TaskSignal.prototype[name] = function (...args) {
            if (typeof args[0] !== 'string')
                return connect.apply(this, args);
            const id = GObject.Object.prototype[name].apply(this, args);
            this.pin();
            return id;
        };
    }

    // Replaces Gio.Cancellable's disconnect (), which waits for the end of an abort, and so would never return in a handler
    // of the abort.
    TaskSignal.prototype.disconnect = GObject.Object.prototype.disconnect;

    TaskSignal.prototype.cancel = function () {
        Gio.Cancellable.prototype.cancel.call(this);
        countAbort();
    };
}

// Defines a property of PrioSched.  At its first use, make () loads the property's file, and returns its value.
function defineLater(PrioSched, name, make) {
    let made = null;
    Object.defineProperty(PrioSched, name, {configurable: true, enumerable: true, get: () => (made ??= make())});
}

function _init() {
    const PrioSched = this;
    const {Scheduler, TaskController, TaskSignal} = classesOf(PrioSched);
    Runner.loadBinding();
    const tasks = Tasks.make(PrioSched);
    const convert = {definePriority, toDelay, toFlag, toGivenPriority, toName, toPriority, toSignal};

    checkScheduler(Scheduler);
    Numbers.make(PrioSched, {checkProperty});
    adaptControllers(TaskController, tasks);
    adaptSignals(TaskSignal);
    addNames(PrioSched);
    addPosts(Scheduler, tasks);
    addYields(Scheduler, tasks);
    addCallbacks(Scheduler, tasks);
    addCurrentSignal(PrioSched, tasks);
    addLatest(PrioSched);
    refuseThreads(PrioSched);
    React.make(PrioSched, tasks, convert);
    PrioSched.AbortError = AbortError;
    Groups.make(PrioSched, tasks, convert);
    PrioSched.Channel = Channels.make(PrioSched, convert);

    // 'none' if there is no native part (native.js), 'speed' if it makes tasks faster, or 'state' if, in addition, each
    // reaction of a promise has the state of the code that registered the reaction.
    PrioSched.nativePart = tasks.nativePart ?? 'none';
    // These functions assign the files to constants, as the beginning of this file does, because PrioSchedCopy.js finds the
    // files of a copy by such assignments.
    defineLater(PrioSched, 'testing', () => {
        const Testing = imports.overrides._priosched.library.testing;
        return Testing.make(PrioSched);
    });
    defineLater(PrioSched, 'web', () => {
        const Web = imports.overrides._priosched.web.web;
        return Web.make(PrioSched, tasks);
    });
}

return {_init};
})(undefined, Object, Promise, Symbol, Array, Number, Math, Error, TypeError, RangeError, imports);
