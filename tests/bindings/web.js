// web.js: PrioSched.web, and the promises of the scheduler's own methods
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {web} = PrioSched;
const {AbortController, AbortSignal, DOMException, Event, EventTarget, TaskController, TaskPriorityChangeEvent,
    TaskSignal, scheduler} = web;

const sleep = ms => scheduler.postTask(() => {}, {delay: ms});

test('order of priorities and yields', async () => {
    const log = [];
    const post = (name, priority) => scheduler.postTask(() => log.push(name), {priority});
    await Promise.all([
        post('b', 'background'), post('v'), post('u', 'user-blocking'),
        scheduler.postTask(async () => {
            log.push('1');
            await scheduler.yield();
            log.push('2');
        }, {priority: 'background'}),
        post('b2', 'background'),
    ]);
    assertEqual(log, ['u', 'v', 'b', '1', '2', 'b2']);
});

test('results and exceptions', async () => {
    assertEqual(await scheduler.postTask(() => 42), 42);
    assertEqual(await scheduler.postTask(async () => 'later'), 'later');
    const error = new RangeError('mine');
    assert(await rejection(scheduler.postTask(() => {
        throw error;
    })) === error);
    assertEqual(await rejection(scheduler.postTask(() => Promise.reject(7))), 7);
});

test('wrong arguments reject the promise', async () => {
    const bad = [
        [], [null], [{}], [() => {}, 5], [() => {}, 'x'],
        [() => {}, {priority: 'urgent'}], [() => {}, {priority: null}], [() => {}, {priority: 1}],
        [() => {}, {signal: null}], [() => {}, {signal: {}}], [() => {}, {signal: new PrioSched.TaskController()}],
        [() => {}, {delay: NaN}], [() => {}, {delay: -1}], [() => {}, {delay: Infinity}], [() => {}, {delay: 2 ** 53}],
        [() => {}, {delay: 'soon'}],
    ];
    for (const args of bad)
        assert(await rejection(scheduler.postTask(...args)) instanceof TypeError, JSON.stringify(args));
    await scheduler.postTask(() => {}, {delay: -0.9});
    await scheduler.postTask(() => {}, {delay: '1', priority: undefined, signal: undefined});
});

test('microtasks run between tasks', async () => {
    const log = [];
    const tasks = [1, 2].map(i => scheduler.postTask(() => {
        log.push(`task ${i}`);
        Promise.resolve().then(() => log.push(`promise ${i}`));
        web.queueMicrotask(() => log.push(`microtask ${i}`));
    }));
    await Promise.all(tasks);
    assertEqual(log, ['task 1', 'promise 1', 'microtask 1', 'task 2', 'promise 2', 'microtask 2']);
    assert(thrown(() => web.queueMicrotask(5)) instanceof TypeError);
});

test('abort, with a reason of any type', async () => {
    for (const reason of [0, '', null, 'why', {}, new Error('why'), undefined]) {
        const controller = new AbortController();
        const task = scheduler.postTask(() => {}, {signal: controller.signal});
        controller.abort(reason);
        const got = await rejection(task);
        if (reason === undefined)
            assert(got instanceof DOMException && got.name === 'AbortError' && got.code === 20);
        else
            assert(got === reason);
        assert(await rejection(scheduler.postTask(() => {}, {signal: controller.signal})) === got);
        assert(thrown(() => controller.signal.throwIfAborted()) === got);
    }
});

test('abort while running, and after', async () => {
    const running = new TaskController();
    assertEqual(await rejection(scheduler.postTask(() => {
        running.abort('now');
        return 'ignored';
    }, {signal: running.signal})), 'now');

    const micro = new TaskController();
    assertEqual(await rejection(scheduler.postTask(() => {
        web.queueMicrotask(() => micro.abort('soon'));
        return 'ignored';
    }, {signal: micro.signal})), 'soon');
});

test('yield is refused with the reason', async () => {
    const controller = new TaskController({priority: 'background'});
    let refused;
    await rejection(scheduler.postTask(async () => {
        await scheduler.yield();
        controller.abort('enough');
        refused = await rejection(scheduler.yield());
        throw refused;
    }, {signal: controller.signal}));
    assert(refused !== undefined);
});

