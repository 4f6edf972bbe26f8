"""patience.py: waits for an effect of another program

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import time


def wait_for(what, look, seconds):
    """What look () gives, as soon as that is something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f'nothing came of: {what}')
