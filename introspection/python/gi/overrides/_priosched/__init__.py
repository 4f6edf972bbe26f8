"""Implements gi/overrides/PrioSched.py.

A module or package imports only earlier ones in this order: names, arguments, futures, coroutines, tasks, extras.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import sys

import gi.overrides

# _native may be in another folder, such as a build folder, so modules are looked up in each folder of gi.overrides.
__path__ = [f'{folder}/_priosched' for folder in gi.overrides.__path__]

try:
    from ._native import running  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError('PrioSched is installed for another Python than this one, which is '
                      f'{sys.implementation.cache_tag}: its module _native is not here') from error
