// web-extras.js: each (), slices (), latest () and adopt (), of the library's schedulers and of PrioSched.web.extras
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {web} = PrioSched;
const {TaskController, scheduler} = web;
const native = PrioSched.Scheduler.get_default();

const wait = (ms = 1) => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
    resolve();
    return false;
}));

// The signal of the running task, of the web or of the library.
const signalOf = extras => 'currentTaskSignal' in extras ? extras.currentTaskSignal : extras.current_signal;

const spin = microseconds => {
    for (const end = GLib.get_monotonic_time() + microseconds; GLib.get_monotonic_time() < end;);
};

test('the extras can be taken out of their object, as README shows them', async () => {
    const {each, latest, adopt, shouldYield, newScheduler} = web.extras;
    const search = latest(async word => {
        for await (const item of each([word]))
            return adopt(Promise.resolve(`${item} ${shouldYield()}`));
        return '';
    });
    // Whether the slice is over depends on the machine.
    assert(/^found (true|false)$/.test(await search('found')));
    assert(newScheduler().native !== native);
});

for (const [kind, extras] of [['the library', native], ['the web', web.extras]]) {
    test(`each () of ${kind} yields if it is time, and only then`, async () => {
        const log = [], before = native.get_time_slice();
        const steps = async n => {
            for await (const i of extras.each(Array.from({length: n}, (_, k) => k))) {
                log.push(i);
                spin(100);
            }
        };
        const urgent = i => scheduler.postTask(() => log.push(`urgent ${i}`), {priority: 'user-blocking'});
        await scheduler.postTask(() => {
            const done = steps(300);
            return Promise.all([done, urgent(1)]);
        }, {priority: 'background'});
        assertEqual(log.length, 301);
        assert(log.indexOf('urgent 1') < 150, `${log.indexOf('urgent 1')}`);
        assertEqual(native.get_time_slice(), before);
    });

    test(`each () of ${kind} takes what can be iterated over, and lets go of it`, async () => {
        const found = [];
        let closed = 0;
        function* generate() {
            try {
                yield* [1, 2, 3];
            } finally {
                closed++;
            }
        }
        async function* generateLater() {
            await wait();
            yield* [4, 5];
        }
        for (const items of [generate(), new Set([7]), 'ab', generateLater(), []]) {
            for await (const item of extras.each(items))
                found.push(item);
        }
        for await (const item of extras.each(generate())) {
            found.push(item);
            break;
        }
        assertEqual([found, closed], [[1, 2, 3, 7, 'a', 'b', 4, 5, 1], 2]);
        for (const items of [5, {}, null, undefined])
            assert(thrown(() => extras.each(items)) instanceof TypeError);
        assertEqual(await rejection((async () => {
            for await (const item of extras.each((function* () {
                throw 'mine'; // eslint-disable-line no-throw-literal
            })()))
                found.push(item);
        })()), 'mine');
    });

    test(`each () of ${kind} gives nothing after an early end`, async () => {
        const items = extras.each([1, 2, 3]);
        assertEqual(await items.next(), {value: 1, done: false});
        assertEqual(await items.return(7), {value: 7, done: true});
        assertEqual(await items.next(), {done: true, value: undefined});
    });

    test(`each () of ${kind} awaits items, as any for await does`, async () => {
        const log = [];
        let closed = 0;
        const thenable = {then: resolve => resolve('thenable')};
        const items = function* () {
            try {
                yield* [wait().then(() => 'later'), 1, Promise.resolve(null), thenable, {then: 5}.then, () => {}];
                yield Promise.reject(new Error('mine')); // a promise that ends it
                yield 'never';
            } finally {
                closed++;
            }
        };
        const error = await rejection((async () => {
            for await (const item of extras.each(items()))
                log.push(item);
        })());
        assertEqual([error.message, log.slice(0, 5), typeof log[5], log.length, closed], ['mine', ['later', 1, null, 'thenable', 5], 'function', 6, 1]);

        // The values of an asynchronous iterator are not changed.
        const promise = Promise.resolve(2), given = [];
        const later = {[Symbol.asyncIterator]: () => ({next: async () => ({done: given.length > 0, value: promise})})};
        for await (const item of extras.each(later))
            given.push(item);
        assert(given.length === 1 && given[0] === promise);

        // The iteration still yields if it is time.
        const order = [];
        await scheduler.postTask(() => {
            const done = (async () => {
                for await (const i of extras.each(Array.from({length: 300}, (_, k) => Promise.resolve(k)))) {
                    order.push(i);
                    spin(100);
                }
            })();
            return Promise.all([done, scheduler.postTask(() => order.push('urgent'), {priority: 'user-blocking'})]);
        }, {priority: 'background'});
        assert(order.length === 301 && order.indexOf('urgent') < 150, `${order.indexOf('urgent')}`);
    });

    test(`an abort ends each () of ${kind}, and closes what it iterates over`, async () => {
        const controller = new TaskController({priority: 'background'});
        let closed = false, n = 0, begin;
        const begun = new Promise(resolve => (begin = resolve));
        function* generate() {
            try {
                begin();
                for (;;)
                    yield n++;
            } finally {
                closed = true;
            }
        }
        const task = scheduler.postTask(async () => {
            for await (const i of extras.each(generate()))
                spin(i < 0 ? 0 : 100);
        }, {signal: controller.signal});
        await begun;
        await wait(20);
        controller.abort('enough');
        assertEqual([await rejection(task), closed], ['enough', true]);
    });

    test(`slices () of ${kind} end if it is time, and give each item once`, async () => {
        const log = [];
        let nSlices = 0;
        await scheduler.postTask(async () => {
            for await (const slice of extras.slices(new Array(300).keys())) {
                nSlices++;
                for (const i of slice) {
                    if (i === 0)
                        scheduler.postTask(() => log.push('urgent'), {priority: 'user-blocking'});
                    log.push(i);
                    spin(100);
                }
            }
        }, {priority: 'background'});
        assertEqual(log.filter(i => i !== 'urgent'), [...new Array(300).keys()]);
        assert(nSlices > 1 && nSlices < 301 && log.indexOf('urgent') < 150, `${nSlices} ${log.indexOf('urgent')}`);

        nSlices = 0;
        for await (const slice of extras.slices([]))
            nSlices += 1 + [...slice].length;
        assertEqual(nSlices, 1);
        for (const items of [5, null, undefined, {}, {async* [Symbol.asyncIterator]() {}}])
            assert(/nothing to iterate over/.test(thrown(() => extras.slices(items))));
    });

    test(`slices () of ${kind} close what they iterate over, unless it has ended or thrown`, async () => {
        let nClosed = 0;
        const items = fails => ({
            n: 0,
            [Symbol.iterator]() {
                return this;
            },
            next() {
                if (fails && this.n === 2)
                    throw new Error('no more');
                return {done: this.n === 3, value: this.n++};
            },
            return() {
                nClosed++;
                return {done: true};
            },
        });
        const sum = async (source, last = Infinity) => {
            let found = 0;
            for await (const slice of extras.slices(source)) {
                for (const i of slice) {
                    found += i;
                    if (i === last)
                        return found;
                }
            }
            return found;
        };
        assertEqual([await sum(items(false)), nClosed], [3, 0]);
        assertEqual([(await rejection(sum(items(true)))).message, nClosed], ['no more', 0]);
        assertEqual([await sum(items(false), 1), nClosed], [1, 1]);
    });

    test(`an abort ends slices () of ${kind}, and closes what they iterate over`, async () => {
        const controller = new TaskController({priority: 'background'});
        let closed = false;
        function* generate() {
            try {
                for (let n = 0; ; n++)
                    yield n;
            } finally {
                closed = true;
            }
        }
        const task = scheduler.postTask(async () => {
            for await (const slice of extras.slices(generate())) {
                for (const i of slice) {
                    if (i === 10)
                        controller.abort('enough');
                    assert(i < 11);
                }
            }
        }, {signal: controller.signal});
        assertEqual(await rejection(task), 'enough');
        // An abort in the checkpoint of the callback rejects the task before the code that waits continues.
        while (!closed)
            await wait();
    });

    test(`latest () of ${kind} aborts the run before, and nobody hears of that`, async () => {
        const log = [];
        const search = extras.latest(async text => {
            const signal = signalOf(extras);
            log.push(`begin ${text}`);
            for (let i = 0; i < 3; i++) {
                await wait();
                await scheduler.yield();
            }
            log.push(`end ${text} ${(signal.aborted ?? signal.is_cancelled())}`);
            return text;
        });
        const runs = ['a', 'b', 'c'].map(text => search(text));
        while (!log.includes('begin c'))
            await wait();
        runs.push(search('d'));
        assertEqual(await Promise.all(runs), [null, null, null, 'd'].map(result => result ?? undefined));
        assertEqual(log.pop(), 'end d false');
        assert(!log.some(line => line.startsWith('end')), log.join());
        assertEqual(await search('e'), 'e');
        const object = {word: 'own', search: extras.latest(async function () {
            return this.word;
        })};
        assertEqual(await object.search(), 'own');

                const last = search('f');
        search.abort();
        search.abort();
        assertEqual(await last, undefined);

        const reasons = [];
        let begun;
        const hasBegun = new Promise(resolve => (begun = resolve));
        const fails = extras.latest(() => new Promise((_resolve, reject) => {
            const signal = signalOf(extras);
            const {web: own} = PrioSched;
            begun();
            if (signal instanceof own.AbortSignal)
                signal.onabort = () => reasons.push(signal.reason instanceof own.DOMException && signal.reason.name) && reject(signal.reason);
            else
                signal.connect('cancelled', () => reasons.push('AbortError') && reject(new PrioSched.AbortError()));
        }));
        const run = fails();
        await hasBegun;
        fails.abort();
        await run;
        assertEqual(reasons, ['AbortError']);
    });

    test(`latest () of ${kind} hides no other error, and serves GIO`, async () => {
        const fails = extras.latest(() => {
            throw new Error('mine');
        });
        assertEqual((await rejection(fails())).message, 'mine');
        const listens = extras.latest(() => new Promise((resolve, reject) => {
            const signal = signalOf(extras);
            const listener = new Gio.SocketListener();
            listener.add_any_inet_port(null);
            listener.accept_async(signal.cancellable ?? signal, (_, result) => {
                try {
                    resolve(listener.accept_finish(result));
                } catch (error) {
                    reject(error);
                }
            });
        }));
        const first = listens();
        await wait();
        const second = listens();
        assertEqual(await first, undefined);
        await wait();
        listens.abort();
        assertEqual(await second, undefined);

        const controller = kind === 'the web' ? new TaskController() : new PrioSched.TaskController();
        const bound = extras.latest(() => wait(1).then(() => scheduler.yield()).then(() => 1),
            {priority: 'background', signal: controller.signal});
        assertEqual(await bound(), 1);
        controller.abort('page left');
        assertEqual(await rejection(bound()), 'page left');
        for (const bad of [[5], [() => {}, {priority: 'x'}], [() => {}, {signal: 5}], [() => {}, 5]])
            assert(thrown(() => extras.latest(...bad)) instanceof TypeError);
    });

    test(`adopt () of ${kind} keeps the state over any promise, by .then () too`, async () => {
        const order = [], controller = new TaskController({priority: 'background'});
        assertEqual(await scheduler.postTask(() => extras.adopt(wait()).then(() => {
            scheduler.postTask(() => order.push('visible'));
            return scheduler.yield();
        }).then(() => order.push('background')), {priority: 'background'}), 2);
        assertEqual(order, ['visible', 'background']);

        // After the await of another promise the task has its priority again.
        let fire;
        const event = new Promise(resolve => (fire = resolve));
        const task = scheduler.postTask(() => extras.adopt(event).then(() => order.push('background again')), {priority: 'background'});
        await wait(2);
        fire();
        await Promise.resolve();
        await scheduler.postTask(() => order.push('visible again'));
        await task;
        assertEqual(order.slice(2), ['visible again', 'background again']);

        const aborted = scheduler.postTask(() => extras.adopt(wait(5)), {signal: controller.signal});
        await wait();
        controller.abort('enough');
        assertEqual(await rejection(aborted), 'enough');
        assertEqual([await extras.adopt(5), await rejection(extras.adopt(Promise.reject(6)))], [5, 6]);
    });
}

