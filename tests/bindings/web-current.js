// web-current.js: the library's own methods use the state of the calling code, in nested main loops too
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {SchedulingState, TaskController} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();
const context = GLib.MainContext.default();
const isExact = PrioSched.nativePart === 'state';

const BACKGROUND = 1;

const idle = () => new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

const settled = {
    'nothing': async () => {},
    'a yield': () => scheduler.yield(),
    'a task': () => scheduler.post_task(() => {}),
    'an idle source': idle,
    'setTimeout': () => new Promise(resolve => setTimeout(resolve, 1)),
    'a call of GIO': () => new Promise(resolve => Gio.File.new_for_path('/').query_info_async('standard::name', 0, 0, null, resolve)),
    'a subprocess': () => new Promise(resolve => Gio.Subprocess.new(['true'], 0).wait_async(null, resolve)),
};

const here = () => SchedulingState.get_current();
const priorityHere = () => here()?.get_priority() ?? null;
const signalHere = () => here()?.get_cancellable() ?? null;

const yieldAsync = (note = () => {}) => new Promise((resolve, reject) => scheduler.yield_async((source, result) => {
    try {
        note();
        resolve(source.yield_finish(result));
    } catch (error) {
        reject(error);
    }
}));

for (const [name, settle] of Object.entries(settled)) {
    test(`the current state after ${name}`, async () => {
        const controller = new TaskController({priority: 'background'});
        const found = await scheduler.post_task(async () => {
            await settle();
            const first = here();
            await settle();
            return [first, here()];
        }, {signal: controller.signal});
        for (const state of found) {
            assert(state instanceof SchedulingState);
            assertEqual([state.get_priority(), state.get_cancellable() === controller.signal, state.dup_scheduler() === scheduler], [0, true, true]);
        }
        assertEqual(await scheduler.post_task(async () => {
            await settle();
            return priorityHere();
        }, {priority: 'background'}), BACKGROUND);
        await settle();
        assertEqual(here(), null);
    });

    test(`yield_async () after ${name} goes on as the task`, async () => {
        const log = [], controller = new TaskController({priority: 'background'});
        const task = scheduler.post_task(async () => {
            await settle();
            for (const priority of ['background', 'user-visible', 'user-blocking'])
                scheduler.post_task(() => log.push(priority), {priority});
            await yieldAsync(() => log.push(signalHere() === controller.signal));
            log.push(signalHere() === controller.signal);
            await settle();
            controller.abort('why');
            await yieldAsync();
        }, {signal: controller.signal});
        assertEqual((await rejection(task)).message, 'why');
        assertEqual([log.slice(0, 3), log.slice(3).includes(true)], [['user-blocking', 'user-visible', true], true]);
    });
}

test('a promise that a task settles does not pass on its state', async () => {
    let settle;
    const promise = new Promise(resolve => {
        settle = resolve;
    });
    const controller = new TaskController({priority: 'background'}), log = [];
    const stranger = (async () => {
        await promise;
        const first = here();
        await new Promise(resolve => scheduler.yield_async((source, result) => {
            log.push(source.yield_finish(result), here());
            resolve();
        }));
        return [first, here()];
    })();
    const task = scheduler.post_task(async () => {
        settle();
        await null;
        controller.abort('of another');
        await scheduler.yield();
    }, {signal: controller.signal});
    assertEqual(await rejection(task), 'of another');
    assertEqual([await stranger, log], [[null, null], [true, null]]);
});

test('the callback of yield_async () has the state of its caller', async () => {
    const found = await scheduler.post_task(async () => {
        await idle();
        return new Promise(resolve => scheduler.yield_async(async () => {
            const first = priorityHere();
            await idle();
            resolve([first, priorityHere()]);
        }));
    }, {priority: 'background'});
    assertEqual(found, [BACKGROUND, BACKGROUND]);
    assertEqual(await new Promise(resolve => scheduler.yield_async(() => resolve(here()))), null);
    for (const value of [null, 5, 'text', {}])
        assert(thrown(() => scheduler.yield_async(value)).message.includes('callback'));
});

test('yield_async () takes options', async () => {
    const options = new PrioSched.YieldOptions({priority: BACKGROUND}), log = [];
    const note = (name, resolve) => (source, result) => resolve(log.push([name, source.yield_finish(result)]));
    await Promise.all([
        new Promise(resolve => scheduler.yield_async(options, note('later', resolve))),
        new Promise(resolve => scheduler.yield_async(null, note('first', resolve))),
        new Promise(resolve => scheduler.yield_async(note('second', resolve))),
    ]);
    assertEqual(log, [['first', true], ['second', true], ['later', true]]);
});

