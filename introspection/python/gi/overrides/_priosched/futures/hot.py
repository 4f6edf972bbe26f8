"""The fast path of tasks: _speedups where it has been built, or else pure, which takes three times as long.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

try:
    from .._speedups import DriverBase, FutureBase, TableBase, running, set_up
except ImportError:
    from .pure import DriverBase, FutureBase, TableBase, running, set_up

__all__ = ['DriverBase', 'FutureBase', 'TableBase', 'running', 'set_up']
