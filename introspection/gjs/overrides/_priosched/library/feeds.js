// feeds.js: posts a task of a group for each item, when the group has a place for it

/* exported addFeed */

const {named} = imports.overrides._priosched.core.reasons;
const {toOptions} = imports.overrides._priosched.library.options;
const {AbortError, toUnstepped} = imports.overrides._priosched.library.steps;

const OPTIONS = ['priority', 'signal', 'name'];

function toIterator(items) {
    if (typeof items?.[Symbol.iterator] !== 'function')
        throw new TypeError(`${named(items)} is nothing to iterate over`);
    return items[Symbol.iterator]();
}

// Posts callback (...values) in a group, and calls ended () at the end.  A failure is reported, because the promise is not returned.
function postItem(group, tasks, signal, callback, values, options, ended) {
    group.post_task(Object.assign(() => callback(...values), {calls: callback}), options).then(ended, error => {
        ended();
        if (!signal.is_cancelled() && !(error instanceof AbortError))
            tasks.rejected(error, options.name);
    });
}

// A generator: it waits for the promises that it yields.
function* feed(group, callback, iterator, options, tasks, checkSignal) {
    let nOpen = 0, wake = () => {};
    const {signal} = group, change = () => new Promise(resolve => { wake = resolve; });
    const handlers = ['n-pending', 'limit'].map(name => group.connect(`notify::${name}`, () => wake()));
    const ended = () => {
        nOpen--;
        wake();
    };
    let isOver = false;
    try {
        while (!isOver) {
            while (Math.max(group.n_pending, nOpen) >= group.limit)
                yield change();
            // The tasks may report their ends before the signal reports the abort, and an item may cause the abort.
            checkSignal();
            isOver = true; // unless it has already failed: a generator that throws is not asked to return
            const {done, value} = iterator.next();
            isOver = done;
            if (!done) {
                checkSignal();
                nOpen++;
                postItem(group, tasks, signal, callback, [value], options, ended);
                yield;
            }
        }
        while (nOpen > 0)
            yield change();
    } finally {
        handlers.forEach(id => group.disconnect(id));
        if (!isOver)
            iterator.return?.();
    }
}

// Posts a task callback (item) for each of the items, which are taken when a place is free.
var addFeed = function addFeed({Feed, Task, TaskGroup, TaskSignal}, tasks, {schedulerOf, toName, toPriority, toSignal}) {
    TaskGroup.prototype.feed = function (callback, items, options = undefined) {
        toUnstepped(callback, 'feed ()');
        const iterator = toIterator(items), {priority, signal, name} = toOptions(options, OPTIONS, 'feed ()');
        toPriority(priority);
        toSignal(signal);
        const given = toName(name) ?? (callback.name || undefined), scheduler = schedulerOf(this);
        const either = signal ? TaskSignal.any_following([this.signal, signal], this.signal) : this.signal;
        const checkSignal = () => {
            if (either.is_cancelled())
                throw tasks.reasonOf(either);
        };
        return scheduler.post_steps(() => feed(this, callback, iterator, {priority, signal, name: given}, tasks, checkSignal),
            {signal: either, name: given});
    };

    // Makes a Feed, which posts a task callback (item, position) for each row of a list that is in view or near it.
    TaskGroup.prototype.feed_model = function (callback, model, options = undefined) {
        toUnstepped(callback, 'feed_model ()');
        const {name} = toOptions(options, ['name'], 'feed_model ()'), scheduler = schedulerOf(this);
        const given = toName(name) ?? (callback.name || undefined);
        return Feed.new_for_model(this, model, (group, item, position, signal) => {
            const task = Task.new(scheduler, null);
            postItem(group, tasks, signal, callback, [item, position], {signal, name: given}, () => task.return_value(null));
            return task;
        });
    };
};
