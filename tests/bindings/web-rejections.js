// web-rejections.js: thousands of tasks that are rejected together
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {AbortController, AbortSignal, TaskController, scheduler} = PrioSched.web;
const native = PrioSched.Scheduler.get_default();

const kinds = {
    'the web’s': () => {
        const controller = new TaskController({priority: 'background'});
        return {controller, post: callback => scheduler.postTask(callback, {signal: controller.signal})};
    },
    'native': () => {
        const controller = new PrioSched.TaskController({priority: 'background'});
        return {controller, post: callback => native.post_task(callback, {signal: controller.signal})};
    },
};

const iteration = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_HIGH, () => {
    resolve();
    return false;
}));

const spin = microseconds => {
    for (const end = GLib.get_monotonic_time() + microseconds; GLib.get_monotonic_time() < end;);
};

// The first test, while no other task of the overrides is pending.
test('a timeout comes after a collection', async () => {
    for (let i = 0; i < 3; i++) {
        imports.system.gc();
        await iteration();
    }
    const timeout = AbortSignal.timeout(5);
    for (let i = 0; i < 200 && !timeout.aborted; i++) {
        await new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
            resolve();
            return false;
        }));
    }
    assertEqual(timeout.aborted, true);
});

const ways = {
    'a function': abort => () => abort(),
    'an async function': abort => async () => abort(),
    'an async function that awaits': abort => async () => {
        await null;
        abort();
    },
    'a function that throws': abort => () => {
        abort();
        throw new Error('after the abort');
    },
};

// Waits until the next abort begins a new slice: see Slice.begin ().
const newSlice = () => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 3, () => {
    resolve();
    return false;
}));

// Asserts the order that round () returns.  On a busy machine, a slice may be over after the first promise, so that the last name
// comes too early.  Then there is another round.
async function assertOrder(round, wanted) {
    let order;
    for (let i = 0; i < 10 && order?.at(-1) !== wanted.at(-1); i++) {
        await newSlice();
        order = await round();
    }
    assertEqual(order, wanted);
}

for (const [kind, make] of Object.entries(kinds)) {
    for (const [way, toFunction] of Object.entries(ways)) {
        test(`${way} rejects ${kind} tasks before its own result settles`, async () => {
            const priority = kind === 'native' ? PrioSched.TaskPriority.USER_BLOCKING : 'user-blocking';
            const post = kind === 'native' ? native.post_task.bind(native) : scheduler.postTask.bind(scheduler);
            const round = async options => {
                const {controller, post: postOther} = make();
                const order = [], all = [];
                all.push(post(toFunction(() => controller.abort('enough')), options).catch(() => {}).then(() => order.push('own')));
                for (const name of ['first', 'second'])
                    all.push(postOther(() => {}).catch(() => {}).then(() => order.push(name)));
                await Promise.all(all);
                return order;
            };
            for (const options of [{}, {priority}, {signal: undefined}, {signal: make().controller.signal}])
                await assertOrder(() => round(options), ['first', 'second', 'own']);
        });
    }
}

test('a task that awaits a rejection goes on before the task that has caused the rejection is fulfilled', async () => {
    await assertOrder(async () => {
        const controller = new TaskController({priority: 'background'}), order = [];
        await Promise.all([
            scheduler.postTask(() => scheduler.postTask(() => {}, {signal: controller.signal}).catch(() => order.push('awaits it')), {priority: 'user-blocking'}),
            scheduler.postTask(() => controller.abort()).then(() => order.push('causes it')),
        ]);
        return order;
    }, ['awaits it', 'causes it']);
});

const N = 4000;

