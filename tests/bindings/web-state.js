// web-state.js: which code has a scheduling state, and which awaits keep it
//
//     gjs web-state.js [none|speed|state]
//
// The argument is the expected ability of the native part.  Async functions always keep the state of the calling code; a callback of
// .then () has the state of the code that called .then (), if the native part knows the state of every reaction.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const System = imports.system;
const {assert, assertEqual, rejection, run, test} = imports.tap;
const {TaskController, queueMicrotask, requestIdleCallback, scheduler} = PrioSched.web;

const isExact = PrioSched.nativePart === 'state';

// Finds out whether a yield here is a background, a user-visible, or a user-blocking continuation, by the tasks that run
// after it.
async function stateHere() {
    const log = [];
    const tasks = ['background', 'user-visible', 'user-blocking'].map(priority =>
        scheduler.postTask(() => log.push(priority), {priority}));
    await scheduler.yield();
    const before = log.length;
    await Promise.all(tasks);
    return ['user-blocking', 'user-visible', 'background'][before];
}

const NONE = 'user-visible';
const under = (priority, callback) => scheduler.postTask(callback, {priority});

const settled = {
    'a timeout of GLib': () => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
        resolve();
        return GLib.SOURCE_REMOVE;
    })),
    'an idle source of GLib': () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
        resolve();
        return GLib.SOURCE_REMOVE;
    })),
    'setTimeout': () => new Promise(resolve => setTimeout(resolve, 1)),
    'a call of GIO': () => new Promise((resolve, reject) => Gio.File.new_for_path('/').query_info_async('standard::name', 0, 0, null,
        (file, result) => {
            try {
                resolve(file.query_info_finish(result));
            } catch (error) {
                reject(error);
            }
        })),
    'a subprocess': () => new Promise(resolve => Gio.Subprocess.new(['true'], 0).wait_async(null, resolve)),
    'a task of another priority': () => new Promise(resolve => under('user-visible', resolve)),
    'a rejection elsewhere': () => new Promise((_, reject) => setTimeout(reject, 1)).catch(() => {}),
};

const combined = {
    'a thenable': settle => ({then: resolve => settle().then(resolve)}),
    'Promise.all': settle => Promise.all([settle(), null, settle()]),
    'Promise.race': settle => Promise.race([settle(), settle()]),
    'Promise.any': settle => Promise.any([Promise.reject(new Error('one')), settle()]),
    'Promise.allSettled': settle => Promise.allSettled([settle(), Promise.reject(new Error('one'))]),
    'a chain': settle => settle().then(() => 1).finally(() => 2).catch(() => 3),
    'an async function': async settle => {
        await settle();
    },
    'an async generator': async settle => {
        const generate = async function* () {
            for (let i = 0; i < 3; i++) {
                await settle();
                yield i;
            }
        };
        for await (const i of generate())
            assert(i < 3);
    },
    'a for await over promises': async settle => {
        for await (const value of [settle(), settle()])
            assert(value !== null);
    },
};

test('the native part has the expected ability', () => {
    if (ARGV.length > 0)
        assertEqual(PrioSched.nativePart, ARGV[0]);
    assert(['none', 'speed', 'state'].includes(PrioSched.nativePart));
});

for (const [name, settle] of Object.entries(settled)) {
    test(`what a task awaits: ${name}`, async () => {
        const after = async () => {
            await settle();
            const first = await stateHere();
            await settle();
            return [first, await stateHere()];
        };
        for (const priority of ['background', 'user-blocking'])
            assertEqual(await under(priority, after), [priority, priority]);
        assertEqual(await after(), [NONE, NONE]);
    });
}

for (const [name, combine] of Object.entries(combined)) {
    test(`what a task awaits: ${name}`, async () => {
        const after = async () => {
            await combine(settled['a timeout of GLib']);
            return stateHere();
        };
        assertEqual(await under('background', after), 'background');
        assertEqual(await after(), NONE);
    });
}

test('a task is aborted after it awaits other promises', async () => {
    const controller = new TaskController({priority: 'background'});
    const task = scheduler.postTask(async () => {
        await settled['a call of GIO']();
        controller.abort('why');
        await scheduler.yield();
        return 'went on';
    }, {signal: controller.signal});
    assertEqual(await task.catch(reason => reason), 'why');
});

