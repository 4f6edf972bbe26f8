// groups.js: groups of tasks; a group runs a limited number of its tasks at a time
//
// The library's group keeps the limit, the order of the waiting tasks, and the waits.  A task of a group has a number in the
// table of the group's scheduler, and the library's group posts that number when the limit allows.  A wait is a task that the
// library's group posts when the wait is over.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Infinity, Object, Promise, Symbol, Map, Number, Error, TypeError, imports) => {
const {GLib, GObject} = imports.gi;
const {USER_VISIBLE, USER_BLOCKING, OUTSIDE, INSIDE} = imports.overrides._priosched.constants;
const {addFeed} = imports.overrides._priosched.library.feeds;
const {namesOfSteps, namesOfTasks, optionNames, toOptions} = imports.overrides._priosched.library.options;
const {expiryAfter, toTimeout} = imports.overrides._priosched.library.react;
const {describe, isInstance, named, reasonOfError, wrapReason} = imports.overrides._priosched.core.reasons;
const {State} = imports.overrides._priosched.core.states;
const {keepResolvers} = imports.overrides._priosched.core.settling;
const {SCOPE, addRun} = imports.overrides._priosched.library.scopes;
const {toSteps, toUnstepped} = imports.overrides._priosched.library.steps;

const HANDLE_DOMAIN = GLib.quark_from_string('prio-sched-task-handle');
const MAX_LIMIT = 0xffffffff;

// The property of a group for the waits, while there are any: their number, the number of waits that may throw a task’s error,
// and the outcomes of the group's tasks, by the tasks' handles.
const WAITING = Symbol('waiting');

function toLimit(value) {
    if (value === Infinity)
        return MAX_LIMIT;
    if (!Number.isInteger(value) || value < 1 || value > MAX_LIMIT)
        throw new TypeError(`${named(value)} is not a limit, which is a whole number of tasks from 1, or Infinity`);
    return value;
}

// The property of a group for its queued and running tasks, by their handles.
const MEMBERS = Symbol('members');

// Reports the outcome of a task to the library's group, so that another task can run.  Does nothing if the outcome has been
// reported already, by an abort.
function returnTo(group, handle, outcome) {
    if (!group[MEMBERS].delete(handle))
        return; // the task has been aborted meanwhile
    group[WAITING]?.ended.set(handle, outcome);
    group.return_id(handle, outcome.isRejected ? describe(outcome.value) : null);
}

// Makes entry call returnTo () when it is settled.
function follow(entry, group, handle) {
    const {resolve, reject} = entry;
    entry.resolve = value => {
        returnTo(group, handle, {isRejected: false, value});
        resolve(value);
    };
    entry.reject = error => {
        if (group[WAITING]?.nThrowing > 0)
            entry.promise.then(undefined, () => {}); // so that the rejection is not reported, too
        returnTo(group, handle, {isRejected: true, value: error});
        group[SCOPE]?.taskFailed(error, entry);
        reject(error);
    };
}

// The watcher of a task in a group: see postWith () in core/table.js.  The table calls post (), and so does not post the task in
// its scheduler itself.
class Member {
    #group;
    #own;
    #delay;
    #timeout;
    #takesTurns;
    #reject = null;
    #hasReturned = false;

    constructor(group, own, delay, timeout, takesTurns) {
        this.#group = group;
        this.#own = own;
        this.#delay = delay;
        this.#timeout = timeout;
        this.#takesTurns = takesTurns;
    }

