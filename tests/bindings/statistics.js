// statistics.js: the statistics of schedulers in JavaScript

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;

test('counts and times', async () => {
    const scheduler = PrioSched.Scheduler.new(null), posted = [];
    scheduler.start_statistics();
    for (let i = 0; i < 20; i++)
        posted.push(scheduler.post_task(() => i, {priority: 'background'}));
    assertEqual([scheduler.get_statistics().collecting, scheduler.get_statistics().background.n_queued], [true, 20]);
    await Promise.all(posted);
    // The last task has ended when another one runs.
    await PrioSched.Scheduler.get_default().post_task(() => {}, {priority: 'background'});
    const statistics = scheduler.get_statistics(), {background} = statistics;
    assertEqual([background.n_queued, background.n_delayed, background.n_run, background.n_continued, background.n_aborted,
        statistics.user_visible.n_run], [0, 0, 20, 0, 0, 0]);
    for (const times of [background.waiting, background.running]) {
        assert(times.total >= times.longest && times.longest > 0);
        assert(times.longest >= times.percentile_99 && times.percentile_99 >= times.median);
    }
    scheduler.start_statistics();
    assertEqual([scheduler.get_statistics().background.n_run, background.n_run], [0, 20]);
    scheduler.stop_statistics();
    assert(!scheduler.get_statistics().collecting);
});

test('yields and aborts', async () => {
    const scheduler = PrioSched.Scheduler.new(null);
    scheduler.start_statistics();
    const controller = new PrioSched.TaskController({priority: 'background'});
    const aborted = [1, 2, 3].map(() => rejection(scheduler.post_task(() => {}, {signal: controller.signal})));
    await scheduler.post_task(async () => {
        controller.abort();
        await scheduler.yield();
        await scheduler.yield();
    });
    await Promise.all(aborted);
    await PrioSched.Scheduler.get_default().post_task(() => {}, {priority: 'background'});
    const {background, user_visible: userVisible} = scheduler.get_statistics();
    assertEqual([userVisible.n_run, userVisible.n_continued, background.n_run, background.n_aborted], [3, 2, 0, 3]);
});

test('errors name bad shares, thresholds and descriptors', () => {
    const own = PrioSched.Scheduler.new(null);
    for (const [body, type, text] of [
        [() => own.set_task_share(NaN), RangeError, 'NaN is not a share'],
        [() => own.set_task_share('0.1'), TypeError, '“0.1” is not a share'],
        [() => own.set_task_share(0.91), RangeError, '0.91 is not a share, which is from 0 to 0.9'],
        [() => own.set_task_share(), TypeError, 'undefined is not a share'],
        [() => (own.taskShare = 0.91), RangeError, '0.91 is not a share, which is from 0 to 0.9'],
        [() => own.add_long_task_func(0.5, () => {}), RangeError, '0.5 is not a threshold'],
        [() => own.add_long_task_func(NaN, () => {}), RangeError, 'NaN is not a threshold'],
        [() => own.add_long_task_func(true, () => {}), TypeError, 'true is not a threshold'],
        [() => own.add_long_task_func(2 ** 32, () => {}), RangeError, '4294967296 is not a threshold'],
        [() => PrioSched.trace_start(), TypeError, 'undefined is not a file descriptor'],
        [() => PrioSched.trace_start(null), TypeError, 'null is not a file descriptor'],
        [() => PrioSched.trace_start(NaN), TypeError, 'NaN is not a file descriptor'],
        [() => PrioSched.trace_start('1'), TypeError, '“1” is not a file descriptor'],
        [() => PrioSched.trace_start(1.5), TypeError, '1.5 is not a file descriptor'],
        [() => PrioSched.trace_start(-1), TypeError, '-1 is not a file descriptor'],
    ]) {
        const error = thrown(body);
        assert(error instanceof type && error.message.includes(text), `${text}: ${error}`);
    }
    assertEqual(own.get_task_share(), 0);
});

run();
