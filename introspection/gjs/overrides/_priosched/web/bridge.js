// bridge.js: converts signals of the web to cancellables for GIO, and cancellables to signals of the web
//
// In each direction, the library makes a dependent signal, to which its sources refer weakly.  That signal holds no object of
// JavaScript, and the objects that its handlers need do not hold its sources.  So no cycle of references keeps a signal
// alive.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {make} = ((undefined, Object, Symbol, TypeError, imports) => {
const {Gio, GObject} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;
const {typeName} = imports.overrides._priosched.core.runner;
const {toNick} = imports.overrides._priosched.web.conversions;

// The property of a cancellable for its signal of the web.
const WEB = Symbol('web');

// An object whose properties a signal of the library sets.  GJS 1.74 sets properties even during a garbage collection, when it
// does not call closures.  The web's signal keeps the object alive.
const Follower = GObject.registerClass({
    GTypeName: typeName('PrioSchedFollower'),
    Properties: {
        'aborted': GObject.ParamSpec.uint('aborted', null, null, GObject.ParamFlags.WRITABLE, 0, 1, 0),
        'priority': GObject.ParamSpec.uint('priority', null, null, GObject.ParamFlags.WRITABLE, 0, 3, 0),
        'ended': GObject.ParamSpec.boolean('ended', null, null, GObject.ParamFlags.READABLE, false),
    },
}, class Follower extends GObject.Object {
    set aborted(_) {
        this.#run(this.onAborted);
    }

    set priority(priority) {
        this.#run(() => this.onPriority(priority));
    }

    get ended() {
        return this.hasEnded;
    }

    #run(callback) {
        this.hasEnded = false;
        try {
            callback();
        } finally {
            this.hasEnded = true;
        }
    }
});

// Returns the functions that convert between signals.  web/web.js passes the last argument: functions that read, create, abort
// and change the web's signals.
function make(PrioSched, tasks, {slotsIn, newSignal, abort, changePriority}) {
    const {TaskController, TaskSignal} = PrioSched;

    const nativeOf = signal => slotsIn(signal).signal;

    function newCancellable(signal) {
        const s = slotsIn(signal);
        if (s.aborted) {
            const controller = new TaskController();
            controller.abort(s.reason);
            return controller.signal;
        }
        if (!s.dependent)
            return TaskSignal.any_following([nativeOf(signal)], nativeOf(signal));
        const sources = [...s.sources].map(nativeOf);
        return s.prioritySource === null ? TaskSignal.any(sources, s.priority ?? 'user-visible')
            : TaskSignal.any_following(sources, nativeOf(s.prioritySource));
    }

    // Returns a Gio.Cancellable that is cancelled with signal, a signal of the web.  All calls return the same object.
    function cancellableOf(signal) {
        const s = slotsIn(signal);
        s.cancellable ??= newCancellable(signal);
        return s.cancellable;
    }

    // Replaces the cancellable's cancel ().  If JavaScript calls this method, the web's signal has been aborted when the call
    // returns.  If other code cancels the cancellable, in C or in another thread, the library reports that in the next dispatch.
    function cancel() {
        Object.getPrototypeOf(this).cancel.call(this);
        if (this.is_cancelled())
            abort(this[WEB], tasks.reasonOf(this));
    }

    function newWebSignal(cancellable) {
        const isTaskSignal = cancellable instanceof TaskSignal;
        const signal = newSignal(isTaskSignal);
        const s = slotsIn(signal);
        if (isTaskSignal)
            s.priority = toNick(cancellable.priority);
        if (cancellable.is_cancelled()) {
            abort(signal, tasks.reasonOf(cancellable));
            return signal;
        }
        // GIO may hold a lock while it emits `cancelled`, and may emit it in any thread.  The library's dependent signal does
        // neither, so the follower follows the dependent signal.
        const followed = isTaskSignal ? TaskSignal.any_following([cancellable], cancellable) : TaskSignal.any([cancellable], 'user-visible');
        s.follower = new Follower();
        s.follower.onAborted = () => abort(signal, tasks.reasonOf(followed));
        s.follower.onPriority = priority => changePriority(signal, toNick(priority));
        imports.gi.PrioSchedGjs.follow(followed, s.follower);
        followed.pin();
        s.cancellable = followed;
        Object.defineProperty(cancellable, 'cancel', {value: cancel, writable: true, configurable: true});
        return signal;
    }

    // Returns the web's signal for a cancellable.  The cancellable keeps that signal alive.
    function webSignalOf(cancellable) {
        const known = cancellable[WEB];
        // A Gio.Cancellable may be reset, but a signal of the web cannot be, so the cancellable then gets a new signal.
        if (known !== undefined && slotsIn(known).aborted === cancellable.is_cancelled())
            return known;
        return (cancellable[WEB] = newWebSignal(cancellable));
    }

    function toCancellable(value, what) {
        if (!(value instanceof Gio.Cancellable))
            throw new TypeError(`${what}: ${named(value)} is neither an AbortSignal nor a Gio.Cancellable${'signal' in Object(value) ? ': give its signal' : ''}`);
        return value;
    }

    return {cancellableOf, toCancellable, webSignalOf, isTaskSignal: value => value instanceof TaskSignal};
}

return {make};
})(undefined, Object, Symbol, TypeError, imports);
