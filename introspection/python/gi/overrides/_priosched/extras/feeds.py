"""Posts a task of a group for each item, when the group has a free place."""

import functools

from gi.module import get_introspection_module

from ..coroutines.steps import has_ended_itself
from ..futures.future import Future
from ..futures.reasons import is_aborted, keep_reasons_of, reason_of

PrioSched = get_introspection_module('PrioSched')


def _either(own, given):
    """Returns a signal that is aborted when own, the group's signal, or given is aborted; given may be None."""
    if given is None:
        return own
    signals = [own, given]
    both = PrioSched.TaskSignal.new_any_following(signals, own)
    keep_reasons_of(both, signals)
    return both


class _RowTask:
    """Represents the task of a row for the library's feed: a PrioSched.Task, which ends when posted, a PostedTask, ends."""

    def __init__(self, scheduler, posted):
        self.task = PrioSched.Task.new(scheduler, None)
        self._has_ended = False
        posted.add_done_callback(self._ended)

    def _ended(self, _):
        self._has_ended = True
        self.task.return_value(None)

    def __del__(self):
        # If posted is freed before it has ended, with its main context, the library would warn of a task without a result.
        if not self._has_ended:
            self.task.return_value(None)


def row_function(group, scheduler, callback, name):
    """Returns a function for the library to call, which posts a task for a row: callback (item, position)."""
    def post(_, item, position, signal):
        return _RowTask(scheduler, group.post_task(functools.partial(callback, item, position), signal=signal, name=name)).task
    return post


class Feed:
    """Posts a task of a group for each item.  A task of the scheduler runs the feed, in steps."""

    def __init__(self, group, callback, items, options):
        self._group = group
        self._callback = callback
        self._items = iter(items)
        self._options = options
        self._signal = _either(group.get_signal(), options['signal'])
        self._n_open = 0
        self._change = None  # the future that the feed waits for
        self._task = None

    def post(self, scheduler):
        """Posts and returns the feed's own task, which ends when the task of the last item has ended."""
        self._task = scheduler.post_task(self._steps, signal=self._signal, name=self._options['name'])
        return self._task

    def _has_room(self):
        limit = self._group.limit
        return limit is None or max(self._group.n_tasks, self._n_open) < limit

    def _changed(self, *_):
        change, self._change = self._change, None
        if change is not None:
            change._settle(None, None)

    def _next_change(self):
        self._change = Future()
        return self._change

    def _ended(self, task):
        self._n_open -= 1
        self._changed()

    def _post(self, item):
        task = self._group.post_task(functools.partial(self._callback, item), **self._options)
        self._n_open += 1
        task.add_done_callback(self._ended)

    def _steps(self):
        group = self._group
        handlers = [group.connect(f'notify::{name}', self._changed) for name in ('n-tasks', 'limit')]
        try:
            while True:
                while not self._has_room():
                    yield self._next_change()
                # After an abort, the tasks may report their ends before this task gets the abort, so this checks the signal.
                if is_aborted(self._signal):
                    raise reason_of(self._signal)
                try:
                    item = next(self._items)
                except StopIteration:
                    break
                if not has_ended_itself(self._task):
                    self._post(item)
                yield
            while self._n_open > 0:
                yield self._next_change()
        finally:
            for handler in handlers:
                group.disconnect(handler)
            self._items = None  # closes a generator to which no other code refers
            self._signal = self._options = None  # a traceback refers to this feed, and the collector does not see the references of a signal