test('JavaScript has the names of the library', () => {
    const controller = new TaskController(), {signal} = controller, group = new PrioSched.TaskGroup(), notified = [];
    signal.connect('notify::aborted', () => notified.push(signal.aborted));
    assertEqual([signal.dup_reason(), signal.aborted, signal.count_pending(), scheduler.count_pending(), group.n_tasks], [null, false, 0, 0, 0]);
    assertEqual([group.nTasks, group.get_n_tasks()], [0, 0]);
    assert(group.dup_scheduler() === scheduler);
    controller.abort();
    assert(signal.dup_reason() instanceof GLib.Error);
    assertEqual(notified, [true]);
});

test('a state runs functions, and continues, anywhere', async () => {
    const controller = new TaskController({priority: 'background'});
    let end;
    const task = scheduler.post_task(async () => {
        await idle();
        const state = here();
        return [state, new Promise(resolve => {
            end = resolve;
        })];
    }, {signal: controller.signal});
    const [state] = await task;
    let inside, after;
    await new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
        state.run(() => {
            inside = signalHere();
        });
        after = signalHere();
        resolve();
        return GLib.SOURCE_REMOVE;
    }));
    assertEqual([inside === controller.signal, after], [true, null]);
    const found = await scheduler.post_task(() => {
        const before = priorityHere();
        state.run(() => {
            inside = signalHere() === controller.signal && scheduler.yield().catch(reason => reason);
        });
        return [before, priorityHere()];
    }, {priority: 'background'});
    assertEqual(found, [BACKGROUND, BACKGROUND]);
    assertEqual(await inside, undefined);
    assertEqual(await new Promise(resolve => state.resume_async((_, result) =>
        resolve([state.resume_finish(result), signalHere() === controller.signal]))), [true, true]);
    controller.abort('why');
    assert(thrown(() => state.run(5)).message.includes('5 is not a function'));
    assert(thrown(() => state.resume_async(null)).message.includes('null is not a function'));
    assert(await new Promise(resolve => state.resume_async((_, result) => resolve(thrown(() => state.resume_finish(result))))) !== null);
    end();
});

test('a state does not hold its scheduler, and cannot continue without it', async () => {
    const state = await PrioSched.Scheduler.new(null).post_task(async () => {
        await idle();
        return here();
    }, {priority: 'background'});
    for (let i = 0; i < 50 && state.dup_scheduler() !== null; i++) {
        imports.system.gc();
        await idle();
    }
    assertEqual([state.dup_scheduler(), state.get_priority()], [null, BACKGROUND]);
    const error = await new Promise(resolve => state.resume_async((_, result) => resolve(thrown(() => state.resume_finish(result)))));
    assert(error.matches(PrioSched.Error, PrioSched.Error.CLOSED), String(error));
});

// Counts whether code of many tasks has the state of its task, none, or another task's.
class Finds {
    counts = {own: 0, none: 0, other: 0};

    look(signal) {
        const found = signalHere();
        this.counts[found === signal ? 'own' : found === null ? 'none' : 'other']++;
    }
}

const iterate = n => {
    for (let i = 0; i < n; i++)
        context.iteration(false);
};

// Runs body (finds, signal, i) in thirty tasks, each with a signal.
async function inTasks(body) {
    const finds = new Finds();
    await Promise.all(Array.from({length: 30}, (_, i) => {
        const {signal} = new TaskController({priority: ['background', 'user-visible', 'user-blocking'][i % 3]});
        return scheduler.post_task(() => body(finds, signal, i), {signal});
    }));
    return finds.counts;
}

test('tasks that iterate the main context keep their states', async () => {
    for (const settle of Object.values(settled)) {
        assertEqual(await inTasks(async (finds, signal) => {
            for (let k = 0; k < 3; k++) {
                await settle();
                iterate(2);
                finds.look(signal);
                await settle();
                finds.look(signal);
                await scheduler.yield();
                finds.look(signal);
                iterate(1);
                await yieldAsync();
                finds.look(signal);
            }
        }), {own: 360, none: 0, other: 0});
    }
});