test('changing the priority', async () => {
    const log = [];
    const controller = new TaskController({priority: 'background'});
    const {signal} = controller;
    signal.onprioritychange = event => {
        assert(event instanceof TaskPriorityChangeEvent && event.isTrusted && event.target === signal);
        log.push(`${event.previousPriority}>${signal.priority}`);
        const error = thrown(() => controller.setPriority('user-visible'));
        assert(error instanceof DOMException && error.name === 'NotAllowedError');
    };
    const tasks = [scheduler.postTask(() => log.push('v')), scheduler.postTask(() => log.push('s'), {signal})];
    controller.setPriority('user-blocking');
    controller.setPriority('user-blocking');
    await Promise.all(tasks);
    assertEqual(log, ['background>user-blocking', 's', 'v']);
    assert(thrown(() => controller.setPriority('x')) instanceof TypeError);
    assert(thrown(() => controller.setPriority()) instanceof TypeError);
    assert(thrown(() => new TaskController({priority: 5})) instanceof TypeError);
});

test('TaskSignal.any', () => {
    const [a, b] = [new TaskController({priority: 'background'}), new AbortController()];
    const fixed = TaskSignal.any([a.signal, b.signal]);
    const follows = TaskSignal.any([b.signal], {priority: a.signal});
    const nested = TaskSignal.any([follows], {priority: follows});
    assertEqual([fixed.priority, follows.priority, nested.priority], ['user-visible', 'background', 'background']);

    const log = [];
    nested.addEventListener('prioritychange', () => log.push('nested'));
    follows.addEventListener('prioritychange', () => log.push('follows'));
    a.setPriority('user-blocking');
    assertEqual(log, ['follows', 'nested']);
    assertEqual([fixed.priority, nested.priority], ['user-visible', 'user-blocking']);

    nested.onabort = () => log.push(`${nested.aborted} ${fixed.aborted}`);
    b.abort('b');
    assertEqual(log.at(-1), 'true true');
    assertEqual([fixed.reason, nested.reason, a.signal.aborted], ['b', 'b', false]);
    assertEqual(TaskSignal.any([fixed]).reason, 'b');
    for (const bad of [[], [5], [[5]], [[a.signal], {priority: 'x'}], [[a.signal], 5]])
        assert(thrown(() => TaskSignal.any(...bad)) instanceof TypeError);
});

test('AbortSignal.abort, timeout and any', async () => {
    assertEqual(AbortSignal.abort('r').reason, 'r');
    const timeout = AbortSignal.timeout(5);
    assertEqual(timeout.aborted, false);
    await new Promise(resolve => timeout.addEventListener('abort', resolve));
    assert(timeout.reason instanceof DOMException && timeout.reason.name === 'TimeoutError');
    assertEqual(AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason, 1);
    assertEqual(AbortSignal.any([]).aborted, false);
    assert(thrown(() => AbortSignal.timeout(-1)) instanceof TypeError);
    assert(thrown(() => AbortSignal.timeout()) instanceof TypeError);
    for (const Interface of [AbortSignal, TaskSignal, web.Scheduler])
        assert(thrown(() => new Interface()) instanceof TypeError);
});

test('events', () => {
    const target = new EventTarget();
    const log = [];
    const twice = () => log.push('twice');
    target.addEventListener('x', twice);
    target.addEventListener('x', twice);
    target.addEventListener('x', {handleEvent(event) {
        log.push(this.name, event.type);
    }, name: 'object'});
    target.addEventListener('x', () => log.push('once'), {once: true});
    target.addEventListener('x', event => event.preventDefault());
    target.addEventListener('x', null);
    const controller = new AbortController();
    target.addEventListener('x', () => log.push('gone'), {signal: controller.signal});
    controller.abort();

    assertEqual(target.dispatchEvent(new Event('x', {cancelable: true})), false);
    assertEqual(target.dispatchEvent(new Event('x')), true);
    assertEqual(log, ['twice', 'object', 'x', 'once', 'twice', 'object', 'x']);
    target.removeEventListener('x', twice);
    target.addEventListener('x', event => event.stopImmediatePropagation(), true);
    assert(thrown(() => target.dispatchEvent({})) instanceof TypeError);
    const event = new Event('y');
    target.addEventListener('y', () => {
        assertEqual(thrown(() => target.dispatchEvent(event)).name, 'InvalidStateError');
        log.push('again');
    });
    target.dispatchEvent(event);
    assertEqual(log.at(-1), 'again');
});

