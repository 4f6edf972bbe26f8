"""hostile.py: calls every introspected function with random arguments

    hostile.py [SEED] [CALLS]

Exceptions and criticals are allowed.  A crash or a hang is not, and the main loop must keep
working.  To repeat a failure, use the seed that is printed.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import gc
import os
import random
import sys

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, GObject, PrioSched  # noqa: E402

# Functions that block until another call, or a thread, has done something.  A worker whose scheduler a random call has paused
# would do nothing.
BLOCKING = {'join', 'result', 'run', 'testing_advance', 'testing_run_until_idle', 'testing_step', 'wait'}

seed = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get('RANDOM_SEED') or random.randrange(2 ** 32))
calls = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
random.seed(seed)
print(f'seed {seed}', flush=True)
# Thousands of criticals are expected.
GLib.log_set_writer_func(lambda *args: GLib.LogWriterOutput.HANDLED, None)
for domain in ('PrioSched', 'GLib', 'GLib-GObject', 'GLib-GIO'):
    GLib.log_set_handler(domain, GLib.LogLevelFlags.LEVEL_MASK, lambda *args: None, None)

scheduler = PrioSched.Scheduler.get_default()
pool = [scheduler, PrioSched.Scheduler.new(None), PrioSched.TaskController(), Gio.Cancellable(), GObject.Object(),
        PrioSched.Task.new(scheduler)]


def something():
    kind = random.randrange(12)
    if kind < 4:
        return random.choice(pool)
    return random.choice([
        None, True, False, 0, 1, 2, 3, -1, 255, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64, -2 ** 63, 0.5, -0.0, float('nan'),
        float('inf'), '', 'background', 'inherit', 'x' * 1000, '\0', '\ud800', b'', b'\xff', [], [1], [None], (), {}, set(),
        object(), int, lambda: None, lambda *args: 1 / 0, lambda *args: scheduler.post_task(print, 5), something, GLib.Error('x'),
        ValueError('x'), PrioSched.TaskPriority.BACKGROUND, PrioSched.TaskSignal, [Gio.Cancellable()],
        GLib.MainContext.default(), PrioSched.SchedulingState.get_current(), GLib.Variant('i', 5), ...,
    ])


def targets():
    """Returns the functions and methods of the library, and their overrides."""
    for name in dir(PrioSched):
        thing = getattr(PrioSched, name)
        if isinstance(thing, type):
            for method in dir(thing):
                own = any(method in vars(base) for base in thing.__mro__ if base.__module__.startswith('gi.') and
                          'priosched' in base.__module__.lower())
                if own and not method.startswith('_') and method not in BLOCKING and callable(getattr(thing, method, None)):
                    yield f'{name}.{method}', method, thing
            if not name.startswith('_'):
                yield name, None, thing
        elif callable(thing) and not name.startswith('_') and name not in BLOCKING:
            yield name, None, thing


def call(method, thing):
    arguments = [something() for _ in range(random.randrange(6))]
    function = thing
    if method is not None:
        owner = thing
        if random.randrange(4):
            fitting = [value for value in pool if isinstance(value, thing)]
            owner = random.choice(fitting) if fitting else thing
        function = getattr(owner, method)
    if method in ('post', 'post_full'):
        # A function that does not return False would run for ever, before all others.
        arguments = [(lambda *args: False) if callable(argument) else argument for argument in arguments]
    return function(*arguments)


everything = sorted(targets(), key=lambda target: target[0])
assert len(everything) > 60, everything
n_right = 0
for i in range(calls):
    path, method, thing = random.choice(everything)
    try:
        result = call(method, thing)
    except (Exception, asyncio.CancelledError):
        continue
    n_right += 1
    if result is not None and len(pool) < 60 and isinstance(result, (GObject.Object, GObject.GBoxed, PrioSched.Future)):
        pool.append(result)
    elif result is not None and isinstance(result, GObject.Object):
        pool[random.randrange(5, len(pool))] = result
    if i % 50 == 0:
        scheduler.resume()
        for _ in range(5):
            GLib.MainContext.default().iteration(False)

# The loop continues, and so do tasks.
sys.excepthook = lambda *args: None
PrioSched.Scheduler.set_time_slice(scheduler, 5000)
while scheduler.get_paused():
    scheduler.resume()
done = []
scheduler.post_task(lambda: done.append(True), 'background')
while not done:
    GLib.MainContext.default().iteration(True)

# A task that never runs may refer to a worker, and ThreadSanitizer reports a thread that has ended without a join.
for worker in gc.get_objects():
    if isinstance(worker, PrioSched.Worker):
        worker.stop()
        worker.join()
print(f'{n_right} of {calls} calls of {len(everything)} functions were right')
