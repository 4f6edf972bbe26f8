// browser.ts: code for browsers, with the module that exports their names
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import PrioSched, {scheduler, AbortController, TaskController, TaskSignal, requestIdleCallback} from './prio-sched.js';
import type {AbortSignal, TaskPriorityChangeEvent} from './prio-sched.js';

export async function search(words: string[], signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    for (const word of words) {
        if (word.startsWith('a'))
            found.push(word);
        await scheduler.yield();
    }
    signal.throwIfAborted();
    return found;
}

export class Search {
    #controller = new TaskController({priority: 'user-blocking'});
    #page = new AbortController();

    constructor() {
        this.#controller.signal.addEventListener('prioritychange', (event: TaskPriorityChangeEvent) =>
            print(event.previousPriority));
    }

    run(words: string[]): Promise<string[]> {
        const priority = this.#controller.signal;
        const signal = TaskSignal.any([priority, this.#page.signal], {priority});
        return scheduler.postTask(() => search(words, signal), {signal});
    }

    hide(): void {
        this.#controller.setPriority('background');
        requestIdleCallback(() => this.#page.abort());
        PrioSched.Scheduler.get_default().set_time_slice(1);
    }
}
