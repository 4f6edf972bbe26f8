// groups.js: PrioSched.TaskGroup in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, GObject, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {TaskController, TaskGroup} = PrioSched;

// Runs after all ready work.
const turns = async (n = 8) => {
    for (let i = 0; i < n; i++)
        await scheduler.yield({priority: 'background'});
};

function newTurn() {
    const turn = {};
    turn.promise = new Promise(resolve => (turn.come = resolve));
    return turn;
}

const fail = error => () => {
    throw error;
};

test('a limited number run at a time, and an async function counts until it settles', async () => {
    const group = new TaskGroup({scheduler, limit: 2}), log = [], waits = [0, 1, 2, 3].map(newTurn);
    const posted = waits.map((wait, i) => group.post_task(async () => {
        log.push(i);
        await wait.promise;
        return i * i;
    }));
    assertEqual(group.n_tasks, 4);
    await turns();
    assertEqual(log, [0, 1]);
    waits[1].come();
    await posted[1];
    assertEqual(group.n_tasks, 3);
    await turns();
    assertEqual(log, [0, 1, 2]);
    waits.forEach(wait => wait.come());
    await group.drained();
    assertEqual(await Promise.all(posted), [0, 1, 4, 9]);
    assertEqual(group.n_tasks, 0);
});

test('functions, thenables, results and errors', async () => {
    const group = new TaskGroup({limit: 1}), error = new Error('no');
    assertEqual(await group.post_task(() => 7, {name: 'seven'}), 7);
    assertEqual(group.n_tasks, 0);
    assert(await rejection(group.post_task(fail(error))) === error);
    const turn = newTurn();
    const slow = group.post_task(() => ({then: (...args) => turn.promise.then(...args)})), next = group.post_task(() => 'next');
    await turns();
    assertEqual(group.n_tasks, 2);
    turn.come('slow');
    assertEqual([await slow, await next], ['slow', 'next']);
    assertEqual(await group.post_task(() => 8, {delay: 2}), 8);
});

test('a result whose then cannot be read rejects, and needs no place', async () => {
    const group = new TaskGroup({limit: 1}), error = new Error('no then');
    const refused = group.post_task(() => ({get then() {
        throw error;
    }}));
    assert(await rejection(refused) === error);
    assertEqual(await group.post_task(() => 'next'), 'next');
});

test('the next one is chosen by priority and age', async () => {
    const group = new TaskGroup({limit: 1, priority: 'background'}), log = [], wait = newTurn();
    const controller = new TaskController({priority: 'background'});
    group.post_task(() => wait.promise);
    group.post_task(() => log.push('old'));
    group.post_task(() => log.push('urgent'), {priority: 'user-blocking'});
    group.post_task(() => log.push('follows'), {signal: controller.signal});
    await turns();
    controller.set_priority('user-visible');
    wait.come();
    await group.drained();
    assertEqual(log, ['urgent', 'follows', 'old']);
    assertEqual(group.priority, 1);
    group.set_priority('user-blocking');
    assertEqual(group.signal.priority, 3);
});

test('timeouts', async () => {
    const group = new TaskGroup({limit: 1}), log = [];
    const post = (name, options) => group.post_task(async () => {
        log.push(`${name} ${scheduler.did_timeout()}`);
        await scheduler.yield();
        log.push(`${name} ${scheduler.did_timeout()}`);
    }, options);
    await Promise.all([
        post('urgent', {priority: 'user-blocking'}),
        post('late', {priority: 'background', timeout: PrioSched.TIMEOUT_IMMEDIATE}),
        post('in time', {priority: 'background', timeout: 1e8}),
        post('never', {priority: 'background', timeout: PrioSched.TIMEOUT_IDLE}),
        post('delayed', {priority: 'background', delay: 1, timeout: 1e8}),
    ]);
    assertEqual(log, ['late true', 'late true', 'urgent false', 'urgent false', 'in time false', 'in time false', 'never false',
        'never false', 'delayed false', 'delayed false']);
    const controller = new TaskController({priority: 'background'});
    const aborted = rejection(group.post_task(() => 1, {signal: controller.signal, timeout: 5}));
    controller.abort('mine');
    assertEqual(await aborted, 'mine');
});