    post(runner, id, entry) {
        const {table, priority} = entry.state;
        const name = entry.name ?? (entry.callback.name || null);
        const [handle, combined, posted] = this.#group.post_id(runner, id, priority, this.#own, this.#delay, this.#timeout,
            this.#takesTurns, name);
        if (combined !== null) {
            entry.state = new State(table, combined, priority, expiryAfter(this.#delay, this.#timeout), this.#takesTurns);
            Object.assign(entry.state, {group: this.#group, handle, name});
        }
        if (handle !== 0) {
            this.#group[MEMBERS] ??= new Map();
            this.#group[MEMBERS].set(handle, this);
            follow(entry, this.#group, handle);
        }
        return posted;
    }

    posted(reject) {
        this.#reject = reject;
    }

    // Records that the callback has returned, or will not be called.
    settled() {
        this.#hasReturned = true;
    }

    // Whether the task only waits for the promise that its callback has returned.
    get isPromised() {
        return this.#hasReturned;
    }

    // Ends the task and rejects its promise, because the group is aborted.  The group does not wait for the promise that the
    // callback has returned, because that promise may never settle.
    abort(handle, reason) {
        returnTo(this.#group, handle, {isRejected: true, value: reason});
        this.#reject(reason);
    }
}

class Wait {
    #cancellable;
    #current;
    #group;
    #id;
    #nThrowing; // 1 if the wait may throw the error of a task, otherwise 0
    #until;

    constructor(group, until, nThrowing, cancellable, current) {
        this.#group = group;
        this.#until = until;
        this.#nThrowing = nThrowing;
        this.#cancellable = cancellable;
        this.#current = current;
    }

    post(runner, id) {
        const {group = null, handle = 0} = this.#current ?? {};
        this.#id = id;
        this.#group[WAITING] ??= {n: 0, nThrowing: 0, ended: new Map()};
        this.#group[WAITING].n++;
        this.#group[WAITING].nThrowing += this.#nThrowing;
        this.#group.wait_id(group, handle, this.#until, this.#cancellable, runner, id);
        return this.#current === null ? OUTSIDE : INSIDE;
    }

    posted() {}

    settled() {}

    // Ends the wait, as the callback of the task that the library has posted.  If the wait has failed, throws the reason.  If
    // returns is true, returns the result of a task, or throws its error.
    end(tasks, returns) {
        const {ended} = this.#group[WAITING];
        this.#group[WAITING].nThrowing -= this.#nThrowing;
        if (--this.#group[WAITING].n === 0)
            this.#group[WAITING] = undefined;
        let task, handle;
        try {
            [, task, handle] = this.#group.finish_id(this.#id);
        } catch (error) {
            if (this.#cancellable?.is_cancelled())
                throw tasks.reasonOf(this.#cancellable);
            throw this.#toReason(error, ended);
        }
        if (!returns)
            return undefined;
        const outcome = ended.get(handle);
        if (outcome?.isRejected)
            throw outcome.value;
        if (outcome === undefined && task.get_error() !== null)
            throw this.#toReason(task.get_error(), ended);
        return outcome === undefined ? task.propagate_value()[1] : outcome.value;
    }

    #toReason(error, ended) {
        return error.domain === HANDLE_DOMAIN ? ended.get(error.code >>> 0)?.value ?? error : reasonOfError(error);
    }
}

// Adds JavaScript's methods to TaskGroup.  convert has the functions that check the arguments of tasks.
function make({Feed, Scheduler, Task, TaskGroup, TaskGroupWait, TaskSignal}, tasks, convert) {
    const {definePriority, toDelay, toFlag, toGivenPriority, toName, toPriority, toSignal} = convert;
    const {abort, cancel_pending: cancelPending, get_limit: getLimit, set_limit: setLimit, set_priority: setPriority} =
        TaskGroup.prototype;
    const newNative = TaskGroup.new;

    function checkScheduler(value) {
        if (!(value instanceof Scheduler))
            throw new TypeError(`${named(value)} is not a scheduler`);
        return value;
    }

    function schedulerOf(group) {
        const scheduler = group.dup_scheduler();
        if (scheduler === null)
            throw new Error('The scheduler of the group has gone: hold it as long as you use the group');
        return scheduler;
    }

    const tableOf = group => tasks.tableOf(schedulerOf(group));

    TaskGroup.prototype._init = function (options = {}, ...others) {
        const {scheduler = Scheduler.get_default(), limit = MAX_LIMIT, priority = USER_VISIBLE} =
            toOptions(options, optionNames('scheduler', 'limit', 'priority'), 'new TaskGroup ()');
        GObject.Object.prototype._init.call(this, {
            scheduler: checkScheduler(scheduler), limit: toLimit(limit), priority: toGivenPriority(priority),
        }, ...others);
    };
    TaskGroup.new = (scheduler, limit, priority) =>
        newNative.call(TaskGroup, checkScheduler(scheduler), toLimit(limit), toGivenPriority(priority));

    TaskGroup.prototype.get_limit = function () {
        const limit = getLimit.call(this);
        return limit === MAX_LIMIT ? Infinity : limit;
    };
    TaskGroup.prototype.set_limit = function (limit) {
        setLimit.call(this, toLimit(limit));
    };
    Object.defineProperty(TaskGroup.prototype, 'limit', {
        configurable: true,
        get() {
            return this.get_limit();
        },
        set(limit) {
            this.set_limit(limit);
        },
    });
    TaskGroup.prototype.set_priority = function (priority) {
        return setPriority.call(this, toGivenPriority(priority));
    };
    definePriority(TaskGroup.prototype, 'group', function () {
        return this.get_priority();
    });

    // Posts a task, and returns its promise, as a scheduler's post_task () does.  The task counts as running until the promise
    // settles.
    TaskGroup.prototype.post_task = function (callback, options = undefined) {
        toUnstepped(callback, 'post_task ()');
        return postIn(this, callback, toOptions(options, namesOfTasks, 'post_task ()'));
    };

    function postIn(group, callback, {priority, signal, delay, name, timeout, takesTurns}) {
        const givenPriority = toPriority(priority), givenSignal = toSignal(signal), givenDelay = toDelay(delay);
        const givenName = toName(name), givenTimeout = toTimeout(timeout ?? 0), turns = toFlag(takesTurns, 'takesTurns');
        group[SCOPE]?.check();
        const table = tableOf(group), member = new Member(group, givenSignal, givenDelay, givenTimeout, turns);
        const promise = new Promise(keepResolvers);
        table.postWith(callback, givenPriority, group.signal, 0, member, promise, givenName);
        return promise;
    }

    // Posts a task that runs, in steps, the generator that make () returns: see toSteps ().
    TaskGroup.prototype.post_steps = function (make, options = undefined) {
        const given = toOptions(options, namesOfSteps, 'post_steps ()');
        return postIn(this, toSteps(schedulerOf(this), make, given.progress, tasks), given);
    };

    addFeed({Feed, Task, TaskGroup, TaskSignal}, tasks, {schedulerOf, toName, toPriority, toSignal});

    addRun(TaskGroup, tasks, schedulerOf);

    // Aborts the group's tasks with a reason of any type.  The group can then be used again.
    TaskGroup.prototype.abort = function (reason = undefined) {
        const {signal} = this, promised = [...this[MEMBERS] ?? []].filter(([, member]) => member.isPromised);
        if (reason === undefined || reason === null || isInstance(reason, GLib.Error))
            abort.call(this, reason ?? null);
        else
            abort.call(this, wrapReason(signal, reason));
        tasks.beginAbort(tasks.reasonOf(signal));
        for (const [handle, member] of promised)
            member.abort(handle, tasks.reasonOf(signal));
        tasks.takeRejected();
    };

    TaskGroup.prototype.cancel_pending = function () {
        cancelPending.call(this);
        tasks.takeRejected();
    };

    const namesOfWaits = optionNames('signal');

    // Adds a method that waits, and returns a promise.  If returns is true, the promise is fulfilled with a task's result.
    function addWait(name, until, {returns = false} = {}) {
        TaskGroup.prototype[name] = function (options = undefined) {
            const {signal} = toOptions(options, namesOfWaits, `${name} ()`);
            const nThrowing = until === TaskGroupWait.DRAINED ? 0 : 1;
            const wait = new Wait(this, until, nThrowing, toSignal(signal), tasks.currentState()), table = tableOf(this);
            const promise = new Promise(keepResolvers);
            table.postWith(() => wait.end(tasks, returns), USER_BLOCKING, null, 0, wait, promise, `${name} ()`);
            return promise;
        };
    }
    addWait('drained', TaskGroupWait.DRAINED);
    addWait('all', TaskGroupWait.ALL);
    addWait('any', TaskGroupWait.ANY, {returns: true});
    addWait('first', TaskGroupWait.FIRST, {returns: true});
}

return {make};
})(undefined, Infinity, Object, Promise, Symbol, Map, Number, Error, TypeError, imports);
