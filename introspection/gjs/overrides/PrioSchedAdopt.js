// PrioSchedAdopt.js: promises of others, for which a task waits under its own signal
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported make */

const UNSET = 0;
const USER_VISIBLE = 2;
const FOREVER = Number.MAX_SAFE_INTEGER; // milliseconds

// Returns a function that settles entry as promise does, in a continuation that goOn () posts, and rejects it at once if signal
// is aborted before.  wait ({signal, priority}, delay) posts waiting, a continuation that the library rejects with its
// signal; take () takes those that have been rejected.
function make({TaskController, TaskSignal}) {
    const {abort} = TaskController.prototype;

    // One that ends with signal, or by the function that is returned.
    function newSignal(signal) {
        const controller = new TaskController({priority: USER_VISIBLE});
        const both = signal instanceof TaskSignal ? TaskSignal.any_following([signal, controller.signal], signal)
            : TaskSignal.any([signal, controller.signal], USER_VISIBLE);
        return [both, () => abort.call(controller, null)];
    }

    return function adopt(promise, entry, waiting, signal, {goOn, tell, wait, take}) {
        const {resolve, reject} = entry;
        let isOver = false, forget = null;
        const settleBy = settle => value => {
            if (isOver)
                return;
            isOver = true;
            forget?.();
            entry.resolve = () => {
                if (settle === reject)
                    tell(value);
                settle(value);
            };
            goOn();
        };
        Promise.resolve(promise).then(settleBy(resolve), settleBy(reject));
        if (signal === null)
            return;
        const [both, end] = newSignal(signal);
        waiting.reject = reason => {
            if (!isOver)
                reject(reason);
            isOver = true;
        };
        forget = () => {
            waiting.isRejected = true;
            end();
            take();
        };
        wait({signal: both, priority: UNSET}, FOREVER);
    };
}
