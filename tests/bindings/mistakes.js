// mistakes.js: messages about mistakes of newcomers: each names the value, and most say how to write it

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const {assert, assertEqual, run, test} = imports.tap;
const scheduler = PrioSched.Scheduler.get_default();
const {scheduler: ofWeb, TaskController} = PrioSched.web;

function usedUp() {
    const controller = new TaskController();
    controller.abort();
    return ofWeb.postTask(() => {}, {signal: controller.signal});
}

async function loopOfYields() {
    let done = false;
    GLib.test_expect_message('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING, '*(finish)*takes_turns*');
    scheduler.post_task(function finish() {
        done = true;
    });
    while (!done)
        await scheduler.yield();
    GLib.test_assert_expected_messages_internal('', '', 0, '');
    throw new Error('finish: takes_turns'); // it has ended
}

function usedUpInLibrary() {
    const controller = new PrioSched.TaskController();
    controller.abort();
    return scheduler.post_task(() => {}, {signal: controller.signal});
}

// GJS throws this; the manual mentions its words.
const giveToGio = () => Gio.File.new_for_path('/').query_exists(new TaskController().signal);

// For each mistake, by the name that tests/repository/check-mistakes.py knows: the call; the name of the value in the message; the mend in
// the message, or null.
const MISTAKES = [
    ['priority by position', () => scheduler.post_task(() => {}, 'background'), '“background”', "write {priority: 'background'}"],
    ['{prioriy: …}', () => scheduler.post_task(() => {}, {prioriy: 'background'}), '“prioriy”', 'did you mean “priority”?'],
    ['an unknown priority', () => scheduler.post_task(() => {}, {priority: 'urgent'}), '“urgent”', '“user-blocking”'],
    ['postTask() on the library’s scheduler', () => scheduler.postTask(() => {}), 'postTask()', 'call post_task () here'],
    ['generator to post_task()', () => scheduler.post_task(function* () {}), 'generator function', 'post_steps ()'],
    ['controller as signal', () => scheduler.post_task(() => {}, {signal: new PrioSched.TaskController()}), 'TaskController', 'give its signal'],
    ['controller as signal of the web', () => ofWeb.postTask(() => {}, {signal: new TaskController()}), 'TaskController', 'give its signal'],
    ['used-up controller', usedUpInLibrary, 'aborted', 'make a new controller'],
    ['used-up controller of the web', usedUp, 'aborted', 'make a new controller'],
    ['the web’s signal to GIO', giveToGio, 'is not a subclass of GObject_Object, it\'s a Object', null],
    ['a limit out of range', () => new PrioSched.TaskGroup({limit: 0}), '0', 'from 1, or Infinity'],
    ['a delay out of range', () => scheduler.post_task(() => {}, {delay: -5}), '-5', null],
    ['while (!flag) await scheduler.yield()', loopOfYields, 'finish', 'takes_turns'],
];
const LEAST_MENDS = 10;

for (const [name, write, value, mend] of MISTAKES) {
    test(name, async () => {
        let error = null;
        try {
            await write();
        } catch (caught) {
            error = caught;
        }
        assert(error !== null, 'nothing is thrown');
        for (const words of [value, mend ?? ''])
            assert(error.message.includes(words), `“${error.message}” has no “${words}”`);
    });
}

test('{takes_turns: true}', () => scheduler.post_task(() => {}, {takes_turns: true}));

// GJS does not let the library see it; the manual says so.
test('no await before yield()', () => {
    scheduler.yield();
    const launcher = new Gio.SubprocessLauncher({flags: Gio.SubprocessFlags.STDERR_PIPE | Gio.SubprocessFlags.STDOUT_PIPE});
    const program = "imports.gi.versions.PrioSched = '1'; imports.gi.PrioSched.Scheduler.get_default().yield(); print('ends');";
    assertEqual(launcher.spawnv(['gjs', '-c', program]).communicate_utf8(null, null)[1], 'ends\n');
});

test('in development GJS says that its native part is missing', () => {
    const launcher = new Gio.SubprocessLauncher({flags: Gio.SubprocessFlags.STDERR_PIPE});
    launcher.setenv('PRIO_SCHED_NATIVE', '0', true);
    const say = debug => {
        launcher.setenv('PRIO_SCHED_DEBUG', debug, true);
        const program = "imports.gi.versions.PrioSched = '1'; imports.gi.PrioSched.Scheduler.get_default().post_task(() => {});";
        return launcher.spawnv(['gjs', '-c', program]).communicate_utf8(null, null)[2];
    };
    assert(say('1').includes('without its native part'));
    assert(!say('0').includes('without its native part'));
});

test('a program may freeze the prototype before the first post', () => {
    const launcher = new Gio.SubprocessLauncher({flags: Gio.SubprocessFlags.STDERR_PIPE | Gio.SubprocessFlags.STDOUT_PIPE});
    const program = `imports.gi.versions.PrioSched = '1';
        const {GLib, PrioSched} = imports.gi, loop = new GLib.MainLoop(null, false), scheduler = PrioSched.Scheduler.get_default();
        Object.freeze(PrioSched.Scheduler.prototype);
        scheduler.post_task(() => print('ran')).then(() => scheduler.yield()).then(() => loop.quit());
        loop.run();`;
    assertEqual(launcher.spawnv(['gjs', '-c', program]).communicate_utf8(null, null).slice(1), ['ran\n', '']);
});

test('most messages have the mend', () => {
    assert(MISTAKES.filter(([, , , mend]) => mend !== null).length >= LEAST_MENDS);
});

run();
