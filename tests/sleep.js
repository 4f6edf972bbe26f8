// sleep.js: scheduler.sleep () in JavaScript (R4)
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();

test('shares are said', () => {
    const own = PrioSched.Scheduler.new(new GLib.MainContext());
    const {BACKGROUND} = PrioSched.TaskPriority;
    assertEqual([own.get_least_share(BACKGROUND), own.get_frame_share()], [0, 0]);
    own.set_least_share(BACKGROUND, 0.25);
    own.set_frame_share(0.5);
    assertEqual([own.get_least_share(BACKGROUND), own.get_frame_share()], [0.25, 0.5]);
});

test('it waits for so long', async () => {
    const start = GLib.get_monotonic_time();
    assertEqual(await scheduler.sleep(20), undefined);
    assert(GLib.get_monotonic_time() - start >= 20000);
});

test('no delay is a yield', async () => {
    const log = [];
    await scheduler.post_task(async () => {
        scheduler.post_task(() => log.push('task'));
        await scheduler.sleep(0);
        log.push('continuation');
    });
    await scheduler.post_task(() => {}, {priority: 'background'});
    assertEqual(log, ['continuation', 'task']);
});

test('it inherits the signal and the priority', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    const log = [];
    const posted = scheduler.post_task(async () => {
        await scheduler.sleep(1);
        const state = PrioSched.SchedulingState.get_current();
        log.push(state.get_signal() === controller.signal, state.get_priority());
        await scheduler.sleep(1, {priority: 'user-blocking'});
        log.push('given');
        await scheduler.sleep(60000);
    }, {signal: controller.signal});
    while (log.length < 3)
        await scheduler.sleep(1);
    assertEqual(log, [true, 0, 'given']);
    controller.abort('enough');
    assertEqual(await rejection(posted), 'enough');
});

test('an abort ends it at once', async () => {
    const controller = new PrioSched.TaskController(), plain = new Gio.Cancellable();
    const sleeping = scheduler.sleep(Number.MAX_SAFE_INTEGER, {signal: controller.signal});
    const other = scheduler.sleep(60000, {signal: plain, priority: 'background'});
    const reason = {};
    controller.abort(reason);
    assert(await rejection(sleeping) === reason);
    plain.cancel();
    const error = await rejection(other);
    assert(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED), `${error}`);
    assert(await rejection(scheduler.sleep(0, {signal: controller.signal})) === reason);
});

test('what is wrong is told', () => {
    for (const bad of ['1', -1, NaN, 2 ** 60])
        assert(/is no delay in milliseconds/.test(thrown(() => scheduler.sleep(bad)).message), `${bad}`);
    assert(/is no signal/.test(thrown(() => scheduler.sleep(1, {signal: 5})).message));
    assert(/is no task priority/.test(thrown(() => scheduler.sleep(1, {priority: 'urgent'})).message));
    assert(/is no object with options/.test(thrown(() => scheduler.sleep(1, 5)).message));
});

run();
