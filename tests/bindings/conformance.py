"""Runs conformance vectors through the Python binding.

    conformance.py FILE…

Prints every difference from the expected log; ends with "N agree, M differ", and status 1 if any differ.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import sys

import gi

gi.require_version('PrioSched', '1')
from gi.repository import Gio, GLib, PrioSched  # noqa: E402


class Thrown(Exception):
    pass


class Program:
    """Runs a program; delays take tempo times as long."""

    def __init__(self, description, tempo):
        self.tempo = tempo
        self.scheduler = PrioSched.Scheduler.get_default()
        self.log, self.rejected, self.outcomes = [], [], {}
        self.open = 0
        self.controllers, self.signals = {}, {}
        for name, signal in description['signals'].items():
            self.make_signal(name, description['handlers'].get(name), **signal)

    def make_signal(self, name, handler, kind, priority=None, sources=()):
        if kind == 'any':
            signal = PrioSched.TaskSignal.any([self.signals[source] for source in sources],
                                              self.signals.get(priority, priority))
        elif kind == 'task':
            self.controllers[name] = PrioSched.TaskController(priority)
            signal = self.controllers[name].signal
        else:
            signal = Gio.Cancellable()
        self.signals[name] = signal

        if handler is not None:
            signal.connect('priority-change', self.priority_changed, name, [handler])

    def priority_changed(self, signal, previous, name, handlers):
        self.log.append(f'change {name} {previous.value_nick}>{signal.priority.value_nick}')
        if handlers:
            self.start(self.perform(handlers.pop(), ''))

    @staticmethod
    def start(coroutine):
        """Starts coroutine, which does not yield."""
        try:
            coroutine.send(None)
        except StopIteration:
            pass

    def post(self, id, body, signal=None, priority=None, delay=0, **_):
        async def function():
            self.log.append(f'start {id}')
            await self.perform(body, str(id))

        self.open += 1
        task = self.scheduler.post_task(function, priority, self.signals.get(signal), round(delay * self.tempo))
        task.add_done_callback(lambda task: self.completed(id, task.exception()))

    def completed(self, id, error):
        self.open -= 1
        self.outcomes[str(id)] = 'fulfilled' if error is None else 'threw' if isinstance(error, Thrown) else 'aborted'

    def microtask(self, id, body):
        async def function():
            self.log.append(f'micro {id}')
            try:
                await self.perform(body, f'm{id}')
            except (Thrown, GLib.Error):
                pass
            self.open -= 1

        self.open += 1
        self.scheduler.queue_microtask(function)

    async def perform(self, body, label):
        n_yields = 0
        for op in body:
            kind = op['op']
            if kind == 'post':
                self.post(**op)
            elif kind == 'priority':
                try:
                    self.controllers[op['signal']].set_priority(op['to'])
                except GLib.Error as error:
                    assert error.matches(PrioSched.Error.quark(), PrioSched.Error.NOT_ALLOWED), error
                    self.log.append(f'notallowed {op["signal"]}')
            elif kind == 'abort':
                controller = self.controllers.get(op['signal'])
                if controller is not None:
                    controller.abort()
                else:
                    self.signals[op['signal']].cancel()
            elif kind == 'microtask':
                self.microtask(op['id'], op['body'])
            elif kind == 'throw':
                raise Thrown(label)
            elif kind == 'yield':
                n_yields += 1
                try:
                    await self.scheduler.yield_()
                except GLib.Error:
                    self.rejected.append(f'{label}.{n_yields}')
                    raise
                self.log.append(f'resume {label}.{n_yields}')
            else:
                raise AssertionError(f'{kind!r} is not an operation')


def run(description, tempo):
    """Returns the differences between the program's log and the expected one."""
    program = Program(description, tempo)
    program.start(program.perform(description['main'], ''))
    context = GLib.MainContext.default()
    while program.open > 0:
        context.iteration(True)

    expect = description['expect']
    found = {'log': program.log, 'rejected': sorted(program.rejected), 'outcomes': program.outcomes}
    return [f'{what}: expected {expect[what]}, got {got}' for what, got in found.items() if got != expect[what]]


def check(description):
    """Checks a program; because delays are real here, a busy machine may disturb it, and it is repeated more slowly."""
    differences = []
    for tempo in (0.2, 1, 4, 16):
        differences = run(description, tempo)
        if not differences or '"delay"' not in json.dumps(description):
            break
    for difference in differences:
        print(f'{description["name"]}: {difference}')
    return not differences


def main(paths):
    results = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            results += [check(description) for description in json.load(file)]
    print(f'{results.count(True)} agree, {results.count(False)} differ')
    return 1 if False in results else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
