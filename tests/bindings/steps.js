// steps.js: generators as tasks, and errors of aborts, in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {AbortError, web} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();

class Superseded extends AbortError {}

test('a generator is stepped, and its result is its return value', async () => {
    const steps = [];
    const result = await scheduler.post_steps(function* () {
        for (let i = 0; i < 5; i++) {
            steps.push(i);
            yield i;
        }
        return 'result';
    }, {priority: 'background', name: 'count'});
    assertEqual([steps, result], [[0, 1, 2, 3, 4], 'result']);
});

test('progress comes once for each batch, also if nothing follows the last one', async () => {
    const heard = [];
    await scheduler.post_steps(function* () {
        for (let i = 0; i < 3; i++) {
            scheduler.post_task(() => {}, {priority: 'user-blocking'}); // so that it yields
            yield i;
        }
    }, {priority: 'background', progress: value => heard.push(value)});
    assertEqual(heard, [0, 1, 2]);
});

test('the slice decides when it yields, and progress comes once per batch', async () => {
    const log = [], heard = [];
    await scheduler.post_steps(function* () {
        for (let i = 0; i < 300; i++) {
            if (i === 20)
                scheduler.post_task(() => log.push('urgent'), {priority: 'user-blocking'});
            log.push(i);
            for (const end = GLib.get_monotonic_time() + 100; GLib.get_monotonic_time() < end;);
            yield i;
        }
    }, {priority: 'background', progress: value => heard.push(value)});
    assertEqual(log.length, 301);
    assert(log.indexOf('urgent') < 150, `${log.indexOf('urgent')}`);
    assert(heard.includes(20) && heard.length < 200, `${heard}`);
    assertEqual(heard[heard.length - 1], 299);
    assertEqual([...new Set(heard)], heard);
});

test('long ones after short ones are seen', async () => {
    // One of these items is a tick of the coarse clock, and the source waits for at most a few.
    for (const n of [10, 100, 1000]) {
        let ran = 0, most = 0;
        const look = () => {
            most = Math.max(most, ran);
            ran = 0;
            return true;
        };
        const work = i => {
            if (i < n)
                return;
            ran++;
            for (const end = GLib.get_monotonic_time() + 4000; GLib.get_monotonic_time() < end;);
        };
        const end = where => {
            look();
            assert(most <= 5, `${n} short ones first, ${where}: ${most}`);
            most = 0;
        };
        const source = GLib.idle_add(GLib.PRIORITY_DEFAULT, look), items = [...Array(n + 20).keys()];
        await scheduler.post_task(async () => {
            for await (const i of scheduler.each(items))
                work(i);
        });
        end('each ()');
        await scheduler.post_steps(function* () {
            for (const i of items)
                yield work(i);
        });
        end('steps');
        await Promise.all(items.map(i => scheduler.post_task(() => work(i))));
        end('tasks');
        GLib.source_remove(source);
    }
});

test('an abort comes between two steps', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'}), why = new Superseded('later');
    let closed = 0;
    const error = await rejection(scheduler.post_steps(function* () {
        try {
            for (let i = 0; i < 1e6; i++) {
                if (i === 10)
                    scheduler.post_task(() => controller.abort(why), {priority: 'user-blocking'});
                yield i;
            }
        } finally {
            closed++;
        }
    }, {signal: controller.signal}));
    assert(error === why);
    assertEqual(closed, 1);
});

// Ways in which a step aborts its own task: the options of the task, and a function that aborts.
const selfAborts = {
    'a controller': () => {
        const controller = new PrioSched.TaskController('background');
        return [{signal: controller.signal}, () => controller.abort('stop')];
    },
    'a controller of the web': () => {
        const controller = new web.TaskController();
        return [{signal: controller.signal.cancellable}, () => controller.abort('stop')];
    },
    'a source of its signal': () => {
        const controller = new PrioSched.TaskController('background');
        return [{signal: PrioSched.TaskSignal.any([controller.signal], 'background')}, () => controller.abort('stop')];
    },
    'cancel () of its signal': () => {
        const {signal} = new PrioSched.TaskController('background');
        return [{signal}, () => signal.cancel()];
    },
    'cancel () of a signal that the web knows': () => {
        const {signal} = new PrioSched.TaskController('background');
        web.AbortSignal.any([signal]);
        return [{signal}, () => signal.cancel()];
    },
    'a cancellable': () => {
        const signal = new Gio.Cancellable();
        return [{signal}, () => signal.cancel()];
    },
};

