// crossings-web.js: the operations of the programs of crossings.js with the web's functions

const {PrioSched} = imports.gi;
const {web} = PrioSched;
const {Awaited} = imports['crossings-program'];
const {add, newWork, optionsFor, posted, someController} = imports['crossings-posts'];
const {awaitCall} = imports['crossings-operations'];

const someWeb = (program, here) => here.random.pick(program.webSchedulers);

add('web-post', (program, here) => {
    const {options, chain, used} = optionsFor(program, here, true);
    const {work, mechanisms} = newWork(program, here, chain, {kinds: ['function', 'async', 'throws', 'thenable']});
    return posted(program, here, 'a task of the web', someWeb(program, here).postTask(work.callback, options), chain, work,
        ['web-post', ...used, ...mechanisms]);
});
add('web-yield', (program, here) => new Awaited(program, 'a yield of the web', someWeb(program, here).yield(), here.chain));

// Signals from the web's controllers.
add('web-controller', (program, here) => {
    const {web: signal} = someController(program, here);
    try {
        signal?.throwIfAborted();
    } catch {
    }
});

add('web-listener', (program, here) => {
    const {web: target} = someController(program, here), inner = here.inner(null);
    if (target === null)
        return;
    let n = 0;
    const listener = () => {
        if (n++ < 3)
            program.act(inner);
    };
    const type = here.random.pick(['abort', 'prioritychange']);
    if (here.random.chance(.2)) {
        target[`on${type}`] = listener;
        return;
    }
    const signal = here.random.chance(.3) ? someController(program, here).forWeb : undefined;
    target.addEventListener(type, listener, {once: here.random.chance(.3), signal});
    if (here.random.chance(.3))
        target.removeEventListener(type, listener);
});

add('web-idle', (program, here) => {
    const call = awaitCall(program, here.inner(null));
    const handle = web.requestIdleCallback(deadline => {
        deadline.timeRemaining();
        call();
    }, here.random.pick([undefined, {timeout: 1}]));
    if (here.random.chance(.3)) {
        web.cancelIdleCallback(handle);
        program.nCalls--;
    }
});
add('web-microtask', (program, here) => web.queueMicrotask(awaitCall(program, here.inner(null))));

add('web-scheduler', (program, here) => {
    if (program.webSchedulers.length > 2)
        return;
    const {native, scheduler} = web.extras.newScheduler();
    program.schedulers.push(native);
    program.webSchedulers.push(scheduler);
});
