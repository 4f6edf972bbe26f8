// bridge.js: the web's signals serve GIO, and GIO's cancellables serve the web's functions
//
// Each side gets a dependent signal of the library, to which its sources refer weakly.  It holds no object of
// JavaScript, and objects that its handlers need do not hold its sources: nothing leaks.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make */

const {Gio, GObject} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;
const {typeName} = imports.overrides._priosched.core.runner;

const NICKS = ['background', 'user-visible', 'user-blocking']; // of the priorities, starting with 1

// Property of a cancellable: the web's signal that represents it.
const WEB = Symbol('web');

// Gets the properties that a signal of the library sets, which GJS 1.74 allows even while it collects garbage.  It lives as long as the web's
// signal that has it.
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

// Set by web/web.js: slotsIn (signal), whose `signal` is the library's; newSignal (isTaskSignal); abort (signal,
// reason) and changePriority (signal, nick).
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

    // Returns a Gio.Cancellable that is cancelled with signal.
    function cancellableOf(signal) {
        const s = slotsIn(signal);
        s.cancellable ??= newCancellable(signal);
        return s.cancellable;
    }

    // If the program calls cancel (), the web's signal is aborted when that returns.  If other code cancels it, in C or in
    // another thread, the library reports it in the next dispatch.
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
            s.priority = NICKS[cancellable.priority - 1];
        if (cancellable.is_cancelled()) {
            abort(signal, tasks.reasonOf(cancellable));
            return signal;
        }
        // GIO may hold a lock while it emits `cancelled`, and emit it in any thread; the library's dependent signal
        // does not.
        const followed = isTaskSignal ? TaskSignal.any_following([cancellable], cancellable) : TaskSignal.any([cancellable], 'user-visible');
        s.follower = new Follower();
        s.follower.onAborted = () => abort(signal, tasks.reasonOf(followed));
        s.follower.onPriority = priority => changePriority(signal, NICKS[priority - 1]);
        imports.gi.PrioSchedGjs.follow(followed, s.follower);
        followed.pin();
        s.cancellable = followed;
        Object.defineProperty(cancellable, 'cancel', {value: cancel, writable: true, configurable: true});
        return signal;
    }

    // Returns the web's signal for a cancellable, which keeps it as long as it lives.
    function webSignalOf(cancellable) {
        const known = cancellable[WEB];
        // A Gio.Cancellable may be reset, but a web signal cannot.
        if (known !== undefined && slotsIn(known).aborted === cancellable.is_cancelled())
            return known;
        return (cancellable[WEB] = newWebSignal(cancellable));
    }

    function toCancellable(value, what) {
        if (!(value instanceof Gio.Cancellable))
            throw new TypeError(`${what}: ${named(value)} is neither an AbortSignal nor a Gio.Cancellable`);
        return value;
    }

    return {cancellableOf, toCancellable, webSignalOf, isTaskSignal: value => value instanceof TaskSignal};
}