test('an exception in a listener is reported, and does not stop others', () => {
    const target = new EventTarget();
    const log = [];
    GLib.test_expect_message('Gjs', GLib.LogLevelFlags.LEVEL_WARNING, '*Uncaught*mine*');
    target.addEventListener('x', () => {
        throw new Error('mine');
    });
    target.addEventListener('x', () => log.push('next'));
    target.dispatchEvent(new Event('x'));
    GLib.test_assert_expected_messages_internal('Gjs', 'web.js', 0, '');
    assertEqual(log, ['next']);
});

test('idle callbacks', async () => {
    const log = [];
    const idle = timeout => new Promise(resolve => web.requestIdleCallback(resolve, {timeout}));
    const cancelled = web.requestIdleCallback(() => log.push('cancelled'));
    web.cancelIdleCallback(cancelled);
    const task = scheduler.postTask(() => log.push('task'), {priority: 'background'});
    const deadline = await idle();
    log.push('idle');
    await task;
    assertEqual(log, ['task', 'idle']);
    assertEqual(deadline.didTimeout, false);
    assert(deadline.timeRemaining() <= 50);
    assert(thrown(() => web.requestIdleCallback(5)) instanceof TypeError);

    // A yield in an idle callback continues as background.
    await new Promise(resolve => web.requestIdleCallback(async () => {
        scheduler.postTask(() => log.push('visible'));
        await scheduler.yield();
        log.push('resumed');
        resolve();
    }));
    assertEqual(log.slice(-2), ['visible', 'resumed']);
});

test('the time of an idle callback falls when something else comes', async () => {
    const left = await new Promise(resolve => web.requestIdleCallback(deadline => {
        scheduler.postTask(() => {}, {delay: 20});
        const before = deadline.timeRemaining();
        scheduler.postTask(() => {}, {priority: 'background'});
        resolve([before, deadline.timeRemaining()]);
    }));
    assert(left[0] <= 20, `${left[0]}`);
    assertEqual(left[1], 0);
});

test('a dependent with a listener outlives the program\'s reference', async () => {
    const controller = new TaskController();
    const log = [];
    (() => {
        TaskSignal.any([controller.signal], {priority: controller.signal}).onprioritychange = () => log.push('change');
        AbortSignal.any([controller.signal]).onabort = () => log.push('abort');
    })();
    for (let i = 0; i < 5; i++) {
        imports.system.gc();
        await sleep(1);
    }
    controller.setPriority('background');
    controller.abort();
    assertEqual(log, ['change', 'abort']);
});

test('install defines missing interfaces', () => {
    const target = {Event: 'mine'};
    web.install(target);
    assertEqual(target.Event, 'mine');
    assert(target.scheduler === scheduler && target.requestIdleCallback === web.requestIdleCallback);
});

test('the scheduler\'s own methods', async () => {
    const native = PrioSched.Scheduler.get_default();
    assertEqual(await native.post_task(() => 1, {priority: 'background', name: 'one'}), 1);
    assertEqual(await native.post_task(() => 2, {priority: PrioSched.TaskPriority.USER_BLOCKING, delay: 1}), 2);
    await native.yield();
    await native.yield({priority: 'background'});
    await native.yield({signal: 'inherit', priority: 'inherit'});
    await new Promise(resolve => native.queue_microtask(resolve));

    const controller = new PrioSched.TaskController();
    const task = native.post_task(() => {}, {signal: controller.signal});
    controller.abort({why: 'any value'});
    assertEqual(await rejection(task), {why: 'any value'});
    const plain = new Gio.Cancellable();
    plain.cancel();
    assert((await rejection(native.post_task(() => {}, {signal: plain}))).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));

    for (const bad of [[5], [() => {}, {priority: 'x'}], [() => {}, {priority: 0}], [() => {}, {priority: 4}], [() => {}, {delay: NaN}],
        [() => {}, {delay: -1}], [() => {}, {signal: 5}]])
        assert(thrown(() => native.post_task(...bad)) instanceof TypeError, JSON.stringify(bad));
});

