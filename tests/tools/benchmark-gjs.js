// benchmark-gjs.js: compares the cost of tasks in GJS with equivalent code, in one run
//
//     gjs benchmark-gjs.js [ROUNDS]
//
// Each figure is the lowest of several rounds.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {addIdles, awaitedIdle} = imports.usual;
const scheduler = PrioSched.Scheduler.get_default();
const {web} = PrioSched;

const N = 100000;
const rounds = Number(ARGV[0] ?? 5);
const nothing = () => {};

async function timed(run, n = N) {
    let least = Infinity;
    for (let i = 0; i < rounds; i++) {
        const start = GLib.get_monotonic_time();
        await run(n);
        least = Math.min(least, GLib.get_monotonic_time() - start);
    }
    return least / n;
}

async function repeat(n, once) {
    for (let i = 0; i < n; i++)
        await once();
}

async function flood(n, post) {
    let last;
    for (let i = 0; i < n; i++)
        last = post();
    await last;
}

// Posts n tasks with one signal, aborts it, and waits until all promises are settled.  Returns the time from the abort on.
async function abortion(n) {
    const {TaskController, scheduler: s} = web;
    const controller = new TaskController();
    const ends = [];
    for (let i = 0; i < n; i++)
        ends.push(s.postTask(nothing, {signal: controller.signal}).catch(nothing));
    const start = GLib.get_monotonic_time();
    controller.abort();
    await Promise.all(ends);
    return GLib.get_monotonic_time() - start;
}

// Does the same with promises that are rejected directly.
async function rejection(n) {
    const rejects = [], ends = [];
    for (let i = 0; i < n; i++)
        ends.push(new Promise((_, reject) => rejects.push(reject)).catch(nothing));
    const start = GLib.get_monotonic_time();
    for (const reject of rejects)
        reject(start);
    await Promise.all(ends);
    return GLib.get_monotonic_time() - start;
}

async function least(n, measure) {
    let time = Infinity;
    for (let i = 0; i < rounds; i++)
        time = Math.min(time, await measure(n));
    return time / n;
}

function row(name, peer, ours, theirs, wanted = 0) {
    print(`${`${name} / ${peer}`.padEnd(60)} ${ours.toFixed(3).padStart(10)} ${theirs.toFixed(3).padStart(14)}  µs ` +
        `${(theirs / ours).toFixed(2).padStart(12)} ×${wanted ? `   ≥ ${wanted} ×` : ''}`);
}

async function main() {
    print(`The native part of PrioSched gives: ${PrioSched.nativePart}`);
    print(`${''.padEnd(60)} ${'ours'.padStart(10)} ${'peer'.padStart(14)}`);
    const idle = await timed(addIdles);
    const awaited = await timed(n => repeat(n, awaitedIdle), N / 10);
    const controller = new web.TaskController();
    const {signal} = controller;

    const posted = await timed(n => flood(n, () => scheduler.post_task(nothing)));
    const postedOnWeb = await timed(n => flood(n, () => web.scheduler.postTask(nothing)));
    const under = {'{priority: user-visible}': {priority: 'user-visible'}, '{priority: background}': {priority: 'background'}};
    row('post_task, 100,000 pending', 'GLib.idle_add', posted, idle, 7);
    row('web postTask, 100,000 pending', 'GLib.idle_add', postedOnWeb, idle);
    for (const [options, given] of Object.entries({...under, '{signal}': {signal: new PrioSched.TaskController().signal}}))
        row(`post_task with ${options}`, 'without', await timed(n => flood(n, () => scheduler.post_task(nothing, given))), posted);
    for (const [options, given] of Object.entries({...under, '{signal}': {signal}})) {
        row(`web postTask with ${options}`, 'without', await timed(n => flood(n, () => web.scheduler.postTask(nothing, given))),
            postedOnWeb);
    }
    row('web postTask with a controller each', 'without', await timed(n => flood(n, () => web.scheduler.postTask(nothing, {signal: new web.TaskController().signal}))),
        postedOnWeb);
    const states = {'a priority': {priority: 'background'}, 'a signal': {signal: new PrioSched.TaskController().signal}};
    for (const [where, given] of Object.entries(states)) {
        const post = () => scheduler.post_task(nothing);
        const inside = await timed(n => scheduler.post_task(() => flood(n, post), given));
        row(`post_task, in a task with ${where}`, 'outside of tasks', inside, await timed(n => flood(n, post)), 0.67);
    }
    row('await yield()', 'GLib.idle_add', await timed(n => repeat(n, () => scheduler.yield())), idle, 7);
    row('await web yield()', 'GLib.idle_add', await timed(n => repeat(n, () => web.scheduler.yield())), idle);
    row('await yield(), in a task', 'an awaited GLib.idle_add',
        await timed(n => scheduler.post_task(() => repeat(n, () => scheduler.yield()))), awaited);
    row('await web yield(), in a task', 'await Promise.resolve()',
        await timed(n => web.scheduler.postTask(() => repeat(n, () => web.scheduler.yield()))), await timed(n => repeat(n, () => Promise.resolve())));
    row('abort of 20,000', 'reject by hand', await least(20000, abortion), await least(20000, rejection));
    row('await post_task()', 'an awaited GLib.idle_add', await timed(n => repeat(n, () => scheduler.post_task(nothing)), N / 10), awaited);
}

const loop = new GLib.MainLoop(null, false);
main().catch(logError).finally(() => loop.quit());
loop.run();
