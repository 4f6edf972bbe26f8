// lifetimes.js: a million tasks leave nothing behind, nor do schedulers of their own
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const System = imports.system;
const {assert, run, test} = imports.tap;
const {scheduler, AbortController, AbortSignal, TaskController, TaskSignal} = PrioSched.web;

// Two collections: what the library has is let go of by the first.
const collect = async () => {
    for (let i = 0; i < 3; i++) {
        System.gc();
        await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_LOW, () => {
            resolve();
            return false;
        }));
    }
};

function resident() {
    const [, bytes] = GLib.file_get_contents('/proc/self/statm');
    return Number(new TextDecoder().decode(bytes).split(' ')[1]) * 4096;
}

// How much more there is in the second half of the rounds than in the first, at the least:
// the engine's heap goes up and down.
async function growth(once, rounds) {
    const lowest = [Infinity, Infinity];
    for (let i = 0; i < rounds; i++) {
        await once();
        await collect();
        if (i >= rounds / 5)
            lowest[i < rounds / 2 ? 0 : 1] = Math.min(lowest[i < rounds / 2 ? 0 : 1], resident());
    }
    return lowest[1] - lowest[0];
}

// A sanitizer keeps what has been freed.
const ALLOWED = (GLib.getenv('LD_PRELOAD') ? 1024 : 16) << 20; // 32 bytes a task

test('a million tasks', async () => {
    const grown = await growth(async () => {
        const promises = [];
        for (let i = 0; i < 20000; i++)
            promises.push(scheduler.postTask(() => i));
        await Promise.all(promises);
    }, 50);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

test('yields, aborts and signals', async () => {
    const grown = await growth(async () => {
        for (let j = 0; j < 10; j++) {
            const controller = new TaskController({priority: 'background'});
            const tasks = [];
            for (let i = 0; i < 1000; i++)
                tasks.push(scheduler.postTask(() => {}, {signal: controller.signal}));
            for (let i = 0; i < 1000; i++)
                await scheduler.yield();
            controller.abort();
            await Promise.allSettled(tasks);
        }
    }, 20);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

// GJS refuses closures while its collector sweeps; what is called by a property, never.
test('idle callbacks during collections', async () => {
    const kept = new Map();
    let ran = 0;
    await new Promise(resolve => {
        const again = () => {
            ran++;
            for (let i = 0; i < 200; i++)
                kept.set((ran * 200 + i) % 50000, {values: [i, ran, {i}], text: `${i} ${ran}`});
            if (ran < 4000)
                PrioSched.web.requestIdleCallback(again);
            else
                resolve();
        };
        for (let i = 0; i < 50; i++)
            PrioSched.web.requestIdleCallback(again);
    });
});

// What one has is too large for a few to stay unnoticed.
const PAYLOAD = 50000;

test('dependents of a signal that stays', async () => {
    const controller = new TaskController();
    const grown = await growth(async () => {
        for (let i = 0; i < 100; i++) {
            const signal = TaskSignal.any([controller.signal], {priority: controller.signal});
            signal.payload = new Array(PAYLOAD).fill(i);
        }
    }, 20);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

test('schedulers that nobody knows', async () => {
    const grown = await growth(async () => {
        for (let i = 0; i < 100; i++) {
            const own = PrioSched.Scheduler.new(null);
            own.payload = new Array(PAYLOAD).fill(i);
            const controller = new PrioSched.TaskController();
            const task = own.post_task(() => own, {signal: controller.signal});
            await own.yield();
            await task;
            controller.abort(`no. ${i}`);
        }
    }, 20);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

test('signals of the web that serve GIO, and cancellables that serve the web', async () => {
    const page = new AbortController(), cancellable = new Gio.Cancellable();
    await assertFlat(async () => {
        for (let i = 0; i < 500; i++) {
            const controller = new TaskController();
            for (const signal of [controller.signal, AbortSignal.any([page.signal, controller.signal])]) {
                signal.payload = new Array(PAYLOAD / 10).fill(i);
                signal.cancellable.payload = new Array(PAYLOAD / 10).fill(i);
            }
            const own = new Gio.Cancellable(), native = new PrioSched.TaskController();
            for (const signal of [AbortSignal.any([own]), TaskSignal.any([native.signal, cancellable], {priority: native.signal})])
                signal.payload = new Array(PAYLOAD / 10).fill(i);
            if (i % 2 === 0)
                controller.abort();
            if (i % 3 === 0)
                own.cancel();
        }
    }, 20);
});

test('a handler outlives the wrapper', async () => {
    const controller = new PrioSched.TaskController({priority: 1});
    let heard = 0;
    (() => {
        PrioSched.TaskSignal.any_following([], controller.signal).connect('priority-change', () => heard++);
    })();
    await collect();
    controller.set_priority(2);
    assert(heard === 1, `heard ${heard} times`);
});

run();