// The state of an async function is the calling code's; a callback of .then () has the state of the code that settles
// its promise.

// Finds out whether a yield here runs before other background tasks: then it is a background continuation, and
// otherwise a user-visible one, which runs before a user-visible task.
async function stateHere() {
    const log = [];
    const visible = scheduler.postTask(() => log.push('visible'));
    await scheduler.yield();
    log.push('here');
    await visible;
    return log[0] === 'visible' ? 'background' : 'none';
}

const inBackground = callback => scheduler.postTask(callback, {priority: 'background'});
const glibSleep = () => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
    resolve();
    return false;
}));

test('state is inherited through the scheduler’s promises', async () => {
    assertEqual(await stateHere(), 'none');
    assertEqual(await inBackground(() => stateHere()), 'background');
    assertEqual(await inBackground(() => Promise.resolve().then(() => stateHere())), 'background');
    assertEqual(await inBackground(async () => {
        await Promise.resolve();
        await scheduler.yield();
        await (async () => {
            await null;
        })();
        return stateHere();
    }), 'background');
    assertEqual(await inBackground(() => scheduler.yield().then(() => 1).then(() => stateHere())), 'background');
    assertEqual(await inBackground(async () => {
        await scheduler.postTask(() => {}, {priority: 'user-blocking'});
        return stateHere();
    }), 'background');
    assertEqual(await inBackground(() => new Promise(resolve => {
        web.queueMicrotask(() => resolve(stateHere()));
    })), 'background');
    assertEqual(await inBackground(async () => {
        try {
            await scheduler.postTask(() => {
                throw new Error();
            });
        } catch {
            return stateHere();
        }
        return null;
    }), 'background');
    assertEqual(await stateHere(), 'none');
});

test('state is kept through promises of other sources, except by .then ()', async () => {
    assertEqual(await inBackground(async () => {
        await glibSleep();
        return stateHere();
    }), 'background');
    if (PrioSched.nativePart === 'state')
        return; // with it, web-state.js checks the opposite
    assertEqual(await inBackground(() => glibSleep().then(() => stateHere())), 'none');
    // A reaction has the state of the code that settles its promise, not of its registration.
    let settle;
    const promise = new Promise(resolve => (settle = resolve));
    const found = inBackground(() => promise.then(() => stateHere()));
    await inBackground(() => {});
    await scheduler.postTask(() => settle(), {priority: 'user-blocking'});
    assert(await found !== 'background');
});

test('callbacks of a nested main loop are not part of the task', async () => {
    const context = GLib.MainContext.default();
    let inside;
    await inBackground(() => {
        GLib.timeout_add(GLib.PRIORITY_HIGH, 0, () => {
            inside = stateHere();
            return false;
        });
        while (!inside)
            context.iteration(true);
    });
    assertEqual(await inside, 'none');
});

test('yield has the older draft’s options', async () => {
    const controller = new TaskController(), outcomes = {}, other = TaskSignal.any([]);
    const note = async (name, options) => {
        try {
            await scheduler.yield(options);
            outcomes[name] = 'went on';
        } catch (error) {
            outcomes[name] = error;
        }
    };
    await new Promise(resolve => scheduler.postTask(async () => {
        controller.abort('aborted');
        await note('priority', {priority: 'user-visible'});
        await note('inherited priority', {priority: 'inherit'});
        await note('another signal', {signal: other});
        await note('a signal of GIO’s', {signal: new Gio.Cancellable()});
        await note('inherited signal', {signal: 'inherit'});
        await note('inherited signal, priority', {signal: 'inherit', priority: 'background'});
        await note('none', {});
        resolve();
    }, {signal: controller.signal}).catch(() => {}));
    assertEqual(outcomes, {
        'priority': 'went on', 'inherited priority': 'went on', 'another signal': 'went on', 'a signal of GIO’s': 'went on',
        'inherited signal': 'aborted', 'inherited signal, priority': 'aborted', 'none': 'aborted',
    });
});

