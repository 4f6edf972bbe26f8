// statistics.js: the statistics of schedulers in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {BACKGROUND, USER_VISIBLE} = PrioSched.TaskPriority;

test('counts and times', async () => {
    const scheduler = new PrioSched.Scheduler({collects_statistics: true});
    const posted = [];
    for (let i = 0; i < 20; i++)
        posted.push(scheduler.post_task(() => i, {priority: 'background'}));
    assertEqual(scheduler.get_statistics().get_n_queued(BACKGROUND), 20);
    await Promise.all(posted);
    // The last one has ended when another one runs.
    await PrioSched.Scheduler.get_default().post_task(() => {}, {priority: 'background'});
    const statistics = scheduler.get_statistics();
    assertEqual([statistics.get_n_queued(BACKGROUND), statistics.get_n_run(BACKGROUND), statistics.get_n_continued(BACKGROUND),
        statistics.get_n_aborted(BACKGROUND), statistics.get_n_run(USER_VISIBLE)], [0, 20, 0, 0, 0]);
    for (const times of [statistics.get_waiting_times(BACKGROUND), statistics.get_running_times(BACKGROUND)]) {
        assertEqual(times.get_count(), 20);
        assert(times.get_total() >= times.get_longest() && times.get_longest() > 0);
        assert(times.get_longest() >= times.get_percentile(99) && times.get_percentile(99) >= times.get_median());
    }
    scheduler.reset_statistics();
    assertEqual(scheduler.get_statistics().get_n_run(BACKGROUND), 0);
    assertEqual(statistics.get_n_run(BACKGROUND), 20);
});

test('yields and aborts', async () => {
    const scheduler = new PrioSched.Scheduler({collects_statistics: true});
    const controller = new PrioSched.TaskController({priority: 'background'});
    const aborted = [1, 2, 3].map(() => rejection(scheduler.post_task(() => {}, {signal: controller.signal})));
    await scheduler.post_task(async () => {
        controller.abort();
        await scheduler.yield();
        await scheduler.yield();
    });
    await Promise.all(aborted);
    await PrioSched.Scheduler.get_default().post_task(() => {}, {priority: 'background'});
    const statistics = scheduler.get_statistics();
    assertEqual([statistics.get_n_run(USER_VISIBLE), statistics.get_n_continued(USER_VISIBLE)], [3, 2]);
    assertEqual([statistics.get_n_run(BACKGROUND), statistics.get_n_aborted(BACKGROUND)], [0, 3]);
});

test('bad values are told by name, and priorities by their nicks', () => {
    const own = PrioSched.Scheduler.new(null);
    own.collects_statistics = true;
    own.post_task(() => 1, {priority: 'background'});
    const statistics = own.get_statistics(), times = statistics.get_waiting_times('background');
    for (const [body, type, text] of [
        [() => own.set_frame_share(NaN), RangeError, 'NaN is not a share'],
        [() => own.set_frame_share('0.1'), TypeError, '“0.1” is not a share'],
        [() => own.set_frame_share(0.91), RangeError, '0.91 is not a share, which is from 0 to 0.9'],
        [() => own.set_frame_share(), TypeError, 'undefined is not a share'],
        [() => (own.frameShare = 0.91), RangeError, '0.91 is not a share, which is from 0 to 0.9'],
        [() => own.set_long_task_threshold(-1), RangeError, '-1 is not a threshold'],
        [() => (own.long_task_threshold = NaN), RangeError, 'NaN is not a threshold'],
        [() => (own.longTaskThreshold = true), TypeError, 'true is not a threshold'],
        [() => (own['long-task-threshold'] = 2 ** 32), RangeError, '4294967296 is not a threshold'],
        [() => times.get_percentile(101), RangeError, '101 is not a percentile, which is from 0 to 100'],
        [() => times.get_percentile('99'), TypeError, '“99” is not a percentile'],
        [() => statistics.get_n_run(7), TypeError, '7 is not a task priority'],
        [() => statistics.get_running_times('low'), TypeError, '“low” is not a task priority'],
    ]) {
        const error = thrown(body);
        assert(error instanceof type && error.message.includes(text), `${text}: ${error}`);
    }
    assertEqual([own.get_frame_share(), own.long_task_threshold], [0, 0]);
    assertEqual(['queued', 'delayed', 'run', 'continued', 'aborted'].map(name => statistics[`get_n_${name}`]('background')), [1, 0, 0, 0, 0]);
    assertEqual(times.get_percentile(50), 0);
});

run();
