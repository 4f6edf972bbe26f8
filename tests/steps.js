// steps.js: generators as tasks, and what an abort is, in JavaScript (R4, R5)
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {AbortError, web} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();

class Superseded extends AbortError {}

test('a generator is stepped, and its result is what it returns', async () => {
    const steps = [];
    const result = await scheduler.post_steps(function* () {
        for (let i = 0; i < 5; i++) {
            steps.push(i);
            yield i;
        }
        return 'result';
    }, {priority: 'background', name: 'count'});
    assertEqual([steps, result], [[0, 1, 2, 3, 4], 'result']);
});

test('the slice decides when it yields, and progress comes once per batch', async () => {
    const log = [], heard = [];
    await scheduler.post_steps(function* () {
        for (let i = 0; i < 300; i++) {
            if (i === 20)
                scheduler.post_task(() => log.push('urgent'), {priority: 'user-blocking'});
            log.push(i);
            for (const end = GLib.get_monotonic_time() + 100; GLib.get_monotonic_time() < end;);
            yield i;
        }
    }, {priority: 'background', progress: value => heard.push(value)});
    assertEqual(log.length, 301);
    assert(log.indexOf('urgent') < 150, `${log.indexOf('urgent')}`);
    assert(heard.includes(20) && heard.length < 200, `${heard}`);
    assertEqual(heard[heard.length - 1], 299);
    assertEqual([...new Set(heard)], heard);
});

test('an abort comes between two steps', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'}), why = new Superseded('later');
    let closed = 0;
    const error = await rejection(scheduler.post_steps(function* () {
        try {
            for (let i = 0; i < 1e6; i++) {
                if (i === 10)
                    scheduler.post_task(() => controller.abort(why), {priority: 'user-blocking'});
                yield i;
            }
        } finally {
            closed++;
        }
    }, {signal: controller.signal}));
    assert(error === why);
    assertEqual(closed, 1);
});

test('what it throws is the result', async () => {
    const why = new Error('mine');
    assert(await rejection(scheduler.post_steps(function* () {
        yield 1;
        throw why;
    })) === why);
    let closed = 0;
    assert(await rejection(scheduler.post_steps(function* () {
        try {
            for (;;)
                yield 1;
        } finally {
            closed++;
        }
    }, {progress() {
        throw why;
    }})) === why);
    assertEqual(closed, 1);
    assert(/is no generator/.test((await rejection(scheduler.post_steps(() => 5))).message));
    assert(/is no function/.test(thrown(() => scheduler.post_steps(5)).message));
    assert(/is no function/.test(thrown(() => scheduler.post_steps(() => {}, {progress: 5})).message));
});

test('an abort is easy to tell apart', async () => {
    const controller = new PrioSched.TaskController(), task = scheduler.post_task(() => {}, {signal: controller.signal});
    controller.abort();
    assert(await rejection(task) instanceof AbortError);
    assert(await rejection(scheduler.yield({signal: controller.signal})) instanceof AbortError);
    assert(!(await rejection(task) instanceof Superseded));

    const own = new PrioSched.TaskController(), why = new Superseded('a later search');
    own.abort(why);
    const error = await rejection(scheduler.post_task(() => {}, {signal: own.signal}));
    assert(error === why && error instanceof AbortError && error instanceof Superseded && error instanceof Error);
    assertEqual(error.name, 'AbortError');

    const onWeb = new web.TaskController();
    onWeb.abort();
    assert(await rejection(web.scheduler.postTask(() => {}, {signal: onWeb.signal})) instanceof AbortError);
    for (const other of [new Error('x'), new Gio.IOErrorEnum({code: Gio.IOErrorEnum.NOT_FOUND, message: 'x'}), null, undefined, 5, 'AbortError'])
        assert(!(other instanceof AbortError), `${other}`);
});

run();