test('its priority is the signal’s, after it awaits other promises', async () => {
    const controller = new TaskController({priority: 'background'});
    assertEqual(await scheduler.postTask(async () => {
        await settled['a timeout of GLib']();
        const before = await stateHere();
        controller.setPriority('user-blocking');
        await settled['a timeout of GLib']();
        return [before, await stateHere()];
    }, {signal: controller.signal}), ['background', 'user-blocking']);
});

// Adds a test that needs the engine's help.
function exactly(name, body) {
    if (isExact)
        test(name, body);
}

test('code that awaits a promise of another task keeps its state', async () => {
    const controller = new TaskController({priority: 'background'});
    let fire;
    const event = new Promise(resolve => (fire = resolve));
    const stranger = (async () => {
        await event;
        const state = await stateHere();
        for (let i = 0; i < 20; i++)
            await scheduler.yield();
        return state;
    })();
    const task = scheduler.postTask(async () => {
        fire();
        setTimeout(() => controller.abort('of another'), 1);
        for (;;)
            await scheduler.yield();
    }, {signal: controller.signal});
    assertEqual(await rejection(task), 'of another');
    assertEqual(await stranger, NONE);
});

exactly('a reaction has the state of its registration, not of the settling code', async () => {
    let settle;
    const promise = new Promise(resolve => (settle = resolve));
    const found = under('background', () => promise.then(() => stateHere()));
    await under('background', () => {});
    await under('user-blocking', () => settle());
    assertEqual(await found, 'background');
});

test('a task that waits for another one keeps its own signal', async () => {
    const controller = new TaskController();
    let settle;
    const promise = new Promise(resolve => (settle = resolve));
    const waiting = scheduler.postTask(async () => {
        await promise;
        await scheduler.yield();
        return 'went on';
    });
    await scheduler.postTask(() => {});
    const other = scheduler.postTask(() => {
        settle();
        controller.abort('of another');
    }, {signal: controller.signal});
    assertEqual(await rejection(other), 'of another');
    assertEqual(await waiting, 'went on');
});

exactly('many states at once keep apart, whenever garbage is collected', async () => {
    const kinds = Object.values(settled);
    const walk = async i => {
        const seen = new Set();
        for (let k = 0; k < 6; k++) {
            await kinds[(i + k) % kinds.length]();
            if (i % 4 === 0)
                System.gc();
            seen.add(await stateHere());
        }
        return [...seen];
    };
    const priorities = ['background', 'user-visible', 'user-blocking'];
    const walks = [];
    for (let i = 0; i < 24; i++)
        walks.push([priorities[i % 3], under(priorities[i % 3], () => walk(i))], [NONE, walk(i)]);
    for (const [priority, promise] of walks)
        assertEqual(await promise, [priority]);
});

exactly('a nested main loop is not part of the task that runs it', async () => {
    let inside;
    const loop = new GLib.MainLoop(null, false);
    const outer = under('background', async () => {
        GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            inside = (async () => {
                await settled['a timeout of GLib']();
                return stateHere();
            })();
            loop.quit();
            return GLib.SOURCE_REMOVE;
        });
        loop.run();
        await settled['a timeout of GLib']();
        return stateHere();
    });
    assertEqual(await outer, 'background');
    assertEqual(await inside, NONE);
});

test('a microtask has the state of the code that queues it', async () => {
    assertEqual(await under('background', () => new Promise(resolve => queueMicrotask(() => resolve(stateHere())))), 'background');
    assertEqual(await new Promise(resolve => queueMicrotask(() => resolve(stateHere()))), NONE);
});

test('an idle callback has its own state, and code that awaits it does not', async () => {
    const [inside, outside] = await new Promise(resolve => {
        const called = new Promise(settle => requestIdleCallback(() => settle(stateHere())));
        resolve(Promise.all([called, isExact ? called.then(() => stateHere()) : NONE]));
    });
    assertEqual([inside, outside], ['background', NONE]);
});

test('no state is left where no task runs', async () => {
    // Without it, an idle callback that resolved a promise has left its state to this code.
    if (!isExact)
        await settled['a timeout of GLib']();
    assertEqual(await stateHere(), NONE);
});

run();
