// wrong.ts: errors that the compiler has to find, each in its line
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
// @ts-expect-error: the promise has the awaited result of an asynchronous function
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
// @ts-expect-error: not a signal
scheduler.yield({signal: 5});
// @ts-expect-error: a controller's signal is changed by its controller
controller.signal.priority = 'background';
// @ts-expect-error: only signals of tasks have a priority
controller.signal.setPriority('background');
// @ts-expect-error: only functions make signals
export const signals = [new AbortSignal(), new PrioSched.web.TaskSignal()];
// @ts-expect-error: an addition to the web's interface, which takes other signals
PrioSched.web.TaskSignal.any([controller.signal], {priority: 'urgent'});
// @ts-expect-error: a previousPriority is missing
export const event = new PrioSched.web.TaskPriorityChangeEvent('prioritychange');
// @ts-expect-error: no such property of the event
controller.signal.addEventListener('prioritychange', e => print(e.priority));

// @ts-expect-error: no such priority
native.post_task(() => 5, {priority: 'urgent'});
// @ts-expect-error: “unset” is not a priority
native.post('unset', () => false);
// @ts-expect-error: not a cancellable
native.post_task(() => 5, {signal: 'inherit'});
// @ts-expect-error: no such priority
PrioSched.TaskController.new(undefined);
// @ts-expect-error: a controller gets its priority when it is made
PrioSched.TaskController.new('background').priority = PrioSched.TaskPriority.USER_BLOCKING;
// @ts-expect-error: a reason can only be read
signal.reason = null;
// @ts-expect-error: a signal is not a list of signals
PrioSched.TaskSignal.any(signal, 'background');
// @ts-expect-error: a plain cancellable has no priority to follow
PrioSched.TaskSignal.any_following([signal], new Gio.Cancellable());
// @ts-expect-error: a controller is not a cancellable
Gio.File.new_for_path('/').load_contents(PrioSched.TaskController.new('background'));
// @ts-expect-error: no such property
native.frame_rate = 60;
// @ts-expect-error: paused cannot be set
native.paused = true;
// @ts-expect-error: no such method
native.run_task(() => 5);
// @ts-expect-error: the deadline's members are methods in the native class
native.request_idle_callback(deadline => print(deadline.didTimeout.valueOf()));
// @ts-expect-error: an abort is an error of JavaScript, without a code and a domain
print(new PrioSched.AbortError().domain);
// @ts-expect-error: not a number
new PrioSched.TaskGroup({limit: 8}).post_task(() => 5, {timeout: '5'});
// @ts-expect-error: no such option
new PrioSched.TaskGroup({limit: 8}).post_task(() => 5, {progress: () => {}});
// @ts-expect-error: the function does not return a generator
native.post_steps(() => 5);
// @ts-expect-error: a web signal is not a cancellable
Gio.File.new_for_path('/').load_contents(controller.signal);