test('a callback that iterates the main context keeps its state', async () => {
    assertEqual(await inTasks(async (finds, signal) => {
        iterate(2);
        finds.look(signal);
        await null;
        finds.look(signal);
    }), {own: 60, none: 0, other: 0});
});

test('reactions that nested main loops leave behind belong to no other task', async () => {
    for (const settle of Object.values(settled)) {
        const {own, none, other} = await inTasks(async (finds, signal, i) => {
            const looks = [];
            const look = () => finds.look(signal);
            for (let k = 0; k < 3; k++) {
                looks.push(Promise.resolve().then(look).then(look), scheduler.yield().then(look), new Promise(resolve =>
                    scheduler.yield_async(() => resolve(look()))));
                if (i % 2 === 0)
                    await settle();
                iterate(1 + i % 3);
                looks.push(Promise.resolve().then(look), scheduler.post_task(() => {}).then(look).then(look));
                await scheduler.yield();
            }
            await Promise.all(looks);
        });
        assertEqual([own + none, other], [30 * 3 * 7, 0]);
        assert(own > 0);
        if (isExact)
            assertEqual(none, 0);
    }
});

test('a promise that a plain callback settles in a job’s nested main loop continues its own task', async () => {
    for (const settle of [() => null, () => scheduler.yield()]) {
        for (const n of [1, 2, 10]) {
            const {signal} = new TaskController({priority: 'background'}), {signal: other} = new TaskController({priority: 'user-blocking'});
            let wake, isWaiting = false, found = null;
            const waiting = scheduler.post_task(async () => {
                isWaiting = true;
                await new Promise(resolve => {
                    wake = resolve;
                });
                await Promise.resolve().then(() => {
                    found = signalHere();
                });
            }, {signal});
            while (!isWaiting)
                await idle();
            await scheduler.post_task(async () => {
                await settle();
                GLib.idle_add(GLib.PRIORITY_HIGH, () => {
                    wake();
                    return GLib.SOURCE_REMOVE;
                });
                iterate(n);
            }, {signal: other});
            await waiting;
            assert(found !== other);
            if (isExact)
                assert(found === signal);
        }
    }
});

test('a callback outside of tasks has no state in a task’s nested main loop', async () => {
    const found = [];
    await scheduler.post_task(async () => {
        for (let i = 0; i < 3; i++) {
            GLib.idle_add(GLib.PRIORITY_HIGH, () => {
                found.push(here());
                return GLib.SOURCE_REMOVE;
            });
            iterate(2);
            await scheduler.yield();
        }
        GLib.idle_add(GLib.PRIORITY_HIGH, () => {
            scheduler.post_task(() => found.push(priorityHere()));
            return GLib.SOURCE_REMOVE;
        });
        iterate(3);
        await scheduler.yield();
    }, {priority: 'background'});
    assertEqual(found, [null, null, null, 2]);
});

// The signal of the running task, by the library and by the web.

const {web} = PrioSched, {extras} = web;
const current = () => [extras.currentTaskSignal, scheduler.current_signal];

test('no task has no signal', async () => {
    assertEqual(current(), [null, null]);
    await idle();
    assertEqual(current(), [null, null]);
    GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
        assertEqual(current(), [null, null]);
        return GLib.SOURCE_REMOVE;
    });
    await scheduler.post_task(() => {}, {signal: new TaskController().signal});
    assertEqual(current(), [null, null]);
});

for (const [what, wait] of Object.entries(settled)) {
    test(`the signal of a task is current after ${what}`, async () => {
        const controller = new web.TaskController({priority: 'background'}), own = new TaskController({priority: 'background'});
        assertEqual(await web.scheduler.postTask(async () => {
            await wait();
            return extras.currentTaskSignal === controller.signal && scheduler.current_signal.priority === BACKGROUND;
        }, {signal: controller.signal}), true);
        assertEqual(await scheduler.post_task(async () => {
            await wait();
            return scheduler.current_signal === own.signal && extras.currentTaskSignal.priority === 'background';
        }, {signal: own.signal}), true);
        const plain = await web.scheduler.postTask(async () => {
            await wait();
            return extras.currentTaskSignal?.priority ?? null;
        });
        assert(!isExact || plain === 'user-visible', `${plain}`);
    });
}

