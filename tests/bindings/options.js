// options.js: options of posts in JavaScript, written in every way: the native part reads some of them
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {web} = PrioSched;

const posts = {
    post_task: (...args) => scheduler.post_task(...args),
    'web postTask': (...args) => web.scheduler.postTask(...args),
    'post_task of another scheduler': (...args) => other.post_task(...args),
};
const other = PrioSched.Scheduler.new(null);

// Without a state, the priority is user-visible.
const priorityHere = () => PrioSched.SchedulingState.get_current()?.get_priority() ?? 2;
const nicks = ['background', 'user-visible', 'user-blocking'];

const inherits = Object.create({priority: 'background'}), bare = Object.assign(Object.create(null), {priority: 'background'});
class Options {
    priority = 'background';
}
const written = {
    'a literal': () => ({priority: 'background'}),
    'a string that is put together': () => ({priority: ['back', 'ground'].join('')}),
    'a getter': () => ({
        get priority() {
            return 'background';
        },
    }),
    'what it inherits': () => inherits,
    'an object without a prototype': () => bare,
    'an object of a class': () => new Options(),
    'a proxy': () => new Proxy({priority: 'background'}, {}),
    'others that are undefined': () => ({priority: 'background', delay: undefined, signal: undefined}),
    'symbols': () => ({priority: 'background', [Symbol('x')]: 1}),
    'a member that is not enumerable': () => Object.defineProperty({}, 'priority', {value: 'background'}),
    'a delay of none': () => ({priority: 'background', delay: 0}),
};

for (const [what, post] of Object.entries(posts)) {
    test(`${what}: each priority, of the task and of what follows its yields`, async () => {
        for (const [i, priority] of nicks.entries()) {
            const found = [];
            await post(async () => {
                found.push(priorityHere());
                await scheduler.yield();
                found.push(priorityHere());
                await web.scheduler.yield();
                found.push(priorityHere());
            }, {priority});
            assertEqual(found, [i + 1, i + 1, i + 1]);
        }
    });

    test(`${what}: the order is that of the priorities`, async () => {
        const order = [], tasks = [];
        for (const priority of nicks)
            tasks.push(post(() => order.push(priority), {priority}));
        tasks.push(post(() => order.push('plain')), post(() => order.push('empty'), {}));
        await Promise.all(tasks);
        assertEqual(order, ['user-blocking', 'user-visible', 'plain', 'empty', 'background']);
    });

    for (const [kind, make] of Object.entries(written)) {
        test(`${what}, options that are ${kind}`, async () => {
            assertEqual(await post(priorityHere, make()), 1);
        });
    }

    test(`${what}: results, errors and promises`, async () => {
        const error = new Error('a'), options = {priority: 'background'};
        assertEqual(await post(() => 5, options), 5);
        assertEqual(await post(async () => 6, options), 6);
        assertEqual(await rejection(post(() => {
            throw error;
        }, options)), error);
        assertEqual(await rejection(post(async () => {
            throw error;
        }, options)), error);
    });

    test(`${what}: each member is read once`, async () => {
        const read = [];
        const options = new Proxy({priority: 'background'}, {
            get(target, name) {
                read.push(name);
                return target[name];
            },
        });
        await post(() => 1, options);
        assertEqual(read.filter(name => name === 'priority').length, 1);
    });

    test(`${what}: what all objects inherit counts`, async () => {
        Object.prototype.priority = 'background';
        const found = post(priorityHere, {});
        delete Object.prototype.priority;
        const controller = new (what === 'web postTask' ? web : PrioSched).TaskController();
        Object.prototype.signal = controller.signal;
        const aborted = rejection(post(priorityHere, {priority: 'background'}));
        delete Object.prototype.signal;
        controller.abort('enough');
        assertEqual([await found, await aborted], [1, 'enough']);
    });

    test(`${what}: a wrong priority is refused`, async () => {
        for (const priority of ['urgent', '', 'Background', 7, {}, Symbol('x')]) {
            const post1 = () => post(() => 1, {priority});
            const error = what === 'web postTask' ? await rejection(post1()) : thrown(post1);
            assert(error instanceof TypeError, `${String(priority)}: ${error}`);
        }
    });
}

test('an unknown option is refused, and the web ignores it', async () => {
    const group = new PrioSched.TaskGroup({limit: 1}), nothing = () => {};
    const calls = {
        'post_task ()': [options => scheduler.post_task(nothing, options), options => other.post_task(nothing, options),
            options => group.post_task(nothing, options)],
        'post_steps ()': [options => scheduler.post_steps(function* () {}, options), options => group.post_steps(function* () {}, options)],
        'yield ()': [options => scheduler.yield(options)],
        'sleep ()': [options => scheduler.sleep(1, options)],
        'latest ()': [options => scheduler.latest(nothing, options)],
        'feed ()': [options => group.feed(nothing, [], options)],
        'drained ()': [options => group.drained(options)],
        'schedule_callback ()': [options => scheduler.schedule_callback('normal', nothing, options)],
    };
    for (const [where, functions] of Object.entries(calls)) {
        for (const call of functions) {
            assertEqual(thrown(() => call({sinal: null})).message, `“sinal” is not an option of ${where}: did you mean “signal”?`);
            assert(thrown(() => call({colour: 'red'})).message.startsWith(`“colour” is not an option of ${where}: these are `));
        }
    }
    assertEqual(thrown(() => scheduler.post_task(nothing, {prioriy: 'background'})).message,
        '“prioriy” is not an option of post_task (): did you mean “priority”?');
    assertEqual(thrown(() => scheduler.post_task(nothing, {takesTurn: true})).message,
        '“takesTurn” is not an option of post_task (): did you mean “takesTurns”?');
    assertEqual(await web.scheduler.postTask(priorityHere, {prioriy: 'background'}), 2);
});

test('options have either spelling', async () => {
    for (const options of [{takesTurns: true}, {takes_turns: true}]) {
        const log = [], group = new PrioSched.TaskGroup();
        const post = (name, poster) => poster.post_task(async () => {
            log.push(name);
            await scheduler.yield();
            log.push(name);
        }, options);
        await Promise.all([post('a', scheduler), post('b', scheduler)]);
        assertEqual(log.splice(0), ['a', 'b', 'a', 'b']);
        await Promise.all([post('a', group), post('b', group)]);
        assertEqual(log, ['a', 'b', 'a', 'b']);
        await scheduler.yield(options);
    }
    const error = thrown(() => scheduler.post_task(() => {}, {takes_turns: 1}));
    assertEqual(error.message, 'takesTurns is true or false, not 1');
});

test('the names of tasks with a priority, and of their continuations', async () => {
    const told = [], id = scheduler.add_long_task_func(20, (name, priority) => told.push(`${name} ${priority}`));
    const work = () => {
        const end = GLib.get_monotonic_time() + 20000;
        while (GLib.get_monotonic_time() < end)
            ;
    };
    await scheduler.post_task(async function loadRows() {
        work();
        await scheduler.yield();
        told.push(`is ${priorityHere()}`);
        work();
    }, {priority: 'background'});
    await scheduler.sleep(1);
    scheduler.remove_long_task_func(id);
    assertEqual(told.filter(text => /loadRows|is/.test(text)), ['loadRows 1', 'is 1', 'loadRows 1']);
});

run();
