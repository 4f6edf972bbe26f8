// wrong.ts: what the compiler has to find wrong, each where it says so
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import '@girs/gio-2.0/ambient';

import Gio from 'gi://Gio?version=2.0';
import PrioSched from 'gi://PrioSched?version=1';

const {scheduler, AbortSignal, TaskController} = PrioSched.web;
const native = PrioSched.Scheduler.get_default();
const controller = new TaskController();
const {signal} = PrioSched.TaskController.new('background');

// @ts-expect-error: a number is not text
export const text: string = await scheduler.postTask(() => 5);
// @ts-expect-error: what comes of an asynchronous function is awaited
export const promised: Promise<Promise<number>> = native.post_task(async () => 5);
// @ts-expect-error: no such priority
scheduler.postTask(() => 5, {priority: 'urgent'});
// @ts-expect-error: the web's priorities are words
scheduler.postTask(() => 5, {priority: PrioSched.TaskPriority.BACKGROUND});
// @ts-expect-error: no function
scheduler.postTask(5);
// @ts-expect-error: no such option
scheduler.postTask(() => 5, {timeout: 5});
// @ts-expect-error: no number
scheduler.postTask(() => 5, {delay: '5'});
// @ts-expect-error: no such priority
scheduler.yield({priority: 'urgent'});
// @ts-expect-error: no signal
scheduler.yield({signal: 5});
// @ts-expect-error: a controller's signal is changed by its controller
controller.signal.priority = 'background';
// @ts-expect-error: only tasks' signals have a priority
controller.signal.setPriority('background');
// @ts-expect-error: made by functions only
export const signals = [new AbortSignal(), new PrioSched.web.TaskSignal()];
// @ts-expect-error: not the web's own
PrioSched.web.TaskSignal.any([controller.signal], {priority: 'urgent'});
// @ts-expect-error: a previousPriority is missing
export const event = new PrioSched.web.TaskPriorityChangeEvent('prioritychange');
// @ts-expect-error: no such property of the event
controller.signal.addEventListener('prioritychange', e => print(e.priority));

// @ts-expect-error: no such priority
native.post_task(() => 5, {priority: 'urgent'});
// @ts-expect-error: 0 is for TASK_PRIORITY_UNSET, which is not a priority
native.post('unset', () => false);
// @ts-expect-error: no cancellable
native.post_task(() => 5, {signal: 'inherit'});
// @ts-expect-error: no such priority
PrioSched.TaskController.new(undefined);
// @ts-expect-error: a controller has its priority when it is made
PrioSched.TaskController.new('background').priority = PrioSched.TaskPriority.USER_BLOCKING;
// @ts-expect-error: a reason is read
signal.reason = null;
// @ts-expect-error: a task's signal is not a list of them
PrioSched.TaskSignal.any(signal, 'background');
// @ts-expect-error: any other cancellable has no priority to follow
PrioSched.TaskSignal.any_following([signal], new Gio.Cancellable());
// @ts-expect-error: GIO takes no controller
Gio.File.new_for_path('/').load_contents(PrioSched.TaskController.new('background'));
// @ts-expect-error: no such property
native.frame_rate = 60;
// @ts-expect-error: a pause is not a property to set
native.paused = true;
// @ts-expect-error: no such method
native.run_task(() => 5);
// @ts-expect-error: the deadline's members are methods in the native class
native.request_idle_callback(deadline => print(deadline.didTimeout.valueOf()));
// @ts-expect-error: an abort is an error of JavaScript's, with no code and no domain
print(new PrioSched.AbortError().domain);
// @ts-expect-error: no number
new PrioSched.TaskGroup({limit: 8}).postTask(() => 5, {timeout: '5'});
// @ts-expect-error: no such option
new PrioSched.TaskGroup({limit: 8}).postTask(() => 5, {progress: () => {}});
// @ts-expect-error: a function that returns a generator
native.post_steps(() => 5);
// @ts-expect-error: GIO takes no signal of the web's
Gio.File.new_for_path('/').load_contents(controller.signal);
