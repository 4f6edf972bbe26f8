"""Finds the table that keeps the tasks of a scheduler."""

from .lending import LendingTable
from .table import Table


def table_of(scheduler):
    try:
        return scheduler._table
    except AttributeError:
        scheduler._table = Table(scheduler)
        scheduler.connect('notify::lends-priority', _lends_changed)
        _lends_changed(scheduler)
        return scheduler._table


def _lends_changed(scheduler, *_):
    scheduler._table.__class__ = LendingTable if scheduler.get_lends_priority() else Table
