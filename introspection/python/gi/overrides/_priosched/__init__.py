"""The binding of PrioSched for Python: what gi/overrides/PrioSched.py is made of, in rooms.

A room uses those before it and none after it: names, arguments, futures, coroutines, tasks, extras.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gi.overrides

# _speedups may be in another folder: that of a build.
__path__ = [f'{folder}/_priosched' for folder in gi.overrides.__path__]
