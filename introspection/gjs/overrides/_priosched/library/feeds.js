// feeds.js: posts a task of a group for each item, whenever the group has fewer tasks than its limit

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {addFeed} = ((undefined, Object, Promise, Symbol, Math, TypeError, imports) => {
const {named} = imports.overrides._priosched.core.reasons;
const {optionNames, toOptions} = imports.overrides._priosched.library.options;
const {SCOPE} = imports.overrides._priosched.library.scopes;
const {isAbort, toUnstepped} = imports.overrides._priosched.library.steps;

const OPTIONS = optionNames('priority', 'signal', 'name');

function checkIterable(items) {
    if (typeof items?.[Symbol.iterator] !== 'function')
        throw new TypeError(`${named(items)} is nothing to iterate over`);
}

// Checks the result of an iterator's next (), as for...of does.
function toResult(result) {
    if (Object(result) !== result)
        throw new TypeError(`next () of the items has returned ${named(result)}, which is not an object`);
    return result;
}

// Posts a task in a group that calls callback (...values), and calls ended () when the task has settled.  The program does not
// get the promise, so a failure is reported as an unhandled rejection, unless it is an abort.
function postItem(group, tasks, signal, callback, values, options, ended) {
    group.post_task(Object.assign(() => callback(...values), {calls: callback}), options).then(ended, error => {
        ended();
        if (!signal.is_cancelled() && !isAbort(error, options.signal))
            tasks.rejected(error, options.name);
    });
}

// Posts a task for each item.  This is the generator of a task in steps, and yields a promise whenever the task has to wait:
// until the group has fewer tasks than its limit, and at the end until all posted tasks have settled.
function* feed(group, callback, items, options, tasks, checkSignal) {
    let nOpen = 0, wake = () => {};
    const {signal} = group, iterator = items[Symbol.iterator](), change = () => new Promise(resolve => { wake = resolve; });
    const handlers = ['n-tasks', 'limit'].map(name => group.connect(`notify::${name}`, () => wake()));
    const ended = () => {
        nOpen--;
        wake();
    };
    let isOver = false;
    try {
        while (!isOver) {
            while (Math.max(group.n_tasks, nOpen) >= group.limit)
                yield change();
            // Checks for an abort, which a task of an item may have caused: the feed's own task may be aborted only later.
            checkSignal();
            isOver = true; // if the iterator throws, it is over, and is not asked to return
            const {done, value} = toResult(iterator.next());
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

// Adds feed () and similar methods, which post a task callback (item) for each of the items, and take an item when the group has
// fewer tasks than its limit.
function addFeed({Feed, Task, TaskGroup, TaskSignal}, tasks, {schedulerOf, toName, toPriority, toSignal}) {
    TaskGroup.prototype.feed = function (callback, items, options = undefined) {
        toUnstepped(callback, 'feed ()');
        const {priority, signal, name} = toOptions(options, OPTIONS, 'feed ()');
        checkIterable(items);
        toPriority(priority);
        toSignal(signal);
        const given = toName(name) ?? (callback.name || undefined), scheduler = schedulerOf(this);
        const either = signal ? TaskSignal.any_following([this.signal, signal], this.signal) : this.signal;
        const checkSignal = () => {
            if (either.is_cancelled())
                throw tasks.reasonOf(either);
        };
        this[SCOPE]?.check();
        const fed = scheduler.post_steps(() => feed(this, callback, items, {priority, signal, name: given}, tasks, checkSignal),
            {signal: either, name: given});
        this[SCOPE]?.follow(fed, either);
        return fed;
    };

    // Returns a function that the library calls for a row of a list.  The function posts a task callback (item, position), and
    // returns a PrioSched.Task that ends with it.
    const rowFunction = (self, callback, options, where) => {
        toUnstepped(callback, where);
        const {name} = toOptions(options, optionNames('name'), where), scheduler = schedulerOf(self);
        const given = toName(name) ?? (callback.name || undefined);
        return (group, item, position, signal) => {
            const task = Task.new(scheduler, null);
            postItem(group, tasks, signal, callback, [item, position], {signal, name: given}, () => task.return_value(null));
            return task;
        };
    };

    // Creates a Feed, which posts a task callback (item, position) for each row of a list that is in view or near it.
    TaskGroup.prototype.feed_model = function (callback, model, options = undefined) {
        return Feed.new_for_model(this, model, rowFunction(this, callback, options, 'feed_model ()'));
    };

    // Creates a Feed of the rows that a list of GTK shows.  This needs PrioSchedGtk.
    TaskGroup.prototype.feed_view = function (callback, view, options = undefined) {
        return imports.gi.PrioSchedGtk.feed_view(this, view, rowFunction(this, callback, options, 'feed_view ()'));
    };
}

return {addFeed};
})(undefined, Object, Promise, Symbol, Math, TypeError, imports);
