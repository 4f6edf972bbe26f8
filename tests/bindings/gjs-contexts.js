// gjs-contexts.js: the program that each context of gjs-contexts.c runs

imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler, TaskController} = PrioSched.web;

const context = GLib.MainContext.default();
const sleep = () => new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
    resolve();
    return GLib.SOURCE_REMOVE;
}));

let left = 0;

var iterate = n => {
    while (n-- > 0)
        context.iteration(false);
};

// Starts tasks that yield n times, and await promises in between.
var begin = (n, settle = sleep) => {
    const {signal} = new TaskController({priority: 'background'});
    for (const options of [{signal}, {priority: 'user-blocking'}, {delay: 1}, undefined]) {
        left++;
        scheduler.postTask(async () => {
            for (let i = 0; i < n; i++) {
                await scheduler.yield();
                if (i % 10 === 5)
                    await settle();
            }
        }, options).finally(() => left--);
    }
};

var finish = () => {
    while (left > 0)
        context.iteration(true);
    imports.system.gc();
};

// Leaves tasks whose abort has not been reported yet.
var abortLater = () => {
    const controller = new TaskController();
    for (let i = 0; i < 100; i++)
        scheduler.postTask(() => {}, {signal: controller.signal, delay: 1000}).catch(() => {});
    scheduler.postTask(() => controller.abort(), {delay: 1}).catch(() => {});
    begin(1e9, () => null);
};
