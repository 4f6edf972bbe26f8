// lifetimes.js: hundreds of thousands of tasks leave nothing behind, nor do schedulers of their own
//
// A part of the rounds shows what is kept for each task.  With PRIO_SCHED_THOROUGH in the environment it is all of them, a million
// tasks, which shows less for each.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const System = imports.system;
const {assert, assertEqual, run, test} = imports.tap;
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

// Of small blocks only: the C library's malloc takes large ones from the heap, too, once one has been freed, and then what lies
// between them keeps the holes resident.  There may be more by tens of megabytes, with nothing more in use.
function resident() {
    const [, bytes] = GLib.file_get_contents('/proc/self/statm');
    return Number(new TextDecoder().decode(bytes).split(' ')[1]) * 4096;
}

// What the engine writes about itself.
function reported(write) {
    const folder = GLib.dir_make_tmp('prio-sched-XXXXXX'), report = GLib.build_filenamev([folder, 'memory']);
    write(report);
    const [, bytes] = GLib.file_get_contents(report);
    GLib.unlink(report);
    GLib.rmdir(folder);
    return new TextDecoder().decode(bytes);
}

// What objects that have not been collected take, by the engine's own count.  A collection waits for what the last one has left to
// helper threads.
function held() {
    const text = reported(System.dumpMemoryInfo);
    return ['gcBytes', 'mallocBytes'].reduce((sum, name) => sum + Number(text.match(new RegExp(`"${name}": (\\d+)`))[1]), 0);
}

// How much more there is in the second half of the rounds than in the first, at the least:
// the engine's heap goes up and down.
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

// It looks for other things, for which a fifth of the rounds does, with a fifth of what the engine may hold.
// It keeps what has been freed, 256 MB of it, and what it knows of that.
const hasSanitizer = GLib.getenv('LD_PRELOAD') !== null;
const isThorough = !hasSanitizer && GLib.getenv('PRIO_SCHED_THOROUGH') !== null;
const FEW = 1 / 5;
const SOME = hasSanitizer ? FEW : 2 / 5;

// The process goes up and down by as much in any number of rounds: 32 bytes a task in a million of them, 80 in some.
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

// What one has is too large for a few to stay unnoticed.
const PAYLOAD = 50000;

// The large payload tells, by the engine's count, that none is kept; without, the process tells of everything else.
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

// Its state is known by its number for as long as its promise is pending.  Only the native part can know it without keeping it.
if (PrioSched.nativePart !== 'none') {
    test('tasks that never settle, with controllers of their own', async () => {
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

test('reasons of aborts, of any type', async () => {
    await assertNoneKept(async payload => {
        for (let i = 0; i < 100; i++) {
            const controller = new PrioSched.TaskController(), signal = PrioSched.TaskSignal.any([controller.signal], 'background');
            PrioSched.Scheduler.get_default().post_task(() => {}, {signal}).catch(() => {});
            controller.abort(new Array(payload).fill(i));
        }
        await scheduler.postTask(() => {}, {priority: 'background'});
    }, 20);
});

test('schedulers that nobody knows', async () => {
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

// A place in the code that calls may remember the first function that it has called, and there are a few; but not one for each task.
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

// What waits for ever is kept for as long as its signal: as much as for a task that is delayed.
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

test('an abort reaches what depends on it also while the engine collects garbage', async () => {
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