for (const [kind, make] of Object.entries(kinds)) {
    test(`the rejections of ${kind} tasks do not hold up the loop`, async () => {
        const {controller, post} = make();
        const order = [];
        const all = Array.from({length: N}, (_, i) => post(() => {}).catch(reason => {
            spin(20);
            order.push(i);
            return reason;
        }));
        let before = 0, most = 0;
        const source = GLib.idle_add(GLib.PRIORITY_HIGH, () => {
            most = Math.max(most, order.length - before);
            before = order.length;
            return true;
        });
        // Rejections that are settled at once are one slice, another one may follow, and each ends after 64 rejections.
        await scheduler.postTask(() => controller.abort('enough'));
        assert((await Promise.all(all)).every(reason => reason === 'enough'));
        await iteration();
        await iteration();
        GLib.source_remove(source);
        assertEqual(order, Array.from({length: N}, (_, i) => i));
        assert(most < N / 4, `${most} in one iteration`);
    });

    test(`long reactions to rejections of ${kind} tasks that follow short ones do not hold up the loop`, async () => {
        const {controller, post} = make();
        // abort () itself rejects some of the short tasks.
        const nShort = 8000, nLong = 30;
        let nRan = 0;
        const all = Array.from({length: nShort + nLong}, (_, i) => post(() => {}).catch(() => {
            if (i >= nShort) {
                spin(3000);
                nRan++;
            }
        }));
        let before = 0, most = 0;
        const source = GLib.idle_add(GLib.PRIORITY_HIGH, () => {
            most = Math.max(most, nRan - before);
            before = nRan;
            return true;
        });
        await iteration();
        controller.abort('enough');
        await Promise.all(all);
        await iteration();
        await iteration();
        GLib.source_remove(source);
        // A slice is over after two long rejections; another slice may follow.
        assert(nRan === nLong && most <= 6, `${most} of ${nRan} in one iteration`);
    });

    test(`all of ${kind} tasks are rejected, by aborts one after the other, outside any task`, async () => {
        const groups = Array.from({length: 40}, make);
        const order = [];
        const all = groups.flatMap(({post}, i) => Array.from({length: 100}, () => post(() => {}).catch(reason => {
            order.push(i);
            return reason;
        })));
        await iteration();
        groups.forEach(({controller}, i) => controller.abort(i));
        const reasons = await Promise.all(all);
        assertEqual(reasons, groups.flatMap((_, i) => new Array(100).fill(i)));
        assertEqual(order, reasons);
        const [late] = [make()].map(({controller, post}) => {
            const task = rejection(post(() => {}));
            controller.abort('late');
            return task;
        });
        assertEqual(await late, 'late');
    });
}

// Runs the ready tasks, and waits for the report of a last rejection.  Any earlier, unexpected report fails the test.
const LAST = 'behind all others';

async function tasksBehindAll() {
    for (let i = 0; i < 3; i++) {
        await native.post_task(() => {}, {priority: 'background'});
        await iteration();
    }
}

async function settle() {
    await tasksBehindAll();
    await new Promise(reported => {
        const controller = new TaskController();
        let isAborted = false;
        scheduler.postTask(() => {}, {signal: controller.signal});
        controller.abort({toString() {
            // A report includes the reason, which abort () may also need.
            if (isAborted)
                reported();
            return LAST;
        }});
        isAborted = true;
    });
    await tasksBehindAll();
}

// Expects one log message for each pattern while body runs, and no others.
async function expectWarnings(patterns, body) {
    // While its collector sweeps, in slices, GJS 1.74 refuses to call a closure, and logs that.
    imports.system.gc();
    for (const pattern of [...patterns, `*rejection of a task*: ${LAST}*`])
        GLib.test_expect_message('Gjs', GLib.LogLevelFlags.LEVEL_WARNING, pattern);
    await body();
    await settle();
    GLib.test_assert_expected_messages_internal('Gjs', 'web-rejections.js', 0, '');
}

test('a report has the name of the task, and a string only', async () => {
    await expectWarnings(['*rejection of a task*, “index”: Error: mine\nthrowHere@*', '*of 2 tasks, “first” and others: 5*'], async () => {
        native.post_task(function throwHere() {
            throw new Error('mine');
        }, {name: 'index'});
        const controller = new PrioSched.TaskController();
        for (const name of ['first', undefined])
            native.post_task(() => {}, {name, signal: controller.signal, delay: 60000});
        await iteration();
        await rejection(native.post_task(() => {
            throw new Error('handled');
        }, {name: 'handled'}));
        for (let i = 0; i < 5; i++)
            await iteration();
        controller.abort(5);
    });
    assertEqual(await native.post_task(() => 1, {name: 'one', delay: 1}), 1);
    for (const name of [5, {}, Symbol('x'), true]) {
        for (const call of [() => native.post_task(() => {}, {name}), () => native.yield({name})]) {
            const error = thrown(call);
            assert(error instanceof TypeError && error.message.includes(String(name)), error.message);
        }
    }
});

test('a name adds no line to the log', async () => {
    await expectWarnings(['*rejection of a task*, “two\\u000alines\\u001b\\u2028”: Error: mine\n*'], async () => {
        native.post_task(() => {
            throw new Error('mine');
        }, {name: 'two\nlines\u001b\u2028'});
        await iteration();
    });
});