test('a limit that changes, and pending that is notified', async () => {
    const group = new TaskGroup({limit: 1}), log = [], pending = [], waits = [newTurn(), newTurn(), newTurn()];
    group.connect('notify::n-tasks', () => pending.push(group.n_tasks));
    waits.forEach((wait, i) => group.post_task(() => {
        log.push(i);
        return wait.promise;
    }));
    await turns();
    group.limit = 3;
    assertEqual(group.limit, 3);
    await turns();
    assertEqual(log, [0, 1, 2]);
    waits.forEach(wait => wait.come());
    await group.drained();
    await turns();
    assertEqual([pending[0], pending.at(-1)], [3, 0]);
});

test('an abort rejects all, and the group can be used further', async () => {
    const group = new TaskGroup({limit: 1}), why = {any: 'value'}, {signal} = group;
    const posted = [1, 2, 3].map(i => group.post_task(() => i));
    group.abort(why);
    assert(signal.is_cancelled() && !group.signal.is_cancelled());
    for (const promise of posted)
        assert(await rejection(promise) === why);
    assertEqual(group.n_tasks, 0);
    assertEqual(await group.post_task(() => 'later'), 'later');
    const plain = group.post_task(() => 1);
    group.abort();
    assert((await rejection(plain)).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
});

test('its own signal', async () => {
    const group = new TaskGroup({limit: 1}), why = new Error('mine'), controller = new TaskController({priority: 'background'});
    const wait = newTurn();
    group.post_task(() => wait.promise);
    const mine = group.post_task(() => 1, {signal: controller.signal}), other = group.post_task(() => 2);
    controller.abort(why);
    assert(await rejection(mine) === why);
    assert(await rejection(group.post_task(() => 3, {signal: controller.signal})) === why);
    wait.come();
    assertEqual(await other, 2);
    assertEqual(await group.post_task(() => 4, {signal: new Gio.Cancellable()}), 4);
});

test('queued tasks are cancelled', async () => {
    const group = new TaskGroup({limit: 1}), wait = newTurn();
    const running = group.post_task(() => wait.promise), queued = group.post_task(() => 1);
    await turns();
    group.cancel_pending();
    assert((await rejection(queued)).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
    assertEqual(group.n_tasks, 1);
    wait.come('done');
    assertEqual(await running, 'done');
});

test('many are aborted in slices, and each is rejected', async () => {
    const group = new TaskGroup({limit: 1}), wait = newTurn(), n = 5000;
    let rejected = 0;
    group.post_task(() => wait.promise).catch(() => {});
    for (let i = 0; i < n; i++)
        group.post_task(() => i).catch(() => rejected++);
    await turns();
    group.abort('all');
    wait.come();
    await group.drained();
    for (let i = 0; i < 10000 && rejected < n; i++)
        await turns(1);
    assertEqual(rejected, n);
});

test('an abort does not wait for a promise that is pending', async () => {
    const group = new TaskGroup({limit: 1}), wait = newTurn(), log = [];
    for (const promise of [new Promise(() => {}), wait.promise, {then() {}}]) {
        const task = rejection(group.post_task(() => promise));
        await turns();
        assertEqual(group.n_tasks, 1);
        const all = rejection(group.all()), drained = group.drained();
        group.abort('why');
        assertEqual(await all, 'why');
        await drained;
        assertEqual(group.n_tasks, 0);
        if (promise instanceof Promise)
            assertEqual(await task, 'why');
        assertEqual(await group.post_task(() => 'next'), 'next');
    }
    // A late result does not free a place a second time.
    const others = [newTurn(), newTurn()];
    const posted = others.map((other, i) => group.post_task(() => {
        log.push(i);
        return other.promise;
    }));
    await turns();
    wait.come('late');
    await turns();
    assertEqual([log.length, group.n_tasks], [1, 2]);
    others.forEach(other => other.come(1));
    await Promise.all(posted);
    assertEqual(group.n_tasks, 0);
});

test('an abort in the function of a task, and of a task that cleans up', async () => {
    const group = new TaskGroup({limit: 2}), wait = newTurn(), log = [];
    const cleaning = rejection(group.post_task(async () => {
        try {
            await wait.promise;
            await scheduler.yield();
        } catch (error) {
            log.push(error);
        }
    }));
    await turns();
    const own = rejection(group.post_task(() => {
        group.abort('own');
        return new Promise(() => {});
    }));
    assertEqual([await own, await cleaning], ['own', 'own']);
    assertEqual(group.n_tasks, 0);
    wait.come();
    await turns();
    assertEqual(log, ['own']);
});

test('all', async () => {
    const group = new TaskGroup({limit: 2}), why = new Error('no');
    assertEqual(await group.all(), undefined);
    group.post_task(() => 1);
    assertEqual(await group.all(), undefined);
    group.post_task(() => 1);
    const failing = rejection(group.post_task(fail(why)));
    assert(await rejection(group.all()) === why);
    assert(await failing === why);
    const wait = newTurn();
    const first = rejection(group.post_task(() => wait.promise)), all = group.all(), last = rejection(group.post_task(() => 1));
    const queued = rejection(group.post_task(() => 1));
    group.abort('why');
    assertEqual([await rejection(all), await first, await last, await queued], ['why', 'why', 'why', 'why']);
    wait.come();
});

test('any and first', async () => {
    const group = new TaskGroup({limit: 3}), why = new Error('no'), wait = newTurn();
    for (const name of ['any', 'first'])
        assert((await rejection(group[name]())).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND));
    const posted = [group.post_task(() => wait.promise), rejection(group.post_task(fail(why))), group.post_task(() => 'quick')];
    const [any, first] = [group.any(), rejection(group.first())];
    assert(await first === why);
    assertEqual(await any, 'quick');
    const slow = group.any();
    wait.come('slow');
    assertEqual(await slow, 'slow');
    await Promise.all(posted);
    const failed = rejection(group.post_task(fail(why)));
    assert(await rejection(group.any()) === why);
    assert(await failed === why);
    const aborted = rejection(group.post_task(() => 1)), found = rejection(group.first());
    group.abort(why);
    assert(await found === why && await aborted === why);
});

test('a wait is ended by its signal', async () => {
    const group = new TaskGroup({limit: 1}), wait = newTurn(), controller = new TaskController(), why = new Error('enough');
    const task = group.post_task(() => wait.promise), drained = rejection(group.drained({signal: controller.signal}));
    await turns();
    controller.abort(why);
    assert(await drained === why);
    assertEqual(group.n_tasks, 1);
    wait.come(3);
    assertEqual(await task, 3);
});

test('a task waits for its own group', async () => {
    const group = new TaskGroup({limit: 1}), log = [];
    for (let i = 0; i < 2; i++) {
        group.post_task(async () => {
            await group.drained();
            log.push('drained');
        });
    }
    group.post_task(() => log.push('other'));
    await group.drained();
    assertEqual(log, ['other', 'drained', 'drained']);
});

test('yields inherit', async () => {
    const group = new TaskGroup({limit: 1, priority: 'background'}), log = [];
    const task = group.post_task(async () => {
        await scheduler.yield();
        log.push(PrioSched.SchedulingState.get_current().get_cancellable() === group.signal);
        await scheduler.yield();
        log.push('background');
    });
    scheduler.post_task(() => log.push('visible'));
    await task;
    assertEqual(log, ['visible', true, 'background']);
    const endless = rejection(group.post_task(async () => {
        for (;;)
            await scheduler.yield();
    }));
    scheduler.post_task(() => group.abort('enough'), {priority: 'user-blocking', delay: 2});
    assertEqual(await endless, 'enough');
});

test('no limit is infinite', () => {
    const group = new TaskGroup();
    assertEqual(group.limit, Infinity);
    group.limit = 2;
    group.limit = Infinity;
    assertEqual([group.limit, group.get_limit()], [Infinity, Infinity]);
    assertEqual([new TaskGroup({limit: Infinity}).limit, TaskGroup.new(scheduler, Infinity, 2).limit], [Infinity, Infinity]);
});

test('errors name bad input', () => {
    for (const limit of [0, -1, -Infinity, 2.5, 'two', NaN, null, 2 ** 32]) {
        assert(thrown(() => new TaskGroup({limit})).message.includes(`${limit}`), `${limit}`);
        assert(thrown(() => (new TaskGroup().limit = limit)).message.includes(`${limit}`), `${limit}`);
        assert(thrown(() => TaskGroup.new(scheduler, limit, 2)).message.includes(`${limit}`), `${limit}`);
    }
    const group = new TaskGroup();
    for (const [body, text] of [
        [() => new TaskGroup({scheduler: 'x'}), '“x” is not a scheduler'],
        [() => new TaskGroup({priority: 'low'}), '“low” is not a task priority'],
        [() => new TaskGroup({size: 3}), '“size” is not an option of new TaskGroup ()'],
        [() => new TaskGroup(3), '3 is not an object'],
        [() => group.post_task(3), '3 is not a function'],
        [() => group.post_task(Promise.resolve()), '[object Promise] is not a function: pass the function that returns it'],
        [() => scheduler.post_task((function* () {})()), '[object Generator] is not a function: pass the function that returns it'],
        [() => scheduler.post('background', async () => {}), 'is an asynchronous function, and would be called again and again'],
        [() => group.post_task(() => 1, 'x'), '“x” is not an object'],
        [() => group.post_task(() => 1, {limit: 3}), '“limit” is not an option of post_task ()'],
        [() => group.post_task(() => 1, {signal: 3}), '3 is not a signal'],
        [() => group.post_task(() => 1, {delay: -1}), '-1 is not a delay'],
        [() => group.post_task(() => 1, {timeout: 'x'}), '“x” is not a timeout'],
        [() => group.post_task(() => 1, {timeout: NaN}), 'NaN is not a timeout'],
        [() => group.drained({signal: 'x'}), '“x” is not a signal'],
        [() => group.set_priority('low'), '“low” is not a task priority'],
    ])
        assert(thrown(body).message.includes(text), `${text}: ${thrown(body)}`);
    assertEqual(group.n_tasks, 0);
});

test('a feed fails if its iterator returns no object', async () => {
    const group = new TaskGroup();
    assertEqual((await rejection(group.feed(() => {}, {[Symbol.iterator]: () => ({next: () => 5})}))).message,
        'next () of the items has returned 5, which is not an object');
});

test('items are asked for when a place is free', async () => {
    const log = [], ends = [], group = new TaskGroup({limit: 2});
    function* items() {
        for (let i = 0; i < 5; i++) {
            log.push(`asked ${i}`);
            yield i;
        }
    }
    const feeding = group.feed(i => {
        log.push(`begun ${i}`);
        return new Promise(resolve => ends.push(resolve));
    }, items());
    assertEqual(log, []);
    await turns(10);
    assertEqual(log, ['asked 0', 'asked 1', 'begun 0', 'begun 1']);
    ends[1]();
    await turns(10);
    assertEqual(log.slice(4), ['asked 2', 'begun 2']);
    while (log.length < 10) {
        ends.forEach(end => end());
        await turns(2);
    }
    ends.forEach(end => end());
    assertEqual(await feeding, undefined);
    assertEqual(group.n_tasks, 0);
});

const Row = GObject.registerClass(class Row extends GObject.Object {});

function makeRows(n) {
    const rows = new Gio.ListStore();
    for (let i = 0; i < n; i++)
        rows.append(new Row());
    return rows;
}

test('rows in view and near it are loaded', async () => {
    const rows = makeRows(100), order = [], group = new TaskGroup({limit: 2});
    const feed = group.feed_model(async (row, position) => {
        if (!row.loaded) {
            order.push(position);
            await scheduler.sleep(1);
            row.loaded = true;
        }
    }, rows, {name: 'rows'});
    feed.set_view(50, 4);
    assertEqual([feed.first, feed.n_rows, feed.look_ahead], [50, 4, 1]);
    await group.drained();
    assertEqual(order.slice(0, 4), [50, 51, 52, 53]);
    assertEqual(order.length, 12);
    feed.set_view(54, 4);
    await group.drained();
    assertEqual(order.slice(12).sort(), [58, 59, 60, 61]);
});

test('rows that leave are aborted', async () => {
    const rows = makeRows(100), aborted = [], group = new TaskGroup({limit: 2});
    const feed = group.feed_model((row, position) => scheduler.sleep(60000).catch(() => aborted.push(position)), rows);
    feed.set_view(0, 2);
    while (group.n_tasks < 2)
        await scheduler.sleep(1);
    await scheduler.sleep(1);
    feed.set_view(80, 2);
    while (aborted.length < 2)
        await scheduler.sleep(1);
    assertEqual(aborted.sort(), [0, 1]);
    rows.remove_all();
    await group.drained();
});

test('a loader removes its row and adds others', async () => {
    const rows = makeRows(20), group = new TaskGroup({limit: 2});
    let nAdded = 0;
    const feed = group.feed_model(row => {
        rows.remove(rows.find(row)[1]);
        if (nAdded < 10) {
            nAdded++;
            rows.append(new Row());
        }
    }, rows);
    feed.set_view(0, 1000);
    await group.drained();
    assertEqual(nAdded, 10);
    assertEqual(rows.get_n_items(), 0);
});

test('a feed is dropped while its rows load', async () => {
    const rows = makeRows(20), reasons = [], group = new TaskGroup({limit: 2});
    const feed = group.feed_model(() => scheduler.sleep(60000).catch(() => reasons.push(1)), rows);
    feed.set_view(0, 5);
    while (group.n_tasks < 2)
        await scheduler.sleep(1);
    await scheduler.sleep(1);
    feed.run_dispose();
    while (group.n_tasks > 0)
        await scheduler.sleep(1);
    assertEqual(reasons.length, 2);
});

test('a loader posts to its group and moves the view', async () => {
    const rows = makeRows(100), posted = [], group = new TaskGroup({limit: 2});
    const feed = group.feed_model(async (row, position) => {
        if (row.loaded)
            return;
        row.loaded = true;
        group.post_task(() => posted.push(position));
        feed.set_view(position + 1, 1);
        await scheduler.yield();
    }, rows);
    feed.set_view(0, 1);
    await group.drained();
    assertEqual(posted.length, 100);
});

test('a view beyond rows that go and come', async () => {
    const rows = makeRows(100), group = new TaskGroup({limit: 2});
    let asked = [];
    const feed = group.feed_model((row, position) => {
        asked.push(position);
    }, rows);
    feed.set_view(2 ** 32 - 1, 2 ** 32 - 1);
    await group.drained();
    assertEqual(asked.length, 100);
    asked = [];
    rows.remove_all();
    await group.drained();
    rows.splice(0, 0, [new Row(), new Row()]);
    await group.drained();
    assertEqual(asked, [0, 1]);
});

test('numbers that are refused by a view', () => {
    const feed = new TaskGroup().feed_model(() => 1, makeRows(1));
    for (const numbers of [[-1, 3], [0, -5], [0, 2 ** 32]])
        assert(thrown(() => feed.set_view(...numbers)).message.includes('out of range'));
    assertEqual([feed.first, feed.n_rows], [0, 0]);
});

test('a feed of a list refuses wrong arguments', () => {
    const rows = makeRows(1), group = new TaskGroup();
    for (const [body, text] of [
        [() => group.feed_model(3, rows), '3 is not a function'],
        [() => group.feed_model(() => 1, rows, {delay: 3}), '“delay” is not an option of feed_model ()'],
    ])
        assert(thrown(body).message.includes(text), `${text}: ${thrown(body)}`);
    thrown(() => group.feed_model(() => 1, 3));
});

test('a feed of many, of none, and of an iterator that throws', async () => {
    const done = [];
    await new TaskGroup().feed(i => done.push(i), Array.from({length: 1000}, (_, i) => i), {priority: 'background', name: 'numbers'});
    assertEqual(done.length, 1000);
    await new TaskGroup({limit: 3}).feed(() => 1, []);
    const error = new Error('no more');
    assertEqual(await rejection(new TaskGroup({limit: 1}).feed(() => 1, (function* () {
        yield 1;
        throw error;
    })())), error);
});

test('an abort of its group from GLib ends a feed', async () => {
    const group = new TaskGroup({limit: 1});
    const feeding = group.feed(() => scheduler.sleep(1), new Array(1000).keys());
    await turns(10);
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
        group.abort('enough');
        return false;
    });
    assertEqual(await rejection(feeding), 'enough');
});

