// web-events.js: details of Web IDL and DOM

imports.gi.versions.PrioSched = '1';
imports.searchPath.unshift(imports.gi.GLib.path_get_dirname(imports.system.programPath));
const {PrioSched} = imports.gi;
const {assert, assertEqual, rejection, run, test, thrown} = imports.tap;
const {web} = PrioSched;
const {AbortController, AbortSignal, DOMException, Event, EventTarget, Scheduler, TaskController, TaskPriorityChangeEvent, TaskSignal,
    scheduler} = web;

test('listeners that capture come first, at the target too', () => {
    const target = new EventTarget(), log = [];
    for (const [name, capture] of [['a', false], ['b', true], ['c', false], ['d', true]])
        target.addEventListener('x', () => log.push(name), {capture});
    target.dispatchEvent(new Event('x'));
    assertEqual(log.join(''), 'bdac');
});

test('a handler that returns false prevents the default, a passive listener cannot', () => {
    const {signal} = new AbortController();
    signal.onabort = () => false;
    assertEqual(signal.dispatchEvent(new Event('abort', {cancelable: true})), false);
    signal.onabort = () => 0;
    assertEqual(signal.dispatchEvent(new Event('abort', {cancelable: true})), true);

    const target = new EventTarget();
    target.addEventListener('x', event => event.preventDefault(), {passive: true});
    assertEqual(target.dispatchEvent(new Event('x', {cancelable: true})), true);
    target.addEventListener('x', event => {
        event.returnValue = false;
    });
    assertEqual(target.dispatchEvent(new Event('x', {cancelable: true})), false);
});

test('a target has as many listeners as a program adds, each once and in order', () => {
    // The test would not end if each of these objects searched all others.
    const N = 100000, controller = new TaskController(), dependent = TaskSignal.any([controller.signal], {priority: controller.signal});
    for (const target of [new EventTarget(), controller.signal, dependent]) {
        const log = [], listeners = Array.from({length: N}, (_, i) => () => log.push(i));
        for (const listener of [...listeners, listeners[0]])
            target.addEventListener('abort', listener, {once: true});
        target.addEventListener('abort', listeners[1], true);
        for (const listener of listeners.slice(2, N - 1).reverse())
            target.removeEventListener('abort', listener);
        target.removeEventListener('abort', listeners[0], true);
        target.removeEventListener('other', listeners[0]);
        target.dispatchEvent(new Event('abort'));
        target.dispatchEvent(new Event('abort'));
        assertEqual(log, [1, 0, 1, N - 1, 1]);
    }
});

test('arguments of an event are converted from left to right', () => {
    const log = [];
    const note = (name, value) => {
        log.push(name);
        return value;
    };
    const event = new TaskPriorityChangeEvent({toString: () => note('type', 'x')}, {
        get previousPriority() { return note('previousPriority', 'background'); },
        get composed() { return note('composed'); },
        get cancelable() { return note('cancelable'); },
        get bubbles() { return note('bubbles'); },
    });
    assertEqual(log, ['type', 'bubbles', 'cancelable', 'composed', 'previousPriority']);
    assertEqual([event.type, event.previousPriority, Object.keys(event)], ['x', 'background', []]);
    assert(event.timeStamp > 0);

    event.initEvent('y', true, true);
    assertEqual([event.type, event.bubbles, event.cancelable], ['y', true, true]);
    assert(thrown(() => event.initEvent()) instanceof TypeError);
    assert(thrown(() => new EventTarget().removeEventListener('x')) instanceof TypeError);
});

test('a scheduler’s methods reject wrong receivers', async () => {
    for (const target of [{}, undefined, null, EventTarget]) {
        assert(await rejection(scheduler.postTask.call(target, () => {})) instanceof TypeError);
        assert(await rejection(scheduler.yield.call(target)) instanceof TypeError);
    }
    assert(thrown(() => AbortSignal.prototype.throwIfAborted.call({aborted: true, reason: 'mine'})) instanceof TypeError);
});

test('a number is neither a BigInt nor a Symbol', async () => {
    for (const value of [5n, Symbol('x')]) {
        assert(await rejection(scheduler.postTask(() => {}, {delay: value})) instanceof TypeError);
        assert(thrown(() => AbortSignal.timeout(value)) instanceof TypeError);
        assert(thrown(() => web.requestIdleCallback(() => {}, {timeout: value})) instanceof TypeError);
        assert(thrown(() => web.cancelIdleCallback(value)) instanceof TypeError);
    }
    assert(thrown(() => web.requestIdleCallback(() => {}, 5)) instanceof TypeError);
});

test('an idle deadline is an IdleDeadline', async () => {
    const deadline = await new Promise(resolve => web.requestIdleCallback(resolve));
    assert(deadline instanceof web.IdleDeadline);
    assertEqual([String(deadline), deadline.didTimeout], ['[object IdleDeadline]', false]);
    assert(deadline.timeRemaining() >= 0);
    assert(thrown(() => new web.IdleDeadline()) instanceof TypeError);
    assert(thrown(() => deadline.timeRemaining.call({})) instanceof TypeError);
});

test('constructors have the web’s lengths, and DOMException its constants', () => {
    assertEqual([Scheduler, AbortController, AbortSignal, TaskSignal, Event, EventTarget, TaskPriorityChangeEvent, DOMException,
        web.IdleDeadline].map(({length}) => length), [0, 0, 0, 0, 1, 0, 2, 0, 0]);
    for (const [name, code] of [['INDEX_SIZE_ERR', 1], ['NOT_FOUND_ERR', 8], ['ABORT_ERR', 20], ['TIMEOUT_ERR', 23], ['DATA_CLONE_ERR', 25]])
        assertEqual([DOMException[name], DOMException.prototype[name]], [code, code]);
    for (const [name, code] of [['SecurityError', 18], ['QuotaExceededError', 22], ['AbortError', 20], ['NotAllowedError', 0]])
        assertEqual(new DOMException('', name).code, code);
});

run();
