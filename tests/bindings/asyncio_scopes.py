"""Tests `async with` for workers and groups in asyncio, with its loop on GLib.

    asyncio_scopes.py gbulb|gi.events

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import unittest

from asyncio_loops import in_loop
import scopes


def in_asyncio(case):
    """Returns a class that runs each test of case as a task of asyncio."""
    tests = {name: in_loop(test.function) for name, test in vars(case).items() if hasattr(test, 'function')}
    return type(case.__name__, (case,), tests)


Workers, Groups = in_asyncio(scopes.Workers), in_asyncio(scopes.Groups)

if __name__ == '__main__':
    unittest.main()
