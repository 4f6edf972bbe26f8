// web-states.js: code continues with the state of the waiting code, never of the settling code
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assertEqual, rejection, run, test} = imports.tap;
const {web} = PrioSched;
const {TaskController, scheduler} = web;
const native = PrioSched.Scheduler.get_default();

// Waits by a source of GLib, in which no state is current.
const wait = (ms = 1) => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
    resolve();
    return false;
}));

const makeEvent = () => {
    const event = {};
    event.promise = new Promise(resolve => {
        event.fire = resolve;
    });
    return event;
};

// Finds out the priority of a yield here: nothing runs after a background continuation, otherwise a user-visible task
// does.
async function priorityHere() {
    const log = [];
    const tasks = ['background', 'user-visible', 'user-blocking'].map(priority =>
        scheduler.postTask(() => log.push(priority), {priority}));
    await scheduler.yield();
    const before = log.length;
    await Promise.all(tasks);
    return ['user-blocking', 'user-visible', 'background'][before];
}

test('code outside any task that waits for a task is not aborted with it', async () => {
    for (const between of [() => {}, () => wait()]) {
        const controller = new TaskController({priority: 'background'});
        const event = makeEvent();
        const stranger = (async () => {
            await event.promise;
            do {
                await scheduler.yield();
                await between();
            } while (!controller.signal.aborted);
            await scheduler.yield();
            return 'went on';
        })();
        const task = scheduler.postTask(async () => {
            event.fire();
            for (;;)
                await scheduler.yield();
        }, {signal: controller.signal});
        await event.promise;
        await wait(5);
        controller.abort('the task of somebody else');
        assertEqual([await stranger, await rejection(task)], ['went on', 'the task of somebody else']);
    }
});

test('code outside any task that waits for a task does not get its priority', async () => {
    for (const priority of ['background', 'user-blocking']) {
        const event = makeEvent();
        const stranger = (async () => {
            await event.promise;
            return [await priorityHere(), await priorityHere()];
        })();
        await scheduler.postTask(() => event.fire(), {priority});
        assertEqual(await stranger, ['user-visible', 'user-visible']);
    }
});

test('a task that waits for another is not aborted with it', async () => {
    const event = makeEvent(), controller = new TaskController();
    const waiting = scheduler.postTask(async () => {
        await event.promise;
        await scheduler.yield();
        return 'went on';
    });
    const other = new TaskController();
    const signalled = scheduler.postTask(async () => {
        await event.promise;
        await scheduler.yield();
        return 'went on';
    }, {signal: other.signal});
    await wait(5);
    const settling = rejection(scheduler.postTask(() => {
        event.fire();
        controller.abort('aborted');
    }, {signal: controller.signal}));
    assertEqual(await Promise.all([waiting, signalled, settling]), ['went on', 'went on', 'aborted']);
});

test('microtasks outside of tasks, and the native methods, do not change a task’s state', async () => {
    const event = makeEvent(), controller = new PrioSched.TaskController({priority: 'background'}), log = [];
    const stranger = (async () => {
        await event.promise;
        await native.yield();
        native.queue_microtask(async () => log.push(await priorityHere()));
        await native.yield({signal: 'inherit', priority: 'inherit'});
        await native.post_task(() => {});
        await native.yield();
        return 'went on';
    })();
    const task = native.post_task(() => {
        event.fire();
        controller.abort('aborted');
    }, {signal: controller.signal});
    assertEqual([await rejection(task), await stranger], ['aborted', 'went on']);
    await wait(5);
    assertEqual(log, ['user-visible']);
});

test('an idle callback does not pass on its state', async () => {
    const found = [];
    const stranger = (async () => {
        await new Promise(resolve => web.requestIdleCallback(resolve));
        found.push(await priorityHere());
    })();
    await new Promise(resolve => web.requestIdleCallback(async () => {
        await null;
        found.push(await priorityHere());
        resolve();
    }));
    await stranger;
    assertEqual(found.sort(), ['background', 'user-visible']);
});

