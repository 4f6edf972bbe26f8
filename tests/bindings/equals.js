// equals.js: tasks of one priority, of which some take turns, in JavaScript

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {GLib, PrioSched} = imports.gi;
const {assert, assertEqual, run, test, thrown} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
let log = [];

function postShort(letters = 'ab') {
    for (const letter of letters)
        scheduler.post_task(() => log.push(letter));
}

async function long() {
    for (let i = 0; i < 4; i++) {
        log.push('L');
        await scheduler.yield();
    }
}

async function assertRan(expected) {
    await scheduler.post_task(() => {}, {priority: 'background'});
    assertEqual(log.join(''), expected);
    log = [];
}

test('an async function continues behind waiting tasks', async () => {
    scheduler.post_task(long);
    postShort();
    await assertRan('LLLLab');
    scheduler.post_task(long, {takesTurns: true});
    postShort();
    await assertRan('LabLLL');
});

// Code that yields until a task of its priority has run.
function yieldUntilRun(post, yieldOnce) {
    return async function reader() {
        let ran = false;
        post(function stop() {
            ran = true;
        });
        while (!ran)
            await yieldOnce();
    };
}

test('a loop of yields ends', async () => {
    const {extras, scheduler: ofWeb} = PrioSched.web;
    assertEqual(scheduler.starvation_limit, 1000);
    GLib.test_expect_message('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING, 'A task (stop) has waited behind *takes_turns*');
    await scheduler.post_task(yieldUntilRun(task => scheduler.post_task(task), () => scheduler.yield()));
    // The second time, the scheduler does not warn.
    extras.starvationLimit = 50;
    assertEqual(scheduler.starvationLimit, 50);
    await ofWeb.postTask(yieldUntilRun(task => ofWeb.postTask(task), () => ofWeb.yield()));
    GLib.test_assert_expected_messages_internal('', '', 0, '');
    for (const wrong of [-1, NaN, 2 ** 32])
        assert(thrown(() => (extras.starvationLimit = wrong)) instanceof TypeError);
    assertEqual(extras.starvationLimit, 50);
    extras.starvationLimit = 1000;
});

test('two that take turns alternate', async () => {
    const other = async () => {
        for (let i = 0; i < 4; i++) {
            log.push('M');
            await scheduler.yield();
        }
    };
    scheduler.post_task(long, {takesTurns: true});
    scheduler.post_task(other, {takesTurns: true});
    await assertRan('LMLMLMLM');
});

test('a generator continues behind waiting tasks', async () => {
    scheduler.post_steps(function* () {
        for (let i = 0; i < 3; i++) {
            log.push('L');
            GLib.usleep(10000); // longer than a time slice
            yield;
        }
    }, {takesTurns: true});
    postShort();
    await assertRan('LabLL');
});

test('it does so after an await of something else', async () => {
    await scheduler.post_task(async () => {
        log.push('L');
        await new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, resolve));
        postShort();
        log.push('L');
        await scheduler.yield();
        log.push('L');
    }, {takesTurns: true});
    await assertRan('LLabL');
});

test('one yield takes turns', async () => {
    scheduler.post_task(async () => {
        log.push('L');
        await scheduler.yield({takesTurns: true});
        postShort('c');
        log.push('L');
        await scheduler.yield();
        log.push('L');
    });
    postShort();
    await assertRan('LabLLc');
});

test('turns with all other options', async () => {
    const {signal} = new PrioSched.TaskController({priority: 'user-visible'});
    scheduler.post_task(long, {signal, timeout: 60000, name: 'long', takesTurns: true});
    postShort();
    await assertRan('LabLLL');
});

test('turns in a group', async () => {
    const group = new PrioSched.TaskGroup({limit: 1});
    group.post_task(long, {takesTurns: true});
    postShort();
    await assertRan('LabLLL');
});

test('turns when the priority is lent', async () => {
    scheduler.set_lends_priority(true);
    scheduler.post_task(long, {takesTurns: true});
    postShort();
    await assertRan('LabLLL');
    scheduler.set_lends_priority(false);
});

test('the library’s own work has its turn beside a loop of yields', async () => {
    const {scheduler: web, AbortSignal} = PrioSched.web;
    const loop = isOver => async () => {
        let n = 0;
        while (!isOver() && n++ < 50000)
            await web.yield();
        return n < 50000;
    };
    const signal = AbortSignal.timeout(5), native = PrioSched.TaskSignal.new_timeout(5);
    assertEqual(await web.postTask(loop(() => signal.aborted), {priority: 'user-blocking'}), true);
    assertEqual(await web.postTask(loop(() => native.is_cancelled()), {priority: 'user-blocking'}), true);
});

test('a flag is true or false', () => {
    for (const value of [1, null, 'yes']) {
        for (const call of [() => scheduler.post_task(() => {}, {takesTurns: value}), () => scheduler.yield({takesTurns: value}),
            () => new PrioSched.TaskGroup().post_task(() => {}, {takesTurns: value})]) {
            const error = thrown(call);
            assert(error instanceof TypeError && error.message.startsWith('takesTurns is true or false, not '));
        }
    }
});

run();
