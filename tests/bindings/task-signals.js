// task-signals.js: tasks that have only a signal, which the native part keeps, beside tasks that the overrides keep
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {web} = PrioSched;
const scheduler = PrioSched.Scheduler.get_default();

const ways = {
    'post_task': {
        newController: () => new PrioSched.TaskController(),
        post: (callback, options) => scheduler.post_task(callback, options),
    },
    'web postTask': {
        newController: () => new web.TaskController(),
        post: (callback, options) => web.scheduler.postTask(callback, options),
    },
};
const nothing = () => {};

for (const [name, {newController, post}] of Object.entries(ways)) {
    test(`${name}: an abort rejects in the order of the posts`, async () => {
        const controller = newController(), {signal} = controller, log = [];
        const ends = [{signal}, {signal}, {signal, delay: 5}, {signal}, {signal, delay: 1}, {signal}]
            .map((options, i) => post(nothing, options).catch(() => log.push(i)));
        controller.abort();
        await Promise.all(ends);
        assertEqual(log, [0, 1, 2, 3, 4, 5]);
    });

    test(`${name}: all have the reason, of any type`, async () => {
        for (const reason of [new Error('no'), 'text', 7, null, new Gio.IOErrorEnum({code: 1, message: 'gone'})]) {
            const controller = newController(), {signal} = controller, found = [];
            const ends = [post(nothing, {signal}), post(nothing, {signal, delay: 1}), post(nothing, {signal})]
                .map(promise => promise.catch(error => found.push(error)));
            controller.abort(reason);
            await Promise.all(ends);
            assertEqual(found.length, 3);
            for (const error of found) {
                if (reason instanceof GLib.Error && name === 'post_task')
                    assertEqual(error.message, reason.message);
                else
                    assert(error === reason, String(error));
            }
        }
    });

    test(`${name}: a task that aborts its own signal is rejected, and those behind it`, async () => {
        const controller = newController(), {signal} = controller, log = [];
        // Many aborts in succession are rejected in slices.  This abort must not be one of these.
        await new Promise(resolve => setTimeout(resolve, 5));
        const first = post(() => {
            controller.abort('own');
            Promise.resolve().then(() => log.push('job'));
            return 'result';
        }, {signal}).catch(reason => log.push(`first ${reason}`));
        const second = post(() => log.push('ran'), {signal}).catch(reason => log.push(`second ${reason}`));
        await Promise.all([first, second]);
        assertEqual(log.filter(text => text !== 'job').sort(), ['first own', 'second own']);
        // Without state, code that awaits the task does not continue within it.
        if (name === 'web postTask' && PrioSched.nativePart === 'state')
            assertEqual(log[0], 'first own');
    });

    test(`${name}: an abort leaves a task alone that has returned a promise`, async () => {
        const controller = newController(), {signal} = controller;
        const ends = post(() => new Promise(resolve => setTimeout(() => resolve('late'), 5)), {signal});
        await post(nothing);
        controller.abort();
        assertEqual(await ends, 'late');
    });

    test(`${name}: what follows a yield is aborted with its signal`, async () => {
        const controller = newController(), {signal} = controller, log = [];
        const ends = post(async () => {
            log.push('begun');
            await scheduler.yield();
            log.push('more');
            controller.abort('end');
            await scheduler.yield();
            log.push('never');
        }, {signal});
        assertEqual(await rejection(ends), 'end');
        assertEqual(log, ['begun', 'more']);
    });

    test(`${name}: a changed priority moves those that wait`, async () => {
        const controller = newController(), {signal} = controller, log = [];
        const ends = [post(() => log.push('signal'), {signal}), post(() => log.push('plain')), post(() => log.push('signal'), {signal})];
        (controller.setPriority ?? controller.set_priority).call(controller, name === 'post_task' ? PrioSched.TaskPriority.BACKGROUND : 'background');
        await Promise.all(ends);
        assertEqual(log, ['plain', 'signal', 'signal']);
    });

    test(`${name}: a callback that throws, and one that returns a promise`, async () => {
        const {signal} = newController();
        assertEqual(await rejection(post(() => {
            throw 'thrown';
        }, {signal})), 'thrown');
        assertEqual(await post(() => Promise.resolve(3), {signal}), 3);
        assertEqual(await rejection(post(() => Promise.reject(4), {signal})), 4);
        assertEqual(await post(() => ({then: resolve => resolve(5)}), {signal}), 5);
    });

    test(`${name}: each of many is aborted once`, async () => {
        const n = 20000, controller = newController(), {signal} = controller;
        let nAborted = 0;
        const ends = Array.from({length: n}, () => post(nothing, {signal}).catch(() => nAborted++));
        await new Promise(resolve => setTimeout(resolve, 0));
        controller.abort();
        await Promise.all(ends);
        assertEqual(nAborted, n);
    });

    test(`${name}: each of many aborts keeps its own reason`, async () => {
        const controllers = Array.from({length: 300}, newController), found = [];
        const reject = signal => scheduler.post_task(nothing, {signal}).catch(reason => found.push(reason.message));
        const signals = controllers.map(({signal}) => PrioSched.TaskSignal.any([signal.cancellable ?? signal], 'background'));
        const ends = signals.map(reject);
        controllers.forEach((controller, i) => controller.abort(new RangeError(i)));
        await Promise.all([...ends, ...signals.map(reject)]);
        assertEqual(found.sort((a, b) => a - b), Array.from({length: 600}, (_, i) => String(Math.floor(i / 2))));
    });

    test(`${name}: a new signal after another, again and again`, async () => {
        const log = [];
        for (let i = 0; i < 200; i++) {
            const one = newController(), other = newController();
            const ends = [one, other, one, other].map(({signal}, j) => post(() => log.push(j), {signal}).catch(() => log.push(j + 4)));
            one.abort();
            ends.push(post(() => log.push('x'), {signal: one.signal}).catch(() => log.push('y')));
            await Promise.all(ends);
            assertEqual(log.splice(0).sort(), [1, 3, 4, 6, 'y'].sort());
        }
    });
}

