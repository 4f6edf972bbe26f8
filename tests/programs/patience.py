"""patience.py: waits for effects of another program

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import time


def wait_for(what, look, seconds):
    """Returns the result of look (), as soon as it is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f'nothing came of: {what}')
