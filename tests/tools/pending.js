// pending.js: measures the cost of a task in GJS beside the usual ways, by the number of tasks that are pending
//
//     gjs pending.js ROUNDS NUMBER…
//
// Prints a line for each row: the name, the peer, and the lowest times of both in ns a task, for each NUMBER of tasks that are
// pending at once.  Both run alternately in one process.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {addIdles, awaitedIdle} = imports.usual;
const System = imports.system;
const scheduler = PrioSched.Scheduler.get_default();
const controller = new PrioSched.TaskController('user-visible');

const MEASURED = 5000;     // tasks a round, at least
const BUDGET = 5000;       // slice of a loop by hand, in µs
const PATIENCE = 20000;    // the longest time of a round, in ms
const nothing = () => {};
const options = {priority: 'user-blocking'}, withSignal = {signal: controller.get_signal()};

// Posts n tasks, and awaits the last one.
const all = post => n => {
    let last;
    for (let i = 0; i < n; i++)
        last = post();
    return last;
};

// Takes n items by hand: in an idle source, for the time of a frame's third.
const itemsByHand = n => new Promise(resolve => {
    let i = 0;
    GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
        const end = GLib.get_monotonic_time() + BUDGET;
        while (i++ < n) {
            if (GLib.get_monotonic_time() > end)
                return GLib.SOURCE_CONTINUE;
        }
        resolve();
        return GLib.SOURCE_REMOVE;
    });
});

function *numbersTo(n) {
    for (let i = 0; i < n; i++)
        yield i;
}

async function eachItem(n) {
    for await (const item of scheduler.each(numbersTo(n)))
        nothing(item);
}

async function eachSliced(n) {
    for await (const slice of scheduler.slices(numbersTo(n))) {
        for (const item of slice)
            nothing(item);
    }
}

const ROWS = [
    ['post', 'GLib.idle_add()', all(() => scheduler.post_task(nothing)), addIdles],
    ['post with a priority', 'GLib.idle_add()', all(() => scheduler.post_task(nothing, options)), addIdles],
    ['post with a task signal', 'GLib.idle_add()', all(() => scheduler.post_task(nothing, withSignal)), addIdles],
    ['post, await the result', 'an awaited GLib.idle_add()', n => Promise.all(Array.from({length: n}, () => scheduler.post_task(nothing))),
        n => Promise.all(Array.from({length: n}, awaitedIdle))],
    ['yield', 'an awaited GLib.idle_add()', n => Promise.all(Array.from({length: n}, () => scheduler.yield())),
        n => Promise.all(Array.from({length: n}, awaitedIdle))],
    ['an item of slices(), of as many', 'by hand, in an idle source', n => scheduler.post_task(() => eachSliced(n)), itemsByHand],
    ['an item of each(), of as many', 'by hand, in an idle source', n => scheduler.post_task(() => eachItem(n)), itemsByHand],
];

async function repeat(run, n, times) {
    for (let i = 0; i < times; i++)
        await run(n);
    return true;
}

// Returns the time of a task in ns.  GJS before 1.82 loses callbacks while it collects garbage: a round that waits for one is left out.
async function measure(run, n, times) {
    System.gc();
    const start = GLib.get_monotonic_time();
    const isOver = await Promise.race([repeat(run, n, times), scheduler.sleep(PATIENCE)]);
    return isOver ? (GLib.get_monotonic_time() - start) * 1000 / (n * times) : Infinity;
}

async function main(rounds, ...numbers) {
    for (const [name, peer, ours, theirs] of ROWS) {
        const cells = [name, peer];
        for (const n of numbers.map(Number)) {
            const times = Math.max(1, Math.floor(MEASURED / n)), found = [[], []];
            for (let i = 0; i < Number(rounds); i++) {
                found[0].push(await measure(ours, n, times));
                found[1].push(await measure(theirs, n, times));
            }
            cells.push(...found.map(values => Math.min(...values).toFixed(1)));
        }
        print(cells.join('\t'));
    }
}

const loop = new GLib.MainLoop(null, false);
main(...ARGV).catch(logError).finally(() => loop.quit());
loop.run();