test('a task of a dependent signal without references is aborted', async () => {
    const controller = new web.TaskController();
    const ends = web.scheduler.postTask(nothing, {signal: web.TaskSignal.any([controller.signal], {priority: controller.signal})});
    imports.system.gc();
    controller.abort('source');
    assertEqual(await rejection(ends), 'source');
});

test('a signal that depends on an aborted one keeps its reason', async () => {
    const {TaskController, TaskSignal} = PrioSched, reason = {text: 'why'};
    const make = () => {
        const controller = new TaskController();
        controller.abort(reason);
        imports.system.gc();
        // The table forgets reasons that are not needed when it gets new reasons.
        for (let i = 0; i < 3; i++)
            new TaskController().abort(i);
        return [TaskSignal.any([controller.signal], 'background'), TaskSignal.any_following([controller.signal], controller.signal)];
    };
    const dependents = make();
    imports.system.gc();
    await new Promise(resolve => GLib.timeout_add(0, 1, () => void resolve()));
    imports.system.gc();
    for (const signal of dependents)
        assert(await rejection(scheduler.post_task(() => {}, {signal})) === reason);
});

test('a cancellable of GIO, cancelled in C and in a post', async () => {
    const cancellable = new Gio.Cancellable();
    const ends = [1, 2].map(() => scheduler.post_task(nothing, {signal: cancellable}));
    Gio.Cancellable.prototype.cancel.call(cancellable);
    for (const end of ends)
        assert((await rejection(end)).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
    assert((await rejection(scheduler.post_task(nothing, {signal: cancellable}))).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
    assert((await rejection(web.scheduler.postTask(nothing, {signal: cancellable}))).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
});

test('each way to post refuses the signals of the other, also if that has just been given them', async () => {
    const {signal} = new web.TaskController();
    await web.scheduler.postTask(nothing, {signal});
    assert(thrown(() => scheduler.post_task(nothing, {signal})) instanceof TypeError);
    const {signal: own} = new PrioSched.TaskController();
    await scheduler.post_task(nothing, {signal: own});
    await web.scheduler.postTask(nothing, {signal: own});
});

test('a handler of an abort can disconnect itself', () => {
    const controller = new PrioSched.TaskController(), {signal} = controller;
    let n = 0;
    const id = signal.connect('cancelled', () => {
        n++;
        signal.disconnect(id);
    });
    controller.abort();
    assertEqual(n, 1);
});

test('a value that is not a signal is refused in words', async () => {
    for (const signal of [{}, 7, 'x', new Proxy({}, {})]) {
        assert((await rejection(web.scheduler.postTask(nothing, {signal}))) instanceof TypeError);
        assert(thrown(() => scheduler.post_task(nothing, {signal})) instanceof TypeError);
    }
});

run();
