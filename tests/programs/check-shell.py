"""check-shell.py: checks the Shell extension in a real GNOME Shell

    check-shell.py [--copy SOURCE BUILD] EXTENSION…

Starts a headless Shell with its own settings, folders and bus, and the EXTENSION for its
version.  Checks that the extension is enabled, works, is disabled, and leaves no object behind, and that the Shell logs
no warning.  With --copy, the extension brings a copy of the library, as in the manual's page about shipping, and the
library is not installed.

Memory is measured after garbage collections, which a second extension performs when it is
enabled: the Shell's own garbage of a cycle is half a megabyte, whatever an extension does.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import json
import os
import re
import shutil
import tempfile
import time

import patience
import shell
import shipping
from shell import DISABLED, ENABLED, call, state_of

PATIENCE = 90  # seconds
wait_for = functools.partial(patience.wait_for, seconds=PATIENCE)
N_FILES = 500
N_CYCLES = 20
MAX_GROWTH = 3 << 20  # growth of resident memory in N_CYCLES, bytes; without the library it is up to 1 MiB

COLLECTOR = 'collector@prio-sched.example.org'
COLLECT_IN_MODULE = """import System from 'system';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
export default class extends Extension {
    enable() { System.gc(); }
    disable() {}
}
"""
COLLECT_IN_SCRIPT = """function init() {
    return {enable: () => imports.system.gc(), disable: () => {}};
}
"""


def metadata_of(extension):
    with open(os.path.join(extension, 'metadata.json')) as file:
        return json.load(file)


def add_collector(extensions, version):
    folder = os.path.join(extensions, COLLECTOR)
    os.mkdir(folder)
    with open(os.path.join(folder, 'metadata.json'), 'w') as file:
        json.dump({'uuid': COLLECTOR, 'name': 'Collector', 'description': 'Collects garbage', 'shell-version': [version]}, file)
    with open(os.path.join(folder, 'extension.js'), 'w') as file:
        file.write(COLLECT_IN_MODULE if int(version) >= 45 else COLLECT_IN_SCRIPT)


def bring_copy(extension, version, source, build):
    """Makes the extension use a copy of the library, as the page's examples do."""
    shipping.copy(source, build, extension)
    modern = int(version) >= 45
    how = shipping.example(source, 'js', './prio-sched/prio-sched.js' if modern else 'PrioSchedCopy')
    program = os.path.join(extension, 'extension.js')
    with open(program) as file:
        text = file.read()
    former = {
        True: {"import PrioSched from 'gi://PrioSched?version=1';\n": how,
               'const {scheduler, TaskController} = PrioSched.web;\n': ''},
        False: {"imports.gi.versions.PrioSched = '1';\n": how, 'GLib, PrioSched, St}': 'GLib, St}',
                'const {scheduler, TaskController} = PrioSched.web;\n\nconst FOLDER': 'const FOLDER'},
    }[modern]
    for old, new in former.items():
        assert old in text, f'{program} has no {old!r}'
        text = text.replace(old, new)
    with open(program, 'w') as file:
        file.write(text)


def set_up(place, given, copy):
    """Makes the Shell's own folders, with the given extension for its version; returns its environment."""
    version = str(shell.version())
    fitting = [extension for extension in given if version in metadata_of(extension)['shell-version']]
    assert len(fitting) == 1, f'{len(fitting)} of {given} are for Shell {version}'
    uuid = metadata_of(fitting[0])['uuid']
    environment, extensions = shell.set_up(place, uuid, shipping.plain_environment() if copy else os.environ)
    environment['FILE_COUNT_FOLDER'] = os.path.join(place, 'files')
    os.mkdir(environment['FILE_COUNT_FOLDER'])
    extension = os.path.join(extensions, uuid)
    shutil.copytree(fitting[0], extension)
    if copy:
        bring_copy(extension, version, *copy)
    add_collector(extensions, version)
    for i in range(N_FILES):
        open(os.path.join(environment['FILE_COUNT_FOLDER'], str(i)), 'w').close()
    return uuid, environment


def resident(pid):
    with open(f'/proc/{pid}/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def libraries(pid):
    """Returns the folders from which the process has loaded the library."""
    with open(f'/proc/{pid}/maps') as file:
        return set(re.findall(r'(/\S*)/libprio-sched-1', file.read()))


def check(process, uuid, said, copy):
    wait_for('an enabled extension', lambda: state_of(uuid) == ENABLED)
    wait_for('the number of files', lambda: f'file-count: {N_FILES} files' in said())
    where = libraries(process.pid)
    assert len(where) == 1 and where.pop().endswith(f'/{uuid}/prio-sched') == bool(copy), libraries(process.pid)

    def collected():
        for _ in range(3):
            call('EnableExtension', COLLECTOR)
            wait_for('a collection', lambda: state_of(COLLECTOR) == ENABLED)
            call('DisableExtension', COLLECTOR)
            wait_for('the end of a collection', lambda: state_of(COLLECTOR) == DISABLED)
        return resident(process.pid)

    def cycle(n):
        for _ in range(n):
            call('DisableExtension', uuid)
            wait_for('a disabled extension', lambda: state_of(uuid) == DISABLED)
            call('EnableExtension', uuid)
            wait_for('an enabled extension', lambda: state_of(uuid) == ENABLED)
            assert process.poll() is None, 'the Shell has ended'

    cycle(N_CYCLES)
    before = collected()
    cycle(N_CYCLES)
    growth = collected() - before
    print(f'{N_CYCLES} times disabled and enabled: {growth / 1024:.0f} KiB more')
    assert growth < MAX_GROWTH, growth

    wait_for('the number of files again', lambda: said().count(f'file-count: {N_FILES} files') >= 2)
    call('DisableExtension', uuid)
    wait_for('a disabled extension', lambda: state_of(uuid) == DISABLED)
    time.sleep(1)
    complaints = [line for line in said().splitlines()
                  if re.search(r'file-count@|PrioSched|prio-sched|JS ERROR|garbage collection|disposed', line)]
    assert not complaints, '\n'.join(complaints[:20])


def main(arguments):
    copy, extensions = (arguments[1:3], arguments[3:]) if arguments[0] == '--copy' else (None, arguments)
    with tempfile.TemporaryDirectory() as place:
        uuid, environment = set_up(place, extensions, copy)
        with shell.running(place, environment) as (process, said):
            check(process, uuid, said, copy)


shell.on_a_bus(main)
