// testing-clock.js: PrioSched.testing in JavaScript, the clock of a test
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, run, test, thrown} = imports.tap;
const {testing} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();
const YEAR = 365 * 24 * 3600 * 1000;

// Runs body in a test's time, in a function of a promise.
function timed(name, body) {
    test(name, async () => {
        testing.begin();
        try {
            await body();
        } finally {
            testing.end();
        }
    });
}

timed('delays follow', async () => {
    const log = [];
    scheduler.post_task(() => log.push(testing.elapsed), {delay: 30});
    scheduler.post_task(() => log.push(testing.elapsed), {delay: 10});
    await testing.advance_async(9.5);
    assertEqual(log, []);
    await testing.advance_async(YEAR);
    assertEqual(log, [10, 30]);
    assertEqual(testing.elapsed, YEAR + 9.5);
});

timed('asynchronous functions sleep and yield in time', async () => {
    let found = null;
    scheduler.post_task(async () => {
        await scheduler.sleep(150);
        await scheduler.yield();
        return testing.elapsed;
    }).then(value => (found = value));
    await testing.advance_async(149);
    assertEqual(found, null);
    await testing.advance_async(1);
    assertEqual(found, 150);
});

timed('a channel keeps pace with fast frames', async () => {
    const shown = [], channel = new PrioSched.Channel(value => shown.push([value, testing.elapsed]), {capacity: 2, pace: 'frame'});
    scheduler.set_next_frame(testing.time + 7000);
    channel.give(0);
    channel.give(1);
    await testing.advance_async(7);
    assertEqual(shown, [[0, 0]]);
    await testing.advance_async(1);
    assertEqual(shown, [[0, 0], [1, 8]]);
    await testing.advance_async(100); // the channel's task ends
});

timed('slices and frames end', async () => {
    const spent = [];
    const work = () => {
        while (!scheduler.should_yield())
            testing.spend(0.5);
        spent.push(testing.elapsed);
    };
    scheduler.post_task(work);
    await testing.advance_async(0);
    assertEqual(spent, [5]);
    scheduler.set_next_frame(testing.time + 2000);
    scheduler.post_task(work);
    await testing.advance_async(0);
    assertEqual(spent, [5, 7]);
});

timed('tasks that wait are listed', async () => {
    const controller = new PrioSched.TaskController();
    const posted = scheduler.post_task(() => {}, {name: 'a', signal: controller.signal}).catch(() => {});
    scheduler.post_task(() => {}, {name: 'b', delay: 10});
    assertEqual([testing.queued, testing.delayed], [['a'], ['b']]);
    controller.abort();
    await posted;
    assertEqual([testing.queued, testing.delayed], [[], ['b']]);
    await testing.advance_async(10);
    assertEqual([testing.queued, testing.delayed], [[], []]);
});

timed('the time does not go back', () => {
    for (const wrong of [-1, NaN, 1e16, '1', undefined, null]) {
        for (const name of ['advance', 'advance_async', 'spend'])
            assert(/does not go back/.test(thrown(() => testing[name](wrong)).message));
    }
    assertEqual(testing.elapsed, 0);
});

test('there is one clock', () => {
    testing.begin();
    assert(/has begun already/.test(thrown(testing.begin).message));
    testing.end();
    for (const name of ['end', 'advance', 'advance_async', 'spend', 'run_until_idle', 'step'])
        assert(/call testing\.begin/.test(thrown(() => testing[name](1)).message));
    for (const name of ['elapsed', 'queued', 'delayed'])
        assert(/call testing\.begin/.test(thrown(() => testing[name]).message));
});

test('a task that is left waits for the rest of its delay', async () => {
    testing.begin();
    const task = scheduler.post_task(() => 'run', {delay: YEAR});
    await testing.advance_async(YEAR - 1);
    testing.end();
    assert(Math.abs(testing.time - GLib.get_monotonic_time()) < 1e9);
    assertEqual(await task, 'run');
});

// No promise runs this code.
testing.begin();
const order = [];
for (const priority of ['background', 'user-blocking'])
    scheduler.post_task(() => order.push(priority), {priority, name: priority});
const first = testing.step(), left = testing.queued, second = testing.step(), third = testing.step();
scheduler.post_task(() => order.push(testing.elapsed), {delay: 20});
testing.run_until_idle();
testing.advance(20);
testing.end();

test('steps, and advances outside of promises', () => {
    assertEqual([first, left, second, third], [true, ['background'], true, false]);
    assertEqual(order, ['user-blocking', 'background', 20]);
});

run();