for (const [kind, extras, post] of [['the library', native, native.post_task.bind(native)],
    ['the web', web.extras, scheduler.postTask.bind(scheduler)]]) {
    const controllers = {
        'the web’s': kind === 'the web' ? () => new TaskController() : null,
        'the library’s': () => new PrioSched.TaskController(),
        'a plain cancellable': () => {
            const signal = new Gio.Cancellable();
            return {signal, abort: () => signal.cancel()};
        },
    };
    for (const [whose, newController] of Object.entries(controllers).filter(([, value]) => value !== null)) {
        test(`an abort of ${whose} rejects adopt () of ${kind} at once`, async () => {
            const controller = newController(), log = [], never = new Promise(() => {});
            let settle;
            const later = new Promise(resolve => (settle = resolve));
            const promises = [() => never, () => later, () => Promise.reject(5)]; // eslint-disable-line prefer-promise-reject-errors
            let begin;
            const begun = new Promise(resolve => (begin = resolve));
            const task = post(async () => {
                begin();
                for (const make of promises) {
                    try {
                        await extras.adopt(make());
                    } catch (reason) {
                        log.push(reason);
                    }
                    settle(1);
                }
                return log;
            }, {signal: controller.signal});
            await begun;
            await wait();
            assertEqual(log, []);
            controller.abort('enough');
            for (let i = 0; i < 200 && log.length < 3; i++)
                await wait();
            // The callback has returned its promise, which decides.
            assert(await task === log);
            const reasons = log.map(reason => (typeof reason === 'string' ? reason : reason.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED)));
            assertEqual(reasons, new Array(3).fill(whose === 'a plain cancellable' ? true : 'enough'));
            assert(log.every(reason => reason === log[0]));
        });
    }

    test(`adopt () of ${kind} settles as the promise does, once, under a signal`, async () => {
        const controller = new PrioSched.TaskController({priority: 'background'}), log = [];
        let waits;
        const waiting = new Promise(resolve => (waits = resolve));
        const task = native.post_task(async () => {
            for (let i = 0; i < 100; i++)
                log.push(await extras.adopt(wait(0).then(() => i)), await rejection(extras.adopt(Promise.reject(i))));
            waits();
            return extras.adopt(wait(20)).then(() => log.push('on'), () => log.push('aborted'));
        }, {signal: controller.signal});
        await waiting;
        controller.abort();
        await wait(40);
        await task;
        assertEqual(log, [...Array.from({length: 100}, (_, i) => [i, i]).flat(), 'aborted']);
    });
}

