// crossings.js: random programs in which every pair of mechanisms meets
//
//     crossings.js [--programs N] [--seed N] [--only MECHANISM,...] [--table]
//
// Each program uses a random part of the binding's mechanisms, from everywhere.  Each awaited promise settles in an allowed way; no
// handled rejection is reported; no object leaks.  --seed repeats one program, --table shows how often each pair of mechanisms has
// met.  The programs are the same each time; with PRIO_SCHED_THOROUGH in the environment there are many more, with random seeds.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {Gio, GLib, PrioSched} = imports.gi;
const System = imports.system;
const {Awaited, Here, MAX_ACTS, Program, Work} = imports['crossings-program'];
const {BODIES, OPERATIONS, OPTIONS, canBeMade} = imports['crossings-posts'];
imports['crossings-operations'];
imports['crossings-web'];

const HANGS = 30; // seconds without a new program, before it counts as hanging
const N_PROGRAMS = 350;
const FIRST_SEED = 1;
const N_ROUNDS = 5; // rounds of programs for pairs that have not met yet
const N_SHOWN = 10; // pairs to print that have not met
const IS_THOROUGH = GLib.getenv('PRIO_SCHED_THOROUGH') !== null;
const N_AT_A_TIME = 50; // programs between two collections
const MAX_LEFT = 50; // schedulers that the engine may still keep: of ten further schedulers, one
const MECHANISMS = [...Object.keys(OPERATIONS), ...Object.keys(OPTIONS), ...BODIES].sort();
const context = GLib.MainContext.default();

function allPairs(mechanisms) {
    return mechanisms.flatMap((one, i) => mechanisms.slice(i + 1).map(other => [one, other]));
}

// Uses the wanted mechanisms.
class First extends Work {
    async asynchronous() {
        this.begin();
        for (const name of [...this.program.wanted, ...this.program.wanted])
            await this.wait(this.program.carry(name, this.here));
        return this.end();
    }
}

function begin(program) {
    const first = new First(program, Here.first(program.seed + 1, [], 1, true), 'first', 0);
    new Awaited(program, 'the first task', program.schedulers[0].post_task(first.callback), [], first);
    for (const name of program.wanted)
        program.carry(name, program.here);
}

function goOn(program) {
    program.step++;
    program.act(program.here);
}

const turn = delay => new Promise(resolve => GLib.timeout_add(0, delay, () => {
    resolve();
    return false;
}));

async function runInLoop(program) {
    begin(program);
    for (let n = 4 + program.random.below(8); n > 0; n--) {
        goOn(program);
        await turn(0);
    }
    while (!program.isSettled())
        await turn(1);
}

function iterate(program) {
    begin(program);
    for (let n = 4 + program.random.below(8); n > 0; n--) {
        goOn(program);
        context.iteration(false);
    }
    untilSettled(program);
}

function untilSettled(program) {
    while (!program.isSettled())
        context.iteration(true);
}

// Prints the pending promises, and ends the process.
function hang(program) {
    count(program);
    writeMet();
    for (const awaited of program.awaited.filter(one => !one.isSettled))
        printerr(`${awaited} hangs`);
    const states = program.schedulers.map(scheduler => `${scheduler.count_pending()}${scheduler.get_paused() ? ', paused' : ''}`);
    printerr(new Error().stack.replaceAll('\n', ' | '));
    printerr(`${program.nPending} are pending, ${program.nCalls} calls, ${program.endings.length} switches, queued: ${states.join('; ')}`);
    System.exit(1);
}

function runProgram(program) {
    const watchdog = GLib.timeout_add_seconds(0, HANGS / 3, () => hang(program));
    if (program.random.chance(.5)) {
        iterate(program);
    } else {
        const loop = new GLib.MainLoop(null, false);
        runInLoop(program).catch(error => program.fail(`${error} ${error.stack}`)).finally(() => loop.quit());
        loop.run();
    }
    program.nActs = MAX_ACTS; // later operations have no effect
    untilSettled(program);
    for (const {native, id} of program.handlers)
        native.disconnect(id);
    GLib.source_remove(watchdog);
    spin();
    program.check();
}