test('its signal ends a feed', async () => {
    const asked = [], controller = new PrioSched.TaskController(), reasons = [];
    const feeding = new TaskGroup({limit: 3}).feed(() => scheduler.sleep(60000).catch(reason => reasons.push(reason)), (function* () {
        for (let i = 0; ; i++) {
            asked.push(i);
            yield i;
        }
    })(), {signal: controller.signal});
    await turns(10);
    controller.abort('enough');
    assertEqual(await rejection(feeding), 'enough');
    await turns(5);
    assertEqual([asked, reasons], [[0, 1, 2], ['enough', 'enough', 'enough']]);
});

test('items that end their feed are posted no more', async () => {
    for (const isGroup of [false, true]) {
        const done = [], group = new TaskGroup({limit: 1}), controller = new PrioSched.TaskController();
        const feeding = group.feed(i => done.push(i), (function* () {
            yield 1;
            (isGroup ? group : controller).abort('enough');
            yield 2;
        })(), {signal: controller.signal});
        assertEqual(await rejection(feeding), 'enough');
        await group.drained();
        assertEqual(done, [1]);
    }
});

test('an abort of the group ends a feed', async () => {
    const asked = [], group = new TaskGroup({limit: 3});
    let isClosed = false;
    const feeding = group.feed(() => new Promise(() => {}), (function* () {
        try {
            for (let i = 0; i < 1000; i++) {
                asked.push(i);
                yield i;
            }
        } finally {
            isClosed = true;
        }
    })());
    await turns(10);
    group.abort('enough');
    assertEqual(await rejection(feeding), 'enough');
    await turns(5);
    assertEqual([asked, isClosed], [[0, 1, 2], true]);
});

