"""check-shell.py: the Shell extension, in a real GNOME Shell

    check-shell.py EXTENSION

Starts a headless Shell with everything of its own, and on a bus of its own; looks whether
the extension is enabled, works, is disabled, and leaves nothing behind, and whether the Shell
has anything to say against it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import patience

PATIENCE = 90  # seconds
wait_for = functools.partial(patience.wait_for, seconds=PATIENCE)
N_FILES = 500
N_CYCLES = 20
MAX_GROWTH = 16 << 20  # of resident memory in N_CYCLES, bytes

ENABLED, DISABLED = 1, 2


def call(method, *args):
    result = subprocess.run(['gdbus', 'call', '--session', '--timeout', '10', '--dest', 'org.gnome.Shell',
                             '--object-path', '/org/gnome/Shell', '--method', f'org.gnome.Shell.Extensions.{method}',
                             *args], capture_output=True, text=True)
    return result.stdout


def state_of(uuid):
    found = re.search(r"'state': <(\d)", call('GetExtensionInfo', uuid))
    return int(found[1]) if found else 0


def set_up(place, extension):
    """The Shell's own folders; gives its environment."""
    with open(os.path.join(extension, 'metadata.json')) as file:
        uuid = json.load(file)['uuid']
    environment = os.environ | {'GSETTINGS_BACKEND': 'keyfile', 'LANG': 'C.UTF-8', 'NO_AT_BRIDGE': '1'}
    for name in ('XDG_RUNTIME_DIR', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'FILE_COUNT_FOLDER'):
        environment[name] = os.path.join(place, name)
        os.mkdir(environment[name], mode=0o700)
    extensions = os.path.join(environment['XDG_DATA_HOME'], 'gnome-shell', 'extensions')
    os.makedirs(extensions)
    shutil.copytree(extension, os.path.join(extensions, uuid))
    settings = os.path.join(environment['XDG_CONFIG_HOME'], 'glib-2.0', 'settings')
    os.makedirs(settings)
    with open(os.path.join(settings, 'keyfile'), 'w') as file:
        file.write(f"[org/gnome/shell]\nenabled-extensions=['{uuid}']\nwelcome-dialog-last-shown-version='999'\n")
    for i in range(N_FILES):
        open(os.path.join(environment['FILE_COUNT_FOLDER'], str(i)), 'w').close()
    return uuid, environment


def resident(pid):
    with open(f'/proc/{pid}/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def check(shell, uuid, said):
    wait_for('an enabled extension', lambda: state_of(uuid) == ENABLED)
    wait_for('the number of files', lambda: f'file-count: {N_FILES} files' in said())

    def cycle(n):
        for _ in range(n):
            call('DisableExtension', uuid)
            wait_for('a disabled extension', lambda: state_of(uuid) == DISABLED)
            call('EnableExtension', uuid)
            wait_for('an enabled extension', lambda: state_of(uuid) == ENABLED)
            assert shell.poll() is None, 'the Shell has ended'

    cycle(5)
    before = resident(shell.pid)
    cycle(N_CYCLES)
    growth = resident(shell.pid) - before
    print(f'{N_CYCLES} times disabled and enabled: {growth / 1024:.0f} KiB more')
    assert growth < MAX_GROWTH, growth

    wait_for('the number of files again', lambda: said().count(f'file-count: {N_FILES} files') >= 2)
    call('DisableExtension', uuid)
    wait_for('a disabled extension', lambda: state_of(uuid) == DISABLED)
    time.sleep(1)
    complaints = [line for line in said().splitlines()
                  if re.search(r'file-count@|PrioSched|prio-sched|JS ERROR|garbage collection|disposed', line)]
    assert not complaints, '\n'.join(complaints[:20])


def main(extension):
    with tempfile.TemporaryDirectory() as place:
        uuid, environment = set_up(place, extension)
        os.environ.update(environment)
        log = os.path.join(place, 'log')

        def said():
            with open(log, errors='replace') as file:
                return file.read()

        environment['DBUS_SYSTEM_BUS_ADDRESS'] = environment['DBUS_SESSION_BUS_ADDRESS']
        with open(log, 'w') as output:
            shell = subprocess.Popen(['gnome-shell', '--headless', '--wayland', '--no-x11', '--virtual-monitor', '1280x720'],
                                     env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            check(shell, uuid, said)
        except AssertionError:
            print('\n'.join(said().splitlines()[-40:]))
            raise
        finally:
            shell.terminate()
            try:
                shell.wait(20)
            except subprocess.TimeoutExpired:
                shell.kill()


if 'DBUS_SESSION_BUS_ADDRESS' not in os.environ or '--inside' not in sys.argv:
    sys.exit(subprocess.run(['dbus-run-session', '--', sys.executable, *sys.argv, '--inside']).returncode)
main(sys.argv[1])