const nextIteration = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
    resolve();
    return false;
}));

for (const [name, make] of Object.entries(selfAborts)) {
    test(`an abort by a step is thrown where it yields next: ${name}`, async () => {
        for (const poster of [scheduler, new PrioSched.TaskGroup({limit: 1})]) {
            const [options, abort] = make(), heard = [];
            let after = 0, closed = 0, caught = null;
            const error = await rejection(poster.post_steps(function* () {
                try {
                    for (let i = 0; i < 1000; i++) {
                        if (i === 100)
                            abort();
                        yield i;
                        if (i >= 100)
                            after++;
                    }
                } catch (thrownHere) {
                    caught = thrownHere;
                    throw thrownHere;
                } finally {
                    closed++;
                }
            }, {...options, progress: value => heard.push(value)}));
            assertEqual([after, closed, caught === error], [0, 1, true]);
            assertEqual(heard[heard.length - 1], 100);
        }
    });

    for (const [kind, pause] of [['its body', () => {}], ['its body, which has waited for something else', nextIteration]]) {
        test(`an abort by an item is heard before the next: ${name}, in ${kind}`, async () => {
            const [options, abort] = make();
            let items = 0, closed = 0;
            const source = function* () {
                try {
                    for (let i = 0; i < 200; i++)
                        yield i;
                } finally {
                    closed++;
                }
            };
            await new Promise(resolve => {
                scheduler.post_task(async () => {
                    try {
                        for await (const i of scheduler.each(source())) {
                            await pause();
                            items++;
                            if (i === 9)
                                abort();
                        }
                    } finally {
                        resolve();
                    }
                }, options).catch(() => {});
            });
            assertEqual([items, closed], [10, 1]);
        });
    }
}

test('an abort of the group by a step is thrown where it yields next', async () => {
    const group = new PrioSched.TaskGroup({limit: 1});
    let after = 0;
    assertEqual(await rejection(group.post_steps(function* () {
        for (let i = 0; i < 1000; i++) {
            if (i === 100)
                group.abort('stop');
            yield i;
            if (i >= 100)
                after++;
        }
    })), 'stop');
    assertEqual(after, 0);
});

test('a generator that has noticed an abort continues within its slice', async () => {
    const controller = new PrioSched.TaskController('background'), other = new PrioSched.TaskController('background');
    const own = PrioSched.Scheduler.new(null);
    own.time_slice = 60000;
    let cleaned = 0;
    await rejection(own.post_steps(function* () {
        try {
            controller.abort('stop');
            yield 1;
        } finally {
            for (; cleaned < 3; cleaned++) {
                other.abort();
                yield cleaned;
            }
        }
    }, {signal: controller.signal}));
    await scheduler.sleep(1);
    assertEqual(cleaned, 3);
});

