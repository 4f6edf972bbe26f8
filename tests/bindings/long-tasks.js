// long-tasks.js: reports of long tasks in JavaScript, and their names
//
// A slow machine does not make a test fail: it only adds other long tasks.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, run, test} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();

const MS = 1000;
let told = [];

function work(ms = 20) {
    const end = GLib.get_monotonic_time() + ms * MS;
    while (GLib.get_monotonic_time() < end)
        ;
}

function watched(name, body) {
    test(name, async () => {
        told = [];
        const id = scheduler.add_long_task_func(20, (...task) => told.push(task));
        await body();
        scheduler.remove_long_task_func(id);
    });
}

function isTold(name, priority) {
    return told.some(task => task[0] === name && task[1] === priority && task[2] >= 20);
}

function assertTold(name, priority) {
    assert(isTold(name, priority), `${name} is not in ${JSON.stringify(told)}`);
}

watched('the names of tasks, or of their functions', async () => {
    const controller = new PrioSched.TaskController();
    await scheduler.post_task(() => work(), {name: 'index'});
    await scheduler.post_task(function indexFiles() {
        work();
    });
    await scheduler.post_task(function loadRows() {
        work();
    }, {signal: controller.signal, priority: 'background'});
    // Reports come after the batch.
    await scheduler.sleep(1);
    assertTold('index', 2);
    assertTold('indexFiles', 2);
    assertTold('loadRows', 1);
});

watched('the place of a function without a name, which the native part knows', async () => {
    await scheduler.post_task(() => work());
    await scheduler.post_task(async () => {
        await scheduler.yield();
        work();
    }, {priority: 'background'});
    await scheduler.sleep(1);
    for (const priority of [2, 1]) {
        const isKnown = told.some(task => task[1] === priority && (/^a function \(long-tasks\.js:\d+\)$/).test(task[0]));
        assertEqual(isKnown, PrioSched.nativePart !== 'none');
    }
});

watched('the names of functions that the binding calls', async () => {
    const group = new PrioSched.TaskGroup({limit: 1});
    await scheduler.schedule_callback('normal', function renderRows() {
        work();
    }).finished;
    await scheduler.post_steps(function* readLines() {
        work();
        yield 1;
        work();
    });
    await group.post_task(function loadRows() {
        work();
    }, {priority: 'background'});
    await scheduler.sleep(1);
    assertTold('renderRows', 2);
    assertTold('readLines', 2);
    assertTold('loadRows', 1);
});

// If the function's first step is a yield, it works only in the continuation.
const goOn = {
    'a yield': () => scheduler.yield(),
    'a yield of the web’s': () => PrioSched.web.scheduler.yield(),
    'a sleep': () => scheduler.sleep(1),
    'two yields': () => scheduler.yield().then(() => scheduler.yield()),
    'something else, and a yield': async () => {
        await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            resolve();
            return GLib.SOURCE_REMOVE;
        }));
        await scheduler.yield();
    },
};

for (const [what, step] of Object.entries(goOn)) {
    watched(`the names of tasks after ${what}`, async () => {
        const {signal} = new PrioSched.TaskController(), group = new PrioSched.TaskGroup({limit: 1});
        const body = async () => {
            await step();
            work();
        };
        await scheduler.post_task(async function loadPlain() {
            await step();
            work();
        });
        await PrioSched.web.scheduler.postTask(async function loadLow() {
            await step();
            work();
        }, {priority: 'background'});
        await scheduler.post_task(body, {name: 'named'});
        await scheduler.post_task(body, {name: 'under a signal', signal});
        await scheduler.post_task(body, {name: 'under a signal, too', signal});
        await group.post_task(body, {name: 'of a group', priority: 'background'});
        await scheduler.sleep(1);
        for (const name of ['loadPlain', 'named', 'under a signal', 'under a signal, too'])
            assertTold(name, 2);
        assertTold('loadLow', 1);
        assertTold('of a group', 1);
    });
}

watched('the name of a task that another one has woken up', async () => {
    let wake;
    const woken = new Promise(resolve => {
        wake = resolve;
    });
    const tasks = [scheduler.post_task(async function waitFirst() {
        await woken;
        await scheduler.yield();
        work();
    }), scheduler.post_task(async function wakeOther() {
        wake();
        await scheduler.yield();
    })];
    await Promise.all(tasks);
    await scheduler.sleep(1);
    assertTold('waitFirst', 2);
});

watched("GLib's names of sources", async () => {
    const id = GLib.timeout_add(GLib.PRIORITY_DEFAULT, 0, () => {
        work();
        return GLib.SOURCE_REMOVE;
    });
    GLib.Source.set_name_by_id(id, 'tick');
    while (!isTold('tick', 0))
        await scheduler.sleep(1);
});

watched('sources with the names of their callbacks', async () => {
    const got = [];
    const until = async name => {
        const find = () => told.find(task => task[1] === 0 && task[0]?.startsWith(name));
        while (!find())
            await scheduler.sleep(1);
        return find()[0];
    };
    GLib.idle_add(GLib.PRIORITY_DEFAULT, function indexAll(...args) {
        got.push(args);
        work();
        return got.length < 2;
    });
    assert((/^indexAll \(long-tasks\.js:\d+\)$/).test(await until('indexAll')));
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
        work();
        return GLib.SOURCE_REMOVE;
    });
    assert((/^a function \(long-tasks\.js:\d+\)$/).test(await until('a function')));
    setTimeout(function tick(a, b) {
        got.push([a, b]);
        work();
    }, 1, 'a', 'b');
    assert((/^tick \(long-tasks\.js:\d+\)$/).test(await until('tick')));
    assertEqual(got, [[], [], ['a', 'b']]);
});

watched('a callback that has no name is called', async () => {
    let nCalled = 0;
    const callback = () => {
        nCalled++;
        return GLib.SOURCE_REMOVE;
    };
    Object.defineProperty(callback, 'name', {value: Symbol('x')});
    GLib.idle_add(GLib.PRIORITY_DEFAULT, callback);
    while (nCalled === 0)
        await scheduler.sleep(1);
    assertEqual(nCalled, 1);
});

watched('a scheduler that stops watching leaves the names to the others', async () => {
    const {idle_add: add} = GLib;
    const other = PrioSched.Scheduler.new(GLib.MainContext.new());
    other.remove_long_task_func(other.add_long_task_func(30, () => {}));
    assert(GLib.idle_add === add);
    GLib.idle_add(GLib.PRIORITY_DEFAULT, function indexMore() {
        work();
        return GLib.SOURCE_REMOVE;
    });
    while (!told.some(([name]) => name?.startsWith('indexMore (')))
        await scheduler.sleep(1);
});

test('the schedulers that there are', () => {
    const another = PrioSched.Scheduler.new(GLib.MainContext.new());
    const listed = PrioSched.Scheduler.list_all();
    assert(listed.indexOf(scheduler) >= 0 && listed.indexOf(scheduler) < listed.indexOf(another));
});

test('names are not asked for without a watch', async () => {
    let asked = 0;
    const callback = () => {};
    Object.defineProperty(callback, 'name', {get: () => `${++asked}`});
    await scheduler.post_task(callback);
    assertEqual(asked, 0);
});

run();
