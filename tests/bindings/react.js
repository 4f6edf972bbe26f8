// react.js: functions of React's Scheduler in JavaScript: timeouts of tasks, and the current priority
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {BACKGROUND, USER_VISIBLE, USER_BLOCKING} = PrioSched.TaskPriority;

let log = [];

function spin(milliseconds) {
    const end = GLib.get_monotonic_time() + milliseconds * 1000;
    while (GLib.get_monotonic_time() < end)
        ;
}

// Logs letter, a capital if did_timeout () is true for the task.
function tell(letter) {
    log.push(scheduler.did_timeout() ? letter.toUpperCase() : letter);
}

function post(letter, priority, options = {}) {
    return scheduler.post_task(() => tell(letter), {priority, ...options});
}

async function assertRan(expected) {
    await scheduler.post_task(() => {}, {priority: 'background'});
    assertEqual(log.splice(0).join(''), expected);
}

test('scheduleCallback: timeoutForPriorityLevel', () => {
    assertEqual([PrioSched.TIMEOUT_IMMEDIATE, PrioSched.TIMEOUT_USER_BLOCKING, PrioSched.TIMEOUT_NORMAL, PrioSched.TIMEOUT_LOW,
        PrioSched.TIMEOUT_IDLE], [-1, 250, 5000, 10000, 0]);
});

test('scheduleCallback: options.timeout', async () => {
    post('c', 'background', {timeout: 60000});
    post('b', 'background', {timeout: 4.5});
    spin(10);
    post('a', 'user-blocking');
    await assertRan('Bac');
    post('b', 'user-blocking');
    post('a', 'background', {timeout: PrioSched.TIMEOUT_IMMEDIATE});
    post('c', 'background', {timeout: PrioSched.TIMEOUT_IDLE});
    post('d', 'background', {timeout: null});
    await assertRan('Abcd');
    post('b', 'user-blocking');
    post('a', 'background', {timeout: -0.1});
    await assertRan('Ab');
});

test('scheduleCallback: options.delay', async () => {
    const done = post('a', 'user-blocking', {delay: 100, timeout: 60000}), also = post('b', 'background', {delay: 10, timeout: -1});
    assertEqual(log, []);
    await done;
    await also;
    await assertRan('Ba');
});

test('scheduleCallback: sortIndex', async () => {
    for (const [letter, timeout] of [['c', -5], ['b', -60], ['a', -1000]])
        post(letter, 'background', {timeout});
    await assertRan('ABC');
});

test('with a signal', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    post('a', null, {signal: controller.signal, timeout: -1, name: 'first'});
    post('b', 'user-blocking');
    await assertRan('Ab');
    const second = post('c', null, {signal: controller.signal, timeout: -1});
    controller.abort('enough');
    assertEqual(await rejection(second), 'enough');
    assertEqual(await rejection(post('d', 'background', {signal: controller.signal, timeout: 5})), 'enough');
    await assertRan('');
});

test('results and errors', async () => {
    assertEqual(await scheduler.post_task(() => 5, {timeout: -1}), 5);
    assertEqual(await scheduler.post_task(async () => 6, {timeout: -1}), 6);
    const error = new Error('mine');
    assert(await rejection(scheduler.post_task(() => {
        throw error;
    }, {timeout: -1})) === error);
});

test('errors name wrong arguments', () => {
    for (const bad of ['1', NaN, Infinity, 2 ** 31, -(2 ** 31), true, {}]) {
        const {message} = thrown(() => scheduler.post_task(() => {}, {timeout: bad}));
        assert(/is not a timeout in milliseconds/.test(message), `${bad}: ${message}`);
    }
    assert(/^NaN is no/.test(thrown(() => scheduler.post_task(() => {}, {timeout: NaN})).message));
    for (const bad of ['urgent', 0, 4, NaN, null, undefined])
        assert(/is not a task priority/.test(thrown(() => scheduler.run_with_priority(bad, () => {})).message), `${bad}`);
    assert(thrown(() => scheduler.run_with_priority('background', 5)) instanceof TypeError);
});

test('workLoop: a continuation keeps the time of its task', async () => {
    const told = [];
    const done = scheduler.post_task(async () => {
        told.push(scheduler.did_timeout());
        spin(10);
        told.push(scheduler.did_timeout());
        await scheduler.yield();
        tell('a');
    }, {priority: 'background', timeout: 10});
    await scheduler.post_task(() => void post('c', 'user-blocking'), {priority: 'background'});
    await done;
    await assertRan('Ac');
    // The answer does not change while the task runs.
    assertEqual(told[0], told[1]);
});

