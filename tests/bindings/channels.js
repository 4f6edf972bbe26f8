// channels.js: PrioSched.Channel in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {Channel, TaskController, TaskGroup} = PrioSched;

const until = async isSo => {
    while (!isSo())
        await scheduler.sleep(1);
};

test('the newest value wins', async () => {
    const shown = [], channel = new Channel(value => shown.push(value), {pace: 'frame'});
    for (let i = 0; i < 1000; i++)
        assert(channel.replace(i));
    assertEqual(channel.length, 1);
    await until(() => channel.length === 0);
    assertEqual(shown.join(), '999');
});

test('a full channel refuses an offer', async () => {
    const shown = [], channel = new Channel(value => shown.push(value), {capacity: 2});
    assertEqual([1, 2, 3].map(i => channel.offer(i)).join(), 'true,true,false');
    await until(() => channel.length === 0);
    assertEqual(shown.join(), '1,2');
});

test('giving waits for a place', async () => {
    const shown = [], channel = new Channel(value => shown.push(value), {capacity: 1, pace: 'turn'});
    for (let i = 0; i < 5; i++) {
        await channel.give(i);
        assert(channel.length <= 1);
    }
    await until(() => channel.length === 0);
    assertEqual(shown.join(), '0,1,2,3,4');
});

test('a promise keeps the place of its value', async () => {
    const group = new TaskGroup({limit: 1}), done = [];
    const channel = new Channel(value => group.post_task(async () => {
        assert(channel.length <= 2);
        await scheduler.yield();
        done.push(value);
    }), {capacity: 2});
    for (let i = 0; i < 10; i++)
        await channel.give(i);
    await until(() => done.length === 10 && channel.length === 0);
});

test('a closed channel takes no more', async () => {
    const shown = [], channel = new Channel(value => {
        shown.push(value);
        channel.close();
        channel.close();
    });
    channel.offer(1);
    const error = await rejection(Promise.all([channel.give(2), channel.give(3)]));
    assert(error.matches(PrioSched.error_quark(), PrioSched.Error.CLOSED), `${error}`);
    assert(channel.closed && !channel.replace(4) && !channel.offer(4));
});

test('an abort ends a channel', async () => {
    const controller = new TaskController(), shown = [];
    const channel = new Channel(value => shown.push(value), {signal: controller.signal});
    channel.offer(1);
    const given = rejection(channel.give(2));
    controller.abort();
    assert((await given).matches(PrioSched.error_quark(), PrioSched.Error.CLOSED));
    assertEqual(shown.length + channel.length, 0);
    assert(!channel.replace(3));
});

test('an abort in the callback drops the waiting values', async () => {
    const controller = new TaskController(), shown = [];
    const channel = new Channel(value => {
        shown.push(value);
        controller.abort();
    }, {capacity: 2, signal: controller.signal});
    channel.offer(1);
    channel.offer(2);
    await until(() => channel.length === 0);
    assertEqual(shown.join(), '1');
});

test('a channel refuses wrong options', () => {
    for (const [body, text] of [
        [() => new Channel(3), '3 is not a function'],
        [() => new Channel(function* () {}), 'is a generator function, and nothing of it would run'],
        [() => new Channel(print, {capacity: 0}), '0 is not a capacity'],
        [() => new Channel(print, {capacity: 2 ** 32}), '4294967296 is not a capacity'],
        [() => new Channel(print, {pace: 'slow'}), '“slow” is not a pace'],
        [() => new Channel(print, {signal: 3}), '3 is not a signal'],
        [() => new Channel(print, {size: 3}), '“size” is not an option'],
    ])
        assert(thrown(body).message.includes(text), `${text}: ${thrown(body)}`);
});

// Without further flags, GLib forks, so the library's handlers of fork () are called.
test('a child process leaves a channel alone', async () => {
    const shown = [], channel = new Channel(value => shown.push(value), {capacity: 3});
    for (let i = 0; i < 3; i++) {
        channel.offer(i);
        const [, , , status] = GLib.spawn_sync(null, ['true'], null, GLib.SpawnFlags.SEARCH_PATH, null);
        assertEqual(status, 0);
    }
    await until(() => channel.length === 0);
    assertEqual(shown.join(), '0,1,2');
});

test('an error of the callback is reported, and the next value comes', async () => {
    const reported = [], logged = globalThis.logError;
    globalThis.logError = error => reported.push(`${error}`);
    const fail = value => {
        throw new Error(value);
    };
    const channel = new Channel(value => value === 'first' ? fail(value) : Promise.reject(new Error(value)), {capacity: 2});
    channel.offer('first');
    channel.offer('second');
    try {
        await until(() => reported.length === 2);
        assertEqual(reported.join(), 'Error: first,Error: second');
    } finally {
        globalThis.logError = logged;
    }
});

test('a plain cancellable ends it, too', () => {
    const signal = new Gio.Cancellable(), channel = new Channel(print, {signal});
    signal.cancel();
    assert(channel.closed && !channel.offer(1));
});

run();
