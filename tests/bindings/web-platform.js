// web-platform.js: the checks of the web platform's tests of `scheduler` that need no document
//
//     gjs web-platform.js [--exact]
//
// Each test has the name of the file there, in web-platform-tests/wpt/scheduler, and makes the same checks.  With --exact, the engine
// reports which code has called .then ().
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {AbortController, AbortSignal, TaskController, TaskSignal, queueMicrotask, scheduler} = PrioSched.web;

const exact = ARGV.includes('--exact');

const PRIORITIES = ['user-blocking', 'user-visible', 'background'];
const signalOf = (priority = 'user-visible') => new TaskController({priority}).signal;
const isAbort = async promise => assertEqual((await rejection(promise)).name, 'AbortError');
const timer = callback => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 0, () => {
    callback();
    return false;
});
const nextTimer = () => new Promise(timer);
const loadFile = () => new Promise((resolve, reject) =>
    Gio.File.new_for_path('/proc/self/stat').load_contents_async(null, (file, result) => {
        try {
            resolve(file.load_contents_finish(result));
        } catch (error) {
            reject(error);
        }
    }));

// Posts each of [id, options] as a task; resolves to the ids in the order in which they ran.
async function orderOf(posts, between = () => {}) {
    const ids = [];
    const tasks = posts.map(([id, options]) => scheduler.postTask(() => ids.push(id), options));
    between();
    await Promise.all(tasks);
    return ids.join();
}

test('post-task-without-signals, post-task-result-success', async () => {
    for (const priority of PRIORITIES)
        assertEqual(await scheduler.postTask(() => priority, {priority}), priority);
    assertEqual(await scheduler.postTask(() => 'result'), 'result');
    assertEqual(await scheduler.postTask(async () => 'asynchronous'), 'asynchronous');
});

test('post-task-result-throws', async () => {
    const error = new TypeError('thrown');
    assert(await rejection(scheduler.postTask(() => {
        throw error;
    })) === error);
    assert(await rejection(scheduler.postTask(() => Promise.reject(error))) === error);
});

test('post-task-run-order, task-signal-any-post-task-run-order', async () => {
    const names = {'user-blocking': 'UB', 'user-visible': 'UV', background: 'B'};
    const upwards = [...PRIORITIES].reverse();
    const expected = 'UB1,UB2,UV1,UV2,B1,B2';
    const posts = make => upwards.flatMap(priority => [1, 2].map(n => [names[priority] + n, make(priority)]));

    assertEqual(await orderOf(posts(priority => ({priority}))), expected);
    assertEqual(await orderOf(posts(priority => ({signal: signalOf(priority)}))), expected);
    assertEqual(await orderOf(posts(priority => ({signal: TaskSignal.any([], {priority})}))), expected);
    assertEqual(await orderOf(posts(priority =>
        ({signal: TaskSignal.any([], {priority: TaskSignal.any([], {priority})})}))), expected);

    const controller = new TaskController({priority: 'user-blocking'});
    const signal = TaskSignal.any([], {priority: controller.signal});
    assertEqual(await orderOf(posts(priority => priority === 'background' ? {signal} : {priority}),
        () => controller.setPriority('background')), expected);
});

test('post-task-delay, task-controller-setPriority-delayed-task', async () => {
    const begin = GLib.get_monotonic_time();
    const order = [];
    const controller = new TaskController({priority: 'background'});
    await Promise.all([
        scheduler.postTask(() => {
            order.push(1);
            controller.setPriority('user-blocking');
        }, {priority: 'user-blocking', delay: 10}),
        scheduler.postTask(() => {
            order.push(2);
            assert(GLib.get_monotonic_time() - begin >= 20000, 'before its time');
        }, {signal: controller.signal, delay: 20}),
    ]);
    assertEqual(order, [1, 2]);
});

test('post-task-with-signal-and-priority', async () => {
    assertEqual(await orderOf([
        ['visible', {priority: 'user-visible'}],
        ['blocking', {priority: 'user-blocking', signal: signalOf('background')}],
    ]), 'blocking,visible');
});

test('post-task-with-abort-signal, post-task-with-aborted-signal, task-controller-abort1', async () => {
    for (const Controller of [AbortController, TaskController]) {
        for (const before of [true, false]) {
            const controller = new Controller();
            let ran = false;
            if (before)
                controller.abort();
            const task = scheduler.postTask(() => (ran = true), {signal: controller.signal});
            controller.abort();
            await isAbort(task);
            assert(!ran);
        }
    }
});

test('post-task-with-abort-signal-in-handler', async () => {
    const now = new TaskController(), later = new TaskController();
    await isAbort(scheduler.postTask(() => now.abort(), {signal: now.signal}));
    await scheduler.postTask(async () => {
        await nextTimer();
        later.abort();
    }, {signal: later.signal});
});