// Events that end the steps, by the promise that they wait for.
const ends = {
    'a sleep': () => [() => scheduler.sleep(60000)],
    'a promise': () => [() => new Promise(() => {})],
    'its own abort': abort => [abort],
    'its own abort, which yields a sleep': abort => [() => {
        abort();
        return scheduler.sleep(60000);
    }],
};
for (const [name, make] of Object.entries(ends)) {
    test(`steps that have heard of an abort may sleep: ${name}`, async () => {
        for (const isLate of [false, true]) {
            const controller = new PrioSched.TaskController('background'), log = [];
            const [wait] = make(() => controller.abort('stop'));
            let begun, closed;
            const [hasBegun, isClosed] = [new Promise(resolve => (begun = resolve)), new Promise(resolve => (closed = resolve))];
            scheduler.post_steps(function* () {
                if (isLate)
                    yield scheduler.sleep(1);
                begun();
                try {
                    yield wait();
                } catch (error) {
                    log.push(error, PrioSched.SchedulingState.get_current()?.get_cancellable() ?? null);
                    yield scheduler.sleep(1);
                    yield 'a step';
                    yield scheduler.sleep(1);
                    log.push('slept');
                } finally {
                    closed();
                }
            }, {signal: controller.signal}).catch(() => {});
            await hasBegun;
            controller.abort('stop');
            await isClosed;
            assertEqual(log, ['stop', null, 'slept']);
        }
    });
}

test('its exception is the result', async () => {
    const why = new Error('mine');
    assert(await rejection(scheduler.post_steps(function* () {
        yield 1;
        throw why;
    })) === why);
    let closed = 0;
    assert(await rejection(scheduler.post_steps(function* () {
        try {
            for (;;)
                yield 1;
        } finally {
            closed++;
        }
    }, {progress() {
        throw why;
    }})) === why);
    assertEqual(closed, 1);
    assert(/is not a generator/.test((await rejection(scheduler.post_steps(() => 5))).message));
    assert(/is not a function/.test(thrown(() => scheduler.post_steps(5)).message));
    assert(/is not a function/.test(thrown(() => scheduler.post_steps(() => {}, {progress: 5})).message));
});

test('a generator function is not a task: the error of a post names post_steps ()', async () => {
    const group = new PrioSched.TaskGroup({limit: 2});
    function* count() {
        yield 1;
        return 2;
    }
    async function* countLater() {
        yield 1;
    }
    const calls = {
        'post_task ()': callback => scheduler.post_task(callback),
        'post_task () ': callback => scheduler.post_task(callback, {priority: 'background'}),
        ' post_task ()': callback => group.post_task(callback),
        'latest ()': callback => scheduler.latest(callback),
        'schedule_callback ()': callback => scheduler.schedule_callback('normal', callback),
        'post ()': callback => scheduler.post('background', callback),
        'queue_microtask ()': callback => scheduler.queue_microtask(callback),
        'request_idle_callback ()': callback => scheduler.request_idle_callback(callback),
    };
    for (const [where, call] of Object.entries(calls)) {
        for (const callback of [count, countLater, function* () {}, count.bind(null)]) {
            const error = thrown(() => call(callback));
            assert(error instanceof TypeError, `${where}: ${error}`);
            assert(error.message.startsWith(`${where.trim()}: `), error.message);
        }
        assert(thrown(() => call(count)).message.includes('“count” is a generator function'), where);
        assert(thrown(() => call(countLater)).message.includes('“countLater” is an asynchronous generator function'), where);
    }
    assert(/post_steps \(\) makes its steps/.test(thrown(() => scheduler.post_task(count)).message));
    assert(/for await/.test(thrown(() => scheduler.post_task(countLater)).message));
    assert(/the callback is a generator function/.test(thrown(() => scheduler.post_task((() => function* () {})())).message));
    assertEqual([scheduler.count_pending(), group.n_tasks], [0, 0]);

    // A function may return a generator on purpose, because the draft has no steps.
    assertEqual((await scheduler.post_task(() => count())).next().value, 1);
    assertEqual((await web.scheduler.postTask(count)).next().value, 1);
});

