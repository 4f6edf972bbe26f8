// sleep.js: scheduler.sleep () in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();

test('the task share is said', () => {
    const own = PrioSched.Scheduler.new(new GLib.MainContext());
    assertEqual(own.get_task_share(), 0);
    own.set_task_share(0.5);
    assertEqual(own.get_task_share(), 0.5);
});

test('it waits for that long', async () => {
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
        log.push(state.get_cancellable() === controller.signal, state.get_priority());
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

test('errors name wrong arguments', () => {
    for (const bad of [undefined, null, '1', -1, NaN, 2 ** 60])
        assert(/is not a delay in milliseconds/.test(thrown(() => scheduler.sleep(bad)).message), `${bad}`);
    assert(/is not a signal/.test(thrown(() => scheduler.sleep(1, {signal: 5})).message));
    assert(/is not a task priority/.test(thrown(() => scheduler.sleep(1, {priority: 'urgent'})).message));
    assert(/is not an object with options/.test(thrown(() => scheduler.sleep(1, 5)).message));
});

test('arguments with another meaning are errors', () => {
    const controller = new PrioSched.TaskController(), {signal} = controller, group = new PrioSched.TaskGroup();
    const onWeb = new PrioSched.web.TaskController(), nothing = () => {}, {sleep, post_task} = scheduler;
    for (const [call, text] of [
        // A signal is not an object with options: none of its properties would be read.
        [() => scheduler.post_task(nothing, signal), 'give it as {signal}'],
        [() => scheduler.post_task(nothing, new PrioSched.TaskController()), 'give its signal as {signal}'],
        [() => scheduler.post_steps(nothing, new Gio.Cancellable()), 'give it as {signal}'],
        [() => scheduler.yield(signal), 'give it as {signal}'],
        [() => scheduler.sleep(5, signal), 'give it as {signal}'],
        [() => group.post_task(nothing, signal), 'give it as {signal}'],
        [() => group.drained(signal), 'give it as {signal}'],
        [() => scheduler.post_task(nothing, group), 'is not an object with options'],
        // These objects have a signal.
        [() => scheduler.post_task(nothing, {signal: controller}), 'is not a signal: give its signal'],
        [() => scheduler.post_task(nothing, {signal: onWeb.signal}), 'is not a signal: give its cancellable'],
        [() => group.all({signal: onWeb.signal}), 'is not a signal: give its cancellable'],
        [() => scheduler.post_task(nothing, {signal: onWeb}), 'is not a signal: give the cancellable of its signal'],
        // Without a number, a timeout would expire at once.
        [() => PrioSched.TaskSignal.new_timeout('x'), '“x” is not a delay in milliseconds'],
        [() => PrioSched.TaskSignal.new_timeout(NaN), 'NaN is not a delay in milliseconds'],
        [() => PrioSched.TaskSignal.new_timeout(-5), '-5 is not a delay in milliseconds'],
        [() => PrioSched.TaskSignal.new_timeout(), 'undefined is not a delay in milliseconds'],
        [() => PrioSched.TaskSignal.any_following([5], signal), '5 is not a signal'],
        [() => PrioSched.TaskSignal.any_following(signal, signal), 'is not a sequence of signals'],
        [() => PrioSched.TaskSignal.any_following([], null), 'null is not the signal of a task, so its priority cannot be followed'],
        [() => PrioSched.TaskSignal.any_following([], new Gio.Cancellable()), 'so its priority cannot be followed'],
        [() => {
            group.priority = 'background';
        }, 'of a group that has been made is set by set_priority ()'],
        [() => {
            controller.priority = 'background';
        }, 'of a controller that has been made is set by set_priority ()'],
        // These calls are of a method without its object.
        [() => sleep(1), 'is not a scheduler, whose method this is'],
        [() => post_task(nothing), 'is not a scheduler, whose method this is'],
        [() => PrioSched.Scheduler.prototype.yield.call(group), 'is not a scheduler, whose method this is'],
    ]) {
        const error = thrown(call);
        assert(error instanceof TypeError && error.message.includes(text), `${text}: ${error}`);
    }
    assertEqual([scheduler.count_pending(), group.n_tasks, group.priority], [0, 0, PrioSched.TaskPriority.USER_VISIBLE]);
    assertEqual(controller.priority, signal.priority);
    assert(PrioSched.TaskSignal.any_following([new Gio.Cancellable()], signal).priority === signal.priority);
    assertEqual(PrioSched.TaskSignal.new_timeout(1e6).is_cancelled(), false);
});

run();