test('post-task-abort-reason', async () => {
    for (const Controller of [AbortController, TaskController]) {
        for (const before of [true, false]) {
            const controller = new Controller(), reason = new Error('a reason of one’s own');
            if (before)
                controller.abort(reason);
            const task = scheduler.postTask(() => {}, {signal: controller.signal});
            controller.abort(reason);
            assert(await rejection(task) === reason);
        }
    }
});

test('task-controller-abort2, task-controller-abort-signal-and-priority', async () => {
    const controllers = [0, 1, 2, 3, 4].map(() => new TaskController());
    const tasks = controllers.map(({signal}, i) => scheduler.postTask(() => i, {signal}));
    controllers[2].abort();
    await isAbort(tasks[2]);
    assertEqual(await Promise.all(tasks.filter((_, i) => i !== 2)), [0, 1, 3, 4]);

    const controller = new TaskController();
    const both = PRIORITIES.map(priority => scheduler.postTask(() => {}, {signal: controller.signal, priority}));
    controller.abort();
    await Promise.all(both.map(isAbort));
});

test('task-controller-abort-completed-tasks', async () => {
    const done = new TaskController(), aborted = new TaskController();
    await scheduler.postTask(() => {}, {signal: done.signal});
    const task = scheduler.postTask(() => {}, {signal: aborted.signal});
    aborted.abort();
    await isAbort(task);
    done.abort();
    aborted.abort();
});

test('task-controller-setPriority1, -setPriority2, -setPriority-repeated', async () => {
    const controller = new TaskController(), {signal} = controller;
    const options = [0, 1, 2, 3, 4].map(() => ({signal})).concat({priority: 'user-blocking'}, {priority: 'user-visible'});
    const posts = options.map((option, i) => [i, option]);
    assertEqual(await orderOf(posts, () => controller.setPriority('background')), '5,6,0,1,2,3,4');
    assertEqual(signal.priority, 'background');
    assertEqual(await orderOf(posts, () => controller.setPriority('user-blocking')), '0,1,2,3,4,5,6');

    assertEqual(await orderOf(posts, () => {
        for (let i = 0; i < 100; i++)
            controller.setPriority(PRIORITIES[i % 3]);
        controller.setPriority('background');
    }), '5,6,0,1,2,3,4');
});

test('task-controller-setPriority-recursive, task-signal-onprioritychange', () => {
    const controller = new TaskController();
    let event = null;
    controller.signal.onprioritychange = e => {
        event = [e.type, e.target === controller.signal, e.target.priority, e.previousPriority];
        assertEqual(thrown(() => controller.setPriority('user-blocking')).name, 'NotAllowedError');
    };
    controller.setPriority('background');
    assertEqual(event, ['prioritychange', true, 'background', 'user-visible']);
});

test('task-signal-any-priority', () => {
    assert(TaskSignal.any([]) instanceof TaskSignal);
    assertEqual(TaskSignal.any([]).priority, 'user-visible');
    for (const priority of PRIORITIES) {
        assertEqual(TaskSignal.any([], {priority}).priority, priority);
        assertEqual(TaskSignal.any([], {priority: signalOf(priority)}).priority, priority);
    }

    // The change goes through four dependents: each emits once for each change, in the order of their creation.
    const controller = new TaskController();
    const signals = [], heard = [];
    for (let i = 0; i < 6; i++) {
        const priority = i < 3 ? controller.signal : signals[i - 3];
        const signal = TaskSignal.any([], {priority});
        signal.addEventListener('prioritychange', e => heard.push(signals.indexOf(e.target)));
        signals.push(signal);
    }
    for (const priority of ['background', 'user-blocking'])
        controller.setPriority(priority);
    assertEqual(heard.join(''), '012345012345');
    assertEqual(signals[5].priority, 'user-blocking');
});

test('task-signal-any-priority: abort and priority have different sources', () => {
    const task = new TaskController(), abort = new AbortController(), heard = [];
    const signal = TaskSignal.any([abort.signal], {priority: task.signal});
    signal.onprioritychange = () => heard.push(signal.priority);
    signal.onabort = () => heard.push('abort');
    task.setPriority('background');
    task.abort();
    abort.abort();
    task.setPriority('user-visible');
    assertEqual(heard, ['background', 'abort', 'user-visible']);

    const already = TaskSignal.any([AbortSignal.abort()], {priority: task.signal});
    already.onprioritychange = () => heard.push('already aborted');
    task.setPriority('background');
    assertEqual(heard.slice(-2).sort(), ['already aborted', 'background']);
});