test('a generator is stepped in a group', async () => {
    const group = new PrioSched.TaskGroup({limit: 1, priority: 'background'}), log = [], heard = [];
    const first = group.post_steps(function* () {
        for (let i = 0; i < 3; i++) {
            log.push(`first ${i}`);
            yield i;
        }
        return group.n_tasks;
    }, {name: 'count', progress: value => heard.push(value)});
    const second = group.post_steps(function* () {
        yield log.push('second');
        return 'result';
    });
    assertEqual([await first, await second], [2, 'result']);
    assertEqual(log, ['first 0', 'first 1', 'first 2', 'second']);
    assertEqual(heard[heard.length - 1], 2);

    const aborted = rejection(group.post_steps(function* () {
        for (;;)
            yield scheduler.post_task(() => group.abort('enough'), {priority: 'user-blocking'});
    }));
    assertEqual(await aborted, 'enough');
    assert(/“limit” is not an option of post_steps ()/.test(thrown(() => group.post_steps(() => {}, {limit: 3})).message));
    assert(/is not a function/.test(thrown(() => group.post_steps(5)).message));
});

test('an abort is easy to tell apart', async () => {
    const controller = new PrioSched.TaskController(), task = scheduler.post_task(() => {}, {signal: controller.signal});
    controller.abort();
    assert(await rejection(task) instanceof AbortError);
    assert(await rejection(scheduler.yield({signal: controller.signal})) instanceof AbortError);
    assert(!(await rejection(task) instanceof Superseded));

    const own = new PrioSched.TaskController(), why = new Superseded('a later search');
    own.abort(why);
    const error = await rejection(scheduler.post_task(() => {}, {signal: own.signal}));
    assert(error === why && error instanceof AbortError && error instanceof Superseded && error instanceof Error);
    assertEqual(error.name, 'AbortError');

    const onWeb = new web.TaskController();
    onWeb.abort();
    assert(await rejection(web.scheduler.postTask(() => {}, {signal: onWeb.signal})) instanceof AbortError);
    for (const other of [new Error('x'), new Gio.IOErrorEnum({code: Gio.IOErrorEnum.NOT_FOUND, message: 'x'}), null, undefined, 5, 'AbortError'])
        assert(!(other instanceof AbortError), `${other}`);
});

test('it waits for a promise that it yields, and gets the value', async () => {
    const log = [], heard = [];
    const result = await scheduler.post_steps(function* () {
        yield 1;
        const start = GLib.get_monotonic_time();
        yield scheduler.sleep(20);
        log.push(GLib.get_monotonic_time() - start >= 20000);
        log.push(yield scheduler.post_task(() => 'value', {priority: 'background'}));
        try {
            yield Promise.reject(new Error('why'));
        } catch (error) {
            log.push(error.message);
        }
        yield 2;
        return 'result';
    }, {progress: value => heard.push(value)});
    assertEqual([result, log, heard], ['result', [true, 'value', 'why'], [1, 2]]);
});

test('an abort ends the wait of a generator', async () => {
    const controller = new PrioSched.TaskController();
    const log = [];
    let task;
    await new Promise(begun => (task = scheduler.post_steps(function* () {
        begun();
        try {
            yield scheduler.sleep(60000);
        } catch (error) {
            log.push(error);
            throw error;
        }
    }, {signal: controller.signal})));
    await scheduler.yield();
    controller.abort('enough');
    assertEqual([await rejection(task), log], ['enough', ['enough']]);
});

const never = () => new Promise(() => {});
const nextIdle = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_LOW, () => {
    resolve();
    return false;
}));

const waits = {
    'a promise that never comes': never,
    'a promise of a derived class': () => new (class extends Promise {})(() => {}),
    'sleep ()': () => scheduler.sleep(600000),
    'adopt ()': () => scheduler.adopt(never()),
};

for (const [name, wait] of Object.entries(waits)) {
    test(`an abort ends steps that wait: ${name}`, async () => {
        for (const poster of [scheduler, new PrioSched.TaskGroup({limit: 1})]) {
            const controller = new PrioSched.TaskController('background'), log = [];
            const steps = poster.post_steps(function* () {
                try {
                    log.push('waits');
                    yield wait();
                } catch (error) {
                    log.push(error);
                    throw error;
                } finally {
                    log.push('closed');
                }
            }, {signal: controller.signal});
            while (log.length === 0)
                await nextIdle();
            controller.abort('enough');
            assertEqual([await rejection(steps), log], ['enough', ['waits', 'enough', 'closed']]);
            assertEqual([scheduler.count_pending(), poster.n_tasks ?? poster.count_pending()], [0, 0]);
        }
    });
}

