// web-signals.js: signals, events and priorities, of the web's interfaces and the native ones
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {web} = PrioSched;
const {AbortController, AbortSignal, Event, EventTarget, TaskController, TaskSignal, scheduler} = web;
const native = PrioSched.Scheduler.get_default();

// Waits by a source of GLib, which no scheduler holds back.
const wait = ms => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
    resolve();
    return false;
}));

test('a callback has no “this” by which it could settle its task', async () => {
    const signal = new TaskController().signal;
    assertEqual(await scheduler.postTask(function () {
        'use strict';
        return this === undefined;
    }, {signal}), true);
    assertEqual(await native.post_task(function () {
        'use strict';
        return this === undefined;
    }), true);
});

test('a reason whose prototype cannot be read aborts tasks, too', async () => {
    for (const handler of [null, {getPrototypeOf() { throw new Error('prototype'); }}]) {
        const {proxy: reason, revoke} = Proxy.revocable({}, handler ?? {});
        if (handler === null)
            revoke();
        const controller = new TaskController(), own = new PrioSched.TaskController(), group = new PrioSched.TaskGroup();
        let nEvents = 0;
        controller.signal.addEventListener('abort', () => nEvents++);
        const tasks = [scheduler.postTask(() => {}, {signal: controller.signal}), native.post_task(() => {}, {signal: own.signal}), group.post_task(() => {})];
        const reasons = Promise.all(tasks.map(task => task.then(() => 'fulfilled', error => error === reason)));
        controller.abort(reason);
        own.abort(reason);
        group.abort(reason);
        assertEqual([...await reasons, nEvents], [true, true, true, 1]);
    }
});

test('“then” of a returned promise is called once', async () => {
    for (const throws of [false, true]) {
        let n = 0;
        const promise = Promise.resolve('result');
        promise.then = (...args) => {
            n++;
            if (throws)
                throw new Error('then');
            return Promise.prototype.then.apply(promise, args);
        };
        const task = scheduler.postTask(() => promise);
        assertEqual([throws ? (await rejection(task)).message : await task, n], [throws ? 'then' : 'result', 1]);
    }
    const controller = new TaskController();
    assertEqual(await rejection(scheduler.postTask(() => {
        web.queueMicrotask(() => controller.abort('aborted'));
        return Promise.resolve('result');
    }, {signal: controller.signal})), 'aborted');
});

test('a promise of another source’s keeps the state if it is awaited through a task', async () => {
    const controller = new TaskController({priority: 'background'}), log = [];
    assertEqual(await rejection(scheduler.postTask(async () => {
        await scheduler.postTask(() => wait(5));
        scheduler.postTask(() => log.push('user-visible'));
        await scheduler.yield();
        log.push('background');
        await scheduler.postTask(() => wait(5));
        controller.abort('enough');
        await scheduler.yield();
        log.push('never');
    }, {signal: controller.signal})), 'enough');
    assertEqual(log, ['user-visible', 'background']);
});

test('a signal that is made while the priority of its source changes follows', () => {
    const controller = new TaskController({priority: 'background'});
    const [first, second] = [1, 2].map(() => TaskSignal.any([], {priority: controller.signal}));
    let made = null;
    const log = [];
    first.onprioritychange = () => {
        made = TaskSignal.any([], {priority: second});
        made.onprioritychange = event => log.push(`${event.previousPriority}>${made.priority}`);
    };
    controller.setPriority('user-blocking');
    assertEqual([second.priority, made.priority, log], ['user-blocking', 'user-blocking', ['background>user-blocking']]);
});

test('methods check their receivers', () => {
    const {signal} = new TaskController();
    const {setPriority} = TaskController.prototype, {abort} = AbortController.prototype;
    for (const target of [{signal}, undefined, null, 5, new AbortController(), signal])
        assert(thrown(() => setPriority.call(target, 'background')) instanceof TypeError);
    for (const target of [{signal}, undefined, new EventTarget()])
        assert(thrown(() => abort.call(target)) instanceof TypeError);
    assertEqual([signal.priority, signal.aborted], ['user-visible', false]);

    for (const name of ['aborted', 'reason', 'onabort']) {
        const {get} = Object.getOwnPropertyDescriptor(AbortSignal.prototype, name);
        assert(thrown(() => get.call({})) instanceof TypeError, name);
        assert(thrown(() => AbortSignal.prototype[name]) instanceof TypeError, name);
    }
    const {get} = Object.getOwnPropertyDescriptor(TaskSignal.prototype, 'priority');
    assert(thrown(() => get.call(new AbortController().signal)) instanceof TypeError);
    for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'])
        assert(thrown(() => EventTarget.prototype[name].call({}, 'x', () => {})) instanceof TypeError, name);
});

test('programs cannot make trusted events', () => {
    assertEqual(Object.getOwnPropertyNames(Event).filter(name => name.startsWith('_')), []);
    const target = new EventTarget();
    let trusted = null;
    target.addEventListener('x', event => {
        trusted = event.isTrusted;
    });
    target.dispatchEvent(new Event('x'));
    assertEqual(trusted, false);
});

