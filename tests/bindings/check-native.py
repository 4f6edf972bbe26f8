"""check-native.py: checks that the native part for Python refuses to build for an interpreter without a lock

    check-native.py SOURCE CC FLAG…

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import subprocess
import sys

source, *command = sys.argv[1:]


def compile_with(*flags):
    done = subprocess.run([*command, *flags, '-fsyntax-only', '-x', 'c', source], capture_output=True, text=True)
    return done.returncode, done.stderr


assert compile_with() == (0, ''), compile_with()
status, error = compile_with('-DPy_GIL_DISABLED')
assert status != 0 and "PrioSched needs the interpreter's lock" in error, error
