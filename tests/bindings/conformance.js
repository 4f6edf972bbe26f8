// conformance.js: runs conformance vectors through PrioSched.web
//
//   gjs conformance.js FILE…
//
// Prints every difference from the expected log; ends with "N agree, M differ", and status 1 if any differ.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const System = imports.system;
const {AbortController, AbortSignal, DOMException, TaskController, TaskSignal, queueMicrotask, scheduler} = PrioSched.web;

class Thrown extends Error {}

class Program {
    // Delays take tempo times as long as the program says.
    constructor({signals, handlers}, tempo) {
        this.tempo = tempo;
        this.log = [];
        this.rejected = [];
        this.outcomes = {};
        this.open = 0;
        this.controllers = {};
        this.signals = {};
        for (const [name, description] of Object.entries(signals))
            this.makeSignal(name, description, handlers[name]);
    }

    makeSignal(name, {kind, priority, sources}, handler) {
        if (kind === 'any') {
            this.signals[name] = TaskSignal.any(sources.map(source => this.signals[source]),
                {priority: this.signals[priority] ?? priority});
        } else {
            this.controllers[name] = kind === 'task' ? new TaskController({priority}) : new AbortController();
            this.signals[name] = this.controllers[name].signal;
        }

        if (!handler)
            return;
        let first = true;
        this.signals[name].addEventListener('prioritychange', event => {
            this.log.push(`change ${name} ${event.previousPriority}>${event.target.priority}`);
            if (first) {
                first = false;
                this.perform(handler, '');
            }
        });
    }

    post({id, body, signal, priority, delay}) {
        const options = {};
        if (signal !== undefined)
            options.signal = this.signals[signal];
        if (priority !== undefined)
            options.priority = priority;
        if (delay !== undefined)
            options.delay = Math.round(delay * this.tempo);

        this.open++;
        scheduler.postTask(() => {
            this.log.push(`start ${id}`);
            return this.perform(body, `${id}`);
        }, options).then(() => 'fulfilled', error => error instanceof Thrown ? 'threw' : 'aborted').then(outcome => {
            this.outcomes[id] = outcome;
            this.open--;
        });
    }

    // Returns a promise if the body yields.
    perform(body, label, from = 0, yields = 0) {
        for (let i = from; i < body.length; i++) {
            const op = body[i];
            switch (op.op) {
            case 'post':
                this.post(op);
                break;
            case 'priority':
                try {
                    this.controllers[op.signal].setPriority(op.to);
                } catch (error) {
                    if (!(error instanceof DOMException) || error.name !== 'NotAllowedError')
                        throw error;
                    this.log.push(`notallowed ${op.signal}`);
                }
                break;
            case 'abort':
                this.controllers[op.signal].abort();
                break;
            case 'microtask':
                this.open++;
                queueMicrotask(() => {
                    this.log.push(`micro ${op.id}`);
                    let ends;
                    try {
                        ends = this.perform(op.body, `m${op.id}`);
                    } catch {
                    }
                    Promise.resolve(ends).catch(() => {}).then(() => this.open--);
                });
                break;
            case 'throw':
                throw new Thrown(`thrown by ${label}`);
            case 'yield':
                return scheduler.yield().then(() => {
                    this.log.push(`resume ${label}.${yields + 1}`);
                    return this.perform(body, label, i + 1, yields + 1);
                }, error => {
                    this.rejected.push(`${label}.${yields + 1}`);
                    throw error;
                });
            default:
                throw new Error(`“${op.op}” is not an operation`);
            }
        }
        return undefined;
    }
}

function differences(program, expect) {
    program.rejected.sort();
    return ['log', 'rejected', 'outcomes'].flatMap(what => {
        const sorted = value => Array.isArray(value) ? value : Object.fromEntries(Object.entries(value).sort());
        const [got, wanted] = [program[what], expect[what]].map(value => JSON.stringify(sorted(value)));
        return got === wanted ? [] : [`${what}: expected ${wanted}, got ${got}`];
    });
}

function run(description, tempo) {
    const program = new Program(description, tempo);
    program.perform(description.main, '');
    while (program.open > 0)
        GLib.MainContext.default().iteration(true);
    return differences(program, description.expect);
}

// Because delays are real here, a busy machine may disturb a program.  The program is then repeated more slowly: a
// wrong order stays wrong.
function check(description) {
    let found = [];
    for (const tempo of [0.2, 1, 4, 16]) {
        found = run(description, tempo);
        if (found.length === 0 || !JSON.stringify(description).includes('"delay"'))
            break;
    }
    found.forEach(difference => print(`${description.name}: ${difference}`));
    return found.length === 0;
}

let agree = 0, differ = 0;
for (const path of ARGV) {
    const [, contents] = GLib.file_get_contents(path);
    for (const description of JSON.parse(new TextDecoder().decode(contents))) {
        if (check(description))
            agree++;
        else
            differ++;
    }
}
print(`${agree} agree, ${differ} differ`);
System.exit(differ > 0 ? 1 : 0);
