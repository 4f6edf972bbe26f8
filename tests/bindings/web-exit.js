// web-exit.js: System.exit () wherever the scheduler calls
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib} = imports.gi;
const {assertEqual, run, test} = imports.tap;

// A program whose main loop ends by itself after some iterations, and which prints that it has continued.
const program = body => `
    imports.gi.versions.PrioSched = '1';
    const {GLib, PrioSched} = imports.gi;
    const {scheduler, AbortController, AbortSignal, TaskController, queueMicrotask, requestIdleCallback} = PrioSched.web;
    const native = PrioSched.Scheduler.get_default();
    const exit = () => imports.system.exit(3);
    const file = imports.gi.Gio.File.new_for_path('/proc/self/status');
    const read = () => new Promise(resolve => file.load_contents_async(null, (_, result) => resolve(file.load_contents_finish(result))));
    const loop = new GLib.MainLoop(null, false);
    let left = 500;
    GLib.idle_add(GLib.PRIORITY_LOW + 100, () => {
        if (--left === 0) {
            print('went on');
            loop.quit();
        }
        return left > 0;
    });
    ${body};
    loop.run();`;

const bodies = {
    'a task': 'scheduler.postTask(exit)',
    'a task before another': 'scheduler.postTask(exit); scheduler.postTask(() => print("another"))',
    'a task that has a finally block': 'scheduler.postTask(() => { try { exit(); } finally { print("finally"); } })',
    'a task with a signal': 'scheduler.postTask(exit, {signal: new TaskController().signal})',
    'a task with a delay': 'scheduler.postTask(exit, {delay: 1}); left = 1e9',
    'a background task': 'scheduler.postTask(exit, {priority: "background"})',
    'a native task': 'native.post_task(exit)',
    'a function that is posted': 'native.post("background", exit)',
    'a task of another scheduler': 'new PrioSched.Scheduler().post_task(exit)',
    'an idle callback': 'requestIdleCallback(exit, {timeout: 1}); left = 1e9',
    'a handler of an abort, in a task':
        'const c = new AbortController(); c.signal.onabort = exit; scheduler.postTask(() => c.abort())',
    'a handler of an abort, outside': 'const c = new AbortController(); c.signal.onabort = exit; c.abort()',
    'a handler of a timeout': 'const signal = AbortSignal.timeout(1); signal.onabort = exit; left = 1e9',
    'a handler of a change of priority': `const c = new TaskController(); c.signal.onprioritychange = exit;
        scheduler.postTask(() => c.setPriority("background"))`,
};

// exit () in a job of a promise: GJS then runs no other job, and reports it only when the main loop ends.
const asked = {
    'a job of a task': '() => Promise.resolve().then(exit)',
    'a task that has awaited nothing': 'async () => { await null; exit(); }',
    'a task that has yielded': 'async () => { await scheduler.yield(); exit(); }',
    'a task that has awaited a call of GIO': 'async () => { await read(); exit(); }',
};
for (const [name, callback] of Object.entries(asked)) {
    for (const options of ['', ', {priority: "background"}', ', {signal: new TaskController().signal}'])
        bodies[`${name}${options}`] = `left = 1e9; scheduler.postTask(${callback}${options}).catch(() => {})`;
}
const outside = {
    'a job of an idle source': 'GLib.idle_add(0, () => { Promise.resolve().then(exit); })',
    'code that has awaited a task': '(async () => { await scheduler.postTask(() => 1); exit(); })()',
    'code that has yielded': '(async () => { await scheduler.yield(); exit(); })()',
    'code that has awaited a call of GIO': '(async () => { await read(); exit(); })()',
    'code that has awaited long after everything else': '(async () => { await native.sleep(100); await read(); exit(); })()',
    'steps that have waited': 'native.post_steps(function* () { yield read(); exit(); })',
    'code that has awaited a timeout': '(async () => { await new Promise(resolve => setTimeout(resolve, 1)); exit(); })()',
    'code that has awaited a timeout, long after everything else':
        '(async () => { await native.sleep(100); await new Promise(resolve => setTimeout(resolve, 100)); exit(); })()',
};
const others = {
    'alone': '',
    'beside background tasks that yield': 'for (let i = 0; i < 3; i++) scheduler.postTask(async () => { for (;;) await scheduler.yield(); }, {priority: "background"})',
    'beside tasks that read': 'for (let i = 0; i < 3; i++) scheduler.postTask(async () => { for (;;) await read(); }, {priority: "background"})',
};
for (const [name, body] of Object.entries(outside)) {
    for (const [beside, other] of Object.entries(others))
        bodies[`${name}, ${beside}`] = `left = 1e9; native.post_task(() => {}); ${other}; ${body}`;
}

bodies['code that continues before any task has run'] =
    'left = 1e9; scheduler.postTask(() => print("a task"), {delay: 1e6}); (async () => { await null; exit(); })()';
bodies['the job that has posted the first task'] =
    'left = 1e9; (async () => { await null; scheduler.postTask(() => print("a task"), {delay: 1e6}); exit(); })()';
bodies['a job of the timeout that has posted the first task'] =
    'left = 1e9; setTimeout(async () => { scheduler.postTask(() => print("a task"), {delay: 1e6}); await null; exit(); }, 1)';

for (const [name, body] of Object.entries(bodies)) {
    test(`System.exit () in ${name}`, () => {
        const [ok, out, , status] =
            GLib.spawn_sync(null, ['timeout', '20', 'gjs', '-c', program(body)], null, GLib.SpawnFlags.SEARCH_PATH, null);
        assertEqual([ok, new TextDecoder().decode(out), status], [true, '', 3 << 8]);
    });
}

run();
