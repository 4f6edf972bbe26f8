// prio-sched.d.ts: types of the module prio-sched.js
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import '@girs/priosched-1';
import PrioSched from 'gi://PrioSched?version=1';

export default PrioSched;
export import scheduler = PrioSched.web.scheduler;
export import Scheduler = PrioSched.web.Scheduler;
export import TaskController = PrioSched.web.TaskController;
export import TaskPriorityChangeEvent = PrioSched.web.TaskPriorityChangeEvent;
export import TaskSignal = PrioSched.web.TaskSignal;
export import AbortController = PrioSched.web.AbortController;
export import AbortSignal = PrioSched.web.AbortSignal;
export import DOMException = PrioSched.web.DOMException;
export import Event = PrioSched.web.Event;
export import EventTarget = PrioSched.web.EventTarget;
export import IdleDeadline = PrioSched.web.IdleDeadline;
export import cancelIdleCallback = PrioSched.web.cancelIdleCallback;
export import queueMicrotask = PrioSched.web.queueMicrotask;
export import requestIdleCallback = PrioSched.web.requestIdleCallback;
export import install = PrioSched.web.install;