test('workLoop: of one without a signal that is user-visible too', async () => {
    const done = scheduler.post_task(async () => {
        tell('a');
        await scheduler.yield();
        tell('b');
        await scheduler.yield();
        tell('c');
    }, {timeout: -1});
    post('x', 'user-blocking');
    await done;
    await assertRan('ABCx');
});

test('workLoop: yields with options, and sleeps', async () => {
    await scheduler.post_task(async () => {
        await scheduler.yield({priority: 'background'});
        tell('a');
        await scheduler.sleep(1);
        tell('b');
        await scheduler.yield({signal: new Gio.Cancellable(), priority: 'inherit'});
        tell('c');
    }, {timeout: -1});
    await assertRan('ABC');
});

test('workLoop: after an await of something else', async () => {
    const done = scheduler.post_task(async () => {
        await new Promise(resolve => {
            GLib.timeout_add(GLib.PRIORITY_DEFAULT, 2, () => {
                resolve();
                return GLib.SOURCE_REMOVE;
            });
        });
        tell('a');
        for (let i = 0; i < 2; i++) {
            post('x', 'user-blocking');
            await scheduler.yield();
            tell('a');
        }
    }, {priority: 'background', timeout: -1});
    await done;
    await assertRan('AAAxx');
});

test('workLoop: outside of the task', async () => {
    assert(!scheduler.did_timeout());
    const told = [];
    await scheduler.post_task(() => {
        GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            told.push(scheduler.did_timeout());
            return GLib.SOURCE_REMOVE;
        });
        while (told.length === 0)
            GLib.MainContext.default().iteration(true);
        tell('a');
    }, {timeout: -1});
    assertEqual(told, [false]);
    await assertRan('A');
});

test('workLoop: steps', async () => {
    await scheduler.post_steps(function* () {
        for (let i = 0; i < 3; i++) {
            spin(6);
            tell('a');
            yield;
        }
    }, {priority: 'background', timeout: 5});
    assertEqual(log[2], 'A');
    log.length = 0;
});

test('flushWork: currentPriorityLevel', async () => {
    const levels = [scheduler.get_current_priority()];
    const ask = () => levels.push(scheduler.get_current_priority());
    await scheduler.post_task(ask, {priority: 'background', timeout: -1});
    await scheduler.post_task(async () => {
        ask();
        await scheduler.yield();
        ask();
    }, {priority: 'user-blocking'});
    const controller = new PrioSched.TaskController({priority: 'background'});
    await scheduler.post_task(() => {
        ask();
        controller.set_priority('user-blocking');
        ask();
    }, {signal: controller.signal});
    await scheduler.post_task(ask);
    assertEqual(levels, [USER_VISIBLE, BACKGROUND, USER_BLOCKING, USER_BLOCKING, BACKGROUND, USER_BLOCKING, USER_VISIBLE]);
    const group = new PrioSched.TaskGroup({limit: 1, priority: 'background'});
    assertEqual(await group.post_task(() => scheduler.get_current_priority()), BACKGROUND);
});

test('runWithPriority: now, and back again', async () => {
    const levels = [];
    const ask = () => levels.push(scheduler.get_current_priority(), scheduler.did_timeout());
    assertEqual(await scheduler.post_task(() => {
        const result = scheduler.run_with_priority('user-blocking', () => {
            ask();
            return 5;
        });
        ask();
        return result;
    }, {priority: 'background', timeout: -1}), 5);
    assertEqual(levels, [USER_BLOCKING, true, BACKGROUND, true]);
    const error = new Error('mine');
    assert(thrown(() => scheduler.run_with_priority(USER_BLOCKING, () => {
        throw error;
    })) === error);
    scheduler.run_with_priority('background', ask);
    assertEqual(levels.slice(4), [BACKGROUND, false]);
    assertEqual(scheduler.get_current_priority(), USER_VISIBLE);
});

test('runWithPriority: tasks that it posts have it', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    await scheduler.post_task(async () => {
        post('b', 'user-visible');
        await scheduler.run_with_priority('user-blocking', () => {
            const state = PrioSched.SchedulingState.get_current();
            assertEqual([state.get_cancellable() === controller.signal, state.get_priority()], [true, USER_BLOCKING]);
            return scheduler.yield();
        });
        tell('a');
    }, {signal: controller.signal});
    await assertRan('ab');
});