test('interfaces look like the web’s: names, members that are enumerable', () => {
    for (const name of ['AbortController', 'AbortSignal', 'Event', 'EventTarget', 'Scheduler', 'TaskController',
        'TaskPriorityChangeEvent', 'TaskSignal']) {
        const tag = Object.getOwnPropertyDescriptor(web[name].prototype, Symbol.toStringTag);
        assertEqual([name, tag?.value, tag?.writable, tag?.enumerable, tag?.configurable], [name, name, false, false, true]);
        for (const [key, member] of Object.entries(Object.getOwnPropertyDescriptors(web[name].prototype)))
            assertEqual([name, key, member.enumerable], [name, key, key !== 'constructor']);
    }
    assertEqual(String(new TaskController().signal), '[object TaskSignal]');
    for (const [holder, name] of [[AbortSignal, 'abort'], [AbortSignal, 'any'], [AbortSignal, 'timeout'], [TaskSignal, 'any']])
        assert(Object.getOwnPropertyDescriptor(holder, name).enumerable, name);
});

test('nicks are priorities for the native classes too, and other things none', () => {
    const {TaskController: Controller, TaskSignal: Signal, TaskPriority} = PrioSched;
    for (const [nick, number] of [['background', 1], ['user-visible', 2], ['user-blocking', 3]]) {
        for (const priority of [nick, number]) {
            assertEqual(new Controller({priority}).signal.priority, number);
            assertEqual(Controller.new(priority).signal.priority, number);
            assertEqual(Signal.any([], priority).priority, number);
            const controller = new Controller();
            controller.set_priority(priority);
            assertEqual(controller.signal.priority, number);
        }
    }
    assertEqual(new Controller().signal.priority, TaskPriority.USER_VISIBLE);
    for (const priority of ['urgent', 0, 4, -1, 1.5, {}, NaN]) {
        for (const make of [() => new Controller({priority}), () => Controller.new(priority), () => Signal.any([], priority),
            () => new Controller().set_priority(priority), () => native.post(priority, () => false)])
            assert(thrown(make) instanceof TypeError, String(priority));
    }
});

test('a cancellable that is cancelled, and reset at once, rejects as cancelled', async () => {
    for (const options of [{priority: 'background'}, {delay: 30}]) {
        const signal = new Gio.Cancellable();
        const task = native.post_task(() => 'ran', {...options, signal});
        signal.cancel();
        signal.reset();
        const error = await rejection(task);
        assert(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED), String(error));
    }
    const signal = new Gio.Cancellable();
    const task = native.post_task(async () => {
        for (;;)
            await native.yield();
    }, {signal});
    await wait(5);
    signal.cancel();
    signal.reset();
    assert((await rejection(task)).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
});

test('pausing the default scheduler holds up no other one, and no timeout', async () => {
    const own = PrioSched.Scheduler.new(null);
    const controller = new PrioSched.TaskController();
    let said = 'pending';
    own.post_task(async () => {
        for (;;)
            await own.yield();
    }, {signal: controller.signal}).catch(reason => {
        said = reason;
    });
    await wait(5);
    native.pause();
    try {
        const timeout = AbortSignal.timeout(5);
        controller.abort('enough');
        for (let i = 0; i < 1000 && !(said === 'enough' && timeout.aborted); i++)
            await wait(5);
        assertEqual([said, timeout.aborted], ['enough', true]);
    } finally {
        native.resume();
    }
});

// Runs collections, so that GJS 1.74 frees objects without references where it can.
const collect = async () => {
    for (let i = 0; i < 3; i++) {
        imports.system.gc();
        await wait(1);
    }
};

test('hundreds of dependents emit for an abort and a priority in the order of their creation', () => {
    const controller = new TaskController(), {signal} = controller, heard = [];
    let lost = [];
    const dependents = Array.from({length: 350}, (_, i) => {
        lost.push(TaskSignal.any([signal], {priority: signal}));
        const dependent = TaskSignal.any([signal], {priority: signal});
        dependent.onabort = () => heard.push(i);
        dependent.onprioritychange = () => heard.push(i);
        return dependent;
    });
    lost = null;
    imports.system.gc();
    const all = [...dependents.keys()];
    controller.setPriority('background');
    assertEqual(heard.splice(0), all);
    controller.abort();
    assertEqual(heard, all);
    assert(dependents.every(({aborted, priority}) => aborted && priority === 'background'));
});

test('a dependent signal lives while it has tasks, or listeners', async () => {
    const page = new AbortController(), controller = new TaskController({priority: 'background'});
    const later = Array.from({length: 50}, () => rejection(scheduler.postTask(() => {},
        {signal: AbortSignal.any([page.signal, AbortSignal.timeout(60000)]), delay: 60000})));
    const order = [];
    const moved = scheduler.postTask(() => order.push('moved'),
        {signal: TaskSignal.any([], {priority: controller.signal}), delay: 30});
    const target = new EventTarget();
    let heard = 0;
    target.addEventListener('x', () => heard++, {signal: AbortSignal.any([page.signal])});
    await collect();

    controller.setPriority('user-blocking');
    GLib.usleep(40000);
    await Promise.all([moved, scheduler.postTask(() => order.push('visible')),
        scheduler.postTask(() => order.push('blocking'), {priority: 'user-blocking'})]);
    assertEqual(order[2], 'visible');

    target.dispatchEvent(new Event('x'));
    page.abort('left');
    target.dispatchEvent(new Event('x'));
    assertEqual([heard, new Set(await Promise.all(later)).size], [1, 1]);
});

test('all tasks of a signal get the same reason', async () => {
    const controller = new PrioSched.TaskController();
    const tasks = [1, 2, 3].map(() => native.post_task(() => {}, {signal: controller.signal}));
    controller.abort();
    const [first, ...others] = await Promise.all(tasks.map(rejection));
    assert(others.every(reason => reason === first));
});

run();
