// shell-frames.js: counts the frames that GNOME Shell draws, by its stage's signals, beside floods
//
// The body of an extension for check-shell-frames.py, in any Shell: start () measures, and prints a line of JSON for
// each flood.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported start */

imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler, TaskController} = PrioSched.web;

const STEP = 1000; // microseconds of each task
const PENDING = 50; // tasks

const now = () => GLib.get_monotonic_time();
const sleep = milliseconds => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_HIGH, milliseconds, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

function spin() {
    const end = now() + STEP;
    while (now() < end)
        ;
}

// Returns a flood, which counts its steps; stop () ends it.

function floodOfSource() {
    const flood = {steps: 0};
    const id = GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
        spin();
        flood.steps++;
        return GLib.SOURCE_CONTINUE;
    });
    flood.stop = () => GLib.source_remove(id);
    return flood;
}

function floodOfTasks(priority) {
    const controller = new TaskController({priority});
    const {signal} = controller;
    const flood = {steps: 0, stop: () => controller.abort()};
    const step = () => {
        spin();
        flood.steps++;
        post();
    };
    const post = () => scheduler.postTask(step, {signal}).catch(() => {});
    for (let i = 0; i < PENDING; i++)
        post();
    return flood;
}

// Counts frames; the stage draws as long as it has changes.
async function count(make, seconds) {
    const times = [];
    const id = global.stage.connect('after-paint', () => {
        times.push(now());
        global.stage.queue_redraw();
    });
    const flood = make();
    global.stage.queue_redraw();
    await sleep(200);
    times.length = flood.steps = 0;
    const began = now();
    await sleep(seconds * 1000);
    const elapsed = (now() - began) / 1e6;
    global.stage.disconnect(id);
    flood.stop();
    const gaps = times.map((time, i) => time - (times[i - 1] ?? began));
    return {
        frames: Math.round(times.length / elapsed),
        steps: Math.round(flood.steps / elapsed),
        gap: Math.max(0, ...gaps) / 1000,
    };
}

var start = async function start(seconds) { // eslint-disable-line no-var
    const native = PrioSched.Scheduler.get_default();
    const measure = async (flood, follows, make) => {
        const row = await count(make, seconds);
        log(`shell-frames: ${JSON.stringify({flood, follows, ...row})}`);
    };
    const quiet = () => ({steps: 0, stop() {}});

    await sleep(3000); // until the Shell itself has started
    await measure('none', false, quiet);
    await measure('GLib.idle_add', false, floodOfSource);
    // The stage is followed until it is unfollowed.
    for (const follows of [true, false]) {
        if (!follows)
            native.unfollow_frame_clock(global.stage);
        for (const priority of ['background', 'user-visible', 'user-blocking'])
            // eslint-disable-next-line no-await-in-loop
            await measure(priority, follows, () => floodOfTasks(priority));
    }
    log('shell-frames: done');
};