test('code that a task starts keeps its state, through its functions', async () => {
    const deep = async n => {
        if (n > 0)
            await deep(n - 1);
        await scheduler.yield();
    };
    async function* generate() {
        for (let i = 0; i < 3; i++) {
            await scheduler.yield();
            yield i;
        }
    }
    const found = await scheduler.postTask(async () => {
        const here = [await priorityHere()];
        await deep(10);
        here.push(await priorityHere());
        await Promise.all([deep(1), deep(2)]);
        here.push(await priorityHere());
        for await (const i of generate())
            here.push(i);
        here.push(await priorityHere());
        await scheduler.postTask(() => scheduler.yield(), {priority: 'user-blocking'});
        await null;
        here.push(await priorityHere());
        return here;
    }, {priority: 'background'});
    assertEqual(found, ['background', 'background', 'background', 0, 1, 2, 'background', 'background']);
});

test('a task keeps its state after calls of GIO’s and timeouts, and its abort is heard', async () => {
    const file = Gio.File.new_for_path('/');
    const query = () => new Promise((resolve, reject) => file.query_info_async('standard::*', 0, GLib.PRIORITY_DEFAULT, null, (_, result) => {
        try {
            resolve(file.query_info_finish(result));
        } catch (error) {
            reject(error);
        }
    }));
    for (const other of [() => wait(), query, () => Promise.all([wait(), query()]), () => ({then: resolve => wait().then(resolve)})]) {
        for (const priority of ['background', 'user-blocking']) {
            assertEqual(await scheduler.postTask(async () => {
                await other();
                return priorityHere();
            }, {priority}), priority);
        }
        const controller = new TaskController({priority: 'background'});
        const task = rejection(scheduler.postTask(async () => {
            for (;;) {
                await other();
                await scheduler.yield();
            }
        }, {signal: controller.signal}));
        await wait(10);
        controller.abort('enough');
        assertEqual(await task, 'enough');
    }
});

test('two hundred tasks, each under a signal, do not take one another’s', async () => {
    const event = makeEvent();
    const controllers = Array.from({length: 200}, () => new TaskController({priority: 'background'}));
    const tasks = controllers.map(({signal}, i) => scheduler.postTask(async () => {
        await scheduler.yield();
        if (i === 199)
            event.fire();
        else
            await event.promise;
        for (let k = 0; k < 5; k++)
            await scheduler.yield();
        return i;
    }, {signal}).catch(reason => reason));
    await event.promise;
    controllers[199].abort('the last');
    const results = await Promise.all(tasks);
    assertEqual([results.pop(), results.every((result, i) => result === i)], ['the last', true]);
});

// Aborts controller at once, or in a main loop that the calling task runs.
const aborts = {
    'itself': controller => controller.abort('enough'),
    'in a main loop, by a source': controller => iterateUntil(done => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
        controller.abort('enough');
        done();
        return GLib.SOURCE_REMOVE;
    })),
    'in a main loop, by a task': controller => iterateUntil(done => scheduler.postTask(() => {
        controller.abort('enough');
        done();
    }, {priority: 'user-blocking'})),
};

function iterateUntil(begin) {
    let isDone = false;
    begin(() => {
        isDone = true;
    });
    while (!isDone)
        GLib.MainContext.default().iteration(true);
}

for (const [name, abort] of Object.entries(aborts)) {
    for (const [kind, make] of [['web', options => new TaskController(options)], ['library', options => new PrioSched.TaskController(options)]]) {
        test(`a task of the ${kind} that is aborted in its first turn, ${name}, keeps its state until its function ends`, async () => {
            for (const [priority, delay] of [['background', 0], ['user-visible', 0], ['background', 1]]) {
                const controller = make({priority}), {signal} = controller, found = [], ended = makeEvent();
                const isOwn = () => (kind === 'web' ? web.extras.currentTaskSignal : native.current_signal) === signal;
                const post = kind === 'web' ? scheduler.postTask.bind(scheduler) : native.post_task.bind(native);
                const task = post(async () => {
                    abort(controller);
                    found.push(isOwn());
                    await wait();
                    found.push(isOwn(), await scheduler.yield().catch(reason => reason));
                    await wait();
                    found.push(isOwn());
                    ended.fire();
                }, {signal, ...delay === 0 ? {} : {delay}});
                assertEqual(await rejection(task), 'enough');
                await ended.promise;
                assertEqual(found, [true, true, 'enough', true]);
            }
        });
    }
}

run();
