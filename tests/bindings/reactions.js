// reactions.js: memory does not grow with the number of reactions under a state
//
//     gjs reactions.js [REACTIONS]
//
// Several tasks, with and without a signal, await in turn: nothing, a yield, a promise that another source settles, a
// chain. Fails if the process has grown by more than 16 MiB after the first tenth.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const System = imports.system;
const {TaskController, scheduler} = PrioSched.web;

const REACTIONS = Number(ARGV[0] ?? 400000);
const TASKS = 8;
const MAX_GROWTH = (GLib.getenv('LD_PRELOAD') ? 1024 : 16) << 10; // a sanitizer keeps freed memory

function kilobytes() {
    System.gc();
    const [, bytes] = GLib.file_get_contents('/proc/self/statm');
    return Number(new TextDecoder().decode(bytes).split(' ')[1]) * 4;
}

const elsewhere = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

let done = 0, before = 0;

async function work() {
    for (let i = 0; done < REACTIONS; i++) {
        // One await in 64 is slow, and the others run inside the engine.
        await (i % 64 === 0 ? elsewhere() : i % 8 === 0 ? scheduler.yield() : null);
        await Promise.resolve(i).then(value => value).finally(() => {});
        done += 4;
        if (before === 0 && done > REACTIONS / 10)
            before = kilobytes();
    }
}

const loop = new GLib.MainLoop(null, false);
const {signal} = new TaskController({priority: 'background'});
const tasks = [];
for (let i = 0; i < TASKS; i++)
    tasks.push(scheduler.postTask(work, i % 2 === 0 ? {signal} : {priority: 'user-visible'}));
const start = GLib.get_monotonic_time();
let status = 0;
Promise.all(tasks).then(() => {
    const growth = kilobytes() - before;
    const each = (GLib.get_monotonic_time() - start) / done;
    print(`${done} reactions, ${each.toFixed(2)} µs each, the process has grown by ${growth} KiB since a tenth of them`);
    status = growth > MAX_GROWTH ? 1 : 0;
}, error => {
    logError(error);
    status = 1;
}).finally(() => loop.quit());
loop.run();
System.exit(status);
