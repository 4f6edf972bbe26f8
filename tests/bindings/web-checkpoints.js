// web-checkpoints.js: reactions to other sources run before the next task
//
// Between two callbacks there is a microtask checkpoint, whatever code calls them.  Here a source of GLib is dispatched in the
// same iteration as the tasks of a priority, right before them: it has the priority of their source, and was attached before
// it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {GLib} = imports.gi;

// Sources by the priority of tasks; each is dispatched once when it is rung.
const bells = {};

for (const [priority, level] of Object.entries({'user-blocking': -50, 'user-visible': 0, 'background': 300})) {
    const source = GLib.timeout_source_new(0x7fffffff);
    source.set_priority(level);
    source.set_callback(() => {
        bells[priority].resolve();
        return GLib.SOURCE_CONTINUE;
    });
    source.attach(null);
    bells[priority] = {source, resolve: null};
}

// Resolves a promise from the source, which is dispatched in the next iteration.
const ring = priority => new Promise(resolve => {
    bells[priority].resolve = resolve;
    bells[priority].source.set_ready_time(0);
});

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(GLib.path_get_dirname(imports.system.programPath));
const {PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test} = imports.tap;
const {TaskController, queueMicrotask, scheduler} = PrioSched.web;
const native = PrioSched.Scheduler.get_default();

// Waits until no work of the last test is left: its tasks, and other sources, have had their turn.
const rest = () => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

for (const priority of Object.keys(bells)) {
    const withSignal = () => new TaskController({priority});
    // Continuations of that priority run with the next priority.
    const bell = priority === 'user-visible' ? 'user-blocking' : priority;

    test(`a source’s reaction aborts a ${priority} task before that begins`, async () => {
        await rest();
        const controller = withSignal(), {signal} = controller;
        let ran = false;
        const task = scheduler.postTask(() => {
            ran = true;
        }, {signal});
        const reaction = ring(priority).then(() => controller.abort('aborted'));
        assertEqual([await rejection(task), ran], ['aborted', false]);
        await reaction;
    });

    test(`a source’s reaction aborts a ${priority} yield before that settles`, async () => {
        await rest();
        const controller = withSignal(), {signal} = controller;
        let yielded, wentOn = false;
        const reaction = new Promise(resolve => {
            const task = scheduler.postTask(async () => {
                await rest();
                ring(bell).then(() => resolve(controller.abort('aborted')));
                yielded = scheduler.yield();
                await yielded;
                wentOn = true;
            }, {signal});
            task.catch(() => {});
        });
        await reaction;
        assertEqual([await rejection(yielded), wentOn], ['aborted', false]);
    });

    test(`a source’s reaction is not part of a ${priority} task that has not begun`, async () => {
        await rest();
        const controller = withSignal(), {signal} = controller, log = [];
        const rejected = rejection(scheduler.postTask(() => log.push('task'), {signal}));
        await ring(priority);
        log.push(PrioSched.SchedulingState.get_current());
        const yielded = scheduler.yield();
        controller.abort('aborted');
        await yielded;
        assertEqual([await rejected, log], ['aborted', [null]]);
    });

    test(`a microtask that a source queues comes before a plain ${priority} task`, async () => {
        await rest();
        const log = [];
        const task = scheduler.postTask(() => log.push('task'), {priority});
        bells[priority].resolve = () => {
            queueMicrotask(() => log.push('web'));
            native.queue_microtask(() => {
                log.push('native');
                queueMicrotask(() => log.push('of a microtask'));
            });
        };
        bells[priority].source.set_ready_time(0);
        await task;
        assertEqual(log, ['web', 'native', 'of a microtask', 'task']);
    });

    test(`a source’s reaction comes before a plain ${priority} task`, async () => {
        await rest();
        const log = [];
        const task = scheduler.postTask(() => log.push('task'), {priority});
        const reaction = ring(priority).then(() => Promise.resolve()).then(() => log.push('reaction'));
        await Promise.all([task, reaction]);
        assertEqual(log, ['reaction', 'task']);
    });
}

test('reactions to a callback of post () run before the next task of its batch', async () => {
    await rest();
    const controller = new TaskController(), log = [];
    let resolve;
    const heard = new Promise(settle => {
        resolve = settle;
    }).then(() => controller.abort('aborted'));
    native.post(PrioSched.TaskPriority.USER_VISIBLE, () => {
        resolve();
        return GLib.SOURCE_REMOVE;
    });
    const task = scheduler.postTask(() => log.push('task'), {signal: controller.signal});
    assertEqual([await rejection(task), log], ['aborted', []]);
    await heard;
});

test('reactions to a callback of post () run before the next one', async () => {
    await rest();
    const log = [];
    const posted = new Promise(done => {
        for (let i = 0; i < 3; i++) {
            native.post(PrioSched.TaskPriority.USER_VISIBLE, () => {
                log.push(`callback ${i}`);
                Promise.resolve().then(() => log.push(`reaction ${i}`));
                if (i === 2)
                    done();
                return GLib.SOURCE_REMOVE;
            });
        }
    });
    await posted;
    assertEqual(log.slice(0, 5), ['callback 0', 'reaction 0', 'callback 1', 'reaction 1', 'callback 2']);
});

test('a main loop continues in such a reaction', async () => {
    await rest();
    const context = GLib.MainContext.default();
    const task = scheduler.postTask(() => 'task');
    await ring('user-visible');
    let inside = false;
    GLib.idle_add(GLib.PRIORITY_LOW, () => {
        inside = true;
        return GLib.SOURCE_REMOVE;
    });
    for (let i = 0; i < 100 && !inside; i++)
        context.iteration(false);
    assert(inside, 'the source has not run');
    assertEqual(await task, 'task');
});

run();