for (const Signal of [AbortSignal, TaskSignal]) {
    for (const Controller of [AbortController, TaskController]) {
        const kind = `${Signal.name}.any, ${Controller.name}`;

        test(`task-signal-any-abort (${kind}): reasons`, () => {
            assertEqual(Signal.any([]).aborted, false);
            for (const before of [true, false]) {
                const controllers = [0, 1, 2].map(() => new Controller());
                const sources = controllers.map(({signal}) => signal);
                if (before)
                    controllers[1].abort('the first');
                const signal = Signal.any(sources);
                assert(signal instanceof Signal);
                assertEqual(signal.aborted, before);
                controllers[1].abort('the first');
                controllers[2].abort('the second');
                assertEqual([signal.aborted, signal.reason], [true, 'the first']);
            }
            const controller = new Controller();
            const same = Signal.any([controller.signal, controller.signal]);
            let n = 0;
            same.onabort = () => n++;
            controller.abort();
            assertEqual(n, 1);
            assert(same.reason === controller.signal.reason);
        });

        test(`task-signal-any-abort (${kind}): dependents of dependents`, () => {
            const controller = new Controller(), other = new Controller();
            const signals = [controller.signal], heard = [];
            for (let i = 1; i < 4; i++)
                signals.push(Signal.any([signals[i - 1], other.signal]));
            signals.push(Signal.any([signals[3], signals[1]]));
            for (const [i, signal] of signals.entries()) {
                signal.addEventListener('abort', () => {
                    assert(signals.every(each => each.aborted), 'all of them are aborted before any event');
                    heard.push(i);
                });
            }
            controller.abort();
            assertEqual(heard.join(''), '01234');
        });

        test(`task-signal-any-abort (${kind}): an abort within an abort`, () => {
            const one = new Controller(), two = new Controller();
            const dependent = Signal.any([one.signal, two.signal]);
            const heard = [];
            one.signal.addEventListener('abort', () => {
                two.abort('two');
                heard.push('one');
            });
            two.signal.addEventListener('abort', () => heard.push('two'));
            dependent.addEventListener('abort', () => heard.push(dependent.reason));
            one.abort('first');
            assertEqual(heard, ['two', 'one', 'first']);
        });
    }
}

test('scheduler-replaceable', () => {
    const {web} = PrioSched;
    const before = web.scheduler, mine = {};
    web.scheduler = mine;
    assert(web.scheduler === mine);
    web.scheduler = before;
});

// Runs a task that yields three times, before two tasks of each priority.
async function yieldOrder(options) {
    const ids = [];
    const post = (id, others) => scheduler.postTask(() => ids.push(id), others);
    await Promise.all([
        scheduler.postTask(async () => {
            ids.push('y0');
            for (let i = 1; i < 4; i++) {
                await scheduler.yield();
                ids.push(`y${i}`);
            }
        }, options),
        ...PRIORITIES.flatMap(priority => [1, 2].map(n => post(priority.replace(/(^.|-.).*?(?=-|$)/g, '$1') + n, {priority}))),
    ]);
    return ids.join();
}

test('yield-priority-posttask', async () => {
    const orders = {
        'user-blocking': 'y0,y1,y2,y3,u-b1,u-b2,u-v1,u-v2,b1,b2',
        'user-visible': 'u-b1,u-b2,y0,y1,y2,y3,u-v1,u-v2,b1,b2',
        background: 'u-b1,u-b2,u-v1,u-v2,y0,y1,y2,y3,b1,b2',
    };
    assertEqual(await yieldOrder({}), orders['user-visible']);
    for (const priority of PRIORITIES) {
        assertEqual(await yieldOrder({priority}), orders[priority]);
        assertEqual(await yieldOrder({signal: signalOf(priority)}), orders[priority]);
    }
});

test('yield-priority-posttask: a signal’s priority changes between yields', async () => {
    const ids = [], controller = new TaskController();
    await scheduler.postTask(async () => {
        const tasks = ['v1', 'v2'].map(id => scheduler.postTask(() => ids.push(id)));
        for (const id of ['y1', 'y2', 'y3', 'y4']) {
            if (id === 'y3')
                controller.setPriority('background');
            await scheduler.yield();
            ids.push(id);
        }
        await Promise.all(tasks);
    }, {signal: controller.signal});
    assertEqual(ids.join(), 'y1,y2,v1,v2,y3,y4');
});

