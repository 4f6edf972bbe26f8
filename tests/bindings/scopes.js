// scopes.js: PrioSched.TaskGroup.run () in JavaScript, which waits for tasks, and aborts the rest once one fails
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {TaskController, TaskGroup} = PrioSched;

const FOREVER = 1000000;
const forever = (log, begins = () => {}) => async () => {
    begins();
    try {
        await scheduler.sleep(FOREVER);
    } catch (error) {
        log.push(error instanceof PrioSched.AbortError ? 'aborted' : error);
        throw error;
    }
};
const fail = error => () => {
    throw error;
};
const begun = async group => {
    await group.post_task(() => {}, {priority: 'background'});
};

test('its promise is fulfilled when all tasks have ended', async () => {
    const group = new TaskGroup({limit: 2}), log = [];
    const result = await group.run(async given => {
        assert(given === group);
        for (const i of [1, 2, 3]) {
            group.post_task(async () => {
                await scheduler.sleep(1);
                log.push(i);
                if (i === 3)
                    group.post_task(() => log.push('nested'));
            });
        }
        await scheduler.yield();
        return 'result';
    });
    assertEqual([result, log, group.n_tasks], ['result', [1, 2, 3, 'nested'], 0]);
    assertEqual(await group.run(() => 7), 7);
});

test('the first error aborts the rest, and the promise is rejected with it', async () => {
    const group = new TaskGroup(), log = [], error = new Error('broken');
    const caught = await rejection(group.run(async () => {
        group.post_task(forever(log));
        group.post_task(() => new Promise(() => {})); // an abort does not wait for it
        await begun(group);
        group.post_task(fail(error));
        group.post_task(fail(new Error('second')), {priority: 'background'});
    }));
    assert(caught === error);
    assertEqual([log, group.n_tasks], [['aborted'], 0]);
});

test('the function learns the error from its next post', async () => {
    const group = new TaskGroup(), log = [], error = new Error('broken');
    const caught = await rejection(group.run(async () => {
        group.post_task(fail(error));
        try {
            for (;;) {
                await scheduler.yield({priority: 'background'});
                group.post_task(() => {});
            }
        } catch (thrown) {
            log.push(thrown === error);
            throw new Error('later');
        }
    }));
    assert(caught === error);
    assertEqual(log, [true]);
    assert(await rejection(group.run(async () => {
        await group.post_task(fail(error)).catch(() => {});
        await group.feed(() => {}, [1]);
    })) === error);
});

test('a function that throws aborts all tasks', async () => {
    for (const isLate of [false, true]) {
        const group = new TaskGroup({limit: 1}), log = [], error = new Error('function');
        const caught = await rejection(group.run(isLate ? async () => {
            const begins = new Promise(resolve => group.post_task(forever(log, resolve)));
            group.post_task(() => log.push('ran'));
            await begins;
            throw error;
        } : fail(error)));
        assert(caught === error);
        assertEqual([log, group.n_tasks], [isLate ? ['aborted'] : [], 0]);
    }
});

test('a task that is aborted has not failed', async () => {
    const group = new TaskGroup(), log = [];
    for (const reason of [undefined, 'closed']) {
        const controller = new TaskController();
        assertEqual(await group.run(async () => {
            group.post_task(forever(log), {signal: controller.signal}).catch(() => {});
            group.post_task(() => log.push('ran'));
            await begun(group);
            controller.abort(reason);
            return 1;
        }), 1);
    }
    assertEqual(log, ['ran', 'aborted', 'ran', 'closed']);
    assertEqual(await group.run(async () => {
        group.post_task(forever(log)).catch(() => {});
        await begun(group);
        group.abort('enough');
        group.post_task(() => log.push('after'));
        return 2;
    }), 2);
    assertEqual(log.slice(4), ['enough', 'after']);
});

test('an abort of the calling task aborts all, which end before the promise is rejected', async () => {
    for (const waits of [false, true]) {
        const group = new TaskGroup(), log = [], controller = new TaskController();
        let task;
        await new Promise(begins => {
            task = scheduler.post_task(async () => {
                try {
                    await group.run(async () => {
                        group.post_task(async () => {
                            begins();
                            try {
                                await scheduler.sleep(FOREVER);
                            } finally {
                                log.push('cleans up');
                            }
                        });
                        if (waits)
                            await scheduler.sleep(FOREVER);
                    });
                } finally {
                    log.push(group.n_tasks);
                }
            }, {signal: controller.signal});
        });
        controller.abort('closed');
        assertEqual(await rejection(task), 'closed');
        assertEqual(log, ['cleans up', 0]);
    }
});

test('the task goes on with its priority', async () => {
    const group = new TaskGroup();
    const nick = await scheduler.post_task(async () => {
        await group.run(() => group.post_task(() => scheduler.sleep(1)));
        return PrioSched.SchedulingState.get_current()?.get_priority();
    }, {priority: 'background'});
    assertEqual(nick, PrioSched.TaskPriority.BACKGROUND);
});

test('a feed is waited for, and an item that fails aborts the rest', async () => {
    const group = new TaskGroup({limit: 2}), done = [], error = new Error('item');
    await group.run(() => {
        group.feed(async item => {
            await scheduler.yield();
            done.push(item);
        }, [1, 2, 3, 4, 5]);
    });
    assertEqual(done.sort(), [1, 2, 3, 4, 5]);
    let nTaken = 0;
    assert(await rejection(group.run(() => {
        group.feed(item => item === 3 ? fail(error)() : scheduler.sleep(FOREVER), (function* () {
            for (nTaken = 1; ; nTaken++)
                yield nTaken * 3;
        })());
    })) === error);
    assert(nTaken < 5);
    assert(await rejection(group.run(() => {
        group.feed(() => {}, (function* () {
            yield 1;
            throw error;
        })());
    })) === error);
});

test('a task of the group may run a function in it', async () => {
    const group = new TaskGroup({limit: 1}), log = [];
    await group.post_task(() => group.run(async () => {
        await scheduler.yield();
        group.post_task(() => log.push('inner'));
    }));
    assertEqual(log, ['inner']);
});

test('wrong arguments, and a second function', async () => {
    const group = new TaskGroup();
    assert((await rejection(group.run(3))).message.includes('3 is not a function'));
    assert((await rejection(group.run(function* () {}))).message.includes('generator function'));
    await group.run(async () => {
        assert((await rejection(group.run(() => {}))).message.includes('the group already runs a function'));
    });
    await group.run(() => {});
});

test('a rejection that run () passes on, or causes, is not reported', async () => {
    const reported = [], logged = globalThis.logError;
    globalThis.logError = error => reported.push(`${error}`);
    const group = new TaskGroup();
    const post = async () => {
        group.post_task(forever([])).catch(() => {});
        group.post_task(forever([]));
        group.feed(() => scheduler.sleep(FOREVER), [1, 2, 3]);
        await begun(group);
        group.post_task(fail(new Error('first')));
    };
    try {
        await rejection(group.run(post));
        await scheduler.sleep(5);
        assertEqual(reported, []);
        await post();
        while (!reported.includes('Error: first'))
            await scheduler.sleep(1);
        group.abort();
    } finally {
        globalThis.logError = logged;
    }
});

run();