test('a feed refuses values that it cannot use', () => {
    const group = new TaskGroup();
    for (const [body, text] of [
        [() => group.feed(3, []), '3 is not a function'],
        [() => group.feed(() => 1, 3), '3 is nothing to iterate over'],
        [() => group.feed(() => 1, [], {delay: 3}), '“delay” is not an option of feed ()'],
        [() => group.feed(() => 1, [], {priority: 'low'}), '“low” is not a task priority'],
        [() => group.feed(() => 1, [], {signal: 3}), '3 is not a signal'],
    ])
        assert(thrown(body).message.includes(text), `${text}: ${thrown(body)}`);
});

test('JavaScript has one thread', () => {
    for (const body of [() => new PrioSched.Worker(), () => new PrioSched.Worker({name: 'x'}), () => PrioSched.Worker.new('x'),
        () => PrioSched.Worker.prototype.run(null, () => 1), () => PrioSched.Scheduler.get_default().run_in_thread(() => 1)])
        assert(thrown(body).message.includes('JavaScript has one thread'), `${thrown(body)}`);
});

test('a scheduler that has gone is reported', async () => {
    const group = new TaskGroup({scheduler: PrioSched.Scheduler.new(null)});
    for (let i = 0; i < 20 && group.dup_scheduler() !== null; i++) {
        imports.system.gc();
        await turns(2);
    }
    if (group.dup_scheduler() === null)
        assert(thrown(() => group.post_task(() => 1)).message.includes('has gone'));
});

test('a feed that is aborted before its first turn leaves no iterator open', async () => {
    const log = [], items = {
        [Symbol.iterator]() {
            log.push('opened');
            return {next: () => ({value: 1, done: false}), return: () => log.push('closed')};
        },
    };
    for (const begins of [false, true]) {
        const group = new TaskGroup({limit: 1}), fed = group.feed(() => scheduler.sleep(1), items);
        if (begins)
            await turns();
        group.abort();
        await rejection(fed);
    }
    assertEqual(log, ['opened', 'closed']);
});

run();