function spin() {
    for (let i = 0; i < 50 && context.iteration(false); i++);
}

// The pairs that have met in the programs of this process.
const met = new Map();

// Reports to the parent, even if a program has failed.
function writeMet() {
    for (const [pair, n] of met)
        print(`${pair} ${n}`);
}

function count(program) {
    for (const [pair, n] of program.met)
        met.set(pair, (met.get(pair) ?? 0) + n);
}

// Runs the program of seed, and returns how many schedulers it has made.
function runOne(seed, mechanisms) {
    const pairs = allPairs(mechanisms);
    // A row of programs, one for each pair, has each pair twice.
    const wanted = [...pairs[seed * 2 % pairs.length], ...pairs[(seed * 2 + 1) % pairs.length]];
    const program = new Program(seed, mechanisms, wanted, {operations: OPERATIONS, options: OPTIONS, canBeMade});
    try {
        runProgram(program);
    } finally {
        count(program);
    }
    for (const text of program.expected)
        printerr(`expect ${text}`);
    for (const failure of program.failures)
        printerr(`${failure}`.replaceAll('\n', '\\n'));
    return program.schedulers.length;
}

// Runs garbage collections.  Each may free objects that the one before has released.
function collect(n) {
    for (let i = 0; i < n; i++) {
        Promise.resolve().then(() => {});
        spin();
        System.gc();
    }
}

// Runs programs, and writes the seed before each; any other output is an error, unless it is expected.
function runChild(seeds, mechanisms) {
    let nMade = 0;
    for (const [i, seed] of seeds.entries()) {
        printerr(`seed ${seed}`);
        nMade += runOne(seed, mechanisms);
        if (i % N_AT_A_TIME === N_AT_A_TIME - 1)
            collect(1);
    }
    collect(10);
    const nLeft = PrioSched.Scheduler.list_all().length;
    if (nLeft > MAX_LEFT + nMade / 10)
        printerr(`${nLeft} schedulers are left of ${nMade}`);
}

// Runs processes that run programs, one after another, and reads their reports.
class Watched {
    said = [];
    met = new Map();
    #nLost = 0;
    #reports = new Map(); // the reports of each program
    #expected = [];

    constructor(only) {
        this.only = only;
    }

    // Continues after a program that has ended a process, until too many have.
    run(seeds) {
        for (let rest = seeds; rest.length > 0 && this.#nLost < 5;) {
            const program = Gio.Subprocess.new(['gjs', System.programPath, '--child', rest.join(), ...this.only === null ? [] : ['--only', this.only]],
                Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE);
            this.#read(program);
            if (program.get_if_exited() && program.get_exit_status() === 0)
                break;
            this.said.push([this.seed, 'the process has ended']);
            this.#nLost++;
            rest = rest.slice(rest.indexOf(this.seed) + 1);
        }
        this.#compare();
    }

    #read(program) {
        const loop = new GLib.MainLoop(null, false);
        let nOpen = 2, watchdog = 0;
        const read = (pipe, use) => {
            const stream = new Gio.DataInputStream({base_stream: pipe});
            const next = () => stream.read_line_async(0, null, (_, result) => {
                const [line] = stream.read_line_finish(result);
                if (line === null) {
                    if (--nOpen === 0)
                        loop.quit();
                    return;
                }
                use(new TextDecoder().decode(line));
                next();
            });
            next();
        };
        const watch = () => {
            if (watchdog !== 0)
                GLib.source_remove(watchdog);
            watchdog = GLib.timeout_add_seconds(0, HANGS, () => {
                this.said.push([this.seed, 'hangs']);
                program.send_signal(6);
                watchdog = 0;
                return false;
            });
        };
        read(program.get_stdout_pipe(), line => this.#count(line));
        read(program.get_stderr_pipe(), line => this.#hear(line, watch));
        watch();
        loop.run();
        if (watchdog !== 0)
            GLib.source_remove(watchdog);
        program.wait(null);
    }

    #count(line) {
        const [one, other, n] = line.split(' ');
        const pair = `${one} ${other}`;
        this.met.set(pair, (this.met.get(pair) ?? 0) + Number(n));
    }

