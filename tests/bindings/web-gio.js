// web-gio.js: the web's signals serve GIO, and GIO's cancellables serve the web's functions
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {AbortController, AbortSignal, EventTarget, TaskController, TaskSignal, scheduler} = PrioSched.web;
const native = PrioSched.Scheduler.get_default();

const wait = ms => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
    resolve();
    return false;
}));

const collect = async () => {
    for (let i = 0; i < 3; i++) {
        imports.system.gc();
        await wait(1);
    }
};

// Starts a call of GIO that does not end by itself.
function connectForever(cancellable) {
    const listener = new Gio.SocketListener();
    listener.add_any_inet_port(null);
    return new Promise((resolve, reject) => listener.accept_async(cancellable, (_, result) => {
        try {
            resolve(listener.accept_finish(result));
        } catch (error) {
            reject(error);
        }
    }));
}

const isCancelled = error => error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);

test('a signal of the web cancels calls of GIO', async () => {
    for (const make of [() => new AbortController(), () => new TaskController()]) {
        const controller = make();
        const {cancellable} = controller.signal;
        assert(cancellable instanceof Gio.Cancellable && controller.signal.cancellable === cancellable);
        const call = connectForever(cancellable);
        await wait(1);
        assertEqual(cancellable.is_cancelled(), false);
        controller.abort('enough');
        assertEqual(cancellable.is_cancelled(), true);
        assert(isCancelled(await rejection(call)));
    }
    assertEqual(AbortSignal.abort().cancellable.is_cancelled(), true);
    const {get} = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'cancellable');
    assert(thrown(() => get.call({})) instanceof TypeError);
});

test('a dependent signal, and a timeout, that only GIO knows of cancel its calls', async () => {
    const page = new AbortController();
    const calls = [() => AbortSignal.any([page.signal]), () => TaskSignal.any([new AbortController().signal, page.signal]),
        () => AbortSignal.any([AbortSignal.any([page.signal])])].map(make => connectForever(make().cancellable));
    const timed = connectForever(AbortSignal.timeout(30).cancellable);
    await collect();
    page.abort();
    for (const call of [...calls, timed])
        assert(isCancelled(await rejection(call)));
});

test('a signal’s cancellable has its priority, and its reason', async () => {
    const controller = new TaskController({priority: 'background'});
    const {cancellable} = controller.signal;
    const follower = TaskSignal.any([], {priority: controller.signal});
    assertEqual([cancellable.priority, follower.cancellable.priority, TaskSignal.any([]).cancellable.priority], [1, 1, 2]);
    controller.setPriority('user-blocking');
    assertEqual([cancellable.priority, follower.cancellable.priority], [3, 3]);
    const task = native.post_task(() => {}, {signal: cancellable, delay: 60000});
    controller.abort('why');
    assertEqual(await rejection(task), 'why');
});

test('postTask takes cancellables and the library’s signals', async () => {
    const plain = new Gio.Cancellable(), controller = new PrioSched.TaskController({priority: 'background'});
    const log = [];
    assertEqual(await scheduler.postTask(() => 1, {signal: plain}), 1);
    const tasks = [plain, controller.signal].map(signal => scheduler.postTask(() => {}, {signal, delay: 60000}));
    await Promise.all([scheduler.postTask(() => log.push('background'), {signal: controller.signal}),
        scheduler.postTask(() => log.push('visible'))]);
    assertEqual(log, ['visible', 'background']);
    plain.cancel();
    controller.abort('why');
    assert(isCancelled(await rejection(tasks[0])));
    assertEqual(await rejection(tasks[1]), 'why');
    assert(isCancelled(await rejection(scheduler.postTask(() => {}, {signal: plain}))));
    assertEqual(await rejection(scheduler.postTask(() => {}, {signal: controller.signal})), 'why');
});

test('any () takes them, and is aborted with them', async () => {
    const plain = new Gio.Cancellable(), controller = new PrioSched.TaskController({priority: 'background'});
    const one = AbortSignal.any([plain]), other = TaskSignal.any([controller.signal, plain], {priority: controller.signal});
    const log = [];
    other.onprioritychange = event => log.push(`${event.previousPriority}>${other.priority}`);
    other.onabort = () => log.push(other.reason);
    assertEqual([one.aborted, other.aborted, other.priority], [false, false, 'background']);
    controller.set_priority('user-blocking');
    controller.abort('why');
    assertEqual([one.aborted, log], [false, ['background>user-blocking', 'why']]);
    one.addEventListener('abort', () => log.push('plain'));
    plain.cancel();
    for (let i = 0; i < 200 && !one.aborted; i++)
        await wait(1);
    assertEqual([one.aborted, log.pop()], [true, 'plain']);
    assert(isCancelled(one.reason) && isCancelled(AbortSignal.any([plain]).reason));
    plain.reset();
    assertEqual(AbortSignal.any([plain]).aborted, false);
});

