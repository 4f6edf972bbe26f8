"""check-shutdown.py: checks that programs that end with pending tasks print nothing

    check-shutdown.py PYTHON GJS

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import subprocess
import sys

PYTHON = '''
import gi, sys, warnings
gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched
warnings.filterwarnings('ignore', 'a wait of PrioSched, .* was never awaited')  # which is so on purpose
scheduler = PrioSched.Scheduler.get_default()
controller = PrioSched.TaskController()
async def wait():
    await scheduler.post_task(lambda: print('never'), delay=10 ** 6)
paused = PrioSched.Scheduler()
paused.pause()
def post(beside=scheduler):
    for _ in range(10):
        beside.post_task(lambda: print('never'), 'background')
        scheduler.post_task(lambda: print('never'), signal=controller.signal, delay=10 ** 6)
        scheduler.post_task(wait, 'user-blocking')
        beside.request_idle_callback(lambda deadline: print('never'), timeout=10 ** 6)
        scheduler.yield_()
'''

JS = '''
imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler, TaskController, AbortSignal, requestIdleCallback} = PrioSched.web;
const controller = new TaskController();
const loop = new GLib.MainLoop(null, false);
const post = () => {
    for (let i = 0; i < 10; i++) {
        scheduler.postTask(() => print('never'), {priority: 'background'});
        scheduler.postTask(() => print('never'), {signal: controller.signal, delay: 1000000});
        scheduler.postTask(() => scheduler.postTask(() => print('never'), {delay: 1000000}), {priority: 'user-blocking'});
        requestIdleCallback(() => print('never'), {timeout: 1000000});
        AbortSignal.timeout(1000000).addEventListener('abort', () => print('never'));
        scheduler.yield();
    }
};
'''

# The ways in which a program may end, with their statuses.
ENDS = [
    (PYTHON, 'post()', 0),
    (PYTHON, 'post(); sys.exit(3)', 3),
    # The loop iterates several times here, and background tasks have a batch every half second.
    (PYTHON, 'post(paused); PrioSched.run(scheduler.post_task(lambda: None, "user-blocking"))', 0),
    (PYTHON, 'other = PrioSched.Scheduler(); PrioSched.run(other.post_task(lambda: None))', 0),
    (PYTHON, 'loop = GLib.MainLoop(); scheduler.post_task(lambda: (post(), loop.quit()), "user-blocking"); '
             'scheduler.set_time_slice(0); loop.run()', 0),
    (JS, 'post();', 0),
    (JS, 'post(); imports.system.exit(3);', 3),
    # GJS 1.74 ends with its main loop, in which a promise job or a task has called exit().
    (JS, 'scheduler.postTask(() => { post(); loop.quit(); imports.system.exit(4); }, {priority: "user-blocking"}); '
         'PrioSched.Scheduler.get_default().set_time_slice(0); loop.run();', 4),
    (JS, 'scheduler.postTask(() => { post(); loop.quit(); }, {priority: "user-blocking"}); '
         'PrioSched.Scheduler.get_default().set_time_slice(0); loop.run();', 0),
]


def main(python, gjs):
    for prelude, end, status in ENDS:
        result = subprocess.run([python if prelude is PYTHON else gjs, '-c', f'{prelude}\n{end}\n'],
                                capture_output=True, text=True, timeout=60)
        said = result.stdout + result.stderr
        if result.returncode != status or said:
            sys.exit(f'{end}\nended with {result.returncode} and said:\n{said[:3000]}')
    print(f'{len(ENDS)} programs ended well')


main(*sys.argv[1:])
