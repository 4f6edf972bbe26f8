// lifetimes.js: hundreds of thousands of tasks, and schedulers, leak no memory
//
// Some rounds show a leak of many bytes a task.  With PRIO_SCHED_THOROUGH in the environment all rounds run, a million tasks, and
// show a smaller one.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const System = imports.system;
const {assert, assertEqual, run, test} = imports.tap;
const {scheduler, AbortController, AbortSignal, TaskController, TaskSignal} = PrioSched.web;

// Runs three collections: the first one releases objects of the library.
const collect = async () => {
    for (let i = 0; i < 3; i++) {
        System.gc();
        await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_LOW, () => {
            resolve();
            return false;
        }));
    }
};

// Returns the memory of the process.  It counts small blocks only: malloc takes large ones from the heap, too, once one has
// been freed, and then blocks between them keep the holes resident, tens of megabytes without a leak.
function resident() {
    const [, bytes] = GLib.file_get_contents('/proc/self/statm');
    return Number(new TextDecoder().decode(bytes).split(' ')[1]) * 4096;
}

// Returns the engine's own statistics.
function reported(write) {
    const folder = GLib.dir_make_tmp('prio-sched-XXXXXX'), report = GLib.build_filenamev([folder, 'memory']);
    write(report);
    const [, bytes] = GLib.file_get_contents(report);
    GLib.unlink(report);
    GLib.rmdir(folder);
    return new TextDecoder().decode(bytes);
}

// Returns the memory of live objects, by the engine's own count.  A collection waits for the helper threads of the previous
// one.
function held() {
    const text = reported(System.dumpMemoryInfo);
    return ['gcBytes', 'mallocBytes'].reduce((sum, name) => sum + Number(text.match(new RegExp(`"${name}": (\\d+)`))[1]), 0);
}

// Returns the least growth from the first half of the rounds to the second, because the engine's heap grows and
// shrinks.
async function growth(once, rounds, measures) {
    const lowest = measures.map(() => [Infinity, Infinity]);
    for (let i = 0; i < rounds; i++) {
        await once();
        await collect();
        if (i < rounds / 5)
            continue;
        const half = i < rounds / 2 ? 0 : 1;
        measures.forEach((measure, k) => (lowest[k][half] = Math.min(lowest[k][half], measure())));
    }
    return lowest.map(([first, second]) => second - first);
}

// A sanitizer looks for other defects, for which a fifth of the rounds is enough, with a fifth of the allowed growth of
// the engine.  It keeps 256 MB of freed memory, and data about it.
const hasSanitizer = GLib.getenv('LD_PRELOAD') !== null;
const isThorough = !hasSanitizer && GLib.getenv('PRIO_SCHED_THOROUGH') !== null;
const FEW = 1 / 5;
const SOME = hasSanitizer ? FEW : 2 / 5;

// The allowed growth.  The process grows and shrinks by as much in any number of rounds: 32 bytes a task in a million
// tasks, 80 in fewer.
const ALLOWED = new Map([
    [resident, (hasSanitizer ? 384 : 16) << 20],
    [held, 16 << 20],
]);

async function assertFlat(once, rounds, measures = [resident, held], least = SOME) {
    const part = isThorough ? 1 : least;
    const grown = await growth(once, rounds * part, measures);
    const most = measure => ALLOWED.get(measure) * (measure === held ? part : 1);
    measures.forEach((measure, k) => assert(grown[k] < most(measure), `${grown[k]} bytes more ${measure.name}`));
}

// Bytes of a task's payload, so large that even a few leaked tasks show.
const PAYLOAD = 50000;

// Checks for leaks.  The large payload shows, by the engine's count, that no task is kept; without the payload, the
// process shows other leaks.
async function assertNoneKept(once, rounds, payload = PAYLOAD) {
    await assertFlat(() => once(payload), rounds, [held], FEW);
    await assertFlat(() => once(1), rounds, [resident, held], FEW);
}

test('many tasks', async () => {
    await assertFlat(async () => {
        const promises = [];
        for (let i = 0; i < 20000; i++)
            promises.push(scheduler.postTask(() => i));
        await Promise.all(promises);
    }, 50);
});