test('a cancel on this thread is seen at once', async () => {
    for (const make of [() => new Gio.Cancellable(), () => new PrioSched.TaskController().signal]) {
        const plain = make(), log = [], target = new EventTarget();
        const signals = [AbortSignal.any([plain]), TaskSignal.any([plain, new AbortController().signal])];
        signals[1].onabort = () => log.push('abort');
        target.addEventListener('x', () => log.push('x'), {signal: plain});
        const task = rejection(scheduler.postTask(() => {}, {signal: signals[1], delay: 60000}));
        plain.cancel();
        target.dispatchEvent(new PrioSched.web.Event('x'));
        assertEqual([signals.map(signal => signal.aborted), log], [[true, true], ['abort']]);
        assert(isCancelled(signals[0].reason) && signals[0].reason === signals[1].reason && await task === signals[0].reason);
        plain.cancel();
        await wait(5);
        assertEqual(log, ['abort']);
    }
});

test('a cancel in C, or in another thread, is seen with the next dispatch', async () => {
    const plain = new Gio.Cancellable(), signal = AbortSignal.any([plain]);
    Gio.Cancellable.prototype.cancel.call(plain);
    for (let i = 0; i < 200 && !signal.aborted; i++)
        await wait(1);
    assert(signal.aborted && isCancelled(signal.reason));
});

test('addEventListener takes them', async () => {
    const plain = new Gio.Cancellable(), controller = new PrioSched.TaskController(), target = new EventTarget();
    let heard = 0;
    for (const signal of [plain, controller.signal])
        target.addEventListener('x', () => heard++, {signal});
    target.dispatchEvent(new PrioSched.web.Event('x'));
    controller.abort();
    target.dispatchEvent(new PrioSched.web.Event('x'));
    assertEqual(heard, 3);
    plain.cancel();
    await wait(5);
    target.dispatchEvent(new PrioSched.web.Event('x'));
    target.addEventListener('x', () => heard++, {signal: plain});
    target.dispatchEvent(new PrioSched.web.Event('x'));
    assertEqual(heard, 3);
});

test('a wait that a cancellable ends', async () => {
    const task = PrioSched.Task.new(native, null);
    const cancellable = new Gio.Cancellable();
    const ended = new Promise((resolve, reject) => task.wait_async(cancellable, (source, result) => {
        try {
            resolve(source.wait_finish(result));
        } catch (error) {
            reject(error);
        }
    }));
    cancellable.cancel();
    const error = await ended.catch(reason => reason);
    assert(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
    assertEqual(task.state, PrioSched.TaskState.RUNNING);
    task.return_value(1);
});

test('a task that gets its result from its maker', async () => {
    const ended = task => new Promise(resolve => task.wait_async(null, () => resolve()));
    const task = PrioSched.Task.new(native, null);
    assertEqual(task.state, PrioSched.TaskState.RUNNING);
    task.return_value('text');
    await ended(task);
    assertEqual(task.propagate_value(), [true, 'text']);

    const controller = new TaskController();
    const aborted = PrioSched.Task.new(native, new PrioSched.TaskOptions({signal: controller.signal.cancellable}));
    controller.abort();
    await ended(aborted);
    assertEqual(aborted.state, PrioSched.TaskState.ABORTED);
    assert(thrown(() => aborted.propagate_int()) instanceof GLib.Error);
    aborted.return_int(1);
    assertEqual(aborted.state, PrioSched.TaskState.ABORTED);
});

test('a promise that is given a task has it as its value', async () => {
    const task = PrioSched.Task.new(native, null), give = async () => task;
    assert(await give() === task);
    assert(await scheduler.postTask(give) === task);
    task.return_boolean(true);
});

test('the error names a value that is not a signal', async () => {
    for (const [value, name] of [[5, '5'], [{}, '[object Object]'], ['signal', 'signal'], [new Gio.MemoryInputStream(), 'MemoryInputStream'],
        [new PrioSched.TaskController(), 'TaskController']]) {
        for (const error of [await rejection(scheduler.postTask(() => {}, {signal: value})), thrown(() => AbortSignal.any([value])),
            thrown(() => TaskSignal.any([value])), thrown(() => new EventTarget().addEventListener('x', () => {}, {signal: value}))])
            assert(error instanceof TypeError && error.message.includes(name), error.message);
    }
});

// The last test: GJS 1.74 crashes when the writer is reset.
test('a log writer gets the warning about a task that a collection drops, after it', async () => {
    const said = [];
    GLib.log_set_writer_func((_level, fields) => {
        said.push(new TextDecoder().decode(fields.MESSAGE));
        return GLib.LogWriterOutput.HANDLED;
    });
    (() => PrioSched.Task.new(native, null))();
    while (said.length === 0)
        await collect();
    assert(said[0].includes('has no result yet'), said[0]);
});

run();