// Ways to wait for the library, after which a task that was posted without a signal and a priority continues as that task, also without
// frames that identify its state.
const owns = {
    'a microtask': () => null,
    'a yield of the web': () => web.scheduler.yield(),
    'a yield': () => scheduler.yield(),
    'two yields': async () => {
        await scheduler.yield();
        await web.scheduler.yield();
    },
    'a yield with options': () => scheduler.yield({priority: 'background'}),
    'a sleep': () => scheduler.sleep(1),
    'a task': () => web.scheduler.postTask(() => {}),
    'a task of another priority': () => scheduler.post_task(() => {}, {priority: 'background'}),
    'a task with a delay': () => web.scheduler.postTask(() => {}, {delay: 1}),
    'an asynchronous task': () => web.scheduler.postTask(() => scheduler.yield()),
    'an asynchronous task with a signal': () => scheduler.post_task(async () => {
        await scheduler.yield();
    }, {signal: new TaskController().signal}),
    'a task that fails': () => rejection(web.scheduler.postTask(() => {
        throw new Error('mine');
    })),
    'a task that was aborted': () => {
        const controller = new web.TaskController();
        const task = web.scheduler.postTask(() => {}, {signal: controller.signal});
        controller.abort('why');
        return rejection(task);
    },
    'an idle source that is adopted': () => scheduler.adopt(idle()),
};

// Calls a function while no asynchronous task with a priority is open, or while such a task waits.
const besides = {
    'nothing': body => body(),
    'an open task': async body => {
        let end;
        const task = scheduler.post_task(() => new Promise(resolve => (end = resolve)), {priority: 'background'});
        await scheduler.post_task(() => {}, {priority: 'background'});
        await body();
        end();
        await task;
    },
    'a task that opens later': async body => {
        const ended = body();
        let end;
        const task = scheduler.post_task(() => new Promise(resolve => (end = resolve)), {priority: 'user-blocking'});
        await ended;
        end();
        await task;
    },
};

// Ways to post a task that is user-visible by default.
const posts = {
    'of the web': body => web.scheduler.postTask(body),
    'of the library': body => scheduler.post_task(body),
    'with a delay': body => web.scheduler.postTask(body, {delay: 1}),
    'with a name': body => scheduler.post_task(body, {name: 'named'}),
    'in another one': body => web.scheduler.postTask(() => web.scheduler.postTask(body)),
};

for (const [beside, around] of Object.entries(besides)) {
    test(`a task without a signal and a priority has a signal, beside ${beside}`, async () => {
        for (const [posted, post] of Object.entries(posts)) {
            for (const [what, wait] of Object.entries(owns)) {
                await around(async () => {
                    const found = await post(async () => {
                        const signals = [extras.currentTaskSignal];
                        await wait();
                        signals.push(extras.currentTaskSignal);
                        await scheduler.yield();
                        signals.push(extras.currentTaskSignal);
                        await null;
                        return [...signals, extras.currentTaskSignal].map(signal => signal?.priority ?? null).join(' ');
                    });
                    assertEqual(`${posted}, ${what}: ${found}`, `${posted}, ${what}: ${Array(4).fill('user-visible').join(' ')}`);
                });
            }
        }
    });
}

test('code that waits outside of tasks has no signal', async () => {
    for (const [what, wait] of Object.entries(owns)) {
        await wait();
        const found = [current()];
        await wait();
        await null;
        found.push(current());
        assertEqual([what, found], [what, [[null, null], [null, null]]]);
        // Nor in the main loop of a task.
        await scheduler.post_task(() => {
            GLib.idle_add(GLib.PRIORITY_HIGH, () => {
                found.push(current());
                return GLib.SOURCE_REMOVE;
            });
            iterate(2);
        });
        assertEqual([what, found.length, found.at(-1)], [what, 3, [null, null]]);
    }
});

test('any code can ask for the signal that its task was posted with', async () => {
    const controller = new web.TaskController(), {signal} = controller;
    const inner = () => web.scheduler.postTask(() => extras.currentTaskSignal, {signal: extras.currentTaskSignal});
    assert(await web.scheduler.postTask(inner, {signal}) === signal);
    // A task that is posted without the signal does not have it.
    const other = await web.scheduler.postTask(() => web.scheduler.postTask(() => extras.currentTaskSignal), {signal});
    assert(other !== signal);
    controller.abort('enough');
    assertEqual([signal.aborted, other.aborted, other.priority], [true, false, 'user-visible']);
});

