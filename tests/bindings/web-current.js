// web-current.js: the library's own methods use the state of the calling code, in nested main loops too
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {SchedulingState, TaskController} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();
const context = GLib.MainContext.default();
const isExact = PrioSched.nativePart === 'state';

const BACKGROUND = 1;

const idle = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

const settled = {
    'nothing': async () => {},
    'a yield': () => scheduler.yield(),
    'a task': () => scheduler.post_task(() => {}),
    'an idle source': idle,
    'setTimeout': () => new Promise(resolve => setTimeout(resolve, 1)),
    'a call of GIO': () => new Promise(resolve => Gio.File.new_for_path('/').query_info_async('standard::name', 0, 0, null, resolve)),
    'a subprocess': () => new Promise(resolve => Gio.Subprocess.new(['true'], 0).wait_async(null, resolve)),
};

const here = () => SchedulingState.get_current();
const priorityHere = () => here()?.get_priority() ?? null;
const signalHere = () => here()?.get_cancellable() ?? null;

const yieldAsync = (note = () => {}) => new Promise((resolve, reject) => scheduler.yield_async((source, result) => {
    try {
        note();
        resolve(source.yield_finish(result));
    } catch (error) {
        reject(error);
    }
}));

for (const [name, settle] of Object.entries(settled)) {
    test(`the current state after ${name}`, async () => {
        const controller = new TaskController({priority: 'background'});
        const found = await scheduler.post_task(async () => {
            await settle();
            const first = here();
            await settle();
            return [first, here()];
        }, {signal: controller.signal});
        for (const state of found) {
            assert(state instanceof SchedulingState);
            assertEqual([state.get_priority(), state.get_cancellable() === controller.signal, state.dup_scheduler() === scheduler], [0, true, true]);
        }
        assertEqual(await scheduler.post_task(async () => {
            await settle();
            return priorityHere();
        }, {priority: 'background'}), BACKGROUND);
        await settle();
        assertEqual(here(), null);
    });

    test(`yield_async () after ${name} goes on as the task`, async () => {
        const log = [], controller = new TaskController({priority: 'background'});
        const task = scheduler.post_task(async () => {
            await settle();
            for (const priority of ['background', 'user-visible', 'user-blocking'])
                scheduler.post_task(() => log.push(priority), {priority});
            await yieldAsync(() => log.push(signalHere() === controller.signal));
            log.push(signalHere() === controller.signal);
            await settle();
            controller.abort('why');
            await yieldAsync();
        }, {signal: controller.signal});
        assertEqual((await rejection(task)).message, 'why');
        assertEqual([log.slice(0, 3), log.slice(3).includes(true)], [['user-blocking', 'user-visible', true], true]);
    });
}

test('what a task settles gives its state to nobody', async () => {
    let settle;
    const promise = new Promise(resolve => {
        settle = resolve;
    });
    const controller = new TaskController({priority: 'background'}), log = [];
    const stranger = (async () => {
        await promise;
        const first = here();
        await new Promise(resolve => scheduler.yield_async((source, result) => {
            log.push(source.yield_finish(result), here());
            resolve();
        }));
        return [first, here()];
    })();
    const task = scheduler.post_task(async () => {
        settle();
        await null;
        controller.abort('of another');
        await scheduler.yield();
    }, {signal: controller.signal});
    assertEqual(await rejection(task), 'of another');
    assertEqual([await stranger, log], [[null, null], [true, null]]);
});

test('the callback of yield_async () has the state of who called that', async () => {
    const found = await scheduler.post_task(async () => {
        await idle();
        return new Promise(resolve => scheduler.yield_async(async () => {
            const first = priorityHere();
            await idle();
            resolve([first, priorityHere()]);
        }));
    }, {priority: 'background'});
    assertEqual(found, [BACKGROUND, BACKGROUND]);
    assertEqual(await new Promise(resolve => scheduler.yield_async(() => resolve(here()))), null);
    for (const value of [null, 5, 'text', {}])
        assert(thrown(() => scheduler.yield_async(value)).message.includes('callback'));
});

test('yield_async () takes options', async () => {
    const options = new PrioSched.YieldOptions({priority: BACKGROUND}), log = [];
    const note = (name, resolve) => (source, result) => resolve(log.push([name, source.yield_finish(result)]));
    await Promise.all([
        new Promise(resolve => scheduler.yield_async(options, note('later', resolve))),
        new Promise(resolve => scheduler.yield_async(null, note('first', resolve))),
        new Promise(resolve => scheduler.yield_async(note('second', resolve))),
    ]);
    assertEqual(log, [['first', true], ['second', true], ['later', true]]);
});

test('JavaScript has the names of the library', () => {
    const controller = new TaskController(), {signal} = controller, group = new PrioSched.TaskGroup(), notified = [];
    signal.connect('notify::aborted', () => notified.push(signal.aborted));
    assertEqual([signal.dup_reason(), signal.aborted, signal.n_pending, scheduler.n_pending, group.n_pending], [null, false, 0, 0, 0]);
    assertEqual([signal, scheduler, group].map(object => object.nPending === object.get_n_pending()), [true, true, true]);
    assert(group.dup_scheduler() === scheduler);
    controller.abort();
    assert(signal.dup_reason() instanceof GLib.Error);
    assertEqual(notified, [true]);
});