test('an exception of a task without a signal has a name too, in the one report of it', async () => {
    const options = [undefined, {}, {priority: 'background'}, {delay: 1}];
    const posts = options.flatMap(option => [body => scheduler.postTask(body, option), body => native.post_task(body, option)]);
    for (const post of posts) {
        for (const body of [function throwHere() {
            throw new RangeError('mine');
        }, async function throwHere() {
            await null;
            throw new RangeError('mine');
        }]) {
            // A report of the engine itself would be an unexpected message.
            await expectWarnings(['*rejection of a task*: RangeError: mine\nthrowHere@*web-rejections.js*'], async () => {
                post(body);
                for (const look of [promise => promise.catch(() => {}), promise => promise.then(null, () => {}), promise => rejection(promise)])
                    look(post(body));
                const late = post(body);
                late.then(() => {}).catch(() => {});
                await rejection(late); // and so have the others, because it was posted after them
            });
        }
    }
});

test('a reason without a stack is reported with the line of the function', async () => {
    if (PrioSched.nativePart === 'none')
        return;
    /* eslint-disable no-throw-literal */
    const {lineNumber} = new Error();
    const bodies = [() => {
        throw 'mine';
    }, async () => {
        await null;
        throw 'mine';
    }];
    /* eslint-enable no-throw-literal */
    for (const options of [undefined, {priority: 'background'}, {signal: new PrioSched.TaskController().signal}]) {
        for (const [i, body] of bodies.entries()) {
            await expectWarnings([`*rejection of a task*: mine\n*web-rejections.js:${lineNumber + 1 + 2 * i}*`], async () => {
                native.post_task(body, options);
                await iteration();
            });
        }
    }
});

test('an exception of a callback of feed () is reported with its line', async () => {
    for (const name of [undefined, 'rows']) {
        await expectWarnings([`*rejection of a task*, “${name ?? 'load'}”: Error: row 1\nload@*`], async () => {
            await new PrioSched.TaskGroup({limit: 2}).feed(async function load(row) {
                await native.sleep(1);
                if (row === 1)
                    throw new Error(`row ${row}`);
            }, [0, 1, 2], {name});
        });
    }
});

test('an unhandled rejection of a sleep is reported with its reason and its line', async () => {
    for (const wait of [options => native.sleep(60000, options), options => native.yield(options), options => scheduler.yield(options)]) {
        await expectWarnings(['*rejection of a task*: Error: why\nabortHere@*'], async () => {
            const controller = new PrioSched.TaskController(), {signal} = controller;
            wait({signal});
            wait({signal}).catch(() => {});
            (function abortHere() {
                controller.abort(new Error('why'));
            })();
            await iteration();
        });
    }
});

test('the reason of a feed or a channel that is aborted is not reported', async () => {
    const makes = [
        signal => new PrioSched.TaskGroup({limit: 2}).feed(() => native.sleep(60000), [1, 2, 3], {signal}).catch(() => {}),
        signal => new PrioSched.Channel(() => native.sleep(60000), {signal}).offer(1),
    ];
    for (const make of makes) {
        for (const reason of ['closed', new Error('closed')]) {
            await expectWarnings([], async () => {
                const controller = new PrioSched.TaskController();
                let begun = false;
                make(controller.signal);
                native.post_task(() => (begun = true), {priority: 'background'});
                while (!begun)
                    await iteration();
                controller.abort(reason);
            });
        }
    }
});

test('an error of which a wait for a group tells is not reported', async () => {
    const fails = () => {
        throw new Error('told');
    };
    const group = new PrioSched.TaskGroup();
    for (const wait of ['all', 'any', 'first']) {
        for (const callback of [fails, async () => await fails()]) {
            await expectWarnings([], async () => {
                group.post_task(callback);
                await rejection(group[wait]());
            });
        }
    }
    await expectWarnings(['*rejection of a task*: Error: told*'], async () => {
        group.post_task(fails);
        await group.drained();
    });
});

test('a value that is not a generator is reported with the line that has posted it', async () => {
    for (const poster of [native, new PrioSched.TaskGroup({limit: 2})]) {
        await expectWarnings(['*rejection of a task*: TypeError: 5 is not a generator\npostHere@*'], async () => {
            (function postHere() {
                poster.post_steps(() => 5);
            })();
            await iteration();
        });
    }
});