test('the signal is current in microtasks and idle callbacks too', async () => {
    const controller = new web.TaskController({priority: 'background'}), {signal} = controller, found = [];
    await web.scheduler.postTask(async () => {
        web.queueMicrotask(() => found.push(extras.currentTaskSignal === signal));
        await null;
        found.push(extras.currentTaskSignal === signal);
    }, {signal});
    assertEqual(found, [true, true]);
    const own = new TaskController();
    await scheduler.post_task(() => scheduler.queue_microtask(() => found.push(scheduler.current_signal === own.signal)), {signal: own.signal});
    assertEqual(found, [true, true, true]);
    await new Promise(resolve => web.requestIdleCallback(() => resolve(found.push(extras.currentTaskSignal?.priority))));
    assertEqual(found[3], 'background');
});

test('the priority of a task is its current signal’s', async () => {
    const controller = new web.TaskController({priority: 'background'}), {signal} = controller;
    for (const priority of ['background', 'user-visible', 'user-blocking']) {
        assertEqual(await web.scheduler.postTask(() => extras.currentTaskSignal.priority, {priority}), priority);
        assertEqual(await scheduler.post_task(() => PrioSched.TaskPriority[priority.toUpperCase().replace('-', '_')] ===
            scheduler.current_signal.priority, {priority}), true);
    }
    const found = await web.scheduler.postTask(() => extras.currentTaskSignal, {signal, priority: 'user-blocking'});
    assert(found !== signal && found instanceof web.TaskSignal);
    controller.setPriority('user-visible');
    assertEqual([found.priority, found.aborted], ['user-blocking', false]);
    controller.abort('why');
    assertEqual([found.aborted, found.reason], [true, 'why']);
});

test('the signal of a task that has a plain one follows that', async () => {
    const controller = new web.AbortController(), cancellable = new Gio.Cancellable();
    const found = await web.scheduler.postTask(() => extras.currentTaskSignal, {signal: controller.signal});
    const native = await scheduler.post_task(() => scheduler.current_signal, {signal: cancellable});
    assertEqual([found instanceof web.TaskSignal, found.priority], [true, 'user-visible']);
    assert(native instanceof PrioSched.TaskSignal);
    controller.abort(5);
    cancellable.cancel();
    assertEqual([found.aborted, found.reason, native.aborted], [true, 5, true]);
});

test('the signal is current after its abort, and a change of its priority', async () => {
    const controller = new web.TaskController({priority: 'background'}), {signal} = controller, found = [];
    await rejection(web.scheduler.postTask(async () => {
        controller.setPriority('user-blocking');
        found.push(extras.currentTaskSignal.priority);
        controller.abort('why');
        found.push(extras.currentTaskSignal.aborted, extras.currentTaskSignal.reason);
        try {
            await web.scheduler.yield();
        } finally {
            found.push(extras.currentTaskSignal.aborted);
        }
    }, {signal}));
    assertEqual(found, ['user-blocking', true, 'why', true]);
});

test('the tasks of a group have its signal, or their own that it aborts', async () => {
    const group = new PrioSched.TaskGroup({limit: 1, priority: 'background'}), own = new TaskController({priority: 'user-blocking'});
    const after = async () => {
        const before = scheduler.current_signal;
        await scheduler.yield();
        return [before, scheduler.current_signal];
    };
    for (const signal of await group.post_task(after))
        assertEqual([signal === group.signal, signal.priority], [true, BACKGROUND]);
    const signals = [...await group.post_task(after, {priority: 'user-blocking'}), ...await group.post_task(after, {signal: own.signal})];
    assertEqual(signals.map(({priority, aborted}) => [priority, aborted]), signals.map(() => [3, false]));
    const web3 = await group.post_task(() => extras.currentTaskSignal);
    own.abort();
    assertEqual(signals.map(({aborted}) => aborted), [false, false, true, true]);
    group.abort('all');
    assertEqual([...signals.map(({aborted}) => aborted), web3.aborted, web3.reason], [true, true, true, true, true, 'all']);
});

test('a continuation with inherited options has the signal', async () => {
    const controller = new web.TaskController({priority: 'background'}), {signal} = controller;
    assert(await web.scheduler.postTask(async () => {
        await web.scheduler.yield({signal: 'inherit', priority: 'user-blocking'});
        return extras.currentTaskSignal;
    }, {signal}) === signal);
});

run();