test('a signal that is given to yield aborts it, and has its priority', async () => {
    const log = [], controller = new TaskController({priority: 'background'}), {signal} = controller;
    await scheduler.postTask(async () => {
        const tasks = ['user-visible', 'background'].map(priority => scheduler.postTask(() => log.push(priority), {priority}));
        await scheduler.yield({signal});
        log.push('background yield');
        await Promise.all(tasks);
        const blocking = scheduler.postTask(() => log.push('user-blocking'), {priority: 'user-blocking'});
        await scheduler.yield({signal, priority: 'user-blocking'});
        log.push('user-blocking yield');
        await blocking;
        const yielded = rejection(scheduler.yield({signal}));
        controller.abort('aborted');
        log.push(await yielded, await rejection(scheduler.yield({signal})));
    });
    assertEqual(log, ['user-visible', 'background yield', 'background', 'user-blocking yield', 'user-blocking', 'aborted', 'aborted']);
});

test('yield ignores values that are not objects, and rejects wrong options', async () => {
    assertEqual(scheduler.yield.length, 0);
    for (const ignored of [5, null, 'x', undefined])
        assertEqual(await scheduler.yield(ignored), undefined);
    for (const wrong of [{priority: 'x'}, {priority: null}, {signal: 'x'}, {signal: {}}, {signal: null}])
        assert(await rejection(scheduler.yield(wrong)) instanceof TypeError, JSON.stringify(wrong));
});

test('a hundred thousand tasks and yields leave the collector alone', async () => {
    // GJS 1.74 refuses every callback while its collector sweeps, which it does in slices, and continues at
    // allocations: it must not be left in that state.
    for (let round = 0; round < 3; round++) {
        const promises = [], n = GLib.getenv('UNDER_VALGRIND') ? 2000 : 20000;
        for (let i = 0; i < n; i++)
            promises.push(scheduler.postTask(() => {}));
        await Promise.all(promises);
        for (let i = 0; i < n; i++)
            await scheduler.yield();
        await glibSleep();
    }
});

test('bad input to the scheduler of GJS', () => {
    const native = PrioSched.Scheduler.get_default();
    const nothing = () => {};
    for (const [callback, options] of [[null], ['x'], [nothing, {priority: 'urgent'}], [nothing, {priority: 0}], [nothing, {priority: 4}],
        [nothing, {priority: 0.5}], [nothing, {delay: -1}], [nothing, {delay: NaN}], [nothing, {delay: Infinity}],
        [nothing, {delay: 2 ** 60}], [nothing, {delay: '5'}], [nothing, {signal: {}}], [nothing, 5]])
        assert(thrown(() => native.post_task(callback, options)) instanceof TypeError, `${callback} ${JSON.stringify(options)}`);
    for (const options of [5, {priority: 'x'}, {signal: 5}])
        assert(thrown(() => native.yield(options)) instanceof TypeError, JSON.stringify(options));
    assert(thrown(() => native.queue_microtask(5)) instanceof TypeError);
    assert(thrown(() => native.request_idle_callback(5)) instanceof TypeError);
    assert(thrown(() => native.request_idle_callback(nothing, -1)) instanceof TypeError);
});

test('a separate scheduler, and options of yield', async () => {
    const native = PrioSched.Scheduler.new(null);
    const log = [];
    const controller = new PrioSched.TaskController({priority: 1});
    const task = native.post_task(async () => {
        log.push('a');
        await native.yield({priority: 'user-blocking'});
        log.push('b');
        await native.yield({signal: 'inherit', priority: 'user-blocking'});
        log.push('c');
        controller.abort('enough');
        return rejection(native.yield());
    }, {signal: controller.signal});
    const other = native.post_task(() => log.push('visible'));
    assertEqual(await task, 'enough');
    await other;
    assertEqual(log.join(), 'visible,a,b,c');
    const dependent = PrioSched.TaskSignal.any([controller.signal], 1);
    assertEqual(await rejection(native.post_task(() => {}, {signal: dependent})), 'enough');
});