    #hear(line, watch) {
        if (line.startsWith('seed ')) {
            this.seed = Number(line.slice(5));
            watch();
        } else if (line.startsWith('expect ')) {
            this.#expected.push([this.seed, line.slice(7)]);
        } else if (/unhandled \d+ \d+/.test(line)) {
            const [text] = line.match(/unhandled \d+ \d+/);
            this.#reports.set(text, (this.#reports.get(text) ?? 0) + 1);
        } else if (line !== '' && !/@.*:\d+(:\d+)?$/.test(line)) {
            this.said.push([this.seed, line]);
        }
    }

    // There must be one report of each expected rejection.
    #compare() {
        for (const [seed, text] of this.#expected) {
            const n = this.#reports.get(text) ?? 0;
            if (n !== 1)
                this.said.push([seed, `“${text}” was reported ${n} times`]);
            this.#reports.delete(text);
        }
        for (const [text] of this.#reports)
            this.said.push([Number(text.split(' ')[1]), `“${text}” was reported, and has not been expected`]);
        this.#expected = [];
        this.#reports.clear();
    }
}

// Returns, for each of those pairs, a seed whose program wants it.
function seedsFor(apart, mechanisms, after) {
    const pairs = allPairs(mechanisms).map(pair => pair.join(' '));
    return apart.map(pair => {
        const index = pairs.indexOf(pair);
        let seed = after;
        while (![0, 1].includes(index - seed * 2 % pairs.length))
            seed++;
        return seed;
    });
}

function printTable(met, mechanisms) {
    const width = Math.max(...mechanisms.map(name => name.length));
    for (const [i, one] of mechanisms.entries()) {
        const counts = mechanisms.slice(0, i).map(other => String(met.get(`${other} ${one}`) ?? 0).padStart(4));
        print(`${String(i).padStart(2)} ${one.padEnd(width)} ${counts.join(' ')}`);
    }
}

const ask = (name, otherwise = null) => {
    const index = ARGV.indexOf(name);
    return index < 0 ? otherwise : ARGV[index + 1];
};
const only = ask('--only'), mechanisms = only === null ? MECHANISMS : only.split(',');

function runAll() {
    const given = ask('--seed'), first = IS_THOROUGH ? GLib.random_int_range(0, 10 ** 9) : FIRST_SEED;
    const seed = given === null ? first : Number(given);
    const nPrograms = given !== null ? 1
        : Number(ask('--programs', N_PROGRAMS * (IS_THOROUGH ? 50 : 1)));
    print(`${nPrograms} programs from seed ${seed} on`);
    const watched = new Watched(only), hasAll = nPrograms >= N_PROGRAMS && only === null;
    for (let n = 0; n < nPrograms; n += 2000)
        watched.run(Array.from({length: Math.min(2000, nPrograms - n)}, (_, i) => seed + n + i));
    const pairs = allPairs(mechanisms).map(pair => pair.join(' '));
    const findApart = () => pairs.filter(pair => !watched.met.has(pair));
    for (let i = 0; i < N_ROUNDS && hasAll && findApart().length > 0; i++)
        watched.run([...new Set(seedsFor(findApart(), mechanisms, seed + nPrograms + i * pairs.length))]);
    for (const [failed, line] of watched.said)
        print(`seed ${failed}: ${line}`);
    const apart = findApart();
    if (ARGV.includes('--table'))
        printTable(watched.met, mechanisms);
    print(`${mechanisms.length} mechanisms, ${pairs.length - apart.length} of ${pairs.length} pairs have met`);
    if (hasAll && apart.length > 0)
        print(`${apart.length} never met: ${apart.slice(0, N_SHOWN).join(', ')}${apart.length > N_SHOWN ? ', ...' : ''}`);
    return watched.said.length > 0 || (hasAll && apart.length > 0) ? 1 : 0;
}

if (ask('--child') !== null) {
    try {
        runChild(ask('--child').split(',').map(Number), mechanisms);
    } finally {
        writeMet();
    }
} else {
    System.exit(runAll());
}
