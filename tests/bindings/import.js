// import.js: an import makes no objects, as the review rules for extensions of GNOME Shell require
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib} = imports.gi;
const {assert, assertEqual, run, test, thrown} = imports.tap;

// Returns the names of the library's sources in the main context.
function sources() {
    const context = GLib.MainContext.default(), probe = GLib.idle_source_new(), last = probe.attach(context);
    probe.destroy();
    return Array.from({length: last}, (_, i) => context.find_source_by_id(i + 1)?.get_name() ?? '').filter(name => name.startsWith('prio-sched'));
}

imports.gi.versions.PrioSched = '1';
const {PrioSched} = imports.gi;
const {extras, scheduler, AbortController, TaskController, TaskSignal} = PrioSched.web;
const {each, latest} = extras;
const afterImport = sources();

test('an import adds no source to the main context', () => {
    assertEqual(afterImport, []);
    const controller = new TaskController({priority: 'background'});
    TaskSignal.any([controller.signal, new AbortController().signal]);
    latest(() => {});
    controller.abort();
    assertEqual(sources(), []);
});

test('the first task starts the library', async () => {
    const controller = new TaskController({priority: 'background'}), log = [];
    const first = scheduler.postTask(() => log.push('first'), {signal: controller.signal});
    assert(sources().length > 0);
    await Promise.all([first, scheduler.postTask(() => log.push('second')), scheduler.yield().then(() => log.push('yield'))]);
    for await (const item of each(['item']))
        log.push(item);
    assertEqual(log, ['yield', 'second', 'first', 'item']);
    assert(extras.native === PrioSched.Scheduler.get_default());
});

test('an abort makes no scheduler', async () => {
    const schedulers = () => PrioSched.Scheduler.list_all().length, before = schedulers(), controller = new TaskController({priority: 'background'});
    let begun = () => {};
    const allBegun = new Promise(resolve => (begun = resolve));
    const library = new PrioSched.TaskController(), forever = () => new Promise(() => {}), ends = [
        scheduler.postTask(async () => {
            begun();
            for (;;)
                await scheduler.yield();
        }, {signal: controller.signal}),
        scheduler.postTask(() => {}, {signal: controller.signal, delay: 60000}),
        extras.native.post_steps(function* () {
            yield forever();
        }, {signal: library.signal}),
        scheduler.postTask(async () => {
            await extras.adopt(forever());
        }, {signal: library.signal}),
    ];
    await allBegun;
    controller.abort();
    library.abort();
    assertEqual((await Promise.allSettled(ends)).map(({status}) => status), Array(4).fill('rejected'));
    await scheduler.postTask(() => {}, {priority: 'background'}); // after all work that the aborts have caused
    assertEqual(schedulers(), before);
});

// Runs the main loop until it has no source of the library.
async function sourcesLeave() {
    for (let i = 0; i < 10 && sources().length > 0; i++) {
        let left = 250;
        await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            if (--left === 0)
                resolve();
            return left > 0;
        }));
    }
    assertEqual(sources(), []);
}

test('fifty times enabled and disabled leaves no source in the main context', async () => {
    await sourcesLeave();
    for (let i = 0; i < 50; i++) {
        const controller = new TaskController({priority: 'background'}), search = latest(async () => {
            for (;;)
                await scheduler.yield();
        });
        const ends = Promise.allSettled([search(), search(), scheduler.postTask(async () => {
            for (;;)
                await scheduler.yield();
        }, {signal: controller.signal}), scheduler.postTask(() => {}, {signal: controller.signal, delay: 60000})]);
        await scheduler.postTask(() => {}, {priority: 'user-blocking'});
        search.abort();
        controller.abort();
        await ends;
        await sourcesLeave();
    }
});

test('the slice of the shared scheduler is bounded, and a separate scheduler’s is not', () => {
    const shared = PrioSched.Scheduler.get_default(), before = shared.time_slice;
    for (const set of [value => (extras.timeSlice = value), value => (shared.time_slice = value), value => shared.set_time_slice(value)]) {
        set(50);
        assertEqual(shared.time_slice, 50);
        assert(thrown(() => set(50.001)) instanceof RangeError);
        assertEqual(shared.time_slice, 50);
        shared.time_slice = before;
    }
    const own = extras.newScheduler();
    own.timeSlice = 1000;
    assertEqual([own.timeSlice, extras.timeSlice], [1000, before]);
});

run();
