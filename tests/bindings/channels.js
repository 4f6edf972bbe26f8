// channels.js: PrioSched.Channel in JavaScript
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, PrioSched} = imports.gi;
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

test('a channel refuses wrong options', () => {
    for (const [body, text] of [
        [() => new Channel(3), '3 is not a function'],
        [() => new Channel(print, {capacity: 0}), '0 is not a capacity'],
        [() => new Channel(print, {capacity: 2 ** 32}), '4294967296 is not a capacity'],
        [() => new Channel(print, {pace: 'slow'}), '“slow” is not a pace'],
        [() => new Channel(print, {signal: 3}), '3 is not a signal'],
        [() => new Channel(print, {size: 3}), '“size” is not an option'],
    ])
        assert(thrown(body).message.includes(text), `${text}: ${thrown(body)}`);
});

test('a plain cancellable ends it, too', () => {
    const signal = new Gio.Cancellable(), channel = new Channel(print, {signal});
    signal.cancel();
    assert(channel.closed && !channel.offer(1));
});

run();