// On a slow machine a slice ends in between, and then the idle source has its turn earlier: one round of twenty will do.
test('yield-priority-timers', async () => {
    const expected = 't1,y1,y2,y3,an idle source';
    let ids;
    for (let round = 0; round < 20 && ids?.join() !== expected; round++) {
        ids = [];
        await Promise.all([
            new Promise(resolve => timer(async () => {
                ids.push('t1');
                for (const id of ['y1', 'y2', 'y3']) {
                    await scheduler.yield();
                    ids.push(id);
                }
                resolve();
            })),
            new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
                ids.push('an idle source');
                resolve();
                return false;
            })),
        ]);
    }
    assertEqual(ids.join(), expected);
});

test('yield-abort', async () => {
    const controller = new TaskController();
    await isAbort(scheduler.postTask(async () => {
        controller.abort();
        await isAbort(scheduler.yield());
    }, {signal: controller.signal}));

    const other = new TaskController();
    await scheduler.postTask(async () => {
        scheduler.postTask(() => other.abort(), {priority: 'user-blocking'});
        assert(!other.signal.aborted);
        await isAbort(scheduler.yield());
    }, {signal: other.signal});
});

test('yield-scheduling-state-cleared', async () => {
    const ids = [];
    await new Promise(resolve => scheduler.postTask(() => {
        timer(async () => {
            const task = scheduler.postTask(() => ids.push('task'), {priority: 'user-visible'});
            await scheduler.yield();
            ids.push('continuation');
            await task;
            resolve();
        });
    }, {priority: 'background'}));
    assertEqual(ids.join(), 'continuation,task');
});

// The ways in which a task comes to its yield.
const WAYS = [
    ['no promise between', body => body()],
    ['a pending promise', async body => {
        await new Promise(resolve => queueMicrotask(resolve));
        return body();
    }],
    ['a settled promise', async body => {
        await Promise.resolve();
        return body();
    }],
    ['a value', async body => {
        await null;
        return body();
    }],
    ['then () of a settled promise', body => Promise.resolve().then(body)],
    ['a chain of then ()', body => Promise.resolve().then(() => {}).then(body)],
    ['a thenable', async body => {
        await {then: resolve => resolve()};
        return body();
    }],
    ['then () of a thenable', body => new Promise(resolve => resolve({then: next => next(body())}))],
    ['a promise that a thenable resolves', async body => {
        await new Promise(resolve => resolve({then: next => next()}));
        return body();
    }],
    ['timers and a file', async body => {
        await nextTimer();
        await loadFile();
        await nextTimer();
        return body();
    }],
];

for (const [name, go] of WAYS) {
    test(`yield-inherit-across-promises, -settled-promises: ${name}`, async () => {
        for (const options of [{priority: 'background'}, {signal: signalOf('background')}]) {
            const ids = [];
            await scheduler.postTask(() => go(async () => {
                const task = scheduler.postTask(() => ids.push('task'));
                await scheduler.yield();
                ids.push('continuation');
                await task;
            }), options);
            assertEqual(ids.join(), 'task,continuation');
        }
    });

    test(`yield-inherit-abort-across-settled-promises: ${name}`, async () => {
        const controller = new TaskController();
        let rejected = null;
        await scheduler.postTask(() => go(async () => {
            scheduler.postTask(() => controller.abort(), {priority: 'user-blocking'});
            assert(!controller.signal.aborted);
            rejected = await rejection(scheduler.yield());
        }), {signal: controller.signal});
        assertEqual(rejected?.name, 'AbortError');
    });
}

function testExactly(name, body) {
    if (exact)
        test(name, body);
}

testExactly('yield-inherit-across-promises: the state of the waiting code, not of the settling code', async () => {
    const ids = [];
    let resolve;
    const waiting = new Promise(r => (resolve = r)).then(async () => {
        await scheduler.yield();
        ids.push('continuation');
    });
    await scheduler.postTask(resolve, {priority: 'user-blocking'});
    const task = scheduler.postTask(() => ids.push('task'), {priority: 'user-blocking'});
    await Promise.all([waiting, task]);
    assertEqual(ids.join(), 'task,continuation');
});

testExactly('yield-inherit-across-promises: queueMicrotask () has the state of its caller', async () => {
    const ids = [];
    let resolve;
    const stranger = new Promise(r => (resolve = r)).then(async () => {
        ids.push('p1-start');
        await scheduler.yield();
        ids.push('p1-continuation');
    });
    const task = scheduler.postTask(() => {
        resolve();
        queueMicrotask(async () => {
            ids.push('p2-start');
            await scheduler.yield();
            ids.push('p2-continuation');
        });
    }, {priority: 'user-blocking'});
    const last = scheduler.postTask(() => ids.push('p3'), {priority: 'user-blocking'});
    await Promise.all([stranger, task, last]);
    assertEqual(ids.join(), 'p1-start,p2-start,p2-continuation,p3,p1-continuation');
});

run();