test('an abort is thrown once, and a clean-up may yield and wait after it', async () => {
    const controller = new PrioSched.TaskController('background'), log = [];
    let hasBegun = false;
    const steps = scheduler.post_steps(function* () {
        try {
            hasBegun = true;
            yield never();
        } finally {
            scheduler.post_task(() => log.push('urgent'), {priority: 'user-blocking'});
            yield;
            log.push(yield nextIdle().then(() => 'waited'));
        }
    }, {signal: controller.signal});
    while (!hasBegun)
        await nextIdle();
    controller.abort('enough');
    assertEqual([await rejection(steps), log], ['enough', ['urgent', 'waited']]);
});

test('steps wait for promises in any order, and for each promise once', async () => {
    const controller = new PrioSched.TaskController('background'), log = [];
    await Promise.all(Array.from({length: 40}, (_, i) => scheduler.post_steps(function* () {
        log.push(yield new Promise(resolve => GLib.idle_add(GLib.PRIORITY_LOW - i, () => {
            resolve(i);
            return false;
        })));
        try {
            yield Promise.reject(i);
        } catch (error) {
            log.push(error);
        }
    }, {signal: controller.signal})));
    assertEqual(log.sort((a, b) => a - b), Array.from({length: 80}, (_, i) => i >> 1));
    assertEqual(scheduler.count_pending(), 0);
});

// Runs a main loop in a job of a promise, in which GJS runs no other job: until isOver (), or for a limited time.
const runInJob = isOver => {
    const loop = new GLib.MainLoop(null, false);
    let left = 10000;
    GLib.timeout_add(GLib.PRIORITY_LOW, 1, () => {
        if (!isOver() && --left > 0)
            return true;
        loop.quit();
        return false;
    });
    loop.run();
};

test('steps continue in a main loop that a promise’s job runs', async () => {
    const {signal} = new PrioSched.TaskController();
    for (const options of [{}, {priority: 'background'}, {signal}, {priority: 'user-blocking', name: 'steps'}]) {
        const group = new PrioSched.TaskGroup({limit: 1}), log = [], count = name => function* () {
            for (let i = 0; i < 30; i++) {
                scheduler.post_task(() => {}, {priority: 'user-blocking'});
                yield i;
            }
            log.push(name);
            return name;
        };
        const steps = [[scheduler, 'first'], [group, 'second'], [group, 'third']].map(([poster, name]) => poster.post_steps(count(name), options));
        await Promise.resolve();
        runInJob(() => log.length === 3);
        assertEqual(log.sort(), ['first', 'second', 'third']);
        assertEqual(await Promise.all(steps), ['first', 'second', 'third']);
    }
});

test('an abort reaches steps in a main loop that a promise’s job runs', async () => {
    const controller = new PrioSched.TaskController('background'), log = [];
    let nBegun = 0;
    const endless = function* () {
        try {
            nBegun++;
            for (;;) {
                scheduler.post_task(() => {}, {priority: 'user-blocking'});
                yield;
            }
        } finally {
            log.push('closed');
        }
    };
    const waiting = function* () {
        try {
            nBegun++;
            yield never();
        } finally {
            log.push('closed');
        }
    };
    const steps = [waiting, endless].map(make => rejection(scheduler.post_steps(make, {signal: controller.signal})));
    await Promise.resolve();
    GLib.timeout_add(GLib.PRIORITY_LOW, 1, () => {
        if (nBegun === 2)
            controller.abort('enough');
        return nBegun < 2;
    });
    runInJob(() => log.length === 2);
    assertEqual(log, ['closed', 'closed']);
    assertEqual(await Promise.all(steps), ['enough', 'enough']);
});

run();