test('a state runs functions, and goes on, wherever that is', async () => {
    const controller = new TaskController({priority: 'background'});
    let end;
    const task = scheduler.post_task(async () => {
        await idle();
        const state = here();
        return [state, new Promise(resolve => {
            end = resolve;
        })];
    }, {signal: controller.signal});
    const [state] = await task;
    let inside, after;
    await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
        state.run(() => {
            inside = signalHere();
        });
        after = signalHere();
        resolve();
        return GLib.SOURCE_REMOVE;
    }));
    assertEqual([inside === controller.signal, after], [true, null]);
    const found = await scheduler.post_task(() => {
        const before = priorityHere();
        state.run(() => {
            inside = signalHere() === controller.signal && scheduler.yield().catch(reason => reason);
        });
        return [before, priorityHere()];
    }, {priority: 'background'});
    assertEqual(found, [BACKGROUND, BACKGROUND]);
    assertEqual(await inside, undefined);
    assertEqual(await new Promise(resolve => state.resume_async((_, result) =>
        resolve([state.resume_finish(result), signalHere() === controller.signal]))), [true, true]);
    controller.abort('why');
    assert(thrown(() => state.run(5)).message.includes('5 is not a function'));
    assert(thrown(() => state.resume_async(null)).message.includes('null is not a function'));
    assert(await new Promise(resolve => state.resume_async((_, result) => resolve(thrown(() => state.resume_finish(result))))) !== null);
    end();
});

test('a state does not hold its scheduler, and cannot go on without', async () => {
    const state = await PrioSched.Scheduler.new(null).post_task(async () => {
        await idle();
        return here();
    }, {priority: 'background'});
    for (let i = 0; i < 50 && state.dup_scheduler() !== null; i++) {
        imports.system.gc();
        await idle();
    }
    assertEqual([state.dup_scheduler(), state.get_priority()], [null, BACKGROUND]);
    const error = await new Promise(resolve => state.resume_async((_, result) => resolve(thrown(() => state.resume_finish(result)))));
    assert(error.matches(PrioSched.Error, PrioSched.Error.CLOSED), String(error));
});

// Counts whether code of many tasks has the state of its task, none, or another task's.
class Finds {
    counts = {own: 0, none: 0, other: 0};

    look(signal) {
        const found = signalHere();
        this.counts[found === signal ? 'own' : found === null ? 'none' : 'other']++;
    }
}

const iterate = n => {
    for (let i = 0; i < n; i++)
        context.iteration(false);
};

// Runs body (finds, signal, i) in thirty tasks, each with a signal.
async function inTasks(body) {
    const finds = new Finds();
    await Promise.all(Array.from({length: 30}, (_, i) => {
        const {signal} = new TaskController({priority: ['background', 'user-visible', 'user-blocking'][i % 3]});
        return scheduler.post_task(() => body(finds, signal, i), {signal});
    }));
    return finds.counts;
}

test('tasks that iterate the main context keep their states', async () => {
    for (const settle of Object.values(settled)) {
        assertEqual(await inTasks(async (finds, signal) => {
            for (let k = 0; k < 3; k++) {
                await settle();
                iterate(2);
                finds.look(signal);
                await settle();
                finds.look(signal);
                await scheduler.yield();
                finds.look(signal);
                iterate(1);
                await yieldAsync();
                finds.look(signal);
            }
        }), {own: 360, none: 0, other: 0});
    }
});

test('a callback that iterates the main context goes on as before', async () => {
    assertEqual(await inTasks(async (finds, signal) => {
        iterate(2);
        finds.look(signal);
        await null;
        finds.look(signal);
    }), {own: 60, none: 0, other: 0});
});

test('reactions that nested main loops leave behind are nobody else’s', async () => {
    for (const settle of Object.values(settled)) {
        const {own, none, other} = await inTasks(async (finds, signal, i) => {
            const looks = [];
            const look = () => finds.look(signal);
            for (let k = 0; k < 3; k++) {
                looks.push(Promise.resolve().then(look).then(look), scheduler.yield().then(look), new Promise(resolve =>
                    scheduler.yield_async(() => resolve(look()))));
                if (i % 2 === 0)
                    await settle();
                iterate(1 + i % 3);
                looks.push(Promise.resolve().then(look), scheduler.post_task(() => {}).then(look).then(look));
                await scheduler.yield();
            }
            await Promise.all(looks);
        });
        assertEqual([own + none, other], [30 * 3 * 7, 0]);
        assert(own > 0);
        if (isExact)
            assertEqual(none, 0);
    }
});

test('what nobody has posted has no state in a task’s nested main loop', async () => {
    const found = [];
    await scheduler.post_task(async () => {
        for (let i = 0; i < 3; i++) {
            GLib.idle_add(GLib.PRIORITY_HIGH, () => {
                found.push(here());
                return GLib.SOURCE_REMOVE;
            });
            iterate(2);
            await scheduler.yield();
        }
        GLib.idle_add(GLib.PRIORITY_HIGH, () => {
            scheduler.post_task(() => found.push(priorityHere()));
            return GLib.SOURCE_REMOVE;
        });
        iterate(3);
        await scheduler.yield();
    }, {priority: 'background'});
    assertEqual(found, [null, null, null, 2]);
});

run();
