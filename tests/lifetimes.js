// lifetimes.js: a million tasks leave nothing behind, nor do schedulers of their own
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const System = imports.system;
const {assert, rejection, run, test} = imports.tap;
const {scheduler, TaskController} = PrioSched.web;

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

async function growth(once, times) {
    await once();
    await once();
    await collect();
    const before = resident();
    for (let i = 0; i < times; i++)
        await once();
    await collect();
    return resident() - before;
}

const ALLOWED = 12 << 20;

test('a million tasks', async () => {
    const grown = await growth(async () => {
        const promises = [];
        for (let i = 0; i < 20000; i++)
            promises.push(scheduler.postTask(() => i));
        await Promise.all(promises);
    }, 50);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

test('a million yields, aborts and signals', async () => {
    const grown = await growth(async () => {
        const controller = new TaskController({priority: 'background'});
        const tasks = [];
        for (let i = 0; i < 1000; i++)
            tasks.push(scheduler.postTask(() => {}, {signal: controller.signal}));
        for (let i = 0; i < 4000; i++)
            await scheduler.yield();
        controller.abort();
        await Promise.allSettled(tasks);
        for (let i = 0; i < 100; i++)
            await rejection(scheduler.postTask(() => {}, {signal: controller.signal}));
    }, 200);
    assert(grown < ALLOWED, `${grown} bytes more`);
});

test('schedulers that nobody knows go', async () => {
    const refs = [];
    for (let i = 0; i < 100; i++) {
        const own = PrioSched.Scheduler.new(null);
        await own.post_task(() => i);
        await own.yield();
        refs.push(new WeakRef(own));
    }
    await collect();
    const left = refs.filter(ref => ref.deref()).length;
    assert(left < 10, `${left} are left`);
});

test('a handler outlives the wrapper', async () => {
    const controller = new PrioSched.TaskController({priority: 0});
    let heard = 0;
    (() => {
        PrioSched.TaskSignal.any_following([], controller.signal).connect('priority-change', () => heard++);
    })();
    await collect();
    controller.set_priority(2);
    assert(heard === 1, `heard ${heard} times`);
});

run();