test('runWithPriority: an async function keeps it', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    const levels = [];
    const posted = scheduler.post_task(async () => {
        const ask = () => levels.push(scheduler.get_current_priority());
        await scheduler.run_with_priority('user-blocking', async () => {
            ask();
            await new Promise(resolve => {
                GLib.timeout_add(GLib.PRIORITY_DEFAULT, 2, () => {
                    resolve();
                    return GLib.SOURCE_REMOVE;
                });
            });
            ask();
            await scheduler.yield();
            ask();
        });
        ask();
        const failure = await rejection(scheduler.run_with_priority('user-blocking', async () => {
            controller.abort('enough');
            await scheduler.yield();
        }));
        assertEqual(failure, 'enough');
    }, {signal: controller.signal});
    await posted.catch(() => {});
    assertEqual(levels, [USER_BLOCKING, USER_BLOCKING, USER_BLOCKING, BACKGROUND]);
});

// Logs the arguments and results of scheduleCallback (), over several functions.
function goOn(letters) {
    return didTimeout => {
        log.push(didTimeout ? letters[0].toUpperCase() : letters[0]);
        return letters.length > 1 ? goOn(letters.slice(1)) : 5;
    };
}

test('scheduleCallback: levels', async () => {
    const all = ['low', 'idle', 'normal', 'user-blocking', 'immediate'].map((level, i) => scheduler.schedule_callback(level, goOn('lenui'[i])));
    assertEqual(await Promise.all(all.map(({finished}) => finished)), [5, 5, 5, 5, 5]);
    await assertRan('Iunle');
});

test('scheduleCallback: options', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    const options = {signal: controller.signal, delay: 1, timeout: -1, name: 'named'};
    await scheduler.schedule_callback('low', goOn('a'), options).finished;
    const other = scheduler.schedule_callback('low', goOn('b'), options);
    controller.abort('enough');
    assertEqual(await rejection(other.finished), 'enough');
    assert(!other.cancel());
    scheduler.schedule_callback('immediate', goOn('c'), {timeout: 0});
    await assertRan('Ac');
});

test('scheduleCallback: errors name wrong arguments', () => {
    for (const bad of ['user-visible', 'urgent', 3, NaN, null, undefined]) {
        const {message} = thrown(() => scheduler.schedule_callback(bad, () => {}));
        assert(/is none of the levels immediate, user-blocking, normal, low, idle/.test(message), message);
    }
    assert(/is not a timeout/.test(thrown(() => scheduler.schedule_callback('low', () => {}, {timeout: NaN})).message));
    assert(/is not a delay/.test(thrown(() => scheduler.schedule_callback('low', () => {}, {delay: -1})).message));
    assert(thrown(() => scheduler.schedule_callback('low', 5)) instanceof TypeError);
    assert(/nothing that schedule_callback/.test(thrown(() => scheduler.cancel_callback(5)).message));
    for (const bad of [-1, 126, 1.5, NaN, '60', true, null])
        assert(/is not a frame rate/.test(thrown(() => scheduler.force_frame_rate(bad)).message), `${bad}`);
    assert(thrown(() => scheduler.wrap_callback(5)) instanceof TypeError);
});

test('workLoop: a continuation that is another function', async () => {
    const {finished} = scheduler.schedule_callback('low', goOn('abc'), {timeout: 0});
    post('x', 'background');
    scheduler.schedule_callback('low', () => void post('u', 'user-blocking'), {timeout: 0});
    assertEqual(await finished, 5);
    await assertRan('abcxu');
    await scheduler.schedule_callback('immediate', goOn('ab')).finished;
    await assertRan('AB');
    const error = new Error('mine');
    assert(await rejection(scheduler.schedule_callback('normal', () => () => {
        throw error;
    }).finished) === error);
    assertEqual(await scheduler.schedule_callback('normal', async () => 7).finished, 7);
});