test('an abort rejects at once, also after yields under its signal', async () => {
    const native = PrioSched.Scheduler.get_default();
    const controller = new PrioSched.TaskController();
    const log = [];
    await native.post_task(async () => {
        for (let i = 0; i < 3; i++)
            await native.yield();
    }, {signal: controller.signal});
    const task = native.post_task(() => {}, {signal: controller.signal, delay: 1000000}).catch(() => log.push('rejected'));
    controller.abort('now');
    Promise.resolve().then(() => log.push('after'));
    await task;
    await null;
    assertEqual(log, ['rejected', 'after']);
});

test('whatever is wrong is a TypeError that names it', async () => {
    const native = PrioSched.Scheduler.get_default(), {extras} = web, cancellable = new Gio.Cancellable();
    const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
    const wrong = [
        ['5', () => scheduler.postTask(5)], ['“x”', () => scheduler.postTask(() => {}, 'x')], ['null', () => web.queueMicrotask(null)],
        ['null', () => scheduler.yield.call(null)], ['5', () => scheduler.postTask.call(5, () => {})],
        ['5', () => web.requestIdleCallback(5)], ['6', () => web.requestIdleCallback(() => {}, 6)], ['5', () => new TaskController(5)],
        ['null', () => web.install(null)], ['undefined', () => web.install()], ['5', () => TaskSignal.any(5)], ['“x”', () => TaskSignal.any(['x'])],
        ['5', () => new EventTarget().addEventListener('a', 5)], ['[object Object]', () => new EventTarget().dispatchEvent({})],
        ['[object Object]', () => EventTarget.prototype.addEventListener.call({}, 'a', () => {})],
        ['[object Object]', () => EventTarget.prototype.removeEventListener.call({}, 'a', () => {})],
        ['[object Object]', () => EventTarget.prototype.dispatchEvent.call({}, new Event('a'))],
        ...['aborted', 'reason', 'cancellable', 'onabort'].map(name => ['[object Object]', () => getterOf(AbortSignal.prototype, name).call({})]),
        ['[object AbortSignal]', () => getterOf(TaskSignal.prototype, 'priority').call(AbortSignal.abort())],
        ...[cancellable, {}, null, undefined].flatMap(clock => [extras, native].flatMap(({constructor}) => [
            [String(clock), () => (constructor === extras.constructor ? extras.followFrameClock(clock) : native.follow_frame_clock(clock))],
            [String(clock), () => (constructor === extras.constructor ? extras.unfollowFrameClock(clock) : native.unfollow_frame_clock(clock))],
        ])),
        ...[-5, 'x', NaN, null, 2 ** 40].flatMap(value => ['time_slice', 'timeSlice', 'time-slice'].map(name => [String(value), () => {
            native[name] = value;
        }])),
        ['-5', () => native.set_time_slice(-5)], ['-1', () => native.set_next_frame(-1)],
        ['5', () => native.post('background', 5)], ['“x”', () => new PrioSched.TaskController('x')], ['9', () => new PrioSched.TaskController(9)],
        ['5', () => PrioSched.TaskSignal.any([5], 'background')], ['null', () => PrioSched.TaskSignal.any(null, 'background')],
    ];
    const before = native.get_time_slice();
    for (const [name, call] of wrong) {
        let error;
        try {
            await call();
        } catch (caught) {
            error = caught;
        }
        assert(error instanceof TypeError && error.message.includes(name), `${call}: ${error}`);
    }
    assertEqual([native.get_time_slice(), native.time_slice], [before, before]);
    // These are the engine's own messages.
    for (const call of [() => new DOMException(Symbol('x')), () => new DOMException('', Symbol('x')), () => new Event(Symbol('x'))])
        assert(thrown(call) instanceof TypeError);
    assertEqual(await rejection(scheduler.postTask(() => {}, {priority: {toString() {
        throw 'mine'; // eslint-disable-line no-throw-literal
    }}})), 'mine');
});

test('a controller of the library’s is made with a nick, a number or properties', () => {
    const {TaskController: NativeController, TaskPriority} = PrioSched;
    const made = [new NativeController('background'), new NativeController(TaskPriority.BACKGROUND), NativeController.new('background'),
        new NativeController({priority: 'background'})];
    assertEqual(made.map(({signal}) => signal.priority), [1, 1, 1, 1]);
    assertEqual(new NativeController().signal.priority, 2);
});

run();
