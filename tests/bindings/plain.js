// plain.js: the module for systems without the library

imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib} = imports.gi;
const {assert, assertEqual, rejection, run, test} = imports.tap;

const here = GLib.path_get_dirname(imports.system.programPath);
const module = import(`file://${GLib.canonicalize_filename('../../introspection/gjs/prio-sched-plain.js', here)}`);

test('tasks run by priority and age', async () => {
    const {scheduler} = await module, log = [];
    const post = (name, options) => scheduler.postTask(() => log.push(name), options);
    await Promise.all([post('background', {priority: 'background'}), post('first'), post('second'), post('urgent', {priority: 'user-blocking'})]);
    assertEqual(log, ['urgent', 'first', 'second', 'background']);
    assertEqual(await scheduler.postTask(async () => 'value', {delay: 1}), 'value');
    assert(/is not a task priority/.test((await rejection(scheduler.postTask(() => {}, {priority: 'urgent'}))).message));
});

test('an exception of a task rejects its promise', async () => {
    const {scheduler} = await module, why = new Error('mine');
    assert(await rejection(scheduler.postTask(() => {
        throw why;
    })) === why);
});

test('an abort rejects waiting tasks, and leaves no source', async () => {
    const {scheduler, AbortError, TaskController} = await module, controller = new TaskController({priority: 'background'}), {signal} = controller;
    let nRun = 0;
    const tasks = [{signal}, {signal, priority: 'user-visible'}, {signal, delay: 60000}].map(options => rejection(scheduler.postTask(() => nRun++, options)));
    const yields = rejection(scheduler.yield({signal}));
    assertEqual(signal.waiting.size, 4);
    const sources = [...signal.waiting].map(({source}) => source);
    controller.abort();
    assert((await Promise.all([...tasks, yields])).every(reason => reason instanceof AbortError && reason === signal.reason));
    assert(sources.every(source => source.is_destroyed()));
    assert(await rejection(scheduler.postTask(() => nRun++, {signal})) === signal.reason);
    assertEqual([nRun, signal.waiting.size, signal.aborted], [0, 0, true]);
});

test('a change of priority moves waiting tasks, except tasks with their own', async () => {
    const {scheduler, TaskController} = await module, controller = new TaskController({priority: 'background'}), {signal} = controller, log = [];
    const tasks = [scheduler.postTask(() => log.push('moved'), {signal}), scheduler.postTask(() => log.push('own'), {signal, priority: 'background'}),
        scheduler.postTask(() => log.push('other'))];
    controller.setPriority('user-blocking');
    await Promise.all(tasks);
    assertEqual(log, ['moved', 'other', 'own']);
});

test('each () yields when it is time, and ends with an abort', async () => {
    const {each, scheduler, shouldYield, TaskController} = await module, controller = new TaskController({priority: 'background'}), {signal} = controller;
    const seen = [];
    const all = scheduler.postTask(async () => {
        for await (const item of each(new Array(1e9).keys(), {signal})) {
            seen.push(item);
            while (!shouldYield());
            if (item === 3)
                scheduler.postTask(() => controller.abort('enough'), {priority: 'user-blocking'});
        }
    }, {signal});
    assertEqual([await rejection(all), seen], ['enough', [0, 1, 2, 3]]);
});

test('latest () aborts the run before', async () => {
    const plain = await module, {latest, scheduler} = plain;
    const search = latest(async word => {
        const {currentTaskSignal: signal} = plain;
        await scheduler.yield({signal});
        return word;
    });
    const [first, second] = [search('a'), search('ab')];
    assertEqual([await first, await second], [undefined, 'ab']);
    const third = search('abc');
    search.abort();
    assertEqual(await third, undefined);
});

run();