test('yields, aborts and signals', async () => {
    await assertFlat(async () => {
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
});

// GJS refuses closures while its collector sweeps, but always calls a property's setter.
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

// A state keeps its number as long as its promise is pending.  Only the native part can keep the number without keeping the
// state.
if (PrioSched.nativePart !== 'none') {
    test('tasks that never settle, each with a controller', async () => {
        await assertNoneKept(async payload => {
            for (let i = 0; i < 100; i++) {
                const {signal} = new PrioSched.TaskController();
                signal.data = new Array(payload).fill(i);
                PrioSched.Scheduler.get_default().post_task(() => new Promise(() => {}), {signal});
            }
            await scheduler.postTask(() => {}, {priority: 'background'});
        }, 20);
    });
}

test('dependents of a signal that stays', async () => {
    const controller = new TaskController();
    await assertNoneKept(async payload => {
        for (let i = 0; i < 100; i++) {
            const signal = TaskSignal.any([controller.signal], {priority: controller.signal});
            signal.payload = new Array(payload).fill(i);
        }
    }, 20);
});

// Posts n tasks under signals that make () returns with their controllers, aborts each for reason (), and waits until
// all have ended: a task keeps its reason until its promise is rejected.
const abortTasks = (n, post, make, reason) => Promise.all(Array.from({length: n}, (_, i) => {
    const {controller, signal} = make();
    const ended = post(() => {}, {signal}).catch(() => {});
    controller.abort(reason(i, controller, signal));
    return ended;
}));
const postOwn = (body, options) => PrioSched.Scheduler.get_default().post_task(body, options);
const postWeb = (body, options) => scheduler.postTask(body, options);

const withSignal = controller => ({controller, signal: controller.signal});

test('reasons of aborts, of any type', async () => {
    const make = () => {
        const controller = new PrioSched.TaskController();
        return {controller, signal: PrioSched.TaskSignal.any([controller.signal], 'background')};
    };
    await assertNoneKept(payload => abortTasks(100, postOwn, make, i => new Array(payload).fill(i)), 20);
});

// Later aborts forget the reasons of earlier ones, but for a few that compiled code refers to.
test('a reason of any type goes with its signal', async () => {
    const abort = (n, payload) => abortTasks(n, postWeb, () => withSignal(new TaskController()), i => new Array(payload).fill(i));
    await collect();
    const before = held();
    await abort(50, PAYLOAD);
    await collect();
    await abort(10, 1);
    // Threads of the engine free the garbage that a collection has found, later if the machine is busy.
    let grown;
    for (let i = 0; i < 5 && !(grown < 25 * 8 * PAYLOAD); i++) {
        await collect();
        grown = held() - before;
    }
    assert(grown < 25 * 8 * PAYLOAD, `${grown} bytes more held`);
});

test('reasons that refer to their signals', async () => {
    await assertNoneKept(payload => abortTasks(100, postOwn, () => withSignal(new PrioSched.TaskController()), (i, _controller, signal) =>
        ({signal, filling: new Array(payload).fill(i)})), 20);
});

// Without the native part, each dependent signal is an object in C, and holds the reason.
if (PrioSched.nativePart !== 'none') {
    const make = () => {
        const controller = new TaskController();
        return {controller, signal: TaskSignal.any([controller.signal])};
    };
    const abort = payload => abortTasks(100, postWeb, make, (i, controller, signal) => ({controller, signal, filling: new Array(payload).fill(i)}));

    test('reasons of the web that refer to their controllers, or to dependent signals', async () => {
        await assertNoneKept(abort, 20);
    });

    test('such reasons of aborts in tasks', async () => {
        await assertNoneKept(payload => scheduler.postTask(() => abort(payload)), 20);
    });
}

test('schedulers without references', async () => {
    await assertNoneKept(async payload => {
        for (let i = 0; i < 100; i++) {
            const own = PrioSched.Scheduler.new(null);
            own.payload = new Array(payload).fill(i);
            const controller = new PrioSched.TaskController();
            const task = own.post_task(() => own, {signal: controller.signal});
            await own.yield();
            await task;
            controller.abort(`no. ${i}`);
        }
    }, 20);
});

// A call site may remember the first function that it has called, but there must not be such a function for each task.
test('callbacks whose tasks have settled', async () => {
    const own = PrioSched.Scheduler.new(null);
    for (let i = 0; i < 3000; i++) {
        const controller = new PrioSched.TaskController();
        controller.payload = new Float64Array(1);
        await own.post_task(() => controller, {signal: controller.signal});
    }
    await collect();
    const kept = reported(System.dumpHeap).match(/^0x\w+ . Float64Array/gm)?.length ?? 0;
    assert(kept < 10, `${kept} of 3000 are kept`);
});

test('signals of the web that serve GIO, and cancellables that serve the web', async () => {
    const page = new AbortController(), cancellable = new Gio.Cancellable();
    await assertNoneKept(async payload => {
        for (let i = 0; i < 500; i++) {
            const controller = new TaskController();
            for (const signal of [controller.signal, AbortSignal.any([page.signal, controller.signal])]) {
                signal.payload = new Array(payload).fill(i);
                signal.cancellable.payload = new Array(payload).fill(i);
            }
            const own = new Gio.Cancellable(), native = new PrioSched.TaskController();
            for (const signal of [AbortSignal.any([own]), TaskSignal.any([native.signal, cancellable], {priority: native.signal})])
                signal.payload = new Array(payload).fill(i);
            if (i % 2 === 0)
                controller.abort();
            if (i % 3 === 0)
                own.cancel();
        }
    }, 20, PAYLOAD / 10);
});

test('signals of running tasks, of the web and of the library', async () => {
    const read = (signal, payload) => {
        signal.payload = new Array(payload).fill(0);
        return !signal.cancellable?.is_cancelled();
    };
    await assertNoneKept(async payload => {
        const tasks = [];
        for (let i = 0; i < 100; i++) {
            const of = i % 2 ? new TaskController() : new PrioSched.TaskController(), priority = i % 4 < 2 ? {} : {priority: 'background'};
            tasks.push(scheduler.postTask(async () => {
                await scheduler.yield();
                return read(PrioSched.web.extras.currentTaskSignal, payload);
            }, {signal: of.signal, delay: 1, ...priority}), scheduler.postTask(() => read(PrioSched.web.extras.currentTaskSignal, payload),
                {signal: of.signal}));
        }
        assert((await Promise.all(tasks)).every(Boolean));
    }, 10);
});

test('promises that are adopted under a signal', async () => {
    const controller = new PrioSched.TaskController();
    const native = PrioSched.Scheduler.get_default();
    await assertNoneKept(async payload => {
        await native.post_task(async () => {
            for (let i = 0; i < 100; i++)
                await native.adopt(Promise.resolve(new Array(payload).fill(i)));
        }, {signal: controller.signal});
    }, 20);
});

// A promise that never settles is kept as long as its signal, and takes as much memory as a delayed task.
test('promises that never settle take little, adopted under a signal', async () => {
    const controller = new TaskController(), {signal} = controller, n = 20000;
    const taken = async begin => {
        await collect();
        const before = held();
        await scheduler.postTask(() => {
            for (let i = 0; i < n; i++)
                begin().catch(() => {});
        }, {signal});
        await collect();
        return held() - before;
    };
    const delayed = await taken(() => scheduler.postTask(() => {}, {signal, delay: 1e9}));
    const adopted = await taken(() => PrioSched.web.extras.adopt(new Promise(() => {})));
    controller.abort();
    assert(adopted < delayed, `${adopted / n} bytes for each, and ${delayed / n} for a task that is delayed`);
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

test('an abort reaches dependents also while the engine collects garbage', async () => {
    for (let i = 0; i < 8; i++) {
        const controller = new PrioSched.TaskController(), dependents = Array.from({length: 5000}, () => AbortSignal.any([controller.signal]));
        const ends = dependents.map(signal => scheduler.postTask(() => {}, {signal}).catch(reason => reason));
        controller.abort('gone');
        assertEqual(dependents.filter(signal => !signal.aborted).length, 0);
        assertEqual([...new Set(await Promise.all(ends))], ['gone']);
    }
});

test('a changed priority does so too', async () => {
    for (let i = 0; i < 8; i++) {
        const controller = new PrioSched.TaskController();
        const dependents = Array.from({length: 5000}, () => TaskSignal.any([], {priority: controller.signal}));
        controller.set_priority(PrioSched.TaskPriority.BACKGROUND);
        assertEqual(dependents.filter(({priority}) => priority !== 'background').length, 0);
        await null;
    }
});

run();