test('the extras of the web are apart from its names', async () => {
    const {extras} = web;
    assert(!Object.keys(web).includes('extras') && extras.scheduler === scheduler && extras.native === native);
    const target = {};
    web.install(target);
    assertEqual('extras' in target, false);
    assertEqual(extras.shouldYield(), native.should_yield());
    const {timeSlice} = extras;
    try {
        extras.timeSlice = 2.5;
        assertEqual([extras.timeSlice, native.get_time_slice()], [2.5, 2.5]);
        for (const bad of [-2, NaN, '5', null, Infinity]) {
            assert(thrown(() => {
                extras.timeSlice = bad;
            }) instanceof TypeError);
        }
    } finally {
        extras.timeSlice = timeSlice;
    }
});

test('another scheduler of the web is paused separately', async () => {
    const other = web.extras.newScheduler(), log = [];
    assert(other.scheduler instanceof web.Scheduler && other.scheduler !== scheduler);
    other.native.pause();
    const paused = other.scheduler.postTask(() => log.push('other'));
    await scheduler.postTask(() => log.push('default'));
    imports.system.gc();
    await wait();
    assertEqual(log, ['default']);
    other.native.resume();
    await paused;
    await other.scheduler.yield();
    assertEqual(await other.scheduler.postTask(async () => {
        await other.scheduler.yield();
        return 1;
    }, {signal: new TaskController().signal}), 1);
});

test('nothing is pending when adopt () has continued, whatever else was posted meanwhile', async () => {
    const others = new TaskController();
    let nRun = 0;
    await scheduler.postTask(async () => {
        await scheduler.yield();
        Promise.resolve().then(() => {
            for (let i = 0; i < 40; i++)
                scheduler.postTask(() => nRun++, {signal: others.signal});
        });
        await web.extras.adopt(Promise.resolve(1));
    }, {signal: new TaskController().signal});
    while (nRun < 40)
        await wait();
    assertEqual(native.count_pending(), 0);
});

test('stacks of errors show the functions that await, also after tasks and yields', async () => {
    const throwLater = async () => {
        await scheduler.postTask(() => {});
        await scheduler.yield();
        throw new Error('later');
    };
    const awaitIt = async () => {
        await throwLater();
    };
    for (const begin of [awaitIt, () => scheduler.postTask(awaitIt)]) {
        const {stack} = await rejection(begin());
        assert(/async\*awaitIt@/.test(stack), stack);
    }
});

run();
