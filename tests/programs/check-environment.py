"""Checks that no variable of the environment affects a program with more rights than its caller.

    check-environment.py TRACED SECURE MARKS

TRACED is traced.c, SECURE the same program with a secure_getenv () that always returns NULL, as the C library's does in a
setuid program. MARKS is 1 if the library marks tasks for Sysprof, and 0 if not.  GLib may do so too, and asks getenv ().

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile


def run(program, folder):
    """Returns all output of the program: messages, files, and its requests to Sysprof."""
    ours, theirs = socket.socketpair()
    # The program gets no answer to its request, and continues.
    ours.shutdown(socket.SHUT_WR)
    variables = {
        'PRIO_SCHED_TRACE': str(folder / 'trace.json'),
        'PRIO_SCHED_LONG_TASKS': 'wrong',
        'SYSPROF_CONTROL_FD': str(theirs.fileno()),
    }
    result = subprocess.run([program, 'each'], env=os.environ | {'G_DEBUG': ''} | variables, pass_fds=[theirs.fileno()], capture_output=True,
                            text=True, timeout=60, check=True)
    theirs.close()
    assert result.stdout.split() == ['204', '2', '1'], result.stdout
    asked = ours.recv(100)
    ours.close()
    files = [path for path in folder.rglob('*') if path.is_file()]
    return [name for name in variables if f'{name}:' in result.stderr], len(files), asked


def main(traced, secure, marks):
    found = []
    for program in traced, secure:
        with tempfile.TemporaryDirectory() as folder:
            found.append(run(program, pathlib.Path(folder)))
    assert found[0][:2] == (['PRIO_SCHED_LONG_TASKS'], 1), found
    assert found[1][:2] == ([], 0), found
    with_ours, without = [asked.count(b'CreatRing') for _, _, asked in found]
    assert with_ours - without == int(marks), found


if __name__ == '__main__':
    main(*sys.argv[1:])
