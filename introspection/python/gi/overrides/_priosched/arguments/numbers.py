"""Shares of the time, thresholds and statistics of schedulers: what is checked before the library gets it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import numbers

from gi.module import get_introspection_module

PrioSched = get_introspection_module('PrioSched')

_MAX_FRAME_SHARE = 0.9
_MAX_LEAST_SHARE = 0.5
_USER_BLOCKING = 3

_to_given_priority = _to_whole = None


def set_up(to_given_priority, to_whole):
    """Sets what converts a priority that has to be there, and a whole number."""
    global _to_given_priority, _to_whole
    _to_given_priority, _to_whole = to_given_priority, to_whole


def _to_number(value, what, maximum):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f'{what} is a number from 0 to {maximum}, not {value!r}')
    # What is not a number fails, too.
    if not 0 <= value <= maximum:
        raise ValueError(f'{what} is from 0 to {maximum}, not {value!r}')
    return float(value)


def _to_shared(value):
    number = _to_given_priority(value)
    if number == _USER_BLOCKING:
        raise ValueError(f"{value!r} has no least share: only 'background' and 'user-visible' have more urgent ones beside them")
    return PrioSched.TaskPriority(number)


class Shares:
    """Methods of Scheduler."""

    def set_frame_share(self, share):
        """Sets how much of the time tasks have beside a window that is slow to draw, from 0, for none, to 0.9."""
        super().set_frame_share(_to_number(share, 'a share', _MAX_FRAME_SHARE))

    def get_least_share(self, priority):
        """Which part of the time 'background' tasks, or 'user-visible' ones, have at least."""
        return super().get_least_share(_to_shared(priority))

    def set_least_share(self, priority, share):
        """Lets 'background' tasks, or 'user-visible' ones, have a part of the time, from 0, for none, to 0.5."""
        priority = _to_shared(priority)
        super().set_least_share(priority, _to_number(share, 'a share', _MAX_LEAST_SHARE))

    def set_long_task_threshold(self, threshold):
        """Sets from how many milliseconds on what holds the main loop is told of, a whole number; 0 for nothing."""
        super().set_long_task_threshold(_to_whole(threshold, 'a threshold', 'milliseconds', 32))


def _by_priority(name):
    native = getattr(PrioSched.Statistics, name)

    def method(self, priority):
        return native(self, PrioSched.TaskPriority(_to_given_priority(priority)))

    method.__name__, method.__doc__ = name, native.__doc__
    return method


class Statistics(PrioSched.Statistics):
    """What the tasks of a scheduler have done, by their priorities."""

    get_n_queued = _by_priority('get_n_queued')
    get_n_delayed = _by_priority('get_n_delayed')
    get_n_run = _by_priority('get_n_run')
    get_n_continued = _by_priority('get_n_continued')
    get_n_aborted = _by_priority('get_n_aborted')
    get_waiting_times = _by_priority('get_waiting_times')
    get_running_times = _by_priority('get_running_times')


class Times(PrioSched.Times):

    def get_percentile(self, percent):
        """The milliseconds that so many percent of the times do not exceed."""
        return super().get_percentile(_to_number(percent, 'a percentile', 100))
