// program.ts: the native classes and PrioSched.web, as a program without a window uses them
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import '@girs/gio-2.0/ambient';

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import PrioSched from 'gi://PrioSched?version=1';
import Unversioned from 'gi://PrioSched';

const {scheduler, AbortSignal, TaskController, TaskSignal} = PrioSched.web;
const native: PrioSched.Scheduler = Unversioned.Scheduler.get_default();
const fromImports: PrioSched.Scheduler = imports.gi.PrioSched.Scheduler.ref_thread_default();

// The web's interfaces.

async function index(files: Iterable<Gio.File>, signal: PrioSched.web.AbortSignal): Promise<number> {
    let n = 0;
    for (const file of files) {
        signal.throwIfAborted();
        n += file.get_basename()?.length ?? 0;
        await scheduler.yield();
    }
    return n;
}

async function web(): Promise<void> {
    const controller = new TaskController({priority: 'background'});
    const signal: PrioSched.web.TaskSignal = controller.signal;
    signal.addEventListener('prioritychange', event => print(event.previousPriority, signal.priority));
    const until = AbortSignal.timeout(5);
    signal.addEventListener('abort', {handleEvent: event => print(event.type)}, {once: true, signal: until});
    signal.addEventListener('anything', event => print(event.timeStamp, event.target === signal));
    signal.onprioritychange = function (event) {
        print(this.priority, event.previousPriority);
    };
    const n: number = await scheduler.postTask(() => index([], signal), {signal, delay: 10});
    const text: string = await scheduler.postTask(() => `${n}`, {priority: 'user-blocking'});
    const either = TaskSignal.any([signal, AbortSignal.timeout(1000)], {priority: signal});
    either.onabort = () => print(either.reason, text);
    controller.setPriority('user-visible');
    controller.abort(new PrioSched.web.DOMException('enough', 'AbortError'));
    const event = new PrioSched.web.TaskPriorityChangeEvent('prioritychange', {previousPriority: signal.priority});
    const untouched: boolean = new PrioSched.web.EventTarget().dispatchEvent(event);
    const code: number = PrioSched.web.DOMException.ABORT_ERR + new PrioSched.web.DOMException().code;
    const handle: number = PrioSched.web.requestIdleCallback(
        deadline => print(deadline.timeRemaining(), deadline.didTimeout, untouched, code), {timeout: 100});
    PrioSched.web.cancelIdleCallback(handle);
    PrioSched.web.queueMicrotask(() => print('soon'));
    PrioSched.web.install(globalThis);
}

// The native classes: their signals are cancellables, which GIO's functions take.

async function classes(file: Gio.File): Promise<void> {
    const controller = new PrioSched.TaskController({priority: 'background'});
    const signal: PrioSched.TaskSignal = controller.signal;
    const cancellable: Gio.Cancellable = signal;
    const [ok, contents] = file.load_contents(signal);
    const [later] = await file.load_contents_async(signal);
    file.load_contents_async(cancellable, (_source, result) =>
        print(file.load_contents_finish(result), ok, contents, later));

    signal.connect('priority-change', (self, previous) => print(self.priority === previous));
    signal.connect('cancelled', self =>
        print(self.dup_reason()?.message, self.reason?.matches(PrioSched.Error.quark(), 0)));
    signal.connect('notify::reason', (self, pspec) => print(self.is_aborted(), pspec.get_name()));
    signal.connect(() => print('GIO calls this'));

    const {BACKGROUND} = PrioSched.TaskPriority;
    const length: number = await native.post_task(() => contents.length, {signal, priority: BACKGROUND});
    const nested: string = await native.post_task(async () => `${length}`,
        {priority: 'user-blocking', delay: 1, name: 'nested'});
    await native.yield({signal: 'inherit', priority: 'user-visible'});
    const timeout = PrioSched.TaskSignal.new_timeout(100);
    const limit = PrioSched.TaskSignal.any([new Gio.Cancellable(), timeout], 'user-blocking');
    const follower = PrioSched.TaskSignal.any_following([limit], signal);
    print(follower.has_fixed_priority(), follower.priority, nested);
    controller.set_priority('user-visible');
    controller.abort({any: 'value'});
}

// Tasks of a group have the options of a scheduler's tasks, and an abort is an error of JavaScript.

class Superseded extends PrioSched.AbortError {}

async function grouped(): Promise<void> {
    const group = new PrioSched.TaskGroup({limit: 8}), reason: Error = new Superseded('a later search');
    const n: number = await group.post_task(() => 1, {timeout: 250, name: 'one'});
    const m: number = await group.post_task(async () => n, {timeout: PrioSched.TIMEOUT_NORMAL, signal: group.signal});
    const waited: number = await native.post_steps(function* () {
        yield native.sleep(5);
        const value: number = yield native.post_task(() => 5, {takesTurns: true});
        return value;
    });
    await native.yield({takesTurns: waited > 4});
    await group.feed(word => print(word.length), ['a', 'b'], {priority: 'background'});
    const length: number = await group.run(async own => (await own.post_task(() => 'word')).length);
    print(length);
    const text: string = await group.post_steps(function* () {
        yield m;
        return 'result';
    }, {timeout: 250, progress: value => print(value + 1)});
    await native.post_task(() => text, {timeout: 250}).catch(error => {
        if (error instanceof PrioSched.AbortError)
            print(error.message, error.stack);
    });
    group.abort(reason);
}

function calls(): void {
    native.post('background', () => GLib.SOURCE_REMOVE);
    const options = new PrioSched.TaskOptions({priority: PrioSched.TaskPriority.USER_BLOCKING, delay: 5});
    const posted: boolean = native.post_full(options, () => GLib.SOURCE_REMOVE);
    const watch = (task: PrioSched.Task): void => {
        task.connect('notify::state', self => print(self.state === PrioSched.TaskState.FULFILLED));
        task.wait_async(null, (source, result) => print(source?.wait_finish(result), task.propagate_value()[1], posted));
    };
    print(watch);
    native.yield_async(new PrioSched.YieldOptions({flags: PrioSched.YieldFlags.DROP_SIGNAL}), (source, result) =>
        print(source?.yield_finish(result)));

    const state = PrioSched.SchedulingState.get_current();
    state?.run(() => print(state.get_cancellable()?.is_cancelled(), state.dup_scheduler() === native));

    const id: number = native.request_idle_callback(deadline => print(deadline.get_time_remaining()), 100);
    native.cancel_idle_callback(id);
    native.time_slice = 2;
    fromImports.next_frame = GLib.get_monotonic_time() + 16000;
    native.queue_microtask(() => print(native.should_yield(), native.paused, native.context === native.get_context()));
    const bounded = new PrioSched.Scheduler({context: GLib.MainContext.new(), timeSlice: 0});
    bounded.pause();
    bounded.resume();
}

calls();
Promise.all([web(), grouped(), classes(Gio.File.new_for_path('/'))]).catch(error => {
    if (error instanceof PrioSched.Error && error.code === PrioSched.Error.CLOSED)
        logError(error);
});