test('a promise that steps yield beside an abort is not reported', async () => {
    await expectWarnings([], async () => {
        const controller = new PrioSched.TaskController('background');
        await rejection(native.post_steps(function* () {
            yield native.sleep(1);
            controller.abort('stop');
            yield native.sleep(1);
        }, {signal: controller.signal}));
    });
});

test('tasks that a Gio.Cancellable has cancelled are reported once', async () => {
    for (const post of [options => scheduler.postTask(() => {}, options), options => native.post_task(() => {}, options)]) {
        const signal = new Gio.Cancellable();
        await expectWarnings(['*rejections of the promises of 3 tasks: Gio.IOErrorEnum*'], async () => {
            for (let i = 0; i < 3; i++)
                post({signal, delay: 60000});
            signal.cancel();
        });
    }
});

test('a task that aborts itself is reported once', async () => {
    for (const options of [{}, {delay: 1}]) {
        await expectWarnings(['*rejection of a task’s promise: own*'], async () => {
            const controller = new AbortController();
            let ended;
            const ends = new Promise(resolve => (ended = resolve));
            scheduler.postTask(() => {
                controller.abort('own');
                ended();
            }, {...options, signal: controller.signal});
            await ends;
        });
    }
});

test('a task that aborts itself, and throws the reason later, is reported once', async () => {
    for (const options of [{}, {delay: 1}]) {
        await expectWarnings(['*rejection of a task’s promise: own*'], async () => {
            const controller = new AbortController();
            let ended;
            const ends = new Promise(resolve => (ended = resolve));
            scheduler.postTask(async () => {
                controller.abort('own');
                await iteration();
                try {
                    await scheduler.yield();
                } finally {
                    ended();
                }
            }, {...options, signal: controller.signal});
            await ends;
            await iteration();
        });
    }
});

test('a task whose signal has been aborted before is reported like others', async () => {
    await expectWarnings(['*rejection of a task’s promise: before*'], async () => {
        scheduler.postTask(() => {}, {signal: AbortSignal.abort('before')});
        await iteration();
    });
    const cancelled = new Gio.Cancellable();
    cancelled.cancel();
    for (const [call, text] of [
        [() => scheduler.postTask(() => {}, {signal: cancelled}), 'Gio.IOErrorEnum'],
        [() => scheduler.yield({signal: AbortSignal.abort('before')}), 'before'],
        [() => scheduler.postTask(3), 'TypeError'],
    ]) {
        await expectWarnings([`*rejection of a task’s promise: ${text}*`], async () => {
            call();
            await iteration();
        });
    }
});

test('few are rejected when abort () returns', async () => {
    for (const make of Object.values(kinds)) {
        const {controller, post} = make(), log = [];
        await iteration();
        const tasks = Array.from({length: 60}, () => post(() => {}).catch(() => log.push('rejected')));
        // On a slow machine, too, they take no longer than a slice, and do not continue an earlier slice.
        const {now: clock} = Date, now = clock() + 60000;
        Date.now = () => now;
        controller.abort('enough');
        Promise.resolve().then(() => log.push('after'));
        await Promise.all(tasks);
        await null;
        Date.now = clock;
        assertEqual([log.length, log[59], log[60]], [61, 'rejected', 'after']);
    }
});

test('continuations are rejected once, in their place', async () => {
    for (const make of Object.values(kinds)) {
        const {controller, post} = make(), log = [];
        const tasks = Array.from({length: 200}, (_, i) => post(async () => {
            try {
                for (;;)
                    await scheduler.yield();
            } catch (reason) {
                log.push(i);
                throw reason;
            }
        }).catch(reason => reason));
        await new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_LOW, 10, () => {
            resolve();
            return false;
        }));
        controller.abort('enough');
        assert((await Promise.all(tasks)).every(reason => reason === 'enough'));
        assertEqual(new Set(log).size, log.length);
    }
});

test('a signal that is cancelled by hand rejects all of its tasks', async () => {
    const signal = new PrioSched.TaskController().signal;
    const tasks = Array.from({length: 1000}, () => rejection(native.post_task(() => {}, {signal, delay: 60000})));
    signal.cancel();
    const reasons = await Promise.all(tasks);
    assert(reasons.every(reason => reason.code === reasons[0].code && reason.domain === reasons[0].domain));
});

