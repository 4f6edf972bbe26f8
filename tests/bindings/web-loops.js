// web-loops.js: main loops that tasks, and reactions to them, run
//
// As in GJS without the library, no promise settles in a main loop that a reaction runs, and all else continues.  In a main loop
// that a task's callback runs they settle.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, run, test} = imports.tap;
const {web} = PrioSched;
const {AbortController, TaskController, scheduler} = web;

const context = GLib.MainContext.default();

// Runs a loop for some iterations, of which one source after another needs a few, so that it ends even if no source is
// dispatched.
function iterate(isOver) {
    for (let i = 0; i < 100 && !isOver(); i++)
        context.iteration(false);
    return isOver();
}

// Returns whether a source and a task run within a main loop that this function runs, and whether the loop can sleep
// when there is nothing to do.
function goesOn() {
    let source = false, task = false;
    GLib.idle_add(GLib.PRIORITY_LOW, () => {
        source = true;
        return GLib.SOURCE_REMOVE;
    });
    scheduler.postTask(() => {
        task = true;
    });
    return [iterate(() => source), iterate(() => task), iterate(() => !context.iteration(false))];
}

const ALL = [true, true, true];

const wait = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

// Functions that call their argument in a reaction, or a callback, and return a promise of its result.
const places = {
    'after await null in a task': body => scheduler.postTask(async () => {
        await null;
        return body();
    }),
    'after a yield in a task': body => scheduler.postTask(async () => {
        await scheduler.yield();
        return body();
    }),
    'after a promise of GLib’s in a task': body => scheduler.postTask(async () => {
        await wait();
        return body();
    }),
    'in a task with a signal, after a yield': body => scheduler.postTask(async () => {
        await scheduler.yield();
        return body();
    }, {signal: new TaskController({priority: 'background'}).signal}),
    'after a task': async body => {
        await scheduler.postTask(() => 1);
        return body();
    },
    'after a yield outside': async body => {
        await scheduler.yield();
        return body();
    },
    'in a reaction to a task': body => scheduler.postTask(() => 1).then(body),
    'in a reaction to a task that has thrown': body => scheduler.postTask(() => {
        throw new Error('thrown');
    }).catch(body),
    'in a reaction to an aborted task': body => {
        const controller = new TaskController();
        const task = scheduler.postTask(() => 1, {signal: controller.signal});
        controller.abort();
        return task.catch(body);
    },
    'after an idle callback': body => new Promise(resolve => web.requestIdleCallback(resolve)).then(body),
    'in an idle callback': body => new Promise(resolve => web.requestIdleCallback(() => resolve(body()))),
    'in a microtask': body => new Promise(resolve => web.queueMicrotask(() => resolve(body()))),
    'in a handler of an abort': body => new Promise(resolve => {
        const controller = new AbortController();
        controller.signal.onabort = () => resolve(body());
        scheduler.postTask(() => controller.abort());
    }),
    'in a handler of a change of priority': body => new Promise(resolve => {
        const controller = new TaskController();
        controller.signal.onprioritychange = () => resolve(body());
        scheduler.postTask(() => controller.setPriority('background'));
    }),
    'between the items of a loop': async body => {
        for await (const item of web.extras.each([1]))
            return item && body();
        return null;
    },
    'in a task': body => scheduler.postTask(body),
};

for (const [name, place] of Object.entries(places)) {
    test(`a main loop goes on ${name}`, async () => {
        assertEqual(await place(goesOn), ALL);
    });
}

test('a main loop continues within another one', async () => {
    const found = [];
    await scheduler.postTask(async () => {
        await null;
        let isOver = false;
        GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
            found.push(goesOn());
            scheduler.postTask(() => {
                found.push(goesOn());
                isOver = true;
            });
            return GLib.SOURCE_REMOVE;
        });
        found.push(iterate(() => isOver), goesOn());
    });
    assertEqual(found, [ALL, ALL, true, ALL]);
});

test('reactions that are left in a main loop come when it has ended', async () => {
    const log = [];
    let inner;
    await scheduler.postTask(async () => {
        await null;
        inner = scheduler.postTask(() => log.push('task')).then(() => log.push('reaction'));
        iterate(() => log.length > 0);
        log.push('end');
    });
    await inner;
    assertEqual(log, ['task', 'end', 'reaction']);
});

test('in a main loop of a task’s callback promises continue', async () => {
    const goOn = () => {
        let isSettled = false;
        wait().then(() => wait()).then(() => {
            isSettled = true;
        });
        return iterate(() => isSettled);
    };
    const found = [];
    for (let i = 0; i < 3; i++) {
        await scheduler.postTask(async () => {
            found.push(goOn());
            await null;
            found.push(goesOn().every(Boolean));
        });
        // This task runs in the same batch, after a main loop in which promises did not settle.
        found.push(await scheduler.postTask(() => 1).then(() => goesOn().every(Boolean) && scheduler.postTask(goOn)));
    }
    assert(found.every(Boolean), JSON.stringify(found));
});

test('a context of one’s own may run tasks before GJS runs any promise', async () => {
    const [ok, out] = GLib.spawn_command_line_sync(`gjs -c "
        imports.gi.versions.PrioSched = '1';
        const {GLib, PrioSched} = imports.gi;
        const own = new GLib.MainContext();
        const all = GLib.MainContext.default();
        new PrioSched.Scheduler({context: own}).post_task(() => print('own'));
        for (let i = 0; i < 10; i++)
            own.iteration(false);
        const goOn = () => {
            let ran = false;
            GLib.idle_add(200, () => !(ran = true));
            for (let i = 0; i < 100 && !ran; i++)
                all.iteration(false);
            print(ran);
        };
        const loop = new GLib.MainLoop(null, false);
        GLib.idle_add(200, () => {
            PrioSched.web.scheduler.postTask(() => 1).then(goOn).then(() => loop.quit());
            return false;
        });
        loop.run();"`);
    assertEqual([ok, new TextDecoder().decode(out)], [true, 'own\ntrue\n']);
});

test('a main loop continues if garbage is collected when the program begins', async () => {
    const [ok, out] = GLib.spawn_command_line_sync(`gjs -c "
        imports.gi.versions.PrioSched = '1';
        const {GLib, PrioSched} = imports.gi;
        const all = GLib.MainContext.default(), own = new GLib.MainContext();
        const {scheduler} = PrioSched.web;

        // GJS 1.74 refuses closures while a collection is under way, and GLib then removes the source.  Later ones never do.
        const isRefused = () => {
            const source = GLib.idle_source_new();
            let called = false;
            source.set_callback(() => !(called = true));
            source.attach(own);
            own.iteration(false);
            return !called;
        };
        const kept = new Map(), max = imports.system.version < 18000 ? 20000 : 500;
        for (let i = 0; i < max && !isRefused(); i++) {
            for (let j = 0; j < 50; j++)
                kept.set((i * 50 + j) % 50000, {values: [i, j, {i}], text: i + ' ' + j});
        }
        for (let i = 0; i < 3; i++)
            all.iteration(false);
        imports.system.gc();

        const goOn = () => {
            let ran = false;
            GLib.idle_add(200, () => !(ran = true));
            for (let i = 0; i < 100 && !ran; i++)
                all.iteration(false);
            print(ran);
        };
        const loop = new GLib.MainLoop(null, false);
        scheduler.postTask(() => scheduler.yield()).then(goOn).then(() => loop.quit());
        loop.run();"`);
    assertEqual([ok, new TextDecoder().decode(out)], [true, 'true\n']);
});

run();