test('cancelCallback: a task that has not started leaves the library at once', async () => {
    const own = PrioSched.Scheduler.new(null);
    own.start_statistics();
    const never = () => assert(false);
    const handles = [own.schedule_callback('low', never, {delay: 1e8}), own.schedule_callback('idle', never),
        own.schedule_callback('immediate', never), own.schedule_callback('normal', never, {signal: new PrioSched.TaskController().signal})];
    const last = own.schedule_callback('normal', () => 'last');
    assertEqual(own.count_pending(), 5);
    handles.forEach(handle => assert(handle.cancel()));
    assertEqual(own.count_pending(), 1);
    assert(own.get_first_task() === last);
    assertEqual(await last.finished, 'last');
    const {background, user_visible: userVisible, user_blocking: userBlocking} = own.get_statistics();
    assertEqual([background, userVisible, userBlocking].map(of => of.n_aborted), [2, 1, 1]);
    assertEqual([background, userVisible, userBlocking].map(of => of.n_run), [0, 1, 0]);
    assertEqual(own.count_pending(), 0);
    // The numbers of ended tasks are reused.
    const again = [1, 2, 3, 4].map(i => own.schedule_callback('normal', () => i));
    assertEqual(await Promise.all(again.map(({finished}) => finished)), [1, 2, 3, 4]);
});

test('cancelCallback', async () => {
    const first = scheduler.schedule_callback('low', goOn('a')), delayed = scheduler.schedule_callback('low', goOn('b'), {delay: 5});
    assert(scheduler.cancel_callback(first) && delayed.cancel());
    assert(!first.cancel());
    assert(await rejection(first.finished) instanceof PrioSched.AbortError);
    const second = scheduler.schedule_callback('low', () => {
        log.push('c');
        second.cancel();
        return goOn('d');
    });
    assert(await rejection(second.finished) instanceof PrioSched.AbortError);
    const third = scheduler.schedule_callback('normal', () => {
        scheduler.schedule_callback('immediate', () => void third.cancel());
        return goOn('e');
    });
    await rejection(third.finished);
    const last = scheduler.schedule_callback('normal', goOn('f'));
    await last.finished;
    assert(!last.cancel());
    await scheduler.sleep(6);
    await assertRan('cf');
});

test('getFirstCallbackNode', async () => {
    assertEqual(scheduler.get_first_task(), null);
    const low = scheduler.schedule_callback('low', goOn('b')), high = scheduler.schedule_callback('user-blocking', goOn('a'));
    assert(scheduler.get_first_task() === high);
    const late = scheduler.schedule_callback('immediate', goOn('l'));
    assert(scheduler.get_first_task() === late);
    await late.finished;
    await high.finished;
    assert(scheduler.get_first_task() === low);
    await low.finished;
    await assertRan('Lab');
    const other = PrioSched.Scheduler.new(GLib.MainContext.new());
    assertEqual(other.get_first_task(), null);
});

test('wrapCallback', async () => {
    const controller = new PrioSched.TaskController({priority: 'background'});
    const levels = [], object = {};
    const ask = function (...args) {
        levels.push(scheduler.get_current_priority(), scheduler.did_timeout(), this === object, ...args);
        return 5;
    };
    const outside = scheduler.wrap_callback(ask);
    const wrapped = await scheduler.post_task(() => scheduler.wrap_callback(ask), {signal: controller.signal, timeout: -1});
    assertEqual(wrapped.call(object, 'x', 'y'), 5);
    await scheduler.post_task(() => outside() + wrapped(), {priority: 'user-blocking'});
    assertEqual(levels, [BACKGROUND, true, true, 'x', 'y', USER_VISIBLE, false, false, BACKGROUND, true, false]);
    controller.abort('enough');
    assertEqual(await rejection(scheduler.wrap_callback.call(scheduler, () => scheduler.yield())().then(() => {
        throw 'not aborted';
    })), 'not aborted');
});

test('forceFrameRate and requestPaint', async () => {
    scheduler.force_frame_rate(30);
    assertEqual(scheduler.time_slice, 33);
    scheduler.force_frame_rate(0);
    assertEqual(scheduler.time_slice, -1);
    await scheduler.post_task(() => {
        scheduler.request_paint();
        assert(scheduler.should_yield());
    });
});

test('a task that cancels another one runs no main loop', async () => {
    const cancelled = scheduler.schedule_callback('idle', () => {});
    const depth = new Promise(resolve => scheduler.post_task(() => {
        GLib.idle_add(GLib.PRIORITY_HIGH, () => {
            resolve(GLib.main_depth());
            return false;
        });
        scheduler.cancel_callback(cancelled);
    }));
    assertEqual(await depth, 1);
});

run();