// The ways to post a task that returns the result of body ().
const group = new PrioSched.TaskGroup({limit: 3});
const posts = {
    'the web’s task': body => scheduler.postTask(body),
    'the web’s task with a signal': body => scheduler.postTask(body, {signal: new TaskController().signal}),
    'a task': body => native.post_task(body),
    'a task with a priority': body => native.post_task(body, {priority: 'background'}),
    'a task with a delay': body => native.post_task(body, {delay: 1}),
    'a task of a group': body => group.post_task(body),
    'steps': body => native.post_steps(function* () { // eslint-disable-line require-yield
        return body();
    }),
    'steps of two slices': body => native.post_steps(function* () {
        yield native.sleep(0);
        return body();
    }),
};
const thenables = {
    'without a reason': [undefined, {then: (_, reject) => reject()}],
    'that throws null': [null, {then() {
        throw null; // eslint-disable-line no-throw-literal
    }}],
    'later': ['late', {then: (_, reject) => native.post_task(() => reject('late'))}],
    'with a getter that throws': ['got', {get then() {
        throw 'got'; // eslint-disable-line no-throw-literal
    }}],
};

for (const [kind, post] of Object.entries(posts)) {
    test(`the rejection of a thenable that ${kind} returns is reported with its value`, async () => {
        const all = Object.values(thenables), settled = await Promise.allSettled(all.map(([, thenable]) => post(() => thenable)));
        assertEqual(settled.map(({reason}) => `${reason}`), all.map(([reason]) => `${reason}`));
        await expectWarnings(all.map(([reason]) => `*rejection of a task*: ${reason}\n*`), async () => {
            for (const [, thenable] of all) {
                let hasRun = false;
                post(() => {
                    hasRun = true;
                    return thenable;
                });
                while (!hasRun)
                    await iteration();
                await tasksBehindAll();
            }
        });
        let nReads = 0;
        assertEqual(await post(() => ({get then() {
            nReads++;
            return resolve => resolve('value');
        }})), 'value');
        assertEqual(nReads, 1);
        assertEqual(await post(() => ({then: 5})), {then: 5});
    });
}

for (const [kind, post] of Object.entries(posts)) {
    test(`a task that returns its own promise is rejected: ${kind}`, async () => {
        const task = post(() => task), error = await rejection(task);
        assert(error instanceof TypeError && /itself/.test(error.message), `${error}`);
        assertEqual(await post(() => 'next'), 'next');
    });
}

for (const [kind, make] of Object.entries(kinds)) {
    test(`rejections of ${kind} tasks that nobody handles are told once, with where they come from`, async () => {
        const abortHere = (controller, reason) => controller.abort(reason);
        await expectWarnings([
            '*rejections*of 3000 tasks: mine\nabortHere@*web-rejections.js*',
            '*rejection of a task*: Error: alone\nabortAlone@*web-rejections.js*',
        ], async () => {
            const {controller, post} = make();
            for (let i = 0; i < 3000; i++)
                post(() => {});
            abortHere(controller, 'mine');
            const alone = make();
            alone.post(() => {});
            const abortAlone = () => alone.controller.abort(new Error('alone'));
            abortAlone();
        });
    });

    test(`what is thrown in ${kind} tasks, and handled by nobody, is named`, async () => {
        await expectWarnings(['*rejection of a task*: TypeError: thrown\nthrowHere@*', '*rejection of a task*: 5\n*'], async () => {
            const {post} = make();
            post(function throwHere() {
                throw new TypeError('thrown');
            });
            post(async () => {
                await scheduler.yield();
                throw 5; // eslint-disable-line no-throw-literal
            });
        });
    });

    test(`nothing is told of the rejections of ${kind} tasks that are handled`, async () => {
        await expectWarnings([], async () => {
            const {controller, post} = make();
            const tasks = Array.from({length: 5}, () => post(() => {}));
            tasks[0].catch(() => {});
            tasks[1].then(() => {}, () => {});
            controller.abort('handled');
            assertEqual(await rejection(tasks[2]), 'handled');
            assertEqual((await Promise.allSettled(tasks.slice(3))).map(({reason}) => reason), ['handled', 'handled']);
        });
    });

    test(`the promises of ${kind} tasks are promises like any other`, async () => {
        const {post} = make();
        const promise = post(() => 1);
        assert(promise instanceof Promise && promise.constructor === Promise && Promise.resolve(promise) === promise);
        assertEqual([Object.keys(promise), String(promise), await promise], [[], '[object Promise]', 1]);
        assert(post(() => 1).then(() => 2).constructor === Promise);
        assertEqual(await Promise.race([post(() => 3), post(() => 4)]), 3);
        class Mine extends Promise {}
        const mine = post(() => 1);
        mine.constructor = Mine;
        assert(mine.then(() => 2) instanceof Mine);
    });
}

test('tasks that go with their context are rejected, whatever they were posted with', async () => {
    const settled = [];
    const post = () => {
        const own = new PrioSched.Scheduler({context: new GLib.MainContext()});
        const controller = new PrioSched.TaskController({priority: 'background'});
        const posted = [own.post_task(() => 1), own.post_task(() => 1, {priority: 'background'}), own.yield(),
            own.post_task(() => 1, {delay: 1e6}), own.post_task(() => 1, {signal: controller.signal}),
            own.post_task(() => 1, {signal: controller.signal, delay: 1e6})];
        posted.forEach((promise, i) => promise.then(() => settled.push([i, 'ran']), error => settled.push([i, error])));
        return posted.length;
    };
    const n = post();
    for (let i = 0; i < 50 && settled.length < n; i++) {
        imports.system.gc();
        await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_LOW, () => {
            resolve();
            return GLib.SOURCE_REMOVE;
        }));
    }
    settled.sort(([a], [b]) => a - b);
    const {Error: PrioError} = PrioSched;
    assertEqual(settled.map(([i, error]) => [i, error instanceof PrioError && error.matches(PrioError, PrioError.CLOSED)]),
        Array.from({length: n}, (_, i) => [i, true]));
});

// Programs whose task ends the main loop, so that no other code runs: expected is the number of reports that contain 'lost'.
const lastTasks = {
    'a task': [1, 'scheduler.postTask(() => { loop.quit(); throw new Error("lost"); })'],
    'a native task': [1, 'native.post_task(() => { loop.quit(); throw new Error("lost"); })'],
    'an asynchronous task': [1, 'scheduler.postTask(async () => { loop.quit(); throw new Error("lost"); })'],
    'a task that has yielded': [1, 'scheduler.postTask(async () => { await scheduler.yield(); loop.quit(); throw new Error("lost"); })'],
    'a background task with a signal': [1, `const {signal} = new TaskController({priority: "background"});
        scheduler.postTask(() => { loop.quit(); throw new Error("lost"); }, {signal})`],
    'the task of a group': [1, 'new PrioSched.TaskGroup({limit: 1}).post_task(() => { loop.quit(); throw new Error("lost"); })'],
    'a task that aborts others': [1, `const c = new TaskController({priority: "background"});
        for (let i = 0; i < 3; i++) scheduler.postTask(() => {}, {signal: c.signal});
        scheduler.postTask(() => { loop.quit(); c.abort("lost"); })`],
    'a task that aborts others while the machine is slow': [1, `let now = 0;
        Date.now = () => now += 10;
        const c = new TaskController({priority: "background"});
        for (let i = 0; i < 3; i++) scheduler.postTask(() => {}, {signal: c.signal});
        scheduler.postTask(() => { loop.quit(); c.abort("lost"); })`],
    'a task whose error is handled': [0, 'scheduler.postTask(() => { loop.quit(); throw new Error("lost"); }).catch(() => {})'],
    'a task whose error the awaiting code handles': [0, `(async () => {
        try { await scheduler.postTask(() => { loop.quit(); throw new Error("lost"); }); } catch {}
    })()`],
};

for (const [name, [expected, body]] of Object.entries(lastTasks)) {
    test(`the error of ${name} is told though the task ends the main loop`, () => {
        const program = `
            imports.gi.versions.PrioSched = '1';
            const {GLib, PrioSched} = imports.gi;
            const {scheduler, TaskController} = PrioSched.web, native = PrioSched.Scheduler.get_default();
            const loop = new GLib.MainLoop(null, false);
            ${body};
            loop.run();
            print('end');`;
        const [fd, path] = GLib.file_open_tmp('XXXXXX.js');
        GLib.close(fd);
        GLib.file_set_contents(path, program);
        // GJS ends a module with its main loop.
        for (const how of [[], ['-m']]) {
            const [ok, out, said, status] = GLib.spawn_sync(null, ['gjs', ...how, path], null, GLib.SpawnFlags.SEARCH_PATH, null);
            const [text, log] = [out, said].map(bytes => new TextDecoder().decode(bytes));
            assertEqual([ok, text, status, log.split('lost').length - 1], [true, 'end\n', 0, expected]);
        }
        GLib.unlink(path);
    });
}

run();
